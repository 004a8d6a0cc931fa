"""Plots: bars and curves as a picture, each with its words and its table.

Series are told apart by hatch, marker or dash and named in a legend, so that the picture reads without its colours
too. Labels are untrusted text: no formula is read in them, and everything is escaped.

Where a host takes the style away (a notebook that is not trusted yet), the picture stays hidden and the table is
all there is, as in `draw_svg`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from labsim.describe.ledger import one_line, visible
from workbook.errors import WorkbookError
from workbook.show.grid import STYLE as TABLE_STYLE
from workbook.show.grid import Grid, as_text, body, wrapped
from workbook.show.plot_svg import INK, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Each is at least three times as dark as white, and at least three times as light as a dark theme's ground.
COLOURS: Final = ("#2f7fc1", "#c8641c", "#2b8a63", "#b0568f", "#857a1c", "#7466c4")
_HATCHES: Final = ("", "///", "...", "xx", "---", "\\\\\\")
_MARKERS: Final = "os^DvP"
_DASHES: Final = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))
_LABEL: Final = 30  # columns of a bar's label before it is broken
_LABEL_LINES: Final = 3
DIAGONAL: Final = "where both are equal"

STYLE: Final = (
    "<style>.cedar-plot>figure[hidden]{display:block;margin:.25rem 0;max-width:880px;"
    "color:var(--jp-content-font-color1,inherit)}</style>"
)


class CannotPlot(WorkbookError):
    """There is nothing to draw, or something that has no place on an axis. Attribute: `caption`."""

    def __init__(self, caption: str, problem: str, remedy: str) -> None:
        self.caption = caption
        super().__init__(one_line(f"The plot {caption!r}: {problem}. {remedy}"))


class Plot(Struct, frozen=True, kw_only=True):
    """A picture, what it shows in one or two sentences, and its numbers.

    `svg`: one `<svg>` element; its bytes vary with matplotlib's version, so comparisons leave them out. `alt`: what
    somebody who does not see the picture should know of it. `table`: every number that is drawn.
    """

    svg: str
    alt: str
    table: Grid

    @property
    def html(self) -> str:
        """The picture and its table as HTML that stands alone, with both style sheets."""
        return STYLE + TABLE_STYLE + self.body

    @property
    def body(self) -> str:
        """The picture, named by `alt`, and the table below it, for a page that has the two style sheets."""
        return (
            '<div class="cedar-plot mathjax_ignore tex2jax_ignore">'
            f'<figure hidden="hidden" role="img" aria-label="{escape(visible(self.alt))}">{self.svg}</figure>\n'
            f"{body(self.table)}</div>"
        )

    def __repr__(self) -> str:
        return as_text(self.table)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html}


def bars(
    caption: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    value_axis: str,
    alt: str,
    label_axis: str = "name",
) -> Plot:
    """Horizontal bars: one group for each label, and in it one bar for each series, in the order given.

    `series`: by name, one finite number for each label; at most six. `value_axis`: what the numbers count, with its
    unit. `label_axis`: what the labels are, which heads their column in the table.
    Raises: CannotPlot.
    """
    _checked_series(caption, series)
    if not labels:
        raise CannotPlot(caption, "there is no label", "Say in words that there is nothing yet.")
    for name, values in series.items():
        if len(values) != len(labels):
            found = f"the series {name!r} has {len(values)} numbers for {len(labels)} labels"
            raise CannotPlot(caption, found, "Give one number for each label.")
        _checked_numbers(caption, name, values)
    table = Grid(
        caption=f"{caption} ({value_axis})",
        columns=(label_axis, *series),
        rows=tuple(
            (label, *(_number(values[place]) for values in series.values())) for place, label in enumerate(labels)
        ),
        numbers=frozenset(range(1, len(series) + 1)),
    )
    shown = [_broken(label) for label in labels]
    thick = 0.8 / len(series)
    numbers = [value for values in series.values() for value in values]
    whole = all(value == int(value) for value in numbers)

    def draw(figure: Figure, axes: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        for number, values in enumerate(series.values()):
            places = [place + thick * (number + 0.5) - 0.4 for place in range(len(labels))]
            looks: dict[str, Any] = {"color": COLOURS[number], "edgecolor": INK, "hatch": _HATCHES[number]}
            axes.barh(places, values, thick, label=f"s{number}", linewidth=0.8, clip_on=False, **looks)
            for place, value in zip(places, values, strict=True):
                side = "left" if value >= 0 else "right"
                axes.annotate(
                    _number(value),
                    (value, place),
                    xytext=(4 if value >= 0 else -4, 0),
                    textcoords="offset points",
                    ha=side,
                    va="center_baseline",
                    annotation_clip=False,
                )
        axes.set_yticks(range(len(labels)), shown, parse_math=False)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.margins(x=0.12)
        if all(value >= 0 for value in numbers):
            axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=whole))
        _finish(figure, axes, caption, [*series], value_axis)

    lines = sum(max(1 + label.count("\n"), 1.4 * len(series) + 0.6) for label in shown)
    return Plot(
        svg=drawn(draw, height=1.1 + 0.17 * lines, salt=repr((caption, alt, table))),
        alt=alt,
        table=table,
    )


def curve(
    caption: str,
    points: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_axis: str,
    y_axis: str,
    alt: str,
    diagonal: bool = False,
) -> Plot:
    """Points joined in the order given, one line for each name.

    `points`: by name, pairs of finite numbers; at most six names, and a name may have no point. `diagonal`: also
    the line on which both axes say the same, and both axes from 0 to 1 unless the numbers need more.
    Raises: CannotPlot.
    """
    _checked_series(caption, points)
    if not any(points.values()):
        raise CannotPlot(caption, "there is no point", "Say in words that there is nothing yet.")
    for name, pairs in points.items():
        _checked_numbers(caption, name, [number for pair in pairs for number in pair])
    table = Grid(
        caption=caption,
        columns=("line", x_axis, y_axis),
        rows=tuple((name, _number(x), _number(y)) for name, pairs in points.items() for x, y in pairs),
        header=1,
        group=0,
        numbers=frozenset({1, 2}),
    )

    def draw(figure: Figure, axes: Axes) -> None:
        for number, pairs in enumerate(points.values()):
            axes.plot(
                [x for x, _ in pairs],
                [y for _, y in pairs],
                color=COLOURS[number],
                marker=_MARKERS[number],
                linestyle=_DASHES[number],
                label=f"s{number}",
                clip_on=False,
                markersize=6,
                markeredgecolor=INK,
            )
        if diagonal:
            ends = [number for pairs in points.values() for pair in pairs for number in pair]
            low, high = min(0.0, *ends), max(1.0, *ends)
            axes.plot([low, high], [low, high], color=INK, linestyle=(0, (1, 2)), linewidth=1, label="diagonal")
            axes.set_xlim(low, high)
            axes.set_ylim(low, high)
        axes.set_ylabel(visible(y_axis), parse_math=False)
        axes.yaxis.set_major_formatter(_by_hand)
        axes.grid(color=INK, alpha=0.2, linewidth=0.5)
        _finish(figure, axes, caption, [*points, *[DIAGONAL] * diagonal], x_axis)

    return Plot(svg=drawn(draw, height=4.2, salt=repr((caption, alt, table, diagonal))), alt=alt, table=table)


def _finish(figure: Figure, axes: Axes, caption: str, names: Sequence[str], x_axis: str) -> None:
    """What both kinds share: the title, the legend where there is more than one name, the lower axis."""
    axes.set_xlabel(visible(x_axis), parse_math=False)
    axes.xaxis.set_major_formatter(_by_hand)
    figure.suptitle(visible(caption), x=0.01, ha="left", fontsize=10, fontweight="bold", parse_math=False)
    if len(names) < 2:
        return
    columns = min(len(names), 3)
    legend = figure.legend(loc="outside lower left", ncols=columns, handlelength=2.6, handleheight=1.2)
    # A name may begin with an underscore, which matplotlib takes for "not in the legend": it comes in afterwards.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(_broken(name))


def _by_hand(value: float, place: object) -> str:
    """The number at a tick of an axis, as matplotlib asks for it."""
    return _number(round(value, 9))  # 0.6000000000000001 is how it counts up to 0.6


def _checked_series(caption: str, series: Mapping[str, Any]) -> None:
    if not series:
        raise CannotPlot(caption, "there is no series", "Say in words that there is nothing yet.")
    if len(series) > len(COLOURS):
        found = f"{len(series)} series, and more than {len(COLOURS)} cannot be told apart"
        raise CannotPlot(caption, found, "Draw several plots, or show a table.")


def _checked_numbers(caption: str, name: str, numbers: Sequence[float]) -> None:
    for number in numbers:
        if not math.isfinite(number):
            raise CannotPlot(caption, f"{name!r} has the number {number}", "Leave it out, and say so in words.")


def _broken(label: str) -> str:
    """A label in a few short lines; a sign at the end says that there is more."""
    lines = [line for line in wrapped(visible(label), _LABEL) if line] or [" "]
    if len(lines) > _LABEL_LINES:
        lines = [*lines[: _LABEL_LINES - 1], f"{lines[_LABEL_LINES - 1][:-2]} …"]
    return "\n".join(lines)


def _number(value: float) -> str:
    """A number as a person writes it: whole ones with commas, others with at most three digits after the point."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.3f}".rstrip("0") if abs(value) >= 0.001 else f"{value:.3g}"
