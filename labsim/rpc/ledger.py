"""The events of a played script, for a ledger that a learner reads.

Beside `broker`, above `labsim.events`; `scenario` emits them. The broker does not know them: a fact that goes in
and an outcome that comes out become events where someone plays them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import UNSET

from labsim.events import Event
from labsim.rpc.broker import SettledBy


class FrameSent(Event, frozen=True, kw_only=True, tag="frame_sent"):
    """The server wrote `frame`, as it is on the wire."""

    frame: Mapping[str, Any]


class FrameReceived(Event, frozen=True, kw_only=True, tag="frame_received"):
    """A frame came from the host. `consumed`: it was a control frame, which says nothing of its effect (R-38)."""

    frame: Any
    consumed: bool


class SignalAborted(Event, frozen=True, kw_only=True, tag="signal_aborted"):
    """The caller gave up."""


class ClientDisconnected(Event, frozen=True, kw_only=True, tag="client_disconnected"):
    """The host is gone; `message` is what dialogs raise from now on."""

    message: str


class TimeoutCallback(Event, frozen=True, kw_only=True, tag="timeout_callback"):
    """A dialog's time is over and its caller's on-timeout callback is due. `heard` false: the caller gave none."""

    dialog_id: str
    heard: bool


class DialogSettled(Event, frozen=True, kw_only=True, tag="dialog_settled"):
    """A dialog is over. It came back with `value` (absent: nothing), or raises `error` (null: it came back)."""

    dialog_id: str | None  # null: it was over before it was ever sent
    by: SettledBy
    value: Any = UNSET
    error: str | None = None


RpcEvent: TypeAlias = (
    FrameSent | FrameReceived | SignalAborted | ClientDisconnected | TimeoutCallback | DialogSettled
)
