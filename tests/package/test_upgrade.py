"""An upgrade leaves what a learner has whole: copies, answers, and the way back to the older edition.

Each sample in `data/` was left behind by an older edition's own code (`make_left_behind.py` says how): a folder
with copies, one of them run and one edited, and a file of answers; and how that edition said the learner stood.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from click.testing import CliRunner
from nbclient import NotebookClient
from places import TOP

import workbook as wb
from workbook.chapter import copies
from workbook.chapter.notebooks import notebooks_dir, notebooks_in
from workbook.cli import main
from workbook.learner.store import FILE_NAME, Commit, Confidence, Key, Progress

SAMPLES = sorted((TOP / "tests" / "data").glob("left-by-*.tar.xz"))


class LeftBehind(NamedTuple):
    """A sample, unpacked: the learner's folder, how it stood with the learner, and the older code."""

    desk: Path
    standing: dict[str, dict[str, dict[str, Any]]]
    code: Path

    @property
    def answers(self) -> Path:
        return self.desk / FILE_NAME

    def files(self) -> dict[str, bytes]:
        found = (path for path in self.desk.rglob("*") if path.is_file())
        return {path.relative_to(self.desk).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(params=SAMPLES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def left(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LeftBehind:
    """The learner's folder is the current one, as it is for a notebook there."""
    with tarfile.open(request.param) as tar:
        tar.extractall(tmp_path, filter="data")
    for name in [name for name in os.environ if name.startswith(("CEDAR_", "JPY_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path / "desk")
    standing = json.loads((tmp_path / "standing.json").read_bytes())
    return LeftBehind(tmp_path / "desk", standing, tmp_path / "code")


def standing(chapters: list[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """How this edition says that the learner stands, in the form of the sample."""
    return {
        chapter: {
            name: {"verdict": str(asked.verdict), "answer": asked.committed.answer if asked.committed else None}
            for name in desk.checkpoints
            for asked in [desk.predict(name)]
        }
        for chapter in chapters
        for desk in [wb.open(chapter)]
    }


def test_there_is_a_sample_of_the_edition_before_this_one() -> None:
    """A test over no sample would prove nothing."""
    assert [path.name for path in SAMPLES][:1] == ["left-by-0.1.0.tar.xz"]


def test_starting_again_adds_the_new_chapters_and_touches_no_file_of_the_learner(left: LeftBehind) -> None:
    """What was run, edited or only opened stays byte for byte, and so do the answers."""
    before = left.files()

    started = copies.start(left.desk)

    after = left.files()
    ours = {path.name for path in notebooks_in(notebooks_dir())}
    assert {name: after[name] for name in before} == before
    assert {name for name in started.created if name.endswith(".ipynb")} == ours - before.keys()
    assert set(before) - {FILE_NAME, "cedar-progress.lock"} == {one.name for one in started.left_alone}


def test_every_answer_counts_as_it_did(left: LeftBehind) -> None:
    """An answer belongs to the content of a question; a question that was answered is not changed by an upgrade."""
    now = standing(list(left.standing))

    for chapter, asked in left.standing.items():
        assert {name: now[chapter][name] for name in asked} == asked
    assert Progress(left.desk).problems == []


def test_the_learners_progress_and_export_have_every_older_answer(left: LeftBehind) -> None:
    """What 0.1.0 could not yet show is made of what it kept."""
    run = CliRunner()
    shown = run.invoke(main, ["progress", str(left.desk), "--json"], catch_exceptions=False)
    exported = run.invoke(main, ["export", str(left.desk)], catch_exceptions=False)

    assert (shown.exit_code, exported.exit_code) == (0, 0)
    verdicts = {
        chapter["id"]: {one["id"]: one["verdict"] for one in chapter["checkpoints"]}
        for chapter in json.loads(shown.stdout)["chapters"]
    }
    for chapter, asked in left.standing.items():
        assert {name: verdicts[chapter][name] for name in asked} == {n: one["verdict"] for n, one in asked.items()}
    answers = (left.desk / "my-work.json").read_text(encoding="utf-8")
    given = [
        one["answer"] for asked in left.standing.values() for one in asked.values() if one["answer"] is not None
    ]
    assert given
    assert [answer for answer in given if json.dumps(answer, ensure_ascii=False) not in answers] == []


@pytest.mark.slow
def test_what_is_answered_after_the_upgrade_goes_on_where_the_file_ended(left: LeftBehind) -> None:
    """The older lines stay as they are, byte for byte, whatever is added: answers, reveals, resets."""
    before = left.answers.read_bytes()
    todo = [(c, n) for c, asked in left.standing.items() for n, one in asked.items() if one["answer"] is None]
    for chapter, name in todo:
        asked = wb.open(chapter).predict(name)
        asked.commit(asked.checkpoint.scripted)
        asked.reveal()
    wb.open("boundary-desk").reset("exact-label", "after the upgrade")

    assert todo
    assert left.answers.read_bytes().startswith(before)
    now = standing(list(left.standing))
    assert [(c, n) for c, n in todo if now[c][n]["answer"] is None] == []
    assert now["boundary-desk"]["exact-label"] == {"verdict": "not attempted", "answer": None}
    numbers = [record.seq for record in Progress(left.desk).records()]
    assert numbers == sorted(set(numbers))


# Played with the modules of 0.1.0, under the names that they had there.
GO_BACK = """
import json, sys
from pathlib import Path
import workbook
from workbook.progress import Commit, Key, Progress
assert workbook.__file__.startswith(sys.argv[1]), workbook.__file__
progress = Progress(Path("."))
progress.commit(Key("boundary-desk", "after-going-back", "0" * 16), "by the older edition")
commits = [[str(r.key), r.answer] for r in progress.records() if isinstance(r, Commit)]
print(json.dumps({"problems": progress.problems, "commits": commits}))
"""


def test_the_older_edition_reads_and_goes_on_with_what_this_one_wrote(left: LeftBehind) -> None:
    """Going back loses nothing: kinds of records that it does not know are kept, and mean nothing to it."""
    progress = Progress(left.desk)
    key = Key("boundary-desk", "made-up", "f" * 16)
    progress.commit(key, "one", confidence=Confidence.CERTAIN)
    progress.vote_again(key, "two", confidence=Confidence.GUESS)
    progress.see_reveal(key)
    progress.name_row(key, 3, held=True)
    progress.try_(key, 2, 5)
    name = progress.pseudonym()
    before, written = left.answers.read_bytes(), progress.records()

    ran = subprocess.run(
        [sys.executable, "-c", GO_BACK, str(left.code)],
        cwd=left.desk,
        env=os.environ | {"PYTHONPATH": str(left.code)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr

    told = json.loads(ran.stdout)
    assert told["problems"] == []
    assert told["commits"] == [[str(r.key), r.answer] for r in progress.records() if isinstance(r, Commit)]
    assert left.answers.read_bytes().startswith(before)
    assert progress.records()[:-1] == written
    assert progress.records()[-1].key.checkpoint == "after-going-back"
    assert progress.pseudonym() == name
    assert progress.problems == []


@pytest.mark.slow
def test_every_copy_of_the_older_edition_still_runs_from_top_to_bottom(left: LeftBehind) -> None:
    """A learner in the middle of a chapter goes on in the copy they have: no name that it uses is gone."""
    for path in notebooks_in(left.desk):
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(left.desk)}}).execute()
        assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source)
