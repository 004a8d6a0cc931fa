"""A progress bar for work that takes more than a moment, and none anywhere else.

The bar goes to stderr, appears after a second, and leaves nothing behind. The scripted learner never sees one:
what a worked edition shows does not depend on how fast a machine is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from workbook.learner.who import Learner, who

SECONDS_BEFORE: Final = 1.0

Advance = Callable[[int], object]


@contextmanager
def progress(what: str, total: int | None, unit: str) -> Iterator[Advance]:
    """Hands out a function to call with the number of units done since the last call.

    `total`: how many there are, None if nobody knows. `unit`: what is counted, such as `calls` or `B` for bytes.
    """
    if who() is Learner.SCRIPTED or not _seen():
        yield _nothing
        return
    from tqdm import tqdm  # type: ignore[import-untyped]  # ships no types

    class _Bar(tqdm):  # type: ignore[misc]  # as above
        monitor_interval = 0  # no thread that watches over the bar

    with _Bar(desc=what, total=total, unit=unit, unit_scale=True, leave=False, delay=SECONDS_BEFORE) as bar:
        yield bar.update


def _seen() -> bool:
    """Whether somebody may be looking: at a terminal, or at a notebook."""
    ipython = sys.modules.get("IPython")
    in_notebook = ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None
    return in_notebook or sys.stderr.isatty()


def _nothing(done: int) -> None:
    pass
