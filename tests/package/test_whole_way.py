"""The whole way of a chapter, from the wheel: made, checked, mended, baked, studied in a browser, and counted.

One instructor and one learner, each in an environment of their own that knows nothing of this checkout, do what
README and the guide for authors say, word for word. With `pytest -s` the time of each stage is printed.
"""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from chapter_kit import OpenCopy
from places import TOP
from playwright.sync_api import Browser, Locator, Page, expect
from readme_kit import block, in_guide, in_readme

if TYPE_CHECKING:
    from browser import RunningLab, VisitNotebook  # at run time pytest imports both, as plugins
    from wheel_kit import Installed

pytest_plugins = ["browser", "wheel_kit"]
pytestmark = [pytest.mark.browser, pytest.mark.package]

CHAPTER, COPY, DESK = "my-chapter", "60-my-chapter.ipynb", "desk"
ASKED, RUNS, REFUSED = (
    "A dialog opens, and the rule answers it with Deny.",
    "It runs: the mode is yolo.",
    "It is refused, and no dialog opens.",
)
PROMPT = "In our greenhouse the mode is yolo, which lets calls run unasked."

#: Where the code comes from, and what of this checkout can be seen.
WHERE_FROM = f"""
import importlib.util, sys
import labsim, workbook
print(workbook.__file__)
print(labsim.__file__)
print([name for name in ("tests", "class_kit", "conftest") if importlib.util.find_spec(name)])
print([path for path in sys.path if path.startswith({str(TOP)!r})])
"""

#: What the others of the class think of the first question: first answer, how sure, second vote after talking.
OTHERS = [
    ("runs", "certain", "refused"),
    ("runs", "certain", None),
    ("runs", "guess", None),
    ("asked", "fairly sure", "refused"),
    ("asked", "unsure", "asked"),
    ("refused", "fairly sure", None),
    ("refused", "certain", "refused"),
]
STUDY = f"""
import json, os, sys
from pathlib import Path
import workbook as wb
from workbook.progress.export import export
from workbook.learner.store import Progress

for number, (first, sure, second) in enumerate(json.loads(sys.argv[1])):
    folder = Path(f"learner {{number}}")
    folder.mkdir()
    os.environ["CEDAR_PROGRESS_DIR"] = str(folder)
    question = wb.open("{CHAPTER}").predict("deny-in-yolo").commit(first, sure)
    if second is not None:
        question.vote_again(second, sure)
    wb.open("{CHAPTER}").reveal("deny-in-yolo")
    export(Progress(folder))
"""


class Stages:
    """How long each stage took, in seconds, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - begun

    def __str__(self) -> str:
        lines = [f"{seconds:6.1f} s  {name}" for name, seconds in self.seconds.items()]
        return "\n".join([*lines, f"{sum(self.seconds.values()):6.1f} s  in all"])


def change(file: Path, old: str, new: str) -> None:
    """As in an editor: the one place that has `old`."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, (file, old)
    file.write_text(text.replace(old, new), encoding="utf-8")


def done(environment: Installed, line: str, cwd: Path) -> str:
    """What a line says to whoever types it. Fails if it does."""
    ran = environment.follow(line, cwd=cwd)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_a_chapter_goes_the_whole_way_from_the_wheel_to_the_report_of_a_class(
    author: Installed,
    installed: Installed,
    chromium: Browser,
    running_lab: RunningLab,
    visit: VisitNotebook,
    tmp_path: Path,
) -> None:
    """Issue 7: following the guide from a wheel in an empty environment, end to end, in one test."""
    stage = Stages()
    lessons, desk, handed_in = tmp_path / "lessons", tmp_path / DESK, tmp_path / "handed in"
    lessons.mkdir()
    chapter = lessons / CHAPTER
    _, new_chapter, bake, check = block("Write a chapter", "sh").splitlines()  # the first is done: see `author`

    for environment in (author, installed):
        *files, known, paths = environment.run("python", "-c", WHERE_FROM, cwd=tmp_path).splitlines()
        assert all(Path(file).is_relative_to(environment.folder) for file in files)
        assert all("site-packages" in file for file in files)
        assert (known, paths) == ("[]", "[]")

    with stage("new-chapter"):
        assert f"Made {CHAPTER}: chapter.toml" in done(author, new_chapter, lessons)

    with stage("check-chapter finds what an author broke"):
        change(chapter / "checkpoints.json", "The mode is yolo, which lets calls run unasked.", PROMPT)
        right = '"predicts": {"outcome": "throw", "prompts": 0, "effects": 0}'
        change(chapter / "checkpoints.json", right, right.replace('"effects": 0', '"effects": 1'))
        found = author.follow(check, cwd=lessons)
    assert found.returncode == 1
    assert found.stdout.splitlines() == [
        "checkpoints.json: line 10: checkpoints[0] (deny-in-yolo).options: no option matches what deny-rule shows. "
        "Mend what they predict: one has to match.",
        f"{CHAPTER}: 1 fault. Not looked at yet: wording, notebook, runs.",
    ]

    with stage("bake"):
        change(chapter / "checkpoints.json", right.replace('"effects": 0', '"effects": 1'), right)
        assert done(author, bake, lessons) == "notebook.ipynb: written anew\n"

    with stage("check-chapter passes"):
        assert done(author, check, lessons) == f"{CHAPTER}: all is well.\n"

    with stage("start"):
        line = in_guide("workbook start", **{"DIR": DESK, "my-chapters": "lessons"})
        assert COPY in done(installed, line, tmp_path)

    with ExitStack() as pages:
        with stage("JupyterLab"):
            command = [installed.programs / "workbook", "lab", desk, "--no-browser", "--"]
            lab = pages.enter_context(running_lab(command, desk, installed.environment()))
            notebook = pages.enter_context(visit(lab, COPY))
        with stage("the chapter, studied in a browser"):
            copy = OpenCopy(notebook, desk / COPY)
            study(copy, chapter)
        copy.write("wb.lifecycle(asked)", "wb.__file__")
        copy.run("wb.__file__")
        expect(copy.output("wb.__file__")).to_contain_text(f"{installed.folder}/")  # its kernel, too

    with stage("export, and the others of the class"):
        assert "a pseudonym" in done(installed, in_readme("workbook export", DIR=DESK), tmp_path)
        handed_in.mkdir()
        (desk / "my-work.json").rename(handed_in / "mine.json")
        chapters = {"CEDAR_CHAPTERS": str(lessons)}
        installed.run("python", "-c", STUDY, json.dumps(OTHERS), cwd=handed_in, environment=chapters)

    with stage("class"):
        line = in_readme("workbook class", DIR=f"'{handed_in.name}'") + " --chapters lessons"
        said = done(author, line, tmp_path)
    assert said.splitlines()[0] == f"Learners: {len(OTHERS) + 1}. Questions: 2. Files passed over: 0."

    with stage("the report, opened"):
        read_report(chromium, tmp_path / "class-report")
    print(f"\n{stage}")


def study(copy: OpenCopy, chapter: Path) -> None:
    """What a learner does with the copy: answers, sure and wrong, votes again, looks, and writes the policy."""
    predict, reveal = 'desk.predict("deny-in-yolo")', 'desk.reveal("deny-in-yolo")'
    question = copy.output(predict)
    expect(question).to_contain_text(PROMPT)
    expect(copy.output(reveal)).not_to_contain_text(REFUSED)
    copy.commit("deny-in-yolo", RUNS, "certain")
    copy.press(predict, "Discussed it? Vote again")
    question.get_by_role("radio", name=REFUSED).check()
    question.get_by_role("radio", name="unsure", exact=True).check()
    copy.press(predict, "Commit the second vote")
    expect(question.get_by_role("status")).to_have_text("Committed. Your answer is locked. So is your second vote.")
    copy.run(reveal)
    expect(copy.output(reveal)).to_contain_text("Not yet.")

    copy.commit("similar-name", "It runs, and no dialog opens.")
    copy.run('desk.reveal("similar-name")')
    expect(copy.output('desk.reveal("similar-name")')).to_contain_text("Right.")

    worked = nbformat.read(chapter / "notebook.ipynb", as_version=4)
    begins, grade = "from labsim.api import", 'desk.grade("nothing-leaves", my_policy)'
    (policy,) = (cell.source for cell in worked.cells if cell.source.startswith(begins))
    copy.write(begins, policy)
    copy.run(policy)
    copy.run(grade)
    expect(copy.output(grade)).to_contain_text("Right.")


def read_report(chromium: Browser, folder: Path) -> None:
    """The question with its counts, in a browser; and the same counts beside it, as CSV."""
    page = chromium.new_page()
    page.goto((folder / "index.html").as_uri())
    expect(page.get_by_role("heading", level=1)).to_have_text("Class report")
    assert page.get_by_role("heading", level=3).all_inner_texts() == [
        f"{CHAPTER}/deny-in-yolo",
        f"{CHAPTER}/similar-name",
    ]
    question = page.get_by_role("region", name=f"{CHAPTER}/deny-in-yolo")
    expect(question).to_contain_text(PROMPT)
    expect(question).to_contain_text("8 learners answered")
    expect(question.locator("svg")).to_be_visible()
    assert table(question, "Answers to") == [[RUNS, "4", "0"], [ASKED, "2", "1"], [f"Right: {REFUSED}", "2", "4"]]
    assert table(question, "How sure") == [
        [RUNS, "1", "0", "0", "3", "0"],
        [ASKED, "0", "1", "1", "0", "0"],
        [f"Right: {REFUSED}", "0", "0", "1", "1", "0"],
    ]
    assert table(question, "Voted, talked it over") == [["right", "1", "0"], ["wrong", "3", "1"]]
    assert table(page, "Handed in") == [[f"{CHAPTER}/nothing-leaves", "1", "1", "1"]]
    page.close()

    with (folder / "answers.csv").open(encoding="utf-8", newline="") as file:
        counted = [row for row in csv.DictReader(file) if row["checkpoint"] == "deny-in-yolo"]
    assert [(row["answer"], row["right"], row["first"], row["second"]) for row in counted] == [
        ("runs", "no", "4", "0"),
        ("asked", "no", "2", "1"),
        ("refused", "yes", "2", "4"),
    ]


def table(place: Page | Locator, caption: str) -> list[list[str]]:
    """The cells of the one table whose caption begins so, row by row, without its head."""
    named = place.get_by_role("table", name=re.compile(f"^{re.escape(caption)}"))
    return [row.split("\t") for row in named.get_by_role("row").all_inner_texts()[1:]]
