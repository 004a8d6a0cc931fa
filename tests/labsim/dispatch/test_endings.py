"""Thrown, or an error result? dispatch/D-23 to dispatch/D-29, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dispatch_kit import (
    INSPECT,
    LISTING,
    NO_PLAN,
    NOTHING_TO_APPLY,
    Desk,
    Spy,
    error_text,
    no_such_tool,
    on_tool_call,
    played,
    slot_tool,
)

from labsim.call.handlers import EventName, Extension, HandlerContext
from labsim.dispatch.events import (
    DispatchEnded,
    Ending,
)
from labsim.errors import AbortError, HostError, StageError
from labsim.stage.stage import AbortSignal
from labsim.tool import Tool, ToolCall, ToolResult, text_content, visible_text


def desk_with(approval: Any = "read", execute: Any = None, **more: Any) -> Desk:
    return Desk([slot_tool(approval=approval, execute=execute or Spy())], **more)


def block(event: Any) -> dict[str, Any]:
    return {"block": True, "reason": "closed shelf"}


NO_UI = "requires approval but no interactive UI available."


@pytest.mark.parametrize(
    ("make", "path", "content", "message"),
    [
        pytest.param(
            lambda: desk_with(),
            "xd://seed_slot/",
            INSPECT,
            "Invalid xd:// URL: xd://seed_slot/. Use xd://<tool>.",
            id="dispatch/D-24 invalid address",
        ),
        pytest.param(
            lambda: Desk(tools=None),
            "xd://seed_slot",
            INSPECT,
            "xd:// is not mounted in this session.",
            id="dispatch/D-25 not mounted",
        ),
        pytest.param(
            lambda: desk_with(),
            "xd://",
            INSPECT,
            f"Cannot write to xd:// itself — pick a device:\n{LISTING}",
            id="dispatch/D-25 root",
        ),
        pytest.param(lambda: desk_with(), "xd://resolve", "go", NOTHING_TO_APPLY, id="dispatch/D-25 resolve"),
        pytest.param(lambda: desk_with(), "xd://propose", "go", NO_PLAN, id="dispatch/D-25 propose"),
        pytest.param(
            lambda: desk_with(keep_report=[].append),
            "xd://report_issue",
            "x",
            "Invalid report format.",
            id="dispatch/D-25 report",
        ),
        pytest.param(
            lambda: desk_with(policies={"write": "deny"}),
            "xd://seed_slot",
            INSPECT,
            'Tool "write" is blocked by user policy.',
            id="dispatch/D-26 outer deny",
        ),
        pytest.param(
            lambda: desk_with(mode="always-ask", policies={"write": "prompt"}),
            "xd://seed_slot",
            INSPECT,
            f'Tool "write" {NO_UI}',
            id="dispatch/D-26 outer no-UI",
        ),
        pytest.param(
            lambda: desk_with(mode="always-ask", policies={"write": "prompt"}, answers=["Deny"]),
            "xd://seed_slot",
            INSPECT,
            "Tool call denied by user: write",
            id="dispatch/D-26 outer denial",
        ),
        pytest.param(
            lambda: desk_with(extensions=[on_tool_call(block, tool="write")]),
            "xd://seed_slot",
            INSPECT,
            "closed shelf",
            id="dispatch/D-26 outer block",
        ),
    ],
)
def test_what_the_outer_gate_and_the_routes_refuse_is_raised(
    make: Callable[[], Desk], path: str, content: str, message: str
):
    """dispatch/D-24 to dispatch/D-26: thrown, with no dispatch and no effect."""
    desk = make()

    assert desk.raised(path, content).startswith(message)
    assert desk.seen(DispatchEnded) == []


@pytest.mark.parametrize(
    ("make", "path", "content", "message"),
    [
        pytest.param(
            lambda: desk_with(), "xd://nope", INSPECT, no_such_tool("nope"), id="dispatch/D-23 unknown device"
        ),
        pytest.param(
            lambda: desk_with(),
            "xd://seed_slot",
            "{",
            "xd://seed_slot expects a JSON args object as content (",
            id="dispatch/D-27 malformed",
        ),
        pytest.param(
            lambda: desk_with(),
            "xd://seed_slot",
            "[]",
            "xd://seed_slot content must be a JSON object, got array.",
            id="dispatch/D-27 not an object",
        ),
        pytest.param(
            lambda: desk_with(),
            "xd://seed_slot",
            "{}",
            "Invalid args for xd://seed_slot: Validation failed",
            id="dispatch/D-27 invalid",
        ),
        pytest.param(
            lambda: desk_with({"tier": "read", "policy": "deny", "reason": "shelf"}),
            "xd://seed_slot",
            INSPECT,
            'Tool "seed_slot" is blocked by tool policy.\nReason: shelf',
            id="dispatch/D-28 inner deny",
        ),
        pytest.param(
            lambda: desk_with(extensions=[on_tool_call(block)]),
            "xd://seed_slot",
            INSPECT,
            "closed shelf",
            id="dispatch/D-28 inner block",
        ),
        pytest.param(
            lambda: desk_with({"tier": "read", "override": True}, mode="write"),
            "xd://seed_slot",
            INSPECT,
            f'Tool "seed_slot" {NO_UI}',
            id="dispatch/D-28 inner no-UI",
        ),
        pytest.param(
            lambda: desk_with({"tier": "read", "override": True}, mode="write", answers=["Deny"]),
            "xd://seed_slot",
            INSPECT,
            "Tool call denied by user: seed_slot",
            id="dispatch/D-28 inner denial",
        ),
        pytest.param(
            lambda: desk_with(execute=Spy(HostError("jammed"))),
            "xd://seed_slot",
            INSPECT,
            "jammed",
            id="dispatch/D-28 device exception",
        ),
        pytest.param(
            lambda: desk_with(execute=Spy(ValueError("jammed"))),
            "xd://seed_slot",
            INSPECT,
            "jammed",
            id="dispatch/D-28 any exception",
        ),
    ],
)
def test_what_fails_inside_a_dispatch_is_an_error_result(
    make: Callable[[], Desk], path: str, content: str, message: str
):
    """dispatch/D-23, dispatch/D-27 and dispatch/D-28: the same refusal has another shape inside the dispatch;
    `inner` is absent (dispatch/D-50).
    """
    desk = make()
    result = desk.result(path, content)

    assert error_text(result).startswith(message)
    assert "inner" not in result.details["xdev"]
    assert [event.ending for event in desk.seen(DispatchEnded)] == [Ending.ERROR_RESULT]


def test_an_abort_inside_is_raised_as_the_same_error():
    """dispatch/D-29: an abort error passes through the dispatch, the very object."""
    abort = AbortError("Aborted: the shelf was closed.")
    desk = desk_with(execute=Spy(abort))

    assert desk.write("xd://seed_slot", INSPECT) is abort
    assert [event.ending for event in desk.seen(DispatchEnded)] == [Ending.RAISED]


def test_any_error_inside_is_raised_once_the_signal_is_aborted():
    """dispatch/D-29: the caller gave up, so nobody is left to read an error result."""
    jammed = HostError("jammed")
    desk = Desk([])
    signal = AbortSignal(desk.stage)

    def execute(call: ToolCall) -> ToolResult:
        signal.abort()
        raise jammed

    desk = Desk([slot_tool(execute=execute)])

    assert desk.write("xd://seed_slot", INSPECT, signal=signal) is jammed


def test_an_abort_while_the_inner_handler_works_is_raised():
    """dispatch/D-29 and wrapper/W-15: the device's handler is pending when the caller gives up."""
    report = played(args={"action": "inspect"}, mode="yolo", handlers=[{"waits": 500}], abortAtMs=200)

    assert (report.observed["outcome"], report.observed["error"]) == (
        "throw",
        "Tool execution was cancelled while an extension handler was pending",
    )
    assert report.observed["effects"] == 0


def test_a_signal_aborted_before_the_call_stops_it_at_the_route():
    """dispatch/D-23 to dispatch/D-29 (dispatch-1204): without `tool_call` handlers the gate lets it pass, and
    `write` raises.
    """
    desk = desk_with()
    given_back = desk.write("xd://seed_slot", INSPECT, signal=AbortSignal(desk.stage, aborted=True))

    assert isinstance(given_back, AbortError)
    assert str(given_back) == "Aborted: The operation was aborted."


def test_a_misuse_of_the_engine_is_no_error_result():
    """What the engine says of its own use is for its user, and reaches no ledger as a device's failure."""
    desk = desk_with(execute=Spy(StageError("misused")))

    with pytest.raises(StageError, match="misused"):
        desk.write("xd://seed_slot", INSPECT)


def test_the_outer_result_handlers_see_what_the_device_gave():
    """dispatch/D-51 (dispatch-1102): and can change the content of an error result without curing it."""
    seen: list[Any] = []

    def rewrite(event: Any, context: HandlerContext) -> Any:
        if event.tool_name != "write":
            return None
        seen.append((visible_text(event.content), event.details["xdev"]["tool"], event.is_error))
        return {"content": text_content("outer rewrite")}

    extension = Extension("desk")
    extension.on(EventName.TOOL_RESULT, rewrite)
    result = desk_with(execute=Spy(HostError("jammed")), extensions=[extension]).result("xd://seed_slot")

    assert seen == [("jammed", "seed_slot", True)]
    assert error_text(result) == "outer rewrite"


def test_an_inner_tool_declared_as_nothing_is_exec():
    """approval/A-1 through the dispatch: a tool without a declaration borrows exec, and so prompts."""
    tool = Tool(name="seed_slot", execute=Spy())
    desk = Desk([tool], mode="write", answers=["Approve"])

    assert desk.result("xd://seed_slot").details["xdev"]["tier"] == "exec"
