"""Policies and approvers of the second host, tried in the situations of an exercise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from labsim.case.model import GateCase
from labsim.gate.base.terms import SideEffectLevel
from labsim.gate.events import ApproverAsked
from labsim.play.gate import play_with
from labsim.play.report import Report
from workbook.exercise.kinds import GateExercise
from workbook.show.grid import Grid
from workbook.submission.submission import Noted, Submission, Trouble

_NEVER_ANSWERED: Final = "it never answered: a simulated day later, the run still waits for it."


class TriedGate(Struct, frozen=True, kw_only=True):
    """One situation, played with the learner's code."""

    case: GateCase
    report: Report
    noted: tuple[Noted, ...] = ()

    @property
    def title(self) -> str:
        return self.case.title

    @property
    def why(self) -> str:
        return self.case.why

    @property
    def held(self) -> bool:
        """Whether it came out as it should, and nothing went wrong on the way."""
        return not self.noted and bool(self.report.matches)


def gate_attempts(exercise: GateExercise, handed_in: object) -> Iterator[TriedGate]:
    """Each situation, played with the learner's code in the approver's place.

    Raises: NotHandedIn; OutOfBounds, if making one of it never ends; whatever the class's own `__init__` raises.
    """
    for case in exercise.situations:
        submission = Submission(handed_in, exercise.form)
        report = play_with(case, approver=submission)
        noted = tuple(submission.noted)
        if not noted and report.observed["runEnded"] is False:
            noted = (Noted(trouble=Trouble.RAN_ON, says=_NEVER_ANSWERED),)
        yield TriedGate(case=case, report=report, noted=noted)


def gate_overview(tried: tuple[TriedGate, ...]) -> Grid:
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
