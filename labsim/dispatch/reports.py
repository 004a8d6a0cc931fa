"""`report_issue`: a note that a tool misbehaved, kept in a list of this session and sent nowhere (dispatch/D-49).

Above `addresses`, below `write`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from labsim.dispatch.addresses import SpecialDevice
from labsim.dispatch.dispatch import DispatchRecord
from labsim.dispatch.events import ReportKept
from labsim.errors import ToolError
from labsim.events import Ledger
from labsim.js_values import trim
from labsim.tool import ToolResult, text_content

THANKS: Final = "Noted, thanks!"
_USAGE: Final = "Write '<tool>: <what went wrong>', or the tool's name on the first line and the report below it."
_ON_ONE_LINE: Final = re.compile(r"([\w.-]+):\s*(\S.*)", re.DOTALL)
_OVER_LINES: Final = re.compile(r"([\w.-]+)[ \t]*\r?\n\s*(\S.*)", re.DOTALL)


class ToolReport(Struct, frozen=True):
    """What somebody had to say of a tool."""

    tool: str
    text: str


def report_device(
    ledger: Ledger, keep: Callable[[ToolReport], None] | None, content: str, call_id: str
) -> ToolResult:
    """A write to `report_issue`. `keep` puts a report on the session's list; None: reports are off.

    Off, any body is accepted and nothing is kept. Raises: ToolError, for a body that is no report; never because
    keeping it failed.
    """
    body = trim(content)
    report = parse_report(body) if keep is not None else None
    kept = False
    if keep is not None and report is not None:
        try:
            keep(report)
            kept = True
        except Exception:  # whoever reports a fault must not be given another; the ledger says that it is lost
            kept = False
    ledger.append(
        ReportKept(
            at_ms=ledger.clock.now_ms,
            tool_call_id=call_id,
            kept=kept,
            tool=report.tool if report is not None else None,
            report=report.text if report is not None else None,
        )
    )
    record = DispatchRecord(tool=SpecialDevice.REPORT_ISSUE.value, args={"report": body})
    return ToolResult(content=text_content(THANKS), details=record.as_details())


def parse_report(body: str) -> ToolReport:
    """The report in a trimmed body. Raises: ToolError, if there is none."""
    if not body:
        raise ToolError(f"Empty report. {_USAGE}")
    found = _ON_ONE_LINE.fullmatch(body) or _OVER_LINES.fullmatch(body)
    if not found:
        raise ToolError(f"Invalid report format. {_USAGE}")
    return ToolReport(found[1], found[2])
