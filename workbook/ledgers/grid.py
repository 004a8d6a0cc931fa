"""Rows of a ledger as a small table, without pandas: for a dialog that follows a play, and for a reveal.

`tables.ledger` has the same numbers and words, and more columns, as a DataFrame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from labsim.describe.ledger import describe_lines
from workbook.ledgers.played import PlacedEvent
from workbook.show.grid import Grid

COLUMNS: Final = ("call", "n", "event", "says")


def ledger_grid(caption: str, events: Sequence[PlacedEvent]) -> Grid:
    """Events as rows, in the order given, each with its call and its number in the ledger."""
    return Grid(
        caption=caption,
        columns=COLUMNS,
        rows=tuple((one.call, str(one.number), one.event.kind_name(), describe_lines(one.event)) for one in events),
        header=COLUMNS.index("event"),
        group=COLUMNS.index("call"),
        numbers=frozenset({COLUMNS.index("n")}),
    )
