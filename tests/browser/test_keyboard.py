"""A whole chapter in a real JupyterLab by keyboard alone, and the way out of each control."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from desk_kit import EVERY_KIND, write
from keyboard_kit import Typist
from playwright.sync_api import expect

from workbook.chapter import copies
from workbook.checkpoint.kinds import Checkpoint, PaperCheckpoint, scripted_answer
from workbook.desk.open import open_chapter
from workbook.learner.records import Commit, Confidence, RevealSeen
from workbook.learner.store import Progress
from workbook.progress.installed import installed
from workbook.progress.questions import recall_key
from workbook.progress.recall import recalled

if TYPE_CHECKING:
    from browser import OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

CHAPTER = "boundary-desk"
MIDDLE = 'desk.reveal("two-handlers")'  # after this cell the kernel is restarted
DIALOGS = (
    'approved = desk.live("boundary-approve-one-call")\napproved',
    'checked = desk.live("boundary-provider-check-approved")\nchecked',
)
STEPPER = 'wb.stepper(desk.play("boundary-approve-one-call"))'
EXPLORER = "panel = wb.explorer()\npanel"
ASKS = re.compile(r'desk\.(?:predict\("(?P<checkpoint>[\w-]+)"\)|recall\((?P<recall>\d)\))')
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'


def questions(sources: list[str], folder: Path) -> dict[int, tuple[str, Checkpoint]]:
    """What the chapter asks, by the place of its cell: the name that an answer is kept under, and the question."""
    mine = {one.id: one for one in open_chapter(CHAPTER).checkpoint_records}
    again = recalled([], installed(folder), CHAPTER)
    found = {}
    for place, source in enumerate(sources):
        if asks := ASKS.fullmatch(source):
            item = again[int(asks["recall"]) - 1] if asks["recall"] else None
            name = asks["checkpoint"] if item is None else recall_key(CHAPTER, item).checkpoint
            found[place] = (name, mine[name] if item is None else item.checkpoint)
    assert set(mine) <= {name for name, _ in found.values()}
    return found


def test_a_whole_chapter_by_keyboard_alone_with_a_new_kernel_in_the_middle(notebook: OpenNotebook) -> None:
    """From the first cell to the last: each question answered, each reveal seen, each control used and left."""
    copies.start(notebook.folder)
    path = notebook.folder / f"01-{CHAPTER}.ipynb"
    sources = [cell.source for cell in nbformat.read(path, as_version=4).cells]
    asked = questions(sources, notebook.folder)
    sure = dict(zip(asked, cycle(Confidence), strict=False))
    lesson = notebook(file=path)
    typist = Typist(lesson)

    for place, source in enumerate(sources[:-1]):
        assert typist.run() == place + 1
        if place in asked:
            output = typist.back_into(place)
            typist.commit(output, asked[place][1], scripted_answer(asked[place][1]), sure[place])
            typist.reveal(output)
            typist.out(place)
        elif source in DIALOGS:
            output = typist.back_into(place)
            typist.tab_to("Approve")
            typist.press("Enter")
            expect(output.get_by_role("status")).to_contain_text("Finished: return")
            typist.out(place)
        elif source == STEPPER:
            output = typist.back_into(place)
            typist.tab_to("Forward")
            typist.press("Enter")
            expect(output.get_by_role("status")).to_contain_text(re.compile("^Row 2 of"))
            typist.press("End")
            expect(output.get_by_role("status")).to_contain_text("call_returned.")
            typist.out(place)
        elif source == EXPLORER:
            output = typist.back_into(place)
            typist.tab_to("Mode")
            typist.press("y")
            expect(output.get_by_role("status")).to_contain_text("by the mode (approval/R4b). No dialog opens.")
            typist.out(place)
        elif source == MIDDLE:
            before = [one for one in asked if one < place]
            typist.restart()
            for one in before:
                expect(lesson.output(one).get_by_role("status")).to_contain_text("is gone")
            typist.press("ArrowUp", "Shift+Home", "Shift+Enter")
            for one in before:
                status = lesson.output(one).get_by_role("status")
                expect(status).to_have_text("Committed. Your answer is locked.", timeout=30_000)
                marked = lesson.output(one).locator(".cedar-sure input:checked")
                if not isinstance(asked[one][1], PaperCheckpoint):
                    expect(marked).to_have_value(sure[one])
                    expect(marked).to_have_attribute("aria-disabled", "true")

    assert typist.place == len(sources) - 1
    expect(lesson.panel.locator(ERRORS)).to_have_count(0)
    saved = Progress(notebook.folder).records()
    commits = [(one.key.checkpoint, one.answer, one.confidence) for one in saved if isinstance(one, Commit)]
    assert commits == [
        (name, scripted_answer(checkpoint), None if isinstance(checkpoint, PaperCheckpoint) else sure[place])
        for place, (name, checkpoint) in asked.items()
    ]
    seen = [one.key for one in saved if isinstance(one, RevealSeen)]
    assert seen == [one.key for one in saved if isinstance(one, Commit)]
    mine = lesson.output(sources.index("wb.my_progress()")).get_by_role("table").first.get_by_role("row")
    (row,) = [row for row in mine.all_inner_texts() if row.startswith("Find the boundary of one Approve\t")]
    right, not_yet, committed, open_, all_ = map(int, row.split("\t")[1:])
    assert (right + not_yet, committed, open_, all_) == (22, 1, 0, 23)  # what is written on paper is not judged
    assert not_yet > 0  # the scripted learner errs


# ------------------------------------------------------------------------------------------------------ the way out

#: What there is at the way out: a control of each make, as the chapters use them.
OPEN = "import workbook as wb\nwb.setup()\ndesk = wb.open('mini', folder='.')"
LESSON = (
    OPEN,
    *(f"desk.predict('{one['id']}')" for one in EVERY_KIND["checkpoints"]),
    "desk.live('both')",
    "wb.overlay()",
    "panel = wb.explorer()\npanel",
    "wb.stepper(panel)",
)
PAPER, LIVE, PANEL, EXPLORE, LAST = 4, 5, 6, 7, 8
#: Puts the focus on the nth thing in a control that takes it; null after the last. `own`: Escape means something
#: there. `ring`: the look of its outline.
VISIT = """(control, nth) => {
    const places = 'button, input, select, textarea, summary, [tabindex="0"]';
    const node = [...control.querySelectorAll(places)].filter(one => one.checkVisibility())[nth];
    node?.focus();
    return node ? { own: node.closest('.cedar-dialog, .cedar-panel') !== null, on: document.activeElement === node,
                    ring: getComputedStyle(node).outlineStyle } : null }"""


@pytest.fixture
def controls(notebook: OpenNotebook) -> Typist:
    """One notebook with every control of ours, run from top to bottom; the focus is on its last cell.

    In a page of its own: after a click of an earlier test a browser shows no ring where a script puts the focus.
    """
    write(notebook.folder, EVERY_KIND)
    opened = notebook(*LESSON, alone=True)
    opened.run_all()
    typist = Typist(opened)
    expect(opened.panel.locator(".cedar-control")).to_have_count(len(LESSON) - 1)
    return typist


def test_escape_leads_from_every_part_of_every_control_back_to_its_cell(controls: Typist) -> None:
    """And Ctrl+M does so too; whatever has the focus shows it, and keeps what was typed."""
    page = controls.page
    for place in range(1, LAST + 1):
        control = controls.notebook.output(place).locator(".cedar-control")
        nth = 0
        while (there := control.evaluate(VISIT, nth)) is not None:
            assert there["on"], (place, nth)
            assert there["ring"] == "solid", (place, nth)
            if place == PAPER and nth == 0:
                page.keyboard.type("Both.")
            for key in ["Control+m"] if there["own"] else ["Escape"]:
                controls.press(key)
                assert controls.place == place, (nth, key)
            nth += 1
        assert nth > 1 or place == PANEL, "a control without controls"
    expect(controls.notebook.output(PAPER).get_by_role("textbox")).to_have_value("Both.")
    controls.press("ArrowUp")
    assert controls.place == LAST - 1  # the notebook's own keys work again


def test_escape_keeps_the_meaning_that_it_has_where_it_has_one(
    controls: Typist,
) -> None:
    """A dialog is dismissed, the panel cancelled, a field closed; a second Escape leads out, as Ctrl+M did."""
    controls.press(*["ArrowUp"] * (LAST - LIVE))
    controls.run()
    live = controls.back_into(LIVE)
    controls.tab_to("Approve")
    controls.press("Control+m")
    assert controls.place == LIVE
    expect(live.get_by_role("status")).to_have_text("Waiting for an answer: q-1.")
    controls.tab_to("Approve")
    controls.press("Escape")
    expect(live.get_by_role("status")).to_have_text("Waiting for an answer: q-2.")
    expect(live.get_by_role("group").first).to_contain_text("Dismissed, without an answer.")
    assert controls.focused == "Approve"
    controls.out(LIVE)

    controls.run()
    panel = controls.back_into(PANEL)
    controls.tab_to("Review desk: draft, revision 0")
    controls.press("Control+m")
    assert controls.place == PANEL
    expect(panel.get_by_role("status")).to_contain_text("Review desk: draft, revision 0.")
    controls.tab_to("Review desk: draft, revision 0")
    controls.press("Escape")
    expect(panel.get_by_role("status")).to_contain_text("Review desk: cancelled, revision 1.")
    controls.out(PANEL)

    controls.run()
    controls.back_into(EXPLORE)
    controls.tab_to("Paste a case")
    controls.press("Enter")
    assert controls.focused == "A case as JSON, to be opened"
    controls.press("Escape")
    assert controls.focused == "Paste a case"
    controls.out(EXPLORE)
