"""Whole HTML pages from templates.

A page names its texts and Jinja puts them in: every value is made visible and escaped on its way, unless it is
`Markup` that this package made. Jinja is what nbconvert and JupyterLab render with, so it is installed anyway.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from labsim.describe.ledger import visible
from workbook.show.cited import rules_to_say
from workbook.show.grid import Grid, body
from workbook.show.plots import Plot


def rendered(template: str, **values: Any) -> str:
    """The page that `template`, a file of `templates/` without its ending, makes of `values`.

    The same values give the same text. Raises: jinja2.UndefinedError, for a name that the template uses and nobody
    gave, so that nothing is left blank in silence.
    """
    return _environment().get_template(f"{template}.html.jinja").render(**values)


def number(count: int) -> str:
    """A count as it is written: 1,234."""
    return f"{count:,}"


def many(count: int, what: str) -> str:
    """A count with what it counts, in the plural where it is not 1."""
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("workbook.show"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(lines=_lines, css_string=_css_string, number=number, many=many)
    made.globals.update(table=_table, plot=_plot, rules_to_say=lambda text: rules_to_say([text])[0])
    return made


def _shown(value: Any) -> Any:
    """Text as a page may show it. Control characters are no markup to Jinja, and would be lost or obeyed."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _lines(text: str) -> Markup:
    """Text whose line breaks are kept where no style is left."""
    return Markup("<br>").join(escape(line) for line in visible(text).split("\n"))


def _css_string(text: str) -> Markup:
    """A text as a string of a style sheet: everything but letters, digits and blanks by its number."""
    shown = visible(text)
    return Markup('"' + "".join(one if one.isalnum() or one == " " else f"\\{ord(one):X} " for one in shown) + '"')


def _table(grid: Grid) -> Markup:
    return Markup(body(grid))


def _plot(plot: Plot) -> Markup:
    return Markup(plot.body)
