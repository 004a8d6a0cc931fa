"""What remembered rules are for, and what they are no match for (gate/G1 to gate/G9, gate/R8 to gate/R24)."""

from __future__ import annotations

import pytest
from gate_kit import DENIES, CountingGate, Scripted, World, always, rule, use

from labsim.gate.approvers import AllowAll, DenyAll
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision
from labsim.gate.gates import DenyAllGate
from labsim.gate.policy import ApprovalPolicy, fixed_posture
from labsim.gate.rules.rules import RuleScope
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore
from labsim.stage.ui import InertUI

PROCESS = RuleScope.PROCESS
MAC = '*"target":"mac"*'
REMEMBERED = " — remembered from an earlier refusal, so asking again will not change it"


def test_a_remembered_refusal_is_asked_about_once_and_says_why():
    """gate/W5."""
    world = World()
    approver = Scripted(ApprovalAnswer(ApprovalDecision.DENY_FOR_SESSION, "no writes here"))

    read = world.play(world.runtime.attach("a"), [use("files")], [use("files", {"x": 1}, "c2")], approver=approver)

    assert read[1] == "Tool execution denied: no writes here" + REMEMBERED
    assert world.asked == 1


def test_a_bare_rule_covers_both_modes_of_a_tool():
    """gate/A3: it is about the name, whatever the call reaches."""
    world = World()

    world.play(
        world.runtime.attach("a"),
        [use("spawn", {"task": "count"})],
        [use("spawn", {"command": "count"}, "c2")],
        approver=Scripted(ApprovalDecision.ALLOW_FOR_SESSION),
    )

    assert world.decided == [(True, "approver"), (True, "rule")]


def test_a_pattern_is_an_allowlist_over_a_refusing_approver():
    """It lets one target through, and leaves the rest to whoever decides."""
    world = World()
    session = world.runtime.attach("a")
    session.permissions.remember(rule("spawn", True, PROCESS, MAC))

    world.play(
        session,
        [use("spawn", {"command": "b", "cwd": "/home/desk", "target": "mac"})],
        [use("spawn", {"command": "b", "cwd": "/home/desk", "target": "linux"}, "c2")],
        approver=DenyAll(),
    )

    assert world.decided == [(True, "rule"), (False, "approver")]


@pytest.mark.parametrize(
    ("policy", "decided"), [(ApprovalPolicy.NEVER, (False, "gate")), (ApprovalPolicy.ALWAYS, (True, "rule"))]
)
def test_a_global_allow_meets_a_fixed_posture(policy: ApprovalPolicy, decided: tuple[bool, str]):
    """gate/G9: `never` is final, so nothing is written; under `always` it is, with no request at all."""
    world = World()
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", True))
    approver, gate = fixed_posture(policy, InertUI())
    if gate is not None:
        session.install_gate(gate)

    world.play(session, [use("files")], approver=approver)

    assert (world.decided, world.requested) == ([decided], [])


def test_a_refusing_approver_alone_is_no_refusal():
    """gate/G5: the remembered allow answers ahead of it; with the gate beside it, nothing does."""
    decided = []
    for gate in (None, DenyAllGate()):
        world = World()
        session = world.runtime.attach("a")
        session.permissions.remember(rule("files", True))
        if gate is not None:
            session.install_gate(gate)
        world.play(session, [use("files")], approver=DenyAll())
        decided += world.decided

    assert decided == [(True, "rule"), (False, "gate")]


@pytest.mark.parametrize("allow", [True, False])
def test_a_rule_on_a_read_is_never_consulted(allow: bool):
    """gate/G7, gate/R23: silently; the seeded deny too, and a refusing gate and approver beside it."""
    world = World(gate=DenyAllGate())
    session = world.runtime.attach("a")
    session.permissions.remember(rule("look", allow))

    assert world.play(session, [use("look")], approver=DenyAll()) == ("look done",)
    assert (world.decided, world.requested) == ([(True, "gate")], [])


def test_a_store_that_cannot_be_read_denies_without_asking():
    """gate/R18: fail closed, with the store's own words."""
    world = World(store=FailingRuleStore(MemoryRuleStore(), lambda operation: "the rules file is damaged"))

    assert world.play(world.runtime.attach("a"), [use("files")], approver=AllowAll()) == (
        "Tool execution denied: the rules file is damaged",
    )
    assert (world.requested, world.decided) == ([], [(False, "error")])


def test_a_deny_of_the_gate_is_not_a_rule():
    """gate/once: a standing refusal remembers nothing."""
    world = World(gate=CountingGate(always(DENIES)))
    session = world.runtime.attach("a")

    world.play(session, [use("files")])

    assert session.permissions.rules() == ()
