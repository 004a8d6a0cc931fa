"""What is asked, and how it is answered: the records that a gate and an approver see and give back.

Two conversations use these. The runtime puts an `AuthorizationRequest` to a gate and gets an
`AuthorizationDecision`; where that is a prompt that no rule answers, an `ApprovalRequest` is put to an approver,
who gives an `ApprovalAnswer`. Every default is a refusal (gate/D1).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from labsim.gate.base.terms import SideEffectLevel

# ---------------------------------------------------------------------------------------------- to an approver


class ApprovalDecision(StrEnum):
    """What an approver decided. `…ForSession` also stops it from being asked about this tool again (gate/A3)."""

    ALLOW = "Allow"
    DENY = "Deny"
    ALLOW_FOR_SESSION = "AllowForSession"
    DENY_FOR_SESSION = "DenyForSession"

    @classmethod
    def default(cls) -> ApprovalDecision:
        """What silence means (gate/D1)."""
        return cls.DENY

    @property
    def allows(self) -> bool:
        return self in (ApprovalDecision.ALLOW, ApprovalDecision.ALLOW_FOR_SESSION)

    @property
    def for_session(self) -> bool:
        return self in (ApprovalDecision.ALLOW_FOR_SESSION, ApprovalDecision.DENY_FOR_SESSION)


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """What the agent wants to do, as put to an approver. Anybody may make one, to try an approver of their own.

    `input` is the call's input, parsed where it is JSON (gate/A8). A `side_effect_level` of None means that the
    level is unknown; judge it as EXTERNAL. SideEffectLevel.NONE never arrives here: a read is not put to anybody
    (gate/A6).
    """

    request_id: str
    tool_call_id: str
    tool_name: str
    description: str  # why approval is asked for
    input: Any
    side_effect_level: SideEffectLevel | None = None


class ApprovalAnswer(Struct, frozen=True):
    """How an approver answered: the decision, and the words that the model will read where it is a no.

    `ApprovalAnswer()` is a refusal (gate/D1). Allowing needs no reason, and one that is given is dropped
    (gate/O15).
    """

    decision: ApprovalDecision = ApprovalDecision.DENY
    reason: str | None = None  # None: nobody gave one; the model reads gate/W4. Not the same as ""

    def because(self, reason: str) -> ApprovalAnswer:
        """The same answer with these words."""
        return replace(self, reason=reason)

    @classmethod
    def of(cls, value: object) -> ApprovalAnswer:
        """An answer, from an answer or a bare decision.

        Raises: TypeError, for anything else. `True`, `"Allow"` and nothing at all are no consent (gate/D1).
        """
        if isinstance(value, ApprovalAnswer) and isinstance(value.decision, ApprovalDecision):
            return value
        if isinstance(value, ApprovalDecision):
            return cls(value)
        found = value.decision if isinstance(value, ApprovalAnswer) else value
        raise TypeError(f"an approver answers with an ApprovalAnswer or an ApprovalDecision, not with {found!r}")


# -------------------------------------------------------------------------------------------------- to a gate


class Classification(Struct, frozen=True, kw_only=True):
    """What a tool says of a call beside its input. Only the level decides anything; the rest is for showing.

    The words are those of the tool's descriptor. A level of None is unknown (gate/A6).
    """

    side_effect_level: SideEffectLevel | None
    capabilities: tuple[str, ...] = ()
    durability: str = ""
    execution_category: str = ""
    approval_category: str = ""


class AuthorizationPreview(Struct, frozen=True, kw_only=True):
    """One call, as its tool presents it before it runs. `structured_input` is what rules are matched on
    (gate/P7).
    """

    classification: Classification
    raw_input: Any
    structured_input: Any
    working_directory: str = ""

    @property
    def side_effect_level(self) -> SideEffectLevel | None:
        return self.classification.side_effect_level


class AuthorizationRequest(Struct, frozen=True, kw_only=True):
    """What a gate sees of one call."""

    agent_id: str
    tool_call_id: str
    tool_name: str
    preview: AuthorizationPreview
    agent_name: str = ""
    model: str = ""
    history_len: int = 0


class AuthorizationOutcome(StrEnum):
    """What a gate can say. Allow and deny are final; only a prompt is passed on (gate/O6)."""

    ALLOW = "allow"
    PROMPT = "prompt"
    DENY = "deny"


class AuthorizationDecision(Struct, frozen=True):
    """A gate's answer. `reason` of a prompt describes it; of a deny, the model reads it."""

    outcome: AuthorizationOutcome
    reason: str | None = None

    @classmethod
    def allow(cls) -> AuthorizationDecision:
        return cls(AuthorizationOutcome.ALLOW)

    @classmethod
    def prompt(cls, reason: str | None = None) -> AuthorizationDecision:
        return cls(AuthorizationOutcome.PROMPT, reason)

    @classmethod
    def deny(cls, reason: str | None = None) -> AuthorizationDecision:
        return cls(AuthorizationOutcome.DENY, reason)

    @classmethod
    def of(cls, value: object) -> AuthorizationDecision:
        """The value, if it is a decision. Raises: TypeError, for anything else: `True` lets nothing through."""
        if isinstance(value, AuthorizationDecision) and isinstance(value.outcome, AuthorizationOutcome):
            return value
        raise TypeError(f"a gate answers with an AuthorizationDecision, not with {value!r}")
