"""A try at an exercise, graded and kept: how many situations held, beside the learner's other answers.

Above `grading` and `progress`; below `chapters`. The code itself stays where it is, in the learner's notebook.
"""

from __future__ import annotations

from msgspec.structs import replace

from workbook.exercise.kinds import Exercise
from workbook.grading.grade import Grade, Graded, grade
from workbook.learner.records import ForeignFile
from workbook.learner.store import Key, NotSaved, Progress


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
