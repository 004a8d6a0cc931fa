"""The Gate Desk in a real JupyterLab: a learner writes an approver, is told how it does, and lets time pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chapter_kit import OpenChapter
from playwright.sync_api import expect

if TYPE_CHECKING:
    from browser import OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

CELL, GRADE = "class NightShift:", 'desk.grade("night-shift", NightShift)'
RIGHT = """class NightShift:
    async def approve(self, request):
        level = judged(request.side_effect_level)
        if level is SideEffectLevel.EXTERNAL:
            leaves = ApprovalAnswer(ApprovalDecision.DENY_FOR_SESSION)
            return leaves.because("nothing leaves this machine at night")
        if level is SideEffectLevel.LOCAL_STATE or request.input == {"command": "count-beds"}:
            return ApprovalDecision.ALLOW
        return ApprovalAnswer().because("only count-beds runs at night")"""
FOR_THE_SESSION = RIGHT.replace("ApprovalDecision.ALLOW\n", "ApprovalDecision.ALLOW_FOR_SESSION\n")
LOOPS = """class NightShift:
    async def approve(self, request):
        while True: pass"""


@pytest.fixture
def chapter(notebook: OpenNotebook) -> OpenChapter:
    """A learner's copy, run from top to bottom by nobody."""
    return OpenChapter(notebook, "04-gate-desk.ipynb")


def test_an_approver_is_written_found_right_and_then_broken(chapter: OpenChapter) -> None:
    """The issue's own walk: not attempted, right, not yet with the ledger that shows why, and code that fails."""
    verdict = chapter.output(GRADE)
    expect(chapter.notebook.panel.locator('[data-mime-type="application/vnd.jupyter.error"]')).to_have_count(0)
    expect(verdict).to_contain_text("Not attempted.")

    chapter.write(CELL, RIGHT)
    chapter.run(CELL)
    chapter.run(GRADE)
    expect(verdict).to_contain_text("Right. All 8 situations come out as they should")
    expect(verdict.get_by_role("row").filter(has_text="The words of the count, sent elsewhere")).to_have_count(1)

    chapter.write(CELL, FOR_THE_SESSION)
    chapter.run(CELL)
    chapter.run(GRADE)
    expect(verdict).to_contain_text("Not yet. 7 of 8 situations come out as they should.")
    expect(verdict).to_contain_text("An answer for the session is about the tool and not about the command.")
    expect(verdict.get_by_role("row").filter(has_text="run_script may run, by a remembered rule")).to_have_count(1)

    chapter.write(CELL, LOOPS)
    chapter.run(CELL)
    chapter.run(GRADE)
    expect(verdict).to_contain_text("Your code failed. It never came to an answer about edit_catalog (LocalState)")
    expect(verdict).not_to_contain_text("Traceback")


def test_a_question_outlives_the_time_that_its_call_was_given(chapter: OpenChapter) -> None:
    """Ninety seconds pass while the dialog is open; the answer then comes to nobody, and the run is over."""
    live, passing = 'parked = desk.live("gate-time-runs-out")', "# parked.advance(90_000)"
    expect(chapter.output(live).get_by_role("status")).to_have_text("Waiting for an answer: q-1.")

    chapter.write(passing, "parked.advance(90_000)")
    chapter.run("parked.advance(90_000)")
    rows = chapter.output(live).get_by_role("row")
    expect(rows.filter(has_text="authorizer timed out after 60s").first).to_be_visible()
    expect(rows.filter(has_text="the model is done")).to_have_count(1)
    expect(chapter.output(live).get_by_role("status")).to_have_text("Waiting for an answer: q-1.")

    chapter.press(live, "Allow for this session")
    expect(chapter.output(live).get_by_role("status")).to_contain_text("Finished: return")
    expect(rows.filter(has_text="the answer allow changes nothing")).to_have_count(1)
    expect(rows.filter(has_text="the run is over")).to_have_count(1)
    expect(rows.filter(has_text="is remembered: allow")).to_have_count(0)


def test_the_comparison_comes_after_the_predictions(chapter: OpenChapter) -> None:
    """Run All shows which checkpoints come first, and no cell of the table."""
    table = chapter.output("wb.comparison()")

    expect(table).to_contain_text("Not shown yet.")
    expect(table).to_contain_text("another-bed")
    expect(table.get_by_role("row")).to_have_count(0)
