"""What a kind of event is: a frozen record, and all that the program knows about it.

What a record quotes of a call's input is a copy, so it shows what was, not what became of it. Field names on the
wire are those of the recorded answers; `atMs` is simulated time. Its words, its standing, whose call it belongs to,
the observed fields that it shows, how it is drawn and its step stand with its class, once; `labsim.describe.kinds`
lists the classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from labsim.js_values import stringify
from labsim.places.lanes import Drawn, View
from labsim.places.steps import Here, Order, Steps
from labsim.terms import Standing


class Event(Struct, frozen=True, kw_only=True, gc=False, tag_field="event", rename="camel"):
    """What every record has: the simulated millisecond it happened at.

    Not tracked by the cycle collector: a record quotes copies of JSON values, which cannot point back at it, and
    a long ledger of tracked records would have the collector walk all of it again and again.
    """

    at_ms: int
    #: On which step of which list it stands, where that is always the same one.
    steps: ClassVar[Steps] = {}
    #: Who hears of it.
    standing: ClassVar[Standing] = Standing.REMARK
    #: The observed fields of a case that are read from events of this kind, by their names on the wire.
    shows: ClassVar[tuple[str, ...]] = ()
    #: The rules to look at where a recorded answer has another such event.
    rules: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def kind_name(cls) -> str:
        """The wire name of this kind; of a class that only others share, its own name."""
        return str(cls.__struct_config__.tag)

    def says(self) -> str:
        """What happened, in words. Texts of tools and people are quoted as they are, whatever is in them."""
        return field_by_field(as_mapping(self), "event", "atMs")

    def names_call(self) -> str:
        """The id of the call that it names itself; "" for one that names none (a dialog, a frame)."""
        call: str = getattr(self, "tool_call_id", "")
        return call

    def names_request(self) -> str:
        """The id of the request that it is about, at the host that numbers them; "" for none."""
        request: str = getattr(self, "request_id", "")
        return request

    def drawn(self, view: View) -> Drawn | None:
        """How a sequence picture shows it, by what the picture knows then; None: as a remark of the desk."""
        return None

    def step(self, order: Order, here: Here) -> int | None:
        """The step of a list that it stands on, with the walk along its call at `here`; None: on none by itself."""
        return self.steps.get(order)

    def passed(self, here: Here) -> None:
        """Notes in `here` what is different for the events after it."""


def as_mapping(event: Event) -> dict[str, Any]:
    """An event as a plain mapping with its wire names, `event` first; absent parts are absent."""
    built: dict[str, Any] = msgspec.to_builtins(event)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in built.items()}


def is_heard(event: Event) -> bool:
    """Whether the host itself tells of an event or takes it as a step; so it is compared with the real program."""
    return event.standing is not Standing.REMARK


def plainly(value: object) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else stringify(value)


def field_by_field(record: Mapping[str, Any], *left_out: str) -> str:
    """A record in no words of its own: its fields, but for those left out."""
    return ", ".join(f"{key}: {plainly(value)}" for key, value in record.items() if key not in left_out)
