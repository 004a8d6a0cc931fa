"""What a learner is shown, as blocks of text, and the three forms they take: text, HTML, data for a control.

Knows nothing of cases or answers. Text comes in as it is, often from a tool or a person, and is never markup: it
is escaped here and in `grid` and nowhere else, and controls set it as text. So a page cannot say one thing in a
browser and another on paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from labsim.describe.ledger import visible
from workbook.show.cited import rules_to_say
from workbook.show.grid import STYLE, Grid, as_text, body, wrapped

WIDTH = 96  # columns of running text in the plain form; tables and code keep their own width


class _Block(Struct, frozen=True, kw_only=True, tag_field="block"):
    pass


class Heading(_Block, frozen=True, kw_only=True, tag="heading"):
    """The title of a page."""

    text: str


class Paragraph(_Block, frozen=True, kw_only=True, tag="paragraph"):
    """Running text. `lead` are its first words, set off: the verdict, or who speaks."""

    text: str
    lead: str = ""


class Items(_Block, frozen=True, kw_only=True, tag="items"):
    """A list, in no order that matters."""

    items: tuple[str, ...]


class Table(_Block, frozen=True, kw_only=True, tag="table"):
    """A table with its caption."""

    grid: Grid


class Literal(_Block, frozen=True, kw_only=True, tag="literal"):
    """Text of a tool, a person or a file, quoted with its line breaks. `label` says whose."""

    text: str
    label: str = ""


class Group(_Block, frozen=True, kw_only=True, tag="group"):
    """A part of a page under a title of its own; `marks` are short remarks on it, in words."""

    title: str
    marks: tuple[str, ...] = ()
    blocks: tuple[Block, ...]


class Fold(_Block, frozen=True, kw_only=True, tag="fold"):
    """A part that can be opened; on paper it is open."""

    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Heading | Paragraph | Items | Table | Literal | Group | Fold


class Page(Struct, frozen=True):
    """Blocks, one below the other. JupyterLab shows the HTML, everything else at least the text.

    `says_rules`: whether a last part says, in a sentence each, the rules that the blocks cite by their ids.
    """

    blocks: tuple[Block, ...]
    says_rules: bool = True

    def __str__(self) -> str:
        return "\n".join(_text(self.shown().blocks)).strip("\n")

    def html(self) -> str:
        """Every text escaped, no script, nothing from elsewhere; the style sheet of tables once, if there are any.

        The classes keep MathJax from reading two dollar signs as a formula.
        """
        blocks = self.shown().blocks
        style = "".join(sheet for sheet, kind in ((STYLE, Table), (_PRINTED, Fold)) if _has(kind, blocks))
        return f'<div class="cedar-page mathjax_ignore tex2jax_ignore">{style}{"".join(map(_html, blocks))}</div>'

    def data(self) -> list[dict[str, Any]]:
        """The blocks as plain values, for a control that sets each text as text."""
        made: list[dict[str, Any]] = msgspec.to_builtins(self.shown().blocks)
        return [dict(block) for block in made]

    def shown(self) -> Page:
        """The page with every character visible and every rule said, which is what all forms show."""
        said = rule_notes(_texts(self.blocks)) if self.says_rules else ()
        return Page(_shown((*self.blocks, *said)), says_rules=False)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.html()}


def _has(kind: type[Block], blocks: Iterable[Block]) -> bool:
    return any(
        isinstance(block, kind) or (isinstance(block, Group | Fold) and _has(kind, block.blocks))
        for block in blocks
    )


def page(*blocks: Block) -> Page:
    """A page of these blocks."""
    return Page(blocks)


def rule_notes(texts: Iterable[str]) -> tuple[Block, ...]:
    """What the rules say that `texts` cite, to be opened; nothing where they cite none, or say them themselves.

    What is kept back for an open question is counted, so that nobody takes the rest for all.
    """
    now, later = rules_to_say(texts)
    count = len(now) + len(later)
    parts: list[Block] = []
    if now:
        parts.append(Items(items=tuple(f"{rule.id}: {rule.says}" for rule in now)))
        parts.append(Paragraph(text=f'wb.rule("{now[0].id}") says how we know it, and shows its cases.'))
    if len(later) == 1:
        which = "It" if count == 1 else "One of them"
        parts.append(Paragraph(text=f"{which} is said once you have answered the question that turns on it."))
    elif later:
        which = f"{len(later)} of them"
        parts.append(Paragraph(text=f"{which} are said once you have answered the questions that turn on them."))
    title = "The rule named here, in a sentence"
    if count > 1:
        title = f"The {count} rules named here, in a sentence each"
    return (Fold(title=title, blocks=tuple(parts)),) if parts else ()


def _texts(value: Any) -> Iterator[str]:
    """Every text of a block, or of a part of one, in the order in which it is shown."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, Struct):
        for field in value.__struct_fields__:
            yield from _texts(getattr(value, field))


def _shown(value: Any) -> Any:
    """A block, or a part of one, with every character visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, tuple):
        return tuple(map(_shown, value))
    if isinstance(value, Struct):
        parts = {field: _shown(getattr(value, field)) for field in value.__struct_fields__}
        return msgspec.structs.replace(value, **parts)
    return value


# ------------------------------------------------------------------------------------------------- plain text


def _text(blocks: Iterable[Block]) -> Iterator[str]:
    """Lines, with an empty one between blocks."""
    for number, block in enumerate(blocks):
        if number:
            yield ""
        yield from _lines(block)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield block.text
            yield "=" * min(len(block.text), WIDTH)
        case Paragraph():
            yield from _filled(f"{block.lead} {block.text}" if block.lead else block.text)
        case Items():
            for item in block.items:
                yield from _filled(item, first="- ")
        case Table():
            yield from as_text(block.grid).split("\n")
        case Literal():
            if block.label:
                yield f"{block.label}:"
            yield from (f"    {line}" for line in block.text.split("\n"))
        case Group():
            marks = "".join(f" [{mark}]" for mark in block.marks)
            yield from _filled(f"{block.title}{marks}", first="* ")
            yield from _indented(block.blocks)
        case Fold():
            yield f"{block.title}:"
            yield from _indented(block.blocks)


def _indented(blocks: tuple[Block, ...]) -> Iterator[str]:
    for line in _text(blocks):
        yield f"  {line}" if line else ""


def _filled(text: str, first: str = "") -> Iterator[str]:
    """Running text in lines, the first of them with a mark, the others set in under it."""
    for number, line in enumerate(wrapped(text, WIDTH - len(first))):
        yield f"{' ' * len(first) if number else first}{line}"


# ------------------------------------------------------------------------------------------------------- HTML


# Paper cannot be opened.
_PRINTED: Final = (
    "<style>@media print{.cedar-page details::details-content{content-visibility:visible;block-size:auto}}</style>"
)
_SET_OFF: Final = "margin:1em 0;padding-left:.75em;border-left:3px solid var(--jp-border-color2,#ccc)"


def _html(block: Block) -> str:
    match block:
        case Heading():
            return f"<h4>{escape(block.text)}</h4>"
        case Paragraph():
            lead = f"<strong>{escape(block.lead)}</strong> " if block.lead else ""
            return f"<p>{lead}{_broken(block.text)}</p>"
        case Items():
            return f"<ul>{''.join(f'<li>{_broken(item)}</li>' for item in block.items)}</ul>"
        case Table():
            return body(block.grid)
        case Literal():
            label = f"<figcaption>{escape(block.label)}</figcaption>" if block.label else ""
            return f'<figure style="margin:0 0 .5em">{label}<pre>{escape(block.text)}</pre></figure>'
        case Group():
            marks = "".join(f" [{escape(mark)}]" for mark in block.marks)
            title = f"<h5><strong>{_broken(block.title)}</strong><em>{marks}</em></h5>"
            return f'<section style="{_SET_OFF}">{title}{"".join(map(_html, block.blocks))}</section>'
        case Fold():
            inner = "".join(map(_html, block.blocks))
            return f"<details><summary>{escape(block.title)}</summary>{inner}</details>"


def _broken(text: str) -> str:
    return escape(text).replace("\n", "<br>")
