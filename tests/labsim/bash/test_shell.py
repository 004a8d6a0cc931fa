"""Command text read as shell: active control, segments, chains (approval/A-51 to approval/A-54, approval/A-55,
approval/A-58 to approval/A-61).
"""

from __future__ import annotations

import pytest
from bash_kit import ALLOW, CHAIN_RULES, CRITICAL, EXEC, denied, prompted, setting
from hypothesis import given
from hypothesis import strategies as st

from labsim.bash import (
    ActiveControl,
    BashRow,
    BashVerdict,
    ControlRule,
    active_control,
    classify,
    explain,
    literal_chain,
    parse_rules,
    segments,
)

# ------------------------------------------------------------------------------------------- control, 9.2

CONTROLS = ["\n", "\r", ";", "&", "|", "<", ">", "`", "$", "(", ")"]


@pytest.mark.parametrize("character", CONTROLS)
def test_a_bare_control_character_is_active(character):
    """approval/A-51, each of the eleven."""
    assert active_control(f"ls {character}x") == ActiveControl(character, 3, ControlRule.UNQUOTED)


@pytest.mark.parametrize("character", CONTROLS)
def test_double_quotes_leave_only_what_expands_active(character):
    """approval/A-52: a backtick and a dollar expand inside double quotes; approval/A-53: the others are text
    there.
    """
    found = active_control(f'ls "a{character}b"')

    expands = ActiveControl(character, 5, ControlRule.EXPANDS)
    assert found == (expands if character in "`$" else None)


@pytest.mark.parametrize("character", CONTROLS)
def test_single_quotes_and_backslashes_make_any_control_character_text(character):
    """approval/A-53: also a backslash inside double quotes."""
    assert active_control(f"ls 'a{character}b'") is None
    assert active_control(f"ls a\\{character}b") is None
    assert active_control(f'ls "a\\{character}b"') is None


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("sh -c 'a;b'", "-c"),
        ("git -c 'a;b' status", "-c"),
        ("x 'a;b' -e", "-e"),
        ("x 'a;b' -e=1", "-e"),
        ("x\t--command='a;b'", "--command"),
        ("x --eval 'a;b'", "--eval"),
        ("-c 'a;b'", "-c"),
        ("x -abc 'a;b'", "-abc"),
        ("x -s 'a;b' file", "-s 'a;b' file"),  # anything without a dash, blanks too, up to a c or an e
        (r"x -c a\;b", "-c"),
    ],
)
def test_an_option_that_interprets_text_brings_a_quoted_character_back_to_life(command, option):
    """approval/A-54: quoted here, but somebody is going to read it a second time."""
    found = active_control(command)

    at = command.index(";")
    assert found == ActiveControl(";", at, ControlRule.REINTERPRETED, option=option)


@pytest.mark.parametrize(
    "command",
    [
        "x -c 'ab'",  # nothing suspect
        "x --cache 'a;b'",
        "x --evaluate 'a;b'",
        "x -cx 'a;b'",
        "x y-c 'a;b'",
        "x -c\n",  # active, but by approval/A-51
    ],
)
def test_without_both_halves_nothing_is_brought_back(command):
    """approval/A-54 needs a suspect character and a standalone option."""
    found = active_control(command)

    assert found is None or found.rule is ControlRule.UNQUOTED


@given(st.text(st.characters(exclude_characters="'\"\\"), max_size=20), st.sampled_from(CONTROLS), st.text())
def test_no_allow_ever_applies_to_a_command_with_a_bare_control_character(before, character, after):
    """approval/A-47: whatever stands around it, and however wide the rule."""
    verdict = explain(before + character + after, parse_rules(setting(("*", "allow"))))

    assert verdict.decision.policy is None
    assert verdict.active_control is not None


@given(st.text(st.characters(exclude_characters="'\"\\"), max_size=20), st.sampled_from("`$"), st.text())
def test_no_allow_ever_applies_to_a_command_that_expands_in_double_quotes(before, character, after):
    """approval/A-47 with approval/A-52."""
    verdict = explain(f'"{before}{character}{after}', parse_rules(setting(("*", "allow"))))

    assert verdict.decision.policy is None


# ------------------------------------------------------------------------------------------- segments, 9.3


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("a\nb;c&d|e(f)g", ("a", "b", "c", "d", "e", "f", "g")),
        ("a && b || c", ("a", "b", "c")),
        ("  a \t b  ", ("a b",)),
        ("'rm' x", ("rm x",)),
        (r"r\m x", ("rm x",)),
        ("r''m x", ("rm x",)),
        ("'a;b' c", ("a;b c",)),
        (r"'a\' b", (r"a\ b",)),
        (r'"a\"b\\c\$d\`e\f" g', (r'a"b\c$d`e\f g',)),
        (r"a\;b c\ d", ("a;b c d",)),
        ("echo `rm x`", ("echo `rm x`",)),
        ("echo $(rm x)", ("echo $", "rm x")),
        (";;& |\n", ()),
        ("'' x", ("x",)),
        ("a\rb", ("a\rb",)),
        ("a\\", ("a\\",)),
        ("echo 'open", ("echo open",)),
    ],
)
def test_a_line_is_split_at_operators_and_its_quotes_are_taken_off(command, found):
    """approval/A-55."""
    assert segments(command) == found


# --------------------------------------------------------------------------------------------- chains, 9.7


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git status && npm test", ALLOW),
        ("git status && ls", EXEC),
        ("cd x && git status", EXEC),
        ("git status", ALLOW),
    ],
)
def test_a_chain_is_allowed_command_by_command_only_where_the_switch_is_on(command, decision):
    """approval/A-60's examples; approval/A-61: off by default, and then `&&` keeps every allow from applying."""
    rules = parse_rules(CHAIN_RULES)

    assert classify(command, rules, compound=True) == decision
    assert classify(command, rules) == (EXEC if "&&" in command else decision)


def test_a_chain_is_explained_by_its_commands():
    """approval/A-59: the segments are the commands as written, and the row is that of chains."""
    rules = parse_rules(CHAIN_RULES)

    assert explain("git 'status' && npm test", rules, compound=True) == BashVerdict(
        decision=ALLOW,
        row=BashRow.CHAIN_COMMANDS,
        rule=rules[0],
        segment="git 'status'",
        segments=("git 'status'", "npm test"),
    )


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "a && ",
        "&& a",
        "a && && b",
        "a & b",
        "a && b | c",
        "a && b; c",
        "a && b > f",
        "a && (b)",
        "a && $x",
        'a && "$x"',
        'a && "`x`"',
        "a && b*",
        "a && b?",
        "a && [b]",
        "a && {b}",
        "a && ~b",
        "a && b # c",
        "a && b\n",
        "a && 'b\x07'",
        "a && 'b",
        "a && b\\",
        "a && x=1",
        "a && b x+=1",
        "a && b -c",
        "a && b -xe",
        "a && b --eval=1",
        "a && b --command",
        "a && '' b",
        "a && sh x",
        "a && /bin/bash x",
        "a && env b",
        "sudo a && b",
        "busybox a && b",
        *(f"{name} x && b" for name in ("cd", "export", "eval", "source", ".", "test", "printf", "read", "trap")),
        *(f"{name} x && b" for name in ("if", "!", "set", "exec", "alias", "setopt")),
    ],
)
def test_anything_a_shell_would_have_to_interpret_is_no_literal_chain(command):
    """approval/A-58: then approval/B1 to approval/B5 apply unchanged, switch or no switch."""
    rules = parse_rules(setting(("*", "allow")))

    assert literal_chain(command) is None
    assert explain(command, rules, compound=True) == explain(command, rules)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("a && b", (("a",), ("b",))),
        ("a&&b  -x", (("a",), ("b", "-x"))),
        ("a 'x;y' && b \"z|\" \\$", (("a", "x;y"), ("b", "z|", "$"))),
        ("a '' && b#c", (("a", ""), ("b#c",))),
        ("git cd && npm test", (("git", "cd"), ("npm", "test"))),
        ("-c x && b", (("-c", "x"), ("b",))),  # the first word is a name, not an option
        ("a --cache && b -ex", (("a", "--cache"), ("b", "-ex"))),
        ("a && b && c", (("a",), ("b",), ("c",))),
    ],
)
def test_a_flat_chain_of_literal_commands_is_split_into_its_words(command, words):
    """approval/A-58."""
    chain = literal_chain(command)

    assert chain is not None
    assert tuple(link.words for link in chain) == words


def test_a_restriction_on_the_chain_as_a_whole_counts_and_a_deny_beats_a_prompt_in_any_order():
    """approval/A-59a: such a rule matches the whole chain and none of its commands."""
    rules = parse_rules(setting(("a * b", "prompt"), ("a && b", "deny"), ("*", "allow")))

    verdict = explain("a && b", rules, compound=True)

    assert (verdict.decision, verdict.row, verdict.rule) == (denied("a && b"), BashRow.CHAIN, rules[1])


@pytest.mark.parametrize(
    ("rules", "decision", "row"),
    [
        ((("a * b", "prompt"), ("b", "deny"), ("a", "allow")), denied("b"), BashRow.CHAIN_COMMANDS),
        ((("b", "prompt"), ("a", "prompt")), prompted("a"), BashRow.CHAIN_COMMANDS),
        ((("b", "prompt"), ("a * b", "prompt")), prompted("a * b"), BashRow.CHAIN),
        ((("a", "allow"), ("b", "allow")), ALLOW, BashRow.CHAIN_COMMANDS),
        ((("a", "allow"),), EXEC, BashRow.CHAIN_COMMANDS),
        ((("b", "allow"), ("b", "deny"), ("a", "allow")), ALLOW, BashRow.CHAIN_COMMANDS),
        ((("a", "allow"), ("b", "allow"), ("*", "deny")), ALLOW, BashRow.CHAIN_COMMANDS),  # hidden in both
    ],
)
def test_the_commands_of_a_chain_are_judged_alone_and_the_strictest_answer_wins(rules, decision, row):
    """approval/A-59b: any deny, else the first prompt, else all allowed, else bare."""
    verdict = explain("a && b", parse_rules(setting(*rules)), compound=True)

    assert (verdict.decision, verdict.row) == (decision, row)


def test_in_a_chain_a_prompt_precedes_a_critical_shape():
    """approval/A-60, the reverse of approval/B2 and approval/B4; and quotes hide no critical command here."""
    rules = parse_rules(setting(("rm *", "prompt"), ("ls", "allow")))

    assert classify("ls && rm -rf /", rules) == CRITICAL
    assert classify("ls && rm -rf /", rules, compound=True) == prompted("rm *")
    assert classify("ls && 'rm' -rf /", parse_rules(setting(("*", "allow"))), compound=True) == CRITICAL
