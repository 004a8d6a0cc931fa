"""What a class made of each question: answers counted, confidences, second votes, resets, beliefs held and shed.

Counts only: learners go in one by one and nothing of them stays but numbers, so ten thousand take no more memory
than ten, and no name and no free text of anybody can come out again. Nor can a text that stands in a file in the
place of an answer: whatever a question does not offer is one thing to count, and is not repeated.

A first prediction counts whether its reveal was seen or not, since a class votes before it looks. The instructor
who counts has the chapters, and so the answers; what is right is found as everywhere, by playing the case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec import Struct

from workbook.learner.records import Answer, AnswerKind, Confidence, Record
from workbook.progress.calibration import Calibration, calibrate
from workbook.progress.history import Answered, Folded, Forecast, fold
from workbook.progress.questions import Bank, Item, Stray, hashable

_NOT_STATED: Final = 0.5  # how sure somebody counts as who was wrong and did not say
_LEVELS: Final[tuple[Confidence | None, ...]] = (*Confidence, None)
_PLACES: Final = {level: place for place, level in enumerate(_LEVELS)}
_WEIGHTS: Final = tuple(_NOT_STATED if level is None else level.probability for level in _LEVELS)
_TEXT: Final = "(a text)"
_NOT_OFFERED: Final = "(nothing that the question offers)"


class AnswerCount(Struct, frozen=True, kw_only=True):
    """One answer and how many gave it. `right`: None where only the learner can tell."""

    answer: Answer  # "" for a text, and for what the question does not offer
    said: tuple[str, ...]  # in the words of the question, a line for each part
    right: bool | None
    first: int  # as the first prediction of all
    second: int  # after talking it over
    sure: tuple[int, ...]  # of the first ones, how many by `Confidence`, in its order; then those who did not say


class Votes(Struct, frozen=True, kw_only=True):
    """Those who voted twice, by whether the first and the second answer were right."""

    both: int = 0
    gained: int = 0  # only the second
    lost: int = 0  # only the first
    neither: int = 0

    @property
    def all(self) -> int:
        return self.both + self.gained + self.lost + self.neither


class ItemReport(Struct, frozen=True, kw_only=True):
    """What the class made of one question."""

    chapter: str
    checkpoint: str
    kind: AnswerKind
    prompt: str
    learners: int  # who answered
    answers: tuple[AnswerCount, ...]  # as offered, those of nobody included; else by how many gave them
    wrong: int  # of the first predictions
    misplaced: float  # mean confidence put into wrong first predictions, 0 to 0.95 a learner
    votes: Votes
    resets: int  # taken back, in all
    resetters: int  # learners who did
    revealed: int  # learners who have seen it
    asked_again: int  # recalled in a later chapter, answers
    right_again: int  # of those

    @property
    def graded(self) -> bool:
        """Whether a run tells right from wrong here."""
        return any(count.right is not None for count in self.answers)


class BeliefReport(Struct, frozen=True, kw_only=True):
    """One belief, and how many learners showed it; each either holds it still or has shed it."""

    id: str
    says: str
    held: int
    shed: int


class ExerciseReport(Struct, frozen=True, kw_only=True):
    """One exercise: who handed something in, who got all of it, and in how many tries altogether."""

    chapter: str
    exercise: str
    learners: int
    solved: int
    tries: int


class ClassReport(Struct, frozen=True, kw_only=True):
    """The class. `items` are the most telling first: where most confidence lay in what is wrong."""

    learners: int
    items: tuple[ItemReport, ...]
    beliefs: tuple[BeliefReport, ...]  # those most held first
    exercises: tuple[ExerciseReport, ...]
    calibration: Calibration
    strays: tuple[tuple[Stray, str, int], ...]  # why, chapter/checkpoint, answers; of questions not installed here
    problems: tuple[str, ...]  # what kept a chapter from being judged by, a sentence each

    @property
    def not_installed(self) -> int:
        """Answers to questions of chapters that are not here: an instructor's own, most likely."""
        return sum(answers for why, _, answers in self.strays if why is Stray.NOT_INSTALLED)


class _Tally:
    """One answer to one question, counted."""

    __slots__ = ("answer", "right", "said", "second", "sure")

    def __init__(self, answer: Answer, said: tuple[str, ...], right: bool | None) -> None:
        self.answer = answer
        self.said = said
        self.right = right
        self.sure = [0] * len(_LEVELS)  # first predictions, by `_LEVELS`
        self.second = 0

    @property
    def count(self) -> AnswerCount:
        return AnswerCount(
            answer=self.answer,
            said=self.said,
            right=self.right,
            first=sum(self.sure),
            second=self.second,
            sure=tuple(self.sure),
        )


class _Pool:
    """Counts for one question."""

    def __init__(self, item: Item) -> None:
        self._item = item
        self._is_text = item.kind is AnswerKind.TEXT
        self.learners = self.revealed = self.resets = self.resetters = 0
        self.votes: Counter[tuple[bool | None, bool | None]] = Counter()
        self.again: Counter[bool | None] = Counter()
        self._other = _Tally("", (_NOT_OFFERED,), right=False)
        self._tallies: dict[object, _Tally] = {}
        for option in item.option_ids:  # those that nobody chooses count, too: as none
            self.tally(option)

    def tally(self, answer: Answer) -> _Tally:
        """Where an answer is counted. A text is nobody's business but the learner's."""
        if self._is_text:
            answer = ""
        known = hashable(answer)
        found = self._tallies.get(known)
        if found is None:
            if not self._item.fits(answer):
                return self._other
            found = self._tallies[known] = self._made(answer)
        return found

    def _made(self, answer: Answer) -> _Tally:
        item = self._item
        if isinstance(answer, dict):  # a file has the fields in any order, and a report in one
            answer = {name: answer[name] for name in item.field_names}
        said = (_TEXT,) if self._is_text else item.said(answer)
        return _Tally(answer, said, item.judge(answer).right)

    @property
    def counts(self) -> list[AnswerCount]:
        """The answers, as offered, then by how many gave them; what is not offered comes last, if there is any."""
        every = [tally.count for tally in self._tallies.values()]
        offered = len(self._item.option_ids)
        others = sorted(every[offered:], key=lambda one: (-one.first, msgspec.json.encode(one.answer)))
        other = self._other.count
        return [*every[:offered], *others, *[other] * bool(other.first or other.second)]


class Classroom:
    """A class that is being counted. `add` each learner's work once, then ask for the `report`."""

    def __init__(self, bank: Bank) -> None:
        """`bank`: the chapters to judge by."""
        self._bank = bank
        self._learners = 0
        self._pools: dict[Item, _Pool] = {}
        self._held: Counter[str] = Counter()
        self._shed: Counter[str] = Counter()
        self._exercises: dict[tuple[str, str], Counter[str]] = {}
        self._forecasts: Counter[Forecast] = Counter()
        self._strays: Counter[tuple[Stray, str]] = Counter()

    def add(self, records: Iterable[Record]) -> None:
        """Count one learner, by all of their records."""
        folded = fold(records, self._bank)
        self._learners += 1
        for one in folded.answered:
            self._count(one)
        for belief in folded.beliefs:
            (self._held if belief.held else self._shed)[belief.id] += 1
        self._forecasts.update(folded.forecasts)
        self._strays.update((stray.why, str(stray.key)) for stray in folded.strays)
        self._count_exercises(folded)

    def _count_exercises(self, folded: Folded) -> None:
        for one in folded.exercises:
            counts = self._exercises.setdefault((one.key.chapter, one.key.checkpoint), Counter())
            counts["learners"] += 1
            counts["tries"] += len(one.tries)
            counts["solved"] += any(tried.held == tried.of for tried in one.tries)

    def _count(self, answered: Answered) -> None:
        pool = self._pools.get(answered.item)
        if pool is None:
            pool = self._pools[answered.item] = _Pool(answered.item)
        first = answered.attempts[0]
        tally = pool.tally(first.commit.answer)
        if answered.recalled:
            pool.again[tally.right] += 1
            return
        pool.learners += 1
        pool.revealed += answered.revealed
        if resets := answered.resets:
            pool.resets += resets
            pool.resetters += 1
        tally.sure[_PLACES[first.commit.confidence]] += 1
        if first.revote is not None:
            second = pool.tally(first.revote.answer)
            second.second += 1
            pool.votes[tally.right, second.right] += 1

    def report(self) -> ClassReport:
        """The counts so far."""
        places = {item: place for place, item in enumerate(_items(self._bank))}
        asked = [item for item in self._pools if self._pools[item].learners]
        items = [_reported(item, self._pools[item]) for item in sorted(asked, key=lambda item: places[item])]
        beliefs = [
            BeliefReport(
                id=belief,
                says=known.says if (known := self._bank.beliefs.get(belief)) is not None else belief,
                held=self._held[belief],
                shed=self._shed[belief],
            )
            for belief in {**self._held, **self._shed}
        ]
        return ClassReport(
            learners=self._learners,
            items=tuple(sorted(items, key=lambda item: -item.misplaced)),  # of equal ones, the earlier met
            beliefs=tuple(sorted(beliefs, key=lambda belief: (-belief.held, -belief.shed, belief.id))),
            exercises=tuple(
                ExerciseReport(
                    chapter=chapter,
                    exercise=exercise,
                    learners=counts["learners"],
                    solved=counts["solved"],
                    tries=counts["tries"],
                )
                for (chapter, exercise), counts in sorted(self._exercises.items())
            ),
            calibration=calibrate(self._forecasts),
            strays=tuple((why, key, count) for (why, key), count in sorted(self._strays.items())),
            problems=self._bank.problems,
        )


def _reported(item: Item, pool: _Pool) -> ItemReport:
    answers = pool.counts
    wrong = [one for one in answers if one.right is False]
    misplaced = sum(count * weight for one in wrong for count, weight in zip(one.sure, _WEIGHTS, strict=True))
    return ItemReport(
        chapter=item.key.chapter,
        checkpoint=item.key.checkpoint,
        kind=item.kind,
        prompt=item.checkpoint.prompt,
        learners=pool.learners,
        answers=tuple(answers),
        wrong=sum(one.first for one in wrong),
        misplaced=misplaced / pool.learners,
        votes=Votes(
            both=pool.votes[True, True],
            gained=pool.votes[False, True],
            lost=pool.votes[True, False],
            neither=pool.votes[False, False],
        ),
        resets=pool.resets,
        resetters=pool.resetters,
        revealed=pool.revealed,
        asked_again=pool.again.total(),
        right_again=pool.again[True],
    )


def _items(bank: Bank) -> Iterator[Item]:
    for chapter in bank.chapters:
        yield from chapter.items
