"""The `write` tool: its gate in front, its routes behind.

What is written to an ordinary path stays in memory.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from labsim.approval import write_details
from labsim.dispatch.addresses import (
    Address,
    SpecialDevice,
    is_routed,
    near_miss,
    parse_address,
    scheme_of,
    unwrap_header,
)
from labsim.dispatch.content import without_anchors
from labsim.dispatch.devices import DeviceState, listing, required_state
from labsim.dispatch.dispatch import dispatch
from labsim.dispatch.events import AddressRead, FileWritten, GateDeclared, Target
from labsim.dispatch.gate import declaration
from labsim.dispatch.resolution import Staged, ToolReport, report_device, resolve_device
from labsim.errors import AbortError, HostError, ToolError
from labsim.events.ledger import Ledger
from labsim.stage.stage import AbortSignal
from labsim.tool import Tool, ToolCall, ToolResult, text_content

FOLDER: Final = "<tmp>/cwd"  # the recordings' name for the folder that the real program wrote into
_M: Final = 0xFFFFFFFF
_P1, _P2, _P3, _P4, _P5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1


class MemoryFiles:
    """The files of one session: path relative to its folder, and content, in the order first written."""

    def __init__(self) -> None:
        self.content: dict[str, str] = {}

    def write(self, path: str, content: str) -> str:
        """Keep `content` under `path`. Returns: the path as messages show it. Raises: ToolError for no path."""
        shown = _relative(path)
        self.content[shown] = content
        return shown


def _relative(path: str) -> str:
    control = next((character for character in path if ord(character) < 32 or ord(character) == 127), None)
    if control is not None:
        raise ToolError(f"The path holds the control character U+{ord(control):04X}, so no file is written.")
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise ToolError("The path holds half of a surrogate pair, so no file is written.")
    shown = posixpath.normpath(path)
    if not path or shown == ".":
        raise ToolError("The path names no file, so none is written. Name one, such as card.txt.")
    if shown.startswith(("/", "../")) or shown == "..":
        raise ToolError(f"{path} is outside the folder of this case, so no file is written there.")
    return shown


def file_tag(content: str) -> str:
    """The four hexadecimal digits that a listing shows for `content`: the low half of its xxHash32."""
    text = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return f"{xxhash32(text.encode(errors='replace')) & 0xFFFF:04X}"


def xxhash32(data: bytes) -> int:
    """The xxHash32 of `data`, seed 0."""
    size, at = len(data), 0
    if size >= 16:
        lanes = [(_P1 + _P2) & _M, _P2, 0, -_P1 & _M]
        while at <= size - 16:
            for lane in range(4):
                word = int.from_bytes(data[at : at + 4], "little")
                lanes[lane] = _rotated(lanes[lane] + word * _P2, 13) * _P1 & _M
                at += 4
        value = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
    else:
        value = _P5
    value = (value + size) & _M
    while at <= size - 4:
        value = _rotated(value + int.from_bytes(data[at : at + 4], "little") * _P3, 17) * _P4 & _M
        at += 4
    for byte in data[at:]:
        value = _rotated(value + byte * _P5, 11) * _P1 & _M
    value = (value ^ value >> 15) * _P2 & _M
    value = (value ^ value >> 13) * _P3 & _M
    return value ^ value >> 16


def _rotated(value: int, by: int) -> int:
    value &= _M
    return (value << by | value >> 32 - by) & _M


NAME: Final = "write"
ABORTED: Final = "Aborted: The operation was aborted."
DEVICES_ONLY: Final = (
    "This `write` tool is limited to the xd:// device transport: call it with path `xd://<tool>` and the device's "
    "JSON arguments in `content` (`read xd://` lists mounted devices). Active plan mode additionally permits "
    "local:// sandbox drafts. Filesystem writes are not available elsewhere."
)
_ANCHORS_STRIPPED: Final = "\nNote: auto-stripped hashline display prefixes from content before writing."


class WriteSession(Struct, kw_only=True):
    """What one session's `write` works with.

    `devices` is None in a session without any (dispatch/D-25). `device_only` keeps `write` from ordinary files
    (dispatch/D-15). `keep_report` is None while reports are off (dispatch/D-49).
    """

    ledger: Ledger
    devices: DeviceState | None = None
    device_only: bool = False
    staged: Staged
    keep_report: Callable[[ToolReport], None] | None = None
    files: MemoryFiles


def write_tool(session: WriteSession, *, custom_wire_name: str | None = None) -> Tool:
    """The tool itself, ready for its approval gate. `session` may change between calls.

    What a person is asked about is the write, path and content, and nothing of the device (dispatch/D-12).
    """

    def approval(args: object) -> Any:
        declared = declaration(args, session.devices)
        session.ledger.append(
            GateDeclared(
                at_ms=session.ledger.clock.now_ms,
                tool_name=NAME,
                rule=declared.rule,
                tier=declared.tier,
                policy_key=declared.policy_key,
            )
        )
        return declared.wire

    async def execute(call: ToolCall) -> ToolResult:
        return await _route(session, call)

    return Tool(
        name=NAME,
        execute=execute,
        approval=approval,
        custom_wire_name=custom_wire_name,
        format_approval_details=write_details,
        label="Write",
    )


async def _route(session: WriteSession, call: ToolCall) -> ToolResult:
    """Route one call. Raises: HostError, for whatever is no error result."""
    path, content = _parameters(call.input)
    address = parse_address(path)
    if session.device_only and address is None:  # dispatch/D-15
        raise ToolError(DEVICES_ONLY)
    signal: AbortSignal | None = call.signal
    if signal is not None and signal.aborted:
        raise AbortError(ABORTED)
    cleaned = without_anchors(content)

    mistyped = near_miss(path)
    if mistyped is not None:  # dispatch/near-miss
        _note(session, call, path, Target.NEAR_MISS)
        raise ToolError(mistyped)
    # From here on a leading blank counts: the router does not trim, so such a path is a file (dispatch/D-5).
    scheme = scheme_of(path)
    if scheme == "xd":
        return await _route_address(session, call, path, address, cleaned)
    if is_routed(path):
        _note(session, call, path, Target.INTERNAL)
        raise ToolError(f"{scheme}:// names something of the host's own, and this simulator keeps nothing there.")
    return _write_file(session, call, path, cleaned, stripped=cleaned != content)


def _parameters(params: Any) -> tuple[str, str]:
    """Path and content. The loop checks them before a call; a handler that replaced them is not checked
    (wrapper/W-17). The path is unwrapped as the gate did it (dispatch/D-57).
    """
    fields: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
    for name in ("path", "content"):
        if not isinstance(fields.get(name), str):
            raise ToolError(f"`write` needs a text `{name}`, and this call has none. Nothing was written.")
    return unwrap_header(fields["path"]), fields["content"]


async def _route_address(
    session: WriteSession, call: ToolCall, path: str, address: Address | None, content: str
) -> ToolResult:
    """Route a call whose path has the scheme, dispatch/route-1 to dispatch/route-5."""
    if address is None:
        _note(session, call, path, Target.INVALID)
        raise HostError(f"Invalid xd:// URL: {path}. Use xd://<tool>.")  # dispatch/D-24
    special = address.special
    if special is not None:  # before anything is asked of the session's devices (dispatch/D-14)
        _note(session, call, path, Target.SPECIAL, address.device)
        if special is SpecialDevice.REPORT_ISSUE:  # dispatch/route-1
            return report_device(session.ledger, session.keep_report, content, call.call_id)
        return resolve_device(session.ledger, session.staged, special, content, call.call_id)  # dispatch/route-2
    if address.device is None:
        _note(session, call, path, Target.ROOT)
        state = required_state(session.devices)  # dispatch/route-3
        # dispatch/route-4; raised, like what the session lacks (dispatch/D-25)
        raise ToolError(f"Cannot write to xd:// itself — pick a device:\n{listing(state)}")
    _note(session, call, path, Target.DEVICE, address.device)
    return await dispatch(session.ledger, required_state(session.devices), address.device, content, call)


def _write_file(session: WriteSession, call: ToolCall, path: str, content: str, *, stripped: bool) -> ToolResult:
    _note(session, call, path, Target.FILE)
    shown = session.files.write(path, content)
    characters = len(content.encode("utf-16-le", errors="surrogatepass")) // 2  # as the host counts them
    session.ledger.append(
        FileWritten(at_ms=session.ledger.clock.now_ms, tool_call_id=call.call_id, path=shown, characters=characters)
    )
    text = f"[{shown}#{file_tag(content)}]\nSuccessfully wrote {characters} bytes to {shown}"
    return ToolResult(
        content=text_content(text + _ANCHORS_STRIPPED if stripped else text),
        details={"resolvedPath": f"{FOLDER}/{shown}"},
    )


def _note(session: WriteSession, call: ToolCall, path: str, target: Target, device: str | None = None) -> None:
    session.ledger.append(
        AddressRead(
            at_ms=session.ledger.clock.now_ms,
            tool_call_id=call.call_id,
            path=path,
            target=target,
            device=device,
        )
    )
