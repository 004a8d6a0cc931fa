"""Whose a gate is, and who shares what with a session (gate/O19, gate/R24)."""

from __future__ import annotations

import pytest
from gate_kit import (
    ALLOWS,
    DENIES,
    W2_FILES,
    CountingGate,
    Scripted,
    World,
    always,
    rule,
    use,
)

from labsim.errors import AbortError, HostError
from labsim.gate.approvers import AllowAll
from labsim.gate.base.request import ApprovalDecision
from labsim.gate.events import (
    CallMade,
)
from labsim.gate.gates import ApprovalGate, DenyAllGate
from labsim.gate.rules.rules import RuleAddress, RuleKey, RuleScope
from labsim.stage.stage import AbortSignal

FOR_SESSION = ApprovalDecision.ALLOW_FOR_SESSION


def test_a_session_gate_is_for_that_session_only():
    """gate/O19: it replaces the runtime's and does not stack on it; siblings keep theirs."""
    runtimes, own = CountingGate(always(ALLOWS)), CountingGate(always(DENIES))
    world = World(gate=runtimes)
    one, other = world.runtime.attach("one"), world.runtime.attach("other")
    one.install_gate(own)

    assert world.play(one, [use("files")]) == ("Tool execution denied: no",)
    assert world.play(other, [use("files")]) == ("files done",)
    assert (len(own.requests), len(runtimes.requests)) == (1, 1)


def test_a_gate_with_a_state_governs_each_call():
    """It is asked anew for every call."""
    answers = iter([ALLOWS, DENIES, ALLOWS])
    world = World(gate=CountingGate(lambda request: next(answers)))

    assert world.play(world.runtime.attach("a"), *([use("files", call_id=f"c{n}")] for n in range(3))) == (
        "files done",
        "Tool execution denied: no",
        "files done",
    )


def test_a_subagent_inherits_the_gate_of_when_it_was_spawned():
    """gate/O19: children spawned afterwards have it; those already there keep theirs."""
    world = World()
    session = world.runtime.attach("parent")
    early = session.spawn_child("early")
    session.install_gate(DenyAllGate())
    late = session.spawn_child("late")

    read = world.play(
        session,
        [use("files", agent="early")],
        [use("files", call_id="c2", agent="late")],
        [use("files", call_id="c3")],
        approver=AllowAll(),
    )

    refusal = f"Tool execution denied: {W2_FILES}"
    assert read == ("files done", refusal, refusal)
    assert (type(early.gate), type(late.gate)) == (ApprovalGate, DenyAllGate)


def test_a_yes_for_the_session_covers_its_subagents():
    """gate/R24: they go through the session's own rules and stream."""
    world = World()
    session = world.runtime.attach("parent")
    session.spawn_child("child")

    world.play(
        session,
        [use("files")],
        [use("files", {"other": 1}, "c2", agent="child")],
        approver=Scripted(FOR_SESSION),
    )

    assert world.decided == [(True, "approver"), (True, "rule")]
    assert world.asked == 1
    assert [event.agent_id for event in world.seen(CallMade)] == ["parent", "child"]


def test_a_subagent_that_was_never_spawned_cannot_call():
    """gate/R24."""
    world = World()

    with pytest.raises(HostError, match="the session of a has no subagent b"):
        world.play(world.runtime.attach("a"), [use("files", agent="b")])


def test_a_resumed_session_needs_its_gate_attached_again():
    """gate/O19: it is not persisted."""
    world = World()
    world.runtime.attach("a").install_gate(DenyAllGate())

    assert isinstance(world.runtime.resume("a").gate, ApprovalGate)


def test_a_call_by_itself_ends_with_the_turn():
    """gate/V4: a caller that gave up gets no result."""
    world = World()
    signal = AbortSignal(world.stage)
    task = world.stage.spawn(world.runtime.attach("a").call(use("files"), signal))

    signal.abort()

    with pytest.raises(AbortError, match="the turn was cancelled"):
        task.result()


def test_rules_are_revoked_by_exact_address():
    """gate/R20: a revoked rule is asked about again; the same key elsewhere stays."""
    world = World()
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", True, RuleScope.PROCESS))
    session.permissions.remember(rule("files", False, RuleScope.GLOBAL))

    assert session.permissions.revoke(RuleAddress(RuleScope.PROCESS, RuleKey("files")))
    assert not session.permissions.revoke(RuleAddress(RuleScope.PROCESS, RuleKey("files")))
    assert session.permissions.rules() == (rule("files", False, RuleScope.GLOBAL),)
