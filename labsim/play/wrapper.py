"""The `wrapper` scenario: a case's calls through the tool wrapper, on a stage.

Builds the small world that a case describes, makes its calls one after another, and counts what the ledger shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.approval import Settings
from labsim.call.inert import InertExecutor, inert_tool
from labsim.call.runner import Runner
from labsim.call.scripted import extensions, recorder
from labsim.call.wrapper import CallContext, OuterCall, ScheduledCall, ToolWrapper
from labsim.case.given import CallGiven
from labsim.case.model import DispatchCase, WrapperCase
from labsim.errors import HostError
from labsim.events.call import Execute, PreviewWait, TierResolved, ToolCallEvent
from labsim.events.dialogs import QuestionAsked
from labsim.extras import TOOLS, OwnTool
from labsim.js_values import copy_json
from labsim.play.report import CallReport
from labsim.stage.stage import AbortSignal, Stage
from labsim.stage.ui import UI
from labsim.terms import DialogKind, Outcome, Tier
from labsim.tool import ToolResult, visible_text

FICTIONAL_CHECK: Final = {
    "id": "seed-check-1",
    "code": "fictional_shelf",
    "message": "Fictional seed shelf check",
}
SCREENSHOT: Final = {"type": "screenshot"}
WIRE_NAME: Final = "seed_wire"


class CallSetUp(Struct, frozen=True, kw_only=True):
    """What the calls of one case share. `params` makes the arguments of one call, anew each time."""

    given: CallGiven
    stage: Stage
    runner: Runner
    wrapper: ToolWrapper
    executor: InertExecutor
    params: Callable[[], Any]
    contexts: list[CallContext]  # one for each call made so far


class CallsUnderWay:
    """The calls of one case, as far as they got. `play` runs them; the rest reads what they showed."""

    def __init__(self, case: WrapperCase | DispatchCase, stage: Stage, set_up: CallSetUp) -> None:
        self.case = case
        self.stage = stage
        self.finished = False
        self._calls: list[CallReport] = []
        self._open: tuple[str, int] | None = None
        self._set_up = set_up

    async def play(self) -> None:
        """All calls, one after another; a refused one does not keep the next from being made (wrapper/W-78)."""
        for number in range(1, self.case.given.repeat + 1):
            tool_call_id = f"call-{number}"
            start = len(self.stage.ledger)
            self._open = (tool_call_id, start)
            made: dict[str, Any] = {}
            try:
                result = await one_call(self._set_up, tool_call_id, number)
            except HostError as error:
                made = {"outcome": Outcome.THROW, "error": str(error), "error_name": error.error_name}
            else:
                failed = result.is_error is True
                made = {"outcome": Outcome.ERROR_RESULT if failed else Outcome.RETURN, "result": result}
                if failed:
                    made["error"] = visible_text(result.content)
            self._calls.append(
                CallReport(tool_call_id=tool_call_id, start=start, end=len(self.stage.ledger), **made)
            )
            self._open = None
        self.finished = True

    @property
    def calls(self) -> tuple[CallReport, ...]:
        if self._open is None:
            return tuple(self._calls)
        tool_call_id, start = self._open
        waiting = CallReport(tool_call_id=tool_call_id, start=start, end=len(self.stage.ledger))
        return (*self._calls, waiting)

    def observed(self) -> dict[str, Any]:
        """The counters of a case (wrapper/W-78), read from the ledger and the calls; `outcome` is the last
        call's.
        """
        ledger, given = self.stage.ledger, self.case.given
        asked = [event for event in ledger if isinstance(event, QuestionAsked) and event.kind is DialogKind.SELECT]
        seen: dict[str, Any] = {}
        ended = self._calls[-1] if self._calls and self._open is None else None
        if ended is not None and ended.outcome is not None:
            seen["outcome"] = ended.outcome.value
            if ended.error is not None:
                seen["error"] = ended.error
            if ended.error_name is not None:
                seen["errorName"] = ended.error_name
        seen["effects"] = sum(isinstance(event, Execute) for event in ledger)
        seen["prompts"] = len(asked)
        seen["promptTexts"] = [event.title for event in asked]
        seen["toolCalls"] = sum(isinstance(event, ToolCallEvent) for event in ledger)
        if self._set_up.executor.last_input is not UNSET:
            seen["input"] = self._set_up.executor.last_input
        seen["successfulCalls"] = sum(call.outcome is Outcome.RETURN for call in self._calls)
        if given.ui == "rpc":
            seen["rpcRequests"] = len(asked)
        if has_safety_checks(given):
            seen["providerSafetyApproved"] = any(
                context.provider_safety_approved for context in self._set_up.contexts
            )
        return seen


def set_up(given: CallGiven, stage: Stage, ui: UI) -> CallSetUp:
    """The runner, its extensions and the wrapped tool that a case describes."""
    own = TOOLS.get(given.tool)
    if own is not None:
        given = _of_own_tool(given, own)
    executor = inert_executor(given, stage, own)
    runner = case_runner(given, stage, ui)
    tool = inert_tool(given.tool, given.approval, executor, details=given.details, legacy_name=given.legacy_name)
    if own is not None and own.details is not None:
        from msgspec.structs import replace

        tool = replace(tool, format_approval_details=own.details)
    if given.preview is not UNSET:
        tool = _with_wire_name(tool)
    return CallSetUp(
        given=given,
        stage=stage,
        runner=runner,
        wrapper=ToolWrapper(tool, runner),
        executor=executor,
        params=lambda: UNSET if given.args is UNSET else copy_json(given.args),
        contexts=[],
    )


def _of_own_tool(given: CallGiven, own: OwnTool) -> CallGiven:
    """What the case is given, with the name and the declaration of a chapter's own tool."""
    from msgspec.structs import replace

    return replace(given, tool=own.name, approval=own.approval if given.approval is UNSET else given.approval)


def inert_executor(given: CallGiven, stage: Stage, own: OwnTool | None = None) -> InertExecutor:
    """The executor that the case describes; it counts its entries and has no effect."""
    runs = own.runs if own is not None else None
    return InertExecutor(stage, given.tool, runs if given.executor is UNSET else given.executor)


def case_runner(given: CallGiven, stage: Stage, ui: UI, *, inner_tool: str | None = None) -> Runner:
    """The runner with the case's extensions, settings and preview. `inner_tool`: as for `scripted.extensions`."""
    runner = Runner(
        stage,
        [recorder(stage.ledger, given), *extensions(given, inner_tool=inner_tool)],
        ui=ui,
        tool_call_budget_ms=given.tool_call_timeout_ms,
    )
    if given.session_settings is not UNSET:
        runner.session_settings = Settings(given.session_settings.mode, given.session_settings.user_policies)
    if given.preview is not UNSET:

        async def shown(tool_call_id: str, signal: AbortSignal | None) -> None:
            stage.ledger.append(PreviewWait(at_ms=stage.now_ms, tool_call_id=tool_call_id))

        runner.install_preview_waiter(shown)
    return runner


async def one_call(set_up: CallSetUp, tool_call_id: str, number: int) -> ToolResult:
    """Call number `number` of the case. Raises: HostError, when it was refused."""
    given = set_up.given
    mark_loop_emission(set_up.runner, given.loop_emitted, tool_call_id, number, set_up.wrapper.tool.name)
    signal = None
    if given.signal is not UNSET or given.abort_at_ms is not UNSET:
        signal = AbortSignal(set_up.stage, aborted=given.signal == "aborted")
        if given.abort_at_ms is not UNSET:
            set_up.stage.call_at(set_up.stage.now_ms + given.abort_at_ms, signal.abort)
    context = call_context(given, set_up.stage, tool_call_id, set_up.wrapper.tool.name)
    if context is not None:
        set_up.contexts.append(context)
    return await set_up.wrapper.execute(tool_call_id, set_up.params(), signal=signal, context=context)


def mark_loop_emission(runner: Runner, marked: Any, tool_call_id: str, number: int, tool_name: str) -> None:
    """Leave the loop's marker where the case has it: on each call, on one call, or for one tool name."""
    if marked is UNSET or marked is False:
        return
    if isinstance(marked, str):
        runner.mark_tool_call_emitted(tool_call_id, marked)
    elif marked is True or marked == number:
        runner.mark_tool_call_emitted(tool_call_id, tool_name)


def call_context(given: CallGiven, stage: Stage, tool_call_id: str, tool_name: str) -> CallContext | None:
    """The execute-time context that the case describes; None where it passes none at all."""
    if given.context == "missing":
        return None

    def note_tier(tier: Tier) -> None:
        stage.ledger.append(TierResolved(at_ms=stage.now_ms, tier=tier))

    return CallContext(
        settings=None if given.context == "no-settings" else Settings(given.mode, given.user_policies),
        auto_approve=given.auto_approve,
        session_id=None if given.session_id is UNSET else given.session_id,
        tool_call=_outer_call(given, tool_call_id, tool_name),
        xdev_approved=given.xdev_approved,
        xdev_tier_resolved=note_tier if given.report_tier else None,
        acp_approved_args=given.acp_approved_args,
    )


def has_safety_checks(given: CallGiven) -> bool:
    return given.safety_check or given.safety_checks is not UNSET


def _outer_call(given: CallGiven, tool_call_id: str, tool_name: str) -> OuterCall | None:
    metadata = None
    if has_safety_checks(given):
        checks = given.safety_checks if given.safety_checks is not UNSET else [FICTIONAL_CHECK]
        metadata = {"type": "computer", "actions": [SCREENSHOT], "pendingSafetyChecks": checks}
    scheduled: Sequence[ScheduledCall] = ()
    if given.preview is not UNSET:
        scheduled = (_SCHEDULED[given.preview](tool_call_id, tool_name),)
    if metadata is None and not scheduled:
        return None
    return OuterCall(index=0, tool_calls=scheduled, provider_metadata=metadata)


_SCHEDULED: Final = {
    "match": lambda call_id, name: ScheduledCall(call_id, name),
    "wire": lambda call_id, name: ScheduledCall(call_id, WIRE_NAME),
    "other-name": lambda call_id, name: ScheduledCall(call_id, "other_tool"),
    "other-id": lambda call_id, name: ScheduledCall("another-call", name),
}


def _with_wire_name(tool: Any) -> Any:
    from msgspec.structs import replace

    return replace(tool, custom_wire_name=WIRE_NAME)
