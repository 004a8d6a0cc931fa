"""The content of a dispatch: from the raw text to a JSON value, or a refusal.

Text that is hostile rather than wrong (huge, bottomless, half a character) is refused here too, before anything is
built from it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from labsim.dispatch.json_complaint import complaint
from labsim.js_values import BLANKS, trim

LONGEST: Final = 1_000_000  # characters; arguments of a real call have a few hundred
DEEPEST: Final = 100  # levels; far more than any schema here has
_EXACT_DIGITS: Final = 15  # an integer up to this long is the same number to the host as to Python
_HELP: Final = frozenset({"", "?", "help"})
_HEADER: Final = re.compile(rf"[{BLANKS}]*\[[^#\r\n]+#[^ \t\r\n]*\][{BLANKS}]*")
_ANCHORED: Final = re.compile(r"\s*(?:[*+-]\s*)?\d+(?:-\d+)?:", re.ASCII)


class NotJson(Exception):
    """The text is not JSON, or is none that the simulator reads. The message is the parser's (dispatch/D-35)."""


def asks_for_help(content: str) -> bool:
    """Whether the content asks for documentation instead of execution (dispatch/D-18)."""
    return trim(content).lower() in _HELP


def without_anchors(content: str) -> str:
    """`content` without line anchors copied from a listing, `12:` before each line, and their header
    (dispatch/D-56).

    Only if every line that is not blank has one, so that ordinary JSON stays as it is.
    """
    lines = content.split("\n")
    written = [number for number, line in enumerate(lines) if trim(line)]
    header = written.pop(0) if written and _HEADER.fullmatch(lines[written[0]]) else -1
    if not written or not all(_ANCHORED.match(lines[number]) for number in written):
        return content
    kept = (line for number, line in enumerate(lines) if number != header)
    return "\n".join(_ANCHORED.sub("", line, count=1) for line in kept)


def parse_json(content: str) -> Any:
    """The value in `content`; of two equal keys the last wins (dispatch/D-39). Raises: NotJson."""
    if len(content) > LONGEST:
        raise NotJson(f"the content has {len(content):,} characters, and at most {LONGEST:,} are read")
    try:
        value = json.loads(content, parse_constant=_no_constant, parse_float=_number, parse_int=_integer)
    except json.JSONDecodeError:
        raise NotJson(complaint(content)) from None
    except _NoConstant:
        raise NotJson(complaint(content)) from None
    except RecursionError:
        raise NotJson(_TOO_DEEP) from None
    _check(value, 1)
    return value


def json_kind(value: object) -> str:
    """What the host calls a value's kind: null is an object to it, a list is told apart (dispatch/D-31 to
    dispatch/D-33).
    """
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"


class _NoConstant(ValueError):
    """NaN or Infinity, which Python reads as numbers and JSON does not have (dispatch/D-39)."""


_TOO_DEEP: Final = f"the content is nested more than {DEEPEST} levels deep"


def _no_constant(word: str) -> NoReturn:
    raise _NoConstant(word)


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise NotJson(f"the number {_short(digits)} is too large")
    return value


def _integer(digits: str) -> int | float:
    # The host has only doubles; and Python refuses to read a very long integer at all.
    return int(digits) if len(digits) <= _EXACT_DIGITS else _number(digits)


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:20]}…"


def _check(value: object, depth: int) -> None:
    """Refuse what nothing here could show or copy: bottomless nesting, half a character."""
    if isinstance(value, list | dict) and depth > DEEPEST:
        raise NotJson(_TOO_DEEP)
    if isinstance(value, str):
        half = re.search("[\ud800-\udfff]", value)
        if half:
            raise NotJson(f"the text holds half of a surrogate pair, U+{ord(half[0]):04X}")
    elif isinstance(value, list):
        for item in value:
            _check(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(key, depth)
            _check(item, depth + 1)
