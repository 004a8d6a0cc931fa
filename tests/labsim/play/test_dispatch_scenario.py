"""The `dispatch` scenario: the seeds, the recorded answers, live plays, and cases that are hardly meant."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from dispatch_kit import INSPECT, SLOT_SCHEMA, dispatch, nobody, observed, played
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from places import TOP

from labsim.call.nesting import Nesting, nested
from labsim.describe.ledger import describe, ledger_lines
from labsim.errors import CaseError, HostError
from labsim.events.call import ApprovalResolved, Execute, PreviewWait, PromptDecided
from labsim.events.event import as_mapping
from labsim.play.performance import run, start
from labsim.proof.recordings import read_lines
from labsim.proof.replay import as_recorded, replay
from labsim.reading.reading import parse_case, parse_file
from labsim.rpc.events import FrameSent
from labsim.terms import Tier

RECORDED = TOP / "fixtures" / "recorded" / "dispatch.jsonl.gz"
REVISED = {"action": "publish", "note": "Revised fictional card"}


# dispatch/D-52


@pytest.mark.parametrize(
    ("given_case", "expected"),
    [
        pytest.param(
            {"args": {"action": "inspect"}, "mode": "always-ask", "ui": False},
            {"outcome": "return", "effects": 1, "prompts": 0, "toolCalls": 2, "tier": "read"},
            id="dispatch/G7 inspect-no-ui",
        ),
        pytest.param(
            {"args": {"action": "reserve"}, "mode": "always-ask", "choices": ["Approve"]},
            {"outcome": "return", "effects": 1, "prompts": 1, "toolCalls": 2, "tier": "write"},
            id="wrapper/W-21 reserve-once",
        ),
        pytest.param(
            {"args": {"action": "inspect"}, "mode": "yolo", "userPolicies": {"write": "deny"}},
            {"outcome": "throw", "effects": 0, "prompts": 0, "toolCalls": 0},
            id="approval/A-24 fallback-deny",
        ),
        pytest.param(
            {
                "args": {"action": "publish"},
                "mode": "always-ask",
                "ui": False,
                "userPolicies": {"seed_slot": "allow", "write": "deny"},
            },
            {"outcome": "return", "effects": 1, "prompts": 0, "toolCalls": 2, "tier": "exec"},
            id="approval/A-27 specific-allow",
        ),
        pytest.param(
            {
                "args": {"action": "reserve"},
                "mode": "yolo",
                "userPolicies": {"seed_slot": "prompt"},
                "choices": ["Approve", "Approve"],
            },
            {"outcome": "return", "effects": 1, "prompts": 2, "toolCalls": 2, "tier": "write"},
            id="wrapper/W-22 explicit-prompt-twice",
        ),
        pytest.param(
            {"args": {"action": "blocked"}, "mode": "yolo"},
            {"outcome": "error-result", "effects": 0, "prompts": 0, "toolCalls": 1, "tier": "exec"},
            id="dispatch/D-7 dispatch/D-20 inner-tool-deny",
        ),
        pytest.param(
            {"args": {"action": "inspect"}, "revise": REVISED, "mode": "always-ask", "choices": ["Approve"]},
            {"outcome": "return", "effects": 1, "prompts": 1, "toolCalls": 2, "tier": "exec"},
            id="wrapper/W-21 dispatch/D-20 rewrite-prompts",
        ),
        pytest.param(
            {"args": {"action": "inspect"}, "revise": {"action": "blocked"}, "mode": "yolo"},
            {"outcome": "error-result", "effects": 0, "prompts": 0, "toolCalls": 2, "tier": "exec"},
            id="dispatch/D-20 rewrite-denies",
        ),
        pytest.param(
            {"content": "{not-json", "mode": "yolo"},
            {"outcome": "error-result", "effects": 0, "prompts": 0, "toolCalls": 1},
            id="dispatch/G5 dispatch/D-27 malformed-json",
        ),
    ],
)
def test_the_seed_cases_come_out_as_the_table_says(given_case: dict[str, Any], expected: dict[str, Any]):
    """dispatch/D-52: outcome, effects, prompts, tool calls and tier of each; a tier of none is not observed."""
    assert observed(played(**given_case), "outcome", "effects", "prompts", "toolCalls", "tier") == expected


@pytest.mark.parametrize(
    ("action", "tier", "ends"),
    [
        ("inspect", "read", "return"),
        ("reserve", "write", "return"),
        ("publish", "exec", "return"),
        ("blocked", "exec", "error-result"),
    ],
)
def test_the_teaching_device_declares_by_action(action: str, tier: str, ends: str):
    """dispatch/D-52."""
    assert observed(played(args={"action": action}, mode="yolo"), "tier", "outcome") == {
        "tier": tier,
        "outcome": ends,
    }


def test_any_other_action_is_exec_where_the_schema_lets_it_through():
    """dispatch/D-52 and dispatch/D-53: the device's own schema does not."""
    opened = played(args={"action": "water"}, schema="open", mode="yolo")
    closed = played(args={"action": "water"}, mode="yolo")

    assert observed(opened, "outcome", "tier") == {"outcome": "return", "tier": "exec"}
    assert observed(closed, "outcome", "tier") == {"outcome": "error-result"}


def test_revise_applies_to_the_inner_device_only():
    """dispatch/D-52: and a handler can ask for the other tool, or for both."""
    inner = played(args={"action": "inspect"}, revise=REVISED, mode="yolo")
    outer = played(
        args={"action": "inspect"},
        handlers=[{"tool": "write", "revise": {"path": "xd://nope", "content": "{}"}}],
        mode="yolo",
    )
    both = played(args={"action": "inspect"}, handlers=[{"tool": "*", "block": True, "reason": "no"}], mode="yolo")

    assert inner.observed["input"] == REVISED
    assert outer.observed["error"].startswith("No such tool: xd://nope.")
    assert observed(both, "outcome", "toolCalls") == {"outcome": "throw", "toolCalls": 1}


# The recordings


@pytest.mark.slow
def test_every_recorded_dispatch_agrees_in_every_field():
    """The whole sample, key for key: outcomes, texts, events, prompts, records and files."""
    tally = replay(read_lines(RECORDED), RECORDED.name)

    assert (tally.problems, tally.cases, tally.match) == ([], 855, 855)


def test_the_record_stands_beside_the_result_as_in_the_recordings():
    """README, "Observed": `xdev` is no part of the result's details there; other details stay."""
    shown = as_recorded(played(args={"action": "inspect"}, mode="yolo"))["calls"][0]
    file = as_recorded(played(path="card.txt", content="a card", mode="yolo"))

    assert shown["result"] == {"content": "inert"}
    assert shown["xdev"] == {
        "tool": "seed_slot",
        "mode": "execute",
        "args": {"action": "inspect"},
        "tier": "read",
        "inner": {"entry": 1},
    }
    assert file["filesWritten"] == ["card.txt"]
    assert file["calls"][0]["result"]["details"] == {"resolvedPath": "<tmp>/cwd/card.txt"}
    assert "xdev" not in file["calls"][0]


def test_a_device_wrapped_at_the_dispatch_plays_as_one_wrapped_before():
    """README, `decorate`: the same events either way."""
    wrapped, decorated = (
        played(args={"action": "publish"}, mode="always-ask", choices=["Approve"], decorate=decorate)
        for decorate in (False, True)
    )

    assert list(map(as_mapping, wrapped.ledger)) == list(map(as_mapping, decorated.ledger))


# Live


TWICE = {"args": {"action": "reserve"}, "mode": "yolo", "userPolicies": {"seed_slot": "prompt"}}


def test_a_person_goes_through_both_gates():
    """A live play waits at each gate, and shows the same as the scripted one."""
    live = start(dispatch(TWICE), nobody)
    titles = [question.title for question in live.report().questions]
    assert titles == ['Allow tool: write\nPath: xd://seed_slot\nContent:\n{"action":"reserve"}']
    assert "outcome" not in live.report().observed

    live.reply("q-1", "Approve")
    assert [question.title for question in live.report().questions] == [
        'Allow tool: seed_slot\nInput: {"action":"reserve"}'
    ]
    live.reply("q-2", "Approve")

    scripted = run(dispatch({**TWICE, "choices": ["Approve", "Approve"]}))
    assert live.report().finished
    assert live.report().observed == scripted.observed
    assert list(map(as_mapping, live.report().ledger)) == list(map(as_mapping, scripted.ledger))


@pytest.mark.parametrize(
    ("approved", "prompts"), [({"action": "reserve"}, 1), ({"action": "publish"}, 2), (UNSET, 2)]
)
def test_what_a_client_approved_is_known_at_the_inner_gate_too(approved: Any, prompts: int):
    """dispatch/D-16 and wrapper/W-23: the inner call has a copy of the context, with what a client approved."""
    given_case = {
        "args": {"action": "reserve"},
        "mode": "always-ask",
        "userPolicies": {"seed_slot": "prompt"},
        "choices": ["Approve", "Approve"],
    }
    report = played(**given_case, **({} if approved is UNSET else {"acpApprovedArgs": approved}))

    assert observed(report, "prompts", "effects", "outcome") == {
        "prompts": prompts,
        "effects": 1,
        "outcome": "return",
    }


def test_dismissing_the_inner_question_is_an_error_result():
    """dispatch/D-28: Escape at the second gate refuses inside the dispatch."""
    live = start(dispatch(TWICE), nobody)
    live.reply("q-1", "Approve")
    live.dismiss("q-2")

    assert observed(live.report(), "outcome", "error", "effects") == {
        "outcome": "error-result",
        "error": "Tool call denied by user: seed_slot",
        "effects": 0,
    }


def test_a_dialog_that_breaks_at_the_second_gate_is_an_error_result():
    """dispatch/D-28 and wrapper/W-33: what the dialog broke with is the text of the result and the reason."""
    live = start(dispatch(TWICE), nobody)
    live.reply("q-1", "Approve")
    live.fail("q-2", HostError("gone"))
    report = live.report()

    assert observed(report, "outcome", "error") == {"outcome": "error-result", "error": "gone"}
    assert [
        (event.tool_name, event.approved, event.reason)
        for event in report.ledger
        if isinstance(event, ApprovalResolved)
    ] == [("write", True, UNSET), ("seed_slot", False, "gone")]


@pytest.mark.parametrize("live", [False, True])
def test_both_prompts_can_go_to_a_client_over_rpc(live: bool):
    """wrapper/W-80: the same two questions, as frames; `rpcRequests` counts them."""
    case = dispatch({**TWICE, "ui": "rpc", "choices": [] if live else ["Approve", "Approve"]})
    if live:
        performance = start(case, nobody)
        performance.reply("q-1", "Approve")
        performance.reply("q-2", "Approve")
        report = performance.report()
    else:
        report = run(case)

    assert observed(report, "outcome", "rpcRequests", "prompts") == {
        "outcome": "return",
        "rpcRequests": 2,
        "prompts": 2,
    }
    assert [event.frame["method"] for event in report.ledger if isinstance(event, FrameSent)] == [
        "select",
        "select",
    ]


def test_only_the_outer_call_waits_for_its_preview():
    """wrapper/W-27: the list of calls names `write`, so the device's call is not the scheduled one."""
    report = played(
        args={"action": "reserve"},
        mode="yolo",
        userPolicies={"seed_slot": "prompt"},
        choices=["Approve", "Approve"],
        preview="match",
    )
    placed = [step for step in nested(report.ledger) if isinstance(step.event, PreviewWait)]

    assert [step.nesting for step in placed] == [Nesting.OUTER]


def test_a_tier_callback_of_the_caller_hears_the_outer_gate_only():
    """wrapper/step-6 and dispatch/step-6: the dispatch puts its own callback into the copy."""
    report = played(args={"action": "publish"}, mode="yolo", reportTier=True)

    assert [
        (event.kind_name(), event.tier) for event in report.ledger if event.kind_name().endswith("tier_resolved")
    ] == [("tier_resolved", Tier.EXEC)]


# Cases


@pytest.mark.parametrize(
    ("given_case", "message"),
    [
        (
            {},
            'x: given: nothing is written. Use "args" for what is written as JSON, or "content" for text as it is.',
        ),
        (
            {"args": {}, "content": ""},
            "x: given: both args and content are given. "
            'Use "args" for what is written as JSON, or "content" for text as it is.',
        ),
        ({"args": {}, "adress": "xd://a"}, "x: given: the key 'adress' is not known here."),
        ({"content": 5}, "x: given.content: 5 is a whole number. Use text."),
        ({"args": {}, "schema": "closed"}, "x: given.schema: "),
        ({"args": {}, "schema": {"type": "integr"}}, 'x: given.schema.type: "integr" is not allowed here.'),
        (
            {"args": {}, "path": "xd://seed\u0000"},
            "x: given.path: ",
        ),
        ({"args": {}, "mode": "yollo"}, "x: given.mode: "),
        ({"args": {}, "approval": {"fn": "seed"}}, "x: given.approval.fn: "),
        ({"args": {}, "staged": {}}, "x: given.staged: the key 'label' is missing."),
        (
            {"args": {}, "staged": {"label": "beds", "fail": "x"}},
            "x: given.staged: the key 'fail' is not known here.",
        ),
    ],
)
def test_a_case_that_is_hardly_meant_is_refused_with_its_place(given_case: dict[str, Any], message: str):
    """A CaseError, one line, and nothing is played."""
    with pytest.raises(CaseError) as caught:
        parse_case({"id": "c", "scenario": "dispatch", "given": given_case}, "x")

    assert "\n" not in str(caught.value)
    assert str(caught.value).replace("x.given", "x: given").startswith(message)


def test_a_path_with_a_control_character_can_be_meant():
    """`unusual` lets a case teach what such an address does: it names no device, and nothing is executed."""
    raw = {
        "id": "c",
        "scenario": "dispatch",
        "unusual": ["given.path"],
        "given": {"args": {"action": "inspect"}, "path": "xd://seed\u0000slot", "mode": "yolo"},
    }
    report = run(parse_case(raw, "x"))

    assert observed(report, "outcome", "effects") == {"outcome": "error-result", "effects": 0}
    assert report.observed["error"].startswith("No such tool: xd://seed\u0000slot. ")
    assert all(line.isprintable() for line in ledger_lines(report))


def test_a_file_of_cases_can_hold_dispatches():
    """The decoder knows the scenario; claims about the tier are compared."""
    raw = {
        "schemaVersion": 1,
        "id": "mine",
        "cases": [
            {
                "id": "dispatch-mine",
                "scenario": "dispatch",
                "given": {"args": {"action": "inspect"}, "mode": "yolo"},
                "expected": {"outcome": "return", "tier": "read"},
            }
        ],
    }
    file = parse_file(msgspec.json.encode(raw), "mine.json")

    assert run(file.cases[0]).matches is True


def test_an_own_schema_is_used_for_docs_and_validation():
    """`schema` of a case is the device's."""
    schema = {"type": "object", "properties": {"bed": {"type": "integer"}}, "required": ["bed"]}
    docs = played(content="?", schema=schema, mode="yolo").calls[0].result
    report = played(content='{"bed":"3"}', schema=schema, approval="read", mode="yolo")

    assert docs is not None
    assert "type Args = {\n  bed: number;\n};" in docs.content[0].text
    assert report.observed["input"] == {"bed": 3}


# For any case


CONTENTS = st.sampled_from(
    [INSPECT, '{"action":"publish"}', '{"action":"blocked"}', "?", "{", "[]", '{"action":5}']
)
GIVEN = st.fixed_dictionaries(
    {
        "content": CONTENTS,
        "mode": st.sampled_from(["always-ask", "write", "yolo"]),
        "path": st.sampled_from(["xd://seed_slot", " xd://seed_slot", "xd://", "xd://nope", "card.txt", "xd:/x"]),
        "choices": st.lists(st.sampled_from(["Approve", "Deny", None]), max_size=4),
    },
    optional={
        "userPolicies": st.dictionaries(
            st.sampled_from(["write", "seed_slot"]), st.sampled_from(["allow", "deny", "prompt"])
        ),
        "revise": st.sampled_from([{"action": "inspect"}, {"action": "blocked"}, REVISED]),
        "mounted": st.booleans(),
        "noXdev": st.booleans(),
        "decorate": st.booleans(),
        "schema": st.sampled_from(["open", SLOT_SCHEMA]),
        "repeat": st.sampled_from([1, 2]),
        "executor": st.sampled_from(["error-result", {"throw": "jammed"}]),
    },
)


@pytest.mark.slow
@given(GIVEN)
def test_any_case_plays_the_same_twice_and_can_be_written_out(given_case: dict[str, Any]):
    """Deterministic; every event is JSON and has a line of words; effects are counted executor entries."""
    first, second = played(**given_case), played(**given_case)
    ledger = [as_mapping(event) for event in first.ledger]

    assert ledger == [as_mapping(event) for event in second.ledger]
    assert msgspec.json.decode(msgspec.json.encode(ledger)) == ledger
    assert all(describe(event).isprintable() for event in first.ledger)
    assert first.finished
    assert first.observed["effects"] == sum(isinstance(event, Execute) for event in first.ledger)
    assert all(call.outcome is not None for call in first.calls)
    assert first.observed.get("tier", UNSET) in {UNSET, *Tier}


@given(GIVEN)
def test_an_effect_needs_two_gates_that_let_it_pass(given_case: dict[str, Any]):
    """dispatch/D-7 and dispatch/D-16: no executor entry without both wrappers having decided, in this order, under
    one call id.
    """
    placed = nested(played(**given_case).ledger)

    decided: dict[str, set[Nesting | None]] = {}
    for step in placed:
        if isinstance(step.event, PromptDecided):
            decided.setdefault(step.event.tool_call_id, set()).add(step.nesting)
        if isinstance(step.event, Execute):
            assert step.nesting is Nesting.INNER
            assert decided[step.event.tool_call_id] == {Nesting.OUTER, Nesting.INNER}
