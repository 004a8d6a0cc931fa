"""What a `gate` case scripts: its tools, its hooks, its store, its approver's answers, a sink that breaks.

Turns the inert words of a case into the host's parts; none of it does anything beyond what the words say.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from msgspec import UNSET

from labsim.case.gate import (
    DecisionWord,
    GateAnswerSpec,
    GateHookSpec,
    GateToolSpec,
    GateWord,
    PolicyWord,
    StoreWord,
)
from labsim.errors import HostError
from labsim.gate.approvers import pause
from labsim.gate.base.request import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalRequest,
    AuthorizationDecision,
    AuthorizationRequest,
)
from labsim.gate.base.terms import SideEffectLevel
from labsim.gate.events import GateEvent
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore, RuleStore, StoreOperation
from labsim.gate.tools import GateTool, HookAnswer, ToolUse
from labsim.js_values import copy_json
from labsim.stage.stage import Future, Stage


class Host(Protocol):
    """What a scripted approver may change while its question is open."""

    @property
    def stage(self) -> Stage: ...

    def switch(self, word: PolicyWord) -> None: ...

    def install(self, word: GateWord) -> None: ...


class AllowingGate:
    """A gate that lets everything through: nobody is asked, and no rule is read (gate/O7)."""

    async def authorize(self, request: AuthorizationRequest) -> AuthorizationDecision:
        return AuthorizationDecision.allow()


class SinkBroken(HostError):
    """What the sink of a case raises."""


class BreakingSink:
    """Takes events, and raises at the nth."""

    def __init__(self, breaks_at: int) -> None:
        self._left = breaks_at

    async def write(self, event: GateEvent) -> None:
        self._left -= 1
        if self._left == 0:
            raise SinkBroken("the sink broke")

    async def close(self) -> None:
        return None


class ScriptedHook:
    """A case's hook."""

    def __init__(self, spec: GateHookSpec) -> None:
        self._spec = spec

    def __call__(self, use: ToolUse) -> HookAnswer | None:
        if self._spec.tool is not UNSET and self._spec.tool != use.tool:
            return None
        return HookAnswer(rewrite=copy_json(self._spec.rewrite), refuse=self._spec.refuse)


class ScriptedApprover:
    """Answers as the case says, in order; past the end it answers nothing, which is a refusal (gate/D1)."""

    def __init__(self, answers: Iterable[DecisionWord | GateAnswerSpec], host: Host) -> None:
        self._answers = iter(answers)
        self._host = host

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        spec = next(self._answers, None)
        if spec is None:
            return ApprovalAnswer()
        if isinstance(spec, str):
            return ApprovalAnswer(ApprovalDecision(spec))
        return await self._given(spec)

    async def _given(self, spec: GateAnswerSpec) -> ApprovalAnswer:
        if spec.after_ms:
            await pause(spec.after_ms)
        if spec.switch is not UNSET:
            self._host.switch(spec.switch)
        if spec.install is not UNSET:
            self._host.install(spec.install)
        if spec.silent:
            await Future[None](self._host.stage)
        if spec.raises is not UNSET:
            raise HostError(spec.raises)
        return ApprovalAnswer(ApprovalDecision(spec.decision), spec.reason)


def scripted_tool(spec: GateToolSpec) -> GateTool:
    """A case's tool; its executor is inert, or fails as the case says."""

    def presented(given: Any) -> Any:
        if spec.preview_fails is not UNSET:
            raise HostError(spec.preview_fails)
        return given if spec.presents is UNSET else spec.presents

    def run(given: Any) -> str:
        if spec.fails is not UNSET:
            raise HostError(spec.fails)
        return "inert"

    return GateTool(
        name=spec.name,
        level=None if spec.level == "unknown" else SideEffectLevel(spec.level),
        required=tuple(spec.required),
        present=presented,
        run=run,
    )


def scripted_store(word: StoreWord) -> RuleStore:
    """A store in memory: one that works, one that cannot be read, or one that cannot be written."""
    store = MemoryRuleStore()
    match word:
        case "memory":
            return store
        case "unreadable":
            return FailingRuleStore(store, lambda operation: "the remembered rules cannot be read")
        case "read-only":
            return FailingRuleStore(store, _only_reads)


def _only_reads(operation: StoreOperation) -> str | None:
    return None if operation is StoreOperation.LOAD else "the remembered rules cannot be written"
