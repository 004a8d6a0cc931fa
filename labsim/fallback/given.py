"""The `given` of a fallback case, read strictly into records.

Whatever the vocabulary does not know is refused with its place; nothing is guessed. An error in a case becomes an
exception object here, so that its identity can be followed through a run. Reading the same `given` twice therefore
yields different objects.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from msgspec import UNSET, Struct

from labsim.errors import CaseError, ThrownValue
from labsim.fallback.classify import ErrorKind, SimulatedError
from labsim.fallback.events import Seam
from labsim.fallback.layouts import Target
from labsim.js_values import text_of

#: The `kind` of a thrown object that is not an error; it takes any other key.
PLAIN: Final = "plain"
DEFAULT_CONTENT: Final = "note"

_ERROR_KEYS: Final = ("kind", "code", "message", "name", "cause")
_FALLBACK_KEYS: Final = ("op", "target", "error", "errors", "handlers", "sessionId", "content")

E = TypeVar("E", bound=StrEnum)


class Answers(Struct, frozen=True):
    """A scripted handler that returns `value`, any JSON value."""

    value: Any


class Raises(Struct, frozen=True):
    """A scripted handler that raises an error object with this message."""

    message: str


class FallbackScene(Struct, frozen=True, kw_only=True):
    """A decoded case: what the primitive does, where, and who is registered."""

    op: Seam
    target: Target
    errors: tuple[Exception | None, ...]  # one for each attempt, the last repeats; None: the attempt succeeds
    handlers: tuple[Answers | Raises, ...] | None  # None: the case does not mention handlers
    session_id: str | None
    content: str


def decode_classified(given: Mapping[str, Any]) -> object:
    """The value that a `classify-error` case asks about: an exception object, or a value that is none.

    Raises: CaseError.
    """
    if "value" not in given:
        return _error(given, "given")
    _known_keys(given, ("value",), "given")
    value = given["value"]
    return _error(value, "given.value") if isinstance(value, Mapping) else value


def decode_fallback(given: Mapping[str, Any]) -> FallbackScene:
    """Read a `fallback` case. One that holds only an error (`code`, `message`) is a write failing with it.

    Raises: CaseError.
    """
    if given and given.keys() <= set(_ERROR_KEYS):
        given = {"error": given}
    _known_keys(given, _FALLBACK_KEYS, "given")
    return FallbackScene(
        op=_member(Seam, given.get("op", Seam.WRITE), "given.op"),
        target=_member(Target, given["target"], "given.target") if "target" in given else Target.FILE,
        errors=_errors(given),
        handlers=_handlers(given["handlers"]) if "handlers" in given else None,
        session_id=_text(given["sessionId"], "given.sessionId") if "sessionId" in given else None,
        content=_text(given.get("content", DEFAULT_CONTENT), "given.content"),
    )


def _errors(given: Mapping[str, Any]) -> tuple[Exception | None, ...]:
    if ("error" in given) == ("errors" in given):
        found = "both error and errors are here" if "error" in given else "neither error nor errors is here"
        raise CaseError("given", found, "Say once what the primitive raises: error, or errors for each attempt.")
    if "error" in given:
        return (_primitive_error(given["error"], "given.error"),)
    errors = given["errors"]
    if not isinstance(errors, list) or not errors:
        raise CaseError(
            "given.errors", f"{_shown(errors)} is not allowed here", "Use a list of at least one error or null."
        )
    return tuple(_primitive_error(each, f"given.errors[{i}]") for i, each in enumerate(errors))


def _primitive_error(value: object, place: str) -> Exception | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise CaseError(place, f"{_shown(value)} is not an error", "Use an object with code and message, or null.")
    return _error(value, place)


def _error(spec: Mapping[str, Any], place: str) -> Exception:
    if spec.get("kind") == PLAIN:
        thrown = {key: value for key, value in spec.items() if key != "kind"}
        return ThrownValue(thrown, text_of(thrown.get("message", thrown)))
    _known_keys(spec, _ERROR_KEYS, place)
    kinds = [*ErrorKind, PLAIN]
    kind = spec.get("kind", ErrorKind.ERROR)
    if kind not in kinds:
        raise _not_one_of(kinds, kind, f"{place}.kind")
    if "name" in spec:
        _text(spec["name"], f"{place}.name")  # a name can be given, to show that no rule reads it
    message = _text(spec.get("message", ""), f"{place}.message")
    error = SimulatedError(message, spec.get("code", UNSET), ErrorKind(kind))
    cause = spec.get("cause")
    if isinstance(cause, Mapping):
        error.__cause__ = _error(cause, f"{place}.cause")
    elif cause is not None:
        error.__cause__ = ThrownValue(cause, text_of(cause))
    return error


def _handlers(value: object) -> tuple[Answers | Raises, ...]:
    if not isinstance(value, list):
        raise CaseError(
            "given.handlers", f"{_shown(value)} is not a list", "List what each handler returns, in order."
        )
    return tuple(_handler(each, f"given.handlers[{i}]") for i, each in enumerate(value))


def _handler(value: object, place: str) -> Answers | Raises:
    if not isinstance(value, Mapping):
        return Answers(value)
    if value.keys() != {"throw"}:
        raise CaseError(
            place,
            f"an object with the keys {', '.join(sorted(value)) or '(none)'} is no handler",
            'Use the value it returns, or {"throw": MESSAGE}.',
        )
    return Raises(_text(value["throw"], f"{place}.throw"))


def _member(kind: type[E], value: object, place: str) -> E:
    if not isinstance(value, str) or value not in list(kind):
        raise _not_one_of(list(kind), value, place)
    return kind(value)


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise CaseError(place, f"{_shown(value)} is not text", "Use a string.")
    return value


def _known_keys(mapping: Mapping[str, Any], allowed: Collection[str], place: str) -> None:
    for key in mapping:
        if key not in allowed:
            raise CaseError(f"{place}.{key}", "this key is not known here", f"Use one of: {', '.join(allowed)}.")


def _not_one_of(allowed: Collection[str], value: object, place: str) -> CaseError:
    return CaseError(place, f"{_shown(value)} is not allowed here", f"Use one of: {', '.join(allowed)}.")


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else text_of(value)
