"""The `workbook` command: what a learner types, what comes back, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import types
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result
from nbformat import v4

from labsim.errors import LabsimError
from workbook.chapter.notebooks import notebooks_dir, notebooks_in
from workbook.cli import lab_command, main

WORKBOOK = str(Path(sys.executable).with_name("workbook"))


def workbook(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)


def saved(path: Path, *cells: tuple[str, str | None], tags: list[str] | None = None) -> Path:
    """A notebook with each cell's source and its saved result; None: the cell was never run."""
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("# A desk")])
    for count, (source, result) in enumerate(cells, start=1):
        cell = v4.new_code_cell(source, metadata={"tags": tags or []})
        if result is not None:
            cell.execution_count = count
            cell.outputs = [v4.new_output("execute_result", data={"text/plain": result}, execution_count=count)]
        notebook.cells.append(cell)
    nbformat.write(notebook, path)
    return path


# In general


def test_help_answers_before_anything_heavy_is_imported():
    """Help in a moment: neither Jupyter, pandas nor nbformat is imported until a command needs it."""
    code = "import sys, workbook.cli; print(*(m.partition('.')[0] for m in sys.modules))"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())

    assert "click" in loaded
    assert loaded.isdisjoint(
        {
            "pandas",
            "numpy",
            "nbformat",
            "jsonschema",
            "jupyterlab",
            "IPython",
            "ipywidgets",
            "anywidget",
            "filelock",
        }
    )


def test_help_names_every_command_and_where_to_begin():
    """A newcomer who types `workbook` alone learns the next step."""
    told = workbook().output

    assert "Start with: workbook lab" in told
    listed = re.findall(r"^  ([\w-]+) ", told.partition("Commands:")[2], re.MULTILINE)
    assert listed == sorted(main.commands)
    assert {
        "bake",
        "cases",
        "chapters",
        "check",
        "check-chapter",
        "diff",
        "evidence",
        "lab",
        "new-chapter",
        "start",
    } <= {*listed}


def test_a_command_that_does_not_exist_is_a_usage_error():
    """Exit code 2 is for a command line that cannot be understood."""
    done = workbook("strat")

    assert done.exit_code == 2
    assert "No such command 'strat'" in done.stderr


# start


@pytest.mark.slow
def test_start_makes_the_copies_and_says_how_to_go_on(tmp_path: Path):
    """The installed script, in a process of its own: every shipped chapter arrives, and the next step is named."""
    done = subprocess.run([WORKBOOK, "start"], cwd=tmp_path, check=True, capture_output=True, text=True)

    folder = tmp_path / "cedar-workbook"
    assert [p.name for p in notebooks_in(folder)] == [p.name for p in notebooks_in(notebooks_dir())]
    assert done.stdout.startswith("Workbook in cedar-workbook\n")
    assert done.stdout.endswith("Open it with: workbook lab cedar-workbook\n")
    assert done.stderr == ""


def test_what_goes_wrong_is_one_line_on_stderr_and_exit_code_1(tmp_path: Path):
    """No traceback for a learner's mistake."""
    (tmp_path / "file").write_text("mine")
    done = workbook("start", tmp_path / "file")

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        f"Error: The workbook cannot be put into {tmp_path}/file: {tmp_path}/file is a file, not a folder. "
        "Choose another folder.\n"
    )


# lab


def test_lab_opens_the_first_chapter_if_there_is_one_and_further_options_win(tmp_path: Path):
    """Options after `--` come last, where JupyterLab lets them win over ours."""
    bare = lab_command(tmp_path, [])
    (tmp_path / "00-start-here.ipynb").touch()
    command = lab_command(tmp_path, ["--allow-root", "--port=9000"])

    assert bare[:4] == [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={tmp_path}"]
    assert not any("default_url" in option for option in bare)
    assert ("--allow-root" in bare) == (os.geteuid() == 0)
    assert command == [
        *bare[:4],
        "--LabApp.default_url=/lab/tree/00-start-here.ipynb",
        "--allow-root",
        "--port=9000",
    ]


def test_lab_without_jupyterlab_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A broken environment: the Python in question and the cure, before any file is made."""
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    done = workbook("lab", tmp_path / "mine")

    assert done.exit_code == 1
    assert done.stderr == (
        f"Error: JupyterLab is not installed in this Python ({sys.executable}). "
        "Install it: python -m pip install jupyterlab\n"
    )
    assert not (tmp_path / "mine").exists()


def fetch(address: str) -> dict[str, list[dict[str, str]]]:
    """The JSON at an address whose server has announced itself, which it does just before it listens."""
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or time.monotonic() > deadline:
                raise


@pytest.mark.slow
def test_lab_serves_the_folder_and_leaves_what_is_in_it(tmp_path: Path):
    """The real thing: JupyterLab comes up on DIR, at the first chapter, and the learner's file stays as it was."""
    mine = saved(tmp_path / "00-start-here.ipynb", ("'my own'", "'my own'"))
    before = mine.read_bytes()
    homes = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = os.environ | {name: str(tmp_path / ".home" / name) for name in homes}
    with subprocess.Popen(
        [WORKBOOK, "lab", tmp_path, "--no-browser", "--", "--ServerApp.port=0", "--ServerApp.ip=127.0.0.1"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        log = []
        try:
            address = None
            for line in server.stdout:
                log.append(line)
                if address := re.search(
                    r"(http://127\.0\.0\.1:\d+)/lab/tree/00-start-here\.ipynb\?(token=\w+)", line
                ):
                    break
            assert address is not None, "".join(log)
            served = {entry["name"] for entry in fetch(f"{address[1]}/api/contents?{address[2]}")["content"]}
        finally:
            server.terminate()
            server.stdout.read()

    assert {"00-start-here.ipynb", *(p.name for p in notebooks_in(notebooks_dir()))} <= served
    assert mine.read_bytes() == before


# check


@pytest.mark.slow
def test_check_passes_notebooks_that_are_as_saved_whatever_surrounds_them(tmp_path: Path, monkeypatch, capfd):
    """Each has a kernel, a folder of answers and settings of its own: neither the other notebook, nor the caller's
    answers, nor pytest settings or a conftest nearby change the result."""
    commit = (
        "from pathlib import Path\nfrom workbook.learner.store import *\n"
        "Progress().commit(Key('c', 'k', 'x'), 'one').seq, Path.cwd().name"
    )
    result = f"(2, '{tmp_path.name}')"
    notebooks = [saved(tmp_path / name, ("1 + 1", "2"), (commit, result)) for name in ("a.ipynb", "b 2.ipynb")]
    (tmp_path / "conftest.py").write_text("raise RuntimeError('read')")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    monkeypatch.setenv("CEDAR_PROGRESS_DIR", str(tmp_path / "answers"))
    before = sorted(tmp_path.iterdir())

    done = workbook("check", *notebooks)

    assert done.output == "Notebooks: 2. Cells compared: 4. All as saved.\n"
    assert done.exit_code == 0
    assert capfd.readouterr().out.count("2 passed") == 2
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_check_fails_on_every_way_of_not_being_as_saved(tmp_path: Path, capfd):
    """A wrong output, an exception, a cell never run and a cell that asks to be skipped: each fails, by name."""
    wrong = saved(tmp_path / "wrong.ipynb", ("1 + 1", "3"))
    raises = saved(tmp_path / "raises.ipynb", ("1 / 0", "0"))
    cleared = saved(tmp_path / "cleared.ipynb", ("1 + 1", "2"), ("1 + 1", None))
    skipped = saved(tmp_path / "skipped.ipynb", ("1 + 1", "3"), tags=["nbval-skip"])
    good = saved(tmp_path / "good.ipynb", ("1 + 1", "2"))

    done = workbook("check", wrong, raises, cleared, skipped, good)

    assert done.exit_code == 1
    assert done.output == (
        "cleared.ipynb: cell 2 (1 + 1): it was saved without being run; run the notebook and save it with its "
        "outputs\n"
        "skipped.ipynb: cell 1 (1 + 1): the tag nbval-skip keeps nbval from comparing it; remove the tag\n"
        "Notebooks: 5. Cells compared: 4. Not proved: wrong.ipynb, raises.ipynb, cleared.ipynb, skipped.ipynb.\n"
    )
    report = capfd.readouterr().out
    assert "Cell outputs differ" in report
    assert "ZeroDivisionError" in report


def test_check_refuses_to_pass_where_nothing_is_compared(tmp_path: Path):
    """Green without checking is the failure that nobody sees: a notebook without code is an error."""
    done = workbook("check", saved(tmp_path / "prose.ipynb"))

    assert done.exit_code == 1
    assert done.stderr == (
        "Error: No code cell to compare in prose.ipynb. A check that compares nothing would say nothing.\n"
    )


@pytest.mark.parametrize(
    ("name", "found"),
    [("missing.ipynb", "it cannot be read (No such file or directory)"), ("notes.txt", "the name does not end in")],
)
def test_check_names_a_path_that_is_no_notebook(tmp_path: Path, name: str, found: str):
    """The path, what was found there, and what would do."""
    (tmp_path / "notes.txt").write_text("notes")
    done = workbook("check", tmp_path / name)

    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {tmp_path / name}: {found}")
    assert done.stderr.count("\n") == 1


def test_check_without_nbval_says_which_extra_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Learners have no nbval; the message names the extra, not only the package."""
    monkeypatch.setitem(sys.modules, "nbval", None)
    done = workbook("check", saved(tmp_path / "a.ipynb", ("1 + 1", "2")))

    assert done.exit_code == 1
    assert done.stderr.endswith(
        "with its extra `test`, as README's second command does: pip install -e '.[test]'\n"
    )


# cases, evidence


def stand_in(monkeypatch: pytest.MonkeyPatch, module: str, **names: object) -> None:
    """A module that records how the command line calls it; what it really does has tests of its own."""
    monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    for name, value in names.items():
        setattr(sys.modules[module], name, value)


@pytest.mark.parametrize("code", [0, 1])
def test_cases_hands_files_and_json_to_the_engine_and_returns_its_code(monkeypatch: pytest.MonkeyPatch, code: int):
    """`workbook cases` is `python -m labsim cases` under a name that learners know."""
    calls: list[list[str]] = []

    def engine(args: list[str]) -> int:
        calls.append(args)
        return code

    stand_in(monkeypatch, "labsim.__main__", main=engine)

    assert workbook("cases", "a.json", "b.json", "--json").exit_code == code
    assert workbook("cases").exit_code == code
    assert calls == [["cases", "a.json", "b.json", "--json"], ["cases"]]


def test_the_shipped_cases_all_match():
    """The real thing: without FILE, every case that ships is played."""
    done = workbook("cases")

    [(played, matched)] = re.findall(r"^(\d+) cases, (\d+) match$", done.stdout.splitlines()[-1])
    assert (done.exit_code, played) == (0, matched)
    assert int(played) > 0


def test_an_error_of_the_engine_is_one_line_too(monkeypatch: pytest.MonkeyPatch):
    """Errors that either package raises on purpose look alike to a learner."""

    def engine(args: list[str]) -> int:
        raise LabsimError("a.json: mode: 'yollo' is not allowed here.")

    stand_in(monkeypatch, "labsim.__main__", main=engine)
    done = workbook("cases", "a.json")

    assert (done.exit_code, done.stderr) == (1, "Error: a.json: mode: 'yollo' is not allowed here.\n")


def test_evidence_is_written_where_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The file's name goes to the report's writer, and the learner hears where it is."""
    written: list[Path] = []
    stand_in(monkeypatch, "workbook.author.evidence", write=written.append)
    done = workbook("evidence", tmp_path / "evidence.json")

    assert (done.exit_code, written) == (0, [tmp_path / "evidence.json"])
    assert done.output == f"Wrote {tmp_path / 'evidence.json'}\n"


@pytest.mark.slow
def test_evidence_holds_the_cases_that_were_played(tmp_path: Path):
    """The real thing: the report is JSON and names the fixtures it played."""
    assert workbook("evidence", tmp_path / "evidence.json").exit_code == 0

    evidence = json.loads((tmp_path / "evidence.json").read_text())
    assert "boundary-desk.json" in {fixture["file"] for fixture in evidence["fixtures"]}


def test_evidence_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The system's own refusals are no tracebacks either."""
    stand_in(monkeypatch, "workbook.author.evidence", write=lambda path: path.write_text("{}"))
    done = workbook("evidence", tmp_path / "missing" / "evidence.json")

    assert done.exit_code == 1
    assert done.stderr.startswith("Error: [Errno 2] No such file or directory")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_baking_writes_what_the_scripted_learner_sees_and_then_finds_it_as_it_was(tmp_path: Path):
    """An author bakes after a change; a second time there is nothing to write."""
    path = tmp_path / "lesson.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    made.cells[0].id = "sum"
    nbformat.write(made, path)

    assert workbook("bake", str(path)).output == "lesson.ipynb: written anew\n"
    baked = path.read_bytes()
    assert workbook("bake", str(path)).output == "lesson.ipynb: as it was\n"

    assert path.read_bytes() == baked
    cell = nbformat.read(path, as_version=4).cells[0]
    assert (cell.execution_count, cell.outputs[0].data["text/plain"]) == (1, "2")


@pytest.mark.slow
def test_a_notebook_that_fails_is_not_baked(tmp_path: Path):
    """The file stays as it was, and the author is told which notebook and why."""
    path = tmp_path / "lesson.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), path)
    before = path.read_bytes()

    done = workbook("bake", str(path))

    assert done.exit_code == 1
    assert "lesson.ipynb: not played to its end." in done.output
    assert "ZeroDivisionError" in done.output
    assert path.read_bytes() == before
