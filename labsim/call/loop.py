"""The agent loop: a batch of calls from one model message, prepared, then run through the wrapper.

The whole batch is prepared before any of it starts: what a handler returns for the last call is already in the
message when the first one runs (wrapper/W-66).

What the loop adds to a bare `execute` is that a replacement is *validated again*, and becomes what history shows
(wrapper/W-70, wrapper/W-76). The wrapper then takes it for the original input, so a bypass that compares objects
holds (wrapper/W-77).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct
from msgspec.structs import replace

from labsim.approval import Settings, policy_map, resolve
from labsim.call.handlers import ToolCallInput
from labsim.call.loop_events import (
    ArgumentsChecked,
    Checked,
    HookEnded,
    HookOutcome,
    LoopEnding,
    LoopResulted,
    MarkerSet,
    MessageRevised,
    ToolExecutionStart,
)
from labsim.call.runner import Runner
from labsim.call.wrapper import CallContext, OuterCall, ScheduledCall, ToolWrapper
from labsim.errors import HostError, LabsimError
from labsim.events.event import Event
from labsim.js_values import copy_json, same, trim
from labsim.stage.stage import AbortSignal
from labsim.terms import ApprovalMode, Policy
from labsim.tool import Tool, ToolResult, text_content, visible_text

NO_CONTENT: Final = "Tool returned an invalid result: missing content array."
NO_OUTPUT: Final = "Tool failed with no output."
SUGGESTED: Final = 3
_ALIKE: Final = 0.6  # the share of characters in common from which a name is worth suggesting


class Valid(Struct, frozen=True):
    """Arguments that the tool's schema takes; `args` is what the tool gets, which may be a repaired copy."""

    args: Any


class Invalid(Struct, frozen=True):
    """Arguments that it does not take; `message` is what the model is told."""

    message: str


#: Puts arguments to a tool's schema. Any value may come in; whatever is wrong with it is an answer, not an error.
Validate: TypeAlias = Callable[[Tool, Any], Valid | Invalid]


class ModelCall(Struct, kw_only=True):
    """One call as the model's message has it. The loop writes a valid replacement back into `args`
    (wrapper/W-70).
    """

    id: str
    name: str
    args: Any


class LoopResult(Struct, frozen=True, kw_only=True):
    """What the model gets to see of one call (wrapper/W-75)."""

    tool_call_id: str
    tool_name: str
    ending: LoopEnding
    content: Any
    details: Any = UNSET
    is_error: bool = False


class _Prepared(Struct, kw_only=True):
    """A call between preparation and its turn: something to run, or what to answer instead."""

    call: ModelCall
    wrapper: ToolWrapper | None = None
    args: Any = UNSET
    ending: LoopEnding | None = None  # None: it is going to run
    text: str = ""


class AgentLoop:
    """Prepares and runs batches of calls for the tools of one runner.

    A tool is found by its name or by the name it has on the wire; of two with one name, the last counts. The calls
    of a batch run one after another, in call order.
    """

    def __init__(self, runner: Runner, wrappers: Iterable[ToolWrapper], validate: Validate) -> None:
        self.runner = runner
        self._validate = validate
        self._by_name = {wrapper.tool.name: wrapper for wrapper in wrappers}  # the last one counts (wrapper/W-65)
        self._by_wire_name = {
            wrapper.tool.custom_wire_name: wrapper
            for wrapper in self._by_name.values()
            if wrapper.tool.custom_wire_name is not None
        }

    async def run(
        self, message: Sequence[ModelCall], *, signal: AbortSignal | None = None, context: CallContext | None = None
    ) -> list[LoopResult]:
        """Prepare the calls of one message, then run what is left of them. One result for each call, in order.

        Each call gets a copy of `context` with its own place in the batch; without one, a context over the
        session's settings. Nothing that a tool, a handler or a rule raises leaves here: it becomes a result.
        """
        if context is None:
            context = CallContext(settings=self.runner.session_settings)
        # All of them, in call order, before any of them starts (wrapper/W-66).
        prepared = [await self._prepare(call, context.settings, signal) for call in message]
        scheduled = tuple(ScheduledCall(call.id, call.name) for call in message)
        results: list[LoopResult] = []
        for index, one in enumerate(prepared):
            outer = OuterCall(index=index, tool_calls=scheduled)
            results.append(await self._take_turn(one, signal, replace(context, tool_call=outer)))
        return results

    # -- preparation

    async def _prepare(self, call: ModelCall, settings: Settings | None, signal: AbortSignal | None) -> _Prepared:
        """Validate, ask the hook, validate what it returned. Nothing has started yet."""
        prepared = _Prepared(call=call, wrapper=self._by_name.get(call.name) or self._by_wire_name.get(call.name))
        if prepared.wrapper is None:
            prepared.ending, prepared.text = LoopEnding.NOT_FOUND, not_found(call.name, tuple(self._by_name))
            return prepared
        tool = prepared.wrapper.tool
        checked = self._check(tool, call.id, call.args, Checked.MODEL)
        if isinstance(checked, Invalid):
            # the hook is not called (wrapper/W-73)
            prepared.ending, prepared.text = LoopEnding.INVALID, checked.message
            return prepared
        prepared.args = checked.args
        replacement = await self._hook(prepared, tool, settings, signal)
        if replacement is UNSET:
            return prepared  # what was changed in place stays, and nobody looks at it again (wrapper/W-72)
        # The wrapper would use it as it is; only here the schema is asked again (wrapper/W-76).
        checked = self._check(tool, call.id, replacement, Checked.REPLACEMENT)
        if isinstance(checked, Invalid):
            prepared.ending, prepared.text = LoopEnding.INVALID_REPLACEMENT, checked.message
            return prepared  # the message keeps what the model wrote (wrapper/W-70)
        prepared.args = call.args = checked.args
        self._note(MessageRevised, tool, call.id, args=copy_json(call.args))
        return prepared

    def _check(self, tool: Tool, call_id: str, args: Any, of: Checked) -> Valid | Invalid:
        checked = self._validate(tool, args)
        if isinstance(checked, Valid):
            self._note(ArgumentsChecked, tool, call_id, of=of, input=copy_json(checked.args))
        else:
            self._note(ArgumentsChecked, tool, call_id, of=of, problem=checked.message)
        return checked

    async def _hook(
        self, prepared: _Prepared, tool: Tool, settings: Settings | None, signal: AbortSignal | None
    ) -> Any:
        """The per-call hook. Returns: the replacement, or UNSET; a refusal is left in `prepared` (wrapper/W-67 to
        wrapper/W-71).
        """
        call_id, args, runner = prepared.call.id, prepared.args, self.runner

        def ended(outcome: HookOutcome, reason: Any = UNSET) -> None:
            self._note(HookEnded, tool, call_id, outcome=outcome, reason=reason)

        if not runner.on_tool_call:
            ended(HookOutcome.NO_HANDLERS)
            return UNSET
        # Deny does not depend on the mode, so the most permissive one serves to ask for it (wrapper/W-67). A rule
        # that raises does not end the batch (wrapper/W-71).
        policies = policy_map(settings.policies) if settings is not None else {}
        try:
            found = resolve(tool, args, mode=ApprovalMode.YOLO, policies=policies)
        except LabsimError:
            raise  # the simulator was used wrongly; that is nobody's result
        except Exception as error:
            prepared.ending, prepared.text = LoopEnding.HOOK_FAILED, str(error)
            ended(HookOutcome.FAILED, prepared.text)
            return UNSET
        if found.policy is Policy.DENY:
            ended(HookOutcome.DENIED)  # the wrapper refuses it at its turn, in its own words
            return UNSET
        # The marker comes first: the wrapper must not emit again, whatever becomes of this round (wrapper/W-68).
        runner.mark_tool_call_emitted(call_id, tool.name)
        self._note(MarkerSet, tool, call_id)
        before = copy_json(args)
        try:
            replacement = await runner.emit_tool_call(
                ToolCallInput(tool_name=tool.name, tool_call_id=call_id, input=args), signal
            )
        except HostError as refusal:
            prepared.ending, prepared.text = LoopEnding.BLOCKED, str(refusal)  # wrapper/W-69
            ended(HookOutcome.BLOCKED, prepared.text)
            return UNSET
        if replacement is not UNSET:
            ended(HookOutcome.REPLACED)
        else:
            ended(HookOutcome.UNCHANGED if same(before, args) else HookOutcome.MUTATED)
        return replacement

    # -- the call's turn

    async def _take_turn(self, prepared: _Prepared, signal: AbortSignal | None, context: CallContext) -> LoopResult:
        """Answer for a call that preparation ended, or run it."""
        call = prepared.call
        if prepared.ending is None or prepared.ending.started:  # a blocked call has one, too (wrapper/W-69)
            self.runner.stage.ledger.append(
                ToolExecutionStart(
                    at_ms=self.runner.stage.now_ms,
                    tool_name=call.name,
                    tool_call_id=call.id,
                    args=copy_json(prepared.args),
                )
            )
        if prepared.ending is not None or prepared.wrapper is None:
            return self._result(prepared, _failure(prepared.text))
        try:
            # To the wrapper a replacement is the original input (wrapper/W-77).
            given = await prepared.wrapper.execute(call.id, prepared.args, signal=signal, context=context)
        except LabsimError:
            raise
        except Exception as error:
            prepared.ending = LoopEnding.RAISED
            return self._result(prepared, _failure(str(error)))
        prepared.ending = LoopEnding.RETURNED
        return self._result(prepared, given)

    def _result(self, prepared: _Prepared, given: ToolResult) -> LoopResult:
        coerced = coerce(given)
        assert prepared.ending is not None  # set by whoever had something to answer
        result = LoopResult(
            tool_call_id=prepared.call.id,
            tool_name=prepared.call.name,
            ending=prepared.ending,
            content=coerced.content,
            details=coerced.details,
            is_error=coerced.is_error is True,
        )
        self.runner.stage.ledger.append(
            LoopResulted(
                at_ms=self.runner.stage.now_ms,
                tool_name=result.tool_name,
                tool_call_id=result.tool_call_id,
                ending=result.ending,
                content=visible_text(result.content),
                is_error=result.is_error,
            )
        )
        return result

    def _note(self, kind: Callable[..., Event], tool: Tool, call_id: str, **said: Any) -> None:
        stage = self.runner.stage
        stage.ledger.append(kind(at_ms=stage.now_ms, tool_name=tool.name, tool_call_id=call_id, **said))


# ------------------------------------------------------------------------------------------------- the results


def coerce(result: ToolResult) -> ToolResult:
    """A tool's result as the model can be given it: with a list of content, and no error without words
    (wrapper/W-75).
    """
    if not isinstance(result.content, list | tuple):
        return ToolResult(content=text_content(NO_CONTENT), is_error=True)
    if result.is_error is True and not trim(visible_text(result.content)):
        return replace(result, content=text_content(NO_OUTPUT))
    return result


def _failure(text: str) -> ToolResult:
    """An error, which becomes its text (wrapper/W-75)."""
    return ToolResult(content=text_content(text), is_error=True)


# ----------------------------------------------------------------------------------------------- unknown tools


def not_found(name: str, known: Sequence[str]) -> str:
    """What the model is told of a tool that does not exist, with the names it may have meant (wrapper/W-74)."""
    close = suggestions(name, known)
    if not close:
        return f"Tool {name} not found"
    if len(close) == 1:
        return f"Tool {name} not found. Did you mean {close[0]}?"
    return f"Tool {name} not found. Closest available: {', '.join(close)}"


def suggestions(name: str, known: Sequence[str]) -> list[str]:
    """Up to three of the `known` names that look like `name`, the closest first, whatever their case.

    How the real program ranks names is not known; this is our own measure.
    """
    from difflib import SequenceMatcher  # here, for only a mistaken call needs it

    scored: list[tuple[float, int, str]] = []
    for order, candidate in enumerate(known):
        matcher = SequenceMatcher(None, name.lower(), candidate.lower())
        # The first two are cheap upper bounds; they spare a very long name the comparison.
        if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE:
            scored.append((-matcher.ratio(), order, candidate))
    return [candidate for _, _, candidate in sorted(scored)[:SUGGESTED]]
