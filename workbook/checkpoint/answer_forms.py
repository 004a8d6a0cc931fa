"""The form of an answer, kind by kind: what counts as one, how it is given, and how it is put in words.

Nothing here knows which answer is right, so nothing here can tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labsim.describe.ledger import visible
from workbook.checkpoint.kinds import (
    Checkpoint,
    ChoiceCheckpoint,
    Field,
    FieldsCheckpoint,
    OrderCheckpoint,
    PaperCheckpoint,
    Value,
)
from workbook.errors import WorkbookError
from workbook.learner.confidence import ASKS
from workbook.learner.records import Answer, AnswerKind, Confidence
from workbook.show.page import Block, Items, Paragraph

HOW = {
    AnswerKind.CHOICE: "Choose an answer, say how sure you are, and commit. The reveal comes after.",
    AnswerKind.FIELDS: "Answer each question, say how sure you are, and commit. The reveal comes after.",
    AnswerKind.ORDER: "Put the steps in order, say how sure you are, and commit. The reveal comes after.",
    AnswerKind.TEXT: "Write your answer and commit it. The worked answer comes after.",
}
#: What each kind of answer is while none was given.
BLANK: dict[AnswerKind, Any] = {
    AnswerKind.CHOICE: "",
    AnswerKind.FIELDS: {},
    AnswerKind.ORDER: [],
    AnswerKind.TEXT: "",
}
LEVELS = tuple(map(str, Confidence))


class NoAnswer(WorkbookError):
    """What was to be committed is no answer to this checkpoint; nothing was. Attribute: `found`."""

    def __init__(self, value: object, remedy: str) -> None:
        self.found = value
        super().__init__(f"{remedy} Nothing was committed.")


def checked(checkpoint: Checkpoint, answer: object) -> Answer:
    """An answer in the shape in which it is kept. Raises: NoAnswer."""
    match checkpoint:
        case ChoiceCheckpoint():
            if not answer:
                raise NoAnswer(answer, "Choose an answer first.")
            if not isinstance(answer, str) or checkpoint.option(answer) is None:
                ids = ", ".join(option.id for option in checkpoint.options)
                raise NoAnswer(answer, f"{answer!r} is no answer to this; use one of: {ids}.")
            return answer
        case FieldsCheckpoint():
            return _checked_fields(checkpoint, answer)
        case OrderCheckpoint():
            return _checked_order(checkpoint, answer)
        case PaperCheckpoint():
            if not isinstance(answer, str) or not answer.strip():
                raise NoAnswer(answer, "Write your answer first.")
            return answer


def checked_confidence(checkpoint: Checkpoint, confidence: str | None) -> Confidence | None:
    """How sure somebody says they are; None if they do not say. Raises: NoAnswer."""
    if confidence is None:
        return None
    if isinstance(checkpoint, PaperCheckpoint):
        raise NoAnswer(confidence, "Nobody judges a text, so there is nothing to be sure of; leave confidence out.")
    try:
        return Confidence(confidence)
    except ValueError:
        raise NoAnswer(
            confidence, f"{confidence!r} is not how sure one can be; use one of: {', '.join(LEVELS)}."
        ) from None


def checked_points(checkpoint: Checkpoint, points: object) -> tuple[str, ...]:
    """Points of a worked answer, in its order. Raises: NoAnswer."""
    known = tuple(point.id for point in checkpoint.points) if isinstance(checkpoint, PaperCheckpoint) else ()
    if not known:
        raise NoAnswer(points, "This checkpoint has no points to look for.")
    given = list(points) if isinstance(points, list | tuple | set | frozenset) else [points]
    for point in given:
        if point not in known:
            raise NoAnswer(points, f"{point!r} is no point of the worked answer; use any of: {', '.join(known)}.")
    return tuple(point for point in known if point in given)


def said(checkpoint: Checkpoint, answer: Answer) -> str:
    """A committed answer in the words of the question."""
    match checkpoint, answer:
        case [ChoiceCheckpoint(), str()]:
            option = checkpoint.option(answer)
            return answer if option is None else option.text
        case [FieldsCheckpoint(), dict()]:
            return "; ".join(f"{field.asks} {_value_said(field, answer)}" for field in checkpoint.fields)
        case [OrderCheckpoint(), tuple()]:
            return "\n".join(f"{place}. {text}" for place, text in enumerate(_texts(checkpoint, answer), start=1))
        case _:
            return str(answer)


def answer_blocks(checkpoint: Checkpoint, answer: Answer | None, whose: str) -> tuple[Block, ...]:
    """The answers that can be given, and the one that was; `answer` is None while there is none."""
    match checkpoint:
        case ChoiceCheckpoint():
            return (
                Items(
                    items=tuple(
                        f"(x) {option.text} [{whose}, locked]" if option.id == answer else f"( ) {option.text}"
                        for option in checkpoint.options
                    )
                ),
            )
        case FieldsCheckpoint():
            given = answer if isinstance(answer, dict) else None
            return (Items(items=tuple(_field_line(field, given, whose) for field in checkpoint.fields)),)
        case OrderCheckpoint():
            if isinstance(answer, tuple):
                lines = (f"{place}. {text}" for place, text in enumerate(_texts(checkpoint, answer), start=1))
                return (Paragraph(text=f"{_capital(whose)}, locked:"), Items(items=tuple(lines)))
            return (Items(items=tuple(f"{step.id}: {step.text}" for step in checkpoint.listed)),)
        case PaperCheckpoint():
            if answer is None:
                return (Paragraph(text="(no answer yet)"),)
            return (Paragraph(lead=f"{_capital(whose)}, locked:", text=str(answer)),)


def in_code(checkpoint: Checkpoint) -> str:
    """What stands in the brackets of `commit`, where there are no buttons."""
    match checkpoint:
        case ChoiceCheckpoint():
            answer = " or ".join(repr(option.id) for option in checkpoint.options)
        case FieldsCheckpoint():
            answer = f"{{{', '.join(f'{field.field!r}: {_values_in_code(field)}' for field in checkpoint.fields)}}}"
        case OrderCheckpoint():
            answer = f"[{', '.join(repr(step.id) for step in checkpoint.listed)}]"
        case PaperCheckpoint():
            return "'your text'"
    return f"{answer}, confidence={' or '.join(map(repr, LEVELS))}"


def parts(checkpoint: Checkpoint) -> list[dict[str, Any]]:
    """What a control draws: options, fields with their values, or steps as they are listed."""
    match checkpoint:
        case ChoiceCheckpoint():
            return [{"id": option.id, "text": visible(option.text)} for option in checkpoint.options]
        case FieldsCheckpoint():
            return [
                {
                    "id": field.field,
                    "text": visible(field.asks),
                    "values": [{"value": one.value, "text": visible(one.text)} for one in field.values],
                }
                for field in checkpoint.fields
            ]
        case OrderCheckpoint():
            return [{"id": step.id, "text": visible(step.text)} for step in checkpoint.listed]
        case PaperCheckpoint():
            return []


def levels(checkpoint: Checkpoint) -> list[str]:
    """The levels of confidence to choose from; none where nothing is judged."""
    return [] if isinstance(checkpoint, PaperCheckpoint) else list(LEVELS)


def sure_blocks(checkpoint: Checkpoint, committed: bool, confidence: Confidence | None) -> tuple[Block, ...]:
    """How sure the learner is, or that it is asked; nothing where somebody committed without saying."""
    if isinstance(checkpoint, PaperCheckpoint) or (committed and confidence is None):
        return ()
    return (Paragraph(lead=ASKS, text=str(confidence) if committed else ", ".join(LEVELS)),)


def _checked_fields(checkpoint: FieldsCheckpoint, answer: object) -> Answer:
    if not isinstance(answer, Mapping):
        raise NoAnswer(answer, f"{answer!r} answers nothing; give a value for each field.")
    made: dict[str, str | int | bool | None] = {}
    for name in answer:
        if checkpoint.field(name) is None:
            known = ", ".join(field.field for field in checkpoint.fields)
            raise NoAnswer(answer, f"{name!r} is not asked; the fields are: {known}.")
    for field in checkpoint.fields:
        value = answer.get(field.field, "")
        if value is None or value == "":
            raise NoAnswer(answer, f"Answer “{field.asks}” first.")
        if not field.allowed(value):
            values = ", ".join(repr(one.value) for one in field.values)
            would_do = f"one of: {values}" if field.values else "a whole number, 0 or more"
            raise NoAnswer(answer, f"{value!r} is no answer to “{field.asks}”; use {would_do}.")
        made[field.field] = value
    return made


def _checked_order(checkpoint: OrderCheckpoint, answer: object) -> Answer:
    if not answer:
        raise NoAnswer(answer, "Put the steps in order first.")
    ids = [step.id for step in checkpoint.listed]
    if not isinstance(answer, list | tuple) or sorted(map(str, answer)) != sorted(ids):
        raise NoAnswer(answer, f"Each step has its place, once; put these in order: {', '.join(ids)}.")
    return tuple(map(str, answer))


def _field_line(field: Field, answer: Mapping[str, Any] | None, whose: str) -> str:
    if answer is not None:
        return f"{field.asks} {_value_said(field, answer)} [{whose}, locked]"
    texts = [f"{one.text} ({_in_code(one.value)})" for one in field.values]
    return f"{field.field}: {field.asks} {'; '.join(texts) or 'a whole number, 0 or more'}"


def _value_said(field: Field, answer: Mapping[str, Any]) -> str:
    value: Value = answer[field.field]
    return field.said(value)


def _values_in_code(field: Field) -> str:
    return " or ".join(_in_code(one.value) for one in field.values) or "a number"


def _in_code(value: Value) -> str:
    return repr(value)


def _texts(checkpoint: OrderCheckpoint, answer: tuple[str, ...]) -> list[str]:
    text = {step.id: step.text for step in checkpoint.steps}
    return [text[step_id] for step_id in answer]


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
