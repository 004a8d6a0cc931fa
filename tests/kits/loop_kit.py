"""What the tests of the agent loop share: a desk with two tools, and the records a batch leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Struct

from labsim.approval import Resolution, Settings
from labsim.call.handlers import EventName, Extension, PlainHandler
from labsim.call.inert import InertExecutor
from labsim.call.loop import AgentLoop, Invalid, LoopResult, ModelCall, Valid
from labsim.call.loop_events import (
    ArgumentsChecked,
    Checked,
    HookEnded,
    HookOutcome,
    LoopEnding,
    LoopResulted,
    MarkerSet,
    ToolExecutionStart,
)
from labsim.call.runner import Runner
from labsim.call.wrapper import ToolWrapper
from labsim.events.call import (
    CallReturned,
    CallStarted,
    Execute,
    HandlerAnswered,
    MarkerConsumed,
    PolicyResolved,
    PromptDecided,
    ToolCallEvent,
)
from labsim.events.event import Event
from labsim.events.ledger import Ledger
from labsim.js_values import copy_json
from labsim.stage.stage import Stage
from labsim.terms import Policy, Rule, Source, Tier
from labsim.tool import Tool, ToolCall, text_content

NOTE = {"seed": "larch", "count": 1}
MENDED = {"seed": "larch", "count": 7}


def validate(tool: Tool, args: Any) -> Valid | Invalid:
    """A small schema: an object with a seed in words; a count in words is mended into a number, on a copy."""
    if not isinstance(args, dict) or not isinstance(args.get("seed"), str):
        return Invalid(f"{tool.name} wants a seed")
    count = args.get("count")
    return Valid({**args, "count": int(count)} if isinstance(count, str) else args)


class Desk:
    """One runner with the tools `seed_note` (read), `seed_slot` (as told) and a recorder that hears `tool_call`."""

    def __init__(
        self,
        *handlers: Callable[[Any], Any],
        approval: Any = "read",
        execute: Callable[[ToolCall], Any] | None = None,
        policies: Any = UNSET,
        observe: bool = True,
    ) -> None:
        self.stage = Stage()
        self.ledger: Ledger = self.stage.ledger
        recorder, desk = Extension("recorder"), Extension("desk")
        if observe:
            recorder.on(EventName.TOOL_CALL, PlainHandler(self._hear))
        for handler in handlers:
            desk.on(EventName.TOOL_CALL, lambda event, context, handler=handler: handler(event))
        self.runner = Runner(self.stage, [recorder, desk])
        self.runner.session_settings = Settings(mode="yolo", policies=policies)
        self.note = Tool(name="seed_note", execute=InertExecutor(self.stage, "seed_note"), approval="read")
        self.slot = Tool(
            name="seed_slot",
            execute=execute or InertExecutor(self.stage, "seed_slot"),
            approval=approval,
            custom_wire_name="slot",
        )
        wrappers = [ToolWrapper(tool, self.runner) for tool in (self.note, self.slot)]
        self.loop = AgentLoop(self.runner, wrappers, validate)

    def _hear(self, event: Any) -> None:
        self.ledger.append(
            ToolCallEvent(
                at_ms=0, tool_name=event.tool_name, tool_call_id=event.tool_call_id, input=copy_json(event.input)
            )
        )

    def run(self, *message: ModelCall, **rest: Any) -> list[LoopResult]:
        return self.stage.play(self.loop.run(message, **rest)).result()

    @property
    def events(self) -> list[Struct]:
        return list(self.ledger)

    def of(self, *kinds: type[Event]) -> list[Struct]:
        return [event for event in self.ledger if isinstance(event, kinds)]


def call(name: str = "seed_slot", args: Any = None, id: str = "c-1") -> ModelCall:  # noqa: A002
    return ModelCall(id=id, name=name, args=dict(NOTE) if args is None else args)


def about(id: str = "c-1", tool: str = "seed_slot") -> dict[str, Any]:  # noqa: A002
    return {"at_ms": 0, "tool_name": tool, "tool_call_id": id}


def checked(args: Any, of: Checked = Checked.MODEL, **who: Any) -> ArgumentsChecked:
    return ArgumentsChecked(**about(**who), of=of, input=args)


def hook(outcome: HookOutcome, reason: Any = UNSET, **who: Any) -> HookEnded:
    return HookEnded(**about(**who), outcome=outcome, reason=reason)


def asked(args: Any, answer: str = "nothing", given: Any = UNSET, **who: Any) -> list[Event]:
    """A hook that reached the handlers: the marker, the recorder, the desk's answer."""
    return [
        MarkerSet(**about(**who)),
        ToolCallEvent(**about(**who), input=args),
        HandlerAnswered(**about(**who), extension_path="desk", answer=answer, input=given),
    ]


def ran(args: Any, *, marked: bool, rule: Rule = Rule.R4B, **who: Any) -> list[Event]:
    """A turn that went through the wrapper without a prompt, from its start to what the model is given."""
    found = Resolution(policy=Policy.ALLOW, tier=Tier.READ, source=Source.MODE, rule=rule)
    return [
        ToolExecutionStart(**about(**who), args=args),
        CallStarted(**about(**who), input=args),
        *([MarkerConsumed(**about(**who))] if marked else []),
        PolicyResolved(**about(**who), on="original", resolution=found),
        PolicyResolved(**about(**who), on="effective", resolution=found),
        PromptDecided(**about(**who), required=False, because="the policy is allow"),
        Execute(at_ms=0, tool=who.get("tool", "seed_slot"), tool_call_id=who.get("id", "c-1"), input=args),
        CallReturned(**about(**who), content="inert", is_error=False),
        LoopResulted(**about(**who), ending=LoopEnding.RETURNED, content="inert", is_error=False),
    ]


def refused(ending: LoopEnding, text: str, *, args: Any = UNSET, **who: Any) -> list[Event]:
    """A turn that ran nothing; with `args`, it started all the same."""
    started = [] if args is UNSET else [ToolExecutionStart(**about(**who), args=args)]
    return [*started, LoopResulted(**about(**who), ending=ending, content=text, is_error=True)]


def error(ending: LoopEnding, text: str, id: str = "c-1", name: str = "seed_slot") -> LoopResult:  # noqa: A002
    return LoopResult(tool_call_id=id, tool_name=name, ending=ending, content=text_content(text), is_error=True)


def inert(entry: int = 1, id: str = "c-1", name: str = "seed_slot") -> LoopResult:  # noqa: A002
    return LoopResult(
        tool_call_id=id,
        tool_name=name,
        ending=LoopEnding.RETURNED,
        content=text_content("inert"),
        details={"entry": entry},
    )


def nothing(event: Any) -> None:
    return None
