"""One turn and its forwarder: where the approver is called, and why a bound on a call does not bound the run.

Two coroutines: the *turn* makes the model's calls and blocks on each that must be approved; the *forwarder* takes
the session's events one by one, puts each request to the approver, and only then passes the event on to the sink
(gate/F1). The run ends when both have. So a bound that ends the turn's wait leaves the forwarder where it is,
parked in the approver: one that answers late is harmless, and one that never does leaves the run hanging exactly
as without the bound (gate/X3, gate/X4, gate/X5).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import isawaitable
from json import JSONDecodeError, loads
from typing import Any, Protocol

from msgspec import Struct

from labsim.errors import AbortError
from labsim.gate.approvers import AllowAll, Approver, played_on
from labsim.gate.base import words
from labsim.gate.base.errors import RuntimeFailure
from labsim.gate.base.request import ApprovalAnswer, ApprovalRequest
from labsim.gate.events import (
    AnswerRefused,
    ApproverAnswered,
    ApproverAsked,
    ApproverFailed,
    Forwarded,
    GateEvent,
    Notice,
    PermissionRequested,
    RoundStarted,
    RunEnded,
    SinkFailed,
    ToolFinished,
    TurnEnded,
)
from labsim.gate.rules.rules import RuleScope
from labsim.gate.session.permissions import PermissionDecision
from labsim.gate.session.session import Session
from labsim.gate.session.stream import CAPACITY, Lagged, Subscription
from labsim.gate.tools import ToolUse
from labsim.stage.stage import AbortSignal


class Sink(Protocol):
    """Whoever follows a run from outside. One that raises is written to no more (gate/F2)."""

    async def write(self, event: GateEvent) -> None: ...

    async def close(self) -> None: ...


class RunReport(Struct, frozen=True):
    """How a run ended: what the model read of each call, in order, and whether it was given up."""

    results: tuple[ToolFinished, ...]
    cancelled: bool = False


class Run:
    """One turn on a session, with whoever answers its requests. No approver means AllowAll (gate/D2).

    `signal` gives the turn up when aborted. `for_session` is the scope that a `…ForSession` answer is remembered
    in; anything but PROCESS is an older host's (gate/S3), in which the answer can fail to be recorded (gate/F4).
    """

    def __init__(
        self,
        session: Session,
        approver: Approver | None = None,
        sink: Sink | None = None,
        *,
        signal: AbortSignal | None = None,
        for_session: RuleScope = RuleScope.PROCESS,  # gate/S3
        capacity: int = CAPACITY,
    ) -> None:
        self.session = session
        self._approver: Approver = AllowAll() if approver is None else approver  # gate/D2
        self._sink = sink
        self._signal = signal
        self._for_session = for_session
        self._capacity = capacity
        self._sink_error: Exception | None = None

    async def play(self, rounds: Iterable[Sequence[ToolUse]]) -> RunReport:
        """Make the model's moves, one round of calls after another, and see the forwarder home.

        `rounds` is read as the turn goes, so it may look at what came before. Raises: what the sink raised, once
        the run is over; the effects that were approved have happened all the same (gate/F2).
        """
        session, stage = self.session, self.session.stage
        played_on(stage)
        await session.begin_turn()
        events = session.stream.subscribe(self._capacity)
        try:
            forwarder = stage.spawn(self._forward(events))  # no bound of a call ends it (gate/X3)
            results, cancelled = await self._turn(rounds)
            session.stream.note(TurnEnded(at_ms=stage.now_ms, cancelled=cancelled))
            session.stream.unsubscribe(events)
            await forwarder  # a forwarder that is parked in the approver is waited for (gate/X5)
            error = self._sink_error
            session.stream.note(RunEnded(at_ms=stage.now_ms, error=None if error is None else str(error)))
        finally:
            session.stream.unsubscribe(events)
            session.end_turn()
        if error is not None:
            raise error
        return RunReport(results, cancelled)

    async def _turn(self, rounds: Iterable[Sequence[ToolUse]]) -> tuple[tuple[ToolFinished, ...], bool]:
        session = self.session
        results: list[ToolFinished] = []
        try:
            for number, uses in enumerate(rounds, start=1):
                session.stream.emit(RoundStarted(at_ms=session.stage.now_ms, round=number, calls=len(uses)))
                results += await session.batch(uses, self._signal)
        except AbortError:
            return tuple(results), True
        return tuple(results), False

    # -- the forwarder

    async def _forward(self, events: Subscription) -> None:
        """Take events until the turn is over and all were taken (gate/F3). Answers first, forwards then
        (gate/F1).
        """
        while (event := await events.next()) is not None:
            if isinstance(event, Lagged):
                await self._notice(words.events_dropped(event.count))
                continue
            if isinstance(event, PermissionRequested):
                await self._answer(event)  # one at a time; what comes after waits (gate/A12, gate/X6)
            await self._write(event)
        await self._close_sink()

    async def _answer(self, event: PermissionRequested) -> None:
        level = event.classification  # what is not carried stays unknown; a tool's name says nothing (gate/A7)
        request = ApprovalRequest(
            request_id=event.request_id,
            tool_call_id=event.tool_call_id,
            tool_name=event.tool_name,
            description=event.description,
            input=_parsed(event.preview),
            side_effect_level=None if level is None else level.side_effect_level,
        )
        answer = await self._asked(request)
        decision = PermissionDecision.of(answer, self._for_session)
        error = self._resolve(request, decision)
        if error is None:
            return
        # What could not be recorded is a plain deny, with a notice (gate/F4).
        refusal = PermissionDecision.deny().with_reason(
            words.allow_not_recorded(request.tool_name, str(error)) if decision.allowed else decision.reason
        )
        if self._resolve(request, refusal) is not None:
            return  # the request is gone: timed out or given up. A late answer is harmless (gate/X4, gate/V4)
        notice = words.allow_not_recorded_notice if decision.allowed else words.refusal_not_remembered_notice
        await self._notice(notice(request.tool_name, str(error)))

    async def _asked(self, request: ApprovalRequest) -> ApprovalAnswer:
        """What the approver says; a failure of any kind is a no that says so (gate/A2)."""
        self._note(
            ApproverAsked(
                at_ms=self.session.stage.now_ms,
                request_id=request.request_id,
                tool_call_id=request.tool_call_id,
                tool_name=request.tool_name,
                side_effect_level=request.side_effect_level,
            )
        )
        try:
            given: Any = self._approver.approve(request)
            if not isawaitable(given):
                raise TypeError("approve must be an `async def`")
            answer = ApprovalAnswer.of(await given)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            self._note(
                ApproverFailed(
                    at_ms=self.session.stage.now_ms,
                    request_id=request.request_id,
                    tool_call_id=request.tool_call_id,
                    error=text,
                )
            )
            return ApprovalAnswer().because(words.approver_failed(request.tool_name, text))
        self._note(
            ApproverAnswered(
                at_ms=self.session.stage.now_ms,
                request_id=request.request_id,
                tool_call_id=request.tool_call_id,
                decision=answer.decision,
                reason=answer.reason,
            )
        )
        return answer

    def _resolve(self, request: ApprovalRequest, decision: PermissionDecision) -> RuntimeFailure | None:
        """Deliver an answer. Returns the failure, which is not raised to the run (gate/F4)."""
        try:
            self.session.permissions.resolve(request.request_id, decision)
        except RuntimeFailure as error:
            self._note(
                AnswerRefused(
                    at_ms=self.session.stage.now_ms,
                    request_id=request.request_id,
                    allow=decision.allowed,
                    error=str(error),
                )
            )
            return error
        return None

    # -- the sink

    async def _notice(self, text: str) -> None:
        notice = Notice(at_ms=self.session.stage.now_ms, text=text)
        self._note(notice)
        await self._write(notice)

    async def _write(self, event: GateEvent) -> None:
        if self._sink is None or self._sink_error is not None:
            return
        try:
            await self._sink.write(event)
        except Exception as error:  # the sink's own failure: kept, and raised when the run is over (gate/F2)
            self._sink_broke(error)
            return
        self._note(
            Forwarded(
                at_ms=self.session.stage.now_ms,
                kind=event.kind_name(),
                tool_call_id=event.names_call(),
            )
        )

    async def _close_sink(self) -> None:
        if self._sink is None:
            return
        try:
            await self._sink.close()
        except Exception as error:  # as above; the first failure is the one that is reported
            if self._sink_error is None:
                self._sink_broke(error)

    def _sink_broke(self, error: Exception) -> None:
        self._sink_error = error
        self._note(SinkFailed(at_ms=self.session.stage.now_ms, error=str(error)))

    def _note(self, remark: GateEvent) -> None:
        self.session.stream.note(remark)


def _parsed(preview: str) -> Any:
    """The input behind a preview; what is no JSON stays the text that it is (gate/A8)."""
    try:
        return loads(preview)
    except (JSONDecodeError, RecursionError):
        return preview
