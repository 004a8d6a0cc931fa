"""The questions of all installed chapters, made ready for looking at answers.

This is where cases are played, once for each chapter. A chapter that cannot be opened keeps no other out: its
answers are told apart, and why is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from labsim.errors import CaseError, LabsimError
from workbook.chapter.catalogue import Catalogue, Listed, catalogue
from workbook.chapter.contents import Contents, read_contents
from workbook.chapter.engine import load_engine
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


def bank_of(chapters_found: Catalogue) -> Bank:
    """The questions of the chapters of a catalogue, in its order; chapters that ask nothing are left out."""
    chapters: dict[str, ChapterItems] = {}
    beliefs: dict[str, Belief] = {}
    problems = [*chapters_found.faults, *map(str, chapters_found.clashes)]
    for listed in chapters_found.chapters:
        if listed.id in chapters:  # a clash: the first one is taken, and it was said
            continue
        try:
            made, its_beliefs = _questions(listed)
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
    listed = catalogue(here=here).find(chapter_id)
    return _lesson(chapter_id, _read(listed))


def _read(listed: Listed) -> Contents:
    """A chapter's files. Its own code is run only where its cases cannot be understood without it."""
    files = listed.files()
    try:
        return read_contents(files)
    except CaseError:
        if files.engine is None:
            raise
    load_engine(files.id, files.engine)
    return read_contents(files)


def _lesson(chapter_id: str, read: Contents) -> Lesson:
    """Nobody answers anything in it: whose answers count there does not matter."""
    return Lesson(
        chapter=chapter_id, cases=read.cases, beliefs=read.beliefs, progress=Progress(), learner=Learner.LIVE
    )


def _questions(listed: Listed) -> tuple[ChapterItems, dict[str, Belief]]:
    read = _read(listed)
    made = ChapterItems(
        id=listed.id,
        title=listed.title,
        items=tuple(items_of(listed.id, read.checkpoints.values(), _lesson(listed.id, read).play)),
        exercises=tuple(read.exercises),
    )
    return made, dict(read.beliefs)
