"""The lists of steps that a ledger is walked on, and where on them each event stands.

Above `walk` and `gate_walk`, which have the steps of a call at the two hosts; below `stepping`. The other lists are
short versions of the specifications' own: the agent loop, a dispatch, the Review Desk, a file operation, a dialog
over RPC. An event can stand on several at once: whatever happens at a device's gate is a step of that gate, of the
dispatch, and of the outer call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from labsim.events import (
    LateReply,
    PromptDecided,
    QuestionAnswered,
    QuestionAsked,
    RpcSelect,
    UiSelect,
)
from labsim.lanes import Lane, in_lanes
from labsim.show import kind_of
from labsim.terms import APPROVAL_OPTIONS, APPROVE
from workbook import gate_walk, walk
from workbook.played import NO_CALL, PlacedEvent


class Order(StrEnum):
    """A list of steps; the value names it to a reader."""

    LOOP = "the agent loop"
    CALL = "the call"
    DISPATCH = "the dispatch"
    DEVICE = "the device's own gate"
    HOST_CALL = "the call at the second host"
    DESK = "the Review Desk"
    WRITE = "the write"
    DELETE = "the delete"
    RPC = "the dialog"


class Place(Struct, frozen=True):
    """Where an event stands: the step at `index` of a list, counted from 0."""

    order: Order
    index: int

    @property
    def numbers(self) -> str:
        """The step's number in its list, as the specification counts: `5-7`."""
        return ORDERS[self.order][self.index][0]

    @property
    def does(self) -> str:
        """What the step is for."""
        return ORDERS[self.order][self.index][1]


_CALL: Final = tuple(walk.PARTS.values())
_LOOP: Final = (
    ("1", "Put the model's arguments to the tool's schema."),
    ("2", "Ask the tool_call handlers once for the whole call, and leave a marker that they were asked."),
    ("3", "Put what a handler returned to the schema, and write it back into the message."),
    ("4", "Wait for the call's turn: the whole batch is prepared before any of it runs."),
    ("5", "Run it through the wrapper."),
    ("6", "Give the model a result, or an error in its place."),
)
_DISPATCH: Final = (
    ("3", "Read the path: which device, or what else."),
    ("4.1", "Look the device up."),
    ("4.2", "Docs are the answer where the content asks for help."),
    ("4.3", "Read the content as arguments, and check them."),
    ("4.4-5", "Note the device's tier, and pass the call on with the outer approval as a mark."),
    ("4.6", "The device's own gate, and the device."),
    ("4.7", "Hand the device's result back to write."),
)
_DESK: Final = (
    ("1", "A person gives a command."),
    ("2", "A dialog opens; there is at most one."),
    ("3", "It comes back, or is closed."),
    ("4", "A step of the desk's table: record, permit, or change nothing."),
    ("5", "Say so: notices, status line, widget, messages."),
    ("6", "From outside: the session moves, or somebody else writes into it."),
)
_WRITE: Final = (
    ("1", "Try the tool's own write."),
    ("4", "Where a folder is missing: make it, and try once more."),
    ("6", "Find out where the write really lands."),
    ("7", "Offer it to the handlers, in order."),
    ("8", "Return, or raise the tool's own error."),
)
_DELETE: Final = (
    ("1", "Try the tool's own unlink."),
    ("3", "Find out what the path really names."),
    ("4-6", "Look at it: only a file is one for sure."),
    ("7", "Offer it to the handlers, in order, or raise the tool's own error."),
)
_RPC: Final = (
    ("1", "Send the request."),
    ("2", "Wait: a reply, the signal, the timer, or the end of the client."),
    ("3", "It is settled, once."),
)
ORDERS: Final[dict[Order, Sequence[tuple[str, str]]]] = {
    Order.LOOP: _LOOP,
    Order.CALL: _CALL,
    Order.DISPATCH: _DISPATCH,
    Order.DEVICE: _CALL,
    Order.HOST_CALL: tuple((str(part + 1), text) for part, text in gate_walk.PARTS.items()),
    Order.DESK: _DESK,
    Order.WRITE: _WRITE,
    Order.DELETE: _DELETE,
    Order.RPC: _RPC,
}

#: By the event's recorded name, the step of its list; names not here stand on no list of that kind.
_LOOP_STEPS: Final = {
    "marker_set": 1,
    "hook_ended": 1,
    "message_revised": 2,
    "tool_execution_start": 3,
    "loop_result": 5,
}
_DISPATCH_STEPS: Final = {
    "address_read": 0,
    "staged_sought": 0,
    "report_kept": 0,
    "file_written": 0,
    "device_sought": 1,
    "docs_returned": 2,
    "content_read": 3,
    "content_refused": 3,
    "passed_on": 4,
    "inner_tier_reported": 5,
    "dispatch_ended": 6,
}
_DESK_STEPS: Final = {
    "command_given": 0,
    "panel_shown": 1,
    "panel_hidden": 2,
    "panel_never_shown": 2,
    "dialog_over": 2,
    "late_reply": 2,
    "client_disconnected": 2,
    "note_recorded": 3,
    "grant_given": 3,
    "grant_ended": 3,
    "act_refused": 3,
    "notified": 4,
    "status_shown": 4,
    "widget_shown": 4,
    "message_posted": 4,
    "session_moved": 5,
    "move_prevented": 5,
    "session_reopened": 5,
    "entry_arrived": 5,
}
_FILE_STEPS: Final = {
    "parent_made": 1,
    "parent_refused": 1,
    "target_resolved": 2,
    "target_unresolvable": 2,
    "target_inspected": 2,
    "handler_consulted": 3,
    "mutation_returned": 4,
    "mutation_raised": 4,
}


def places_of(events: Sequence[PlacedEvent], scenario: str) -> list[tuple[Place, ...]]:
    """Where each event of a ledger stands, outermost list first; () for one that is on no list.

    `scenario` is the case's. What comes later in the ledger changes nothing about what came before.
    """
    match scenario:
        case "gate":
            return _by_call(
                events, lambda own: [(Place(Order.HOST_CALL, part),) for part in gate_walk.parts_of(own)]
            )
        case "fallback":
            return [*_file_operation(events)]
        case "rpc":
            return [(Place(Order.RPC, _rpc_step(one.event)),) for one in events]
        case "review":
            calls = _by_call(events, _wrapped)
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


def _wrapped(own: Sequence[PlacedEvent]) -> list[tuple[Place, ...]]:
    """One call through the wrapper; a dispatch has two gates, one inside the other's step 16."""
    lanes = [one.lane for one in in_lanes(one.event for one in own)]
    inside = [one for one, lane in zip(own, lanes, strict=True) if lane is Lane.INNER and not _reports_a_tier(one)]
    inner = iter(walk.parts_of(inside))
    found, runs = [], False
    for one, part, lane in zip(own, walk.parts_of(own), lanes, strict=True):
        runs = runs or _begins_to_run(one.event)
        at_work = runs and type(one.event).__module__ == "labsim.review.events"  # the desk's tool has no other sign
        places = [Place(Order.CALL, max(part, walk.Part.RUN) if at_work else part)]
        if lane is Lane.INNER:
            at = walk.Part.JUDGE_EFFECTIVE if _reports_a_tier(one) else next(inner)
            places += [Place(Order.DISPATCH, 5), Place(Order.DEVICE, at)]
        elif (step := _DISPATCH_STEPS.get(kind_of(one.event))) is not None:
            places.append(Place(Order.DISPATCH, step))
        found.append(tuple(places))
    return found


def _begins_to_run(event: Struct) -> bool:
    """Whether nothing stands between the call and its tool any more: nobody is asked, or somebody said Approve."""
    match event:
        case PromptDecided(required=required):
            return not required
        case UiSelect(choice=choice, options=options) | RpcSelect(choice=choice, options=options):
            return options == APPROVAL_OPTIONS and choice == APPROVE
    return False


def _reports_a_tier(one: PlacedEvent) -> bool:
    """The inner gate's step 6, which the dispatch writes down: `walk` would take it for the tool at work."""
    return kind_of(one.event) == "inner_tier_reported"


def _looped(own: Sequence[PlacedEvent]) -> list[tuple[Place, ...]]:
    """One call through the agent loop: what is no step of the wrapper is one of the loop."""
    lanes = [one.lane for one in in_lanes(one.event for one in own)]
    wrapped = iter(_wrapped([one for one, lane in zip(own, lanes, strict=True) if lane is not None]))
    found, at = [], 0
    for one, lane in zip(own, lanes, strict=True):
        at = 4 if lane is not None else max(at, _loop_step(one.event))
        found.append((Place(Order.LOOP, at), *(next(wrapped) if lane is not None else ())))
    return found


def _loop_step(event: Struct) -> int:
    kind = kind_of(event)
    if kind == "arguments_checked":
        return 2 if getattr(event, "of", "") == "replacement" else 0
    return _LOOP_STEPS.get(kind, 1)  # what a handler does is a part of the hook


def _and_the_desk(event: Struct, places: tuple[Place, ...]) -> tuple[Place, ...]:
    step = _desk_step(event, in_a_call=bool(places))
    return places if step is None else (*places, Place(Order.DESK, step))


def _desk_step(event: Struct, *, in_a_call: bool) -> int | None:
    kind = kind_of(event)
    if kind == "step_taken":
        to, phase = getattr(event, "to", ""), getattr(event, "phase", "")
        return 1 if to != phase and to not in ("idle", "closed") else 3
    if kind in _DESK_STEPS:
        return _DESK_STEPS[kind]
    if in_a_call:
        return None
    if isinstance(event, QuestionAsked):
        return 1
    if isinstance(event, QuestionAnswered | UiSelect | RpcSelect | LateReply):
        return 2
    if kind == "frame_sent":
        method = getattr(event, "frame", {}).get("method")
        return 1 if method in ("select", "confirm", "input", "editor") else 2 if method == "cancel" else 4
    return 2 if kind in ("frame_received", "dialog_settled") else None


def _file_operation(events: Sequence[PlacedEvent]) -> Iterator[tuple[Place, ...]]:
    deletes = bool(events) and getattr(events[0].event, "seam", "") == "delete"
    for one in events:
        kind = kind_of(one.event)
        if deletes:
            step = {"target_resolved": 1, "target_unresolvable": 1, "target_inspected": 2}.get(kind, 3)
            yield (Place(Order.DELETE, 0 if kind == "primitive_attempted" else step),)
        else:
            again = kind == "primitive_attempted" and getattr(one.event, "attempt", 1) > 1
            yield (Place(Order.WRITE, 1 if again else _FILE_STEPS.get(kind, 0)),)


def _rpc_step(event: Struct) -> int:
    kind = kind_of(event)
    if kind == "frame_sent":
        return 1 if getattr(event, "frame", {}).get("method") == "cancel" else 0
    return 2 if kind == "dialog_settled" else 1
