"""Which row differed from your prediction? Asked after the reveal, and checked against the ledger.

To point at a row is to read the ledger, so this comes before anybody explains it.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from labsim.play.report import FieldCheck, Report
from workbook.checkpoint.judging import as_order, denied, judge_order
from workbook.checkpoint.kinds import Checkpoint, OrderCheckpoint, PaperCheckpoint
from workbook.errors import WorkbookError
from workbook.learner.records import Answer
from workbook.ledgers.field_rows import kinds_of, rows_of

ASKS: Final = "Which row differed from your prediction?"
#: What can be named besides a number: that no row differed, and that what was predicted has no row at all.
NONE, NEVER = "none", "never"
#: How "never" is kept in a learner's answers, where rows are counted from 1 and None stands for "none".
NEVER_ROW: Final = 0
SAYS = {NONE: "None differed", NEVER: "What I predicted never happened"}


class NoSuchRow(WorkbookError):
    """What was named is no row of the ledger; nothing was kept. Attributes: `found`; `rows`, how many there are."""

    def __init__(self, value: object, rows: int) -> None:
        self.found = value
        self.rows = rows
        super().__init__(
            f"{value!r} is no row of this ledger. Use a number from 1 to {rows}, {NONE!r} where none differed, or "
            f"{NEVER!r} where what you predicted never happened."
        )


class RowQuestion(Struct, frozen=True, kw_only=True):
    """What the ledger of one case says about one answer.

    `rows`: those that differ from it, any of which may be named; `never`: something predicted has no row; `size`:
    how many rows there are; `because`: where to look, a sentence. No row and not `never`: nothing differed.
    """

    rows: tuple[int, ...]
    never: bool
    size: int
    because: str

    def held(self, row: int | None) -> bool:
        """Whether the ledger agrees with the row that was named, in the form in which it is kept."""
        if row is None:
            return not self.rows and not self.never
        return self.never if row == NEVER_ROW else row in self.rows

    def row(self, named: object) -> int | None:
        """What a learner named, in the form in which it is kept. Raises: NoSuchRow."""
        if named is None or named == NONE:
            return None
        if named == NEVER:
            return NEVER_ROW
        if isinstance(named, int) and not isinstance(named, bool) and 1 <= named <= self.size:
            return named
        raise NoSuchRow(named, self.size)

    def answer(self, row: int | None) -> str:
        """Whether that is it, and where the ledger shows it."""
        named = {None: f"“{SAYS[NONE]}”", NEVER_ROW: f"“{SAYS[NEVER]}”"}.get(row, f"row {row}")
        verdict = "the ledger agrees" if self.held(row) else "the ledger says otherwise"
        return f"You named {named}, and {verdict}. {self.because}"


def row_question(checkpoint: Checkpoint, answer: Answer, report: Report) -> RowQuestion | None:
    """The question about one answer; None where no row can tell: for a paper answer, or a case without rows."""
    size = len(report.ledger)
    if isinstance(checkpoint, PaperCheckpoint) or not size:
        return None
    if isinstance(checkpoint, OrderCheckpoint):
        first = judge_order(checkpoint, as_order(answer), report).first_wrong
        if first is None:
            return RowQuestion(rows=(), never=False, size=size, because="Every step stands where you put it.")
        because = f"The first row out of place is {first.row}: “{first.step.text}”"
        return RowQuestion(rows=(first.row,), never=False, size=size, because=because)
    checks = denied(checkpoint, answer, report)
    if not checks:
        return RowQuestion(rows=(), never=False, size=size, because="Every field that you predicted is as it came.")
    shown = [check for check in checks if kinds_of(check.field)]
    if not shown:
        return None
    rows = tuple(sorted({row for check in shown for row in rows_of(check.field, report)}))
    never = any(_is_missing(check, report) for check in shown)
    return RowQuestion(rows=rows, never=never, size=size, because=_because(shown, report))


def _is_missing(check: FieldCheck, report: Report) -> bool:
    """Whether something was predicted that the ledger has no row for: none at all, or fewer than predicted."""
    if not rows_of(check.field, report):
        return True
    counts = (check.expected, check.observed)
    return all(type(count) is int for count in counts) and check.expected > check.observed


def _because(checks: list[FieldCheck], report: Report) -> str:
    found = []
    for check in checks:
        rows = rows_of(check.field, report)
        if rows:
            found.append(f"{check.field}: {'row' if len(rows) == 1 else 'rows'} {', '.join(map(str, rows))}")
        else:
            found.append(f"{check.field}: no row, for nothing of the kind happened")
    return f"Look at {'; '.join(found)}."
