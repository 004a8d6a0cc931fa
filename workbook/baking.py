"""Baking: play a notebook as the scripted learner, and write what it shows into the worked edition.

Beside `checking`, which compares what baking wrote. Notebooks are written here and never by a browser, which would
add pictures and widget state of its own.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from workbook import learner
from workbook.errors import WorkbookError
from workbook.library import read_notebook
from workbook.progress import FOLDER_VARIABLE

TIMEOUT_S = 120  # one cell; the slowest takes about one


class NotBaked(WorkbookError):
    """The notebook could not be played to its end; the file is unchanged."""


def bake(path: Path) -> bool:
    """Play `path` as the scripted learner and write its outputs. Returns whether the file changed.

    Raises: NotANotebook; NotBaked, if a cell fails or nbclient is missing.
    """
    if importlib.util.find_spec("nbclient") is None:
        raise NotBaked("Baking needs nbclient. Install it: python -m pip install 'cedar-workbook[test]'")
    notebook: Any = read_notebook(path)
    before = path.read_text(encoding="utf-8")
    _tidy(notebook)
    _execute(notebook, path)
    after: str = nbformat.writes(notebook) + "\n"  # type: ignore[no-untyped-call]  # nbformat has no types
    if after == before:
        return False
    swap = path.with_name(f".{path.name}.baking")
    swap.write_text(after, encoding="utf-8")
    os.replace(swap, path)
    return True


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


def _execute(notebook: Any, path: Path) -> None:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    with tempfile.TemporaryDirectory() as folder:  # answers of the scripted learner are kept nowhere
        environment = {**os.environ, learner.VARIABLE: learner.Learner.SCRIPTED, FOLDER_VARIABLE: folder}
        environment.pop("JPY_SESSION_NAME", None)
        client = NotebookClient(
            notebook,
            timeout=TIMEOUT_S,
            store_widget_state=False,
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=environment)
        except (CellExecutionError, DeadKernelError, TimeoutError) as error:
            raise NotBaked(f"{path}: not played to its end. {error}") from None
    notebook.metadata["language_info"] = {"name": "python"}  # the kernel adds its version
