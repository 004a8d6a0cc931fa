"""The `write` tool: its gate in front, its routes behind.

Above everything in `dispatch`, below the scenarios. What is written to an ordinary path stays in memory.
"""

from __future__ import annotations

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
from labsim.dispatch.devices import DeviceState, required_state
from labsim.dispatch.dispatch import dispatch
from labsim.dispatch.docs import listing
from labsim.dispatch.events import AddressRead, FileWritten, GateDeclared, Target
from labsim.dispatch.files import FOLDER, MemoryFiles, file_tag
from labsim.dispatch.gate import declaration
from labsim.dispatch.reports import ToolReport, report_device
from labsim.dispatch.resolution import Staged, resolve_device
from labsim.errors import AbortError, HostError, ToolError
from labsim.events import Ledger
from labsim.stage.stage import AbortSignal
from labsim.tool import Tool, ToolCall, ToolResult, text_content

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
    """The tool itself, ready for its approval gate. `session` may change between calls."""

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
    """Route one call, dispatch/route-1 to dispatch/route-5. Raises: HostError, for whatever is no error result."""
    path, content = _parameters(call.input)
    address = parse_address(path)
    if session.device_only and address is None:
        raise ToolError(DEVICES_ONLY)
    signal: AbortSignal | None = call.signal
    if signal is not None and signal.aborted:
        raise AbortError(ABORTED)
    cleaned = without_anchors(content)

    mistyped = near_miss(path)
    if mistyped is not None:
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
    (wrapper/W-17).
    """
    fields: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
    for name in ("path", "content"):
        if not isinstance(fields.get(name), str):
            raise ToolError(f"`write` needs a text `{name}`, and this call has none. Nothing was written.")
    return unwrap_header(fields["path"]), fields["content"]


async def _route_address(
    session: WriteSession, call: ToolCall, path: str, address: Address | None, content: str
) -> ToolResult:
    if address is None:
        _note(session, call, path, Target.INVALID)
        raise HostError(f"Invalid xd:// URL: {path}. Use xd://<tool>.")
    special = address.special
    if special is not None:  # before anything is asked of the session's devices (dispatch/D-14)
        _note(session, call, path, Target.SPECIAL, address.device)
        if special is SpecialDevice.REPORT_ISSUE:
            return report_device(session.ledger, session.keep_report, content, call.call_id)
        return resolve_device(session.ledger, session.staged, special, content, call.call_id)
    if address.device is None:
        _note(session, call, path, Target.ROOT)
        state = required_state(session.devices)
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
