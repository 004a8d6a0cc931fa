"""What a control of a checkpoint is told: one stage after the other, and nothing of a later one.

The leakage tests read all of it: before a commit there is no `Outcome` to take anything from.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

from msgspec import Struct

from labsim.describe.ledger import visible
from workbook.checkpoint.answer_forms import BLANK, HOW, levels, parts
from workbook.checkpoint.kinds import Checkpoint, PaperCheckpoint
from workbook.checkpoint.outcome import Outcome
from workbook.learner.store import Standing
from workbook.show.page import Page, page


class _Message(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class CommitAnswer(_Message, frozen=True, forbid_unknown_fields=True, tag="commit"):
    """The Commit button. `answer`: an option's id or a text, steps in order, or values by field.

    `confidence`: "" while none is chosen.
    """

    answer: str | tuple[str, ...] | dict[str, bool | int | str | None]
    confidence: str = ""


class VoteAgain(_Message, frozen=True, forbid_unknown_fields=True, tag="again"):
    """The button for a second vote: it opens one, and the next commit is it."""


class ShowHint(_Message, frozen=True, forbid_unknown_fields=True, tag="hint"):
    """The hint button."""


class ShowReveal(_Message, frozen=True, forbid_unknown_fields=True, tag="reveal"):
    """The reveal button."""


class NameRow(_Message, frozen=True, forbid_unknown_fields=True, tag="row"):
    """One of the buttons below the reveal. `row`: a number, "none" or "never"; "" if the field is empty."""

    row: int | str


class SkipRow(_Message, frozen=True, forbid_unknown_fields=True, tag="skip"):
    """On to the explanations, without naming a row or comparing point by point."""


class TickPoints(_Message, frozen=True, forbid_unknown_fields=True, tag="points"):
    """The points of the worked answer that the learner's own text had."""

    points: tuple[str, ...]


Message: TypeAlias = CommitAnswer | VoteAgain | ShowHint | ShowReveal | NameRow | SkipRow | TickPoints


class Stage(StrEnum):
    """Where a learner is with one checkpoint, in one window."""

    OPEN = "open"  # not answered
    COMMITTED = "committed"  # locked, and not revealed in this window
    VOTING = "voting"  # giving a second vote
    NAMING = "naming"  # revealed, and asked which row differed
    CHECKING = "checking"  # revealed, and asked which points the learner's own text had
    DONE = "done"  # everything is shown


class View(Struct, frozen=True):
    """What one window knows beyond what is kept: how many hints were shown, what was opened, what was said last."""

    hints: int = 0
    voting: bool = False
    revealed: bool = False
    skipped: bool = False  # the question after the reveal
    said: str = ""


def stage_of(checkpoint: Checkpoint, stands: Standing, outcome: Outcome | None, view: View) -> Stage:
    """Where the learner is, by what is kept and what this window knows."""
    if stands.commit is None:
        return Stage.OPEN
    if outcome is None:
        second = stands.revote is not None or stands.reveal is not None
        return Stage.VOTING if view.voting and not second else Stage.COMMITTED
    if view.skipped:
        return Stage.DONE
    if isinstance(checkpoint, PaperCheckpoint):
        return Stage.CHECKING if checkpoint.points and stands.checked is None else Stage.DONE
    return Stage.NAMING if outcome.question is not None and not stands.rows else Stage.DONE


def control_state(checkpoint: Checkpoint, stands: Standing, outcome: Outcome | None, view: View) -> dict[str, Any]:
    """Everything that a control is told, by the names of its traits. `outcome` is None before the reveal."""
    stage = stage_of(checkpoint, stands, outcome, view)
    commit, revote = stands.commit, stands.revote
    reveal, explained = _told(outcome, stage)
    blank = BLANK[checkpoint.answer_kind]
    open_for_vote = commit is not None and revote is None and stands.reveal is None
    return {
        "title": f"Checkpoint {checkpoint.id}",
        "kind": str(checkpoint.answer_kind),
        "prompt": visible(checkpoint.prompt),
        "options": parts(checkpoint),
        "levels": levels(checkpoint),
        "stage": str(stage),
        "locked": commit is not None,
        "answer": blank if commit is None else commit.answer,
        "confidence": "" if commit is None else str(commit.confidence or ""),
        "voted": revote is not None,
        "second": blank if revote is None else revote.answer,
        "can_vote": open_for_vote and not isinstance(checkpoint, PaperCheckpoint),
        "hints": list(map(visible, checkpoint.hints[: view.hints])),
        "hints_left": len(checkpoint.hints) - view.hints,
        "status": _status(checkpoint, stands, outcome, view, stage),
        "reveal": reveal,
        "rows": outcome.question.size if outcome is not None and outcome.question is not None else 0,
        "points": _points(checkpoint) if outcome is not None else [],
        "ticked": list(stands.checked.points) if outcome is not None and stands.checked is not None else [],
        "explained": explained,
    }


def _told(outcome: Outcome | None, stage: Stage) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The blocks of a reveal, and those of its explanations once they are due; what rules say comes at the end."""
    if outcome is None:
        return [], []
    first = outcome.first()
    if stage is not Stage.DONE:
        return Page(first, says_rules=False).data(), []
    whole = page(*first, *outcome.revealed.explained).data()
    return whole[: len(first)], whole[len(first) :]


def _status(checkpoint: Checkpoint, stands: Standing, outcome: Outcome | None, view: View, stage: Stage) -> str:
    if view.said:
        return view.said
    match stage:
        case Stage.OPEN:
            return f"Not attempted. {HOW[checkpoint.answer_kind]}"
        case Stage.VOTING:
            return "Your first answer stays, and counts. Answer again, and say how sure you are now."
        case Stage.COMMITTED:
            voted = "" if stands.revote is None else " So is your second vote."
            return f"Committed. Your answer is locked.{voted}"
        case Stage.CHECKING:
            return "The worked answer is below, beside yours. Which of its points did yours have?"
        case _:
            return _after(outcome, stage) if outcome is not None else ""


def _after(outcome: Outcome, stage: Stage) -> str:
    if outcome.right is None:
        ticked = outcome.points_said()
        had = ticked[0].text if ticked and hasattr(ticked[0], "text") else ""
        return f"The worked answer is below, beside yours.{f' Yours had {had}' if had else ''}"
    verdict = "Right." if outcome.right else "Not yet."
    if stage is Stage.NAMING:
        return (
            f"{verdict} Look at the ledger: which row differed from your prediction? The explanations come after."
        )
    named = outcome.row_said()
    return f"{verdict} {f'{named} ' if named else ''}The explanation of every answer is below."


def _points(checkpoint: Checkpoint) -> list[dict[str, str]]:
    points = checkpoint.points if isinstance(checkpoint, PaperCheckpoint) else ()
    return [{"id": point.id, "text": visible(point.text)} for point in points]
