"""The reveals of two kinds of checkpoint: of several fields, each judged by itself, and of an order of steps.

The right order is that of the rows, so each place of it points at one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from labsim.play.report import Report
from workbook.checkpoint.judging import JudgedField, JudgedOrder, judge_fields, judge_order, judge_value
from workbook.checkpoint.kinds import Belief, FieldsCheckpoint, Mistake, OrderCheckpoint, Value, WrongPair
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
    some_rows,
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
            _fields_beside(judged),
            folded_ledger(report),
        ),
        explained=(
            *(_explained(one, checkpoint, play, beliefs) for one in judged),
            *retest_said(checkpoint.retest),
            *other_ledgers(counters, report),
        ),
    )


def _fields_beside(judged: tuple[JudgedField, ...]) -> Table:
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


def _explained(
    judged_field: JudgedField, checkpoint: FieldsCheckpoint, play: Play, beliefs: Mapping[str, Belief]
) -> Group:
    mine = f"{YOUR_ANSWER}: {judged_field.field.said(judged_field.value)}"
    blocks: list[Block] = [Paragraph(text=judged_field.field.why)]
    for mistake in judged_field.field.wrong:
        counter = play(mistake.counter or checkpoint.case)
        blocks.append(_mistaken(mistake, judged_field, counter, beliefs))
    return Group(
        title=judged_field.field.asks,
        marks=(mine, MATCHES if judged_field.matches else MATCHES_NOT),
        blocks=tuple(blocks),
    )


def _mistaken(mistake: Mistake, judged_field: JudgedField, counter: Report, beliefs: Mapping[str, Belief]) -> Group:
    def blocks() -> Iterator[Block]:
        yield Paragraph(text=mistake.why)
        yield belief_said(beliefs[mistake.belief])
        yield from contradiction((judge_value(judged_field.field, mistake.value, counter),), counter)

    mine = not judged_field.matches and judged_field.field.mistake(judged_field.value) is mistake
    return Group(
        title=f"Whoever predicts “{judged_field.field.said(mistake.value)}”",
        marks=(YOUR_ANSWER,) if mine else (),
        blocks=tuple(blocks()),
    )


def reveal_order(
    checkpoint: OrderCheckpoint, answer: tuple[str, ...], report: Report, beliefs: Mapping[str, Belief]
) -> Reveal:
    """Place by place; then why each step stands where it does, and the pairs that are easily confused."""
    judged = judge_order(checkpoint, answer, report)
    held = sum(given == right for given, right in zip(judged.given, judged.right, strict=True))
    return Reveal(
        shown=(
            Heading(text=f"Checkpoint {checkpoint.id}: {'right' if judged.matches else 'not yet'}"),
            Paragraph(
                lead="Right." if judged.matches else "Not yet.",
                text=f"The ledger of {report.case.id} has {held} of the {len(answer)} steps where you put them.",
            ),
            _orders_beside(judged),
            folded_ledger(report),
        ),
        explained=(
            Group(title="Why in this order", blocks=tuple(_reasons(checkpoint, judged, report))),
            *(_confused(pair, pair in judged.mistakes, judged, report, beliefs) for pair in checkpoint.wrong),
            *retest_said(checkpoint.retest),
        ),
    )


def _orders_beside(judged: JudgedOrder) -> Table:
    pairs = list(zip(judged.given, judged.right, strict=True))
    rows = tuple(
        (str(place), given.step.text, right.step.text, f"row {right.row}", YES if given == right else NO)
        for place, (given, right) in enumerate(pairs, start=1)
    )
    return Table(
        grid=Grid(
            caption="Your order beside the ledger's",
            columns=("place", "you put", "the ledger has", "where", "agrees"),
            rows=rows,
            marked=frozenset(place for place, (given, right) in enumerate(pairs) if given != right),
        )
    )


def _reasons(checkpoint: OrderCheckpoint, judged: JudgedOrder, report: Report) -> list[Block]:
    rows = some_rows(f"The rows of {report.case.id} that the steps are", (one.row for one in judged.right), report)
    reasons = [
        Paragraph(lead=f"{place}. {one.step.text}", text=f"(row {one.row}) {one.step.why}")
        for place, one in enumerate(judged.right, start=1)
    ]
    return [*reasons, rows]


def _confused(
    pair: WrongPair, mine: bool, judged: JudgedOrder, report: Report, beliefs: Mapping[str, Belief]
) -> Group:
    at = {one.step.id: one for one in judged.right}
    earlier, later = at[pair.earlier], at[pair.later]
    return Group(
        title=f"Whoever puts “{earlier.step.text}” before “{later.step.text}”",
        marks=(YOUR_ANSWER,) if mine else (),
        blocks=(
            Paragraph(text=pair.why),
            belief_said(beliefs[pair.belief]),
            some_rows(f"Rows of {report.case.id} that speak against it", (earlier.row, later.row), report),
        ),
    )
