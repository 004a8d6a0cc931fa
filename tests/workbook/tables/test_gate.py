"""What happened at the second host, as tables and pictures: nothing lost, nothing under the wrong call."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from labsim.case.model import Case
from labsim.library import fixtures_dir
from labsim.play.performance import run, start
from labsim.play.report import Report
from labsim.reading.reading import parse_case, parse_file
from workbook.ledgers.claims import event_kinds, observed_value
from workbook.ledgers.field_rows import kinds_of, rows_of
from workbook.ledgers.played import NothingHappened, placed
from workbook.ledgers.withheld import Withheld
from workbook.pictures.scene import Lane, Stroke, scene
from workbook.show.grid import WIDTH
from workbook.tables.decisions import decisions
from workbook.tables.report import ledger, lifecycle, steps

FILES = [
    parse_file((fixtures_dir() / name).read_bytes(), name) for name in ("gate-desk.json", "gate-desk-more.json")
]
CASES: dict[str, Case] = {case.id: case for file in FILES for case in file.cases if case.scenario == "gate"}


def play(case_id: str) -> Report:
    return run(CASES[case_id])


def made(**given: Any) -> Case:
    tools = [{"name": "edit", "level": "LocalState"}, {"name": "look", "level": "None"}]
    raw = {"id": "made", "scenario": "gate", "given": {"tools": tools, "steps": [{"call": "edit"}], **given}}
    return parse_case(raw, "test")


# ----------------------------------------------------------------------------------------------- which call it is


@pytest.mark.parametrize("case_id", CASES)
def test_every_event_that_names_a_call_is_shown_with_it(case_id: str) -> None:
    """Also where calls of one round overlap, and where an answer comes after its call."""
    for one in placed(play(case_id)):
        assert one.call == getattr(one.event, "tool_call_id", "") or not getattr(one.event, "tool_call_id", "")


def test_a_late_answer_belongs_to_the_call_that_it_was_for() -> None:
    """gate/X4: it comes when that call and the one after it are over."""
    late = [(one.call, one.event.kind_name()) for one in placed(play("gate-timeout-denies-the-call"))][-5:]

    assert late == [
        ("no call", "turn_ended"),
        ("call-1", "approver_answered"),
        ("call-1", "answer_refused"),
        ("call-1", "answer_refused"),
        ("no call", "run_ended"),
    ]


# --------------------------------------------------------------------------------------------------------- tables


def test_a_lifecycle_has_what_whoever_follows_the_session_hears() -> None:
    """gate/V6 and gate/O8: an answer that is remembered says so when it is given, and answers without a trace
    afterwards.
    """
    table = lifecycle(play("gate-for-session-any-input"))

    assert list(zip(table["call"], table["event"], strict=True)) == [
        ("no call", "model_round"),
        ("call-1", "permission_requested"),
        ("call-1", "ui.select"),
        ("call-1", "permission_resolved"),
        ("call-1", "execute"),
        ("call-1", "tool_finished"),
        ("no call", "model_round"),
        ("call-2", "execute"),
        ("call-2", "tool_finished"),
    ]
    assert table["says"][3] == "perm-call-1-0000000000000001 is allowed, remembered for the process"


def test_a_ledger_tells_what_is_heard_from_what_the_host_does_silently() -> None:
    """gate/O17 and gate/D3: without a gate the stream has the round and the result, and no question."""
    table = ledger(play("gate-no-gate"))

    assert [event for event, kind in zip(table["event"], table["kind"], strict=True) if kind == "heard"] == [
        "model_round",
        "execute",
        "tool_finished",
    ]


def test_a_call_that_waits_ends_its_lifecycle_with_the_question() -> None:
    """Played live, with nobody answering yet."""
    waiting = start(made(approver="dialog", choices=["Allow"]), lambda performance, question: None)

    table = lifecycle(waiting)
    waiting.close()

    assert list(table["event"]) == ["model_round", "permission_requested", "waiting"]
    assert table["says"].iloc[-1].startswith("select q-1 is open: edit wants to run")


def test_decisions_have_one_row_a_call_with_who_settled_it() -> None:
    """gate/A9: five calls, five levels, and what the model read of each."""
    table = decisions(play("gate-edits-not-the-network"))

    denied = "Tool execution denied: this run may change this checkout and nothing beyond it"
    assert table.to_numpy().tolist() == [
        ["call-1", "edit_catalog", "LocalState", "yes", "allow", "approver", "inert"],
        ["call-2", "run_script", "Process", "yes", "deny", "approver", denied],
        ["call-3", "publish_list", "External", "yes", "deny", "approver", denied],
        ["call-4", "old_plugin", "unknown", "yes", "deny", "approver", denied],
        ["call-5", "look_up", "None", "no", "allow", "gate", "inert"],
    ]


def test_decisions_of_several_cases_name_their_case() -> None:
    """gate/X5: one that hangs shows a call that nobody settled."""
    table = decisions([play("gate-timeout-does-not-bound-the-run"), play("gate-no-timeout")])

    assert table[["case", "call", "decided", "by"]].to_numpy().tolist() == [
        ["gate-timeout-does-not-bound-the-run", "call-1", "deny", "timeout"],
        ["gate-timeout-does-not-bound-the-run", "call-2", "allow", "gate"],
        ["gate-no-timeout", "call-1", "–", "–"],
    ]
    assert table["the model reads"].iloc[-1] == "waiting for an answer"


def test_a_call_id_that_comes_again_is_another_row() -> None:
    """gate/O10: two calls under one id, and each has its own decision."""
    assert list(decisions(play("gate-call-id-used-twice"))["decided"]) == ["allow", "deny"]


def test_decisions_of_another_host_are_refused_and_withheld_ones_stay_withheld() -> None:
    """A wrapper case has no gate of this kind."""
    wrapper = parse_case({"id": "w", "scenario": "wrapper", "given": {"approval": "read", "args": {}}}, "test")

    with pytest.raises(NothingHappened, match="w: no call of this case goes through the second host's gate"):
        decisions(run(wrapper))
    assert isinstance(decisions([Withheld(["again"]), play("gate-no-gate")]), Withheld)


# ---------------------------------------------------------------------------------------------------------- steps


def happened(case_id: str, call: int = 1) -> list[str]:
    """What became of each of the eleven steps: the kinds of its events, or the words for none."""
    lines = steps(play(case_id), call)["happened"]
    found = [line.split(":")[0].split(" ")[1] if line[0].isdigit() else line for line in lines]
    assert len(found) == 11
    return found


def test_an_asked_call_takes_every_step() -> None:
    """gate/O1: the order of one call, each step with its event."""
    assert happened("gate-asked-once") == [
        "call_made",
        "nothing to do",
        "preview_built",
        "gate_answered",
        "rules_read",
        "permission_requested",
        "approver_asked",
        "permission_resolved",
        "call_decided",
        "execute",
        "tool_finished",
    ]


@pytest.mark.parametrize(
    ("case_id", "call", "passed_over"),
    [
        ("gate-read-not-asked", 1, {5, 6, 7, 8}),  # gate/O6: the gate's allow is final
        ("gate-deny-all-both", 1, {5, 6, 7, 8, 10}),  # and so is its deny
        ("gate-for-session-any-input", 2, {6, 7, 8}),  # gate/O8: the rule answers
        ("gate-hook-refuses", 1, {3, 4, 5, 6, 7, 8, 10}),  # gate/O3: it never comes to the gate
        ("gate-refused-call", 1, {10}),
        ("gate-no-gate", 1, {4, 5, 6, 7, 8}),  # gate/O17
    ],
)
def test_a_step_that_an_earlier_one_made_needless_is_passed_over(
    case_id: str, call: int, passed_over: set[int]
) -> None:
    """The steps by their numbers, as the table shows them."""
    found = happened(case_id, call)

    assert {number for number, words in enumerate(found, start=1) if words == "passed over"} == passed_over


def test_a_call_without_an_end_has_steps_that_are_not_reached_yet() -> None:
    """gate/X5: nobody knows whether they will be."""
    assert happened("gate-no-timeout")[7:] == ["not reached yet"] * 4


@pytest.mark.slow
@pytest.mark.parametrize("case_id", CASES)
def test_every_event_of_a_call_stands_in_one_step(case_id: str) -> None:
    """None is lost, and none stands twice."""
    report = play(case_id)
    for call in dict.fromkeys(made.tool_call_id for made in report.calls):
        numbers = [one.number for one in placed(report, call)]
        shown = [
            int(line.split(" ")[0])
            for cell in steps(report, call)["happened"]
            for line in cell.split("\n")
            if line[0].isdigit()
        ]
        assert sorted(shown) == numbers


# -------------------------------------------------------------------------------------------------------- pictures


def test_the_second_host_has_lanes_of_its_own() -> None:
    """Hooks and a person are drawn where the case has them."""
    assert [label for _, label in scene(play("gate-asked-once")).lanes] == [
        "agent",
        "session",
        "gate",
        "rules",
        "approver",
        "person",
        "tools",
    ]
    assert [label for _, label in scene(play("gate-hook-refuses")).lanes] == [
        "agent",
        "hooks",
        "session",
        "gate",
        "rules",
        "approver",
        "tools",
    ]
    assert (Lane.PERSON, "nobody") in scene(play("gate-no-terminal")).lanes


def test_a_question_goes_from_the_approver_to_the_person_and_the_answer_back() -> None:
    """Who asks here is the approver, and not the session."""
    drawn = {
        message.name: (message.source, message.target, message.stroke)
        for part in scene(play("gate-second-call-asks-again"), "call-2").parts
        for message in part.messages
    }

    assert drawn["approver_asked"] == (Lane.WRAPPER, Lane.APPROVER, Stroke.TELL)
    assert drawn["question_asked"] == (Lane.APPROVER, Lane.PERSON, Stroke.TELL)
    assert drawn["ui.select"] == (Lane.PERSON, Lane.APPROVER, Stroke.ANSWER)
    assert drawn["approver_answered"] == (Lane.APPROVER, Lane.WRAPPER, Stroke.REFUSE)
    assert drawn["tool_finished"] == (Lane.WRAPPER, Lane.CALLER, Stroke.REFUSE)


def test_a_request_that_nobody_carries_never_reaches_the_approver() -> None:
    """gate/X6: behind a parked forwarder the second request is a note of the session, and no arrow."""
    drawn = [
        (message.name.split(" ")[0], message.target)
        for part in scene(play("gate-timeout-holds-up-the-next-request"), "call-2").parts
        for message in part.messages
    ]

    assert ("permission_requested", Lane.WRAPPER) in drawn
    assert Lane.APPROVER not in [target for _, target in drawn]


@pytest.mark.slow
@pytest.mark.parametrize("case_id", CASES)
def test_every_event_is_drawn_once_and_in_order(case_id: str) -> None:
    """The picture is the ledger, and no event of this host is a stranger to it."""
    report = play(case_id)
    messages = [message for part in scene(report).parts for message in part.messages]

    assert [message.number for message in messages] == list(range(1, len(report.ledger) + 1))
    assert max(len(line) for line in repr(lifecycle(report)).split("\n")) <= WIDTH


# ----------------------------------------------------------------------------------------------------- predictions


@pytest.mark.parametrize(
    "field", ["decisions", "decidedBy", "requests", "resolutions", "asked", "runEnded", "rulesLeft"]
)
def test_what_a_checkpoint_says_of_this_host_is_shown_by_rows_of_a_ledger(field: str) -> None:
    """So that a reveal can name the rows that speak against an option."""
    report = play("gate-for-session-revoked")
    kinds = kinds_of(field)

    assert kinds
    assert set(kinds) <= event_kinds()
    rows = [list(report.ledger)[row - 1].kind_name() for row in rows_of(field, report)]
    assert rows
    assert set(rows) <= set(kinds)
    counted = observed_value(field, report)
    if isinstance(counted, int) and not isinstance(counted, bool):
        assert Counter(rows)[kinds[0]] == counted
