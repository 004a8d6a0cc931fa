"""A sequence diagram as an SVG inside HTML, and as a list in words for everyone who does not see the picture.

The picture takes its colours from JupyterLab's theme, or from whatever surrounds it, so it is right in light and
in dark. It has no ids (two pictures in one page cannot disturb each other) and no script. All text is untrusted
and escaped here.

Three readers are served by one piece of HTML. Where the style is respected, the picture shows and the list is only
read aloud. Where a host takes styles and SVG away (a notebook that is not trusted yet, a code host), the `hidden`
attribute keeps the remains of the picture out of sight, and the list shows instead. The attribute is undone by the
style alone, so the two cannot both be missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from workbook.ledgers.played import WAITING
from workbook.pictures.scene import Lane, Message, Scene, Stroke
from workbook.show.grid import columns_of, wrapped

# All measures in px of the picture, which shrinks with its cell but never grows.
_WIDTH: Final = 880
_GUTTER: Final = 34  # for the numbers of the ledger
_EDGE: Final = 76  # half of an outermost lane
_HEAD: Final = 30  # height of a lane's label
_LINE: Final = 15  # distance of two lines of text
_ABOVE: Final = 12  # free space over the words of a message
_TIP: Final = 8  # length of an arrow's head
_LETTER: Final = 6.5  # a letter's width, rather too much than too little: fonts differ
_BOLD: Final = 7.4  # the same, of a name
_LINES: Final = 3  # lines of words under a message's name; the rest is in the tooltip and in the list
_NARROW: Final = 176  # words may be this wide even where the arrow is shorter

STYLE: Final = (
    "<style>"
    ".cedar-scene{position:relative;max-width:880px;color:var(--jp-content-font-color1,inherit)}"
    ".cedar-scene>figure[hidden]{display:block;margin:0}"
    ".cedar-scene>ol{position:absolute;width:1px;height:1px;margin:0;padding:0;overflow:hidden;"
    "clip-path:inset(50%);white-space:nowrap}"
    ".cedar-scene>p{margin:.25rem 0 .5rem;font-size:var(--jp-ui-font-size1,.9em)}"
    ".cedar-scene svg{display:block;width:100%;height:auto;"
    "font:12px/1 var(--jp-ui-font-family,system-ui,sans-serif)}"
    ".cedar-scene text{fill:currentColor;stroke:var(--jp-layout-color0,var(--vscode-editor-background,Canvas));"
    "stroke-width:4px;stroke-linejoin:round;paint-order:stroke}"
    ".cedar-scene .name{font-weight:600}"
    ".cedar-scene .dim{fill:var(--jp-content-font-color2,currentColor)}"
    ".cedar-scene .box text,.cedar-scene .waits text,.cedar-scene .lane text{stroke:none}"
    ".cedar-scene line,.cedar-scene path{stroke:currentColor;stroke-width:1.3;fill:none}"
    ".cedar-scene .life{stroke:var(--jp-border-color1,#8888)}"
    ".cedar-scene .rule{stroke:var(--jp-border-color2,#8884);stroke-dasharray:2 3}"
    ".cedar-scene .head{fill:currentColor;stroke:none}"
    ".cedar-scene rect{fill:var(--jp-layout-color2,#8882);stroke:var(--jp-border-color1,#8888)}"
    ".cedar-scene .answer line,.cedar-scene .refuse line{stroke-dasharray:5 4}"
    ".cedar-scene .refuse{color:var(--jp-error-color1,currentColor)}"
    ".cedar-scene .refuse text{color:var(--jp-content-font-color1,currentColor)}"
    ".cedar-scene .effect line{stroke-width:3}"
    ".cedar-scene .waits rect{stroke-dasharray:4 3;stroke:currentColor}"
    "</style>"
)


def as_html(scene: Scene) -> str:
    """The picture, its caption and its list, as one HTML element. The same scene gives the same text, always."""
    messages = [message for part in scene.parts for message in part.messages]
    lanes = ", ".join(label for _, label in scene.lanes)
    name = f"Sequence diagram: {scene.caption}. {len(messages)} events between {lanes}. A list of them follows."
    return "".join(
        (
            # As in `grid`: a tool's text with two dollar signs is no formula.
            '<div class="cedar-scene mathjax_ignore tex2jax_ignore">',
            STYLE,
            f"<p><strong>{escape(scene.caption)}</strong></p>\n",
            f'<figure hidden="hidden" role="img" aria-label="{escape(name)}">{as_svg(scene)}</figure>\n',
            *_listed(scene),
            f"<p>{escape(scene.closing)}</p>" if scene.closing else "",
            "</div>",
        )
    )


def as_svg(scene: Scene) -> str:
    """The picture alone; its colours come from the style of `as_html`, or are black on nothing."""
    drawing = _Drawing(scene)
    drawing.draw()
    return drawing.svg()


def _listed(scene: Scene) -> Iterator[str]:
    yield "<ol>"
    for part in scene.parts:
        title = part.title if len(scene.parts) > 1 else ""
        for message in part.messages:
            yield f'<li value="{message.number}">{escape(_sentence(scene, title, message))}</li>\n'
    if scene.waits_for is not None:
        yield f"<li>{escape(scene.label(scene.waits_for))}: {WAITING}</li>"
    yield "</ol>"


def _sentence(scene: Scene, title: str, message: Message) -> str:
    source, target = scene.label(message.source), scene.label(message.target)
    way = source if message.source is message.target else f"{source} → {target}"
    words = f"{message.name}: {message.says}" if message.says else message.name
    return f"{title}, {way}: {words}" if title else f"{way}: {words}"


class _Drawing:
    """Collects the pieces from top to bottom; `_y` is where the next one begins."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._at = _places(scene)
        self._y = float(_HEAD + 8)
        self._pieces: list[str] = []

    def draw(self) -> None:
        for part in self._scene.parts:
            if part.title:
                self._rule(part.title)
            for message in part.messages:
                self._message(message)
        if self._scene.waits_for is not None:
            self._box(self._scene.waits_for, [WAITING], [])

    def svg(self) -> str:
        height = self._y + 14
        lines = "".join(
            f'<line class="life" x1="{x}" y1="{_HEAD}" x2="{x}" y2="{height:g}"/>' for x in self._at.values()
        )
        heads = "".join(self._head(lane, label) for lane, label in self._scene.lanes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" aria-hidden="true">'
            f"{lines}{heads}{''.join(self._pieces)}</svg>"
        )

    def _head(self, lane: Lane, label: str) -> str:
        x, half = self._at[lane], max(_size(label, _BOLD) / 2 + 8, 36)
        return (
            f'<g class="lane"><rect x="{x - half:g}" y="1" width="{2 * half:g}" height="{_HEAD - 2}" rx="4"/>'
            f'<text class="name" x="{x}" y="{_HEAD / 2 + 4:g}" text-anchor="middle">{escape(label)}</text></g>\n'
        )

    def _rule(self, title: str) -> None:
        self._y += 34 if self._pieces else 18
        self._pieces.append(
            f'<line class="rule" x1="0" y1="{self._y:g}" x2="{_WIDTH}" y2="{self._y:g}"/>'
            f'<text class="name" x="0" y="{self._y - 5:g}">{escape(title)}</text>\n'
        )

    def _message(self, message: Message) -> None:
        full = f"{message.number}. {message.name}: {message.says}".removesuffix(": ")
        if message.source is message.target:
            room = 330 if self._at[message.source] < _WIDTH - 340 else 300
            self._box(message.source, [message.name], _short(message.says, room), full, message.number)
        else:
            self._arrow(message, full)

    def _box(
        self, lane: Lane, names: Sequence[str], says: Sequence[str], full: str = "", number: int | None = None
    ) -> None:
        """A note on one lane; without a number it stands for something that has not happened."""
        width = _widest(names, says) + 20
        x = min(self._at[lane] - 10, _WIDTH - width - 1)
        self._y += _ABOVE
        top, height = self._y, _LINE * (len(names) + len(says)) + 6
        texts = [_line_of(name, x + 10, top + _LINE * row, "name") for row, name in enumerate(names, start=1)]
        texts += [_line_of(line, x + 10, top + _LINE * row, "") for row, line in enumerate(says, len(names) + 1)]
        self._pieces.append(
            f'<g class="{"waits" if number is None else "box"}">{_title(full)}'
            f'<rect x="{x:g}" y="{top:g}" width="{width:g}" height="{height}" rx="4"/>{"".join(texts)}</g>'
            f"{_number(number, top + _LINE)}\n"
        )
        self._y += height

    def _arrow(self, message: Message, full: str) -> None:
        source, target = self._at[message.source], self._at[message.target]
        left, right = sorted((source, target))
        room = max(right - left - 24, _NARROW)
        says = _short(message.says, room)
        width = _widest([message.name], says)
        middle = (left + right) / 2
        middle = min(max(middle, _GUTTER + width / 2), _WIDTH - width / 2 - 2)
        self._y += _ABOVE
        first = self._y + _LINE - 3
        texts = [_line_of(message.name, middle, first, "name", "middle")]
        texts += [
            _line_of(line, middle, first + _LINE * row, "", "middle") for row, line in enumerate(says, start=1)
        ]
        self._y += _LINE * (1 + len(says)) + 5
        y, way = self._y, 1 if target > source else -1
        tip = target - way  # the point of the arrow touches the lane's line
        if message.stroke is Stroke.REFUSE:
            end = tip - way * 6
            head = f'<path d="M{end - 5:g} {y - 5:g}l10 10m0 -10l-10 10"/>'
        else:
            end = tip - way * _TIP
            head = f'<path class="head" d="M{tip:g} {y:g}l{-way * _TIP} -4.5v9z"/>'
        self._pieces.append(
            f'<g class="{message.stroke.value}">{_title(full)}'
            f'<line x1="{source}" y1="{y:g}" x2="{end:g}" y2="{y:g}"/>{head}{"".join(texts)}</g>'
            f"{_number(message.number, y + 4)}\n"
        )
        self._y += 4


def _places(scene: Scene) -> Mapping[Lane, int]:
    """Where each lane's line is: spread evenly, so that a lane has the same place in every diagram of a kind."""
    lanes = [lane for lane, _ in scene.lanes]
    free = _WIDTH - _GUTTER - 2 * _EDGE
    step = free / max(len(lanes) - 1, 1)
    return {lane: round(_GUTTER + _EDGE + number * step) for number, lane in enumerate(lanes)}


def _size(text: str, letter: float = _LETTER) -> float:
    return columns_of(text) * letter


def _widest(names: Sequence[str], says: Sequence[str]) -> float:
    return max(*(_size(name, _BOLD) for name in names), *map(_size, says), 0)


def _short(says: str, room: float) -> list[str]:
    """The words in at most `_LINES` lines; a sign at the end says that there is more."""
    if not says:
        return []
    lines = list(wrapped(says, int(room / _LETTER)))
    if len(lines) <= _LINES:
        return lines
    return [*lines[: _LINES - 1], f"{lines[_LINES - 1][:-2].rstrip(' .,')} …"]


def _line_of(text: str, x: float, y: float, kind: str, anchor: str = "start") -> str:
    look = f' class="{kind}"' if kind else ""
    side = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text{look} x="{x:g}" y="{y:g}"{side}>{escape(text)}</text>'


def _number(number: int | None, y: float) -> str:
    return (
        ""
        if number is None
        else f'<text class="dim" x="{_GUTTER - 14}" y="{y:g}" text-anchor="end">{number}</text>'
    )


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
