"""The `dispatch` scenario: a case's writes through both gates, on a stage.

Builds a session with one device, the seed's teaching tool behind a gate of its own, and has `write` called on
whatever path the case names.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from labsim.call.inert import inert_tool
from labsim.call.wrapper import ToolWrapper
from labsim.case.given import DispatchGiven, StagedSpec
from labsim.case.model import DispatchCase
from labsim.dispatch.devices import Device, DeviceState
from labsim.dispatch.resolution import Staged, StagedAction, ToolReport
from labsim.dispatch.write import MemoryFiles, WriteSession, write_tool
from labsim.errors import HostError
from labsim.js_values import stringify
from labsim.play.wrapper import WIRE_NAME, CallSetUp, CallsUnderWay, case_runner, inert_executor
from labsim.stage.stage import Stage
from labsim.stage.ui import UI
from labsim.terms import Tier
from labsim.tool import Tool, ToolResult, text_content

#: The teaching device's own schema. The seeds name its two text properties (dispatch/D-53); `count` is the
#: recordings'.
SEED_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["inspect", "reserve", "publish", "blocked"]},
        "note": {"type": "string"},
        "count": {"type": "integer"},
    },
    "required": ["action"],
    "additionalProperties": False,
}
#: What `"schema": "open"` stands for: any action, an intent of its own, and whatever else.
OPEN_SCHEMA: Final = {
    "type": "object",
    "properties": {"action": {"type": "string"}, "i": {"type": "string"}},
    "required": ["action"],
}
LABEL: Final = "Seed slot"
DESCRIPTION: Final = "Moves a fictional seed slot."


class DispatchesUnderWay(CallsUnderWay):
    """The writes of one case. Beside what any call shows: the dispatch's tier, files, and reports."""

    def __init__(self, case: DispatchCase, stage: Stage, ui: UI) -> None:
        self.reports: list[ToolReport] = []  # the local list of `report_issue`; it goes nowhere else
        self.session, made = set_up_dispatch(case.given, stage, ui, self.reports)
        super().__init__(case, stage, made)

    def observed(self) -> dict[str, Any]:
        seen = super().observed()
        tier = self._tier()
        if tier is not None:
            seen["tier"] = tier
        if self.session.files.content:
            seen["filesWritten"] = list(self.session.files.content)
        return seen

    def _tier(self) -> str | None:
        """The tier in the latest dispatch record that has one; None where no device was judged."""
        for call in reversed(self._calls):
            details = call.result.details if call.result is not None else None
            record = details.get("xdev") if isinstance(details, dict) else None
            if isinstance(record, dict) and "tier" in record:
                return Tier(record["tier"]).value
        return None


def set_up_dispatch(
    given: DispatchGiven, stage: Stage, ui: UI, reports: list[ToolReport]
) -> tuple[WriteSession, CallSetUp]:
    """The session, its one device, and `write` behind its gate, as the case describes them."""
    executor = inert_executor(given, stage)
    runner = case_runner(given, stage, ui, inner_tool=given.tool)
    approval = {"fn": "seed-slot"} if given.approval is UNSET else given.approval
    tool = replace(
        inert_tool(given.tool, approval, executor, details=given.details, legacy_name=given.legacy_name),
        label=LABEL,
        description=DESCRIPTION,
        parameters=_schema(given),
    )
    session = WriteSession(
        ledger=stage.ledger,
        devices=None if given.no_xdev else _devices(given, tool, ToolWrapper(tool, runner)),
        device_only=given.device_only,
        staged=_staged(given),
        keep_report=reports.append if given.auto_qa else None,
        files=MemoryFiles(),
    )
    write = write_tool(session, custom_wire_name=None if given.preview is UNSET else WIRE_NAME)
    content = given.content if given.content is not UNSET else stringify(given.args)
    made = CallSetUp(
        given=given,
        stage=stage,
        runner=runner,
        wrapper=ToolWrapper(write, runner),
        executor=executor,
        params=lambda: {"path": given.path, "content": content},
        contexts=[],
    )
    return session, made


def _schema(given: DispatchGiven) -> dict[str, Any]:
    if given.schema is UNSET:
        return SEED_SCHEMA
    return OPEN_SCHEMA if given.schema == "open" else given.schema


def _devices(given: DispatchGiven, tool: Tool, wrapper: ToolWrapper) -> DeviceState:
    """The one device: gated from the start, or by the session's decorator at each dispatch (dispatch/step-5)."""
    return DeviceState(
        tools={tool.name: Device(tool=tool, wrapper=None if given.decorate else wrapper)},
        mounted=(tool.name,) if given.mounted else (),
        active=frozenset({tool.name} if given.active else ()),
        decorate=lambda bare: ToolWrapper(bare, wrapper.runner),
    )


def _staged(given: DispatchGiven) -> Staged:
    def propose(title: str) -> ToolResult:
        return ToolResult(content=text_content(f"Plan submitted for approval: {title}"), details={"title": title})

    staged = Staged(propose if given.plan_mode else None)
    if given.staged is not UNSET:
        staged.stage(_staged_action(given.staged))
    return staged


def _staged_action(spec: StagedSpec) -> StagedAction:
    def apply(reason: str) -> ToolResult:
        if spec.fails is not UNSET:
            raise HostError(spec.fails)
        return ToolResult(content=text_content(f"Applied: {spec.label}. Reason: {reason}"))

    return StagedAction(label=spec.label, apply=apply)
