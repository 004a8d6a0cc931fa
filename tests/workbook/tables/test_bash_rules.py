"""Rules for commands as a learner's table: what each list makes of each command, with the reason in words."""

from __future__ import annotations

import pytest

from workbook.tables.bash_rules import BadCommand, BadRule, bash_rules

RULES = [("git status*", "allow"), ("rm *", "deny"), ("npm publish*", "prompt")]


def rows(table: object, *columns: str) -> list[tuple[str, ...]]:
    return [tuple(row) for row in table[list(columns)].itertuples(index=False)]  # type: ignore[index]


def test_each_command_has_its_verdict_its_row_and_what_becomes_of_it() -> None:
    """approval/B1 to approval/B5, and the outcome in the mode: an allow runs, a deny is refused, the rest is asked
    about.
    """
    commands = ["git status", "git status; rm notes", "echo 'rm notes'", "npm publish", "sudo rm x"]

    table = bash_rules(RULES, commands)

    assert rows(table, "command", "verdict", "row", "in always-ask") == [
        ("git status", "allow", "approval/B3", "runs unasked"),
        ("git status; rm notes", "deny", "approval/B1", "is refused"),
        ("echo 'rm notes'", "no rule", "approval/B5", "is asked about"),
        ("npm publish", "prompt", "approval/B4", "is asked about"),
        ("sudo rm x", "critical", "approval/B2", "is asked about"),
    ]


def test_a_critical_command_is_not_asked_about_in_yolo_and_a_prompt_rule_is() -> None:
    """approval/A-57: a bare override is gone in yolo, a prompt by a rule is not."""
    table = bash_rules(RULES, ["sudo rm x", "npm publish"], mode="yolo")

    assert list(table["in yolo"]) == ["runs unasked", "is asked about"]


def test_an_allow_that_could_not_vouch_for_the_whole_command_says_what_stood_in_its_way() -> None:
    """approval/A-47, approval/A-51 and approval/A-52: the character that could run something else is named."""
    table = bash_rules([("git *", "allow")], ["git log && ls", 'git log "$HOME"', "git log 'a;b'", "git log\nls"])

    assert list(table["because"]) == [
        "git * matches, but & could run something else",
        "git * matches, but $ could run something else",
        "the whole command matches git *, and nothing else could run",
        "git * matches, but line break could run something else",
    ]


def test_a_chain_is_judged_in_parts_only_when_asked_to() -> None:
    """approval/A-58 and approval/A-61: off by default."""
    rules, command = [("git *", "allow"), ("npm test", "allow")], ["git status && npm test"]

    assert list(bash_rules(rules, command)["verdict"]) == ["no rule"]
    assert list(bash_rules(rules, command, compound=True)["verdict"]) == ["allow"]


@pytest.mark.parametrize("rule", [("git *", "alow"), ("", "allow"), ("git *",), "git *: allow", (3, "deny")])
def test_a_rule_that_the_host_would_skip_is_refused_with_its_place(rule: object) -> None:
    """approval/A-43 skips it without a word; a learner is told."""
    with pytest.raises(BadRule, match=r"Rule 2 is .*the host would skip it"):
        bash_rules([("ls", "allow"), rule], ["ls"])  # type: ignore[list-item]


def test_a_command_that_is_no_text_is_refused_with_its_place() -> None:
    """Commands are data, and data of the wrong kind is said to be so."""
    with pytest.raises(BadCommand, match=r"Command 1 is 3\."):
        bash_rules(RULES, [3])  # type: ignore[list-item]
