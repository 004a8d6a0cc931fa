"""A class report as one HTML page with plots, to be opened anywhere.

Above `classroom`, `class_tables` and `plots`; below the command. The page is whole in itself: no script, nothing
from elsewhere, and no learner in it, not even a pseudonym. Texts of files that were passed over are escaped like
all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from msgspec.structs import replace

from labsim.show import visible
from workbook.class_files import Skipped
from workbook.class_tables import LEVELS, spelled
from workbook.classroom import AnswerCount, ClassReport, ItemReport
from workbook.grid import STYLE as TABLE_STYLE
from workbook.grid import Grid, as_html
from workbook.plots import STYLE as PLOT_STYLE
from workbook.plots import Plot, bars, curve

GENERATOR: Final = "Cedar Workbook class report"
_SHOWN: Final = 8  # answers of one question that are drawn; the CSV has all
_LISTED: Final = 100  # files and questions that do not count; as above
_DRAWN: Final = 12  # questions with a plot, the most telling ones: a picture takes as long as a thousand learners
_STYLE: Final = """
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.3rem;margin-top:2.5rem}h3{font-size:1.05rem;margin-top:2rem}
blockquote{margin:.5rem 0;padding-left:.75rem;border-left:3px solid #8888;white-space:pre-wrap}
section{break-inside:avoid}
.cedar-box{overflow-x:auto}
"""


def html(report: ClassReport, skipped: Sequence[Skipped]) -> str:
    """The page. The same counts give the same page, with one version of matplotlib."""
    body = "\n".join(_body(report, skipped))
    # Every table and plot brings its style along; one of each is enough for a page.
    body = body.replace(TABLE_STYLE, "").replace(PLOT_STYLE, "")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="generator" content="{GENERATOR}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Class report</title><style>{_STYLE}</style>{TABLE_STYLE}{PLOT_STYLE}</head>\n"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


def _body(report: ClassReport, skipped: Sequence[Skipped]) -> Iterator[str]:
    yield "<h1>Class report</h1>"
    yield _text(
        f"{_many(report.learners, 'learner')}, {_many(len(report.items), 'question')} answered. "
        f"{_many(len(skipped), 'file')} passed over. This page says which answers are right: it is for whoever "
        "teaches. It names nobody" + (", unless the name of a file does that was passed over." if skipped else ".")
    )
    graded = [item for item in report.items if item.graded]
    own = [item for item in report.items if not item.graded]
    yield "<h2>Questions, the most telling first</h2>"
    yield _text(
        "A question tells most where most confidence lies in what is wrong. Misplaced confidence is the mean, over "
        "all who answered, of how sure those were who were wrong; 0.5 for those who did not say. First predictions "
        "count, reset or not, and whether the reveal was seen or not."
    )
    if graded:
        yield as_html(_overview(graded))
    for place, item in enumerate(graded):
        yield from _item(item, drawn=place < _DRAWN)
    if own:
        yield "<h2>Questions that nobody grades</h2>"
        yield as_html(_ungraded(own))
    yield from _beliefs(report)
    yield from _confidence(report)
    yield from _exercises(report)
    yield from _left_out(report, skipped)


def _overview(items: Sequence[ItemReport]) -> Grid:
    return Grid(
        caption="All questions",
        columns=("question", "answered", "right", "misplaced confidence", "voted twice", "resets"),
        rows=tuple(
            (
                _name(item),
                _number(item.learners),
                _part(item.learners - item.wrong, item.learners),
                f"{item.misplaced:.2f}",
                _number(item.votes.all),
                _number(item.resets),
            )
            for item in items
        ),
        numbers=frozenset(range(1, 6)),
    )


def _item(item: ItemReport, *, drawn: bool) -> Iterator[str]:
    yield f'<section aria-label="{escape(_name(item))}"><h3>{escape(_name(item))}</h3>'
    yield f"<blockquote>{escape(visible(item.prompt))}</blockquote>"
    yield _text(
        f"{_many(item.learners, 'learner')} answered, {_number(item.wrong)} not rightly; "
        f"{_number(item.revealed)} saw the reveal."
    )
    if drawn:
        yield _answers(item).html
    yield as_html(_how_sure(item, counted=drawn))
    if item.votes.all:
        yield as_html(_votes(item))
    if item.resets:
        yield _text(f"Taken back {_many(item.resets, 'time')} by {_many(item.resetters, 'learner')}.")
    if item.asked_again:
        yield _text(
            f"Asked again in a later chapter: {_number(item.right_again)} of {_number(item.asked_again)} right."
        )
    yield "</section>"


def _answers(item: ItemReport) -> Plot:
    """What was predicted first, and after talking it over where somebody voted twice."""
    shown = item.answers[:_SHOWN]
    series = {"first prediction": [float(one.first) for one in shown]}
    if item.votes.all:
        series["second vote"] = [float(one.second) for one in shown]
    most = max(shown, key=lambda one: one.first)
    right = [one for one in item.answers if one.right]
    alt = f"Most answers: {_label(most)}, {_number(most.first)} of {_number(item.learners)}."
    if right:
        alt += f" Right: {_number(sum(one.first for one in right))}."
    if len(item.answers) > len(shown):
        alt += f" {_many(len(item.answers) - len(shown), 'rarer answer')} not drawn."
    labels = [_label(one) for one in shown]
    return bars(f"Answers to {_name(item)}", labels, series, value_axis="learners", alt=alt, label_axis="answer")


def _how_sure(item: ItemReport, *, counted: bool) -> Grid:
    """First predictions by confidence. `counted`: how many there are in all is above, beside the plot."""
    shown = item.answers[:_SHOWN]
    levels = [(_label(one), *map(_number, one.sure)) for one in shown]
    in_all = [() if counted else (_number(one.first), _number(one.second)) for one in shown]
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
            ("right", _number(votes.both), _number(votes.lost)),
            ("wrong", _number(votes.gained), _number(votes.neither)),
        ),
        numbers=frozenset({1, 2}),
    )


def _ungraded(items: Sequence[ItemReport]) -> Grid:
    return Grid(
        caption="Texts: nobody but the learner sees what was written",
        columns=("question", "answered", "revealed", "resets"),
        rows=tuple(
            (_name(one), _number(one.learners), _number(one.revealed), _number(one.resets)) for one in items
        ),
        numbers=frozenset({1, 2, 3}),
    )


def _beliefs(report: ClassReport) -> Iterator[str]:
    yield "<h2>Beliefs</h2>"
    if not report.beliefs:
        yield _text("Nobody has shown one yet: a belief counts from the reveal of the question that shows it.")
        return
    yield _text(
        "Learners who showed a belief in an answer. It is shed by a right answer, given later and blind, to a "
        "question that the belief would have got wrong."
    )
    shown = report.beliefs[:_SHOWN]
    held, shed = [float(one.held) for one in shown], [float(one.shed) for one in shown]
    alt = f"Most held: {shown[0].says} {_number(shown[0].held)} still held, {_number(shown[0].shed)} shed."
    yield bars(
        "Beliefs held and shed",
        [one.says for one in shown],
        {"held": held, "shed": shed},
        value_axis="learners",
        alt=alt,
        label_axis="belief",
    ).html
    if len(report.beliefs) > _SHOWN:
        yield _text(f"{_many(len(report.beliefs) - _SHOWN, 'more belief')} in beliefs.csv.")


def _confidence(report: ClassReport) -> Iterator[str]:
    yield "<h2>Confidence</h2>"
    fits = report.calibration
    yield _text(
        f"{_many(fits.answers, 'revealed answer')} said how sure, and {_number(fits.right)} of them "
        f"{'was' if fits.right == 1 else 'were'} right."
        + ("" if fits.brier is None else f" Brier score of all together: {fits.brier:.3f}; lower is better.")
    )
    yield as_html(replace(fits.table(), caption="How sure the class was, and how often it was right"))
    if len(fits.points) > 1:
        yield curve(
            "Confidence of the class against what came true",
            {"the class": fits.points},
            x_axis="stated probability",
            y_axis="part that was right",
            diagonal=True,
            alt=", ".join(f"stated {stated:.0%}, right {right:.0%}" for stated, right in fits.points),
        ).html


def _exercises(report: ClassReport) -> Iterator[str]:
    if not report.exercises:
        return
    yield "<h2>Exercises</h2>"
    yield as_html(
        Grid(
            caption="Handed in, and solved in all their situations",
            columns=("exercise", "learners", "solved", "tries"),
            rows=tuple(
                (f"{one.chapter}/{one.exercise}", _number(one.learners), _number(one.solved), _number(one.tries))
                for one in report.exercises
            ),
            numbers=frozenset({1, 2, 3}),
        )
    )


def _left_out(report: ClassReport, skipped: Sequence[Skipped]) -> Iterator[str]:
    if report.problems:
        yield "<h2>Chapters that could not be read</h2>"
        yield f"<ul>{''.join(f'<li>{escape(visible(one))}</li>' for one in report.problems)}</ul>"
    if report.strays:
        yield "<h2>Answers that could not be judged here</h2>"
        if report.not_installed:
            yield _text("For chapters of your own, name their folder: workbook class DIR --chapters FOLDER.")
        rows = tuple((key, str(why), _number(answers)) for why, key, answers in report.strays)
        columns = ("question", "why", "answers")
        yield as_html(
            _cut(Grid(caption="Kept by the learners", columns=columns, rows=rows, numbers=frozenset({2})))
        )
    if skipped:
        yield "<h2>Files passed over</h2>"
        passed = tuple((one.name, one.why) for one in skipped)
        yield as_html(_cut(Grid(caption=_many(len(skipped), "file"), columns=("file", "why"), rows=passed)))


def _cut(grid: Grid) -> Grid:
    """As much of a list as somebody reads; it is as long as the files make it, and the CSV has all of it."""
    return replace(grid, rows=grid.rows[:_LISTED], left_out=max(0, len(grid.rows) - _LISTED))


# ------------------------------------------------------------------------------------------------------- words


def _label(one: AnswerCount) -> str:
    """An answer in one line, short where it has many parts, and in words if it is the right one."""
    text = one.said[0] if len(one.said) == 1 else spelled(one)
    return f"Right: {text}" if one.right else text


def _name(item: ItemReport) -> str:
    return f"{item.chapter}/{item.checkpoint}"


def _part(count: int, of: int) -> str:
    return f"{count / of:.0%}"


def _number(count: int) -> str:
    return f"{count:,}"


def _many(count: int, what: str) -> str:
    return f"{_number(count)} {what}{'' if count == 1 else 's'}"


def _text(text: str) -> str:
    return f"<p>{escape(visible(text))}</p>"
