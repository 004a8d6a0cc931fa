"""How sure somebody is, scored so that honesty pays, and told to nobody else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.learner.confidence import said, score, sentence
from workbook.learner.records import Confidence

PROBABILITIES = st.floats(min_value=0, max_value=1)


def expected_score(confidence: Confidence, probability: float) -> float:
    """What the score comes to on average, for answers that are right with that probability."""
    return probability * score(confidence, right=True) + (1 - probability) * score(confidence, right=False)


@pytest.mark.parametrize(
    ("confidence", "right", "wrong"),
    [
        (Confidence.GUESS, 0.4225, 0.1225),
        (Confidence.UNSURE, 0.16, 0.36),
        (Confidence.FAIRLY_SURE, 0.04, 0.64),
        (Confidence.CERTAIN, 0.0025, 0.9025),
    ],
)
def test_a_score_is_the_squared_distance_from_what_came_of_it(confidence: Confidence, right: float, wrong: float):
    """Brier's rule: 0 is best, 1 is worst."""
    assert score(confidence, right=True) == pytest.approx(right)
    assert score(confidence, right=False) == pytest.approx(wrong)


@given(PROBABILITIES)
def test_the_rule_is_proper(probability: float):
    """Whatever somebody's true probability of being right: no level does better than the nearest to it."""
    nearest = min(Confidence, key=lambda level: abs(level.probability - probability))
    best = expected_score(nearest, probability)

    for level in Confidence:
        assert best <= expected_score(level, probability) + 1e-12


@given(PROBABILITIES, st.sampled_from(Confidence))
def test_the_further_a_level_is_from_the_truth_the_more_it_costs(probability: float, level: Confidence):
    """By the square of the distance, on top of what chance costs anybody."""
    chance = probability * (1 - probability)

    assert math.isclose(
        expected_score(level, probability), chance + (level.probability - probability) ** 2, abs_tol=1e-12
    )


def test_one_sentence_says_the_score_and_how_to_read_it():
    """Without a digit too many."""
    assert sentence(Confidence.CERTAIN, right=False) == (
        "You said “certain”, which stands for 0.95, and your answer was not right yet. "
        "That is a Brier score of 0.9025: 0 is best, 1 is worst. "
        "It stays in your folder; an export can leave out how sure you were."
    )
    assert "your answer was right. That is a Brier score of 0.04:" in sentence(Confidence.FAIRLY_SURE, right=True)
    assert [said(0.0), said(1.0), said(0.16), said(0.0025)] == ["0", "1", "0.16", "0.0025"]
