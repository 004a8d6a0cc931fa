"""The controls that a browser shows: anywidgets for dialogs, and for a desk to try things at.

`dialogs` and `bench` own them. A control is a few traits and a front-end file and holds no rule: it shows what it
is told, and hands what a button sent to whoever made it. Plain ipywidgets cannot name a group of radio buttons,
nor keep JupyterLab's one-key shortcuts away from a focused button; these can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import anywidget
import traitlets

from workbook.show.grid import STYLE

VIEW: Final = "application/vnd.jupyter.widget-view+json"
_STATIC: Final = Path(__file__).resolve().parents[1] / "static"


def front_end(*names: str) -> str:
    """Front-end files as one module: a widget's module cannot import from beside itself."""
    return "\n".join((_STATIC / name).read_text(encoding="utf-8") for name in names)


class Control(anywidget.AnyWidget):
    """What all controls do. `receive` gets each message of the front end, perhaps on another thread."""

    _css = front_end("controls.css") + STYLE.removeprefix("<style>").removesuffix("</style>")

    status = traitlets.Unicode().tag(sync=True)

    def __init__(self, receive: Callable[[object], None], **state: Any) -> None:
        super().__init__(**state)
        self.on_msg(lambda control, content, buffers: receive(content))

    def update(self, state: Mapping[str, Any]) -> None:
        """Tell the front end everything that changed, in one message."""
        with self.hold_sync():
            for name, value in state.items():
                setattr(self, name, value)

    def view(self) -> dict[str, Any]:
        """The part of a mime bundle that has a front end draw this control."""
        return {VIEW: {"version_major": 2, "version_minor": 0, "model_id": self.model_id}}


class DialogControl(Control):
    """Dialogs of one play, oldest first, and the ledger under them.

    `dialogs`: mappings of `id`, `kind`, `label`, `text`, `options`, `placeholder`, `prefill`, `open`, `ended`.
    `ledger`: a `workbook.show.grid.Grid` as plain values. Sends `reply` and `dismiss`.
    """

    _esm = front_end("blocks.js", "dialog.js", "dialogs.js")

    title = traitlets.Unicode().tag(sync=True)
    dialogs = traitlets.List(traitlets.Dict()).tag(sync=True)
    ledger = traitlets.Dict().tag(sync=True)


class DeskControl(DialogControl):
    """A Review Desk under a learner's hands: its buttons, its dialogs, its panel, and the ledger under them.

    `buttons`: mappings of `id` and `text`. A dialog has `late` as well: an answer can still be sent, and comes too
    late. `panel`: `label`, `rows`, `open`; empty where none is on screen. Sends `press`, `key` and `resize` too.
    """

    _esm = front_end("blocks.js", "dialog.js", "panel.js", "desk.js")

    buttons = traitlets.List(traitlets.Dict()).tag(sync=True)
    panel = traitlets.Dict().tag(sync=True)
