"""Devices: which tools an address can reach.

Mounting is presentation: it decides what the listing shows and how a tool is named, not what may run
(dispatch/D-17).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from labsim.call.wrapper import ToolWrapper
from labsim.dispatch.addresses import XD, SpecialDevice, address_of
from labsim.dispatch.schema import check_schema, types_of
from labsim.errors import ToolError
from labsim.js_values import BLANKS, own_keys, stringify, trim
from labsim.tool import Tool

#: They carry the transport itself, or the host needs them under their own name (dispatch/D-54).
NEVER_MOUNTED: Final = frozenset({"read", "write"})
KEPT_AT_TOP: Final = frozenset({"todo", "yield", "ask", "grep", "web_search"})


class Device(Struct, frozen=True, kw_only=True):
    """One tool of the session. `wrapper` is its approval gate; None where the session wraps it at each dispatch.

    Raises: SchemaError, if the tool's schema is itself wrong.
    """

    tool: Tool
    wrapper: ToolWrapper | None = None
    built_in: bool = False

    def __post_init__(self) -> None:
        if self.tool.parameters is not None:
            check_schema(self.tool.parameters)


class DeviceState(Struct, frozen=True, kw_only=True):
    """What one session can reach. `mounted` is in the order of mounting; `active` are the top-level names.

    `decorate` puts the approval gate around a tool that has none of its own yet (dispatch/step-5).
    """

    tools: Mapping[str, Device]
    mounted: tuple[str, ...] = ()
    active: frozenset[str] = frozenset()
    decorate: Callable[[Tool], ToolWrapper]

    def resolve(self, name: str) -> Device | None:
        """The device of exactly that name, if it is mounted or active, and there (dispatch/D-4, dispatch/D-17)."""
        if name in self.mounted or name in self.active:
            return self.tools.get(name)
        return None

    def gated(self, device: Device) -> ToolWrapper:
        """The device behind its own gate, put there now if need be (dispatch/step-5). There is no way to one
        without: a plain call gets this too (dispatch/D-55).
        """
        return device.wrapper if device.wrapper is not None else self.decorate(device.tool)


def mountable(name: str, *, discoverable: bool) -> bool:
    """Whether a tool of that name is shown as a device rather than at top level (dispatch/D-54)."""
    return discoverable and name not in NEVER_MOUNTED and name not in KEPT_AT_TOP


def required_device(state: DeviceState, name: str) -> Device:
    """As `DeviceState.resolve`. Raises: ToolError, for a name that reaches nothing (dispatch/D-23)."""
    device = state.resolve(name)
    if device is None:
        raise ToolError(
            f"No such tool: {address_of(name)}. Mounted devices: {', '.join(state.mounted)}. "
            f"Active top-level tools are also dispatchable via {XD}<tool>."
        )
    return device


def required_state(state: DeviceState | None) -> DeviceState:
    """The session's devices. Raises: ToolError, if the session has none at all (dispatch/D-25)."""
    if state is None:
        raise ToolError(f"{XD} is not mounted in this session.")
    return state


NAME_WIDTH: Final = 14
SUMMARY_BYTES: Final = 200  # of a device that is not built in: its words come from outside
_ELLIPSIS: Final = "…"
_CONTROLS: Final = re.compile("[\u0000-\u001f\u007f-\u009f\u2028\u2029]+")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_USAGE: Final = {
    SpecialDevice.RESOLVE: f"Write one sentence of reason to {XD}resolve to apply the staged preview.",
    SpecialDevice.REJECT: f"Write one sentence of reason to {XD}reject to discard the staged preview.",
    SpecialDevice.PROPOSE: f"Write the plan's title to {XD}propose to submit it for approval.",
    SpecialDevice.REPORT_ISSUE: f"Write '<tool>: <what went wrong>' to {XD}report_issue to report a tool's fault.",
}


def listing(state: DeviceState) -> str:
    """What a read of the root shows; a write to it repeats this in its error (dispatch/D-42)."""
    here = ((name, state.tools[name]) for name in state.mounted if name in state.tools)
    rows = (f"{XD}{name:<{NAME_WIDTH}} {summary(device)}" for name, device in here)
    return "\n".join(
        [
            f"{XD} {len(state.mounted)} mounted tool devices.",
            *rows,
            "",
            f"Read {XD}<tool> for docs + JSON schema; write the JSON args object to {XD}<tool> to execute. "
            "Active top-level tools accept the same dispatch.",
        ]
    )


def summary(device: Device) -> str:
    """One line on a device, at most 200 bytes of it where the device comes from outside (dispatch/D-43)."""
    tool = device.tool
    said = tool.summary or tool.description
    first = next((line for line in said.split("\n") if trim(line)), tool.label or tool.name)
    line = trim(_CONTROLS.sub(" ", first)) or tool.name
    return line if device.built_in else _bounded(line, SUMMARY_BYTES)


def _bounded(text: str, most: int) -> str:
    data = text.encode(errors="surrogatepass")
    if len(data) <= most:
        return text
    kept = data[: most - len(_ELLIPSIS.encode())].decode(errors="ignore")
    return kept.rstrip(BLANKS) + _ELLIPSIS


def docs(tool: Tool) -> str:
    """What help shows of a device (dispatch/D-44)."""
    return "\n".join(
        [
            f"# {tool.name} — {tool.label}" if tool.label else f"# {tool.name}",
            "",
            tool.description,
            "",
            "## Schema",
            "```ts",
            f"type Args = {type_text(tool.parameters or {})};",
            "```",
            f"Execute by writing JSON to {address_of(tool.name)}.",
        ]
    )


def read_device(state: DeviceState | None, name: str | None) -> str:
    """What a read of `xd://<name>` shows, or of the root where `name` is None (dispatch/D-46).

    Raises: ToolError, for a name that reaches nothing and for a session without devices.
    """
    special = next((device for device in SpecialDevice if device.value == name), None)
    if special is not None:
        return _USAGE[special]
    if name is None:
        return listing(required_state(state))
    return docs(required_device(required_state(state), name).tool)


def type_text(schema: Mapping[str, Any], indent: str = "") -> str:
    """A schema as the host's language writes a type (dispatch/D-45); `unknown` for what that type cannot say."""
    if "const" in schema:
        return stringify(schema["const"])
    if "enum" in schema:
        return " | ".join(stringify(word) for word in schema["enum"])
    for key, joint in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        if key in schema:
            return joint.join(type_text(branch, indent) for branch in schema[key])
    types = types_of(schema) or (("object",) if "properties" in schema else ())
    return " | ".join(_type_word(schema, name, indent) for name in types) or "unknown"


def _type_word(schema: Mapping[str, Any], name: str, indent: str) -> str:
    if name == "integer":
        return "number"
    if name == "array":
        item = type_text(schema.get("items", {}), indent)
        return f"({item})[]" if " | " in item or " & " in item else f"{item}[]"
    if name != "object":
        return name
    properties: Mapping[str, Any] = schema.get("properties", {})
    if not properties:
        return "Record<string, unknown>"
    required = schema.get("required", ())
    inner = indent + "  "
    lines = [
        f"{inner}{key if _IDENTIFIER.fullmatch(key) else stringify(key)}{'' if key in required else '?'}: "
        f"{type_text(properties[key], inner)};"
        for key in own_keys(properties)
    ]
    return "{\n" + "\n".join(lines) + f"\n{indent}}}"
