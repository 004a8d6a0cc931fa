"""Where the worked notebooks are, and how any notebook file is read.

`nbformat` takes long to import, so it is imported only when a notebook is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from labsim.library import shipped
from workbook.errors import WorkbookError

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOK_SUFFIX = ".ipynb"
CHECKPOINT_FOLDER = ".ipynb_checkpoints"  # JupyterLab's own backups; never ours to show, copy or check


class NotANotebook(WorkbookError):
    """A path holds no notebook that Jupyter could open. Attributes: `path`, `found`."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path = path
        self.found = problem
        super().__init__(f"{path}: {problem}. A notebook is a file that JupyterLab saved as .ipynb.")


def notebooks_dir() -> Path:
    """The folder of the worked editions, with `assets/` inside. Raises: labsim.library.DataMissing."""
    return shipped("notebooks", Path(__file__).resolve().parents[1])


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks directly in a folder, in the order of their names, which is the order of the chapters."""
    return sorted(path for path in folder.glob(f"*{NOTEBOOK_SUFFIX}") if path.is_file())


def read_notebook(path: Path) -> NotebookNode:
    """A valid notebook of format 4. Raises: NotANotebook, whatever is wrong with the path or its content."""
    if path.suffix != NOTEBOOK_SUFFIX:
        raise NotANotebook(path, f"the name does not end in {NOTEBOOK_SUFFIX}")
    try:
        text = path.read_text(encoding="utf-8")
        raw = json.loads(text)
    except OSError as error:
        raise NotANotebook(path, f"it cannot be read ({error.strerror})") from error
    except ValueError as error:  # not UTF-8, or not JSON
        raise NotANotebook(path, f"the content is not JSON ({error})") from error
    if not (isinstance(raw, dict) and isinstance(raw.get("cells"), list)):
        raise NotANotebook(path, "the JSON has no list of cells")
    if raw.get("nbformat") != 4:
        raise NotANotebook(path, f"the notebook format is {raw.get('nbformat')!r}, and only 4 can be read")
    if not isinstance(raw.get("nbformat_minor"), int):
        raise NotANotebook(path, "the number nbformat_minor is missing")

    import nbformat

    try:
        nbformat.validate(raw)
    except nbformat.ValidationError as error:
        raise NotANotebook(path, f"the notebook is not valid ({str(error).splitlines()[0]})") from error
    notebook: NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    return notebook
