"""Approval resolution: which policy governs one tool call, and who decided it.

Knows nothing of dialogs, clocks or files. The order of the branches
in `resolve` is the rule (approval/A-1 to approval/A-42).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, Struct
from msgspec.structs import astuple

from labsim.errors import HostError
from labsim.js_values import stringify, text_of, trim
from labsim.terms import ApprovalMode, Policy, Rule, Source, Tier
from labsim.tool import Tool

# Looked up by exact text: case and blanks matter to a tier and to a mode (approval/A-2, approval/A-14), not to a
# policy (approval/A-6).
_TIERS: Final[dict[object, Tier]] = {tier.value: tier for tier in Tier}
_POLICIES: Final[dict[object, Policy]] = {policy.value: policy for policy in Policy}
# The members by plain names: Python looks a member up through the enum's metaclass, several times slower than a
# global, and `resolve` runs twice for every call.
_ALLOW, _DENY, _PROMPT = Policy.ALLOW, Policy.DENY, Policy.PROMPT
_TOOL, _USER, _MODE = Source.TOOL, Source.USER, Source.MODE
_EXEC = Tier.EXEC
_R1, _R2, _R3, _R4A, _R4B, _R5, _R6, _R7, _R8, _R9 = Rule
_MODES: Final[dict[object, ApprovalMode]] = {mode.value: mode for mode in ApprovalMode}
# Tuples, not sets: a handful of members compared by identity is quicker than hashing an enum.
_COVERED: Final[dict[object, tuple[Tier, ...]]] = {
    "always-ask": (Tier.READ,),
    "write": (Tier.READ, Tier.WRITE),
    "yolo": (Tier.READ, Tier.WRITE, Tier.EXEC),
}


class Decision(Struct, frozen=True, gc=False):
    """A declaration, normalised. `None` in the last three means that the tool said nothing of the kind."""

    tier: Tier
    override: bool = False
    policy: Policy | None = None
    reason: str | None = None
    policy_key: str | None = None


class Resolution(Struct, frozen=True, gc=False, kw_only=True):
    """What governs one call, with the rule that decided; the rows are approval/R1 to approval/R9."""

    policy: Policy
    tier: Tier
    source: Source
    rule: Rule
    override: bool = False
    reason: str | None = None
    policy_key: str | None = None


_BARE: Final[dict[object, Decision]] = {tier.value: Decision(tier) for tier in Tier}
_BARE_EXEC: Final = _BARE["exec"]
_DECISION_KEYS: Final = ("tier", "override", "policy", "reason", "policyKey")  # in the order of the fields


def normalise_declaration(declaration: object, args: object) -> Decision:
    """A tool's declaration for these arguments, with everything malformed falling to `exec` (approval/A-1 to
    approval/A-8).

    Raises: whatever a function declaration raises; nothing is caught here (approval/A-8).
    """
    if callable(declaration):
        declaration = declaration(args)
    if isinstance(declaration, str):
        return _BARE.get(declaration, _BARE_EXEC)  # approval/A-2
    if isinstance(declaration, Decision):  # an author's own, who may have put anything into it
        declaration = dict(zip(_DECISION_KEYS, astuple(declaration), strict=True))
    if not isinstance(declaration, Mapping):
        return _BARE_EXEC  # approval/A-3; UNSET, of a tool that declares nothing, comes here too (approval/A-1)
    tier = declaration.get("tier")
    reason = declaration.get("reason")
    key = declaration.get("policyKey")
    return Decision(
        tier=_TIERS.get(tier, _EXEC) if isinstance(tier, str) else _EXEC,  # approval/A-4
        override=declaration.get("override") is True,  # approval/A-5: 1 and "true" are not a promise
        policy=normalise_policy(declaration.get("policy")),
        reason=reason if isinstance(reason, str) and reason else None,  # approval/A-7, also of the key
        policy_key=key if isinstance(key, str) and key else None,
    )


def tier_of(tool: Tool, args: object) -> Tier:
    """Only the tier of a declaration; policy, override and reason are lost on purpose (approval/A-9,
    dispatch/D-7).
    """
    return normalise_declaration(tool.approval, args).tier


def normalise_policy(value: object) -> Policy | None:
    """A policy word in any case, with blanks around it, or None for anything else (approval/A-6, approval/A-11)."""
    if not isinstance(value, str):
        return None
    return _POLICIES.get(value) or _POLICIES.get(trim(value).lower())


def policy_map(setting: object) -> Mapping[str, Any]:
    """`tools.approval` as a map; anything that is not a map acts as an empty one (approval/A-10), also a setting
    that is not there (approval/A-22).

    A copy, so that what somebody enters there during a call comes too late for it (wrapper/step-2).
    """
    return dict(setting) if isinstance(setting, Mapping) else {}


def covers(mode: object, tier: Tier) -> bool:
    """Whether `mode` lets `tier` run silently. An unknown mode covers nothing (recorded: resolve-3706).

    The host looks the mode up by its text, so a list of one mode counts here (recorded: resolve-3943).
    """
    return tier in _COVERED.get(mode if isinstance(mode, str) else text_of(mode), ())


def configured_mode(mode: object) -> ApprovalMode:
    """The mode that a settings value stands for. A missing or misspelt one opens everything (approval/A-18,
    approval/A-19, approval/A-22).
    """
    # Letter by letter (approval/A-14).
    return _MODES.get(mode, ApprovalMode.YOLO) if isinstance(mode, str) else ApprovalMode.YOLO


def is_misspelt(mode: object) -> bool:
    """Whether a mode is configured that is none, so that everything is approved silently (approval/A-19)."""
    return mode is not UNSET and not (isinstance(mode, str) and mode in _MODES)


def user_policy(
    tool: Tool, decision: Decision, policies: Mapping[str, Any]
) -> tuple[Policy, str] | tuple[None, None]:
    """The user's policy that applies (approval/A-23 to approval/A-27), and the key that supplied it
    (approval/A-26).
    """
    if not policies:
        return None, None
    name = tool.name
    key = decision.policy_key or name  # approval/A-23
    policy = normalise_policy(policies.get(key))  # what the map itself holds; nothing is inherited (approval/A-13)
    if policy is not None:
        return policy, key  # the other keys are not looked at (approval/A-27)
    if key != name:  # approval/A-24
        policy = normalise_policy(policies.get(name))
        if policy is not None:
            return policy, name
    legacy = tool.legacy_name
    if isinstance(legacy, str) and legacy != name:
        policy = normalise_policy(policies.get(legacy))
        # A tool that was renamed keeps what restrained it; an old allow is not carried over (approval/A-25).
        if policy is not None and policy is not _ALLOW:
            return policy, legacy
    return None, None


def resolve(tool: Tool, args: object, *, mode: object, policies: Mapping[str, Any]) -> Resolution:
    """The policy for one call; the first matching row wins, approval/R1 to approval/R9.

    What each of tool and user can force upon the other, and what not, is only this order (approval/A-28).
    `mode` is compared exactly, and may be any value: a word that is no mode covers no tier.
    Raises: whatever a function declaration raises (approval/A-8).
    """
    said = normalise_declaration(tool.approval, args)
    user, key = user_policy(tool, said, policies)
    if said.policy is _DENY:
        return _by_tool(said, _DENY, _R1, override=said.override)  # approval/R1
    if user is _DENY:
        return _by_user(said, user, key, _R2, override=said.override)  # approval/R2
    if mode == "yolo":  # whoever decides here, an override is gone afterwards (wrapper/W-26)
        if said.policy is not None:
            return _by_tool(said, said.policy, _R3, override=False)  # approval/R3
        if user is not None:
            return _by_user(said, user, key, _R4A, override=False)  # approval/R4a
        return Resolution(policy=_ALLOW, tier=said.tier, source=_MODE, rule=_R4B)  # approval/R4b
    if said.override:
        policy = _ALLOW if said.policy is _ALLOW else _PROMPT
        return _by_tool(said, policy, _R5, override=True)  # approval/R5
    if said.policy is not None:
        return _by_tool(said, said.policy, _R6, override=False)  # approval/R6
    if user is not None:
        return _by_user(said, user, key, _R7, override=False)  # approval/R7
    if covers(mode, said.tier):
        return Resolution(policy=_ALLOW, tier=said.tier, source=_MODE, rule=_R8)  # approval/R8
    return Resolution(policy=_PROMPT, tier=said.tier, source=_MODE, rule=_R9, reason=said.reason)  # approval/R9


def _by_tool(said: Decision, policy: Policy, rule: Rule, *, override: bool) -> Resolution:
    return Resolution(
        policy=policy,
        tier=said.tier,
        source=_TOOL,
        rule=rule,
        override=override,
        reason=said.reason,
        policy_key=said.policy_key,
    )


def _by_user(said: Decision, policy: Policy, key: str | None, rule: Rule, *, override: bool) -> Resolution:
    # The tool's reason is dropped: it explains the tool's wish, and the user decided (approval/A-29). The key is
    # the one under which the policy stood (approval/A-26).
    return Resolution(
        policy=policy, tier=said.tier, source=_USER, rule=rule, override=override, policy_key=key or None
    )


class Denied(HostError):
    """A policy refused the call. Attribute: `resolution`."""

    def __init__(self, tool_name: str, resolution: Resolution) -> None:
        self.resolution = resolution
        super().__init__(deny_text(tool_name, resolution))


def deny_text(tool_name: str, resolution: Resolution) -> str:
    """The words of a denial. A user's names the key that supplied it, a tool's the tool (approval/A-33)."""
    if resolution.source is Source.USER:  # approval/A-32
        key = resolution.policy_key or tool_name  # the device, or whoever answers for it (dispatch/D-13)
        return (
            f'Tool "{key}" is blocked by user policy.\nTo allow: remove "tools.approval.{key}: deny" from config.'
        )
    text = f'Tool "{tool_name}" is blocked by tool policy.'  # approval/A-30, and with a reason approval/A-31
    return f"{text}\nReason: {resolution.reason}" if resolution.reason else text


class Requirement(Struct, frozen=True, gc=False):
    """Whether a call must be put to a person, and the reason to give them (approval/A-34)."""

    required: bool
    reason: str | None = None


def requirement(tool: Tool, resolution: Resolution) -> Requirement:
    """What a resolution asks of the host. Raises: Denied, on deny (approval/A-34)."""
    if resolution.policy is Policy.DENY:
        raise Denied(tool.name, resolution)
    if resolution.policy is Policy.PROMPT:
        return Requirement(True, resolution.reason)
    return Requirement(False)


def prompt_text(tool: Tool, args: object, reason: str | None) -> str:
    """The text of the approval dialog, lines joined by newlines; nothing is shortened here (approval/A-39)."""
    lines = [f"Allow tool: {tool.name}"]  # approval/A-35
    if tool.approval is UNSET and tool.name.startswith("mcp__"):
        lines.append("Origin: MCP server tool")  # approval/A-36
    if reason:  # approval/A-37
        lines.append(f"Reason: {reason}")
    if tool.format_approval_details is not None:  # approval/A-38
        details = tool.format_approval_details(args)
        if isinstance(details, str):
            if details:
                lines.append(details)
        elif isinstance(details, list | tuple):
            lines.extend(line for line in details if isinstance(line, str) and line)
    return "\n".join(lines)


def truncate(text: str, limit: int = 2000) -> str:
    """At most `limit` characters, then how many were left out; can be longer than what it shortens
    (approval/A-40). A character is a Unicode code point (approval/A-41).
    """
    if len(text) <= limit:
        return text
    return f"{text[:limit]}[…{len(text) - limit}ch elided…]"


def bash_details(args: object) -> str:
    """What a prompt for `bash` shows. The command is text and is never run (approval/A-42, approval/A-50)."""
    command = args.get("command") if isinstance(args, Mapping) else None
    return f"Command: {truncate(command)}" if isinstance(command, str) else "Command: (missing)"


def write_details(args: object) -> list[str]:
    """What a prompt for `write` shows: the path, then the content (approval/A-42)."""
    fields: Mapping[str, Any] = args if isinstance(args, Mapping) else {}
    path, content = fields.get("path"), fields.get("content")
    return [
        f"Path: {truncate(path)}" if isinstance(path, str) else "Path: (missing)",
        f"Content:\n{truncate(content) if isinstance(content, str) else ''}",
    ]


def json_details(args: object) -> str:
    """What a prompt for a teaching tool shows: its input as compact JSON."""
    return f"Input: {stringify(args)}"


class Settings(Struct, frozen=True):
    """The two settings that approval reads; UNSET where the configuration says nothing."""

    mode: Any = UNSET  # tools.approvalMode
    policies: Any = UNSET  # tools.approval


def approval_inputs(settings: Settings | None, auto_approve: object) -> tuple[ApprovalMode, Mapping[str, Any]]:
    """Mode and user policies for one call, sampled once (wrapper/step-2).

    `settings` is None where the context has no reader. Auto-approve forces yolo whatever is configured, and
    leaves the user's policies in force (approval/A-15, approval/A-21).
    """
    if auto_approve is True:
        return ApprovalMode.YOLO, policy_map(settings.policies) if settings is not None else {}
    if settings is None:
        return ApprovalMode.ALWAYS_ASK, {}  # approval/A-16: nothing to read fails closed
    return configured_mode(settings.mode), policy_map(settings.policies)  # approval/A-17
