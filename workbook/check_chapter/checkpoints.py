"""How a learner stands with a checkpoint, and whether a chapter's checkpoints are right: found by playing.

Nothing here is stored: a verdict is worked out from the ledger each time it is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from labsim.case.model import Case
from labsim.errors import CaseError, UnknownCase
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import find
from workbook.checkpoint.file import CheckpointFile
from workbook.checkpoint.judging import (
    judge,
    judge_options,
    right_order,
    right_values,
    rows_of_step,
    step_problem,
)
from workbook.checkpoint.kinds import (
    Belief,
    Checkpoint,
    ChoiceCheckpoint,
    Field,
    FieldsCheckpoint,
    Option,
    OrderCheckpoint,
    PaperCheckpoint,
    Predicts,
    beliefs_of,
    prediction_of,
)

# --------------------------------------------------------------------------------------------------- the check


def check(file: CheckpointFile, cases: Iterable[Case], beliefs: Mapping[str, Belief]) -> list[CaseError]:
    """What is wrong with a chapter's checkpoints, beyond their shape; an empty list is the good answer.

    Plays every case that is named. A choice has exactly one option that matches, a field one value, an order one
    row for each step; whatever is wrong needs a belief that is known, and a case whose ledger contradicts it.
    """
    known = {case.id: case for case in cases}
    found: list[CaseError] = []
    for number, checkpoint in enumerate(file.checkpoints):
        place = f"{file.chapter}: checkpoints[{number}] ({checkpoint.id})"
        found.extend(_wording(checkpoint, place))
        found.extend(_retest(checkpoint, place, file.checkpoints[number + 1 :]))
        found.extend(_unknown_beliefs(checkpoint, place, beliefs))
        found.extend(_problems(checkpoint, place, known))
    return found


def _retest(checkpoint: Checkpoint, place: str, later: Iterable[Checkpoint]) -> Iterator[CaseError]:
    """A retest comes after, and is about something that this one is about."""
    if checkpoint.retest is None:
        return
    mine = frozenset(beliefs_of(checkpoint))
    would_do = [other.id for other in later if mine.intersection(beliefs_of(other))]
    if checkpoint.retest not in would_do:
        yield CaseError(
            f"{place}.retest",
            f"{checkpoint.retest!r} is no later checkpoint that shares a belief with this one",
            f"Use one of: {', '.join(would_do)}." if would_do else "Remove it: no later one does.",
        )


def _unknown_beliefs(checkpoint: Checkpoint, place: str, known: Mapping[str, Belief]) -> Iterator[CaseError]:
    for belief in beliefs_of(checkpoint):
        if belief not in known:
            where = _place_of_belief(checkpoint, belief)
            yield CaseError(f"{place}.{where}.belief", f"{belief!r} is not a known belief", "See beliefs.json.")


def _place_of_belief(checkpoint: Checkpoint, belief: str) -> str:
    """Where a checkpoint names a belief first."""
    match checkpoint:
        case ChoiceCheckpoint():
            named = [(f"options[{n}] ({one.id})", one.belief) for n, one in enumerate(checkpoint.options)]
        case FieldsCheckpoint():
            named = [
                (f"fields[{n}].wrong[{m}]", mistake.belief)
                for n, field in enumerate(checkpoint.fields)
                for m, mistake in enumerate(field.wrong)
            ]
        case OrderCheckpoint():
            named = [(f"wrong[{n}]", pair.belief) for n, pair in enumerate(checkpoint.wrong)]
        case PaperCheckpoint():
            named = [(f"points[{n}] ({one.id})", one.belief) for n, one in enumerate(checkpoint.points)]
    return next(place for place, name in named if name == belief)


def _problems(checkpoint: Checkpoint, place: str, cases: Mapping[str, Case]) -> Iterator[CaseError]:
    try:
        report = run(find(cases.values(), checkpoint.case))
    except UnknownCase as error:
        yield CaseError(f"{place}.case", str(error).rstrip("."), "")
        return
    match checkpoint:
        case ChoiceCheckpoint():
            yield from _of_choice(checkpoint, place, cases, report)
        case FieldsCheckpoint():
            yield from _of_fields(checkpoint, place, cases, report)
        case OrderCheckpoint():
            yield from _of_order(checkpoint, place, report)
        case PaperCheckpoint():
            yield from _of_paper(checkpoint, place, report)


def _of_paper(checkpoint: PaperCheckpoint, place: str, report: Report) -> Iterator[CaseError]:
    for claim in judge(checkpoint.claims, report):
        if not claim.agrees:
            yield CaseError(
                f"{place}.claims.{claim.field}",
                f"{claim.expected!r} is claimed, and {checkpoint.case} shows {claim.observed!r}",
                "Mend the claim, and the worked answer with it.",
            )


def _of_choice(
    checkpoint: ChoiceCheckpoint, place: str, cases: Mapping[str, Case], report: Report
) -> Iterator[CaseError]:
    judged = judge_options(checkpoint, report)
    right = [one.option.id for one in judged if one.matches]
    if len(right) != 1:
        found = f"{', '.join(right)} all match" if right else "no option matches"
        yield CaseError(
            f"{place}.options", f"{found} what {checkpoint.case} shows", "Mend what they predict: one has to match."
        )
    for number, one in enumerate(judged):
        here = f"{place}.options[{number}] ({one.option.id})"
        if one.matches:
            yield from _of_right_option(one.option, here)
        elif right or one.option.belief is not None:  # else it may be the one that was meant to match
            yield from _of_wrong_option(one.option, checkpoint, here, cases)


def _of_right_option(option: Option, place: str) -> Iterator[CaseError]:
    for field in ("belief", "counter"):
        if getattr(option, field) is not None:
            yield CaseError(f"{place}.{field}", "this option is right, so nothing contradicts it", "Remove it.")


def _of_wrong_option(
    option: Option, checkpoint: Checkpoint, place: str, cases: Mapping[str, Case]
) -> Iterator[CaseError]:
    if option.belief is None:
        yield CaseError(place, "this option is wrong, and no belief says who would choose it", "Add a belief.")
    yield from _counter(option.counter, option.predicts, "this option predicts", checkpoint, place, cases)


def _counter(
    counter: str | None,
    predicts: Predicts,
    what: str,
    checkpoint: Checkpoint,
    place: str,
    cases: Mapping[str, Case],
) -> Iterator[CaseError]:
    """A case that is named as the counter must deny what was predicted; the checkpoint's own does."""
    if counter is None or counter == checkpoint.case:
        return
    try:
        report = run(find(cases.values(), counter))
    except UnknownCase as error:
        yield CaseError(f"{place}.counter", str(error).rstrip("."), "")
        return
    if all(claim.agrees for claim in judge(predicts, report)):
        yield CaseError(f"{place}.counter", f"{counter} shows what {what}", "Name a case that does not.")


def _of_fields(
    checkpoint: FieldsCheckpoint, place: str, cases: Mapping[str, Case], report: Report
) -> Iterator[CaseError]:
    if not beliefs_of(checkpoint):
        yield CaseError(f"{place}.fields", "no likely wrong value is named", "Add one to `wrong`, with its belief.")
    for number, field in enumerate(checkpoint.fields):
        yield from _of_field(field, checkpoint, f"{place}.fields[{number}]", cases, report)


def _of_field(
    field: Field, checkpoint: Checkpoint, place: str, cases: Mapping[str, Case], report: Report
) -> Iterator[CaseError]:
    right = right_values(field, report)
    if len(right) != 1:
        found = f"{', '.join(map(repr, right))} all match" if right else "no answer matches"
        remedy = "Mend the values: one has to match." if field.values else "Ask about something that is counted."
        yield CaseError(f"{place}.values", f"{found} what {checkpoint.case} shows", remedy)
    for number, mistake in enumerate(field.wrong):
        here = f"{place}.wrong[{number}]"
        if mistake.value in right:
            found = f"{mistake.value!r} is what {checkpoint.case} shows"
            yield CaseError(f"{here}.value", found, "Name a value that is wrong.")
        predicts = prediction_of(field.field, mistake.value)
        yield from _counter(mistake.counter, predicts, "this predicts", checkpoint, here, cases)


def _of_order(checkpoint: OrderCheckpoint, place: str, report: Report) -> Iterator[CaseError]:
    if not beliefs_of(checkpoint):
        yield CaseError(f"{place}.wrong", "no likely wrong order is named", "Add a pair of steps, with its belief.")
    rows: dict[int, str] = {}
    for number, step in enumerate(checkpoint.steps):
        here = f"{place}.steps[{number}] ({step.id})"
        found = rows_of_step(step, report)
        if problem := step_problem(step, found, checkpoint.case):
            yield CaseError(here, *problem)
        elif found[0] in rows:
            yield CaseError(here, f"row {found[0]} is {rows[found[0]]} already", "Leave one of the two out.")
        else:
            rows[found[0]] = step.id
    if len(rows) == len(checkpoint.steps):
        yield from _of_rows(checkpoint, place, report)


def _of_rows(checkpoint: OrderCheckpoint, place: str, report: Report) -> Iterator[CaseError]:
    right = [one.step for one in right_order(checkpoint, report)]
    if right == list(checkpoint.listed):
        yield CaseError(
            f"{place}.steps", "the alphabet, in which they are listed, is the right order", "Word one of them anew."
        )
    if (ids := [step.id for step in right]) == sorted(ids):
        yield CaseError(f"{place}.steps", "the alphabet of their ids is the right order", "Rename one of them.")
    for number, pair in enumerate(checkpoint.wrong):
        if ids.index(pair.earlier) < ids.index(pair.later):
            found = f"{pair.earlier} does come before {pair.later} in {checkpoint.case}"
            yield CaseError(f"{place}.wrong[{number}]", found, "Name a pair that is wrong.")


_BY_POSITION: Final = re.compile(
    r"\b([Ff]irst|[Ss]econd|third|fourth|fifth|last) option\b|\b(option|answer) ([1-9]|[A-D])\b|"
    r"\b([Aa]ll|[Nn]one) of the above\b"
)


def _wording(checkpoint: Checkpoint, place: str) -> Iterator[CaseError]:
    """Texts must not point at an option by where it stands."""
    texts = {"prompt": checkpoint.prompt} | {f"hints[{n}]": hint for n, hint in enumerate(checkpoint.hints)}
    match checkpoint:
        case ChoiceCheckpoint():
            for number, option in enumerate(checkpoint.options):
                texts |= {f"options[{number}].text": option.text, f"options[{number}].why": option.why}
        case FieldsCheckpoint():
            for number, field in enumerate(checkpoint.fields):
                texts |= {f"fields[{number}].asks": field.asks, f"fields[{number}].why": field.why}
        case OrderCheckpoint():
            for number, step in enumerate(checkpoint.steps):
                texts |= {f"steps[{number}].text": step.text, f"steps[{number}].why": step.why}
        case PaperCheckpoint():
            pass
    for field_place, text in texts.items():
        if pointing := _BY_POSITION.search(text):
            found = f"{pointing[0]!r} points at a position, and positions move"
            yield CaseError(f"{place}.{field_place}", found, "Quote the option instead.")
