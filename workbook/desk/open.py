"""Opens a chapter by its id: what `wb.open` is."""

from __future__ import annotations

from pathlib import Path

from workbook.chapter.catalogue import Origin, SameId, catalogue, chapters_in
from workbook.chapter.chapter import Chapter, chapter_files
from workbook.chapter.file import ChapterFiles
from workbook.learner.who import progress_of, who
from workbook.progress.recall import recalls_in
from workbook.show.cited import keep_back


def open_chapter(chapter_id: str, *, folder: Path | str | None = None) -> Chapter:
    """The chapter of that id, wherever the catalogue finds it.

    `folder`: look there and nowhere else: in a chapter's folder, a folder of chapters, or one laid out as
    `fixtures/`. Raises: UnknownChapter; workbook.chapter.catalogue.SameId; labsim.errors.CaseError, if one of its
    files is not right; UnknownLearner.
    """
    files = catalogue().find(chapter_id).files() if folder is None else _files_in(Path(folder), chapter_id)
    learner = who()
    chapter = Chapter(files, learner=learner, progress=progress_of(learner), recalls=recalls_in)
    keep_back(chapter.id, chapter.rules_of_open_questions)
    return chapter


def _files_in(folder: Path, chapter_id: str) -> ChapterFiles:
    if not (chapters := chapters_in(folder)).chapters and not chapters.faults:
        return chapter_files(folder, chapter_id)
    listed = chapters.find(chapter_id)
    built_in = [one for one in catalogue().chapters if one.origin is Origin.BUILT_IN and one.id == chapter_id]
    if built_in and built_in[0].chapter.path.resolve() != listed.chapter.path.resolve():
        raise SameId(chapter_id, (built_in[0].chapter.path, listed.chapter.path))
    return listed.files()
