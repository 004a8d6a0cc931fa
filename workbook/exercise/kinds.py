"""What an exercise is made of: what is handed in, and the situations it is tried in, written or made from parts.

A situation is a case whose scripted answers are those of somebody who does it right; no part of an exercise says
how to get there.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from labsim.case.model import DispatchCase, GateCase, LoopCase, WrapperCase
from labsim.reading.reading import parse_case
from workbook.exercise.flawed_hosts import Piece
from workbook.exercise.invariants import Invariant, PersonSays

#: The hand-in that stands in place of what a case of the first host scripts: `ext` of its scripted handler.
YOURS: Final = "yours"
MOST_MADE: Final = 2_000  # situations of one sweep; more would keep a learner waiting

CallCase: TypeAlias = WrapperCase | DispatchCase | LoopCase


class Form(StrEnum):
    """What is handed in. The first two are for the second host, the others for the first."""

    POLICY = "policy"  # a plain function of the request
    APPROVER = "approver"  # a class with `async def approve`, or an `async def` function
    SETTINGS = "settings"  # a mapping: tools.approvalMode and tools.approval
    HANDLER = "handler"  # a function of the event and its context
    ANSWERS = "answers"  # a function of one open question, or a class with `answer`
    TRACE = "trace"  # a part of a case, as data, that breaks a given piece
    CASE = "case"  # a whole case of the learner's own


class Situation(Struct, frozen=True, kw_only=True):
    """One call or several at the first host. `person`: what a person says who is asked, in turn."""

    case: CallCase
    person: tuple[PersonSays, ...] = ()


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A piece of a file; a key it does not know is refused."""


class Sweep(Part, frozen=True, kw_only=True):
    """Situations that are made and not written: each choice of one entry from every list of `vary`, over `given`.

    Of each of them, what is in `holds` has to be true. `person`: the replies of a person to try, one list for each.
    """

    id: str
    title: str
    why: str
    given: dict[str, Any] = {}
    vary: tuple[tuple[dict[str, Any], ...], ...]
    person: tuple[tuple[PersonSays, ...], ...] = ((),)
    holds: tuple[Invariant, ...]

    @property
    def size(self) -> int:
        """How many situations it makes."""
        made = len(self.person)
        for entries in self.vary:
            made *= len(entries)
        return made

    def situations(self) -> Iterator[Situation]:
        """All of them, always in the same order. Raises: CaseError, if one of them is no case."""
        made = product(product(*self.vary), self.person)
        for number, (parts, person) in enumerate(made, start=1):
            given: dict[str, Any] = dict(self.given)
            for part in parts:
                given |= part
            raw = {"id": f"{self.id}-{number}", "scenario": "wrapper", "title": self.title, "given": given}
            case = parse_case(raw, f"{self.id}, situation {number}")
            assert isinstance(case, WrapperCase)
            yield Situation(case=case, person=person)


class Exercise(Struct, frozen=True, kw_only=True):
    """One thing to write."""

    id: str
    form: Form
    task: str
    rules: tuple[str, ...]
    hints: tuple[str, ...]


class GateExercise(Exercise, frozen=True, kw_only=True):
    """A policy or an approver for the second host.

    `situations` are hidden until something is handed in, in the order they are tried. A situation's `title` says
    what is tried and its `why` what should come of it; both are shown to a learner whose code fails there.
    """

    situations: tuple[GateCase, ...]


class CallExercise(Exercise, frozen=True, kw_only=True):
    """Settings, a handler or an approver for the first host; `sweeps` are tried once all situations hold."""

    situations: tuple[Situation, ...]
    sweeps: tuple[Sweep, ...]


class TraceExercise(Exercise, frozen=True, kw_only=True):
    """A given piece to break. A trace sets the keys of `opens`; the rest of the case is `given`.

    It has to make the flawed piece do what `broken` forbids, and must not make the sound one do it.
    """

    piece: Piece
    scenario: Literal["wrapper", "dispatch", "loop"]
    given: dict[str, Any]
    opens: tuple[str, ...]
    broken: Invariant
    why: str


class CaseExercise(Exercise, frozen=True, kw_only=True):
    """A whole case to design: of one of these scenarios, claiming at least these fields."""

    scenarios: tuple[str, ...]
    claims: tuple[str, ...]
