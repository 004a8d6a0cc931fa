"""What a parsed frame from the host is: a control frame, a command, or no frame at all.

Sorting looks at `type` and `id`, hardly further: what a reply says is read where the dialog is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct

from labsim.js_values import text_of
from labsim.rpc.frames import Response


class HostFrame(StrEnum):
    """Control frames that answer something other than a dialog."""

    TOOL_RESULT = "host_tool_result"
    TOOL_UPDATE = "host_tool_update"
    URI_RESULT = "host_uri_result"


class DialogReply(Struct, frozen=True, kw_only=True):
    """A control frame for the broker. `frame` is the whole object; no field but the id was looked at (rpc/R-11)."""

    id: str
    frame: Mapping[str, Any]


class HostReply(Struct, frozen=True, kw_only=True):
    """A control frame for the host's tools or addresses."""

    kind: HostFrame
    id: str
    frame: Mapping[str, Any]


class Command(Struct, frozen=True, kw_only=True):
    """Any other object: run after the commands before it, and answered with its id (rpc/R-12).

    `type` and `id` are whatever was sent, `UNSET` if nothing was.
    """

    type: Any = UNSET
    id: Any = UNSET
    frame: Mapping[str, Any]

    def unknown(self) -> Response:
        """The answer to a command that does not exist; it has no id (rpc/R-13)."""
        return Response(command=self.type, success=False, error=f"Unknown command: {text_of(self.type)}")

    def failed(self, message: str) -> Response:
        """The answer to a command that raised `message` (rpc/R-15)."""
        return Response(id=self.id, command=self.type, success=False, error=message)


class ParseFailure(Struct, frozen=True, kw_only=True):
    """A line that holds no object: not JSON at all (rpc/R-2), or JSON of another kind (rpc/R-14)."""

    reason: str

    def response(self) -> Response:
        """The one frame that answers it; reading goes on."""
        return Response(command="parse", success=False, error=f"Failed to parse command: {self.reason}")


Incoming: TypeAlias = DialogReply | HostReply | Command | ParseFailure


def sort_frame(value: object) -> Incoming:
    """What one parsed frame is (rpc/R-10 to rpc/R-14). Control frames overtake commands; the caller sees to that.

    The real program sends null the way of rpc/R-2 and numbers, texts and lists the way of rpc/R-13. Here every
    value that is no object goes the way of rpc/R-2, as rpc/R-14 proposes: none of them is consumed either way.
    """
    if not isinstance(value, Mapping):
        found = _KIND_OF_JSON.get(type(value), type(value).__name__)
        return ParseFailure(reason=f"a frame is a JSON object, not {found}")
    kind, frame_id = value.get("type", UNSET), value.get("id", UNSET)
    if isinstance(frame_id, str):  # without one it is no control frame (rpc/R-11)
        if kind == "extension_ui_response":
            return DialogReply(id=frame_id, frame=value)
        host = _HOST_FRAMES.get(kind) if isinstance(kind, str) else None
        if host is not None and _carries_its_result(host, value):
            return HostReply(kind=host, id=frame_id, frame=value)
    return Command(type=kind, id=frame_id, frame=value)


_KIND_OF_JSON: Final[Mapping[type, str]] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
}
_HOST_FRAMES: Final[Mapping[str, HostFrame]] = {member.value: member for member in HostFrame}


def _carries_its_result(kind: HostFrame, frame: Mapping[str, Any]) -> bool:
    """The two tool frames count as control frames only with a result whose `content` is a list."""
    match kind:
        case HostFrame.TOOL_RESULT:
            result = frame.get("result")
        case HostFrame.TOOL_UPDATE:
            result = frame.get("partialResult")
        case HostFrame.URI_RESULT:
            return True
    return isinstance(result, Mapping) and isinstance(result.get("content"), list)
