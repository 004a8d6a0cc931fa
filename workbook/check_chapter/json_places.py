"""Where a place inside a JSON text is: the line of `cases[2] (its-id).given.mode`.

The readers of cases and checkpoints name a fault by its path; an editor goes to a line. Only text that is JSON has
lines here; of anything else the readers give the line.
"""

from __future__ import annotations

import json
import re
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_STEP: Final = re.compile(r"\[(\d+)\]|\.?([^.\[\]\s()]+)")
_NAMED: Final = re.compile(r" \([^()]*\)(?=[.\[]|$)")  # the id in brackets that a place carries for a reader


def lines(text: str) -> dict[Path, int]:
    """The line, from 1, on which each value of a JSON text begins, or the key of it; the root is `()`."""
    found: dict[Path, int] = {(): 1}
    path: list[str | int] = []
    line, at, wants_key = 1, 0, False
    inside: list[str] = []
    for token in _TOKEN.finditer(text):
        line += text.count("\n", at, token.start())
        at = token.start()
        word = token[0]
        if word in "]}":
            empty_object = wants_key
            if inside.pop() == "[" or not empty_object:
                path.pop()  # the place of the last item, or the last key
            wants_key = False
        elif word == ",":
            step = path.pop()
            if isinstance(step, int):
                path.append(step + 1)
            else:
                wants_key = True
        elif word == ":":
            wants_key = False
        elif wants_key:
            path.append(json.loads(word))
            found[tuple(path)] = line
        else:
            found.setdefault(tuple(path), line)  # a value; that of a key begins with the key
            if word in "[{":
                inside.append(word)
                wants_key = word == "{"
                if word == "[":
                    path.append(0)
    return found


def line_of(text: str, place: str) -> int | None:
    """The line of a place as the readers write it; of what is missing there, the line of what it is missing in.

    None where the place has no path, or `text` is not JSON.
    """
    try:
        json.loads(text)
    except ValueError:
        return None
    known = lines(text)
    path = steps(place)
    while path and path not in known:
        path = path[:-1]
    return known[path] if path else None


def steps(place: str) -> Path:
    """`cases[2] (its-id).given.mode` as `("cases", 2, "given", "mode")`."""
    bare = _NAMED.sub("", place)
    return tuple(int(step[1]) if step[1] else step[2] for step in _STEP.finditer(bare))
