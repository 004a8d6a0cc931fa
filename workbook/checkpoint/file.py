"""Checkpoints as data: the file format, read strictly, and its JSON Schema.

A file holds questions, beliefs and explanations, and never says which answer is right: that is found by playing
the case. `fixtures/schema/checkpoints.schema.json` is made by `schema_text`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeVar, get_args

import msgspec
from msgspec import UNSET, Struct

from labsim.errors import CaseError, did_you_mean, found_and_path
from labsim.strict_json import parse
from labsim.terms import Outcome, Policy, Rule, Source, Tier
from workbook.checkpoint.kinds import (
    EVENTS_PREFIX,
    Allowed,
    Belief,
    Checkpoint,
    ChoiceCheckpoint,
    Field,
    FieldsCheckpoint,
    Mistake,
    Option,
    OrderCheckpoint,
    PaperCheckpoint,
    Part,
    Point,
    Predicts,
    Step,
    WrongPair,
    claimed,
    content,
    prediction_of,
)
from workbook.learner.records import Confidence
from workbook.ledgers.claims import EVENTS, FIELDS, event_kinds

__all__ = [
    "Belief",
    "BeliefFile",
    "Checkpoint",
    "CheckpointFile",
    "ChoiceCheckpoint",
    "FieldsCheckpoint",
    "Option",
    "OrderCheckpoint",
    "PaperCheckpoint",
    "Predicts",
    "claimed",
    "content",
    "parse_beliefs",
    "parse_checkpoints",
    "schema",
    "schema_text",
]

F = TypeVar("F", bound=Struct)


class CheckpointFile(Part, frozen=True, kw_only=True):
    """The checkpoints of one chapter, in the order in which they are met."""

    schema_version: Literal[1]
    chapter: str
    checkpoints: tuple[Checkpoint, ...]


class BeliefFile(Part, frozen=True, kw_only=True):
    """All beliefs that options may name."""

    schema_version: Literal[1]
    beliefs: tuple[Belief, ...]


# ---------------------------------------------------------------------------------------------------- reading


def parse_checkpoints(data: bytes, name: str) -> CheckpointFile:
    """The checkpoints in `data`. `name` stands for the file in messages.

    Raises: CaseError, with the place, what was found there and what would do.
    """
    file = _read(data, name, CheckpointFile)
    _distinct((checkpoint.id for checkpoint in file.checkpoints), f"{name}: checkpoints", "checkpoint")
    for number, checkpoint in enumerate(file.checkpoints):
        place = f"{name}: checkpoints[{number}] ({checkpoint.id})"
        _said(place, id=checkpoint.id, prompt=checkpoint.prompt, case=checkpoint.case)
        for step, hint in enumerate(checkpoint.hints):
            _said(place, **{f"hints[{step}]": hint})
        match checkpoint:
            case ChoiceCheckpoint():
                _check_options(checkpoint, place)
            case FieldsCheckpoint():
                _check_fields(checkpoint, place)
            case OrderCheckpoint():
                _check_order(checkpoint, place)
            case PaperCheckpoint():
                _check_paper(checkpoint, place)
        others = [other.id for other in file.checkpoints if other.id != checkpoint.id]
        if checkpoint.retest is not None and checkpoint.retest not in others:
            raise CaseError(
                f"{place}.retest", f"{checkpoint.retest!r} is no other checkpoint of this file", _one_of(others)
            )
    return file


def parse_beliefs(data: bytes, name: str) -> dict[str, Belief]:
    """The beliefs in `data`, by id. Raises: CaseError."""
    file = _read(data, name, BeliefFile)
    _distinct((belief.id for belief in file.beliefs), f"{name}: beliefs", "belief")
    for number, belief in enumerate(file.beliefs):
        _said(f"{name}: beliefs[{number}] ({belief.id})", id=belief.id, says=belief.says, because=belief.because)
    return {belief.id: belief for belief in file.beliefs}


def schema() -> dict[str, Any]:
    """The JSON Schema of a file of checkpoints, for editors."""
    made: dict[str, Any] = msgspec.json.schema(CheckpointFile)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Cedar Workbook checkpoints"
    return made


def schema_text() -> str:
    """The schema as the text of its file."""
    return f"{json.dumps(schema(), indent=2, ensure_ascii=False)}\n"


def _check_options(checkpoint: ChoiceCheckpoint, place: str) -> None:
    options = checkpoint.options
    if len(options) < 2:
        raise CaseError(
            f"{place}.options", f"{len(options)} is too few to choose from", "Give at least two options."
        )
    _distinct((option.id for option in options), f"{place}.options", "option")
    _distinct((option.text for option in options), f"{place}.options", "option", field="text")
    for number, option in enumerate(options):
        here = f"{place}.options[{number}] ({option.id})"
        _said(here, id=option.id, text=option.text, why=option.why)
        _check_claims(option.predicts, f"{here}.predicts")
    if checkpoint.option(checkpoint.scripted) is None:
        raise CaseError(
            f"{place}.scripted",
            f"{checkpoint.scripted!r} is not an option",
            _one_of([option.id for option in options]),
        )


def _check_fields(checkpoint: FieldsCheckpoint, place: str) -> None:
    fields = checkpoint.fields
    if len(fields) < 2:
        raise CaseError(
            f"{place}.fields", f"{len(fields)} is too few", "Give at least two fields, or make it a choice."
        )
    _distinct((field.field for field in fields), f"{place}.fields", "field", field="field")
    _distinct((field.asks for field in fields), f"{place}.fields", "field", field="asks")
    for number, field in enumerate(fields):
        _check_field(field, f"{place}.fields[{number}]")
    for name, value in checkpoint.scripted.items():
        asked = checkpoint.field(name)
        if asked is None:
            raise CaseError(
                f"{place}.scripted.{name}", "no field is of that name", _one_of(field.field for field in fields)
            )
        if not asked.allowed(value):
            raise CaseError(f"{place}.scripted.{name}", f"{value!r} is no answer to this", _answers(asked))
    for field in fields:
        if field.field not in checkpoint.scripted:
            raise CaseError(f"{place}.scripted", f"{field.field} has no answer", f"Add {field.field!r}.")


def _check_field(field: Field, place: str) -> None:
    _said(place, asks=field.asks, why=field.why)
    kind = field.field.removeprefix(EVENTS_PREFIX)
    if kind != field.field:
        _check_kind(kind, f"{place}.field")
    elif kind not in FIELDS or kind == EVENTS:
        remedy = did_you_mean(kind, FIELDS, "See `expected` in fixtures/schema/case.schema.json.")
        raise CaseError(f"{place}.field", f"{kind!r} is nothing that a case shows", remedy)
    if len(field.values) == 1:
        raise CaseError(
            f"{place}.values", "1 is too few to choose from", "Give at least two, or none for a number."
        )
    for number, one in enumerate(field.values):
        _said(f"{place}.values[{number}]", text=one.text)
        _check_fits(field, one.value, f"{place}.values[{number}].value")
    _distinct((str(one.value) for one in field.values), f"{place}.values", "value", field="value")
    _distinct((one.text for one in field.values), f"{place}.values", "value", field="text")
    if not field.values:
        _check_fits(field, 0, f"{place}.values", "List the values to choose from.")
    for number, mistake in enumerate(field.wrong):
        _said(f"{place}.wrong[{number}]", belief=mistake.belief, why=mistake.why)
        if not field.allowed(mistake.value):
            found = f"{mistake.value!r} is no answer to this"
            raise CaseError(f"{place}.wrong[{number}].value", found, _answers(field))
    _distinct((str(one.value) for one in field.wrong), f"{place}.wrong", "mistake", field="value")


def _check_fits(field: Field, value: bool | int | str, place: str, remedy: str = "") -> None:
    try:
        claims = prediction_of(field.field, value)
    except msgspec.ValidationError:
        words = _WORDS.get(field.field)
        found = f"{field.field} cannot be {value!r}"
        raise CaseError(place, found, remedy or (_one_of(words) if words else "Use another value.")) from None
    _check_claims(claims, place)


def _check_order(checkpoint: OrderCheckpoint, place: str) -> None:
    steps = checkpoint.steps
    if len(steps) < 3:
        raise CaseError(f"{place}.steps", f"{len(steps)} is too few to put in order", "Give at least three steps.")
    _distinct((step.id for step in steps), f"{place}.steps", "step")
    _distinct((step.text for step in steps), f"{place}.steps", "step", field="text")
    for number, step in enumerate(steps):
        here = f"{place}.steps[{number}] ({step.id})"
        _said(here, id=step.id, text=step.text, why=step.why)
        _check_kind(step.event, f"{here}.event")
    ids = [step.id for step in steps]
    if sorted(checkpoint.scripted) != sorted(ids):
        found = f"{', '.join(checkpoint.scripted) or 'nothing'} is not every step once"
        raise CaseError(f"{place}.scripted", found, f"Put these in order: {', '.join(ids)}.")
    for number, pair in enumerate(checkpoint.wrong):
        here = f"{place}.wrong[{number}]"
        _said(here, belief=pair.belief, why=pair.why)
        for end, step_id in (("earlier", pair.earlier), ("later", pair.later)):
            if step_id not in ids:
                raise CaseError(f"{here}.{end}", f"{step_id!r} is no step", _one_of(ids))
        if pair.earlier == pair.later:
            raise CaseError(f"{here}.later", f"{pair.later!r} cannot come after itself", "Name two steps.")
    pairs = [(pair.earlier, pair.later) for pair in checkpoint.wrong]
    for number, (earlier, later) in enumerate(pairs):
        if (earlier, later) in pairs[:number]:
            found = f"{earlier} before {later} is already [{pairs.index((earlier, later))}]"
            raise CaseError(f"{place}.wrong[{number}]", found, "Name each pair once.")


def _check_paper(checkpoint: PaperCheckpoint, place: str) -> None:
    _said(place, worked=checkpoint.worked, scripted=checkpoint.scripted)
    _check_claims(checkpoint.claims, f"{place}.claims")
    _distinct((point.id for point in checkpoint.points), f"{place}.points", "point")
    _distinct((point.text for point in checkpoint.points), f"{place}.points", "point", field="text")
    for number, point in enumerate(checkpoint.points):
        _said(f"{place}.points[{number}] ({point.id})", id=point.id, text=point.text)


def _answers(field: Field) -> str:
    return _one_of(str(one.value) for one in field.values) if field.values else "Use a whole number, 0 or more."


def _check_kind(kind: str, place: str) -> None:
    if kind not in event_kinds():
        remedy = did_you_mean(kind, event_kinds(), "`python -m labsim case ID` shows the kinds.")
        raise CaseError(place, "no event is of this kind", remedy)


def _check_claims(claims: Predicts, place: str) -> None:
    if not claimed(claims):
        raise CaseError(place, "nothing is predicted", "Name at least one observed field, such as prompts.")
    events = {} if claims.events is UNSET else claims.events
    for kind, count in events.items():
        _check_kind(kind, f"{place}.events.{kind}")
        if count < 0:
            raise CaseError(f"{place}.events.{kind}", f"{count} is no count", "Use 0 or more.")


def _said(place: str, **texts: str) -> None:
    for field, text in texts.items():
        if not text.strip():
            raise CaseError(f"{place}.{field}", "the text is blank", "Say something, or take the part out.")


def _distinct(values: Iterable[str], place: str, what: str, *, field: str = "id") -> None:
    seen: dict[str, int] = {}
    for number, value in enumerate(values):
        if value in seen:
            raise CaseError(
                f"{place}[{number}].{field}",
                f"{value!r} is already the {field} of [{seen[value]}]",
                f"Give each {what} {'an' if field == 'id' else 'a'} {field} of its own.",
            )
        seen[value] = number


def _one_of(words: Iterable[object]) -> str:
    return f"Use one of: {', '.join(map(str, words))}."


_WORDS: Final[Mapping[str, tuple[object, ...]]] = {
    "kind": tuple(kind.kind for kind in get_args(Checkpoint)),
    "schemaVersion": (1,),
    "outcome": tuple(Outcome),
    "policy": tuple(Policy),
    "rule": tuple(Rule),
    "source": tuple(Source),
    "tier": tuple(Tier),
    "scriptedConfidence": tuple(Confidence),
}
_TYPES: Final[Mapping[str, str]] = {
    "array": "Use a list.",
    "bool": "Use true or false.",
    "int": "Use a whole number.",
    "object": "Use an object.",
    "str": "Use a text.",
}
_STRUCTS: Final = (
    *(CheckpointFile, *get_args(Checkpoint), Option, Predicts, Field, Allowed, Mistake, Step, WrongPair, Point),
    *(BeliefFile, Belief),
)


def _read(data: bytes, name: str, kind: type[F]) -> F:
    raw = parse(data, name)
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        found, path = found_and_path(error)
        place = _named(raw, path)
        raise CaseError(f"{name}: {place}" if place else name, *_explained(found, place)) from None


def _named(raw: Any, path: str) -> str:
    """`checkpoints[1] (second-call).options[0] (once).why`, for a path as the decoder gives it."""
    made: str = ""
    here = raw
    for step in re.findall(r"\[\d+\]|\[\.\.\.\]|\.?[^.\[\]]+", path):
        made += step
        if step == "[...]":  # a value of a mapping, whose key the decoder does not tell
            return made.removesuffix(step).lstrip(".")
        here = here[int(step[1:-1])] if step[0] == "[" else here.get(step.lstrip("."))
        if step[0] == "[" and isinstance(here, dict) and isinstance(here.get("id"), str):
            made += f" ({here['id']})"
    return made.lstrip(".")


def _explained(problem: str, place: str) -> tuple[str, str]:
    """The decoder's words, made plain: what was found, and what would do."""
    if unknown := re.search(r"unknown field `(.*)`", problem):
        known = {name for struct in _STRUCTS for name in struct.__struct_encode_fields__}
        remedy = did_you_mean(unknown[1], known, "fixtures/schema/checkpoints.schema.json lists the keys.")
        return f"the key {unknown[1]!r} is not known here", remedy
    if missing := re.search(r"missing required field `(.*)`", problem):
        return f"the key {missing[1]!r} is missing", f"Add {missing[1]!r}."
    if invalid := re.search(r"Invalid (?:enum )?value (.*)", problem, re.DOTALL):
        words = _WORDS.get(place.rsplit(".", 1)[-1])
        return f"{invalid[1]} is not allowed here", _one_of(words) if words else ""
    wanted = re.search(r"Expected `(\w+)`", problem)
    return problem[0].lower() + problem[1:], _TYPES.get(wanted[1], "") if wanted else ""
