"""Plots and what-ifs in a real JupyterLab: in light and dark, as axe-core sees them, and with hostile names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import axe_playwright_python
import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from browser import Notebook, OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

LOG, ASKED, PLOT, CURVE = 0, 1, 2, 3
LESSON = (
    "import workbook as wb\nlog = wb.call_log()\nlog",
    "wb.what_if(log, mode='write')",
    "hostile = '<img src=x onerror=\"window.hit=1\"> $x^2$ and $y$'\n"
    "wb.prompts(log, {'ask': 'always-ask', hostile: ('write', {'bash': 'allow'}), 'yolo': 'yolo'})",
    "from workbook.show.plots import curve\n"
    "curve('Calibration', {'you': [(0.35, 0.2), (0.8, 0.9)], 'others': [(0.35, 0.4), (0.95, 0.9)]},\n"
    "      x_axis='as sure as you said', y_axis='share that was right', diagonal=True, alt='Two rising lines.')",
)
#: The colour of a letter, and that of the page behind it, as the browser paints them.
PAINTED = "svg => getComputedStyle(svg.querySelector('text')).fill"
SERIOUS = """() => axe.run({ include: [['.jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output']] }).then(
    found => found.violations.filter(one => ['serious', 'critical'].includes(one.impact)).map(
        one => [one.id, one.nodes.map(node => node.html.slice(0, 120))]))"""


@pytest.fixture
def lesson(notebook: OpenNotebook) -> Notebook:
    opened = notebook(*LESSON)
    opened.run_all()
    return opened


def test_what_becomes_of_a_log_is_seen_named_and_read_in_light_and_in_dark(lesson: Notebook) -> None:
    """A picture takes the theme's colour, tables have names, labels are text, axe-core finds nothing serious."""
    page, painted = lesson.page, {}
    page.add_script_tag(path=Path(axe_playwright_python.__file__).with_name("axe.min.js"))
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lesson.theme(theme)
        for cell in (PLOT, CURVE):
            picture = lesson.output(cell).get_by_role("img")
            expect(picture.locator("svg")).to_be_visible()
            expect(lesson.output(cell).get_by_role("table")).to_be_visible()
            painted[theme, cell] = picture.locator("svg").evaluate(PAINTED)
        assert page.evaluate(SERIOUS) == []

    assert painted["JupyterLab Light", PLOT] != painted["JupyterLab Dark", PLOT]
    assert painted["JupyterLab Light", CURVE] != painted["JupyterLab Dark", CURVE]
    expect(lesson.output(PLOT).get_by_role("img")).to_have_accessible_name(
        "Bars for 3 settings. Of 1,500 calls, a person is asked about 602 under “ask”, 97 under "
        '“<img src=x onerror="window.hit=1"> $x^2$ and $y$”, 6 under “yolo”.'
    )
    expect(lesson.output(PLOT).locator("mjx-container, .MathJax, img")).to_have_count(0)
    assert page.evaluate("() => window.hit") is None

    expect(
        lesson.output(LOG).get_by_role("table", name="A day at the Cedar Seed Library: 1,500 calls")
    ).to_be_visible()
    expect(lesson.output(LOG)).to_contain_text("… and 1,490 more rows, not shown here")
    expect(lesson.output(ASKED)).to_contain_text("1,500 calls in mode write: 283 ask a person;")
    expect(lesson.output(ASKED).get_by_role("columnheader", name="rule")).to_be_visible()
