"""The stepper as an anywidget: all frames of a ledger at once, and the row that it begins with.

Which row is shown is the front end's business alone: it steps, jumps and plays without a word to the kernel, and
goes on doing so when the kernel is gone.
"""

from __future__ import annotations

import traitlets

from workbook.live.controls import Control, front_end


class StepperControl(Control):
    """One ledger.

    `rows`: mappings of `number`, `kind`, `says`, `call`; `steps`, of mappings of `order`, `numbers` and `does`,
    with `place` and `of` counting it in its list; `state`, pairs of a label and a text; and `under_way`, of
    mappings of `subject`, `told` (how it stands, in a sentence) and `stops`, places in the list of that name.
    `stops`: mappings of `text`, `rules`, `late` and `inner`. `row` is the one to begin with, counted from 0.
    `grows`: the ledger may be longer by now.
    Sends `read`, to be told the ledger anew.
    """

    _esm = front_end("blocks.js", "stepper.js")
    _css = Control._css + front_end("stepper.css")

    title = traitlets.Unicode().tag(sync=True)
    rows = traitlets.List(traitlets.Dict()).tag(sync=True)
    stops = traitlets.List(traitlets.Dict()).tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    grows = traitlets.Bool(False).tag(sync=True)
