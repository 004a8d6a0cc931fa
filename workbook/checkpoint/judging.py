"""Answers judged by a played case: what each predicted, beside what the ledger shows.

Nothing here is stored: whoever wants to know whether an answer is right plays the case and asks.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from labsim.errors import CaseError
from labsim.events.event import as_mapping
from labsim.play.report import FieldCheck, Report
from workbook.checkpoint.kinds import (
    Checkpoint,
    ChoiceCheckpoint,
    Field,
    FieldsCheckpoint,
    Option,
    OrderCheckpoint,
    PaperCheckpoint,
    Predicts,
    Step,
    Value,
    WrongPair,
    claimed,
    prediction_of,
)
from workbook.learner.records import Answer
from workbook.ledgers.claims import compare_prediction, holds
from workbook.ledgers.played import placed


class Judged(Struct, frozen=True, kw_only=True):
    """One option beside what the case showed, claim by claim."""

    option: Option
    checks: tuple[FieldCheck, ...]

    @property
    def matches(self) -> bool:
        """Whether the played case shows every predicted field."""
        return holds(self.checks)


class JudgedField(Struct, frozen=True, kw_only=True):
    """One predicted field beside the observed one. `right` is the value that matches; None where none does."""

    field: Field
    value: Value
    check: FieldCheck
    right: Value | None

    @property
    def matches(self) -> bool:
        """Whether the played case shows it."""
        return self.check.agrees


class StepAt(Struct, frozen=True):
    """A step, and the row of the ledger that it is, counted from 1."""

    step: Step
    row: int


class JudgedOrder(Struct, frozen=True, kw_only=True):
    """An order of steps beside the ledger's: `given` as the learner put them, `right` by their rows."""

    given: tuple[StepAt, ...]
    right: tuple[StepAt, ...]
    mistakes: tuple[WrongPair, ...]  # the likely ones that were made

    @property
    def matches(self) -> bool:
        """Whether the ledger has them in this order."""
        return self.given == self.right

    @property
    def first_wrong(self) -> StepAt | None:
        """What the ledger has in the first place that is wrong; None where none is."""
        return next((right for given, right in zip(self.given, self.right, strict=True) if given != right), None)


def judge(predicts: Predicts, report: Report) -> tuple[FieldCheck, ...]:
    """Each predicted field beside the observed one; events as `events.KIND`."""
    return tuple(compare_prediction(claimed(predicts), report))


def judge_options(checkpoint: ChoiceCheckpoint, report: Report) -> tuple[Judged, ...]:
    """Every option of a checkpoint, judged by a report of its case."""
    return tuple(Judged(option=option, checks=judge(option.predicts, report)) for option in checkpoint.options)


def judge_value(field: Field, value: Value, report: Report) -> FieldCheck:
    """One predicted value of a field beside the observed one."""
    (check,) = judge(prediction_of(field.field, value), report)
    return check


def right_values(field: Field, report: Report) -> tuple[Value, ...]:
    """The answers to a field that the case shows; exactly one, in a chapter that passes its check."""
    if not field.values:
        observed = judge_value(field, 0, report).observed
        return (observed,) if field.allowed(observed) else ()
    return tuple(one.value for one in field.values if judge_value(field, one.value, report).agrees)


def judge_fields(
    checkpoint: FieldsCheckpoint, answer: Mapping[str, Value], report: Report
) -> tuple[JudgedField, ...]:
    """Every field of a checkpoint, as it was predicted, judged by a report of its case."""
    return tuple(
        JudgedField(
            field=field,
            value=answer[field.field],
            check=judge_value(field, answer[field.field], report),
            right=next(iter(right_values(field, report)), None),
        )
        for field in checkpoint.fields
    )


def rows_of_step(step: Step, report: Report) -> tuple[int, ...]:
    """The rows of the ledger that a step may mean; exactly one, in a chapter that passes its check."""
    return tuple(
        one.number
        for one in placed(report)
        if one.event.kind_name() == step.event
        and step.call in (None, one.call)
        and step.where.items() <= _scalars(as_mapping(one.event)).items()
    )


def step_problem(step: Step, rows: tuple[int, ...], case_id: str) -> tuple[str, str] | None:
    """What is wrong with a step that is not one row of the ledger, and what would do; None for one that is."""
    if len(rows) == 1:
        return None
    if rows:
        several = f"the rows {', '.join(map(str, rows))} are this event in {case_id}"
        return several, "Name its call, or what it says in `where`."
    return (
        f"no row is this event in {case_id}",
        f"Name another event than {step.event}, or another call or `where`.",
    )


def right_order(checkpoint: OrderCheckpoint, report: Report) -> tuple[StepAt, ...]:
    """The steps in the order of their rows. Raises: CaseError, if a step is no row, or more than one."""
    found = []
    for step in checkpoint.steps:
        rows = rows_of_step(step, report)
        if problem := step_problem(step, rows, checkpoint.case):
            raise CaseError(f"{checkpoint.id}.steps ({step.id})", *problem)
        found.append(StepAt(step, rows[0]))
    return tuple(sorted(found, key=lambda one: one.row))


def judge_order(checkpoint: OrderCheckpoint, answer: tuple[str, ...], report: Report) -> JudgedOrder:
    """An order of steps, given by their ids, judged by a report of the case. Raises: CaseError (`right_order`)."""
    right = right_order(checkpoint, report)
    row = {one.step.id: one for one in right}
    place = {step_id: number for number, step_id in enumerate(answer)}
    return JudgedOrder(
        given=tuple(row[step_id] for step_id in answer),
        right=right,
        mistakes=tuple(
            pair
            for pair in checkpoint.wrong
            if place[pair.earlier] < place[pair.later] and row[pair.earlier].row > row[pair.later].row
        ),
    )


# ------------------------------------------------------------------------------------------------ of every kind


def is_right(checkpoint: Checkpoint, answer: Answer, report: Report) -> bool | None:
    """Whether an answer is what the case shows; None for a paper answer, which nobody grades."""
    match checkpoint:
        case ChoiceCheckpoint():
            return any(one.matches for one in judge_options(checkpoint, report) if one.option.id == answer)
        case FieldsCheckpoint():
            return all(one.matches for one in judge_fields(checkpoint, as_fields(answer), report))
        case OrderCheckpoint():
            return judge_order(checkpoint, as_order(answer), report).matches
        case PaperCheckpoint():
            return None


def beliefs_behind(checkpoint: Checkpoint, answer: Answer, report: Report) -> tuple[str, ...]:
    """The ids of the beliefs that a wrong answer speaks for, each once; none for a right or a paper answer."""
    found: list[str | None] = []
    match checkpoint:
        case ChoiceCheckpoint():
            judged = judge_options(checkpoint, report)
            found = [one.option.belief for one in judged if one.option.id == answer and not one.matches]
        case FieldsCheckpoint():
            for one in judge_fields(checkpoint, as_fields(answer), report):
                mistake = None if one.matches else one.field.mistake(one.value)
                found.append(None if mistake is None else mistake.belief)
        case OrderCheckpoint():
            found = [pair.belief for pair in judge_order(checkpoint, as_order(answer), report).mistakes]
        case PaperCheckpoint():
            pass
    return tuple(dict.fromkeys(belief for belief in found if belief is not None))


def denied(checkpoint: Checkpoint, answer: Answer, report: Report) -> tuple[FieldCheck, ...]:
    """The predicted fields that the case does not show; none for an order or a paper answer, which predict none."""
    match checkpoint:
        case ChoiceCheckpoint():
            judged = judge_options(checkpoint, report)
            checks = [check for one in judged if one.option.id == answer for check in one.checks]
        case FieldsCheckpoint():
            checks = [one.check for one in judge_fields(checkpoint, as_fields(answer), report)]
        case _:
            checks = []
    return tuple(check for check in checks if not check.agrees)


def as_fields(answer: Answer) -> Mapping[str, Value]:
    """The answer to a checkpoint of fields. Raises: TypeError, for one of another shape."""
    if not isinstance(answer, dict):
        raise TypeError(f"predicted fields are a mapping, not {answer!r}")
    return {name: value for name, value in answer.items() if value is not None}


def as_order(answer: Answer) -> tuple[str, ...]:
    """The answer to a checkpoint of steps. Raises: TypeError, for one of another shape."""
    if not isinstance(answer, tuple):
        raise TypeError(f"an order of steps is a tuple, not {answer!r}")
    return answer


def _scalars(fields: Mapping[str, object]) -> dict[str, object]:
    """What of an event `where` can name: values that are no lists or objects."""
    return {name: value for name, value in fields.items() if isinstance(value, bool | int | str)}
