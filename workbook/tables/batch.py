"""A batch of calls as the agent loop prepared it: one row a call, from what was sent to what the model reads."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from labsim.call.loop_events import ArgumentsChecked, Checked, HookEnded, LoopResulted, ToolExecutionStart
from labsim.describe.ledger import visible
from labsim.events.call import Execute
from labsim.js_values import stringify
from workbook.ledgers.played import NothingHappened, Played, caption_of, eventful
from workbook.ledgers.withheld import unless_withheld
from workbook.show.frame import NOTHING, TEXT, Look, Table


class _Row(Struct, kw_only=True):
    """What the ledger says of one call."""

    tool: str = NOTHING
    schema: str = NOTHING
    hook: str = NOTHING
    revised: str = NOTHING
    started: str = "no"
    ran_with: str = NOTHING
    ending: str = NOTHING
    reads: str = NOTHING


@unless_withheld
def batch(played: Played) -> Table:
    """What became of each call of a batch, read off the ledger.

    Columns, all strings: `call`; `tool`, as the model named it; `schema`, what validation said of the model's
    arguments; `hook`, what came of the handlers; `revised`, what validation said of their replacement; `started`,
    `yes` or `no`; `ran with`, the executor's input; `ending`; `the model reads`, the first line of the result.
    Raises: NotPlayed; NothingHappened, for a case that went through no loop.
    """
    report = eventful(played)
    rows: dict[str, _Row] = {}
    for event in report.ledger:
        call_id = event.names_call()
        row = rows.setdefault(call_id, _Row()) if call_id else _Row()
        _note(row, event)
    if not any(isinstance(event, LoopResulted) for event in report.ledger):
        raise NothingHappened(
            report, "no call of this case went through the agent loop", 'Play one of scenario "loop".'
        )
    in_order = [event.tool_call_id for event in report.ledger if isinstance(event, LoopResulted)]
    shown = [rows[call_id] for call_id in in_order]
    columns = {
        "call": in_order,
        "tool": [row.tool for row in shown],
        "schema": [row.schema for row in shown],
        "hook": [row.hook for row in shown],
        "revised": [row.revised for row in shown],
        "started": [row.started for row in shown],
        "ran with": [row.ran_with for row in shown],
        "ending": [row.ending for row in shown],
        "the model reads": [row.reads for row in shown],
    }
    return Table(columns, dict.fromkeys(columns, TEXT), Look(caption=caption_of("Batch", report), header="call"))


def _note(row: _Row, event: Any) -> None:
    match event:
        case ArgumentsChecked(of=Checked.MODEL):
            row.schema = "taken" if event.problem is UNSET else "refused"
        case ArgumentsChecked():
            row.revised = "taken" if event.problem is UNSET else "refused"
        case HookEnded():
            row.hook = str(event.outcome)
        case ToolExecutionStart():
            row.started = "yes"
        case Execute():
            row.ran_with = stringify(event.input)
        case LoopResulted():
            row.tool = event.tool_name
            row.ending = str(event.ending)
            row.reads = visible(event.content.partition("\n")[0])
