"""The `resolve` and `context` scenarios: policy resolution alone, without a call."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from labsim.approval import (
    Denied,
    Resolution,
    Settings,
    approval_inputs,
    deny_text,
    policy_map,
    prompt_text,
    requirement,
    resolve,
    tier_of,
)
from labsim.call.inert import InertExecutor, inert_tool
from labsim.case.given import ContextGiven, ResolveGiven
from labsim.case.model import ContextCase, ResolveCase
from labsim.errors import HostError
from labsim.events.call import PolicyResolved
from labsim.play.report import CallReport
from labsim.stage.stage import Stage
from labsim.terms import Policy


class Resolving:
    """A case that asks only which policy applies, or what a context says."""

    def __init__(self, case: ResolveCase | ContextCase, stage: Stage) -> None:
        self.case = case
        self.stage = stage
        self.finished = False
        self.calls: tuple[CallReport, ...] = ()
        self._seen: dict[str, Any] = {}

    async def play(self) -> None:
        if isinstance(self.case, ResolveCase):
            self._seen = self._resolve(self.case.given)
        else:
            self._seen = _read_context(self.case.given)
        self.finished = True

    def observed(self) -> dict[str, Any]:
        """The recorded answers' fields, and `policy`, `source` and `rule` for teaching cases to claim."""
        return self._seen

    def _resolve(self, given: ResolveGiven) -> dict[str, Any]:
        tool = inert_tool(
            given.tool,
            given.approval,
            InertExecutor(self.stage, given.tool),
            details=given.details,
            legacy_name=given.legacy_name,
        )
        args = given.args
        try:
            found = resolve(tool, args, mode=given.mode, policies=policy_map(given.user_policies))
            tier = tier_of(tool, args)
        except HostError as error:
            return {"throws": str(error)}
        self._note(tool.name, found)
        seen: dict[str, Any] = {
            "resolved": _as_recorded(found),
            "tier": tier.value,
            "policy": found.policy.value,
            "source": found.source.value,
            "rule": found.rule.value,
        }
        if found.policy is Policy.DENY:
            seen["denyError"] = deny_text(tool.name, found)
        try:
            need = requirement(tool, found)
        except Denied as error:
            seen["requiredThrows"] = str(error)
        else:
            seen["required"] = {"required": need.required}
            if need.reason is not None:
                seen["required"]["reason"] = need.reason
            if need.required:
                seen["prompt"] = prompt_text(tool, args, need.reason)
        return seen

    def _note(self, tool_name: str, value: Resolution) -> None:
        self.stage.ledger.append(
            PolicyResolved(
                at_ms=self.stage.now_ms,
                tool_name=tool_name,
                tool_call_id="call-1",
                on="original",
                resolution=value,
            )
        )


def _as_recorded(resolution: Resolution) -> dict[str, Any]:
    record: dict[str, Any] = {
        "policy": resolution.policy.value,
        "tier": resolution.tier.value,
        "override": resolution.override,
        "source": resolution.source.value,
    }
    if resolution.reason is not None:
        record["reason"] = resolution.reason
    if resolution.policy_key is not None:
        record["policyKey"] = resolution.policy_key
    return record


def _read_context(given: ContextGiven) -> dict[str, Any]:
    """Mode and policies of a context; `contextValue` stands for one that is not there (approval/A-15 to
    approval/A-22).
    """
    settings = None
    if given.context_value is UNSET and given.settings:
        settings = Settings(given.mode, given.user_policies)
    mode, policies = approval_inputs(settings, given.auto_approve)
    return {"approvalMode": mode.value, "userPolicies": dict(policies)}
