"""Every kind of event that a ledger can hold.

Adding a kind of event touches its own module and its cases, and nothing here; a module of events that is new is
named here, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from labsim.call import loop_events
from labsim.dispatch import events as dispatch_events
from labsim.events import call as call_events
from labsim.events import dialogs as dialog_events
from labsim.events.event import Event
from labsim.fallback import events as fallback_events
from labsim.gate import events as gate_events
from labsim.review.base import events as review_events
from labsim.rpc import events as rpc_events

_MODULES: Final = (
    call_events,
    dialog_events,
    dispatch_events,
    fallback_events,
    gate_events,
    loop_events,
    review_events,
    rpc_events,
)


def event_classes() -> tuple[type[Event], ...]:
    """The classes: the engine's in the order in which they are written, then those that others have brought along.

    A class that several kinds share (`GateEvent`) is no kind itself.
    """
    ours = [kind for module in _MODULES for kind in vars(module).values() if isinstance(kind, type)]
    known = dict.fromkeys(kind for kind in ours if issubclass(kind, Event))
    others = sorted(_below(Event), key=lambda kind: kind.kind_name())
    return tuple(kind for kind in dict.fromkeys((*known, *others)) if kind.kind_name() != kind.__name__)


def _below(base: type[Event]) -> Iterator[type[Event]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _below(kind)
