"""The guard under nbval: no cell passes without having been compared."""

from __future__ import annotations

import pytest
from nbformat import NotebookNode, v4
from nbval import plugin

from workbook.notebook.nbval_guard import (
    IGNORING_COMMENTS,
    IGNORING_TAGS,
    UncomparedCell,
    compared_cells,
    uncompared_cells,
)


def ran(source: str, *tags: str) -> NotebookNode:
    return v4.new_code_cell(source, execution_count=1, metadata={"tags": list(tags)} if tags else {})


def test_a_notebook_that_was_run_whole_has_nothing_to_report():
    """Markdown, empty cells, and tags and comments that keep the comparison are all fine."""
    notebook = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# NBVAL_SKIP"),
            v4.new_code_cell("  \n"),
            ran("desk"),
            ran("1 / 0", "raises-exception"),
            ran("# NBVAL_CHECK_OUTPUT\ndesk"),
            ran("# only a comment"),
            ran("text = 'NBVAL_SKIP'"),
        ]
    )

    assert uncompared_cells(notebook) == []
    assert compared_cells(notebook) == 5


def test_a_cell_that_was_never_run_is_reported_with_its_place():
    """nbval passes a cell without an execution count whatever it prints: a cleared notebook is all green."""
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("x"), ran("a"), v4.new_code_cell("\nprint('b')\nc")])

    assert uncompared_cells(notebook) == [
        UncomparedCell(
            index=2,
            reason="it was saved without being run; run the notebook and save it with its outputs",
            first_line="print('b')",
        )
    ]
    assert compared_cells(notebook) == 1


@pytest.mark.parametrize("tag", ["nbval-skip", "nbval-ignore-output", "pytest-validate-ignore-output"])
def test_a_tag_that_stops_the_comparison_is_reported(tag: str):
    """A skipped cell is a cell nobody checks."""
    [found] = uncompared_cells(v4.new_notebook(cells=[ran("desk", "predict", tag)]))

    assert str(found) == f"cell 0 (desk): the tag {tag} keeps nbval from comparing it; remove the tag"


@pytest.mark.parametrize("line", ["# NBVAL_SKIP", "   ##  NBVAL_IGNORE_OUTPUT  ", "#PYTEST_VALIDATE_IGNORE_OUTPUT"])
def test_a_comment_that_stops_the_comparison_is_reported(line: str):
    """Comments work like tags, indented or doubled, wherever they stand in the cell."""
    [found] = uncompared_cells(v4.new_notebook(cells=[ran(f"desk = 1\n{line}\ndesk")]))

    assert "keeps nbval from comparing it; remove the comment" in found.reason


def test_every_mark_that_nbval_knows_is_known_here():
    """If a later nbval learns another way to look away, this fails before a chapter can use it."""
    compares = {"check", "check_exception"}
    assert {m for m, does in plugin.comment_markers.items() if does not in compares} == IGNORING_COMMENTS
    assert {m for m, does in plugin.metadata_tags.items() if does not in compares} == IGNORING_TAGS
