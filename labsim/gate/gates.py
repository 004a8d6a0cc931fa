"""The first of the two pieces: a gate answers whether a call is worth asking about, and carries no other policy.

Its allow and its deny are final: no rule is read, nobody is asked (gate/O6, gate/O7). Only what it puts up as a
prompt is answered by a rule or an approver. A gate of one's own needs `authorize` and nothing else; `timeout()` is
there for one that bounds the wait.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from labsim.gate.base import words
from labsim.gate.base.request import AuthorizationDecision, AuthorizationRequest
from labsim.gate.base.terms import Duration, is_consequential


class Authorizer(Protocol):
    """A gate. Whatever it raises denies the call with the error's text; the turn goes on (gate/O13)."""

    async def authorize(self, request: AuthorizationRequest) -> AuthorizationDecision: ...


def timeout_of(gate: Authorizer) -> Duration | None:
    """The bound a gate sets on the whole authorizing of one call; None where it sets none (gate/X1).

    Raises: TypeError, where it gives something that is no duration.
    """
    ask = getattr(gate, "timeout", None)
    bound = None if ask is None else ask()
    if bound is None or isinstance(bound, Duration):
        return bound
    raise TypeError(f"a gate's timeout is a Duration or None, not {bound!r}")


def gate_name(gate: object) -> str:
    """How the ledger calls a gate: by its class."""
    return type(gate).__name__


class ApprovalGate(Struct, frozen=True):
    """Puts every call that changes something to whoever answers, and lets reads through (gate/G2). It never denies.

    Installed even where everything will be approved, so that the answer can be chosen for each turn (gate/G6).
    """

    bound: Duration | None = None

    def with_timeout(self, after: Duration) -> ApprovalGate:
        """The same gate, which denies a call whose answer does not come in time.

        It bounds the call and not the run: whoever was asked stays asked, and the run waits for them (gate/G8,
        gate/X3, gate/X5).
        """
        return ApprovalGate(after)

    def timeout(self) -> Duration | None:
        return self.bound

    async def authorize(self, request: AuthorizationRequest) -> AuthorizationDecision:
        if not is_consequential(request.preview.side_effect_level):
            return AuthorizationDecision.allow()  # whatever anybody else would say (gate/G7)
        return AuthorizationDecision.prompt(words.wants_to_run(request.tool_name))


class DenyAllGate(Struct, frozen=True):
    """Refuses every call that changes something, where no rule can answer over it; reads run (gate/G3).

    It answers from the request alone, so there is nothing to bound (gate/X8).
    """

    def timeout(self) -> Duration | None:
        return None

    async def authorize(self, request: AuthorizationRequest) -> AuthorizationDecision:
        if not is_consequential(request.preview.side_effect_level):
            return AuthorizationDecision.allow()  # whatever anybody else would say (gate/G7)
        return AuthorizationDecision.deny(words.run_refuses(request.tool_name))
