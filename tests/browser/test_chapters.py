"""The chapters themselves in a real JupyterLab: a learner's clean copy, from the prediction to the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chapter_kit import OpenChapter
from playwright.sync_api import expect

from workbook.learner.store import Progress

if TYPE_CHECKING:
    from browser import OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]


def test_the_boundary_desk_is_predicted_answered_twice_and_read(notebook: OpenNotebook) -> None:
    """Commit a prediction, click Approve and then Deny, and read the table: the issue's own walk."""
    chapter = OpenChapter(notebook, "01-boundary-desk.ipynb")
    live, table = 'approved = desk.live("boundary-approve-one-call")', "wb.lifecycle(approved)"
    reveal = 'desk.reveal("exact-label")'

    expect(chapter.output(reveal)).to_contain_text("commit", ignore_case=True)
    expect(chapter.output(reveal)).not_to_contain_text("wrapper/W-40")
    chapter.commit("exact-label", "It runs: the person plainly meant yes.")
    chapter.run(reveal)
    expect(chapter.output(reveal)).to_contain_text("Not yet.")
    expect(chapter.output(reveal)).to_contain_text("Only the exact label is a yes (wrapper/W-40).")
    saved = [record for record in Progress(chapter.folder).records() if record.key.checkpoint == "exact-label"]
    assert [type(record).__name__ for record in saved][:1] == ["Commit"]

    chapter.press(live, "Approve")
    expect(chapter.output(live).get_by_role("status")).to_contain_text("Finished: return")
    chapter.run(table)
    approved = chapter.rows(table)
    chapter.run(live)
    chapter.press(live, "Deny")
    expect(chapter.output(live).get_by_role("status")).to_contain_text("Finished: throw")
    chapter.run(table)
    denied = chapter.rows(table)

    assert [row.split("\t")[-2] for row in approved[1:]] == [
        "tool_call",
        "tool_approval_requested",
        "ui.select",
        "tool_approval_resolved",
        "execute",
        "tool_result",
        "returned",
    ]
    assert [row.split("\t")[-2] for row in denied[1:]] == [
        "tool_call",
        "tool_approval_requested",
        "ui.select",
        "tool_approval_resolved",
        "threw",
    ]
    assert "not approved: denied by user" in denied[4]


def test_the_dispatch_desk_is_predicted_clicked_through_both_gates_and_read(notebook: OpenNotebook) -> None:
    """Predict, click through both gates, and read the table with its two lanes."""
    chapter = OpenChapter(notebook, "02-dispatch-desk.ipynb")
    live, table = 'twice = desk.live("dispatch-explicit-prompt-twice")', "wb.lifecycle(twice)"
    reveal = 'desk.reveal("explicit-prompts")'

    chapter.commit("explicit-prompts", "Two.")
    chapter.run(reveal)
    expect(chapter.output(reveal)).to_contain_text("Right.")

    expect(chapter.output(live)).to_contain_text("Not shown yet.")  # it was run before the commit
    chapter.run(live)
    expect(chapter.output(live)).to_contain_text("Allow tool: write")
    chapter.press(live, "Approve")
    expect(chapter.output(live)).to_contain_text("Allow tool: seed_slot")
    chapter.press(live, "Approve", nth=1)
    expect(chapter.output(live).get_by_role("status")).to_contain_text("Finished: return")
    chapter.run(table)

    cells = [row.split("\t") for row in chapter.rows(table)]
    lane = cells[0].index("lane")
    event = cells[0].index("event")
    width = len(cells[0])
    seen = [(row[lane - width], row[event - width]) for row in cells[1:]]
    assert seen == [
        ("outer", "tool_call"),
        ("outer", "tool_approval_requested"),
        ("outer", "ui.select"),
        ("outer", "tool_approval_resolved"),
        ("inner", "tool_call"),
        ("inner", "tool_approval_requested"),
        ("inner", "ui.select"),
        ("inner", "tool_approval_resolved"),
        ("inner", "execute"),
        ("inner", "tool_result"),
        ("inner", "returned"),
        ("outer", "tool_result"),
        ("outer", "returned"),
    ]
