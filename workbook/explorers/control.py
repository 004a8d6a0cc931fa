"""The what-if panel as an anywidget: its controls, its problems, and blocks and a picture of what follows.

It holds no rule: it shows what it is told, and sends which control was set to which word.
"""

from __future__ import annotations

import traitlets

from workbook.live.controls import Control, front_end
from workbook.pictures.svg import STYLE


class ExplorerControl(Control):
    """One panel.

    `groups`: mappings of `legend` and `fields`; a field has `name`, `label`, `kind` (`choice` or `number`),
    `value`, `options` (mappings of `word` and `text`) and `wrong`. `problems`: mappings of `button`, and `control`,
    which gets the focus once it is put right. `above` and `below` are blocks as `workbook.show.page` gives them;
    `picture` has `name`, `caption`, `svg` and `closing`. `case` is the state as JSON, "" where it is none. `seen`:
    which change of which view was heard last. `pastes` counts the cases that were opened, and `paste_problem` says
    why one was not.
    Sends `set`, `fix`, `paste` and `restart`.
    """

    _esm = front_end("blocks.js", "picture.js", "explorer.js")
    _css = Control._css + STYLE.removeprefix("<style>").removesuffix("</style>") + front_end("explorer.css")

    title = traitlets.Unicode().tag(sync=True)
    groups = traitlets.List(traitlets.Dict()).tag(sync=True)
    problems = traitlets.List(traitlets.Dict()).tag(sync=True)
    remarks = traitlets.List(traitlets.Unicode()).tag(sync=True)
    above = traitlets.List(traitlets.Dict()).tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)
    below = traitlets.List(traitlets.Dict()).tag(sync=True)
    case = traitlets.Unicode().tag(sync=True)
    pastes = traitlets.Int(0).tag(sync=True)
    paste_problem = traitlets.Unicode().tag(sync=True)
    seen: traitlets.List[object] = traitlets.List().tag(sync=True)
