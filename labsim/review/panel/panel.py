"""The overlay panel as pure state: what it shows, and what each key does. No terminal, no focus, no widget.

It listens to nothing by itself and types nothing anywhere (review/V-59).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from labsim.review.base.words import COPY
from labsim.review.branch.note import Note
from labsim.review.panel.display import cut, sanitise, wrap

BODY_LINES: Final = 8
WIDEST: Final = 100


class PanelOutcome(StrEnum):
    """What a person decided; the value is how it travels as an answer."""

    ACCEPT = "accept"
    REJECT = "reject"
    CANCEL = "cancel"


class Key(StrEnum):
    """The keys that the panel knows."""

    UP = "up"
    DOWN = "down"
    ACCEPT = "a"
    REJECT = "r"
    ESCAPE = "escape"


#: A whole chunk of input, and the key it is. An arrow begins with an escape, so a part of a chunk means nothing
#: (review/V-55).
KEYS: Final[Mapping[str, Key]] = {
    "\x1b[A": Key.UP,
    "\x1bOA": Key.UP,
    "\x1b[B": Key.DOWN,
    "\x1bOB": Key.DOWN,
    "a": Key.ACCEPT,
    "r": Key.REJECT,
    "\x1b": Key.ESCAPE,
}
#: What ends the panel (review/S13).
_OUTCOMES: Final[Mapping[Key, PanelOutcome]] = {
    Key.ACCEPT: PanelOutcome.ACCEPT,
    Key.REJECT: PanelOutcome.REJECT,
    Key.ESCAPE: PanelOutcome.CANCEL,
}


class Panel(Struct, frozen=True, kw_only=True):
    """The panel at one moment. Every change is a new panel; make the first one with `open_panel`."""

    title: str
    text: str  # sanitised
    viewport: int  # columns of the terminal
    lines: tuple[str, ...]  # the text, wrapped to `width`
    offset: int = 0  # the first line shown
    outcome: PanelOutcome | None = None

    @property
    def width(self) -> int:
        """The columns that a row may take (review/V-50)."""
        return _width(self.viewport)

    @property
    def body(self) -> tuple[str, ...]:
        """Exactly eight lines, blank ones where the note has ended (review/V-51)."""
        shown = self.lines[self.offset : self.offset + BODY_LINES]
        return shown + ("",) * (BODY_LINES - len(shown))

    @property
    def rows(self) -> tuple[str, ...]:
        """All twelve rows as plain text: title, rule, body, position, hint (review/V-52)."""
        words, total = COPY.panel, len(self.lines)
        last = min(self.offset + BODY_LINES, total)
        position = words.position.format(first=self.offset + 1, last=last, total=total)
        around = (self.title, "-" * self.width), (position, words.hint)
        top, bottom = (tuple(cut(row, self.width) for row in rows) for rows in around)  # review/V-50
        return (*top, *self.body, *bottom)

    def press(self, chunk: str) -> Panel:
        """The panel after one chunk of input: a line up or down, and never beyond the ends (review/V-54).

        What is no key changes nothing (review/V-56), nor does any after the outcome (review/V-57).
        """
        key = KEYS.get(chunk)
        if key is None or self.outcome is not None:
            return self
        if key in _OUTCOMES:
            return replace(self, outcome=_OUTCOMES[key])
        return replace(self, offset=self._clamped(self.offset + (1 if key is Key.DOWN else -1)))

    def resize(self, viewport: int) -> Panel:
        """The panel on a terminal of another width: wrapped again, its offset in range again (review/V-61)."""
        lines = wrap(self.text, _width(viewport))
        wrapped = replace(self, viewport=viewport, lines=lines)
        return replace(wrapped, offset=wrapped._clamped(self.offset))

    def _clamped(self, offset: int) -> int:
        return max(0, min(offset, len(self.lines) - BODY_LINES))


def open_panel(note: Note, viewport: int) -> Panel:
    """The panel for a note on a terminal of `viewport` columns."""
    title = COPY.panel.title.format(status=note.status.value, revision=note.revision)
    text = sanitise(note.text)  # before it is wrapped (review/V-53)
    return Panel(title=title, text=text, viewport=viewport, lines=wrap(text, _width(viewport)))


def _width(viewport: int) -> int:
    return max(1, min(viewport, WIDEST))  # review/V-50
