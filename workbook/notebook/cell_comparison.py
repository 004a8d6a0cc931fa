"""Is what a cell shows today what was saved with it? As strict as nbval, in words of what an author can do.

Compared are the kinds of outputs, their order and their texts. Left out are execution counts, tracebacks (the
error itself is compared) and what the sanitiser of `checking` leaves out: the picture of a plot, whose bytes vary
with matplotlib's version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from functools import cache
from typing import Any, Final, TypeAlias

from workbook.notebook.compare import SANITISER

MOST_LINES: Final = 40  # of a difference; whoever needs more looks at `workbook diff`

Shown: TypeAlias = tuple[str, str]  # what it is, such as "stdout" or "text/html", and its text

_STREAMS: Final = ("stdout", "stderr")
_HTML: Final = "text/html"
_PATTERN: Final = re.compile(r"^regex: (?P<regex>.*)\nreplace: (?P<replace>.*)$", re.MULTILINE)


def difference(saved: Iterable[Mapping[str, Any]], today: Iterable[Mapping[str, Any]]) -> str:
    """What differs between two lists of outputs, as nbformat reads them: lines to be read; "" if nothing does."""
    before, after = _shown(saved), _shown(today)
    if before == after:
        return ""
    if [kind for kind, _ in before] != [kind for kind, _ in after]:
        return f"saved: {_kinds(before)}\ntoday: {_kinds(after)}\n{_texts(after)}".rstrip()
    changed = [(kind, left, right) for (kind, left), (_, right) in zip(before, after, strict=True) if left != right]
    plain = any(kind != _HTML for kind, _, _ in changed)  # says the same as the HTML beside it, and can be read
    return "\n".join(
        line
        for kind, left, right in changed
        for line in ([f"{kind} differs, too"] if plain and kind == _HTML else _lines(kind, left, right))
    )


def _shown(outputs: Iterable[Mapping[str, Any]]) -> list[Shown]:
    """Outputs as what can be compared; pieces of one stream that follow each other are one text."""
    made: list[Shown] = []
    for output in outputs:
        for kind, text in _parts(output):
            if made and kind in _STREAMS and made[-1][0] == kind:
                text = made.pop()[1] + text
            made.append((kind, text))
    return [(kind, _sanitised(text)) for kind, text in made]


def _parts(output: Mapping[str, Any]) -> Iterator[Shown]:
    match output["output_type"]:
        case "stream":
            yield output["name"], output["text"]
        case "error":
            yield "error", f"{output['ename']}: {output['evalue']}"
        case _:  # a result or a display, in several kinds at once
            for kind, data in sorted(output["data"].items()):
                yield kind, data if isinstance(data, str) else repr(data)


def _sanitised(text: str) -> str:
    for pattern, replacement in _sanitisers():
        text = pattern.sub(replacement, text)
    return text


@cache
def _sanitisers() -> tuple[tuple[re.Pattern[str], str], ...]:
    found = _PATTERN.finditer(SANITISER.read_text(encoding="ascii"))
    return tuple((re.compile(one["regex"]), one["replace"]) for one in found)


def _kinds(outputs: list[Shown]) -> str:
    return ", ".join(kind for kind, _ in outputs) or "nothing"


def _texts(outputs: list[Shown]) -> str:
    lines = [line for kind, text in outputs for line in (f"--- {kind}", *text.splitlines())]
    return "\n".join(_cut(lines))


def _lines(kind: str, saved: str, today: str) -> list[str]:
    before, after = (
        (text.replace("><", ">\n<") if kind == _HTML else text).splitlines() for text in (saved, today)
    )
    return _cut(list(unified_diff(before, after, f"{kind}, as saved", f"{kind}, today", lineterm="", n=1)))


def _cut(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"… and {more} lines more"]
