"""Authorizing one call: the gate, the rules, the question, and the bound around all three.

The gate answers first and finally; only what it puts up as a prompt meets the rules, and only what they leave open
becomes a request (gate/O6, gate/O8, gate/O9). Whatever fails on the way denies the call with its text (gate/O13,
gate/R18).
"""

from __future__ import annotations

from msgspec import Struct

from labsim.gate.base import words
from labsim.gate.base.request import (
    AuthorizationDecision,
    AuthorizationOutcome,
    AuthorizationRequest,
    Classification,
)
from labsim.gate.base.terms import Duration
from labsim.gate.events import DecidedBy, GateAnswered, RulesRead
from labsim.gate.gates import Authorizer, gate_name
from labsim.gate.rules.rules import compact_json
from labsim.gate.session.permissions import Pending, PermissionHandle
from labsim.gate.session.stream import EventStream
from labsim.stage.stage import AbortSignal, Future, Stage


class Verdict(Struct, frozen=True):
    """What one call got, and at which step. A prompt is left as one where nobody turns it into a request
    (gate/W11).
    """

    decision: AuthorizationDecision
    by: DecidedBy


class Authorization:
    """One call on its way through gate, rules and question.

    `permissions` None: the session raises no requests. `classification` is what the event will carry; None where it
    carries none, and the approver reads the level as unknown (gate/A7).
    """

    def __init__(
        self,
        stage: Stage,
        stream: EventStream,
        gate: Authorizer,
        request: AuthorizationRequest,
        *,
        permissions: PermissionHandle | None,
        classification: Classification | None,
    ) -> None:
        self._stage = stage
        self._stream = stream
        self._gate = gate
        self._request = request
        self._permissions = permissions
        self._classification = classification
        self._entry: Pending | None = None

    async def within(self, bound: Duration | None, signal: AbortSignal | None) -> Verdict:
        """The verdict, or a denial when the bound ends the wait (gate/X1, gate/X2) or the turn is given up
        (gate/V4).

        A gate that answers at once is never denied, however tiny the bound (gate/X10).
        """
        task = self._stage.spawn(self._decide())
        if task.done or (bound is None and signal is None):
            return await task
        ended: Future[Verdict | None] = Future(self._stage)

        def give_up(verdict: Verdict) -> None:
            # An answer that was delivered in this same moment has won: its rule is written and its event is out
            # (gate/V5).
            if task.done or ended.done or (self._entry is not None and self._entry.answer.done):
                return
            task.close()  # takes the open request back, so that a late answer finds nothing
            ended.set_result(verdict)

        task.when_done(lambda: ended.set_result(None))
        timer = None
        if bound is not None:
            over = Verdict(AuthorizationDecision.deny(words.timed_out(bound)), DecidedBy.TIMEOUT)
            timer = self._stage.call_at(self._stage.now_ms + bound.stage_ms, lambda: give_up(over))
        forget = None
        if signal is not None:
            cancelled = Verdict(AuthorizationDecision.deny(), DecidedBy.CANCELLED)
            forget = signal.listen(lambda: give_up(cancelled))
            if signal.aborted:
                give_up(cancelled)
        try:
            return await ended or task.result()
        finally:
            if timer is not None:
                timer.cancel()
            if forget is not None:
                forget()

    async def _decide(self) -> Verdict:
        try:
            return await self._steps()
        except Exception as error:  # a gate's or a store's failure lets nothing through (gate/O13, gate/R18)
            return Verdict(AuthorizationDecision.deny(str(error) or type(error).__name__), DecidedBy.ERROR)

    async def _steps(self) -> Verdict:
        """The gate, then the rules, then the question (gate/O1)."""
        request = self._request
        said = AuthorizationDecision.of(await self._gate.authorize(request))
        self._stream.note(
            GateAnswered(
                at_ms=self._stage.now_ms,
                tool_name=request.tool_name,
                tool_call_id=request.tool_call_id,
                gate=gate_name(self._gate),
                outcome=said.outcome,
                reason=said.reason,
            )
        )
        # Final: no rule is read, not even a deny, and nobody is asked (gate/O6, gate/O7, gate/R23).
        if said.outcome is not AuthorizationOutcome.PROMPT:
            return Verdict(said, DecidedBy.GATE)
        permissions = self._permissions
        if permissions is None:
            return Verdict(said, DecidedBy.NOBODY)
        text = compact_json(request.preview.structured_input)
        rule = permissions.find(request.tool_name, text)
        self._stream.note(
            RulesRead(
                at_ms=self._stage.now_ms,
                tool_name=request.tool_name,
                tool_call_id=request.tool_call_id,
                scope=None if rule is None else rule.scope,
                pattern=None if rule is None else rule.key.pattern,
                allow=None if rule is None else rule.allow,
            )
        )
        if rule is not None:  # gate/O8
            return Verdict(rule.decision(), DecidedBy.RULE)
        return Verdict(await self._ask(permissions, said.reason, text), DecidedBy.APPROVER)

    async def _ask(self, permissions: PermissionHandle, reason: str | None, preview: str) -> AuthorizationDecision:
        request = self._request
        self._entry = permissions.register(request.tool_call_id, request.tool_name)  # before its event (gate/O9)
        try:
            permissions.announce(
                self._entry,  # described by the gate, or by standing words (gate/O11)
                description=words.approval_required(request.tool_name) if reason is None else reason,
                preview=preview,
                classification=self._classification,
            )
            answer = await self._entry.answer
        finally:
            permissions.forget(self._entry)
        # Dropped unanswered is a deny (gate/O12).
        return AuthorizationDecision.deny(words.DENIED) if answer is None else answer.authorization()
