"""The control of one checkpoint: a group of options, several fields, steps to put in order, or a text.

Like all controls it holds no rule: it shows what it is told, and hands what a button sent to whoever made it.
"""

from __future__ import annotations

import traitlets

from workbook.live.controls import Control, front_end


class CheckpointControl(Control):
    """One checkpoint, from the question to the last explanation.

    `options`: mappings of `id` and `text`, and `values` for fields. `answer` is the locked one, `second` the second
    vote; their shape is that of the kind: text, mapping, list. `reveal` and `explained` are blocks as
    `workbook.show.page` gives them, none before the learner asked for them after a commit. `rows`: how many a
    ledger has that can be named; 0 for none.
    Sends `commit`, `again`, `hint`, `reveal`, `row`, `skip` and `points`.
    """

    _esm = front_end("blocks.js", "fields.js", "order.js", "after_reveal.js", "checkpoint.js")

    title = traitlets.Unicode().tag(sync=True)
    kind = traitlets.Unicode().tag(sync=True)
    prompt = traitlets.Unicode().tag(sync=True)
    options = traitlets.List(traitlets.Dict()).tag(sync=True)
    levels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    stage = traitlets.Unicode("open").tag(sync=True)
    # chosen or typed and not committed; kept for a second view
    picked = traitlets.Any("").tag(sync=True)
    sure = traitlets.Unicode().tag(sync=True)
    locked = traitlets.Bool(False).tag(sync=True)
    answer = traitlets.Any("").tag(sync=True)
    confidence = traitlets.Unicode().tag(sync=True)
    voted = traitlets.Bool(False).tag(sync=True)
    second = traitlets.Any("").tag(sync=True)
    can_vote = traitlets.Bool(False).tag(sync=True)
    hints = traitlets.List(traitlets.Unicode()).tag(sync=True)
    hints_left = traitlets.Int(0).tag(sync=True)
    reveal = traitlets.List(traitlets.Dict()).tag(sync=True)
    rows = traitlets.Int(0).tag(sync=True)
    points = traitlets.List(traitlets.Dict()).tag(sync=True)
    ticked = traitlets.List(traitlets.Unicode()).tag(sync=True)
    explained = traitlets.List(traitlets.Dict()).tag(sync=True)
