"""Exercises as data: the file format, read strictly, and its JSON Schema.

A file says what has to come out and never how to get there. `fixtures/schema/exercises.schema.json` is made by
`schema_text`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from labsim.case.given import CallGiven, DispatchGiven, LoopGiven, WrapperGiven
from labsim.case.model import Case, DispatchCase, GateCase, LoopCase, WrapperCase
from labsim.errors import CaseError, found_and_path
from labsim.reading.reading import parse_case
from labsim.strict_json import parse
from workbook.exercise.flawed_hosts import Piece
from workbook.exercise.invariants import Invariant, PersonSays
from workbook.exercise.kinds import (
    MOST_MADE,
    CallCase,
    CallExercise,
    CaseExercise,
    Exercise,
    Form,
    GateExercise,
    Part,
    Situation,
    Sweep,
    TraceExercise,
)

__all__ = ["CallExercise", "Exercise", "GateExercise", "parse_exercises", "schema", "schema_text"]

_GIVENS: Final[dict[str, type[CallGiven]]] = {
    "wrapper": WrapperGiven,
    "dispatch": DispatchGiven,
    "loop": LoopGiven,
}


# ------------------------------------------------------------------------------------------------- as it is written


class _Spec(Part, frozen=True, kw_only=True, tag_field="form"):
    id: str
    task: str
    rules: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    keys: ClassVar[str]


class PolicySpec(_Spec, frozen=True, kw_only=True, tag="policy"):
    situations: list[Any]
    keys: ClassVar[str] = "situations"


class ApproverSpec(_Spec, frozen=True, kw_only=True, tag="approver"):
    situations: list[Any]
    keys: ClassVar[str] = "situations"


class SettingsSpec(_Spec, frozen=True, kw_only=True, tag="settings"):
    situations: list[Any]
    sweeps: tuple[Sweep, ...] = ()
    keys: ClassVar[str] = "situations and sweeps"


class HandlerSpec(_Spec, frozen=True, kw_only=True, tag="handler"):
    situations: list[Any]
    sweeps: tuple[Sweep, ...] = ()
    keys: ClassVar[str] = "situations and sweeps"


class Attended(Part, frozen=True, kw_only=True):
    """A situation in which a person can be asked."""

    case: Any
    person: tuple[PersonSays, ...] = ()


class AnswersSpec(_Spec, frozen=True, kw_only=True, tag="answers"):
    situations: list[Attended]
    sweeps: tuple[Sweep, ...] = ()
    keys: ClassVar[str] = "situations (each a case, and a person) and sweeps"


class TraceSpec(_Spec, frozen=True, kw_only=True, tag="trace"):
    piece: Piece
    scenario: Literal["wrapper", "dispatch", "loop"]
    given: dict[str, Any] = msgspec.field(default_factory=dict)
    opens: tuple[str, ...]
    broken: Invariant
    why: str
    keys: ClassVar[str] = "piece, scenario, given, opens, broken and why"


class CaseSpec(_Spec, frozen=True, kw_only=True, tag="case"):
    scenarios: tuple[Literal["wrapper", "dispatch", "loop"], ...]
    claims: tuple[str, ...]
    keys: ClassVar[str] = "scenarios and claims"


_AnySpec: TypeAlias = PolicySpec | ApproverSpec | SettingsSpec | HandlerSpec | AnswersSpec | TraceSpec | CaseSpec
_SPECS: Final[dict[str, type[_Spec]]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (PolicySpec, ApproverSpec, SettingsSpec, HandlerSpec, AnswersSpec, TraceSpec, CaseSpec)
}


class ExerciseFile(Part, frozen=True, kw_only=True):
    schema_version: Literal[1]
    chapter: str
    exercises: list[_AnySpec]


def parse_exercises(data: bytes, name: str, chapter: str) -> dict[str, Exercise]:
    """The exercises of that chapter in `data`, by id. `name` stands for the file in messages.

    Raises: CaseError, with the place, what was found there and what would do.
    """
    raw = parse(data, name)
    try:
        file = msgspec.convert(raw, ExerciseFile)
    except msgspec.ValidationError as error:
        found, path = found_and_path(error)
        place = path.lstrip(".")
        raise CaseError(
            f"{name}: {place}" if place else name, found[0].lower() + found[1:], _remedy(raw, place)
        ) from None
    if file.chapter != chapter:
        raise CaseError(f"{name}: chapter", f"{file.chapter!r} is another chapter", f"Use {chapter!r}.")
    made: dict[str, Exercise] = {}
    for number, spec in enumerate(file.exercises):
        place = f"{name}: exercises[{number}] ({spec.id})"
        if not spec.id.strip() or spec.id in made:
            raise CaseError(f"{place}.id", "it is blank, or taken", "Give each exercise an id of its own.")
        if not spec.task.strip():
            raise CaseError(f"{place}.task", "the text is blank", "Say what is to be written.")
        made[spec.id] = _read(spec, place)
    return made


def _remedy(raw: Any, place: str) -> str:
    """Which keys there are where the decoder stopped."""
    exercises = raw.get("exercises") if isinstance(raw, dict) else None
    start = place.removeprefix("exercises[")
    number = start.partition("]")[0]
    if place != start and number.isdigit() and isinstance(exercises, list):
        spec = exercises[int(number)]
        kind = _SPECS.get(str(spec.get("form"))) if isinstance(spec, dict) else None
        if kind is not None:
            form = kind.__struct_config__.tag
            return f"An exercise of the form {form} has id, task, rules, hints, {kind.keys}."
    return f"An exercise has id, form (one of {', '.join(_SPECS)}), task, rules, hints, and what its form needs."


def _read(spec: _AnySpec, place: str) -> Exercise:
    common: dict[str, Any] = {
        "id": spec.id,
        "form": Form(str(spec.__struct_config__.tag)),
        "task": spec.task,
        "rules": spec.rules,
        "hints": spec.hints,
    }
    match spec:
        case PolicySpec() | ApproverSpec():
            return GateExercise(**common, situations=tuple(_gate_situations(spec.situations, place)))
        case SettingsSpec() | HandlerSpec():
            situations = [Situation(case=case) for case in _call_situations(spec.situations, place)]
            if isinstance(spec, HandlerSpec):
                _check_handlers(situations, place)
        case AnswersSpec():
            cases = _call_situations([one.case for one in spec.situations], place)
            for number, one in enumerate(spec.situations):
                _check_person(one.person, f"{place}.situations[{number}].person")
            situations = [
                Situation(case=case, person=one.person) for case, one in zip(cases, spec.situations, strict=True)
            ]
        case TraceSpec():
            return _trace(spec, common, place)
        case CaseSpec():
            if not (spec.scenarios and spec.claims):
                raise CaseError(place, "scenarios or claims is empty", "Say of which kind, and what it must claim.")
            return CaseExercise(**common, scenarios=spec.scenarios, claims=spec.claims)
    _check_sweeps(spec.sweeps, place)
    return CallExercise(**common, situations=tuple(situations), sweeps=spec.sweeps)


def _check_handlers(situations: list[Situation], place: str) -> None:
    for number, situation in enumerate(situations):
        if not isinstance(situation.case, WrapperCase):
            found = f"{situation.case.scenario!r} takes no handler from outside"
            raise CaseError(f"{place}.situations[{number}].scenario", found, "Use 'wrapper'.")


def _check_person(person: tuple[PersonSays, ...], place: str) -> None:
    for number, reply in enumerate(person):
        if reply.after_ms < 0:
            found = f"{reply.after_ms} is in the past"
            raise CaseError(f"{place}[{number}].afterMs", found, "Use simulated milliseconds, 0 or more.")


def _trace(spec: TraceSpec, common: dict[str, Any], place: str) -> TraceExercise:
    if not spec.opens:
        raise CaseError(f"{place}.opens", "it is empty", "Name what a trace may set, such as args.")
    if both := sorted({*spec.given} & {*spec.opens}):
        raise CaseError(f"{place}.opens", f"{both[0]!r} is in given as well", "Leave it in one of the two.")
    keys = _GIVENS[spec.scenario].__struct_encode_fields__
    if unknown := next((key for key in spec.opens if key not in keys), None):
        found = f"{unknown!r} is no key of a {spec.scenario} case's given"
        raise CaseError(f"{place}.opens", found, f"Use some of: {', '.join(keys)}.")
    if not spec.why.strip():
        raise CaseError(f"{place}.why", "the text is blank", "Say why the flawed piece fell.")
    fields = ("piece", "scenario", "given", "opens", "broken", "why")
    return TraceExercise(**common, **{name: getattr(spec, name) for name in fields})


def _check_sweeps(sweeps: tuple[Sweep, ...], place: str) -> None:
    seen: set[str] = set()
    for number, sweep in enumerate(sweeps):
        here = f"{place}.sweeps[{number}] ({sweep.id})"
        if not sweep.id.strip() or sweep.id in seen:
            raise CaseError(f"{here}.id", "it is blank, or taken", "Give each sweep an id of its own.")
        if not (sweep.title.strip() and sweep.why.strip()):
            raise CaseError(here, "a title or a why is missing", "Say what is tried, and what should come of it.")
        for each, replies in enumerate(sweep.person):
            _check_person(replies, f"{here}.person[{each}]")
        if not sweep.holds:
            raise CaseError(f"{here}.holds", "nothing has to hold", "Name at least one invariant.")
        if not 1 <= sweep.size <= MOST_MADE:
            found = f"this makes {sweep.size} situations"
            raise CaseError(f"{here}.vary", found, f"Have it make 1 to {MOST_MADE}.")
        seen.add(sweep.id)


def _call_situations(raw: list[Any], place: str) -> list[CallCase]:
    found: list[CallCase] = []
    for case, here in _situations(raw, place):
        if not isinstance(case, CallCase):
            remedy = "Use 'wrapper', 'dispatch' or 'loop'."
            raise CaseError(f"{here}.scenario", f"{case.scenario!r} makes no calls at the first host", remedy)
        found.append(case)
    return found


def _gate_situations(raw: list[Any], place: str) -> Iterator[GateCase]:
    for case, here in _situations(raw, place):
        if not isinstance(case, GateCase):
            raise CaseError(f"{here}.scenario", f"{case.scenario!r} asks no approver", "Use 'gate'.")
        yield case


def _situations(raw: list[Any], place: str) -> Iterator[tuple[Case, str]]:
    if not raw:
        raise CaseError(f"{place}.situations", "there are none", "Give at least one; without, everything is right.")
    seen: set[str] = set()
    for number, one in enumerate(raw):
        here = f"{place}.situations[{number}]"
        case = parse_case(one, here)
        if case.id in seen:
            raise CaseError(f"{here}.id", f"{case.id!r} is taken", "Give each situation an id of its own.")
        yield case, here
        if not (case.title.strip() and case.why.strip()):
            raise CaseError(here, "a title or a why is missing", "Say what is tried, and what should come of it.")
        seen.add(case.id)


# ------------------------------------------------------------------------------------------------------ the schema


def schema() -> dict[str, Any]:
    """The JSON Schema of a file of exercises, for editors. Cases are described by the schema beside it."""
    made: dict[str, Any] = msgspec.json.schema(ExerciseFile)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Cedar Workbook exercises"
    parts = made["$defs"]
    calls = {"anyOf": [_case_ref(kind) for kind in (WrapperCase, DispatchCase, LoopCase)]}
    situations = {PolicySpec: _case_ref(GateCase), ApproverSpec: _case_ref(GateCase)}
    for spec, cases in (situations | dict.fromkeys((SettingsSpec, HandlerSpec), calls)).items():
        parts[spec.__name__]["properties"]["situations"]["items"] = cases
    parts[Attended.__name__]["properties"]["case"] = calls
    return made


def _case_ref(kind: type[Struct]) -> dict[str, str]:
    return {"$ref": f"case.schema.json#/$defs/{kind.__name__}"}


def schema_text() -> str:
    """The schema as the text of its file."""
    return f"{json.dumps(schema(), indent=2, ensure_ascii=False)}\n"
