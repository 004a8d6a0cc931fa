"""The outer gate of `write`: what it declares (dispatch/G1 to dispatch/G11), and what follows from that
(dispatch/D-7 to dispatch/D-13).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from dispatch_kit import INSPECT, PUBLISH, Desk, observed, played, slot_tool
from hypothesis import given
from hypothesis import strategies as st

from labsim.approval import Resolution
from labsim.dispatch.devices import DeviceState
from labsim.dispatch.events import GateDeclared
from labsim.dispatch.gate import Declaration, declaration
from labsim.errors import HostError
from labsim.events.call import CallStarted, PolicyResolved
from labsim.terms import Policy, Rule, Source, Tier

NO_UI = (
    'Tool "write" requires approval but no interactive UI available.\n'
    "Options:\n"
    "  1. Set tools.approvalMode: yolo in /settings\n"
    "  2. Add tools.approval.write: allow to config\n"
    "  3. Use an interactive UI to approve the tool call"
)


def by_action(args: Any) -> Any:
    """A device rule of its own, with a policy, an override and a reason beside the tier."""
    tier = {"inspect": "read", "reserve": "write"}.get(args["action"], "exec")
    return {"tier": tier, "policy": "deny", "override": True, "reason": "shelf"}


def devices(approval: Any = by_action, **more: Any) -> DeviceState:
    state = Desk([slot_tool(approval=approval)], **more).session.devices
    assert state is not None
    return state


def to_slot(content: Any, path: str = "xd://seed_slot") -> dict[str, Any]:
    return {"path": path, "content": content}


KEYED = Declaration("dispatch/G7", Tier.READ, "seed_slot")


@pytest.mark.parametrize(
    ("args", "declared"),
    [
        ({}, Declaration("dispatch/G1", Tier.WRITE)),
        ({"path": None}, Declaration("dispatch/G1", Tier.WRITE)),
        ({"path": 5, "content": INSPECT}, Declaration("dispatch/G1", Tier.WRITE)),
        (None, Declaration("dispatch/G1", Tier.WRITE)),
        (["xd://seed_slot"], Declaration("dispatch/G1", Tier.WRITE)),
        (to_slot("anything", "xd://report_issue"), Declaration("dispatch/G2", Tier.WRITE)),
        (to_slot("yes", "xd://resolve"), Declaration("dispatch/G3", Tier.READ)),
        (to_slot("no", "XD://reject "), Declaration("dispatch/G3", Tier.READ)),
        (to_slot("a plan", "xd://propose"), Declaration("dispatch/G3", Tier.READ)),
        (to_slot(INSPECT, "xd://"), Declaration("dispatch/G4", Tier.EXEC)),
        (to_slot(INSPECT, "xd://nope"), Declaration("dispatch/G4", Tier.EXEC)),
        (to_slot(INSPECT, "xd://Seed_Slot"), Declaration("dispatch/G4", Tier.EXEC)),
        (to_slot(INSPECT, "xd://seed_slot:raw"), Declaration("dispatch/G4", Tier.EXEC)),
        ({"path": "xd://seed_slot"}, Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot(None), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot({"action": "inspect"}), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot("{not-json"), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot(""), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot("?"), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot("help"), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot("[]"), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot("null"), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot('"inspect"'), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot('{"action":NaN}'), Declaration("dispatch/G5", Tier.EXEC)),
        (to_slot("{}"), Declaration("dispatch/G6", Tier.EXEC)),
        (to_slot(INSPECT), KEYED),
        (to_slot(INSPECT, "[xd://seed_slot#ABCD]"), KEYED),
        (to_slot(INSPECT, " xd://seed_slot"), KEYED),
        (to_slot('{"action":"reserve"}'), Declaration("dispatch/G7", Tier.WRITE, "seed_slot")),
        (to_slot(PUBLISH), Declaration("dispatch/G7", Tier.EXEC, "seed_slot")),
        (to_slot("x", "ssh://shelf/card.txt"), Declaration("dispatch/G8", Tier.EXEC)),
        (to_slot("x", "[SSH://shelf/card.txt#ABCD]"), Declaration("dispatch/G8", Tier.EXEC)),
        (to_slot("x", "cards/ssh://shelf"), Declaration("dispatch/G8", Tier.EXEC)),
        (to_slot("x", "card.txt"), Declaration("dispatch/G9", Tier.WRITE)),
        (to_slot("x", "foo://x"), Declaration("dispatch/G9", Tier.WRITE)),
        (to_slot("x", "vault://card"), Declaration("dispatch/G9", Tier.WRITE)),
        (to_slot("x", "skill://seeds"), Declaration("dispatch/G10", Tier.READ)),
        (to_slot(INSPECT, "xd://seed_slot/"), Declaration("dispatch/G11", Tier.WRITE)),
        (to_slot(INSPECT, "xd://seed_slot?x=1"), Declaration("dispatch/G11", Tier.WRITE)),
    ],
)
def test_the_first_matching_row_declares(args: Any, declared: Declaration):
    """dispatch/G1 to dispatch/G11, from top to bottom."""
    assert declaration(args, devices()) == declared


def test_a_session_without_devices_declares_a_bare_exec():
    """dispatch/G4: the special devices keep their own rows, since they need no state (dispatch/D-14)."""
    assert declaration(to_slot(INSPECT), None) == Declaration("dispatch/G4", Tier.EXEC)
    assert declaration(to_slot("yes", "xd://resolve"), None) == Declaration("dispatch/G3", Tier.READ)


def test_a_disabled_device_declares_a_bare_exec():
    """dispatch/G4 and dispatch/D-17: held by the session, but neither mounted nor active."""
    assert declaration(to_slot(INSPECT), devices(mounted=())) == Declaration("dispatch/G4", Tier.EXEC)
    assert declaration(to_slot(INSPECT), devices(mounted=(), active=["seed_slot"])) == KEYED


@pytest.mark.parametrize("error", [HostError("rule"), KeyError("action"), RecursionError()])
def test_a_rule_that_fails_is_taken_for_exec(error: Exception):
    """dispatch/G6: however it fails; the bare tier has no key, so no device policy can open it."""

    def fails(args: Any) -> Any:
        raise error

    assert declaration(to_slot(INSPECT), devices(fails)) == Declaration("dispatch/G6", Tier.EXEC)


@pytest.mark.parametrize(
    ("mode", "policy", "rule"), [("yolo", Policy.ALLOW, Rule.R4B), ("always-ask", Policy.PROMPT, Rule.R9)]
)
def test_only_the_tier_of_the_device_is_borrowed(mode: str, policy: Policy, rule: Rule):
    """dispatch/D-7: its own deny, override and reason are not seen at the outer gate, which resolves by mode.

    A prompt would have the reason that was declared, so one without a reason has borrowed none.
    """
    desk = Desk([slot_tool(approval=by_action)], mode=mode)
    desk.write("xd://seed_slot", PUBLISH)

    outer = [event.resolution for event in desk.seen(PolicyResolved) if event.tool_name == "write"]
    assert (
        outer
        == [
            Resolution(
                policy=policy,
                tier=Tier.EXEC,
                source=Source.MODE,
                rule=rule,
                override=False,
                reason=None,
                policy_key=None,
            )
        ]
        * 2
    )


def test_the_tier_is_that_of_the_raw_object():
    """dispatch/D-8: judged before validation drops an extra key, and before `i` is stripped (dispatch-1455)."""
    seen: list[Any] = []

    def read_if_extra(args: Any) -> str:
        seen.append(dict(args))
        return "read" if "extra" in args else "exec"

    tool = slot_tool(approval=read_if_extra)
    content = '{"action":"publish","extra":1,"i":"why"}'
    Desk([tool], mode="always-ask").result("xd://seed_slot", content)

    assert seen[0] == {"action": "publish", "extra": 1, "i": "why"}
    assert seen[-1] == {"action": "publish"}
    assert tool.execute.inputs == [{"action": "publish"}]


@pytest.mark.parametrize(
    ("content", "policies", "ending"),
    [
        (INSPECT, {"seed_slot": "deny"}, {"outcome": "throw", "toolCalls": 0}),
        ("?", {"seed_slot": "deny"}, {"outcome": "return", "toolCalls": 1}),
        ("{not-json", {"seed_slot": "deny"}, {"outcome": "error-result", "toolCalls": 1}),
        ("?", {"write": "deny"}, {"outcome": "throw", "toolCalls": 0}),
        ("{not-json", {"seed_slot": "allow", "write": "deny"}, {"outcome": "throw", "toolCalls": 0}),
    ],
)
def test_what_carries_no_key_is_judged_by_the_policy_of_write_alone(
    content: str, policies: dict[str, str], ending: dict[str, Any]
):
    """dispatch/D-9 and dispatch/D-10: a device's deny blocks no request for help and no malformed content at the
    outer gate.
    """
    report = played(content=content, mode="yolo", userPolicies=policies, ui=False)

    assert observed(report, "outcome", "toolCalls", "effects") == {**ending, "effects": 0}


@pytest.mark.parametrize("mode", ["always-ask", "write"])
def test_reading_docs_by_writing_asks_for_exec(mode: str):
    """dispatch/D-10: help is no read; without anybody to ask it is refused, even where the device is allowed."""
    report = played(content="?", mode=mode, userPolicies={"seed_slot": "allow"}, ui=False)

    assert observed(report, "outcome", "error", "effects") == {"outcome": "throw", "error": NO_UI, "effects": 0}


def test_allowing_write_lets_an_exec_device_run_unasked():
    """dispatch/D-11: `write: allow` is the fallback of every device without an entry of its own."""
    report = played(args={"action": "publish"}, mode="always-ask", userPolicies={"write": "allow"}, ui=False)

    assert observed(report, "outcome", "effects", "prompts", "tier") == {
        "outcome": "return",
        "effects": 1,
        "prompts": 0,
        "tier": "exec",
    }


def test_the_outer_prompt_shows_path_and_content_as_text():
    """dispatch/D-12: headed by `write`, never with the device's own details."""
    report = played(args={"action": "publish", "note": "n"}, mode="always-ask", choices=["Deny"])

    assert report.observed["promptTexts"] == [
        'Allow tool: write\nPath: xd://seed_slot\nContent:\n{"action":"publish","note":"n"}'
    ]
    assert report.observed["error"] == "Tool call denied by user: write"


@pytest.mark.parametrize(
    ("policies", "named"), [({"seed_slot": "deny"}, "seed_slot"), ({"write": "deny"}, "write")]
)
def test_an_outer_deny_names_the_key_that_supplied_it(policies: dict[str, str], named: str):
    """dispatch/D-13: the device's key before the fallback; either way nothing was emitted."""
    report = played(args={"action": "inspect"}, mode="yolo", userPolicies=policies)

    assert report.observed["error"] == (
        f'Tool "{named}" is blocked by user policy.\nTo allow: remove "tools.approval.{named}: deny" from config.'
    )
    assert report.observed["toolCalls"] == 0


def test_the_device_key_wins_over_the_fallback_in_both_directions():
    """dispatch/G7: `seed_slot: allow` opens what `write: deny` closes, and the other way round."""
    opened = played(args={"action": "publish"}, userPolicies={"seed_slot": "allow", "write": "deny"}, mode="yolo")
    closed = played(args={"action": "inspect"}, userPolicies={"seed_slot": "deny", "write": "allow"}, mode="yolo")

    assert (opened.observed["outcome"], closed.observed["outcome"]) == ("return", "throw")


def test_the_ledger_says_by_which_row_a_call_was_judged():
    """Each resolution of `write` is preceded by the declaration it rests on."""
    report = played(args={"action": "inspect"}, mode="yolo")

    declared = [event for event in report.ledger if isinstance(event, GateDeclared)]
    assert (
        declared
        == [GateDeclared(at_ms=0, tool_name="write", rule="dispatch/G7", tier=Tier.READ, policy_key="seed_slot")]
        * 2
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.text(st.characters(), max_size=60) | JSON.map(json.dumps) | JSON)
def test_the_gate_never_fails_and_falls_to_exec_for_what_it_cannot_read(content: Any):
    """dispatch/G4 to dispatch/G6: a keyed tier is given only to content that is a JSON object."""
    found = declaration(to_slot(content), devices(lambda args: "read"))

    if found.rule == "dispatch/G7":
        assert isinstance(content, str)
        assert isinstance(json.loads(content), dict)
    else:
        assert found == Declaration("dispatch/G5", Tier.EXEC)


@given(st.text(st.characters(), max_size=40))
def test_without_a_person_nothing_unreadable_gets_past_the_gate(content: str):
    """dispatch/G5 and dispatch/D-9: in always-ask with nobody there, malformed content ends at the outer gate."""
    tool = slot_tool()
    desk = Desk([tool], mode="always-ask")
    given_back = desk.write("xd://seed_slot", content)

    if declaration(to_slot(content), desk.session.devices).rule == "dispatch/G5":
        assert isinstance(given_back, HostError)
        assert str(given_back) == NO_UI
        assert [event.tool_name for event in desk.seen(CallStarted)] == ["write"]
    assert tool.execute.calls == [] or isinstance(json.loads(content), dict)
