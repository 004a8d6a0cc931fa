"""`pytest --workbook DIR`: a chapter's cases, checkpoints and cells as items; without the option, nothing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbook.author.new_chapter import new_chapter
from workbook.notebook.cell_comparison import difference

pytest_plugins = ["pytester"]

CHAPTER = "wind-desk"
PLUGIN = ("-p", "workbook.author.pytest_plugin")
QUIET = ("-p", "no:cacheprovider", "-W", "error")
DATA_ONLY = ("-k", "not cell")  # no kernel is started

# What the scaffold of `workbook new-chapter` holds.
DATA_ITEMS = [
    "chapter.toml::files",
    "cases.json::asked",
    "cases.json::deny-rule",
    "cases.json::other-tool",
    "checkpoints.json::deny-in-yolo",
    "checkpoints.json::similar-name",
    "beliefs.json::loosest-setting-wins",
    "beliefs.json::rules-cover-the-like",
    "exercises/exercises.json::nothing-leaves",
]
CELL_ITEMS = [
    "notebook.ipynb::cell 2 (import workbook as wb)",
    'notebook.ipynb::cell 4 (asked = desk.live("asked"))',
    "notebook.ipynb::cell 6 (wb.lifecycle(asked))",
    'notebook.ipynb::cell 8 (desk.given("deny-in-yolo"))',
    'notebook.ipynb::cell 10 (desk.predict("deny-in-yolo"))',
    'notebook.ipynb::cell 11 (desk.reveal("deny-in-yolo"))',
    'notebook.ipynb::cell 13 (wb.ledger(desk.play("deny-rule")))',
    'notebook.ipynb::cell 15 (desk.predict("similar-name"))',
    'notebook.ipynb::cell 16 (desk.reveal("similar-name"))',
    'notebook.ipynb::cell 18 (desk.exercise("nothing-leaves"))',
    "notebook.ipynb::cell 19 (from labsim.api import ApprovalDecision, SideEffec)",
    'notebook.ipynb::cell 20 (desk.grade("nothing-leaves", my_policy))',
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chapter that passes, with its outputs; tests work on copies of it."""
    return new_chapter(CHAPTER, inside=tmp_path_factory.mktemp("made")).folder


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A pytest of its own, with this plug-in and no other but pytest's; warnings are errors there, too."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return lambda *arguments: pytester.runpytest_subprocess(*PLUGIN, *QUIET, *arguments)


@pytest.fixture
def chapter(made: Path, pytester: pytest.Pytester) -> Path:
    return shutil.copytree(made, pytester.path / "lessons" / CHAPTER)


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def results(ran: pytest.RunResult) -> dict[str, str]:
    """What came of each item, by its id without the folder."""
    lines = re.findall(r"^lessons/(\S+?/.*?) (PASSED|FAILED|ERROR)", ran.stdout.str(), re.MULTILINE)
    return {name.removeprefix(f"{CHAPTER}/"): result for name, result in lines}


@pytest.mark.slow
def test_each_case_checkpoint_exercise_and_cell_is_an_item_with_a_readable_id(chapter: Path, run: Run) -> None:
    """In the order in which the files build on each other; a chapter as it was made passes."""
    ran = run("--workbook", "lessons", "-v")

    assert results(ran) == dict.fromkeys([*DATA_ITEMS, *CELL_ITEMS], "PASSED")
    assert list(results(ran)) == [*DATA_ITEMS, *CELL_ITEMS]
    assert ran.ret == pytest.ExitCode.OK


@pytest.mark.slow
def test_what_is_wrong_is_told_by_the_item_it_is_about_and_by_no_other(chapter: Path, run: Run) -> None:
    """A case, a checkpoint, a submission and an output: each red item says where, what was found, what would do."""
    rewrite(chapter / "cases.json", '"expected": {"outcome": "return", "prompts": 1', '"expected": {"prompts": 7')
    checkpoints = json.loads((chapter / "checkpoints.json").read_text())
    checkpoints["checkpoints"][1]["options"][2]["predicts"] = {"prompts": 7}
    (chapter / "checkpoints.json").write_text(json.dumps(checkpoints, indent=2))
    good, bad = sorted((chapter / "exercises" / "nothing-leaves").glob("[bg]*.py"))[::2]
    shutil.copy(bad, good)
    notebook = json.loads((chapter / "notebook.ipynb").read_text())
    (revealed,) = (cell for cell in notebook["cells"] if cell["source"] == ['desk.reveal("deny-in-yolo")'])
    changed = json.dumps(revealed).replace("not yet", "nearly")
    notebook["cells"][notebook["cells"].index(revealed)] = json.loads(changed)
    (chapter / "notebook.ipynb").write_text(json.dumps(notebook))

    ran = run("--workbook", "lessons", "-v")

    red = {name for name, result in results(ran).items() if result != "PASSED"}
    # The reveal of the second checkpoint is the last: it shows what its option predicts now, and is told as well.
    assert red == {*(DATA_ITEMS[n] for n in (1, 5, 8)), CELL_ITEMS[5], CELL_ITEMS[8]}
    assert len(results(ran)) == len(DATA_ITEMS) + len(CELL_ITEMS)
    ran.stdout.fnmatch_lines(
        [
            "cases.json: line *: cases?0? (asked).expected.prompts: 7 is expected, and the run shows 1. Mend *",
            "checkpoints.json: line *: checkpoints?1? (similar-name).options: no option matches *",
            "exercises/nothing-leaves/bad-by-name.py: it is known to be bad, and *",
            'cell 11 (desk.reveal("deny-in-yolo")): it shows something else than was saved.',
            "text/html differs, too",
            "-Checkpoint deny-in-yolo: nearly",
            "+Checkpoint deny-in-yolo: not yet",
            "Look at `workbook diff`, then run `workbook bake` if the new outputs are right.",
        ]
    )
    assert "Traceback" not in ran.stdout.str()
    assert ran.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_one_red_item_with_the_line(chapter: Path, run: Run) -> None:
    """Where the files have faults, nothing else could be told from them."""
    rewrite(chapter / "cases.json", '"title": "A call that somebody is asked about",', '"title": "A call"')

    ran = run("--workbook", "lessons", "-v")

    assert results(ran) == {"chapter.toml::files": "FAILED"}
    ran.stdout.fnmatch_lines(["cases.json: line 10: not JSON: *"])


@pytest.mark.slow
def test_one_item_can_be_asked_for_by_its_id(chapter: Path, run: Run) -> None:
    """As it was printed; nothing else of the chapter is collected beside it."""
    ran = run("--workbook", "lessons", "-v", f"lessons/{CHAPTER}/{DATA_ITEMS[2]}")

    assert results(ran) == {DATA_ITEMS[2]: "PASSED"}


@pytest.mark.slow
def test_a_folder_of_chapters_is_all_of_them_and_nothing_else_of_the_folder(
    chapter: Path, run: Run, pytester: pytest.Pytester
) -> None:
    """Files that pytest would collect by itself, there or by `testpaths`, are not what was asked for."""
    other = shutil.copytree(chapter, chapter.parent / "rain-desk")
    for path in other.rglob("*"):
        if path.suffix in (".toml", ".json", ".ipynb"):
            path.write_text(path.read_text(encoding="utf-8").replace(CHAPTER, "rain-desk"), encoding="utf-8")
    for folder in (chapter, chapter.parent, pytester.path):
        (folder / "test_own.py").write_text("def test_own(): pass\n")
    pytester.makeini("[pytest]\ntestpaths = .\n")

    ran = run("--workbook", "lessons", "-v", *DATA_ONLY)
    both = run("--workbook", "lessons", "-q", "test_own.py", *DATA_ONLY)

    expected = [f"{folder}{item}" for folder in ("rain-desk/", "") for item in DATA_ITEMS]
    assert results(ran) == dict.fromkeys(expected, "PASSED")
    both.assert_outcomes(passed=len(expected) + 1, deselected=2 * len(CELL_ITEMS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "said"), [("nowhere", "there is no such folder"), ("empty", "there is no chapter.toml in it, nor *")]
)
def test_a_folder_without_a_chapter_is_a_mistake_and_no_pass(
    run: Run, pytester: pytest.Pytester, folder: str, said: str
) -> None:
    """Zero items would prove nothing."""
    pytester.mkdir("empty")

    ran = run("--workbook", folder)

    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines([f"ERROR: --workbook *{folder}: {said}*"])


@pytest.mark.slow
def test_a_notebook_with_nothing_to_compare_is_an_error(chapter: Path, run: Run) -> None:
    """A notebook of prose alone shows nothing of what it says."""
    notebook = json.loads((chapter / "notebook.ipynb").read_text())
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    (chapter / "notebook.ipynb").write_text(json.dumps(notebook))

    ran = run("--workbook", "lessons")

    assert ran.ret == pytest.ExitCode.INTERRUPTED
    ran.stdout.fnmatch_lines(["*notebook.ipynb: no code cell, so there is nothing to compare."])


@pytest.mark.slow
def test_a_cell_that_fails_is_red_and_so_is_what_was_not_reached(chapter: Path, run: Run) -> None:
    """The cells before it are compared; a cell that was saved without being run is red for that."""
    notebook = json.loads((chapter / "notebook.ipynb").read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    code[1]["source"] = ["1 / 0"]
    code[3]["execution_count"], code[3]["outputs"] = None, []
    (chapter / "notebook.ipynb").write_text(json.dumps(notebook))

    ran = run("--workbook", "lessons", "-v", "-k", "cell")

    assert [result for _, result in sorted(results(ran).items(), key=lambda one: int(one[0].split()[1]))] == [
        "PASSED",
        *["FAILED"] * (len(CELL_ITEMS) - 1),
    ]
    ran.stdout.fnmatch_lines(
        [
            "cell 4 (1 / 0): it was not played to its end. * failed: ZeroDivisionError: division by zero",
            "cell 6 *: it was not played to its end. *",
            "cell 8 *: it was saved without being run; *",
        ]
    )


@pytest.mark.slow
def test_without_the_option_nothing_is_imported_and_nothing_is_different(
    run: Run, pytester: pytest.Pytester
) -> None:
    """Every pytest of an environment with the workbook loads the plug-in: it must cost nobody anything."""
    pytester.makepyfile(
        """
        import sys

        def test_what_was_loaded(pytestconfig):
            loaded = {name for name in sys.modules if name.split(".")[0] in ("workbook", "labsim")}
            handed_out = {"labsim", "labsim.lazy"}  # names of `workbook` that nobody has used yet
            assert loaded == {"workbook", "workbook.author", "workbook.author.pytest_plugin", *handed_out}
            assert not {"msgspec", "nbformat", "nbclient", "pandas", "zmq"} & set(sys.modules)
            assert not pytestconfig.pluginmanager.has_plugin("workbook-chapters")
        """
    )

    ran = run("-v")
    blocked = pytester.runpytest_subprocess(
        "-p", "no:workbook", "-p", "no:workbook.author.pytest_plugin", "--workbook", "."
    )

    ran.assert_outcomes(passed=1)
    assert blocked.ret == pytest.ExitCode.USAGE_ERROR
    blocked.stderr.fnmatch_lines(["*unrecognized arguments: --workbook*"])


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def result(count: int = 1, **data: str) -> dict[str, Any]:
    kinds = {kind.replace("_", "/"): text for kind, text in data.items()}
    return {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": kinds}


def error(traceback: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": "Denied", "evalue": "by user", "traceback": [traceback]}


PLOT = '<figure><svg width="{}" class="cedar-plot-picture">{}</svg></figure>'


@pytest.mark.parametrize(
    ("saved", "today"),
    [
        ([], []),
        ([stream("a\n"), stream("b\n")], [stream("a\nb\n")]),
        ([result(1, text_plain="3")], [result(9, text_plain="3")]),
        ([error("in line 1")], [error("in line 2")]),
        ([result(text_html=PLOT.format(1, "<path\nd='1'/>"))], [result(text_html=PLOT.format(2, "<g/>"))]),
    ],
    ids=["nothing", "pieces of a stream", "execution counts", "tracebacks", "the picture of a plot"],
)
def test_what_says_nothing_of_a_lesson_makes_no_difference(saved: list[Any], today: list[Any]) -> None:
    """How a text came in pieces, how often cells were run, where a raise stood, how a picture is drawn."""
    assert difference(saved, today) == ""


@pytest.mark.parametrize(
    ("saved", "today", "said"),
    [
        ([], [stream("a\n")], "saved: nothing\ntoday: stdout\n--- stdout\na"),
        ([stream("a")], [stream("a", "stderr")], "saved: stdout\ntoday: stderr\n--- stderr\na"),
        (
            [stream("a"), stream("b", "stderr")],
            [stream("a")],
            "saved: stdout, stderr\ntoday: stdout\n--- stdout\na",
        ),
        (
            [result(text_plain="one\ntwo")],
            [result(text_plain="one\n2")],
            "--- text/plain, as saved\n+++ text/plain, today\n@@ -1,2 +1,2 @@\n one\n-two\n+2",
        ),
        (
            [result(text_html=PLOT.format(1, "") + "<p>4</p>")],
            [result(text_html=PLOT.format(1, "") + "<p>5</p>")],
            "--- text/html, as saved\n+++ text/html, today\n@@ -3,2 +3,2 @@\n </figure>\n-<p>4</p>\n+<p>5</p>",
        ),
        (
            [result(text_html="<p>4</p>", text_plain="4")],
            [result(text_html="<p>5</p>", text_plain="5")],
            "text/html differs, too\n--- text/plain, as saved\n+++ text/plain, today\n@@ -1 +1 @@\n-4\n+5",
        ),
    ],
    ids=["more", "another stream", "less", "another text", "other words beside a plot", "HTML beside text"],
)
def test_everything_else_does_and_is_shown(saved: list[Any], today: list[Any], said: str) -> None:
    """An output too many, too few, of another kind, or with another text."""
    assert difference(saved, today) == said


def test_a_long_difference_is_cut() -> None:
    """A page of a thousand rows must not bury the rest of a report."""
    shown = difference([], [stream("row\n" * 1000)]).splitlines()

    assert shown[-1] == "… and 961 lines more"
    assert len(shown) == 43
