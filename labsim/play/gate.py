"""The `gate` scenario: a case's host, its session and what happens in it, on a stage.

Builds the host that a case describes, plays its steps, and counts what the ledger shows. `play_with` does the same
with somebody's own approver or gate in place of the case's: the same case, hence the same question put to another
policy. `play_against` does it with somebody's own store, whose rules may be older than the play and outlast it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from msgspec import UNSET

from labsim.call.scripted import answers
from labsim.case.gate import GateStep, GateWord, PolicyWord
from labsim.case.model import GateCase
from labsim.errors import HostError
from labsim.events.call import Execute
from labsim.events.dialogs import QuestionAsked
from labsim.events.ledger import Ledger
from labsim.gate.approvers import AllowAll, Approver, DenyAll, EditsButNotTheNetwork
from labsim.gate.asking import ClientApprover, DialogClient, TerminalApprover
from labsim.gate.base.errors import RuleStoreFailed
from labsim.gate.base.terms import Duration
from labsim.gate.events import (
    ApproverAsked,
    CallDecided,
    CallMade,
    Notice,
    PermissionRequested,
    PermissionResolved,
    PolicySwitched,
    StepRefused,
    ToolFinished,
)
from labsim.gate.gates import ApprovalGate, Authorizer, DenyAllGate
from labsim.gate.given import address_of, calls_of, kind_of, rule_of
from labsim.gate.policy import ApprovalPolicy, LivePolicy, PolicyApprover, PolicyGate
from labsim.gate.rules.rules import RuleScope
from labsim.gate.rules.store import RuleStore
from labsim.gate.scripted import (
    AllowingGate,
    BreakingSink,
    ScriptedApprover,
    ScriptedHook,
    SinkBroken,
    scripted_store,
    scripted_tool,
)
from labsim.gate.session.run import Run
from labsim.gate.session.runtime import Runtime
from labsim.gate.session.session import Session
from labsim.gate.tools import ToolUse
from labsim.js_values import copy_json
from labsim.play.report import CallReport, Report
from labsim.stage.stage import AbortSignal, Future, Stage, first_of
from labsim.stage.ui import UI, InertUI, ScriptedUI
from labsim.terms import Outcome
from labsim.tool import ToolResult, text_content

AGENT: Final = "agent"
_A_DAY_MS: Final = 24 * 60 * 60 * 1000  # how long a run that may never end is watched, unless a case says otherwise


class GateUnderWay:
    """The steps of one case, as far as they got. `play` takes them; the rest reads what they showed.

    `approver`, `gate` and `store` stand in for the case's approver, the session's gate and the case's rules, where
    they are given. `policy` is what `live_policy` made, for somebody who switches it as well; `signal` gives a run
    up when it is aborted.
    """

    def __init__(
        self,
        case: GateCase,
        stage: Stage,
        ui: UI,
        *,
        approver: Approver | None = None,
        gate: Authorizer | None = None,
        store: RuleStore | None = None,
        policy: LivePolicy | None = None,
        signal: AbortSignal | None = None,
    ) -> None:
        self.case = case
        self.stage = stage
        self.finished = False
        self._given = case.given
        self._own_gate = gate
        self._refused: str | None = None
        self._under_way = False  # a run has begun and not ended
        self._signal = signal
        self._policy = live_policy(case, stage) if policy is None else policy
        self._approver = self._made_approver(ui) if approver is None else self._through_policy(approver)
        self._runtime = Runtime(
            stage,
            tools=[scripted_tool(spec) for spec in self._given.tools],
            hooks=[ScriptedHook(spec) for spec in self._given.hooks],
            gate=self._gate(self._given.gate),
            store=scripted_store(self._given.store) if store is None else store,
            classifies=self._given.classifies,
        )
        self._session: Session | None = None
        self._sink = None if self._given.sink_breaks_at is UNSET else BreakingSink(self._given.sink_breaks_at)

    # -- playing

    async def play(self) -> None:
        """All steps in order. A step that the host refuses, or a run that nobody sees the end of, is the last."""
        over = self.stage.sleep(_A_DAY_MS if self._given.watch_ms is UNSET else self._given.watch_ms)
        try:
            self._session = self._attach()
            for rule in self._given.rules:
                self._session.permissions.remember(rule_of(rule))
            for calls, steps in groupby(self._given.steps, key=lambda step: bool(calls_of(step))):
                if not calls:
                    for step in steps:
                        self._take(step)
                elif not await self._run(tuple(steps), over):
                    break
        except HostError as error:
            self._refused = str(error)
            self.stage.ledger.append(StepRefused(at_ms=self.stage.now_ms, error=str(error)))
        self.finished = True

    async def _run(self, steps: Sequence[GateStep], over: Future[None]) -> bool:
        """One run of calls. False if it reported an error, or had not ended when the watching did (gate/X5)."""
        scope = RuleScope(self._given.remembers_in)
        run = Run(self._live, self._approver, self._sink, signal=self._signal, for_session=scope)
        self._under_way = True
        task = self.stage.spawn(run.play(self._rounds(steps)))
        await first_of(self.stage, (task, over))
        if not task.done:
            return False
        self._under_way = False
        try:
            task.result()
        except SinkBroken as error:
            self._refused = str(error)
            return False
        return True

    def _rounds(self, steps: Sequence[GateStep]) -> Iterator[Sequence[ToolUse]]:
        for step in steps:
            uses: list[ToolUse] = []
            for spec in calls_of(step):
                number = 1 + len(uses) + sum(isinstance(event, CallMade) for event in self.stage.ledger)
                uses.append(
                    ToolUse(
                        call_id=f"call-{number}" if spec.id is UNSET else spec.id,
                        tool=spec.call,
                        input={} if spec.input is UNSET else copy_json(spec.input),
                        agent=spec.agent,
                    )
                )
            yield uses

    def _take(self, step: GateStep) -> None:
        """One step that is no call. Raises: HostError, where the host refuses it."""
        session = self._live
        if step.remember is not UNSET:
            session.permissions.remember(rule_of(step.remember))
        elif step.revoke is not UNSET:
            session.permissions.revoke(address_of(step.revoke))
        elif step.clear is not UNSET:
            session.permissions.clear(RuleScope(step.clear))
        elif step.switch is not UNSET:
            self.switch(step.switch)
        elif step.install is not UNSET:
            self.install(step.install)
        elif step.spawn is not UNSET:
            session.spawn_child(step.spawn)
        else:
            assert kind_of(step) == "resume"
            self._resume()

    def _attach(self) -> Session:
        session = self._runtime.attach(
            AGENT, project_id=self._given.project, raises_requests=self._given.raises_requests
        )
        return self._behind_its_gate(session)

    def _resume(self) -> None:
        self._session = self._behind_its_gate(self._runtime.resume(AGENT, project_id=self._given.project))

    def _behind_its_gate(self, session: Session) -> Session:
        word = self._given.session_gate
        if word is UNSET and self._policy is not None:
            word = "policy"
        gate = self._own_gate
        if gate is None and word is not UNSET:
            gate = self._gate(word)
        if gate is not None:
            session.install_gate(gate)
        return session

    @property
    def _live(self) -> Session:
        assert self._session is not None
        return self._session

    # -- the host that the case describes

    def switch(self, word: PolicyWord) -> None:
        """Take another posture now, whatever is under way."""
        assert self._policy is not None
        self._policy.switch(ApprovalPolicy(word))

    def install(self, word: GateWord) -> None:
        """Give the session another gate now, whatever is under way."""
        gate = self._gate(word)
        assert gate is not None
        self._live.install_gate(gate)

    def _gate(self, word: GateWord) -> Authorizer | None:
        bound = None if self._given.timeout_ms is UNSET else Duration.ms(self._given.timeout_ms)
        match word:
            case "approval":
                return ApprovalGate(bound)
            case "deny-all":
                return DenyAllGate()
            case "allow":
                return AllowingGate()
            case "policy":
                assert self._policy is not None
                return PolicyGate(self._policy, bound=bound)
            case "none":
                return None

    def _made_approver(self, ui: UI) -> Approver | None:
        made: Approver
        match self._given.approver:
            case "none":
                if self._policy is None:
                    return None
                made = AllowAll()
            case "allow-all":
                made = AllowAll()
            case "deny-all":
                made = DenyAll()
            case "edits-not-network":
                made = EditsButNotTheNetwork()
            case "dialog":
                made = ClientApprover(self.stage, DialogClient(ui))
            case "terminal":
                made = TerminalApprover(ui)
            case "scripted":
                made = ScriptedApprover(self._given.answers, self)
        return self._through_policy(made)

    def _through_policy(self, approver: Approver) -> Approver:
        return approver if self._policy is None else PolicyApprover(self._policy, approver)

    # -- what it showed

    @property
    def calls(self) -> tuple[CallReport, ...]:
        """Each call, from when it was made to what the model read of it; calls of one round overlap."""
        made: dict[int, CallReport] = {}
        open_calls: list[tuple[str, int]] = []
        events = list(self.stage.ledger)
        for number, event in enumerate(events):
            if isinstance(event, CallMade):
                open_calls.append((event.tool_call_id, number))
                made[number] = CallReport(tool_call_id=event.tool_call_id, start=number, end=len(events))
            elif isinstance(event, ToolFinished):
                found = next(entry for entry in open_calls if entry[0] == event.tool_call_id)
                open_calls.remove(found)
                result = ToolResult(content=text_content(event.content), is_error=event.is_error)
                made[found[1]] = CallReport(
                    tool_call_id=event.tool_call_id,
                    start=found[1],
                    end=number + 1,
                    outcome=Outcome.ERROR_RESULT if event.is_error else Outcome.RETURN,
                    error=event.content if event.is_error else None,
                    result=result,
                )
        return tuple(made.values())

    def observed(self) -> dict[str, Any]:
        """The counters, read from the ledger. `outcome` is the last call's, `error` the last one that there was."""
        ledger = self.stage.ledger
        finished = [event for event in ledger if isinstance(event, ToolFinished)]
        decided = [event for event in ledger if isinstance(event, CallDecided)]
        executed = [event for event in ledger if isinstance(event, Execute)]
        questions = [event for event in ledger if isinstance(event, QuestionAsked)]
        errors = [event.content for event in finished if event.is_error]
        seen: dict[str, Any] = {
            "effects": len(executed),
            "prompts": len(questions),
            "promptTexts": [event.title for event in questions],
            "successfulCalls": sum(not event.is_error for event in finished),
            "decisions": ["allow" if event.allowed else "deny" for event in decided],
            "decidedBy": [event.by.value for event in decided],
            "requests": _count(ledger, PermissionRequested),
            "resolutions": _count(ledger, PermissionResolved),
            "asked": _count(ledger, ApproverAsked),
            "runEnded": not self._under_way,
            "notices": [event.text for event in ledger if isinstance(event, Notice)],
        }
        if self._refused is not None:
            seen |= {"outcome": Outcome.THROW.value, "error": self._refused}
        elif finished:
            last = Outcome.ERROR_RESULT if finished[-1].is_error else Outcome.RETURN
            seen |= {"outcome": last.value} | ({"error": errors[-1]} if errors else {})
        if executed:
            seen["input"] = executed[-1].input
        rules = self._rules_left()
        if rules is not None:
            seen["rulesLeft"] = rules
        return seen

    def report(self) -> Report:
        """All that it showed so far."""
        return Report(
            case=self.case,
            finished=self.finished,
            observed=self.observed(),
            calls=self.calls,
            ledger=self.stage.ledger.snapshot(),
        )

    def _rules_left(self) -> list[str] | None:
        """The scopes of the rules that apply now, in the order of gate/R19; None where they cannot be read."""
        if self._session is None or not self._given.raises_requests:
            return None
        try:
            return [rule.scope.value for rule in self._session.permissions.rules()]
        except RuleStoreFailed:
            return None


def _count(ledger: Ledger, kind: type[Any]) -> int:
    return sum(isinstance(event, kind) for event in ledger)


def live_policy(case: GateCase, stage: Stage) -> LivePolicy | None:
    """The posture of the case's host, whose switches are in the ledger; None, where it has none to switch."""
    if case.given.policy is UNSET:
        return None
    policy = LivePolicy(ApprovalPolicy(case.given.policy))
    policy.on_switch = lambda now: stage.ledger.append(PolicySwitched(at_ms=stage.now_ms, policy=now.value))
    return policy


def play_with(case: GateCase, *, approver: Approver | None = None, gate: Authorizer | None = None) -> Report:
    """Play a case with somebody's own approver, or gate of the session, in place of the case's.

    Returns: the report, whose comparison is with what the case expects of a right one. A policy that never
    answers is watched for a simulated day, and the report says that the run did not end.
    """
    stage = Stage()
    return _played(GateUnderWay(case, stage, InertUI(), approver=approver, gate=gate))


def play_against(case: GateCase, store: RuleStore) -> Report:
    """Play a case with its own answers against the rules of a store, which keeps what is remembered.

    Returns: the report, whose comparison is with what the case expects where nothing was remembered before.
    """
    stage = Stage()
    ui = ScriptedUI(stage, answers(case.given.choices)) if case.given.ui else InertUI()
    return _played(GateUnderWay(case, stage, ui, store=store))


def _played(under_way: GateUnderWay) -> Report:
    stage = under_way.stage
    stage.play(under_way.play()).result()
    report = under_way.report()
    stage.close()
    return report
