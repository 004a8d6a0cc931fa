"""Remembered rules: what one says, where it lives, and which of several answers a call.

A rule answers only what a gate put up as a prompt (gate/O6). Among rules the order is total and `rank` states it:
the narrowest scope with a match decides (gate/R8); in it a pattern comes before the bare rule (gate/R10); among
patterns a deny comes first, then plain string order (gate/R12). So a deny does not win as such: neither across
scopes nor over a more specific allow (gate/R13).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from labsim.gate.base import words
from labsim.gate.base.errors import NotDurable, ProjectIdRequired
from labsim.gate.base.request import AuthorizationDecision


def compact_json(value: Any) -> str:
    """`value` as rules see it: no spaces, keys sorted at every depth, non-ASCII characters as they are (gate/P7),
    and quotation marks with their backslash (gate/P9).

    Raises: ValueError or TypeError, if it is no JSON value.
    """
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False, allow_nan=False)


def matches(pattern: str, text: str) -> bool:
    """Whether the whole of `text` fits `pattern`. Finds a way to fit it whenever there is one (gate/P6).

    A star is any run of characters, a question mark one character, and all else stands for itself, brackets and
    backslashes too (gate/P1 to gate/P5).

    Only the last star has to be remembered: whatever an earlier star could still take over, the last one can too.
    That bounds the work by `len(pattern) * len(text)`, for every pattern.
    """
    at = in_pattern = 0
    star = -1  # where the last star stands in the pattern; -1: none was met
    resume = 0  # where in the text that star's run ends so far
    while at < len(text):
        if in_pattern < len(pattern) and pattern[in_pattern] == "*":
            star, resume = in_pattern, at
            in_pattern += 1
        elif in_pattern < len(pattern) and pattern[in_pattern] in ("?", text[at]):  # gate/P2, gate/P3
            at += 1
            in_pattern += 1
        elif star >= 0:
            resume += 1  # let the last star take one character more, and try again behind it
            at, in_pattern = resume, star + 1
        else:
            return False
    return not pattern[in_pattern:].strip("*")  # all of both is used up (gate/P4)


class RuleScope(StrEnum):
    """How far a remembered rule holds, narrowest first; which of them are stored is gate/R2."""

    PROCESS = "process"  # one live session; never stored, gone with it (gate/R1)
    SESSION = "session"  # durable, by the agent's stable id
    PROJECT = "project"  # durable, shared by sessions of one project
    GLOBAL = "global"  # durable, every session of the store


_NARROWNESS: Final = {scope: number for number, scope in enumerate(RuleScope)}
DURABLE_SCOPES: Final = (RuleScope.SESSION, RuleScope.PROJECT, RuleScope.GLOBAL)


class RuleKey(Struct, frozen=True):
    """Which calls a rule is about. Without a pattern it is *bare*: every call of that tool (gate/A3)."""

    tool_name: str  # compared exactly; there is no pattern on names (gate/R14)
    pattern: str | None = None

    def matches(self, tool_name: str, text: str | None) -> bool:
        """Whether a call is covered. `text` is its input as compact JSON; None fits no pattern (gate/P8)."""
        if tool_name != self.tool_name:  # gate/R14
            return False
        return self.pattern is None or (text is not None and matches(self.pattern, text))


class RuleAddress(Struct, frozen=True):
    """The identity of one rule: the same key may stand once in each scope (gate/R15)."""

    scope: RuleScope
    key: RuleKey


class RememberedRule(Struct, frozen=True, kw_only=True):
    """One answer that was given ahead."""

    key: RuleKey
    allow: bool
    scope: RuleScope
    reason: str | None = None  # None: none was given, or it was stored before reasons were kept

    @property
    def address(self) -> RuleAddress:
        return RuleAddress(self.scope, self.key)

    def decision(self) -> AuthorizationDecision:
        """What the rule answers: an allow without a reason, or a deny with gate/W5 or gate/W6 (gate/R16). The
        reason is its own (gate/R17).
        """
        if self.allow:
            return AuthorizationDecision.allow()
        return AuthorizationDecision.deny(words.remembered_refusal(self.reason))


class RuleContext(Struct, frozen=True):
    """Whose rules apply. `session_id` is the agent's stable id, not that of one attachment to it.

    `project_id` None means no project; "" is a project of its own (gate/R4).
    """

    session_id: str
    project_id: str | None = None

    def namespace(self, scope: RuleScope) -> str:
        """What separates the rules of one durable scope from those of others (gate/R2, gate/R4).

        Raises: NotDurable (gate/W19), for the process scope; ProjectIdRequired (gate/W18), for a project that is
        not there.
        """
        if scope is RuleScope.PROCESS:
            raise NotDurable  # gate/R6
        if scope is RuleScope.SESSION:
            return self.session_id
        if scope is RuleScope.PROJECT:
            if self.project_id is None:
                raise ProjectIdRequired
            return self.project_id
        return ""

    def durable_scopes(self) -> tuple[RuleScope, ...]:
        """The durable scopes that this context has: no process scope (gate/R6), and no project's without a
        project (gate/R4).
        """
        return tuple(
            scope for scope in DURABLE_SCOPES if scope is not RuleScope.PROJECT or self.project_id is not None
        )


def rank(rule: RememberedRule) -> tuple[int, bool, bool, str, str]:
    """A rule's place among those that match one call; the smallest answers. Equal only at the same address.

    The scope comes before the pattern (gate/R11).
    """
    return (
        _NARROWNESS[rule.scope],  # gate/R8
        rule.key.pattern is None,  # gate/R10
        rule.allow,  # a deny first, but only now (gate/R12, gate/R13)
        rule.key.tool_name,
        rule.key.pattern or "",
    )


def winner(rules: Iterable[RememberedRule], tool_name: str, text: str | None) -> RememberedRule | None:
    """The rule that answers a call, or None: the narrowest that fits (gate/R8).

    The order in which rules are given does not count (gate/R12).
    """
    return min((rule for rule in rules if rule.key.matches(tool_name, text)), key=rank, default=None)


def listed(rules: Iterable[RememberedRule]) -> tuple[RememberedRule, ...]:
    """Rules in the order they are shown: scope, tool, patterns sorted, the bare rule last (gate/R19)."""
    return tuple(
        sorted(
            rules,
            key=lambda rule: (
                _NARROWNESS[rule.scope],
                rule.key.tool_name,
                rule.key.pattern is None,
                rule.key.pattern or "",
            ),
        )
    )


def deduplicated(rules: Iterable[RememberedRule]) -> tuple[RememberedRule, ...]:
    """One rule for each address: a deny first, then one with a reason, then the smallest reason (gate/R21).

    Old data may hold several at one address; reading them must not depend on which was written last.
    """
    kept: dict[RuleAddress, RememberedRule] = {}
    for rule in sorted(rules, key=lambda rule: (rule.allow, rule.reason is None, rule.reason or "")):
        kept.setdefault(rule.address, rule)
    return tuple(kept.values())
