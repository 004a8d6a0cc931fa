"""What baking would change in a worked edition, as a diff of notebooks that a person can read.

Writes nothing: the notebook is run into memory, and compared with what is saved. nbdime makes the diff, without
its server; it is no requirement of a learner's, so it is looked for here.
"""

from __future__ import annotations

import importlib.util
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

from workbook.errors import WorkbookError
from workbook.notebook.bake import baked, comparable


class NoDiff(WorkbookError):
    """There is nothing to make a diff with."""

    def __init__(self) -> None:
        super().__init__(
            "nbdime is not installed in this Python, and it makes the diff. "
            "Install it: python -m pip install 'cedar-workbook[author]'"
        )


def changes(path: Path, *, colour: bool = False) -> str:
    """What is saved in a notebook against what it shows today; "" where both are the same, but for plots' pictures.

    Outputs are compared by their plain text. HTML says the same, and one more cell changes the count of every
    later one: both are shown only where nothing else differs.
    `colour`: with the codes of a terminal. Raises: NoDiff; NotANotebook; workbook.notebook.bake.NotBaked.
    """
    if importlib.util.find_spec("nbdime") is None:
        raise NoDiff
    saved, today = path.read_text(encoding="utf-8"), baked(path)
    if comparable(saved) == comparable(today):
        return ""
    return _diff(saved, today, colour=colour, whole=False) or _diff(saved, today, colour=colour, whole=True)


def _diff(saved: str, today: str, *, colour: bool, whole: bool) -> str:
    import nbformat

    nbdime, prettyprint = import_module("nbdime"), import_module("nbdime.prettyprint")
    before: Any = nbformat.reads(saved, as_version=4)  # type: ignore[no-untyped-call]
    after: Any = nbformat.reads(today, as_version=4)  # type: ignore[no-untyped-call]
    if not whole:
        for notebook in (before, after):
            _drop_noise(notebook)
    found = nbdime.diff_notebooks(before, after)
    out = StringIO()
    config = prettyprint.PrettyPrintConfig(out=out, use_color=colour, use_git=False, use_diff=False)
    prettyprint.pretty_print_diff(before, found, "", config)
    return out.getvalue()


def _drop_noise(notebook: Any) -> None:
    for cell in notebook.cells:
        cell.pop("execution_count", None)
        for output in cell.get("outputs", ()):
            output.pop("execution_count", None)
            data = output.get("data", {})
            if "text/plain" in data:
                data.pop("text/html", None)
