"""Are the exercises themselves right? Each situation is played with its own scripted answers, each sweep made.

An exercise whose own answers do not meet what it expects could never be got right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from labsim.case.model import Case
from labsim.errors import CaseError
from labsim.play.performance import run
from workbook.exercise.flawed_hosts import PIECES
from workbook.exercise.invariants import ALWAYS
from workbook.exercise.kinds import CallExercise, CaseExercise, Exercise, Form, GateExercise, TraceExercise
from workbook.grading.calls import broken
from workbook.ledgers.claims import FIELDS


def check_exercises(exercises: Iterable[Exercise]) -> list[CaseError]:
    """What is wrong with the exercises, beyond their shape; an empty list is the good answer."""
    return [problem for exercise in exercises for problem in _problems(exercise)]


def _problems(exercise: Exercise) -> Iterator[CaseError]:
    match exercise:
        case GateExercise():
            for case in exercise.situations:
                yield from _unmet(exercise.id, case)
        case CallExercise():
            for situation in exercise.situations:
                yield from _unmet(exercise.id, situation.case)
            yield from _sweeps(exercise)
        case TraceExercise():
            if exercise.piece not in PIECES:
                yield CaseError(
                    f"{exercise.id}.piece",
                    f"nobody wrote {exercise.piece}",
                    "Add it to workbook.exercise.flawed_hosts.",
                )
        case CaseExercise():
            for field in exercise.claims:
                if field not in FIELDS:
                    yield CaseError(
                        f"{exercise.id}.claims", f"no case shows {field!r}", f"Use: {', '.join(FIELDS)}."
                    )


def _unmet(exercise_id: str, case: Case) -> Iterator[CaseError]:
    report = run(case)
    for check in report.checks:
        if not check.agrees:
            yield CaseError(
                f"{exercise_id}: {case.id}.expected.{check.field}",
                f"{check.expected!r} is expected, and its own answers show {check.observed!r}",
                "Mend the expectation, or the answers.",
            )
    if not report.checks:
        yield CaseError(f"{exercise_id}: {case.id}", "nothing is expected", "Expect something.")


def _sweeps(exercise: CallExercise) -> Iterator[CaseError]:
    """Whether each sweep makes cases, and what it scripts keeps what it claims.

    An approver's sweep scripts no answers: they depend on what the person says, so only a submission can meet it.
    """
    for sweep in exercise.sweeps:
        for situation in sweep.situations():
            if exercise.form is Form.ANSWERS:
                continue
            for found in broken((*sweep.holds, *ALWAYS), run(situation.case)):
                yield CaseError(
                    f"{exercise.id}: {situation.case.id}",
                    f"what it scripts does not keep “{found.invariant.says}” (rows {found.rows})",
                    "Mend what is scripted, or what has to hold.",
                )
                return
