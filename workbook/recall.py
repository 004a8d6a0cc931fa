"""Which two questions of earlier chapters come back at the beginning of a chapter.

Above `fold`; below `chapters`, which asks them. What a learner got wrong comes back first: to be asked again later,
without the answer in sight, is what makes it stay. A pure function of records and items, so the same answers bring
the same questions back. Once one of the two is answered, both are settled: the choice is worked out from what stood
in the file before that answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from workbook.answers import AnswerKind, Commit, Key, Record, RevealSeen
from workbook.checkpoint_kinds import scripted_answer
from workbook.checkpoints import Verdict
from workbook.errors import WorkbookError
from workbook.fold import Answered, BeliefStanding, Folded, fold
from workbook.items import RECALL, Bank, Item, recall_key

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
    chosen += [item for item in _of(scripted_records(bank, asking), bank, asking) if item not in chosen]
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
    """Beliefs held, then what is not right yet, then what was right with the least confidence; earliest first."""
    earlier = {chapter.id for chapter in bank.before(asking)}
    own = {one.item: one for chapter in folded.chapters if chapter.id in earlier for one in chapter.answered}
    mended = {one.item for one in folded.answered if one.recalled and one.verdict is Verdict.RIGHT}
    for belief in folded.beliefs:
        if belief.held:
            yield from islice(_against(belief, own, bank), 1)
    for one in own.values():
        if one.verdict is Verdict.NOT_YET and one.item not in mended:
            yield from islice(_retest_first(one.item, own, bank), 1)
    right = [one for one in own.values() if one.verdict is Verdict.RIGHT and _can_be_asked(one)]
    yield from (one.item for one in sorted(right, key=lambda one: (one.item in mended, _sure(one))))


def _against(belief: BeliefStanding, own: dict[Item, Answered], bank: Bank) -> Iterator[Item]:
    """What could shed a belief: the retests of where it was shown, that itself, then any other item about it."""
    shown = [one.item for one in belief.shown]
    for item in shown:
        yield from _retest_first(item, own, bank)
    yield from (item for item, one in own.items() if belief.id in item.beliefs and _can_be_asked(one))


def _retest_first(item: Item, own: dict[Item, Answered], bank: Bank) -> Iterator[Item]:
    """The item that comes back to the same belief, unless it was answered rightly; then the item itself."""
    retest = bank.item(item.key.chapter, item.checkpoint.retest or "")
    if retest in own and _can_be_asked(own[retest]) and own[retest].verdict is not Verdict.RIGHT:
        yield retest
    if item in own and _can_be_asked(own[item]):
        yield item


def _can_be_asked(one: Answered) -> bool:
    """Not a text, and not while its own chapter still waits with the reveal, which would be given away."""
    return one.item.kind is not AnswerKind.TEXT and one.verdict is not Verdict.COMMITTED


def _sure(one: Answered) -> float:
    standing = one.standing
    confidence = None if standing is None else standing.commit.confidence
    return _NOT_SAID if confidence is None else confidence.probability
