"""Checkpoints of every kind in a real JupyterLab: by keyboard alone, by drag, and looked at by axe-core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk_kit import EVERY_KIND, write
from playwright.sync_api import Locator, expect
from widgets_kit import CELLS, FOCUSED, OPEN, serious

if TYPE_CHECKING:
    from browser import Notebook, OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

CHOICE, FIELDS, ORDER, PAPER = 1, 2, 3, 4
#: Text, numbers and names of what has the focus.
NAMED = "() => document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
LISTED = ["Handlers hear of it.", "It runs.", "The dialog opens.", "The policy is resolved again."]


@pytest.fixture
def lesson(notebook: OpenNotebook) -> Notebook:
    """The small chapter with a checkpoint of each kind, run from top to bottom by nobody."""
    write(notebook.folder, EVERY_KIND)
    names = [checkpoint["id"] for checkpoint in EVERY_KIND["checkpoints"]]
    opened = notebook(OPEN, *(f"desk.predict('{name}')" for name in names))
    opened.run_all()
    return opened


def status(lesson: Notebook, cell: int) -> Locator:
    return lesson.output(cell).get_by_role("status")


def press(lesson: Notebook, cell: int, name: str) -> Locator:
    return lesson.output(cell).get_by_role("button", name=name, exact=True)


def steps(lesson: Notebook) -> list[str]:
    return lesson.output(ORDER).locator(".cedar-step-text").all_inner_texts()


def keys(lesson: Notebook, *pressed: str) -> None:
    for key in pressed:
        lesson.page.keyboard.press(key)


def sure_and_commit(lesson: Notebook, *, before: int = 1) -> None:
    """From the last part of an answer: Tab to how sure, choose the first level, Tab to Commit, Enter."""
    keys(lesson, *("Tab",) * before, "Space", "Tab")
    assert lesson.page.evaluate(FOCUSED) in ("Commit", "Commit the second vote")
    keys(lesson, "Enter")


def test_fields_order_and_text_are_answered_by_keyboard_alone_and_outlive_the_kernel(lesson: Notebook):
    """No mouse from the first Tab on: values, numbers, steps moved by arrows, a second vote, a row, points."""
    page, cells = lesson.page, lesson.page.evaluate(CELLS)
    lesson.output(FIELDS).get_by_role("radio").first.focus()
    keys(lesson, "Space", "ArrowDown", "d", "d", "Tab")
    page.keyboard.type("1")
    keys(lesson, "Tab")
    page.keyboard.type("1")
    sure_and_commit(lesson)
    expect(status(lesson, FIELDS)).to_have_text("Committed. Your answer is locked.")
    keys(lesson, "Tab", "Tab")
    assert page.evaluate(FOCUSED) == "Discussed it? Vote again"
    keys(lesson, "Enter")
    expect(status(lesson, FIELDS)).to_contain_text("Your first answer stays")
    expect(lesson.output(FIELDS)).to_contain_text("your first answer")
    lesson.output(FIELDS).get_by_role("radio").first.focus()
    keys(lesson, "Space", "ArrowDown", "Tab")
    page.keyboard.type("2")
    keys(lesson, "Tab")
    page.keyboard.type("1")
    sure_and_commit(lesson)
    expect(status(lesson, FIELDS)).to_have_text("Committed. Your answer is locked. So is your second vote.")
    press(lesson, FIELDS, "Reveal").focus()
    keys(lesson, "Enter")
    expect(status(lesson, FIELDS)).to_contain_text("which row differed")
    expect(lesson.output(FIELDS)).not_to_contain_text("The belief behind it")
    lesson.output(FIELDS).get_by_role("textbox", name="Row number").focus()
    page.keyboard.type("19")
    keys(lesson, "Enter")
    expect(status(lesson, FIELDS)).to_contain_text("You named row 19, and the ledger agrees.")
    expect(lesson.output(FIELDS)).to_contain_text("The belief behind it")

    assert steps(lesson) == LISTED
    press(lesson, ORDER, "Move up: The dialog opens.").focus()
    keys(lesson, "ArrowUp")
    expect(status(lesson, ORDER)).to_have_text("The dialog opens. Place 2 of 4.")
    assert page.evaluate(NAMED) == "Move up: The dialog opens."
    keys(lesson, "Enter", "d", "d")
    expect(status(lesson, ORDER)).to_have_text("The dialog opens. Place 1 of 4.")
    keys(lesson, "Enter")
    expect(status(lesson, ORDER)).to_have_text("The dialog opens. It is first already.")
    assert steps(lesson) == [LISTED[2], LISTED[0], LISTED[1], LISTED[3]]
    keys(lesson, "Tab", "ArrowDown", "ArrowDown")
    expect(status(lesson, ORDER)).to_have_text("The dialog opens. Place 3 of 4.")
    assert steps(lesson) == [LISTED[0], LISTED[1], LISTED[2], LISTED[3]]
    keys(lesson, "ArrowUp")
    sure_and_commit(lesson, before=5)
    expect(status(lesson, ORDER)).to_have_text("Committed. Your answer is locked.")

    lesson.output(PAPER).get_by_role("textbox").focus()
    page.keyboard.type("Both, I think.")
    keys(lesson, "Tab", "Enter")
    expect(status(lesson, PAPER)).to_have_text("Committed. Your answer is locked.")
    keys(lesson, "Tab", "Enter")
    expect(status(lesson, PAPER)).to_contain_text("Which of its points did yours have?")
    lesson.output(PAPER).get_by_role("checkbox").first.focus()
    keys(lesson, "Space", "Tab", "Tab", "Enter")
    expect(status(lesson, PAPER)).to_contain_text("Yours had 1 of 2 points.")
    assert page.evaluate(CELLS) == cells

    lesson.restart()
    lesson.run_all()
    for cell in (FIELDS, ORDER, PAPER):
        expect(status(lesson, cell)).to_contain_text("Committed. Your answer is locked.")
    assert steps(lesson) == [LISTED[0], LISTED[2], LISTED[1], LISTED[3]]
    expect(lesson.output(ORDER)).to_contain_text("Your order, locked")
    expect(press(lesson, ORDER, "Move up: The dialog opens.")).to_be_hidden()
    expect(lesson.output(FIELDS).get_by_role("textbox").first).to_have_value("1")
    press(lesson, FIELDS, "Reveal").click()
    expect(status(lesson, FIELDS)).to_contain_text("You named row 19")  # kept, so it is not asked for again


def test_every_state_of_every_kind_is_accessible_in_light_and_dark(lesson: Notebook):
    """axe-core finds nothing serious from the open question to the last explanation; steps are put by drag here."""
    found = []
    themes = ["JupyterLab Light", "JupyterLab Dark"]

    def look() -> None:
        found.extend(serious(lesson.page))
        themes.reverse()  # to change it takes longer than to look, so each state ends in the other theme
        lesson.theme(themes[0])
        found.extend(serious(lesson.page))

    look()
    lesson.output(CHOICE).get_by_role("radio", name="One dialog.").check()
    lesson.output(FIELDS).get_by_role("radio", name="it returns").check()
    for number in lesson.output(FIELDS).get_by_role("textbox").all():
        number.fill("1")
    items = lesson.output(ORDER).get_by_role("listitem")
    items.filter(has_text="It runs.").drag_to(items.filter(has_text="Handlers hear of it."))
    expect(status(lesson, ORDER)).to_have_text("It runs. Place 1 of 4.")
    assert steps(lesson) == [LISTED[1], LISTED[0], LISTED[2], LISTED[3]]
    lesson.output(PAPER).get_by_role("textbox").fill("Both, I think.")
    for cell in (CHOICE, FIELDS, ORDER):
        lesson.output(cell).get_by_role("radio", name="guess", exact=True).check()
    for cell in (CHOICE, FIELDS, ORDER, PAPER):
        press(lesson, cell, "Commit").click()
        expect(status(lesson, cell)).to_have_text("Committed. Your answer is locked.")
    look()
    for cell in (CHOICE, FIELDS, ORDER):
        press(lesson, cell, "Discussed it? Vote again").click()
        expect(status(lesson, cell)).to_contain_text("Your first answer stays")
    look()
    for cell in (CHOICE, FIELDS, ORDER, PAPER):
        press(lesson, cell, "Reveal").click()
        expect(press(lesson, cell, "Skip")).to_be_visible()
    look()
    for cell in (CHOICE, FIELDS, ORDER, PAPER):
        press(lesson, cell, "Skip").click()
        expect(press(lesson, cell, "Skip")).to_have_attribute("aria-disabled", "true")
        for fold in lesson.output(cell).locator("summary").all():
            fold.click()
    look()

    assert found == []
    groups = lesson.output(FIELDS).get_by_role("group")
    expect(groups.nth(0)).to_have_accessible_name("Approve, then Deny. Predict all three.")
    expect(groups.nth(1)).to_have_accessible_name("How does the last call end?")
    expect(groups.nth(2)).to_have_accessible_name("How sure are you?")
    expect(lesson.output(FIELDS).get_by_role("textbox").first).to_have_accessible_name(
        "How many dialogs? your answer, locked"
    )
