"""The tool wrapper: one `execute` call, step by step.

The numbered comments are the steps of wrapper/step-1 to wrapper/step-17, in their order; the order is the lesson,
so nothing here is rearranged for speed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.approval import (
    Denied,
    Resolution,
    Settings,
    approval_inputs,
    is_misspelt,
    prompt_text,
    resolve,
)
from labsim.call.handlers import EventName, ToolCallInput, ToolResultInput
from labsim.call.runner import Runner
from labsim.call.safety import pending_checks, safety_text
from labsim.errors import HostError, ThrownValue
from labsim.events.call import (
    ApprovalRequested,
    ApprovalResolved,
    CallReturned,
    CallStarted,
    CallThrew,
    MarkerConsumed,
    ModeMisspelt,
    PolicyResolved,
    PromptDecided,
    SafetyAcknowledged,
)
from labsim.js_values import copy_json, identical, same
from labsim.stage.stage import AbortSignal
from labsim.terms import APPROVAL_OPTIONS, APPROVE, ApprovalMode, Policy, Tier
from labsim.tool import Tool, ToolCall, ToolResult, text_content, visible_text

_DENY, _PROMPT = Policy.DENY, Policy.PROMPT
NO_UI_REASON: Final = "no interactive UI available"
DENIED_REASON: Final = "denied by user"
ABORTED_REASON: Final = "approval aborted"  # the dialog threw something that is no error


class ScheduledCall(Struct, frozen=True):
    """One call of the model's batch, as the loop scheduled it."""

    id: str
    name: str


class OuterCall(Struct, frozen=True, kw_only=True):
    """The model call that this execution belongs to (`context.toolCall`)."""

    index: int = 0
    tool_calls: Sequence[ScheduledCall] = ()
    provider_metadata: Mapping[str, Any] | None = None


class CallContext(Struct, kw_only=True):
    """The mutable bag that a caller hands to `execute`.

    `settings` is None where there is no reader to ask (approval/A-16). `session_id` is None without a session
    manager. `acp_approved_args` is UNSET where the context has no such key, which is not the same as null
    (wrapper/W-23).
    """

    settings: Settings | None = None
    auto_approve: Any = UNSET
    session_id: str | None = None
    tool_call: OuterCall | None = None
    xdev_approved: Any = UNSET
    xdev_tier_resolved: Callable[[Tier], None] | None = None
    acp_approved_args: Any = UNSET
    provider_safety_approved: bool = False


class ToolWrapper:
    """A tool behind the approval gate of one runner."""

    def __init__(self, tool: Tool, runner: Runner) -> None:
        self.tool = tool
        self.runner = runner

    async def execute(
        self,
        tool_call_id: str,
        params: Any,
        *,
        signal: AbortSignal | None = None,
        on_update: Callable[[ToolResult], None] | None = None,
        context: CallContext | None = None,
    ) -> ToolResult:
        """Run one call through the gate. `on_update` hears what the tool has to say before it is done.

        Returns: the tool's result, or what `tool_result` handlers made of it.
        Raises: HostError for every refusal (wrapper/W-38 to wrapper/W-41); the ledger has the story either way.
        """
        ledger, clock, name = self.runner.stage.ledger, self.runner.stage.clock, self.tool.name
        ledger.append(
            CallStarted(at_ms=clock.now_ms, tool_name=name, tool_call_id=tool_call_id, input=copy_json(params))
        )
        try:
            result = await self._steps(tool_call_id, params, signal, on_update, context)
        except Exception as error:
            ledger.append(
                CallThrew(
                    at_ms=clock.now_ms,
                    tool_name=name,
                    tool_call_id=tool_call_id,
                    error=str(error),
                    error_name=error.error_name if isinstance(error, HostError) else "Error",
                )
            )
            raise
        ledger.append(
            CallReturned(
                at_ms=clock.now_ms,
                tool_name=name,
                tool_call_id=tool_call_id,
                content=visible_text(result.content),
                is_error=result.is_error is True,
            )
        )
        return result

    async def _steps(
        self,
        tool_call_id: str,
        params: Any,
        signal: AbortSignal | None,
        on_update: Callable[[ToolResult], None] | None,
        context: CallContext | None,
    ) -> ToolResult:
        """wrapper/step-1 to wrapper/step-8, and what they lead to."""
        tool, runner = self.tool, self.runner
        ledger, clock = runner.stage.ledger, runner.stage.clock

        # 1. The loop may have emitted `tool_call` already; the note of it is used up here, whatever follows
        # (wrapper/step-1, wrapper/W-3).
        already_emitted = runner.consume_tool_call_emitted(tool_call_id, tool.name)
        if already_emitted:
            ledger.append(MarkerConsumed(at_ms=clock.now_ms, tool_name=tool.name, tool_call_id=tool_call_id))

        # 2. Settings are read once: what somebody changes while a dialog is open comes too late for this call
        # (wrapper/step-2).
        if context is None:
            mode, policies = approval_inputs(runner.session_settings, None)  # approval/A-20
        else:
            mode, policies = approval_inputs(context.settings, context.auto_approve)
        read = runner.session_settings if context is None else context.settings
        if read is not None and is_misspelt(read.mode) and (context is None or context.auto_approve is not True):
            ledger.append(
                ModeMisspelt(
                    at_ms=clock.now_ms,
                    tool_name=tool.name,
                    tool_call_id=tool_call_id,
                    configured=copy_json(read.mode),
                )
            )
        metadata = context.tool_call.provider_metadata if context is not None and context.tool_call else None
        computer = metadata is not None and metadata.get("type") == "computer"
        checks = pending_checks(metadata) if computer and metadata is not None else ()
        judged = params
        if computer and metadata is not None:
            judged = {"actions": metadata.get("actions")}  # a computer call is judged on its actions (wrapper/W-18)

        # 3. A deny on the original input is silent and final: no handler gets to rewrite it away (wrapper/step-3,
        # wrapper/W-5).
        resolution = self._resolve(tool_call_id, judged, mode, policies, "original")
        if resolution.policy is _DENY:
            raise Denied(tool.name, resolution)

        # 4. Handlers may block, or hand back another input (wrapper/step-4). They get the input itself, so a change
        # in place stays (wrapper/W-19).
        effective = params
        if not already_emitted and runner.on_tool_call:
            seen = _computer_view(metadata) if computer else params
            event = ToolCallInput(tool_name=tool.name, tool_call_id=tool_call_id, input=seen)
            replacement = await runner.emit_tool_call(event, signal)
            if replacement is not UNSET and not computer:
                effective = judged = replacement  # used as it is, unvalidated (wrapper/W-17, wrapper/W-76)

        # 5. What was asked for may not be what would run now, so it is judged again (wrapper/step-5).
        resolution = self._resolve(tool_call_id, judged, mode, policies, "effective")

        # 6. Whoever dispatched this call learns the effective tier, even of a call that is then denied
        # (wrapper/step-6).
        if context is not None and context.xdev_tier_resolved is not None:
            context.xdev_tier_resolved(resolution.tier)

        # 7. Nobody is told that a decision is needed: it is made already (wrapper/step-7, wrapper/W-36).
        if resolution.policy is _DENY:
            raise Denied(tool.name, resolution)

        # 8. The one question that is left: whether a person must be asked (wrapper/step-8).
        required, because = self._prompt_required(
            resolution, policies, context, judged, unchanged=identical(effective, params), checks=bool(checks)
        )
        ledger.append(
            PromptDecided(
                at_ms=clock.now_ms,
                tool_name=tool.name,
                tool_call_id=tool_call_id,
                required=required,
                because=because,
            )
        )
        if required:
            await self._ask_a_person(tool_call_id, judged, resolution, mode, checks, signal, context)

        # 16. and 17. The tool, and then the result handlers, which see what the tool was given (wrapper/W-50).
        view = _computer_view(metadata) if computer else effective
        return await self._run(tool_call_id, effective, view, signal, on_update, context)

    def _resolve(
        self, tool_call_id: str, judged: Any, mode: ApprovalMode, policies: Mapping[str, Any], on: str
    ) -> Resolution:
        """Judge one input. What a declaration raises ends the call before any event of the host (wrapper/W-6)."""
        found = resolve(self.tool, judged, mode=mode, policies=policies)
        stage = self.runner.stage
        stage.ledger.append(
            PolicyResolved(
                at_ms=stage.clock.now_ms,
                tool_name=self.tool.name,
                tool_call_id=tool_call_id,
                on=on,
                resolution=found,
            )
        )
        return found

    def _prompt_required(
        self,
        resolution: Resolution,
        policies: Mapping[str, Any],
        context: CallContext | None,
        judged: Any,
        *,
        unchanged: bool,
        checks: bool,
    ) -> tuple[bool, str]:
        """Whether a person has to be asked, and the term that says so (wrapper/W-20 to wrapper/W-26)."""
        if checks:  # no bypass touches these (wrapper/W-20, wrapper/W-24, approval/A-21)
            return True, "provider safety checks are pending"
        if resolution.policy is not _PROMPT:
            return False, "the policy is allow"
        if context is None:
            return True, "the policy is prompt"
        if context.acp_approved_args is not UNSET and same(judged, context.acp_approved_args):
            return False, "a client approved exactly these arguments"  # wrapper/W-23
        if context.xdev_approved is not True:
            return True, "the policy is prompt"
        if not unchanged:
            return True, "the outer approval was for another input object"  # wrapper/W-21
        key = resolution.policy_key or self.tool.name
        # An entry counts even if its value is no policy (wrapper/W-22, approval/A-12).
        if resolution.override or key in policies:
            return True, "the prompt is explicit, so the outer approval does not cover it"
        return False, "the outer gate approved this call already"  # wrapper/W-25

    async def _ask_a_person(
        self,
        tool_call_id: str,
        judged: Any,
        resolution: Resolution,
        mode: ApprovalMode,
        checks: Sequence[Mapping[str, Any]],
        signal: AbortSignal | None,
        context: CallContext | None,
    ) -> None:
        """wrapper/step-9 to wrapper/step-15. Raises, unless the answer is exactly Approve.

        What is answered is kept nowhere: the next call is asked about again (wrapper/W-42).
        """
        tool, runner = self.tool, self.runner

        # 9. Nobody is asked about a call that is not on screen yet (wrapper/step-9).
        if self._is_scheduled(tool_call_id, context):
            await runner.wait_for_preview(tool_call_id, signal)

        # 10. Unheard unless somebody listens to one of the two; then both are emitted (wrapper/W-30). That there is
        # somebody to ask has not been looked at yet (wrapper/step-10, wrapper/W-35).
        heard = bool(runner.handlers(EventName.APPROVAL_REQUESTED) or runner.handlers(EventName.APPROVAL_RESOLVED))
        # The context's, not the runner's (wrapper/W-31).
        session_id = context.session_id if context is not None and context.session_id is not None else ""
        if heard:
            await runner.emit_to(
                runner.on_requested,
                EventName.APPROVAL_REQUESTED,
                ApprovalRequested(
                    at_ms=runner.stage.now_ms,
                    session_id=session_id,
                    tool_name=tool.name,
                    tool_call_id=tool_call_id,
                    reason=resolution.reason if resolution.reason is not None else UNSET,
                    approval_mode=mode,  # as it is in effect (wrapper/W-32)
                ),
            )

        async def resolved(*, approved: bool, reason: str | None = None) -> None:
            """Say how it ended; a refusal with why."""
            if heard:
                await runner.emit_to(
                    runner.on_resolved,
                    EventName.APPROVAL_RESOLVED,
                    ApprovalResolved(
                        at_ms=runner.stage.now_ms,
                        session_id=session_id,
                        tool_name=tool.name,
                        tool_call_id=tool_call_id,
                        approved=approved,
                        reason=reason or UNSET,  # an empty message is no reason (recorded: wrapper-0483)
                    ),
                )

        # 11. Nobody to ask is a refusal, never a silent yes, and says so (wrapper/step-11, wrapper/W-33).
        if not runner.ui.has_ui:
            await resolved(approved=False, reason=NO_UI_REASON)
            raise HostError(_no_ui_text(tool.name, safety=bool(checks)))

        # 12. No third argument: the dialog knows neither the signal nor a timeout (wrapper/step-12, wrapper/W-16,
        # wrapper/W-47, rpc/R-46).
        prompt = prompt_text(tool, judged, resolution.reason)
        if checks:
            prompt = f"{prompt}\n{safety_text(checks)}"
        try:
            choice = await runner.ui.select(prompt, APPROVAL_OPTIONS)
        except Exception as error:
            # 13. A dialog that broke is a refusal too, also if its client went away: its message is the reason
            # (wrapper/W-33), its error the caller's (wrapper/step-13, rpc/R-42).
            reason = ABORTED_REASON if isinstance(error, ThrownValue) else str(error)
            await resolved(approved=False, reason=reason)
            raise

        # 14. Only the exact label is a yes (wrapper/step-14, wrapper/W-40); anything else is a person's no
        # (wrapper/W-33).
        approved = isinstance(choice, str) and choice == APPROVE
        await resolved(approved=approved, reason=None if approved else DENIED_REASON)
        if not approved:
            raise HostError(f"Tool call denied by user: {tool.name}")  # wrapper/W-41

        # 15. The same yes acknowledges the checks (wrapper/step-15, wrapper/W-46), where there is somewhere to say
        # so (wrapper/W-45).
        if checks:
            if context is None:
                raise HostError("Provider safety approval context is unavailable")
            context.provider_safety_approved = True
            runner.stage.ledger.append(
                SafetyAcknowledged(
                    at_ms=runner.stage.now_ms,
                    tool_name=tool.name,
                    tool_call_id=tool_call_id,
                    checks=len(checks),
                )
            )

    def _is_scheduled(self, tool_call_id: str, context: CallContext | None) -> bool:
        """Whether this execution is the very call on the loop's list (wrapper/W-27)."""
        outer = context.tool_call if context is not None else None
        if outer is None or not 0 <= outer.index < len(outer.tool_calls):
            return False
        scheduled = outer.tool_calls[outer.index]
        return scheduled.id == tool_call_id and scheduled.name in (self.tool.name, self.tool.custom_wire_name)

    async def _run(
        self,
        tool_call_id: str,
        effective: Any,
        view: Any,
        signal: AbortSignal | None,
        on_update: Callable[[ToolResult], None] | None,
        context: CallContext | None,
    ) -> ToolResult:
        """wrapper/step-16 and wrapper/step-17: the executor, then whatever the result handlers make of it.

        Only what gets here has a `tool_result`: a refusal was raised before (wrapper/W-57). The handlers come after
        the tool, so none of them takes its effect back (wrapper/W-58). `view` is the input as they see it.
        """
        runner = self.runner
        raised: Exception | None = None
        result: ToolResult | None = None
        with runner.mutation_scope():
            try:
                answer = self.tool.execute(
                    ToolCall(
                        call_id=tool_call_id,
                        input=effective,
                        signal=signal,
                        on_update=on_update,
                        context=context,
                    )
                )
                result = answer if type(answer) is ToolResult else await _awaited(answer)
            except ThrownValue as thrown:
                raised = HostError(str(thrown))  # what is no error becomes one with its text (wrapper/W-48)
            except Exception as error:
                raised = error
        if not runner.on_tool_result:
            if raised is not None:
                raise raised
            assert result is not None  # the executor either raised or returned
            return result
        event = ToolResultInput(
            tool_name=self.tool.name,
            tool_call_id=tool_call_id,
            input=view,
            content=text_content(str(raised)) if result is None else result.content,  # wrapper/W-48
            details=UNSET if result is None else result.details,
            is_error=raised is not None or (result is not None and result.is_error is True),  # wrapper/W-49
        )
        if not await runner.emit_tool_result(event):  # untouched: as the tool left it (wrapper/W-52)
            if raised is not None:
                raise raised
            assert result is not None
            return result
        # Any change, even of details alone, turns a failure into a returned result (wrapper/W-53), which is
        # an error still unless a handler said otherwise (wrapper/W-54). Whatever a
        # handler set to null falls back on what the tool gave (recorded: wrapper-2202).
        if event.content is None:
            event.content = UNSET if result is None else result.content
        if event.details is None:
            event.details = UNSET if result is None else result.details
        return ToolResult(  # of other keys nothing is left (wrapper/W-55)
            content=event.content,
            details=event.details,
            is_error=True if event.is_error is True else UNSET,
            provider_metadata=UNSET if result is None else result.provider_metadata,
        )


async def _awaited(answer: Any) -> ToolResult:
    """What an executor gave, waited for where it is a coroutine."""
    result: ToolResult = await answer if isinstance(answer, Awaitable) else answer
    return result


def _computer_view(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """What handlers see of a computer call: its actions with the checks beside them, made afresh each time, so
    that a change in place reaches nothing (wrapper/W-18; recorded: wrapper-3176).
    """
    assert metadata is not None
    return {"actions": metadata.get("actions"), "pendingSafetyChecks": list(pending_checks(metadata))}


def _no_ui_text(name: str, *, safety: bool) -> str:
    """Why a call that needs a person cannot run without one (wrapper/W-38, wrapper/W-39)."""
    if safety:
        return f'Tool "{name}" has pending provider safety checks but no interactive UI is available.'
    return (
        f'Tool "{name}" requires approval but no interactive UI available.\n'
        "Options:\n"
        "  1. Set tools.approvalMode: yolo in /settings\n"
        f"  2. Add tools.approval.{name}: allow to config\n"
        "  3. Use an interactive UI to approve the tool call"
    )
