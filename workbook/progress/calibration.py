"""How well a learner's confidence fits: stated against what came true, a proper score, and the curve.

With few answers it says so and draws nothing: three answers make a line through three accidents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbook.learner.records import Confidence
from workbook.progress.history import Forecast
from workbook.show.grid import Grid

if TYPE_CHECKING:
    from workbook.show.plots import Plot  # matplotlib takes a while, so it is loaded where something is drawn

ENOUGH: Final = 10  # answers below which nothing is said in numbers that would mislead
ENOUGH_FOR_A_POINT: Final = 3  # answers of one level below which it has no point on the curve
_CLOSE: Final = 0.05  # how far what was stated and what came true may lie apart and still agree


class Level(Struct, frozen=True, kw_only=True):
    """One level of confidence: how often it was stated, and how often rightly."""

    confidence: Confidence
    stated: float  # the probability that it stands for
    answers: int
    right: int

    @property
    def observed(self) -> float | None:
        """The part of its answers that was right; None for too few to say."""
        return self.right / self.answers if self.answers >= ENOUGH_FOR_A_POINT else None


class Calibration(Struct, frozen=True, kw_only=True):
    """All levels, from a guess to certain, and what they come to.

    `brier`: the mean of (stated probability - outcome)², from 0 (certain and right, always) to 1; somebody who says
    0.5 of everything gets 0.25. None with fewer than `ENOUGH` answers.
    """

    levels: tuple[Level, ...]
    answers: int
    right: int
    mean_stated: float | None  # None: no answers
    brier: float | None

    @property
    def enough(self) -> bool:
        """Whether there is anything to say in numbers."""
        return self.answers >= ENOUGH

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """Stated against observed, for the levels with answers enough; none with too few in all."""
        if not self.enough:
            return ()
        return tuple((level.stated, level.observed) for level in self.levels if level.observed is not None)

    @property
    def says(self) -> str:
        """What the learner should know of it, in a sentence or two."""
        if self.answers == 0:
            return (
                "So far no revealed answer of yours says how sure you were. Say it when you commit, and you will "
                "see here what your confidence is worth."
            )
        counted = f"{self.right} of {self.answers} {'answer was' if self.answers == 1 else 'answers were'} right"
        if self.brier is None or self.mean_stated is None:
            return (
                f"So far {counted} in which you had said how sure you were. That is too few to tell anything; from "
                f"{ENOUGH} on a curve is drawn."
            )
        stated, came_true = self.mean_stated, self.right / self.answers
        if abs(stated - came_true) <= _CLOSE:
            verdict = "On the whole your confidence fits."
        elif stated > came_true:
            verdict = "On the whole you are surer than you are right."
        else:
            verdict = "On the whole you are right more often than you say."
        return (
            f"You said {_percent(stated)} on average, and {counted}: {_percent(came_true)}. {verdict} "
            f"Brier score: {self.brier:.3f} (lower is better; to say one half of everything gives 0.25)."
        )

    def table(self) -> Grid:
        """One row a level."""
        return Grid(
            caption="How sure you were, and how often you were right",
            columns=("how sure", "stated", "answers", "right", "came true"),
            rows=tuple(
                (
                    str(level.confidence),
                    _percent(level.stated),
                    str(level.answers),
                    str(level.right),
                    "too few to say" if level.observed is None else _percent(level.observed),
                )
                for level in self.levels
            ),
            numbers=frozenset({1, 2, 3, 4}),
        )

    def curve(self) -> Plot | None:
        """The levels as points beside the diagonal; None while fewer than two levels have answers enough."""
        if len(self.points) < 2:
            return None
        from workbook.show.plots import curve

        above = [_percent(x) for x, y in self.points if y < x - _CLOSE]
        below = [_percent(x) for x, y in self.points if y > x + _CLOSE]
        remarks = [f"surer than right at {', '.join(above)}"] * bool(above)
        remarks += [f"right more often than said at {', '.join(below)}"] * bool(below)
        alt = (
            f"{len(self.points)} points, how often answers were right against how sure they were given; "
            f"{'; '.join(remarks) or 'all close to the diagonal, where both agree'}."
        )
        return curve(
            "Your confidence against what came true",
            {"your answers": self.points},
            x_axis="stated probability",
            y_axis="part that was right",
            diagonal=True,
            alt=alt,
        )


def calibrate(forecasts: Iterable[Forecast] | Mapping[Forecast, int]) -> Calibration:
    """What forecasts come to, in any order; those of a class may come counted."""
    counts = sorted(Counter(forecasts).items(), key=lambda counted: (counted[0].probability, counted[0].right))
    levels = tuple(
        Level(
            confidence=confidence,
            stated=confidence.probability,
            answers=sum(count for one, count in counts if one.probability == confidence.probability),
            right=sum(count for one, count in counts if one.probability == confidence.probability and one.right),
        )
        for confidence in Confidence
    )
    answers = sum(count for _, count in counts)
    scores = sum(count * (one.probability - one.right) ** 2 for one, count in counts)
    return Calibration(
        levels=levels,
        answers=answers,
        right=sum(count for one, count in counts if one.right),
        mean_stated=sum(count * one.probability for one, count in counts) / answers if answers else None,
        brier=scores / answers if answers >= ENOUGH else None,
    )


def _percent(part: float) -> str:
    return f"{part:.0%}"
