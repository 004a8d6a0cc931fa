"""The resolution devices: `resolve`, `reject` and `propose`, which finish something that was staged (dispatch/D-47
to dispatch/D-48).

Their content is plain text, not JSON; they are no tools and have no gate of their own. A preview that was staged
waits here until it is applied or discarded; the newest is first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.dispatch.addresses import XD, SpecialDevice
from labsim.dispatch.dispatch import DispatchRecord
from labsim.dispatch.events import ReportKept, StagedSought
from labsim.errors import AbortError, ToolError
from labsim.events.ledger import Ledger
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
    keeping it failed (dispatch/D-49).
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
    """The report in a trimmed body. Raises: ToolError, if there is none (dispatch/D-25)."""
    if not body:
        raise ToolError(f"Empty report. {_USAGE}")
    found = _ON_ONE_LINE.fullmatch(body) or _OVER_LINES.fullmatch(body)
    if not found:
        raise ToolError(f"Invalid report format. {_USAGE}")
    return ToolReport(found[1], found[2])


PROPOSE_INSTEAD: Final = f" To submit the plan for approval, write its title to {XD}propose instead."
NOTHING_TO_APPLY: Final = (
    f"No pending action to apply — {XD}resolve is only valid while a staged preview is pending."
)
NOTHING_TO_REJECT: Final = "Nothing to reject; no pending action remains."
NO_PLAN: Final = f"No plan is awaiting approval — {XD}propose only accepts a plan title while plan mode is active."


class StagedAction(Struct, frozen=True, kw_only=True):
    """A preview that waits. `apply` and `reject` take the reason given; without `reject`, a stock text stands."""

    label: str
    apply: Callable[[str], ToolResult]
    reject: Callable[[str], ToolResult] | None = None


class Staged:
    """What one session has pending, and its plan mode.

    `propose` takes the title of a plan; None where plan mode is not active, so no plan can be submitted.
    """

    def __init__(self, propose: Callable[[str], ToolResult] | None = None) -> None:
        self._pending: list[StagedAction] = []
        self.propose = propose

    def stage(self, action: StagedAction) -> None:
        """Have `action` wait; it is the next to be resolved."""
        self._pending.append(action)

    @property
    def head(self) -> StagedAction | None:
        return self._pending[-1] if self._pending else None

    def finished(self, action: StagedAction) -> None:
        """Forget an action that was applied or discarded."""
        self._pending.remove(action)


def resolve_device(ledger: Ledger, staged: Staged, device: SpecialDevice, content: str, call_id: str) -> ToolResult:
    """A write to one of the three devices. Raises: ToolError, where there is nothing to finish (dispatch/D-25)."""
    body = trim(content)
    waiting = staged.head if device is not SpecialDevice.PROPOSE else None
    ledger.append(
        StagedSought(
            at_ms=ledger.clock.now_ms,
            tool_call_id=call_id,
            device=device.value,
            label=waiting.label if waiting is not None else None,
        )
    )
    hint = PROPOSE_INSTEAD if staged.propose is not None else ""  # dispatch/D-48
    if device is SpecialDevice.PROPOSE:
        if staged.propose is None:
            raise ToolError(NO_PLAN)
        return _recorded(device, {"title": body}, staged.propose(body))
    if waiting is None:
        if device is SpecialDevice.RESOLVE:
            raise ToolError(NOTHING_TO_APPLY + hint)
        nothing = ToolResult(content=text_content(NOTHING_TO_REJECT + hint), details=_finished(device, body, None))
        return _recorded(device, {"reason": body}, nothing)
    result = _apply(waiting, body) if device is SpecialDevice.RESOLVE else _reject(waiting, body)
    staged.finished(waiting)
    if result.details is UNSET:
        result.details = _finished(device, body, waiting.label)
    return _recorded(device, {"reason": body}, result)


def _apply(action: StagedAction, reason: str) -> ToolResult:
    try:
        return action.apply(reason)
    except (ToolError, AbortError):
        raise  # these say enough themselves; either way the preview stays pending
    except Exception as error:
        raise ToolError(f"Apply failed: {error}") from error


def _reject(action: StagedAction, reason: str) -> ToolResult:
    if action.reject is not None:
        return action.reject(reason)
    return ToolResult(content=text_content(f"Discarded: {action.label}. Reason: {reason}"))


def _finished(device: SpecialDevice, reason: str, label: str | None) -> dict[str, Any]:
    action = "apply" if device is SpecialDevice.RESOLVE else "discard"
    made: dict[str, Any] = {"action": action, "reason": reason}
    if label is not None:
        made["label"] = label
    return made


def _recorded(device: SpecialDevice, args: dict[str, Any], result: ToolResult) -> ToolResult:
    """The result as `write` returns it: the device's details inside the record (dispatch/D-47)."""
    record = DispatchRecord(tool=device.value, args=args, inner=result.details)
    return ToolResult(
        content=result.content,
        details=record.as_details(),
        is_error=True if result.is_error is True else UNSET,
        extra=result.extra,
    )
