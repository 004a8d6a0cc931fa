"""Which remembered rule answers, and with what (gate/R8 to gate/R24)."""

from __future__ import annotations

from itertools import permutations

import pytest
from gate_kit import ALLOWS, CountingGate, World, always, rule, use
from hypothesis import given
from hypothesis import strategies as st

from labsim.gate.approvers import AllowAll, DenyAll
from labsim.gate.base.request import AuthorizationDecision
from labsim.gate.gates import DenyAllGate
from labsim.gate.rules.rules import (
    RememberedRule,
    RuleAddress,
    RuleContext,
    RuleKey,
    RuleScope,
    listed,
    rank,
    winner,
)
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore

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
    """gate/R8 to gate/R24, read from top to bottom."""
    matching = [found for found in rules if found.key.matches(tool, text)]
    for scope in RuleScope:  # gate/R8
        here = [found for found in matching if found.scope is scope]
        patterns = [found for found in here if found.key.pattern is not None]
        for allow in (False, True):  # gate/R10, gate/R12: a pattern first, and of those a deny
            those = sorted((found for found in patterns if found.allow is allow), key=lambda f: f.key.pattern or "")
            if those:
                return those[0]
        if here:
            return here[0]
    return None


@given(rules=RULE_SETS, text=st.sampled_from(["", "a", "ba", "b"]))
def test_precedence_is_a_total_order(rules: list[RememberedRule], text: str):
    """gate/R8, gate/R10 to gate/R13: any two rules at different addresses have different ranks, and the order they
    are given in does not count.
    """
    assert len({rank(found) for found in rules}) == len(rules)
    answers = {winner(order, "files", text) for order in (rules, rules[::-1], sorted(rules, key=rank))}
    assert answers == {naive_answer(rules, "files", text)}


@pytest.mark.slow
@given(rules=RULE_SETS)
def test_a_gates_deny_is_never_outranked_by_any_set_of_rules(rules: list[RememberedRule]):
    """gate/O6: whatever is remembered, and whoever answers."""
    world = World(gate=DenyAllGate())
    session = world.runtime.attach("a", project_id="p")
    for found in rules:
        session.permissions.remember(found)

    world.play(session, [use("files"), use("publish", call_id="c2")], approver=AllowAll())

    assert world.decided == [(False, "gate"), (False, "gate")]
    assert (world.executed, world.requested) == ([], [])


@given(rules=RULE_SETS)
def test_a_gates_allow_never_consults_a_rule(rules: list[RememberedRule]):
    """gate/O6, gate/O7: with a store that cannot even be read."""
    store = MemoryRuleStore()
    for found in rules:
        if found.scope is not PROCESS:
            store.upsert(RuleContext("a", "p"), found)
    unreadable = FailingRuleStore(store, lambda operation: "not to be read")
    world = World(gate=CountingGate(always(ALLOWS)), store=unreadable)

    world.play(world.runtime.attach("a", project_id="p"), [use("files"), use("publish", call_id="c2")])

    assert (world.decided, unreadable.calls) == ([(True, "gate"), (True, "gate")], [])


# ---------------------------------------------------------------------------------------------- what a rule answers


def test_a_remembered_refusal_quotes_its_reason():
    """gate/R16, gate/W5."""
    assert rule("files", False, reason="no writes").decision() == AuthorizationDecision.deny(
        "no writes" + REMEMBERED
    )


@pytest.mark.parametrize("scope", RuleScope)
def test_a_remembered_refusal_without_a_reason_has_the_same_words_at_every_scope(scope: RuleScope):
    """gate/R16, gate/W6."""
    assert rule("files", False, scope).decision() == AuthorizationDecision.deny(
        "blocked by remembered session rule"
    )


def test_a_remembered_allow_has_no_words():
    """gate/R16: not even where the rule carries some."""
    assert rule("files", True, reason="fine").decision() == AuthorizationDecision.allow()


def test_the_reason_that_is_quoted_is_the_winners():
    """gate/R17: the pattern's, and not the bare rule's."""
    found = winner(
        [rule("files", False, reason="bare"), rule("files", False, pattern="*a*", reason="pattern")], "files", "a"
    )
    assert found is not None
    assert found.decision().reason == "pattern" + REMEMBERED


def test_a_bare_rule_matches_with_and_without_an_input():
    """gate/P8: a rule without a pattern needs no input."""
    bare = rule("files", True)

    assert winner([bare], "files", '{"a":1}') == winner([bare], "files", None) == bare


def test_a_pattern_matches_the_input_it_is_about():
    """Another target is no match, and falls through to whatever else there is."""
    pattern, bare = rule("spawn", True, pattern=MAC), rule("spawn", False)

    assert winner([pattern], "spawn", '{"target":"mac"}') == pattern
    assert winner([pattern], "spawn", '{"target":"linux"}') is None
    assert winner([pattern, bare], "spawn", '{"target":"linux"}') == bare


@pytest.mark.parametrize("allow", [True, False])
def test_a_matching_pattern_comes_before_the_bare_rule(allow: bool):
    """gate/R10, gate/R13, whichever of the two is the deny. So a deny does not win as such."""
    pattern, bare = rule("files", allow, pattern="*a*"), rule("files", not allow)

    for order in permutations([pattern, bare]):
        assert winner(order, "files", "a") == pattern


def test_the_narrowest_scope_wins_and_all_of_them_coexist():
    """gate/R8, gate/R15: the process allow stands over three denies of the same key."""
    world = World()
    session = world.runtime.attach("a", project_id="p")
    for scope in RuleScope:
        session.permissions.remember(rule("files", scope is PROCESS, scope))

    world.play(session, [use("files")], approver=DenyAll())

    assert world.decided == [(True, "rule")]
    assert [found.scope for found in session.permissions.rules()] == [PROCESS, SESSION, PROJECT, GLOBAL]


def test_the_scope_goes_before_the_pattern():
    """gate/R11: a bare rule of the session beats a pattern of all sessions."""
    bare, pattern = rule("files", False, SESSION), rule("files", True, GLOBAL, "*a*")

    assert winner([pattern, bare], "files", "a") == bare


def test_among_overlapping_patterns_a_deny_wins_and_then_plain_string_order():
    """gate/R12: in whatever order they were written."""
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
    """gate/R14: no case is folded, and a star in a name is a star."""
    assert winner([rule("Files", True), rule("*", True)], "files", "{}") is None


def test_revoking_is_exact_and_may_be_repeated():
    """gate/R20: the bare rule and the pattern are two addresses."""
    store, context = MemoryRuleStore(), RuleContext("a")
    for found in (rule("files", True), rule("files", True, pattern="*")):
        store.upsert(context, found)
    address = RuleAddress(GLOBAL, RuleKey("files"))

    assert [store.revoke(context, address), store.revoke(context, address)] == [True, False]
    assert store.load(context) == (rule("files", True, pattern="*"),)


def test_clearing_counts_what_there_was():
    """gate/R20: one scope, and no other."""
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
    """gate/R19."""
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
    """gate/R15: one scope and one key hold one answer, the last one, be it the milder."""
    store, context = MemoryRuleStore(), RuleContext("a")
    store.upsert(context, rule("files", not allow))
    store.upsert(context, rule("files", allow, reason="changed my mind"))

    assert store.load(context) == (rule("files", allow, reason="changed my mind"),)
