"""Arguments of a device: content in, validated arguments out, or the refusal that dispatch/D-30 to dispatch/D-34
name.

Above `content`, `schema`, `repairs` and `docs`, below `dispatching`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from labsim.dispatch.addresses import address_of
from labsim.dispatch.content import NotJson, json_kind, parse_json
from labsim.dispatch.docs import docs
from labsim.dispatch.repairs import Repair, repaired
from labsim.dispatch.schema import Issue, declares, issues
from labsim.errors import ToolError
from labsim.js_values import own_keys, stringify
from labsim.tool import Tool

INTENT = "i"  # models say why they call a tool in a field of this name, which most tools do not have


class Arguments(Struct, frozen=True):
    """What the tool will be given, and what was mended on the way. Without repairs, `values` are what came."""

    values: Any
    repairs: tuple[Repair, ...] = ()


class InvalidArguments(ToolError):
    """The tool's schema does not take these arguments. The message is the validator's (dispatch/D-37)."""


class ContentRefused(ToolError):
    """The content is no arguments for this device. Attribute: `rule`, the id of the rule that says so."""

    def __init__(self, rule: str, message: str) -> None:
        self.rule = rule
        super().__init__(message)


def read_arguments(tool: Tool, content: str) -> Arguments:
    """The arguments that `content` holds for `tool`. Raises: ContentRefused; nothing was executed then."""
    address = address_of(tool.name)
    try:
        parsed = parse_json(content)
    except NotJson as error:
        text = f"{address} expects a JSON args object as content ({error}). Write `?` for docs."
        raise ContentRefused("dispatch/D-30", text) from None
    if not isinstance(parsed, dict):
        kind = json_kind(parsed)
        rule = {"array": "dispatch/D-31", "object": "dispatch/D-32"}.get(kind, "dispatch/D-33")
        raise ContentRefused(rule, f"{address} content must be a JSON object, got {kind}.")
    if INTENT in parsed and not declares(tool.parameters or {}, INTENT):
        del parsed[INTENT]  # dispatch/D-36: the executor never sees it
    try:
        return validated(tool, parsed)
    except InvalidArguments as error:
        raise ContentRefused("dispatch/D-34", f"Invalid args for {address}: {error}\n\n{docs(tool)}") from None


def validated(tool: Tool, args: Any) -> Arguments:
    """`args` as the tool's schema takes them, mended where that is enough (dispatch/D-38). Raises:
    InvalidArguments.
    """
    schema = tool.parameters or {}
    values, repairs = repaired(schema, args)
    found = list(issues(schema, values))
    if found:
        raise InvalidArguments(validation_report(tool.name, found, args, values if repairs else None))
    return Arguments(values, repairs)


def validation_report(name: str, found: Sequence[Issue], given: Any, mended: Any = None) -> str:
    """The validator's message (dispatch/D-37). Where something was mended, it shows both versions."""
    shown = given if mended is None else {"original": given, "normalized": mended}
    lines = [
        f'Validation failed for tool "{name}":',
        *(f"  - {issue.path or 'root'}: {issue.problem}" for issue in found),
        "",
        "Received arguments:",
        pretty(shown),
    ]
    return "\n".join(lines)


def pretty(value: Any, indent: str = "") -> str:
    """JSON over several lines, two blanks a level, spelled as the host spells it."""
    inner = indent + "  "
    if isinstance(value, Mapping) and value:
        parts = [f"{inner}{stringify(key)}: {pretty(value[key], inner)}" for key in own_keys(value)]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"{inner}{pretty(item, inner)}" for item in value) + f"\n{indent}]"
    return stringify(value)
