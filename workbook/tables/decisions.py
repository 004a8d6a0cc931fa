"""Who settled each call at the second host, and what the model read of it: one row a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from labsim.describe.ledger import visible
from labsim.gate.events import ApproverAsked, CallDecided, CallMade, PreviewBuilt, ToolFinished
from labsim.play.report import Report
from workbook.ledgers.played import WAITING, NothingHappened, Played, caption_of, eventful, several
from workbook.ledgers.withheld import unless_withheld
from workbook.show.frame import NOTHING, TEXT, Look, Table


class _Row(Struct, kw_only=True):
    """What the ledger says of one call."""

    case: str
    call: str
    tool: str
    level: str = NOTHING
    asked: str = "no"
    decided: str = NOTHING
    by: str = NOTHING
    reads: str = WAITING


@unless_withheld
def decisions(played: Played | Sequence[Played]) -> Table:
    """Each call of a gate case, or of several, in the order they were made.

    Columns, all strings: `case`, where there are several; `call`; `tool`; `level`, how far the call reaches, or
    `unknown`; `asked`, whether the approver was, `yes` or `no`; `decided`, `allow` or `deny`; `by`, who or what
    settled it; `the model reads`, the first line of the result.
    Raises: NotPlayed; NothingHappened, for a case of another host.
    """
    one = not isinstance(played, Sequence)
    reports = [eventful(played)] if not isinstance(played, Sequence) else several(played)
    rows = [row for report in reports for row in _rows(report)]
    columns = {
        "case": [visible(row.case) for row in rows],
        "call": [visible(row.call) for row in rows],
        "tool": [visible(row.tool) for row in rows],
        "level": [row.level for row in rows],
        "asked": [row.asked for row in rows],
        "decided": [row.decided for row in rows],
        "by": [row.by for row in rows],
        "the model reads": [visible(row.reads) for row in rows],
    }
    if one:
        del columns["case"]
    caption = caption_of("Decisions of", reports[0]) if one else f"Decisions of {len(reports)} cases"
    look = Look(caption=caption, header="call", group=None if one else "case")
    return Table(columns, dict.fromkeys(columns, TEXT), look)


def _rows(report: Report) -> Iterator[_Row]:
    made: list[_Row] = []
    latest: dict[str, _Row] = {}  # a call id may be used again
    for event in report.ledger:
        match event:
            case CallMade():
                row = _Row(case=report.case.id, call=event.tool_call_id, tool=event.tool_name)
                latest[event.tool_call_id] = row
                made.append(row)
            case PreviewBuilt():
                level = event.side_effect_level
                latest[event.tool_call_id].level = "unknown" if level is None else level
            case ApproverAsked():
                latest[event.tool_call_id].asked = "yes"
            case CallDecided():
                latest[event.tool_call_id].decided = "allow" if event.allowed else "deny"
                latest[event.tool_call_id].by = event.by
            case ToolFinished():
                latest[event.tool_call_id].reads = event.content.partition("\n")[0]
    if not made:
        raise NothingHappened(
            report, "no call of this case goes through the second host's gate", 'Play one of scenario "gate".'
        )
    yield from made
