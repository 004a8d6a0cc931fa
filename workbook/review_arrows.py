"""The Review Desk's events as messages between lanes: agent, gate, desk, person, session.

Below `arrows`, which asks this module about each event of a review case; above `strokes`. Calls may wait at the
gate side by side, so nothing is remembered from one event to the next: each says by itself who speaks. A question
is the gate's if it offers the gate's two labels, and otherwise the desk's.
"""

from __future__ import annotations

from msgspec import UNSET, Struct

from labsim import events as gate
from labsim.case_given import ReviewGiven
from labsim.hostvalues import stringify
from labsim.review import events as desk
from labsim.show import describe
from labsim.terms import APPROVAL_OPTIONS
from workbook.strokes import Drawn, Lane, Stroke, note

_AGENT, _GATE, _DESK, _PERSON, _SESSION = Lane.CALLER, Lane.WRAPPER, Lane.TOOL, Lane.PERSON, Lane.DISK


def lanes(given: ReviewGiven) -> tuple[tuple[Lane, str], ...]:
    """The lanes of a review case, all of them, whether anything reaches them or not."""
    person = {"tui": "person", "rpc": "client (RPC)"}.get(given.host_mode, "nobody (no UI)")
    return (_AGENT, "agent"), (_GATE, "gate"), (_DESK, "desk"), (_PERSON, person), (_SESSION, "session")


def drawn(event: Struct) -> Drawn | None:
    """The message that an event is; None for one that is only a remark of the desk."""
    return _of_people(event) or _of_calls(event) or _of_dialogs(event)


def _of_people(event: Struct) -> Drawn | None:
    match event:
        case desk.CommandGiven(word=word):
            return _PERSON, _DESK, Stroke.TELL, f"/review-desk {word}"
        case desk.Notified(kind=kind, message=message):
            stroke = Stroke.REFUSE if kind == "error" else Stroke.TELL
            return _DESK, _PERSON, stroke, message
        case desk.MessagePosted(summary=summary):
            return _DESK, _PERSON, Stroke.TELL, summary
        case desk.StatusShown(text=text):
            return _DESK, _PERSON, Stroke.TELL, text
        case desk.NoteRecorded(entry_id=entry, status=status, revision=revision):
            return _DESK, _SESSION, Stroke.EFFECT, f"{entry}: {status} r{revision}"
        case desk.SessionMoved() | desk.MovePrevented():
            stroke = Stroke.TELL if isinstance(event, desk.SessionMoved) else Stroke.REFUSE
            return _PERSON, _SESSION, stroke, describe(event)
        case desk.SessionReopened() | desk.EntryArrived():
            return note(_SESSION, describe(event))
    return None


def _of_calls(event: Struct) -> Drawn | None:
    match event:
        case gate.CallStarted():
            return _AGENT, _GATE, Stroke.TELL, stringify(event.input)
        case gate.PolicyResolved() | gate.TierResolved() | gate.PromptDecided() | gate.ToolCallEvent():
            return note(_GATE, describe(event))
        case gate.ApprovalRequested() | gate.ApprovalResolved() | gate.ToolResultEvent():
            return note(_GATE, describe(event))
        case desk.ActRefused(text=text):
            return _DESK, _GATE, Stroke.REFUSE, text
        case gate.CallReturned():
            return _GATE, _AGENT, Stroke.ANSWER, f"a result: {event.content}"
        case gate.CallThrew():
            return _GATE, _AGENT, Stroke.REFUSE, event.error
    return None


def _of_dialogs(event: Struct) -> Drawn | None:
    match event:
        case gate.QuestionAsked():
            return _asker(event.options), _PERSON, Stroke.TELL, f"{event.kind} {event.question_id}: {event.title}"
        case gate.UiSelect() | gate.RpcSelect():
            return _PERSON, _asker(event.options), Stroke.ANSWER, _answer(event.choice)
        case gate.QuestionAnswered(answer=None):
            return note(_DESK, f"{event.question_id} ends without an answer")  # closed by either side
        case gate.QuestionAnswered():
            return _PERSON, _DESK, Stroke.ANSWER, f"{event.question_id}: {_answer(event.answer)}"
        case gate.LateReply():
            return _PERSON, _DESK, Stroke.REFUSE, f"to {event.question_id}, too late"
    return None


def _asker(options: tuple[str, ...]) -> Lane:
    return _GATE if options == APPROVAL_OPTIONS else _DESK


def _answer(value: object) -> str:
    if value is None or value is UNSET:
        return "no answer"
    return value if isinstance(value, str) else stringify(value)
