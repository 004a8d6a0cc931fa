"""The third layer of `check_chapter`: words that stop being true when something moves, and words left over.

Options are shown in an order that may change, on paper and by a screen reader as well as here: so nothing may
point at one by where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from labsim.errors import CaseError
from labsim.strict_json import parse
from workbook.check_chapter.fault import Checking, Fault, Layer, fault_of

_NTH: Final = r"first|second|third|fourth|fifth|last|top|bottom|upper|lower|former|latter|left|right-hand|next"
_WHAT: Final = r"option|choice|alternative|button"
POSITIONS: Final = re.compile(
    rf"\b(?:{_NTH})\s+(?:{_WHAT})s?\b"
    rf"|\b(?:{_WHAT})s?\s+(?:above|below)\b"
    rf"|\b(?:{_WHAT}|answer) +(?:[1-9]|(?-i:[A-F]))(?![\w-])"
    r"|\b(?:all|none|both|neither|either) of the (?:above|below)\b",
    re.IGNORECASE,
)
LEFT_OVER: Final = re.compile(r"\b(?:TODO|TBD|FIXME|XXX|lorem ipsum)\b|\?\?\?|<[A-Z][A-Z ]+>", re.IGNORECASE)

#: Texts that a learner reads, by the name of their key.
_READ: Final = frozenset(
    {"prompt", "text", "why", "says", "because", "hints", "worked", "asks", "task", "rules", "title", "claim"}
)


def check_wording(checking: Checking) -> Iterator[Fault]:
    """Positional words and leftovers in every text that a learner reads, the notebook's prose included."""
    for path in checking.parts:
        name, text = checking.name(path), path.read_text(encoding="utf-8")
        for place, said in _texts(parse(path.read_bytes(), name), ""):
            for found, remedy in wording(said):
                yield fault_of(CaseError(place, found, remedy), Layer.WORDING, name, text)
    toml = checking.chapter.path
    for what, remedy in wording(checking.chapter.title):
        yield Fault(layer=Layer.WORDING, file=toml.name, place="title", found=what, remedy=remedy)


def wording(said: str) -> Iterator[tuple[str, str]]:
    """What is wrong with a text, and what would do."""
    if pointing := POSITIONS.search(said):
        yield f"{pointing[0]!r} points at a position, and positions move", "Quote what you mean instead."
    if left := LEFT_OVER.search(said):
        yield f"{left[0]!r} is left over from writing", "Write what belongs there."


def _texts(value: Any, place: str, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text that is read, with its place. `given` is data, and is shown as it is."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("given", "expected", "predicts", "claims"):
                yield from _texts(inner, f"{place}.{name}" if place else name, name)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            named = f" ({inner['id']})" if isinstance(inner, dict) and isinstance(inner.get("id"), str) else ""
            yield from _texts(inner, f"{place}[{number}]{named}", key)
    elif isinstance(value, str) and key in _READ:
        yield place, value
