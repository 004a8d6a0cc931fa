"""The two lanes of a dispatch, read off the ledger alone: the gate of `write`, and the gate of the device.

Above `events`, below `show` and whoever draws. Both gates work under one call id, so it is the brackets of
`execute` that tell them apart: what happens between a call's start and its end belongs to it, unless a call inside
has started and not ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from labsim.events import CallReturned, CallStarted, CallThrew


class Lane(StrEnum):
    """Whose step an event is."""

    OUTER = "outer"
    INNER = "inner"


class Placed(Struct, frozen=True):
    """One event with its lane and the tool whose call it is part of; both None between calls."""

    event: Struct
    lane: Lane | None
    tool_name: str | None


def in_lanes(events: Iterable[Struct]) -> list[Placed]:
    """Every event, in order, in its lane. Works on a ledger that is still growing."""
    placed: list[Placed] = []
    running: list[str] = []
    for event in events:
        if isinstance(event, CallStarted):
            running.append(event.tool_name)
        lane = None if not running else Lane.OUTER if len(running) == 1 else Lane.INNER
        placed.append(Placed(event, lane, running[-1] if running else None))
        if running and isinstance(event, CallReturned | CallThrew):
            running.pop()
    return placed
