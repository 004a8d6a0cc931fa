"""Do the saved outputs of notebooks still hold? nbval, strict, with a guard against cells it would not look at.

Each notebook is played in a process, a kernel and a progress folder of its own, so that the result depends on
nothing but the notebook, and a learner's answers are neither read nor touched.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from workbook.chapter.notebooks import CHECKPOINT_FOLDER, notebooks_dir, notebooks_in, read_notebook
from workbook.errors import WorkbookError
from workbook.learner import who
from workbook.learner.store import FOLDER_VARIABLE
from workbook.notebook.nbval_guard import compared_cells, uncompared_cells

CELL_SECONDS = 60
#: What nbval is to leave out of its comparison; plain text, for whoever calls nbval without this module, too.
SANITISER = Path(__file__).with_name("nbval.cfg")


class CannotCheck(WorkbookError):
    """There is nothing to check, or nothing to check it with; a run that compares nothing is never a pass."""


def check(paths: Sequence[Path], *, say: Callable[[str], None]) -> bool:
    """Play the notebooks and compare every cell; True if all are as saved. nbval's own report goes to stdout.

    `paths`: notebooks, played in their own folders; none for the worked editions of the package, played as copies.
    Raises: CannotCheck; NotANotebook, before anything is played.
    """
    if importlib.util.find_spec("nbval") is None:
        raise CannotCheck(
            "nbval is not installed in this Python, and it does the comparing. "
            "Install the workbook with its extra `test`, as README's second command does: pip install -e '.[test]'"
        )
    with TemporaryDirectory(prefix="cedar-check-") as scratch:
        chosen = list(paths) or _copies_of_worked_editions(Path(scratch, "notebooks"))
        notebooks = {path: read_notebook(path) for path in chosen}
        findings = {path: uncompared_cells(notebook) for path, notebook in notebooks.items()}
        compared = {path: compared_cells(notebook) for path, notebook in notebooks.items()}
        if not (any(findings.values()) or any(compared.values())):
            names = ", ".join(path.name for path in chosen)
            raise CannotCheck(
                f"No code cell to compare in {names}. A check that compares nothing would say nothing."
            )

        failed = {path for path, cells in compared.items() if cells and not _nbval_passes(path, Path(scratch))}
    for path, found in findings.items():
        for cell in found:
            say(f"{path.name}: {cell}")
    bad = [path.name for path in chosen if path in failed or findings[path]]
    verdict = f"Not proved: {', '.join(bad)}." if bad else "All as saved."
    say(f"Notebooks: {len(chosen)}. Cells compared: {sum(compared.values())}. {verdict}")
    return not bad


def _copies_of_worked_editions(folder: Path) -> list[Path]:
    source = notebooks_dir()
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(CHECKPOINT_FOLDER))
    if copies := notebooks_in(folder):
        return copies
    raise CannotCheck(f"There is no notebook in {source}, so there is nothing to check.")


def _nbval_passes(notebook: Path, scratch: Path) -> bool:
    """One pytest for one notebook, blind to the settings, plugins and answers of whoever calls."""
    own = Path(scratch, f"run-{len(list(scratch.glob('run-*')))}")
    own.mkdir()
    settings = own / "pytest.ini"
    settings.write_text("[pytest]\n")
    environment = os.environ | {
        FOLDER_VARIABLE: str(own / "progress"),
        who.VARIABLE: who.Learner.SCRIPTED,  # the worked editions are what the scripted learner sees
        "IPYTHONDIR": str(own / "ipython"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    environment.pop("PYTEST_ADDOPTS", None)
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-c", str(settings), f"--rootdir={notebook.parent.absolute()}"),
        *("--noconftest", "-p", "no:cacheprovider", "-p", "nbval.plugin", "--nbval", "--nbval-current-env"),
        *(f"--nbval-cell-timeout={CELL_SECONDS}", "--color=auto" if sys.stdout.isatty() else "--color=no"),
        f"--nbval-sanitize-with={SANITISER}",
        f"./{notebook.name}",
    ]
    return subprocess.run(command, cwd=notebook.parent, env=environment, check=False).returncode == 0
