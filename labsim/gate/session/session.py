"""A live session: one call in its order, batches of calls, and subagents.

The order of one call is the rule (gate/O1): hooks, which may rewrite the input; its shape; the preview; the gate,
and what follows from a prompt; the tool, or a refusal in its place. Hooks come first so that the input that is
approved is the input that runs (gate/O2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, Struct
from msgspec.structs import replace

from labsim.errors import AbortError, HostError
from labsim.events.call import Execute
from labsim.gate.base import words
from labsim.gate.base.request import AuthorizationDecision, AuthorizationOutcome, AuthorizationRequest
from labsim.gate.events import (
    CallDecided,
    CallMade,
    ChildSpawned,
    DecidedBy,
    GateInstalled,
    HookAnswered,
    PreviewBuilt,
    ToolFinished,
)
from labsim.gate.gates import Authorizer, gate_name, timeout_of
from labsim.gate.session.authorization import Authorization, Verdict
from labsim.gate.session.permissions import PermissionHandle
from labsim.gate.session.stream import EventStream
from labsim.gate.tools import GateTool, Hook, HookAnswer, ToolUse
from labsim.js_values import copy_json
from labsim.stage.stage import AbortSignal, Future, Stage


class Surroundings(Struct, kw_only=True):
    """What the sessions of one runtime share. `gate` is the runtime's own; None: no gate at all (gate/O17)."""

    stage: Stage
    tools: Mapping[str, GateTool]
    hooks: Sequence[Hook]
    gate: Authorizer | None
    model: str = ""
    classifies: bool = True  # False: events carry no classification, so every level is unknown (gate/A7)


class _Admission(Struct, frozen=True):
    """A call that may run (with its effective input), or the text that the model reads instead."""

    use: ToolUse
    tool: GateTool | None
    refusal: str | None


class Session:
    """One live session. Made by `labsim.gate.session.runtime.Runtime`.

    A gate of its own replaces the runtime's for it and for subagents spawned afterwards; it is not kept over a
    resume (gate/O19). `permissions` None: nothing turns a prompt into a request (gate/W11).
    """

    def __init__(
        self,
        around: Surroundings,
        agent_id: str,
        stream: EventStream,
        permissions: PermissionHandle | None,
        own_gate: Authorizer | None = None,
    ) -> None:
        self.agent_id = agent_id
        self.stream = stream
        self._around = around
        self._permissions = permissions
        self._own_gate = own_gate
        self._children: dict[str, Session] = {}
        self._history_len = 0
        self._turn: Future[None] | None = None

    @property
    def stage(self) -> Stage:
        return self._around.stage

    @property
    def gate(self) -> Authorizer | None:
        """The gate that the next call is put to: the session's own in place of the runtime's (gate/O19)."""
        return self._around.gate if self._own_gate is None else self._own_gate

    @property
    def permissions(self) -> PermissionHandle:
        """The rules and open requests. Raises: HostError, for a session that raises no requests."""
        if self._permissions is None:
            raise HostError(f"the session of {self.agent_id} raises no permission requests")
        return self._permissions

    def install_gate(self, gate: Authorizer) -> None:
        """Put every later call to this gate; a call under way keeps the one it has (gate/O5)."""
        self._own_gate = gate
        self.stream.note(GateInstalled(at_ms=self.stage.now_ms, gate=gate_name(gate)))

    def spawn_child(self, agent_id: str) -> Session:
        """A subagent: the gate of just now, this session's rules and stream (gate/O19, gate/R24)."""
        child = Session(self._around, agent_id, self.stream, self._permissions, self._own_gate)
        self._children[agent_id] = child
        gate = child.gate
        self.stream.note(
            ChildSpawned(at_ms=self.stage.now_ms, agent_id=agent_id, gate="" if gate is None else gate_name(gate))
        )
        return child

    # -- turns

    async def begin_turn(self) -> None:
        """Wait until no turn is under way here: a session runs one at a time (gate/A11)."""
        while self._turn is not None:
            await self._turn
        self._turn = Future(self.stage)

    def end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.set_result(None)

    # -- calls

    async def batch(self, uses: Sequence[ToolUse], signal: AbortSignal | None = None) -> tuple[ToolFinished, ...]:
        """Make calls that the model makes at once: authorized one after the other, and only then run (gate/O18).

        Raises: AbortError, when `signal` is aborted before they are all authorized.
        """
        admitted = []
        for use in uses:
            admitted.append(await self._agent(use.agent)._admit(use, signal))
            if signal is not None and signal.aborted:
                raise AbortError(words.ClientTrouble.TURN_CANCELLED.value)
        return tuple([self._finish(admission) for admission in admitted])

    async def call(self, use: ToolUse, signal: AbortSignal | None = None) -> ToolFinished:
        """Make one call. Raises: AbortError, as `batch`."""
        (finished,) = await self.batch((use,), signal)
        return finished

    def _agent(self, agent_id: str) -> Session:
        if agent_id in ("", self.agent_id):
            return self
        if agent_id not in self._children:
            raise HostError(f"the session of {self.agent_id} has no subagent {agent_id}")
        return self._children[agent_id]

    async def _admit(self, use: ToolUse, signal: AbortSignal | None) -> _Admission:
        """One call, up to where it may run or is refused, in the order of gate/O1."""
        # sampled once, with its bound: a posture switched from here on is for the next call (gate/O5)
        gate = self.gate
        self._history_len += 1
        self.stream.note(
            CallMade(
                at_ms=self.stage.now_ms,
                agent_id=self.agent_id,
                tool_name=use.tool,
                tool_call_id=use.call_id,
                input=copy_json(use.input),
                gate=None if gate is None else gate_name(gate),
            )
        )
        tool = self._around.tools.get(use.tool)
        # An unknown tool, a hook's no and a misfit never reach the gate (gate/O3).
        if tool is None:
            return self._turn_away(use, f"The tool {use.tool} is not known here")
        use, refusal = self._hooked(use)  # so what is approved is what runs (gate/O2)
        if refusal is not None:
            return self._turn_away(use, refusal)
        misfit = tool.misfit(use.input)
        if misfit is not None:
            return self._turn_away(use, f"The input of {use.tool} does not fit: {misfit}")
        try:
            preview = tool.preview(use.input)
        except (
            Exception
        ) as error:  # the tool's own code; a call that cannot be shown is not put to anybody (gate/O4)
            return self._turn_away(use, words.denied_result(str(error) or type(error).__name__))
        self.stream.note(
            PreviewBuilt(
                at_ms=self.stage.now_ms,
                tool_name=use.tool,
                tool_call_id=use.call_id,
                side_effect_level=preview.side_effect_level,
                input=preview.structured_input,
            )
        )
        if gate is None:  # allowed, and no rule is read (gate/D3, gate/O17)
            return self._decided(use, tool, Verdict(AuthorizationDecision.allow(), DecidedBy.NO_GATE))
        request = AuthorizationRequest(
            agent_id=self.agent_id,
            agent_name=self.agent_id,
            model=self._around.model,
            history_len=self._history_len,
            tool_call_id=use.call_id,
            tool_name=use.tool,
            preview=preview,
        )
        known = self._around.classifies and preview.side_effect_level is not None
        authorization = Authorization(
            self.stage,
            self.stream,
            gate,
            request,
            permissions=self._permissions,
            classification=preview.classification if known else None,
        )
        try:
            bound = timeout_of(gate)  # that of the gate itself (gate/X1, gate/X7)
        except Exception as error:  # a gate that cannot say how long it waits is not waited for
            verdict = Verdict(AuthorizationDecision.deny(str(error)), DecidedBy.ERROR)
        else:
            verdict = await authorization.within(bound, signal)
        return self._decided(use, tool, verdict)

    def _hooked(self, use: ToolUse) -> tuple[ToolUse, str | None]:
        """The call as the hooks leave it, and the text of a refusal where one refuses."""
        for hook in self._around.hooks:
            try:
                answer = hook(use) or HookAnswer()
            except Exception as error:  # a hook that breaks has not let anything pass
                answer = HookAnswer(refuse=str(error) or type(error).__name__)
            if answer.refuse is not UNSET:
                self._hook_answered(use, "refuses", reason=answer.refuse)
                return use, words.hook_result(answer.refuse)
            if answer.rewrite is UNSET:
                self._hook_answered(use, "passes")
            else:
                use = replace(use, input=copy_json(answer.rewrite))
                self._hook_answered(use, "rewrites", given=copy_json(use.input))
        return use, None

    def _hook_answered(
        self, use: ToolUse, answer: str, *, given: object = UNSET, reason: str | None = None
    ) -> None:
        self.stream.note(
            HookAnswered(
                at_ms=self.stage.now_ms, tool_call_id=use.call_id, answer=answer, input=given, reason=reason
            )
        )

    def _turn_away(self, use: ToolUse, text: str) -> _Admission:
        self._note_decision(use, allowed=False, by=DecidedBy.BEFORE_GATE, reason=text)
        return _Admission(use, None, text)

    def _decided(self, use: ToolUse, tool: GateTool, verdict: Verdict) -> _Admission:
        decision = verdict.decision
        match decision.outcome:
            case AuthorizationOutcome.ALLOW:
                refusal = None
            case AuthorizationOutcome.PROMPT:
                refusal = words.unasked_result(decision.reason)
            case AuthorizationOutcome.DENY:
                refusal = words.denied_result(decision.reason)
        self._note_decision(use, allowed=refusal is None, by=verdict.by, reason=decision.reason)
        return _Admission(use, tool, refusal)

    def _note_decision(self, use: ToolUse, *, allowed: bool, by: DecidedBy, reason: str | None) -> None:
        self.stream.note(
            CallDecided(
                at_ms=self.stage.now_ms,
                tool_name=use.tool,
                tool_call_id=use.call_id,
                allowed=allowed,
                by=by,
                reason=reason,
            )
        )

    def _finish(self, admission: _Admission) -> ToolFinished:
        """Run the tool, or give the model the refusal in its place: an error result that does not end the turn
        (gate/O14).
        """
        use = admission.use
        content, is_error = admission.refusal or "", True
        if admission.tool is not None and admission.refusal is None:
            self.stage.ledger.append(
                Execute(
                    at_ms=self.stage.now_ms,
                    tool=use.tool,
                    tool_call_id=use.call_id,
                    input=copy_json(use.input),
                )
            )
            try:
                content, is_error = admission.tool.run(copy_json(use.input)), False
            except Exception as error:  # the tool's own failure, which the model reads
                content = str(error) or type(error).__name__
        finished = ToolFinished(
            at_ms=self.stage.now_ms,
            tool_name=use.tool,
            tool_call_id=use.call_id,
            content=content,
            is_error=is_error,
        )
        self.stream.emit(finished)
        return finished
