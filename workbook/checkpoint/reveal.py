"""The reveal: what a committed prediction is shown, all of it worked out from runs of the cases.

Explains every answer, right or wrong: what it predicts, why it holds or not, which belief lies behind it, and
which rows of which ledger speak against it.
"""

from __future__ import annotations

from collections.abc import Mapping

from labsim.play.report import Report
from workbook.checkpoint.judging import Judged, as_fields, as_order, judge, judge_options
from workbook.checkpoint.kinds import (
    Belief,
    Checkpoint,
    ChoiceCheckpoint,
    FieldsCheckpoint,
    OrderCheckpoint,
    PaperCheckpoint,
)
from workbook.checkpoint.reveal_kinds import reveal_fields, reveal_order
from workbook.checkpoint.reveal_parts import (
    MATCHES,
    MATCHES_NOT,
    YOUR_ANSWER,
    Play,
    Reveal,
    comparison,
    contradiction,
    folded_ledger,
    known_belief,
    other_ledgers,
    retest_said,
)
from workbook.learner.records import Answer
from workbook.show.page import Block, Group, Heading, Paragraph

__all__ = ["Play", "Reveal", "comparison", "reveal_of"]


def reveal_of(checkpoint: Checkpoint, answer: Answer, play: Play, beliefs: Mapping[str, Belief]) -> Reveal:
    """What the case shows, beside what the learner's answer predicted; then every answer explained.

    `answer`: as it was committed. Raises: labsim.errors.UnknownCase, CaseError; KeyError, for an unknown belief.
    """
    match checkpoint:
        case ChoiceCheckpoint():
            return _reveal_choice(checkpoint, str(answer), play, beliefs)
        case FieldsCheckpoint():
            return reveal_fields(checkpoint, as_fields(answer), play, beliefs)
        case OrderCheckpoint():
            return reveal_order(checkpoint, as_order(answer), play(checkpoint.case), beliefs)
        case PaperCheckpoint():
            return _reveal_paper(checkpoint, str(answer), play)


def _reveal_choice(checkpoint: ChoiceCheckpoint, chosen: str, play: Play, beliefs: Mapping[str, Belief]) -> Reveal:
    report = play(checkpoint.case)
    judged = judge_options(checkpoint, report)
    mine = next(one for one in judged if one.option.id == chosen)
    counters = {one.option.id: play(one.option.counter or checkpoint.case) for one in judged if not one.matches}
    return Reveal(
        shown=(
            Heading(text=f"Checkpoint {checkpoint.id}: {'right' if mine.matches else 'not yet'}"),
            Paragraph(
                lead="Right." if mine.matches else "Not yet.",
                text=f"You committed “{mine.option.text}” The run of {report.case.id} shows "
                f"{'just what that predicts' if mine.matches else 'something else'}.",
            ),
            comparison("Predicted against observed, for your answer", mine.checks),
            folded_ledger(report),
        ),
        explained=(
            *(_explained(one, one.option.id == chosen, counters.get(one.option.id), beliefs) for one in judged),
            *retest_said(checkpoint.retest),
            *other_ledgers(counters.values(), report),
        ),
    )


def _reveal_paper(checkpoint: PaperCheckpoint, written: str, play: Play) -> Reveal:
    """The learner's text, the worked answer, and the run that shows what the worked answer claims."""
    report = play(checkpoint.case)
    return Reveal(
        shown=(
            Heading(text=f"Checkpoint {checkpoint.id}: compare for yourself"),
            Group(title="You wrote", blocks=(Paragraph(text=written),)),
            Group(title="A worked answer", blocks=(Paragraph(text=checkpoint.worked),)),
        ),
        explained=(
            comparison(
                f"What the worked answer claims, and what {report.case.id} shows",
                judge(checkpoint.claims, report),
                claim="claimed",
            ),
            *retest_said(checkpoint.retest),
            folded_ledger(report),
        ),
    )


def _explained(judged: Judged, mine: bool, counter: Report | None, beliefs: Mapping[str, Belief]) -> Group:
    blocks: list[Block] = [Paragraph(text=judged.option.why)]
    if counter is not None:
        blocks.extend(known_belief(judged.option.belief, beliefs))
        blocks.extend(contradiction(judge(judged.option.predicts, counter), counter))
    marks = (MATCHES if judged.matches else MATCHES_NOT,)
    return Group(title=judged.option.text, marks=(YOUR_ANSWER, *marks) if mine else marks, blocks=tuple(blocks))
