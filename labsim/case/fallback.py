"""What a `fallback` and a `classify-error` case are given: what the primitive raises, where, and who is registered.

Read and checked once. What is checked here cannot be said by a type: which keys go together, and the shape of an
error, since a thrown object of kind `plain` may have any key.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from labsim.case.given import CasePart
from labsim.errors import CaseError
from labsim.terms import ErrorKind, Seam

#: The `kind` of a thrown object that is not an error; it takes any other key.
PLAIN: Final = "plain"
#: A class of error object, or `plain`.
ErrorWord: TypeAlias = Literal["Error", "TypeError", "RangeError", "plain"]
ERROR_KEYS: Final = ("kind", "code", "message", "name", "cause")


class Target(StrEnum):
    """The file that is written or deleted, in the small tree that every case gets anew."""

    FILE = "file"
    ABSENT = "absent"
    VIA_LINKED_FOLDER = "via-linked-folder"
    VIA_LINKED_FOLDER_ABSENT = "via-linked-folder-absent"
    LINK_TO_FILE = "link-to-file"
    DANGLING = "dangling"
    LOOP = "loop"
    FOLDER = "folder"
    MISSING_PARENTS = "missing-parents"
    LOCKED_PARENTS = "locked-parents"
    FILE_AS_FOLDER = "file-as-folder"
    DOTS = "dots"


class ClassifyGiven(CasePart, frozen=True, kw_only=True):
    """An error to be classified, or `value`, which may be one: is it a permission denial?"""

    code: Any = UNSET
    message: str | UnsetType = UNSET
    kind: ErrorWord | UnsetType = UNSET
    value: Any = UNSET


class FallbackGiven(CasePart, frozen=True, kw_only=True):
    """A denied write or delete, and who might take it over.

    `errors` has one for each attempt, and the last repeats; null: the attempt succeeds. `error` is the only one;
    `code` and `message` alone are such an error, of a write. `handlers` are the values that they return, or
    {"throw": MESSAGE}; a case that does not mention them observes none.
    """

    code: Any = UNSET
    message: str | UnsetType = UNSET
    op: Seam = Seam.WRITE
    target: Target = Target.FILE
    error: dict[str, Any] | UnsetType | None = UNSET
    errors: list[dict[str, Any] | None] | UnsetType = UNSET
    handlers: list[Any] | UnsetType = UNSET
    content: str = "note"
    session_id: str | UnsetType = UNSET

    @property
    def alone(self) -> dict[str, Any]:
        """The error that is given by its code and message alone; empty where it is not."""
        parts = {"code": self.code, "message": self.message}
        return {key: value for key, value in parts.items() if value is not UNSET}

    @property
    def attempts(self) -> tuple[dict[str, Any] | None, ...]:
        """What each attempt raises, as it is written; None: nothing."""
        if self.errors is not UNSET:
            return tuple(self.errors)
        return (self.alone if self.error is UNSET else self.error,)


def check_classify(given: ClassifyGiven, place: str) -> None:
    """Raises: CaseError."""
    if given.value is UNSET:
        return
    for key in ("code", "message", "kind"):
        if getattr(given, key) is not UNSET:
            raise CaseError(
                f"{place}.given.{key}", "the value has it already", 'Put it into "value", or remove it.'
            )
    if isinstance(given.value, Mapping):
        _check_error(given.value, f"{place}.given.value")


def check_fallback(given: FallbackGiven, place: str) -> None:
    """Raises: CaseError."""
    place = f"{place}.given"
    said = [name for name in ("error", "errors") if getattr(given, name) is not UNSET]
    if given.alone:
        others = [*said, *(name for name in ("handlers", "session_id") if getattr(given, name) is not UNSET)]
        if others or given != FallbackGiven(code=given.code, message=given.message):
            key = next(iter(given.alone))
            raise CaseError(f"{place}.{key}", "this key stands alone, or not at all", 'Put it into "error".')
    elif len(said) != 1:
        found = "both error and errors are here" if said else "neither error nor errors is here"
        raise CaseError(place, found, "Say once what the primitive raises: error, or errors for each attempt.")
    if given.errors is not UNSET and not given.errors:
        raise CaseError(f"{place}.errors", "the list is empty", "List at least one error or null.")
    for number, error in enumerate(given.attempts):
        if error is not None:
            at = (
                place if given.alone else f"{place}.error" if given.errors is UNSET else f"{place}.errors[{number}]"
            )
            _check_error(error, at)
    for number, handler in enumerate([] if given.handlers is UNSET else given.handlers):
        _check_handler(handler, f"{place}.handlers[{number}]")


def _check_error(spec: Mapping[str, Any], place: str) -> None:
    if spec.get("kind") == PLAIN:
        return
    for key in spec:
        if key not in ERROR_KEYS:
            raise CaseError(f"{place}.{key}", "this key is not known here", f"Use one of: {', '.join(ERROR_KEYS)}.")
    kinds = (*ErrorKind, PLAIN)
    if "kind" in spec and spec["kind"] not in kinds:
        raise CaseError(
            f"{place}.kind", f"{_shown(spec['kind'])} is not allowed here", f"Use one of: {', '.join(kinds)}."
        )
    for key in ("name", "message"):  # a name can be given, to show that no rule reads it
        if key in spec:
            _check_text(spec[key], f"{place}.{key}")
    if isinstance(spec.get("cause"), Mapping):
        _check_error(spec["cause"], f"{place}.cause")


def _check_handler(value: object, place: str) -> None:
    if not isinstance(value, Mapping):
        return
    if value.keys() != {"throw"}:
        raise CaseError(
            place,
            f"an object with the keys {', '.join(sorted(value)) or '(none)'} is no handler",
            'Use the value it returns, or {"throw": MESSAGE}.',
        )
    _check_text(value["throw"], f"{place}.throw")


def _check_text(value: object, place: str) -> None:
    if not isinstance(value, str):
        raise CaseError(place, f"{_shown(value)} is not text", "Use a string.")


def _shown(value: object) -> str:
    from labsim.js_values import stringify

    return repr(value) if isinstance(value, str) else stringify(value)
