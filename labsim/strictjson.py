"""JSON, read strictly: no duplicate keys, no NaN, no half characters, no bottomless nesting.

Beside `case`, which needs to say where a file is wrong; imports only `errors`.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from labsim.errors import CaseError

_DEEPEST = 200  # levels; a case needs fewer than ten


def parse(data: bytes, name: str) -> Any:
    """The value in `data`. `name` stands for the file in messages.

    Raises: CaseError, with line and column where there is one.
    """
    if data[:3] == b"\xef\xbb\xbf":
        raise CaseError(f"{name}: line 1", "the file starts with a byte order mark", "Save it as plain UTF-8.")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CaseError(
            f"{name}: line {line}", f"byte 0x{data[error.start]:02x} is not UTF-8", "Save the file as UTF-8."
        ) from None
    if not text.strip():
        raise CaseError(name, "the file is empty", "A case file is a JSON object with a list of cases.")

    def constant(word: str) -> NoReturn:
        raise CaseError(name, f"{word} is not a JSON number", "Use a number, text or null.")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in items:
            if key in made:
                raise CaseError(name, f"the key {key!r} stands twice in one object", "Keep one of the two.")
            made[key] = value
        return made

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise CaseError(
            f"{name}: line {error.lineno}, column {error.colno}", f"not JSON ({error.msg})", "Mend the JSON there."
        ) from None
    except RecursionError:
        raise CaseError(name, "the JSON is nested too deeply", f"Keep it under {_DEEPEST} levels.") from None
    _check(value, name, "", 0)
    return value


def _check(value: Any, name: str, path: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise CaseError(name, "the JSON is nested too deeply", f"Keep it under {_DEEPEST} levels.")
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            place = f"{name}: {path}" if path else name
            raise CaseError(place, "the text holds half of a surrogate pair", "Write the whole character.")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check(item, name, f"{path}[{number}]", depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(key, name, path, depth + 1)
            _check(item, name, f"{path}.{key}" if path else key, depth + 1)
