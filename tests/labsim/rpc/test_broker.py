"""The life of a dialog over RPC: rpc/R-25 to rpc/R-46."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from labsim.rpc.broker import (
    EDITOR_LIFE,
    LIFE,
    Asked,
    Broker,
    DialogState,
    Happening,
    Outcome,
    Rejected,
    Resolved,
    SettledBy,
    TimeoutFired,
    life_of,
)
from labsim.rpc.decode import ParseFailure
from labsim.rpc.dialogs import CLIENT_DISCONNECTED, Confirm, Dialog, Editor, Input, Select
from labsim.rpc.frames import CancelReply, CancelRequest, ConfirmReply, ValueReply
from labsim.rpc.lines import LineReader, write_line

SELECT = Select(title="Pick a shelf", options=("Approve", "Deny"))
CONFIRM = Confirm(title="Sure?", message="Move the seed")
INPUT = Input(title="Name", placeholder="a seed")
EDITOR = Editor(title="Note", prefill="draft")
ALL = [SELECT, CONFIRM, INPUT, EDITOR]
TIMED: list[type[Select] | type[Confirm] | type[Input]] = [Select, Confirm, Input]


def timed(kind: type[Dialog], ms: int) -> Dialog:
    if kind is Select:
        return Select(title="T", options=("a",), timeout_ms=ms)
    if kind is Confirm:
        return Confirm(title="T", message="M", timeout_ms=ms)
    return Input(title="T", timeout_ms=ms)


def nothing_for(dialog: Dialog) -> Any:
    return False if isinstance(dialog, Confirm) else UNSET


def opened(dialog: Dialog, *, now_ms: int = 0) -> Broker:
    """A broker with one open dialog, `req-1`."""
    broker = Broker()
    broker.ask(dialog, now_ms=now_ms)
    return broker


def reply(payload: dict[str, Any], dialog_id: str = "req-1") -> dict[str, Any]:
    return {"type": "extension_ui_response", "id": dialog_id, **payload}


# --------------------------------------------------------------------------------- what a reply means (rpc/R-25 to
# rpc/R-32)

VALUE_ROWS: list[tuple[str, dict[str, Any], Any, SettledBy]] = [
    ("rpc/R-25", {"cancelled": True}, UNSET, SettledBy.CANCELLED),
    ("rpc/R-25", {"cancelled": True, "value": "Approve"}, UNSET, SettledBy.CANCELLED),
    ("rpc/R-25", {"cancelled": "yes", "value": "Approve"}, UNSET, SettledBy.CANCELLED),
    ("rpc/R-25", {"cancelled": [], "value": "Approve"}, UNSET, SettledBy.CANCELLED),
    ("rpc/R-26", {"cancelled": False}, UNSET, SettledBy.REPLY),
    ("rpc/R-26", {}, UNSET, SettledBy.REPLY),
    ("rpc/R-26", {"confirmed": True}, UNSET, SettledBy.REPLY),
    ("rpc/R-26", {"timedOut": True}, UNSET, SettledBy.REPLY),
    ("rpc/R-27", {"cancelled": False, "value": "Approve"}, "Approve", SettledBy.REPLY),
    ("rpc/R-27", {"cancelled": None, "value": "Approve"}, "Approve", SettledBy.REPLY),
    ("rpc/R-27", {"cancelled": 0, "value": "Approve"}, "Approve", SettledBy.REPLY),
    ("rpc/R-27", {"cancelled": "", "value": "Approve"}, "Approve", SettledBy.REPLY),
    ("rpc/R-18", {"value": "not offered"}, "not offered", SettledBy.REPLY),
    ("rpc/R-18", {"value": ""}, "", SettledBy.REPLY),
    ("rpc/R-28", {"value": 5}, 5, SettledBy.REPLY),
    ("rpc/R-28", {"value": 0}, 0, SettledBy.REPLY),
    ("rpc/R-28", {"value": None}, None, SettledBy.REPLY),
    ("rpc/R-28", {"value": ["Approve"]}, ["Approve"], SettledBy.REPLY),
]


@pytest.mark.parametrize("dialog", [SELECT, INPUT, EDITOR], ids=lambda d: d.kind)
@pytest.mark.parametrize(("rule", "payload", "value", "by"), VALUE_ROWS)
def test_a_reply_to_a_value_dialog_resolves_it(
    dialog: Dialog, rule: str, payload: dict[str, Any], value: Any, by: SettledBy
) -> None:
    """rpc/R-18, rpc/R-25 to rpc/R-28: cancelled beats a value, a missing value is nothing, any value comes as
    sent.
    """
    broker = opened(dialog)

    assert broker.receive(reply(payload)), rule
    assert broker.poll() == (Resolved(dialog_id="req-1", value=value, by=by),)


CONFIRM_ROWS: list[tuple[str, dict[str, Any], Any, SettledBy]] = [
    ("rpc/R-30", {"confirmed": True}, True, SettledBy.REPLY),
    ("rpc/R-30", {"confirmed": False}, False, SettledBy.REPLY),
    ("rpc/R-30", {"confirmed": True, "cancelled": False}, True, SettledBy.REPLY),
    ("rpc/R-31", {"cancelled": True}, False, SettledBy.CANCELLED),
    ("rpc/R-31", {"cancelled": True, "confirmed": True}, False, SettledBy.CANCELLED),
    ("rpc/R-31", {"value": "Approve"}, False, SettledBy.REPLY),
    ("rpc/R-31", {"value": True}, False, SettledBy.REPLY),
    ("rpc/R-31", {}, False, SettledBy.REPLY),
    ("rpc/R-32", {"confirmed": "yes"}, "yes", SettledBy.REPLY),
    ("rpc/R-32", {"confirmed": None}, None, SettledBy.REPLY),
    ("rpc/R-32", {"confirmed": 1}, 1, SettledBy.REPLY),
]


@pytest.mark.parametrize(("rule", "payload", "value", "by"), CONFIRM_ROWS)
def test_a_reply_to_a_confirm_resolves_it(rule: str, payload: dict[str, Any], value: Any, by: SettledBy) -> None:
    """rpc/R-30 to rpc/R-32: everything but `confirmed` is a no; what `confirmed` holds is delivered as it came."""
    broker = opened(CONFIRM)

    assert broker.receive(reply(payload)), rule
    (resolved,) = broker.poll()
    assert resolved == Resolved(dialog_id="req-1", value=value, by=by)
    assert isinstance(resolved, Resolved)
    assert type(resolved.value) is type(value)  # 1 is not true


@pytest.mark.parametrize("dialog", ALL, ids=lambda d: d.kind)
@pytest.mark.parametrize("timed_out", [True, "yes", 1])
def test_a_host_that_timed_out_itself_fires_the_callback_except_for_an_editor(
    dialog: Dialog, timed_out: object
) -> None:
    """rpc/R-29: the callback comes before the settlement, and an editor has none."""
    broker = opened(dialog)
    broker.receive(reply({"cancelled": True, "timedOut": timed_out}))
    resolved = Resolved(dialog_id="req-1", value=nothing_for(dialog), by=SettledBy.CANCELLED)

    expected: tuple[Outcome, ...] = (resolved,)
    if not isinstance(dialog, Editor):
        expected = (TimeoutFired(dialog_id="req-1"), resolved)
    assert broker.poll() == expected


@pytest.mark.parametrize("payload", [{"timedOut": True}, {"timedOut": True, "cancelled": False, "value": "a"}])
def test_timed_out_without_cancelled_fires_nothing(payload: dict[str, Any]) -> None:
    """rpc/R-29: only a cancelled reply can have timed out."""
    broker = opened(SELECT)
    broker.receive(reply(payload))

    assert [type(outcome) for outcome in broker.poll()] == [Resolved]


@pytest.mark.parametrize(
    ("dialog", "answer", "value"),
    [
        (SELECT, ValueReply(id="req-1", value="Approve"), "Approve"),
        (CONFIRM, ConfirmReply(id="req-1", confirmed=True), True),
        (EDITOR, CancelReply(id="req-1"), UNSET),
    ],
)
def test_a_reply_record_is_taken_like_the_object_it_is_on_the_wire(
    dialog: Dialog, answer: ValueReply | ConfirmReply | CancelReply, value: Any
) -> None:
    """rpc/R-25 to rpc/R-32: a stand-in for a host need not spell JSON."""
    broker = opened(dialog)

    assert broker.receive(answer)
    (resolved,) = broker.poll()
    assert isinstance(resolved, Resolved)
    assert resolved.value == value


# ------------------------------------------------------------------------------------- the lifetime (rpc/R-33 to
# rpc/R-41)


@pytest.mark.parametrize("dialog", ALL, ids=lambda d: d.kind)
def test_a_dialog_opens_with_one_frame_and_waits(dialog: Dialog) -> None:
    """rpc/R-44, rpc/R-46: until something happens to it, it is open, however long that takes."""
    broker = Broker()

    assert broker.ask(dialog, now_ms=0) == Asked(dialog_id="req-1", frames=(dialog.request("req-1"),))
    broker.tick(10**9)
    assert (broker.open_ids, broker.poll(), broker.next_deadline()) == (("req-1",), (), None)


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("dialog", ALL, ids=lambda d: d.kind)
def test_a_signal_aborted_before_the_call_sends_nothing(dialog: Dialog, lost: bool) -> None:
    """rpc/R-33: no request and no cancel frame, and it wins over a disconnect (recorded: rpc-0104)."""
    broker = Broker()
    if lost:
        broker.disconnect()

    assert broker.ask(dialog, now_ms=0, signal_aborted=True) == Asked(
        dialog_id=None,
        frames=(),
        settled=Resolved(dialog_id=None, value=nothing_for(dialog), by=SettledBy.ABORTED_BEFORE),
    )
    assert (broker.open_ids, broker.poll(), broker.fresh_id()) == ((), (), "req-1")


@pytest.mark.parametrize("dialog", ALL, ids=lambda d: d.kind)
def test_an_abort_while_open_sends_one_cancel_frame(dialog: Dialog) -> None:
    """rpc/R-20, rpc/R-34: it names the dialog and has an id of its own; a second abort finds nothing."""
    broker = opened(dialog)

    assert broker.abort("req-1") == (CancelRequest(id="req-2", target_id="req-1"),)
    assert broker.abort("req-1") == ()
    assert broker.open_ids == ()
    assert broker.poll() == (Resolved(dialog_id="req-1", value=nothing_for(dialog), by=SettledBy.ABORT),)


@pytest.mark.parametrize("kind", TIMED)
@pytest.mark.parametrize("ms", [0, 5])
def test_a_timer_fires_the_callback_and_resolves_without_a_frame(kind: type[Dialog], ms: int) -> None:
    """rpc/R-21, rpc/R-35: the callback first, then no answer; the host is not told, it has its own timer
    (rpc/R-51).
    """
    dialog = timed(kind, ms)
    broker = opened(dialog, now_ms=100)
    assert broker.next_deadline() == 100 + ms
    broker.tick(99 + ms)
    assert broker.poll() == ()

    broker.tick(100 + ms)

    assert broker.poll() == (
        TimeoutFired(dialog_id="req-1"),
        Resolved(dialog_id="req-1", value=nothing_for(dialog), by=SettledBy.TIMEOUT),
    )
    assert (broker.open_ids, broker.next_deadline(), broker.abort("req-1")) == ((), None, ())


def test_an_editor_has_no_timer() -> None:
    """rpc/R-36: its timeout is ignored, so it waits."""
    broker = opened(Editor(title="Note", timeout_ms=5))
    broker.tick(10**9)

    assert (broker.open_ids, broker.poll(), broker.next_deadline()) == (("req-1",), (), None)


def test_timers_fire_in_the_order_they_are_due() -> None:
    """rpc/R-35, rpc/R-44: one late tick fires all that are due, the earliest first, and equals in the order of
    asking.
    """
    broker = Broker()
    for ms in (30, 10, 30, 40, 10):
        broker.ask(timed(Input, ms), now_ms=0)
    broker.tick(30)

    fired = [outcome.dialog_id for outcome in broker.poll() if isinstance(outcome, TimeoutFired)]
    assert fired == ["req-2", "req-5", "req-1", "req-3"]
    assert (broker.open_ids, broker.next_deadline()) == (("req-4",), 40)


@pytest.mark.parametrize("kind", TIMED)
def test_the_first_reply_clears_the_timer_and_the_listener(kind: type[Dialog]) -> None:
    """rpc/R-37: afterwards neither time nor an abort says anything more."""
    broker = opened(timed(kind, 5))
    broker.receive(reply({"value": "a", "confirmed": True}))
    assert [type(outcome) for outcome in broker.poll()] == [Resolved]

    broker.tick(10)

    assert (broker.abort("req-1"), broker.poll(), broker.state_of("req-1")) == ((), (), DialogState.CLOSED)


@pytest.mark.parametrize(
    "late", [{"value": "Deny"}, {"cancelled": True, "timedOut": True}, {"confirmed": True}, {}]
)
@pytest.mark.parametrize("first", ["reply", "abort", "timer", "disconnect"])
@pytest.mark.parametrize("kind", TIMED)
def test_a_second_or_late_reply_is_swallowed(kind: type[Dialog], first: str, late: dict[str, Any]) -> None:
    """rpc/R-38, rpc/R-39: consumed like any other, without effect; whichever was processed first has won."""
    broker = opened(timed(kind, 5))
    match first:
        case "reply":
            broker.receive(reply({"value": "Approve"}))
        case "abort":
            broker.abort("req-1")
        case "timer":
            broker.tick(5)
        case _:
            broker.disconnect()
    broker.poll()
    before = broker.state_of("req-1")

    assert broker.receive(reply(late))
    assert (broker.poll(), broker.open_ids, broker.state_of("req-1")) == ((), (), before)


@pytest.mark.parametrize("dialog_id", ["wrong", "", "req-2", "REQ-1"])
def test_a_reply_to_an_unknown_id_is_swallowed(dialog_id: str) -> None:
    """rpc/R-38: the open dialog stays open."""
    broker = opened(SELECT)

    assert broker.receive(reply({"value": "Approve"}, dialog_id))
    assert (broker.poll(), broker.open_ids) == ((), ("req-1",))


def test_replies_may_come_in_any_order() -> None:
    """rpc/R-44: each dialog is matched by its id alone."""
    for order in permutations(range(1, 5)):
        broker = Broker()
        for dialog in ALL:
            broker.ask(dialog, now_ms=0)
        for n in order:
            broker.receive(reply({"value": f"to {n}", "confirmed": f"to {n}"}, f"req-{n}"))

        assert broker.poll() == tuple(
            Resolved(dialog_id=f"req-{n}", value=f"to {n}", by=SettledBy.REPLY) for n in order
        )


def test_malformed_lines_between_do_not_keep_a_dialog_from_resolving() -> None:
    """rpc/R-2, rpc/R-11, rpc/R-14: each costs its own answer, and the reply that follows still counts."""
    stream = b"\n".join(
        [
            b"{",
            b"null",
            b'{"type":"extension_ui_response","value":"Approve"}',
            b"[1]",
            b'{"type":"extension_ui_response","id":1,"value":"Approve"}',
            b'{"type":"extension_ui_response","id":"wrong","value":"Approve"}',
            b'{"type":"extension_ui_response","id":"req-1","value":"Deny"}\r',
            b"}",
            b'{"type":"extension_ui_response","id":"req-1","value":"Approve"}',
        ]
    )
    broker, reader = opened(SELECT), LineReader()
    frames = [frame for at in range(0, len(stream), 7) for frame in reader.feed(stream[at : at + 7])]
    frames.extend(reader.close())
    consumed = [None if isinstance(frame, ParseFailure) else broker.receive(frame.frame) for frame in frames]

    assert consumed == [None, None, False, None, False, True, True, None, True]
    assert broker.poll() == (Resolved(dialog_id="req-1", value="Deny", by=SettledBy.REPLY),)


@pytest.mark.parametrize(
    ("frame", "consumed"),
    [
        (None, False),
        (5, False),
        ("text", False),
        ([], False),
        ({}, False),
        ({"type": "extension_ui_response"}, False),
        ({"type": "extension_ui_response", "id": 1}, False),
        ({"type": "get_state", "id": "req-1"}, False),
        ({"type": "host_uri_result", "id": "req-1"}, True),
        ({"type": "host_tool_result", "id": "req-1", "result": {"content": []}}, True),
    ],
)
def test_a_frame_that_is_no_reply_settles_nothing(frame: object, consumed: bool) -> None:
    """rpc/R-10, rpc/R-11: consumed only if it is a control frame, and even then another kind of answer is not
    ours.
    """
    broker = opened(SELECT)

    assert broker.receive(frame) is consumed
    assert (broker.poll(), broker.open_ids) == ((), ("req-1",))


# ----------------------------------------------------------------------------------------------- the disconnect


def test_a_disconnect_raises_every_open_dialog_and_cancels_none() -> None:
    """rpc/R-40: in the order they were asked; nobody declined, so nothing resolves, and no frame is sent."""
    broker = Broker()
    for dialog in ALL:
        broker.ask(dialog, now_ms=0)
    broker.receive(reply({"confirmed": True}, "req-2"))
    broker.poll()

    broker.disconnect()

    assert broker.poll() == tuple(
        Rejected(dialog_id=dialog_id, error="RPC client disconnected before extension UI response completed")
        for dialog_id in ("req-1", "req-3", "req-4")
    )
    assert (broker.open_ids, broker.fresh_id()) == ((), "req-5")


@pytest.mark.parametrize("dialog", ALL, ids=lambda d: d.kind)
def test_a_dialog_after_the_disconnect_still_writes_its_frame_and_raises(dialog: Dialog) -> None:
    """rpc/R-40, rpc/R-41: the frame is the real program's; the error is the disconnect's."""
    broker = Broker()
    broker.disconnect("already gone")

    assert broker.ask(dialog, now_ms=0) == Asked(
        dialog_id="req-1",
        frames=(dialog.request("req-1"),),
        settled=Rejected(dialog_id="req-1", error="already gone"),
    )
    assert (broker.open_ids, broker.poll()) == ((), ())


@pytest.mark.parametrize("message", ["first", ""])
def test_the_first_disconnect_names_the_error(message: str) -> None:
    """rpc/R-40: a second one finds nothing open and does not rename what later dialogs raise."""
    broker = opened(SELECT)
    broker.disconnect(message)
    broker.disconnect("second")
    later = broker.ask(SELECT, now_ms=0)

    assert broker.poll() == (Rejected(dialog_id="req-1", error=message),)
    assert later.settled == Rejected(dialog_id="req-2", error=message)
    assert broker.lost == message


@pytest.mark.parametrize("asked_after", [False, True])
@pytest.mark.parametrize("kind", TIMED)
def test_a_dialog_that_raised_still_fires_its_timeout(kind: type[Dialog], asked_after: bool) -> None:
    """Recorded item 29 (rpc-0097, rpc-0132): the timer outlives the rejection, once, and settles nothing."""
    broker = Broker()
    if asked_after:
        broker.disconnect()
    broker.ask(timed(kind, 30), now_ms=0)
    broker.disconnect()
    broker.poll()
    assert (broker.state_of("req-1"), broker.next_deadline()) == (DialogState.ORPHANED, 30)

    broker.tick(60)
    broker.tick(90)

    assert broker.poll() == (TimeoutFired(dialog_id="req-1"),)
    assert (broker.abort("req-1"), broker.state_of("req-1")) == ((), DialogState.CLOSED)


@pytest.mark.parametrize("kind", TIMED)
def test_a_dialog_that_raised_still_cancels_when_its_signal_aborts(kind: type[Dialog]) -> None:
    """Recorded item 29 (rpc-0100): one more frame to a host that is gone, and the timer goes with it."""
    broker = opened(timed(kind, 30))
    broker.disconnect()
    broker.poll()

    assert broker.abort("req-1") == (CancelRequest(id="req-2", target_id="req-1"),)
    assert broker.abort("req-1") == ()
    broker.tick(60)
    assert (broker.poll(), broker.next_deadline()) == ((), None)


@pytest.mark.parametrize("asked_after", [False, True])
def test_an_editor_that_raised_leaves_nothing_behind(asked_after: bool) -> None:
    """Recorded item 29 (rpc-0184, rpc-0187): no cancel frame afterwards."""
    broker = Broker()
    if asked_after:
        broker.disconnect()
    broker.ask(Editor(title="Note", timeout_ms=5), now_ms=0)
    broker.disconnect()
    broker.poll()
    broker.tick(10)

    assert (broker.abort("req-1"), broker.poll(), broker.state_of("req-1")) == ((), (), DialogState.CLOSED)


# ---------------------------------------------------------------------------- the approval on the wire (rpc/R-42,
# rpc/R-46)


@pytest.mark.parametrize(
    ("host_does", "expected"),
    [
        ({"value": "Approve"}, Resolved(dialog_id="req-1", value="Approve", by=SettledBy.REPLY)),
        ({"value": "Deny"}, Resolved(dialog_id="req-1", value="Deny", by=SettledBy.REPLY)),
        ({"value": "approve"}, Resolved(dialog_id="req-1", value="approve", by=SettledBy.REPLY)),
        ({"cancelled": True}, Resolved(dialog_id="req-1", value=UNSET, by=SettledBy.CANCELLED)),
        ({"confirmed": True}, Resolved(dialog_id="req-1", value=UNSET, by=SettledBy.REPLY)),
        (None, Rejected(dialog_id="req-1", error=CLIENT_DISCONNECTED)),
    ],
)
def test_what_an_approval_gets_back(host_does: dict[str, Any] | None, expected: Outcome) -> None:
    """rpc/R-42, rpc/R-46, rpc/R-42: only the first row holds the one value that permits; the last is no answer at
    all.
    """
    broker = opened(SELECT)
    if host_does is None:
        broker.disconnect()
    else:
        line = write_line(reply(host_does))
        for frame in LineReader().feed(line):
            assert not isinstance(frame, ParseFailure)
            broker.receive(frame.frame)

    assert broker.poll() == (expected,)


# -------------------------------------------------------------------------------------------------- the table


def test_the_table_says_what_can_happen_to_a_dialog() -> None:
    """rpc/R-34 to rpc/R-40 and item 29, pair by pair: what settles, what sends a frame, what fires the callback."""
    rows = {
        (state.value, happening.value): (
            step.to.value,
            "settles" * step.settles,
            "cancels" * step.sends_cancel,
            "fires" * step.fires_timeout,
        )
        for (state, happening), step in LIFE.items()
    }

    assert rows == {
        ("open", "reply"): ("closed", "settles", "", ""),
        ("open", "abort"): ("closed", "settles", "cancels", ""),
        ("open", "timer"): ("closed", "settles", "", "fires"),
        ("open", "disconnect"): ("orphaned", "settles", "", ""),
        ("orphaned", "abort"): ("closed", "", "cancels", ""),
        ("orphaned", "timer"): ("closed", "", "", "fires"),
    }


@pytest.mark.parametrize("table", [LIFE, EDITOR_LIFE], ids=["dialogs", "editor"])
def test_a_dialog_settles_exactly_when_it_stops_being_open(table: dict[Any, Any]) -> None:
    """rpc/R-37 to rpc/R-40: every step from open settles, no other does, and nothing leads back."""
    for (state, _), step in table.items():
        assert step.settles is (state is DialogState.OPEN)
        assert step.to is not DialogState.OPEN
        assert state is not DialogState.CLOSED


def test_only_the_editor_lives_by_another_table() -> None:
    """rpc/R-36, item 29: it never meets a timer and is never orphaned."""
    assert [life_of(dialog) is LIFE for dialog in ALL] == [True, True, True, False]
    assert set(EDITOR_LIFE) == {
        (DialogState.OPEN, Happening.REPLY),
        (DialogState.OPEN, Happening.ABORT),
        (DialogState.OPEN, Happening.DISCONNECT),
    }


# ------------------------------------------------------------------------------------------------- invariants

dialogs = st.sampled_from(
    [*ALL, timed(Select, 3), timed(Confirm, 0), timed(Input, 7), Editor(title="E", timeout_ms=1)]
)
numbers = st.integers(min_value=1, max_value=9)
payloads = st.fixed_dictionaries(
    {},
    optional={
        "value": st.sampled_from(["Approve", "Deny", "", None, 0, ["x"]]),
        "confirmed": st.sampled_from([True, False, "yes", None]),
        "cancelled": st.sampled_from([True, False, None, 1]),
        "timedOut": st.booleans(),
    },
)
facts = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), dialogs, st.booleans()),
        st.tuples(st.just("reply"), numbers, payloads),
        st.tuples(st.just("abort"), numbers),
        st.tuples(st.just("tick"), st.integers(min_value=0, max_value=5)),
        st.tuples(st.just("disconnect"), st.sampled_from(["gone", "gone again"])),
        st.tuples(st.just("poll")),
    ),
    max_size=40,
)


@settings(deadline=None)  # the machine may be busy
@given(facts)
def test_whatever_happens_a_dialog_settles_at_most_once(script: list[tuple[Any, ...]]) -> None:
    """rpc/R-37 to rpc/R-44: one settlement each at most, no entry for a settled one, no id used twice, no second
    cancel.
    """
    broker, now = Broker(), 0
    asked: list[str] = []
    sent: list[Any] = []
    outcomes: list[Outcome] = []
    for fact in script:
        match fact:
            case ("ask", dialog, aborted):
                result = broker.ask(dialog, now_ms=now, signal_aborted=aborted)
                sent.extend(result.frames)
                if result.dialog_id is None:
                    assert (result.frames, result.settled is None) == ((), False)
                else:
                    asked.append(result.dialog_id)
                    outcomes.extend(() if result.settled is None else (result.settled,))
            case ("reply", n, payload):
                assert broker.receive(reply(payload, f"req-{n}"))
            case ("abort", n):
                sent.extend(broker.abort(f"req-{n}"))
            case ("tick", ms):
                now += ms
                broker.tick(now)
                deadline = broker.next_deadline()
                assert deadline is None or deadline > now
            case ("disconnect", message):
                broker.disconnect(message)
                assert broker.open_ids == ()
            case _:
                outcomes.extend(broker.poll())
        settled_so_far = [o.dialog_id for o in outcomes if not isinstance(o, TimeoutFired)]
        assert not set(settled_so_far) & set(broker.open_ids)
    outcomes.extend(broker.poll())

    settled = [o.dialog_id for o in outcomes if not isinstance(o, TimeoutFired)]
    fired = [o.dialog_id for o in outcomes if isinstance(o, TimeoutFired)]
    cancelled = [frame.target_id for frame in sent if isinstance(frame, CancelRequest)]
    assert len(settled) == len(set(settled))
    assert sorted([*settled, *broker.open_ids]) == sorted(asked)
    assert len(fired) == len(set(fired))
    assert len(cancelled) == len(set(cancelled))
    assert set(fired) | set(cancelled) <= set(settled)
    assert not set(fired) & set(cancelled)
    assert [frame.id for frame in sent] == [f"req-{n}" for n in range(1, len(sent) + 1)]
    assert broker.poll() == ()
    if broker.lost is not None:
        assert not broker.open_ids
