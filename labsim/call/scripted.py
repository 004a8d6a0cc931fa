"""What a case scripts: its recorders, its handlers, and the answers to its dialogs.

Turns the inert words of a case into handlers and answers; none of it does anything beyond what the words say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from labsim.call.handlers import EventName, Extension, HandlerContext, PlainHandler, ToolCallInput, ToolResultInput
from labsim.case.given import CallGiven, HandlerSpec, ResultHandlerSpec
from labsim.errors import HostError, ThrownValue
from labsim.events.call import ToolCallEvent, ToolResultEvent
from labsim.events.ledger import Ledger
from labsim.extras import HANDLERS
from labsim.js_values import copy_json, same, text_of
from labsim.stage.ui import Answer, Disconnects, Fails, FailsWith, Says
from labsim.tool import text_content, visible_text

RECORDER = "recorder"


def answers(choices: Sequence[Any]) -> Iterator[Answer]:
    """A case's `choices` as answers, in order; null is no answer (wrapper/W-79)."""
    for choice in choices:
        if choice is None:
            yield Says(UNSET)
        elif isinstance(choice, dict) and list(choice) == ["throw"]:
            yield Fails(text_of(choice["throw"]))
        elif isinstance(choice, dict) and list(choice) == ["throwValue"]:
            yield FailsWith(choice["throwValue"])
        elif isinstance(choice, dict) and list(choice) == ["disconnect"]:
            yield Disconnects(text_of(choice["disconnect"]))
        else:
            yield Says(choice)


def recorder(ledger: Ledger, given: CallGiven) -> Extension:
    """The extension that writes the heard events into the ledger, and listens only where the case has it."""
    made = Extension(RECORDER)
    clock = ledger.clock

    def tool_call(event: ToolCallInput) -> None:
        ledger.append(
            ToolCallEvent(
                at_ms=clock.now_ms,
                tool_name=event.tool_name,
                tool_call_id=event.tool_call_id,
                input=copy_json(event.input),
            )
        )

    def tool_result(event: ToolResultInput) -> None:
        ledger.append(
            ToolResultEvent(
                at_ms=clock.now_ms,
                tool_name=event.tool_name,
                tool_call_id=event.tool_call_id,
                input=copy_json(event.input),
                content=visible_text(event.content),
                details=copy_json(event.details),
                is_error=event.is_error,
            )
        )

    if given.observe:
        made.on(EventName.TOOL_CALL, PlainHandler(tool_call))
    raises = "lifecycle handler failed" if given.lifecycle == "throwing" else None
    if given.lifecycle in ("requested", "both", "throwing"):
        made.on(EventName.APPROVAL_REQUESTED, PlainHandler(ledger.append, raises))
    if given.lifecycle in ("resolved", "both", "throwing"):
        made.on(EventName.APPROVAL_RESOLVED, PlainHandler(ledger.append, raises))
    if given.observe_result:
        made.on(EventName.TOOL_RESULT, PlainHandler(tool_result))
    return made


def extensions(given: CallGiven, *, inner_tool: str | None = None) -> list[Extension]:
    """The case's own extensions, in the order they first appear.

    A `revise` at the top level is a first handler of `desk`. A handler hears only the tool it names;
    `inner_tool` is the one meant where it names none (in a dispatch), and None means every tool.
    """
    made: dict[str, Extension] = {}

    def of(path: str) -> Extension:
        return made.setdefault(path, Extension(path))

    specs = list(given.handlers)
    if given.revise is not UNSET:
        specs.insert(0, HandlerSpec(revise=given.revise))
    for spec in specs:
        tool = _meant(spec.tool, inner_tool)
        of(spec.ext).on(EventName.TOOL_CALL, _ToolCallHandler(spec, tool))
    for result_spec in given.result_handlers:
        tool = _meant(result_spec.tool, inner_tool)
        of(result_spec.ext).on(EventName.TOOL_RESULT, _ToolResultHandler(result_spec, tool))
    return list(made.values())


def _meant(named: str | UnsetType, inner_tool: str | None) -> str | None:
    if named is UNSET:
        return inner_tool
    return None if named == "*" else named


def _has(given: object, fields: Mapping[str, Any]) -> bool:
    """Whether an input has each of these fields with just that value."""
    return isinstance(given, Mapping) and all(same(given.get(key, UNSET), value) for key, value in fields.items())


class _ToolCallHandler:
    """One scripted `tool_call` handler. It is `async` only where the case has it wait or ask."""

    def __init__(self, spec: HandlerSpec, tool: str | None) -> None:
        self._spec = spec
        self._tool = tool

    def __call__(self, event: ToolCallInput, context: HandlerContext) -> Any:
        spec = self._spec
        if self._tool is not None and event.tool_name != self._tool:
            return None
        if spec.when is not UNSET and not _has(event.input, spec.when):
            return None
        if spec.fn is not UNSET:
            return HANDLERS[spec.fn](event, context)
        if spec.waits is not UNSET or spec.asks is not UNSET:
            return self._slowly(event, context)
        return self._answer(event)

    async def _slowly(self, event: ToolCallInput, context: HandlerContext) -> Any:
        spec = self._spec
        if spec.waits is not UNSET:
            await context.sleep(spec.waits)
        if spec.asks is not UNSET and not await context.confirm(spec.ext, spec.asks):
            return {"block": True, "reason": f"{spec.ext} asked, and the answer was no"}
        return self._answer(event)

    def _answer(self, event: ToolCallInput) -> Any:
        spec = self._spec
        if spec.mutate is not UNSET:
            if not isinstance(event.input, dict):
                raise HostError(f"Cannot assign into {text_of(event.input)}")
            event.input.update(copy_json(spec.mutate))
        if spec.throws is not UNSET:
            raise HostError(text_of(spec.throws))
        if spec.throws_value is not UNSET:
            raise ThrownValue(spec.throws_value, text_of(spec.throws_value))
        if spec.returns is not UNSET:
            return copy_json(spec.returns)
        answer: dict[str, Any] = {}
        if spec.block is not UNSET:
            answer["block"] = spec.block
        if spec.reason is not UNSET:
            answer["reason"] = spec.reason
        if spec.revise is not UNSET:
            answer["input"] = copy_json(spec.revise)  # a new object for each call
        if spec.same:
            answer["input"] = event.input
        return answer or None


class _ToolResultHandler:
    """One scripted `tool_result` handler."""

    def __init__(self, spec: ResultHandlerSpec, tool: str | None) -> None:
        self._spec = spec
        self._tool = tool

    def __call__(self, event: ToolResultInput, context: HandlerContext) -> Mapping[str, Any] | None:
        spec = self._spec
        if self._tool is not None and event.tool_name != self._tool:
            return None
        if spec.throws is not UNSET:
            raise HostError(spec.throws)
        answer: dict[str, Any] = {}
        if isinstance(spec.content, str):
            answer["content"] = text_content(spec.content)
        elif spec.content is not UNSET:
            answer["content"] = spec.content
        if spec.details is not UNSET:
            answer["details"] = copy_json(spec.details)
        if spec.is_error is not UNSET:
            answer["isError"] = spec.is_error
        return answer
