"""Hosts whose posture can change while a session is open: one live policy, read by a gate and by an approver.

A posture that is fixed for a run needs none of this and installs `DenyAllGate` (gate/M9). `PolicyGate` makes
`never` final; `PolicyApprover` answers `always` unasked, and remembers a for-session answer itself, so that it
dies with the next switch instead of with the session (gate/M4, gate/M5).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from labsim.errors import HostError
from labsim.gate.approvers import AllowAll, Approver, DenyAll
from labsim.gate.asking import TerminalApprover
from labsim.gate.base import words
from labsim.gate.base.errors import ModeRefused
from labsim.gate.base.request import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalRequest,
    AuthorizationDecision,
    AuthorizationRequest,
)
from labsim.gate.base.terms import Duration, is_consequential
from labsim.gate.gates import Authorizer, DenyAllGate
from labsim.stage.ui import UI


class ApprovalPolicy(StrEnum):
    """A host's posture, by its tag."""

    ALWAYS = "always"
    PROMPT = "prompt"
    NEVER = "never"

    @classmethod
    def default(cls) -> ApprovalPolicy:
        return cls.PROMPT

    @classmethod
    def from_tag(cls, tag: str) -> ApprovalPolicy | None:
        """The policy of that tag, spelled exactly; None where there is none (gate/M7)."""
        return cls(tag) if tag in tuple(cls) else None


class LivePolicy:
    """The posture of one session, shared by its gate and its approver, and what was answered for the session."""

    def __init__(self, policy: ApprovalPolicy = ApprovalPolicy.PROMPT) -> None:
        self.now = policy
        self.remembered: dict[str, ApprovalDecision] = {}
        self.on_switch: Callable[[ApprovalPolicy], None] | None = None

    def switch(self, policy: ApprovalPolicy) -> None:
        """Take another posture, or the same one anew: either way what was remembered is forgotten (gate/M5)."""
        self.now = policy
        self.remembered.clear()
        if self.on_switch is not None:
            self.on_switch(policy)


class PolicyGate:
    """Reads the live policy on every call: `never` is a final refusal, the others put the call up (gate/M1).

    Under `always` too: remembered rules still answer first, denies included (gate/M2). For a posture that can
    change (gate/M9).
    """

    def __init__(self, policy: LivePolicy, *, bound: Duration | None = None) -> None:
        self._policy = policy
        self._bound = bound

    def timeout(self) -> Duration | None:
        return self._bound

    async def authorize(self, request: AuthorizationRequest) -> AuthorizationDecision:
        if not is_consequential(request.preview.side_effect_level):
            return AuthorizationDecision.allow()  # under every posture (gate/G7)
        if self._policy.now is ApprovalPolicy.NEVER:
            return AuthorizationDecision.deny(words.session_refuses(request.tool_name))
        return AuthorizationDecision.prompt(words.wants_to_run(request.tool_name))


class PolicyApprover:
    """Reads the live policy once for each request, before asking (gate/M3); a switch while the question is open is
    for the next.

    A for-session answer is kept by tool name and passed on as a plain one, so no rule is made (gate/M4). One that
    arrives after a switch is kept under the new posture: the host does not look again (gate/M6).
    """

    def __init__(self, policy: LivePolicy, inner: Approver) -> None:
        self._policy = policy
        self._inner = inner

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        tool = request.tool_name
        match self._policy.now:
            case ApprovalPolicy.ALWAYS:
                return ApprovalAnswer(ApprovalDecision.ALLOW)
            case ApprovalPolicy.NEVER:
                return ApprovalAnswer().because(words.session_refuses(tool))
            case ApprovalPolicy.PROMPT:
                pass
        known = self._policy.remembered.get(tool)
        if known is ApprovalDecision.ALLOW:
            return ApprovalAnswer(ApprovalDecision.ALLOW)
        if known is ApprovalDecision.DENY:
            return ApprovalAnswer().because(words.refused_earlier(tool))
        answer = ApprovalAnswer.of(await self._inner.approve(request))
        plain = ApprovalDecision.ALLOW if answer.decision.allows else ApprovalDecision.DENY
        if answer.decision.for_session:
            self._policy.remembered[tool] = plain
        return ApprovalAnswer(plain, answer.reason)


#: What a picker shows for each mode (gate/M8).
MODE_NAMES: Final = {
    ApprovalPolicy.ALWAYS: "Always allow",
    ApprovalPolicy.PROMPT: "Ask each time",
    ApprovalPolicy.NEVER: "Read only",
}


class ModePicker:
    """The modes that a client may choose for one session. One opened read-only stays so (gate/M7)."""

    def __init__(self, policy: LivePolicy) -> None:
        self._policy = policy
        read_only = policy.now is ApprovalPolicy.NEVER
        self.offered: tuple[ApprovalPolicy, ...] = (policy.now,) if read_only else tuple(ApprovalPolicy)

    @property
    def current(self) -> ApprovalPolicy:
        return self._policy.now

    def choose(self, mode_id: str) -> None:
        """Switch to the mode of that id. Raises: ModeRefused; the mode then stays as it was."""
        policy = ApprovalPolicy.from_tag(mode_id)
        if policy is None:
            raise ModeRefused(words.UNKNOWN_MODE)
        if policy not in self.offered:
            raise ModeRefused(words.READ_ONLY_SESSION)
        self._policy.switch(policy)


def fixed_posture(policy: ApprovalPolicy, ui: UI) -> tuple[Approver, Authorizer | None]:
    """What the command line installs for the whole of a run: the approver, and a session gate or none (gate/G9)."""
    match policy:
        case ApprovalPolicy.ALWAYS:
            return AllowAll(), None
        case ApprovalPolicy.PROMPT:
            return TerminalApprover(ui), None
        case ApprovalPolicy.NEVER:
            return DenyAll(), DenyAllGate()  # it stands for the whole run (gate/M9)


def check_unattended(policy: ApprovalPolicy, *, interactive: bool) -> None:
    """Refuse work that would ask where nobody can answer (gate/A18). Raises: HostError, which says what would
    do.
    """
    if policy is ApprovalPolicy.PROMPT and not interactive:
        raise HostError("--approve prompt: nobody can be asked in unattended work. Use --approve always or never.")
