"""What the tests of dispatch share: a session with scripted answers, and cases played from a few words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UNSET, Struct

from labsim.approval import Settings
from labsim.call.handlers import EventName, Extension
from labsim.call.runner import Runner
from labsim.call.wrapper import CallContext, ToolWrapper
from labsim.dispatch.devices import Device, DeviceState
from labsim.dispatch.resolution import Staged, ToolReport
from labsim.dispatch.write import MemoryFiles, WriteSession, write_tool
from labsim.errors import HostError
from labsim.events.ledger import Ledger
from labsim.play.performance import Performance, run
from labsim.play.report import Report
from labsim.reading.reading import parse_case
from labsim.stage.stage import AbortSignal, Question, Stage
from labsim.stage.ui import Says, ScriptedUI
from labsim.tool import Tool, ToolCall, ToolResult, text_content, visible_text

SLOT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["inspect", "reserve", "publish", "blocked"]},
        "note": {"type": "string"},
        "count": {"type": "integer"},
    },
    "required": ["action"],
    "additionalProperties": False,
}
SLOT_DOCS = """# seed_slot — Seed slot

Moves a fictional seed slot.

## Schema
```ts
type Args = {
  action: "inspect" | "reserve" | "publish" | "blocked";
  note?: string;
  count?: number;
};
```
Execute by writing JSON to xd://seed_slot."""
INSPECT = '{"action":"inspect"}'
PUBLISH = '{"action":"publish"}'


class Spy:
    """An executor that notes what it was entered with, and answers or fails as told."""

    def __init__(self, answer: ToolResult | Exception | None = None) -> None:
        self.calls: list[ToolCall] = []
        self._answer = answer

    def __call__(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer or ToolResult(content=text_content("done"), details={"entry": len(self.calls)})

    @property
    def inputs(self) -> list[Any]:
        return [call.input for call in self.calls]


def slot_tool(name: str = "seed_slot", approval: Any = "read", execute: Any = None, **more: Any) -> Tool:
    described = {"label": "Seed slot", "description": "Moves a fictional seed slot.", "parameters": SLOT_SCHEMA}
    return Tool(name=name, approval=approval, execute=execute or Spy(), **{**described, **more})


class Desk:
    """A session whose `write` is called directly: mode yolo unless told, and nobody there to ask.

    `tools` are all mounted, in order, unless `mounted` says otherwise; `tools=None` is a session without devices.
    """

    def __init__(
        self,
        tools: Iterable[Tool] | None = (),
        *,
        mounted: Iterable[str] | None = None,
        active: Iterable[str] = (),
        mode: str = "yolo",
        policies: dict[str, Any] | None = None,
        answers: Iterable[str] | None = None,
        extensions: Iterable[Extension] = (),
        **session: Any,
    ) -> None:
        self.stage = Stage(Ledger())
        ui = None if answers is None else ScriptedUI(self.stage, [Says(answer) for answer in answers])
        self.runner = Runner(self.stage, list(extensions), ui=ui)
        self.settings = Settings(mode, policies if policies is not None else UNSET)
        devices = None
        if tools is not None:
            held = {tool.name: Device(tool=tool, wrapper=ToolWrapper(tool, self.runner)) for tool in tools}
            devices = DeviceState(
                tools=held,
                mounted=tuple(held) if mounted is None else tuple(mounted),
                active=frozenset(active),
                decorate=lambda tool: ToolWrapper(tool, self.runner),
            )
        self.reports: list[ToolReport] = []
        self.session = WriteSession(
            ledger=self.stage.ledger,
            devices=devices,
            **{"staged": Staged(), "files": MemoryFiles(), **session},
        )
        self.write_tool = write_tool(self.session)

    def write(
        self, path: Any, content: Any, *, signal: AbortSignal | None = None, context: bool = True, **more: Any
    ) -> ToolResult | HostError:
        """What one write gives: its result, or the error it raised."""
        made = CallContext(settings=self.settings) if context else None
        params = {"path": path, "content": content}
        call = ToolWrapper(self.write_tool, self.runner).execute(
            "call-1", params, signal=signal, context=made, **more
        )
        try:
            return self.stage.play(call).result()
        except HostError as error:
            return error

    def raised(self, path: Any, content: Any = INSPECT, **more: Any) -> str:
        """The message of the error that one write raised."""
        given = self.write(path, content, **more)
        assert isinstance(given, HostError), given
        return str(given)

    def result(self, path: Any, content: Any = INSPECT, **more: Any) -> ToolResult:
        """The result that one write returned."""
        given = self.write(path, content, **more)
        assert isinstance(given, ToolResult), given
        return given

    def seen(self, kind: type[Struct]) -> list[Any]:
        """The ledger's events of one kind."""
        return [event for event in self.stage.ledger if isinstance(event, kind)]


def error_text(result: ToolResult) -> str:
    """The text of an error result."""
    assert result.is_error is True, result
    return visible_text(result.content)


def played(**given: Any) -> Report:
    """A dispatch case, played. Keys are those of a case's `given`."""
    return run(dispatch(given))


def observed(report: Report, *fields: str) -> dict[str, Any]:
    """Some of what a report observed; what it has not is left out."""
    return {field: report.observed[field] for field in fields if field in report.observed}


FOOTER = (
    "Read xd://<tool> for docs + JSON schema; write the JSON args object to xd://<tool> to execute. "
    "Active top-level tools accept the same dispatch."
)
LISTING = f"xd:// 1 mounted tool devices.\nxd://seed_slot      Moves a fictional seed slot.\n\n{FOOTER}"
PROPOSE_INSTEAD = " To submit the plan for approval, write its title to xd://propose instead."
NOTHING_TO_APPLY = "No pending action to apply — xd://resolve is only valid while a staged preview is pending."
NO_PLAN = "No plan is awaiting approval — xd://propose only accepts a plan title while plan mode is active."


def no_such_tool(name: str, mounted: str = "seed_slot") -> str:
    return (
        f"No such tool: xd://{name}. Mounted devices: {mounted}. "
        "Active top-level tools are also dispatchable via xd://<tool>."
    )


def on_tool_call(answer: Callable[[Any], Any], tool: str = "seed_slot") -> Extension:
    """An extension that answers `tool_call` for one tool."""
    made = Extension("desk")
    made.on(
        EventName.TOOL_CALL,
        lambda event, context: answer(event) if event.tool_name == tool else None,
    )
    return made


def nobody(performance: Performance, question: Question) -> None:
    """A driver that leaves every question open."""


def dispatch(given_case: dict[str, Any]) -> Any:
    """A dispatch case, parsed."""
    return parse_case({"id": "desk", "scenario": "dispatch", "given": given_case}, "test")
