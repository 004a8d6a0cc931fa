"""The second host's calls, followed: what can still stop one from where it stands.

The order is that of gate/O1. What the host's own gates can say is taken from their names, which a call's first
event has: `ApprovalGate` never denies (gate/G2), `DenyAllGate` never asks (gate/G3), and no gate lets everything
pass (gate/O17). A gate of any other name can do anything.
"""

from __future__ import annotations

from typing import Final

from labsim.events.call import Execute
from labsim.events.event import Event
from labsim.gate import events as host
from labsim.gate.base import words
from labsim.gate.base.request import AuthorizationOutcome
from labsim.gate.base.terms import SideEffectLevel
from labsim.gate.gates import ApprovalGate, DenyAllGate
from labsim.gate.policy import PolicyGate
from labsim.gate.scripted import AllowingGate
from workbook.steppers.stops import Danger, Left, Stop

_BEFORE: Final = (Stop.UNKNOWN_NAME, Stop.HOOK_REFUSES, Stop.MISFIT, Stop.PREVIEW_FAILS)
_RULES: Final = (Stop.RULES_UNREADABLE, Stop.RULE_DENIES)
_ASKING: Final = (
    *(Stop.NOBODY_ASKS, Stop.APPROVER_FAILS, Stop.APPROVER_DENIES, Stop.NOT_RECORDED, Stop.NEVER_ANSWERED),
)
_OWN: Final = tuple(
    kind.__name__ for kind in (ApprovalGate, DenyAllGate, PolicyGate)
)  # these let reads pass (gate/G1)
_BY: Final = {
    host.DecidedBy.GATE: Stop.GATE_DENIES,
    host.DecidedBy.RULE: Stop.RULE_DENIES,
    host.DecidedBy.APPROVER: Stop.APPROVER_DENIES,
    host.DecidedBy.TIMEOUT: Stop.TIMED_OUT,
    host.DecidedBy.NOBODY: Stop.NOBODY_ASKS,
    host.DecidedBy.CANCELLED: Stop.GIVEN_UP,
}


class Round:
    """The calls that the model makes at once: all are authorized before any of them runs (gate/O18)."""

    def __init__(self, calls: int) -> None:
        self.undecided = calls


class GateCallFollower:
    """One call, from when it is made to what the model reads of it. `subject` is its id; `over` how it ended."""

    def __init__(self, call_made: host.CallMade, around: Round) -> None:
        self.subject = call_made.tool_call_id
        self.policy = f"{call_made.gate}: not asked yet" if call_made.gate is not None else "no gate"
        self.over = ""
        self.ended_by: Danger | None = None
        self.left = Left(
            *_BEFORE, Stop.GATE_FAILS, Stop.GATE_DENIES, *_RULES, *_ASKING, Stop.TIMED_OUT, Stop.GIVEN_UP
        )
        self._round = around
        self._gate = call_made.gate
        self._request = ""
        self._hooked = False  # a hook was asked, so the tool is known
        self._gate_said = False
        self._decided = self._entered = False
        self._know_the_gate()

    def _know_the_gate(self) -> None:
        match self._gate:
            case None | AllowingGate.__name__:
                self._past_the_gate()
            case ApprovalGate.__name__:
                self.left.rule_out(Stop.GATE_FAILS, Stop.GATE_DENIES)
            case DenyAllGate.__name__:
                self.left.rule_out(Stop.GATE_FAILS, *_RULES, *_ASKING, Stop.TIMED_OUT)
            case PolicyGate.__name__:
                self.left.rule_out(Stop.GATE_FAILS)

    def _past_the_gate(self) -> None:
        self.left.only(*_BEFORE, Stop.GIVEN_UP)

    def concerns(self, event: Event, *, mine: bool) -> bool:
        return mine or not event.names_call()  # the end of a turn is about all of its calls

    def take(self, event: Event) -> None:
        left = self.left
        match event:
            case host.HookAnswered(answer=answer):
                left.rule_out(Stop.UNKNOWN_NAME)
                if answer == "refuses":
                    left.settle(Stop.HOOK_REFUSES)
            case host.PreviewBuilt(side_effect_level=level):
                left.rule_out(*_BEFORE)
                if level is SideEffectLevel.NONE and self._gate in _OWN:
                    self._past_the_gate()
                elif self._gate == DenyAllGate.__name__:
                    left.settle(Stop.GATE_DENIES)
            case host.GateAnswered(gate=gate, outcome=outcome):
                self.policy = f"{gate}: {outcome}"
                self._answered(outcome)
            case host.RulesRead(scope=None):
                left.rule_out(*_RULES, Stop.NOBODY_ASKS)
            case host.RulesRead(scope=scope, allow=allow):
                self.policy = f"a {scope} rule: {'allow' if allow else 'deny'}"
                self._past_the_gate() if allow else left.settle(Stop.RULE_DENIES)
            case host.PermissionRequested(request_id=request):
                self._request = request
            case host.ApproverAnswered(request_id=request, decision=decision) if self._waits_for(request):
                self.policy = f"the approver: {decision.value}"
                if not decision.allows:
                    left.settle(Stop.APPROVER_DENIES)
                elif decision.for_session:
                    left.only(Stop.NOT_RECORDED, Stop.GIVEN_UP)
                else:
                    self._past_the_gate()
            case host.ApproverFailed(request_id=request) if self._waits_for(request):
                left.settle(Stop.APPROVER_FAILS)
            case host.AnswerRefused(request_id=request, allow=True) if self._waits_for(request):
                left.settle(Stop.NOT_RECORDED)
            case host.PermissionResolved(request_id=request, outcome=outcome) if self._waits_for(request):
                allowed = outcome is host.PermissionOutcome.ALLOWED
                self._past_the_gate() if allowed else left.settle(Stop.APPROVER_DENIES)
            case host.CallDecided():
                self._decided_on(event)
            case Execute():
                self._entered = True
            case host.ToolFinished(is_error=is_error):
                self.over = "gave the model an error" if is_error else "gave the model a result"
                if is_error:
                    self.ended_by = Danger(Stop.RUN_FAILS if left.certain is None else left.certain)
            case host.TurnEnded(cancelled=True):
                left.settle(Stop.GIVEN_UP)
                self.over = "was given up"
                self.ended_by = Danger(left.certain or Stop.GIVEN_UP)

    @property
    def certain(self) -> Danger | None:
        """What has stopped it, even where it has not ended yet."""
        return None if self.left.certain is None else Danger(self.left.certain)

    def dangers(self) -> tuple[Danger, ...]:
        """What can still stop it, in the order in which the call would meet it."""
        if self.over:
            return ()
        if self.certain is not None:
            return (self.certain,)
        if self._entered:
            return (Danger(Stop.RUN_FAILS),)
        before = [Danger(stop) for stop in self.left]
        never = Danger(Stop.NEVER_ANSWERED)
        if self._round.undecided > (0 if self._decided else 1) and never not in before:
            before.insert(len(before) - 1, never)  # this one waits for the others (gate/O18)
        return (*before, Danger(Stop.RUN_FAILS))

    def _waits_for(self, request: str) -> bool:
        """Whether an answer to that request is one to this call: a late one is not, nor one to an earlier call."""
        return request == self._request and not self._decided

    def _answered(self, outcome: AuthorizationOutcome) -> None:
        match outcome:
            case AuthorizationOutcome.ALLOW:
                self._past_the_gate()
            case AuthorizationOutcome.DENY:
                self.left.settle(Stop.GATE_DENIES)
            case AuthorizationOutcome.PROMPT:
                self._gate_said = True
                self.left.rule_out(Stop.GATE_FAILS, Stop.GATE_DENIES)

    def _decided_on(self, event: host.CallDecided) -> None:
        self._decided = True
        self._round.undecided -= 1
        if event.allowed:
            self.left.only(Stop.GIVEN_UP)
        elif event.by is host.DecidedBy.ERROR:
            self.left.settle(Stop.RULES_UNREADABLE if self._gate_said else Stop.GATE_FAILS)
        elif event.by is host.DecidedBy.BEFORE_GATE:
            self.left.settle(_turned_away(event))
        else:
            self.left.settle(_BY[event.by])


def _turned_away(event: host.CallDecided) -> Stop:
    """Which of the steps before the gate it was; the host's own words are all that tells (gate/O3, gate/O4)."""
    said = event.reason or ""
    if said.startswith(f"The tool {event.tool_name} is not known"):
        return Stop.UNKNOWN_NAME
    if said.startswith(words.denied_result("")):
        return Stop.PREVIEW_FAILS
    return Stop.MISFIT
