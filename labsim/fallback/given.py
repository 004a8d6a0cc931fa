"""What a fallback case is given, made into objects whose identity can be followed through a run.

The case was read and checked before. Each play makes objects of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from labsim.case.fallback import PLAIN, ClassifyGiven, FallbackGiven
from labsim.errors import ThrownValue
from labsim.fallback.classify import SimulatedError
from labsim.js_values import text_of
from labsim.terms import ErrorKind


class Answers(Struct, frozen=True):
    """A scripted handler that returns `value`, any JSON value."""

    value: Any


class Raises(Struct, frozen=True):
    """A scripted handler that raises an error object with this message."""

    message: str


def classified(given: ClassifyGiven) -> object:
    """The value that a `classify-error` case asks about: an exception object, or a value that is none."""
    if given.value is not UNSET:
        return _error(given.value) if isinstance(given.value, Mapping) else given.value
    parts = {"kind": given.kind, "code": given.code, "message": given.message}
    return _error({key: value for key, value in parts.items() if value is not UNSET})


def raised(given: FallbackGiven) -> tuple[Exception | None, ...]:
    """What the primitive raises, one for each attempt, the last repeats; None: the attempt succeeds."""
    return tuple(None if each is None else _error(each) for each in given.attempts)


def registered(given: FallbackGiven) -> tuple[Answers | Raises, ...] | None:
    """The handlers, in order; None: the case does not mention handlers."""
    if given.handlers is UNSET:
        return None
    return tuple(Raises(each["throw"]) if isinstance(each, Mapping) else Answers(each) for each in given.handlers)


def _error(spec: Mapping[str, Any]) -> Exception:
    if spec.get("kind") == PLAIN:
        thrown = {key: value for key, value in spec.items() if key != "kind"}
        return ThrownValue(thrown, text_of(thrown.get("message", thrown)))
    kind = ErrorKind(spec.get("kind", ErrorKind.ERROR))
    error = SimulatedError(spec.get("message", ""), spec.get("code", UNSET), kind)
    cause = spec.get("cause")
    if isinstance(cause, Mapping):
        error.__cause__ = _error(cause)
    elif cause is not None:
        error.__cause__ = ThrownValue(cause, text_of(cause))
    return error
