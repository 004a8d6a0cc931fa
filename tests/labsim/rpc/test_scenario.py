"""Playing the script of an `rpc` case: the recorded vocabulary, its refusals, and the events on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from given_kit import read_given, refused
from places import TOP

from labsim.events.event import as_mapping
from labsim.proof.recordings import read_lines
from labsim.rpc import player
from labsim.rpc.events import RpcEvent

SELECT: dict[str, Any] = {"method": "select", "title": "Pick a shelf", "options": ["Approve", "Deny"]}
CONFIRM: dict[str, Any] = {"method": "confirm", "title": "Sure?", "message": "Move the seed"}
INPUT: dict[str, Any] = {"method": "input", "title": "Name", "placeholder": "a seed"}
EDITOR: dict[str, Any] = {"method": "editor", "title": "Note", "prefill": "draft"}
RECORDED = TOP / "fixtures" / "recorded" / "rpc.jsonl.gz"
APPROVE = {"reply": {"value": "Approve", "confirmed": True}}


def play_rpc(given: dict[str, Any], emit: Callable[[RpcEvent], object] | None = None) -> dict[str, Any]:
    return player.play_rpc(read_given("rpc", given), emit)


def request(given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "extension_ui_request", "id": "req-1", **given, **more}


CANCEL = {"type": "extension_ui_request", "id": "req-2", "method": "cancel", "targetId": "req-1"}

# Each row: given, script, the parts of `observed` beside the frames, the frames.
PLAYED: list[tuple[str, dict[str, Any], list[Any], dict[str, Any], list[Any]]] = [
    (
        "rpc/R-46: nobody answers",
        SELECT,
        [],
        {"settled": "pending", "onTimeoutCalls": 0, "consumed": [], "pendingAfter": 1},
        [request(SELECT)],
    ),
    (
        "rpc/R-18: the label is not checked",
        SELECT,
        [{"reply": {"value": "not offered"}}],
        {
            "settled": "resolve",
            "value": "not offered",
            "valueType": "string",
            "onTimeoutCalls": 0,
            "consumed": [True],
            "pendingAfter": 0,
        },
        [request(SELECT)],
    ),
    (
        "rpc/R-28: null is a value, nothing is none",
        SELECT,
        [{"reply": {"value": None}}],
        {
            "settled": "resolve",
            "value": None,
            "valueType": "null",
            "onTimeoutCalls": 0,
            "consumed": [True],
            "pendingAfter": 0,
        },
        [request(SELECT)],
    ),
    (
        "rpc/R-32: a confirm that is no boolean",
        CONFIRM,
        [{"reply": {"confirmed": {"yes": 1}}}],
        {
            "settled": "resolve",
            "value": {"yes": 1},
            "valueType": "object",
            "onTimeoutCalls": 0,
            "consumed": [True],
            "pendingAfter": 0,
        },
        [request(CONFIRM)],
    ),
    (
        "rpc/R-33: aborted before, then a reply that has no id to go to",
        {**INPUT, "abortBefore": True},
        [APPROVE],
        {
            "settled": "resolve",
            "valueType": "undefined",
            "onTimeoutCalls": 0,
            "consumed": [False],
            "pendingAfter": 0,
        },
        [],
    ),
    (
        "rpc/R-34, rpc/R-38: abort, then a late reply",
        CONFIRM,
        [{"abort": True}, APPROVE, {"abort": True}],
        {
            "settled": "resolve",
            "value": False,
            "valueType": "boolean",
            "onTimeoutCalls": 0,
            "consumed": [True],
            "pendingAfter": 0,
        },
        [request(CONFIRM), CANCEL],
    ),
    (
        "rpc/R-34: no signal was passed, so none can abort",
        {**SELECT, "signal": False, "abortBefore": True},
        [{"abort": True}],
        {"settled": "pending", "onTimeoutCalls": 0, "consumed": [], "pendingAfter": 1},
        [request(SELECT)],
    ),
    (
        "rpc/R-35: the timer at its very millisecond",
        {**SELECT, "timeout": 30},
        [{"wait": 29}, {"wait": 1}, APPROVE],
        {
            "settled": "resolve",
            "valueType": "undefined",
            "onTimeoutCalls": 1,
            "consumed": [True],
            "pendingAfter": 0,
        },
        [request(SELECT, timeout=30)],
    ),
    (
        "rpc/R-35: nobody gave a callback to call",
        {**SELECT, "timeout": 5, "onTimeout": False},
        [{"wait": 40}],
        {
            "settled": "resolve",
            "valueType": "undefined",
            "onTimeoutCalls": 0,
            "consumed": [],
            "pendingAfter": 0,
        },
        [request(SELECT, timeout=5)],
    ),
    (
        "rpc/R-19: without options there is neither timer nor signal nor callback",
        {**SELECT, "timeout": 5, "noOptions": True},
        [{"wait": 40}, {"abort": True}],
        {"settled": "pending", "onTimeoutCalls": 0, "consumed": [], "pendingAfter": 1},
        [request(SELECT)],
    ),
    (
        "rpc/R-36: the editor's timeout",
        {**EDITOR, "timeout": 5},
        [{"wait": 40}],
        {"settled": "pending", "onTimeoutCalls": 0, "consumed": [], "pendingAfter": 1},
        [request(EDITOR)],
    ),
    (
        "item 29: raised, then timed out all the same",
        {**SELECT, "timeout": 30},
        [{"disconnect": "client went away"}, {"wait": 60}],
        {
            "settled": "reject",
            "error": "client went away",
            "onTimeoutCalls": 1,
            "consumed": [],
            "pendingAfter": 0,
        },
        [request(SELECT, timeout=30)],
    ),
    (
        "item 29: asked after the disconnect, then aborted",
        {**SELECT, "disconnectBefore": "already gone"},
        [{"abort": True}],
        {"settled": "reject", "error": "already gone", "onTimeoutCalls": 0, "consumed": [], "pendingAfter": 0},
        [request(SELECT), CANCEL],
    ),
    (
        "item 29: the editor leaves nothing behind",
        {**EDITOR, "disconnectBefore": "already gone", "timeout": 5},
        [{"wait": 40}, {"abort": True}],
        {"settled": "reject", "error": "already gone", "onTimeoutCalls": 0, "consumed": [], "pendingAfter": 0},
        [request(EDITOR)],
    ),
    (
        "item 30: a frame without a payload resolves to nothing",
        SELECT,
        [{"frame": 5}, {"frame": {"type": "extension_ui_response", "id": "$id"}}],
        {
            "settled": "resolve",
            "valueType": "undefined",
            "onTimeoutCalls": 0,
            "consumed": [False, True],
            "pendingAfter": 0,
        },
        [request(SELECT)],
    ),
    (
        "item 30: a numeric id is no reply",
        SELECT,
        [{"frame": {"type": "extension_ui_response", "id": 1, "value": "Approve"}}, {"frame": None}],
        {"settled": "pending", "onTimeoutCalls": 0, "consumed": [False, False], "pendingAfter": 1},
        [request(SELECT)],
    ),
]


@pytest.mark.parametrize(("rule", "given", "script", "observed", "frames"), PLAYED, ids=[row[0] for row in PLAYED])
def test_a_script_is_observed_as_the_real_program_was(
    rule: str, given: dict[str, Any], script: list[Any], observed: dict[str, Any], frames: list[Any]
) -> None:
    """Recorded vocabulary, items 29 and 30: the whole record, key for key."""
    assert play_rpc({**given, "script": script}) == {**observed, "frames": frames}, rule


def test_a_case_without_a_script_asks_and_waits() -> None:
    """Case format: an absent script is an empty one."""
    assert play_rpc(EDITOR) == play_rpc({**EDITOR, "script": []})


def test_every_recorded_script_is_observed_key_for_key() -> None:
    """Recorded answers: compared as JSON text, so that true is not 1 and an absent key is not null."""
    rows = [json.loads(line) for line in read_lines(RECORDED) if line]
    differing = [row["id"] for row in rows if json.dumps(play_rpc(row["given"])) != json.dumps(row["observed"])]

    assert (len(rows) >= 123, differing) == (True, [])


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({}, "given"),
        ({"method": 5}, "given.method"),
        ({"method": "askDialog", "title": "T", "script": []}, "given.method"),
        ({"method": "input", "script": []}, "given"),
        ({**INPUT, "placeholder": None, "script": []}, "given.placeholder"),
        ({**INPUT, "script": {}}, "given.script"),
        ({**INPUT, "message": "M", "script": []}, "given.message"),
        ({**INPUT, "tilte": "T", "script": []}, "given"),
        ({**CONFIRM, "message": 1, "script": []}, "given.message"),
        ({"method": "select", "title": "T", "script": []}, "given.options"),
        ({**SELECT, "options": ["a", 5], "script": []}, "given.options[1]"),
        ({**SELECT, "options": [{"description": "d"}], "script": []}, "given.options[0]"),
        ({**SELECT, "options": [{"label": "a", "description": 1}], "script": []}, "given.options[0].description"),
        ({**SELECT, "options": [{"label": "a", "icon": "x"}], "script": []}, "given.options[0]"),
        ({**EDITOR, "promptStyle": "yes", "script": []}, "given.promptStyle"),
        ({**SELECT, "signal": 0, "script": []}, "given.signal"),
        ({**SELECT, "timeout": -1, "script": []}, "given.timeout"),
        ({**SELECT, "timeout": 2**31, "script": []}, "given.timeout"),
        ({**SELECT, "timeout": True, "script": []}, "given.timeout"),
        ({**SELECT, "timeout": 1.5, "script": []}, "given.timeout"),
        ({**SELECT, "timeout": "soon", "noOptions": True, "script": []}, "given.timeout"),
        ({**SELECT, "disconnectBefore": True, "script": []}, "given.disconnectBefore"),
        ({**SELECT, "script": [APPROVE, "abort"]}, "given.script[1]"),
        ({**SELECT, "script": [APPROVE, APPROVE, {}]}, "given.script[2]"),
        ({**SELECT, "script": [{"abort": False}]}, "given.script[0]"),
        ({**SELECT, "script": [{"abort": True, "wait": 5}]}, "given.script[0]"),
        ({**SELECT, "script": [{"reply": "Approve"}]}, "given.script[0].reply"),
        ({**SELECT, "script": [{"reply": {}, "to": "x"}]}, "given.script[0]"),
        ({**SELECT, "script": [{"reply": {}, "id": 5}]}, "given.script[0].id"),
        ({**SELECT, "script": [{"reply": {"id": "x"}}]}, "given.script[0].reply.id"),
        ({**SELECT, "script": [{"disconnect": None}]}, "given.script[0].disconnect"),
        ({**SELECT, "script": [{"wait": -5}]}, "given.script[0].wait"),
        ({**SELECT, "script": [{"wait": "5"}]}, "given.script[0].wait"),
        ({**SELECT, "script": [{"open": "/etc/passwd"}]}, "given.script[0]"),
    ],
)
def test_a_case_outside_the_vocabulary_is_refused_with_its_place(given: dict[str, Any], place: str) -> None:
    """Case format: nothing unknown is played; the message says where, what was found, and what would do."""
    assert refused("rpc", given).place == place


def test_the_events_tell_the_story_in_order_and_in_time() -> None:
    """rpc/R-35, rpc/R-38, item 29: a timeout carries the time it was due, however long the wait that contains
    it.
    """
    events: list[RpcEvent] = []
    given = {**SELECT, "timeout": 30, "script": [{"disconnect": "gone"}, APPROVE, {"wait": 100}, {"abort": True}]}
    play_rpc(given, events.append)

    late = {"type": "extension_ui_response", "id": "req-1", "value": "Approve", "confirmed": True}
    assert [as_mapping(event) for event in events] == [
        {"event": "frame_sent", "atMs": 0, "frame": request(SELECT, timeout=30)},
        {"event": "client_disconnected", "atMs": 0, "message": "gone"},
        {"event": "dialog_settled", "atMs": 0, "dialogId": "req-1", "by": "disconnect", "error": "gone"},
        {"event": "frame_received", "atMs": 0, "frame": late, "consumed": True},
        {"event": "timeout_callback", "atMs": 30, "dialogId": "req-1", "heard": True},
        {"event": "signal_aborted", "atMs": 100},
    ]


def test_the_events_of_an_abort_put_the_cancel_frame_before_the_settlement() -> None:
    """rpc/R-34: the host is told first, then the caller goes on; `value` is absent where nothing came back."""
    events: list[RpcEvent] = []
    play_rpc({**INPUT, "script": [{"wait": 7}, {"abort": True}]}, events.append)

    assert [as_mapping(event) for event in events] == [
        {"event": "frame_sent", "atMs": 0, "frame": request(INPUT)},
        {"event": "signal_aborted", "atMs": 7},
        {"event": "frame_sent", "atMs": 7, "frame": CANCEL},
        {"event": "dialog_settled", "atMs": 7, "dialogId": "req-1", "by": "abort", "error": None},
    ]


def test_a_dialog_that_never_was_on_the_wire_is_still_told_of() -> None:
    """rpc/R-33: no frame, no id, yet an outcome; false is a value, so a confirm shows it."""
    events: list[RpcEvent] = []
    play_rpc({**CONFIRM, "abortBefore": True, "script": []}, events.append)

    assert [as_mapping(event) for event in events] == [
        {"event": "signal_aborted", "atMs": 0},
        {
            "event": "dialog_settled",
            "atMs": 0,
            "dialogId": None,
            "by": "aborted_before",
            "value": False,
            "error": None,
        },
    ]


def test_playing_leaves_the_case_as_it_was_and_gives_the_same_answer_again() -> None:
    """Cases are inert: `$id` is filled in a copy, and nothing carries over to the next play."""
    frame = {"type": "extension_ui_response", "id": "$id", "value": ["$id", {"deep": "$id"}]}
    given = {**SELECT, "script": [{"frame": frame}]}
    first = play_rpc(given)

    assert first["value"] == ["req-1", {"deep": "req-1"}]
    assert play_rpc(given) == first
    assert given["script"] == [{"frame": {**frame, "id": "$id", "value": ["$id", {"deep": "$id"}]}}]
