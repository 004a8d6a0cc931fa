"""The what-if panel in a real JupyterLab: by keyboard alone, as seen by axe-core, narrow, and after a restart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_playwright_python
import pytest
from playwright.sync_api import Locator, Page, expect

from workbook.explorers.panel import Explorer

if TYPE_CHECKING:
    from browser import Notebook, OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

PANEL, SHOWN = 0, 1
LIGHT = "JupyterLab Light"
LESSON = ("import workbook as wb\nwb.setup()\npanel = wb.explorer()\npanel", "print(panel.json)")
CELLS = "() => document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell').length"
#: The label of whatever has the focus; a button's own text.
FOCUSED = "() => { const node = document.activeElement; return (node.labels?.[0] ?? node).textContent }"
WIDE = "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1).length"


@pytest.fixture(scope="module")
def axe() -> Path:
    return Path(axe_playwright_python.__file__).with_name("axe.min.js")


@pytest.fixture
def lesson(notebook: OpenNotebook) -> Iterator[Notebook]:
    opened = notebook(*LESSON)
    opened.run_all()
    expect(status(opened)).to_have_text(Explorer().status)
    yield opened
    if opened.page.evaluate("() => document.body.dataset.jpThemeName") != LIGHT:
        opened.theme(LIGHT)  # the server keeps it, and other tests come after this one


def status(lesson: Notebook) -> Locator:
    return lesson.output(PANEL).get_by_role("status")


def serious(page: Page, source: Path) -> list[tuple[str, list[Any]]]:
    """What axe-core finds in the panel that keeps somebody out: rule, and the elements."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.add_script_tag(path=source)
    found = page.evaluate("() => axe.run({ include: [['.cedar-explorer']] }, { resultTypes: ['violations'] })")
    return [
        (one["id"], [node["html"] for node in one["nodes"]])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical", "moderate")
    ]


def test_a_panel_is_set_read_copied_and_pasted_by_keyboard_alone(lesson: Notebook):
    """Tab and arrows through the groups; each change is announced at once; the notebook's cells stay."""
    page, panel = lesson.page, lesson.output(PANEL)
    cells = page.evaluate(CELLS)
    page.evaluate("() => document.querySelector('.cedar-explorer select').focus()")  # where Tab leads from above
    assert page.evaluate(FOCUSED) == "Tier"

    def to(label: str, key: str = "Tab") -> None:
        for _ in range(30):
            if page.evaluate(FOCUSED) == label:
                return
            page.keyboard.press(key)
        raise AssertionError(f"{key} never leads to {label!r}, but to {page.evaluate(FOCUSED)!r}")

    for key in ("ArrowUp", "ArrowUp", "d", "d"):  # d d is a letter here, and deletes no cell
        page.keyboard.press(key)
    expect(panel.get_by_label("Tier")).to_have_value("read")
    expect(status(lesson)).to_have_text(Explorer().set(tier="read").status)
    region = status(lesson).element_handle()

    to("How often it is made")
    page.keyboard.press("ArrowUp")
    expect(panel.get_by_label("How often it is made")).to_have_value("2")
    to("User's policy for the tool")
    page.keyboard.press("p")
    state = Explorer().set(tier="read", repeat=2, user="prompt")
    expect(status(lesson)).to_have_text(state.status)
    assert page.evaluate(FOCUSED) == "User's policy for the tool"
    to("Answer to dialog 2 (call-2, approval)")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    state.set(answers=["Approve", "Deny"])
    expect(status(lesson)).to_have_text(state.status)

    # Controls that contradict each other: told, marked in words, and put right by the next button.
    to("Somebody there", "Shift+Tab")
    page.keyboard.press("n")
    expect(status(lesson)).to_contain_text("No case, so nothing is played. Nobody is there, so nobody can answer.")
    expect(panel.get_by_label("Somebody there")).to_have_attribute("aria-invalid", "true")
    expect(panel.get_by_label("Somebody there")).to_have_accessible_description(status(lesson).inner_text())
    expect(panel.get_by_text("contradiction", exact=True).locator("visible=true")).to_have_count(3)
    to("Take the answers away")
    page.keyboard.press("Enter")
    expect(status(lesson)).to_have_text(state.set(ui=False, answers=[]).status)
    assert page.evaluate(FOCUSED) == "Somebody there"

    # Out as text, and in again.
    to("Copy as JSON")
    page.keyboard.press("Enter")
    expect(panel.get_by_label("The case as JSON")).to_have_value(state.json)
    to("Paste a case", "Shift+Tab" if page.evaluate(FOCUSED) == "The case as JSON" else "Tab")
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUSED) == "A case as JSON, to be opened"
    page.keyboard.insert_text('{"id": "mine", "scenario": "wrapper", "given": {"mode": "yollo"}}')
    to("Open this case")
    page.keyboard.press("Enter")
    expect(status(lesson)).to_contain_text("Not opened: the pasted case.given.mode: 'yollo' is not allowed here.")
    to("A case as JSON, to be opened", "Shift+Tab")
    page.keyboard.press("Control+A")
    mine = {"id": "mine", "scenario": "wrapper", "given": {"approval": "write", "mode": "write", "sessionId": "s"}}
    page.keyboard.insert_text(json.dumps(mine))
    to("Open this case")
    page.keyboard.press("Space")
    expect(status(lesson)).to_have_text(
        "Opened mine. Decision: allow, by the mode (approval/R8). No dialog opens. Outcome: return; effects 1."
    )
    assert page.evaluate(FOCUSED) == "Paste a case"
    expect(panel.get_by_label("Worth knowing")).to_contain_text("Kept as they are, without a control: sessionId.")

    to("The whole ledger, which the picture shows")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("table", name="Ledger of mine")).to_be_visible()
    assert region is not None
    assert region.evaluate("node => node.isConnected")
    assert page.evaluate(CELLS) == cells
    lesson.run(SHOWN)
    assert json.loads(lesson.output(SHOWN).inner_text()) == mine


def test_every_kind_of_state_is_accessible_and_fits(lesson: Notebook, axe: Path):
    """axe-core finds nothing, light and dark: whole, contradicting, copied, opened, dead; nothing is cut off."""
    page, panel = lesson.page, lesson.output(PANEL)
    found: list[Any] = []
    themes = [LIGHT, "JupyterLab Dark"]

    def look() -> None:
        """In the theme that there is, then in the other one, which stays: a change of theme takes its time."""
        found.extend(serious(page, axe))
        themes.reverse()
        lesson.theme(themes[0])
        found.extend(serious(page, axe))

    panel.get_by_label("First handler").select_option("asks")
    panel.get_by_label("How often it is made").fill("5")
    panel.get_by_label("Provider's safety checks").select_option("two")
    expect(panel.get_by_label("Answer to dialog 5 (call-5, a handler's question)")).to_be_visible()
    panel.get_by_text("The whole ledger, which the picture shows").click()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    panel.get_by_role("button", name="Copy as JSON").click()
    expect(status(lesson)).to_contain_text("The browser does not allow copying. The text is below and marked")
    assert page.evaluate("() => window.getSelection().toString()").startswith('{\n  "id": "what-if"')
    page.evaluate("() => { delete navigator.clipboard.writeText }")  # the page is not this test's alone
    look()
    page.set_viewport_size({"width": 640, "height": 500})  # a window at 200 % zoom has half the width
    assert panel.locator(".cedar-control").evaluate_all(WIDE) == 0
    panel.get_by_label("How often it is made").fill("0")
    expect(status(lesson)).to_contain_text("0 calls cannot be made here. Use 1 to 5.")
    panel.get_by_role("button", name="Paste a case").click()
    panel.get_by_role("button", name="Open this case").click()
    expect(panel.get_by_text("the pasted case: there is no text.").first).to_be_visible()
    look()
    assert panel.locator(".cedar-control").evaluate_all(WIDE) == 0

    opened = {"id": "mine", "scenario": "wrapper", "given": {"args": {"shelf": "A" * 200}, "sessionId": "s"}}
    panel.get_by_label("A case as JSON, to be opened").fill(json.dumps(opened))
    panel.get_by_role("button", name="Open this case").click()
    expect(status(lesson)).to_contain_text("Opened mine.")
    assert panel.locator(".cedar-control").evaluate_all(WIDE) == 0
    look()
    groups = panel.get_by_role("group").evaluate_all(
        "nodes => nodes.map(node => node.querySelector('legend')?.textContent)"
    )
    assert [name for name in groups if name] == [
        "What the tool declares",
        "The call",
        "Settings",
        "Handlers",
        "Who answers",
    ]

    lesson.restart()
    expect(status(lesson)).to_contain_text("The kernel that this belongs to is gone")
    expect(panel.get_by_label("Mode")).to_be_disabled()
    expect(panel.get_by_role("button", name="Start again")).to_have_attribute("aria-disabled", "true")
    look()
    assert found == []
