"""A ledger for a process that runs as long as its client likes: it keeps the newest events and counts the others.

In a case the whole ledger is the point; a server is asked for it now and then, and must not grow with what it has
been told.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from labsim.events.event import Event, as_mapping
from labsim.events.ledger import Clock, Ledger
from labsim.js_values import stringify

MOST_EVENTS: Final = 10_000
MOST_CHARACTERS: Final = 4 * 1024 * 1024  # of all kept events, as JSON


class RollingLedger(Ledger):
    """Keeps at most so many events, of so many characters of JSON together; the newest one always.

    `first` is the number of the oldest event that is kept, counted from 0 over all that ever were.
    """

    __slots__ = ("_characters", "_most_characters", "_most_events", "_sizes", "first")

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        most_events: int = MOST_EVENTS,
        most_characters: int = MOST_CHARACTERS,
    ) -> None:
        super().__init__(clock)
        self.append = self._append
        self.first = 0
        self._most_events = most_events
        self._most_characters = most_characters
        self._sizes: deque[int] = deque()
        self._characters = 0

    @property
    def total(self) -> int:
        """How many events there ever were."""
        return self.first + len(self.events)

    def _append(self, event: Event) -> None:
        size = len(stringify(as_mapping(event)))
        self.events.append(event)
        self._sizes.append(size)
        self._characters += size
        if len(self.events) > self._most_events or self._characters > self._most_characters:
            self._drop()

    def _drop(self) -> None:
        """Let go of the oldest, down to half of what may be kept: so it is seldom, and cheap on the whole."""
        sizes, gone = self._sizes, 0
        while len(sizes) > 1 and (
            len(sizes) > self._most_events // 2 or self._characters > self._most_characters // 2
        ):
            self._characters -= sizes.popleft()
            gone += 1
        del self.events[:gone]
        self.first += gone
