"""Behind the gate of `write`: its routes, one dispatch, and ordinary files (dispatch/route-1 to dispatch/route-5,
dispatch/step-1 to dispatch/step-6).
"""

from __future__ import annotations

from typing import Any

import pytest
from dispatch_kit import (
    INSPECT,
    PUBLISH,
    Desk,
    Spy,
    error_text,
    no_such_tool,
    on_tool_call,
    played,
    slot_tool,
)
from msgspec import UNSET

from labsim.dispatch.devices import Device, DeviceState, mountable
from labsim.dispatch.events import (
    AddressRead,
    DeviceSought,
    FileWritten,
    PassedOn,
    Target,
)
from labsim.dispatch.write import DEVICES_ONLY
from labsim.events.call import CallStarted
from labsim.stage.stage import AbortSignal
from labsim.tool import ToolCall, ToolResult, text_content, visible_text

# dispatch/route-1 to dispatch/route-5


@pytest.mark.parametrize(
    ("path", "target", "device"),
    [
        ("xd://report_issue", Target.SPECIAL, "report_issue"),
        ("xd://reject", Target.SPECIAL, "reject"),
        ("xd://", Target.ROOT, None),
        ("xd://nope", Target.DEVICE, "nope"),
        ("xd://seed_slot/", Target.INVALID, None),
        ("foo://x", Target.NEAR_MISS, None),
        ("skill://seeds", Target.INTERNAL, None),
        ("ssh://shelf/card", Target.INTERNAL, None),
        ("card.txt", Target.FILE, None),
    ],
)
def test_a_path_takes_one_route(path: str, target: Target, device: str | None):
    """dispatch/route-1 to dispatch/route-5: the ledger says which."""
    desk = Desk([slot_tool()])
    desk.write(path, INSPECT)

    assert desk.seen(AddressRead) == [
        AddressRead(at_ms=0, tool_call_id="call-1", path=path, target=target, device=device)
    ]


@pytest.mark.parametrize("name", ["resolve", "reject", "propose", "report_issue"])
def test_a_special_name_wins_over_a_tool_of_that_name(name: str):
    """dispatch/D-14."""
    tool = slot_tool(name)
    Desk([tool]).write(f"xd://{name}", INSPECT)

    assert tool.execute.calls == []


def test_special_devices_work_without_device_state():
    """dispatch/D-14: they come before the question whether the session has devices."""
    desk = Desk(tools=None)

    assert visible_text(desk.result("xd://reject", "no").content) == "Nothing to reject; no pending action remains."
    assert desk.raised("xd://seed_slot") == "xd:// is not mounted in this session."
    assert desk.raised("xd://") == "xd:// is not mounted in this session."


@pytest.mark.parametrize("path", ["card.txt", "xd://seed_slot/", "foo://x", "skill://seeds", "xd:/seed_slot"])
def test_a_device_only_write_refuses_everything_else(path: str):
    """dispatch/D-15: before near misses and routes are looked at."""
    desk = Desk([slot_tool()], device_only=True)

    assert desk.raised(path) == DEVICES_ONLY
    assert DEVICES_ONLY.startswith("This `write` tool is limited to the xd:// device transport")
    assert desk.result("xd://seed_slot").details["xdev"]["tool"] == "seed_slot"


@pytest.mark.parametrize("mode", ["yolo", "always-ask"])
def test_every_dispatch_is_marked_as_approved(mode: str):
    """dispatch/D-16: whether or not the outer gate asked anybody; on a copy, so the caller's context is
    untouched.
    """
    spy = Spy()
    desk = Desk([slot_tool(execute=spy)], mode=mode)
    desk.write("xd://seed_slot", INSPECT)

    assert spy.calls[0].context.xdev_approved is True
    assert desk.seen(PassedOn)[0].marked is True


def test_without_a_context_nothing_is_marked_and_the_inner_gate_asks_for_itself():
    """dispatch/route-5 (dispatch-1145): two prompts for one dispatch."""
    report = played(args={"action": "reserve"}, context="missing", choices=["Approve", "Approve"])

    assert report.observed["promptTexts"] == [
        'Allow tool: write\nPath: xd://seed_slot\nContent:\n{"action":"reserve"}',
        'Allow tool: seed_slot\nInput: {"action":"reserve"}',
    ]
    assert [event.marked for event in report.ledger if isinstance(event, PassedOn)] == [False]


@pytest.mark.parametrize(
    "params", [{"content": INSPECT}, {"path": "xd://seed_slot"}, {"path": 1, "content": "x"}, None]
)
def test_a_replacement_that_is_no_write_is_refused(params: Any):
    """wrapper/W-17: a handler's replacement is not validated, so `write` has to look for itself."""
    tool = slot_tool()
    desk = Desk([tool], extensions=[on_tool_call(lambda event: {"input": params}, tool="write")])

    assert desk.raised("xd://seed_slot").endswith(", and this call has none. Nothing was written.")
    assert tool.execute.calls == []
    assert desk.session.files.content == {}


# dispatch/step-1 to dispatch/step-6


def test_a_device_resolves_by_mounted_or_active_name_if_it_is_there():
    """dispatch/D-17: mounting is presentation only."""

    def reaches(**names: Any) -> bool:
        desk = Desk([slot_tool()], **names)
        return desk.result("xd://seed_slot").is_error is UNSET

    assert reaches()
    assert reaches(mounted=(), active=["seed_slot"])
    assert not reaches(mounted=())
    assert not reaches(mounted=["other"], active=["other"])


def test_a_name_without_a_tool_reaches_nothing():
    """dispatch/D-17 and dispatch/D-23: the canonical map decides, whatever is mounted."""
    desk = Desk([slot_tool()], mounted=["seed_slot", "gone"])

    assert error_text(desk.result("xd://gone")) == no_such_tool("gone", "seed_slot, gone")
    assert desk.seen(DeviceSought) == [
        DeviceSought(at_ms=0, tool_call_id="call-1", device="gone", found=False, mounted=True, active=False)
    ]


def test_the_record_shows_only_what_was_reached():
    """dispatch/D-19: tool and mode, then arguments, tier and the device's details as far as it got."""
    content = {"name": "xd://nope", "json": "{", "denied": PUBLISH, "done": INSPECT, "help": "?"}
    desk = Desk(
        [
            slot_tool(
                approval=lambda args: {"tier": "exec", "policy": "deny"} if args["action"] == "publish" else "read"
            )
        ]
    )

    assert desk.result("xd://nope").details == {"xdev": {"tool": "nope", "mode": "execute"}}
    assert desk.result("xd://seed_slot", content["json"]).details == {
        "xdev": {"tool": "seed_slot", "mode": "execute"}
    }
    assert desk.result("xd://seed_slot", content["help"]).details == {"xdev": {"tool": "seed_slot", "mode": "help"}}
    assert desk.result("xd://seed_slot", content["denied"]).details == {
        "xdev": {"tool": "seed_slot", "mode": "execute", "args": {"action": "publish"}, "tier": "exec"}
    }
    assert desk.result("xd://seed_slot", content["done"]).details == {
        "xdev": {
            "tool": "seed_slot",
            "mode": "execute",
            "args": {"action": "inspect"},
            "tier": "read",
            "inner": {"entry": 1},
        }
    }


def test_a_revision_changes_the_tier_and_not_the_arguments_of_the_record():
    """dispatch/D-20 and dispatch/D-21: the tier is what would really run, the arguments are those that were
    validated.
    """
    tool = slot_tool(approval=lambda args: "read" if args["action"] == "inspect" else "exec")
    desk = Desk([tool], extensions=[on_tool_call(lambda event: {"input": {"action": "publish"}})])
    record = desk.result("xd://seed_slot").details["xdev"]

    assert (record["args"], record["tier"]) == ({"action": "inspect"}, "exec")
    assert tool.execute.inputs == [{"action": "publish"}]


def test_an_inner_deny_of_the_original_leaves_the_declared_tier():
    """dispatch/D-20: it comes before the inner gate reports any."""
    tool = slot_tool(approval={"tier": "write", "policy": "deny"})

    assert Desk([tool]).result("xd://seed_slot").details["xdev"]["tier"] == "write"


def test_the_flags_of_the_device_pass_through():
    """dispatch/D-22 and dispatch/D-50: an error result of the device's own keeps its details; success has no
    `isError`.
    """
    failing = Spy(ToolResult(content=text_content("shelf jammed"), details={"shelf": 3}, is_error=True))
    useless = Spy(ToolResult(content=text_content("nothing"), is_error=False, extra={"useless": True}))

    failed = Desk([slot_tool(execute=failing)]).result("xd://seed_slot")
    idle = Desk([slot_tool(execute=useless)]).result("xd://seed_slot")

    assert (error_text(failed), failed.details["xdev"]["inner"]) == ("shelf jammed", {"shelf": 3})
    assert (idle.is_error, idle.extra) == (UNSET, {"useless": True})
    assert "inner" not in idle.details["xdev"]


def test_the_device_gets_the_same_call_id_and_signal():
    """dispatch/step-6: both gates share one call id, and a later abort reaches the device."""
    spy = Spy()
    desk = Desk([slot_tool(execute=spy)])
    signal = AbortSignal(desk.stage)
    desk.write("xd://seed_slot", INSPECT, signal=signal)

    assert (spy.calls[0].call_id, spy.calls[0].signal) == ("call-1", signal)
    assert [event.tool_call_id for event in desk.seen(CallStarted)] == ["call-1", "call-1"]


def test_a_bare_tool_is_wrapped_at_the_dispatch():
    """dispatch/step-5, and dispatch/D-55: no way to a device leads past its gate."""
    spy = Spy()
    desk = Desk([])
    denied = slot_tool(approval={"tier": "read", "policy": "deny"}, execute=spy)
    assert desk.session.devices is not None
    desk.session.devices = DeviceState(
        tools={"seed_slot": Device(tool=denied)},
        mounted=("seed_slot",),
        decorate=desk.session.devices.decorate,
    )

    assert error_text(desk.result("xd://seed_slot")) == 'Tool "seed_slot" is blocked by tool policy.'
    assert spy.calls == []


def test_a_plain_call_gets_the_same_decorated_tool():
    """dispatch/D-55."""
    state = Desk([slot_tool()]).session.devices
    assert state is not None
    device = state.tools["seed_slot"]

    assert state.gated(device) is device.wrapper


def test_partial_updates_are_forwarded_under_the_record_so_far():
    """dispatch/D-58."""
    heard: list[ToolResult] = []

    def execute(call: ToolCall) -> ToolResult:
        assert call.on_update is not None
        call.on_update(ToolResult(content=text_content("half"), details={"done": 1}))
        return ToolResult(content=text_content("whole"), details={"done": 2})

    Desk([slot_tool(execute=execute)]).result("xd://seed_slot", INSPECT, on_update=heard.append)

    assert [(visible_text(part.content), part.details) for part in heard] == [
        (
            "half",
            {
                "xdev": {
                    "tool": "seed_slot",
                    "mode": "execute",
                    "args": {"action": "inspect"},
                    "tier": "read",
                    "inner": {"done": 1},
                }
            },
        )
    ]


@pytest.mark.parametrize(
    ("name", "discoverable", "shown"),
    [("seed_slot", True, True), ("seed_slot", False, False), *[(name, True, False) for name in
     ("read", "write", "todo", "yield", "ask", "grep", "web_search")]],
)  # fmt: skip
def test_only_discoverable_tools_are_mounted_and_some_never(name: str, discoverable: bool, shown: bool):
    """dispatch/D-54."""
    assert mountable(name, discoverable=discoverable) is shown


# Ordinary files


@pytest.mark.parametrize(
    ("path", "shown"),
    [("card.txt", "card.txt"), ("shelf/./card.txt", "shelf/card.txt"), ("./xd/card", "xd/card"), (" a ", " a ")],
)
def test_an_ordinary_file_is_written_in_memory(path: str, shown: str):
    """dispatch/G9: the result names it, with a tag of its content; sizes count as the host counts characters."""
    desk = Desk([slot_tool()])
    result = desk.result(path, "a 🌱")

    first, second = visible_text(result.content).split("\n")
    assert first.startswith(f"[{shown}#")
    assert second == f"Successfully wrote 4 bytes to {shown}"
    assert result.details == {"resolvedPath": f"<tmp>/cwd/{shown}"}
    assert desk.session.files.content == {shown: "a 🌱"}
    assert desk.seen(FileWritten) == [FileWritten(at_ms=0, tool_call_id="call-1", path=shown, characters=4)]


def test_cleaned_anchors_are_mentioned():
    """dispatch/D-56."""
    desk = Desk([slot_tool()])

    assert visible_text(desk.result("card.txt", "1:a card").content).endswith(
        "\nNote: auto-stripped hashline display prefixes from content before writing."
    )
    assert desk.session.files.content == {"card.txt": "a card"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("card\u0000.txt", "the control character U+0000"),
        ("card\n.txt", "the control character U+000A"),
        ("card\x7f", "the control character U+007F"),
        ("\ud800", "half of a surrogate pair"),
        ("", "names no file"),
        (".", "names no file"),
        ("..", "outside the folder"),
        ("../card", "outside the folder"),
        ("/etc/card", "outside the folder"),
    ],
)
def test_a_path_that_cannot_be_a_file_of_the_case_is_refused(path: str, found: str):
    """Bad input: a clear error, and nothing written."""
    desk = Desk([slot_tool()])

    assert found in desk.raised(path, "a card")
    assert desk.session.files.content == {}
