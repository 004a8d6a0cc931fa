"""A device's schema: the part of JSON Schema that devices use, checked itself before anything is checked by it.

A wrong schema is refused when the device is made, with the place in it; so validation can rely on its shape. What
is wrong with a value is told in the host's words, of which only those that were recorded are contractual
(dispatch/D-37).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from labsim.errors import LabsimError
from labsim.js_values import same, stringify

TYPES: Final = ("string", "number", "integer", "boolean", "null", "array", "object")
_ANNOTATIONS: Final = frozenset({"$schema", "$id", "title", "description", "default", "examples"})
_COMPOSED: Final = ("anyOf", "oneOf", "allOf")
_LIMITS: Final = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_DEEPEST: Final = 50  # levels of a schema in a schema


class SchemaError(LabsimError):
    """A device's schema is itself wrong. Attributes: `path` in the schema, `found`, `remedy`."""

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        self.path = path
        self.found = problem
        self.remedy = remedy
        super().__init__(f"{path or 'the schema'}: {problem}. {remedy}")


class Issue(Struct, frozen=True):
    """One thing wrong with a value: where in it, and what."""

    path: str
    problem: str


# ------------------------------------------------------------------------------------- the schema itself


def check_schema(schema: object, path: str = "", depth: int = 0) -> None:
    """Raises: SchemaError, for anything that this module does not understand."""
    if depth > _DEEPEST:
        raise SchemaError(path, "the schema is nested too deeply", f"Keep it under {_DEEPEST} levels.")
    if not isinstance(schema, Mapping):
        raise SchemaError(path, f"{stringify(schema)} is not a schema", "Use a JSON object.")
    for key, value in schema.items():
        at = _join(path, str(key))
        if key in _ANNOTATIONS:
            continue
        if key in _COMPOSED:
            _require(isinstance(value, list) and bool(value), at, value, "a list of schemas, not an empty one")
            for number, branch in enumerate(value):
                check_schema(branch, f"{at}[{number}]", depth + 1)
        elif key == "type":
            for word in value if isinstance(value, list) and value else [value]:
                _require(isinstance(word, str) and word in TYPES, at, word, f"one of: {', '.join(TYPES)}")
        elif key == "enum":
            _require(isinstance(value, list) and bool(value), at, value, "a list of values, not an empty one")
        elif key == "properties":
            _require(isinstance(value, Mapping), at, value, "an object of schemas")
            for name, inner in value.items():
                check_schema(inner, _join(at, str(name)), depth + 1)
        elif key == "required":
            names = isinstance(value, list) and all(isinstance(name, str) for name in value)
            _require(names, at, value, "a list of property names")
        elif key == "additionalProperties":
            if not isinstance(value, bool):
                check_schema(value, at, depth + 1)
        elif key == "items":
            check_schema(value, at, depth + 1)
        elif key in _LIMITS:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            _require(number, at, value, "a number")
        elif key != "const":
            raise SchemaError(at, f"the keyword {key!r} is not known here", f"Known: {', '.join(sorted(_KNOWN))}.")


_KNOWN: Final = frozenset(
    {*_COMPOSED, *_LIMITS, "type", "enum", "const", "properties", "required", "additionalProperties", "items"}
)


def _require(holds: bool, path: str, value: object, wanted: str) -> None:
    if not holds:
        raise SchemaError(path, f"{stringify(value)} is not allowed here", f"Use {wanted}.")


def declares(schema: Mapping[str, Any], name: str) -> bool:
    """Whether the schema has a property of that name, by whatever way it says so (dispatch/D-36)."""
    if name in schema.get("properties", {}) or name in schema.get("required", ()):
        return True
    return any(declares(branch, name) for key in _COMPOSED for branch in schema.get(key, ()))


def types_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that the schema names; empty where it names none, and so allows any."""
    named = schema.get("type", ())
    return (named,) if isinstance(named, str) else tuple(named)


# ----------------------------------------------------------------------------------------------- a value


def is_of_type(value: object, name: str) -> bool:
    """Whether `value` is of that type. A boolean is no number (dispatch/D-41); 3.0 is an integer."""
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, int | float):
        return name == "number" or (name == "integer" and (isinstance(value, int) or value.is_integer()))
    return name == type_name(value)


def type_name(value: object) -> str:
    """The JSON type of a value, as messages name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"


def issues(schema: Mapping[str, Any], value: Any, path: str = "") -> Iterator[Issue]:
    """What is wrong with `value`, in the schema's order. A value of the wrong type has no further faults."""
    types = types_of(schema)
    if types and not any(is_of_type(value, name) for name in types):
        yield Issue(path, f"expected {' or '.join(types)}, received {type_name(value)}")
        return
    if "enum" in schema and not any(same(value, word) for word in schema["enum"]):
        yield Issue(path, "must be one of the allowed enum values")
    if "const" in schema and not same(value, schema["const"]):
        yield Issue(path, f"must be {stringify(schema['const'])}")
    yield from _limit_issues(schema, value, path)
    if isinstance(value, Mapping):
        yield from _property_issues(schema, value, path)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from issues(schema["items"], item, f"{path}[{number}]")
    for branch in schema.get("allOf", ()):
        yield from issues(branch, value, path)
    if "anyOf" in schema and not any(fits(branch, value) for branch in schema["anyOf"]):
        yield Issue(path, "fits none of the alternatives")
    if "oneOf" in schema and sum(fits(branch, value) for branch in schema["oneOf"]) != 1:
        yield Issue(path, "must fit exactly one of the alternatives")


def fits(schema: Mapping[str, Any], value: Any) -> bool:
    return next(issues(schema, value), None) is None


def _property_issues(schema: Mapping[str, Any], value: Mapping[str, Any], path: str) -> Iterator[Issue]:
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield Issue(_join(path, name), "is required")
    extra = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in properties:
            yield from issues(properties[name], item, _join(path, name))
        elif extra is False:
            yield Issue(_join(path, name), "is not a property of this schema")
        elif isinstance(extra, Mapping):
            yield from issues(extra, item, _join(path, name))


def _limit_issues(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[Issue]:
    size, floor, ceiling, what = _measure(value)
    if size is None:
        return
    if floor in schema and size < schema[floor]:
        yield Issue(path, f"must {what} at least {stringify(schema[floor])}")
    if ceiling in schema and size > schema[ceiling]:
        yield Issue(path, f"must {what} at most {stringify(schema[ceiling])}")


def _measure(value: Any) -> tuple[int | float | None, str, str, str]:
    """What of a value the limits count, the two limits, and how a message puts it."""
    if isinstance(value, str):
        return len(value), "minLength", "maxLength", "have a length of"
    if isinstance(value, list):
        return len(value), "minItems", "maxItems", "have a number of items of"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value, "minimum", "maximum", "be"
    return None, "", "", ""


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
