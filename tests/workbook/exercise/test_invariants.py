"""What has to hold of every run: each invariant finds the rows that speak against it, and none where it is kept."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from labsim.case.model import DispatchCase, LoopCase, WrapperCase
from labsim.events.dialogs import QuestionAsked, UiSelect
from labsim.events.ledger import Ledger
from labsim.library import case_files
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import parse_case, parse_file
from labsim.terms import APPROVAL_OPTIONS, DialogKind
from workbook.exercise.invariants import ALWAYS, Invariant, Kind, PersonReplied, Which, against

NOTE = (Which(tool="seed_note"),)


def played(**given: Any) -> Report:
    return run(parse_case({"id": "x", "scenario": "wrapper", "given": {"approval": "exec", **given}}, "x"))


def shown(kind: Kind, report: Report, **parts: Any) -> list[str]:
    """The kinds of the rows that speak against an invariant, each with its number."""
    rows = against(Invariant(kind=kind, says="…", **parts), report)
    return [f"{row} {report.ledger[row - 1].kind_name()}" for row in rows]


APPROVED = played(mode="always-ask", args={"bed": 4}, choices=["Approve"])
REFUSED = played(mode="always-ask", args={"bed": 4}, choices=["Deny"])
SILENT = played(mode="yolo", args={"bed": 4})
REVISED = played(mode="yolo", args={"bed": 4}, handlers=[{"revise": {"bed": 9}}])
DENIED = played(mode="yolo", args={"bed": 4}, userPolicies={"seed_note": "deny"})
TWICE = played(mode="always-ask", args={"bed": 4}, choices=["Approve", "Deny"], repeat=2)


def with_rows(report: Report, *extra: tuple[int, Struct]) -> Report:
    """A ledger that this host never writes, with events put in before those rows (from 1)."""
    ledger, events = Ledger(), list(report.ledger)
    for row, event in sorted(extra, key=lambda one: -one[0]):
        events.insert(row - 1, event)
    for event in events:
        ledger.append(event)
    (call,) = report.calls
    return replace(report, ledger=ledger, calls=(replace(call, end=len(events)),))


def test_never_is_broken_by_an_effect_of_just_those_calls() -> None:
    """By tool, by the whole input, and by some of its fields; what ran is what counts, not what was asked for."""
    assert shown(Kind.NEVER, APPROVED, of=NOTE) == ["10 execute"]
    assert shown(Kind.NEVER, REFUSED, of=NOTE) == []
    assert shown(Kind.NEVER, APPROVED, of=(Which(tool="seed_slot"),)) == []
    assert shown(Kind.NEVER, APPROVED, of=(Which(tool="seed_note", input={"bed": 4}),)) == ["10 execute"]
    assert shown(Kind.NEVER, APPROVED, of=(Which(tool="seed_note", input={"bed": 4, "x": 1}),)) == []
    assert shown(Kind.NEVER, APPROVED, of=(Which(tool="seed_note", has={}),), but=NOTE) == []
    assert shown(Kind.NEVER, REVISED, of=(Which(tool="seed_note", has={"bed": 9}),)) == ["7 execute"]
    assert shown(Kind.NEVER, REVISED, of=(Which(tool="seed_note", has={"bed": 4}),)) == []


def test_runs_is_broken_by_a_call_that_did_not() -> None:
    """Shown at the row where it began; of a call that ran, nothing speaks against it."""
    assert shown(Kind.RUNS, REFUSED, of=NOTE) == ["1 call_started"]
    assert shown(Kind.RUNS, DENIED, of=NOTE) == ["1 call_started"]
    assert shown(Kind.RUNS, APPROVED, of=NOTE) == []
    assert shown(Kind.RUNS, REFUSED, of=(Which(tool="seed_slot"),)) == []


def test_unchanged_is_broken_by_a_call_that_ran_with_something_else() -> None:
    """What is excepted may change."""
    assert shown(Kind.UNCHANGED, REVISED) == ["7 execute"]
    assert shown(Kind.UNCHANGED, REVISED, but=(Which(tool="seed_note", has={"bed": 4}),)) == []
    assert shown(Kind.UNCHANGED, APPROVED) == []


def test_unasked_is_broken_by_a_question() -> None:
    """An approval question, whatever was answered; a handler's own is none."""
    assert shown(Kind.UNASKED, REFUSED) == ["7 question_asked"]
    assert shown(Kind.UNASKED, SILENT) == []
    own = played(mode="yolo", handlers=[{"asks": "Open?"}], choices=[True])
    assert shown(Kind.UNASKED, own) == []


def test_a_yes_first_is_broken_by_an_effect_without_one() -> None:
    """One yes is for one call: a yes in an earlier call does not count for a later one."""
    assert shown(Kind.YES_FIRST, SILENT) == ["6 execute"]
    assert shown(Kind.YES_FIRST, APPROVED) == []
    assert shown(Kind.YES_FIRST, TWICE) == []
    both = played(mode="always-ask", choices=["Approve"], repeat=2, userPolicies={"seed_note": "allow"})
    assert shown(Kind.YES_FIRST, both) == ["6 execute", "14 execute"]


@pytest.mark.parametrize(
    ("says", "after_ms", "broken"),
    [
        ("Approve", 60_000, []),
        ("Approve", 60_001, ["11 execute"]),
        ("approve", 0, ["11 execute"]),
        (True, 0, ["11 execute"]),
        (None, 0, ["11 execute"]),
    ],
)
def test_a_person_first_is_broken_by_an_effect_without_their_own_yes_in_time(
    says: Any, after_ms: int, broken: list[str]
) -> None:
    """The label letter by letter, and the clock to the millisecond."""
    report = with_rows(APPROVED, (8, PersonReplied(at_ms=0, answer=says, after_ms=after_ms)))

    assert shown(Kind.PERSON_FIRST, report) == broken


def test_a_person_who_was_not_asked_said_nothing() -> None:
    """An Approve that came from somewhere else is no person's."""
    assert shown(Kind.PERSON_FIRST, APPROVED) == ["10 execute"]


def test_what_this_host_never_does_would_be_found() -> None:
    """Two questions in one call, an effect after a deny, an effect without consent: in ledgers made by hand."""
    asked = QuestionAsked(at_ms=0, question_id="q-9", kind=DialogKind.SELECT, title="t", options=APPROVAL_OPTIONS)
    confirm = QuestionAsked(at_ms=0, question_id="q-9", kind=DialogKind.CONFIRM, title="t")
    execute = SILENT.ledger[5]
    refused_answer = UiSelect(at_ms=0, options=APPROVAL_OPTIONS, choice="Deny")

    assert shown(Kind.ONE_QUESTION, with_rows(APPROVED, (9, asked))) == ["9 question_asked"]
    assert shown(Kind.ONE_QUESTION, with_rows(APPROVED, (9, confirm))) == []
    assert shown(Kind.DENY_HOLDS, with_rows(DENIED, (3, execute))) == ["3 execute"]
    assert shown(Kind.DENY_HOLDS, with_rows(DENIED, (2, execute))) == []
    assert shown(Kind.CONSENT, with_rows(REFUSED, (9, execute))) == ["9 execute"]
    assert shown(Kind.CONSENT, with_rows(SILENT, (5, execute), (5, refused_answer))) == ["6 execute"]


def test_each_gate_of_a_dispatch_may_ask_once() -> None:
    """Two gates, two questions, and neither of them twice."""
    given = {"args": {"action": "publish"}, "mode": "write", "choices": ["Approve", "Approve"]}
    policies = {"userPolicies": {"seed_slot": "prompt", "write": "prompt"}}
    report = run(parse_case({"id": "x", "scenario": "dispatch", "given": given | policies}, "x"))

    assert report.observed["prompts"] == 2
    assert shown(Kind.ONE_QUESTION, report) == []


CASES = [
    case
    for path in case_files()
    for case in parse_file(path.read_bytes(), path.name).cases
    if isinstance(case, WrapperCase | DispatchCase | LoopCase)
]


def test_there_are_many_cases_to_hold_this_host_to() -> None:
    """A property of nothing would hold."""
    assert len(CASES) > 80


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_call_of_every_case_keeps_what_always_holds(case: WrapperCase | DispatchCase | LoopCase) -> None:
    """No effect without an exact Approve or a rule that allows it, no deny overturned, one question a gate."""
    report = run(case)

    assert [(one.says, rows) for one in ALWAYS if (rows := against(one, report))] == []
