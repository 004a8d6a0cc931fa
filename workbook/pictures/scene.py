"""Who said what to whom: the events of a ledger as messages between lanes, ready to be drawn.

Every message is one event of the ledger and keeps its number there; what the ledger does not show (a tool that
hands back its result) is not drawn. How a kind of event is drawn it says itself; one that says nothing, or that
goes to a lane which this kind of case has not, becomes a note with its own words.
"""

from __future__ import annotations

from itertools import groupby
from typing import Final

from msgspec import Struct

from labsim.case.gate import GateGiven
from labsim.case.given import CallGiven, ReviewGiven
from labsim.case.model import (
    DispatchCase,
    FallbackCase,
    GateCase,
    LoopCase,
    ResolveCase,
    ReviewCase,
    RpcCase,
    WrapperCase,
)
from labsim.describe.ledger import describe, one_line
from labsim.events.call import CallReturned, CallStarted, CallThrew, PolicyResolved, PromptDecided
from labsim.events.event import Event
from labsim.extras import Given
from labsim.places.lanes import Lane as Lane  # the drawing modules look for both here
from labsim.places.lanes import Stroke as Stroke
from labsim.places.lanes import View, note
from labsim.play.report import Report
from workbook.ledgers.played import CallChoice, PlacedEvent, calls_of, caption_of, makes_calls, placed

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
        caption=caption_of(what, report),
        lanes=_lanes(report),
        parts=tuple(parts),
        waits_for=Lane.PERSON if open_here else None,
        left_out=left_out,
    )


class _Reader:
    """Turns events into messages, in order; remembers which gate is at work, and who put an open dialog."""

    def __init__(self, report: Report) -> None:
        case = report.case
        self._lanes = {lane for lane, _ in _lanes(report)}
        self._rest = _REST.get(type(case), Lane.WRAPPER)
        self._over_rpc = isinstance(case.given, CallGiven | Given) and case.given.ui == "rpc"
        self._asks = Lane.APPROVER if isinstance(case, GateCase) else None  # whoever else opens dialogs
        self._overlapping = isinstance(case, ReviewCase)
        self._gates: list[Lane] = []
        self._at_ms = 0
        self._in_handlers = False  # between tool_call and the gate's decision it is a handler that asks

    def message(self, row: PlacedEvent) -> Message:
        event = row.event
        moment = f" at {event.at_ms} ms" if event.at_ms != self._at_ms else ""
        self._at_ms = event.at_ms
        self._before(event)
        view = self._view()
        drawn = event.drawn(view)
        if drawn is None or not {drawn.source, drawn.target} <= self._lanes:
            drawn = note(view.desk)
        self._after(event)
        return Message(
            number=row.number,
            name=f"{event.kind_name()}{moment}",
            source=drawn.source,
            target=drawn.target,
            stroke=drawn.stroke,
            says=_first_line(describe(event) if drawn.says is None else drawn.says),
        )

    def _view(self) -> View:
        if self._overlapping:
            return View(desk=self._rest, gate=Lane.WRAPPER, asker=self._rest, late=self._rest, overlapping=True)
        desk = self._gates[-1] if self._gates else self._rest
        return View(
            desk=desk,
            gate=desk,
            caller=self._gates[-2] if len(self._gates) > 1 else Lane.CALLER,
            asker=self._asks or (Lane.HANDLERS if self._in_handlers else desk),
            late=self._asks or desk,
            over_rpc=self._over_rpc,
        )

    def _before(self, event: Event) -> None:
        match event:
            case CallStarted():
                self._in_handlers = False
                self._gates.append(Lane.DEVICE if self._gates else Lane.WRAPPER)
            case PolicyResolved(on=on):
                self._in_handlers = on == "original"
            case PromptDecided():
                self._in_handlers = False

    def _after(self, event: Event) -> None:
        if isinstance(event, CallReturned | CallThrew) and self._gates:
            self._gates.pop()


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
            return _gate_lanes(case.given)
        case ReviewCase():
            return review_lanes(case.given)
    return ((Lane.WRAPPER, "host"),)


def _gate_lanes(given: GateGiven) -> tuple[tuple[Lane, str], ...]:
    """Of the second host. Hooks and a person are drawn where the case has them, all others always."""
    hooks = ((Lane.HANDLERS, "hooks"),) if given.hooks else ()
    person = ((Lane.PERSON, "person" if given.ui else "nobody"),) if given.approver in _ASKS_SOMEBODY else ()
    return (
        (Lane.CALLER, "agent"),
        *hooks,
        (Lane.WRAPPER, "session"),
        (Lane.GATE, "gate"),
        (Lane.RULES, "rules"),
        (Lane.APPROVER, "approver"),
        *person,
        (Lane.TOOL, "tools"),
    )


def review_lanes(given: ReviewGiven) -> tuple[tuple[Lane, str], ...]:
    """Of the Review Desk, whether anything reaches them or not."""
    person = {"tui": "person", "rpc": "client (RPC)"}.get(given.host_mode, "nobody (no UI)")
    return (
        (Lane.CALLER, "agent"),
        (Lane.WRAPPER, "gate"),
        (Lane.TOOL, "desk"),
        (Lane.PERSON, person),
        (Lane.DISK, "session"),
    )


_ASKS_SOMEBODY: Final = ("dialog", "terminal")
_PEOPLE: Final[dict[object, str]] = {True: "person", False: "nobody (no UI)", "rpc": "client (RPC)"}


def _label(name: str) -> str:
    shown = one_line(name)
    return shown if len(shown) <= _LONGEST_LABEL else f"{shown[: _LONGEST_LABEL - 1]}…"


def _first_line(text: str) -> str:
    """The first line, and a sign if it is not all: a picture has no room for more, and the tables have the rest."""
    first, *more = text.strip().split("\n")
    return one_line(f"{first} …" if more else first)
