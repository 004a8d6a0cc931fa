"""Baking: play a notebook as the scripted learner, and write what it shows into the worked edition.

Notebooks are written here and never by a browser, which would add pictures and widget state of its own. `baked`,
`played` and `run_unanswered` write nothing: they are for checks.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import nbformat

from workbook import atomic
from workbook.chapter.catalogue import environment_for
from workbook.chapter.copies import clean
from workbook.chapter.notebooks import read_notebook
from workbook.errors import WorkbookError
from workbook.learner import who
from workbook.learner.store import FOLDER_VARIABLE

TIMEOUT_S = 120  # one cell; the slowest takes about one
_PICTURE: Final = re.compile(r'<svg [^>]*class=\\"cedar-plot-picture\\"[^>]*>.*?</svg>', re.DOTALL)  # inside JSON


class NotBaked(WorkbookError):
    """The notebook could not be played to its end; the file is unchanged.

    Attributes: `path`; `cell`, the place of the cell that failed, from 0 (None: none did), and its `source`;
    `found`, what it said.
    """

    def __init__(self, path: Path, cell: int | None, source: str, problem: str) -> None:
        self.path = path
        self.cell = cell
        self.source = source
        self.found = problem
        where = "" if cell is None else f" Cell {cell + 1} ({source.strip().splitlines()[0]}) failed:"
        super().__init__(f"{path}: not played to its end.{where} {problem}")


def bake(path: Path) -> bool:
    """Play `path` as the scripted learner and write its outputs. Returns whether the file changed.

    Raises: NotANotebook; NotBaked, if a cell fails; workbook.atomic.WriteFailed.
    """
    before = path.read_text(encoding="utf-8")
    after = baked(path)
    if after == before:
        return False
    atomic.write(path, after.encode())
    return True


def baked(path: Path, environment: Mapping[str, str] | None = None) -> str:
    """What `bake` would write. `environment`: further variables of the kernel. Raises: as `bake`."""
    notebook: Any = read_notebook(path)
    _tidy(notebook)
    _execute(notebook, path, {who.VARIABLE: who.Learner.SCRIPTED, **(environment or {})})
    notebook.metadata["language_info"] = {"name": "python"}  # the kernel adds its version
    return f"{nbformat.writes(notebook)}\n"  # type: ignore[no-untyped-call]  # nbformat has no types


def played(path: Path) -> tuple[Any, NotBaked | None]:
    """The notebook as the scripted learner sees it today, and what ended it early: None, if nothing did.

    Cells that were not reached have no execution count. Raises: NotANotebook.
    """
    notebook: Any = read_notebook(path)
    _tidy(notebook)
    try:
        _execute(notebook, path, {who.VARIABLE: who.Learner.SCRIPTED})
    except NotBaked as error:
        return notebook, error
    return notebook, None


def comparable(text: str) -> str:
    """The text of a notebook without the pictures of its plots, whose bytes vary with matplotlib's version.

    As `nbval.cfg` has it; what a plot says in words, and its table, stay.
    """
    return _PICTURE.sub("<svg/>", text)


def run_unanswered(path: Path) -> Any:
    """The clean edition of a notebook, run from top to bottom with nobody there to answer.

    Returns: the notebook with its outputs. Raises: as `bake`.
    """
    notebook: Any = clean(read_notebook(path))
    _execute(notebook, path, {who.VARIABLE: who.Learner.LIVE})
    return notebook


def _tidy(notebook: Any) -> None:
    """What a worked edition may hold besides its cells: which language it is in, and nothing of this machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.metadata.pop("execution", None)


def _execute(notebook: Any, path: Path, further: Mapping[str, str]) -> None:
    """Run every cell, in an empty folder that is gone afterwards, and so are the answers that were kept in it."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **environment_for(path), FOLDER_VARIABLE: folder, **further}
        environment.pop("JPY_SESSION_NAME", None)
        client = NotebookClient(
            notebook,
            timeout=TIMEOUT_S,
            store_widget_state=False,
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],  # no advice on transports in the middle of somebody's terminal
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            cell, source = _failed(notebook)
            raise NotBaked(path, cell, source, f"{error.ename}: {error.evalue}".strip()) from None
        except (DeadKernelError, TimeoutError) as error:
            raise NotBaked(path, None, "", str(error)) from None


def _failed(notebook: Any) -> tuple[int | None, str]:
    for number, cell in enumerate(notebook.cells):
        if any(output.output_type == "error" for output in cell.get("outputs", ())):
            return number, cell.source
    return None, ""
