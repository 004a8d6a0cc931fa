"""The second layer of `check_chapter`: what the chapter says, held against what its cases show when played.

Which option is right is never written down, so this is where it is found out that exactly one is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from labsim.case.model import Case
from labsim.describe.ledger import one_line
from labsim.errors import CaseError, LabsimError
from labsim.play.performance import run
from labsim.reading.reading import parse_file
from workbook.check_chapter.checkpoints import check
from workbook.check_chapter.exercises import check_exercises
from workbook.check_chapter.fault import Checking, Fault, Layer, fault_of
from workbook.checkpoint.file import Belief, CheckpointFile, parse_beliefs, parse_checkpoints
from workbook.checkpoint.kinds import ChoiceCheckpoint, PaperCheckpoint, beliefs_of
from workbook.exercise.file import CallExercise, Exercise, GateExercise, parse_exercises
from workbook.grading.grade import Grade, grade

GOOD: Final = "good-"
BAD: Final = "bad-"
ANSWER: Final = "answer"


def check_cases(checking: Checking) -> Iterator[Fault]:
    """Every fault that playing shows. The files have been read without one."""
    cases: dict[str, Case] = {}
    for path in checking.files.cases:
        text, name = path.read_text(encoding="utf-8"), checking.name(path)
        file = parse_file(path.read_bytes(), name)
        for number, case in enumerate(file.cases):
            place = f"{name}: cases[{number}] ({case.id})"
            for error in _of_case(case, place):
                yield fault_of(error, Layer.CASES, name, text)
        cases |= {case.id: case for case in file.cases}
    beliefs = _beliefs(checking)
    if checking.files.checkpoints is not None:
        yield from _of_checkpoints(checking, checking.files.checkpoints, cases, beliefs)
    if checking.files.exercises is not None:
        yield from _of_exercises(checking, checking.files.exercises)


def _of_case(case: Case, place: str) -> Iterator[CaseError]:
    """What a case expects, beside what it shows."""
    if not case.title.strip():
        yield CaseError(f"{place}.title", "the case has no title", "Say in a few words what it is about.")
    if not case.why.strip():
        yield CaseError(f"{place}.why", "nothing says why it comes out so", "Name the rule that decides.")
    try:
        report = run(case)
    except LabsimError as error:
        yield CaseError(place, f"it cannot be played ({str(error).rstrip('.')})", "Mend what it is given.")
        return
    if not report.checks:
        remedy = 'Say what it shows, such as {"prompts": 1}: a case that claims nothing proves nothing.'
        yield CaseError(f"{place}.expected", "the case expects nothing", remedy)
    for check_ in report.checks:
        if not check_.agrees:
            yield CaseError(
                f"{place}.expected.{check_.field}",
                f"{check_.expected!r} is expected, and the run shows {_shown(check_.observed)}",
                "Mend the expectation, or what is given.",
            )


def _shown(value: object) -> str:
    return "no such thing" if type(value).__name__ == "UnsetType" else repr(value)


def _beliefs(checking: Checking) -> dict[str, Belief]:
    made: dict[str, Belief] = {}
    for path in checking.files.beliefs:
        made |= parse_beliefs(path.read_bytes(), checking.name(path))
    return made


def _of_checkpoints(
    checking: Checking, path: Path, cases: Mapping[str, Case], beliefs: Mapping[str, Belief]
) -> Iterator[Fault]:
    text, name = path.read_text(encoding="utf-8"), checking.name(path)
    file = parse_checkpoints(path.read_bytes(), name)
    for error in check(file, cases.values(), beliefs):
        yield _moved(error, file, name, text)
    for number, checkpoint in enumerate(file.checkpoints):
        place = f"checkpoints[{number}] ({checkpoint.id})"
        if not checkpoint.hints and not isinstance(checkpoint, PaperCheckpoint):
            error = CaseError(
                f"{place}.hints", "there is no hint", "Add one that says where to look, not what is there."
            )
            yield fault_of(error, Layer.CASES, name, text)
        if isinstance(checkpoint, ChoiceCheckpoint):
            for error in _of_options(checkpoint, place):
                yield fault_of(error, Layer.CASES, name, text)
    yield from _unused(checking, file)


def _moved(error: CaseError, file: CheckpointFile, name: str, text: str) -> Fault:
    """A fault that `checkpoints.check` names by the chapter, as one of the file."""
    place = error.place.removeprefix(f"{file.chapter}: ")
    return fault_of(CaseError(place, error.found, error.remedy), Layer.CASES, name, text)


def _of_options(checkpoint: ChoiceCheckpoint, place: str) -> Iterator[CaseError]:
    """An explanation that is used twice explains neither."""
    seen: dict[str, str] = {}
    for number, option in enumerate(checkpoint.options):
        why = " ".join(option.why.split())
        if why in seen:
            remedy = "Say of each what speaks for it, and what it overlooks."
            found = f"this is the why of {seen[why]!r}, word for word"
            yield CaseError(f"{place}.options[{number}] ({option.id}).why", found, remedy)
        seen[why] = option.id


def _unused(checking: Checking, file: CheckpointFile) -> Iterator[Fault]:
    """Own beliefs that no checkpoint is about: they would never be held or shed by anybody."""
    named = {belief for checkpoint in file.checkpoints for belief in beliefs_of(checkpoint)}
    for path in checking.files.beliefs:
        if checking.is_foreign(path) or checking.chapter.place.data is not None:
            continue
        name, text = checking.name(path), path.read_text(encoding="utf-8")
        for number, belief_id in enumerate(parse_beliefs(path.read_bytes(), name)):
            if belief_id not in named:
                error = CaseError(
                    f"beliefs[{number}] ({belief_id})",
                    "no answer to a checkpoint names this belief",
                    "Name it where somebody who holds it would answer wrongly, or remove it.",
                )
                yield fault_of(error, Layer.CASES, name, text)


# -------------------------------------------------------------------------------------------------------- exercises


def _of_exercises(checking: Checking, path: Path) -> Iterator[Fault]:
    name, text = checking.name(path), path.read_text(encoding="utf-8")
    exercises = parse_exercises(path.read_bytes(), name, checking.chapter.id)
    unmet = check_exercises(exercises.values())
    for error in unmet:
        yield fault_of(_placed(error, tuple(exercises.values())), Layer.CASES, name, text)
    if unmet:
        return  # what they expect is wrong, so no submission can be held against it
    if checking.chapter.place.data is not None:
        return  # the submissions for the built-in exercises are in the tests
    for number, exercise in enumerate(exercises.values()):
        folder = path.parent / exercise.id
        for prefix, what in ((GOOD, "right"), (BAD, "wrong")):
            files = sorted(folder.glob(f"{prefix}*.py"))
            if not files:
                remedy = f"Add {checking.name(folder)}/{prefix}NAME.py, which defines {ANSWER}."
                missing = CaseError(
                    f"exercises[{number}] ({exercise.id})", f"no submission is known to be {what}", remedy
                )
                yield fault_of(missing, Layer.CASES, name, text)
            for file in files:
                if found := _graded(exercise, file, good=prefix == GOOD):
                    yield Fault(layer=Layer.CASES, file=checking.name(file), found=found[0], remedy=found[1])


def _placed(error: CaseError, exercises: tuple[Exercise, ...]) -> CaseError:
    """`exercise: situation.expected.field`, as `exercise_check` has it, as a path inside the file."""
    exercise_id, _, rest = error.place.partition(": ")
    for number, exercise in enumerate(exercises):
        if exercise.id == exercise_id:
            place = f"exercises[{number}] ({exercise_id})"
            for at, situation in enumerate(_situations(exercise)):
                if rest.partition(".")[0] == situation:
                    place, rest = f"{place}.situations[{at}] ({situation})", rest.removeprefix(situation)
                    break
            joined = f"{place}.{rest.removeprefix('.')}" if rest else place
            return CaseError(joined, error.found, error.remedy)
    return error


def _situations(exercise: Exercise) -> list[str]:
    """The ids of an exercise's situations, in their order; none where they are made, or given otherwise."""
    match exercise:
        case GateExercise():
            return [case.id for case in exercise.situations]
        case CallExercise():
            return [situation.case.id for situation in exercise.situations]
    return []


def _graded(exercise: Exercise, path: Path, *, good: bool) -> tuple[str, str] | None:
    """What is wrong with a submission, and what would do; None if it is graded as its name says."""
    try:
        handed_in = submission(path)
    except Exception as error:  # the author's own code, run as the chapter's check runs it
        found = one_line(f"running it raised {type(error).__name__}: {error}")
        return found, f"A submission defines {ANSWER}, and nothing else happens in it."
    graded = grade(exercise, handed_in)
    if good and graded.grade is not Grade.RIGHT:
        said = one_line(" ".join(str(graded).split("\n\n")[1].split()))
        found = f"it is known to be good, and is graded {str(graded.grade)!r} ({said})"
        return found, "Mend the submission, or the situations."
    if not good and graded.grade is Grade.RIGHT:
        found = "it is known to be bad, and every situation takes it for right"
        return found, "Add a situation in which it shows, or call the file good."
    return None


def submission(path: Path) -> Any:
    """What a file of a submission hands in: what it calls `answer`. Raises: whatever running it raises."""
    import runpy

    found = runpy.run_path(str(path))
    if ANSWER not in found:
        raise NameError(f"there is no {ANSWER} in it")
    return found[ANSWER]
