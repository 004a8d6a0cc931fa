"""What a sequence picture is made of, as far as an event has to say: lanes, strokes, and one message between lanes.

Each kind of event says itself how it is drawn (`labsim.events.event.Event.drawn`). Which lanes a kind of case has,
and how a lane or a stroke looks, is the business of whoever draws.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from labsim.terms import APPROVAL_OPTIONS


class Lane(StrEnum):
    """Who takes part. The value is a name for diagram sources; the label shown depends on the case."""

    CALLER = "caller"
    WRAPPER = "wrapper"  # the second host's session; at the Review Desk, the gate
    DEVICE = "device"  # the second gate of a dispatch
    HANDLERS = "handlers"
    GATE = "gate"  # of the second host
    RULES = "rules"
    APPROVER = "approver"
    PERSON = "person"  # over RPC, the client
    TOOL = "tool"  # at the Review Desk, the desk
    BROKER = "broker"
    DISK = "disk"  # at the Review Desk, the session


class Stroke(StrEnum):
    """How a message is drawn."""

    TELL = "tell"  # tells or asks something
    ANSWER = "answer"  # gives something back
    REFUSE = "refuse"  # an error, a block, a reply that comes too late
    EFFECT = "effect"  # the executor or the disk is reached
    NOTE = "note"  # one lane decides or notes something by itself


class Drawn(Struct, frozen=True, gc=False):
    """One message: from which lane to which, how, and with which words; None: with the event's own words."""

    source: Lane
    target: Lane
    stroke: Stroke
    says: str | None = None


def note(lane: Lane, says: str | None = None) -> Drawn:
    """Something that one lane decides or notes by itself."""
    return Drawn(lane, lane, Stroke.NOTE, says)


class View(Struct, frozen=True, kw_only=True, gc=False):
    """What a picture knows when it comes to an event.

    `desk` speaks for the host, `gate` is the innermost gate at work, and `caller` called it. `asker` is whoever
    puts dialogs now, `late` whom a reply reaches that nobody waits for. `over_rpc`: frames carry the dialogs.

    `overlapping`: calls wait side by side, as at the Review Desk. So nothing is remembered from one event to the
    next, handlers have no lane, and what the gate does by itself is told in full.
    """

    desk: Lane
    gate: Lane
    caller: Lane = Lane.CALLER
    asker: Lane
    late: Lane
    over_rpc: bool = False
    overlapping: bool = False

    def asks(self, options: tuple[str, ...]) -> Lane:
        """Whose a select with these options is: where calls overlap, the gate's two labels are its mark."""
        if self.overlapping:
            return self.gate if options == APPROVAL_OPTIONS else self.desk
        return self.asker

    def decides(self, says: str) -> Drawn:
        """Something that the gate settles by itself."""
        return note(self.gate, None if self.overlapping else says)

    def tells_handlers(self, says: str) -> Drawn:
        """Something that the gate tells the handlers."""
        return note(self.gate) if self.overlapping else Drawn(self.gate, Lane.HANDLERS, Stroke.TELL, says)
