"""What leaves a learner's folder: all of their work as one record, with the reader of the file that holds it.

The JSON file is this record and nothing else, so the fields below are its documentation:

    {"format": "cedar-my-work", "version": 1, "learner": "learner-0123456789ab", "name": null,
     "with_confidence": true,
     "checkpoints": [one object for each question that was answered, with its text and how it stands],
     "exercises": […], "beliefs_held": […], "beliefs_shed": […], "strays": […],
     "records": [the lines of cedar-progress.jsonl, in their order]}

What is beside `records` was worked out from them when the file was written, so that a reader needs no chapter. A
reader that has the chapters folds the records anew. Nothing is given away that the learner has not seen revealed.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from workbook.checkpoint.kinds import Verdict
from workbook.errors import WorkbookError
from workbook.learner.records import Answer, AnswerKind, Commit, Confidence, Record, Revote
from workbook.progress.history import Answered, BeliefStanding, Folded
from workbook.progress.questions import Bank, Stray

FORMAT: Final = "cedar-my-work"
VERSION: Final = 1
_LEARNER: Final = re.compile(r"learner-[0-9a-f]{12}")
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # the last: brackets without an end


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece of the file; a key that it does not know is refused."""


class WorkedCheckpoint(_Part, frozen=True, kw_only=True):
    """One question that was answered: its text, the answers in its history, how it stands.

    `chapter` and `checkpoint` say where the question is from, `content` is the hash of what was asked, `asked_in`
    the chapter that asked it, which is another one for a recall. `first_said`: the first answer in words, a line
    for each part. `right` and its like are null before the reveal was seen, and for a text, which nobody grades.
    `beliefs`: ids of those that the first answer speaks for, once revealed.
    """

    chapter: str
    checkpoint: str
    content: str
    asked_in: str
    kind: AnswerKind
    prompt: str
    offered: tuple[str, ...]
    first: Answer
    first_said: tuple[str, ...]
    first_confidence: Confidence | None
    first_right: bool | None
    second_vote: Answer | None  # of the first answer: after talking it over, before the reveal
    second_confidence: Confidence | None
    second_right: bool | None
    standing: Answer | None  # null: taken back, and not answered again
    verdict: Verdict
    right: bool | None
    resets: int
    reveal_seen: bool
    row_named: bool | None  # whether the last row that was named is one that differs; null: none was named
    beliefs: tuple[str, ...]


class WorkedExercise(_Part, frozen=True, kw_only=True):
    """One exercise that was handed in: how many situations held in each try, and of how many."""

    chapter: str
    exercise: str
    held: tuple[int, ...]
    of: tuple[int, ...]


class WorkedBelief(_Part, frozen=True, kw_only=True):
    """One belief that was shown, in words, and where, as `CHAPTER/CHECKPOINT`. `shed_by`: null while it is held."""

    id: str
    says: str
    shown_in: tuple[str, ...]
    shed_by: str | None


class WorkedStray(_Part, frozen=True, kw_only=True):
    """Answers to something that was not installed, or not asked like this, when the file was written."""

    chapter: str
    checkpoint: str
    content: str
    why: Stray


class Work(_Part, frozen=True, kw_only=True, tag_field="format", tag=FORMAT):
    """The work of one learner."""

    version: Literal[1] = 1
    learner: str  # the pseudonym
    name: str | None  # null: not given, which is the usual thing
    with_confidence: bool  # false: how sure the learner was has been left out everywhere
    checkpoints: tuple[WorkedCheckpoint, ...]
    exercises: tuple[WorkedExercise, ...]
    beliefs_held: tuple[WorkedBelief, ...]
    beliefs_shed: tuple[WorkedBelief, ...]
    strays: tuple[WorkedStray, ...]
    records: tuple[Record, ...]


class NotMyWork(WorkbookError):
    """The data are no work that this edition can read. Attributes: `name` (of the file), `found`."""

    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        self.found = problem
        super().__init__(f"{name}: {problem}")


def without_confidence(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """The same records, and nothing about how sure anybody was."""
    return tuple(
        replace(record, confidence=None) if isinstance(record, Commit | Revote) else record for record in records
    )


def work_of(
    folded: Folded,
    records: tuple[Record, ...],
    bank: Bank,
    *,
    learner: str,
    name: str | None = None,
    with_confidence: bool = True,
) -> Work:
    """The work that the records are; `folded` is what they come to. Neither has confidences that are left out."""
    beliefs = [_belief(standing, bank) for standing in folded.beliefs]
    return Work(
        learner=learner,
        name=name,
        with_confidence=with_confidence,
        checkpoints=tuple(map(_checkpoint, folded.answered)),
        exercises=tuple(
            WorkedExercise(
                chapter=one.key.chapter,
                exercise=one.key.checkpoint,
                held=tuple(tried.held for tried in one.tries),
                of=tuple(tried.of for tried in one.tries),
            )
            for one in folded.exercises
        ),
        beliefs_held=tuple(belief for belief in beliefs if belief.shed_by is None),
        beliefs_shed=tuple(belief for belief in beliefs if belief.shed_by is not None),
        strays=tuple(
            WorkedStray(
                chapter=one.key.chapter, checkpoint=one.key.checkpoint, content=one.key.content, why=one.why
            )
            for one in folded.strays
        ),
        records=records,
    )


def encode_work(work: Work) -> bytes:
    """The bytes of its file: the same work gives the same bytes. One line for each checkpoint, belief or record."""
    fields = msgspec.to_builtins(work)
    return (
        b"{" + b",\n".join(b'"%b":%b' % (name.encode(), _lines(value)) for name, value in fields.items()) + b"}\n"
    )


def _lines(value: object) -> bytes:
    if not (isinstance(value, list | tuple) and value):
        return msgspec.json.encode(value)
    return b"[\n" + b",\n".join(map(msgspec.json.encode, value)) + b"\n]"


def parse_work(data: bytes, name: str) -> Work:
    """The work that a file holds. `name` stands for the file in messages.

    Raises: NotMyWork, with what was found and where, for a file that is damaged, foreign or of a newer edition.
    """
    return _read(data, name, Work)


class Answers(Struct, frozen=True, kw_only=True):
    """Of the same file, whose answers they are and the answers themselves: all that a class report looks at."""

    learner: str
    records: tuple[Record, ...]


def parse_answers(data: bytes, name: str) -> Answers:
    """The answers that a file holds, read in a third of the time; the rest only has to be JSON.

    Raises: NotMyWork, as `parse_work`.
    """
    return _read(data, name, Answers)


_W = TypeVar("_W", Work, Answers)


def _read(data: bytes, name: str, kind: type[_W]) -> _W:
    try:
        head = msgspec.json.decode(data, type=_Head)
    except _UNREADABLE as error:
        raise NotMyWork(name, f"this is not work that `workbook export` wrote ({error})") from None
    if head.format != FORMAT:
        raise NotMyWork(name, f"this is not work that `workbook export` wrote (its format is {head.format!r})")
    if head.version > VERSION:
        raise NotMyWork(
            name, f"a newer edition of the workbook wrote this (version {head.version}). Upgrade this one"
        )
    try:
        work = msgspec.json.decode(data, type=kind)
    except _UNREADABLE as error:
        raise NotMyWork(name, f"it was changed or damaged after it was written: {error}") from None
    if not _LEARNER.fullmatch(work.learner):
        found = f"{work.learner!r} is no pseudonym, which is learner- and 12 hexadecimal digits"
        raise NotMyWork(name, f"it was changed or damaged after it was written: {found}")
    return work


class _Head(Struct, frozen=True):
    """What has to be known before the rest can be read strictly."""

    format: str
    version: int


def _checkpoint(answered: Answered) -> WorkedCheckpoint:
    first, standing = answered.attempts[0], answered.standing
    vote = first.revote
    judged = answered.item.judge(first.commit.answer)
    named = [row for attempt in answered.attempts for row in attempt.rows]
    return WorkedCheckpoint(
        chapter=answered.item.key.chapter,
        checkpoint=answered.item.key.checkpoint,
        content=answered.key.content,
        asked_in=answered.key.chapter,
        kind=answered.item.kind,
        prompt=answered.item.checkpoint.prompt,
        offered=answered.item.offered,
        first=first.commit.answer,
        first_said=answered.item.said(first.commit.answer),
        first_confidence=first.commit.confidence,
        first_right=judged.right if answered.revealed else None,
        second_vote=None if vote is None else vote.answer,
        second_confidence=None if vote is None else vote.confidence,
        second_right=answered.item.judge(vote.answer).right if vote is not None and answered.revealed else None,
        standing=None if standing is None else standing.commit.answer,
        verdict=answered.verdict,
        right={Verdict.RIGHT: True, Verdict.NOT_YET: False}.get(answered.verdict),
        resets=answered.resets,
        reveal_seen=answered.revealed,
        row_named=named[-1].held if named else None,
        beliefs=judged.beliefs if answered.revealed else (),
    )


def _belief(standing: BeliefStanding, bank: Bank) -> WorkedBelief:
    known = bank.beliefs.get(standing.id)
    return WorkedBelief(
        id=standing.id,
        says=standing.id if known is None else known.says,
        shown_in=tuple(str(one.key) for one in standing.shown),
        shed_by=None if standing.against is None else str(standing.against.key),
    )
