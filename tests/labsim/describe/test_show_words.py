"""What the ledger's lines say: answers, texts with control characters, and the events of RPC and the fallbacks."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec import Struct

from labsim.describe.ledger import describe, describe_lines, one_line, visible
from labsim.events.dialogs import QuestionAsked, UiSelect
from labsim.fallback.events import (
    FallbackEvent,
    HandlerAnswer,
    HandlerConsulted,
    MutationRaised,
    MutationReturned,
    NodeKind,
    ParentMade,
    ParentRefused,
    PrimitiveAttempted,
    Seam,
    TargetInspected,
    TargetResolved,
    TargetUnresolvable,
)
from labsim.rpc.broker import SettledBy
from labsim.rpc.events import (
    ClientDisconnected,
    DialogSettled,
    FrameReceived,
    FrameSent,
    RpcEvent,
    SignalAborted,
    TimeoutCallback,
)
from labsim.terms import DialogKind

BOTH = ("Approve", "Deny")
ASK = {"type": "extension_ui_request", "id": "req-1", "method": "select", "title": "Pick", "options": ["a"]}

SAID: list[tuple[Struct, str]] = [
    (UiSelect(at_ms=0, options=BOTH, choice="Approve"), "the answer is Approve (offered: Approve, Deny)"),
    (UiSelect(at_ms=0, options=BOTH, choice="Approve "), 'the answer is "Approve " (offered: Approve, Deny)'),
    (UiSelect(at_ms=0, options=BOTH, choice=None), "no answer (offered: Approve, Deny)"),
    (
        UiSelect(at_ms=0, options=BOTH, choice={"throw": "gone"}),
        "the dialog breaks with: gone (offered: Approve, Deny)",
    ),
    (FrameSent(at_ms=0, frame=ASK), 'the client is asked: select req-1, title: Pick, options: ["a"]'),
    (
        FrameSent(at_ms=0, frame={"type": "extension_ui_request", "method": "cancel", "targetId": "req-1"}),
        "the client is told to close req-1",
    ),
    (
        FrameReceived(at_ms=0, frame={"type": "x", "id": "req-1", "value": ""}, consumed=True),
        'the client replies to req-1: {"value":""}',
    ),
    (FrameReceived(at_ms=0, frame=[1], consumed=False), "a frame that answers no dialog: [1]"),
    (SignalAborted(at_ms=0), "the caller gives up"),
    (ClientDisconnected(at_ms=0, message="m"), "the client is gone: m"),
    (TimeoutCallback(at_ms=0, dialog_id="req-1", heard=True), "the time of req-1 is over; its caller is told"),
    (
        DialogSettled(at_ms=0, dialog_id=None, by=SettledBy.ABORTED_BEFORE),
        "a dialog that was never sent is over (aborted before) and gives nothing",
    ),
    (
        DialogSettled(at_ms=0, dialog_id="req-1", by=SettledBy.REPLY, value="Approve"),
        'req-1 is over (reply) and gives "Approve"',
    ),
    (
        DialogSettled(at_ms=0, dialog_id="req-1", by=SettledBy.DISCONNECT, error="m"),
        "req-1 is over (disconnect) and raises: m",
    ),
    (
        PrimitiveAttempted(seam=Seam.WRITE, attempt=1, succeeded=False, denied=True, code="EACCES"),
        "write attempt 1 fails (EACCES, a permission denial)",
    ),
    (
        PrimitiveAttempted(seam=Seam.DELETE, attempt=1, succeeded=True, denied=False, code=None),
        "delete attempt 1 succeeds",
    ),
    (ParentMade(path="/a"), "the missing folder /a is made, and stays"),
    (
        ParentRefused(path="/a", denied=False, code=None),
        "the missing folder /a cannot be made (no permission denial)",
    ),
    (TargetResolved(path="/a", target="/b"), "/a really means /b"),
    (TargetUnresolvable(path="/a"), "nobody can say what /a really means, so no handler is asked"),
    (TargetInspected(target="/a", kind=NodeKind.FILE, denied=False, code=None), "/a is a file"),
    (
        HandlerConsulted(
            seam=Seam.WRITE,
            position=2,
            target="/a",
            answer=HandlerAnswer.DECLINED,
            detail="false",
            extension="desk",
        ),
        "write handler 2 of desk declined: false",
    ),
    (MutationReturned(seam=Seam.WRITE, by_handler=True), "the write returns: a handler says it is done"),
    (
        MutationRaised(seam=Seam.WRITE, attempt=2, code="EACCES", message="no", cause_attached=True),
        "the write raises the error of attempt 2: no, with the hidden denial attached",
    ),
]


@pytest.mark.parametrize(("event", "said"), SAID, ids=[type(event).__name__ for event, _ in SAID])
def test_an_event_is_said_in_one_line(event: Struct, said: str):
    """What came back is told apart from what was offered (wrapper/W-40), and no field name stands for a
    sentence.
    """
    assert describe(event) == said


@pytest.mark.parametrize("union", [RpcEvent, FallbackEvent], ids=["rpc", "fallback"])
def test_the_words_of_every_event_of_a_package_are_shown_above(union: object):
    """A kind that is added without a sentence here would be read by nobody before a learner reads it."""
    assert set(get_args(union)) <= {type(event) for event, _ in SAID}


def test_line_breaks_are_kept_only_where_they_can_be_read():
    """A prompt has lines; nothing else in it may move a cursor or turn text around."""
    event = QuestionAsked(at_ms=0, question_id="q-1", kind=DialogKind.SELECT, title="Allow\n\x1b[31mred\r\u202e")

    assert describe(event) == r"select q-1 opens: Allow\n\x1b[31mred\r\u202e"
    assert describe_lines(event) == "select q-1 opens: Allow\n" + r"\x1b[31mred\r\u202e"
    assert visible("a\n\tb") == "a\n" + r"\tb"
    assert one_line("plain ü 種") == "plain ü 種"
