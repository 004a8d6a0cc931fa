"""Answering what is open: once, in time, or not at all (gate/V1 to gate/V6)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from gate_kit import (
    Scripted,
    Silent,
    World,
    rule,
    use,
)
from hypothesis import given
from hypothesis import strategies as st

from labsim.gate.base.errors import NoPendingPermission, RuleStoreFailed, RuntimeFailure
from labsim.gate.base.request import ApprovalDecision
from labsim.gate.base.terms import Duration
from labsim.gate.events import (
    CallDecided,
    PermissionResolved,
    RuleRemembered,
)
from labsim.gate.gates import ApprovalGate
from labsim.gate.rules.rules import RuleScope
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore, StoreOperation
from labsim.gate.session.permissions import PermissionDecision
from labsim.stage.stage import AbortSignal

FIRST = "perm-c1-0000000000000001"


def test_a_request_is_resolved_through_the_handle_while_the_turn_runs():
    """gate/V1: rule, event, waiter, in this order."""
    world = World()
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))

    session.permissions.resolve(FIRST, PermissionDecision.allow_and_remember(RuleScope.SESSION))

    assert world.kinds(RuleRemembered, PermissionResolved, CallDecided) == [
        "RuleRemembered",
        "PermissionResolved",
        "CallDecided",
    ]
    assert session.permissions.rules() == (rule("files", True, RuleScope.SESSION),)
    assert world.resolved[0].rule_scope is RuleScope.SESSION


def test_an_unknown_request_cannot_be_resolved():
    """gate/W17."""
    with pytest.raises(NoPendingPermission, match="no pending permission with request_id 'perm-x'"):
        World().runtime.attach("a").permissions.resolve("perm-x", PermissionDecision.allow())


def test_a_request_is_resolved_at_most_once():
    """gate/V3: the second answer finds nothing, and remembers nothing."""
    world = World()
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))
    session.permissions.resolve(FIRST, PermissionDecision.deny())

    with pytest.raises(NoPendingPermission):
        session.permissions.resolve(FIRST, PermissionDecision.allow_and_remember(RuleScope.GLOBAL))

    assert (session.permissions.rules(), world.executed, len(world.resolved)) == ((), [], 1)


def test_a_project_rule_without_a_project_leaves_the_request_open():
    """gate/V1, gate/R5, gate/W18: the scope is checked first, so another answer may follow."""
    world = World()
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))

    with pytest.raises(RuntimeFailure, match="project-scoped permission rules require a project_id"):
        session.permissions.resolve(FIRST, PermissionDecision.allow_and_remember(RuleScope.PROJECT))

    assert session.permissions.open_requests == (FIRST,)
    session.permissions.resolve(FIRST, PermissionDecision.allow())
    assert world.read == ["files done"]


def test_a_rule_that_cannot_be_written_leaves_the_request_open():
    """gate/V2: the error is the caller's, and a retry may succeed."""
    failures = iter(["disk full", None])
    store = FailingRuleStore(
        MemoryRuleStore(), lambda operation: next(failures) if operation is StoreOperation.UPSERT else None
    )
    world = World(store=store)
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))
    decision = PermissionDecision.allow_and_remember(RuleScope.GLOBAL)

    with pytest.raises(RuleStoreFailed, match="disk full"):
        session.permissions.resolve(FIRST, decision)
    assert (session.permissions.open_requests, world.read, world.resolved) == ((FIRST,), [], [])

    session.permissions.resolve(FIRST, decision)
    assert (world.read, session.permissions.rules()) == (["files done"], (rule("files", True),))


@given(
    allowed=st.booleans(),
    scope=st.sampled_from([None, *RuleScope]),
    reason=st.none() | st.text(max_size=8),
    cancelled=st.booleans(),
)
def test_a_late_answer_changes_nothing(allowed: bool, scope: RuleScope | None, reason: str | None, cancelled: bool):
    """gate/V4: after a timeout or a cancelled wait, no answer writes a rule, announces anything or runs the
    tool.
    """
    world = World(gate=ApprovalGate(Duration.seconds(1)))
    session = world.runtime.attach("a", project_id="p")
    signal = AbortSignal(world.stage)
    world.begin(session, [use("files")], [use("look", call_id="c2")], approver=Silent(world.stage), signal=signal)
    if cancelled:
        signal.abort()
    else:
        world.stage.advance(1_000)
    before = list(world.stage.ledger)

    with pytest.raises(NoPendingPermission):
        session.permissions.resolve(FIRST, PermissionDecision(allowed, scope, reason))

    assert list(world.stage.ledger) == before
    assert session.permissions.rules() == ()
    assert "files" not in [name for name, _ in world.shelf]


def test_an_answer_and_the_end_of_the_wait_cannot_both_win():
    """gate/V5: 64 races between threads; what was remembered is what was delivered."""
    outcomes = []
    for _ in range(64):
        world = World()
        session = world.runtime.attach("a")
        signal = AbortSignal(world.stage)
        task = world.begin(
            session, [use("files")], approver=Scripted(ApprovalDecision.DENY, after_ms=9), signal=signal
        )
        start = threading.Barrier(2)
        delivered: list[bool] = []

        def answer(session: Any = session, start: Any = start, delivered: Any = delivered) -> None:
            start.wait()
            try:
                session.permissions.resolve(FIRST, PermissionDecision.allow_and_remember(RuleScope.GLOBAL))
            except NoPendingPermission:
                delivered.append(False)
            else:
                delivered.append(True)

        def give_up(signal: Any = signal, start: Any = start) -> None:
            start.wait()
            signal.abort()

        threads = [threading.Thread(target=answer), threading.Thread(target=give_up)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        world.stage.advance(9)
        persisted = session.permissions.rules() != ()
        assert [persisted] == delivered == [len(world.resolved) == 1] == [bool(world.shelf)]
        assert task.done
        outcomes.append(persisted)

    assert len(outcomes) == 64


def test_an_answer_that_was_delivered_wins_over_a_cancel_in_the_same_moment():
    """gate/V5: its rule is written and its event is out, so the call must go on."""
    world = World()
    session = world.runtime.attach("a")
    signal = AbortSignal(world.stage)

    class AnswersAndCancels:
        async def approve(self, asked: Any) -> ApprovalDecision:
            session.permissions.resolve(asked.request_id, PermissionDecision.allow_and_remember(RuleScope.PROCESS))
            signal.trip()
            return ApprovalDecision.DENY

    world.begin(session, [use("files")], approver=AnswersAndCancels(), signal=signal)

    assert world.decided == [(True, "approver")]
    assert session.permissions.rules() == (rule("files", True, RuleScope.PROCESS),)
