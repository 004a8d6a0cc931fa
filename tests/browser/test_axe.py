"""Every chapter's outputs in a real JupyterLab as axe-core sees them, in light and dark, and our pages outside it.

Each chapter is looked at as a learner meets it, run from top to bottom by nobody; some again with every question
answered. A change of theme takes longer than to look, so each look ends in the other theme.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_kit import barriers, cut_off, faint
from chapter_kit import OpenChapter
from class_kit import learner_name, work_by
from playwright.sync_api import Browser, expect
from progress_kit import bank

from workbook.chapter.catalogue import catalogue
from workbook.chapter.notebooks import notebooks_dir, notebooks_in
from workbook.checkpoint.kinds import PaperCheckpoint, content, scripted_answer
from workbook.classroom import report
from workbook.desk.open import open_chapter
from workbook.learner.records import Confidence, Key
from workbook.learner.store import Progress
from workbook.paper import worksheet
from workbook.progress.export_record import encode_work

if TYPE_CHECKING:
    from browser import Notebook, OpenNotebook, Window  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
THEME = "() => document.body.dataset.jpThemeName"
CHAPTERS = [path.name for path in notebooks_in(notebooks_dir())]
ANSWERED = {"01-boundary-desk.ipynb": "boundary-desk", "03-review-desk.ipynb": "review-desk"}
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'
NARROW, WIDE = {"width": 700, "height": 900}, {"width": 1280, "height": 1000}
CONTROLS = ".jp-NotebookPanel:not(.lm-mod-hidden) .cedar-control"


@pytest.fixture(scope="module")
def in_light_again(window: Window) -> Iterator[None]:
    """The server keeps the theme, and other tests come after these."""
    yield
    window.page.evaluate(
        "async n => { await window.jupyterapp.commands.execute('apputils:change-theme', { theme: n }) }", LIGHT
    )
    window.page.wait_for_function(f"n => ({THEME})() === n", arg=LIGHT)


def in_both_themes(lesson: Notebook) -> list[str]:
    """Everything in the theme that there is, then the colours in the other one."""
    found = barriers(lesson.page)
    lesson.theme(LIGHT if lesson.page.evaluate(THEME) == DARK else DARK)
    return found + faint(lesson.page)


def answer_all(folder: Path, chapter_id: str) -> None:
    """Every question of a chapter committed, as the scripted learner would."""
    for checkpoint in open_chapter(chapter_id).checkpoint_records:
        Progress(folder).commit(
            Key.of(chapter_id, checkpoint.id, content(checkpoint)),
            scripted_answer(checkpoint),
            kind=checkpoint.answer_kind,
            confidence=None if isinstance(checkpoint, PaperCheckpoint) else Confidence.UNSURE,
        )


@pytest.mark.usefixtures("in_light_again")
@pytest.mark.parametrize("name", CHAPTERS)
def test_nobody_is_kept_out_of_a_chapter(notebook: OpenNotebook, name: str) -> None:
    """No error, nothing serious, every group, table and picture named; in half a window no control is cut off."""
    chapter = OpenChapter(notebook, name)
    lesson = chapter.notebook
    expect(lesson.panel.locator(ERRORS)).to_have_count(0)

    found = in_both_themes(lesson)
    if name in ANSWERED:
        answer_all(chapter.folder, ANSWERED[name])
        chapter.run_all_again()
        for control in lesson.panel.locator(".cedar-control", has_text="Committed").all()[:4]:
            control.get_by_role("button", name="Reveal", exact=True).click()
            expect(control.get_by_role("status")).not_to_have_text("Committed. Your answer is locked.")
        found += in_both_themes(lesson)
    lesson.page.set_viewport_size(NARROW)

    assert found == []
    assert cut_off(lesson.page, CONTROLS) == []


def test_nobody_is_kept_out_of_a_class_report_or_a_worksheet(chromium: Browser, tmp_path: Path) -> None:
    """Whole pages of our own: they have a language, a title and headings as well, and fit a narrow window."""
    asked = bank()
    handed_in = tmp_path / "handed-in"
    handed_in.mkdir()
    for number in range(6):
        (handed_in / f"{learner_name(number)}.json").write_bytes(encode_work(work_by(number, asked)))
    (handed_in / "foreign.json").write_text("{}")
    report.write(handed_in, tmp_path / "report", bank=asked)
    sheet = worksheet.write(catalogue().find("boundary-desk"), tmp_path / "sheet.html")
    page = chromium.new_page(viewport=WIDE, color_scheme="light")

    for path in (tmp_path / "report" / "index.html", sheet):
        page.goto(path.as_uri())
        found = barriers(page, "html")
        page.emulate_media(color_scheme="dark")
        found += faint(page, "html")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(NARROW)
        found += cut_off(page, "main")
        page.set_viewport_size(WIDE)
        assert found == []
    page.close()


BARRIERS = """<main>
<p style="color: #aaa; background: #fff">faint</p>
<button></button>
<input type="radio" name="a" aria-label="alone">
<fieldset><legend>Which?</legend><label><input type="radio" name="b">B</label>
<label><input type="radio" name="c">C</label></fieldset>
<div role="group">no name</div>
<table><tr><th>n</th></tr><tr><td>1</td></tr></table>
<table><caption>Named</caption><tr><td>1</td></tr></table>
<img src="data:,">
<svg width="9" height="9"><text>a</text></svg>
<div class="cedar-control"><p role="status"></p><p aria-live="polite"></p></div>
<div style="width: 90px"><div class="cedar-control" style="width: 200px">wide</div></div>
</main>"""


def test_what_keeps_somebody_out_is_found(chromium: Browser) -> None:
    """The counter-check: a page with one of each fault, and each of them is told, with its element."""
    page = chromium.new_page(viewport=WIDE)
    page.set_content(BARRIERS)
    found = [one.partition(":")[0] for one in barriers(page, "main")]

    assert sorted(found) == sorted(
        [
            *("color-contrast", "button-name", "image-alt"),
            *("a radio in no named group", "two names in one group", "two names in one group"),
            *("a group without a name", "a button without a name", "a table without a caption"),
            *("a header without a scope", "a table without headers", "a picture without a text"),
            *("a drawing without a text", "2 live regions", "0 live regions"),
        ]
    )
    assert [one.partition(":")[0] for one in faint(page, "main")] == ["color-contrast"]
    assert [one.partition(":")[0] for one in cut_off(page, "main div", settled_ms=1)] == ["200 in 90"]
    page.close()
