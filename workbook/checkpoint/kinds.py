"""What a checkpoint is made of: the four kinds, their parts, and the beliefs behind wrong answers.

No part of a checkpoint says which answer is right: a choice and the fields claim what a run may show, the steps of
an order name events of it, and the rest is found by playing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, Final, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.case.model import Expected
from workbook.learner.records import Answer, AnswerKind, Confidence


class Verdict(StrEnum):
    """How a learner stands with one checkpoint; only a reveal tells the last two apart."""

    NOT_ATTEMPTED = "not attempted"
    COMMITTED = "committed"
    NOT_YET = "not yet"
    RIGHT = "right"


EVENTS_PREFIX: Final = "events."

#: What one observed field can be predicted to be.
Value: TypeAlias = bool | int | str


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A piece of a file; a key it does not know is refused."""


class Predicts(Expected, frozen=True, kw_only=True):
    """Observed fields, as a case's `expected` names them, and how often an event stands in the ledger.

    `events`: count by kind of event, by its name on the wire.
    """

    events: dict[str, int] | UnsetType = UNSET


class CheckpointBase(Part, frozen=True, kw_only=True, tag_field="kind"):
    """What every checkpoint has.

    `case` is played for the reveal; `retest` names a later checkpoint of the chapter that shares a belief with this
    one; `scripted_confidence` is how sure the scripted learner says it is (None: it does not say).
    """

    id: str
    case: str
    prompt: str
    hints: tuple[str, ...] = ()
    retest: str | None = None
    scripted_confidence: Confidence | None = None

    kind: ClassVar[str]
    answer_kind: ClassVar[AnswerKind]


# ------------------------------------------------------------------------------------------------------- choice


class Option(Part, frozen=True, kw_only=True):
    """One answer to choose. What it predicts decides whether it is right; `why` explains it either way.

    `belief` is what somebody who chooses it may hold, and `counter` the case that contradicts it (None: the
    checkpoint's own). Both belong to wrong options only.
    """

    id: str
    text: str
    predicts: Predicts
    why: str
    belief: str | None = None
    counter: str | None = None


class ChoiceCheckpoint(CheckpointBase, frozen=True, kw_only=True, tag="choice"):
    """One of several options. `scripted` is the option that the scripted learner commits."""

    options: tuple[Option, ...]
    scripted: str
    kind: ClassVar[str] = "choice"
    answer_kind: ClassVar[AnswerKind] = AnswerKind.CHOICE

    def option(self, option_id: str) -> Option | None:
        """The option of that id, or None."""
        return next((option for option in self.options if option.id == option_id), None)


# ------------------------------------------------------------------------------------------------------- fields


class Allowed(Part, frozen=True, kw_only=True):
    """One value that a field may be predicted to have, and what it means in words."""

    value: Value
    text: str


class Mistake(Part, frozen=True, kw_only=True):
    """A value that is likely to be predicted and wrong: what somebody who does may believe, and why it is not so.

    `counter` is the case that contradicts it (None: the checkpoint's own).
    """

    value: Value
    belief: str
    why: str
    counter: str | None = None


class Field(Part, frozen=True, kw_only=True):
    """One observed field to predict, named as in a case's `expected`, or `events.KIND`; `asks` is the question.

    `values` are the values to choose from; where there are none, any whole number from 0 is an answer. `why`
    explains what the case shows.
    """

    field: str
    asks: str
    why: str
    values: tuple[Allowed, ...] = ()
    wrong: tuple[Mistake, ...] = ()

    def mistake(self, value: Value) -> Mistake | None:
        """What is known about whoever predicts that value, or None."""
        return next((one for one in self.wrong if _same(one.value, value)), None)

    def allowed(self, value: object) -> bool:
        """Whether that is an answer to this field."""
        if self.values:
            return any(_same(one.value, value) for one in self.values)
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0

    def said(self, value: Value) -> str:
        """The value in words: its text, or the number."""
        return next((one.text for one in self.values if _same(one.value, value)), str(value))


class FieldsCheckpoint(CheckpointBase, frozen=True, kw_only=True, tag="fields"):
    """Several observed fields, each predicted and judged by itself. `scripted`: value by field."""

    fields: tuple[Field, ...]
    scripted: dict[str, Value]
    kind: ClassVar[str] = "fields"
    answer_kind: ClassVar[AnswerKind] = AnswerKind.FIELDS

    def field(self, name: str) -> Field | None:
        """The field of that name, or None."""
        return next((field for field in self.fields if field.field == name), None)


# -------------------------------------------------------------------------------------------------------- order


class Step(Part, frozen=True, kw_only=True):
    """One step of what happens, and the one event of the ledger that it is.

    `event` is the event's kind; where several events are of it, `call` (the id of the call that the row belongs to)
    and `where` (fields of the event, by their wire names) leave one. `why` says why it stands where it does.
    """

    id: str
    text: str
    event: str
    why: str
    call: str | None = None
    where: dict[str, Value] = {}


class WrongPair(Part, frozen=True, kw_only=True):
    """Two steps that are likely to be put the wrong way round, `earlier` before `later`."""

    earlier: str
    later: str
    belief: str
    why: str


class OrderCheckpoint(CheckpointBase, frozen=True, kw_only=True, tag="order"):
    """Steps to put into the order in which they happen, which is that of the played case's ledger.

    `scripted`: the ids, first to last.
    """

    steps: tuple[Step, ...]
    scripted: tuple[str, ...]
    wrong: tuple[WrongPair, ...] = ()
    kind: ClassVar[str] = "order"
    answer_kind: ClassVar[AnswerKind] = AnswerKind.ORDER

    def step(self, step_id: str) -> Step | None:
        """The step of that id, or None."""
        return next((step for step in self.steps if step.id == step_id), None)

    @property
    def listed(self) -> tuple[Step, ...]:
        """The steps as a learner is given them: by the alphabet.

        A rule that knows nothing of the case, so that it can tell nothing of it. A chapter's check refuses a
        checkpoint for which the alphabet happens to be right.
        """
        return tuple(sorted(self.steps, key=lambda step: (step.text.casefold(), step.text)))


# -------------------------------------------------------------------------------------------------------- paper


class Point(Part, frozen=True, kw_only=True):
    """One thing that the worked answer says, for the learner to look for in their own.

    `belief` is what somebody who lacks it may hold (None: none in particular).
    """

    id: str
    text: str
    belief: str | None = None


class PaperCheckpoint(CheckpointBase, frozen=True, kw_only=True, tag="paper"):
    """Free text, which the learner compares with `worked`; a run of the case shows what `worked` `claims`."""

    worked: str
    claims: Predicts
    scripted: str
    points: tuple[Point, ...] = ()
    kind: ClassVar[str] = "paper"
    answer_kind: ClassVar[AnswerKind] = AnswerKind.TEXT


Checkpoint: TypeAlias = ChoiceCheckpoint | FieldsCheckpoint | OrderCheckpoint | PaperCheckpoint


class Belief(Part, frozen=True, kw_only=True):
    """Something people hold to be true. `because` says what makes it plausible."""

    id: str
    says: str
    because: str


# ----------------------------------------------------------------------------------------------- asked of all kinds


def content(checkpoint: Checkpoint) -> dict[str, Any]:
    """What the learner was asked: a commit is kept for this content, and no other.

    Explanations, hints and predicted fields are left out, so that mending them does not drop anybody's answer.
    """
    asked: dict[str, Any] = {"kind": checkpoint.kind, "case": checkpoint.case, "prompt": checkpoint.prompt}
    match checkpoint:
        case ChoiceCheckpoint():
            asked["options"] = [[option.id, option.text] for option in checkpoint.options]
        case FieldsCheckpoint():
            asked["fields"] = [
                [field.field, field.asks, [[one.value, one.text] for one in field.values]]
                for field in checkpoint.fields
            ]
        case OrderCheckpoint():
            asked["steps"] = [[step.id, step.text] for step in checkpoint.listed]
        case PaperCheckpoint():
            pass
    return asked


def claimed(predicts: Predicts) -> dict[str, Any]:
    """The fields that a prediction names, by wire name; never empty in a file that was read."""
    fields: dict[str, Any] = msgspec.to_builtins(predicts)
    return fields


def prediction_of(field: str, value: Value) -> Predicts:
    """One predicted field, in the form that is judged. Raises: msgspec.ValidationError, if it cannot be that."""
    kind = field.removeprefix(EVENTS_PREFIX)
    return msgspec.convert({field: value} if kind == field else {"events": {kind: value}}, Predicts)


def beliefs_of(checkpoint: Checkpoint) -> tuple[str, ...]:
    """The ids of the beliefs that a checkpoint is about, each once, in the order of the file."""
    match checkpoint:
        case ChoiceCheckpoint():
            named = [option.belief for option in checkpoint.options]
        case FieldsCheckpoint():
            named = [mistake.belief for field in checkpoint.fields for mistake in field.wrong]
        case OrderCheckpoint():
            named = [pair.belief for pair in checkpoint.wrong]
        case PaperCheckpoint():
            named = [point.belief for point in checkpoint.points]
    return tuple(dict.fromkeys(belief for belief in named if belief is not None))


def scripted_answer(checkpoint: Checkpoint) -> Answer:
    """What the scripted learner commits, in the shape in which answers are kept."""
    match checkpoint:
        case FieldsCheckpoint():
            return dict(checkpoint.scripted)
        case _:
            return checkpoint.scripted


def _same(value: object, other: object) -> bool:
    """Equal and of one type: to a learner who predicts `true`, 1 is another answer."""
    return type(value) is type(other) and value == other
