"""The controls in a real JupyterLab: by mouse and by keyboard, run again, after a restart, with hostile text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from desk_kit import HOSTILE, write
from playwright.sync_api import Locator, expect
from widgets_kit import CELLS, FOCUSED, OPEN, serious

from labsim.describe.ledger import visible

if TYPE_CHECKING:
    from browser import Lab, Notebook, OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

LIVE, AGAIN, PREDICT, REVEAL, TABLE = 1, 2, 3, 4, 5
LESSON = (
    OPEN,
    "live = desk.live('both')\nlive",
    "live",
    "desk.predict('again')",
    "desk.reveal('again')",
    "wb.lifecycle(live)",
)


@pytest.fixture
def lesson(notebook: OpenNotebook) -> Notebook:
    """The small chapter beside a notebook that has run from top to bottom, unanswered."""
    write(notebook.folder)
    opened = notebook(*LESSON)
    opened.run_all()
    return opened


def status(lesson: Notebook, cell: int) -> Locator:
    return lesson.output(cell).get_by_role("status")


def be_sure(lesson: Notebook) -> None:
    """How sure, which the checkpoint asks for with the commit."""
    lesson.output(PREDICT).get_by_role("radio", name="fairly sure", exact=True).check()


def press(lesson: Notebook, cell: int, name: str, nth: int = 0) -> Locator:
    return lesson.output(cell).get_by_role("button", name=name, exact=True).nth(nth)


# ---------------------------------------------------------------------------------------------------------- dialogs


def test_run_all_leaves_a_dialog_that_can_still_be_answered(lesson: Notebook):
    """Nothing waits in a cell: the later cells have run, the table says that the case waits, the buttons work."""
    expect(lesson.output(TABLE)).to_contain_text("waiting for an answer")
    expect(status(lesson, LIVE)).to_have_text("Waiting for an answer: q-1.")

    press(lesson, LIVE, "Approve").click()
    expect(status(lesson, LIVE)).to_have_text("Waiting for an answer: q-2.")
    press(lesson, LIVE, "Deny", nth=1).click()

    finished = "Finished: throw; Tool call denied by user: seed_note; prompts 2; effects 1."
    expect(status(lesson, LIVE)).to_have_text(finished)
    expect(status(lesson, AGAIN)).to_have_text(finished)  # a second view of the same play
    expect(lesson.output(LIVE).get_by_role("table")).to_contain_text("call_threw")
    lesson.run(TABLE)
    expect(lesson.output(TABLE)).not_to_contain_text("waiting for an answer")
    expect(lesson.output(TABLE).get_by_role("row")).to_have_count(13)


def test_a_double_click_is_one_answer(lesson: Notebook):
    """The second click of the two meets a dialog that is over, and nothing has moved under the pointer."""
    press(lesson, LIVE, "Approve").dblclick()

    expect(status(lesson, LIVE)).to_have_text("Waiting for an answer: q-2.")
    expect(lesson.output(LIVE).get_by_role("group")).to_have_count(2)
    expect(lesson.output(LIVE).get_by_role("group").first).to_contain_text("Answered: Approve.")
    expect(lesson.output(LIVE).get_by_role("table")).not_to_contain_text("late_reply")


def test_the_pressed_button_keeps_the_focus_and_its_keys(lesson: Notebook):
    """Enter presses; the button is then disabled in words only, and d d on it deletes no cell."""
    cells = lesson.page.evaluate(CELLS)
    press(lesson, LIVE, "Approve").focus()
    lesson.page.keyboard.press("Enter")
    expect(status(lesson, LIVE)).to_have_text("Waiting for an answer: q-2.")

    assert lesson.page.evaluate(FOCUSED) == "Approve"
    expect(press(lesson, LIVE, "Approve")).to_have_attribute("aria-disabled", "true")
    lesson.page.keyboard.press("Space")
    for key in ("d", "d", "ArrowDown", "a", "x"):
        lesson.page.keyboard.press(key)
    assert lesson.page.evaluate(CELLS) == cells
    expect(status(lesson, LIVE)).to_have_text("Waiting for an answer: q-2.")


def test_escape_dismisses_and_so_does_its_button(lesson: Notebook):
    """Closing without an answer is an answer of its own."""
    press(lesson, LIVE, "Approve").focus()
    lesson.page.keyboard.press("Escape")
    expect(lesson.output(LIVE).get_by_role("group").first).to_contain_text("Dismissed, without an answer.")

    press(lesson, LIVE, "Dismiss", nth=1).click()
    expect(status(lesson, LIVE)).to_contain_text("Finished: throw; Tool call denied by user")


def test_running_the_cell_again_starts_anew_and_says_so_where_the_old_play_is_still_shown(lesson: Notebook):
    """JupyterLab tells nobody that it took the old dialogs away; the kernel notices that the cell runs again."""
    press(lesson, LIVE, "Approve").click()
    expect(status(lesson, AGAIN)).to_have_text("Waiting for an answer: q-2.")
    lesson.run(LIVE)

    expect(status(lesson, AGAIN)).to_contain_text("Superseded: the cell was run again")
    expect(press(lesson, AGAIN, "Deny", nth=1)).to_have_attribute("aria-disabled", "true")
    expect(status(lesson, LIVE)).to_have_text("Waiting for an answer: q-1.")
    press(lesson, LIVE, "Deny").click()
    expect(status(lesson, LIVE)).to_have_text("Waiting for an answer: q-2.")


def test_after_a_restart_an_old_dialog_says_that_it_is_dead(lesson: Notebook):
    """Its buttons stay where they are and do nothing."""
    lesson.restart()

    expect(status(lesson, LIVE)).to_contain_text("The kernel that this belongs to is gone")
    expect(press(lesson, LIVE, "Approve")).to_have_attribute("aria-disabled", "true")
    press(lesson, LIVE, "Approve").click(force=True)
    expect(lesson.output(LIVE).get_by_role("group")).to_have_count(1)


def test_a_text_can_be_asked_for(notebook: OpenNotebook):
    """An input is sent with Enter, an editor by its button; what is sent is the text."""
    dialog = {"placeholder": "a seed", "prefill": "Dear all,", "options": [], "open": True, "ended": ""}
    dialogs = [
        {**dialog, "id": "q-1", "kind": "input", "label": "Dialog q-1 (input)", "text": "Name?"},
        {**dialog, "id": "q-2", "kind": "editor", "label": "Dialog q-2 (editor)", "text": "Note"},
    ]
    grid = {"caption": "", "columns": [], "rows": [], "group": None, "header": 0, "numbers": [], "marked": []}
    opened = notebook(
        "from workbook.live.controls import DialogControl\ngot = []\n"
        f"DialogControl(got.append, dialogs={dialogs!r}, ledger={grid!r}, status='', title='')",
        "import json\nprint(json.dumps(got))",
    )
    opened.run_all()
    name, note = (opened.output(0).get_by_role("textbox").nth(place) for place in (0, 1))
    name.fill("Spinach")
    name.press("Enter")
    note.press("Control+End")
    note.press("Enter")  # a new line, not an answer
    note.press_sequentially("Bring gloves.")
    opened.output(0).get_by_role("button", name="OK").nth(1).click()
    opened.run(1)

    assert json.loads(opened.output(1).locator("pre").inner_text()) == [
        {"dialog": "q-1", "type": "reply", "text": "Spinach"},
        {"dialog": "q-2", "type": "reply", "text": "Dear all,\nBring gloves."},
    ]


# ------------------------------------------------------------------------------------------------------ checkpoints


def test_a_prediction_is_committed_by_keyboard_alone_and_outlives_the_kernel(lesson: Notebook):
    """Tab in, arrows, Tab, Enter; the commit is locked, announced, kept, and found again after a restart."""
    cells, page = lesson.page.evaluate(CELLS), lesson.page
    expect(status(lesson, PREDICT)).to_contain_text("Not attempted.")
    expect(lesson.output(REVEAL)).to_contain_text("Commit first")
    press(lesson, PREDICT, "Commit").focus()
    page.keyboard.press("Enter")
    expect(status(lesson, PREDICT)).to_have_text("Choose an answer first. Nothing was committed.")

    page.keyboard.press("Shift+Tab")  # how sure; and before it the options
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")  # into the group, and with the arrows through it
    for key in ("ArrowUp", "ArrowUp", "ArrowDown", "d", "d"):
        page.keyboard.press(key)
    picked = lesson.output(PREDICT).get_by_role("radio", checked=True)
    expect(picked).to_have_count(1)
    expect(picked).to_have_value("two")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Commit"
    page.keyboard.press("Enter")
    expect(status(lesson, PREDICT)).to_have_text("Say how sure you are first. Nothing was committed.")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(status(lesson, PREDICT)).to_have_text("Committed. Your answer is locked.")
    assert page.evaluate(FOCUSED) == "Committed"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(status(lesson, PREDICT)).to_contain_text("Not yet. Look at the ledger: which row differed")
    expect(lesson.output(PREDICT)).not_to_contain_text("The belief behind it")
    press(lesson, PREDICT, "Skip").focus()
    page.keyboard.press("Enter")
    expect(status(lesson, PREDICT)).to_have_text("Not yet. The explanation of every answer is below.")
    expect(lesson.output(PREDICT)).to_contain_text("The belief behind it: A yes is kept.")
    assert page.evaluate(CELLS) == cells

    lesson.restart()
    expect(status(lesson, PREDICT)).to_contain_text("The kernel that this belongs to is gone")
    lesson.run_all()
    expect(status(lesson, PREDICT)).to_have_text("Committed. Your answer is locked.")
    expect(lesson.output(PREDICT).get_by_role("radio", checked=True).first).to_have_value("one")
    expect(lesson.output(REVEAL)).to_contain_text("Not yet. You committed “One dialog.”")


def test_a_locked_answer_cannot_be_changed_by_hand(lesson: Notebook):
    """Neither by mouse nor by arrows; the answer stays the committed one, in words as well."""
    options = lesson.output(PREDICT).get_by_role("radio")
    options.nth(1).check()
    be_sure(lesson)
    press(lesson, PREDICT, "Commit").click()
    expect(status(lesson, PREDICT)).to_have_text("Committed. Your answer is locked.")

    lesson.output(PREDICT).get_by_text("One dialog.").click(force=True)
    options.nth(1).focus()
    lesson.page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_be_checked()
    expect(lesson.output(PREDICT).get_by_text("your answer, locked")).to_have_count(1)
    expect(lesson.output(PREDICT).locator("label", has_text="Two dialogs.")).to_contain_text("your answer, locked")


def test_hints_come_one_by_one(lesson: Notebook):
    """Each only when it is asked for."""
    press(lesson, PREDICT, "Hint 1 of 2").click()
    expect(lesson.output(PREDICT).get_by_role("listitem")).to_have_text(["Where would it be kept?"])
    press(lesson, PREDICT, "Hint 2 of 2").click()
    expect(press(lesson, PREDICT, "No more hints")).to_have_attribute("aria-disabled", "true")
    expect(lesson.output(PREDICT).get_by_role("listitem")).to_have_count(2)


def test_a_paper_answer_is_written_committed_and_compared(notebook: OpenNotebook):
    """Free text, kept as written, beside the worked answer."""
    write(notebook.folder)
    opened = notebook(OPEN, "desk.predict('on-paper')")
    opened.run_all()
    field = opened.output(1).get_by_role("textbox")
    field.press_sequentially("Both calls,")
    field.press("Enter")
    field.press_sequentially("I think: $a$ and <b>b</b>.")
    expect(field).to_have_value("Both calls,\nI think: $a$ and <b>b</b>.")
    press(opened, 1, "Commit").click()
    expect(status(opened, 1)).to_have_text("Committed. Your answer is locked.")
    expect(field).not_to_be_editable()
    press(opened, 1, "Reveal").click()

    expect(status(opened, 1)).to_contain_text("The worked answer is below, beside yours.")
    expect(opened.output(1)).to_contain_text("I think: $a$ and <b>b</b>.")
    expect(opened.output(1)).to_contain_text("Each call is asked about.")


# ------------------------------------------------------------------------------------------- text, looks, requests


def test_hostile_text_is_shown_as_text(notebook: OpenNotebook):
    """Markup does not run, dollars are no formula, control characters are spelled out; in controls and in HTML."""
    write(notebook.folder)
    cells = (
        "desk.live('hostile')",
        "desk.case('hostile')",
        "desk.play('hostile')",
        "wb.lifecycle(desk.play('hostile'))",
    )
    opened = notebook(OPEN, *cells)
    title = opened.page.title()
    opened.run_all()

    for cell in range(1, len(cells) + 1):
        expect(opened.output(cell)).to_contain_text("$a$b$")
        expect(opened.output(cell)).to_contain_text("<img src=x")
        expect(opened.output(cell).locator("img")).to_have_count(0)
        expect(opened.output(cell).locator("mjx-container")).to_have_count(0)
        assert "\x1b" not in opened.output(cell).inner_text()
        assert visible(HOSTILE)[40:60] in opened.output(cell).inner_text()
    assert opened.page.title() == title


def test_nothing_is_fetched_from_elsewhere(lab: Lab, notebook: OpenNotebook):
    """A lesson works with the network off."""
    write(notebook.folder)
    opened = notebook(*LESSON, alone=True)
    asked: list[str] = []
    opened.page.on("request", lambda request: asked.append(request.url))
    opened.run_all()
    press(opened, LIVE, "Approve").click()
    expect(status(opened, LIVE)).to_have_text("Waiting for an answer: q-2.")

    elsewhere = [url for url in asked if not url.startswith((lab.url, "data:", f"blob:{lab.url}"))]
    assert elsewhere == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_every_state_of_the_controls_is_accessible(lesson: Notebook, theme: str):
    """axe-core finds nothing serious: open and answered dialogs, an open, a committed and a revealed checkpoint."""
    lesson.theme(theme)
    try:
        found = serious(lesson.page)
        press(lesson, LIVE, "Approve").click()
        lesson.output(PREDICT).get_by_role("radio").first.check()
        be_sure(lesson)
        press(lesson, PREDICT, "Hint 1 of 2").click()
        press(lesson, PREDICT, "Commit").click()
        expect(status(lesson, PREDICT)).to_have_text("Committed. Your answer is locked.")
        found += serious(lesson.page)
        press(lesson, PREDICT, "Reveal").click()
        expect(status(lesson, PREDICT)).to_contain_text("Not yet.")
        press(lesson, PREDICT, "Skip").click()
        for fold in lesson.output(PREDICT).locator("summary").all():
            fold.click()
        lesson.run(REVEAL)
        found += serious(lesson.page)
        assert found == []
    finally:
        lesson.theme("JupyterLab Light")


def test_a_group_has_the_question_for_its_name_and_status_is_one_region(lesson: Notebook):
    """What a screen reader needs: a named group, radios of one name, and the same live region before and after."""
    groups = lesson.output(PREDICT).get_by_role("group")
    expect(groups.nth(0)).to_have_accessible_name("Approve, then the same call again. How many dialogs?")
    expect(groups.nth(1)).to_have_accessible_name("How sure are you?")
    expect(lesson.output(LIVE).get_by_role("group").first).to_have_accessible_name(
        'Dialog q-1 (select) Allow tool: seed_note Input: {"action":"publish"}'
    )
    for group in (groups.nth(0), groups.nth(1)):
        names = group.get_by_role("radio").evaluate_all("nodes => nodes.map(node => node.name)")
        assert len(set(names)) == 1
    region = status(lesson, PREDICT).element_handle()
    lesson.output(PREDICT).get_by_role("radio").first.check()
    be_sure(lesson)
    press(lesson, PREDICT, "Commit").click()
    expect(status(lesson, PREDICT)).to_have_text("Committed. Your answer is locked.")
    assert region is not None
    assert region.evaluate("node => node.isConnected")


def test_nothing_is_cut_off_at_twice_the_size(lesson: Notebook):
    """At 200 % zoom a window has half the width; the controls wrap and do not scroll sideways."""
    lesson.page.set_viewport_size({"width": 640, "height": 500})
    lesson.output(PREDICT).get_by_role("radio").first.check()
    be_sure(lesson)
    press(lesson, PREDICT, "Commit").click()
    press(lesson, PREDICT, "Reveal").click()
    expect(status(lesson, PREDICT)).to_contain_text("Not yet.")

    wide = lesson.panel.locator(".cedar-control").evaluate_all(
        "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1).length"
    )
    assert wide == 0
