"""What a caller asks: the four dialogs, the frame each becomes, and how a reply to each is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from labsim.js_values import trim, truthy
from labsim.rpc.frames import (
    ConfirmRequest,
    EditorRequest,
    InputRequest,
    OptionDetail,
    SelectRequest,
)
from labsim.terms import DialogKind

#: What every open dialog raises when the host goes away (rpc/R-40).
CLIENT_DISCONNECTED: Final = "RPC client disconnected before extension UI response completed"


class Option(Struct, frozen=True):
    """A choice with more to say than its label. `description` None: nobody wrote one; blank counts as none."""

    label: str
    description: str | None = None


class Select(Struct, frozen=True, kw_only=True):
    """Choose a label."""

    kind: ClassVar[DialogKind] = DialogKind.SELECT
    title: str
    options: tuple[str | Option, ...]
    timeout_ms: int | UnsetType = UNSET

    def request(self, dialog_id: str) -> SelectRequest:
        """The frame: labels, and details only if at least one option has something to say (rpc/R-16, rpc/R-17)."""
        said = [trim(o.description or "") if isinstance(o, Option) else "" for o in self.options]
        return SelectRequest(
            id=dialog_id,
            title=self.title,
            options=tuple(o.label if isinstance(o, Option) else o for o in self.options),
            option_details=tuple(OptionDetail(description=text or UNSET) for text in said) if any(said) else UNSET,
            timeout=self.timeout_ms,
        )


class Confirm(Struct, frozen=True, kw_only=True):
    """Yes or no."""

    kind: ClassVar[DialogKind] = DialogKind.CONFIRM
    title: str
    message: str
    timeout_ms: int | UnsetType = UNSET

    def request(self, dialog_id: str) -> ConfirmRequest:
        return ConfirmRequest(id=dialog_id, title=self.title, message=self.message, timeout=self.timeout_ms)


class Input(Struct, frozen=True, kw_only=True):
    """One line of text."""

    kind: ClassVar[DialogKind] = DialogKind.INPUT
    title: str
    placeholder: str | UnsetType = UNSET
    timeout_ms: int | UnsetType = UNSET

    def request(self, dialog_id: str) -> InputRequest:
        return InputRequest(id=dialog_id, title=self.title, placeholder=self.placeholder, timeout=self.timeout_ms)


class Editor(Struct, frozen=True, kw_only=True):
    """A longer text. A caller may give a timeout, as to any dialog; nothing comes of it (rpc/R-36)."""

    kind: ClassVar[DialogKind] = DialogKind.EDITOR
    title: str
    prefill: str | UnsetType = UNSET
    prompt_style: bool | UnsetType = UNSET
    timeout_ms: int | UnsetType = UNSET

    def request(self, dialog_id: str) -> EditorRequest:
        return EditorRequest(id=dialog_id, title=self.title, prefill=self.prefill, prompt_style=self.prompt_style)


Dialog: TypeAlias = Select | Confirm | Input | Editor


def no_answer(dialog: Dialog) -> bool | UnsetType:
    """What a dialog resolves to when nobody answered: false for a confirm, nothing for the others (rpc/R-31)."""
    return False if isinstance(dialog, Confirm) else UNSET


class Answer(Struct, frozen=True, kw_only=True):
    """What one reply means to one dialog."""

    value: Any  # UNSET: nothing. Unchecked: a host may send any JSON (rpc/R-18, rpc/R-28, rpc/R-32)
    cancelled: bool = False
    timed_out: bool = False  # the host's own timer ended it, and the caller is to hear of that (rpc/R-29)


def read_reply(dialog: Dialog, frame: Mapping[str, Any]) -> Answer:
    """How `dialog` takes a reply. `cancelled` beats any value (rpc/R-25); a missing value is no answer.

    The value is delivered as it came, also where it was never offered (rpc/R-18), or is no string or no boolean
    (rpc/R-28, rpc/R-32): that is what was recorded (rpc-0003, rpc-0028). Whoever acts on it compares it with what
    would permit, never with what would refuse.
    """
    if truthy(frame.get("cancelled")):  # false does not count (rpc/R-27)
        timed_out = truthy(frame.get("timedOut")) and not isinstance(dialog, Editor)  # rpc/R-29
        return Answer(value=no_answer(dialog), cancelled=True, timed_out=timed_out)
    key = "confirmed" if isinstance(dialog, Confirm) else "value"  # rpc/R-30
    return Answer(value=frame.get(key, no_answer(dialog)))  # rpc/R-26, and of a confirm rpc/R-31
