"""The order of resolution: the worked table as the specification prints it, and each row as a whole record."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from labsim.approval import Resolution, resolve
from labsim.terms import ApprovalMode, Policy, Rule, Source, Tier
from labsim.tool import Tool, ToolResult

ALLOW, DENY, PROMPT = Policy.ALLOW, Policy.DENY, Policy.PROMPT
ASK, WRITE, YOLO = ApprovalMode.ALWAYS_ASK, ApprovalMode.WRITE, ApprovalMode.YOLO


def resolved(approval: Any = UNSET, *, user: Any = UNSET, mode: ApprovalMode = ASK) -> Resolution:
    tool = Tool(name="t", execute=lambda call: ToolResult(content=[]), approval=approval)
    return resolve(tool, {"action": "publish"}, mode=mode, policies={} if user is UNSET else {"t": user})


# approval/R1 to approval/R9: the worked table, 15 declarations x 4 user values x 3 modes.
# Each cell is what the specification prints.

DECLARATIONS: dict[str, Any] = {
    "omitted": UNSET,
    "read": "read",
    "write": "write",
    "exec": "exec",
    "unknown word": "Read",
    "allow": {"tier": "exec", "policy": "allow"},
    "prompt": {"tier": "read", "policy": "prompt"},
    "deny": {"tier": "read", "policy": "deny"},
    "override": {"tier": "read", "override": True},
    "override + allow": {"tier": "exec", "override": True, "policy": "allow"},
    "override + prompt": {"tier": "read", "override": True, "policy": "prompt"},
    "keyed": {"tier": "write", "policyKey": "slot"},
    "reason only": {"reason": "because"},
    "every field bad": {"tier": "READ", "override": 1, "policy": "perhaps", "reason": "", "policyKey": 3},
    "a list": ["read"],
}
WORKED = """
    declaration       | user   | always-ask   | write        | yolo
    omitted           | -      | prompt(mode) | prompt(mode) | allow(mode)
    omitted           | allow  | allow(user)  | allow(user)  | allow(user)
    omitted           | prompt | prompt(user) | prompt(user) | prompt(user)
    omitted           | deny   | deny(user)   | deny(user)   | deny(user)
    read              | -      | allow(mode)  | allow(mode)  | allow(mode)
    read              | allow  | allow(user)  | allow(user)  | allow(user)
    read              | prompt | prompt(user) | prompt(user) | prompt(user)
    read              | deny   | deny(user)   | deny(user)   | deny(user)
    write             | -      | prompt(mode) | allow(mode)  | allow(mode)
    write             | allow  | allow(user)  | allow(user)  | allow(user)
    write             | prompt | prompt(user) | prompt(user) | prompt(user)
    write             | deny   | deny(user)   | deny(user)   | deny(user)
    exec              | -      | prompt(mode) | prompt(mode) | allow(mode)
    exec              | allow  | allow(user)  | allow(user)  | allow(user)
    exec              | prompt | prompt(user) | prompt(user) | prompt(user)
    exec              | deny   | deny(user)   | deny(user)   | deny(user)
    unknown word      | -      | prompt(mode) | prompt(mode) | allow(mode)
    unknown word      | allow  | allow(user)  | allow(user)  | allow(user)
    unknown word      | prompt | prompt(user) | prompt(user) | prompt(user)
    unknown word      | deny   | deny(user)   | deny(user)   | deny(user)
    allow             | -      | allow(tool)  | allow(tool)  | allow(tool)
    allow             | allow  | allow(tool)  | allow(tool)  | allow(tool)
    allow             | prompt | allow(tool)  | allow(tool)  | allow(tool)
    allow             | deny   | deny(user)   | deny(user)   | deny(user)
    prompt            | -      | prompt(tool) | prompt(tool) | prompt(tool)
    prompt            | allow  | prompt(tool) | prompt(tool) | prompt(tool)
    prompt            | prompt | prompt(tool) | prompt(tool) | prompt(tool)
    prompt            | deny   | deny(user)   | deny(user)   | deny(user)
    deny              | -      | deny(tool)   | deny(tool)   | deny(tool)
    deny              | allow  | deny(tool)   | deny(tool)   | deny(tool)
    deny              | prompt | deny(tool)   | deny(tool)   | deny(tool)
    deny              | deny   | deny(tool)   | deny(tool)   | deny(tool)
    override          | -      | prompt(tool) | prompt(tool) | allow(mode)
    override          | allow  | prompt(tool) | prompt(tool) | allow(user)
    override          | prompt | prompt(tool) | prompt(tool) | prompt(user)
    override          | deny   | deny(user)   | deny(user)   | deny(user)
    override + allow  | -      | allow(tool)  | allow(tool)  | allow(tool)
    override + allow  | allow  | allow(tool)  | allow(tool)  | allow(tool)
    override + allow  | prompt | allow(tool)  | allow(tool)  | allow(tool)
    override + allow  | deny   | deny(user)   | deny(user)   | deny(user)
    override + prompt | -      | prompt(tool) | prompt(tool) | prompt(tool)
    override + prompt | allow  | prompt(tool) | prompt(tool) | prompt(tool)
    override + prompt | prompt | prompt(tool) | prompt(tool) | prompt(tool)
    override + prompt | deny   | deny(user)   | deny(user)   | deny(user)
    keyed             | -      | prompt(mode) | allow(mode)  | allow(mode)
    keyed             | allow  | allow(user)  | allow(user)  | allow(user)
    keyed             | prompt | prompt(user) | prompt(user) | prompt(user)
    keyed             | deny   | deny(user)   | deny(user)   | deny(user)
    reason only       | -      | prompt(mode) | prompt(mode) | allow(mode)
    reason only       | allow  | allow(user)  | allow(user)  | allow(user)
    reason only       | prompt | prompt(user) | prompt(user) | prompt(user)
    reason only       | deny   | deny(user)   | deny(user)   | deny(user)
    every field bad   | -      | prompt(mode) | prompt(mode) | allow(mode)
    every field bad   | allow  | allow(user)  | allow(user)  | allow(user)
    every field bad   | prompt | prompt(user) | prompt(user) | prompt(user)
    every field bad   | deny   | deny(user)   | deny(user)   | deny(user)
    a list            | -      | prompt(mode) | prompt(mode) | allow(mode)
    a list            | allow  | allow(user)  | allow(user)  | allow(user)
    a list            | prompt | prompt(user) | prompt(user) | prompt(user)
    a list            | deny   | deny(user)   | deny(user)   | deny(user)
"""
ROWS = [[cell.strip() for cell in line.split("|")] for line in WORKED.strip().splitlines()[1:]]


def test_the_worked_table_is_the_whole_product() -> None:
    """15 declarations x 4 user values, each in 3 modes."""
    assert len(ROWS) == len({(row[0], row[1]) for row in ROWS}) == 15 * 4
    assert {row[0] for row in ROWS} == set(DECLARATIONS)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]} with user {row[1]}" for row in ROWS])
def test_a_row_of_the_worked_table(row: list[str]) -> None:
    """approval/R1 to approval/R9: who decided, and what, in each of the three modes."""
    declaration, user, *expected = row
    got = [
        resolved(DECLARATIONS[declaration], user=UNSET if user == "-" else user, mode=mode)
        for mode in (ASK, WRITE, YOLO)
    ]

    assert [f"{found.policy}({found.source})" for found in got] == expected


SAID = {"tier": "write", "reason": "because", "policyKey": "slot"}


@pytest.mark.parametrize(
    ("declared", "user", "mode", "expected"),
    [
        (
            {**SAID, "override": True, "policy": "deny"},
            "allow",
            YOLO,
            Resolution(
                policy=DENY,
                tier=Tier.WRITE,
                source=Source.TOOL,
                rule=Rule.R1,
                override=True,
                reason="because",
                policy_key="slot",
            ),
        ),
        (
            {**SAID, "override": True, "policy": "allow"},
            "deny",
            YOLO,
            Resolution(
                policy=DENY, tier=Tier.WRITE, source=Source.USER, rule=Rule.R2, override=True, policy_key="t"
            ),
        ),
        (
            {**SAID, "override": True, "policy": "prompt"},
            "allow",
            YOLO,
            Resolution(
                policy=PROMPT,
                tier=Tier.WRITE,
                source=Source.TOOL,
                rule=Rule.R3,
                reason="because",
                policy_key="slot",
            ),
        ),
        (
            {**SAID, "override": True},
            "prompt",
            YOLO,
            Resolution(policy=PROMPT, tier=Tier.WRITE, source=Source.USER, rule=Rule.R4A, policy_key="t"),
        ),
        (
            {**SAID, "override": True},
            UNSET,
            YOLO,
            Resolution(policy=ALLOW, tier=Tier.WRITE, source=Source.MODE, rule=Rule.R4B),
        ),
        (
            {**SAID, "override": True},
            "allow",
            WRITE,
            Resolution(
                policy=PROMPT,
                tier=Tier.WRITE,
                source=Source.TOOL,
                rule=Rule.R5,
                override=True,
                reason="because",
                policy_key="slot",
            ),
        ),
        (
            {**SAID, "override": True, "policy": "allow"},
            "prompt",
            ASK,
            Resolution(
                policy=ALLOW,
                tier=Tier.WRITE,
                source=Source.TOOL,
                rule=Rule.R5,
                override=True,
                reason="because",
                policy_key="slot",
            ),
        ),
        (
            {**SAID, "policy": "allow"},
            "prompt",
            ASK,
            Resolution(
                policy=ALLOW,
                tier=Tier.WRITE,
                source=Source.TOOL,
                rule=Rule.R6,
                reason="because",
                policy_key="slot",
            ),
        ),
        (
            SAID,
            "prompt",
            WRITE,
            Resolution(policy=PROMPT, tier=Tier.WRITE, source=Source.USER, rule=Rule.R7, policy_key="t"),
        ),
        (SAID, UNSET, WRITE, Resolution(policy=ALLOW, tier=Tier.WRITE, source=Source.MODE, rule=Rule.R8)),
        (
            SAID,
            UNSET,
            ASK,
            Resolution(policy=PROMPT, tier=Tier.WRITE, source=Source.MODE, rule=Rule.R9, reason="because"),
        ),
    ],
    ids=[
        "approval/R1",
        "approval/R2",
        "approval/R3",
        "approval/R4a",
        "approval/R4b",
        "approval/R5 prompt",
        "approval/R5 allow",
        "approval/R6",
        "approval/R7",
        "approval/R8",
        "approval/R9",
    ],
)
def test_a_row_of_the_order_gives_the_whole_record(
    declared: dict[str, Any], user: Any, mode: ApprovalMode, expected: Resolution
) -> None:
    """approval/R1 to approval/R9, row by row: override, reason and key are kept or dropped as the row says
    (approval/A-29).
    """
    assert resolved(declared, user=user, mode=mode) == expected


def test_four_corollaries_that_surprise() -> None:
    """approval/A-28: what a user's word does not do, and what yolo does not."""
    assert resolved({"policy": "allow"}, user="prompt").policy is ALLOW
    assert resolved({"tier": "read", "policy": "prompt"}, user="allow").policy is PROMPT
    assert resolved({"policy": "allow"}, user="deny").policy is DENY
    assert resolved({"override": True}, mode=YOLO).policy is ALLOW
    assert resolved({"policy": "prompt"}, mode=YOLO).policy is PROMPT
