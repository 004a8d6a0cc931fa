"""The chapter of one's own desk: its exercise cells, worked and clean, and what is kept of a try."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import own_desk_submissions as handed_in
import pytest

from workbook.chapter import copies
from workbook.chapter.chapter import Chapter
from workbook.chapter.notebooks import notebooks_dir
from workbook.desk.open import open_chapter
from workbook.exercise.file import CallExercise, parse_exercises
from workbook.exercise.flawed_hosts import PIECES
from workbook.grading.grade import graded_and_kept
from workbook.grading.pages import Grade, Graded
from workbook.learner.records import Tried
from workbook.learner.store import FILE_NAME, FOLDER_VARIABLE, Progress

ORDER = [
    "the-open-day",
    "three-packets",
    "the-night-desk",
    "break-the-guard",
    "break-the-memory",
    "break-the-prefix",
    "break-the-settings",
    "your-own-case",
]


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Chapter:
    """The chapter, with a learner who has answered nothing."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return open_chapter("your-own-desk")


@pytest.fixture(scope="module")
def worked() -> Any:
    return nbformat.read(notebooks_dir() / "05-your-own-desk.ipynb", as_version=4)


def graded_in(notebook: Any, chapter: Chapter) -> list[Graded]:
    """What each `desk.grade` of a notebook shows, its submissions made by the cells before it."""
    names: dict[str, Any] = {"desk": chapter}
    shown = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if cell.source.startswith("desk.grade("):
            shown.append(eval(cell.source, names))  # the chapter's own cell
        elif re.match(r"(async )?def |(my|past)_\w+ = ", cell.source):
            exec(cell.source, names)
    return shown


@pytest.mark.slow
def test_the_worked_edition_goes_from_mistakes_to_what_holds(worked: Any, desk: Chapter) -> None:
    """A handler that breaks on words and an approver that looks for a part come first; in the end all hold."""
    graded = [(one.exercise.id, one.grade) for one in graded_in(worked, desk)]

    assert [one for one in graded if one[1] is not Grade.RIGHT] == [
        ("three-packets", Grade.FAILED),
        ("the-night-desk", Grade.NOT_YET),
    ]
    assert [name for name, how in graded if how is Grade.RIGHT] == ORDER
    assert desk.exercises == tuple(ORDER)


def test_a_clean_copy_begins_with_skeletons_that_are_not_attempted(worked: Any, desk: Chapter) -> None:
    """They run without an error, count as no try, and nothing of a solution is left in the file."""
    clean = copies.clean(worked)

    assert [(one.exercise.id, one.grade) for one in graded_in(clean, desk)] == [
        (name, Grade.NOT_ATTEMPTED) for name in ORDER
    ]
    assert not desk.lesson.progress.path.exists()
    text = nbformat.writes(clean)  # type: ignore[no-untyped-call]
    for solution in (
        "nothing is published before",
        "60_000",
        "clear_bed",
        "a-revised-call",
        '\\"revise\\": {\\"action',
    ):
        assert solution not in text.replace('such as {\\"revise\\": {\\"action\\": \\"inspect', "")


def test_a_clean_copy_shows_no_situation_and_no_sound_piece(worked: Any, desk: Chapter) -> None:
    """What an exercise shows before anything is handed in has none of what is tried."""
    path = Path(desk.lesson.progress.path.parent)
    shown = "\n".join(str(desk.exercise(name)) for name in desk.exercises) + nbformat.writes(copies.clean(worked))  # type: ignore[no-untyped-call]
    assert path.exists()
    from labsim.library import fixtures_dir

    file = fixtures_dir() / "exercises" / "your-own-desk.json"
    for exercise in parse_exercises(file.read_bytes(), file.name, "your-own-desk").values():
        if isinstance(exercise, CallExercise):
            for situation in exercise.situations:
                assert situation.case.title not in shown
                assert situation.case.id not in shown
    for pair in PIECES.values():
        assert pair.sound.text not in shown


def test_every_try_is_kept_and_none_that_was_not_made(desk: Chapter) -> None:
    """How many situations held, of how many; under the exercise's name, and not for an example."""
    desk.grade("the-open-day", handed_in.settings())
    desk.grade("the-open-day", handed_in.settings("yolo"))
    desk.grade("the-open-day", handed_in.settings(), keep=False)
    desk.grade("the-open-day", ...)
    desk.grade("break-the-prefix", {"args": {"action": "reserve"}})
    desk.grade("three-packets", 5)

    kept = [record for record in desk.lesson.progress.records() if isinstance(record, Tried)]
    assert [(one.key.chapter, one.key.checkpoint, one.held, one.of) for one in kept] == [
        ("your-own-desk", "the-open-day", 12, 12),
        ("your-own-desk", "the-open-day", 8, 12),
        ("your-own-desk", "break-the-prefix", 0, 1),
        ("your-own-desk", "three-packets", 0, 11),
    ]


def test_a_try_that_cannot_be_kept_is_graded_all_the_same(desk: Chapter, tmp_path: Path) -> None:
    """A full disk or a foreign file costs the record and not the verdict, and the learner is told."""
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / FILE_NAME).write_text("a shopping list\n", encoding="utf-8")
    exercise = desk._exercise("the-open-day")

    graded = graded_and_kept(desk.id, exercise, handed_in.settings(), Progress(tmp_path / "foreign"))

    assert graded.grade is Grade.RIGHT
    assert "This try is not kept." in str(graded)
    assert "this is not a progress file of the workbook" in str(graded)
    assert (tmp_path / "foreign" / FILE_NAME).read_text(encoding="utf-8") == "a shopping list\n"
