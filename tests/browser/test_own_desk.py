"""One's own desk in a real JupyterLab: settings, a handler and a trace are written, tried, mended and broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbformat
import pytest
from chapter_kit import OpenChapter
from playwright.sync_api import expect

from workbook.chapter import copies
from workbook.chapter.notebooks import notebooks_dir, read_notebook

if TYPE_CHECKING:
    from browser import OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'
SETTINGS = "my_settings = {"
NEARLY = """my_settings = {
    "tools.approvalMode": "wirte",
    "tools.approval": {"mail_list": "deny", "mcp__almanac__look": "allow", "clear_bed": "prompt"},
}"""
HANDLER = "def handler(event, context):"
IN_PLACE = """def handler(event, context):
    event.input["count"] = 3"""
TRACE = "past_the_guard = {"
BROKEN = """past_the_guard = {"args": {"action": "inspect"}, "handlers": [{"revise": {"action": "publish"}}]}"""


CELLS = (
    "import workbook",
    SETTINGS,
    'desk.grade("the-open',
    HANDLER,
    'desk.grade("three',
    TRACE,
    'desk.grade("break-the-g',
)


@pytest.fixture
def chapter(notebook: OpenNotebook) -> OpenChapter:
    """A learner's copy of some cells of the chapter, run from top to bottom by nobody.

    Not of all of it: the whole chapter is run by another test, and takes a browser most of a minute.
    """
    clean = copies.clean(read_notebook(notebooks_dir() / "05-your-own-desk.ipynb"))
    clean.cells = [cell for cell in clean.cells if cell.source.startswith(CELLS)]
    nbformat.write(clean, notebook.folder / "some-cells.ipynb")
    return OpenChapter(notebook, "some-cells.ipynb")


def test_a_desk_is_set_up_mended_and_broken(chapter: OpenChapter) -> None:
    """Not attempted, not yet with the row that shows why, right, failed; a piece that falls; each try kept."""
    settings = chapter.output('desk.grade("the-open-day", my_settings)')
    handler = chapter.output('desk.grade("three-packets", handler)')
    trace = chapter.output('desk.grade("break-the-guard", past_the_guard)')
    expect(chapter.notebook.panel.locator(ERRORS)).to_have_count(0)
    for verdict in (settings, handler, trace):
        expect(verdict).to_contain_text("Not attempted. The three dots are still there.")
    assert "tried" not in kept(chapter)

    chapter.write(SETTINGS, NEARLY)
    chapter.run(NEARLY)
    chapter.run('desk.grade("the-open-day", my_settings)')
    expect(settings).to_contain_text("Not yet. 8 of 10 situations come out as they should.")
    expect(settings).to_contain_text("'wirte' is no mode. The host says nothing and takes yolo.")
    expect(settings.get_by_role("row").filter(has_text="mode_misspelt")).to_have_count(1)

    chapter.write(NEARLY, NEARLY.replace("wirte", "write"))
    chapter.run(NEARLY.replace("wirte", "write"))
    chapter.run('desk.grade("the-open-day", my_settings)')
    expect(settings).to_contain_text("Right. All 10 situations come out as they should")
    expect(settings.get_by_role("table", name="What has to hold")).to_have_count(1)

    chapter.write(HANDLER, IN_PLACE)
    chapter.run(IN_PLACE)
    chapter.run('desk.grade("three-packets", handler)')
    expect(handler).to_contain_text("Your code failed. It changed event.input itself")

    chapter.write(TRACE, BROKEN)
    chapter.run(BROKEN)
    chapter.run('desk.grade("break-the-guard", past_the_guard)')
    expect(trace).to_contain_text("Right. “Nothing is published.” no longer holds with the piece you were given")
    expect(trace.get_by_role("table", name="Ledger with the piece you were given")).to_have_count(1)
    assert kept(chapter).count('"record":"tried"') == 4


def kept(chapter: OpenChapter) -> str:
    """The learner's progress file as it is on disk; "" while there is none."""
    path = chapter.folder / "cedar-progress.jsonl"
    return path.read_text(encoding="utf-8") if path.exists() else ""
