"""Critical commands, and commands too long to be meant well (approval/C1 to approval/C14)."""

from __future__ import annotations

import time

import pytest
from bash_kit import CRITICAL, CRITICAL_EXAMPLES, denied, setting

from labsim.bash import (
    CRITICAL_SHAPES,
    BashRow,
    BashVerdict,
    CriticalRule,
    classify,
    critical_rule,
    explain,
    parse_rules,
)


def test_the_examples_below_cover_every_critical_rule():
    """9.4: approval/C1 to approval/C14, and every one of them has a shape."""
    assert list(CRITICAL_EXAMPLES) == [rule.value for rule in CriticalRule]
    assert list(dict.fromkeys(shape.rule for shape in CRITICAL_SHAPES)) == list(CriticalRule)


@pytest.mark.parametrize(
    ("rule", "command"), [(rule, command) for rule, (yes, _) in CRITICAL_EXAMPLES.items() for command in yes]
)
def test_a_critical_shape_is_found_anywhere_in_the_text(rule, command):
    """approval/C1 to approval/C14, where each holds."""
    shapes = {shape.rule.value for shape in CRITICAL_SHAPES if shape.found_in(command)}

    assert rule in shapes
    assert classify(command, ()) == CRITICAL


@pytest.mark.parametrize(
    ("rule", "command"), [(rule, command) for rule, (_, no) in CRITICAL_EXAMPLES.items() for command in no]
)
def test_a_text_that_only_resembles_a_critical_shape_is_none(rule, command):
    """approval/C1 to approval/C14, a step beside each."""
    shapes = {shape.rule.value for shape in CRITICAL_SHAPES if shape.found_in(command)}

    assert rule not in shapes


def test_the_shape_that_was_found_is_named_also_where_another_row_decides():
    """9.5: a deny comes first, and the learner still sees that the text is critical."""
    rules = parse_rules(setting(("rm *", "deny")))

    assert explain("rm -rf /", rules) == BashVerdict(
        decision=denied("rm *"),
        row=BashRow.DENY,
        rule=rules[0],
        segments=("rm -rf /",),
        critical=CriticalRule.C1,
    )
    assert critical_rule("sudo rm -rf /") is CriticalRule.C1
    assert critical_rule("ls") is None


def test_an_allow_cannot_vouch_for_a_critical_command():
    """approval/A-56 and approval/A-57: a reboot that is only a name counts, and approval/B2 outranks the rule that
    applies.
    """
    rules = parse_rules(setting(("*", "allow")))

    assert explain("find . -name reboot", rules) == BashVerdict(
        decision=CRITICAL,
        row=BashRow.CRITICAL,
        rule=rules[0],
        segments=("find . -name reboot",),
        critical=CriticalRule.C13,
    )


N = 100_000
HOSTILE = [
    "a" * N,
    " " * N,
    "rm " + "-x " * (N // 3),
    "rm " + "-rm " * (N // 4),
    "rm -" + "r" * N,
    "sudo" + " " * N,
    "chown -R " + "x" * N,
    "curl " * (N // 5) + "| x",
    "curl |" * (N // 6),
    "dd if=" * (N // 6),
    "dd " * (N // 3),
    "nc -" + "e" * N,
    "nc -e" * (N // 5),
    "nc " * (N // 3),
    "-c" * (N // 2) + "'a;b'",
    " -" + "c" * N + "'a;b'",
    ":()" + " " * N,
    "'" * N,
    "\\" * N,
    "&&" * (N // 2),
    "a && " * (N // 5) + "a",
    "a;" * (N // 2),
    "eval " * (N // 5),
    "kill -9 " * (N // 8),
]


@pytest.mark.slow
@pytest.mark.parametrize("command", HOSTILE, ids=lambda command: repr(command[:12]))
def test_a_hundred_thousand_hostile_characters_are_classified_in_linear_time(command):
    """No expression tries a stretch twice: linear takes about a second, quadratic minutes; the bound is loose."""
    rules = parse_rules(setting(("*a" * 50 + "*b", "deny"), ("rm *", "prompt"), ("*", "allow")))
    began = time.process_time()

    for compound in (False, True):
        explain(command, rules, compound=compound)

    assert time.process_time() - began < 20
