"""How well confidence fits: per level, as one proper score, and as a curve that is not drawn from accidents."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.learner.records import Confidence
from workbook.progress.calibration import ENOUGH, Calibration, Level, calibrate
from workbook.progress.history import Forecast
from workbook.show.grid import as_text


def forecasts(**levels: tuple[int, int]) -> list[Forecast]:
    """So many answers of each level, and so many of them right."""
    return [
        Forecast(probability=Confidence[name].probability, right=number < right)
        for name, (answers, right) in levels.items()
        for number in range(answers)
    ]


def test_each_level_is_counted_and_scored():
    """Twelve answers, by hand: 4 guesses (1 right), 4 fairly sure (3), 4 certain (4)."""
    found = calibrate(forecasts(GUESS=(4, 1), FAIRLY_SURE=(4, 3), CERTAIN=(4, 4)))

    brier = (0.65**2 + 3 * 0.35**2 + 3 * 0.2**2 + 0.8**2 + 4 * 0.05**2) / 12
    assert found.levels == (
        Level(confidence=Confidence.GUESS, stated=0.35, answers=4, right=1),
        Level(confidence=Confidence.UNSURE, stated=0.6, answers=0, right=0),
        Level(confidence=Confidence.FAIRLY_SURE, stated=0.8, answers=4, right=3),
        Level(confidence=Confidence.CERTAIN, stated=0.95, answers=4, right=4),
    )
    assert (found.answers, found.right) == (12, 8)
    assert found.brier == pytest.approx(brier)
    assert found.points == ((0.35, 0.25), (0.8, 0.75), (0.95, 1.0))
    assert found.says == (
        "You said 70% on average, and 8 of 12 answers were right: 67%. On the whole your confidence fits. "
        "Brier score: 0.130 (lower is better; to say one half of everything gives 0.25)."
    )
    assert as_text(found.table()).splitlines()[2:] == [
        "how sure     stated  answers  right       came true",
        "-----------  ------  -------  -----  --------------",
        "guess           35%        4      1             25%",
        "unsure          60%        0      0  too few to say",
        "fairly sure     80%        4      3             75%",
        "certain         95%        4      4            100%",
    ]


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        (forecasts(CERTAIN=(12, 6)), "On the whole you are surer than you are right."),
        (forecasts(GUESS=(12, 9)), "On the whole you are right more often than you say."),
    ],
)
def test_it_says_which_way_confidence_is_off(given_: list[Forecast], says: str):
    """Too sure and too modest are different things."""
    assert says in calibrate(given_).says


@pytest.mark.parametrize("answers", [0, 1, ENOUGH - 1])
def test_with_few_answers_nothing_is_drawn_and_it_is_said_so(answers: int):
    """A curve through a handful of answers would show accidents."""
    found = calibrate(forecasts(CERTAIN=(answers, answers)))

    assert found.curve() is None
    assert found.brier is None
    assert ("no revealed answer" if answers == 0 else "too few to tell anything") in found.says
    assert "%" not in found.says
    assert "Brier" not in found.says


def test_one_level_alone_makes_no_curve():
    """Many answers of one confidence are one point, and a point is no line."""
    found = calibrate(forecasts(CERTAIN=(20, 15), GUESS=(2, 1)))

    assert found.points == ((0.95, 0.75),)
    assert found.curve() is None
    assert found.brier is not None


@pytest.mark.slow
def test_the_curve_has_its_points_the_diagonal_and_words():
    """What is seen is also said: in the table, and in the alternative text."""
    plot = calibrate(forecasts(GUESS=(5, 4), UNSURE=(2, 1), CERTAIN=(5, 3))).curve()

    assert plot is not None
    assert [row[1:] for row in plot.table.rows] == [("0.35", "0.8"), ("0.95", "0.6")]
    assert plot.alt == (
        "2 points, how often answers were right against how sure they were given; surer than right at 95%; right "
        "more often than said at 35%."
    )
    assert "<svg" in plot.svg


_FORECASTS = st.lists(
    st.builds(Forecast, probability=st.sampled_from([c.probability for c in Confidence]), right=st.booleans())
)


@given(forecasts=_FORECASTS, seed=st.randoms())
def test_the_order_of_answers_does_not_matter_and_the_score_stays_in_bounds(forecasts, seed):
    """The same answers give the same bytes; a Brier score lies between 0 and 1."""
    found = calibrate(forecasts)
    shuffled = list(forecasts)
    seed.shuffle(shuffled)

    assert calibrate(shuffled) == found
    assert sum(level.answers for level in found.levels) == found.answers == len(forecasts)
    assert found.brier is None or 0 <= found.brier <= 1


@pytest.mark.parametrize("truth", [0.35, 0.6, 0.8, 0.95])
def test_the_score_is_proper(truth: float):
    """Whoever is right with that frequency scores best, in the long run, by saying just that level."""
    expected = {
        level: truth * (level.probability - 1) ** 2 + (1 - truth) * level.probability**2 for level in Confidence
    }

    best = min(expected, key=lambda level: expected[level])
    assert math.isclose(best.probability, truth)
    right = round(100 * truth)
    assert calibrate(forecasts(**{best.name: (100, right)})).brier == pytest.approx(expected[best])


def test_an_empty_calibration_has_all_levels():
    """Every level is listed, stated or not."""
    assert calibrate([]) == Calibration(
        levels=tuple(Level(confidence=level, stated=level.probability, answers=0, right=0) for level in Confidence),
        answers=0,
        right=0,
        mean_stated=None,
        brier=None,
    )
