"""Classification of one command: which rule applies, and what the tool declares about the call.

The command is text, and is only ever looked at (approval/A-50). The order of the branches is the rule.

The whole line and a literal chain are two orders, not one: on a whole line a critical shape outranks a prompt rule
(approval/B2 before approval/B4), in a chain the prompt outranks the shape (approval/A-60).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from labsim.approval import Decision
from labsim.bash.critical import CriticalRule, critical_rule
from labsim.bash.patterns import BashRule, normalise
from labsim.bash.shell import ActiveControl, ChainLink, active_control, literal_chain, segments
from labsim.terms import Policy, Tier

CRITICAL_REASON: Final = "Critical pattern detected"


class BashRow(StrEnum):
    """The row that decided: approval/B1 to approval/B5 for a whole line, approval/A-59a and approval/A-59b for a
    literal chain.
    """

    DENY = "approval/B1"
    CRITICAL = "approval/B2"
    ALLOW = "approval/B3"
    PROMPT = "approval/B4"
    BARE = "approval/B5"
    CHAIN = "approval/A-59a"  # a rule that matches the chain as a whole and none of its commands
    CHAIN_COMMANDS = "approval/A-59b"  # the commands of the chain, each by itself


class BashVerdict(Struct, frozen=True, kw_only=True):
    """A classification and everything that led to it.

    `rule` is the rule that applies, whether or not it decided: under approval/B2 it is the one that the critical
    shape outranked. `segment` is the simple command it matched, None where it matched the whole. `control` is what
    would keep any allow rule from applying, and `refused` the first allow rule that matched the text and was kept
    from applying by it; in a chain both speak of its first command with such a character, since the `&&` between
    them stops nothing. `critical` is the first critical shape, also where another row decided.
    """

    decision: Decision
    row: BashRow
    rule: BashRule | None = None
    segment: str | None = None
    segments: tuple[str, ...] = ()
    control: ActiveControl | None = None
    refused: BashRule | None = None
    critical: CriticalRule | None = None

    @property
    def active_control(self) -> str | None:
        """The active control character, or None."""
        return self.control.character if self.control is not None else None


class _Applied(Struct, frozen=True, gc=False):
    """A rule that applies, and the segment it matched (None: the whole)."""

    rule: BashRule
    segment: str | None = None


class _Line(Struct, frozen=True):
    """One command line, read once: everything that a rule can ask of it."""

    text: str
    segments: tuple[str, ...]
    control: ActiveControl | None

    def applied(self, rules: Iterable[BashRule]) -> _Applied | None:
        """The first rule that applies, in list order (approval/A-49)."""
        return next((found for rule in rules if (found := self._applies(rule)) is not None), None)

    def refused(self, rules: Iterable[BashRule]) -> BashRule | None:
        """The first allow rule that matches the text but may not vouch for it, because of active control."""
        if self.control is None or not self.text:
            return None
        return next((rule for rule in rules if rule.approval is Policy.ALLOW and rule.matches(self.text)), None)

    def _applies(self, rule: BashRule) -> _Applied | None:
        if not self.text:
            return None  # approval/A-46
        if rule.approval is Policy.ALLOW:
            # An allow speaks for everything that would run, so it needs the whole text and nothing hidden in it
            # (approval/A-47).
            return _Applied(rule) if self.control is None and rule.matches(self.text) else None
        if rule.matches(self.text):
            return _Applied(rule)
        # A restriction holds wherever the restrained command stands (approval/A-48).
        return next((_Applied(rule, segment) for segment in self.segments if rule.matches(segment)), None)


def _read_line(command: str) -> _Line:
    return _Line(text=normalise(command), segments=segments(command), control=active_control(command))


def classify(command: object, rules: Sequence[BashRule], *, compound: bool = False) -> Decision:
    """What the bash tool declares for `command`: `explain` without the explanation."""
    return explain(command, rules, compound=compound).decision


def explain(command: object, rules: Sequence[BashRule], *, compound: bool = False) -> BashVerdict:
    """Classify `command`; whatever is not text counts as an empty command (approval/B5). Never raises.

    `compound` stands for `bash.allowCompoundCommands` together with a POSIX shell; the host's default is off, and
    then a chain is a line like any other (approval/A-58, approval/A-61).
    """
    text = command if isinstance(command, str) else ""
    chain = literal_chain(text) if compound else None
    return _explain_line(text, rules) if chain is None else _explain_chain(text, chain, rules)


def _explain_line(text: str, rules: Sequence[BashRule]) -> BashVerdict:
    """The five rows of a whole line, approval/B1 to approval/B5."""
    line = _read_line(text)
    critical = critical_rule(text)
    applied = line.applied(rules)
    rule = applied.rule if applied is not None else None
    if rule is not None and rule.approval is Policy.DENY:
        row, decision = BashRow.DENY, _restrained(rule)  # approval/B1
    elif critical is not None:  # before any allow, and before any prompt (approval/A-57)
        row, decision = BashRow.CRITICAL, _CRITICAL  # approval/B2
    elif rule is not None and rule.approval is Policy.ALLOW:
        row, decision = BashRow.ALLOW, _ALLOWED  # approval/B3
    elif rule is not None:
        row, decision = BashRow.PROMPT, _restrained(rule)  # approval/B4
    else:
        row, decision = BashRow.BARE, _BARE  # approval/B5
    return BashVerdict(
        decision=decision,
        row=row,
        rule=rule,
        segment=applied.segment if applied is not None else None,
        segments=line.segments,
        control=line.control,
        refused=line.refused(rules),
        critical=critical,
    )


def _explain_chain(text: str, chain: tuple[ChainLink, ...], rules: Sequence[BashRule]) -> BashVerdict:
    """approval/A-59: restrictions on the chain as a whole first, then its commands, the strictest answer first."""
    whole = normalise(text)
    links = [_read_line(link.text) for link in chain]
    by_link = [link.applied(rules) for link in links]
    for_chain = [
        _Applied(rule)
        for rule in rules
        if rule.approval is not Policy.ALLOW
        and rule.matches(whole)
        and not any(link.applied((rule,)) for link in links)
    ]
    for_links = [_Applied(found.rule, link.text) for link, found in zip(links, by_link, strict=True) if found]
    critical = critical_rule(text)
    if critical is None:
        literal = (critical_rule(" ".join(link.words)) for link in chain)
        critical = next((rule for rule in literal if rule is not None), None)

    def verdict(row: BashRow, decision: Decision, applied: _Applied | None = None) -> BashVerdict:
        return BashVerdict(
            decision=decision,
            row=row,
            rule=applied.rule if applied is not None else None,
            segment=applied.segment if applied is not None else None,
            segments=tuple(link.text for link in links),
            control=next((link.control for link in links if link.control is not None), None),
            refused=next((rule for link in links if (rule := link.refused(rules)) is not None), None),
            critical=critical,
        )

    # The strictest answer counts: of the chain as a whole (approval/A-59a), or of one command (approval/A-59b).
    for wanted in (Policy.DENY, Policy.PROMPT):
        for row, found in ((BashRow.CHAIN, for_chain), (BashRow.CHAIN_COMMANDS, for_links)):
            for applied in found:
                if applied.rule.approval is wanted:
                    return verdict(row, _restrained(applied.rule), applied)
    if critical is not None:  # only after the prompts (approval/A-60)
        return verdict(BashRow.CHAIN_COMMANDS, _CRITICAL)
    if len(for_links) == len(links):  # every rule left is an allow, and every command has one
        return verdict(BashRow.CHAIN_COMMANDS, _ALLOWED, for_links[0])
    return verdict(BashRow.CHAIN_COMMANDS, _BARE)


# ------------------------------------------------------------------------------------------------- decisions

_BARE: Final = Decision(Tier.EXEC)
_ALLOWED: Final = Decision(Tier.WRITE, policy=Policy.ALLOW)
_CRITICAL: Final = Decision(Tier.EXEC, override=True, reason=CRITICAL_REASON)


def _restrained(rule: BashRule) -> Decision:
    """What a deny or a prompt rule makes of a call; the reason names its pattern (approval/B1, approval/B4)."""
    said = "Blocked by bash pattern" if rule.approval is Policy.DENY else "Prompt required by bash pattern"
    return Decision(Tier.EXEC, override=True, policy=rule.approval, reason=f"{said}: {rule.match}")


def declaration(decision: Decision) -> str | dict[str, Any]:
    """A decision as a tool declares it: a tier word, or a mapping with the keys that say anything."""
    if decision == Decision(decision.tier):
        return decision.tier.value
    said: dict[str, Any] = {"tier": decision.tier.value}
    if decision.override:
        said["override"] = True
    if decision.policy is not None:
        said["policy"] = decision.policy.value
    if decision.reason is not None:
        said["reason"] = decision.reason
    return said
