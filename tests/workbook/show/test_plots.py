"""Plots: the same bytes in every process, words and numbers beside the picture, and no text read as markup."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbval.plugin import get_sanitize_patterns

from workbook.notebook import compare
from workbook.show.grid import Grid
from workbook.show.plots import COLOURS, DIAGONAL, CannotPlot, Plot, bars, curve

SVG = "{http://www.w3.org/2000/svg}"
PROGRAM = """
from workbook.show.plots import bars, curve
print(bars("Prompts", ["none", "deny"], {"write": [3, 4.5], "yolo": [0, 1]}, value_axis="prompts", alt="a").html)
print(curve("Calibration", {"you": [(0.35, 0.2), (0.6, 0.7)]}, x_axis="x", y_axis="y", diagonal=True, alt="b").html)
"""


def python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def small(caption: str = "Prompts", labels: tuple[str, ...] = ("none", "deny"), **more: Any) -> Plot:
    series = more.pop("series", {"write": [3, 4]})
    return bars(caption, labels, series, value_axis="prompts", alt=more.pop("alt", "Few."), **more)


def texts(plot: Plot) -> list[str]:
    """What is written in the picture, line by line, in no order that matters."""
    return sorted("".join(text.itertext()) for text in ElementTree.fromstring(plot.svg).iter(f"{SVG}text"))


@pytest.mark.slow
def test_two_processes_draw_the_same_bytes() -> None:
    """Design: the same run gives the same page; neither the hash seed nor the date is in it."""
    first, second = (python(PROGRAM, PYTHONHASHSEED=seed).stdout for seed in ("1", "2"))

    assert first == second
    assert first.count("<svg ") == 2


@pytest.mark.slow
def test_a_first_run_without_a_folder_to_write_to_says_nothing_on_stderr(tmp_path: Path) -> None:
    """What matplotlib says of fonts and folders is of no use to a learner, and their settings none to a plot."""
    settings_file = tmp_path / "matplotlibrc"
    settings_file.write_text("text.usetex: True\nno.such.setting: 1\nfont.family: no such font\n")
    program = PROGRAM.replace('"none"', '"種 🌱 مرحبا"')

    ran = python(program, MPLCONFIGDIR=os.devnull + "/none", MATPLOTLIBRC=str(settings_file))

    assert ran.stderr == ""
    assert "種 🌱 مرحبا" in ran.stdout


def test_importing_the_module_does_not_load_matplotlib() -> None:
    """It takes most of a second, and only those who draw shall wait for it."""
    assert python("import sys, workbook.show.plots; print('matplotlib' in sys.modules)").stdout == "False\n"


def test_a_plot_is_a_named_picture_and_a_table_of_every_number() -> None:
    """Nobody needs to see the picture: its words name it, and the table has all that is drawn."""
    plot = small(alt='Two bars & a "word".', label_axis="policy", series={"write": [1234, 0.5], "yolo": [0, -1]})

    assert plot.table == Grid(
        caption="Prompts (prompts)",
        columns=("policy", "write", "yolo"),
        rows=(("none", "1,234", "0"), ("deny", "0.5", "-1")),
        numbers=frozenset({1, 2}),
    )
    assert 'role="img" aria-label="Two bars &amp; a &quot;word&quot;."' in plot.html
    assert plot.html.index("<svg ") < plot.html.index("<table ")
    assert plot._repr_mimebundle_() == {"text/plain": repr(plot), "text/html": plot.html}
    assert repr(plot).splitlines()[0] == "Prompts (prompts)"


def test_a_curve_has_its_points_in_the_table_by_line() -> None:
    """Points are listed in the order given, and the line of equality is named in the legend."""
    plot = curve(
        "Calibration", {"you": [(0.35, 0.25), (0.95, 1)]}, x_axis="stated", y_axis="right", diagonal=True, alt="Up."
    )

    assert plot.table.columns == ("line", "stated", "right")
    assert plot.table.rows == (("you", "0.35", "0.25"), ("you", "0.95", "1"))
    assert {"you", DIAGONAL, "stated", "right", "Calibration"} <= set(texts(plot))


hostile = st.text(max_size=12) | st.sampled_from(
    [
        "$x^2$",
        "\\$",
        "<script>alert(1)</script>",
        "]]>",
        "&amp;",
        "_hidden",
        "{",
        "",
        "\x00\x1b",
        "\ud800",
        "url(#a)",
    ]
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.lists(hostile, min_size=4, max_size=4, unique=True), hostile, hostile)
def test_text_is_never_markup_whatever_it_is(names: list[str], caption: str, axis: str) -> None:
    """Names come from logs and people: every one of them makes a well-formed picture with no element of its own."""
    series = {names[0]: [1, 2], names[1]: [3, 4]}
    plots = [
        bars(caption, names[2:], series, value_axis=axis, alt=caption),
        curve(caption, {name: [(1, 2)] for name in names}, x_axis=axis, y_axis=axis, alt=caption),
    ]

    for plot in plots:
        found = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(plot.svg).iter()}
        assert found <= {"svg", "g", "path", "text", "tspan", "defs", "use", "pattern", "rect", "clipPath"}


def test_a_dollar_is_a_dollar_and_an_underscore_hides_nothing() -> None:
    """matplotlib would read a formula between dollars, and leave a name with an underscore out of the legend."""
    plot = small("$a$ and $b$", labels=("$x^2$", "<b>"), series={"_write": [1, 2], "$y$": [2, 1]})

    assert {"$a$ and $b$", "$x^2$", "<b>", "_write", "$y$"} <= set(texts(plot))
    assert "&lt;b&gt;" in plot.svg


def test_the_picture_takes_the_colour_of_the_text_around_it() -> None:
    """Light and dark: everything but the series is drawn in the page's own colour; nothing is black or white."""
    plot = small(series={f"s{number}": [1, 2] for number in range(6)})
    colours = set(re.findall(r"#[0-9a-f]{6}\b", re.sub(r"url\([^)]*\)|\bid=\S+", "", plot.svg)))

    assert colours == set(COLOURS)
    assert plot.svg.count("currentColor") > 20


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("ground", ["#ffffff", "#111111", "#212121"])
def test_every_colour_stands_out_on_light_and_on_dark(colour: str, ground: str) -> None:
    """WCAG 1.4.11: what carries meaning has a contrast of 3 to 1 with what is beside it."""
    light, dark = sorted((luminance(colour), luminance(ground)), reverse=True)

    assert (light + 0.05) / (dark + 0.05) >= 3


def test_no_series_is_told_apart_by_colour_alone() -> None:
    """WCAG 1.4.1: with every colour the same, the six hatches and the six markers are still all different."""
    names = [f"s{number}" for number in range(6)]
    hatched = ElementTree.fromstring(small(series={name: [1, 2] for name in names}).svg)
    lines = ElementTree.fromstring(
        curve("c", {name: [(1, 2), (2, 3)] for name in names}, x_axis="x", y_axis="y", alt="a").svg
    )
    hatches = ["".join(path.get("d", "") for path in pattern) for pattern in hatched.iter(f"{SVG}pattern")]
    dashes = re.findall(r"stroke-dasharray: ([^;]+)", ElementTree.tostring(lines, encoding="unicode"))
    shapes = {path.get("d") for path in lines.iter(f"{SVG}path") if path.get("id")}

    assert len(hatches) == len(set(hatches)) == 5  # and one that has none
    assert len(set(dashes)) == 5  # and one that is drawn through
    assert len(shapes) >= 6


def test_pictures_leave_nothing_loose_on_the_page() -> None:
    """No style sheet that holds for the whole notebook, no id without need, and none that two pictures share."""
    first, second = small("One"), small("Two", series={"write": [3, 4], "yolo": [1, 1]})
    ids = [set(re.findall(r'\bid="([^"]+)"', plot.svg)) for plot in (first, second)]

    for plot, own in zip((first, second), ids, strict=True):
        assert "<style" not in plot.svg
        assert "<script" not in plot.svg
        assert "http" not in plot.svg.replace("http://www.w3.org/2000/svg", "")
        assert own == _referenced(plot.svg)
    assert ids[0].isdisjoint(ids[1])


def _referenced(svg: str) -> set[str]:
    return {a or b for a, b in re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg)}


def test_a_learners_own_settings_stay_as_they_are() -> None:
    """Somebody who draws with matplotlib themselves finds it as they left it."""
    import matplotlib

    logger = logging.getLogger("matplotlib")
    before = dict(matplotlib.rcParams), logger.level

    small()

    assert (dict(matplotlib.rcParams), logger.level) == before


@pytest.mark.parametrize(
    ("labels", "series", "says"),
    [
        ((), {"s": []}, "The plot 'Prompts': there is no label. Say in words that there is nothing yet."),
        (("a",), {}, "The plot 'Prompts': there is no series. Say in words that there is nothing yet."),
        (
            ("a",),
            {"s": [1, 2]},
            "The plot 'Prompts': the series 's' has 2 numbers for 1 labels. Give one number for each label.",
        ),
        (
            ("a",),
            {"s": [float("nan")]},
            "The plot 'Prompts': 's' has the number nan. Leave it out, and say so in words.",
        ),
        (
            ("a",),
            {str(number): [1] for number in range(7)},
            "The plot 'Prompts': 7 series, and more than 6 cannot be told apart. "
            "Draw several plots, or show a table.",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(labels: tuple[str, ...], series: Any, says: str) -> None:
    """An empty or a broken plot is never drawn."""
    with pytest.raises(CannotPlot) as caught:
        small(labels=labels, series=series)

    assert str(caught.value) == says


def test_a_curve_without_points_is_not_drawn() -> None:
    """As for bars."""
    with pytest.raises(CannotPlot, match="there is no point"):
        curve("c", {"you": []}, x_axis="x", y_axis="y", alt="a")


# ----------------------------------------------------------------------------------------- the strict comparison


def sanitised(text: str) -> str:
    """As nbval does it, pair by pair."""
    for regex, replace in get_sanitize_patterns(compare.SANITISER.read_text(encoding="ascii")):
        text = re.sub(regex, replace, text)
    return text


def test_the_sanitiser_leaves_out_the_bytes_of_pictures_and_nothing_else() -> None:
    """Each picture becomes the word that there is one; what stands before, between and after is compared."""
    plots = [small(), small("Two", labels=("</svg>", "<svg>"))]
    kept = [plot.html.replace(plot.svg, "<svg/>") for plot in plots]

    assert sanitised("".join(plot.html for plot in plots)) == "".join(kept)
    for plot in plots:
        assert sanitised(repr(plot)) == repr(plot)
    diagram = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><text>kept</text></svg>'
    assert sanitised(diagram) == diagram


def test_nbval_finds_the_pair_in_the_file() -> None:
    """nbval is silent about a line that it cannot read, and decodes the file as the platform does: only ASCII."""
    text = compare.SANITISER.read_bytes().decode("ascii")

    assert [replace for _, replace in get_sanitize_patterns(text)] == ["<svg/>"]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A notebook with one plot in it, as its run showed it."""
    source = (
        "from workbook.show.plots import bars\n"
        "bars('Prompts', ['none', 'deny'], {'write': [3, 4]}, value_axis='prompts', alt='Few.')"
    )
    output = nbformat.v4.new_output("execute_result", data=small()._repr_mimebundle_(), execution_count=1)
    cell = nbformat.v4.new_code_cell(source, outputs=[output], execution_count=1)
    path = tmp_path / "plot.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [("<path ", '<path class="of another version" ', True), ('aria-label="Few."', 'aria-label="Many."', False)],
    ids=["other bytes of the picture", "other words for it"],
)
def test_a_saved_plot_holds_under_another_matplotlib_and_not_with_other_words(
    saved: Path, old: str, new: str, holds: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """nbval, strict, by way of `workbook check`: the picture's bytes are left out, its words are not."""
    notebook = json.loads(saved.read_bytes())
    html = notebook["cells"][0]["outputs"][0]["data"]["text/html"]
    changed = "".join(html).replace(old, new)
    notebook["cells"][0]["outputs"][0]["data"]["text/html"] = changed
    saved.write_text(json.dumps(notebook), encoding="utf-8")
    said: list[str] = []

    passed = compare.check([saved], say=said.append)

    assert changed != "".join(html)
    assert (passed, said) == (
        holds,
        [f"Notebooks: 1. Cells compared: 1. {'All as saved.' if holds else 'Not proved: plot.ipynb.'}"],
    ), capfd.readouterr().out[-3000:]
