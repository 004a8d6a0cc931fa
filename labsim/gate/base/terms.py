"""A length of simulated time, and its spelling in a refusal.

The stage counts whole milliseconds; a bound may be finer than that, and says so in its text.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct


class SideEffectLevel(StrEnum):
    """What a call changes. The members have no order: PROCESS may reach as far as
    EXTERNAL.
    """

    NONE = "None"  # a read; never put to anybody (gate/G7). Not the same as Python's None, which is unknown
    LOCAL_STATE = "LocalState"
    PROCESS = "Process"
    EXTERNAL = "External"


def judged(level: SideEffectLevel | None) -> SideEffectLevel:
    """The level to judge a call by: the most it could be doing where nobody knows (gate/A6)."""
    return SideEffectLevel.EXTERNAL if level is None else level


def is_consequential(level: SideEffectLevel | None) -> bool:
    """Whether a call changes anything outside this process, or may (gate/G1, gate/A6)."""
    return judged(level) is not SideEffectLevel.NONE


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
