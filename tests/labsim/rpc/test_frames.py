"""Frames and lines of the RPC protocol: rpc/R-1 to rpc/R-32."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from labsim.rpc.decode import Command, DialogReply, HostFrame, HostReply, Incoming, ParseFailure, sort_frame
from labsim.rpc.dialogs import Confirm, Dialog, Editor, Input, Option, Select
from labsim.rpc.frames import (
    CancelReply,
    CancelRequest,
    ConfirmReply,
    Frame,
    NotifyRequest,
    NotifyType,
    OpenUrlRequest,
    Ready,
    Response,
    SetEditorTextRequest,
    SetStatusRequest,
    SetTitleRequest,
    SetWidgetRequest,
    ValueReply,
    WidgetPlacement,
    emits_titles,
    read_request,
    to_wire,
)
from labsim.rpc.lines import LineReader, read_line, write_line

MIB = 1024 * 1024

# Every request, with all its fields and with as few as it can have, beside the bytes it is on the wire.
REQUESTS: list[tuple[Frame, str]] = [
    (
        Select(title="T", options=("a", Option("b", "why")), timeout_ms=5).request("req-1"),
        '{"type":"extension_ui_request","id":"req-1","method":"select","title":"T","options":["a","b"],'
        '"optionDetails":[{},{"description":"why"}],"timeout":5}',
    ),
    (
        Select(title="T", options=("a",)).request("req-1"),
        '{"type":"extension_ui_request","id":"req-1","method":"select","title":"T","options":["a"]}',
    ),
    (
        Confirm(title="T", message="M", timeout_ms=0).request("req-1"),
        '{"type":"extension_ui_request","id":"req-1","method":"confirm","title":"T","message":"M","timeout":0}',
    ),
    (
        Confirm(title="T", message="").request("req-1"),
        '{"type":"extension_ui_request","id":"req-1","method":"confirm","title":"T","message":""}',
    ),
    (
        Input(title="T", placeholder="P", timeout_ms=9).request("req-1"),
        '{"type":"extension_ui_request","id":"req-1","method":"input","title":"T","placeholder":"P","timeout":9}',
    ),
    (
        Input(title="T").request("req-1"),
        '{"type":"extension_ui_request","id":"req-1","method":"input","title":"T"}',
    ),
    (
        Editor(title="T", prefill="", prompt_style=False, timeout_ms=5).request("req-1"),
        '{"type":"extension_ui_request","id":"req-1","method":"editor","title":"T","prefill":"","promptStyle":false}',
    ),
    (
        Editor(title="T").request("req-1"),
        '{"type":"extension_ui_request","id":"req-1","method":"editor","title":"T"}',
    ),
    (
        CancelRequest(id="req-2", target_id="req-1"),
        '{"type":"extension_ui_request","id":"req-2","method":"cancel","targetId":"req-1"}',
    ),
    (
        NotifyRequest(id="req-1", message="M", notify_type=NotifyType.WARNING),
        '{"type":"extension_ui_request","id":"req-1","method":"notify","message":"M","notifyType":"warning"}',
    ),
    (
        NotifyRequest(id="req-1", message="M"),
        '{"type":"extension_ui_request","id":"req-1","method":"notify","message":"M"}',
    ),
    (
        SetStatusRequest(id="req-1", status_key="K", status_text="S"),
        '{"type":"extension_ui_request","id":"req-1","method":"setStatus","statusKey":"K","statusText":"S"}',
    ),
    (
        SetStatusRequest(id="req-1", status_key="K"),
        '{"type":"extension_ui_request","id":"req-1","method":"setStatus","statusKey":"K"}',
    ),
    (
        SetWidgetRequest(
            id="req-1", widget_key="K", widget_lines=("a",), widget_placement=WidgetPlacement.BELOW_EDITOR
        ),
        '{"type":"extension_ui_request","id":"req-1","method":"setWidget","widgetKey":"K","widgetLines":["a"],'
        '"widgetPlacement":"belowEditor"}',
    ),
    (
        SetWidgetRequest(id="req-1", widget_key="K"),
        '{"type":"extension_ui_request","id":"req-1","method":"setWidget","widgetKey":"K"}',
    ),
    (
        SetEditorTextRequest(id="req-1", text="t"),
        '{"type":"extension_ui_request","id":"req-1","method":"set_editor_text","text":"t"}',
    ),
    (
        SetTitleRequest(id="req-1", title="T"),
        '{"type":"extension_ui_request","id":"req-1","method":"setTitle","title":"T"}',
    ),
    (
        OpenUrlRequest(id="req-1", url="u", launch_url="l", instructions="i"),
        '{"type":"extension_ui_request","id":"req-1","method":"open_url","url":"u","launchUrl":"l","instructions":"i"}',
    ),
    (
        OpenUrlRequest(id="req-1", url="u"),
        '{"type":"extension_ui_request","id":"req-1","method":"open_url","url":"u"}',
    ),
]

REPLIES: list[tuple[Frame, str]] = [
    (ValueReply(id="req-1", value="a"), '{"type":"extension_ui_response","id":"req-1","value":"a"}'),
    (ConfirmReply(id="req-1", confirmed=False), '{"type":"extension_ui_response","id":"req-1","confirmed":false}'),
    (CancelReply(id="req-1"), '{"type":"extension_ui_response","id":"req-1","cancelled":true}'),
    (
        CancelReply(id="req-1", timed_out=True),
        '{"type":"extension_ui_response","id":"req-1","cancelled":true,"timedOut":true}',
    ),
]


@pytest.mark.parametrize(("frame", "line"), [*REQUESTS, *REPLIES])
def test_a_frame_is_one_line_that_leaves_out_what_is_not_there(frame: Frame, line: str) -> None:
    """rpc/R-1, rpc/R-4, rpc/R-16 to rpc/R-24, rpc/R-25 to rpc/R-32: one JSON object and a newline; an unset key is
    absent, never null.
    """
    assert write_line(frame) == line.encode() + b"\n"


@pytest.mark.parametrize(("frame", "line"), REQUESTS)
def test_a_host_reads_back_the_request_that_was_written(frame: Frame, line: str) -> None:
    """rpc/R-16 to rpc/R-24: the method tells what the other fields are."""
    assert read_request(json.loads(line)) == frame


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "extension_ui_request", "id": "req-1", "method": "hologram", "title": "T"},
        {"type": "extension_ui_request", "id": "req-1", "method": ["select"]},
        {"type": "extension_ui_request", "id": "req-1"},
        {"type": "agent_start"},
        None,
        "select",
    ],
)
def test_a_host_may_ignore_what_it_does_not_know(frame: object) -> None:
    """rpc/R-53: an unknown method is not an error, and neither is any other kind of frame."""
    assert read_request(frame) is None


def test_a_host_ignores_unknown_fields() -> None:
    """rpc/R-53: a field from a later version changes nothing."""
    frame = {
        "type": "extension_ui_request",
        "id": "req-1",
        "method": "cancel",
        "targetId": "req-0",
        "shade": "green",
    }

    assert read_request(frame) == CancelRequest(id="req-1", target_id="req-0")


def test_a_known_method_with_a_wrong_field_says_which() -> None:
    """rpc/R-50: a host that cannot read a dialog's fields must not answer it as if it could."""
    frame = {"type": "extension_ui_request", "id": "req-1", "method": "select", "title": "T", "options": "Approve"}

    with pytest.raises(msgspec.ValidationError, match=r"\$\.options"):
        read_request(frame)


@pytest.mark.parametrize(
    ("options", "labels", "details"),
    [
        ((), [], None),
        (("Approve", "Deny"), ["Approve", "Deny"], None),
        ((Option("Approve", "do it"), Option("Deny")), ["Approve", "Deny"], [{"description": "do it"}, {}]),
        (("Approve", Option("Deny", " trimmed ")), ["Approve", "Deny"], [{}, {"description": "trimmed"}]),
        ((Option("Approve", "  "), "Deny"), ["Approve", "Deny"], None),
        ((Option("Approve", ""), Option("Deny")), ["Approve", "Deny"], None),
        ((Option("", "empty label"),), [""], [{"description": "empty label"}]),
        ((Option("Approve", "\ufeff\u00a0"), "Deny"), ["Approve", "Deny"], None),
        ((Option("Approve", "\x85"), "Deny"), ["Approve", "Deny"], [{"description": "\x85"}, {}]),
    ],
)
def test_descriptions_travel_beside_the_labels(
    options: tuple[str | Option, ...], labels: list[str], details: list[dict[str, str]] | None
) -> None:
    """rpc/R-16, rpc/R-17: options are plain labels; details are there only if one says something, then for every
    option.
    """
    expected = {"type": "extension_ui_request", "id": "req-1", "method": "select", "title": "T", "options": labels}
    if details is not None:
        expected["optionDetails"] = details

    assert to_wire(Select(title="T", options=options).request("req-1")) == expected


def test_the_approval_prompt_is_one_bare_select() -> None:
    """rpc/R-42, rpc/R-46, rpc/R-46: the whole prompt as the title, two labels, no details and no timeout."""
    prompt = "Tool: seed_note\nInput: {}"

    assert to_wire(Select(title=prompt, options=("Approve", "Deny")).request("req-1")) == {
        "type": "extension_ui_request",
        "id": "req-1",
        "method": "select",
        "title": prompt,
        "options": ["Approve", "Deny"],
    }


def test_the_ready_frame_offers_what_this_server_speaks() -> None:
    """rpc/R-5, rpc/R-9: the limits are the real ones; of the versions, only protocol 1 is offered."""
    assert write_line(Ready()) == (
        b'{"type":"ready","protocolVersion":1,"supportedProtocolVersions":[1],'
        b'"maxFrameBytes":1048576,"maxReassembledFrameBytes":67108864}\n'
    )


@pytest.mark.parametrize("setting", ["1", "true", "YES", " on ", "True\n"])
def test_title_frames_are_switched_on_by(setting: str) -> None:
    """rpc/R-22 to rpc/R-23: PI_RPC_EMIT_TITLE, trimmed and lower-cased, is 1, true, yes or on."""
    assert emits_titles(setting)


@pytest.mark.parametrize("setting", [None, "", "0", "off", "no", "2", "yes please"])
def test_title_frames_are_not_switched_on_by(setting: str | None) -> None:
    """rpc/R-22 to rpc/R-23: anything else leaves them off."""
    assert not emits_titles(setting)


# ------------------------------------------------------------------------------------------------- reading lines

REPLY = b'{"type":"extension_ui_response","id":"req-1","value":"na\xc3\xafve \xe2\x9c\x93"}'
A_REPLY = DialogReply(
    id="req-1", frame={"type": "extension_ui_response", "id": "req-1", "value": "na\u00efve \u2713"}
)


def read_all(*pieces: bytes) -> list[Incoming]:
    reader = LineReader()
    found = [frame for piece in pieces for frame in reader.feed(piece)]
    return [*found, *reader.close()]


@pytest.mark.parametrize(
    "stream",
    [
        REPLY + b"\n",
        REPLY + b"\r\n",
        REPLY,
        b"\n\r\n  \t\n" + REPLY + b"\n\n",
        b"  " + REPLY + b"  ",
    ],
)
def test_line_endings_and_blank_lines_carry_no_meaning(stream: bytes) -> None:
    """rpc/R-1: either line ending, blank lines skipped, a last line without a newline processed."""
    assert read_all(stream) == [A_REPLY]


def test_an_unended_line_waits_for_its_end() -> None:
    """rpc/R-1, rpc/R-3: before the newline or the end of input there is no frame yet."""
    reader = LineReader()

    assert (reader.feed(REPLY), reader.feed(b"\n"), reader.close()) == ([], [A_REPLY], [])


STREAM = b"\n".join(
    [
        REPLY,
        b"not json",
        b"",
        '{"type":"get_state","id":"req_1","note":"\U0001f331"}'.encode(),
        b"null",
        b'{"type":"host_uri_result","id":"u"}\r',
        b'{"unended": ',
    ]
)


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.integers(min_value=0, max_value=len(STREAM))))
def test_split_points_never_matter(cuts: list[int]) -> None:
    """rpc/R-3: the same bytes give the same frames, however the reads fell, even inside a character."""
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in pairwise(edges)]

    assert read_all(*pieces) == read_all(STREAM)


def test_a_stream_of_mixed_lines_is_read_line_by_line() -> None:
    """rpc/R-2: what is not JSON costs one frame each, and reading goes on."""
    kinds = [type(frame) for frame in read_all(STREAM)]

    assert kinds == [DialogReply, ParseFailure, Command, ParseFailure, HostReply, ParseFailure]


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b'{"type":"bash"',
        b"{'type':'bash'}",
        b'{"timeout":NaN}',
        b"[-Infinity]",
        b"\xff\xfe",
        b"[" * 200_000,
        b"9" * 5000,
        b'{"a":"\x01"}',
    ],
)
def test_a_line_that_is_not_json_is_answered_and_not_raised(line: bytes) -> None:
    """rpc/R-2: one response without an id, whose error starts with a fixed text."""
    failure = read_line(line)
    assert isinstance(failure, ParseFailure)
    answer = to_wire(failure.response())
    error = answer.pop("error")

    assert answer == {"type": "response", "command": "parse", "success": False}
    assert error.startswith("Failed to parse command: ")
    assert error != "Failed to parse command: "


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b"null", "null"),
        (b"5", "a number"),
        (b"-2.5", "a number"),
        (b"true", "a boolean"),
        (b'"text"', "a string"),
        (b"[]", "a list"),
    ],
)
def test_a_value_that_is_no_object_is_answered_like_a_bad_line(line: bytes, found: str) -> None:
    """rpc/R-14: null in the real program, every non-object here."""
    failure = read_line(line)

    assert isinstance(failure, ParseFailure)
    assert to_wire(failure.response()) == {
        "type": "response",
        "command": "parse",
        "success": False,
        "error": f"Failed to parse command: a frame is a JSON object, not {found}",
    }


def test_text_that_is_not_utf8_is_replaced_rather_than_refused() -> None:
    """rpc/R-2: the parser decides whether a line is JSON; a stray byte inside a string does not stop it."""
    line = b'{"type":"extension_ui_response","id":"req-1","value":"\xff"}'

    assert read_line(line) == DialogReply(
        id="req-1", frame={"type": "extension_ui_response", "id": "req-1", "value": "\ufffd"}
    )


# --------------------------------------------------------------------------------------------- sorting frames


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "extension_ui_response", "id": "req-1"},
        {"type": "extension_ui_response", "id": "", "value": 5, "extra": None},
    ],
)
def test_a_dialog_reply_needs_only_its_type_and_a_string_id(frame: dict[str, Any]) -> None:
    """rpc/R-11: the payload is judged where the dialog is known, not here."""
    assert sort_frame(frame) == DialogReply(id=frame["id"], frame=frame)


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        ({"type": "host_tool_result", "id": "h", "result": {"content": []}}, HostFrame.TOOL_RESULT),
        ({"type": "host_tool_update", "id": "h", "partialResult": {"content": []}}, HostFrame.TOOL_UPDATE),
        ({"type": "host_uri_result", "id": "h"}, HostFrame.URI_RESULT),
    ],
)
def test_answers_to_the_hosts_own_tools_overtake_commands_too(frame: dict[str, Any], kind: HostFrame) -> None:
    """rpc/R-10: three more types are control frames."""
    assert sort_frame(frame) == HostReply(kind=kind, id="h", frame=frame)


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        ({"type": "extension_ui_response"}, "Unknown command: extension_ui_response"),
        ({"type": "extension_ui_response", "id": 5}, "Unknown command: extension_ui_response"),
        ({"type": "extension_ui_response", "id": None}, "Unknown command: extension_ui_response"),
        ({"type": "Extension_UI_Response", "id": "req-1"}, "Unknown command: Extension_UI_Response"),
        ({"type": "host_tool_result", "id": "h"}, "Unknown command: host_tool_result"),
        ({"type": "host_tool_result", "id": "h", "result": {"content": "x"}}, "Unknown command: host_tool_result"),
        ({"type": "host_tool_update", "id": "h", "result": {"content": []}}, "Unknown command: host_tool_update"),
        ({"type": "host_uri_result", "id": 1}, "Unknown command: host_uri_result"),
        ({"type": "sing", "id": "req_1"}, "Unknown command: sing"),
        ({"type": ["sing"]}, "Unknown command: sing"),
        ({"type": None}, "Unknown command: null"),
    ],
)
def test_everything_else_is_a_command_and_an_unknown_one_is_answered_without_an_id(
    frame: dict[str, Any], error: str
) -> None:
    """rpc/R-11, rpc/R-13: a control frame without a string id is no control frame; the answer echoes the type
    alone.
    """
    command = sort_frame(frame)

    assert isinstance(command, Command)
    assert to_wire(command.unknown()) == {
        "type": "response",
        "command": frame["type"],
        "success": False,
        "error": error,
    }


def test_an_object_without_a_type_is_an_unknown_command_of_no_name() -> None:
    """rpc/R-13: there is no type to echo, so the key is absent (rpc/R-4)."""
    command = sort_frame({})

    assert command == Command(type=UNSET, id=UNSET, frame={})
    assert to_wire(command.unknown()) == {
        "type": "response",
        "success": False,
        "error": "Unknown command: undefined",
    }


def test_a_command_that_raises_is_answered_with_its_id_and_type() -> None:
    """rpc/R-15: unlike an unknown one, it can be matched."""
    command = sort_frame({"type": "get_state", "id": "req_3"})

    assert isinstance(command, Command)
    assert to_wire(command.failed("no session")) == {
        "type": "response",
        "id": "req_3",
        "command": "get_state",
        "success": False,
        "error": "no session",
    }


# ------------------------------------------------------------------------------------------------- the limit


def notify_of(size: int) -> NotifyRequest:
    """A notice whose line, newline included, is `size` bytes."""
    empty = len(write_line(NotifyRequest(id="req-1", message="")))
    return NotifyRequest(id="req-1", message="x" * (size - empty))


def test_a_frame_of_exactly_one_mebibyte_is_sent_whole() -> None:
    """rpc/R-7: the limit includes the newline and is itself allowed."""
    frame = notify_of(MIB)
    line = write_line(frame)

    assert len(line) == MIB
    assert json.loads(line) == to_wire(frame)


def test_one_byte_more_and_the_long_string_loses_its_end() -> None:
    """rpc/R-7: the rest of the frame stays; the string says how many characters are gone."""
    frame = notify_of(MIB + 1)
    kept = 256 * 1024 - 80
    remark = f"\n…[{len(frame.message) - kept} chars elided for RPC frame]"

    assert json.loads(write_line(frame)) == {**to_wire(frame), "message": "x" * kept + remark}


def test_a_long_list_loses_its_end_as_well() -> None:
    """rpc/R-7: 512 items stay at the first attempt, and one more that counts the others."""
    lines = tuple("y" * 1500 for _ in range(1000))
    frame = SetWidgetRequest(id="req-1", widget_key="k", widget_lines=lines)

    assert json.loads(write_line(frame)) == {
        **to_wire(frame),
        "widgetLines": [*lines[:512], "…[488 items elided for RPC frame]"],
    }


def test_a_list_of_long_strings_is_cut_until_it_fits() -> None:
    """rpc/R-7: attempts get stricter; the fourth, 64 items of 4096 units, is the first that fits here."""
    frame = SetWidgetRequest(id="req-1", widget_key="k", widget_lines=tuple("\u2713" * 5000 for _ in range(900)))
    line = write_line(frame)
    sent = json.loads(line)

    assert len(line) <= MIB
    assert sent["widgetLines"][-1] == "…[836 items elided for RPC frame]"
    assert sent["widgetLines"][:-1] == ["\u2713" * 4016 + "\n…[984 chars elided for RPC frame]"] * 64


def test_a_cut_never_leaves_half_a_character() -> None:
    """rpc/R-7: length counts UTF-16 units as the real program does, yet a pair stays together, so the line is
    UTF-8.
    """
    frame = NotifyRequest(id="req-1", message="x" + "\U0001f331" * 600_000)
    head, remark = json.loads(write_line(frame))["message"].split("\n")

    assert head == "x" + "\U0001f331" * ((256 * 1024 - 80 - 1) // 2)
    assert remark == f"…[{1_200_001 - (1 + 2 * (len(head) - 1))} chars elided for RPC frame]"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            Response(id="req_1", command="get_messages", success=True, data="z" * MIB),
            {"id": "req_1", "command": "get_messages"},
        ),
        (Response(command="get_messages", success=True, data="z" * MIB), {"command": "get_messages"}),
        (Response(id=7, success=True, data="z" * MIB), {"command": "unknown"}),
    ],
)
def test_a_response_that_is_too_large_becomes_an_error(response: Response, expected: dict[str, Any]) -> None:
    """rpc/R-7: half an answer would be a wrong answer."""
    assert json.loads(write_line(response)) == {
        "type": "response",
        **expected,
        "success": False,
        "error": "RPC response exceeded the transport limit",
    }


@pytest.mark.parametrize(
    ("kind", "expected"),
    [({"type": "audit"}, {"originalType": "audit"}), ({}, {}), ({"type": 5}, {})],
)
def test_a_frame_that_cannot_be_cut_to_fit_is_named_instead(kind: dict[str, Any], expected: dict[str, Any]) -> None:
    """rpc/R-7: where nothing fits, an error frame says what could not be sent."""
    frame = {**kind, "k" * MIB: 1}

    assert json.loads(write_line(frame)) == {
        "type": "rpc_frame_error",
        **expected,
        "error": "RPC frame exceeded the transport limit",
    }


def test_an_object_with_too_many_keys_says_how_many_are_gone() -> None:
    """rpc/R-7 applied to a foreign frame: 512 keys stay at the first attempt."""
    frame = {f"k{i}": "v" * 1500 for i in range(800)}

    sent = json.loads(write_line(frame))

    assert sent == {**dict(list(frame.items())[:512]), "rpcFrameElidedKeys": 288}


@pytest.mark.slow
@settings(deadline=None)  # the machine may be busy
@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        ),
        max_size=5,
    )
)
def test_what_is_written_is_read_back_as_one_line(frame: dict[str, Any]) -> None:
    """rpc/R-1: no value can break a line in two or make it unreadable."""
    (found,) = read_all(write_line(frame))

    assert getattr(found, "frame", None) == frame


def test_half_a_surrogate_pair_is_escaped_on_the_way_out_and_kept_on_the_way_in() -> None:
    """rpc/R-1: a line is UTF-8 whatever a title holds; titles may hold a tool's input (rpc/R-55)."""
    line = write_line({"type": "note", "text": "\ud83c"})

    assert line == b'{"type":"note","text":"\\ud83c"}\n'
    assert read_all(line) == [Command(type="note", frame={"type": "note", "text": "\ud83c"})]


@pytest.mark.parametrize(
    "dialog",
    [Editor(title="T", timeout_ms=5), Editor(title="T", timeout_ms=0)],
)
def test_an_editors_timeout_never_reaches_the_wire(dialog: Dialog) -> None:
    """rpc/R-36: ignored, not refused."""
    assert "timeout" not in to_wire(dialog.request("req-1"))
