"""Values of a learner's that are to be data: a dictionary, or its JSON as text, and nothing that JSON cannot hold.

What comes back is a copy, so that nothing a learner does afterwards changes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from labsim.describe.ledger import one_line
from labsim.errors import CaseError
from labsim.strict_json import parse
from workbook.submission import sandbox

_SHOWN: Final = 60  # characters of a learner's value in a message
_DEEPEST: Final = 100  # levels; a value that holds itself has no end


def spelled(value: object) -> str:
    """A learner's value on one line; one that has no words for itself is named by its type."""
    try:
        text = one_line(sandbox.call(repr, value))
    except Exception:  # of the value's own __repr__, which must not hide what is wrong with the value
        text = f"something of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def as_object(handed_in: object, name: str) -> dict[str, Any]:
    """An object of JSON. `name` stands for it in messages. Raises: CaseError, with the place."""
    if isinstance(handed_in, str):
        found = parse(handed_in.encode("utf-8", "surrogatepass"), name)
    elif isinstance(handed_in, Mapping):
        found = plain(handed_in, name)
    else:
        raise CaseError(name, f"this is {spelled(handed_in)}", "Use a dictionary, or its JSON as text.")
    if not isinstance(found, dict):
        raise CaseError(name, f"{spelled(found)} is no object", 'Begin it with {"…": …}.')
    return found


def items_of(mapping: Mapping[Any, Any], place: str) -> list[tuple[Any, Any]]:
    """Its entries, of whatever kind of mapping it is. Raises: CaseError, if it cannot be walked."""
    try:
        return list(mapping.items())
    except Exception as error:  # of a class of the learner's
        found = f"it cannot be read ({type(error).__name__})"
        raise CaseError(place, found, "Use a plain dictionary.") from error


def plain(value: Any, place: str, *, depth: int = 0) -> Any:
    """A copy of a value, if JSON can hold it. Raises: CaseError, with the place of what it cannot hold."""
    if depth > _DEEPEST:
        raise CaseError(place.partition(".")[0], f"it has more than {_DEEPEST} levels", "Does it hold itself?")
    if isinstance(value, float) and not math.isfinite(value):
        raise CaseError(place, f"{value} is nothing that JSON can hold", "Use a number, or null.")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        items = items_of(value, place)
        if bad := [key for key, _ in items if not isinstance(key, str)]:
            raise CaseError(place, f"{spelled(bad[0])} is no key of JSON", "Use text.")
        return {key: plain(each, f"{place}.{key}", depth=depth + 1) for key, each in items}
    if isinstance(value, list | tuple):
        return [plain(each, f"{place}[{number}]", depth=depth + 1) for number, each in enumerate(value)]
    raise CaseError(
        place, f"{spelled(value)} is nothing that JSON can hold", "Use text, numbers, lists and the like."
    )
