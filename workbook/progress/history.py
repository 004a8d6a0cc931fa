"""What one learner's records come to: every answer with its history, every belief held or shed.

A pure function of the two: no file, no widget, no case is played here. It takes any sequence of records,
pasted-together files included, and never raises.

Two rules decide what an answer says about a learner.

- *Nothing is said before the reveal.* Right and wrong, and the belief behind an answer, count from the moment at
  which the learner has seen the reveal of that question, so that a summary gives nothing away.
- *Only a blind answer speaks against a belief*: one committed before that question's reveal was seen. To choose
  rightly what one has just been shown is memory; the same question coming back later, as a recall, is blind again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from workbook.checkpoint.kinds import Verdict
from workbook.learner.records import (
    Commit,
    Key,
    Note,
    Record,
    Reset,
    RevealSeen,
    Revote,
    RowNamed,
    SelfChecked,
    Tried,
)
from workbook.progress.questions import RECALL, Bank, Item, Stray


class Attempt(Struct, kw_only=True):
    """One commit and what came with it, up to its reset."""

    commit: Commit
    blind: bool  # no reveal of the question had been seen before it
    revote: Revote | None = None
    reveal: RevealSeen | None = None
    rows: tuple[RowNamed, ...] = ()
    checked: SelfChecked | None = None
    reset: Reset | None = None  # None: this answer stands


class Answered(Struct, frozen=True, kw_only=True):
    """One question and all that a learner did about it. `key` is the item's own, or that of a recall."""

    key: Key
    item: Item
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def recalled(self) -> bool:
        """Whether a later chapter asked it again."""
        return self.key.checkpoint.startswith(RECALL)

    @property
    def first(self) -> Commit | None:
        """The first prediction of all, reset or not; None: never attempted."""
        return self.attempts[0].commit if self.attempts else None

    @property
    def standing(self) -> Attempt | None:
        """The attempt that counts; None: not attempted, or reset and not answered again."""
        return self.attempts[-1] if self.attempts and self.attempts[-1].reset is None else None

    @property
    def resets(self) -> int:
        """How often an answer was taken back."""
        return sum(attempt.reset is not None for attempt in self.attempts)

    @property
    def revealed(self) -> bool:
        """Whether the learner has ever seen what really happens here."""
        return any(attempt.reveal is not None for attempt in self.attempts)

    @property
    def verdict(self) -> Verdict:
        """How it stands, as `Prediction.verdict` says it: right and not yet only after the reveal."""
        standing = self.standing
        if standing is None:
            return Verdict.NOT_ATTEMPTED
        right = self.item.judge(standing.commit.answer).right
        if standing.reveal is None or right is None:
            return Verdict.COMMITTED
        return Verdict.RIGHT if right else Verdict.NOT_YET


class ChapterAnswers(Struct, frozen=True, kw_only=True):
    """One chapter: its own questions in their order, attempted or not, and what it recalled from earlier ones."""

    id: str
    title: str
    answered: tuple[Answered, ...]
    recalled: tuple[Answered, ...]  # in the order in which they were first answered
    exercises: tuple[str, ...]

    def count(self, verdict: Verdict) -> int:
        """How many of its own questions stand so."""
        return sum(one.verdict is verdict for one in self.answered)


class ExerciseTries(Struct, frozen=True, kw_only=True):
    """One exercise that was handed in: each try, in order, and what the learner noted about it."""

    key: Key
    tries: tuple[Tried, ...]
    notes: tuple[Note, ...] = ()


class BeliefStanding(Struct, frozen=True, kw_only=True):
    """One belief that the learner has shown. Held: nothing has spoken against it since."""

    id: str
    shown: tuple[Answered, ...]  # where it was chosen, earliest first, each question once
    against: Answered | None  # the right answer that shed it; None: it is held

    @property
    def held(self) -> bool:
        """Whether it still stands."""
        return self.against is None


class StrayAnswers(Struct, frozen=True, kw_only=True):
    """Answers that belong to no item that is installed. They are kept, and judge nothing."""

    key: Key
    why: Stray
    records: tuple[Record, ...]


class Forecast(Struct, frozen=True, kw_only=True):
    """A stated probability of being right, and whether it came true."""

    probability: float
    right: bool


class Folded(Struct, frozen=True, kw_only=True):
    """All that the records of one learner come to."""

    chapters: tuple[ChapterAnswers, ...]
    exercises: tuple[ExerciseTries, ...]
    beliefs: tuple[BeliefStanding, ...]  # in the order in which they were first shown
    strays: tuple[StrayAnswers, ...]

    @property
    def answered(self) -> Iterator[Answered]:
        """Every question that was attempted, recalled ones included, chapter by chapter."""
        for chapter in self.chapters:
            yield from (one for one in (*chapter.recalled, *chapter.answered) if one.attempts)

    @property
    def forecasts(self) -> tuple[Forecast, ...]:
        """One a question: the confidence that stood when its reveal was first seen, where one was stated."""
        return tuple(
            Forecast(probability=attempt.commit.confidence.probability, right=right)
            for one in self.answered
            for attempt in one.attempts
            if attempt.blind and attempt.reveal is not None and attempt.commit.confidence is not None
            if (right := one.item.judge(attempt.commit.answer).right) is not None
        )


def fold(records: Iterable[Record], bank: Bank) -> Folded:
    """What the records come to, in the light of the installed chapters."""
    by_key: dict[Key, list[Record]] = {}
    for record in records:
        by_key.setdefault(record.key, []).append(record)

    own: dict[Item, Answered] = {}
    recalled: dict[str, list[Answered]] = {}
    strays: list[StrayAnswers] = []
    exercises: list[ExerciseTries] = []
    for key, its in by_key.items():
        found = bank.find(key)
        if isinstance(found, Stray):
            if tries := tuple(record for record in its if isinstance(record, Tried)):
                notes = tuple(record for record in its if isinstance(record, Note))
                exercises.append(ExerciseTries(key=key, tries=tries, notes=notes))
            else:
                strays.append(StrayAnswers(key=key, why=found, records=tuple(its)))
            continue
        one = _answered(key, found, its)
        if key == found.key:
            own[found] = one
        else:
            recalled.setdefault(key.chapter, []).append(one)

    chapters = tuple(
        ChapterAnswers(
            id=chapter.id,
            title=chapter.title,
            answered=tuple(own.get(item) or Answered(key=item.key, item=item) for item in chapter.items),
            recalled=tuple(recalled.get(chapter.id, ())),
            exercises=chapter.exercises,
        )
        for chapter in bank.chapters
    )
    every = [*own.values(), *(one for its in recalled.values() for one in its)]
    return Folded(chapters=chapters, exercises=tuple(exercises), beliefs=_beliefs(every), strays=tuple(strays))


def _answered(key: Key, item: Item, records: Sequence[Record]) -> Answered:
    """The attempts at one question. What comes without a commit before it, or twice, is passed over."""
    attempts: list[Attempt] = []
    notes: list[Note] = []
    here: Attempt | None = None
    blind = True
    for record in records:
        match record:
            case Commit():
                if here is None:  # the first one locks
                    here = Attempt(commit=record, blind=blind)
                    attempts.append(here)
            case Note():
                notes.append(record)
            case _ if here is None:
                pass
            case Revote():
                here.revote = here.revote or record
            case RevealSeen():
                here.reveal = here.reveal or record
                blind = False
            case RowNamed():
                here.rows = (*here.rows, record)
            case SelfChecked():
                here.checked = record
            case Reset():
                here.reset = record
                here = None
            case Tried():
                pass
    return Answered(key=key, item=item, attempts=tuple(attempts), notes=tuple(notes))


class _Evidence(Struct, frozen=True):
    """That an answer shows beliefs, or speaks against them."""

    seq: int
    shows: bool
    beliefs: Iterable[str]
    one: Answered


def _beliefs(answered: Iterable[Answered]) -> tuple[BeliefStanding, ...]:
    evidence = [piece for one in answered for piece in _evidence(one)]
    evidence.sort(key=lambda piece: piece.seq)
    shown: dict[str, list[Answered]] = {}
    against: dict[str, Answered | None] = {}
    for piece in evidence:
        for belief in piece.beliefs:
            if piece.shows:
                where = shown.setdefault(belief, [])
                if all(one is not piece.one for one in where):
                    where.append(piece.one)
                against[belief] = None
            elif belief in shown and against[belief] is None:
                against[belief] = piece.one
    return tuple(
        BeliefStanding(id=belief, shown=tuple(where), against=against[belief]) for belief, where in shown.items()
    )


def _evidence(answered: Answered) -> Iterator[_Evidence]:
    """The first answer and the one that stands show beliefs; a right and blind one that stands speaks against them.

    So does the learner's own look at what they wrote, as far as it shows that something is missing.
    """
    if not answered.revealed:
        return
    standing, first = answered.standing, answered.attempts[0]
    for attempt in (first,) if standing is None or standing is first else (first, standing):
        judged = answered.item.judge(attempt.commit.answer)
        if judged.right and attempt.blind and attempt is standing:
            yield _Evidence(attempt.commit.seq, False, answered.item.beliefs, answered)
        if judged.beliefs:
            yield _Evidence(attempt.commit.seq, True, judged.beliefs, answered)
    if standing is not None and standing.checked is not None:
        yield _Evidence(standing.checked.seq, True, answered.item.missing(standing.checked.points), answered)
