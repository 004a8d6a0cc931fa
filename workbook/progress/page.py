"""One learner's progress as a page: the value of a cell, and what `workbook progress` prints."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from workbook.checkpoint.kinds import Verdict
from workbook.learner.store import Progress
from workbook.learner.who import progress_of, who
from workbook.progress.history import fold
from workbook.progress.installed import installed
from workbook.progress.summary import (
    BeliefSummary,
    ChapterSummary,
    CheckpointSummary,
    ExerciseSummary,
    Summary,
    Where,
    summarise,
)
from workbook.show.grid import Grid
from workbook.show.page import Block, Fold, Group, Heading, Items, Page, Paragraph, Table, page

_NO_ANSWER = "-"


class MyProgress(Struct, frozen=True):
    """A summary that shows itself: as text everywhere, with the curve of confidence where there are pictures."""

    summary: Summary

    def page(self) -> Page:
        """Everything but the picture."""
        return page(*_blocks(self.summary))

    def __str__(self) -> str:
        return str(self.page())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        shown = self.page()
        curve = self.summary.calibration.curve()
        return {"text/plain": str(shown), "text/html": shown.html() + ("" if curve is None else curve.html)}


def my_progress() -> MyProgress:
    """How you stand in all chapters, and what to do next; nothing is given away that you have not seen revealed.

    Raises: workbook.learner.store.ForeignFile; workbook.learner.who.UnknownLearner.
    """
    return progress_in(progress_of(who()))


def progress_in(progress: Progress) -> MyProgress:
    """The progress kept in one folder. Raises: workbook.learner.store.ForeignFile."""
    records, problems = progress.records(), progress.problems
    bank = installed(progress.folder)
    return MyProgress(summarise(fold(records, bank), bank, problems))


def _blocks(summary: Summary) -> Iterator[Block]:
    yield Heading(text="Your progress")
    yield Paragraph(lead="Next:", text=summary.next_step)
    yield Table(grid=_chapters(summary.chapters))
    for chapter in summary.chapters:
        if chapter.attempted or chapter.recalled or chapter.exercises:
            yield Fold(title=f"{chapter.title}, in detail", blocks=tuple(_details(chapter)))
    if summary.started:
        yield from _beliefs(summary)
        yield Paragraph(lead="Confidence.", text=summary.calibration.says)
    if summary.calibration.answers:
        yield Table(grid=summary.calibration.table())
    if summary.strays:
        yield Table(grid=_strays(summary))
    if summary.problems:
        yield Group(title="To be looked at", blocks=(Items(items=summary.problems),))


def _chapters(chapters: tuple[ChapterSummary, ...]) -> Grid:
    verdicts = (Verdict.RIGHT, Verdict.NOT_YET, Verdict.COMMITTED, Verdict.NOT_ATTEMPTED)
    return Grid(
        caption="Chapters, and how your checkpoints stand",
        columns=("chapter", *map(str, verdicts), "in all"),
        rows=tuple(
            (chapter.title, *(str(chapter.count(verdict)) for verdict in verdicts), str(len(chapter.checkpoints)))
            for chapter in chapters
        ),
        numbers=frozenset(range(1, len(verdicts) + 2)),
    )


def _details(chapter: ChapterSummary) -> Iterator[Block]:
    answered = [one for one in chapter.checkpoints if one.verdict is not Verdict.NOT_ATTEMPTED or one.resets]
    left = [one.id for one in chapter.checkpoints if one not in answered]
    if rows := tuple(map(_checkpoint, (*chapter.recalled, *answered))):
        yield Table(
            grid=Grid(
                caption=f"Checkpoints of {chapter.id}",
                columns=("checkpoint", "how it stands", "how sure", "besides"),
                rows=rows,
            )
        )
    if left:
        yield Paragraph(lead="Not attempted:", text=f"{', '.join(left)}.")
    if chapter.exercises:
        yield Items(items=tuple(map(_exercise, chapter.exercises)))


def _checkpoint(checkpoint_summary: CheckpointSummary) -> tuple[str, ...]:
    besides = [f"came back from {checkpoint_summary.recalled_from}"] * (
        checkpoint_summary.recalled_from is not None
    )
    besides += ["voted again"] * checkpoint_summary.second_vote
    besides += [f"reset {_times(checkpoint_summary.resets)}"] * (checkpoint_summary.resets > 0)
    return (
        checkpoint_summary.id,
        str(checkpoint_summary.verdict),
        str(checkpoint_summary.confidence or _NO_ANSWER),
        ", ".join(besides) or _NO_ANSWER,
    )


def _exercise(exercise: ExerciseSummary) -> str:
    held = f"at best {exercise.held} of {exercise.of} situations held"
    return f"The exercise {exercise.id} was handed in {_times(exercise.tries)}; {held}."


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _beliefs(summary: Summary) -> Iterator[Block]:
    if summary.beliefs_held:
        yield Table(
            grid=Grid(
                caption="What you may still believe",
                columns=("belief", "why it is plausible", "you chose it in"),
                rows=tuple((one.says, one.because, _places(one)) for one in summary.beliefs_held),
            )
        )
        first = summary.beliefs_held[0].shown_in[0]
        yield Paragraph(
            lead="To reread one:",
            text=f"in the notebook of its chapter, run {first.reread}, with the name of the checkpoint in it.",
        )
    if summary.beliefs_shed:
        yield Table(
            grid=Grid(
                caption="What you no longer believe",
                columns=("belief", "you chose it in", "you knew better in"),
                rows=tuple(
                    (one.says, _places(one), "" if one.shed_by is None else _place(one.shed_by))
                    for one in summary.beliefs_shed
                ),
            )
        )
    if not (summary.beliefs_held or summary.beliefs_shed):
        yield Paragraph(
            lead="Beliefs.",
            text="No revealed answer of yours speaks for one of the beliefs that options stand for.",
        )


def _places(belief_summary: BeliefSummary) -> str:
    return "\n".join(map(_place, belief_summary.shown_in))


def _place(place: Where) -> str:
    back = "" if place.came_back_in is None else f", when it came back in {place.came_back_in}"
    return f"{place.chapter}: {place.checkpoint}{back}"


def _strays(summary: Summary) -> Grid:
    return Grid(
        caption="Answers that are kept and not counted",
        columns=("answer to", "why", "records"),
        rows=tuple((f"{one.chapter}: {one.checkpoint}", str(one.why), str(one.records)) for one in summary.strays),
        numbers=frozenset({2}),
    )
