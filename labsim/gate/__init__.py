"""Another host, another yes: a gate asks whether a call is worth asking about, an approver decides.

The names here are those that a policy of one's own needs.
"""

from __future__ import annotations

from labsim.gate.approvers import AllowAll, Approver, DenyAll, EditsButNotTheNetwork, pause
from labsim.gate.base.request import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalRequest,
    AuthorizationDecision,
    AuthorizationOutcome,
    AuthorizationRequest,
)
from labsim.gate.base.terms import Duration, SideEffectLevel, is_consequential, judged
from labsim.gate.gates import ApprovalGate, Authorizer, DenyAllGate

__all__ = [
    "AllowAll",
    "ApprovalAnswer",
    "ApprovalDecision",
    "ApprovalGate",
    "ApprovalRequest",
    "Approver",
    "AuthorizationDecision",
    "AuthorizationOutcome",
    "AuthorizationRequest",
    "Authorizer",
    "DenyAll",
    "DenyAllGate",
    "Duration",
    "EditsButNotTheNetwork",
    "SideEffectLevel",
    "is_consequential",
    "judged",
    "pause",
]
