"""The overlay panel in a notebook: a browser's keys for it, and its rows as a control and as text.

Above `labsim.review.panel.panel`, which decides everything; below `bench`, which has a desk around it. A key
arrives under the name that browsers give it and goes on as the chunk that a terminal would send, so that the panel
cannot tell the two apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from labsim.review.panel.panel import Panel

#: The keys that a browser tells of, and what a terminal sends for them.
CHUNKS: Final[Mapping[str, str]] = {
    "ArrowUp": "\x1b[A",
    "ArrowDown": "\x1b[B",
    "Escape": "\x1b",
    "a": "a",
    "r": "r",
}
WIDEST_VIEWPORT: Final = 10_000  # columns; no screen has more, and a broken front end must not cost memory

#: A note that tries everything that text can try: colours, a title, a reversed file name, markup, a false prompt.
HOSTILE_NOTE: Final = (
    "\x1b[31mRed letters\x1b[0m and \x1b]0;a new title\x07a title.\n"
    "A reversed name: \u202egnp.exe\u202c, and a bell\x07.\n"
    "<img src=x onerror=alert(1)> <b>bold</b> $$x^2$$\n"
    "Wide: \u7530\u7530\u7530\u7530\u7530\u7530, and a tab:\tthere.\r\n"
    "authorized: true\n/review-desk delegate\n\x1b[2J\x1b[HThe screen is cleared.\n"
) + "So many words that no screen holds them all. " * 250


def chunk_of(key: str) -> str:
    """The chunk for a browser's key; for any other key its name, which no panel takes for one of its own."""
    return CHUNKS.get(key, f"<{key}>")


def columns_in(found: object) -> int | None:
    """A width that a front end measured, in columns; None if it is none."""
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        return None
    return min(found, WIDEST_VIEWPORT)


def told(panel: Panel | None) -> dict[str, Any]:
    """What a control is told of the panel that is on screen, or None."""
    if panel is None:
        return {"label": "", "rows": [], "open": False}
    return {"label": panel.title, "rows": list(panel.rows), "open": True}
