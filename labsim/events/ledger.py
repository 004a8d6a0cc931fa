"""The ledger, which keeps what happened in order, and the clock that its records are dated by."""

from __future__ import annotations

from collections.abc import Iterator

from labsim.events.event import Event


class Clock:
    """Simulated milliseconds since the case began. Only the stage moves it."""

    __slots__ = ("now_ms",)

    def __init__(self) -> None:
        self.now_ms = 0


class Ledger:
    """The ordered list of everything that happened on one stage.

    `append` takes any event record of this package (the dialog, dispatch and fallback parts bring their own).
    Iterating gives the records in order; `ledger[i]` is one of them.
    """

    __slots__ = ("append", "clock", "events")

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.events: list[Event] = []
        self.append = self.events.append  # bound once: this is the engine's most frequent call

    def snapshot(self) -> Ledger:
        """The ledger as it is now; what happens later is not in it."""
        copy = Ledger(self.clock)
        copy.events.extend(self.events)
        return copy

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __getitem__(self, index: int) -> Event:
        return self.events[index]
