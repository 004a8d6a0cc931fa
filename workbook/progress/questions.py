"""Every question that a learner can be asked, as something that answers can be held against.

An item keeps the report of its case, and what it was asked about an answer before: ten thousand learners who gave
the same answer have it judged once, and no case is played for any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from labsim.play.report import Report
from workbook.checkpoint.judging import beliefs_behind, is_right, right_order, right_values
from workbook.checkpoint.kinds import (
    Belief,
    Checkpoint,
    ChoiceCheckpoint,
    FieldsCheckpoint,
    OrderCheckpoint,
    PaperCheckpoint,
    beliefs_of,
    content,
)
from workbook.learner.records import Answer, AnswerKind, Key

RECALL: Final = "recall:"  # the checkpoint of a key begins with it when an earlier chapter's question comes back

Play = Callable[[str], Report]  # plays the case of that id, always to its end


class Judgement(Struct, frozen=True, kw_only=True):
    """What an answer is worth. `right`: None where only the learner can tell."""

    right: bool | None
    beliefs: tuple[str, ...]  # those that whoever answers so may hold


class Item:
    """One question of a chapter. Whoever holds an item can find the answer, so none is shown before a reveal."""

    __slots__ = ("_judged", "_report", "beliefs", "checkpoint", "key")

    def __init__(self, chapter: str, checkpoint: Checkpoint, report: Report) -> None:
        """`report`: of the checkpoint's case, played to its end. Raises: CaseError, for a step that is no event."""
        if isinstance(checkpoint, OrderCheckpoint):
            right_order(checkpoint, report)  # better now than when somebody's answer is looked at
        self.key = Key.of(chapter, checkpoint.id, content(checkpoint))
        self.checkpoint = checkpoint
        self.beliefs = frozenset(beliefs_of(checkpoint))  # a right answer speaks against all of them
        self._report = report
        self._judged: dict[object, Judgement] = {}

    def __repr__(self) -> str:
        return f"<Item {self.key}>"

    @property
    def kind(self) -> AnswerKind:
        """Which shape its answers have."""
        return self.checkpoint.answer_kind

    def judge(self, answer: Answer) -> Judgement:
        """What an answer is worth. One that the question does not offer is wrong, and speaks for no belief."""
        known = hashable(answer)
        found = self._judged.get(known)
        if found is None:
            found = self._judgement(answer)
            if not isinstance(self.checkpoint, PaperCheckpoint):  # nobody's text is kept
                self._judged[known] = found
        return found

    @property
    def right_answer(self) -> Answer | None:
        """An answer that is right; None where only the learner can tell, or where none is."""
        match self.checkpoint:
            case ChoiceCheckpoint(options=options):
                return next((option.id for option in options if self.judge(option.id).right), None)
            case FieldsCheckpoint(fields=fields):
                values = {field.field: right_values(field, self._report)[:1] for field in fields}
                return {name: value for name, (value,) in values.items()} if all(values.values()) else None
            case OrderCheckpoint() as order:
                return tuple(one.step.id for one in right_order(order, self._report))
            case PaperCheckpoint():
                return None

    def missing(self, points: Iterable[str]) -> tuple[str, ...]:
        """The beliefs of a learner who found only these points of the worked answer in their own text."""
        if not isinstance(self.checkpoint, PaperCheckpoint):
            return ()
        found = frozenset(points)
        named = (point.belief for point in self.checkpoint.points if point.id not in found)
        return tuple(dict.fromkeys(belief for belief in named if belief is not None))

    def said(self, answer: Answer) -> tuple[str, ...]:
        """An answer in the words of the question, a line for each part of it."""
        match self.checkpoint, answer:
            case ChoiceCheckpoint() as choice, str(chosen):
                option = choice.option(chosen)
                return (chosen if option is None else option.text,)
            case FieldsCheckpoint() as fields, dict(predicted):
                return tuple(_field(fields, name, value) for name, value in predicted.items())
            case OrderCheckpoint() as order, tuple(ids):
                return tuple(step.text if (step := order.step(one)) else one for one in ids)
            case _:
                return (answer if isinstance(answer, str) else repr(answer),)

    @property
    def offered(self) -> tuple[str, ...]:
        """What there is to choose from or to fill in, a line each, in the order in which a learner meets it."""
        match self.checkpoint:
            case ChoiceCheckpoint(options=options):
                return tuple(option.text for option in options)
            case FieldsCheckpoint(fields=fields):
                return tuple(
                    f"{field.asks} ({' / '.join(one.text for one in field.values) or 'a number'})"
                    for field in fields
                )
            case OrderCheckpoint() as order:
                return tuple(step.text for step in order.listed)
            case PaperCheckpoint():
                return ()

    @property
    def option_ids(self) -> tuple[str, ...]:
        """The answers of a choice, as offered; none for the other kinds, which offer too many to list."""
        checkpoint = self.checkpoint
        return tuple(one.id for one in checkpoint.options) if isinstance(checkpoint, ChoiceCheckpoint) else ()

    @property
    def field_names(self) -> tuple[str, ...]:
        """What is to be filled in, as asked; nothing for the other kinds."""
        checkpoint = self.checkpoint
        return tuple(one.field for one in checkpoint.fields) if isinstance(checkpoint, FieldsCheckpoint) else ()

    def _judgement(self, answer: Answer) -> Judgement:
        if not self.fits(answer):
            return Judgement(right=False, beliefs=())
        right = is_right(self.checkpoint, answer, self._report)
        beliefs = () if right else beliefs_behind(self.checkpoint, answer, self._report)
        return Judgement(right=right, beliefs=beliefs)

    def fits(self, answer: Answer) -> bool:
        """Whether the question offers such an answer; a file may hold anything."""
        match self.checkpoint:
            case ChoiceCheckpoint() as choice:
                return isinstance(answer, str) and choice.option(answer) is not None
            case FieldsCheckpoint(fields=fields):
                return (
                    isinstance(answer, dict)
                    and answer.keys() == {field.field for field in fields}
                    and all(field.allowed(answer[field.field]) for field in fields)
                )
            case OrderCheckpoint(steps=steps):
                return isinstance(answer, tuple) and sorted(answer) == sorted(step.id for step in steps)
            case PaperCheckpoint():
                return isinstance(answer, str)


class ChapterItems(Struct, frozen=True, kw_only=True):
    """The questions of one chapter, in the order in which they are met."""

    id: str
    title: str
    items: tuple[Item, ...]
    exercises: tuple[str, ...] = ()  # ids


class Stray(StrEnum):
    """Why an answer belongs to no item."""

    NOT_INSTALLED = "its chapter is not installed"
    NOT_ASKED = "its chapter no longer asks this"
    CHANGED = "its question has been changed since"


class Bank:
    """The items of all chapters, found by the key of an answer. Chapters are in their order."""

    def __init__(
        self, chapters: Iterable[ChapterItems], beliefs: Mapping[str, Belief], problems: Iterable[str] = ()
    ) -> None:
        """`problems`: what kept a chapter out, a sentence each."""
        self.chapters = tuple(chapters)
        self.beliefs = dict(beliefs)
        self.problems = tuple(problems)
        self._items = {(one.id, item.key.checkpoint): item for one in self.chapters for item in one.items}
        self._known = {item.key: item for item in self._items.values()}
        self._places = {chapter.id: place for place, chapter in enumerate(self.chapters)}

    def find(self, key: Key) -> Item | Stray:
        """The item that was answered under a key; the key of a recalled one names the chapter that asked."""
        found = self._known.get(key)
        if found is not None:
            return found
        chapter, checkpoint = key.chapter, key.checkpoint
        if chapter in self._places and checkpoint.startswith(RECALL):
            chapter, _, checkpoint = checkpoint.removeprefix(RECALL).partition("/")
        if chapter not in self._places:
            return Stray.NOT_INSTALLED
        item = self._items.get((chapter, checkpoint))
        if item is None:
            return Stray.NOT_ASKED
        if item.key.content != key.content:
            return Stray.CHANGED
        self._known[key] = item
        return item

    def item(self, chapter: str, checkpoint: str) -> Item | None:
        """The item of those ids, or None."""
        return self._items.get((chapter, checkpoint))

    def before(self, chapter: str) -> tuple[ChapterItems, ...]:
        """The chapters that come before one in their order; all of them for one that is not here."""
        return self.chapters[: self._places.get(chapter, len(self.chapters))]

    def title(self, chapter: str) -> str:
        """The title of a chapter; its id for one that is not here."""
        place = self._places.get(chapter)
        return chapter if place is None else self.chapters[place].title


def recall_key(asking: str, item: Item) -> Key:
    """The key under which a later chapter asks an item again."""
    return Key(asking, f"{RECALL}{item.key.chapter}/{item.key.checkpoint}", item.key.content)


def items_of(chapter: str, checkpoints: Iterable[Checkpoint], play: Play) -> Iterator[Item]:
    """The items of a chapter's checkpoints; each case is played here, once.

    Raises: labsim.errors.UnknownCase; CaseError.
    """
    reports: dict[str, Report] = {}
    for checkpoint in checkpoints:
        if checkpoint.case not in reports:
            reports[checkpoint.case] = play(checkpoint.case)
        yield Item(chapter, checkpoint, reports[checkpoint.case])


def hashable(answer: Answer) -> object:
    """Equal for equal answers only: to a mapping True and 1 are the same, and to a learner they are not."""
    if not isinstance(answer, dict):
        return answer
    return frozenset((name, type(value), value) for name, value in answer.items())


def _field(fields: FieldsCheckpoint, name: str, value: str | int | bool | None) -> str:
    field = fields.field(name)
    if field is None or value is None:
        return f"{name}: {value}"
    return f"{field.asks} {field.said(value)}"
