"""A worksheet as one HTML page for A4 paper, in black and white: questions first, answers on pages of their own.

Nothing here plays or judges; sentences and style are in the template. The page is whole by itself: no script,
nothing fetched, every text escaped where it enters. How pages break is the point of the style sheet: a question
never leaves its options, so a case that is too long to stand between them is printed after the questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Final, TypeVar

from labsim.js_values import stringify
from workbook.learner.confidence import ASKS
from workbook.learner.records import Confidence
from workbook.paper.sheet import GENERATOR, Question, Sheet
from workbook.show.template import rendered

T = TypeVar("T")

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RULED_LINES: Final = 8  # for a text by hand, nine millimetres each
LINES_IN_PLACE: Final = 16  # of a case as it is given; a longer one is printed after the questions
_COLUMNS: Final = 88  # characters of the type that a case is set in, on a line of A4
QUESTIONS, CASES, ANSWERS = "Questions", "Longer cases", "Worked answers"


def html_of(sheet: Sheet) -> str:
    """The whole page. The same sheet gives the same text, always."""
    return rendered(
        "worksheet",
        generator=GENERATOR,
        sheet=sheet,
        headings={"questions": QUESTIONS, "cases": CASES, "answers": ANSWERS},
        asks=ASKS,
        levels=list(map(str, Confidence)),
        ruled_lines=RULED_LINES,
        long=[question for question in sheet.questions if not _in_place(question)],
        in_place=_in_place,
        letters=_letters,
        lettered=lambda options: [f"{letter}. {option.text}" for letter, option in _letters(options)],
        seen=lambda checks: "; ".join(f"{check.field}: {_value(check.observed)}" for check in checks),
    )


def _letters(options: Iterable[T]) -> list[tuple[str, T]]:
    return list(zip(LETTERS, options, strict=False))


def _in_place(question: Question) -> bool:
    """Whether the case is short enough to stand between the question and its options."""
    return sum(max(1, ceil(len(line) / _COLUMNS)) for line in question.given) <= LINES_IN_PLACE


def _value(value: object) -> str:
    return value if isinstance(value, str) else stringify(value)
