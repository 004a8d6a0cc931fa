"""The second of the two pieces: whoever decides about the calls that a gate puts up.

An approver is called by the forwarder while the turn is blocked, one request at a time (gate/A12); so it must
answer, and must not wait for what happens after the run, for the sink, or for another turn of the same session
(gate/A11). One that cannot answer denies, and says why (gate/A2). A policy of one's own:

    class NothingLeavesTheMachine:
        async def approve(self, request):
            if judged(request.side_effect_level) is SideEffectLevel.EXTERNAL:
                return ApprovalAnswer().because("nothing leaves this machine")
            return ApprovalDecision.ALLOW

It names no tool, so a tool that is connected tomorrow is covered already.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

from msgspec import Struct

from labsim.errors import StageError
from labsim.gate.base import words
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest
from labsim.gate.base.terms import SideEffectLevel, judged
from labsim.stage.stage import Stage


class Approver(Protocol):
    """Answers one request at a time. A bare `ApprovalDecision` stands for an answer without a reason.

    What it raises, and whatever else it gives back, is no consent: the call is denied and the ledger says so.
    """

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer | ApprovalDecision: ...


class AllowAll(Struct, frozen=True):
    """Approves everything; what a run gets that was given no approver (gate/A1, gate/D2)."""

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalDecision.ALLOW)


class DenyAll(Struct, frozen=True):
    """Refuses everything it is asked about (gate/A1).

    No firm refusal by itself: a remembered allow answers ahead of any approver. A run that must refuse installs
    `DenyAllGate` beside it (gate/G5).
    """

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        return ApprovalAnswer().because(words.run_refuses(request.tool_name))


class EditsButNotTheNetwork(Struct, frozen=True):
    """Allow edits, deny the network: the policy that a list of tool names cannot express (gate/A9).

    A PROCESS is denied although it is local, since a command can reach the network (gate/A10).
    """

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        if judged(request.side_effect_level) is SideEffectLevel.LOCAL_STATE:
            return ApprovalAnswer(ApprovalDecision.ALLOW)
        return ApprovalAnswer().because("this run may change this checkout and nothing beyond it")


_STAGE: ContextVar[Stage] = ContextVar("the stage that a run is played on")


def played_on(stage: Stage) -> None:
    """Tell `pause` which stage the approvers called from here on run on. The forwarder does this."""
    _STAGE.set(stage)


async def pause(ms: int) -> None:
    """Let `ms` simulated milliseconds pass inside an approver or a gate; real time does not.

    Raises: StageError, where no run is being played.
    """
    stage = _STAGE.get(None)
    if stage is None:
        raise StageError("pause() is for an approver while a run asks it; nothing is being played here.")
    await stage.sleep(ms)
