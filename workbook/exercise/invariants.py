"""What has to be true of every run, whatever is asked and whoever answers: read from the ledger alone.

Each gives the rows of the ledger that speak against it, so that nobody has to take a verdict on trust.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.call.nesting import nested
from labsim.events.call import CallStarted, Execute, PolicyResolved, PromptDecided
from labsim.events.dialogs import QuestionAsked, RpcSelect, UiSelect
from labsim.events.event import Event, plainly
from labsim.js_values import same
from labsim.play.report import Report
from labsim.terms import APPROVE, DialogKind, Policy


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A piece of a file; a key it does not know is refused."""


class PersonSays(_Part, frozen=True, kw_only=True):
    """What a person comes back with, `after_ms` simulated ms after being asked. Null: they closed the question."""

    says: Any = None
    after_ms: int = 1_000


class PersonReplied(Event, frozen=True, kw_only=True, gc=False, tag="person_replied"):
    """An approver asked a person, and this came back. The host sees only what the approver then answers."""

    answer: Any
    after_ms: int

    def says(self) -> str:
        return f"says: {plainly(self.answer)}, afterMs: {self.after_ms}"


class Which(_Part, frozen=True, kw_only=True):
    """Calls that are meant: of one tool, with exactly this input, or with one that has these fields."""

    tool: str
    input: Any = UNSET
    has: dict[str, Any] = {}

    def takes(self, tool: str, given: object) -> bool:
        """Whether a call of that tool with that input is one of them."""
        if tool != self.tool or (self.input is not UNSET and not same(self.input, given)):
            return False
        if not self.has:
            return True
        return isinstance(given, Mapping) and all(
            same(given.get(key, UNSET), value) for key, value in self.has.items()
        )


class Kind(StrEnum):
    """What is claimed."""

    NEVER = "never"  # it reaches no executor
    RUNS = "runs"  # it reaches the executor, once
    UNCHANGED = "unchanged"  # it runs, if at all, with just the input that was asked for
    UNASKED = "unasked"  # no approval question is opened about it
    YES_FIRST = "yes-first"  # before it runs, its own question was answered with exactly Approve
    PERSON_FIRST = "person-first"  # before it runs, a person said exactly Approve to it, in time
    ONE_QUESTION = "one-question"  # at most one approval question is opened about it
    DENY_HOLDS = "deny-holds"  # once its policy is deny, it does not run
    CONSENT = "consent"  # it runs only if no prompt was required, or one was answered with exactly Approve


class Invariant(_Part, frozen=True, kw_only=True):
    """One claim about calls: those of `of` (none named: all), but not those of `but`. `says` is it in words.

    `within_ms`: for `person-first`, how late a yes may come.
    """

    kind: Kind
    says: str
    of: tuple[Which, ...] = ()
    but: tuple[Which, ...] = ()
    within_ms: int = 60_000

    def about(self, tool: str, given: object) -> bool:
        """Whether a call is one that this claims something about."""
        return (not self.of or _among(self.of, tool, given)) and not _among(self.but, tool, given)


#: What holds of this host whatever anybody writes; tried with everything that is handed in.
ALWAYS: Final = (
    Invariant(kind=Kind.DENY_HOLDS, says="A deny is never overturned."),
    Invariant(kind=Kind.ONE_QUESTION, says="One approval question a call, at most."),
    Invariant(kind=Kind.CONSENT, says="No effect without an exact Approve, or a rule that allows it."),
)


def _among(which: Sequence[Which], tool: str, given: object) -> bool:
    return any(one.takes(tool, given) for one in which)


def against(invariant: Invariant, report: Report) -> tuple[int, ...]:
    """The rows of the ledger, counted from 1, that speak against it; none where it holds."""
    return tuple(row for call in _calls(report) for row in _rows(invariant, call))


class _Call(Struct):
    """One call's part of the ledger: each event with its row."""

    tool: str
    asked_for: Any
    started_at: int
    events: list[tuple[int, Event]]


def _calls(report: Report) -> Iterator[_Call]:
    """The calls, in the order in which they began. A dispatch's inner call is part of its outer one."""
    for made in report.calls:
        rows = [(row, report.ledger[row - 1]) for row in range(made.start + 1, made.end + 1)]
        started = next(((row, event) for row, event in rows if isinstance(event, CallStarted)), None)
        if started is None:
            continue  # refused before it began: nothing can be said of it but that it did not run
        row, event = started
        assert isinstance(event, CallStarted)
        yield _Call(tool=event.tool_name, asked_for=event.input, started_at=row, events=rows)


def _rows(invariant: Invariant, call: _Call) -> Iterator[int]:
    ran = [(row, event) for row, event in call.events if isinstance(event, Execute)]
    match invariant.kind:
        case Kind.NEVER:
            yield from (row for row, event in ran if invariant.about(event.tool, event.input))
        case Kind.RUNS:
            if invariant.about(call.tool, call.asked_for) and len(ran) != 1:
                yield from (row for row, _ in ran[1:] or ((call.started_at, None),))
        case Kind.UNCHANGED:
            if invariant.about(call.tool, call.asked_for):
                yield from (row for row, event in ran if not same(event.input, call.asked_for))
        case Kind.UNASKED:
            if invariant.about(call.tool, call.asked_for):
                yield from _questions(call)
        case Kind.ONE_QUESTION:
            if invariant.about(call.tool, call.asked_for):
                yield from _repeated(call)
        case Kind.YES_FIRST:
            for row, event in ran:
                if invariant.about(event.tool, event.input) and not _approved_before(row, call):
                    yield row
        case Kind.PERSON_FIRST:
            for row, event in ran:
                if invariant.about(event.tool, event.input) and not _person_before(row, call, invariant.within_ms):
                    yield row
        case Kind.DENY_HOLDS:
            denied = [
                row
                for row, event in call.events
                if isinstance(event, PolicyResolved) and event.resolution.policy is Policy.DENY
            ]
            yield from (row for row, _ in ran if denied and row > denied[0])
        case Kind.CONSENT:
            for row, event in ran:
                if invariant.about(event.tool, event.input) and not _consented(row, call):
                    yield row


def _questions(call: _Call) -> Iterator[int]:
    for row, event in call.events:
        if isinstance(event, QuestionAsked) and event.kind is DialogKind.SELECT:
            yield row


def _repeated(call: _Call) -> Iterator[int]:
    """The approval questions after the first of each gate: a dispatch has two gates, and each may ask once."""
    asked: set[str | None] = set()
    for (row, event), placed in zip(call.events, nested(event for _, event in call.events), strict=True):
        if isinstance(event, QuestionAsked) and event.kind is DialogKind.SELECT:
            if placed.tool_name in asked:
                yield row
            asked.add(placed.tool_name)


def _consented(row: int, call: _Call) -> bool:
    decided = [event for before, event in call.events if before < row and isinstance(event, PromptDecided)]
    return _approved_before(row, call) or bool(decided and not decided[-1].required)


def _approved_before(row: int, call: _Call) -> bool:
    return any(
        before < row and isinstance(event, UiSelect | RpcSelect) and event.choice == APPROVE
        for before, event in call.events
    )


def _person_before(row: int, call: _Call, within_ms: int) -> bool:
    return any(
        before < row
        and isinstance(event, PersonReplied)
        and event.answer == APPROVE
        and event.after_ms <= within_ms
        for before, event in call.events
    )
