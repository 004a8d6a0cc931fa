"""Approval over RPC: the one request on the wire, what the client may do, and when it goes away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_kit import PROMPT, a_case, heard, kinds, play
from msgspec import UNSET

from labsim.call.handlers import EventName, Extension, HandlerContext
from labsim.call.runner import Runner
from labsim.errors import HostError
from labsim.events.dialogs import QuestionAnswered, RpcSelect
from labsim.play.performance import Performance, start
from labsim.rpc.adapter import RpcUI
from labsim.rpc.broker import SettledBy
from labsim.rpc.dialogs import CLIENT_DISCONNECTED
from labsim.rpc.events import ClientDisconnected, DialogSettled, FrameReceived, FrameSent, RpcEvent
from labsim.stage.stage import AbortSignal, Stage, Task
from labsim.stage.ui import Disconnects, Says
from labsim.terms import DialogKind

REQUEST = {
    "type": "extension_ui_request",
    "id": "req-1",
    "method": "select",
    "title": PROMPT,
    "options": ["Approve", "Deny"],
}


def a_reply(**payload: Any) -> dict[str, Any]:
    return {"type": "extension_ui_response", "id": "req-1", **payload}


def wire(events: Any) -> list[RpcEvent]:
    """What went over the connection, and what it came to."""
    return [event for event in events if isinstance(event, RpcEvent)]


# rpc/R-42, rpc/R-46: the generic approval prompt


@pytest.mark.parametrize(
    ("choice", "payload", "value", "by", "error"),
    [
        ("Approve", {"value": "Approve"}, "Approve", SettledBy.REPLY, None),
        ("Deny", {"value": "Deny"}, "Deny", SettledBy.REPLY, "Tool call denied by user: seed_note"),
        ("sure", {"value": "sure"}, "sure", SettledBy.REPLY, "Tool call denied by user: seed_note"),
        (True, {"value": True}, True, SettledBy.REPLY, "Tool call denied by user: seed_note"),
        (None, {"cancelled": True}, UNSET, SettledBy.CANCELLED, "Tool call denied by user: seed_note"),
    ],
)
def test_the_client_answers_one_request(
    choice: Any, payload: dict[str, Any], value: Any, by: SettledBy, error: str | None
) -> None:
    """rpc/R-42, rpc/R-46, rpc/R-18: title and labels, no details and no timeout; only the exact label runs the
    tool.
    """
    report = play(ui="rpc", choices=[choice])

    assert wire(report.ledger) == [
        FrameSent(at_ms=0, frame=REQUEST),
        FrameReceived(at_ms=0, frame=a_reply(**payload), consumed=True),
        DialogSettled(at_ms=0, dialog_id="req-1", by=by, value=value),
    ]
    assert [event for event in report.ledger if isinstance(event, RpcSelect)] == [
        RpcSelect(at_ms=0, options=("Approve", "Deny"), choice=choice)
    ]
    assert (report.observed.get("error"), report.observed["effects"]) == (error, int(error is None))
    assert report.observed["rpcRequests"] == 1


@pytest.mark.parametrize("message", [CLIENT_DISCONNECTED, "client went away"])
def test_a_client_that_goes_away_refuses_the_call(message: str) -> None:
    """rpc/R-40, rpc/R-42: the dialog raises, nobody declined anything, and the tool does not run."""
    report = play(ui="rpc", choices=[{"disconnect": message}])

    assert wire(report.ledger) == [
        FrameSent(at_ms=0, frame=REQUEST),
        ClientDisconnected(at_ms=0, message=message),
        DialogSettled(at_ms=0, dialog_id="req-1", by=SettledBy.DISCONNECT, error=message),
    ]
    assert heard(report.ledger)[-1] == {
        "event": "tool_approval_resolved",
        "sessionId": "",
        "toolName": "seed_note",
        "toolCallId": "call-1",
        "approved": False,
        "reason": message,
    }
    assert (report.observed["error"], report.observed["effects"]) == (message, 0)


def test_every_later_dialog_raises_the_same_and_gets_no_reply() -> None:
    """rpc/R-40, rpc/R-41: the request still goes out, and a client that is gone sends nothing back
    (wrapper-0519).
    """
    report = play(ui="rpc", choices=[{"disconnect": "away"}, "Approve", "Approve"], repeat=3)

    assert [call.error for call in report.calls] == ["away"] * 3
    assert [event.frame["id"] for event in wire(report.ledger) if isinstance(event, FrameSent)] == [
        "req-1",
        "req-2",
        "req-3",
    ]
    assert not any(isinstance(event, FrameReceived) for event in report.ledger)
    assert (report.observed["prompts"], report.observed["rpcRequests"]) == (3, 3)


def live(**given: Any) -> Performance:
    return start(a_case(ui="rpc", **given), lambda performance, question: None)


def test_an_unanswered_request_blocks_its_call_until_the_client_answers_or_leaves() -> None:
    """rpc/R-46: neither timeout nor signal closes it; an hour later it is still there."""
    performance = live(abortAtMs=10)
    performance.advance(3_600_000)
    (question,) = performance.report().questions
    assert (question.title, question.options, question.via) == (PROMPT, ("Approve", "Deny"), "rpc")

    performance.fail("q-1", HostError(CLIENT_DISCONNECTED))
    report = performance.report()
    assert (report.finished, report.observed["error"]) == (True, CLIENT_DISCONNECTED)
    assert wire(report.ledger)[-1] == DialogSettled(
        at_ms=3_600_000, dialog_id="req-1", by=SettledBy.DISCONNECT, error=CLIENT_DISCONNECTED
    )


def test_nobody_is_asked_once_the_client_is_gone() -> None:
    """rpc/R-40: a later request waits for nobody, so the case comes to its end by itself."""
    performance = live(repeat=2)
    performance.fail("q-1", HostError("away"))
    report = performance.report()

    assert (report.finished, report.questions) == (True, ())
    assert [call.error for call in report.calls] == ["away", "away"]
    assert [event.choice for event in report.ledger if isinstance(event, RpcSelect)] == [
        {"disconnect": "away"},
        None,
    ]


def test_a_late_reply_is_swallowed() -> None:
    """rpc/R-38: its frame arrives, and nothing else happens: no frame back, no error, state unchanged."""
    performance = live()
    assert performance.reply("q-1", "Deny")
    before = performance.report()

    assert not performance.reply("q-1", "Approve")
    after = performance.report()
    assert after.observed == before.observed
    assert wire(after.ledger) == [
        *wire(before.ledger),
        FrameReceived(at_ms=0, frame=a_reply(value="Approve"), consumed=True),
    ]


# A handler's own dialogs


class Client:
    """A connection with somebody at its end, and dialogs that are opened on it."""

    def __init__(self, *script: Any) -> None:
        self.stage = Stage()
        self.ui = RpcUI(self.stage, iter(script) if script else None)

    def open(self, dialog: str, signal: AbortSignal | None = None) -> Task[Any]:
        opened: dict[str, Callable[[], Any]] = {
            "select": lambda: self.ui.select("Which?", ["a", "b"], signal=signal),
            "confirm": lambda: self.ui.confirm("Sure?", "Really?", signal=signal),
            "input": lambda: self.ui.input("Name?", "a seed", signal=signal),
            "bare input": lambda: self.ui.input("Name?", signal=signal),
            "editor": lambda: self.ui.editor("Note?", "draft", signal=signal),
        }
        return self.stage.spawn(opened[dialog]())

    @property
    def frames(self) -> list[Any]:
        return [event.frame for event in self.stage.ledger if isinstance(event, FrameSent | FrameReceived)]


@pytest.mark.parametrize(
    ("dialog", "request_", "value", "payload", "result"),
    [
        ("select", {"method": "select", "title": "Which?", "options": ["a", "b"]}, "b", {"value": "b"}, "b"),
        ("confirm", {"method": "confirm", "title": "Sure?", "message": "Really?"}, True, {"confirmed": True}, True),
        (
            "confirm",
            {"method": "confirm", "title": "Sure?", "message": "Really?"},
            "yes",
            {"confirmed": "yes"},
            False,
        ),
        (
            "confirm",
            {"method": "confirm", "title": "Sure?", "message": "Really?"},
            UNSET,
            {"cancelled": True},
            False,
        ),
        ("input", {"method": "input", "title": "Name?", "placeholder": "a seed"}, "x", {"value": "x"}, "x"),
        ("bare input", {"method": "input", "title": "Name?"}, "", {"value": ""}, ""),
        ("editor", {"method": "editor", "title": "Note?", "prefill": "draft"}, UNSET, {"cancelled": True}, UNSET),
    ],
)
def test_each_dialog_is_one_request_and_one_reply(
    dialog: str, request_: dict[str, Any], value: Any, payload: dict[str, Any], result: Any
) -> None:
    """rpc/R-16 to rpc/R-21, rpc/R-25 to rpc/R-32, rpc/R-4; only an exact true confirms (rpc/R-32), though the
    client may send anything.
    """
    client = Client()
    task = client.open(dialog)
    client.stage.reply("q-1", value)

    assert client.frames == [{"type": "extension_ui_request", "id": "req-1", **request_}, a_reply(**payload)]
    assert task.result() is result if isinstance(result, bool) or result is UNSET else task.result() == result


@pytest.mark.parametrize("dialog", ["select", "confirm", "input", "editor"])
def test_an_abort_closes_the_dialog_at_both_ends(dialog: str) -> None:
    """rpc/R-20, rpc/R-34, rpc/R-52: one cancel frame, which the client does not answer."""
    client = Client()
    signal = AbortSignal(client.stage)
    task = client.open(dialog, signal)
    signal.abort()

    assert client.frames[1:] == [
        {"type": "extension_ui_request", "id": "req-2", "method": "cancel", "targetId": "req-1"}
    ]
    assert task.result() is (False if dialog == "confirm" else UNSET)
    assert client.stage.questions == ()


def test_a_reply_that_crosses_the_cancel_is_swallowed() -> None:
    """rpc/R-38, rpc/R-39: the client answered before it read that it should close the dialog."""
    client = Client()
    signal = AbortSignal(client.stage)
    task = client.open("confirm", signal)
    signal.abort()

    assert not client.stage.reply("q-1", True)
    assert client.frames[2:] == [a_reply(confirmed=True)]
    assert task.result() is False
    assert len([event for event in client.stage.ledger if isinstance(event, DialogSettled)]) == 1


@pytest.mark.parametrize("dialog", ["select", "confirm", "input", "editor"])
def test_an_abort_after_the_answer_sends_nothing(dialog: str) -> None:
    """rpc/R-37, rpc/R-39: whichever comes first wins, and clears up."""
    client = Client()
    signal = AbortSignal(client.stage)
    client.open(dialog, signal)
    client.stage.reply("q-1", "x")
    signal.abort()

    assert len(client.frames) == 2


def test_two_dialogs_are_matched_by_id_whatever_the_order() -> None:
    """rpc/R-44."""
    client = Client()
    first, second = client.open("input"), client.open("select")
    client.stage.reply("q-2", "b")
    client.stage.reply("q-1", "moss")

    assert (first.result(), second.result()) == ("moss", "b")
    assert [frame["id"] for frame in client.frames] == ["req-1", "req-2", "req-2", "req-1"]


@pytest.mark.parametrize("failing", ["q-1", "q-2"])
def test_a_disconnect_ends_every_open_dialog(failing: str) -> None:
    """rpc/R-40: whichever question the news came through; each raises the same, and none is left open."""
    client = Client()
    tasks = [client.open(dialog) for dialog in ("input", "confirm", "select")]
    client.stage.fail(failing, HostError("away"))
    client.stage.fail("q-3", HostError("a second time"))

    for task in tasks:
        with pytest.raises(HostError, match=r"^away$"):
            task.result()
    assert client.stage.questions == ()
    assert [e.message for e in client.stage.ledger if isinstance(e, ClientDisconnected)] == ["away"]
    assert [e.answer for e in client.stage.ledger if isinstance(e, QuestionAnswered)] == [
        {"disconnect": "away"}
    ] * 2


def test_a_script_answers_handlers_and_approval_alike() -> None:
    """wrapper/W-79: in the order of the questions, whoever asks; a confirm is no prompt."""
    report = play(ui="rpc", choices=[True, "Approve"], handlers=[{"asks": "Really?"}])

    assert kinds(report.ledger)[1:4] == ["tool_approval_requested", "rpc.select", "tool_approval_resolved"]
    assert (report.observed["prompts"], report.observed["effects"]) == (1, 1)


def test_shutdown_handlers_may_all_have_a_dialog_open() -> None:
    """wrapper/W-62, rpc/R-40, rpc/R-44: side by side, and one disconnect ends them all; the session still ends."""
    client, ended = Client(), list[str]()
    extension = Extension("desk")

    async def ask(event: Any, context: HandlerContext) -> None:
        try:
            await context.confirm("Save?", "Really?")
        except HostError as error:
            ended.append(str(error))

    for _ in range(3):
        extension.on(EventName.SESSION_SHUTDOWN, ask)
    task = client.stage.play(Runner(client.stage, [extension], ui=client.ui).shutdown())
    assert [question.kind for question in client.stage.questions] == [DialogKind.CONFIRM] * 3

    client.stage.fail("q-2", HostError("away"))
    task.result()
    assert ended == ["away"] * 3


def test_a_scripted_client_that_leaves_answers_nothing_more() -> None:
    """rpc/R-40: what stands in the script after that was never sent."""
    client = Client(Disconnects("away"), Says("a"))

    for _ in range(2):
        with pytest.raises(HostError, match=r"^away$"):
            client.open("select").result()
    assert [frame["type"] for frame in client.frames] == ["extension_ui_request"] * 2
