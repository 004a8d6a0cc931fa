"""Makes a sample of what an edition of the workbook leaves behind at a learner's, by running that very edition.

    python tests/data/make_left_behind.py f3eb9ce tests/data/left-by-0.1.0.tar.xz

Run in a clone that has the commit, and in an environment with what that edition needs. The archive holds:

    desk/           the learner's folder: the copies, one of them run and one edited, and the answers
    standing.json   how that edition said the learner stood: verdict and answer by chapter and checkpoint
    code/workbook/  the modules that edition reads and writes answers with, for the way back

`test_upgrade` upgrades the folder to the edition at hand, for every sample here. When an edition is released, make
one of it and keep the older ones.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
READS_ANSWERS = ("__init__", "errors", "journal", "answers", "progress")  # they import nothing else of their own

# What the learner does, said in the old edition's own words. Runs in the learner's folder.
STUDY = """
import json, sys
from pathlib import Path
import nbformat
from nbclient import NotebookClient
import workbook as wb
from workbook import copies
from workbook.checkpoint_file import ChoiceCheckpoint

assert str(Path(wb.__file__).parent.parent) == sys.argv[1], wb.__file__
copies.start(Path("."))
standing = {}
for chapter in ("start-here", "boundary-desk", "dispatch-desk", "review-desk", "gate-desk"):
    desk = wb.open(chapter)
    for place, name in enumerate(desk.checkpoints):
        asked = desk.predict(name)
        if place % 7 == 5:
            continue  # not answered
        if isinstance(asked.checkpoint, ChoiceCheckpoint):
            options = [option.id for option in asked.checkpoint.options]
            asked.commit(options[place % len(options)])
            if place % 5 == 1:  # a second try, on the record
                asked.reveal()
                asked.reset("read it too fast")
                asked.commit(options[-1])
        else:
            asked.commit("Once \\u2013 the na\\u00efve answer would be twice.\\nSecond line.")
        if place % 3 != 2:
            asked.reveal()
        if place == 0:
            asked.lesson.progress.note(asked.key, "To look at again: \\u201ca yes to what?\\u201d")
    standing[chapter] = {
        name: {"verdict": str(asked.verdict), "answer": asked.committed.answer if asked.committed else None}
        for name in desk.checkpoints
        for asked in [desk.predict(name)]
    }
Path("../standing.json").write_text(json.dumps(standing, indent=1) + "\\n")

ran = Path("00-start-here.ipynb")
notebook = nbformat.read(ran, as_version=4)
NotebookClient(notebook, store_widget_state=False, record_timing=False).execute()
nbformat.write(notebook, ran)
edited = Path("02-dispatch-desk.ipynb")
notebook = nbformat.read(edited, as_version=4)
notebook.cells.insert(1, nbformat.v4.new_markdown_cell("My own notes.", id="mine"))
nbformat.write(notebook, edited)
"""


def make(commit: str, archive: Path) -> None:
    """Raises: CalledProcessError, if git or that edition does not do its part."""
    with tempfile.TemporaryDirectory() as scratch:
        code, left = Path(scratch, "code"), Path(scratch, "left")
        packed = subprocess.run(["git", "archive", commit], cwd=TOP, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            tar.extractall(code, filter="data")
        (left / "desk").mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CEDAR_", "JPY_"))}
        environment |= {"PYTHONPATH": str(code), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-c", STUDY, str(code)], cwd=left / "desk", env=environment, check=True)
        members = {path.relative_to(left).as_posix(): path for path in sorted(left.rglob("*")) if path.is_file()}
        members |= {f"code/workbook/{name}.py": code / "workbook" / f"{name}.py" for name in READS_ANSWERS}
        with tarfile.open(archive, "w:xz", preset=9) as tar:
            for name, path in members.items():
                member = tarfile.TarInfo(name)  # no times, no owners: nothing of this machine
                member.size = path.stat().st_size
                with path.open("rb") as file:
                    tar.addfile(member, file)


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2]))
