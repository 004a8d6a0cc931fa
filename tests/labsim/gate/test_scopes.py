"""Whose a remembered rule is, and how long (gate/R1 to gate/R7)."""

from __future__ import annotations

from itertools import permutations

import pytest
from gate_kit import Scripted, Silent, World, rule, use

from labsim.gate.approvers import DenyAll
from labsim.gate.base.errors import NotDurable, ProjectIdRequired, RuleStoreFailed
from labsim.gate.base.request import ApprovalDecision
from labsim.gate.events import SessionOpened
from labsim.gate.rules.rules import RuleAddress, RuleContext, RuleKey, RuleScope, deduplicated
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore, StoreOperation
from labsim.gate.session.permissions import PermissionDecision

PROCESS, SESSION, PROJECT, GLOBAL = RuleScope


def test_process_rules_belong_to_one_live_session():
    """gate/R1: whoever holds its permissions sees them; another session of the same agent does not."""
    world = World()
    one, other = world.runtime.attach("a"), world.runtime.attach("a")
    shared = one.permissions
    shared.remember(rule("files", True, PROCESS))

    assert one.spawn_child("child").permissions.rules() == (rule("files", True, PROCESS),)
    assert other.permissions.rules() == ()


def test_a_process_rule_precedes_the_durable_ones_which_are_there_when_it_goes():
    """gate/R8: after a revoke, and after a clear."""
    for forget in (
        lambda permissions: permissions.revoke(RuleAddress(PROCESS, RuleKey("files"))),
        lambda permissions: permissions.clear(PROCESS),
    ):
        world = World()
        session = world.runtime.attach("a")
        session.permissions.remember(rule("files", False, GLOBAL))
        session.permissions.remember(rule("files", True, PROCESS))
        world.play(session, [use("files")])
        forget(session.permissions)
        world.play(session, [use("files", call_id="c2")])

        assert world.decided == [(True, "rule"), (False, "rule")]


def test_a_process_rule_answers_and_is_written_without_the_store():
    """gate/R9: which may be as broken as it likes."""
    store = FailingRuleStore(MemoryRuleStore(), lambda operation: "corrupt")
    world = World(store=store)
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", True, PROCESS))

    world.play(session, [use("files")])
    session.permissions.revoke(RuleAddress(PROCESS, RuleKey("files")))
    session.permissions.clear(PROCESS)

    assert (world.decided, store.calls) == ([(True, "rule")], [])


def test_a_process_resolution_never_touches_the_store():
    """gate/R9: neither does remembering an answer for the session, once the question was open."""
    store = FailingRuleStore(
        MemoryRuleStore(), lambda operation: None if operation is StoreOperation.LOAD else "read-only"
    )
    world = World(store=store)
    session = world.runtime.attach("a")

    world.play(session, [use("files")], approver=Scripted(ApprovalDecision.ALLOW_FOR_SESSION))

    assert store.calls == [StoreOperation.LOAD]


def test_answers_for_the_session_are_gone_when_the_session_is_resumed():
    """gate/R1: a fresh session starts with none, even for the same conversation."""
    world = World()
    first = world.runtime.attach("a")
    approver = Scripted(ApprovalDecision.ALLOW_FOR_SESSION)
    world.play(first, [use("files")], approver=approver)

    again = world.runtime.resume("a")
    world.play(again, [use("files", call_id="c2")], approver=approver)

    assert len(approver.requests) == 2
    assert world.decided == [(True, "approver"), (True, "approver")]


def test_a_resume_clears_the_session_rows_of_old_versions():
    """gate/R3: project and global answers stay; nothing of the process was there to begin with."""
    world = World()
    before = world.runtime.attach("a", project_id="p")
    for scope in RuleScope:
        before.permissions.remember(rule("files", True, scope))
    world.runtime.attach("b").permissions.remember(rule("files", True, SESSION))

    after = world.runtime.resume("a", project_id="p")

    assert [found.scope for found in before.permissions.rules()] == [PROCESS, PROJECT, GLOBAL]
    assert [found.scope for found in after.permissions.rules()] == [PROJECT, GLOBAL]
    assert world.seen(SessionOpened)[-1] == SessionOpened(
        at_ms=0, agent_id="a", project_id="p", resumed=True, cleared=1
    )
    assert [found.scope for found in world.runtime.attach("b").permissions.rules()] == [SESSION, GLOBAL]


def test_a_resume_whose_clear_fails_is_no_resume():
    """gate/R3: a session with answers that nobody in it gave is worse than none."""
    world = World(
        store=FailingRuleStore(
            MemoryRuleStore(), lambda operation: "locked" if operation is StoreOperation.CLEAR else None
        )
    )
    with pytest.raises(RuleStoreFailed, match="locked"):
        world.runtime.resume("a")

    assert world.seen(SessionOpened) == []


def test_session_rules_survive_an_attach_and_a_revocation_does_too():
    """gate/R2: by the agent's stable id, in the store."""
    store = MemoryRuleStore()
    World(store=store).runtime.attach("a").permissions.remember(rule("files", True, SESSION))
    again = World(store=store).runtime.attach("a").permissions
    assert again.rules() == (rule("files", True, SESSION),)

    again.revoke(RuleAddress(SESSION, RuleKey("files")))

    assert World(store=store).runtime.attach("a").permissions.rules() == ()


def test_project_and_global_rules_are_shared_live():
    """gate/R2, gate/R7: a change by one session is seen by the other at its next call, with no event in between."""
    world = World()
    one, other = (world.runtime.attach(name, project_id="p") for name in ("one", "other"))
    one.permissions.remember(rule("files", True, PROJECT))
    world.play(other, [use("files")], approver=DenyAll())

    one.permissions.revoke(RuleAddress(PROJECT, RuleKey("files")))
    world.play(other, [use("files", call_id="c2")], approver=DenyAll())

    assert world.decided == [(True, "rule"), (False, "approver")]


def test_remembering_copies_no_inherited_rule():
    """An answer writes one rule, at one address, whatever else applies."""
    world = World()
    session = world.runtime.attach("a", project_id="p")
    session.permissions.remember(rule("publish", True, GLOBAL))
    world.begin(session, [use("files")], approver=Silent(world.stage))
    session.permissions.resolve(
        "perm-c1-0000000000000001", PermissionDecision.deny_and_remember(PROJECT).with_reason("no")
    )

    assert session.permissions.rules() == (
        rule("files", False, PROJECT, reason="no"),
        rule("publish", True, GLOBAL),
    )
    assert world.runtime.attach("b").permissions.rules() == (rule("publish", True, GLOBAL),)


def test_the_scopes_of_a_context_are_those_it_has_an_id_for():
    """gate/R2, gate/R4: three contexts, one store."""
    store = MemoryRuleStore()
    owner = RuleContext("a", "p")
    for scope in (SESSION, PROJECT, GLOBAL):
        store.upsert(owner, rule("files", True, scope))

    scopes = {
        context: [found.scope for found in store.load(context)]
        for context in (owner, RuleContext("a"), RuleContext("b", "p"), RuleContext("b", "q"))
    }
    assert scopes == {
        owner: [SESSION, PROJECT, GLOBAL],
        RuleContext("a"): [SESSION, GLOBAL],
        RuleContext("b", "p"): [PROJECT, GLOBAL],
        RuleContext("b", "q"): [GLOBAL],
    }


def test_there_is_one_global_address_whoever_writes_it():
    """gate/R2: another session's rule at the same key is the same rule."""
    store = MemoryRuleStore()
    store.upsert(RuleContext("a"), rule("files", True))
    store.upsert(RuleContext("b", "p"), rule("files", False))

    assert store.load(RuleContext("c")) == (rule("files", False),)


def test_a_project_rule_needs_a_project_and_an_empty_id_is_one():
    """gate/R4, gate/R5, gate/W18: writing, revoking and clearing raise; loading leaves them out."""
    store = MemoryRuleStore()
    nowhere, empty, other = RuleContext("a"), RuleContext("a", ""), RuleContext("a", "p")
    found = rule("files", True, PROJECT)
    store.upsert(empty, found)

    for attempt in (
        lambda: store.upsert(nowhere, found),
        lambda: store.revoke(nowhere, found.address),
        lambda: store.clear(nowhere, PROJECT),
        lambda: World().runtime.attach("a").permissions.remember(found),
    ):
        with pytest.raises(ProjectIdRequired, match="project-scoped permission rules require a project_id"):
            attempt()
    assert (store.load(empty), store.load(nowhere), store.load(other)) == ((found,), (), ())


def test_a_durable_store_takes_no_process_rule():
    """gate/R6, gate/W19."""
    store, context = MemoryRuleStore(), RuleContext("a", "p")
    for attempt in (
        lambda: store.upsert(context, rule("files", True, PROCESS)),
        lambda: store.revoke(context, RuleAddress(PROCESS, RuleKey("files"))),
        lambda: store.clear(context, PROCESS),
    ):
        with pytest.raises(NotDurable):
            attempt()


def test_duplicates_of_old_data_load_as_the_safest_of_them():
    """gate/R21: a deny, then one with a reason, then the smallest; revoking takes them all."""
    context = RuleContext("a")
    rows = [
        rule("files", True, reason="a"),
        rule("files", False),
        rule("files", False, reason="z"),
        rule("files", False, reason="b"),
    ]
    for order in permutations(rows):
        store = MemoryRuleStore((context, row) for row in order)
        assert store.load(context) == deduplicated(order) == (rule("files", False, reason="b"),)
        assert store.revoke(context, rows[0].address)
        assert store.load(context) == ()
