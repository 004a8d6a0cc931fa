"""The two gates of a dispatch, told apart by the ledger alone: that of `write`, and that of the device inside it.

Both work under one call id, so it is the brackets of `execute` that tell them apart: what happens between a call's
start and its end belongs to it, unless a call inside has started and not ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from labsim.events.call import CallReturned, CallStarted, CallThrew
from labsim.events.event import Event


class Nesting(StrEnum):
    """At which gate an event happens."""

    OUTER = "outer"
    INNER = "inner"


class Placed(Struct, frozen=True):
    """One event with its gate and the tool whose call it is part of; both None between calls."""

    event: Event
    nesting: Nesting | None
    tool_name: str | None


def nested(events: Iterable[Event]) -> list[Placed]:
    """Every event, in order, at its gate. Works on a ledger that is still growing."""
    placed: list[Placed] = []
    running: list[str] = []
    for event in events:
        if isinstance(event, CallStarted):
            running.append(event.tool_name)
        nesting = None if not running else Nesting.OUTER if len(running) == 1 else Nesting.INNER
        placed.append(Placed(event, nesting, running[-1] if running else None))
        if running and isinstance(event, CallReturned | CallThrew):
            running.pop()
    return placed
