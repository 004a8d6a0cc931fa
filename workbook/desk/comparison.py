"""What does a yes authorise, here and there? One table whose every cell is a run, and opens the ledger behind it.

A cell says what became of the last call of its case: whether a person was asked about it, and otherwise whether it
ran. Nothing is written down but which case is played for which cell; a case that is not there is said to be not
played. While a checkpoint about one of the cases is not answered, the table is withheld.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Final, TypeVar

from labsim.case.model import Case
from labsim.errors import did_you_mean
from labsim.events.dialogs import QuestionAsked
from labsim.library import case_files
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import parse_file
from labsim.terms import Outcome
from workbook.desk.open import open_chapter
from workbook.errors import WorkbookError
from workbook.ledgers.withheld import Withheld
from workbook.show.frame import TEXT, Look, Table
from workbook.show.page import Page, Paragraph, page
from workbook.show.page import Table as Shown
from workbook.tables.report import ledger

Word = TypeVar("Word", bound=StrEnum)


class Yes(StrEnum):
    """What was given: the columns. The first two are the first host's, the others the second's."""

    APPROVE = "Approve"
    GRANT = "review grant"
    ALLOW = "Allow"
    FOR_SESSION = "Allow for session"
    RULE = "seeded rule"
    GATE_DENY = "gate Deny"


class Then(StrEnum):
    """What comes then: the rows."""

    ITSELF = "the call it is given for"
    SAME = "the same call again"
    OTHER = "the same tool, other arguments"
    REFUSED = "the same call, after a no"
    REWRITTEN = "an input rewritten on its way"
    DENIED = "with a deny rule beside it"
    ELSEWHERE = "another agent or session"
    RESUMED = "after a restart or a resume"
    NOBODY = "with nobody there"
    READ = "a read"


ASKED: Final = "asked"
RUNS, REFUSED = "runs", "refused"  # and nobody is asked
NOT_PLAYED: Final = "not played"

_PLAYED: Final[Mapping[Then, tuple[str, ...]]] = {
    Then.ITSELF: (
        "boundary-approve-one-call",
        "compare-grant-one-act",
        "gate-asked-once",
        "compare-session-first-call",
        "compare-rule-one-call",
        "compare-deny-one-call",
    ),
    Then.SAME: (
        "boundary-approval-does-not-persist",
        "compare-grant-the-same-act-again",
        "compare-allow-the-same-again",
        "compare-session-the-same-again",
        "compare-rule-the-same-again",
        "compare-deny-the-same-again",
    ),
    Then.OTHER: (
        "compare-approve-other-arguments",
        "compare-grant-another-text",
        "compare-allow-other-arguments",
        "gate-for-session-any-input",
        "compare-rule-other-arguments",
        "compare-deny-other-arguments",
    ),
    Then.REFUSED: (
        "boundary-deny-then-approve",
        "compare-grant-refused",
        "gate-refused-and-made-again",
        "compare-session-refused",
        "compare-rule-refused",
        "compare-deny-the-same-again",
    ),
    Then.REWRITTEN: (
        "boundary-revision-is-what-is-shown",
        "review-t07-stale-revision-alone",
        "gate-hook-before-the-gate",
        "compare-session-rewritten",
        "compare-rule-rewritten",
        "compare-deny-rewritten",
    ),
    Then.DENIED: (
        "boundary-user-deny",
        "compare-grant-and-a-deny-rule",
        "compare-allow-and-a-deny-rule",
        "gate-for-session-beats-a-global-deny",
        "compare-rule-and-a-deny-rule",
        "compare-deny-and-an-allow-rule",
    ),
    Then.ELSEWHERE: (
        "compare-approve-another-session",
        "review-t11-new-session",
        "compare-allow-another-agent",
        "gate-for-session-covers-a-subagent",
        "compare-rule-another-agent",
        "compare-deny-another-agent",
    ),
    Then.RESUMED: (
        "compare-approve-after-a-restart",
        "review-t11-restart",
        "compare-allow-after-a-resume",
        "gate-for-session-ends-at-resume",
        "compare-rule-after-a-resume",
        "compare-deny-after-a-resume",
    ),
    Then.NOBODY: (
        "boundary-no-ui",
        "compare-grant-one-act",
        "compare-allow-nobody-there",
        "compare-session-the-same-again",
        "compare-rule-one-call",
        "compare-deny-nobody-there",
    ),
    Then.READ: (
        "compare-approve-a-read",
        "review-t01-looking-changes-nothing",
        "gate-read-not-asked",
        "gate-read-not-asked",
        "gate-seeded-deny-on-a-read",
        "compare-deny-a-read",
    ),
}


class NoSuchCell(WorkbookError):
    """The comparison has no row or column of that name. Attributes: `name`, `known`."""

    def __init__(self, what: str, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        hint = did_you_mean(name, known, f"There are: {'; '.join(known)}.")
        super().__init__(f"The comparison has no {what} {name!r}. {hint}")


class CellNotPlayed(WorkbookError):
    """The case of a cell is not among the built-in ones, so there is no ledger behind it."""


def comparison() -> Comparison:
    """Six kinds of yes and no in ten situations, each played now; withheld before the Gate Desk's predictions."""
    unanswered = open_chapter("gate-desk").unanswered(_all_ids())
    return Comparison(_built_in(), Withheld(unanswered) if unanswered else None)


class Comparison:
    """The comparison, played. As the value of a cell it shows itself; `table` is the same as a DataFrame."""

    def __init__(self, cases: Mapping[str, Case], withheld: Withheld | None = None) -> None:
        """Plays the case of every cell that is among `cases`. What is `withheld` is shown in its place."""
        self._withheld = withheld
        self._reports = {case_id: run(cases[case_id]) for case_id in _all_ids() if case_id in cases}

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows."""
        return tuple(then.value for then in Then)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(yes.value for yes in Yes)

    @property
    def table(self) -> Table:
        """One row a situation: `then`, and a column for each kind of yes; all string."""
        cells: dict[str, list[str]] = {"then": list(self.rows)}
        cells |= {yes.value: [self._cell(then, yes) for then in Then] for yes in Yes}
        caption = "What becomes of a call, by what was given before"
        return Table(cells, dict.fromkeys(cells, TEXT), Look(caption=caption, header="then"))

    def report(self, row: str, column: str) -> Report:
        """The run behind a cell. Raises: NoSuchCell; CellNotPlayed."""
        case_id = _case_of(_named(Then, "row", row), _named(Yes, "column", column))
        if case_id not in self._reports:
            raise CellNotPlayed(f"{row}, {column}: the case {case_id} did not come with this workbook.")
        return self._reports[case_id]

    def ledger(self, row: str, column: str) -> Table | Withheld:
        """The ledger behind a cell, which is about its last call. Raises: NoSuchCell; CellNotPlayed."""
        return self._withheld or ledger(self.report(row, column))

    def _cell(self, then: Then, yes: Yes) -> str:
        report = self._reports.get(_case_of(then, yes))
        return NOT_PLAYED if report is None else became_of_last_call(report)

    def page(self) -> Page:
        """The table, and how to read and open it."""
        if self._withheld is not None:
            return self._withheld.page()
        return page(
            Shown(grid=self.table.grid),
            Paragraph(
                text=f"“{ASKED}”: a person is asked about this very call. “{RUNS}” and “{REFUSED}”: nobody is. To "
                f"open the ledger behind a cell: wb.comparison().ledger({Then.SAME.value!r}, {Yes.ALLOW.value!r})"
            ),
        )

    def __repr__(self) -> str:
        return str(self.page())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.page()._repr_mimebundle_()


def became_of_last_call(report: Report) -> str:
    """`asked`, if a dialog was opened within the last call of a case; otherwise `runs` or `refused`."""
    last = report.calls[-1]
    events = list(report.ledger)[last.start : last.end]
    if any(isinstance(event, QuestionAsked) for event in events):
        return ASKED
    return RUNS if last.outcome is Outcome.RETURN else REFUSED


def _case_of(then: Then, yes: Yes) -> str:
    return _PLAYED[then][list(Yes).index(yes)]


def _all_ids() -> list[str]:
    return [case_id for ids in _PLAYED.values() for case_id in ids]


def _named(words: type[Word], what: str, name: str) -> Word:
    try:
        return words(name)
    except ValueError:
        raise NoSuchCell(what, name, tuple(word.value for word in words)) from None


@cache
def _built_in() -> dict[str, Case]:
    """Every case that came with the workbook, by its id."""
    files = (parse_file(path.read_bytes(), path.name) for path in case_files())
    return {case.id: case for file in files for case in file.cases}
