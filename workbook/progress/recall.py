"""Which two questions of earlier chapters come back at the beginning of a chapter.

What a learner got wrong comes back first: to be asked again later, without the answer in sight, is what makes it
stay. A pure function of records and items, so the same answers bring the same questions back. Once one of the two
is answered, both are settled: the choice is worked out from what stood in the file before that answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec.structs import replace

from workbook.checkpoint.kinds import Checkpoint, Verdict, scripted_answer
from workbook.checkpoint.prediction import Asked, Lesson, Prediction
from workbook.errors import WorkbookError
from workbook.learner.records import AnswerKind, Commit, Key, Record, RevealSeen
from workbook.learner.who import Learner
from workbook.progress.history import Answered, BeliefStanding, Folded, fold
from workbook.progress.installed import installed, lesson_of
from workbook.progress.questions import RECALL, Bank, Item, recall_key

PER_CHAPTER: Final = 2
_NOT_SAID: Final = 2.0  # above every probability: who never said how sure they were comes last


class NothingToRecall(WorkbookError):
    """The chapter asks no question of that number again. Attributes: `chapter`, `number`."""

    def __init__(self, chapter: str, number: int, there: int) -> None:
        self.chapter = chapter
        self.number = number
        if there == 0:
            says = f"Nothing comes back in {chapter}: no chapter with checkpoints comes before it."
        else:
            says = f"{chapter} has no recall {number!r}. Use one of: {', '.join(map(str, range(1, there + 1)))}."
        super().__init__(says)


def recalled(records: Sequence[Record], bank: Bank, asking: str) -> tuple[Item, ...]:
    """The items that a chapter asks again, at most `PER_CHAPTER`; what was answered keeps its place.

    Somebody who has answered too little in the earlier chapters gets what the scripted learner would.
    """
    answered: dict[Key, int] = {}  # where each was first answered
    for place, record in enumerate(records):
        if isinstance(record, Commit) and record.key.chapter == asking and record.key.checkpoint.startswith(RECALL):
            answered.setdefault(record.key, place)
    before = records[: min(answered.values(), default=len(records))]
    chosen = [*_of(before, bank, asking)]
    if len(chosen) < PER_CHAPTER:
        open_ = _can_be_asked(fold(before, bank), bank, asking)
        filling = (*_of(scripted_records(bank, asking), bank, asking), *open_)
        chosen += [item for item in dict.fromkeys(filling) if item in open_ and item not in chosen]
    del chosen[PER_CHAPTER:]
    for key in answered:  # and one that was asked in a window left open, when the choice was still another
        item = bank.find(key)
        open_places = [place for place, other in enumerate(chosen) if recall_key(asking, other) not in answered]
        if isinstance(item, Item) and item not in chosen and open_places:
            chosen[open_places[0]] = item
    return tuple(chosen)


def scripted_records(bank: Bank, until: str) -> list[Record]:
    """What the scripted learner has done before a chapter: its own answers, and every recall rightly."""
    made: list[Record] = []
    for chapter in bank.before(until):
        for item in _of(made, bank, chapter.id):
            _answer(made, recall_key(chapter.id, item), item, right=True)
        for item in chapter.items:
            _answer(made, item.key, item, right=False)
    return made


def _answer(records: list[Record], key: Key, item: Item, *, right: bool) -> None:
    scripted = scripted_answer(item.checkpoint)
    answer = item.right_answer if right else None
    answer = scripted if answer is None else answer
    sure = item.checkpoint.scripted_confidence
    seq = len(records) + 1
    records += [
        Commit(seq=seq, key=key, answer=answer, kind=item.kind, confidence=sure),
        RevealSeen(seq=seq + 1, key=key),
    ]


def _of(records: Sequence[Record], bank: Bank, asking: str) -> tuple[Item, ...]:
    """The first of the candidates."""
    candidates = dict.fromkeys(_candidates(fold(records, bank), bank, asking))
    return tuple(islice(candidates, PER_CHAPTER))


def _candidates(folded: Folded, bank: Bank, asking: str) -> Iterator[Item]:
    """Beliefs held, then what is not right yet, then what was right with the least confidence."""
    open_ = _can_be_asked(folded, bank, asking)
    came_back = {one.item for one in folded.answered if one.recalled}
    mended = {one.item for one in folded.answered if one.recalled and one.verdict is Verdict.RIGHT}

    held = (_first(_against(belief, open_, bank), open_) for belief in folded.beliefs if belief.held)
    yield from _spread(held, came_back)
    wrong = [item for item, one in open_.items() if one.verdict is Verdict.NOT_YET and item not in mended]
    yield from _spread((_first((_retest(item, open_, bank), item), open_) for item in wrong), came_back)
    yield from wrong
    right = [one for one in open_.values() if one.verdict is Verdict.RIGHT]
    yield from (one.item for one in sorted(right, key=lambda one: (one.item in came_back, _sure(one))))


def _can_be_asked(folded: Folded, bank: Bank, asking: str) -> dict[Item, Answered]:
    """The earlier chapters' questions, in order, without texts and without those that wait for their reveal.

    To ask one of the latter would give away what its own chapter still keeps back.
    """
    earlier = {chapter.id for chapter in bank.before(asking)}
    every = (one for chapter in folded.chapters if chapter.id in earlier for one in chapter.answered)
    return {
        one.item: one
        for one in every
        if one.item.kind is not AnswerKind.TEXT and one.verdict is not Verdict.COMMITTED
    }


def _first(items: Iterable[Item | None], open_: dict[Item, Answered]) -> Item | None:
    return next((item for item in items if item in open_), None)


def _spread(items: Iterable[Item | None], came_back: set[Item]) -> list[Item]:
    """What has not come back yet first, and of that: one from long ago, one from the latest chapter, then on."""
    found = sorted((item for item in dict.fromkeys(items) if item is not None), key=lambda item: item in came_back)
    fresh = [item for item in found if item not in came_back] or found
    return [*fresh[:1], *(item for item in fresh if item.key.chapter == fresh[-1].key.chapter), *found]


def _against(belief: BeliefStanding, open_: dict[Item, Answered], bank: Bank) -> Iterator[Item | None]:
    """What could shed a belief: a retest of where it was shown, that itself, then any other item about it."""
    for one in belief.shown:
        retest = _retest(one.item, open_, bank)
        yield retest if retest is not None and belief.id in retest.beliefs else None
        yield one.item
    yield from (item for item in open_ if belief.id in item.beliefs)


def _retest(item: Item, open_: dict[Item, Answered], bank: Bank) -> Item | None:
    """The item of its chapter that comes back to it, unless that was answered rightly."""
    retest = bank.item(item.key.chapter, item.checkpoint.retest or "")
    return None if retest not in open_ or open_[retest].verdict is Verdict.RIGHT else retest


def _sure(answered: Answered) -> float:
    standing = answered.standing
    confidence = None if standing is None else standing.commit.confidence
    return _NOT_SAID if confidence is None else confidence.probability


LessonOf = Callable[[str], Lesson]  # what the checkpoints of the chapter of that id share


class Recalls:
    """What comes back in one open chapter, for whoever learns there."""

    def __init__(self, asking: Lesson, bank: Bank, lessons: LessonOf) -> None:
        """`asking`: of the chapter that asks. `bank`: the questions of all chapters. `lessons`: of the others."""
        self._asking = asking
        self._bank = bank
        self._lessons = lessons

    def ask(self, number: int) -> Prediction:
        """The question that comes back as number 1 or 2, to be answered.

        Raises: NothingToRecall; ForeignFile; what opening its chapter raises.
        """
        asking, scripted = self._asking, self._asking.learner is Learner.SCRIPTED
        records = scripted_records(self._bank, asking.chapter) if scripted else asking.progress.records()
        items = recalled(records, self._bank, asking.chapter)
        if number not in range(1, len(items) + 1):
            raise NothingToRecall(asking.chapter, number, len(items))
        item = items[number - 1]
        lesson = replace(self._lessons(item.key.chapter), progress=asking.progress, learner=asking.learner)
        return Prediction(lesson, _remembered(item), _asked(asking.chapter, item, number))


def recalls_in(asking: Lesson) -> Recalls:
    """What comes back in a chapter, of all that are installed where its learner's answers are kept."""
    here = asking.progress.folder
    return Recalls(asking, installed(here), lambda chapter_id: lesson_of(chapter_id, here))


def _asked(chapter: str, item: Item, number: int) -> Asked:
    return Asked(
        key=recall_key(chapter, item),
        title=f"Recall {number}: {item.key.checkpoint}, from {item.key.chapter}",
        predict=f"desk.recall({number})",
        reveal=f"desk.recall_reveal({number})",
        which_row=f"desk.recall({number}).which_row(1)",
    )


def _remembered(item: Item) -> Checkpoint:
    """The checkpoint with the right answer as the scripted learner's: it has seen the reveal, and remembers."""
    right = item.right_answer
    return item.checkpoint if right is None else replace(item.checkpoint, scripted=right)
