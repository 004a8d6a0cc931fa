"""The reveal of a checkpoint of steps: the learner's order beside the ledger's, place by place.

Above `reveal_parts` and `judged`; below `reveal`. The right order is that of the rows, so each place points at one.
"""

from __future__ import annotations

from collections.abc import Mapping

from labsim.play.report import Report
from workbook.checkpoint.judging import JudgedOrder, judge_order
from workbook.checkpoint.kinds import Belief, OrderCheckpoint, WrongPair
from workbook.checkpoint.reveal_parts import (
    NO,
    YES,
    YOUR_ANSWER,
    Reveal,
    belief_said,
    folded_ledger,
    retest_said,
    some_rows,
)
from workbook.show.grid import Grid
from workbook.show.page import Block, Group, Heading, Paragraph, Table


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
            _beside(judged),
            folded_ledger(report),
        ),
        explained=(
            Group(title="Why in this order", blocks=tuple(_reasons(checkpoint, judged, report))),
            *(_confused(pair, pair in judged.mistakes, judged, report, beliefs) for pair in checkpoint.wrong),
            *retest_said(checkpoint.retest),
        ),
    )


def _beside(judged: JudgedOrder) -> Table:
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
