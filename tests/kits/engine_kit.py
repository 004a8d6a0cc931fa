"""What the tests of the engine share: cases from keywords, a desk with Python handlers, ledgers read back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from msgspec import UNSET

from labsim.approval import Settings, json_details
from labsim.call.handlers import EventName, Extension
from labsim.call.runner import Runner
from labsim.call.scripted import recorder
from labsim.call.wrapper import CallContext, ToolWrapper
from labsim.case.given import CallGiven
from labsim.case.model import Case
from labsim.events.call import Execute
from labsim.events.event import Event, as_mapping, is_heard
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import parse_case
from labsim.stage.stage import AbortSignal, Stage, Task
from labsim.stage.ui import UI, Answer, InertUI, QuestionUI, Says, ScriptedUI
from labsim.tool import Tool, ToolCall, ToolResult, text_content

PUBLISH = {"action": "publish"}
PROMPT = 'Allow tool: seed_note\nInput: {"action":"publish"}'
#: What every desk of these tests has unless it says otherwise: a tool of the highest tier that has to be asked for.
ASKING: dict[str, Any] = {"approval": "exec", "args": PUBLISH, "mode": "always-ask"}


def a_case(scenario: str = "wrapper", /, *, unusual: Sequence[str] = (), **given: Any) -> Case:
    """A case of that scenario; a wrapper case is an asking one as far as it does not say otherwise.

    UNSET takes a key out; `unusual` excuses odd values, as in a case.
    """
    filled = {**ASKING, **given} if scenario == "wrapper" else given
    there = {key: value for key, value in filled.items() if value is not UNSET}
    return parse_case({"id": "test", "scenario": scenario, "given": there, "unusual": list(unusual)}, "test")


def play(*, unusual: Sequence[str] = (), **given: Any) -> Report:
    """A played wrapper case."""
    return run(a_case(unusual=unusual, **given))


def plain(event: Any) -> dict[str, Any]:
    """An event as a mapping, without its time."""
    mapping = as_mapping(event)
    del mapping["atMs"]
    return mapping


def heard(events: Iterable[Any]) -> list[dict[str, Any]]:
    """The events that the real program has too, whole, in order."""
    return [plain(event) for event in events if is_heard(event)]


def kinds(events: Iterable[Any]) -> list[str]:
    """Only the names of those events: the story of a call in short."""
    return [record["event"] for record in heard(events)]


def times(events: Iterable[Any], kind: str) -> list[int]:
    """When events of a kind happened, in simulated milliseconds."""
    return [event.at_ms for event in events if isinstance(event, Event) and as_mapping(event)["event"] == kind]


class Desk:
    """One inert tool behind a gate, on a stage of its own, with handlers written in Python.

    Its recorder hears everything, before any handler. `answers` are the person's, `ui=None` is nobody.
    """

    def __init__(
        self,
        *,
        approval: Any = "exec",
        answers: Iterable[Any] = (),
        ui: str | None = "scripted",
        execute: Callable[[ToolCall], Any] | None = None,
        name: str = "seed_note",
        wire_name: str | None = None,
        recorded: bool = True,
        stage: Stage | None = None,
        **runner: Any,
    ) -> None:
        self.stage = Stage() if stage is None else stage
        given = [each if isinstance(each, Answer) else Says(each) for each in answers]
        adapters: dict[str | None, UI] = {
            "scripted": ScriptedUI(self.stage, given),
            "open": QuestionUI(self.stage),
            None: InertUI(),
        }
        heard_by = [recorder(self.stage.ledger, CallGiven())] if recorded else []
        self.runner = Runner(self.stage, heard_by, ui=adapters[ui], **runner)
        self._extensions: dict[str, Extension] = {}
        self._execute = execute
        self.calls: list[ToolCall] = []  # as the executor saw them
        self.tool = Tool(
            name=name,
            execute=self._run,
            approval=approval,
            custom_wire_name=wire_name,
            format_approval_details=json_details,
        )
        self.wrapper = ToolWrapper(self.tool, self.runner)

    def extension(self, path: str) -> Extension:
        if path not in self._extensions:
            self._extensions[path] = Extension(path)
            self.runner.load(self._extensions[path])
        return self._extensions[path]

    def on(self, event: EventName, handler: Any, path: str = "desk") -> None:
        self.extension(path).on(event, handler)

    def on_call(self, handler: Any, path: str = "desk") -> None:
        self.on(EventName.TOOL_CALL, handler, path)

    def begun(
        self,
        params: Any = None,
        *,
        call_id: str = "call-1",
        mode: Any = "always-ask",
        policies: Any = UNSET,
        signal: AbortSignal | None = None,
        no_context: bool = False,
        **context: Any,
    ) -> Coroutine[Any, None, ToolResult]:
        """A call that has yet to be started."""
        context.setdefault("settings", Settings(mode, policies))
        self.context = None if no_context else CallContext(**context)
        return self.wrapper.execute(
            call_id, dict(PUBLISH) if params is None else params, signal=signal, context=self.context
        )

    def call(self, *args: Any, **kwargs: Any) -> Task[ToolResult]:
        """Start a call and carry it as far as it gets; arguments as `begun`."""
        return self.stage.play(self.begun(*args, **kwargs))

    def error(self, *args: Any, **kwargs: Any) -> str:
        """The message of a call that must be refused."""
        task = self.call(*args, **kwargs)
        try:
            task.result()
        except Exception as error:
            return str(error)
        raise AssertionError("the call was not refused")

    @property
    def heard(self) -> list[dict[str, Any]]:
        return heard(self.stage.ledger)

    @property
    def kinds(self) -> list[str]:
        return kinds(self.stage.ledger)

    def times(self, kind: str) -> list[int]:
        return times(self.stage.ledger, kind)

    def _run(self, call: ToolCall) -> Any:
        self.calls.append(call)
        self.stage.ledger.append(
            Execute(at_ms=self.stage.now_ms, tool=self.tool.name, tool_call_id=call.call_id, input=call.input)
        )
        return self._execute(call) if self._execute is not None else ToolResult(content=text_content("inert"))
