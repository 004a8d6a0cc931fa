"""Which rows of a ledger show an observed field.

The events say which fields are read from them: nobody can point at a row for a field that no event shows.
"""

from __future__ import annotations

from typing import Final

from labsim.events.event import Event
from labsim.play.report import Report

#: Fields of how a case ended: many calls can end in it, and only the last word counts.
_ENDING: Final = ("outcome", "errorIncludes")
_COUNTED: Final = "events."


def kinds_of(field: str) -> tuple[str, ...]:
    """The kinds of event that a field is read from; none for one that no event shows."""
    if field.startswith(_COUNTED):
        return (field.removeprefix(_COUNTED),)
    from labsim.describe.kinds import (
        event_classes,  # loads the events of every part, which most readers of rows have not
    )

    return tuple(kind.kind_name() for kind in event_classes() if field in kind.shows)


def rows_of(field: str, report: Report) -> tuple[int, ...]:
    """The rows of the ledger, counted from 1, that show a field; of how it ended, the last one."""
    rows = tuple(number for number, event in enumerate(report.ledger, start=1) if _is_shown(field, event))
    return rows[-1:] if field in _ENDING else rows


def _is_shown(field: str, event: Event) -> bool:
    if field.startswith(_COUNTED):
        return event.kind_name() == field.removeprefix(_COUNTED)
    return field in event.shows
