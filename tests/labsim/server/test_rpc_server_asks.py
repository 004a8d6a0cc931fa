"""What a client can ask of the server, without pipes and without time: frames in, frames out."""

from __future__ import annotations

from typing import Any

import pytest
from rpc_server_kit import Wire, done, failed, request

from labsim.events.dialogs import LateReply
from labsim.rpc.events import DialogSettled, FrameReceived
from labsim.server.commands import NativeCall

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
    """rpc/R-16 to rpc/R-21, rpc/R-4, rpc/R-16, rpc/R-17, rpc/R-36: nothing is sent as null, and an editor has no
    timeout.
    """
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
    """rpc/R-18, rpc/R-25 to rpc/R-32: what each reply comes to; the command's response says so."""
    wire = Wire()
    wire.command(kind, **ASKED[kind])

    assert wire.reply("req-1", **payload) == [done(kind, **data)]
    assert wire.state()["openDialogs"] == []


@pytest.mark.parametrize(("kind", "value"), [("select", {}), ("confirm", {"value": False}), ("editor", {})])
def test_a_signal_that_was_aborted_before_sends_nothing(kind: str, value: dict[str, Any]) -> None:
    """rpc/R-33: no request and no cancel; nothing is in the ledger, either."""
    wire = Wire()

    assert wire.command(kind, **ASKED[kind], aborted=True) == [done(kind, **value, timedOut=False)]
    assert list(wire.server.ledger) == []


@pytest.mark.parametrize(("kind", "value"), [("select", {}), ("confirm", {"value": False}), ("input", {})])
def test_an_abort_is_one_cancel_frame_and_a_late_reply_is_swallowed(kind: str, value: dict[str, Any]) -> None:
    """rpc/R-20, rpc/R-34, rpc/R-38: the cancel names its target; the reply that crosses it changes nothing."""
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
    """rpc/R-38: and nobody is said to be late."""
    wire = Wire()
    wire.command("input", title="Whose?")

    assert wire.reply("req-7", value="x") == []
    assert wire.reply("req-1", value="mine") == [done("input", value="mine", timedOut=False)]
    assert len(wire.of(FrameReceived)) == 2
    assert wire.of(LateReply) == []


@pytest.mark.parametrize(("kind", "value"), [("select", {}), ("confirm", {"value": False}), ("input", {})])
def test_a_timer_closes_its_dialog_without_a_frame(kind: str, value: dict[str, Any]) -> None:
    """rpc/R-21, rpc/R-35: no answer, the callback is told, and no cancel frame; a reply after that is late."""
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
    """rpc/R-37: there is nothing left that could fire."""
    wire = Wire()
    wire.command("input", title="Whose?", timeout=50)
    wire.server.advance(49)
    wire.reply("req-1", value="mine")

    assert wire.server.next_due_ms is None


def test_an_editor_has_no_timer() -> None:
    """rpc/R-36: a timeout that it is given comes to nothing."""
    wire = Wire()
    wire.command("editor", title="The note", timeout=50)
    wire.server.advance(3_600_000)

    assert wire.reply("req-1", value="late enough") == [done("editor", value="late enough", timedOut=False)]


def test_timers_fire_in_the_order_they_are_due_however_far_time_jumps() -> None:
    """rpc/R-35: each at its own time."""
    wire = Wire()
    wire.command("input", "slow", title="a", timeout=80)
    wire.command("input", "quick", title="b", timeout=20)
    wire.server.advance(500)

    assert wire.take() == [done("input", "quick", timedOut=True), done("input", "slow", timedOut=True)]
    assert [event.at_ms for event in wire.of(DialogSettled)] == [20, 80]


def test_several_dialogs_are_answered_in_any_order() -> None:
    """rpc/R-44: each by its id."""
    wire = Wire()
    wire.command("select", 1, **ASKED["select"])
    wire.command("confirm", 2, **ASKED["confirm"])

    assert wire.state()["openDialogs"] == ["req-1", "req-2"]
    assert wire.reply("req-2", confirmed=True) == [done("confirm", 2, value=True, timedOut=False)]
    assert wire.reply("req-1", value="north") == [done("select", 1, value="north", timedOut=False)]


# -------------------------------------------------------------------------------------- frames that are no reply


@pytest.mark.parametrize("kind", ["bash", "negotiate_protocol"])
def test_an_unknown_command_is_answered_without_its_id(kind: str) -> None:
    """rpc/R-13, and rpc/R-9: protocol 2 is not offered, so nobody has a reason to ask for it."""
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
    """rpc/R-11, rpc/R-13: a control frame needs the exact type and a string id."""
    (answer,) = Wire().give(frame)

    assert answer["error"] == f"Unknown command: {named}"
    assert "id" not in answer


@pytest.mark.parametrize("frame", [None, 5, True, "text", ["a"]])
def test_what_is_no_object_is_answered_like_a_bad_line(frame: object) -> None:
    """rpc/R-2, rpc/R-14."""
    (answer,) = Wire().give(frame)

    assert (answer["command"], answer["success"], "id" in answer) == ("parse", False, False)
    assert answer["error"].startswith("Failed to parse command: a frame is a JSON object, not ")


@pytest.mark.parametrize("kind", ["host_uri_result", "host_tool_result", "host_tool_update"])
def test_replies_for_tools_and_addresses_of_the_client_are_dropped(kind: str) -> None:
    """rpc/R-10: they are control frames, and this server has asked for none."""
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
    """rpc/R-15: where, what was found, what would do; and the server goes on."""
    wire = Wire()

    assert wire.command(kind, ["any", "id"], **fields_) == [failed(kind, error, ["any", "id"])]
    assert wire.state()["underWay"] == []
    assert (wire.faults, wire.server.finished) == ([], False)


def test_an_error_of_our_own_is_answered_as_well_and_told_to_the_shell() -> None:
    """rpc/R-15: the client gets a response, whatever went wrong; the error itself is for whoever runs the
    server.
    """
    fault = ZeroDivisionError()

    def breaks(session_id: str, entry: object) -> None:
        raise fault

    wire = Wire(save=breaks)

    assert wire.command("message", text="hello") == [failed("message", "ZeroDivisionError")]
    assert wire.faults == [fault]
    assert wire.state()["entries"] == 0


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
    """rpc/R-22 to rpc/R-23, rpc/R-24, rpc/R-4, rpc/R-22, rpc/R-23."""
    assert Wire().command(kind, **fields_) == [*frames, done(kind)]


def test_titles_are_sent_where_the_environment_wants_them() -> None:
    """rpc/R-22 to rpc/R-23: behind its switch."""
    assert Wire(titles=True).command("setTitle", title="t") == [request(1, "setTitle", title="t"), done("setTitle")]


def test_a_reply_to_what_nobody_answers_is_ignored() -> None:
    """rpc/R-22."""
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
    """rpc/R-24: no frame, and just this value."""
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
    """rpc/R-42, rpc/R-46: title and labels, no details and no timeout; only the exact label runs the tool."""
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
    """rpc/R-46: only the client does, by an answer or by going away."""
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
