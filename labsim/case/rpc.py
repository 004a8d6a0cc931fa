"""What an `rpc` case is given: one dialog, what the caller passed along, and the script of what happens to it.

Read and checked once. What is checked here cannot be said by a type: which keys belong to which dialog, and that a
step of the script is one thing.
"""

from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from labsim.case.given import CasePart
from labsim.errors import CaseError

Method: TypeAlias = Literal["select", "confirm", "input", "editor"]

_LATEST_MS: Final = 2**31 - 1  # what the recorded program's timers can count to
_DEEDS: Final = ("reply", "frame", "abort", "disconnect", "wait")
_STEPS: Final = "{reply}, {reply, id}, {frame}, {abort: true}, {disconnect: message}, {wait: milliseconds}"
#: What only one kind of dialog has; the first of them must be there.
_OWN: Final = {
    "select": {"options": "Give a list; it may be empty."},
    "confirm": {"message": "Give a text."},
    "input": {"placeholder": ""},
    "editor": {"prefill": "", "prompt_style": ""},
}


class OptionSpec(CasePart, frozen=True, kw_only=True):
    """An option with more to say than its label."""

    label: str
    description: str | UnsetType = UNSET


class ScriptStep(CasePart, frozen=True, kw_only=True):
    """One thing that happens, after the dialog was asked.

    `reply`: the host replies with this, to the dialog unless another `id` is named. `frame`: it sends any JSON
    value, in which the text `$id` stands for the dialog's id. `abort`: the caller's signal aborts. `disconnect`:
    the host goes away, with this message. `wait`: so many milliseconds pass.
    """

    reply: dict[str, Any] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    frame: Any = UNSET
    abort: bool | UnsetType = UNSET
    disconnect: str | UnsetType = UNSET
    wait: int | UnsetType = UNSET


class RpcGiven(CasePart, frozen=True, kw_only=True):
    """One dialog over RPC, and what the client does. A key that is absent was absent from the call.

    `signal` and `on_timeout`: whether the caller passed a signal and a callback; with `no_options` it passed
    nothing, no timeout either. `abort_before`, `disconnect_before`: what had happened when it asked.
    """

    method: Method
    title: str
    options: list[str | OptionSpec] | UnsetType = UNSET
    no_options: bool = False
    message: str | UnsetType = UNSET
    placeholder: str | UnsetType = UNSET
    prefill: str | UnsetType = UNSET
    prompt_style: bool | UnsetType = UNSET
    timeout: int | UnsetType = UNSET
    on_timeout: bool = True
    signal: bool = True
    abort_before: bool = False
    disconnect_before: str | UnsetType = UNSET
    script: list[ScriptStep] = msgspec.field(default_factory=list)


def check_rpc(given: RpcGiven, place: str) -> None:
    """Raises: CaseError."""
    place = f"{place}.given"
    for method, keys in _OWN.items():
        for key, needed in keys.items():
            name = "promptStyle" if key == "prompt_style" else key
            there = getattr(given, key) is not UNSET
            if there and method != given.method:
                remedy = f'Remove it: it belongs to "method": "{method}".'
                raise CaseError(f"{place}.{name}", f"a dialog of {given.method} has none", remedy)
            if needed and not there and method == given.method:
                raise CaseError(f"{place}.{name}", "it is missing", needed)
    if given.timeout is not UNSET:
        _check_ms(given.timeout, f"{place}.timeout")
    for number, step in enumerate(given.script):
        _check_step(step, f"{place}.script[{number}]")


def _check_step(step: ScriptStep, place: str) -> None:
    done = [deed for deed in _DEEDS if getattr(step, deed) is not UNSET]
    if len(done) != 1 or step.abort is False or (step.id is not UNSET and done != ["reply"]):
        found = f"it says {' and '.join(done)}" if len(done) > 1 else "this is no step"
        raise CaseError(place, found, f"Use one of: {_STEPS}.")
    if step.reply is not UNSET:
        for key in ("type", "id"):
            if key in step.reply:
                remedy = "A reply gets its type and id by itself; use {frame} to send an object as it is."
                raise CaseError(
                    f"{place}.reply.{key}", f"{step.reply[key]!r} would replace the reply's own", remedy
                )
    if step.wait is not UNSET:
        _check_ms(step.wait, f"{place}.wait")


def _check_ms(ms: int, place: str) -> None:
    if not 0 <= ms <= _LATEST_MS:
        raise CaseError(place, f"{ms} is no time", f"Give whole milliseconds from 0 to {_LATEST_MS}.")
