"""Bash rules: which one applies, what is declared, and that nothing is ever run (approval/A-43 to
approval/A-61).
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from bash_kit import (
    ALLOW,
    CHAIN_RULES,
    CRITICAL,
    CRITICAL_EXAMPLES,
    EXAMPLES,
    EXEC,
    GIT_THEN_PUSH,
    P,
    denied,
    prompted,
    setting,
)
from hypothesis import given
from hypothesis import strategies as st

from labsim.approval import Resolution, normalise_declaration, resolve
from labsim.bash import (
    ActiveControl,
    BashRow,
    BashRule,
    BashVerdict,
    ControlRule,
    bash_tool,
    classify,
    declaration,
    explain,
    parse_rules,
)
from labsim.call.inert import InertExecutor
from labsim.call.runner import Runner
from labsim.call.wrapper import ToolWrapper
from labsim.events.call import Execute
from labsim.stage.stage import Stage
from labsim.stage.ui import Says, ScriptedUI
from labsim.terms import Policy, Rule, Source, Tier


@pytest.mark.parametrize(("rules", "command", "decision", "row"), EXAMPLES)
def test_every_example_of_the_specification_is_classified_as_it_says(rules, command, decision, row):
    """9.6, row by row: the decision, and the row of 9.5 that made it."""
    verdict = explain(command, parse_rules(rules))

    assert (verdict.decision, verdict.row) == (decision, row)
    assert classify(command, parse_rules(rules)) == decision


def test_no_example_runs_a_command_opens_a_file_or_loads_code():
    """approval/A-50: while everything above is classified, the interpreter reports not one auditable act."""
    work = [[rules, command, compound] for rules, command, _, _ in EXAMPLES for compound in (False, True)]
    work += [[CHAIN_RULES, "git status && npm test", True]]
    work += [[[], text, False] for texts in CRITICAL_EXAMPLES.values() for side in texts for text in side]
    script = """
import json, os, sys
from labsim.bash import bash_tool, explain, parse_rules
from labsim.approval import normalise_declaration
from labsim.call.inert import InertExecutor
from labsim.stage.stage import Stage
from labsim.tool import ToolCall

work = json.load(sys.stdin)
seen, watching = [], True

def watch(event, args):
    if watching:
        seen.append(event)
        raise RuntimeError(event)

sys.addaudithook(watch)
executor = InertExecutor(Stage(), "bash")
for rules, command, compound in work:
    explain(command, parse_rules(rules), compound=compound)
    tool = bash_tool(executor, rules, compound=compound)
    normalise_declaration(tool.approval, {"command": command})
    tool.format_approval_details({"command": command})
    tool.execute(ToolCall(call_id="c-1", input={"command": command}))
quiet = list(seen)
try:
    os.system("true")
except RuntimeError:
    pass
watching = False
print(json.dumps({"quiet": quiet, "after": seen, "entered": executor.entered}))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(work), capture_output=True, text=True, check=True
    )

    assert json.loads(ran.stdout) == {"quiet": [], "after": ["os.system"], "entered": len(work)}


# ------------------------------------------------------------------------------------------------ rules, 9.1


def test_a_setting_that_is_no_list_holds_no_rules():
    """approval/A-43: a map, a text, null and a number are no rules."""
    assert [parse_rules(value) for value in ({"match": "ls", "approval": "allow"}, "ls", None, 3)] == [()] * 4


def test_items_that_are_no_rule_are_skipped_and_the_rest_keep_their_order_and_place():
    """approval/A-43: no map, no text to match, a blank one, no such policy; the policy word is trimmed and
    lower-cased.
    """
    rules = parse_rules(
        [
            "ls",
            None,
            ["ls", "allow"],
            {"match": 3, "approval": "allow"},
            {"match": " \t\n", "approval": "allow"},
            {"match": "ls", "approval": "maybe"},
            {"match": "ls", "approval": True},
            {"match": "ls"},
            {"approval": "allow"},
            {"match": "  git \n status ", "approval": " ALLOW\n", "extra": 1},
            {"match": "rm *", "approval": "Deny"},
        ]
    )

    assert rules == (
        BashRule(match="git status", approval=Policy.ALLOW, position=9),
        BashRule(match="rm *", approval=Policy.DENY, position=10),
    )


@pytest.mark.parametrize(
    ("pattern", "command", "matches"),
    [
        ("git  status", "git\n\tstatus", True),
        ("git status", " git status ", True),
        ("git\u00a0status", "git\u2003status", True),
        ("git status", "git\x1fstatus", False),
        ("git status", "git\u0085status", False),
        ("ls", "\ufeffls\ufeff", True),
    ],
)
def test_blanks_are_trimmed_and_joined_as_the_host_counts_them(pattern, command, matches):
    """approval/A-44: any run of the host's blanks is one space, in the pattern and in the command."""
    verdict = explain(command, parse_rules(setting((pattern, "prompt"))))

    assert (verdict.rule is not None) is matches


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("git*", "github", True),
        ("git *", "git", False),
        ("git *", "git x", True),
        ("*", "", True),
        ("a*a", "a", False),
        ("a*b*c", "axxbyybzzc", True),
        ("a*bb*bb", "abb", False),
        ("*ab*bc*", "abc", False),
        ("*ab*bc*", "abbc", True),
        ("LS", "ls", False),
        ("a.c", "abc", False),
        ("[a-z]?(x)+^$", "[a-z]?(x)+^$", True),
        ("**", "anything", True),
        ("git", "git status", False),
        ("status", "git status", False),
    ],
)
def test_a_star_is_any_run_and_every_other_character_is_itself(pattern, text, matches):
    """approval/A-45: the whole string, case-sensitively; no character counts for two pieces."""
    assert BashRule(match=pattern, approval=Policy.DENY).matches(text) is matches


@cache
def naively(pattern: str, text: str) -> bool:
    """Star matching by the definition: a star is nothing, or one more character."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return naively(pattern[1:], text) or (bool(text) and naively(pattern, text[1:]))
    return bool(text) and text[0] == pattern[0] and naively(pattern[1:], text[1:])


@given(st.text("ab* ", max_size=9), st.text("ab ", max_size=12))
def test_whole_string_matching_agrees_with_a_naive_matcher(pattern, text):
    """approval/A-45, for any pattern and text."""
    assert BashRule(match=pattern, approval=Policy.ALLOW).matches(text) is naively(pattern, text)


@pytest.mark.parametrize("command", ["", "   ", "\n\t", None, 3, ["ls"], {"command": "ls"}])
def test_an_empty_command_matches_no_rule(command):
    """approval/A-46: not even a lone star; what is no text counts as empty (approval/B5)."""
    rules = parse_rules(setting(("*", "deny"), ("*", "allow")))

    assert explain(command, rules) == BashVerdict(
        decision=EXEC,
        row=BashRow.BARE,
        control=ActiveControl("\n", 0, ControlRule.UNQUOTED) if command == "\n\t" else None,
    )


def test_an_allow_must_vouch_for_the_whole_command():
    """approval/A-47: it matches the text, and still does not apply once something could be hidden in it."""
    rules = parse_rules(P)

    assert explain("git status; rm x", rules) == BashVerdict(
        decision=EXEC,
        row=BashRow.BARE,
        segments=("git status", "rm x"),
        control=ActiveControl(";", 10, ControlRule.UNQUOTED),
        refused=rules[0],
    )
    assert explain("git status; rm x", rules).active_control == ";"
    assert explain("git status\n", rules).decision == EXEC  # the raw text counts, its trailing line break too


def test_a_restriction_applies_to_the_whole_or_to_any_one_command_in_it():
    """approval/A-48: the verdict says which."""
    rules = parse_rules(setting(("rm *", "deny"), ("a; b", "prompt")))

    assert explain("cd a && rm x", rules) == BashVerdict(
        decision=denied("rm *"),
        row=BashRow.DENY,
        rule=rules[0],
        segment="rm x",
        segments=("cd a", "rm x"),
        control=ActiveControl("&", 5, ControlRule.UNQUOTED),
    )
    assert explain("a;  b", rules).rule == rules[1]
    assert explain("a;  b", rules).segment is None


def test_the_first_rule_that_applies_wins_and_may_hide_a_later_deny():
    """approval/A-49: an allow ahead of a deny hides it, but only as long as the allow applies."""
    rules = parse_rules(GIT_THEN_PUSH)

    assert explain("git push", rules).rule == rules[0]
    assert explain("git push; ls", rules).decision == denied("git push*")


# --------------------------------------------------------------------------------- what comes of it, approval/A-57


def resolution(rules: Any, command: str, mode: str, user: dict[str, str] | None = None) -> Resolution:
    tool = bash_tool(InertExecutor(Stage(), "bash"), rules)
    return resolve(tool, {"command": command}, mode=mode, policies=user or {})


def test_a_critical_command_is_not_prompted_in_yolo():
    """approval/A-57: approval/B2 declares a bare override, and yolo ignores it (approval/R4b); elsewhere it
    prompts.
    """
    assert resolution([], "rm -rf /", "yolo") == Resolution(
        policy=Policy.ALLOW, tier=Tier.EXEC, source=Source.MODE, rule=Rule.R4B
    )
    assert resolution([], "rm -rf /", "write") == Resolution(
        policy=Policy.PROMPT,
        tier=Tier.EXEC,
        source=Source.TOOL,
        rule=Rule.R5,
        override=True,
        reason="Critical pattern detected",
    )


def test_a_prompt_rule_stops_prompting_in_yolo_once_the_command_is_critical():
    """approval/A-57: approval/B2 masks approval/B4, so the more dangerous command is the one that runs unasked."""
    rules = setting(("rm *", "prompt"))

    assert resolution(rules, "rm ./x", "yolo").policy is Policy.PROMPT
    assert resolution(rules, "rm -rf /", "yolo").policy is Policy.ALLOW


def test_a_users_allow_does_not_lift_a_prompt_rule_and_a_users_deny_beats_an_allow_rule():
    """approval/A-57: rows approval/R5 and approval/R2."""
    assert resolution(setting(("npm *", "prompt")), "npm x", "write", {"bash": "allow"}) == Resolution(
        policy=Policy.PROMPT,
        tier=Tier.EXEC,
        source=Source.TOOL,
        rule=Rule.R5,
        override=True,
        reason="Prompt required by bash pattern: npm *",
    )
    assert resolution(P, "git status", "yolo", {"bash": "deny"}) == Resolution(
        policy=Policy.DENY, tier=Tier.WRITE, source=Source.USER, rule=Rule.R2, policy_key="bash"
    )


@pytest.mark.parametrize("decision", [EXEC, ALLOW, CRITICAL, denied("x"), prompted("x")])
def test_what_the_tool_declares_means_the_decision_again(decision):
    """The declaration is the decision in the words of approval/A-1 to approval/A-9; a bare one is only a tier."""
    assert normalise_declaration(declaration(decision), {}) == decision
    assert declaration(EXEC) == "exec"


def test_the_bash_tool_asks_with_the_command_as_text_and_runs_nothing():
    """approval/A-42, approval/A-50: the prompt shows the command; entering the inert executor is all that
    follows.
    """
    stage = Stage()
    runner = Runner(stage, ui=ScriptedUI(stage, [Says("Approve")]))
    tool = bash_tool(InertExecutor(stage, "bash"), setting(("npm *", "prompt")))

    stage.play(ToolWrapper(tool, runner).execute("c-1", {"command": "npm publish"})).result()

    titles = [event.title for event in stage.ledger if hasattr(event, "title")]
    assert titles == ["Allow tool: bash\nReason: Prompt required by bash pattern: npm *\nCommand: npm publish"]
    assert [event for event in stage.ledger if isinstance(event, Execute)] == [
        Execute(at_ms=0, tool="bash", tool_call_id="c-1", input={"command": "npm publish"})
    ]


# ------------------------------------------------------------------------------------------ whatever comes in

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PIECES = st.sampled_from(
    [
        "rm",
        "-rf",
        "/",
        "git",
        "status",
        "&&",
        "&",
        "|",
        ";",
        "'",
        '"',
        "\\",
        "$",
        "`",
        "(",
        ")",
        " ",
        "\n",
        "-c",
        "*",
    ]
)
COMMANDS = st.text() | st.lists(PIECES, max_size=12).map("".join) | st.text(st.characters(categories=["Cs"])) | JSON
ITEMS = st.fixed_dictionaries(
    {"match": st.text(max_size=6) | st.just("*"), "approval": st.sampled_from(["allow", "deny", "prompt", "x"])}
)


@given(COMMANDS, st.lists(ITEMS, max_size=3) | JSON, st.booleans())
def test_classification_never_raises_and_always_says_something_a_tool_can_declare(command, rules, compound):
    """9.5 is total: any value as a command, any value as a setting, either position of the switch."""
    verdict = explain(command, parse_rules(rules), compound=compound)

    assert normalise_declaration(declaration(verdict.decision), {}) == verdict.decision
    assert verdict.decision.tier in (Tier.EXEC, Tier.WRITE)
    assert (verdict.decision.tier is Tier.WRITE) is (verdict.decision.policy is Policy.ALLOW)
