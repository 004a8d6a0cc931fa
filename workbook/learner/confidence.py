"""How well somebody's certainty fits: each commit scored by a proper rule, for that learner alone.

The rule is Brier's: the squared distance between the stated probability and what came of it (1 for a right answer,
0 for a wrong one). It is proper: nobody can expect a better score than by naming the level that is nearest to what
they believe, so neither modesty nor boasting gains anything.
"""

from __future__ import annotations

from typing import Final

from workbook.learner.records import Confidence

ASKS: Final = "How sure are you?"


def score(confidence: Confidence, right: bool) -> float:
    """Brier's score of one answer, in [0, 1]; 0 is best."""
    return (confidence.probability - right) ** 2


def said(value: float) -> str:
    """A score or a probability, to four places and without idle zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def sentence(confidence: Confidence, right: bool) -> str:
    """The score of one answer, and how to read it."""
    outcome = "right" if right else "not right yet"
    return (
        f"You said “{confidence}”, which stands for {said(confidence.probability)}, and your answer was {outcome}. "
        f"That is a Brier score of {said(score(confidence, right))}: 0 is best, 1 is worst. "
        "It stays in your folder; an export can leave out how sure you were."
    )
