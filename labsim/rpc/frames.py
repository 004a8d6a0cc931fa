"""The records of protocol 1: requests, replies, and the few other frames around them.

*Server* is the agent, which writes requests; *host* is the client, which writes replies. A field that holds
`UNSET` is left out of the JSON, never sent as null (rpc/R-4).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.js_values import trim

PROTOCOL_VERSION: Final = 1
MAX_FRAME_BYTES: Final = 1024 * 1024  # of one line, its newline included (rpc/R-7)
MAX_REASSEMBLED_FRAME_BYTES: Final = 64 * 1024 * 1024

# ------------------------------------------------------------------------------------ requests: server to host


class Request(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="extension_ui_request"):
    """What every request has: a fresh id. Requests differ by `method`, which names the call they stand for."""

    id: str


class OptionDetail(Struct, frozen=True, kw_only=True):
    """What goes with the label at the same index; an option without a description has an empty one (rpc/R-17)."""

    description: str | UnsetType = UNSET


class SelectRequest(Request, frozen=True, kw_only=True):
    """Choose one of `options`, which are labels and nothing else (rpc/R-16). `timeout` is in milliseconds
    (rpc/R-19).
    """

    method: Literal["select"] = "select"
    title: str
    options: tuple[str, ...]
    option_details: tuple[OptionDetail, ...] | UnsetType = UNSET
    timeout: int | UnsetType = UNSET


class ConfirmRequest(Request, frozen=True, kw_only=True):
    """Yes or no."""

    method: Literal["confirm"] = "confirm"
    title: str
    message: str
    timeout: int | UnsetType = UNSET


class InputRequest(Request, frozen=True, kw_only=True):
    """One line of text."""

    method: Literal["input"] = "input"
    title: str
    placeholder: str | UnsetType = UNSET
    timeout: int | UnsetType = UNSET


class EditorRequest(Request, frozen=True, kw_only=True):
    """A longer text. The only dialog without a `timeout` (rpc/R-36)."""

    method: Literal["editor"] = "editor"
    title: str
    prefill: str | UnsetType = UNSET
    prompt_style: bool | UnsetType = UNSET


class CancelRequest(Request, frozen=True, kw_only=True):
    """Close the dialog `target_id`; nobody answers this one (rpc/R-20)."""

    method: Literal["cancel"] = "cancel"
    target_id: str


class NotifyType(StrEnum):
    """How a notice is meant."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class WidgetPlacement(StrEnum):
    """Where a widget goes."""

    ABOVE_EDITOR = "aboveEditor"
    BELOW_EDITOR = "belowEditor"


class NotifyRequest(Request, frozen=True, kw_only=True):
    """Show a notice. Like every request below it carries an id, but nothing waits for an answer (rpc/R-22)."""

    method: Literal["notify"] = "notify"
    message: str
    notify_type: NotifyType | UnsetType = UNSET


class SetStatusRequest(Request, frozen=True, kw_only=True):
    """Set one status text; no text clears it."""

    method: Literal["setStatus"] = "setStatus"
    status_key: str
    status_text: str | UnsetType = UNSET


class SetWidgetRequest(Request, frozen=True, kw_only=True):
    """Show lines of text; no lines removes the widget."""

    method: Literal["setWidget"] = "setWidget"
    widget_key: str
    widget_lines: tuple[str, ...] | UnsetType = UNSET
    widget_placement: WidgetPlacement | UnsetType = UNSET


class SetEditorTextRequest(Request, frozen=True, kw_only=True):
    """Replace the host's composer text; a paste arrives as this too (rpc/R-23)."""

    method: Literal["set_editor_text"] = "set_editor_text"
    text: str


class SetTitleRequest(Request, frozen=True, kw_only=True):
    """Set the window title; sent only where `emits_titles` says so."""

    method: Literal["setTitle"] = "setTitle"
    title: str


class OpenUrlRequest(Request, frozen=True, kw_only=True):
    """Show an address to the person who logs in."""

    method: Literal["open_url"] = "open_url"
    url: str
    launch_url: str | UnsetType = UNSET
    instructions: str | UnsetType = UNSET


DialogRequest: TypeAlias = SelectRequest | ConfirmRequest | InputRequest | EditorRequest
UIRequest: TypeAlias = (
    DialogRequest
    | CancelRequest
    | NotifyRequest
    | SetStatusRequest
    | SetWidgetRequest
    | SetEditorTextRequest
    | SetTitleRequest
    | OpenUrlRequest
)

_BY_METHOD: Final[Mapping[str, type[UIRequest]]] = {
    "select": SelectRequest,
    "confirm": ConfirmRequest,
    "input": InputRequest,
    "editor": EditorRequest,
    "cancel": CancelRequest,
    "notify": NotifyRequest,
    "setStatus": SetStatusRequest,
    "setWidget": SetWidgetRequest,
    "set_editor_text": SetEditorTextRequest,
    "setTitle": SetTitleRequest,
    "open_url": OpenUrlRequest,
}


def read_request(frame: object) -> UIRequest | None:
    """A server's frame as a request record; None if it is none, or one of a method we do not know (rpc/R-53).

    Unknown fields are ignored. Raises: msgspec.ValidationError, with the path, for a known method whose fields
    are of the wrong kind.
    """
    if not isinstance(frame, Mapping) or frame.get("type") != "extension_ui_request":
        return None
    method = frame.get("method")
    record = _BY_METHOD.get(method) if isinstance(method, str) else None
    return None if record is None else msgspec.convert(frame, record)


def emits_titles(setting: str | None) -> bool:
    """Whether title frames are sent, given the value of PI_RPC_EMIT_TITLE (None: not set)."""
    return setting is not None and trim(setting).lower() in {"1", "true", "yes", "on"}


# ------------------------------------------------------------------------------------- replies: host to server


class Reply(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="extension_ui_response"):
    """What every reply has: the id of the request it answers."""

    id: str


class ValueReply(Reply, frozen=True, kw_only=True):
    """The answer to a select (the label, rpc/R-18), an input or an editor."""

    value: str


class ConfirmReply(Reply, frozen=True, kw_only=True):
    """The answer to a confirm."""

    confirmed: bool


class CancelReply(Reply, frozen=True, kw_only=True):
    """No answer: the person closed the dialog, or (`timed_out`) the host did after its time (rpc/R-51)."""

    cancelled: Literal[True] = True
    timed_out: bool | UnsetType = UNSET


UIReply: TypeAlias = ValueReply | ConfirmReply | CancelReply

# ----------------------------------------------------------------------------- the rest of what a server writes


class Ready(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="ready"):
    """The first frame a server writes (rpc/R-5). Ours offers only what it speaks, protocol 1 (rpc/R-9)."""

    protocol_version: int = PROTOCOL_VERSION
    supported_protocol_versions: tuple[int, ...] = (PROTOCOL_VERSION,)
    max_frame_bytes: int = MAX_FRAME_BYTES
    max_reassembled_frame_bytes: int = MAX_REASSEMBLED_FRAME_BYTES


class Response(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="response"):
    """The answer to a command. `id` and `command` echo what was sent; an unreadable command has no id."""

    id: Any = UNSET
    command: Any = UNSET
    success: bool
    data: Any = UNSET
    error: str | UnsetType = UNSET


class FrameError(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="rpc_frame_error"):
    """Stands for a frame that was too large however much was left out of it (rpc/R-7)."""

    original_type: str | UnsetType = UNSET
    error: str = "RPC frame exceeded the transport limit"


Frame: TypeAlias = UIRequest | UIReply | Ready | Response | FrameError


def to_wire(frame: Struct | Mapping[str, Any]) -> dict[str, Any]:
    """The frame as the JSON object it is on the wire: plain dicts and lists, nothing that is not there
    (rpc/R-4).
    """
    wire: dict[str, Any] = _plain(msgspec.to_builtins(frame))
    return wire


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not UNSET}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
