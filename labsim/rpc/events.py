"""The events of a played script, for a ledger that a learner reads.

`scenario` emits them. The broker does not know them: a fact that goes in
and an outcome that comes out become events where someone plays them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from msgspec import UNSET

from labsim.events.event import Event, field_by_field, plainly
from labsim.js_values import stringify
from labsim.places.lanes import Drawn, Lane, Stroke, View, note
from labsim.places.steps import DeskStep, DialogStep, Here, HostCallStep, Order
from labsim.rpc.broker import SettledBy
from labsim.terms import DialogKind


class FrameSent(Event, frozen=True, kw_only=True, tag="frame_sent"):
    """The server wrote `frame`, as it is on the wire."""

    frame: Mapping[str, Any]
    shows: ClassVar[tuple[str, ...]] = ("rpcRequests", "frames")

    def says(self) -> str:
        frame = self.frame
        if frame.get("method") == "cancel":
            return f"the client is told to close {plainly(frame.get('targetId'))}"
        rest = field_by_field(frame, "type", "id", "method")
        method = frame.get("method", frame.get("type"))
        asked = "asked" if method in tuple(DialogKind) else "told"
        return f"the client is {asked}: {plainly(method)} {plainly(frame.get('id', ''))}, {rest}"

    def drawn(self, view: View) -> Drawn:
        broker, method = view.asker, _text(self.frame, "method")
        if method == "cancel":
            return Drawn(broker, Lane.PERSON, Stroke.TELL, f"close {_text(self.frame, 'targetId')}")
        return Drawn(broker, Lane.PERSON, Stroke.TELL, f"{method} {_text(self.frame, 'id')}")

    def step(self, order: Order, here: Here) -> int | None:
        method = self.frame.get("method")
        if method == "cancel":
            return _step(order, here, DialogStep.WAIT, DeskStep.BACK)
        opens = method in tuple(DialogKind)
        return _step(order, here, DialogStep.SEND, DeskStep.DIALOG if opens else DeskStep.SAY)


class FrameReceived(Event, frozen=True, kw_only=True, tag="frame_received"):
    """A frame came from the host. `consumed`: it was a control frame, which says nothing of its effect
    (rpc/R-38).
    """

    frame: Any
    consumed: bool

    def says(self) -> str:
        if not self.consumed:
            return f"a frame that answers no dialog: {stringify(self.frame)}"
        reply = {key: value for key, value in self.frame.items() if key not in ("type", "id")}
        return f"the client replies to {plainly(self.frame.get('id'))}: {stringify(reply) if reply else 'nothing'}"

    def drawn(self, view: View) -> Drawn:
        if not self.consumed:
            return Drawn(Lane.PERSON, view.asker, Stroke.REFUSE, f"answers no dialog: {stringify(self.frame)}")
        rest = {key: value for key, value in self.frame.items() if key not in ("type", "id")}
        return Drawn(Lane.PERSON, view.asker, Stroke.ANSWER, f"{_text(self.frame, 'id')} {stringify(rest)}")

    def step(self, order: Order, here: Here) -> int | None:
        return _step(order, here, DialogStep.WAIT, DeskStep.BACK)


class SignalAborted(Event, frozen=True, kw_only=True, tag="signal_aborted"):
    """The caller gave up."""

    def says(self) -> str:
        return "the caller gives up"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.CALLER, view.asker, Stroke.TELL, "gives up")

    def step(self, order: Order, here: Here) -> int | None:
        return _step(order, here, DialogStep.WAIT)


class ClientDisconnected(Event, frozen=True, kw_only=True, tag="client_disconnected"):
    """The host is gone; `message` is what dialogs raise from now on."""

    message: str

    def says(self) -> str:
        return f"the client is gone: {self.message}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, view.asker, Stroke.REFUSE, self.message)

    def step(self, order: Order, here: Here) -> int | None:
        if order is Order.DESK:
            return DeskStep.BACK  # also inside a call: it is the end of every dialog
        return _step(order, here, DialogStep.WAIT)


class TimeoutCallback(Event, frozen=True, kw_only=True, tag="timeout_callback"):
    """A dialog's time is over and its caller's on-timeout callback is due. `heard` false: the caller gave none."""

    dialog_id: str
    heard: bool

    def says(self) -> str:
        told = "its caller is told" if self.heard else "its caller asked for no notice"
        return f"the time of {self.dialog_id} is over; {told}"

    def drawn(self, view: View) -> Drawn:
        heard = "" if self.heard else ", nobody listens"
        return Drawn(view.asker, Lane.CALLER, Stroke.TELL, f"the time of {self.dialog_id} is over{heard}")

    def step(self, order: Order, here: Here) -> int | None:
        return _step(order, here, DialogStep.WAIT)


class DialogSettled(Event, frozen=True, kw_only=True, tag="dialog_settled"):
    """A dialog is over. It came back with `value` (absent: nothing), or raises `error` (null: it came back)."""

    dialog_id: str | None  # null: it was over before it was ever sent
    by: SettledBy
    value: Any = UNSET
    error: str | None = None

    def says(self) -> str:
        dialog = self.dialog_id or "a dialog that was never sent"
        by = self.by.value.replace("_", " ")
        if self.error is not None:
            return f"{dialog} is over ({by}) and raises: {self.error}"
        if self.value is UNSET:
            return f"{dialog} is over ({by}) and gives nothing"
        return f"{dialog} is over ({by}) and gives {stringify(self.value)}"

    def drawn(self, view: View) -> Drawn:
        if view.asker is not Lane.BROKER:
            return note(view.asker)  # inside a call the dialog's caller is the lane itself
        return Drawn(view.asker, Lane.CALLER, Stroke.ANSWER if self.error is None else Stroke.REFUSE)

    def step(self, order: Order, here: Here) -> int | None:
        return _step(order, here, DialogStep.SETTLED, DeskStep.BACK)


RpcEvent: TypeAlias = (
    FrameSent | FrameReceived | SignalAborted | ClientDisconnected | TimeoutCallback | DialogSettled
)


def _step(order: Order, here: Here, dialog: int, desk: int | None = None) -> int | None:
    """The step of what happens to a dialog; `desk` where it is the Review Desk's own, and not a call's."""
    match order:
        case Order.RPC:
            return dialog
        case Order.CALL:
            return here.asking
        case Order.HOST_CALL:
            return HostCallStep.APPROVER
        case Order.DESK:
            return None if here.in_call else desk
    return None


def _text(frame: Any, name: str) -> str:
    value = frame.get(name, "") if isinstance(frame, Mapping) else ""
    return value if isinstance(value, str) else stringify(value)
