"""Exercises as data: what a learner is to write, and the situations that what they wrote is tried in.

Above `labsim.case`, whose vocabulary the situations use; below `grading`, which plays them. A file says what has to
come out and never how to get there: a situation is a gate case whose scripted answers are those of somebody who
does it right, so that the file can be checked by playing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Literal

import msgspec
from msgspec import Struct

from labsim.case import GateCase, parse_case
from labsim.errors import CaseError
from labsim.play import run
from labsim.strictjson import parse


class Form(StrEnum):
    """What is handed in."""

    POLICY = "policy"  # a plain function of the request
    APPROVER = "approver"  # a class with `async def approve`, or an `async def` function


class Exercise(Struct, frozen=True, kw_only=True):
    """One thing to write. `situations` are hidden until something is handed in, in the order they are tried.

    A situation's `title` says what is tried and its `why` what should come of it; both are shown to a learner whose
    code fails there.
    """

    id: str
    form: Form
    task: str
    rules: tuple[str, ...]
    hints: tuple[str, ...]
    situations: tuple[GateCase, ...]


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A piece of a file; a key it does not know is refused."""


class _ExerciseSpec(_Part, frozen=True, kw_only=True):
    id: str
    form: Form
    task: str
    rules: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    situations: list[Any]


class _File(_Part, frozen=True, kw_only=True):
    schema_version: Literal[1]
    chapter: str
    exercises: list[_ExerciseSpec]


def parse_exercises(data: bytes, name: str, chapter: str) -> dict[str, Exercise]:
    """The exercises of that chapter in `data`, by id. `name` stands for the file in messages.

    Raises: CaseError, with the place, what was found there and what would do.
    """
    try:
        file = msgspec.convert(parse(data, name), _File)
    except msgspec.ValidationError as error:
        found, _, path = str(error).partition(" - at `$")
        place = path.removesuffix("`").lstrip(".")
        remedy = "An exercise has id, form (policy or approver), task, rules, hints and situations."
        raise CaseError(f"{name}: {place}" if place else name, found[0].lower() + found[1:], remedy) from None
    if file.chapter != chapter:
        raise CaseError(f"{name}: chapter", f"{file.chapter!r} is another chapter", f"Use {chapter!r}.")
    made: dict[str, Exercise] = {}
    for number, spec in enumerate(file.exercises):
        place = f"{name}: exercises[{number}] ({spec.id})"
        if not spec.id.strip() or spec.id in made:
            raise CaseError(f"{place}.id", "it is blank, or taken", "Give each exercise an id of its own.")
        if not spec.task.strip():
            raise CaseError(f"{place}.task", "the text is blank", "Say what is to be written.")
        made[spec.id] = Exercise(
            id=spec.id,
            form=spec.form,
            task=spec.task,
            rules=spec.rules,
            hints=spec.hints,
            situations=tuple(_situations(spec.situations, place)),
        )
    return made


def _situations(raw: list[Any], place: str) -> Iterator[GateCase]:
    if not raw:
        raise CaseError(f"{place}.situations", "there are none", "Give at least one; without, everything is right.")
    seen: set[str] = set()
    for number, one in enumerate(raw):
        here = f"{place}.situations[{number}]"
        case = parse_case(one, here)
        if not isinstance(case, GateCase):
            raise CaseError(f"{here}.scenario", f"{case.scenario!r} asks no approver", "Use 'gate'.")
        if case.id in seen:
            raise CaseError(f"{here}.id", f"{case.id!r} is taken", "Give each situation an id of its own.")
        if not (case.title.strip() and case.why.strip()):
            raise CaseError(here, "a title or a why is missing", "Say what is tried, and what should come of it.")
        seen.add(case.id)
        yield case


def check_exercises(exercises: Iterable[Exercise]) -> list[CaseError]:
    """The situations that do not show what they expect, played with their own answers; none is the good answer."""
    found: list[CaseError] = []
    for exercise in exercises:
        for case in exercise.situations:
            report = run(case)
            found += [
                CaseError(
                    f"{exercise.id}: {case.id}.expected.{check.field}",
                    f"{check.expected!r} is expected, and its own answers show {check.observed!r}",
                    "Mend the expectation, or the answers.",
                )
                for check in report.checks
                if not check.agrees
            ]
            if not report.checks:
                found.append(CaseError(f"{exercise.id}: {case.id}", "nothing is expected", "Expect something."))
    return found
