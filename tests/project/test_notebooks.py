"""The notebooks themselves: the worked editions are what a fresh run shows, and clean copies give nothing away."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from labsim.library import fixtures_dir
from workbook.chapter import copies
from workbook.chapter.notebooks import notebooks_dir, notebooks_in
from workbook.notebook import compare
from workbook.notebook.nbval_guard import compared_cells, uncompared_cells
from workbook.show.cited import all_rules

WORKED = notebooks_in(notebooks_dir())
LONGEST_CELL = 10  # lines; a longer one is a function missing from workbook
names = pytest.mark.parametrize("path", WORKED, ids=lambda path: path.stem)


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def test_the_package_carries_chapters() -> None:
    """A check that finds no notebook would prove nothing."""
    assert [path.stem for path in WORKED][:2] == ["00-start-here", "01-boundary-desk"]


@names
def test_every_code_cell_of_a_worked_edition_is_compared(path: Path) -> None:
    """No cell is skipped, ignored or saved without being run, and there are cells to compare."""
    assert uncompared_cells(read(path)) == []
    assert compared_cells(read(path)) > 0


@pytest.mark.slow
@names
def test_a_worked_edition_shows_what_the_scripted_learner_sees_today(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """nbval, strict: every saved output is what the cell shows now."""
    said: list[str] = []

    passed = compare.check([path], say=said.append)

    assert passed, "\n".join(said) + capfd.readouterr().out[-4000:]


@pytest.mark.slow
@names
def test_a_worked_edition_holds_no_widgets_and_nothing_of_a_machine(path: Path) -> None:
    """Readers see text wherever they open it: no widget state, no widget views, no paths, no versions of Python."""
    notebook = read(path)
    kinds = {
        kind
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        for kind in output.get("data", {})
    }

    assert dict(notebook.metadata) == {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert kinds <= {"text/plain", "text/html"}
    assert str(Path.home()) not in path.read_text(encoding="utf-8")


@names
def test_the_cells_of_a_worked_edition_are_short(path: Path) -> None:
    """Narrative stays narrative: what needs more than ten lines is a function of workbook."""
    long = [cell.source for cell in read(path).cells if cell.cell_type == "code"]

    assert [source for source in long if len(source.splitlines()) > LONGEST_CELL] == []


@pytest.fixture(scope="module")
def unanswered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Clean copies, run from the first cell to the last by nobody."""
    folder = tmp_path_factory.mktemp("learner")
    copies.start(folder)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CEDAR_", "JPY_"))}
    played = {}
    for path in notebooks_in(folder):
        notebook = read(path)
        assert all(not cell.get("outputs") for cell in notebook.cells)
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute(
            env=environment
        )
        played[path.stem] = notebook
    return played


def outputs(notebook: Any) -> str:
    return "\n".join(json.dumps(cell.outputs, ensure_ascii=False) for cell in notebook.cells if "outputs" in cell)


@pytest.mark.slow
@pytest.mark.parametrize("stem", [path.stem for path in WORKED])
def test_clean_copies_run_unanswered_without_an_error(unanswered: dict[str, Any], stem: str) -> None:
    """Run All with nobody there: every cell runs (nbclient raises where one does not)."""
    assert all(cell.execution_count for cell in unanswered[stem].cells if cell.cell_type == "code" and cell.source)


@pytest.mark.slow
def test_clean_copies_run_unanswered_leak_no_reveal(unanswered: dict[str, Any]) -> None:
    """Not one explanation, belief or worked answer of an unanswered checkpoint is anywhere in the outputs."""
    for path in sorted((fixtures_dir() / "checkpoints").glob("*.json")):
        data = json.loads(path.read_bytes())
        secrets = [belief["says"] for belief in data.get("beliefs", [])]
        for checkpoint in data.get("checkpoints", []):
            secrets += [option["why"] for option in checkpoint.get("options", [])]
            secrets += [checkpoint["worked"]] if "worked" in checkpoint else []
        assert secrets
        for stem, notebook in unanswered.items():
            shown = outputs(notebook)
            found = [secret for secret in secrets if json.dumps(secret, ensure_ascii=False)[1:-1] in shown]
            assert found == [], (stem, path.name)


@pytest.mark.slow
def test_clean_copies_run_unanswered_say_no_rule_that_a_question_turns_on(unanswered: dict[str, Any]) -> None:
    """A sentence under a table would answer what is asked further down."""
    files = [json.loads(path.read_bytes()) for path in fixtures_dir().glob("*.json")]
    rules = {case["id"]: case.get("rules", []) for file in files for case in file["cases"]}
    for path in sorted((fixtures_dir() / "checkpoints").glob("*.json")):
        asked = [each for each in json.loads(path.read_bytes()).get("checkpoints", []) if each["kind"] != "paper"]
        turned_on = {name for each in asked for name in rules[each["case"]]}
        for stem, notebook in unanswered.items():
            if any(f'wb.open("{path.stem}")' in cell.source for cell in notebook.cells):
                shown = " ".join(outputs(notebook).replace("\\n", " ").split())
                assert [name for name in turned_on if all_rules().find(name).says in shown] == [], stem


@pytest.mark.slow
def test_clean_copies_run_unanswered_show_no_run_that_answers_a_checkpoint(unanswered: dict[str, Any]) -> None:
    """Not even the name of a case that a choice checkpoint asks about is in the outputs: its runs are withheld."""
    asked = [
        (path.stem, checkpoint)
        for path in sorted((fixtures_dir() / "checkpoints").glob("*.json"))
        for checkpoint in json.loads(path.read_bytes()).get("checkpoints", [])
        if checkpoint["kind"] == "choice"
    ]
    assert asked
    for chapter, checkpoint in asked:
        named = re.compile(rf"{re.escape(checkpoint['case'])}(?![a-z-])")
        for notebook in unanswered.values():
            if any(f'wb.open("{chapter}")' in cell.source for cell in notebook.cells):
                assert not named.search(outputs(notebook)), (checkpoint["id"], checkpoint["case"])
