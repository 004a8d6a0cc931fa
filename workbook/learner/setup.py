"""The first cell of a notebook: is everything here, and where are the answers kept?

What differs from machine to machine is said to a person only, so that the worked editions can be compared word for
word.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from workbook.errors import WorkbookError
from workbook.learner.store import FILE_NAME, Progress
from workbook.learner.who import Learner, progress_of, who

DISTRIBUTION = "cedar-workbook"


def setup() -> None:
    """Print that the workbook is ready, where answers are kept, and what is wrong with them if anything is."""
    learner = who()
    print("\n".join(lines(learner, progress_of(learner))))


def lines(learner: Learner, progress: Progress) -> Iterator[str]:
    """What `setup` says, line by line."""
    if learner is Learner.SCRIPTED:  # no version: a new one would make every saved notebook look changed
        yield "Cedar Workbook: ready."
        yield f"A scripted learner answers here. A person's answers are kept in {FILE_NAME}, beside the notebook."
        return
    yield f"Cedar Workbook {_version(DISTRIBUTION)}: ready."
    yield f"Your answers are kept in {FILE_NAME}, in the folder of this notebook; nothing else is recorded."
    packages = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "pandas")
    yield f"Python {platform.python_version()}, {', '.join(f'{name} {_version(name)}' for name in packages)}."
    try:
        problems = progress.problems
    except WorkbookError as error:
        problems = [str(error)]
    yield from (f"Note: {problem}" for problem in problems)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not in this Python)"
