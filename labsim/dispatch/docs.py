"""Documentation of devices: the listing, one device's docs, and its schema as a type.

Above `schema`, `addresses` and `devices`; below `arguments`, whose refusals carry the docs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from labsim.dispatch.addresses import XD, SpecialDevice, address_of
from labsim.dispatch.devices import Device, DeviceState, required_device, required_state
from labsim.dispatch.schema import types_of
from labsim.js_values import BLANKS, own_keys, stringify, trim
from labsim.tool import Tool

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
