"""A length of simulated time, and its spelling in a refusal.

Beside `levels`. The stage counts whole milliseconds; a bound may be finer than that, and says so in its text.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

_NS_PER_US: Final = 1_000
_NS_PER_MS: Final = 1_000_000
_NS_PER_SECOND: Final = 1_000_000_000


class Duration(Struct, frozen=True, order=True):
    """A number of nanoseconds, made with `seconds`, `ms`, `us` or directly."""

    ns: int

    @classmethod
    def seconds(cls, count: int) -> Duration:
        return cls(count * _NS_PER_SECOND)

    @classmethod
    def ms(cls, count: int) -> Duration:
        return cls(count * _NS_PER_MS)

    @classmethod
    def us(cls, count: int) -> Duration:
        return cls(count * _NS_PER_US)

    @property
    def stage_ms(self) -> int:
        """As long on the stage's clock: rounded up, since a bound must not end early."""
        return -(-self.ns // _NS_PER_MS)

    def __str__(self) -> str:
        """Whole seconds as `60s`; otherwise the largest unit that is not nought, cut off (gate/W8)."""
        if self.ns >= _NS_PER_SECOND and self.ns % _NS_PER_SECOND == 0:
            return f"{self.ns // _NS_PER_SECOND}s"
        for unit, size in (("ms", _NS_PER_MS), ("us", _NS_PER_US)):
            if self.ns >= size:
                return f"{self.ns // size}{unit}"
        return f"{self.ns}ns"
