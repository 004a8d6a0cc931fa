"""One dispatch: from a device's name and some text to the device's own gate, and back.

The numbered comments are dispatch/step-1 to dispatch/step-6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from labsim.approval import tier_of
from labsim.call.wrapper import CallContext
from labsim.dispatch import events
from labsim.dispatch.arguments import ContentRefused, read_arguments
from labsim.dispatch.content import asks_for_help
from labsim.dispatch.devices import Device, DeviceState, docs, required_device
from labsim.dispatch.events import Ending
from labsim.errors import AbortError, LabsimError
from labsim.events.ledger import Ledger
from labsim.js_values import copy_json
from labsim.stage.stage import AbortSignal
from labsim.terms import Tier
from labsim.tool import ToolCall, ToolResult, text_content


class DispatchRecord(Struct, kw_only=True):
    """What `details.xdev` says of a dispatch. UNSET is what was not reached, and absent there (dispatch/D-19).

    `args` stay the validated ones even if a handler replaced them (dispatch/D-21); they are that very object, so a
    change in place does show. `tier` is the device's declaration first, then what its own gate reported
    (dispatch/D-20).
    """

    tool: str
    mode: str = "execute"
    args: Any = UNSET
    tier: Tier | None = None
    inner: Any = UNSET

    def as_details(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"tool": self.tool, "mode": self.mode}
        if self.args is not UNSET:
            shown["args"] = self.args
        if self.tier is not None:
            shown["tier"] = self.tier.value
        if self.inner is not UNSET:
            shown["inner"] = self.inner
        return {"xdev": shown}


async def dispatch(ledger: Ledger, state: DeviceState, name: str, content: str, call: ToolCall) -> ToolResult:
    """Pass `content` on to the device of that name.

    Returns: the device's result under `details.xdev`, or an error result for whatever was refused or failed on
    the way (dispatch/D-23, dispatch/D-27, dispatch/D-28). Raises: what was raised if it is an abort, or if the
    signal is aborted (dispatch/D-29).
    """
    record = DispatchRecord(tool=name)
    try:
        result = await _steps(ledger, state, record, content, call)
    except LabsimError:
        raise  # the engine was misused; that is nobody's result
    except Exception as error:
        signal: AbortSignal | None = call.signal
        if isinstance(error, AbortError) or (signal is not None and signal.aborted):
            _ended(ledger, call, record, Ending.RAISED)
            raise
        _ended(ledger, call, record, Ending.ERROR_RESULT)
        # dispatch/step-6
        return ToolResult(content=text_content(str(error)), details=record.as_details(), is_error=True)
    failed = result.is_error is True
    ending = Ending.DOCS if record.mode == "help" else Ending.ERROR_RESULT if failed else Ending.RESULT
    _ended(ledger, call, record, ending)
    # The device's other keys pass through (dispatch/D-22); what its provider added does not.
    return ToolResult(
        content=result.content,
        details=record.as_details(),
        is_error=True if failed else UNSET,
        extra=result.extra,
    )


async def _steps(
    ledger: Ledger, state: DeviceState, record: DispatchRecord, content: str, call: ToolCall
) -> ToolResult:
    now, call_id, name = ledger.clock.now_ms, call.call_id, record.tool

    # 1. Where there is none, the caller makes an error result of what is raised (dispatch/step-1).
    ledger.append(
        events.DeviceSought(
            at_ms=now,
            tool_call_id=call_id,
            device=name,
            found=state.resolve(name) is not None,
            mounted=name in state.mounted,
            active=name in state.active,
        )
    )
    device = required_device(state, name)

    # 2. Docs are not an execution: the inner gate is not reached, and no inner `tool_call` is emitted
    # (dispatch/step-2, dispatch/D-18).
    if asks_for_help(content):
        record.mode = "help"
        ledger.append(events.DocsReturned(at_ms=now, tool_call_id=call_id, device=name))
        return ToolResult(content=text_content(docs(device.tool)))

    # 3. What is refused here ends as an error result, too (dispatch/step-3).
    try:
        read = read_arguments(device.tool, content)
    except ContentRefused as refusal:
        ledger.append(
            events.ContentRefused(
                at_ms=now, tool_call_id=call_id, device=name, rule=refusal.rule, problem=str(refusal)
            )
        )
        raise
    record.args = read.values  # and nothing later changes which object that is (dispatch/D-21)
    ledger.append(
        events.ContentRead(
            at_ms=now,
            tool_call_id=call_id,
            device=name,
            args=copy_json(read.values),
            repairs=tuple(f"{repair.path}: {repair.what}" for repair in read.repairs),
        )
    )

    # 4. A rule that fails leaves the tier open; the inner gate will fail on it as well, and refuse
    # (dispatch/step-4, dispatch/D-20).
    record.tier = _tier(device, read.values)

    # 5. and 6. The same call id and signal, and a copy of the context: the mark is for this one call
    # (dispatch/step-5, dispatch/step-6, dispatch/route-5).
    context: CallContext | None = call.context
    if context is not None:

        def reported(tier: Tier) -> None:
            record.tier = tier  # of what would really run (dispatch/D-20)
            ledger.append(
                events.InnerTierReported(at_ms=ledger.clock.now_ms, tool_call_id=call_id, device=name, tier=tier)
            )

        # dispatch/D-16: on every dispatch, whether or not the outer gate really asked anybody.
        context = replace(context, xdev_approved=True, xdev_tier_resolved=reported)
    ledger.append(
        events.PassedOn(at_ms=now, tool_call_id=call_id, device=name, tier=record.tier, marked=context is not None)
    )
    gated = state.gated(device)
    result = await gated.execute(
        call_id,
        read.values,
        signal=call.signal,
        on_update=_forwarding(call.on_update, record) if call.on_update is not None else None,
        context=context,
    )
    record.inner = result.details  # of an error result too; a device that raised has left none (dispatch/D-50)
    return result


def _forwarding(on_update: Callable[[ToolResult], None], record: DispatchRecord) -> Callable[[ToolResult], None]:
    """What the device says before it is done goes on to the caller, under the record so far (dispatch/D-58)."""

    def forward(partial: ToolResult) -> None:
        so_far = replace(record, inner=partial.details)
        on_update(ToolResult(content=partial.content, details=so_far.as_details(), is_error=partial.is_error))

    return forward


def _tier(device: Device, args: dict[str, Any]) -> Tier | None:
    try:
        return tier_of(device.tool, args)
    except Exception:  # a rule may raise anything; the inner gate meets the same failure and reports it
        return None


def _ended(ledger: Ledger, call: ToolCall, record: DispatchRecord, ending: Ending) -> None:
    ledger.append(
        events.DispatchEnded(
            at_ms=ledger.clock.now_ms,
            tool_call_id=call.call_id,
            device=record.tool,
            ending=ending,
            tier=record.tier,
        )
    )
