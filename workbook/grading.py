"""An attempt at an exercise, tried in its hidden situations: how it stands, and the ledger that shows why.

Above `exercise_file` and `submissions`; below `chapters`. Nothing is compared with a model answer: each situation
is a case that is played with the learner's own code in the approver's place, and what has to come out is what the
case expects. Four answers are told apart: not attempted, not yet, right, and code that failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from labsim.case import GateCase
from labsim.gate.events import ApproverAsked
from labsim.gate.levels import SideEffectLevel
from labsim.report import FieldCheck, Report
from labsim.scenario_gate import play_with
from labsim.show import one_line
from workbook.bounded import OutOfBounds
from workbook.checkpoints import rows_of
from workbook.exercise_file import Exercise, Form
from workbook.grid import Grid
from workbook.page import Block, Fold, Heading, Items, Page, Paragraph, Table, page
from workbook.played import placed
from workbook.reveal import comparison
from workbook.rows import ledger_grid
from workbook.submissions import Noted, NotHandedIn, Submission, Trouble


class Grade(StrEnum):
    """How an attempt stands."""

    NOT_ATTEMPTED = "not attempted"
    FAILED = "your code failed"
    NOT_YET = "not yet"
    RIGHT = "right"


class Tried(Struct, frozen=True, kw_only=True):
    """One situation, played with the learner's code."""

    case: GateCase
    report: Report
    noted: tuple[Noted, ...] = ()

    @property
    def held(self) -> bool:
        """Whether it came out as it should, and nothing went wrong on the way."""
        return not self.noted and bool(self.report.matches)


class Graded(Struct, frozen=True, kw_only=True):
    """How an attempt stands. As the value of a cell it shows itself; `tried` are its situations so far.

    `says` is what kept the code from being tried at all; "" if it was.
    """

    exercise: Exercise
    grade: Grade
    tried: tuple[Tried, ...] = ()
    says: str = ""

    @property
    def failing(self) -> Tried | None:
        """The first situation that did not come out as it should; None if all did."""
        return next((one for one in self.tried if not one.held), None)

    def page(self) -> Page:
        """The verdict in words, and whatever explains it."""
        heading = Heading(text=f"Exercise {self.exercise.id}: {self.grade}")
        match self.grade:
            case Grade.NOT_ATTEMPTED:
                return page(heading, Paragraph(lead="Not attempted.", text=_NOT_ATTEMPTED))
            case Grade.RIGHT:
                count = len(self.tried)
                text = f"All {count} situations come out as they should, those included that you could not see."
                return page(heading, Paragraph(lead="Right.", text=text), Table(grid=_overview(self.tried)))
            case Grade.FAILED:
                return page(heading, *self._failed())
            case Grade.NOT_YET:
                return page(heading, *self._not_yet())

    def _failed(self) -> Iterator[Block]:
        failing = self.failing
        if failing is None:
            yield Paragraph(lead="Your code failed.", text=self.says)
            return
        says = failing.noted[0].says if failing.noted else ""
        yield Paragraph(lead="Your code failed.", text=f"{says[:1].upper()}{says[1:]}")
        yield Paragraph(text="No answer is no consent: the ledger shows what the host made of it.")
        yield _ledger(failing.report, frozenset())

    def _not_yet(self) -> Iterator[Block]:
        failing = self.failing
        assert failing is not None
        held = sum(one.held for one in self.tried)
        yield Paragraph(
            lead="Not yet.",
            text=f"{held} of {len(self.tried)} situations come out as they should. The first that does not: "
            f"{failing.case.title[:1].lower()}{failing.case.title[1:]}.",
        )
        yield comparison("What should come out, and what did", failing.report.checks, claim="should be")
        yield Paragraph(lead="Why:", text=failing.case.why)
        rows = frozenset(_against(failing.report))
        if rows:
            named = ", ".join(map(str, sorted(rows)))
            shown = (
                f"Row {named} of the ledger shows it." if len(rows) == 1 else f"Rows {named} of the ledger show it."
            )
            yield Paragraph(text=shown)
        yield _ledger(failing.report, rows)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.page()._repr_mimebundle_()

    def __str__(self) -> str:
        return str(self.page())


_NOT_ATTEMPTED: Final = (
    "The three dots are still there. Put your own rule in their place, run that cell, and then run this one again."
)
_NEVER_ANSWERED: Final = "it never answered: a simulated day later, the run still waits for it."


def grade(exercise: Exercise, handed_in: object) -> Graded:
    """Try what a learner wrote in every situation of the exercise. Whatever their code does is part of the answer.

    `handed_in`: for a policy a function of the request; for an approver a class or an `async def` function.
    """
    if handed_in is None or handed_in is ...:
        return Graded(exercise=exercise, grade=Grade.NOT_ATTEMPTED)
    tried: list[Tried] = []
    for case in exercise.situations:
        try:
            one = _try(case, handed_in, exercise.form)
        except NotHandedIn as error:
            return Graded(exercise=exercise, grade=Grade.FAILED, says=str(error))
        except OutOfBounds as error:
            return Graded(exercise=exercise, grade=Grade.FAILED, says=f"Making one of it never ended: {error}.")
        except Exception as error:  # of the class's own __init__: the learner's code, and no concern of the host
            says = one_line(f"Making one of it raised {type(error).__name__}: {error}.")
            return Graded(exercise=exercise, grade=Grade.FAILED, says=says)
        tried.append(one)
        if one.noted and one.noted[0].trouble is Trouble.NOTHING_YET and len(tried) == 1:
            return Graded(exercise=exercise, grade=Grade.NOT_ATTEMPTED)
        if one.noted and all(earlier.held for earlier in tried[:-1]):
            return Graded(exercise=exercise, grade=Grade.FAILED, tried=tuple(tried))
        if any(noted.trouble is Trouble.RAN_ON for noted in one.noted):
            break  # each further one would take as long
    right = all(one.held for one in tried)
    return Graded(exercise=exercise, grade=Grade.RIGHT if right else Grade.NOT_YET, tried=tuple(tried))


def _try(case: GateCase, handed_in: object, form: Form) -> Tried:
    submission = Submission(handed_in, form)
    report = play_with(case, approver=submission)
    noted = tuple(submission.noted)
    if not noted and report.observed["runEnded"] is False:
        noted = (Noted(trouble=Trouble.RAN_ON, says=_NEVER_ANSWERED),)
    return Tried(case=case, report=report, noted=noted)


def task(exercise: Exercise) -> Page:
    """What is to be written, its hints, and how to hand it in."""
    return page(
        Heading(text=f"Exercise {exercise.id}"),
        Paragraph(text=exercise.task),
        Items(items=exercise.rules),
        *(
            Fold(title=f"Hint {number} of {len(exercise.hints)}", blocks=(Paragraph(text=hint),))
            for number, hint in enumerate(exercise.hints, start=1)
        ),
        Paragraph(
            text=f"It is tried in {len(exercise.situations)} situations that are not shown here. "
            f"Hand it in by its name: desk.grade({exercise.id!r}, name)"
        ),
    )


# ----------------------------------------------------------------------------------------------- what is shown


def _overview(tried: tuple[Tried, ...]) -> Grid:
    """Each situation with what the approver was asked about, and what became of the calls."""
    rows = []
    for one in tried:
        asked = [
            f"{event.tool_name} ({_level(event.side_effect_level)})"
            for event in one.report.ledger
            if isinstance(event, ApproverAsked)
        ]
        decided = one.report.observed["decisions"]
        rows.append((one.case.title, "\n".join(asked), "\n".join(decided)))
    return Grid(
        caption="What was tried", columns=("situation", "the approver was asked about", "calls"), rows=tuple(rows)
    )


def _level(level: SideEffectLevel | None) -> str:
    return "unknown" if level is None else level


def _ledger(report: Report, rows: frozenset[int]) -> Table:
    events = placed(report)
    grid = ledger_grid("Ledger of this situation, with your code as the approver", events)
    marked = frozenset(place for place, one in enumerate(events) if one.number in rows)
    return Table(grid=replace(grid, marked=marked))


def _against(report: Report) -> Iterator[int]:
    """The rows that show what should have come out otherwise; of a list, only those of its differing entries."""
    for check in report.checks:
        if not check.agrees:
            rows = rows_of(check.field, report)
            yield from (row for place, row in enumerate(rows) if _differs(check, place))


def _differs(check: FieldCheck, place: int) -> bool:
    wanted, found = check.expected, check.observed
    if not (isinstance(wanted, list) and isinstance(found, list)):
        return True
    return wanted[place : place + 1] != found[place : place + 1]
