"""Approval resolution: declarations, settings, whose policy applies, and the words of prompts and denials.

The order of the rows has a file of its own, `test_approval_table`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from labsim.approval import (
    Decision,
    Denied,
    Requirement,
    Resolution,
    Settings,
    approval_inputs,
    bash_details,
    configured_mode,
    deny_text,
    is_misspelt,
    json_details,
    normalise_declaration,
    normalise_policy,
    prompt_text,
    requirement,
    resolve,
    tier_of,
    truncate,
    write_details,
)
from labsim.errors import HostError
from labsim.terms import ApprovalMode, Policy, Rule, Source, Tier
from labsim.tool import Tool, ToolResult

ARGS = {"action": "publish"}
ALLOW, DENY, PROMPT = Policy.ALLOW, Policy.DENY, Policy.PROMPT
ASK, WRITE, YOLO = ApprovalMode.ALWAYS_ASK, ApprovalMode.WRITE, ApprovalMode.YOLO


def a_tool(approval: Any = UNSET, *, name: str = "t", legacy: Any = UNSET, details: Any = None) -> Tool:
    return Tool(
        name=name,
        execute=lambda call: ToolResult(content=[]),
        approval=approval,
        legacy_name=legacy,
        format_approval_details=details,
    )


def resolved(
    approval: Any = UNSET,
    *,
    mode: object = ASK,
    policies: Mapping[str, Any] | None = None,
    legacy: Any = UNSET,
) -> Resolution:
    return resolve(a_tool(approval, legacy=legacy), ARGS, mode=mode, policies=policies or {})


# approval/A-1 to approval/A-9: normalising a declaration


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (UNSET, Decision(Tier.EXEC)),
        ("read", Decision(Tier.READ)),
        ("write", Decision(Tier.WRITE)),
        ("READ", Decision(Tier.EXEC)),
        (" read", Decision(Tier.EXEC)),
        (5, Decision(Tier.EXEC)),
        (True, Decision(Tier.EXEC)),
        (None, Decision(Tier.EXEC)),
        (["read"], Decision(Tier.EXEC)),
        ({}, Decision(Tier.EXEC)),
        ({"tier": ["read"]}, Decision(Tier.EXEC)),
        ({"tier": "Read", "policy": "allow"}, Decision(Tier.EXEC, policy=ALLOW)),
        ({"tier": "read", "override": 1}, Decision(Tier.READ)),
        ({"tier": "read", "override": "true"}, Decision(Tier.READ)),
        ({"tier": "read", "override": True}, Decision(Tier.READ, override=True)),
        ({"policy": " ALLOW\n"}, Decision(Tier.EXEC, policy=ALLOW)),
        ({"policy": "\ufeffDeny"}, Decision(Tier.EXEC, policy=DENY)),
        ({"policy": "yes"}, Decision(Tier.EXEC)),
        ({"policy": True}, Decision(Tier.EXEC)),
        ({"reason": "", "policyKey": ""}, Decision(Tier.EXEC)),
        ({"reason": 5, "policyKey": ["slot"]}, Decision(Tier.EXEC)),
        ({"reason": " ", "policyKey": " "}, Decision(Tier.EXEC, reason=" ", policy_key=" ")),
    ],
)
def test_whatever_is_malformed_falls_to_exec(declared: object, expected: Decision) -> None:
    """approval/A-1 to approval/A-7: the rest of a decision is still honoured."""
    assert normalise_declaration(declared, ARGS) == expected


@pytest.mark.parametrize("result", [UNSET, None, 5, ["read"], lambda args: "read"])
def test_a_function_that_returns_something_unexpected_means_exec(result: object) -> None:
    """approval/A-3: also one that returns another function."""
    assert normalise_declaration(lambda args: result, ARGS) == Decision(Tier.EXEC)


def test_a_function_is_called_with_the_arguments_every_time() -> None:
    """approval/A-8: nothing is cached."""
    seen: list[object] = []

    def declare(args: Any) -> object:
        seen.append(args)
        return {"tier": "read", "reason": f"call {len(seen)}"}

    tool = a_tool(declare)
    reasons = [
        resolve(tool, args, mode="none", policies={}).reason
        for args in ({"action": "inspect"}, {"action": "publish"})
    ]

    assert seen == [{"action": "inspect"}, {"action": "publish"}]
    assert reasons == ["call 1", "call 2"]


def test_what_a_function_raises_leaves_resolution() -> None:
    """approval/A-8: nothing is caught here, neither for a resolution nor for the tier alone."""
    failure = HostError("approval rule failed")

    def declare(args: object) -> object:
        raise failure

    for ask in (
        lambda: resolve(a_tool(declare), ARGS, mode=YOLO, policies={}),
        lambda: tier_of(a_tool(declare), ARGS),
    ):
        with pytest.raises(HostError) as raised:
            ask()
        assert raised.value is failure


def test_the_tier_alone_forgets_everything_else() -> None:
    """approval/A-9: policy, override and reason are lost on purpose."""
    assert (
        tier_of(a_tool({"tier": "write", "override": True, "policy": "deny", "reason": "no"}), ARGS) is Tier.WRITE
    )
    assert tier_of(a_tool(), ARGS) is Tier.EXEC


# approval/A-10 to approval/A-14, approval/A-15 to approval/A-22: settings


@pytest.mark.parametrize("setting", [UNSET, None, [], ["t"], "deny", 5, True])
def test_user_policies_that_are_no_map_act_as_an_empty_one(setting: object) -> None:
    """approval/A-10."""
    assert approval_inputs(Settings("write", setting), UNSET) == (WRITE, {})


@pytest.mark.parametrize(
    ("value", "policy"),
    [
        ("deny", DENY),
        (" Prompt ", PROMPT),
        ("\tALLOW\r\n", ALLOW),
        ("denied", None),
        ("", None),
        (True, None),
        (None, None),
        (["deny"], None),
        ({"deny": True}, None),
    ],
)
def test_a_user_policy_is_read_in_any_case_and_ignored_otherwise(value: object, policy: Policy | None) -> None:
    """approval/A-6, approval/A-11."""
    assert normalise_policy(value) is policy


@pytest.mark.parametrize("name", ["get", "keys", "__class__", "items"])
def test_only_entries_of_the_map_count(name: str) -> None:
    """approval/A-13: a tool named like a member of the map has no policy because of that."""
    found = resolve(a_tool("exec", name=name), ARGS, mode=ASK, policies={})

    assert found == Resolution(policy=PROMPT, tier=Tier.EXEC, source=Source.MODE, rule=Rule.R9)


@pytest.mark.parametrize("mode", ["YOLO", "yolo ", "ask", "Write", "", 3, None, ["write"], True, UNSET])
def test_a_mode_that_is_none_opens_everything(mode: object) -> None:
    """approval/A-14, approval/A-18, approval/A-19: modes are compared exactly, and a misspelt or missing one fails
    open.
    """
    assert configured_mode(mode) is YOLO


def test_only_a_mode_that_somebody_configured_can_be_misspelt() -> None:
    """approval/A-19, approval/A-22: without a mode the default is yolo, and that is nobody's mistake."""
    assert [is_misspelt(mode) for mode in ("yollo", None, 3, "YOLO")] == [True] * 4
    assert [is_misspelt(mode) for mode in ("yolo", "write", "always-ask", UNSET)] == [False] * 4


@pytest.mark.parametrize(
    ("settings_read", "auto_approve", "expected"),
    [
        (None, UNSET, (ASK, {})),
        (None, True, (YOLO, {})),
        (Settings("write", {"t": "deny"}), True, (YOLO, {"t": "deny"})),
        (Settings("write", {"t": "deny"}), UNSET, (WRITE, {"t": "deny"})),
        (Settings("write", {"t": "deny"}), False, (WRITE, {"t": "deny"})),
        (Settings("write", {"t": "deny"}), "yes", (WRITE, {"t": "deny"})),
        (Settings("write", {"t": "deny"}), 1, (WRITE, {"t": "deny"})),
        (Settings("yollo", {"t": "deny"}), UNSET, (YOLO, {"t": "deny"})),
        (Settings(), UNSET, (YOLO, {})),
    ],
    ids=[
        "approval/A-16",
        "approval/A-15 bare",
        "approval/A-15",
        "approval/A-17",
        "false",
        '"yes" is no true',
        "1 is no true",
        "approval/A-18",
        "approval/A-22",
    ],
)
def test_mode_and_policies_come_from_the_context(
    settings_read: Settings | None, auto_approve: object, expected: tuple[ApprovalMode, dict[str, Any]]
) -> None:
    """approval/A-15 to approval/A-18, approval/A-22: missing settings fail closed, a misspelt mode fails open."""
    assert approval_inputs(settings_read, auto_approve) == expected


def test_auto_approve_leaves_a_user_deny_standing() -> None:
    """approval/A-21: it changes the mode, and the mode comes after the user's deny."""
    mode, policies = approval_inputs(Settings("always-ask", {"t": "deny"}), True)

    assert resolve(a_tool("read"), ARGS, mode=mode, policies=policies) == Resolution(
        policy=DENY, tier=Tier.READ, source=Source.USER, rule=Rule.R2, policy_key="t"
    )


def test_a_mode_that_resolution_does_not_know_covers_nothing() -> None:
    """Recorded: resolve-3706. Only reading the settings turns an unknown mode into yolo; resolution itself asks."""
    assert resolved("read", mode="nonsense").policy is PROMPT
    assert resolved("read", mode=UNSET).policy is PROMPT
    assert resolved("write", mode=["write"]).policy is ALLOW  # the host looks it up by its text (resolve-3943)


# approval/A-23 to approval/A-27: which user policy applies


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ({"slot": "allow", "t": "deny"}, (ALLOW, "slot")),
        ({"slot": "deny", "t": "allow"}, (DENY, "slot")),
        ({"t": "allow"}, (ALLOW, "t")),
        ({"slot": "perhaps", "t": "deny"}, (DENY, "t")),
        ({"slot": None, "t": "prompt"}, (PROMPT, "t")),
        ({"old": "deny"}, (DENY, "old")),
        ({"old": "prompt"}, (PROMPT, "old")),
        ({"old": "deny", "t": "allow"}, (ALLOW, "t")),
        ({"old": "deny", "t": "perhaps"}, (DENY, "old")),
    ],
)
def test_the_key_that_supplied_the_policy_is_reported(
    policies: dict[str, Any], expected: tuple[Policy, str]
) -> None:
    """approval/A-23 to approval/A-27: the declared key, then the tool's name, then what restrained its old name."""
    found = resolved({"tier": "exec", "policyKey": "slot"}, policies=policies, legacy="old")

    assert (found.policy, found.policy_key, found.source) == (*expected, Source.USER)


@pytest.mark.parametrize("legacy", ["old", 5, None, ["old"]])
def test_an_old_allow_is_never_inherited(legacy: object) -> None:
    """approval/A-25: nor is a legacy name that is no text looked up."""
    found = resolved("exec", policies={"old": "allow"}, legacy=legacy)

    assert found == Resolution(policy=PROMPT, tier=Tier.EXEC, source=Source.MODE, rule=Rule.R9)


# approval/A-30 to approval/A-34: errors


def denial(approval: Any, policies: Mapping[str, Any], *, legacy: Any = UNSET) -> str:
    tool = a_tool(approval, legacy=legacy)
    return deny_text(tool.name, resolve(tool, ARGS, mode=YOLO, policies=policies))


def test_a_tools_own_denial_names_the_tool_and_its_reason() -> None:
    """approval/A-30, approval/A-31, approval/A-33: the tool is named even where the declaration has a key."""
    assert denial({"policy": "deny"}, {}) == 'Tool "t" is blocked by tool policy.'
    assert (
        denial({"policy": "deny", "reason": "not on Sundays", "policyKey": "slot"}, {})
        == 'Tool "t" is blocked by tool policy.\nReason: not on Sundays'
    )


@pytest.mark.parametrize(
    ("policies", "key"),
    [({"slot": "deny"}, "slot"), ({"t": "deny"}, "t"), ({"old": "deny"}, "old")],
    ids=["device", "fallback", "legacy"],
)
def test_a_users_denial_names_the_key_that_supplied_it(policies: dict[str, Any], key: str) -> None:
    """approval/A-32, approval/A-33: and says what to remove."""
    assert (
        denial({"tier": "read", "policyKey": "slot", "reason": "dropped"}, policies, legacy="old")
        == f'Tool "{key}" is blocked by user policy.\nTo allow: remove "tools.approval.{key}: deny" from config.'
    )


def test_what_a_resolution_asks_of_the_host() -> None:
    """approval/A-34: a denial raises; a prompt gives its reason; otherwise there is no reason to give."""
    tool = a_tool({"tier": "write", "reason": "because"})
    denied = resolve(tool, ARGS, mode=ASK, policies={"t": "deny"})

    assert requirement(tool, resolve(tool, ARGS, mode=ASK, policies={})) == Requirement(True, "because")
    assert requirement(tool, resolve(tool, ARGS, mode=WRITE, policies={})) == Requirement(False)
    assert requirement(tool, resolve(tool, ARGS, mode=ASK, policies={"t": "prompt"})) == Requirement(True)
    with pytest.raises(Denied) as raised:
        requirement(tool, denied)
    assert (str(raised.value), raised.value.resolution) == (deny_text("t", denied), denied)


# approval/A-35 to approval/A-42: the prompt


@pytest.mark.parametrize(
    ("tool", "reason", "text"),
    [
        (a_tool("exec"), None, "Allow tool: t"),
        (a_tool("exec"), "", "Allow tool: t"),
        (a_tool("exec"), "because", "Allow tool: t\nReason: because"),
        (a_tool(name="mcp__seeds"), None, "Allow tool: mcp__seeds\nOrigin: MCP server tool"),
        (a_tool("exec", name="mcp__seeds"), None, "Allow tool: mcp__seeds"),
        (a_tool(name="MCP__seeds"), None, "Allow tool: MCP__seeds"),
        (a_tool(details=lambda args: "a\nb"), "why", "Allow tool: t\nReason: why\na\nb"),
        (a_tool(details=lambda args: ["a", "", None, 5, "b"]), None, "Allow tool: t\na\nb"),
        (a_tool(details=lambda args: ""), None, "Allow tool: t"),
        (a_tool(details=lambda args: None), None, "Allow tool: t"),
        (a_tool(details=lambda args: {"a": "b"}), None, "Allow tool: t"),
        (a_tool(details=json_details), None, 'Allow tool: t\nInput: {"action":"publish"}'),
        (
            a_tool(name="mcp__x", details=lambda args: "last"),
            "third",
            "Allow tool: mcp__x\nOrigin: MCP server tool\nReason: third\nlast",
        ),
    ],
)
def test_the_prompt_has_these_lines_in_this_order(tool: Tool, reason: str | None, text: str) -> None:
    """approval/A-35 to approval/A-38."""
    assert prompt_text(tool, ARGS, reason) == text


def test_a_long_prompt_is_not_shortened_by_itself() -> None:
    """approval/A-39: each detail formatter shortens its own."""
    assert len(prompt_text(a_tool(details=lambda args: "x" * 5000), ARGS, None)) == 5014


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcdef", 3, "abc[…3ch elided…]"),
        ("abcd", 3, "abc[…1ch elided…]"),
        ("", 0, ""),
        ("🌱🌱🌱", 2, "🌱🌱[…1ch elided…]"),
    ],
)
def test_what_is_left_out_is_counted(text: str, limit: int, shown: str) -> None:
    """approval/A-40, approval/A-41: characters are code points; the result can be longer than the input."""
    assert truncate(text, limit) == shown


def test_two_thousand_characters_are_shown_by_default() -> None:
    """approval/A-40."""
    assert truncate("x" * 2000) == "x" * 2000
    assert truncate("x" * 2001) == "x" * 2000 + "[…1ch elided…]"


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ({"command": "ls"}, "Command: ls"),
        ({"command": ""}, "Command: "),
        ({"command": "x" * 2001}, f"Command: {'x' * 2000}[…1ch elided…]"),
        ({"command": ["ls"]}, "Command: (missing)"),
        ({}, "Command: (missing)"),
        (None, "Command: (missing)"),
    ],
)
def test_a_bash_prompt_shows_the_command_as_text(args: object, shown: str) -> None:
    """approval/A-42."""
    assert bash_details(args) == shown


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ({"path": "card", "content": "seed"}, ["Path: card", "Content:\nseed"]),
        ({"path": "card"}, ["Path: card", "Content:\n"]),
        ({"path": 5, "content": 5}, ["Path: (missing)", "Content:\n"]),
        ("card", ["Path: (missing)", "Content:\n"]),
        (
            {"path": "p" * 2001, "content": "c" * 2002},
            [f"Path: {'p' * 2000}[…1ch elided…]", f"Content:\n{'c' * 2000}[…2ch elided…]"],
        ),
    ],
)
def test_a_write_prompt_shows_path_and_content(args: object, shown: list[str]) -> None:
    """approval/A-42."""
    assert write_details(args) == shown


# What must hold for every declaration, every setting and every mode

DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=200)
JUNK = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.text(max_size=2), max_size=2)
TIERS = st.sampled_from([tier.value for tier in Tier])
POLICIES = st.sampled_from(["allow", "deny", "prompt", " DENY ", "Allow"])
IGNORED = st.sampled_from(["perhaps", "", "denied", 0, True, None, ["deny"], {"deny": 1}])
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "tier": TIERS | JUNK,
        "override": st.booleans() | JUNK,
        "policy": POLICIES | JUNK,
        "reason": st.sampled_from(["because", ""]) | JUNK,
        "policyKey": st.sampled_from(["slot", "t", ""]) | JUNK,
    },
)
DECLARED = st.just(UNSET) | TIERS | OBJECTS | JUNK
ENTERED = st.dictionaries(st.sampled_from(["t", "slot", "old", "other"]), POLICIES | IGNORED)
MODES = st.sampled_from(list(ApprovalMode))


@pytest.mark.slow
@DETERMINISTIC
@given(DECLARED, ENTERED, MODES)
def test_a_deny_wins_in_every_mode(declared: Any, policies: dict[str, Any], mode: ApprovalMode) -> None:
    """approval/R1, approval/R2: whoever says it, and whatever the other one and the mode say."""
    said = normalise_declaration(declared, ARGS)
    user = normalise_policy(policies.get(said.policy_key or "t"))
    found = resolved(declared, policies=policies, mode=mode)

    if said.policy is DENY:
        assert (found.policy, found.source) == (DENY, Source.TOOL)
    elif user is DENY:
        assert (found.policy, found.source) == (DENY, Source.USER)


@pytest.mark.slow
@DETERMINISTIC
@given(DECLARED, ENTERED, MODES, st.sampled_from([UNSET, True, False, "yes"]))
def test_auto_approve_removes_no_deny(
    declared: Any, policies: dict[str, Any], configured: ApprovalMode, auto_approve: Any
) -> None:
    """approval/A-21: what is denied without it is denied with it, by the same rule, and nothing else becomes
    denied.
    """
    tool = a_tool(declared, legacy="old")
    plain, helped = (
        resolve(tool, ARGS, mode=mode, policies=read)
        for mode, read in (
            approval_inputs(Settings(configured.value, policies), each) for each in (UNSET, auto_approve)
        )
    )

    assert (plain.policy is DENY) == (helped.policy is DENY)
    if plain.policy is DENY:
        assert helped == plain


@pytest.mark.slow
@DETERMINISTIC
@given(DECLARED, ENTERED, MODES, st.sampled_from(["t", "slot", "old"]), IGNORED)
def test_a_value_that_is_no_policy_never_changes_the_resolution(
    declared: Any, policies: dict[str, Any], mode: ApprovalMode, key: str, ignored: Any
) -> None:
    """approval/A-11: as if the key were not there."""
    without = {name: value for name, value in policies.items() if name != key}

    assert resolved(declared, policies={**without, key: ignored}, mode=mode, legacy="old") == resolved(
        declared, policies=without, mode=mode, legacy="old"
    )


@pytest.mark.slow
@DETERMINISTIC
@given(DECLARED, ENTERED, MODES)
def test_a_resolution_depends_on_its_inputs_alone(
    declared: Any, policies: dict[str, Any], mode: ApprovalMode
) -> None:
    """Nothing is remembered and nothing is changed; entries of other tools do not matter."""
    before = deepcopy((declared, policies))
    first = resolved(declared, policies=policies, mode=mode, legacy="old")
    again = resolved(deepcopy(declared), policies={**policies, "other": "deny"}, mode=mode.value, legacy="old")

    assert (declared, policies) == before
    assert again == first


@pytest.mark.slow
@DETERMINISTIC
@given(DECLARED, ENTERED, MODES)
def test_a_tools_reason_never_stands_beside_a_users_decision(
    declared: Any, policies: dict[str, Any], mode: ApprovalMode
) -> None:
    """approval/A-29; a reason is the declared one or none, and the key is one that somebody named."""
    said = normalise_declaration(declared, ARGS)
    found = resolved(declared, policies=policies, mode=mode, legacy="old")

    assert found.reason in (None, said.reason)
    assert found.tier is said.tier
    if found.source is Source.USER:
        assert found.reason is None
        assert normalise_policy(policies[found.policy_key or "t"]) is found.policy
    if found.source is Source.MODE:
        assert found.policy_key is None


@pytest.mark.slow
@DETERMINISTIC
@given(DECLARED, ENTERED)
def test_a_more_permissive_mode_never_asks_more(declared: Any, policies: dict[str, Any]) -> None:
    """: modes are ordered; what runs silently in one runs silently in the next."""
    strict, middle, open_ = (resolved(declared, policies=policies, mode=mode).policy for mode in (ASK, WRITE, YOLO))

    assert (strict is not ALLOW) or middle is ALLOW
    assert (middle is not ALLOW) or open_ is ALLOW
    assert {strict is DENY, middle is DENY, open_ is DENY} in ({True}, {False})
