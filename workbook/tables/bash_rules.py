"""Rules for commands, as tables: what each rule list makes of each command, and why.

Rules and commands are a learner's own data, so they are checked before they are used, and shown as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from labsim.approval import Settings, approval_inputs, resolve
from labsim.bash import BashRow, BashRule, BashVerdict, bash_tool, explain, parse_rules
from labsim.call.inert import InertExecutor
from labsim.stage.stage import Stage
from labsim.terms import ApprovalMode, Policy
from workbook.errors import WorkbookError
from workbook.show.frame import TEXT, Look, Table


class BadRule(WorkbookError):
    """A rule that the host would skip without a word. Attributes: `place` (from 1), `found`."""

    def __init__(self, place: int, value: object) -> None:
        self.place = place
        self.found = value
        super().__init__(
            f"Rule {place} is {value!r}, and the host would skip it without a word. "
            'Write a pattern and one of allow, deny, prompt: ("git status*", "allow").'
        )


class BadCommand(WorkbookError):
    """A command is a text. Attributes: `place` (from 1), `found`."""

    def __init__(self, place: int, value: object) -> None:
        self.place = place
        self.found = value
        super().__init__(f'Command {place} is {value!r}. A command is a text, such as "git status".')


def bash_rules(
    rules: Iterable[tuple[str, str]], commands: Sequence[str], *, mode: str = "always-ask", compound: bool = False
) -> Table:
    """What a list of rules makes of each command. Nothing is run: a command is text, and is classified.

    `rules`: pairs of a pattern (`*` stands for anything) and `allow`, `deny` or `prompt`; the first that applies
    decides. `mode`: the host's mode, for the last column. `compound`: judge the parts of an `&&` chain one by one,
    which the host does only when told to.
    Columns: `command`, `verdict` (allow, deny, prompt, critical, or nothing), `row` (approval/B1 to approval/B5, or
    approval/A-59), `because`, `in this mode` (what becomes of the call), all strings.
    Raises: BadRule, BadCommand.
    """
    parsed = parsed_rules(list(rules))
    verdicts = [_verdict(place, command, parsed, compound) for place, command in enumerate(commands, start=1)]
    return Table(
        {
            "command": list(commands),
            "verdict": [_word(verdict) for verdict in verdicts],
            "row": [str(verdict.row) for verdict in verdicts],
            "because": [_because(verdict) for verdict in verdicts],
            f"in {mode}": [_outcome(command, parsed, mode, compound) for command in commands],
        },
        {"command": TEXT, "verdict": TEXT, "row": TEXT, "because": TEXT, f"in {mode}": TEXT},
        Look(
            caption=f"Rules: {', '.join(f'{rule.match} → {rule.approval}' for rule in parsed) or 'none'}",
            header="command",
        ),
    )


def parsed_rules(rules: list[Any]) -> tuple[BashRule, ...]:
    """Pairs of a pattern and a word as rules. Raises: BadRule, where the host would skip one without a word."""
    parsed: list[BashRule] = []
    for place, rule in enumerate(rules, start=1):
        if not isinstance(rule, tuple | list) or len(rule) != 2:
            raise BadRule(place, rule)
        found = parse_rules([{"match": rule[0], "approval": rule[1]}])
        if not found:
            raise BadRule(place, rule)
        parsed.extend(found)
    return tuple(parsed)


def _verdict(place: int, command: object, rules: tuple[BashRule, ...], compound: bool) -> BashVerdict:
    if not isinstance(command, str):
        raise BadCommand(place, command)
    return explain(command, rules, compound=compound)


def _word(verdict: BashVerdict) -> str:
    if verdict.decision.policy is not None:
        return str(verdict.decision.policy)
    return "critical" if verdict.decision.override else "no rule"


def _because(verdict: BashVerdict) -> str:
    part = f"its part “{verdict.segment}” matches" if verdict.segment is not None else "the whole command matches"
    match verdict.row:
        case BashRow.DENY | BashRow.PROMPT | BashRow.CHAIN if verdict.rule is not None:
            return f"{part} {verdict.rule.match}"
        case BashRow.ALLOW if verdict.rule is not None:
            return f"the whole command matches {verdict.rule.match}, and nothing else could run"
        case BashRow.CRITICAL:
            masked = f"; this outranks {verdict.rule.match}" if verdict.rule is not None else ""
            return f"a critical shape ({verdict.critical}){masked}"
        case BashRow.CHAIN_COMMANDS:
            return f"each of its {len(verdict.segments)} commands was judged by itself"
    if verdict.refused is not None and verdict.active_control is not None:
        control = verdict.active_control.replace("\n", "line break")
        return f"{verdict.refused.match} matches, but {control} could run something else"
    return "no rule matches"


def _outcome(command: str, rules: tuple[BashRule, ...], mode: str, compound: bool) -> str:
    known = ApprovalMode(mode)
    patterns = [{"match": rule.match, "approval": rule.approval.value} for rule in rules]
    tool = bash_tool(InertExecutor(Stage(), "bash"), patterns, compound=compound)
    inputs, policies = approval_inputs(Settings(known), None)
    found = resolve(tool, {"command": command}, mode=inputs, policies=policies)
    words = {Policy.ALLOW: "runs unasked", Policy.DENY: "is refused", Policy.PROMPT: "is asked about"}
    return words[found.policy]
