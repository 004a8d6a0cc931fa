"""Arguments of a device: content in, validated arguments out, or the refusal that dispatch/D-30 to dispatch/D-34
name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from labsim.dispatch.addresses import address_of
from labsim.dispatch.content import NotJson, json_kind, parse_json
from labsim.dispatch.devices import docs
from labsim.dispatch.schema import Issue, declares, is_of_type, issues, types_of
from labsim.errors import ToolError
from labsim.js_values import own_keys, stringify, text_of, trim
from labsim.tool import Tool

_NUMERIC: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_LONGEST_NUMBER: Final = 40  # characters; a longer one is no slip of the pen


class Repair(Struct, frozen=True):
    """One mended mistake: where in the arguments, and what was done."""

    path: str
    what: str


def repaired(schema: Mapping[str, Any], value: Any, path: str = "") -> tuple[Any, tuple[Repair, ...]]:
    """`value` as validation will see it, and each repair in the order made; the same object if there is none."""
    types = types_of(schema)
    if types and not any(is_of_type(value, name) for name in types):
        return _converted(types, value, path)
    if isinstance(value, Mapping):
        return _object(schema, value, path)
    if isinstance(value, list) and "items" in schema:
        return _list(schema["items"], value, path)
    return value, ()


def _converted(types: tuple[str, ...], value: Any, path: str) -> tuple[Any, tuple[Repair, ...]]:
    """A value of none of the types, made one of them where that is possible (dispatch/D-38)."""
    if isinstance(value, str):
        number = _number_in(value)
        if number is not None and any(is_of_type(number, name) for name in types):
            return number, (Repair(path, "text read as a number"),)
        return value, ()
    if "string" not in types or value is None:
        return value, ()
    if isinstance(value, Mapping | list):
        return stringify(value), (Repair(path, "turned into JSON text"),)
    return text_of(value), (Repair(path, "turned into text"),)


def _number_in(text: str) -> int | float | None:
    digits = trim(text)
    if len(digits) > _LONGEST_NUMBER or not _NUMERIC.fullmatch(digits):
        return None
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        return None
    return int(number) if number == int(number) else number


def _object(
    schema: Mapping[str, Any], value: Mapping[str, Any], path: str
) -> tuple[Mapping[str, Any], tuple[Repair, ...]]:
    """An object without the keys that are unknown, or null and optional (dispatch/D-38)."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    closed = schema.get("additionalProperties", True) is False
    made: dict[str, Any] = {}
    repairs: list[Repair] = []
    for name, item in value.items():
        at = f"{path}.{name}" if path else name
        if name not in properties:
            if closed:
                repairs.append(Repair(at, "dropped, since the schema forbids it"))
            else:
                made[name] = item
        elif item is None and name not in required:
            repairs.append(Repair(at, "dropped, since null stands for nothing"))
        else:
            made[name], inner = repaired(properties[name], item, at)
            repairs.extend(inner)
    return (made, tuple(repairs)) if repairs else (value, ())


def _list(items: Mapping[str, Any], value: list[Any], path: str) -> tuple[list[Any], tuple[Repair, ...]]:
    mended = [repaired(items, item, f"{path}[{number}]") for number, item in enumerate(value)]
    repairs = tuple(repair for _, made in mended for repair in made)
    return ([item for item, _ in mended], repairs) if repairs else (value, ())


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
        # The same words around whatever the parser says (dispatch/D-35, dispatch/D-40).
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


def validation_report(name: str, issues: Sequence[Issue], given: Any, mended: Any = None) -> str:
    """The validator's message (dispatch/D-37). Where something was mended, it shows both versions."""
    shown = given if mended is None else {"original": given, "normalized": mended}
    lines = [
        f'Validation failed for tool "{name}":',
        *(f"  - {issue.path or 'root'}: {issue.problem}" for issue in issues),
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
