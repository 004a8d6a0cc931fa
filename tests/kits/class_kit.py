"""A class that never was: learners drawn by a seed, who answer, doubt, vote again, look and reset.

Each goes through the questions in their order as a real learner's file would have it, so that an export of theirs
cannot be told from a real one.
"""

from __future__ import annotations

from itertools import count
from random import Random

from workbook.checkpoint.kinds import ChoiceCheckpoint, FieldsCheckpoint, OrderCheckpoint
from workbook.learner.records import Answer, AnswerKind, Commit, Confidence, Record, Reset, RevealSeen, Revote
from workbook.progress.export_record import Work, work_of
from workbook.progress.history import fold
from workbook.progress.questions import Bank, Item, recall_key


def learner_name(number: int) -> str:
    """The pseudonym of a made-up learner."""
    return f"learner-{number:012x}"


def work_by(number: int, bank: Bank) -> Work:
    """The work of the made-up learner of that number, always the same."""
    records = tuple(records_by(number, bank))
    return work_of(fold(records, bank), records, bank, learner=learner_name(number))


def records_by(number: int, bank: Bank) -> list[Record]:
    """What that learner's file holds: most questions, in order, some of them twice."""
    random = Random(number)
    seq = count(2)
    knows = random.uniform(0.3, 0.9)
    records: list[Record] = []
    for chapter in bank.chapters:
        for item in chapter.items:
            if random.random() < 0.1:
                continue
            key = item.key
            if random.random() < 0.05:
                key = recall_key("a-later-chapter", item)
            right = random.random() < knows
            sure = random.choice([*Confidence, None])
            kind = item.kind
            records.append(
                Commit(seq=next(seq), key=key, kind=kind, answer=answer(item, right, random), confidence=sure)
            )
            if random.random() < 0.2:
                again = answer(item, right or random.random() < 0.5, random)
                records.append(Revote(seq=next(seq), key=key, kind=kind, answer=again, confidence=sure))
            if random.random() < 0.9:
                records.append(RevealSeen(seq=next(seq), key=key))
            if random.random() < 0.05:
                records.append(Reset(seq=next(seq), key=key, why="I want to think again"))
                records.append(Commit(seq=next(seq), key=key, kind=kind, answer=answer(item, True, random)))
    return records


def answer(item: Item, right: bool, random: Random) -> Answer:
    """An answer to an item: the right one, or one that may be."""
    if item.kind is AnswerKind.TEXT:
        return "The gate asks again, since it keeps nothing."
    known = item.right_answer
    if right and known is not None:
        return known
    match item.checkpoint:
        case ChoiceCheckpoint(options=options):
            return random.choice(options).id
        case FieldsCheckpoint(fields=fields):
            return {
                field.field: random.choice([one.value for one in field.values])
                if field.values
                else random.randint(0, 3)
                for field in fields
            }
        case OrderCheckpoint(steps=steps):
            return tuple(random.sample([step.id for step in steps], len(steps)))
    raise AssertionError(item)
