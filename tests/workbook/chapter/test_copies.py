"""Learner copies: clean, complete, and never in the place of something that was there."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from workbook.chapter.copies import CannotStart, LeftAlone, LeftBecause, Started, clean, start
from workbook.chapter.notebooks import NotANotebook

CURRENT, DIFFERENT = LeftBecause.CURRENT, LeftBecause.DIFFERENT


def worked(*sources: str) -> nbformat.NotebookNode:
    """A notebook as a runner and a front end leave it: outputs, counts, widget state, times."""
    cells = [v4.new_markdown_cell("# A desk", id="title", metadata={"tags": ["keep"]})]
    for number, source in enumerate(sources, start=1):
        result = v4.new_output("execute_result", data={"text/plain": "the reveal"}, execution_count=number)
        metadata = {
            "execution": {"iopub.status.busy": "2026-01-01T00:00:00Z"},
            "collapsed": False,
            "scrolled": True,
            "tags": ["predict"],
            "jupyter": {"outputs_hidden": True, "source_hidden": True},
        }
        cells.append(
            v4.new_code_cell(source, id=f"c{number}", outputs=[result], execution_count=number, metadata=metadata)
        )
    return v4.new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python", "version": "3.11.7"},
            "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
            "cedar": {"chapter": "boundary-desk"},
        },
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two chapters, a picture, and what JupyterLab leaves beside them."""
    folder = tmp_path / "worked"
    (folder / "assets" / "deep").mkdir(parents=True)
    (folder / "assets" / "bench.png").write_bytes(b"\x89PNG\r\n")
    (folder / "assets" / "deep" / "plan.svg").write_bytes(b"<svg/>")
    nbformat.write(worked("1 + 1"), folder / "00-start-here.ipynb")
    nbformat.write(worked("desk = 1", "desk"), folder / "01-boundary-desk.ipynb")
    for place in (folder, folder / "assets"):
        (place / ".ipynb_checkpoints").mkdir()
        nbformat.write(worked("old"), place / ".ipynb_checkpoints" / "00-start-here-checkpoint.ipynb")
    return folder


ALL = ("00-start-here.ipynb", "01-boundary-desk.ipynb", "assets/bench.png", "assets/deep/plan.svg")


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_first_start_makes_every_chapter_and_picture_and_nothing_else(source: Path, tmp_path: Path):
    """Front-end backups are not chapters, and no draft of a file stays behind."""
    folder = tmp_path / "deep" / "mine"
    done = start(folder, source=source)

    assert done == Started(folder=folder, created=ALL, left_alone=())
    assert sorted(files_in(folder)) == list(ALL)
    assert (folder / "assets/bench.png").read_bytes() == b"\x89PNG\r\n"


def test_a_copy_shows_nothing_yet_and_keeps_all_that_is_the_lesson(source: Path, tmp_path: Path):
    """Outputs, counts, widget state, times and folding are gone; text, ids, tags and the chapter's marks stay."""
    start(tmp_path / "mine", source=source)
    copy = nbformat.read(tmp_path / "mine" / "01-boundary-desk.ipynb", as_version=4)
    nbformat.validate(copy)

    tags = {"tags": ["predict"], "jupyter": {"source_hidden": True}}
    assert copy.cells == [
        {"cell_type": "markdown", "id": "title", "metadata": {"tags": ["keep"]}, "source": "# A desk"},
        *(
            {"cell_type": "code", "id": i, "metadata": tags, "source": s, "outputs": [], "execution_count": None}
            for i, s in (("c1", "desk = 1"), ("c2", "desk"))
        ),
    ]
    assert copy.metadata == {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
        "cedar": {"chapter": "boundary-desk"},
    }
    assert "the reveal" not in (tmp_path / "mine" / "01-boundary-desk.ipynb").read_text()


def test_a_copy_has_none_of_what_the_scripted_learner_wrote():
    """A cell with a skeleton begins with that, a cell of the worked edition alone is gone, and neither says so."""
    notebook = v4.new_notebook(
        cells=[
            v4.new_code_cell("rule = 'the solution'", id="c1", metadata={"cedar": {"skeleton": "rule = ..."}}),
            v4.new_markdown_cell("Why the first try failed.", id="c2", metadata={"cedar": {"edition": "worked"}}),
            v4.new_code_cell("rule", id="c3", metadata={"tags": ["keep"]}),
        ]
    )

    assert [(cell.id, cell.source, dict(cell.metadata)) for cell in clean(notebook).cells] == [
        ("c1", "rule = ...", {}),
        ("c3", "rule", {"tags": ["keep"]}),
    ]
    assert len(notebook.cells) == 3


def test_cleaning_leaves_the_given_notebook_alone():
    """Cleaning returns a new notebook; the worked edition in memory keeps its outputs."""
    notebook = worked("1 + 1")
    before = nbformat.writes(notebook)

    assert clean(notebook) == clean(clean(notebook))
    assert nbformat.writes(notebook) == before


def test_starting_again_overwrites_nothing_and_says_what_it_left_and_why(source: Path, tmp_path: Path):
    """Files that a learner changed, ran, broke or replaced all stay byte for byte; the reason tells them apart."""
    folder = tmp_path / "mine"
    start(folder, source=source)
    ran = nbformat.read(folder / "00-start-here.ipynb", as_version=4)
    ran.cells[1].outputs = [v4.new_output("stream", text="2")]
    ran.cells[1].execution_count = 1
    ran.cells.append(v4.new_code_cell(""))  # JupyterLab adds one when the last cell is run
    nbformat.write(ran, folder / "00-start-here.ipynb")
    changed = nbformat.read(folder / "01-boundary-desk.ipynb", as_version=4)
    changed.cells[1].source = "desk = 2"
    nbformat.write(changed, folder / "01-boundary-desk.ipynb")
    (folder / "assets/deep/plan.svg").write_bytes(b"mine")
    before = files_in(folder)

    again = start(folder, source=source)

    assert files_in(folder) == before
    assert again == Started(
        folder=folder,
        created=(),
        left_alone=tuple(map(left, ALL, (CURRENT, DIFFERENT, CURRENT, DIFFERENT))),
    )


def left(name: str, why: LeftBecause) -> LeftAlone:
    return LeftAlone(name=name, why=why)


@pytest.mark.parametrize("content", [b"", b"my notes", b"\xff\xfe", b"[]"])
def test_whatever_has_the_name_of_a_chapter_is_the_learners(source: Path, tmp_path: Path, content: bytes):
    """Even a file that is no notebook is not ours to replace."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "00-start-here.ipynb").write_bytes(content)

    done = start(folder, source=source)

    assert done.left_alone == (left("00-start-here.ipynb", DIFFERENT),)
    assert (folder / "00-start-here.ipynb").read_bytes() == content


def test_a_dangling_link_with_the_name_of_a_chapter_is_left_alone(source: Path, tmp_path: Path):
    """A link to a place that is away right now, such as a drive, must not be filled or replaced."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "00-start-here.ipynb").symlink_to(tmp_path / "away.ipynb")

    assert start(folder, source=source).left_alone == (left("00-start-here.ipynb", DIFFERENT),)
    assert (folder / "00-start-here.ipynb").is_symlink()
    assert not (tmp_path / "away.ipynb").exists()


def test_an_upgrade_adds_the_new_chapter_and_tells_the_older_edition_from_the_current(source: Path, tmp_path: Path):
    """After an upgrade: the new chapter appears, an edited chapter stays as the learner has it."""
    folder = tmp_path / "mine"
    start(folder, source=source)
    nbformat.write(worked("2 + 2"), source / "00-start-here.ipynb")
    nbformat.write(worked("dispatch"), source / "02-dispatch-desk.ipynb")

    done = start(folder, source=source)

    assert done.created == ("02-dispatch-desk.ipynb",)
    assert done.left_alone == tuple(map(left, ALL, (DIFFERENT, CURRENT, CURRENT, CURRENT)))
    assert done.summary() == (
        f"Workbook in {folder}\n"
        "  new: 02-dispatch-desk.ipynb\n"
        "  already there, of this edition: 01-boundary-desk.ipynb, assets/bench.png, assets/deep/plan.svg\n"
        "  left alone, with your changes or of an older edition: 00-start-here.ipynb\n"
        "  To see this edition of those, start in another folder: workbook start OTHER-FOLDER"
    )


def test_starting_in_the_worked_editions_own_folder_changes_nothing(source: Path):
    """Someone will try it; the outputs of the worked editions must survive."""
    before = files_in(source)
    done = start(source, source=source)

    assert files_in(source) == before
    assert done.left_alone == tuple(left(name, CURRENT) for name in ALL)


@pytest.mark.parametrize("below", [".", "chapters"])
def test_a_file_in_the_place_of_the_folder_is_named(source: Path, tmp_path: Path, below: str):
    """DIR, or a part of it, is a file: say which, and leave it."""
    (tmp_path / "mine").write_text("a file")

    with pytest.raises(CannotStart, match=r"mine is a file, not a folder\. Choose another folder\."):
        start(tmp_path / "mine" / below, source=source)
    assert (tmp_path / "mine").read_text() == "a file"


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write anywhere; act as nobody for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_cannot_be_written_is_told_and_left_empty(source: Path):
    """No permission: one sentence with the place and the reason."""
    with tempfile.TemporaryDirectory() as public:  # pytest's own folders are closed to everyone else
        Path(public).chmod(0o755)
        shutil.copytree(source, Path(public, "worked"))
        (Path(public) / "mine").mkdir(mode=0o555)

        with (
            unprivileged(),
            pytest.raises(CannotStart, match=r"00-start-here\.ipynb cannot be written \(Permission"),
        ):
            start(Path(public) / "mine", source=Path(public) / "worked")
        assert list((Path(public) / "mine").iterdir()) == []


FULL_DISK = """
import resource, sys
from pathlib import Path
from workbook.chapter.copies import CannotStart, start
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    start(Path(sys.argv[1]), source=Path(sys.argv[2]))
except CannotStart as error:
    print(error)
"""


@pytest.mark.slow
def test_a_disk_that_fills_up_half_way_leaves_whole_files_only(source: Path, tmp_path: Path):
    """The second chapter finds no room: the first is whole, of the second there is no trace, and starting again
    goes on."""
    nbformat.write(worked("x" * 9000), source / "01-boundary-desk.ipynb")
    folder = tmp_path / "mine"
    said = subprocess.run(
        [sys.executable, "-c", FULL_DISK, folder, source, "6000"], check=True, capture_output=True, text=True
    ).stdout

    assert said.startswith(
        f"The workbook cannot be put into {folder}: 01-boundary-desk.ipynb cannot be written (File"
    )
    assert list(files_in(folder)) == ["00-start-here.ipynb"]
    assert start(folder, source=source).created == ALL[1:]


def test_a_broken_worked_edition_is_found_before_anything_is_written(source: Path, tmp_path: Path):
    """All is read and cleaned first: an error of ours must not leave half a workbook."""
    (source / "01-boundary-desk.ipynb").write_text('{"nbformat": 4, "nbformat_minor": 5, "cells": []}')

    with pytest.raises(NotANotebook, match="'metadata' is a required property"):
        start(tmp_path / "mine", source=source)
    assert not (tmp_path / "mine").exists()


def test_without_hard_links_a_copy_is_still_made_and_still_replaces_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Some memory sticks know no hard links; even there, a file made at the last moment is not replaced."""

    def no_links(draft: Path, target: Path) -> None:
        if target.name == "01-boundary-desk.ipynb":
            target.write_text("made by the learner at this very moment")
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(draft))

    monkeypatch.setattr(os, "link", no_links)
    folder = tmp_path / "mine"
    done = start(folder, source=source)

    assert done.created == (ALL[0], *ALL[2:])
    assert done.left_alone == (left("01-boundary-desk.ipynb", DIFFERENT),)
    assert (folder / "01-boundary-desk.ipynb").read_text() == "made by the learner at this very moment"
    assert sorted(files_in(folder)) == list(ALL)
