"""Who answers: a person at the page, or the scripted learner whose answers stand in the files.

The scripted learner is what fills the worked editions and what CI replays: it takes the same path as a person, and
shows text only.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from enum import StrEnum
from functools import cache
from pathlib import Path

from workbook.errors import WorkbookError
from workbook.learner.store import FOLDER_VARIABLE, Progress

VARIABLE = "CEDAR_LEARNER"


class Learner(StrEnum):
    """Whose answers count in this kernel."""

    LIVE = "live"
    SCRIPTED = "scripted"


class UnknownLearner(WorkbookError):
    """`CEDAR_LEARNER` has a value that means nothing. Attribute: `found`."""

    def __init__(self, problem: str) -> None:
        self.found = problem
        super().__init__(
            f"{VARIABLE}: {problem!r} is no learner. Use {Learner.SCRIPTED}, or leave it out to answer yourself."
        )


def who() -> Learner:
    """Who answers in this process; a person unless the environment says otherwise. Raises: UnknownLearner."""
    found = os.environ.get(VARIABLE) or Learner.LIVE
    try:
        return Learner(found)
    except ValueError:
        raise UnknownLearner(found) from None


def progress_of(learner: Learner) -> Progress:
    """Where this learner's answers are kept.

    The scripted learner never writes among a person's answers: unless `CEDAR_PROGRESS_DIR` says where, its answers
    last as long as the process.
    """
    if learner is Learner.SCRIPTED and not os.environ.get(FOLDER_VARIABLE):
        return Progress(_passing_folder())
    return Progress()


@cache
def _passing_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="cedar-scripted-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
