"""A picture that is not a sequence: its plain form, its SVG, and a list in words for who does not see it."""

from __future__ import annotations

from html import escape
from typing import Final

from msgspec import Struct

from labsim.describe.ledger import visible
from workbook.pictures.svg import STYLE

WIDTH: Final = 880  # px of every picture, which shrinks with its cell but never grows
LINE: Final = 16  # px from one line of text to the next
LETTER: Final = 7.0  # px of a letter, rather too much than too little: fonts differ


class Picture(Struct, frozen=True, kw_only=True):
    """One picture. `text`: the plain form. `pieces`: SVG elements, escaped; `height`: px. `listed`: it in words."""

    caption: str
    text: str
    pieces: tuple[str, ...]
    height: float
    listed: tuple[str, ...]

    @property
    def svg(self) -> str:
        """The picture alone; its colours come from the page around it."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height:g}" aria-hidden="true">'
            f"{''.join(self.pieces)}</svg>"
        )

    @property
    def html(self) -> str:
        """The picture with its caption, and the list where styles are taken away or read aloud."""
        caption = visible(self.caption)
        name = f"{caption}. A list of what it shows follows."
        items = "".join(f"<li>{escape(visible(line))}</li>\n" for line in self.listed)
        return (
            f'<div class="cedar-scene mathjax_ignore tex2jax_ignore">{STYLE}'
            f"<p><strong>{escape(caption)}</strong></p>\n"
            f'<figure hidden="hidden" role="img" aria-label="{escape(name)}">{self.svg}</figure>\n'
            f"<ol>{items}</ol></div>"
        )

    def __repr__(self) -> str:
        return f"{visible(self.caption)}\n\n{visible(self.text)}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html}


def label(text: str, x: float, y: float, kind: str = "", anchor: str = "start") -> str:
    """One line of text. `kind`: a class of the style; `name` is bold, `dim` is faint."""
    look = f' class="{kind}"' if kind else ""
    side = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text{look} x="{x:g}" y="{y:g}"{side}>{escape(visible(text))}</text>\n'


def box(x: float, y: float, width: float, height: float, *lines: str, bold: int = 1) -> str:
    """A box with lines of text in it, the first `bold` of them bold."""
    texts = "".join(
        label(line, x + 10, y + LINE * number + 2, "name" if number <= bold else "")
        for number, line in enumerate(lines, start=1)
    )
    rect = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'
    return f'<g class="box">{rect}{texts}</g>\n'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "tell") -> str:
    """A straight line; `kind` as the strokes of a sequence: `effect` is thick, `answer` dashed, `life` faint."""
    return f'<g class="{kind}"><line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/></g>\n'


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line with a head at its end, level or upright."""
    if y1 == y2:
        way = 1 if x2 > x1 else -1
        head = f"M{x2:g} {y2:g}l{-8 * way} -4.5v9z"
    else:
        way = 1 if y2 > y1 else -1
        head = f"M{x2:g} {y2:g}l-4.5 {-8 * way}h9z"
    return f'{line(x1, y1, x2, y2)}<path class="head" d="{head}"/>\n'


def cross(x: float, y: float) -> str:
    """A small cross: something ends, or is refused."""
    return f'<path d="M{x - 5:g} {y - 5:g}l10 10m0 -10l-10 10"/>\n'
