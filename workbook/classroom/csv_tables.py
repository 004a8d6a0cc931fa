"""A class report's numbers as CSV, for a spreadsheet or a program.

A cell that a spreadsheet would take for a formula is marked as text, since the names of files, and what is wrong
with them, come from anybody.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from labsim.describe.ledger import visible
from workbook.classroom.counts import AnswerCount, ClassReport, ItemReport
from workbook.classroom.files import Skipped
from workbook.learner.records import Confidence

LEVELS: Final = (*(str(level) for level in Confidence), "not said")
_COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "checkpoints.csv": (
        *("chapter", "checkpoint", "kind", "answered", "wrong", "misplaced_confidence", "revealed"),
        *("voted_right_right", "voted_wrong_right", "voted_right_wrong", "voted_wrong_wrong"),
        *("resets", "learners_who_reset", "asked_again", "right_again"),
    ),
    "answers.csv": (
        *("chapter", "checkpoint", "answer", "in_words", "right", "first", "second"),
        *(f"first_{level.replace(' ', '_')}" for level in LEVELS),
    ),
    "beliefs.csv": ("belief", "says", "held", "shed"),
    "exercises.csv": ("chapter", "exercise", "learners", "solved", "tries"),
    "not-judged.csv": ("question", "why", "answers"),
    "skipped.csv": ("file", "why"),
}
HEADS: Final = {name: ",".join(columns) for name, columns in _COLUMNS.items()}  # the first line of each table


def tables(report: ClassReport, skipped: Sequence[Skipped]) -> dict[str, str]:
    """The numbers by file name, each as CSV with a head line; rows in the order of the page."""
    rows: dict[str, Iterable[Sequence[object]]] = {
        "checkpoints.csv": map(_checkpoint_row, report.items),
        "answers.csv": (row for item in report.items for row in _answer_rows(item)),
        "beliefs.csv": ((one.id, one.says, one.held, one.shed) for one in report.beliefs),
        "exercises.csv": (
            (one.chapter, one.exercise, one.learners, one.solved, one.tries) for one in report.exercises
        ),
        "not-judged.csv": ((key, why, answers) for why, key, answers in report.strays),
        "skipped.csv": ((one.name, one.why) for one in skipped),
    }
    return {name: _csv(columns, rows[name]) for name, columns in _COLUMNS.items()}


def _checkpoint_row(item: ItemReport) -> tuple[object, ...]:
    votes = item.votes
    wrong, misplaced = (item.wrong, f"{item.misplaced:.4f}") if item.graded else ("", "")
    return (
        *(item.chapter, item.checkpoint, item.kind, item.learners, wrong, misplaced, item.revealed),
        *(votes.both, votes.gained, votes.lost, votes.neither),
        *(item.resets, item.resetters, item.asked_again, item.right_again),
    )


def _answer_rows(item: ItemReport) -> Iterator[tuple[object, ...]]:
    for one in item.answers:
        right = "" if one.right is None else "yes" if one.right else "no"
        counts = (one.first, one.second, *one.sure)
        yield item.chapter, item.checkpoint, spelled(one), "\n".join(one.said), right, *counts


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """A cell that no spreadsheet runs: text that begins like a formula gets a quotation mark before it."""
    text = visible(value) if isinstance(value, str) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(("=", "+", "-", "@")) else text


def spelled(counted: AnswerCount) -> str:
    """An answer by the ids of its parts, in one line; "" for a text."""
    if isinstance(counted.answer, dict):
        return "; ".join(f"{name}={value}" for name, value in counted.answer.items())
    return counted.answer if isinstance(counted.answer, str) else " → ".join(counted.answer)
