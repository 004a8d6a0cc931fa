"""Whose turn it is, how it ends, and what is kept: the server without pipes and without time."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import fields
from rpc_server_kit import Wire, done, failed, request

from labsim.case import review
from labsim.events.dialogs import LateReply
from labsim.events.event import as_mapping
from labsim.events.ledger import Ledger
from labsim.rpc.adapter import REMEMBERED
from labsim.rpc.decode import sort_frame
from labsim.rpc.dialogs import CLIENT_DISCONNECTED
from labsim.rpc.events import ClientDisconnected
from labsim.rpc.frames import to_wire
from labsim.server.actions import Start
from labsim.server.commands import COMMANDS
from labsim.server.connection import MOST_WAITING, SHUT_DOWN, Server
from labsim.server.rolling_ledger import RollingLedger

# --------------------------------------------------------------------------------------------- whose turn it is


def test_a_reply_overtakes_queued_commands() -> None:
    """rpc/R-10, rpc/R-12: commands wait for the one before them; the reply that it waits for cannot be among
    them.
    """
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
    """rpc/R-12: so a second command can overtake the first, and revoke it."""
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


# -------------------------------------------------------------------------------------------------------- the end


def test_a_disconnect_fails_the_dialogs_first_then_lets_everything_come_to_its_end() -> None:
    """rpc/R-40, rpc/R-42, rpc/R-43: dialogs raise, queued commands still run, the session ends, and nothing more is
    taken.
    """
    wire = Wire()
    wire.command("gated_call", "gated", approval="exec")
    wire.command("command", "delegate", words="delegate")
    wire.command("input", "asks", title="Whose?", queued=True)
    wire.command("message", "queued", text="still here")
    wire.command("input", "too late", title="Whose shelf?")
    before = len(wire.server.ledger)
    wire.server.disconnect()

    answers = [frame for frame in wire.take() if frame["type"] == "response"]
    assert answers == [
        failed("gated_call", CLIENT_DISCONNECTED, "gated"),
        done("command", "delegate"),
        failed("input", CLIENT_DISCONNECTED, "asks"),
        done("message", "queued", entryId="entry-1"),
        failed("input", CLIENT_DISCONNECTED, "too late"),
    ]
    after = wire.server.ledger.events[before:]
    assert isinstance(after[0], ClientDisconnected)
    last = as_mapping(after[-1])
    assert (last["event"], last["rule"]) == ("step_taken", "review/S15")
    assert wire.server.finished
    assert wire.command("get_state") == []
    wire.server.disconnect()
    assert wire.take() == []


def test_a_shutdown_aborts_what_the_desk_has_open_and_is_answered_last() -> None:
    """review/S15: the desk's dialog is closed at both ends; what else is under way hears that nobody will answer
    it.
    """
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
    """review/V-38: and a move that another extension cancels leads nowhere."""
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
    """review/V-14."""
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
    """review/V-4."""
    frames: list[dict[str, Any]] = []
    server = Server(Start(fixture=None), lambda frame: frames.append(to_wire(frame)), lambda error: None)
    server.receive(sort_frame({"type": "get_state"}))

    assert frames[0]["data"].keys() & {"text", "status", "revision", "authorized"} == set()


def test_the_steps_of_a_case_are_commands_in_the_same_words() -> None:
    """A case can be played from the client's end: the rest is what a client does by itself, or a terminal; and time
    passes by itself.
    """
    elsewhere = {"reply", "disconnect", "restart", "keys", "wait"}
    steps = {kind.__struct_config__.tag: kind for kind in vars(review).values() if _is_step(kind)}

    assert steps.keys() - COMMANDS.keys() == elsewhere
    for word in steps.keys() & COMMANDS.keys():
        taken = {field.encode_name for field in fields(COMMANDS[word])}
        assert {field.encode_name for field in fields(steps[word])} <= taken, word


def _is_step(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, review._Step) and found is not review._Step


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


@pytest.mark.slow
def test_a_dialog_that_is_over_leaves_nothing_behind() -> None:
    """rpc/R-37: however many there were; what is remembered for late replies, and the ledger, is bounded."""
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


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 10), frames), max_size=25))
def test_every_command_gets_one_answer_whatever_the_client_sends(sent: list[tuple[int, Any]]) -> None:
    """rpc/R-12, rpc/R-13, rpc/R-15, rpc/R-38, rpc/R-43: no frame breaks the server, and in the end every command
    has its response.
    """
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
