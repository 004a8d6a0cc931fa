"""One learner's progress as plain values: chapters, checkpoints, beliefs with their texts, calibration, what next.

For the learner alone: how sure somebody was is nobody else's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from workbook.checkpoint.kinds import Verdict
from workbook.learner.records import Confidence
from workbook.progress.calibration import Calibration, calibrate
from workbook.progress.history import Answered, BeliefStanding, ChapterAnswers, ExerciseTries, Folded
from workbook.progress.questions import Bank, Stray


class Where(Struct, frozen=True, kw_only=True):
    """A checkpoint, and how its reveal is shown again: code for a cell of the notebook of `chapter`."""

    chapter: str
    checkpoint: str
    reread: str
    came_back_in: str | None = None  # the later chapter that asked it, where that answer is meant


class CheckpointSummary(Struct, frozen=True, kw_only=True):
    """How one checkpoint stands."""

    id: str
    verdict: Verdict
    confidence: Confidence | None  # of the answer that stands; None: not said, or there is none
    second_vote: bool
    resets: int
    recalled_from: str | None = None  # the chapter it comes from, if a later chapter asked it again


class ExerciseSummary(Struct, frozen=True, kw_only=True):
    """The tries of one exercise: how many, and the best of them."""

    id: str
    tries: int
    held: int
    of: int


class ChapterSummary(Struct, frozen=True, kw_only=True):
    """One chapter; `checkpoints` in the order in which they are met, after what came back in it."""

    id: str
    title: str
    recalled: tuple[CheckpointSummary, ...]
    checkpoints: tuple[CheckpointSummary, ...]
    exercises: tuple[ExerciseSummary, ...]

    def count(self, verdict: Verdict) -> int:
        """How many of its own checkpoints stand so."""
        return sum(one.verdict is verdict for one in self.checkpoints)

    @property
    def attempted(self) -> int:
        """How many of its own checkpoints have an answer that stands."""
        return len(self.checkpoints) - self.count(Verdict.NOT_ATTEMPTED)


class BeliefSummary(Struct, frozen=True, kw_only=True):
    """A belief that the learner has shown, in words. `shed_by`: the later right answer; None: it is still held."""

    id: str
    says: str
    because: str
    shown_in: tuple[Where, ...]
    shed_by: Where | None


class StraySummary(Struct, frozen=True, kw_only=True):
    """Answers that count for nothing here, and why. They stay in the file."""

    chapter: str
    checkpoint: str
    why: Stray
    records: int


class Summary(Struct, frozen=True, kw_only=True):
    """All that a learner is told of their progress. `problems`: of the file and of chapters, a sentence each."""

    version: Literal[1] = 1
    chapters: tuple[ChapterSummary, ...]
    beliefs_held: tuple[BeliefSummary, ...]
    beliefs_shed: tuple[BeliefSummary, ...]
    calibration: Calibration
    strays: tuple[StraySummary, ...]
    problems: tuple[str, ...]
    next_step: str

    @property
    def started(self) -> bool:
        """Whether anything was answered at all."""
        return any(chapter.attempted or chapter.recalled for chapter in self.chapters)


def summarise(folded: Folded, bank: Bank, problems: Iterable[str] = ()) -> Summary:
    """What the fold of a learner's records comes to, in words. `problems`: of the file they were read from."""
    beliefs = [_belief(standing, bank) for standing in folded.beliefs]
    held = tuple(belief for belief in beliefs if belief.shed_by is None)
    chapters = tuple(_chapter(chapter, folded) for chapter in folded.chapters)
    return Summary(
        chapters=chapters,
        beliefs_held=held,
        beliefs_shed=tuple(belief for belief in beliefs if belief.shed_by is not None),
        calibration=calibrate(folded.forecasts),
        strays=tuple(
            StraySummary(
                chapter=stray.key.chapter,
                checkpoint=stray.key.checkpoint,
                why=stray.why,
                records=len(stray.records),
            )
            for stray in folded.strays
        ),
        problems=(*problems, *bank.problems),
        next_step=_next_step(folded, chapters, held),
    )


def where(answered: Answered) -> Where:
    """The checkpoint that was answered, and how to see its reveal again in the chapter that it is from."""
    key = answered.item.key
    return Where(
        chapter=key.chapter,
        checkpoint=key.checkpoint,
        reread=f'desk.reveal("{key.checkpoint}")',
        came_back_in=answered.key.chapter if answered.recalled else None,
    )


def _chapter(chapter: ChapterAnswers, folded: Folded) -> ChapterSummary:
    return ChapterSummary(
        id=chapter.id,
        title=chapter.title,
        recalled=tuple(_checkpoint(one) for one in chapter.recalled if one.attempts),
        checkpoints=tuple(map(_checkpoint, chapter.answered)),
        exercises=tuple(_exercise(one) for one in folded.exercises if one.key.chapter == chapter.id),
    )


def _exercise(exercise_tries: ExerciseTries) -> ExerciseSummary:
    best = max(exercise_tries.tries, key=lambda tried: tried.held)
    return ExerciseSummary(
        id=exercise_tries.key.checkpoint, tries=len(exercise_tries.tries), held=best.held, of=best.of
    )


def _checkpoint(answered: Answered) -> CheckpointSummary:
    standing = answered.standing
    return CheckpointSummary(
        id=answered.item.key.checkpoint,
        verdict=answered.verdict,
        confidence=None if standing is None else standing.commit.confidence,
        second_vote=standing is not None and standing.revote is not None,
        resets=answered.resets,
        recalled_from=answered.item.key.chapter if answered.recalled else None,
    )


def _belief(standing: BeliefStanding, bank: Bank) -> BeliefSummary:
    known = bank.beliefs.get(standing.id)
    return BeliefSummary(
        id=standing.id,
        says=standing.id if known is None else known.says,
        because="" if known is None else known.because,
        shown_in=tuple(dict.fromkeys(map(where, standing.shown))),
        shed_by=None if standing.against is None else where(standing.against),
    )


def _next_step(folded: Folded, chapters: tuple[ChapterSummary, ...], held: tuple[BeliefSummary, ...]) -> str:
    """One sentence: a reveal that waits, a chapter to go on with, the next one, or something to reread."""
    for chapter in folded.chapters:
        for one in (*chapter.recalled, *chapter.answered):
            standing = one.standing
            if standing is not None and standing.reveal is None:
                if one.recalled:
                    return f"In {chapter.title}: the reveal of a question that came back waits for you."
                return f"In {chapter.title}: look at the reveal that waits for you, {where(one).reread}."
    for summary in chapters:
        if 0 < summary.attempted < len(summary.checkpoints):
            left = [one.id for one in summary.checkpoints if one.verdict is Verdict.NOT_ATTEMPTED]
            more = "one checkpoint is" if len(left) == 1 else f"{len(left)} checkpoints are"
            return f"Go on in {summary.title}: {more} not attempted, next {left[0]}."
    last = max((place for place, summary in enumerate(chapters) if summary.attempted), default=-1)
    for summary in (*chapters[last + 1 :], *chapters[: last + 1]):
        if summary.checkpoints and not summary.attempted:
            return f"{'Open' if last >= 0 else 'Begin with'} {summary.title} ({summary.id})."
    if held:
        place = held[0].shown_in[0]
        return f"Reread what you may still believe, beginning with {place.reread} in {place.chapter}."
    return "You have answered everything. Put your work together with: workbook export"
