"""The Review Desk in a real JupyterLab: a late yes, the editor's chord, and the panel by keyboard alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import axe_playwright_python
import nbformat
import pytest
from playwright.sync_api import Locator, expect

from workbook.chapter import copies

if TYPE_CHECKING:
    from browser import Notebook, OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

SETUP = "import workbook as wb\nwb.setup()"
CELLS = "() => document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell').length"


class Desk:
    """One cell with a desk in it."""

    def __init__(self, notebook: Notebook, cell: int) -> None:
        self.notebook = notebook
        self.page = notebook.page
        self.output = notebook.output(cell)
        self.status = self.output.get_by_role("status")
        self.panel = self.output.get_by_role("application")

    def button(self, name: str) -> Locator:
        return self.output.get_by_role("button", name=name, exact=True)

    def rows(self) -> list[str]:
        return self.panel.locator("pre").inner_text().split("\n")

    def events(self) -> list[str]:
        """The kinds of event in the ledger, in order."""
        table = self.output.locator("table")
        return table.locator("tbody th[scope=row]").all_inner_texts()


def opened(notebook: OpenNotebook, source: str, *, alone: bool = False) -> Desk:
    lesson = notebook(SETUP, source, alone=alone)
    lesson.run_all()
    return Desk(lesson, 1)


def test_delegate_revoke_and_a_late_yes_leave_no_permission(notebook: OpenNotebook) -> None:
    """The issue's own walk, in the chapter: a dialog that was taken back is answered, and the agent may not act."""
    copies.start(notebook.folder)
    path = notebook.folder / "03-review-desk.ipynb"
    sources = [cell.source for cell in nbformat.read(path, as_version=4).cells]
    lesson = notebook(file=path)
    lesson.run_all(timeout_ms=120_000)
    assert lesson.panel.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    desk = Desk(lesson, sources.index("tried = wb.hands_on()\ntried"))
    grants = sources.index("wb.grants(tried)")

    desk.button("/review-desk delegate").click()
    expect(desk.output).to_contain_text("Permit one agent change?")
    desk.button("/review-desk revoke").click()
    expect(desk.output).to_contain_text("Closed by the host.")
    desk.button("Yes").click()
    expect(desk.output).to_contain_text("Closed by the host; answered: Yes, too late.")
    expect(desk.status).to_have_text("Review desk: draft, revision 0. Permission: none. No dialog is open.")
    desk.button("agent: accept this revision").click()
    expect(desk.output).to_contain_text("No human grant: ask the human to run /review-desk delegate.")

    kinds = desk.events()
    assert "late_reply" in kinds
    assert "act_refused" in kinds
    assert not {"grant_given", "note_recorded"} & set(kinds)
    lesson.run(grants)
    expect(lesson.output(grants)).to_contain_text("no grant was given")


def test_a_yes_in_time_permits_one_change_and_no_second_one(notebook: OpenNotebook) -> None:
    """The counter-check: the same buttons without the revoke do change the note, once."""
    desk = opened(notebook, "wb.hands_on()")

    desk.button("/review-desk delegate").click()
    desk.button("Yes").click()
    expect(desk.status).to_contain_text("Permission: one change at revision 0.")
    desk.button("agent: accept this revision").click()
    expect(desk.status).to_contain_text("Review desk: accepted, revision 1. Permission: none.")
    desk.button("agent: accept this revision").click()
    expect(desk.output).to_contain_text("act_refused")

    assert desk.events().count("note_recorded") == 1


@pytest.mark.parametrize("chord", ["Control+Enter", "Control+q"])
def test_enter_breaks_the_line_and_the_chord_submits(notebook: OpenNotebook, chord: str) -> None:
    """review/V-63: in the editor Enter inserts a newline, and submit is the follow-up chord."""
    desk = opened(notebook, "desk = wb.hands_on()\ndesk")
    desk.button("/review-desk review").click()
    field = desk.output.get_by_role("textbox", name="Your text")
    expect(field).to_have_accessible_description(
        "Enter starts a new line. Ctrl+Q or Ctrl+Enter submits, Escape cancels."
    )
    field.fill("One")
    field.press("Enter")
    desk.page.keyboard.type("Two")

    field.press(chord)
    desk.button("Accept locally").click()

    expect(desk.status).to_contain_text("Review desk: accepted, revision 1.")
    assert '"One\\nTwo"' in desk.output.inner_text()


def test_the_panel_is_driven_by_the_keyboard_alone(notebook: OpenNotebook) -> None:
    """review/V-50 to review/V-61: opened by a key, it takes the focus; arrows scroll it; no key reaches the
    notebook; r rejects.
    """
    desk = opened(notebook, "wb.overlay()")
    cells = desk.page.evaluate(CELLS)
    desk.button("/review-desk revoke").focus()
    desk.page.keyboard.press("Enter")
    expect(desk.panel).to_be_hidden()
    desk.page.keyboard.press("Shift+Tab")
    desk.page.keyboard.press("Enter")
    expect(desk.panel).to_be_focused()
    assert desk.panel.get_attribute("aria-label") == "Review desk: draft, revision 0"
    assert desk.panel.get_attribute("data-lm-suppress-shortcuts") == "true"
    assert desk.panel.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"

    desk.page.keyboard.press("ArrowDown")
    expect(desk.panel).to_contain_text("Lines 2-9 of 17")
    desk.page.keyboard.press("ArrowUp")
    expect(desk.panel).to_contain_text("Lines 1-8 of 17")
    for key in ("d", "d", "Shift+A", "Enter", "x", "b"):
        desk.page.keyboard.press(key)
    expect(desk.panel).to_be_focused()
    assert desk.page.evaluate(CELLS) == cells
    assert len(desk.rows()) == 12

    desk.page.keyboard.press("r")
    desk.page.keyboard.press("a")  # the first outcome wins
    expect(desk.status).to_contain_text("Review desk: rejected, revision 1.")
    expect(desk.panel).to_be_hidden()
    expect(desk.button("/review-desk overlay")).to_be_focused()
    assert desk.events().count("note_recorded") == 1


def test_tab_leaves_the_panel_and_escape_cancels(notebook: OpenNotebook) -> None:
    """Nobody is trapped in it; Escape is an outcome (review/S13)."""
    desk = opened(notebook, "wb.overlay()")
    desk.panel.focus()
    desk.page.keyboard.press("Shift+Tab")
    expect(desk.button("/review-desk revoke")).to_be_focused()

    desk.panel.focus()
    desk.page.keyboard.press("Escape")

    expect(desk.status).to_contain_text("Review desk: cancelled, revision 1.")


def test_the_panel_wraps_to_its_place(notebook: OpenNotebook) -> None:
    """review/V-50, review/V-61: at most a hundred columns; in a narrow window fewer, and nothing is cut off."""
    desk = opened(notebook, "wb.overlay()")
    expect(desk.panel).to_contain_text("-" * 100)
    assert max(map(len, desk.rows())) == 100

    desk.page.set_viewport_size({"width": 700, "height": 900})
    expect(desk.panel).not_to_contain_text("-" * 100)
    assert max(map(len, desk.rows())) < 100
    fits = "node => node.scrollWidth <= node.clientWidth"
    assert desk.panel.locator("pre").evaluate(fits)


def test_a_hostile_note_runs_nothing_and_nobody_is_kept_out(notebook: OpenNotebook) -> None:
    """Markup is text, no dialog of the browser opens, and axe-core finds nothing serious, panel open or closed."""
    said: list[str] = []
    desk = opened(notebook, "wb.overlay(hostile=True)", alone=True)
    desk.page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))

    expect(desk.panel).to_contain_text("<img src=x onerror=alert(1)> <b>bold</b> $$x^2$$")
    assert desk.output.locator("img, b, script, .MathJax").count() == 0
    assert serious(desk) == []
    desk.panel.focus()
    desk.page.keyboard.press("a")
    expect(desk.status).to_contain_text("accepted, revision 1")
    assert serious(desk) == []
    assert said == []


def serious(desk: Desk) -> list[str]:
    """What axe-core finds in the outputs that keeps somebody out."""
    if not desk.page.evaluate("() => Boolean(window.axe)"):
        desk.page.add_script_tag(path=Path(axe_playwright_python.__file__).with_name("axe.min.js"))
    found: list[str] = desk.page.evaluate(
        """() => axe.run({ include: [['.jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output']] }).then(
          found => found.violations.filter(one => ['serious', 'critical'].includes(one.impact))
            .map(one => one.id))"""
    )
    return found
