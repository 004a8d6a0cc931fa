"""One book of events: how a kind is drawn, and on which step it stands, is told by the kind and nowhere else.

Held over every kind of event of the engine, as the built-in cases show them, and over one that nobody knows.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import ClassVar

import pytest
from places import TOP
from played_kit import RESOLVED, recorded_reports, wait
from stepping_kit import built_in

from labsim.events.call import CallReturned, CallStarted, PromptDecided
from labsim.events.event import Event
from labsim.events.ledger import Ledger
from labsim.places.lanes import Drawn, Lane, Stroke, View
from labsim.places.steps import ORDERS, CallStep, Here, Order, Steps
from labsim.play.performance import run
from labsim.play.report import Report
from workbook.ledgers.played import PlacedEvent, eventful
from workbook.pictures import scene as arrows
from workbook.pictures.scene import scene
from workbook.steppers.frames import frames
from workbook.steppers.step_lists import places_of

#: The modules that bring kinds of events, with the lists that these can stand on.
BOOKS = {
    "labsim.events.call": (Order.CALL, Order.HOST_CALL),
    "labsim.events.dialogs": (Order.CALL, Order.HOST_CALL, Order.DESK),
    "labsim.call.loop_events": (Order.LOOP,),
    "labsim.dispatch.events": (Order.CALL, Order.DISPATCH),
    "labsim.fallback.events": (Order.CALL, Order.WRITE, Order.DELETE),
    "labsim.gate.events": (Order.HOST_CALL,),
    "labsim.review.base.events": (Order.DESK,),
    "labsim.rpc.events": (Order.CALL, Order.HOST_CALL, Order.DESK, Order.RPC),
}
#: What stands on no list: what happens around the calls of the second host.
BESIDE_THE_CALLS = {
    *("session_opened", "child_spawned", "model_round", "turn_ended", "run_ended", "step_refused"),
}
#: Where a list of steps is its scenario's whole subject, every event stands on it.
ALWAYS = ("wrapper", "dispatch", "loop", "fallback", "rpc", "review")


def kinds(module: str) -> list[type[Event]]:
    """The kinds of event that a module brings."""
    found = vars(importlib.import_module(module)).values()
    return [
        kind
        for kind in found
        if isinstance(kind, type)
        and issubclass(kind, Event)
        and kind.__module__ == module
        and kind.__struct_config__.tag not in ("Event", "GateEvent", "FallbackRecord")
    ]


KINDS = {kind: orders for module, orders in BOOKS.items() for kind in kinds(module)}


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    """Every built-in case that has a ledger, and recorded ones of every shape."""
    played = [*(run(case) for case in built_in()), *recorded_reports(every=41)]
    return [report for report in played if len(report.ledger)]


def views() -> Iterator[View]:
    """What a picture can know: a call at work, one inside it, the second host, the Review Desk, a lone dialog."""
    gate = Lane.WRAPPER
    for asker in (gate, Lane.HANDLERS):
        for over_rpc in (False, True):
            yield View(desk=gate, gate=gate, asker=asker, late=gate, over_rpc=over_rpc)
    yield View(desk=Lane.DEVICE, gate=Lane.DEVICE, caller=gate, asker=Lane.DEVICE, late=Lane.DEVICE)
    yield View(desk=gate, gate=gate, asker=Lane.APPROVER, late=Lane.APPROVER)
    yield View(desk=Lane.TOOL, gate=gate, asker=Lane.TOOL, late=Lane.TOOL, overlapping=True)
    yield View(desk=Lane.BROKER, gate=Lane.BROKER, asker=Lane.BROKER, late=Lane.BROKER)


# ---------------------------------------------------------------------------------------------------- every kind


def test_every_kind_is_in_a_book():
    """Derived from `Event`, somewhere in the engine: nothing is left out of what is walked here."""
    beneath, found = [Event], set()
    while beneath:
        more = beneath.pop().__subclasses__()
        beneath += more
        found |= {kind for kind in more if kind.__module__.startswith("labsim.") and not kind.__subclasses__()}

    assert found == set(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind_name())
def test_a_kind_stands_on_the_lists_of_its_book_only(kind: type[Event]):
    """A step is one that its list has; what is constant is said as an attribute, so that it can be read off."""
    for order, step in kind.steps.items():
        assert order in KINDS[kind], kind
        assert 0 <= step < len(ORDERS[order])

    told = bool(kind.steps) or "step" in vars(kind)
    assert told != (kind.kind_name() in BESIDE_THE_CALLS), kind


def test_every_event_is_drawn_between_lanes_that_its_case_has(
    reports: list[Report], monkeypatch: pytest.MonkeyPatch
):
    """As it stands in the picture; and whatever a picture knows, a note is of one lane and nothing else is."""
    monkeypatch.setattr(arrows, "EVENTS_DRAWN", 10_000)
    everywhere = [*views()]
    for report in reports:
        shown = scene(report)
        lanes = {lane for lane, _ in shown.lanes}
        messages = [message for part in shown.parts for message in part.messages]
        assert len(messages) == len(report.ledger), report.case.id
        assert {lane for one in messages for lane in (one.source, one.target)} <= lanes, report.case.id
        for one in messages:
            assert (one.stroke is Stroke.NOTE) == (one.source is one.target), report.case.id
        for event in report.ledger:
            for view in everywhere:
                drawn = event.drawn(view)
                assert drawn is None or (drawn.stroke is Stroke.NOTE) == (drawn.source is drawn.target)


def test_every_event_stands_on_a_list_of_steps_where_its_case_has_one(reports: list[Report]):
    """Of the second host only what belongs to a call has a step; elsewhere everything has."""
    for report in reports:
        for frame in frames(report):
            if report.case.scenario in ALWAYS or (report.case.scenario == "gate" and frame.call != "no call"):
                assert frame.places, (report.case.id, frame.number, frame.kind)


def test_the_lists_have_a_sentence_for_each_number():
    """A number that an event names is a place in the list that learners read."""
    for order, list_of_steps in ORDERS.items():
        assert all(numbers and does.endswith(".") for numbers, does in list_of_steps), order


# ----------------------------------------------------------------------------------- a kind that nobody else knows


class Weighed(Event, frozen=True, kw_only=True, gc=False, tag="weighed"):
    """The seeds were put on the scales while the tool was at work; the dispatch takes note of it as it reads on."""

    grams: int
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN}

    def drawn(self, view: View) -> Drawn:
        return Drawn(view.gate, Lane.TOOL, Stroke.EFFECT, f"{self.grams} g")

    def passed(self, here: Here) -> None:
        here.runs = True


def test_a_new_kind_of_event_needs_its_own_module_only():
    """Its class says where it is drawn and where it stands, and picture and stepper do as it says."""
    waiting = eventful(wait("weighing"))
    ledger = Ledger()
    for event in (*waiting.ledger, Weighed(at_ms=0, grams=7)):
        ledger.append(event)
    made = waiting.calls[0]
    report = Report(case=waiting.case, finished=False, observed={}, calls=(made,), ledger=ledger)

    last = scene(report).parts[-1].messages[-1]
    rows = [PlacedEvent(number, made.tool_call_id, event) for number, event in enumerate(ledger, start=1)]
    place = places_of(rows, "wrapper")[-1][0]

    assert (last.source, last.target, last.stroke, last.says) == (Lane.WRAPPER, Lane.TOOL, Stroke.EFFECT, "7 g")
    assert (place.order, place.index) == (Order.CALL, CallStep.RUN)


def test_a_message_to_a_lane_that_a_case_has_not_is_a_note():
    """In a decision alone there is no tool; so it is said where the decision is."""
    ledger = Ledger()
    ledger.append(Weighed(at_ms=0, grams=7))
    report = Report(case=RESOLVED.case, finished=True, observed={}, calls=(), ledger=ledger)

    (only,) = scene(report).parts[0].messages
    assert (only.source, only.target, only.stroke) == (Lane.WRAPPER, Lane.WRAPPER, Stroke.NOTE)


def test_a_kind_that_says_nothing_is_a_part_of_whatever_is_under_way():
    """Not knowing is no step back: the walk stays where it was."""

    class Sighed(Event, frozen=True, kw_only=True, gc=False, tag="sighed"):
        pass

    events: list[Event] = [
        CallStarted(at_ms=0, tool_name="seed_note", tool_call_id="call-1"),
        PromptDecided(at_ms=0, tool_name="seed_note", tool_call_id="call-1", required=False, because="why not"),
        Sighed(at_ms=0),
        CallReturned(at_ms=0, tool_name="seed_note", tool_call_id="call-1", content="", is_error=False),
    ]
    rows = [PlacedEvent(number, "call-1", event) for number, event in enumerate(events, start=1)]

    assert [places[0].index for places in places_of(rows, "wrapper")] == [
        *(CallStep.PREPARE, CallStep.DECIDE, CallStep.DECIDE, CallStep.HAND_BACK)
    ]


# ------------------------------------------------------------------------------------------------- nothing else

#: Pictures, walks and the stepper: they may match on classes for a state of their own, and never on a name.
READERS = ("arrows", "walk", "stepper_*", "stepping")
#: The words of events and whom they are told to are not yet told by the events themselves.
STILL_ASKING = {"labsim/describe/ledger.py", "workbook/ledgers/played.py"}


def test_nothing_looks_up_the_module_of_an_event():
    """Dispatching on where a class was written: a move of a file would change what is shown."""
    asking = {
        path.relative_to(TOP).as_posix()
        for package in ("labsim", "workbook")
        for path in (TOP / package).rglob("*.py")
        if "type(event).__module__" in path.read_text(encoding="utf-8")
    }

    assert asking <= STILL_ASKING


def test_no_picture_walk_or_stepper_compares_the_name_of_a_kind():
    """A name is for readers; a reader of events asks the event."""
    names = {kind.kind_name() for kind in KINDS} - {"notified"}
    for pattern in READERS:
        for path in (TOP / "workbook").glob(f"{pattern}.py"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"kind_of\([^)]*\) *(==|!=|in\b|not in\b)|match kind_of", text), path.name
            assert not names & set(re.findall(r"\"([a-z_.]+)\"", text)), path.name
