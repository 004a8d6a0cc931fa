"""The reveal of a checkpoint of several fields: each judged by itself, with whoever is likely to be wrong about it.

Above `reveal_parts` and `judged`; below `reveal`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from labsim.play.report import Report
from workbook.checkpoint.judging import JudgedField, judge_fields, judge_value
from workbook.checkpoint.kinds import Belief, FieldsCheckpoint, Mistake, Value
from workbook.checkpoint.reveal_parts import (
    MATCHES,
    MATCHES_NOT,
    NO,
    YES,
    YOUR_ANSWER,
    Play,
    Reveal,
    belief_said,
    contradiction,
    folded_ledger,
    observed_said,
    other_ledgers,
    retest_said,
)
from workbook.show.grid import Grid
from workbook.show.page import Block, Group, Heading, Paragraph, Table


def reveal_fields(
    checkpoint: FieldsCheckpoint, answer: Mapping[str, Value], play: Play, beliefs: Mapping[str, Belief]
) -> Reveal:
    """Each field as predicted beside the observed one; then each explained, and each likely mistake with it."""
    report = play(checkpoint.case)
    judged = judge_fields(checkpoint, answer, report)
    held = sum(one.matches for one in judged)
    right = held == len(judged)
    counters = [play(mistake.counter or checkpoint.case) for field in checkpoint.fields for mistake in field.wrong]
    return Reveal(
        shown=(
            Heading(text=f"Checkpoint {checkpoint.id}: {'right' if right else 'not yet'}"),
            Paragraph(
                lead="Right." if right else "Not yet.",
                text=f"The run of {report.case.id} shows {held} of the {len(judged)} fields as you predicted them.",
            ),
            _beside(judged),
            folded_ledger(report),
        ),
        explained=(
            *(_explained(one, checkpoint, play, beliefs) for one in judged),
            *retest_said(checkpoint.retest),
            *other_ledgers(counters, report),
        ),
    )


def _beside(judged: tuple[JudgedField, ...]) -> Table:
    """The learner's values and the run's, in the words of the question."""
    rows = tuple(
        (
            one.field.asks,
            one.field.field,
            one.field.said(one.value),
            observed_said(one.check) if one.right is None else one.field.said(one.right),
            YES if one.matches else NO,
        )
        for one in judged
    )
    return Table(
        grid=Grid(
            caption="Predicted against observed, field by field",
            columns=("asked", "field", "predicted", "observed", "agrees"),
            rows=rows,
            marked=frozenset(place for place, one in enumerate(judged) if not one.matches),
        )
    )


def _explained(one: JudgedField, checkpoint: FieldsCheckpoint, play: Play, beliefs: Mapping[str, Belief]) -> Group:
    mine = f"{YOUR_ANSWER}: {one.field.said(one.value)}"
    blocks: list[Block] = [Paragraph(text=one.field.why)]
    for mistake in one.field.wrong:
        counter = play(mistake.counter or checkpoint.case)
        blocks.append(_mistaken(mistake, one, counter, beliefs))
    return Group(
        title=one.field.asks,
        marks=(mine, MATCHES if one.matches else MATCHES_NOT),
        blocks=tuple(blocks),
    )


def _mistaken(mistake: Mistake, one: JudgedField, counter: Report, beliefs: Mapping[str, Belief]) -> Group:
    def blocks() -> Iterator[Block]:
        yield Paragraph(text=mistake.why)
        yield belief_said(beliefs[mistake.belief])
        yield from contradiction((judge_value(one.field, mistake.value, counter),), counter)

    mine = not one.matches and one.field.mistake(one.value) is mistake
    return Group(
        title=f"Whoever predicts “{one.field.said(mistake.value)}”",
        marks=(YOUR_ANSWER,) if mine else (),
        blocks=tuple(blocks()),
    )
