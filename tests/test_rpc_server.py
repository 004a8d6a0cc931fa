"""The server's end of a connection, without pipes and without time: frames in, frames out (spec/rpc.md)."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields

from labsim.approval import Settings
from labsim.events import LateReply, Ledger, as_mapping
from labsim.review import script
from labsim.rpc.actions import Start
from labsim.rpc.adapter import REMEMBERED
from labsim.rpc.commands import COMMANDS, NativeCall
from labsim.rpc.dialogs import CLIENT_DISCONNECTED
from labsim.rpc.frames import to_wire
from labsim.rpc.incoming import sort_frame
from labsim.rpc.ledger import ClientDisconnected, DialogSettled, FrameReceived
from labsim.rpc.rolling import RollingLedger
from labsim.rpc.server import MOST_WAITING, SHUT_DOWN, Server

NOTE = b"Seed swap on Saturday.\n"
READY = {
    "type": "ready",
    "protocolVersion": 1,
    "supportedProtocolVersions": [1],
    "maxFrameBytes": 1048576,
    "maxReassembledFrameBytes": 67108864,
}


class Wire:
    """A server, and everything that it wrote. `take` gives what came since it was last asked."""

    def __init__(self, mode: str = "write", **start: Any) -> None:
        self.frames: list[dict[str, Any]] = []
        self.faults: list[Exception] = []
        self._taken = 0
        begins = Start(fixture=NOTE, settings=Settings(mode, {}), **start)
        self.server = Server(begins, lambda frame: self.frames.append(to_wire(frame)), self.faults.append)
        self.server.open()
        assert self.take() == [READY]

    def take(self) -> list[dict[str, Any]]:
        new = self.frames[self._taken :]
        self._taken = len(self.frames)
        return new

    def forget(self) -> None:
        self.frames.clear()
        self._taken = 0

    def give(self, frame: object) -> list[dict[str, Any]]:
        """Send one JSON value. Returns: what the server wrote then."""
        self.server.receive(sort_frame(frame))
        return self.take()

    def command(self, kind: str, command_id: object = "c", /, **given: Any) -> list[dict[str, Any]]:
        return self.give({"type": kind, "id": command_id, **given})

    def reply(self, dialog_id: str, **payload: Any) -> list[dict[str, Any]]:
        return self.give({"type": "extension_ui_response", "id": dialog_id, **payload})

    def state(self) -> dict[str, Any]:
        (answer,) = self.command("get_state", "state")
        data: dict[str, Any] = answer["data"]
        return data

    def of(self, *kinds: type[Struct]) -> list[Struct]:
        return [event for event in self.server.ledger if isinstance(event, kinds)]


def done(command: str, command_id: object = "c", **data: Any) -> dict[str, Any]:
    """The response to a command that went well."""
    there = {"data": data} if data else {}
    return {"type": "response", "id": command_id, "command": command, "success": True, **there}


def failed(command: str, error: str, command_id: object = "c") -> dict[str, Any]:
    return {"type": "response", "id": command_id, "command": command, "success": False, "error": error}


def request(number: int, method: str, **given: Any) -> dict[str, Any]:
    return {"type": "extension_ui_request", "id": f"req-{number}", "method": method, **given}


# ----------------------------------------------------------------------------------------------------- dialogs

ASKED = {
    "select": {"title": "Which shelf?", "options": ["north", "south"]},
    "confirm": {"title": "Sure?", "message": "Move the beans."},
    "input": {"title": "Whose?"},
    "editor": {"title": "The note"},
}


@pytest.mark.parametrize(
    ("kind", "given_", "asked"),
    [
        *((kind, given_, given_) for kind, given_ in ASKED.items()),
        (
            "select",
            {
                "title": "t",
                "options": ["a", {"label": "b", "description": "  late  "}, {"label": "c"}],
                "timeout": 5,
            },
            {
                "title": "t",
                "options": ["a", "b", "c"],
                "optionDetails": [{}, {"description": "late"}, {}],
                "timeout": 5,
            },
        ),
        (
            "select",
            {"title": "t", "options": [{"label": "a", "description": " "}]},
            {"title": "t", "options": ["a"]},
        ),
        ("confirm", {"title": "t", "message": "m", "timeout": 0}, {"title": "t", "message": "m", "timeout": 0}),
        ("input", {"title": "t", "placeholder": "p"}, {"title": "t", "placeholder": "p"}),
        (
            "editor",
            {"title": "t", "prefill": "p", "promptStyle": True, "timeout": 5},
            {"title": "t", "prefill": "p", "promptStyle": True},
        ),
    ],
)
def test_a_dialog_is_one_request_with_the_fields_it_was_given(
    kind: str, given_: dict[str, Any], asked: dict[str, Any]
) -> None:
    """Section 3.1, R-4, R-16, R-17, R-36: nothing is sent as null, and an editor has no timeout."""
    assert Wire().command(kind, **given_) == [request(1, kind, **asked)]


@pytest.mark.parametrize(
    ("kind", "payload", "data"),
    [
        ("select", {"value": "south"}, {"value": "south", "timedOut": False}),
        ("select", {"value": "never offered"}, {"value": "never offered", "timedOut": False}),
        ("input", {"value": ""}, {"value": "", "timedOut": False}),
        ("editor", {"value": "two\nlines"}, {"value": "two\nlines", "timedOut": False}),
        ("select", {"cancelled": True}, {"timedOut": False}),
        ("select", {"cancelled": True, "value": "south"}, {"timedOut": False}),
        ("select", {"cancelled": False, "value": "south"}, {"value": "south", "timedOut": False}),
        ("select", {"cancelled": False}, {"timedOut": False}),
        ("select", {}, {"timedOut": False}),
        ("select", {"confirmed": True}, {"timedOut": False}),
        ("select", {"cancelled": True, "timedOut": True}, {"timedOut": True}),
        ("editor", {"cancelled": True, "timedOut": True}, {"timedOut": False}),
        ("confirm", {"confirmed": True}, {"value": True, "timedOut": False}),
        ("confirm", {"confirmed": False}, {"value": False, "timedOut": False}),
        ("confirm", {"confirmed": "yes"}, {"value": False, "timedOut": False}),
        ("confirm", {"value": True}, {"value": False, "timedOut": False}),
        ("confirm", {"cancelled": True}, {"value": False, "timedOut": False}),
        ("confirm", {}, {"value": False, "timedOut": False}),
        ("confirm", {"cancelled": True, "timedOut": True}, {"value": False, "timedOut": True}),
    ],
)
def test_a_reply_settles_its_dialog(kind: str, payload: dict[str, Any], data: dict[str, Any]) -> None:
    """R-18, R-25 to R-32: what each reply comes to; the command's response says so."""
    wire = Wire()
    wire.command(kind, **ASKED[kind])

    assert wire.reply("req-1", **payload) == [done(kind, **data)]
    assert wire.state()["openDialogs"] == []


@pytest.mark.parametrize(("kind", "value"), [("select", {}), ("confirm", {"value": False}), ("editor", {})])
def test_a_signal_that_was_aborted_before_sends_nothing(kind: str, value: dict[str, Any]) -> None:
    """R-33: no request and no cancel; nothing is in the ledger, either."""
    wire = Wire()

    assert wire.command(kind, **ASKED[kind], aborted=True) == [done(kind, **value, timedOut=False)]
    assert list(wire.server.ledger) == []


@pytest.mark.parametrize(("kind", "value"), [("select", {}), ("confirm", {"value": False}), ("input", {})])
def test_an_abort_is_one_cancel_frame_and_a_late_reply_is_swallowed(kind: str, value: dict[str, Any]) -> None:
    """R-20, R-34, R-38: the cancel names its target; the reply that crosses it changes nothing."""
    wire = Wire()
    wire.command(kind, "asking", **ASKED[kind])

    assert wire.command("abort", target="asking") == [
        request(2, "cancel", targetId="req-1"),
        done("abort"),
        done(kind, "asking", **value, timedOut=False),
    ]
    before = wire.state()
    assert wire.reply("req-1", value="south", confirmed=True) == []
    assert wire.state() == {**before, "events": before["events"] + 2}  # that it came late, and its frame
    assert len(wire.of(LateReply)) == 1


def test_an_id_that_was_never_given_is_swallowed_too() -> None:
    """R-38: and nobody is said to be late."""
    wire = Wire()
    wire.command("input", title="Whose?")

    assert wire.reply("req-7", value="x") == []
    assert wire.reply("req-1", value="mine") == [done("input", value="mine", timedOut=False)]
    assert len(wire.of(FrameReceived)) == 2
    assert wire.of(LateReply) == []


@pytest.mark.parametrize(("kind", "value"), [("select", {}), ("confirm", {"value": False}), ("input", {})])
def test_a_timer_closes_its_dialog_without_a_frame(kind: str, value: dict[str, Any]) -> None:
    """R-21, R-35: no answer, the callback is told, and no cancel frame; a reply after that is late."""
    wire = Wire()
    wire.command(kind, **ASKED[kind], timeout=50)
    assert wire.server.next_due_ms == 50

    wire.server.advance(49)
    assert wire.take() == []
    wire.server.advance(50)
    assert wire.take() == [done(kind, **value, timedOut=True)]
    assert wire.server.next_due_ms is None
    assert wire.reply("req-1", value="south") == []


def test_a_reply_in_time_stops_the_timer() -> None:
    """R-37: there is nothing left that could fire."""
    wire = Wire()
    wire.command("input", title="Whose?", timeout=50)
    wire.server.advance(49)
    wire.reply("req-1", value="mine")

    assert wire.server.next_due_ms is None


def test_an_editor_has_no_timer() -> None:
    """R-36: a timeout that it is given comes to nothing."""
    wire = Wire()
    wire.command("editor", title="The note", timeout=50)
    wire.server.advance(3_600_000)

    assert wire.reply("req-1", value="late enough") == [done("editor", value="late enough", timedOut=False)]


def test_timers_fire_in_the_order_they_are_due_however_far_time_jumps() -> None:
    """R-35: each at its own time."""
    wire = Wire()
    wire.command("input", "slow", title="a", timeout=80)
    wire.command("input", "quick", title="b", timeout=20)
    wire.server.advance(500)

    assert wire.take() == [done("input", "quick", timedOut=True), done("input", "slow", timedOut=True)]
    assert [event.at_ms for event in wire.of(DialogSettled)] == [20, 80]


def test_several_dialogs_are_answered_in_any_order() -> None:
    """R-44: each by its id."""
    wire = Wire()
    wire.command("select", 1, **ASKED["select"])
    wire.command("confirm", 2, **ASKED["confirm"])

    assert wire.state()["openDialogs"] == ["req-1", "req-2"]
    assert wire.reply("req-2", confirmed=True) == [done("confirm", 2, value=True, timedOut=False)]
    assert wire.reply("req-1", value="north") == [done("select", 1, value="north", timedOut=False)]


# -------------------------------------------------------------------------------------- frames that are no reply


@pytest.mark.parametrize("kind", ["bash", "negotiate_protocol"])
def test_an_unknown_command_is_answered_without_its_id(kind: str) -> None:
    """R-13, and R-9: protocol 2 is not offered, so nobody has a reason to ask for it."""
    assert Wire().command(kind, protocolVersion=2) == [
        {"type": "response", "command": kind, "success": False, "error": f"Unknown command: {kind}"}
    ]


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        ({"type": "extension_ui_response", "value": "x"}, "extension_ui_response"),
        ({"type": "extension_ui_response", "id": 1, "value": "x"}, "extension_ui_response"),
        ({"type": "host_tool_result", "id": "a"}, "host_tool_result"),
        ({"type": 5}, "5"),
        ({}, "undefined"),
    ],
)
def test_a_frame_that_is_nearly_a_reply_is_an_unknown_command(frame: dict[str, Any], named: str) -> None:
    """R-11, R-13: a control frame needs the exact type and a string id."""
    (answer,) = Wire().give(frame)

    assert answer["error"] == f"Unknown command: {named}"
    assert "id" not in answer


@pytest.mark.parametrize("frame", [None, 5, True, "text", ["a"]])
def test_what_is_no_object_is_answered_like_a_bad_line(frame: object) -> None:
    """R-2, R-14."""
    (answer,) = Wire().give(frame)

    assert (answer["command"], answer["success"], "id" in answer) == ("parse", False, False)
    assert answer["error"].startswith("Failed to parse command: a frame is a JSON object, not ")


@pytest.mark.parametrize("kind", ["host_uri_result", "host_tool_result", "host_tool_update"])
def test_replies_for_tools_and_addresses_of_the_client_are_dropped(kind: str) -> None:
    """R-10: they are control frames, and this server has asked for none."""
    frame = {"type": kind, "id": "a", "result": {"content": []}, "partialResult": {"content": []}}

    assert Wire().give(frame) == []


@pytest.mark.parametrize(
    ("kind", "fields_", "error"),
    [
        ("command", {}, "command: Object missing required field `words`. It takes: queued, words."),
        ("command", {"words": 5}, "command: Expected `str`, got `int` - at `$.words`. It takes: queued, words."),
        (
            "go",
            {"to": "root", "form": 1},
            "go: Object contains unknown field `form`. It takes: to, vetoed.",
        ),
        (
            "select",
            {"title": "t", "options": ["a"], "timeout": -1},
            "select: Expected `int` >= 0 - at `$.timeout`. It takes: queued, title, timeout, aborted, options.",
        ),
        ("native", {"call": "askDialog"}, "native: Invalid enum value 'askDialog' - at `$.call`. It takes: call."),
        ("get_ledger", {"from": -1}, "get_ledger: Expected `int` >= 0 - at `$.from`. It takes: from."),
        ("shutdown", {"now": True}, "shutdown: Object contains unknown field `now`. It takes: nothing."),
        ("go", {"to": "entry-9"}, "session-1 has no entry 'entry-9'. Its entries: none."),
        ("branch", {"at": "entry-9"}, "session-1 has no entry 'entry-9'. Its entries: none."),
        (
            "switch",
            {"how": "resume", "session": "session-9"},
            "There is no session 'session-9'. Sessions: session-1.",
        ),
        (
            "switch",
            {"how": "resume"},
            'switch: resume and a session do not go together. Use "session" with "resume" only.',
        ),
        (
            "switch",
            {"how": "new", "session": "session-1"},
            'switch: new and a session do not go together. Use "session" with "resume" only.',
        ),
        (
            "gated_call",
            {"approval": {"fn": ["x"]}},
            'gated_call: there is no approval rule ["x"]. Use one of: seed-slot, seed-slot-reason, '
            "override-publish, from-args, read-if-extra, returns-undefined, returns-null, throws.",
        ),
        ("abort", {"target": ["x"]}, 'No dialog or gated call of the id ["x"] is under way.'),
    ],
)
def test_a_command_that_fails_is_answered_with_its_id_and_type(
    kind: str, fields_: dict[str, Any], error: str
) -> None:
    """R-15: where, what was found, what would do; and the server goes on."""
    wire = Wire()

    assert wire.command(kind, ["any", "id"], **fields_) == [failed(kind, error, ["any", "id"])]
    assert wire.state()["underWay"] == []
    assert (wire.faults, wire.server.finished) == ([], False)


def test_an_error_of_our_own_is_answered_as_well_and_told_to_the_shell() -> None:
    """R-15: the client gets a response, whatever went wrong; the error itself is for whoever runs the server."""
    fault = ZeroDivisionError()

    def breaks(session_id: str, entry: object) -> None:
        raise fault

    wire = Wire(save=breaks)

    assert wire.command("message", text="hello") == [failed("message", "ZeroDivisionError")]
    assert wire.faults == [fault]
    assert wire.state()["entries"] == 0


# --------------------------------------------------------------------------------------------- whose turn it is


def test_a_reply_overtakes_queued_commands() -> None:
    """R-10, R-12: commands wait for the one before them; the reply that it waits for cannot be among them."""
    wire = Wire()
    wire.command("input", 1, title="Whose?", queued=True)
    assert wire.command("notify", 2, message="after that") == []
    assert wire.command("get_state", 3) == []

    answered = wire.reply("req-1", value="mine")
    assert answered[:3] == [
        done("input", 1, value="mine", timedOut=False),
        request(2, "notify", message="after that"),
        done("notify", 2),
    ]
    assert [frame["id"] for frame in answered[3:]] == [3]


def test_what_can_open_a_dialog_runs_beside_the_others() -> None:
    """R-12: so a second command can overtake the first, and revoke it."""
    wire = Wire()
    wire.command("command", "asks", words="delegate")
    wire.command("input", "too", title="Whose?")
    state = wire.state()

    assert (state["underWay"], state["pending"], state["busy"]) == (["asks", "too"], "delegate", True)


def test_a_client_that_sends_more_than_can_wait_is_told_so() -> None:
    """Memory stays bounded; whoever is over makes room."""
    wire = Wire()
    error = f"{MOST_WAITING} commands are waiting. Send it again when one of them is over."
    for _ in range(MOST_WAITING):
        wire.command("input", title="Whose?")
    assert wire.command("input", "one too many", title="Whose?") == [failed("input", error, "one too many")]

    wire.reply("req-1", cancelled=True)
    assert wire.command("input", title="Whose?", queued=True) == [
        request(MOST_WAITING + 1, "input", title="Whose?")
    ]
    for _ in range(MOST_WAITING):
        wire.command("get_state")
    assert wire.command("shutdown", "one too many") == [failed("shutdown", error, "one too many")]


# --------------------------------------------------------------------------------- what an extension can show


@pytest.mark.parametrize(
    ("kind", "fields_", "frames"),
    [
        ("notify", {"message": "m"}, [request(1, "notify", message="m")]),
        (
            "notify",
            {"message": "m", "notifyType": "warning"},
            [request(1, "notify", message="m", notifyType="warning")],
        ),
        ("setStatus", {"statusKey": "k"}, [request(1, "setStatus", statusKey="k")]),
        (
            "setStatus",
            {"statusKey": "k", "statusText": "t"},
            [request(1, "setStatus", statusKey="k", statusText="t")],
        ),
        ("setWidget", {"widgetKey": "k"}, [request(1, "setWidget", widgetKey="k")]),
        (
            "setWidget",
            {"widgetKey": "k", "widgetLines": ["a", ""], "widgetPlacement": "belowEditor"},
            [request(1, "setWidget", widgetKey="k", widgetLines=["a", ""], widgetPlacement="belowEditor")],
        ),
        ("setWidget", {"widgetKey": "k", "factory": True}, []),
        ("setEditorText", {"text": "t"}, [request(1, "set_editor_text", text="t")]),
        ("pasteToEditor", {"text": "t"}, [request(1, "set_editor_text", text="t")]),
        ("setTitle", {"title": "t"}, []),
    ],
)
def test_what_nobody_answers_is_one_frame_or_none(
    kind: str, fields_: dict[str, Any], frames: list[dict[str, Any]]
) -> None:
    """Sections 3.3 and 3.4, R-4, R-22, R-23."""
    assert Wire().command(kind, **fields_) == [*frames, done(kind)]


def test_titles_are_sent_where_the_environment_wants_them() -> None:
    """Section 3.3: behind its switch."""
    assert Wire(titles=True).command("setTitle", title="t") == [request(1, "setTitle", title="t"), done("setTitle")]


def test_a_reply_to_what_nobody_answers_is_ignored() -> None:
    """R-22."""
    wire = Wire()
    wire.command("notify", message="m")

    assert wire.reply("req-1", value="seen") == []


NATIVE = {
    "custom": {"valueType": "undefined"},
    "setFooter": {"valueType": "undefined"},
    "setHeader": {"valueType": "undefined"},
    "setWorkingMessage": {"valueType": "undefined"},
    "setEditorComponent": {"valueType": "undefined"},
    "addAutocompleteProvider": {"valueType": "undefined"},
    "setToolsExpanded": {"valueType": "undefined"},
    "getToolsExpanded": {"valueType": "boolean", "value": False},
    "onTerminalInput": {"valueType": "function"},
    "getEditorText": {"valueType": "string", "value": ""},
    "getAllThemes": {"valueType": "object", "value": []},
    "getTheme": {"valueType": "undefined"},
    "setTheme": {
        "valueType": "object",
        "value": {"success": False, "error": "Theme switching not supported in RPC mode"},
    },
    "theme": {"valueType": "object", "value": {}},
}


@pytest.mark.parametrize("call", list(NativeCall))
def test_what_only_a_terminal_can_do_comes_to_nothing(call: NativeCall) -> None:
    """Section 3.4: no frame, and just this value."""
    assert Wire().command("native", call=call.value) == [done("native", **NATIVE[call.value])]


# ------------------------------------------------------------------------------------------------ the generic gate

APPROVAL = {"title": "Allow tool: seed_note\nInput: {}", "options": ["Approve", "Deny"]}


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ({"value": "Approve"}, None),
        ({"value": "Deny"}, "Tool call denied by user: seed_note"),
        ({"value": "sure"}, "Tool call denied by user: seed_note"),
        ({"cancelled": True}, "Tool call denied by user: seed_note"),
        ({"confirmed": True}, "Tool call denied by user: seed_note"),
    ],
)
def test_one_approval_is_one_request(payload: dict[str, Any], error: str | None) -> None:
    """Section 6: title and labels, no details and no timeout; only the exact label runs the tool."""
    wire = Wire()
    assert wire.command("gated_call") == [request(1, "select", **APPROVAL)]

    text = [{"type": "text", "text": "inert"}]
    expected = done("gated_call", content=text, details={"entry": 1}) if error is None else None
    assert wire.reply("req-1", **payload) == [expected or failed("gated_call", str(error))]


def test_a_call_of_a_lower_tier_is_not_asked_about() -> None:
    """The mode is write, and the tool says read."""
    wire = Wire()
    (answer,) = wire.command("gated_call", tool="peek", approval="read", args={"shelf": "north"})

    assert answer["success"] is True


def test_a_tool_may_judge_its_own_arguments() -> None:
    """A rule of the inert tools, by its label: what it says depends on what the call is."""
    wire, rule = Wire("always-ask"), {"fn": "seed-slot"}
    (inspected,) = wire.command("gated_call", approval=rule, args={"action": "inspect"})
    (blocked,) = wire.command("gated_call", approval=rule, args={"action": "blocked"})

    assert inspected["success"] is True
    assert "blocked by tool policy" in blocked["error"]


def test_neither_time_nor_an_abort_closes_an_approval() -> None:
    """R-46: only the client does, by an answer or by going away."""
    wire = Wire()
    wire.command("gated_call", "gated")
    wire.server.advance(3_600_000)

    assert wire.command("abort", target="gated") == [done("abort")]
    assert wire.state()["openDialogs"] == ["req-1"]


def test_the_gate_is_set_while_the_server_runs() -> None:
    """Policies stay as they are where none are given."""
    wire = Wire()
    wire.command("settings", mode="yolo", policies={"seed_note": "deny"})
    assert wire.state()["approvalMode"] == "yolo"

    wire.command("settings", mode="always-ask")
    (answer,) = wire.command("gated_call")
    assert "blocked by user policy" in answer["error"]


# -------------------------------------------------------------------------------------------------------- the end


def test_a_disconnect_fails_the_dialogs_first_then_lets_everything_come_to_its_end() -> None:
    """R-40, R-42, R-43: dialogs raise, queued commands still run, the session ends, and nothing more is taken."""
    wire = Wire()
    wire.command("gated_call", "gated", approval="exec")
    wire.command("command", "delegate", words="delegate")
    wire.command("input", "asks", title="Whose?", queued=True)
    wire.command("message", "queued", text="still here")
    wire.command("select", "too late", **ASKED["select"])
    before = len(wire.server.ledger)
    wire.server.disconnect()

    answers = [frame for frame in wire.take() if frame["type"] == "response"]
    assert answers == [
        failed("gated_call", CLIENT_DISCONNECTED, "gated"),
        done("command", "delegate"),
        failed("input", CLIENT_DISCONNECTED, "asks"),
        done("message", "queued", entryId="entry-1"),
        failed("select", CLIENT_DISCONNECTED, "too late"),
    ]
    after = wire.server.ledger.events[before:]
    assert isinstance(after[0], ClientDisconnected)
    last = as_mapping(after[-1])
    assert (last["event"], last["rule"]) == ("step_taken", "S15")
    assert wire.server.finished
    assert wire.command("get_state") == []
    wire.server.disconnect()
    assert wire.take() == []


def test_a_shutdown_aborts_what_the_desk_has_open_and_is_answered_last() -> None:
    """S15: the desk's dialog is closed at both ends; what else is under way hears that nobody will answer it."""
    wire = Wire()
    wire.command("command", 1, words="delegate")
    wire.command("gated_call", 2)
    wire.command("input", 3, title="Whose?")

    frames = wire.command("shutdown", 4)
    assert frames[0] == request(4, "cancel", targetId="req-1")
    assert [frame for frame in frames if frame["type"] == "response"] == [
        done("command", 1),
        failed("gated_call", SHUT_DOWN, 2),
        failed("input", SHUT_DOWN, 3),
        done("shutdown", 4),
    ]
    assert frames[-1] == done("shutdown", 4)
    assert wire.server.finished
    assert wire.command("get_state") == []


def test_a_shutdown_with_nothing_open_is_one_frame() -> None:
    wire = Wire()

    assert wire.command("shutdown") == [done("shutdown")]
    assert wire.of(ClientDisconnected) == []


# ---------------------------------------------------------------------------------------------------- the sessions


def test_moves_say_where_they_led() -> None:
    """V-38: and a move that another extension cancels leads nowhere."""
    wire = Wire()
    wire.command("message", text="hello")

    assert wire.command("go", to="root") == [
        *_refreshed(1),
        done("go", moved=True, sessionId="session-1", leafId=None),
    ]
    assert wire.command("switch", how="fork", vetoed=True) == [
        done("switch", moved=False, sessionId="session-1", leafId=None)
    ]
    assert wire.command("branch", at="entry-1")[-1] == done(
        "branch", moved=True, sessionId="session-2", leafId="entry-1"
    )
    assert wire.command("switch", how="resume", session="session-1")[-1] == done(
        "switch", moved=True, sessionId="session-1", leafId=None
    )
    assert wire.command("switch", how="new")[-1] == done("switch", moved=True, sessionId="session-3", leafId=None)
    assert wire.state()["sessions"] == ["session-1", "session-2", "session-3"]


def _refreshed(number: int) -> list[dict[str, Any]]:
    """The status and the widget of an untouched note."""
    lines = ["Review desk: draft, revision 0", "Permission: none", "Note: Seed swap on Saturday."]
    return [
        request(number, "setStatus", statusKey="review-desk", statusText="draft r0"),
        request(number + 1, "setWidget", widgetKey="review-desk", widgetLines=lines),
    ]


def test_a_full_disk_is_an_error_of_the_command() -> None:
    """V-14."""
    wire = Wire()
    wire.command("storage", full=True)
    (answer,) = wire.command("message", text="hello")
    assert answer["error"].startswith("Nothing recorded: the session could not be saved")

    wire.command("storage", full=False)
    assert wire.command("message", text="hello") == [done("message", entryId="entry-1")]


def test_the_state_says_where_everything_stands() -> None:
    wire = Wire()

    assert wire.state() == {
        "mode": "rpc",
        "approvalMode": "write",
        "text": "Seed swap on Saturday.\n",
        "status": "draft",
        "revision": 0,
        "authorized": False,
        "busy": False,
        "pending": "none",
        "sessionId": "session-1",
        "sessions": ["session-1"],
        "leafId": None,
        "entries": 0,
        "openDialogs": [],
        "underWay": [],
        "events": 0,
    }


def test_without_a_note_the_state_says_nothing_of_one() -> None:
    """V-4."""
    frames: list[dict[str, Any]] = []
    server = Server(Start(fixture=None), lambda frame: frames.append(to_wire(frame)), lambda error: None)
    server.receive(sort_frame({"type": "get_state"}))

    assert frames[0]["data"].keys() & {"text", "status", "revision", "authorized"} == set()


def test_the_steps_of_a_case_are_commands_in_the_same_words() -> None:
    """A case can be played from the client's end: the rest is what a client does by itself, or a terminal; and time
    passes by itself.
    """
    elsewhere = {"reply", "disconnect", "restart", "keys", "wait"}
    steps = {kind.__struct_config__.tag: kind for kind in vars(script).values() if _is_step(kind)}

    assert steps.keys() - COMMANDS.keys() == elsewhere
    for word in steps.keys() & COMMANDS.keys():
        taken = {field.encode_name for field in fields(COMMANDS[word])}
        assert {field.encode_name for field in fields(steps[word])} <= taken, word


def _is_step(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, script._Step) and found is not script._Step


# ------------------------------------------------------------------------------------------------------ the ledger


def test_the_ledger_is_handed_over_page_by_page() -> None:
    """Each page goes into one frame, and the pages together are the ledger."""
    wire = Wire()
    for number in range(60):
        wire.command("notify", message=f"{number} " + "x" * 10_000)
    following, events, pages = 0, [], 0
    while following is not None:
        (answer,) = wire.command("get_ledger", **{"from": following})
        page = answer["data"]
        assert page["first"] == len(events)
        events.extend(page["events"])
        following, pages = page.get("next"), pages + 1

    assert pages > 1
    assert events == [to_wire(as_mapping(event)) for event in wire.server.ledger]
    assert wire.command("get_ledger", **{"from": 1000}) == [done("get_ledger", first=1000, total=60, events=[])]


def plain_events(ledger: Ledger) -> list[Any]:
    return [as_mapping(event)["questionId"] for event in ledger]


def test_a_rolling_ledger_keeps_the_newest_and_counts_the_others() -> None:
    ledger = RollingLedger(most_events=10)
    for number in range(25):
        ledger.append(LateReply(at_ms=0, question_id=str(number)))

    assert ledger.total == 25
    assert plain_events(ledger) == [str(number) for number in range(ledger.first, 25)]
    assert 5 <= len(ledger) <= 10


def test_a_rolling_ledger_weighs_what_it_keeps_and_always_keeps_the_newest() -> None:
    ledger = RollingLedger(most_characters=1000)
    for number in range(100):
        ledger.append(LateReply(at_ms=0, question_id=f"{number:0300d}"))
        assert sum(len(kept) for kept in plain_events(ledger)) <= 1000
    ledger.append(LateReply(at_ms=0, question_id="x" * 5000))

    assert plain_events(ledger) == ["x" * 5000]
    assert (ledger.first, ledger.total) == (100, 101)


def test_a_page_from_before_what_is_kept_begins_with_what_is() -> None:
    """The client sees by `first` that something is missing."""
    wire = Wire()
    for _ in range(10):
        wire.command("notify", message="x" * 500_000)
    (answer,) = wire.command("get_ledger")

    assert answer["data"]["first"] == wire.server.ledger.first > 0
    assert answer["data"]["total"] == 10


def test_a_dialog_that_is_over_leaves_nothing_behind() -> None:
    """R-37: however many there were; what is remembered for late replies, and the ledger, is bounded."""
    wire, asked = Wire(), 0

    def answer(many: int) -> Counter[str]:
        nonlocal asked
        for _ in range(many):
            asked += 1
            wire.command("input", title="Whose?", timeout=60_000)
            wire.reply(f"req-{asked}", value="mine")
        wire.forget()
        gc.collect()
        return Counter(type(found).__name__ for found in gc.get_objects())

    before = answer(REMEMBERED + 100)
    grown = answer(1000) - before
    assert {kind: many for kind, many in grown.items() if many > 200 and kind != "dict"} == {}  # those are frames


# ------------------------------------------------------------------------------------------------- whatever comes

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
words = st.sampled_from(["show", "review", "delegate", "revoke", "overlay", ""])
ids = st.sampled_from(["req-1", "req-2", "req-3", "req-4", "req-5", "other"])
frames = st.one_of(
    json_values,
    st.fixed_dictionaries(
        {"type": st.sampled_from(sorted({*COMMANDS} - {"shutdown"}))}, optional={"id": json_values}
    ),
    st.fixed_dictionaries({"type": st.just("command"), "id": json_values, "words": words, "queued": st.booleans()}),
    st.fixed_dictionaries({"type": st.just("gated_call"), "id": json_values, "approval": json_values}),
    st.fixed_dictionaries({"type": st.just("call"), "id": json_values, "args": json_values}),
    st.fixed_dictionaries(
        {"type": st.just("extension_ui_response"), "id": ids},
        optional={"value": json_values, "confirmed": json_values, "cancelled": json_values},
    ),
    st.fixed_dictionaries({"type": st.just("input"), "title": st.text(max_size=3), "timeout": st.integers(0, 20)}),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 10), frames), max_size=25))
def test_every_command_gets_one_answer_whatever_the_client_sends(sent: list[tuple[int, Any]]) -> None:
    """R-12, R-13, R-15, R-38, R-43: no frame breaks the server, and in the end every command has its response."""
    wire = Wire("always-ask")
    now = 0
    for ms, frame in sent:
        now += ms
        wire.server.advance(now)
        wire.give(frame)
    wire.server.disconnect()

    replies = [f for _, f in sent if isinstance(f, Mapping) and f.get("type") == "extension_ui_response"]
    answered = [frame for frame in wire.frames if frame["type"] == "response"]
    assert len(answered) == len(sent) - len(replies)
    assert wire.faults == []
