"""Repairs: the mistakes of a model that validation mends before it looks for faults.

Above `schema`, below `arguments`. Only what was recorded of the real program (its validator mends more,
dispatch/D-38): text that is a number where a number is wanted, a value where text is wanted, null for an optional
property, and a property that the schema forbids. A repair makes a new value; the original is left as it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from labsim.dispatch.schema import is_of_type, types_of
from labsim.js_values import stringify, text_of, trim

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
