"""The questions of all installed chapters, made ready for looking at answers.

Above `catalogue`, `chapters` and `items`; below the summary, the export and a class report. This is where cases are
played, once for each chapter. A chapter that cannot be opened keeps no other out: its answers are told apart, and
why is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from labsim.errors import LabsimError
from workbook.chapter.catalogue import Catalogue, Listed, catalogue
from workbook.chapter.chapter import Chapter
from workbook.checkpoint.kinds import Belief
from workbook.checkpoint.prediction import Lesson
from workbook.errors import WorkbookError
from workbook.learner.store import Progress
from workbook.learner.who import Learner
from workbook.progress.questions import Bank, ChapterItems, items_of


def installed(here: Path | None = None, folders: Iterable[Path] = ()) -> Bank:
    """The questions of every chapter that somebody who works in the folder `here` has (None: the current one).

    `folders`: further folders of chapters, as `catalogue` takes them. Raises: workbook.chapter.catalogue.NoChapter.
    """
    return bank_of(catalogue(folders, here=here))


def bank_of(found: Catalogue) -> Bank:
    """The questions of the chapters of a catalogue, in its order; chapters that ask nothing are left out."""
    chapters: dict[str, ChapterItems] = {}
    beliefs: dict[str, Belief] = {}
    problems = [*found.faults, *map(str, found.clashes)]
    for listed in found.chapters:
        if listed.id in chapters:  # a clash: the first one is taken, and it was said
            continue
        try:
            made, its_beliefs = _opened(listed)
        except (LabsimError, WorkbookError) as error:
            problems.append(f"{listed.id}: {error}")
        except Exception as error:  # an instructor's engine, which may raise anything
            problems.append(f"{listed.id}: {type(error).__name__}: {error}")
        else:
            if made.items or made.exercises:
                chapters[made.id] = made
                beliefs |= its_beliefs
    return Bank(chapters.values(), beliefs, problems)


def lesson_of(chapter_id: str, here: Path | None = None) -> Lesson:
    """What the checkpoints of one chapter share, for whoever works in the folder `here`.

    Raises: workbook.chapter.catalogue.UnknownChapter or SameId; labsim.errors.CaseError.
    """
    return _open(catalogue(here=here).find(chapter_id)).lesson


def _open(listed: Listed) -> Chapter:
    """Nobody answers anything in it: whose answers count there does not matter."""
    return Chapter(listed.files(), learner=Learner.LIVE, progress=Progress())


def _opened(listed: Listed) -> tuple[ChapterItems, dict[str, Belief]]:
    chapter = Chapter(
        listed.files(), learner=Learner.LIVE, progress=Progress()
    )  # whose does not matter: none is read
    lesson = chapter.lesson
    made = ChapterItems(
        id=chapter.id,
        title=listed.title,
        items=tuple(items_of(chapter.id, chapter.checkpoint_records, lesson.play)),
        exercises=chapter.exercises,
    )
    return made, dict(lesson.beliefs)
