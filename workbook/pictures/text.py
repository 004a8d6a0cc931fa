"""A sequence diagram in plain characters: lanes as columns, an arrow a line, the words beside it.

Only ASCII is used for the drawing, since arrows and boxes from elsewhere are of uneven width in many fonts. The
words stand in a column of their own, so none of them has to be shortened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from workbook.ledgers.played import WAITING
from workbook.pictures.scene import Lane, Message, Scene, Stroke
from workbook.show.grid import WIDTH, columns_of, wrapped

_NUMBER: Final = 4  # columns for the number in the ledger
_BETWEEN: Final = 3  # columns between two labels, at least
_WORDS: Final = 30  # columns for the words, at least, however many lanes there are
#: The shaft of an arrow, repeated as often as needed, and its head.
_ARROWS: Final[dict[Stroke, tuple[str, str, str]]] = {
    Stroke.TELL: ("-", ">", "<"),
    Stroke.ANSWER: ("- ", ">", "<"),
    Stroke.REFUSE: ("- ", "x", "x"),
    Stroke.EFFECT: ("=", ">", "<"),
}
_LEGEND: Final = "--> tells or asks   - -> answers   - -x refuses or fails   ==> has an effect   * notes or decides"


def as_text(scene: Scene, width: int = WIDTH) -> str:
    """The whole diagram; no line is longer than `width`, unless the lanes leave too little room for words."""
    return "\n".join(line.rstrip() for line in _lines(scene, width))


def _lines(scene: Scene, width: int) -> Iterator[str]:
    at = _places(scene)
    room = max(width - _right(at) - 2, _WORDS)
    rest = "".join(_lifelines(at))
    yield from wrapped(scene.caption, width)
    yield ""
    yield _header(scene, at)
    for number, part in enumerate(scene.parts):
        if number:
            yield rest
        yield rest + (f"  {part.title}" if part.title else "")
        for message in part.messages:
            first, *more = wrapped(_words(message), room)
            yield f"{_drawn(message, at)}  {first}"
            for line in more:
                yield f"{rest}  {line}"
    if scene.waits_for is not None:
        waiting = _lifelines(at)
        waiting[at[scene.waits_for]] = "?"
        yield f"{''.join(waiting)}  {WAITING}"
    yield rest
    if scene.closing:
        yield scene.closing
    yield ""
    yield from wrapped(_LEGEND, width)


def _places(scene: Scene) -> dict[Lane, int]:
    """The column of each lane's line: the labels are centred on them and keep their distance."""
    at: dict[Lane, int] = {}
    free = _NUMBER + 2
    for lane, label in scene.lanes:
        half = columns_of(label) // 2
        at[lane] = free + half
        free = at[lane] + columns_of(label) - half + _BETWEEN
    return at


def _right(at: Mapping[Lane, int]) -> int:
    """How wide the drawing is: the last label is not counted, since the words may begin below it."""
    return max(at.values()) + 1


def _header(scene: Scene, at: Mapping[Lane, int]) -> str:
    line = ""
    for lane, label in scene.lanes:
        start = at[lane] - columns_of(label) // 2
        line += " " * (start - columns_of(line)) + label
    return line


def _lifelines(at: Mapping[Lane, int]) -> list[str]:
    line = [" "] * _right(at)
    for place in at.values():
        line[place] = "|"
    return line


def _drawn(message: Message, at: Mapping[Lane, int]) -> str:
    line = _lifelines(at)
    line[:_NUMBER] = f"{message.number:>{_NUMBER}}"
    source, target = at[message.source], at[message.target]
    if message.stroke is Stroke.NOTE:
        line[source] = "*"
        return "".join(line)
    shaft, to_right, to_left = _ARROWS[message.stroke]
    left, right = sorted((source, target))
    for place in range(left + 1, right):
        line[place] = shaft[(place - left - 1) % len(shaft)]
    if target > source:
        line[target - 1] = to_right
    else:
        line[target + 1] = to_left
    return "".join(line)


def _words(message: Message) -> str:
    return f"{message.name}: {message.says}" if message.says else message.name
