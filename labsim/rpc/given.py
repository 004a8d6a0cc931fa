"""An `rpc` case, read: one dialog and the script of what happens to it.

Plays nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from labsim.errors import CaseError
from labsim.rpc.dialogs import Confirm, Dialog, Editor, Input, Option, Select
from labsim.terms import DialogKind


class ReplyStep(Struct, frozen=True, kw_only=True):
    """The host replies with `payload`, to the dialog unless another `id` is named."""

    payload: Mapping[str, Any]
    id: str | UnsetType = UNSET


class FrameStep(Struct, frozen=True, kw_only=True):
    """The host sends any JSON value; the text `$id` in it stands for the dialog's id."""

    frame: Any


class AbortStep(Struct, frozen=True, kw_only=True):
    """The caller's signal aborts."""


class DisconnectStep(Struct, frozen=True, kw_only=True):
    """The host goes away."""

    message: str


class WaitStep(Struct, frozen=True, kw_only=True):
    """Time passes."""

    ms: int


ScriptStep: TypeAlias = ReplyStep | FrameStep | AbortStep | DisconnectStep | WaitStep


class RpcScript(Struct, frozen=True, kw_only=True):
    """What the caller asked, what it passed along, and what happens then."""

    dialog: Dialog
    has_signal: bool  # an abort signal was passed
    has_callback: bool  # an on-timeout callback was passed
    aborted_before: bool
    disconnected_before: str | None  # None: the host was there when the dialog was asked
    steps: tuple[ScriptStep, ...]


# ------------------------------------------------------------------------------------------------- reading a case

_LATEST_MS: Final = 2**31 - 1  # what the recorded program's timers can count to
_COMMON: Final = ("method", "title", "timeout", "onTimeout", "signal", "noOptions")
_AROUND: Final = ("abortBefore", "disconnectBefore", "script")
_OWN: Final[Mapping[DialogKind, tuple[str, ...]]] = {
    DialogKind.SELECT: ("options",),
    DialogKind.CONFIRM: ("message",),
    DialogKind.INPUT: ("placeholder",),
    DialogKind.EDITOR: ("prefill", "promptStyle"),
}
_STEPS: Final = "{reply}, {reply, id}, {frame}, {abort: true}, {disconnect: message}, {wait: milliseconds}"


def read_script(given: Mapping[str, Any]) -> RpcScript:
    """What `given` describes (a key that is absent was absent from the call).

    Raises: CaseError, with a place such as `given.script[2]`, for anything outside the vocabulary.
    """
    method = _text(given, "given", "method")
    kinds = [kind.value for kind in _OWN]
    if method not in kinds:
        raise CaseError("given.method", f"{method!r} is no dialog", f"Use one of: {', '.join(kinds)}.")
    kind = DialogKind(method)
    _only(given, "given", (*_COMMON, *_OWN[kind], *_AROUND))
    no_options = _flag(given, "noOptions", default=False)
    timeout_ms = _timeout(given)
    gone = _optional_text(given, "given", "disconnectBefore")
    steps = _list(given, "given", "script") if "script" in given else []  # no script: nothing happens
    return RpcScript(
        dialog=_dialog(kind, given, UNSET if no_options else timeout_ms),
        has_signal=_flag(given, "signal", default=True) and not no_options,
        has_callback=_flag(given, "onTimeout", default=True) and not no_options,
        aborted_before=_flag(given, "abortBefore", default=False),
        disconnected_before=None if gone is UNSET else gone,
        steps=tuple(_step(f"given.script[{i}]", step) for i, step in enumerate(steps)),
    )


def _dialog(kind: DialogKind, given: Mapping[str, Any], timeout_ms: int | UnsetType) -> Dialog:
    title = _text(given, "given", "title")
    match kind:
        case DialogKind.SELECT:
            options = [_option(f"given.options[{i}]", o) for i, o in enumerate(_list(given, "given", "options"))]
            return Select(title=title, options=tuple(options), timeout_ms=timeout_ms)
        case DialogKind.CONFIRM:
            return Confirm(title=title, message=_text(given, "given", "message"), timeout_ms=timeout_ms)
        case DialogKind.INPUT:
            placeholder = _optional_text(given, "given", "placeholder")
            return Input(title=title, placeholder=placeholder, timeout_ms=timeout_ms)
        case DialogKind.EDITOR:
            prefill = _optional_text(given, "given", "prefill")
            style = _flag(given, "promptStyle", default=False) if "promptStyle" in given else UNSET
            return Editor(title=title, prefill=prefill, prompt_style=style, timeout_ms=timeout_ms)
        case DialogKind.CUSTOM:
            raise CaseError("given.method", "a component is never sent to a client", "Use a dialog.")


def _option(place: str, value: object) -> str | Option:
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise CaseError(place, f"{value!r} is no option", "Use a label, or {label, description}.")
    _only(value, place, ("label", "description"))
    description = _optional_text(value, place, "description")
    return Option(label=_text(value, place, "label"), description=None if description is UNSET else description)


def _step(place: str, value: object) -> ScriptStep:
    if not isinstance(value, Mapping):
        raise CaseError(place, f"{value!r} is no step", f"Use one of: {_STEPS}.")
    match value:
        case {"reply": Mapping() as payload, **rest} if not rest.keys() - {"id"}:
            _no_envelope(f"{place}.reply", payload)
            return ReplyStep(payload=payload, id=_optional_text(value, place, "id"))
        case {"frame": frame, **rest} if not rest:
            return FrameStep(frame=frame)
        case {"abort": True, **rest} if not rest:
            return AbortStep()
        case {"disconnect": str(message), **rest} if not rest:
            return DisconnectStep(message=message)
        case {"wait": ms, **rest} if not rest:
            return WaitStep(ms=_milliseconds(f"{place}.wait", ms))
        case _:
            raise CaseError(place, f"{dict(value)!r} is no step", f"Use one of: {_STEPS}.")


def _no_envelope(place: str, payload: Mapping[str, Any]) -> None:
    for key in ("type", "id"):
        if key in payload:
            remedy = "A reply gets its type and id by itself; use {frame} to send an object as it is."
            raise CaseError(f"{place}.{key}", f"{payload[key]!r} would replace the reply's own", remedy)


def _only(value: Mapping[str, Any], place: str, allowed: tuple[str, ...]) -> None:
    for key in value:
        if key not in allowed:
            raise CaseError(f"{place}.{key}", "this key means nothing here", f"Use: {', '.join(allowed)}.")


def _text(value: Mapping[str, Any], place: str, key: str) -> str:
    text = _optional_text(value, place, key)
    if text is UNSET:
        raise CaseError(f"{place}.{key}", "it is missing", "Give a text.")
    return text


def _optional_text(value: Mapping[str, Any], place: str, key: str) -> str | UnsetType:
    text = value.get(key, UNSET)
    if isinstance(text, str | UnsetType):
        return text
    raise CaseError(f"{place}.{key}", f"{text!r} is no text", "Give a text, or leave the key out.")


def _flag(given: Mapping[str, Any], key: str, *, default: bool) -> bool:
    flag = given.get(key, default)
    if isinstance(flag, bool):
        return flag
    raise CaseError(f"given.{key}", f"{flag!r} is neither true nor false", "Use true or false.")


def _list(given: Mapping[str, Any], place: str, key: str) -> list[Any]:
    found = given.get(key, UNSET)
    if isinstance(found, list):
        return found
    what = "it is missing" if found is UNSET else f"{found!r} is no list"
    raise CaseError(f"{place}.{key}", what, "Give a list; it may be empty.")


def _timeout(given: Mapping[str, Any]) -> int | UnsetType:
    return _milliseconds("given.timeout", given["timeout"]) if "timeout" in given else UNSET


def _milliseconds(place: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LATEST_MS:
        return value
    raise CaseError(place, f"{value!r} is no time", f"Give whole milliseconds from 0 to {_LATEST_MS}.")
