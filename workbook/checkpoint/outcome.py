"""What came of one committed answer: the reveal with all that the learner said since, as one page or part by part.

The verdict is that of the first commit, whatever was voted later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from labsim.play.report import Report
from workbook.checkpoint import row_question as which_row
from workbook.checkpoint.answer_forms import said
from workbook.checkpoint.judging import is_right
from workbook.checkpoint.kinds import Belief, Checkpoint, PaperCheckpoint
from workbook.checkpoint.reveal import Play, Reveal, reveal_of
from workbook.checkpoint.reveal_parts import NO, YES
from workbook.checkpoint.row_question import RowQuestion, row_question
from workbook.errors import WorkbookError
from workbook.learner.confidence import sentence
from workbook.learner.store import Standing
from workbook.show.grid import Grid
from workbook.show.page import Block, Items, Page, Paragraph, Table, page

POINTS_ASKED: Final = "Which points of the worked answer did yours have?"


class Outcome(Struct, frozen=True, kw_only=True):
    """One answer beside its run. `right` is None for a paper answer; `private`: whether its score may be told.

    `in_code`: how row 1 is named by code in a cell.
    """

    checkpoint: Checkpoint
    standing: Standing
    report: Report
    revealed: Reveal
    right: bool | None
    question: RowQuestion | None
    private: bool
    in_code: str
    not_recorded: str = ""  # why the reveal could not be recorded as seen; "": it was

    def page(self) -> Page:
        """Everything, as a cell or a sheet of paper shows it: the question about rows, and all explanations."""
        return page(*self.first(), *self.asked(), *self.revealed.explained, *self._note())

    def first(self) -> tuple[Block, ...]:
        """What opens at once: how the answer stands, both votes, the score, the ledger."""
        heading, verdict, *rest = self.revealed.shown
        return (heading, verdict, *self._votes(), *self._score(), *rest)

    def asked(self) -> tuple[Block, ...]:
        """What is asked after the reveal, about rows or about points, or what was answered to it."""
        if isinstance(self.checkpoint, PaperCheckpoint):
            return self.points_said() or self._points_asked()
        if self.question is None:
            return ()
        return (Paragraph(lead=which_row.ASKS, text=self.row_said() or self._how()),)

    def row_said(self) -> str:
        """What the learner said about rows, last, and whether the ledger agrees; "" if nothing was said."""
        if self.question is None or not self.standing.rows:
            return ""
        return self.question.answer(self.standing.rows[-1].row)

    def points_said(self) -> tuple[Block, ...]:
        """Which points of the worked answer the learner found in their own text; nothing before they said."""
        ticked = self.standing.checked
        if ticked is None or not isinstance(self.checkpoint, PaperCheckpoint):
            return ()
        points = self.checkpoint.points
        had = [point.text for point in points if point.id in ticked.points]
        return (
            Paragraph(lead="Yours had:", text=f"{len(had)} of {len(points)} points."),
            *((Items(items=tuple(had)),) if had else ()),
        )

    def _points_asked(self) -> tuple[Block, ...]:
        points = self.checkpoint.points if isinstance(self.checkpoint, PaperCheckpoint) else ()
        if not points:
            return ()
        ids = ", ".join(repr(point.id) for point in points)
        return (
            Paragraph(lead=POINTS_ASKED, text=f"To say it: desk.self_check({self.checkpoint.id!r}, [{ids}])"),
            Items(items=tuple(f"{point.id}: {point.text}" for point in points)),
        )

    def _how(self) -> str:
        return (
            f"Look through the ledger before you read on. To answer: {self.in_code} "
            f"with the number of the row, or {which_row.NONE!r} where none differed, or {which_row.NEVER!r} where "
            "what you predicted never happened."
        )

    def _votes(self) -> tuple[Block, ...]:
        first, second = self.standing.commit, self.standing.revote
        if first is None or second is None:
            return ()
        rows = tuple(
            (
                name,
                said(self.checkpoint, vote.answer),
                str(vote.confidence or "not said"),
                YES if is_right(self.checkpoint, vote.answer, self.report) else NO,
            )
            for name, vote in (("first, which counts", first), ("after talking it over", second))
        )
        columns = ("vote", "answer", "how sure", "agrees with the run")
        return (Table(grid=Grid(caption="Both of your votes", columns=columns, rows=rows)),)

    def _score(self) -> tuple[Block, ...]:
        commit = self.standing.commit
        if not self.private or self.right is None or commit is None or commit.confidence is None:
            return ()
        return (Paragraph(lead="How sure you were:", text=sentence(commit.confidence, self.right)),)

    def _note(self) -> tuple[Block, ...]:
        return (Paragraph(lead="Not recorded:", text=self.not_recorded),) if self.not_recorded else ()


def outcome_of(
    checkpoint: Checkpoint,
    standing: Standing,
    play: Play,
    beliefs: Mapping[str, Belief],
    *,
    private: bool,
    in_code: str,
) -> Outcome:
    """What came of the answer that stands.

    Raises: NothingCommitted; labsim.errors.UnknownCase, CaseError; KeyError, for an unknown belief.
    """
    if standing.commit is None:
        raise NothingCommitted(checkpoint.id)
    answer, report = standing.commit.answer, play(checkpoint.case)
    return Outcome(
        checkpoint=checkpoint,
        standing=standing,
        report=report,
        revealed=reveal_of(checkpoint, answer, play, beliefs),
        right=is_right(checkpoint, answer, report),
        question=row_question(checkpoint, answer, report),
        private=private,
        in_code=in_code,
    )


class NothingCommitted(WorkbookError):
    """There is no answer, so nothing came of it. Attribute: `checkpoint_id`."""

    def __init__(self, checkpoint_id: str) -> None:
        self.checkpoint_id = checkpoint_id
        super().__init__(f"Nothing is committed for {checkpoint_id}. Commit an answer first.")
