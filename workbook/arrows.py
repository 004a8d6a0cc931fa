"""Who said what to whom: the events of a ledger as messages between lanes, ready to be drawn.

Above `played`, below `diagrams` and the drawing modules, which know nothing of events. Every message is one event
of the ledger and keeps its number there; what the ledger does not show (a tool that hands back its result) is not
drawn.
An event of a kind that this module does not know becomes a note with the words of `labsim.show`.
"""

from __future__ import annotations

from itertools import groupby
from typing import Final

from msgspec import UNSET, Struct

from labsim import events as gate
from labsim.case import (
    DispatchCase,
    FallbackCase,
    GateCase,
    LoopCase,
    ResolveCase,
    ReviewCase,
    RpcCase,
    WrapperCase,
)
from labsim.case_given import CallGiven
from labsim.extras import Given
from labsim.fallback import events as files
from labsim.hostvalues import stringify
from labsim.report import Report
from labsim.rpc import ledger as rpc
from labsim.show import describe, kind_of, one_line
from workbook import gate_arrows, review_arrows
from workbook.played import CallChoice, PlacedEvent, calls_of, captioned, makes_calls, placed
from workbook.strokes import Drawn, note
from workbook.strokes import Lane as Lane  # the drawing modules look for both here
from workbook.strokes import Stroke as Stroke

EVENTS_DRAWN: Final = 150  # a longer ledger is drawn in part; nobody reads a picture of ten screens


class Message(Struct, frozen=True, kw_only=True):
    """One event. `source` and `target` are the same lane for a note. `says` is one line, perhaps empty.

    `name` is its kind, and the simulated time where that has moved on since the message before.
    """

    number: int
    name: str
    source: Lane
    target: Lane
    stroke: Stroke
    says: str = ""


class Part(Struct, frozen=True, kw_only=True):
    """The messages of one call, or of a case without calls (whose `title` is "")."""

    title: str
    messages: tuple[Message, ...]


class Scene(Struct, frozen=True, kw_only=True):
    """A whole sequence diagram: its lanes from left to right with their labels, and its parts.

    `waits_for` is the lane that an answer is still awaited from; None if none is, or in a part not shown.
    `left_out` counts the events after the last one shown.
    """

    caption: str
    lanes: tuple[tuple[Lane, str], ...]
    parts: tuple[Part, ...]
    waits_for: Lane | None = None
    left_out: int = 0

    @property
    def closing(self) -> str:
        """The words for the events left out; "" if none are."""
        if not self.left_out:
            return ""
        events = "1 more event" if self.left_out == 1 else f"{self.left_out:,} more events"
        return f"… and {events}, not drawn here; call=2 draws the second call alone."

    def label(self, lane: Lane) -> str:
        return dict(self.lanes)[lane]


def scene(report: Report, call: CallChoice = None) -> Scene:
    """The messages of a report, or of one of its calls. Raises: NoSuchCall."""
    everything = placed(report, call)
    shown = everything[:EVENTS_DRAWN]
    reader = _Reader(report)
    parts = [
        Part(title=title if makes_calls(report) else "", messages=tuple(reader.message(one) for one in run))
        for title, run in groupby(shown, key=lambda one: one.call)
    ]
    chosen = calls_of(report, call)
    left_out = len(everything) - len(shown)
    here = call is None or any(made.outcome is None for made in chosen)
    open_here = bool(report.questions) and not left_out and here
    what = "Sequence of" if call is None else f"Sequence of {chosen[0].tool_call_id} in"
    return Scene(
        caption=captioned(what, report),
        lanes=_lanes(report),
        parts=tuple(parts),
        waits_for=Lane.PERSON if open_here else None,
        left_out=left_out,
    )


class _Reader:
    """Turns events into messages, in order; remembers which gate is at work, and who put an open dialog."""

    def __init__(self, report: Report) -> None:
        self._lanes = dict(_lanes(report))
        self._rest = _REST.get(type(report.case), Lane.WRAPPER)
        self._gates: list[Lane] = []
        given = report.case.given
        self._over_rpc = isinstance(given, CallGiven | Given) and given.ui == "rpc"
        self._asks = Lane.APPROVER if isinstance(report.case, GateCase) else None  # whoever else opens dialogs
        self._reviews = isinstance(report.case, ReviewCase)  # its calls overlap, so each event speaks for itself
        self._at_ms = 0
        self._in_handlers = False  # between tool_call and the gate's decision it is a handler that asks

    def message(self, one: PlacedEvent) -> Message:
        event = one.event
        at_ms = getattr(event, "at_ms", 0)
        moment = f" at {at_ms} ms" if at_ms != self._at_ms else ""
        self._at_ms = at_ms
        source, target, stroke, says = (
            (review_arrows.drawn(event) if self._reviews else self._of_gate(event))
            or self._of_rpc(event)
            or self._of_files(event)
            or gate_arrows.drawn(event)
            or self._remark(event)
        )
        if source not in self._lanes or target not in self._lanes:
            source, target, stroke, says = self._remark(event)
        return Message(
            number=one.number,
            name=f"{kind_of(event)}{moment}",
            source=source,
            target=target,
            stroke=stroke,
            says=_first_line(says),
        )

    @property
    def _desk(self) -> Lane:
        """Who speaks for the host now: the innermost gate at work, or else whoever the kind of case has."""
        return self._gates[-1] if self._gates else self._rest

    @property
    def _asker(self) -> Lane:
        return self._asks or (Lane.HANDLERS if self._in_handlers else self._desk)

    def _remark(self, event: Struct) -> Drawn:
        return note(self._desk, describe(event))

    def _of_gate(self, event: Struct) -> Drawn | None:
        desk, handlers, person = self._desk, Lane.HANDLERS, Lane.PERSON
        caller = Lane.CALLER if len(self._gates) < 2 else self._gates[-2]
        match event:
            case gate.CallStarted():
                self._in_handlers = False
                caller = desk if self._gates else Lane.CALLER
                self._gates.append(Lane.DEVICE if self._gates else Lane.WRAPPER)
                return caller, self._desk, Stroke.TELL, f"{event.tool_name} {stringify(event.input)}"
            case gate.MarkerConsumed():
                return note(desk, "the loop has emitted tool_call already")
            case gate.PolicyResolved(on=on, resolution=found):
                self._in_handlers = on == "original"
                return note(desk, f"{found.policy} ({found.source}, {found.rule}) on the {on} input")
            case gate.ToolCallEvent():
                return desk, handlers, Stroke.TELL, stringify(event.input)
            case gate.HandlerAnswered(extension_path=path, answer=answer):
                stroke = Stroke.REFUSE if answer == "blocks" else Stroke.ANSWER
                value = "" if event.input is UNSET else f": {stringify(event.input)}"
                return handlers, desk, stroke, f"{path} {_ANSWERS.get(answer, answer)}{value}"
            case gate.ExtensionError():
                return handlers, desk, Stroke.REFUSE, f"{event.extension_path} on {event.on}: {event.error}"
            case gate.TierResolved():
                return desk, caller, Stroke.ANSWER, f"tier {event.tier}"
            case gate.PromptDecided():
                self._in_handlers = False
                return note(desk, f"{'prompt required' if event.required else 'no prompt'}: {event.because}")
            case gate.PreviewWait():
                return note(desk, "waits until the call is on screen")
            case gate.ApprovalRequested():
                return desk, handlers, Stroke.TELL, f"mode {event.approval_mode}"
            case gate.QuestionAsked():
                if self._over_rpc:  # the frame above it has asked; this is the client showing it
                    return note(person, f"shows {event.kind}: {event.title}")
                return self._asker, person, Stroke.TELL, f"{event.kind}: {event.title}"
            case gate.UiSelect(choice=choice):
                broke = isinstance(choice, dict)
                return person, self._asker, Stroke.REFUSE if broke else Stroke.ANSWER, _choice(choice)
            case gate.RpcSelect(choice=choice):
                return note(self._asker, _choice(choice))  # the frames above it are what travelled
            case gate.QuestionAnswered():
                return person, self._asker, Stroke.ANSWER, _choice(event.answer)
            case gate.LateReply():
                return person, self._asks or desk, Stroke.REFUSE, f"to {event.question_id}, too late"
            case gate.ApprovalResolved():
                reason = "" if event.reason is UNSET else f": {event.reason}"
                return desk, handlers, Stroke.TELL, f"{'approved' if event.approved else 'not approved'}{reason}"
            case gate.SafetyAcknowledged():
                checks = "the safety check" if event.checks == 1 else f"{event.checks} safety checks"
                return note(desk, f"the same yes covers {checks}")
            case gate.Execute():
                return desk, Lane.TOOL, Stroke.EFFECT, stringify(event.input)
            case gate.ToolResultEvent():
                return desk, handlers, Stroke.TELL, f"{'error' if event.is_error else 'result'}: {event.content}"
            case gate.CallReturned():
                self._gates.pop()
                kind = "an error result" if event.is_error else "a result"
                return desk, caller, Stroke.ANSWER, f"{kind}: {event.content}"
            case gate.CallThrew():
                self._gates.pop()
                return desk, caller, Stroke.REFUSE, event.error
        return None

    def _of_rpc(self, event: Struct) -> Drawn | None:
        broker, client = self._asker, Lane.PERSON
        match event:
            case rpc.FrameSent(frame=frame):
                if _text(frame, "method") == "cancel":
                    return broker, client, Stroke.TELL, f"close {_text(frame, 'targetId')}"
                return broker, client, Stroke.TELL, f"{_text(frame, 'method')} {_text(frame, 'id')}"
            case rpc.FrameReceived(frame=frame, consumed=consumed):
                if not consumed:
                    return client, broker, Stroke.REFUSE, f"answers no dialog: {stringify(frame)}"
                rest = {key: value for key, value in frame.items() if key not in ("type", "id")}
                return client, broker, Stroke.ANSWER, f"{_text(frame, 'id')} {stringify(rest)}"
            case rpc.SignalAborted():
                return Lane.CALLER, broker, Stroke.TELL, "gives up"
            case rpc.ClientDisconnected():
                return client, broker, Stroke.REFUSE, event.message
            case rpc.TimeoutCallback():
                heard = "" if event.heard else ", nobody listens"
                return broker, Lane.CALLER, Stroke.TELL, f"the time of {event.dialog_id} is over{heard}"
            case rpc.DialogSettled():
                if broker is not Lane.BROKER:
                    return note(broker, describe(event))  # inside a call the dialog's caller is the lane itself
                stroke = Stroke.ANSWER if event.error is None else Stroke.REFUSE
                return broker, Lane.CALLER, stroke, describe(event)
        return None

    def _of_files(self, event: Struct) -> Drawn | None:
        tool, disk, handlers = Lane.TOOL, Lane.DISK, Lane.HANDLERS
        match event:
            case files.PrimitiveAttempted(succeeded=succeeded):
                return tool, disk, Stroke.EFFECT if succeeded else Stroke.REFUSE, describe(event)
            case files.ParentMade():
                return tool, disk, Stroke.EFFECT, describe(event)
            case files.ParentRefused():
                return tool, disk, Stroke.REFUSE, describe(event)
            case files.TargetInspected():
                return tool, disk, Stroke.TELL, describe(event)
            case files.HandlerConsulted(answer=answer):
                raised = answer is files.HandlerAnswer.RAISED
                return handlers, tool, Stroke.REFUSE if raised else Stroke.ANSWER, describe(event)
            case files.MutationReturned():
                return tool, Lane.CALLER, Stroke.ANSWER, describe(event)
            case files.MutationRaised():
                return tool, Lane.CALLER, Stroke.REFUSE, describe(event)
        return None


_ANSWERS: Final = {
    "nothing": "changes nothing",
    "replaces": "replaces the input",
    "blocks": "blocks the call",
    "no replacement": "returns no input",
}
#: The lane that speaks for the host while no gate is at work; the wrapper, where none is named here.
_REST: Final[dict[type, Lane]] = {
    RpcCase: Lane.BROKER,
    FallbackCase: Lane.TOOL,
    LoopCase: Lane.CALLER,
    ReviewCase: Lane.TOOL,
}
_LONGEST_LABEL: Final = 16


def _lanes(report: Report) -> tuple[tuple[Lane, str], ...]:
    """The lanes of a kind of case. All of them are shown, also those that nothing reached: that is the lesson."""
    case = report.case
    match case:
        case DispatchCase():
            tool = _label(case.given.tool)
            return (
                (Lane.CALLER, "caller"),
                (Lane.WRAPPER, "write"),
                (Lane.DEVICE, f"gate of {tool}"),
                (Lane.HANDLERS, "handlers"),
                (Lane.PERSON, _PEOPLE[case.given.ui]),
                (Lane.TOOL, tool),
            )
        case WrapperCase() | LoopCase():
            looped = isinstance(case, LoopCase)
            return (
                (Lane.CALLER, "agent loop" if looped else "caller"),
                (Lane.WRAPPER, "wrapper"),
                (Lane.HANDLERS, "handlers"),
                (Lane.PERSON, _PEOPLE[case.given.ui]),
                (Lane.TOOL, "tool" if looped else _label(case.given.tool)),
            )
        case _ if isinstance(case.given, Given):  # of a chapter's own kind, which makes calls through the wrapper
            return (
                (Lane.CALLER, "caller"),
                (Lane.WRAPPER, "wrapper"),
                (Lane.HANDLERS, "handlers"),
                (Lane.PERSON, _PEOPLE[case.given.ui]),
                (Lane.TOOL, "tool"),
            )
        case RpcCase():
            return (Lane.CALLER, "caller"), (Lane.BROKER, "dialog broker"), (Lane.PERSON, "client")
        case FallbackCase():
            return (
                (Lane.CALLER, "caller"),
                (Lane.TOOL, "tool"),
                (Lane.DISK, "file system"),
                (Lane.HANDLERS, "fallback handlers"),
            )
        case ResolveCase():
            return ((Lane.WRAPPER, "resolution"),)
        case GateCase():
            return gate_arrows.lanes(case.given)
        case ReviewCase():
            return review_arrows.lanes(case.given)
    return ((Lane.WRAPPER, "host"),)


_PEOPLE: Final[dict[object, str]] = {True: "person", False: "nobody (no UI)", "rpc": "client (RPC)"}


def _label(name: str) -> str:
    shown = one_line(name)
    return shown if len(shown) <= _LONGEST_LABEL else f"{shown[: _LONGEST_LABEL - 1]}…"


def _first_line(text: str) -> str:
    """The first line, and a sign if it is not all: a picture has no room for more, and the tables have the rest."""
    first, *more = text.strip().split("\n")
    return one_line(f"{first} …" if more else first)


def _choice(choice: object) -> str:
    if choice is None:
        return "no answer"
    if isinstance(choice, dict):
        return "; ".join(f"{key}: {value}" for key, value in choice.items())
    return choice if isinstance(choice, str) else stringify(choice)


def _text(frame: object, name: str) -> str:
    value = frame.get(name, "") if isinstance(frame, dict) else ""
    return value if isinstance(value, str) else stringify(value)
