"""Which remembered rule answers, and whose it is (spec/gate.md sections 6.1 and 6.2)."""

from __future__ import annotations

from itertools import permutations

import pytest
from gate_kit import ALLOWS, DENIES, CountingGate, Scripted, Silent, World, always, rule, use
from hypothesis import given
from hypothesis import strategies as st

from labsim.gate.approvers import AllowAll, DenyAll
from labsim.gate.errors import NotDurable, ProjectIdRequired, RuleStoreFailed
from labsim.gate.events import SessionOpened
from labsim.gate.gates import DenyAllGate
from labsim.gate.permissions import PermissionDecision
from labsim.gate.policy import ApprovalPolicy, fixed_posture
from labsim.gate.request import ApprovalAnswer, ApprovalDecision, AuthorizationDecision
from labsim.gate.rules import (
    RememberedRule,
    RuleAddress,
    RuleContext,
    RuleKey,
    RuleScope,
    deduplicated,
    listed,
    rank,
    winner,
)
from labsim.gate.store import FailingRuleStore, MemoryRuleStore, StoreOperation
from labsim.ui import InertUI

PROCESS, SESSION, PROJECT, GLOBAL = RuleScope
MAC = '*"target":"mac"*'
REMEMBERED = " — remembered from an earlier refusal, so asking again will not change it"

RULES = st.builds(
    lambda tool, allow, scope, pattern, reason: rule(tool, allow, scope, pattern, reason),
    st.sampled_from(["files", "publish"]),
    st.booleans(),
    st.sampled_from(RuleScope),
    st.sampled_from([None, "*", "*a*", "a*", ""]),
    st.sampled_from([None, "because"]),
)
RULE_SETS = st.lists(RULES, max_size=8, unique_by=lambda found: found.address)


def naive_answer(rules: list[RememberedRule], tool: str, text: str) -> RememberedRule | None:
    """Section 6.2, read from top to bottom."""
    matching = [found for found in rules if found.key.matches(tool, text)]
    for scope in RuleScope:  # R8
        here = [found for found in matching if found.scope is scope]
        patterns = [found for found in here if found.key.pattern is not None]
        for allow in (False, True):  # R10, R12: a pattern first, and of those a deny
            those = sorted((found for found in patterns if found.allow is allow), key=lambda f: f.key.pattern or "")
            if those:
                return those[0]
        if here:
            return here[0]
    return None


@given(rules=RULE_SETS, text=st.sampled_from(["", "a", "ba", "b"]))
def test_precedence_is_a_total_order(rules: list[RememberedRule], text: str):
    """R8, R10-R13: any two rules at different addresses have different ranks, and the order they are given in
    does not count.
    """
    assert len({rank(found) for found in rules}) == len(rules)
    answers = {winner(order, "files", text) for order in (rules, rules[::-1], sorted(rules, key=rank))}
    assert answers == {naive_answer(rules, "files", text)}


@given(rules=RULE_SETS)
def test_a_gates_deny_is_never_outranked_by_any_set_of_rules(rules: list[RememberedRule]):
    """O6: whatever is remembered, and whoever answers."""
    world = World(gate=DenyAllGate())
    session = world.runtime.attach("a", project_id="p")
    for found in rules:
        session.permissions.remember(found)

    world.play(session, [use("files"), use("publish", call_id="c2")], approver=AllowAll())

    assert world.decided == [(False, "gate"), (False, "gate")]
    assert (world.executed, world.requested) == ([], [])


@given(rules=RULE_SETS)
def test_a_gates_allow_never_consults_a_rule(rules: list[RememberedRule]):
    """O6, O7: with a store that cannot even be read."""
    store = MemoryRuleStore()
    for found in rules:
        if found.scope is not PROCESS:
            store.upsert(RuleContext("a", "p"), found)
    unreadable = FailingRuleStore(store, lambda operation: "not to be read")
    world = World(gate=CountingGate(always(ALLOWS)), store=unreadable)

    world.play(world.runtime.attach("a", project_id="p"), [use("files"), use("publish", call_id="c2")])

    assert (world.decided, unreadable.calls) == ([(True, "gate"), (True, "gate")], [])


# ----------------------------------------------------------------------------------------------- what a rule
# answers


def test_a_remembered_refusal_quotes_its_reason():
    """13.77, R16, W5."""
    assert rule("files", False, reason="no writes").decision() == AuthorizationDecision.deny(
        "no writes" + REMEMBERED
    )


@pytest.mark.parametrize("scope", RuleScope)
def test_a_remembered_refusal_without_a_reason_has_the_same_words_at_every_scope(scope: RuleScope):
    """13.78, R16, W6."""
    assert rule("files", False, scope).decision() == AuthorizationDecision.deny(
        "blocked by remembered session rule"
    )


def test_a_remembered_allow_has_no_words():
    """13.79, R16: not even where the rule carries some."""
    assert rule("files", True, reason="fine").decision() == AuthorizationDecision.allow()


def test_the_reason_that_is_quoted_is_the_winners():
    """13.80, R17: the pattern's, and not the bare rule's."""
    found = winner(
        [rule("files", False, reason="bare"), rule("files", False, pattern="*a*", reason="pattern")], "files", "a"
    )
    assert found is not None
    assert found.decision().reason == "pattern" + REMEMBERED


def test_a_bare_rule_matches_with_and_without_an_input():
    """13.81."""
    bare = rule("files", True)

    assert winner([bare], "files", '{"a":1}') == winner([bare], "files", None) == bare


def test_a_pattern_matches_the_input_it_is_about():
    """13.82, 13.89, 13.90: another target is no match, and falls through to whatever else there is."""
    pattern, bare = rule("spawn", True, pattern=MAC), rule("spawn", False)

    assert winner([pattern], "spawn", '{"target":"mac"}') == pattern
    assert winner([pattern], "spawn", '{"target":"linux"}') is None
    assert winner([pattern, bare], "spawn", '{"target":"linux"}') == bare


@pytest.mark.parametrize("allow", [True, False])
def test_a_matching_pattern_comes_before_the_bare_rule(allow: bool):
    """13.84, R10, R13, 13.143: whichever of the two is the deny. So a deny does not win as such."""
    pattern, bare = rule("files", allow, pattern="*a*"), rule("files", not allow)

    for order in permutations([pattern, bare]):
        assert winner(order, "files", "a") == pattern


def test_the_narrowest_scope_wins_and_all_of_them_coexist():
    """13.91, R8, R15: the process allow stands over three denies of the same key."""
    world = World()
    session = world.runtime.attach("a", project_id="p")
    for scope in RuleScope:
        session.permissions.remember(rule("files", scope is PROCESS, scope))

    world.play(session, [use("files")], approver=DenyAll())

    assert world.decided == [(True, "rule")]
    assert [found.scope for found in session.permissions.rules()] == [PROCESS, SESSION, PROJECT, GLOBAL]


def test_the_scope_goes_before_the_pattern():
    """13.92, R11: a bare rule of the session beats a pattern of all sessions."""
    bare, pattern = rule("files", False, SESSION), rule("files", True, GLOBAL, "*a*")

    assert winner([pattern, bare], "files", "a") == bare


def test_among_overlapping_patterns_a_deny_wins_and_then_plain_string_order():
    """13.93, R12: in whatever order they were written."""
    deny, first, second = (
        rule("files", False, pattern="*b*"),
        rule("files", True, pattern="*a*"),
        rule("files", True, pattern="*ab*"),
    )
    for order in permutations([deny, first, second]):
        assert winner(order, "files", "ab") == deny
    for order in permutations([first, second]):
        assert winner(order, "files", "ab") == first


def test_a_tools_name_is_compared_exactly():
    """R14: no case is folded, and a star in a name is a star."""
    assert winner([rule("Files", True), rule("*", True)], "files", "{}") is None


def test_revoking_is_exact_and_may_be_repeated():
    """13.94, R20: the bare rule and the pattern are two addresses."""
    store, context = MemoryRuleStore(), RuleContext("a")
    for found in (rule("files", True), rule("files", True, pattern="*")):
        store.upsert(context, found)
    address = RuleAddress(GLOBAL, RuleKey("files"))

    assert [store.revoke(context, address), store.revoke(context, address)] == [True, False]
    assert store.load(context) == (rule("files", True, pattern="*"),)


def test_clearing_counts_what_there_was():
    """13.95, R20: one scope, and no other."""
    world = World()
    permissions = world.runtime.attach("a", project_id="p").permissions
    for scope in RuleScope:
        for tool in ("files", "publish"):
            permissions.remember(rule(tool, True, scope))

    assert {scope: (permissions.clear(scope), permissions.clear(scope)) for scope in (PROCESS, PROJECT)} == {
        PROCESS: (2, 0),
        PROJECT: (2, 0),
    }
    assert [found.scope for found in permissions.rules()] == [SESSION, SESSION, GLOBAL, GLOBAL]


def test_rules_are_listed_by_scope_tool_and_pattern_with_the_bare_rule_last():
    """13.96, R19."""
    expected = (
        rule("b", True, PROCESS),
        rule("a", True, SESSION, "*x*"),
        rule("a", False, SESSION, "*y*"),
        rule("a", True, SESSION),
        rule("a", True, GLOBAL, ""),
    )
    for order in permutations(expected):
        assert listed(order) == expected


@pytest.mark.parametrize("allow", [True, False])
def test_a_rule_at_the_same_address_is_overwritten(allow: bool):
    """R15: one scope and one key hold one answer, the last one, be it the milder."""
    store, context = MemoryRuleStore(), RuleContext("a")
    store.upsert(context, rule("files", not allow))
    store.upsert(context, rule("files", allow, reason="changed my mind"))

    assert store.load(context) == (rule("files", allow, reason="changed my mind"),)


# ------------------------------------------------------------------------------------------------ whose a rule is


def test_process_rules_belong_to_one_live_session():
    """13.108, R1: whoever holds its permissions sees them; another session of the same agent does not."""
    world = World()
    one, other = world.runtime.attach("a"), world.runtime.attach("a")
    shared = one.permissions
    shared.remember(rule("files", True, PROCESS))

    assert one.spawn_child("child").permissions.rules() == (rule("files", True, PROCESS),)
    assert other.permissions.rules() == ()


def test_a_process_rule_precedes_the_durable_ones_which_are_there_when_it_goes():
    """13.109, R8: after a revoke, and after a clear."""
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
    """13.110, R9: which may be as broken as it likes."""
    store = FailingRuleStore(MemoryRuleStore(), lambda operation: "corrupt")
    world = World(store=store)
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", True, PROCESS))

    world.play(session, [use("files")])
    session.permissions.revoke(RuleAddress(PROCESS, RuleKey("files")))
    session.permissions.clear(PROCESS)

    assert (world.decided, store.calls) == ([(True, "rule")], [])


def test_a_process_resolution_never_touches_the_store():
    """13.110, R9: neither does remembering an answer for the session, once the question was open."""
    store = FailingRuleStore(
        MemoryRuleStore(), lambda operation: None if operation is StoreOperation.LOAD else "read-only"
    )
    world = World(store=store)
    session = world.runtime.attach("a")

    world.play(session, [use("files")], approver=Scripted(ApprovalDecision.ALLOW_FOR_SESSION))

    assert store.calls == [StoreOperation.LOAD]


def test_answers_for_the_session_are_gone_when_the_session_is_resumed():
    """13.32, 13.111, R1: a fresh session starts with none, even for the same conversation."""
    world = World()
    first = world.runtime.attach("a")
    approver = Scripted(ApprovalDecision.ALLOW_FOR_SESSION)
    world.play(first, [use("files")], approver=approver)

    again = world.runtime.resume("a")
    world.play(again, [use("files", call_id="c2")], approver=approver)

    assert len(approver.requests) == 2
    assert world.decided == [(True, "approver"), (True, "approver")]


def test_a_resume_clears_the_session_rows_of_old_versions():
    """13.33, R3: project and global answers stay; nothing of the process was there to begin with."""
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
    """R3: a session with answers that nobody in it gave is worse than none."""
    world = World(
        store=FailingRuleStore(
            MemoryRuleStore(), lambda operation: "locked" if operation is StoreOperation.CLEAR else None
        )
    )
    with pytest.raises(RuleStoreFailed, match="locked"):
        world.runtime.resume("a")

    assert world.seen(SessionOpened) == []


def test_session_rules_survive_an_attach_and_a_revocation_does_too():
    """13.117, R2: by the agent's stable id, in the store."""
    store = MemoryRuleStore()
    World(store=store).runtime.attach("a").permissions.remember(rule("files", True, SESSION))
    again = World(store=store).runtime.attach("a").permissions
    assert again.rules() == (rule("files", True, SESSION),)

    again.revoke(RuleAddress(SESSION, RuleKey("files")))

    assert World(store=store).runtime.attach("a").permissions.rules() == ()


def test_project_and_global_rules_are_shared_live():
    """13.112, R2, R7: a change by one session is seen by the other at its next call, with no event in between."""
    world = World()
    one, other = (world.runtime.attach(name, project_id="p") for name in ("one", "other"))
    one.permissions.remember(rule("files", True, PROJECT))
    world.play(other, [use("files")], approver=DenyAll())

    one.permissions.revoke(RuleAddress(PROJECT, RuleKey("files")))
    world.play(other, [use("files", call_id="c2")], approver=DenyAll())

    assert world.decided == [(True, "rule"), (False, "approver")]


def test_remembering_copies_no_inherited_rule():
    """13.116: an answer writes one rule, at one address, whatever else applies."""
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
    """13.121, R2, R4: three contexts, one store."""
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
    """13.122, R2: another session's rule at the same key is the same rule."""
    store = MemoryRuleStore()
    store.upsert(RuleContext("a"), rule("files", True))
    store.upsert(RuleContext("b", "p"), rule("files", False))

    assert store.load(RuleContext("c")) == (rule("files", False),)


def test_a_project_rule_needs_a_project_and_an_empty_id_is_one():
    """13.123, R4, R5, W18: writing, revoking and clearing raise; loading leaves them out."""
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
    """R6, W19."""
    store, context = MemoryRuleStore(), RuleContext("a", "p")
    for attempt in (
        lambda: store.upsert(context, rule("files", True, PROCESS)),
        lambda: store.revoke(context, RuleAddress(PROCESS, RuleKey("files"))),
        lambda: store.clear(context, PROCESS),
    ):
        with pytest.raises(NotDurable):
            attempt()


def test_duplicates_of_old_data_load_as_the_safest_of_them():
    """13.124, R21: a deny, then one with a reason, then the smallest; revoking takes them all."""
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


# ------------------------------------------------------------------------------------------------ what it is for


def test_a_remembered_refusal_is_asked_about_once_and_says_why():
    """13.28, W5."""
    world = World()
    approver = Scripted(ApprovalAnswer(ApprovalDecision.DENY_FOR_SESSION, "no writes here"))

    read = world.play(world.runtime.attach("a"), [use("files")], [use("files", {"x": 1}, "c2")], approver=approver)

    assert read[1] == "Tool execution denied: no writes here" + REMEMBERED
    assert world.asked == 1


def test_a_bare_rule_covers_both_modes_of_a_tool():
    """13.29, A3: it is about the name, whatever the call reaches."""
    world = World()

    world.play(
        world.runtime.attach("a"),
        [use("spawn", {"task": "count"})],
        [use("spawn", {"command": "count"}, "c2")],
        approver=Scripted(ApprovalDecision.ALLOW_FOR_SESSION),
    )

    assert world.decided == [(True, "approver"), (True, "rule")]


def test_a_pattern_is_an_allowlist_over_a_refusing_approver():
    """13.30, 13.31: it lets one target through, and leaves the rest to whoever decides."""
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
    """13.34, 13.35, G9: `never` is final, so nothing is written; under `always` it is, with no request at all."""
    world = World()
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", True))
    approver, gate = fixed_posture(policy, InertUI())
    if gate is not None:
        session.install_gate(gate)

    world.play(session, [use("files")], approver=approver)

    assert (world.decided, world.requested) == ([decided], [])


def test_a_refusing_approver_alone_is_no_refusal():
    """G5: the remembered allow answers ahead of it; with the gate beside it, nothing does."""
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
    """G7, R23: silently; the seeded deny too, and a refusing gate and approver beside it."""
    world = World(gate=DenyAllGate())
    session = world.runtime.attach("a")
    session.permissions.remember(rule("look", allow))

    assert world.play(session, [use("look")], approver=DenyAll()) == ("look done",)
    assert (world.decided, world.requested) == ([(True, "gate")], [])


def test_a_store_that_cannot_be_read_denies_without_asking():
    """13.119, R18: fail closed, with the store's own words."""
    world = World(store=FailingRuleStore(MemoryRuleStore(), lambda operation: "the rules file is damaged"))

    assert world.play(world.runtime.attach("a"), [use("files")], approver=AllowAll()) == (
        "Tool execution denied: the rules file is damaged",
    )
    assert (world.requested, world.decided) == ([], [(False, "error")])


def test_a_deny_of_the_gate_is_not_a_rule():
    """Section 11: a standing refusal remembers nothing."""
    world = World(gate=CountingGate(always(DENIES)))
    session = world.runtime.attach("a")

    world.play(session, [use("files")])

    assert session.permissions.rules() == ()
