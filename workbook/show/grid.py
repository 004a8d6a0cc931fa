"""A small table as text and as HTML: what every table of the workbook looks like.

Cells are untrusted text: control characters are made visible here once more, and HTML is escaped here and nowhere
else. The HTML reads well in three places: in JupyterLab with its theme's colours, where only the style is taken
away (a notebook that is not trusted, a code host), and read aloud (caption, scoped headers, no empty header cell).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Final

from msgspec import Struct

from labsim.describe.ledger import visible

WIDTH: Final = 110  # columns of the plain form; a terminal and a code host show them without a scroll bar
_GAP: Final = "  "
_NARROWEST: Final = 8  # columns that are too wide together are not squeezed below this


class Grid(Struct, frozen=True, kw_only=True):
    """Rows of text under named columns.

    `group`: the column that holds for several rows in a row, shown once for them; None for none.
    `header`: the column that names a row. `numbers`: the columns that are aligned to the right.
    `marked`: rows set off, by their place; a cell of theirs says why, so that colour is never the only sign.
    `left_out`: how many rows follow that are not shown.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    header: int = 0
    group: int | None = None
    numbers: frozenset[int] = frozenset()
    marked: frozenset[int] = frozenset()
    left_out: int = 0

    def groups(self) -> Iterator[tuple[str, list[int]]]:
        """The runs of rows that share their group cell, with their places; all rows in one where none group."""
        if self.group is None:
            yield "", list(range(len(self.rows)))
            return
        place = self.group
        for name, run in groupby(range(len(self.rows)), key=lambda number: self.rows[number][place]):
            yield name, list(run)

    @property
    def closing(self) -> str:
        """The words for the rows left out; "" if none are."""
        if not self.left_out:
            return ""
        rows = "1 more row" if self.left_out == 1 else f"{self.left_out:,} more rows"
        return f"… and {rows}, not shown here; the table has them."


# --------------------------------------------------------------------------------------------------- plain text


def as_text(grid: Grid, width: int = WIDTH) -> str:
    """The table in plain text, columns aligned, long cells wrapped so that no line is longer than `width`."""
    cells = [[visible(cell) for cell in row] for row in grid.rows]
    widths = _fitted(grid, cells, width)
    lines = list(wrapped(visible(grid.caption), width))
    lines += ["", *_row_lines(grid, grid.columns, widths), _GAP.join("-" * size for size in widths)]
    for number, (_, run) in enumerate(grid.groups()):
        if number and grid.group is not None:
            lines.append("")
        for place in run:
            row = list(cells[place])
            if grid.group is not None and place != run[0]:
                row[grid.group] = ""
            lines += _row_lines(grid, row, widths)
    if grid.closing:
        lines += ["", grid.closing]
    return "\n".join(line.rstrip() for line in lines)


def columns_of(text: str) -> int:
    """How many terminal columns `text` takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def wrapped(text: str, width: int) -> Iterator[str]:
    """`text` in lines of at most `width` columns: broken at blanks, and inside a word only if it must be.

    Line breaks are kept, and so is an indent, which the lines that follow share.
    """
    for paragraph in text.split("\n"):
        if columns_of(paragraph) <= width:
            yield paragraph
            continue
        words = paragraph.lstrip(" ")
        indent = " " * min(len(paragraph) - len(words), width // 2)
        for line in _filled(words, width - len(indent)):
            yield indent + line


def _filled(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if columns_of(longer) <= width:
            line = longer
            continue
        if line:
            yield line
        line = word
        while columns_of(line) > width:
            head = _head(line, width)
            yield head
            line = line[len(head) :]
    yield line


def _head(word: str, width: int) -> str:
    """As much of the start of `word` as fits, and at least one character; up to a comma where one is near."""
    taken = 0
    for place, character in enumerate(word):
        taken += columns_of(character)
        if taken > width:
            comma = word.rfind(",", place // 2, place)
            return word[: comma + 1] if comma > 0 else word[: max(place, 1)]
    return word


def _fitted(grid: Grid, cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """A width for each column: as wide as its text, unless all together are too wide; then the widest give way."""
    natural = [columns_of(name) for name in grid.columns]
    for row in cells:
        for column, cell in enumerate(row):
            natural[column] = max(natural[column], *map(columns_of, cell.split("\n")))
    room = width - len(_GAP) * (len(natural) - 1)
    fitted = [0] * len(natural)
    for left, (size, column) in zip(
        range(len(natural), 0, -1), sorted((size, column) for column, size in enumerate(natural)), strict=True
    ):
        fitted[column] = min(size, max(room // left, _NARROWEST))
        room -= fitted[column]
    return fitted


def _row_lines(grid: Grid, row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    columns = [list(wrapped(cell, size)) for cell, size in zip(row, widths, strict=True)]
    for number in range(max(map(len, columns), default=0)):
        parts = []
        for column, (lines, size) in enumerate(zip(columns, widths, strict=True)):
            text = lines[number] if number < len(lines) else ""
            blanks = " " * (size - columns_of(text))
            parts.append(blanks + text if column in grid.numbers else text + blanks)
        yield _GAP.join(parts)


# --------------------------------------------------------------------------------------------------------- HTML

# Each class is doubled to win over the host's own rules for tables, in whatever order they come.
STYLE: Final = (
    "<style>"
    ".cedar-table.cedar-table{border-collapse:collapse;max-width:60rem;table-layout:auto;margin:.25rem 0;"
    "color:var(--jp-content-font-color1,inherit);font-size:var(--jp-ui-font-size1,.9em);line-height:1.45}"
    ".cedar-table.cedar-table caption{caption-side:top;text-align:left;font-weight:600;padding:.25rem .6em;"
    "color:inherit;width:max-content;max-width:58rem}"
    ".cedar-table.cedar-table th,.cedar-table.cedar-table td{padding:.3em .6em;white-space:pre-wrap;"
    "overflow-wrap:anywhere;border:0;line-height:1.4;font-weight:400}"
    ".cedar-table.cedar-table thead th{font-weight:600;white-space:nowrap;vertical-align:bottom}"
    ".cedar-table.cedar-table thead{border-bottom:1px solid var(--jp-border-color0,currentColor)}"
    ".cedar-table.cedar-table tbody+tbody{border-top:1px solid var(--jp-border-color1,#8888)}"
    ".cedar-table.cedar-table th[scope=rowgroup]{font-weight:600;background:var(--jp-layout-color0,transparent)}"
    ".cedar-table.cedar-table .cedar-differs>*{font-weight:600}"
    ".cedar-table.cedar-table .cedar-differs>:first-child{"
    "box-shadow:inset 3px 0 0 var(--jp-error-color1,currentColor)}"
    "</style>"
)
_SHORT: Final = 24  # characters; a column of cells this short is not wrapped, so that names stay in one piece
_LONG: Final = 90  # characters; a caption this long is wrapped, since it would be wider than a window at half size
_WRAPPED: Final = ";max-width:min(46rem,60vw)"


def body(grid: Grid) -> str:
    """The table as one HTML element without its style sheet. The same grid gives the same text, always."""
    whole = _in_one_piece(grid)
    looks = [_look(grid, column, whole=column in whole) for column in range(len(grid.columns))]
    # JupyterLab has MathJax go through HTML outputs, and two dollar signs in a tool's text would be a formula.
    parts = ['<div class="cedar-box mathjax_ignore tex2jax_ignore">', '<table class="cedar-table">\n']
    width = _WRAPPED if len(grid.caption) > _LONG else ""
    parts.append(f'<caption style="text-align:left{width}">{_text(grid.caption)}</caption>\n<thead><tr>')
    parts += [f'<th scope="col"{look}>{_text(name)}</th>' for name, look in zip(grid.columns, looks, strict=True)]
    parts.append("</tr></thead>\n")
    for name, run in grid.groups():
        parts.append("<tbody>")
        for place in run:
            parts.append('<tr class="cedar-differs">' if place in grid.marked else "<tr>")
            for column, cell in enumerate(grid.rows[place]):
                if column == grid.group:
                    if place == run[0]:
                        span = f' scope="rowgroup" rowspan="{len(run)}"'
                        parts.append(f"<th{span}{looks[column]}>{_text(name)}</th>")
                elif column == grid.header:
                    parts.append(f'<th scope="row"{looks[column]}>{_text(cell)}</th>')
                else:
                    parts.append(f"<td{looks[column]}>{_text(cell)}</td>")
            parts.append("</tr>\n")
        parts.append("</tbody>")
    parts.append("</table>")
    if grid.closing:
        parts.append(f"<p>{_text(grid.closing)}</p>")
    parts.append("</div>")
    return "".join(parts)


def _in_one_piece(grid: Grid) -> frozenset[int]:
    """The columns whose cells are not wrapped: all short ones, or of a table that is too wide only the header."""
    short = frozenset(
        column
        for column in range(len(grid.columns))
        if all(len(row[column]) <= _SHORT and "\n" not in row[column] for row in grid.rows)
    )
    widths = [
        max([columns_of(name), *(columns_of(row[column]) for row in grid.rows if column in short)])
        for column, name in enumerate(grid.columns)
    ]
    fits = sum(widths) + len(_GAP) * (len(widths) - 1) <= WIDTH
    return short if fits else short & {grid.header}


def _look(grid: Grid, column: int, *, whole: bool) -> str:
    """The style of one column's cells, said on each: JupyterLab keeps it where it does not trust `STYLE`."""
    side = "right" if column in grid.numbers else "left"
    return f' style="text-align:{side};vertical-align:top{";white-space:nowrap" if whole else ""}"'


def _text(text: str) -> str:
    """Text for an element: escaped, control characters visible, line breaks as such where no style is left."""
    return escape(visible(text)).replace("\n", "<br>")
