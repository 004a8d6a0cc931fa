"""Plays the script of an `rpc` case against the broker, on a logical clock.

A case opens one dialog and lets its script happen to it; what is observed has the keys
of the recorded answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from labsim.case.rpc import OptionSpec, RpcGiven, ScriptStep
from labsim.js_values import copy_json
from labsim.rpc.broker import Broker, Outcome, Rejected, Resolved, Settled, TimeoutFired
from labsim.rpc.dialogs import Confirm, Dialog, Editor, Input, Option, Select
from labsim.rpc.events import (
    ClientDisconnected,
    DialogSettled,
    FrameReceived,
    FrameSent,
    RpcEvent,
    SignalAborted,
    TimeoutCallback,
)
from labsim.rpc.frames import UIRequest, to_wire


def play_rpc(given: RpcGiven, emit: Callable[[RpcEvent], object] | None = None) -> dict[str, Any]:
    """Play one case; returns its `observed` record, key for key as recorded.

    `emit` receives the events in order. Nothing waits: a `wait` moves the case's own clock.
    """
    return _Play(given, emit).run()


class _Play:
    """One case under way."""

    def __init__(self, given: RpcGiven, emit: Callable[[RpcEvent], object] | None) -> None:
        self._given = given
        self._emit = emit
        self._broker = Broker()
        self._now_ms = 0
        self._dialog_id: str | None = None
        self._aborted = False
        self._settled: Settled | None = None
        self._timeout_calls = 0
        self._frames: list[dict[str, Any]] = []
        self._consumed: list[bool] = []

    def run(self) -> dict[str, Any]:
        if self._given.disconnect_before is not UNSET:
            self._disconnect(self._given.disconnect_before)
        if self._given.abort_before:
            self._abort()
        asked = self._broker.ask(_dialog(self._given), now_ms=self._now_ms, signal_aborted=self._aborted)
        self._dialog_id = asked.dialog_id
        self._send(asked.frames)
        if asked.settled is not None:
            self._note(asked.settled)
        for step in self._given.script:
            self._play(step)
        return self._observed()

    def _play(self, step: ScriptStep) -> None:
        if step.reply is not UNSET:
            self._receive(_reply(self._dialog_id if step.id is UNSET else step.id, step.reply))
        elif step.disconnect is not UNSET:
            self._disconnect(step.disconnect)
        elif step.wait is not UNSET:
            self._wait(step.wait)
        elif step.abort is not UNSET:
            self._abort()
        else:
            self._receive(_with_id(step.frame, self._dialog_id))
        self._drain()

    def _receive(self, frame: Any) -> None:
        consumed = self._broker.receive(frame)
        self._consumed.append(consumed)
        self._tell(FrameReceived(at_ms=self._now_ms, frame=copy_json(frame), consumed=consumed))

    def _abort(self) -> None:
        """Abort the caller's signal; one that was never passed, or has aborted before, does nothing."""
        if self._aborted or not self._given.signal or self._given.no_options:
            return
        self._aborted = True
        self._tell(SignalAborted(at_ms=self._now_ms))
        if self._dialog_id is not None:
            self._send(self._broker.abort(self._dialog_id))

    def _disconnect(self, message: str) -> None:
        self._broker.disconnect(message)
        self._tell(ClientDisconnected(at_ms=self._now_ms, message=self._broker.lost or message))

    def _wait(self, ms: int) -> None:
        """Move the clock on, stopping at each deadline on the way so that events carry their own time."""
        until = self._now_ms + ms
        while (due := self._broker.next_deadline()) is not None and due <= until:
            self._now_ms = due
            self._broker.tick(due)
            self._drain()
        self._now_ms = until

    def _send(self, frames: tuple[UIRequest, ...]) -> None:
        for frame in frames:
            wire = to_wire(frame)
            self._frames.append(wire)
            self._tell(FrameSent(at_ms=self._now_ms, frame=copy_json(wire)))

    def _drain(self) -> None:
        for outcome in self._broker.poll():
            self._note(outcome)

    def _note(self, outcome: Outcome) -> None:
        match outcome:
            case TimeoutFired(dialog_id=dialog_id):
                heard = self._given.on_timeout and not self._given.no_options
                self._timeout_calls += heard
                self._tell(TimeoutCallback(at_ms=self._now_ms, dialog_id=dialog_id, heard=heard))
            case Resolved():
                self._settled = outcome
                self._tell(
                    DialogSettled(
                        at_ms=self._now_ms,
                        dialog_id=outcome.dialog_id,
                        by=outcome.by,
                        value=copy_json(outcome.value),
                    )
                )
            case Rejected():
                self._settled = outcome
                self._tell(
                    DialogSettled(
                        at_ms=self._now_ms, dialog_id=outcome.dialog_id, by=outcome.by, error=outcome.error
                    )
                )

    def _tell(self, event: RpcEvent) -> None:
        if self._emit is not None:
            self._emit(event)

    def _observed(self) -> dict[str, Any]:
        return {
            **_settlement(self._settled),
            "onTimeoutCalls": self._timeout_calls,
            "consumed": self._consumed,
            "pendingAfter": len(self._broker.open_ids),
            "frames": self._frames,
        }


def _dialog(given: RpcGiven) -> Dialog:
    """The dialog that is asked; a caller that passes no options passes no timeout."""
    title, timeout_ms = given.title, UNSET if given.no_options else given.timeout
    if given.options is not UNSET:
        return Select(title=title, options=tuple(map(_option, given.options)), timeout_ms=timeout_ms)
    if given.message is not UNSET:
        return Confirm(title=title, message=given.message, timeout_ms=timeout_ms)
    if given.method == "input":
        return Input(title=title, placeholder=given.placeholder, timeout_ms=timeout_ms)
    return Editor(title=title, prefill=given.prefill, prompt_style=given.prompt_style, timeout_ms=timeout_ms)


def _option(option: str | OptionSpec) -> str | Option:
    if isinstance(option, str):
        return option
    return Option(label=option.label, description=None if option.description is UNSET else option.description)


def _reply(to: str | None, payload: Mapping[str, Any]) -> dict[str, Any]:
    """A reply frame; without a dialog on the wire there is no id to give it, and so it is none (rpc-0141)."""
    address = {} if to is None else {"id": to}
    return {"type": "extension_ui_response", **address, **payload}


def _with_id(frame: Any, dialog_id: str | None) -> Any:
    """`frame` with the dialog's id for every `$id`. No dialog on the wire: that key is absent, that item null."""
    match frame:
        case "$id":
            return UNSET if dialog_id is None else dialog_id
        case dict():
            filled = {key: _with_id(item, dialog_id) for key, item in frame.items()}
            return {key: item for key, item in filled.items() if item is not UNSET}
        case list():
            filled_list = [_with_id(item, dialog_id) for item in frame]
            return [None if item is UNSET else item for item in filled_list]
        case _:
            return frame


_TYPE_NAMES: Final[Mapping[type, str]] = {
    UnsetType: "undefined",
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
}


def _settlement(settled: Settled | None) -> dict[str, Any]:
    match settled:
        case None:
            return {"settled": "pending"}
        case Rejected(error=error):
            return {"settled": "reject", "error": error}
        case Resolved(value=value):
            there = {} if value is UNSET else {"value": value}
            return {"settled": "resolve", **there, "valueType": _TYPE_NAMES.get(type(value), "object")}
