"""An attempt at an exercise, tried: whatever the learner's code does is part of the answer.

Nothing is compared with a model answer: each situation is a case that is played, and what has to come out is what
the case expects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from labsim.describe.ledger import one_line
from labsim.play.report import Report
from workbook.exercise.kinds import CallExercise, CaseExercise, Exercise, GateExercise, TraceExercise
from workbook.grading.calls import TriedCall, attempts, not_begun
from workbook.grading.gate import TriedGate, gate_attempts
from workbook.grading.own_cases import check_case
from workbook.grading.pages import Grade, Graded, Requirement, task
from workbook.grading.traces import BadTrace, try_trace
from workbook.learner.records import ForeignFile
from workbook.learner.store import Key, NotSaved, Progress
from workbook.submission.callables import has_dots
from workbook.submission.sandbox import OutOfBounds
from workbook.submission.submission import NotHandedIn, Trouble

__all__ = ["Grade", "Graded", "grade", "task"]


def grade(exercise: Exercise, handed_in: object) -> Graded:
    """Try what a learner wrote, in every situation of the exercise. Whatever their code does is part of the answer.

    `handed_in`: what the exercise's form says (`exercise_file.Form`).
    """
    if handed_in is None or handed_in is ...:
        return Graded(exercise=exercise, grade=Grade.NOT_ATTEMPTED)
    match exercise:
        case GateExercise():
            return _grade_code(exercise, gate_attempts(exercise, handed_in))
        case CallExercise():
            if not_begun(exercise, handed_in):
                return Graded(exercise=exercise, grade=Grade.NOT_ATTEMPTED)
            return _grade_code(exercise, attempts(exercise, handed_in))
        case TraceExercise():
            return _grade_trace(exercise, handed_in)
        case CaseExercise():
            return _grade_case(exercise, handed_in)
    raise AssertionError(f"no exercise is of the type {type(exercise).__name__}")


def _grade_code(exercise: Exercise, playing: Iterable[TriedGate | TriedCall]) -> Graded:
    tried: list[TriedGate | TriedCall] = []
    going = iter(playing)
    while True:
        try:
            one = next(going)
        except StopIteration:
            break
        except NotHandedIn as error:
            return Graded(exercise=exercise, grade=Grade.FAILED, says=str(error))
        except OutOfBounds as error:
            return Graded(exercise=exercise, grade=Grade.FAILED, says=f"Making one of it never ended: {error}.")
        except Exception as error:  # of the class's own __init__: the learner's code, and no concern of the host
            says = one_line(f"Making one of it raised {type(error).__name__}: {error}.")
            return Graded(exercise=exercise, grade=Grade.FAILED, says=says)
        tried.append(one)
        if one.noted and one.noted[0].trouble is Trouble.NOTHING_YET and not any(t.noted for t in tried[:-1]):
            return Graded(exercise=exercise, grade=Grade.NOT_ATTEMPTED)
        if one.noted and all(earlier.held for earlier in tried[:-1]):
            return Graded(exercise=exercise, grade=Grade.FAILED, tried=tuple(tried))
        if any(noted.trouble is Trouble.RAN_ON for noted in one.noted):
            break  # each further one would take as long
    right = all(one.held for one in tried)
    return Graded(exercise=exercise, grade=Grade.RIGHT if right else Grade.NOT_YET, tried=tuple(tried))


def _grade_trace(exercise: TraceExercise, handed_in: object) -> Graded:
    if has_dots(handed_in):
        return Graded(exercise=exercise, grade=Grade.NOT_ATTEMPTED)
    try:
        tried = try_trace(exercise, handed_in)
    except BadTrace as error:
        return Graded(exercise=exercise, grade=Grade.FAILED, says=str(error))
    return Graded(exercise=exercise, grade=Grade.RIGHT if tried.held else Grade.NOT_YET, tried=(tried,))


def _grade_case(exercise: CaseExercise, handed_in: object) -> Graded:
    if has_dots(handed_in):
        return Graded(exercise=exercise, grade=Grade.NOT_ATTEMPTED)
    checked = check_case(handed_in)
    if checked.problem is not None or checked.report is None:
        return Graded(exercise=exercise, grade=Grade.FAILED, says=str(checked.problem), checked=checked)
    asked = tuple(_requirements(exercise, checked.report))
    right = all(one.held for one in asked)
    grade_ = Grade.RIGHT if right else Grade.NOT_YET
    return Graded(exercise=exercise, grade=grade_, checked=checked, asked=asked)


def _requirements(exercise: CaseExercise, report: Report) -> Iterator[Requirement]:
    case = report.case
    one_of = ", ".join(exercise.scenarios)
    yield Requirement(says=f"Its scenario is one of: {one_of}.", held=case.scenario in exercise.scenarios)
    yield Requirement(says="It has a title, and a why.", held=bool(case.title.strip() and case.why.strip()))
    yield Requirement(says="It names the rules that decide it.", held=any(rule.strip() for rule in case.rules))
    claimed: dict[str, Any] = msgspec.to_builtins(case.expected)
    for field in exercise.claims:
        yield Requirement(says=f"It claims {field}.", held=field in claimed)
    yield Requirement(says="A run shows all that it claims.", held=report.matches is True)


def key_of(chapter: str, exercise: Exercise) -> Key:
    """Under which a try is kept: mending a situation or a hint does not make it another exercise."""
    return Key.of(chapter, exercise.id, {"form": exercise.form, "task": exercise.task, "rules": exercise.rules})


def graded_and_kept(chapter: str, exercise: Exercise, handed_in: object, progress: Progress | None) -> Graded:
    """Grade what was handed in, and keep how it did (`progress` None: nowhere).

    What cannot be kept is said below the verdict, not raised. What was not attempted is no try.
    """
    graded = grade(exercise, handed_in)
    if progress is None or graded.grade is Grade.NOT_ATTEMPTED:
        return graded
    try:
        progress.try_(key_of(chapter, exercise), graded.held, graded.of)
    except (NotSaved, ForeignFile) as error:
        return replace(graded, unsaved=str(error))
    return graded
