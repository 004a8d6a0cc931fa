"""Where each event of a ledger stands, on every list of steps that it is a part of.

An event can stand on several lists at once: whatever happens at a device's gate is a step of that gate, of the
dispatch, and of the outer call. Which step of a list a kind of event stands on it says itself; what is done here is
to walk each call by itself, and to know which lists a kind of case has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from labsim.call.nesting import Nesting, nested
from labsim.events.event import Event
from labsim.places.steps import CallStep, DialogStep, DispatchStep, Here, LoopStep, Order, Place
from workbook.ledgers.played import NO_CALL, PlacedEvent
from workbook.tables.steps import call_steps_of, host_steps_of, walked


def places_of(events: Sequence[PlacedEvent], scenario: str) -> list[tuple[Place, ...]]:
    """Where each event of a ledger stands, outermost list first; () for one that is on no list.

    `scenario` is the case's. What comes later in the ledger changes nothing about what came before.
    """
    match scenario:
        case "gate":
            return _by_call(events, _at_the_second_host)
        case "fallback":
            return [*_file_operation(events)]
        case "rpc":
            return [*_dialog(events)]
        case "review":
            calls = _by_call(events, partial(_wrapped, at_the_desk=True))
            return [_and_the_desk(one.event, places) for one, places in zip(events, calls, strict=True)]
        case "loop":
            return _by_call(events, _looped)
    return _by_call(events, _wrapped)


def _by_call(
    events: Sequence[PlacedEvent], walked: Callable[[Sequence[PlacedEvent]], list[tuple[Place, ...]]]
) -> list[tuple[Place, ...]]:
    """The places of each call's events, walked by themselves and put back where they came from."""
    found: list[tuple[Place, ...]] = [()] * len(events)
    calls: dict[str, list[int]] = {}
    for place, one in enumerate(events):
        if one.call != NO_CALL:
            calls.setdefault(one.call, []).append(place)
    for own in calls.values():
        for place, places in zip(own, walked([events[place] for place in own]), strict=True):
            found[place] = places
    return found


def _at_the_second_host(own: Sequence[PlacedEvent]) -> list[tuple[Place, ...]]:
    return [(Place(Order.HOST_CALL, step),) for step in host_steps_of(own)]


def _wrapped(own: Sequence[PlacedEvent], *, at_the_desk: bool = False) -> list[tuple[Place, ...]]:
    """One call through the wrapper; a dispatch has two gates, one inside the other's wrapper/step-16."""
    device, outer = Here(), Here()
    found: list[tuple[Place, ...]] = []
    for one, step, gate in zip(own, call_steps_of(own), nested(one.event for one in own), strict=True):
        if gate.nesting is Nesting.INNER:
            inside = Place(Order.DEVICE, walked(one.event, device))
            found.append((Place(Order.CALL, step), Place(Order.DISPATCH, DispatchStep.INSIDE), inside))
            continue
        walked(one.event, outer)
        # Of the desk's own tool nothing else shows that it is at work.
        at_work = at_the_desk and outer.runs and one.event.step(Order.DESK, outer) is not None
        call = Place(Order.CALL, max(step, CallStep.RUN) if at_work else step)
        dispatched = one.event.step(Order.DISPATCH, outer)
        found.append((call,) if dispatched is None else (call, Place(Order.DISPATCH, dispatched)))
    return found


def _looped(own: Sequence[PlacedEvent]) -> list[tuple[Place, ...]]:
    """One call through the agent loop: what is no step of the wrapper is one of the loop."""
    gates = [one.nesting for one in nested(one.event for one in own)]
    wrapped = iter(_wrapped([one for one, gate in zip(own, gates, strict=True) if gate is not None]))
    found: list[tuple[Place, ...]] = []
    at, here = LoopStep.CHECK, Here()
    for one, gate in zip(own, gates, strict=True):
        if gate is not None:
            at = LoopStep.RUN
            found.append((Place(Order.LOOP, at), *next(wrapped)))
            continue
        step = one.event.step(Order.LOOP, here)
        at = max(at, LoopStep.HOOK if step is None else step)  # what a handler does is a part of the hook
        found.append((Place(Order.LOOP, at),))
    return found


def _and_the_desk(event: Event, places: tuple[Place, ...]) -> tuple[Place, ...]:
    step = event.step(Order.DESK, Here(in_call=bool(places)))
    return places if step is None else (*places, Place(Order.DESK, step))


def _file_operation(events: Sequence[PlacedEvent]) -> Iterator[tuple[Place, ...]]:
    """A write or a delete: the first event, the tool's own try, stands only on the list of the one that it is."""
    here, at = Here(), 0
    deletes = bool(events) and events[0].event.step(Order.DELETE, here) is not None
    order = Order.DELETE if deletes else Order.WRITE
    for one in events:
        step = one.event.step(order, here)
        at = at if step is None else step
        yield (Place(order, at),)


def _dialog(events: Sequence[PlacedEvent]) -> Iterator[tuple[Place, ...]]:
    here = Here(in_call=False)
    for one in events:
        step = one.event.step(Order.RPC, here)
        yield (Place(Order.RPC, DialogStep.WAIT if step is None else step),)
