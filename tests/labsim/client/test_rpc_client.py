"""The client that a notebook plays: commands, dialogs by callback or by hand, and no process left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from labsim.client.client import LATER, Client
from labsim.client.errors import CallbackFailed, ClientError, CommandFailed, NotAnswered, ServerGone, StreamBroken
from labsim.client.recording import Direction, Recorded
from labsim.rpc.frames import ConfirmRequest, DialogRequest, EditorRequest, InputRequest, SelectRequest

EDITED = "Seed swap on Sunday.\n"
READY = '{"type":"ready"}'


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as started:
        yield started


def playing(*lines: str, then: str = "sys.stdin.read()", **more: Any) -> Client:
    """A client of a program that writes these lines, and then does something else."""
    program = f"import sys; print({chr(10).join(lines)!r}, flush=True); {then}"
    return Client(program=[sys.executable, "-c", program], **more)


def is_over(pid: int) -> bool:
    """Whether there is no such process any more; one that nobody has waited for would still be there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


# ------------------------------------------------------------------------------------------------ dialogs by hand


def test_a_whole_review_by_hand(client: Client) -> None:
    """review/S2: send, take each dialog as it comes, answer, and wait for the command."""
    review = client.send("command", words="review")
    editor = client.next_dialog()
    client.answer(editor, EDITED)
    selector = client.next_dialog()
    client.answer(selector, "Accept locally")

    assert client.wait(review) is None
    assert isinstance(editor, EditorRequest)
    assert selector == SelectRequest(
        id=selector.id, title="Record the review", options=("Accept locally", "Reject", "Cancel")
    )
    state = client.call("get_state")
    assert (state["text"], state["status"], state["revision"]) == (EDITED, "accepted", 1)


def test_two_dialogs_are_answered_in_reverse_order(client: Client) -> None:
    """rpc/R-44, rpc/R-58: both are open, each is handed out once, and responses are matched by id."""
    first = client.send("select", title="Which shelf?", options=["north", "south"])
    second = client.send("confirm", title="Sure?", message="Move the beans.")
    one, two = client.next_dialog(), client.next_dialog()
    assert client.dialogs == (one, two)

    client.answer(two, True)
    assert client.wait(second) == {"value": True, "timedOut": False}
    assert client.dialogs == (one,)
    client.answer(one, "south")
    assert client.wait(first) == {"value": "south", "timedOut": False}
    assert client.dialogs == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "asked", "value", "payload"),
    [
        ("select", {"options": ["a"]}, "a", {"value": "a"}),
        ("input", {}, "", {"value": ""}),
        ("editor", {}, "x\ny", {"value": "x\ny"}),
        ("confirm", {"message": "m"}, False, {"confirmed": False}),
        ("confirm", {"message": "m"}, None, {"cancelled": True}),
        ("input", {}, None, {"cancelled": True}),
    ],
)
def test_an_answer_has_the_shape_that_its_dialog_asks_for(
    client: Client, kind: str, asked: dict[str, Any], value: object, payload: dict[str, Any]
) -> None:
    """rpc/R-50, rpc/R-25 to rpc/R-32; None closes a dialog, it is never a yes (rpc/R-54)."""
    command = client.send(kind, title="t", **asked)
    dialog = client.next_dialog()
    client.answer(dialog, value)
    client.wait(command)

    sent = [one.frame for one in client.frames if one.direction is Direction.FROM_CLIENT]
    assert sent[-1] == {"type": "extension_ui_response", "id": dialog.id, **payload}


def test_a_cancelled_dialog_is_closed_here_and_not_replied_to(client: Client) -> None:
    """rpc/R-20, rpc/R-52: by its target. A late yes is swallowed at the other end, and grants nothing (review/V-44,
    review-t08).
    """
    asking = client.send("command", words="delegate")
    dialog = client.next_dialog()
    client.call("command", words="revoke")
    client.wait(asking)

    assert client.dialogs == ()
    client.answer(dialog, True)
    assert client.call("get_state")["authorized"] is False
    sent = [one.frame["type"] for one in client.frames if one.direction is Direction.FROM_CLIENT]
    assert sent == ["command", "command", "extension_ui_response", "get_state"]


def test_a_dialog_whose_time_is_over_is_open_no_longer() -> None:
    """rpc/R-51: the client keeps the time as well, and need not be told."""
    head = '{"type":"extension_ui_request","method":"input","title":"Whose?"'
    with playing(READY, f'{head},"id":"a","timeout":0}}', f'{head},"id":"b","timeout":3600000}}') as client:
        dialogs = [client.next_dialog(), client.next_dialog()]

        assert dialogs == [
            InputRequest(id=name, title="Whose?", timeout=ms) for name, ms in (("a", 0), ("b", 3600000))
        ]
        assert client.dialogs == (dialogs[1],)


def test_what_waits_for_a_dialog_that_does_not_come_says_so(client: Client) -> None:
    with pytest.raises(NotAnswered, match=r"No dialog within 0\.01 s"):
        client.next_dialog(0.01)
    assert client.call("get_state")["busy"] is False


# --------------------------------------------------------------------------------------------- dialogs by callback


def test_a_callback_answers_one_dialog_after_another() -> None:
    """What it returns is the answer; the command just takes its time."""
    seen: list[DialogRequest] = []

    def answers(_: Client, dialog: DialogRequest) -> object:
        seen.append(dialog)
        return EDITED if isinstance(dialog, EditorRequest) else "Reject"

    with Client(on_dialog=answers) as client:
        client.call("command", words="review")
        assert client.call("get_state")["status"] == "rejected"

    assert [type(dialog) for dialog in seen] == [EditorRequest, SelectRequest]


def test_a_callback_may_send_commands_of_its_own_and_wait_for_them() -> None:
    """review/V-41, review-t09: revoked while the editor is open, by whoever is in it: no selector, nothing
    recorded.
    """
    seen: list[DialogRequest] = []

    def revokes(client: Client, dialog: DialogRequest) -> object:
        seen.append(dialog)
        client.call("command", words="revoke")
        return EDITED

    with Client(on_dialog=revokes) as client:
        client.call("command", words="review")
        state = client.call("get_state")

    assert [type(dialog) for dialog in seen] == [EditorRequest]
    assert (state["revision"], state["entries"], state["busy"]) == (0, 0, False)


def test_a_callback_may_leave_the_answer_to_somebody_else() -> None:
    """LATER: the dialog stays open, and what a widget does later is an answer like any other."""
    shown: list[DialogRequest] = []
    there = threading.Event()

    def shows(_: Client, dialog: DialogRequest) -> object:
        shown.append(dialog)
        there.set()
        return LATER

    with Client(on_dialog=shows) as client:
        asking = client.send("command", words="delegate")
        assert there.wait(30)
        assert client.dialogs == tuple(shown)
        client.answer(shown[0], True)
        client.wait(asking)
        assert client.call("get_state")["authorized"] is True

    assert repr(LATER) == "LATER"


def test_a_callback_that_fails_is_heard_of_where_somebody_waits() -> None:
    """Its dialog is still open, and can be answered by hand."""
    trouble = ValueError("no such widget")

    def fails(_: Client, dialog: DialogRequest) -> object:
        raise trouble

    with Client(on_dialog=fails) as client:
        asking = client.send("command", words="delegate")
        with pytest.raises(CallbackFailed, match="The callback for the dialog req-1 failed") as failed:
            client.wait(asking)
        assert failed.value.__cause__ is trouble
        client.answer(client.dialogs[0], False)
        client.wait(asking)


def test_a_callback_that_fails_is_heard_of_at_the_end_at_last() -> None:
    called = threading.Event()

    def fails(_: Client, dialog: DialogRequest) -> object:
        called.set()
        raise ValueError("no such widget")

    client = Client(on_dialog=fails)
    client.send("command", words="delegate")
    assert called.wait(30)
    with pytest.raises(CallbackFailed):
        client.close()
    assert is_over(client.pid)
    assert client.close() == 0


def test_a_callback_that_is_busy_when_the_server_goes_does_no_harm() -> None:
    """Its answer has nowhere to go, and nobody waits for it."""
    called, gone = threading.Event(), threading.Event()

    def slow(_: Client, dialog: DialogRequest) -> object:
        called.set()
        gone.wait(30)
        return True

    with Client(on_dialog=slow) as client:
        client.send("command", words="delegate")
        assert called.wait(30)
        client.kill()
        client.wait_closed()
        gone.set()


# ------------------------------------------------------------------------------------------------- what is recorded


def test_every_frame_is_recorded_in_both_directions(client: Client) -> None:
    """In the order in which this end sent or read them; with the line as it was."""
    asking = client.send("confirm", title="Sure?", message="Really?")
    dialog = client.next_dialog()
    client.answer(dialog, True)
    client.wait(asking)

    lines = [
        (Direction.TO_CLIENT, client.frames[0].line),
        (Direction.FROM_CLIENT, '{"type":"confirm","id":"req_1","title":"Sure?","message":"Really?"}'),
        (
            Direction.TO_CLIENT,
            '{"type":"extension_ui_request","id":"req-1","method":"confirm","title":"Sure?","message":"Really?"}',
        ),
        (Direction.FROM_CLIENT, '{"type":"extension_ui_response","id":"req-1","confirmed":true}'),
        (
            Direction.TO_CLIENT,
            '{"type":"response","id":"req_1","command":"confirm","success":true,"data":{"value":true,"timedOut":false}}',
        ),
    ]
    assert [(one.direction, one.line) for one in client.frames] == lines
    assert [one.n for one in client.frames] == [1, 2, 3, 4, 5]
    assert [one.id for one in client.frames] == [None, "req_1", "req-1", "req-1", "req_1"]
    assert client.frames[0].frame == client.ready
    times = [one.at_ms for one in client.frames]
    assert times == sorted(times)


def test_a_line_sent_in_pieces_is_one_frame_and_junk_is_none(client: Client) -> None:
    """rpc/R-3: the table shows what travelled, not how it was written."""
    client.send_bytes(b'{"type":"noti')
    client.send_bytes(b'fy","message":"a"}\nnot json\n{"type":"get')
    client.send_bytes(b'_ledger"}\n')
    client.call("get_state")

    sent = [one for one in client.frames if one.direction is Direction.FROM_CLIENT]
    assert [one.line for one in sent[:3]] == [
        '{"type":"notify","message":"a"}',
        "not json",
        '{"type":"get_ledger"}',
    ]
    assert [isinstance(one.frame, dict) for one in sent] == [True, False, True, True]
    assert sent[1].id is None


def test_a_last_line_that_is_never_ended_is_recorded_when_it_counts(client: Client) -> None:
    """rpc/R-1: at the end of input."""
    client.send_bytes(b'{"type":"notify","message":"the last"}')
    client.close_stdin()
    client.close_stdin()

    assert client.wait_closed() == 0
    assert [one.line for one in client.frames][1] == '{"type":"notify","message":"the last"}'
    assert client.frames[2].frame["message"] == "the last"


def test_the_recording_keeps_the_newest_frames() -> None:
    with Client(kept=3) as client:
        for number in range(5):
            client.call("notify", message=str(number))

        assert [one.n for one in client.frames] == [14, 15, 16]


def test_the_ledger_comes_whole_however_many_pages_it_has(client: Client) -> None:
    """`get_ledger` hands over what goes into a frame; the client asks until there is no more."""
    for number in range(30):
        client.send("notify", message=f"{number} " + "x" * 10_000)
    events = client.ledger()

    assert [event["frame"]["message"].split()[0] for event in events] == [str(number) for number in range(30)]
    assert client.ledger(28) == events[28:]
    assert sum(one.frame["type"] == "get_ledger" for one in client.frames if one.id != "x") > 2


# ------------------------------------------------------------------------------------------------------- responses


def test_command_ids_count_up_and_each_response_is_handed_out_once(client: Client) -> None:
    """rpc/R-59."""
    first, second = client.send("get_state"), client.send("get_ledger")
    assert (first, second) == ("req_1", "req_2")

    assert client.wait(second)["events"] == []
    assert client.wait(first)["mode"] == "rpc"
    with pytest.raises(NotAnswered, match=r"No response to req_1 within 0\.01 s"):
        client.wait(first, 0.01)


def test_a_command_that_fails_raises_what_the_server_said(client: Client) -> None:
    with pytest.raises(CommandFailed, match="go failed: session-1 has no entry 'entry-9'") as failed:
        client.call("go", to="entry-9")

    assert (failed.value.command, failed.value.response["id"]) == ("go", "req_1")
    assert isinstance(failed.value, ClientError)


def test_two_threads_wait_for_their_own_responses(client: Client) -> None:
    found: dict[str, Any] = {}
    mine, other = client.send("input", title="a"), client.send("input", title="b")
    thread = threading.Thread(target=lambda: found.update(other=client.wait(other)))
    thread.start()
    one, two = client.next_dialog(), client.next_dialog()
    client.answer(one, "A")
    client.answer(two, "B")

    assert client.wait(mine)["value"] == "A"
    thread.join(30)
    assert found["other"]["value"] == "B"


# ----------------------------------------------------------------------------------------- programs of other kinds


def test_a_program_that_ends_before_it_is_ready_says_why() -> None:
    """rpc/R-59: with its exit code and what it complained about."""
    with pytest.raises(ServerGone) as gone:
        Client(program=[sys.executable, "-c", "import sys; print('no seeds', file=sys.stderr); sys.exit(3)"])

    assert (gone.value.exit_code, gone.value.stderr) == (3, "no seeds\n")
    assert str(gone.value) == "The server has ended (exit code 3). It said: no seeds"


def test_a_program_that_never_gets_ready_is_not_left_behind() -> None:
    """rpc/R-59: after the time that one is willing to wait."""
    before = threading.active_count()
    with pytest.raises(NotAnswered, match=r"No ready frame within 0\.3 s"):
        playing('{"type":"response"}', timeout_s=0.3)

    assert threading.active_count() == before  # whose threads end with its pipes


def test_unknown_frames_fields_and_methods_are_nothing_to_us() -> None:
    """rpc/R-53."""
    with playing(
        READY,
        '{"type":"weather","id":{"a":1}}',
        '{"type":"response","id":["odd"],"command":"x","success":true}',
        '{"type":"response","id":"req_77","command":"x","success":true}',
        '{"type":"extension_ui_request","id":"a","method":"askDialog","title":"t"}',
        '{"type":"extension_ui_request","id":"b","method":"cancel","targetId":"never"}',
        '{"type":"extension_ui_request","id":"c","method":"confirm","title":"t","message":"m","colour":"red"}',
    ) as client:
        assert client.next_dialog() == ConfirmRequest(id="c", title="t", message="m")
        assert client.dialogs == (ConfirmRequest(id="c", title="t", message="m"),)


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "[1]",
        '{"type":"rpc_chunk","chunkId":"a","index":0,"count":1,"byteLength":2,"data":"e30="}',
        '{"type":"extension_ui_request","id":"a","method":"confirm","title":5,"message":"m"}',
    ],
)
def test_a_line_that_is_no_frame_of_protocol_1_breaks_the_stream(line: str) -> None:
    """rpc/R-6, rpc/R-59: nobody has negotiated chunks; it is said to everybody who waits from now on."""
    with playing(READY, line) as client:
        for _ in range(2):
            with pytest.raises(StreamBroken) as broken:
                client.next_dialog()
            assert broken.value.line == line


def test_a_program_that_does_not_end_by_itself_is_killed() -> None:
    """Closing its input is polite; it has so long, and no longer."""
    client = playing(READY, then="import time; time.sleep(600)")

    assert client.close(timeout_s=0.2) == -signal.SIGKILL
    assert is_over(client.pid)


def test_a_program_that_stops_reading_is_killed_even_in_the_middle_of_a_write() -> None:
    """Whoever is stuck in the write gets an error, and `close` does not wait for him."""
    request = '{"type":"extension_ui_request","id":"a","method":"input","title":"t"}'
    reads_one_byte = f"sys.stdin.buffer.raw.read(1); print({request!r}, flush=True); import time; time.sleep(600)"
    client = playing(READY, then=reads_one_byte)
    raised: list[Exception] = []

    def writes() -> None:
        try:
            client.send_bytes(b"x" * 10_000_000 + b"\n")
        except ServerGone as error:
            raised.append(error)

    thread = threading.Thread(target=writes)
    thread.start()
    client.next_dialog()  # the write is under way, and nobody will read the rest of it
    assert client.close(timeout_s=0.3) == -signal.SIGKILL
    thread.join(30)
    assert [type(error) for error in raised] == [ServerGone]


def test_only_the_end_of_what_a_program_complains_about_is_kept() -> None:
    """However much it is."""
    with playing(
        READY, then="sys.stderr.write('a' * 200_000 + 'the end'); sys.stderr.close(); sys.stdin.read()"
    ) as c:
        c.close_stdin()
        c.wait_closed()

        assert c.stderr().endswith("the end")
        assert len(c.stderr()) == 64 * 1024


# ------------------------------------------------------------------------------------------------------- the end


def test_at_the_end_of_the_block_there_is_no_process() -> None:
    """And what is called afterwards says so."""
    with Client() as client:
        client.send("command", words="delegate")
        client.next_dialog()
    assert is_over(client.pid)
    assert client.close() == 0

    with pytest.raises(ServerGone, match=r"The server has ended \(exit code 0\)\."):
        client.send("get_state")
    with pytest.raises(ServerGone):
        client.next_dialog()
    assert len(client.frames) > 2  # what was recorded can still be shown


def test_an_error_in_the_block_ends_the_process_at_once() -> None:
    """The error is the one that is raised, and the server has not been told goodbye."""
    started: list[Client] = []

    def goes_wrong() -> None:
        with Client() as client:
            started.append(client)
            client.send("command", words="delegate")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        goes_wrong()
    (client,) = started
    assert is_over(client.pid)
    assert client.close() == -signal.SIGKILL


def test_an_interrupt_of_the_notebook_is_not_one_of_the_server(client: Client) -> None:
    """It has a session of its own, so what is sent to the group of this process does not reach it."""
    assert os.getpgid(client.pid) != os.getpgid(0)


def test_a_recorded_frame_is_a_plain_record() -> None:
    """So that any table can show it."""
    one = Recorded(n=1, at_ms=0, direction=Direction.TO_CLIENT, frame={"id": "a"}, line='{"id":"a"}')

    assert (one.id, str(one.direction)) == ("a", "to client")
