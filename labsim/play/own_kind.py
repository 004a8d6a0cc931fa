"""A scenario of a chapter's own kind: played by the chapter's function, on the engine's stage.

The function gets what the case is given, and a `Host`: calls through the real wrapper, dialogs, and simulated
time. All of it ends up in one ledger, and the usual counters are read from there, so that an own scenario can be
predicted, revealed and drawn like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from labsim.case.given import WrapperGiven
from labsim.case.model import Expected, ExtraCase
from labsim.errors import CaseError, HostError, LabsimError, found_and_path
from labsim.events.call import Execute, ToolCallEvent
from labsim.events.dialogs import QuestionAsked
from labsim.extras import SCENARIOS
from labsim.play.report import CallReport
from labsim.play.wrapper import one_call, set_up
from labsim.stage.stage import Stage
from labsim.stage.ui import UI
from labsim.terms import DialogKind, Outcome
from labsim.tool import ToolResult, visible_text


class ExtraFailed(LabsimError):
    """A chapter's own scenario did something that it cannot. Attribute: `scenario`."""

    def __init__(self, scenario: str, problem: str) -> None:
        self.scenario = scenario
        super().__init__(f"The scenario {scenario}: {problem}")


class Host:
    """What a scenario of one's own can have done. `ui` opens dialogs: `await host.ui.select(title, options)`."""

    def __init__(self, stage: Stage, ui: UI) -> None:
        self.ui = ui
        self._stage = stage
        self.calls: list[CallReport] = []
        self.open: tuple[str, int] | None = None

    @property
    def now_ms(self) -> int:
        """Simulated milliseconds since the case began."""
        return self._stage.now_ms

    async def sleep(self, ms: int) -> None:
        """Let simulated time pass."""
        await self._stage.sleep(ms)

    async def call(self, given: Mapping[str, Any]) -> CallReport:
        """One call through the wrapper, given as in a case of the scenario `wrapper`, but for `ui` and `choices`.

        Those are the whole case's. A refused call is a report of that, and raises nothing.
        Raises: labsim.errors.CaseError, for what no such case can be given.
        """
        for key in ("ui", "choices", "repeat"):
            if key in given:
                raise CaseError(f"call.{key}", "this belongs to the case and not to one call", "Remove it.")
        try:
            made = msgspec.convert(dict(given), WrapperGiven)
        except msgspec.ValidationError as error:
            found, path = found_and_path(error)
            raise CaseError(f"call{path}", found[:1].lower() + found[1:], "") from None
        number = len(self.calls) + 1
        call_id, start = f"call-{number}", len(self._stage.ledger)
        self.open = (call_id, start)
        ended: dict[str, Any] = {}
        try:
            result: ToolResult = await one_call(set_up(made, self._stage, self.ui), call_id, number)
        except HostError as error:
            ended = {"outcome": Outcome.THROW, "error": str(error), "error_name": error.error_name}
        else:
            failed = result.is_error is True
            ended = {"outcome": Outcome.ERROR_RESULT if failed else Outcome.RETURN, "result": result}
            if failed:
                ended["error"] = visible_text(result.content)
        report = CallReport(tool_call_id=call_id, start=start, end=len(self._stage.ledger), **ended)
        self.calls.append(report)
        self.open = None
        return report


class ExtraUnderWay:
    """A case of a chapter's own kind, as far as it got."""

    def __init__(self, case: ExtraCase, stage: Stage, ui: UI) -> None:
        self.case = case
        self.stage = stage
        self.finished = False
        self._host = Host(stage, ui)
        self._further: dict[str, Any] = {}

    async def play(self) -> None:
        """Raises: ExtraFailed, for an error in the chapter's function, and for a field that no case shows."""
        scenario = self.case.scenario
        try:
            further = await SCENARIOS[scenario].play(self.case.given, self._host)
        except Exception as error:
            raise ExtraFailed(scenario, f"{type(error).__name__}: {error}") from error
        for field in further or ():
            if field not in Expected.__struct_encode_fields__:
                known = ", ".join(Expected.__struct_encode_fields__)
                raise ExtraFailed(scenario, f"no case shows a field {field!r}. Use some of: {known}.")
        self._further = further or {}
        self.finished = True

    @property
    def calls(self) -> tuple[CallReport, ...]:
        if self._host.open is None:
            return tuple(self._host.calls)
        call_id, start = self._host.open
        return (*self._host.calls, CallReport(tool_call_id=call_id, start=start, end=len(self.stage.ledger)))

    def observed(self) -> dict[str, Any]:
        """The counters that any case shows, and what the chapter's function adds or replaces."""
        ledger, made = self.stage.ledger, self._host.calls
        asked = [event for event in ledger if isinstance(event, QuestionAsked) and event.kind is DialogKind.SELECT]
        inputs = [event.input for event in ledger if isinstance(event, Execute) and event.input is not UNSET]
        seen: dict[str, Any] = {}
        if made and self._host.open is None and (last := made[-1]).outcome is not None:
            seen["outcome"] = last.outcome.value
            seen |= {key: text for key, text in (("error", last.error), ("errorName", last.error_name)) if text}
        seen["effects"] = sum(isinstance(event, Execute) for event in ledger)
        seen["prompts"] = len(asked)
        seen["promptTexts"] = [event.title for event in asked]
        seen["toolCalls"] = sum(isinstance(event, ToolCallEvent) for event in ledger)
        if inputs:
            seen["input"] = inputs[-1]
        seen["successfulCalls"] = sum(call.outcome is Outcome.RETURN for call in made)
        if self.case.given.ui == "rpc":
            seen["rpcRequests"] = len(asked)
        return seen | self._further
