"""The real process at the other end of real pipes: what it writes, what it survives, and how it ends."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labsim.client.client import Client
from labsim.client.errors import CommandFailed, ServerGone
from labsim.client.recording import Direction
from labsim.rpc.dialogs import CLIENT_DISCONNECTED
from labsim.rpc.frames import MAX_FRAME_BYTES, SelectRequest

SERVER = [sys.executable, "-m", "labsim.rpc"]
READY = (
    b'{"type":"ready","protocolVersion":1,"supportedProtocolVersions":[1],"maxFrameBytes":1048576,'
    b'"maxReassembledFrameBytes":67108864}\n'
)


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as started:
        yield started


def talk(sent: bytes, *arguments: str, **more: Any) -> tuple[int, bytes, str]:
    """Send all of `sent` at once, and close. Returns: the exit code, what it wrote, what it complained about."""
    ran = subprocess.run([*SERVER, *arguments], input=sent, capture_output=True, check=False, timeout=60, **more)
    return ran.returncode, ran.stdout, ran.stderr.decode()


def frames(written: bytes) -> list[dict[str, Any]]:
    """The frames of a stream; every line is one, and the last one ends."""
    assert written.endswith(b"\n")
    return [json.loads(line) for line in written.splitlines()]


def received(client: Client) -> list[dict[str, Any]]:
    """What the client has read so far."""
    return [one.frame for one in client.frames if one.direction is Direction.TO_CLIENT]


# ---------------------------------------------------------------------------------------------- begin and end


def test_the_first_frame_says_ready_and_the_end_of_input_ends_the_process() -> None:
    """rpc/R-5, rpc/R-43: nothing was asked, so nothing else is said, and the exit code is 0."""
    assert talk(b"") == (0, READY, "")


def test_a_last_line_without_a_line_break_counts() -> None:
    """rpc/R-1: and blank lines and carriage returns do not."""
    code, written, _ = talk(
        b'\n\r\n{"type":"notify","id":1,"message":"a"}\r\n  \n{"type":"notify","id":2,"message":"b"}'
    )

    assert code == 0
    assert [frame.get("message", frame.get("id")) for frame in frames(written)[1:]] == ["a", 1, "b", 2]


def test_a_shutdown_ends_the_process_although_the_pipe_is_still_open(client: Client) -> None:
    """review/S15: its response is the last frame; what comes after it is not read."""
    client.call("shutdown")

    assert client.wait_closed() == 0
    assert received(client)[-1]["command"] == "shutdown"
    with pytest.raises(ServerGone) as gone:
        client.call("get_state")
    assert (gone.value.exit_code, gone.value.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--resume", "session-1"], "--resume: there is no folder to look in. Name it with --sessions.\n"),
        (["--sessions", ".", "--resume", "../x"], "'../x' is no session id. Use letters, digits and hyphens.\n"),
        (["--note", "."], ".: Is a directory\n"),
    ],
)
def test_what_cannot_be_served_is_refused_before_ready(
    tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    """Exit code 2, one line on standard error, and nothing on the connection."""
    assert talk(b"", *arguments, cwd=tmp_path) == (2, b"", complaint)


@pytest.fixture
def interrupts() -> Iterator[None]:
    """A program that is started in the background by a shell ignores interrupts, and so do all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_from_the_keyboard_ends_it_without_a_traceback() -> None:
    with Client() as client:
        os.kill(client.pid, signal.SIGINT)

        assert (client.wait_closed(), client.stderr()) == (130, "")


def test_a_client_that_reads_no_more_is_gone() -> None:
    """rpc/R-57: its other pipe may still be open; nobody is waited for."""
    process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stderr:
        assert process.stdout.readline() == READY
        process.stdout.close()
        process.stdin.write(b'{"type":"get_state"}\n')
        process.stdin.flush()

        assert process.wait(60) == 0
        assert process.stderr.read() == b""


def test_a_server_does_not_outlive_its_client(tmp_path: Path) -> None:
    """rpc/R-43, rpc/R-57: even one that dies without a word takes its pipes with it, and the server ends in good
    order.
    """
    fifo = tmp_path / "ledger"
    os.mkfifo(fifo)
    program = (
        "import os, sys\n"
        "from labsim.client.client import Client\n"
        "client = Client('--ledger', sys.argv[1])\n"
        "client.send('command', words='delegate')\n"
        "client.next_dialog()\n"
        "os._exit(1)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, fifo], check=False, timeout=60).returncode == 1

    # The ledger is the last thing that it writes; whoever reads the pipe waits until it does.
    read = subprocess.run(["cat", fifo], capture_output=True, check=True, timeout=60)
    told = [json.loads(line)["event"] for line in read.stdout.splitlines()]
    assert told[-1] == "step_taken"
    assert "client_disconnected" in told


# ---------------------------------------------------------------------------------------- nothing else on stdout


def test_whatever_else_is_printed_goes_to_standard_error() -> None:
    """rpc/R-6: from Python, past Python, and from a child of its own."""
    program = (
        "import os\n"
        "from labsim.server.process import own_stdout\n"
        "sink = own_stdout()\n"
        "print('from Python', flush=True)\n"
        "os.write(1, b'past Python\\n')\n"
        "os.system('echo from a child')\n"
        "os.write(sink, b'{}\\n')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60)

    assert ran.stdout == b"{}\n"
    assert ran.stderr.split(b"\n") == [b"from Python", b"past Python", b"from a child", b""]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "sent"), [(None, False), ("1", True), (" On ", True), ("0", False), ("", False)]
)
def test_titles_are_sent_only_where_the_environment_says_so(setting: str | None, sent: bool) -> None:
    """rpc/R-22 to rpc/R-23: PI_RPC_EMIT_TITLE, trimmed and in lower case, is one of four words."""
    environment = {key: value for key, value in os.environ.items() if key != "PI_RPC_EMIT_TITLE"}
    if setting is not None:
        environment["PI_RPC_EMIT_TITLE"] = setting
    _, written, _ = talk(b'{"type":"setTitle","id":1,"title":"Cedar"}\n', env=environment)

    title = [{"type": "extension_ui_request", "id": "req-1", "method": "setTitle", "title": "Cedar"}]
    assert frames(written)[1:-1] == (title if sent else [])
    assert frames(written)[-1] == {"type": "response", "id": 1, "command": "setTitle", "success": True}


# ------------------------------------------------------------------------------------------- lines of every kind

JUNK = [
    b"not json",
    b"null",
    b"[1]",
    b'"text"',
    b"{'type':'get_state'}",
    b'{"type":"extension_ui_response","value":"north"}',
    b'{"type":"extension_ui_response","id":1,"value":"north"}',
    b'{"type":"extension_ui_response","id":"req-9","value":"north"}',
    b'{"type":"bash","id":5}',
    b"\xff\xfe",
    b"",
    b"[" * 150_000,
    b'{"type":"input","title":' + b"[" * 300 + b"]" * 300 + b"}",
]


def test_lines_that_mean_nothing_cost_an_answer_each_and_a_pending_dialog_resolves() -> None:
    """rpc/R-2, rpc/R-3, rpc/R-11, rpc/R-13, rpc/R-14, rpc/R-38: split anywhere, sent between a request and its
    answer.
    """
    asked = b'{"type":"select","id":"asks","title":"Which shelf?","options":["north","south"]}\n'
    answered = '{"type":"extension_ui_response","id":"req-1","value":"sóuth"}\r\n'.encode()
    short = [line for line in JUNK if len(line) < 1000]
    with Client() as client:
        stream = asked + b"\n".join(short) + b"\n" + answered
        for at in range(len(stream)):  # a write for each byte: also inside a character
            client.send_bytes(stream[at : at + 1])
        for line in JUNK:
            client.send_bytes(line + b"\n")
        client.call("get_state")
        got = received(client)

    assert [frame for frame in got if frame.get("id") == "asks"] == [
        {
            "type": "response",
            "id": "asks",
            "command": "select",
            "success": True,
            "data": {"value": "sóuth", "timedOut": False},
        }
    ]
    counted = Counter(_kind(frame) for frame in got[1:-1])
    assert counted == {
        "Failed to parse command": 7 + 8,
        "Unknown command: extension_ui_response": 4,
        "Unknown command: bash": 2,
        "select": 1,
        "response": 1,
    }


def _kind(frame: dict[str, Any]) -> str:
    error = frame.get("error", "")
    if error.startswith("Failed to parse command: "):
        return "Failed to parse command"
    return str(error or frame.get("method", frame["type"]))


def test_a_null_frame_is_answered_like_a_bad_line(client: Client) -> None:
    """rpc/R-14: with a text of rpc/R-2, without an id, and reading goes on."""
    client.send_frame(None)
    client.call("get_state")

    assert received(client)[1] == {
        "type": "response",
        "command": "parse",
        "success": False,
        "error": "Failed to parse command: a frame is a JSON object, not null",
    }


def test_a_line_that_is_too_long_is_refused_and_not_kept(client: Client) -> None:
    """rpc/R-2, rpc/R-7: exactly 1 MiB with its line break is read; a byte more, or 20 MB more, is one refusal."""
    head = b'{"type":"notify","id":1,"message":"'
    for extra in (0, 1, 20_000_000):
        client.send_bytes(head + b"x" * (MAX_FRAME_BYTES + extra - len(head) - 3) + b'"}\n')
    client.call("get_state")

    got = [frame for frame in received(client) if frame["type"] == "response"]
    too_long = {
        "type": "response",
        "command": "parse",
        "success": False,
        "error": f"Failed to parse command: the frame is longer than {MAX_FRAME_BYTES} bytes",
    }
    assert got[:3] == [{"type": "response", "id": 1, "command": "notify", "success": True}, too_long, too_long]


def test_a_request_that_is_too_large_is_sent_shortened(client: Client) -> None:
    """rpc/R-7: protocol 1 cuts long strings, and says how much is gone."""
    client.call("notify", message="é" * 524_260)  # its envelope is longer on the way back

    (line,) = [one.line for one in client.frames if '"method":"notify"' in one.line]
    assert len(line.encode()) < MAX_FRAME_BYTES
    assert json.loads(line)["message"].endswith(" chars elided for RPC frame]")


def test_a_response_that_is_too_large_is_an_error(client: Client) -> None:
    """rpc/R-7: half an answer would be a wrong one."""
    asking = client.send("editor", title="The note")
    client.answer(client.next_dialog(), "x" * (MAX_FRAME_BYTES - 80))

    with pytest.raises(CommandFailed) as failed:
        client.wait(asking)
    assert failed.value.error == "RPC response exceeded the transport limit"


# --------------------------------------------------------------------------------------------------- real time


def test_a_dialog_times_out_in_real_time(client: Client) -> None:
    """rpc/R-19, rpc/R-21, rpc/R-35: the server has a timer of its own; no frame says so."""
    began = time.monotonic()
    data = client.call("select", title="Which shelf?", options=["north"], timeout=120)

    assert data == {"timedOut": True}
    assert time.monotonic() - began >= 0.12
    assert [frame.get("method") for frame in received(client)] == [None, "select", None]
    (settled,) = [event for event in client.ledger() if event["event"] == "dialog_settled"]
    asked = client.ledger()[0]["atMs"]
    assert (settled["by"], settled["atMs"] - asked) == ("timeout", 120)


def test_other_dialogs_go_on_while_one_times_out(client: Client) -> None:
    """rpc/R-44: each has its own end."""
    patient = client.send("input", title="Whose?")
    assert client.call("confirm", title="Sure?", message="Quickly.", timeout=1) == {
        "value": False,
        "timedOut": True,
    }
    client.answer(client.next_dialog(), "mine")

    assert client.wait(patient) == {"value": "mine", "timedOut": False}


# ----------------------------------------------------------------------------------------------------- accidents


def test_killed_in_the_middle_of_a_dialog_nobody_waits_for_ever(client: Client) -> None:
    """The client hears of it at once, and its late answer is an error with the exit code in it."""
    asking = client.send("command", words="delegate")
    dialog = client.next_dialog()
    client.kill()

    with pytest.raises(ServerGone) as gone:
        client.wait(asking)
    assert gone.value.exit_code == -signal.SIGKILL
    with pytest.raises(ServerGone):
        client.answer(dialog, True)


def test_a_disconnect_during_an_approval_refuses_the_call(tmp_path: Path) -> None:
    """rpc/R-40, rpc/R-42, rpc/R-43: the dialog raises, the call is refused with that message, queued commands run,
    exit 0.
    """
    path = tmp_path / "ledger.jsonl"
    with Client("--ledger", str(path)) as client:
        gated = client.send("gated_call", args={"shelf": "north"})
        dialog = client.next_dialog()
        asking = client.send("input", title="Whose?", queued=True)
        queued = client.send("message", text="still here")
        client.close_stdin()

        for command_id in (gated, asking):
            with pytest.raises(CommandFailed) as failed:
                client.wait(command_id)
            assert failed.value.error == CLIENT_DISCONNECTED
        assert client.wait(queued) == {"entryId": "entry-1"}
        assert client.wait_closed() == 0
    assert isinstance(dialog, SelectRequest)
    assert dialog.options == ("Approve", "Deny")
    events = [json.loads(line) for line in path.read_text().splitlines()]
    told = [event["event"] for event in events]
    gone = told.index("client_disconnected")
    assert told[gone:] == [
        "client_disconnected",
        "dialog_settled",
        "rpc.select",
        "tool_approval_resolved",
        "call_threw",
        "dialog_settled",
        "question_answered",
        "entry_arrived",
        "step_taken",
    ]
    assert events[gone + 1]["error"] == CLIENT_DISCONNECTED
    assert "execute" not in told


def test_a_disconnect_during_a_review_records_nothing(tmp_path: Path) -> None:
    """review/S17, review/V-47: it is not a cancellation. The session has no file, since nothing was ever written
    into it.
    """
    with Client("--sessions", str(tmp_path / "sessions")) as client:
        review = client.send("command", words="review")
        client.next_dialog()
        client.close_stdin()

        assert client.wait(review) is None
        said = [frame["message"] for frame in received(client) if frame.get("method") == "notify"]
        assert said == ["Review dialog closed; nothing recorded."]
    assert not (tmp_path / "sessions").exists()


@pytest.mark.slow
def test_a_new_process_finds_the_note_and_no_permission(tmp_path: Path) -> None:
    """review/V-13, review-t17: what is stored is the note; killed or shut down, the grant was in memory only."""
    folder = str(tmp_path)
    with Client("--sessions", folder, on_dialog=lambda _, dialog: True) as client:
        client.call("command", words="delegate")
        client.call("call", args={"op": "act", "action": "accept", "expectedRevision": 0})
        client.call("command", words="delegate")
        assert client.call("get_state")["authorized"] is True
        client.kill()
    with Client("--sessions", folder, "--resume", "session-1") as client:
        state = client.call("get_state")
        assert (state["status"], state["revision"], state["authorized"]) == ("accepted", 1, False)
        (reopened,) = client.ledger()
        assert (reopened["event"], reopened["entries"], reopened["remarks"]) == ("session_reopened", 1, [])
    with Client("--sessions", folder) as client:
        state = client.call("get_state")
        assert (state["sessionId"], state["revision"]) == ("session-2", 0)
        assert state["sessions"] == ["session-2", "session-1"]


def test_without_a_folder_nothing_is_written_anywhere(tmp_path: Path) -> None:
    """The command line names the files, or there are none."""
    talk(b'{"type":"message","text":"hello"}\n{"type":"command","words":"show"}\n', cwd=tmp_path)

    assert list(tmp_path.iterdir()) == []


# -------------------------------------------------------------------------------------------------------- floods

FLOOD = 100_000
#: What is sent again and again; beside each, how many answers it gets.
MIX = [
    (b'{"type":"extension_ui_response","id":"req-2","value":"a late one"}\n', 0),
    (b'{"type":"extension_ui_response","id":"nobody","value":"to nobody"}\n', 0),
    (b"{ this is no JSON\n", 1),
    (b"null\n", 1),
    (b'{"type":"bash","id":1,"command":"ls"}\n', 1),
    (b'{"type":"get_state","id":"again"}\n', 1),
    (b'{"type":"setStatus","id":"again","statusKey":"k","statusText":"t"}\n', 2),
    (b'{"type":"go","id":"again"}\n', 1),
]


def resident_kib(pid: int) -> int:
    """How much memory a process holds now."""
    if not Path("/proc/self/status").exists():
        return int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(pid)]))
    found = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(found[0].split()[1])


@pytest.mark.slow
def test_a_hundred_thousand_frames_leave_memory_flat_and_a_dialog_open(record_property: Any) -> None:
    """rpc/R-2, rpc/R-10, rpc/R-13, rpc/R-38: late replies, unknown ids, junk and commands; nothing hangs, nothing
    is kept.
    """
    many = FLOOD // 10 // len(MIX)
    burst, answers = b"".join(line for line, _ in MIX) * many, sum(count for _, count in MIX) * many
    with Client(kept=100) as client:
        asking = client.send("select", title="Which shelf?", options=["north", "south"])
        client.call("input", title="Whose?", timeout=0)
        dialog = client.next_dialog()
        began = time.monotonic()
        sizes = []
        for _ in range(10):
            client.send_bytes(burst)
            client.call("get_state", timeout_s=120)
            sizes.append(resident_kib(client.pid))
        seconds = time.monotonic() - began
        last = client.frames[-1]
        client.answer(dialog, "south")
        assert client.wait(asking) == {"value": "south", "timedOut": False}
    sent = 10 * many * len(MIX)

    assert sent == FLOOD
    #  recorded so far: two commands, their frames, and for each burst everything in it and one state
    assert last.n == 1 + 2 + 3 + sent + 10 * (answers + 2)
    assert max(sizes[3:]) - sizes[2] < 4096, sizes  # by then the ledger has begun to let go of the oldest
    record_property("frames per second", round(sent / seconds))
    record_property("resident KiB", sizes)
    print(f"{sent} frames in {seconds:.1f} s, {sent / seconds:.0f} a second; resident KiB: {sizes}")


@pytest.mark.slow
def test_ten_thousand_dialogs_leave_memory_flat() -> None:
    """rpc/R-37: a dialog that is over leaves nothing behind, however many there were."""
    sizes = []
    lines = []
    for number in range(1, 10_001):
        lines.append(b'{"type":"input","id":1,"title":"Whose?","timeout":60000}\n')
        lines.append(b'{"type":"extension_ui_response","id":"req-%d","value":"mine"}\n' % number)
    with Client(kept=100) as client:
        for start in range(0, len(lines), 2000):
            client.send_bytes(b"".join(lines[start : start + 2000]))
            client.call("get_state", timeout_s=120)
            sizes.append(resident_kib(client.pid))
        assert client.call("get_state")["openDialogs"] == []
    assert max(sizes[5:]) - sizes[4] < 4096, sizes


@pytest.mark.slow
def test_a_client_that_only_writes_has_to_wait_and_loses_nothing() -> None:
    """The server takes no more than it can answer: what is on its way is bounded, whoever reads late reads all."""
    line = b'{"type":"get_state","id":"%0100d"}\n' % 0
    process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)
    accepted = 0
    stream = line * 2000
    while select.select([], [process.stdin], [], 1.0)[1]:  # until there has been no room for a second
        accepted += os.write(process.stdin.fileno(), stream[accepted % len(line) :])
        assert accepted < 8 * 1024 * 1024
    os.set_blocking(process.stdin.fileno(), True)
    written, complaints = process.communicate(line[accepted % len(line) :], timeout=60)

    answers = frames(written)[1:]
    assert len(answers) == accepted // len(line) + 1
    assert {answer["success"] for answer in answers} == {True}
    assert (process.returncode, complaints) == (0, b"")
