"""The stepper in a real JupyterLab: by keyboard alone, playing, calm, as seen by axe-core, and without a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import axe_playwright_python
import pytest
from desk_kit import write
from playwright.sync_api import Locator, Page, expect

if TYPE_CHECKING:
    from browser import Notebook, OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

STEPPED, LIVE, STEPPED_LIVE = 1, 2, 3
LESSON = (
    "import workbook as wb\n"
    "from labsim.reading.reading import find, parse_file\n"
    "from labsim.library import case_files\n"
    "from labsim.play.performance import run\n"
    "cases = [case for path in case_files() for case in parse_file(path.read_bytes(), path.name).cases]\n"
    "desk = wb.open('mini', folder='.')",
    "wb.stepper(run(find(cases, 'dispatch-explicit-prompt-twice')))",
    "live = desk.live('both')\nlive",
    "wb.stepper(live, 7)",
)
ROWS = 31
CELLS = "() => document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell').length"
FOCUSED = "() => document.activeElement.textContent"
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
LATE_MS = 60_000  # far more than one beat of playing


@pytest.fixture
def lesson(notebook: OpenNotebook, request: pytest.FixtureRequest) -> Notebook:
    """A finished dispatch and a play that waits, each with a stepper, run from top to bottom."""
    write(notebook.folder)
    opened = notebook(*LESSON, alone=getattr(request, "param", False))
    opened.run_all()
    return opened


def status(lesson: Notebook, cell: int = STEPPED) -> Locator:
    return lesson.output(cell).get_by_role("status")


def button(lesson: Notebook, name: str, cell: int = STEPPED) -> Locator:
    return lesson.output(cell).get_by_role("button", name=name, exact=True)


def serious(page: Page) -> list[str]:
    """What axe-core finds in the steppers that keeps somebody out."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.add_script_tag(path=AXE)
    found = page.evaluate("() => axe.run({ include: [['.cedar-stepper']] }, { resultTypes: ['violations'] })")
    return [
        f"{broken['id']}: {[node['html'] for node in broken['nodes']]}"
        for broken in found["violations"]
        if broken["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("lesson", [True], ids=["own clock"], indirect=True)  # which this page never gets rid of
def test_a_ledger_is_stepped_through_by_keyboard_alone(lesson: Notebook):
    """Arrows, Home, End, the field, the list of rows, Play and Pause; no key reaches the cell."""
    page, keyboard = lesson.page, lesson.page.keyboard
    cells = page.evaluate(CELLS)
    expect(status(lesson)).to_have_text(f"Row 1 of {ROWS}: call_started.")

    button(lesson, "Forward").focus()
    keyboard.press("Enter")
    expect(status(lesson)).to_have_text(f"Row 2 of {ROWS}: gate_declared.")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowDown")
    keyboard.press("ArrowLeft")
    expect(status(lesson)).to_have_text(f"Row 3 of {ROWS}: policy_resolved.")
    for key in ("d", "d", "a", "x"):
        keyboard.press(key)
    assert page.evaluate(CELLS) == cells
    keyboard.press("End")
    expect(status(lesson)).to_have_text(f"Row {ROWS} of {ROWS}: call_returned.")
    expect(button(lesson, "Forward")).to_have_attribute("aria-disabled", "true")
    assert page.evaluate(FOCUSED) == "Forward"  # disabled in words only, so the focus stays
    expect(lesson.output(STEPPED)).to_contain_text("call-1 returned.")
    keyboard.press("Home")
    expect(status(lesson)).to_have_text(f"Row 1 of {ROWS}: call_started.")

    lesson.output(STEPPED).get_by_role("spinbutton", name="Go to row").focus()
    keyboard.press("Control+a")
    keyboard.type("21")
    keyboard.press("Enter")
    expect(status(lesson)).to_have_text(f"Row 21 of {ROWS}: prompt_decided.")
    shown = lesson.output(STEPPED)
    expect(shown).to_contain_text("Step 16 of the call (9 of 10).")
    expect(shown).to_contain_text("Step 4.6 of the dispatch (6 of 7).")
    expect(shown).to_contain_text("Step 8-9 of the device's own gate (5 of 10).")
    expect(shown).to_contain_text("At the device:")
    expect(shown.get_by_role("listitem").filter(has_text="too late to prevent it")).to_have_count(3)
    expect(shown.get_by_role("listitem").filter(has_text="Anything but exactly Approve")).to_have_count(1)

    shown.locator("summary").focus()
    keyboard.press("Enter")
    expect(button(lesson, "Row 26")).to_be_visible()
    for _ in range(4):
        keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Row 4"
    keyboard.press("Space")
    expect(status(lesson)).to_have_text(f"Row 4 of {ROWS}: tool_call.")
    expect(button(lesson, "Row 4")).to_have_attribute("aria-current", "step")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lesson.theme(theme)
        assert serious(page) == []

    page.clock.install()
    button(lesson, "Play").focus()
    keyboard.press("Enter")
    page.clock.run_for(2_100)
    expect(status(lesson)).to_have_text(f"Row 5 of {ROWS}: gate_declared.")
    keyboard.press("Enter")
    expect(button(lesson, "Play")).to_be_focused()
    page.clock.run_for(LATE_MS)
    expect(status(lesson)).to_have_text(f"Row 5 of {ROWS}: gate_declared.")
    keyboard.press("Enter")
    page.clock.run_for(LATE_MS)
    expect(status(lesson)).to_have_text(f"Row {ROWS} of {ROWS}: call_returned.")
    expect(button(lesson, "Play")).to_be_visible()  # it pauses by itself at the end

    page.emulate_media(reduced_motion="reduce")
    expect(button(lesson, "Play")).to_have_attribute("aria-disabled", "true")
    expect(lesson.output(STEPPED)).to_contain_text("Play is off, because this system asks for reduced motion.")
    keyboard.press("Enter")
    page.clock.run_for(LATE_MS)
    expect(status(lesson)).to_have_text(f"Row {ROWS} of {ROWS}: call_returned.")
    keyboard.press("ArrowLeft")
    expect(status(lesson)).to_have_text(f"Row 30 of {ROWS}: tool_result.")


def test_a_live_play_is_read_again_and_stepping_outlives_the_kernel(lesson: Notebook):
    """The stepper has the ledger as it was; a button reads what has come since. Stepping needs nobody."""
    keyboard = lesson.page.keyboard
    expect(status(lesson, STEPPED_LIVE)).to_have_text("Row 7 of 7: question_asked.")
    expect(lesson.output(STEPPED_LIVE)).to_contain_text("open questions")
    button(lesson, "Approve", LIVE).focus()
    keyboard.press("Enter")
    expect(lesson.output(LIVE).get_by_role("status")).to_have_text("Waiting for an answer: q-2.")

    button(lesson, "Read the ledger again", STEPPED_LIVE).focus()
    keyboard.press("Enter")
    expect(status(lesson, STEPPED_LIVE)).to_have_text("Row 7 of 19: question_asked.")
    keyboard.press("End")
    expect(status(lesson, STEPPED_LIVE)).to_have_text("Row 19 of 19: question_asked.")

    lesson.restart()
    expect(button(lesson, "Read the ledger again", STEPPED_LIVE)).to_have_attribute("aria-disabled", "true")
    keyboard.press("Home")
    expect(status(lesson, STEPPED_LIVE)).to_have_text("Row 1 of 19: call_started.")
