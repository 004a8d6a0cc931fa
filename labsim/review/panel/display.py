"""Untrusted text on a terminal's terms: made harmless, measured in columns, cut and wrapped.

For display only: the stored text is never touched (review/V-58).

What is measured is what a terminal shows: one column for most characters, two for wide ones, none for marks that
sit on the character before. A mark stays with its character, so that a row never begins with one. Where terminals
disagree, the larger number is taken: a row may come out short, never too wide.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

CUT: Final = "…"
_TAB: Final = "    "

# Only sequences that are whole are taken out. Of one that is never finished just the control character goes, so
# that nobody can hide the rest of a note behind an opening that is never closed.
_SEQUENCES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"  # the other escapes, of two characters or a few more
)
_LINE_BREAKS: Final = re.compile("\r\n|[\r\u2028\u2029]")
_REMOVED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, all but tab and newline; C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    "\ud800-\udfff]"  # halves of surrogate pairs
)


def sanitise(text: str) -> str:
    """`text` without anything that acts on a terminal; every line break is a newline, a tab four spaces
    (review/V-58).

    The line and paragraph separators of Unicode count as line breaks, so that a row is a row to everybody. HTML
    stays as it is: it is text.
    """
    text = _LINE_BREAKS.sub("\n", text)
    text = _SEQUENCES.sub("", text)
    return _REMOVED.sub("", text).replace("\t", _TAB)


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """Each character with the marks that sit on it, and the columns that they take together."""
    part, width = "", 0
    for character in text:
        columns_here = _columns(character)
        if columns_here == 0:
            part += character
            if character == _AS_EMOJI:
                width = max(width, 2)  # the same character, asked to show as a wide picture
            continue
        if part:
            yield part, width
        part, width = character, columns_here
    if part:
        yield part, width


def columns(text: str) -> int:
    """How many terminal columns `text` takes, line breaks not counted on."""
    return sum(width for _, width in clusters(text))


def cut(text: str, width: int) -> str:
    """`text` if it fits into `width` columns, else its beginning and `…`."""
    if columns(text) <= width:
        return text
    kept, used = "", 0
    for part, part_width in clusters(text):
        if used + part_width > width - 1:
            break
        kept, used = kept + part, used + part_width
    return kept + CUT if width > 0 else ""


def wrap(text: str, width: int) -> tuple[str, ...]:
    """The rows of sanitised `text` at `width` columns, at least one (review/V-53).

    Broken at a space where a row has one, which then is not shown, else inside the word; empty lines are kept. At
    a width of 1 a wide character fits nowhere, and `…` stands for it.
    """
    return tuple(row for line in text.split("\n") for row in _wrapped(line, max(1, width)))


def _wrapped(line: str, width: int) -> Iterator[str]:
    row: list[tuple[str, int]] = []
    used = 0
    space = 0  # where the row's last space is, 0 for none: one that a row begins with is no place to break
    for part, part_width in clusters(line):
        shown, takes = (part, part_width) if part_width <= width else (CUT, 1)
        if used + takes > width and shown == " ":
            yield _joined(row)  # the space itself is the break
            row, used, space = [], 0, 0
            continue
        while used + takes > width:  # what does not fit goes to the next row (review/V-53)
            yield _joined(row[:space] if space else row)
            row = row[space + 1 :] if space else []
            used, space = sum(w for _, w in row), 0
        if shown == " " and any(p != " " for p, _ in row):
            space = len(row)
        row.append((shown, takes))
        used += takes
    yield _joined(row)


def _joined(row: list[tuple[str, int]]) -> str:
    return "".join(part for part, _ in row)


_AS_EMOJI: Final = "\ufe0f"
_INVISIBLE: Final = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff")
#: Wide to newer terminals only, or as half of a flag: wide to us always, so that every Python gives the same rows.
_WIDE_TO_SOME: Final = re.compile(
    "[\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\U0001d300-\U0001d376\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff]"
)


def _columns(character: str) -> int:
    if character < "\u0300":
        return 1
    category = unicodedata.category(character)
    if category in ("Mn", "Me") or character in _INVISIBLE or "\U000e0000" <= character <= "\U000e007f":
        return 0
    if category == "Cn" or _WIDE_TO_SOME.match(character):
        return 2
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
