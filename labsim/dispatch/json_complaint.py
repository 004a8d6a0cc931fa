"""What the host's JSON parser says of text that is no JSON.

The sentence in the parenthesis of dispatch/D-30 belongs to the host's engine, so tests pin only what stands around
it (dispatch/D-35); here it is put together as that engine does, from the first token that fits nowhere. Those that
were recorded are pinned by the replay. The scan is flat, however deep the text.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_STRING_START: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_STRING: Final = re.compile(_STRING_START.pattern + '"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORD: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_MARKS: Final = "{}[],:"


class _Expected(Enum):
    """What may come next, as the parser goes along."""

    VALUE = auto()
    FIRST_ITEM = auto()  # a value, or the end of an empty list
    FIRST_KEY = auto()  # a key, or the end of an empty object
    KEY = auto()
    COLON = auto()
    AFTER_VALUE = auto()


class _BadToken(Exception):
    """The text goes on with something that is no token at all."""


def complaint(text: str) -> str:
    """The parser's sentence about `text`, which is not JSON."""
    return f"JSON Parse error: {_complaint(text)}"


def _complaint(text: str) -> str:
    at, expected = 0, _Expected.VALUE
    open_marks: list[str] = []
    try:
        while True:
            token, at = _token(text, at)
            match expected:
                case _Expected.VALUE | _Expected.FIRST_ITEM:
                    if token == "]" and expected is _Expected.FIRST_ITEM:
                        open_marks.pop()
                        expected = _Expected.AFTER_VALUE
                    elif token == "{":
                        open_marks.append(token)
                        expected = _Expected.FIRST_KEY
                    elif token == "[":
                        open_marks.append(token)
                        expected = _Expected.FIRST_ITEM
                    elif not _is_value(token):
                        return _unexpected(token)
                    else:
                        expected = _Expected.AFTER_VALUE
                case _Expected.FIRST_KEY | _Expected.KEY:
                    if token[:1] == '"':
                        expected = _Expected.COLON
                    elif expected is _Expected.KEY:
                        return "Property name must be a string literal"
                    elif token == "}":
                        open_marks.pop()
                        expected = _Expected.AFTER_VALUE
                    else:
                        return "Expected '}'"
                case _Expected.COLON:
                    if token != ":":
                        return "Expected ':' before value in object property definition"
                    expected = _Expected.VALUE
                case _Expected.AFTER_VALUE:
                    if not open_marks:
                        return "Unable to parse JSON string"
                    inside = open_marks[-1]
                    if token == ",":
                        expected = _Expected.KEY if inside == "{" else _Expected.VALUE
                    elif token != _closing(inside):
                        return f"Expected '{_closing(inside)}'"
                    else:
                        open_marks.pop()
    except _BadToken as bad:
        return str(bad)


def _token(text: str, at: int) -> tuple[str, int]:
    """The next token and where it ends; "" at the end of the text."""
    blank = _BLANK.match(text, at)
    at = blank.end() if blank else at
    if at == len(text):
        return "", at
    character = text[at]
    if character in _MARKS:
        return character, at + 1
    for kind in (_STRING, _NUMBER, _WORD):
        found = kind.match(text, at)
        if found:
            return found[0], found.end()
    if character == "'":
        raise _BadToken("Single quotes (') are not allowed in JSON")
    if character == '"':
        raise _BadToken(_string_fault(text, at))
    if character == "-":
        raise _BadToken("Invalid number")
    shown = f"\\u{ord(character):04x}" if "\ud800" <= character <= "\udfff" else character
    raise _BadToken(f"Unrecognized token '{shown}'")


def _string_fault(text: str, at: int) -> str:
    """Why the string that begins at `at` is none."""
    begun = _STRING_START.match(text, at)
    end = begun.end() if begun else at
    if text[end : end + 1] != "\\" or end + 1 == len(text):
        return "Unterminated string"
    escaped = text[end + 1]
    if escaped == "u":
        return f'"{text[end : end + 6]}" is not a valid unicode escape'
    return f"Invalid escape character {escaped}"


def _is_value(token: str) -> bool:
    return token[:1] == '"' or token in ("true", "false", "null") or _NUMBER.fullmatch(token) is not None


def _closing(mark: str) -> str:
    return "}" if mark == "{" else "]"


def _unexpected(token: str) -> str:
    if not token:
        return "Unexpected EOF"
    return f"Unexpected token '{token}'" if token in _MARKS else f'Unexpected identifier "{token}"'
