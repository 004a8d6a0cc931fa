"""Running a cell again: what its earlier run left waiting is given up.

JupyterLab takes the old dialogs off the page without telling the kernel, so the kernel has to notice by itself
that the same cell is being run a second time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from msgspec import Struct

from workbook.live.play import LivePlay


class Cell(Struct, frozen=True, kw_only=True):
    """A notebook cell, and the run of it that is under way, by the ids that the front end gives them."""

    id: str
    run: str


def running_cell() -> Cell | None:
    """The cell that is being run; None outside a kernel, or where the front end names no cells."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return None
    request = kernel.get_parent("shell") or {}
    cell, run = request.get("metadata", {}).get("cellId"), request.get("header", {}).get("msg_id")
    return Cell(id=cell, run=run) if isinstance(cell, str) and isinstance(run, str) else None


class Cells:
    """Remembers which plays a cell made, and gives up those of its earlier runs.

    Two cells may play the same case side by side, so the case alone does not tell.
    """

    def __init__(self, where: Callable[[], Cell | None] = running_cell) -> None:
        self._where = where
        self._plays: dict[str, tuple[str, list[LivePlay]]] = {}

    def made(self, play: LivePlay) -> None:
        """Note a new play of the running cell, superseding what its earlier run left waiting."""
        cell = self._where()
        if cell is None:
            return
        run, plays = self._plays.get(cell.id, ("", []))
        if run != cell.run:
            for old in plays:
                old.supersede()
            plays = []
        self._plays[cell.id] = (cell.run, [*plays, play])
