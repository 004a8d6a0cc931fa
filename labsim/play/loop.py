"""The `loop` scenario: a model's message with several calls, prepared and run by the agent loop.

The two teaching tools share one schema, so that a case can show what validation refuses.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from labsim.call.inert import InertExecutor, inert_tool
from labsim.call.loop import AgentLoop, Invalid, LoopResult, ModelCall, Valid
from labsim.call.loop_events import LoopResulted, ToolExecutionStart
from labsim.call.wrapper import ToolWrapper
from labsim.case.model import LoopCase
from labsim.dispatch.arguments import InvalidArguments, validated
from labsim.events.call import Execute, ToolCallEvent
from labsim.events.dialogs import QuestionAsked
from labsim.js_values import copy_json
from labsim.play.dispatch import SEED_SCHEMA
from labsim.play.report import CallReport
from labsim.play.wrapper import call_context, case_runner
from labsim.stage.stage import Stage
from labsim.stage.ui import UI
from labsim.terms import DialogKind, Outcome
from labsim.tool import Tool, visible_text

TOOLS: Final = ("seed_note", "seed_slot")


class BatchUnderWay:
    """The calls of one batch. The whole batch is prepared before its first call runs (wrapper/W-66)."""

    def __init__(self, case: LoopCase, stage: Stage, ui: UI) -> None:
        given = case.given
        self.case = case
        self.stage = stage
        self.finished = False
        self.message = [
            ModelCall(id=f"call-{number}", name=call.name, args=copy_json(call.args))
            for number, call in enumerate(given.calls, start=1)
        ]
        runner = case_runner(given, stage, ui)
        approval = {"fn": "seed-slot"} if given.approval is UNSET else given.approval
        self._executors = {
            name: InertExecutor(stage, name, None if given.executor is UNSET else given.executor) for name in TOOLS
        }
        tools = [
            replace(inert_tool(name, approval, executor, details=given.details), parameters=SEED_SCHEMA)
            for name, executor in self._executors.items()
        ]
        self._loop = AgentLoop(runner, [ToolWrapper(tool, runner) for tool in tools], _validate)
        self._context = call_context(given, stage, "", "")
        self._results: list[LoopResult] = []

    async def play(self) -> None:
        self._results = await self._loop.run(self.message, context=self._context)
        self.finished = True

    @property
    def calls(self) -> tuple[CallReport, ...]:
        """Each call's turn. What was done in preparation stands before the first of them."""
        turns: list[CallReport] = []
        ledger = self.stage.ledger
        for result in self._results:
            at = [
                place
                for place, event in enumerate(ledger)
                if event.names_call() == result.tool_call_id and place >= self._prepared
            ]
            turns.append(
                CallReport(
                    tool_call_id=result.tool_call_id,
                    start=min(at),
                    end=max(at) + 1,
                    outcome=Outcome.ERROR_RESULT if result.is_error else Outcome.RETURN,
                    error=visible_text(result.content) if result.is_error else None,
                )
            )
        return tuple(turns)

    @property
    def _prepared(self) -> int:
        """The place in the ledger where preparation is over: the first call starts, or has its answer."""
        first = self.message[0].id
        for place, event in enumerate(self.stage.ledger):
            if isinstance(event, ToolExecutionStart | LoopResulted) and event.tool_call_id == first:
                return place
        return len(self.stage.ledger)

    def observed(self) -> dict[str, Any]:
        """The counters of any call, over the batch; `outcome` and `error` are the last call's."""
        ledger, calls = self.stage.ledger, self.calls
        asked = [event for event in ledger if isinstance(event, QuestionAsked) and event.kind is DialogKind.SELECT]
        seen: dict[str, Any] = {}
        if calls and calls[-1].outcome is not None:
            seen["outcome"] = calls[-1].outcome.value
            if calls[-1].error is not None:
                seen["error"] = calls[-1].error
        seen["effects"] = sum(isinstance(event, Execute) for event in ledger)
        seen["prompts"] = len(asked)
        seen["promptTexts"] = [event.title for event in asked]
        seen["toolCalls"] = sum(isinstance(event, ToolCallEvent) for event in ledger)
        executed = [event.input for event in ledger if isinstance(event, Execute)]
        if executed and executed[-1] is not UNSET:
            seen["input"] = executed[-1]
        seen["successfulCalls"] = sum(call.outcome is Outcome.RETURN for call in calls)
        return seen


def _validate(tool: Tool, args: Any) -> Valid | Invalid:
    """The device's own validation, as the loop asks for it (wrapper/W-70, wrapper/W-73)."""
    try:
        return Valid(validated(tool, args).values)
    except InvalidArguments as error:
        return Invalid(str(error))
