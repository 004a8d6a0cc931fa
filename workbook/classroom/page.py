"""A class report as one HTML page with plots, to be opened anywhere.

The page is whole in itself: no script, nothing from elsewhere, and no learner in it, not even a pseudonym. Its
sentences are in the template; texts of files that were passed over are escaped there like all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from workbook.classroom.counts import AnswerCount, ClassReport, ItemReport
from workbook.classroom.csv_tables import LEVELS, spelled
from workbook.classroom.files import Skipped
from workbook.show.grid import STYLE as TABLE_STYLE
from workbook.show.grid import Grid
from workbook.show.plots import STYLE as PLOT_STYLE
from workbook.show.plots import Plot, bars, curve
from workbook.show.template import many, number, rendered

GENERATOR: Final = "Cedar Workbook class report"
_SHOWN: Final = 8  # answers of one question that are drawn; the CSV has all
_LISTED: Final = 100  # files and questions that do not count; as above
_DRAWN: Final = 12  # questions with a plot, the most telling ones: a picture takes as long as a thousand learners


class _Shown(Struct, frozen=True, kw_only=True):
    """One graded question as the page has it. `answers` is None where the question is too far down to be drawn."""

    name: str
    prompt: str
    learners: int
    wrong: int
    revealed: int
    answers: Plot | None
    how_sure: Grid
    votes: Grid | None
    resets: int
    resetters: int
    asked_again: int
    right_again: int


def html(report: ClassReport, skipped: Sequence[Skipped]) -> str:
    """The page. The same counts give the same page, with one version of matplotlib."""
    graded = [item for item in report.items if item.graded]
    own = [item for item in report.items if not item.graded]
    return rendered(
        "class-report",
        generator=GENERATOR,
        table_style=Markup(TABLE_STYLE),
        plot_style=Markup(PLOT_STYLE),
        report=report,
        skipped=skipped,
        overview=_overview(graded) if graded else None,
        questions=[_shown(item, drawn=place < _DRAWN) for place, item in enumerate(graded)],
        ungraded=_ungraded(own) if own else None,
        beliefs=_beliefs(report),
        beliefs_left_out=max(0, len(report.beliefs) - _SHOWN),
        how_sure=replace(report.calibration.table(), caption="How sure the class was, and how often it was right"),
        curve=_curve(report),
        exercises=_exercises(report),
        strays=_strays(report),
        passed_over=_passed_over(skipped),
    )


def _shown(item: ItemReport, *, drawn: bool) -> _Shown:
    return _Shown(
        name=_name(item),
        prompt=item.prompt,
        learners=item.learners,
        wrong=item.wrong,
        revealed=item.revealed,
        answers=_answers(item) if drawn else None,
        how_sure=_how_sure(item, counted=drawn),
        votes=_votes(item) if item.votes.all else None,
        resets=item.resets,
        resetters=item.resetters,
        asked_again=item.asked_again,
        right_again=item.right_again,
    )


def _overview(items: Sequence[ItemReport]) -> Grid:
    return Grid(
        caption="All questions",
        columns=("question", "answered", "right", "misplaced confidence", "voted twice", "resets"),
        rows=tuple(
            (
                _name(item),
                number(item.learners),
                _part(item.learners - item.wrong, item.learners),
                f"{item.misplaced:.2f}",
                number(item.votes.all),
                number(item.resets),
            )
            for item in items
        ),
        numbers=frozenset(range(1, 6)),
    )


def _answers(item: ItemReport) -> Plot:
    """What was predicted first, and after talking it over where somebody voted twice."""
    shown = item.answers[:_SHOWN]
    series = {"first prediction": [float(one.first) for one in shown]}
    if item.votes.all:
        series["second vote"] = [float(one.second) for one in shown]
    most = max(shown, key=lambda one: one.first)
    right = [one for one in item.answers if one.right]
    alt = f"Most answers: {_label(most)}, {number(most.first)} of {number(item.learners)}."
    if right:
        alt += f" Right: {number(sum(one.first for one in right))}."
    if len(item.answers) > len(shown):
        alt += f" {many(len(item.answers) - len(shown), 'rarer answer')} not drawn."
    labels = [_label(one) for one in shown]
    return bars(f"Answers to {_name(item)}", labels, series, value_axis="learners", alt=alt, label_axis="answer")


def _how_sure(item: ItemReport, *, counted: bool) -> Grid:
    """First predictions by confidence. `counted`: how many there are in all is above, beside the plot."""
    shown = item.answers[:_SHOWN]
    levels = [(_label(one), *map(number, one.sure)) for one in shown]
    in_all = [() if counted else (number(one.first), number(one.second)) for one in shown]
    columns = ("answer", *LEVELS, *(() if counted else ("first prediction", "second vote")))
    return Grid(
        caption="How sure, by answer (learners, first prediction)",
        columns=columns,
        rows=tuple((*by_level, *counts) for by_level, counts in zip(levels, in_all, strict=True)),
        numbers=frozenset(range(1, len(columns))),
        left_out=max(0, len(item.answers) - _SHOWN),
    )


def _votes(item: ItemReport) -> Grid:
    votes = item.votes
    return Grid(
        caption="Voted, talked it over, voted again",
        columns=("first vote", "second vote right", "second vote wrong"),
        rows=(
            ("right", number(votes.both), number(votes.lost)),
            ("wrong", number(votes.gained), number(votes.neither)),
        ),
        numbers=frozenset({1, 2}),
    )


def _ungraded(items: Sequence[ItemReport]) -> Grid:
    return Grid(
        caption="Texts: nobody but the learner sees what was written",
        columns=("question", "answered", "revealed", "resets"),
        rows=tuple((_name(one), number(one.learners), number(one.revealed), number(one.resets)) for one in items),
        numbers=frozenset({1, 2, 3}),
    )


def _beliefs(report: ClassReport) -> Plot | None:
    """The beliefs that most learners showed; None where nobody has shown one."""
    if not report.beliefs:
        return None
    shown = report.beliefs[:_SHOWN]
    held, shed = [float(one.held) for one in shown], [float(one.shed) for one in shown]
    return bars(
        "Beliefs held and shed",
        [one.says for one in shown],
        {"held": held, "shed": shed},
        value_axis="learners",
        alt=f"Most held: {shown[0].says} {number(shown[0].held)} still held, {number(shown[0].shed)} shed.",
        label_axis="belief",
    )


def _curve(report: ClassReport) -> Plot | None:
    """Stated confidence against what came true; None where one point, or none, would be all there is."""
    points = report.calibration.points
    if len(points) < 2:
        return None
    return curve(
        "Confidence of the class against what came true",
        {"the class": points},
        x_axis="stated probability",
        y_axis="part that was right",
        diagonal=True,
        alt=", ".join(f"stated {stated:.0%}, right {right:.0%}" for stated, right in points),
    )


def _exercises(report: ClassReport) -> Grid | None:
    if not report.exercises:
        return None
    return Grid(
        caption="Handed in, and solved in all their situations",
        columns=("exercise", "learners", "solved", "tries"),
        rows=tuple(
            (f"{one.chapter}/{one.exercise}", number(one.learners), number(one.solved), number(one.tries))
            for one in report.exercises
        ),
        numbers=frozenset({1, 2, 3}),
    )


def _strays(report: ClassReport) -> Grid | None:
    if not report.strays:
        return None
    rows = tuple((key, str(why), number(answers)) for why, key, answers in report.strays)
    columns = ("question", "why", "answers")
    return _cut(Grid(caption="Kept by the learners", columns=columns, rows=rows, numbers=frozenset({2})))


def _passed_over(skipped: Sequence[Skipped]) -> Grid | None:
    if not skipped:
        return None
    rows = tuple((one.name, one.why) for one in skipped)
    return _cut(Grid(caption=many(len(skipped), "file"), columns=("file", "why"), rows=rows))


def _cut(grid: Grid) -> Grid:
    """As much of a list as somebody reads; it is as long as the files make it, and the CSV has all of it."""
    return replace(grid, rows=grid.rows[:_LISTED], left_out=max(0, len(grid.rows) - _LISTED))


# ------------------------------------------------------------------------------------------------------- words


def _label(answer: AnswerCount) -> str:
    """An answer in one line, short where it has many parts, and in words if it is the right one."""
    text = answer.said[0] if len(answer.said) == 1 else spelled(answer)
    return f"Right: {text}" if answer.right else text


def _name(item: ItemReport) -> str:
    return f"{item.chapter}/{item.checkpoint}"


def _part(count: int, of: int) -> str:
    return f"{count / of:.0%}"
