"""JSON, read strictly: no duplicate keys, no NaN, no half characters, no bottomless nesting.

The words of the messages are ours: those of Python's decoder change from version to version, and speak of
delimiters.
"""

from __future__ import annotations

import json
from typing import Any, Final

from labsim.errors import CaseError

_DEEPEST: Final = 200  # levels; a case needs fewer than ten
_EXACT: Final = 2**53  # beyond it the host's numbers have gaps, so what a case says would not be what is shown


class _Twice(dict[str, Any]):
    """An object in which `key` stands twice; found while decoding, refused where its place is known."""

    key = ""


class _NoNumber:
    """NaN or Infinity, which Python reads and JSON does not have."""

    def __init__(self, word: str) -> None:
        self.word = word


def parse(data: bytes, name: str) -> Any:
    """The value in `data`. `name` stands for the file in messages.

    Raises: CaseError, with line and column, or with the path inside the value.
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
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_NoNumber)
    except json.JSONDecodeError as error:
        raise _not_json(error, name) from None
    except RecursionError:
        raise _too_deep(name) from None
    except ValueError:  # Python's own limit on the digits of an integer
        raise CaseError(name, "a number has thousands of digits", "Use a smaller number, or text.") from None
    _check(value, name, "", 0)
    return value


def _object(items: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(items)
    if len(made) == len(items):
        return made
    seen: set[str] = set()
    twice = _Twice(made)
    for key, _ in items:
        if key in seen:
            twice.key = key
            break
        seen.add(key)
    return twice


def _not_json(error: json.JSONDecodeError, name: str) -> CaseError:
    """What is wrong there, in words that an author of cases can act on."""
    text, at = error.doc, error.pos
    before = text[:at].rstrip()
    if text[at : at + 1] in ("}", "]") and before.endswith(","):
        at = len(before) - 1  # newer Pythons point at the comma, older ones at the bracket
    comma = text[at : at + 1] == ","
    if not text[at:].strip():
        found, remedy = (
            "the file ends in the middle of the JSON",
            "Close what is open, or copy the whole file again.",
        )
    elif error.msg.startswith("Unterminated string"):
        found, remedy = "the text that begins here is never closed", 'Close it with ".'
    elif error.msg.startswith("Invalid control character"):
        found, remedy = "a line break or control character stands in a text", r"Write a line break as \n."
    elif error.msg.startswith("Invalid \\"):
        found, remedy = "a backslash begins something that JSON does not know", r"Write a backslash as \\."
    elif error.msg.startswith("Extra data"):
        found, remedy = "the JSON has ended, and more follows", "Keep one JSON object in a file."
    elif comma and text[at + 1 :].lstrip()[:1] in ("}", "]"):
        found, remedy = "a comma stands before the end", "Remove the comma."
    elif text[at] == "/":
        found, remedy = "'/' is not expected here", "JSON has no comments."
    elif error.msg.startswith("Expecting ':' delimiter"):
        found, remedy = f"{text[at]!r} is not expected here", "Is a colon missing before it?"
    elif error.msg.startswith("Expecting ',' delimiter"):
        found, remedy = f"{text[at]!r} is not expected here", "Is a comma missing before it?"
    else:
        found, remedy = f"{text[at]!r} is not expected here", "Keys and texts stand in double quotes."
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return CaseError(f"{name}: line {line}, column {column}", f"not JSON: {found}", remedy)


def _too_deep(name: str) -> CaseError:
    return CaseError(name, "the JSON is nested too deeply", f"Keep it under {_DEEPEST} levels.")


def _check(value: Any, name: str, path: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise _too_deep(name)
    place = f"{name}: {path}" if path else name
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise CaseError(place, "the text holds half of a surrogate pair", "Write the whole character.")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check(item, name, f"{path}[{number}]", depth + 1)
    elif isinstance(value, dict):
        if isinstance(value, _Twice):
            raise CaseError(place, f"the key {value.key!r} stands twice in one object", "Keep one of the two.")
        for key, item in value.items():
            _check(key, name, path, depth + 1)
            _check(item, name, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, _NoNumber):
        raise CaseError(place, f"{value.word} is not a JSON number", "Use a number, text or null.")
    elif isinstance(value, int | float) and not -_EXACT <= value <= _EXACT:
        raise CaseError(place, "the number is too large to be exact", "Stay within 2^53, or use text.")
