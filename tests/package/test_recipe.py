"""README's recipe for instructors' CI, run as it is printed, from the wheel, on a chapter that was just made."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from readme_kit import block

if TYPE_CHECKING:
    from wheel_kit import Installed  # at run time pytest imports it, as a plugin

pytest_plugins = ["wheel_kit"]
pytestmark = pytest.mark.package

HEADING = "Check your chapters in CI"
CHAPTER = "my-chapter"


@pytest.fixture(scope="module")
def chapter(author: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chapter as `workbook new-chapter` makes it, on its own in a folder."""
    folder = tmp_path_factory.mktemp("lessons")
    author.run("workbook", "new-chapter", CHAPTER, cwd=folder)
    return folder / CHAPTER


def test_the_recipe_has_three_lines_and_the_workflow_runs_the_same_ones() -> None:
    """One recipe, in two places to put it."""
    lines = block(HEADING, "sh").splitlines()
    (job,) = yaml.safe_load(block(HEADING, "yaml"))["jobs"].values()

    assert len(lines) == 3
    assert [step["run"] for step in job["steps"] if "run" in step] == lines


def test_the_recipe_passes_a_chapter_that_was_just_made(author: Installed, chapter: Path) -> None:
    """nbval compares each of its cells, and check-chapter finds nothing."""
    done = author.follow(block(HEADING, "sh"), cwd=chapter.parent, home=Path.home())

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^Notebooks: 1\. Cells compared: \d\d\. All as saved\.$", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[-1] == f"{CHAPTER}: all is well."


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("notebook.ipynb", "not yet", "nearly", "Not proved: notebook.ipynb."),
        (
            "cases.json",
            '"prompts": 1, "effects": 1',
            '"prompts": 2, "effects": 1',
            "2 is expected, and the run shows 1",
        ),
    ],
)
def test_the_recipe_fails_a_chapter_that_is_not_what_it_says(
    author: Installed, chapter: Path, tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    """An output that is not what the cell shows; an expectation that the run does not meet."""
    copy = shutil.copytree(chapter, tmp_path / CHAPTER)
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    (copy / file).write_text(text.replace(old, new), encoding="utf-8")

    _, *checks = block(HEADING, "sh").splitlines()
    done = author.follow("\n".join(checks), cwd=tmp_path)

    assert done.returncode != 0
    assert said in done.stdout


def test_pytest_finds_the_chapter_by_the_plugin_that_is_installed(author: Installed, chapter: Path) -> None:
    """The entry point, not an option of ours, brings the plug-in: so it does for every instructor."""
    shown = author.run("pytest", "--workbook", CHAPTER, "-p", "no:cacheprovider", "-W", "error", cwd=chapter.parent)

    assert re.search(r"^=+ \d\d passed in .* =+$", shown, re.MULTILINE)
