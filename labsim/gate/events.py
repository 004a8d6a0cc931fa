"""What the ledger shows of this host: the events of its sessions, and the simulator's remarks on the steps between.

*Session events* are what the host itself puts on a session's stream: they reach whoever follows the run. The rest
are remarks on steps that it takes silently (what the gate said, which rule answered, that an answer came too
late).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import UNSET

from labsim.events.event import Event
from labsim.gate.base.request import ApprovalDecision, AuthorizationOutcome, Classification
from labsim.gate.base.terms import SideEffectLevel
from labsim.gate.rules.rules import RuleScope
from labsim.js_values import stringify
from labsim.places.lanes import Drawn, Lane, Stroke, View, note
from labsim.places.steps import HostCallStep, Order, Steps
from labsim.terms import Standing


class GateEvent(Event, frozen=True, kw_only=True, gc=False):
    """What every record of this host is."""


class PermissionOutcome(StrEnum):
    """How a request ended."""

    ALLOWED = "allowed"
    DENIED = "denied"


class DecidedBy(StrEnum):
    """Who or what settled one call, read off the step at which it was settled (gate/O1)."""

    # a hook, an unknown tool, a misshapen input, a preview that failed (gate/O3, gate/O4)
    BEFORE_GATE = "before-gate"
    NO_GATE = "no-gate"  # none is installed: everything is allowed, unseen (gate/O17)
    GATE = "gate"
    RULE = "rule"
    APPROVER = "approver"
    TIMEOUT = "timeout"  # the gate's own bound (gate/X2)
    ERROR = "error"  # the gate raised, or the rules could not be read (gate/O13, gate/R18)
    NOBODY = "nobody"  # a prompt that nothing turns into a request (gate/W11)
    CANCELLED = "cancelled"  # the turn was given up while the call waited


# ------------------------------------------------------------------------------------------- session events


class PermissionRequested(GateEvent, frozen=True, kw_only=True, gc=False, tag="permission_requested"):
    """A prompt that no rule answers waits for somebody. `preview` is the input as compact JSON text (gate/O11).

    `classification` None: the event does not carry it, and the level is unknown (gate/A7).
    """

    request_id: str
    tool_call_id: str
    tool_name: str
    description: str
    preview: str
    classification: Classification | None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.REQUEST}
    standing: ClassVar[Standing] = Standing.TOLD
    shows: ClassVar[tuple[str, ...]] = ("requests",)

    def says(self) -> str:
        level = None if self.classification is None else self.classification.side_effect_level
        return f"{self.request_id} opens, {_level(level)}: {self.description}"


class PermissionResolved(GateEvent, frozen=True, kw_only=True, gc=False, tag="permission_resolved"):
    """A request was answered. A timeout, or an answer by rule, raises no such event (gate/V6)."""

    request_id: str
    tool_call_id: str
    tool_name: str
    outcome: PermissionOutcome
    rule_scope: RuleScope | None = None  # None: nothing was remembered
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.RESOLVE}
    standing: ClassVar[Standing] = Standing.TOLD
    shows: ClassVar[tuple[str, ...]] = ("resolutions",)

    def says(self) -> str:
        text = f"{self.request_id} is {self.outcome}"
        return text + (f", remembered for the {self.rule_scope}" if self.rule_scope else "")


class RoundStarted(GateEvent, frozen=True, kw_only=True, gc=False, tag="model_round"):
    """The model made its next move: so the turn went on."""

    round: int
    calls: int
    standing: ClassVar[Standing] = Standing.TOLD

    def says(self) -> str:
        return f"round {self.round}: the model makes {self.calls} call{'' if self.calls == 1 else 's'}"

    def drawn(self, view: View) -> Drawn:
        return note(Lane.CALLER)


class ToolFinished(GateEvent, frozen=True, kw_only=True, gc=False, tag="tool_finished"):
    """What the model reads of one call: the tool's result, or why it did not run (gate/O14)."""

    tool_name: str
    tool_call_id: str
    content: str
    is_error: bool
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.RESULT}
    standing: ClassVar[Standing] = Standing.TOLD
    shows: ClassVar[tuple[str, ...]] = ("outcome", "errorIncludes", "successfulCalls")

    def says(self) -> str:
        return f"the model reads {'an error' if self.is_error else 'a result'}: {self.content}"

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.REFUSE if self.is_error else Stroke.ANSWER
        return Drawn(Lane.WRAPPER, Lane.CALLER, stroke, self.content)


SessionEvent: TypeAlias = PermissionRequested | PermissionResolved | RoundStarted | ToolFinished


class Notice(GateEvent, frozen=True, kw_only=True, gc=False, tag="notice"):
    """A warning to whoever follows the run; the forwarder's own, and not on the session's stream."""

    text: str
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.RESOLVE}
    standing: ClassVar[Standing] = Standing.TOLD

    def says(self) -> str:
        return f"notice: {self.text}"


# -------------------------------------------------------------------------------------------------- remarks


class SessionOpened(GateEvent, frozen=True, kw_only=True, gc=False, tag="session_opened"):
    """A session is live. `cleared` counts the session rows of old versions that a resume removed (gate/R3)."""

    agent_id: str
    project_id: str | None
    resumed: bool = False
    cleared: int = 0

    def says(self) -> str:
        text = f"a session of {self.agent_id} is {'resumed' if self.resumed else 'open'}"
        text += "" if self.project_id is None else f", project {self.project_id!r}"
        return text + (f"; {_count_of_rules(self.cleared)} of old sessions cleared" if self.cleared else "")


class ChildSpawned(GateEvent, frozen=True, kw_only=True, gc=False, tag="child_spawned"):
    """A subagent: the gate of just now, the same rules, the same stream (gate/O19, gate/R24)."""

    agent_id: str
    gate: str

    def says(self) -> str:
        return f"subagent {self.agent_id} starts, behind {self.gate or 'no gate'}"

    def drawn(self, view: View) -> Drawn:
        return note(Lane.CALLER)


class GateInstalled(GateEvent, frozen=True, kw_only=True, gc=False, tag="gate_installed"):
    """The session has a gate of its own from the next call on (gate/O5)."""

    gate: str
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}  # inside a call: while its question is open

    def says(self) -> str:
        return f"from the next call on the session's gate is {self.gate}"

    def drawn(self, view: View) -> Drawn:
        return note(Lane.GATE)


class PolicySwitched(GateEvent, frozen=True, kw_only=True, gc=False, tag="policy_switched"):
    """The host's posture changed; what it remembered for the session is forgotten (gate/M5)."""

    policy: str
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}  # as above

    def says(self) -> str:
        return f"the host's policy is {self.policy} now"

    def drawn(self, view: View) -> Drawn:
        return note(Lane.GATE)


class CallMade(GateEvent, frozen=True, kw_only=True, gc=False, tag="call_made"):
    """The model calls a tool. `gate` is the one sampled for this call; None: none is installed."""

    agent_id: str
    tool_name: str
    tool_call_id: str
    input: Any = UNSET
    gate: str | None = None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.MADE}

    def says(self) -> str:
        text = f"{self.agent_id} calls {self.tool_name} with {stringify(self.input)}"
        return f"{text}, behind {self.gate or 'no gate'}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.CALLER, Lane.WRAPPER, Stroke.TELL, f"{self.tool_name} {stringify(self.input)}")


class HookAnswered(GateEvent, frozen=True, kw_only=True, gc=False, tag="hook_answered"):
    """A pre-execution hook: `passes`, `rewrites` (with the new input) or `refuses`."""

    tool_call_id: str
    answer: str
    input: Any = UNSET
    reason: str | None = None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.HOOKS}

    def says(self) -> str:
        if self.reason is not None:
            return f"a hook refuses: {self.reason}"
        return f"a hook {self.answer}" + ("" if self.input is UNSET else f" it to {stringify(self.input)}")

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.ANSWER if self.reason is None else Stroke.REFUSE
        given = "" if self.input is UNSET else f" it to {stringify(self.input)}"
        return Drawn(Lane.HANDLERS, Lane.WRAPPER, stroke, self.reason or f"{self.answer}{given}")


class PreviewBuilt(GateEvent, frozen=True, kw_only=True, gc=False, tag="preview_built"):
    """The tool presented the call. `side_effect_level` None is unknown."""

    tool_name: str
    tool_call_id: str
    side_effect_level: SideEffectLevel | None
    input: Any = UNSET
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.PREVIEW}

    def says(self) -> str:
        return f"{self.tool_name} presents {stringify(self.input)}, {_level(self.side_effect_level)}"


class GateAnswered(GateEvent, frozen=True, kw_only=True, gc=False, tag="gate_answered"):
    """Allow and deny are final (gate/O6)."""

    tool_name: str
    tool_call_id: str
    gate: str
    outcome: AuthorizationOutcome
    reason: str | None = None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.GATE}

    def says(self) -> str:
        return f"{self.gate}: {self.outcome}{_because(self.reason)}"

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.REFUSE if self.outcome is AuthorizationOutcome.DENY else Stroke.ANSWER
        return Drawn(Lane.GATE, Lane.WRAPPER, stroke, f"{self.gate}: {self.outcome}")


class RulesRead(GateEvent, frozen=True, kw_only=True, gc=False, tag="rules_read"):
    """A prompt was held against the remembered rules. `scope` None: none of them is about this call."""

    tool_name: str
    tool_call_id: str
    scope: RuleScope | None = None
    pattern: str | None = None
    allow: bool | None = None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.RULES}

    def says(self) -> str:
        if self.scope is None:
            return f"no remembered rule is about this call of {self.tool_name}"
        rule = _rule(self.scope, self.tool_name, self.pattern)
        return f"{rule} answers: {_verdict(bool(self.allow))}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.RULES, Lane.WRAPPER, Stroke.REFUSE if self.allow is False else Stroke.ANSWER)


class ApproverAsked(GateEvent, frozen=True, kw_only=True, gc=False, tag="approver_asked"):
    """The forwarder calls the approver, and is parked until it answers (gate/F1)."""

    request_id: str
    tool_call_id: str
    tool_name: str
    side_effect_level: SideEffectLevel | None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}
    shows: ClassVar[tuple[str, ...]] = ("asked",)

    def says(self) -> str:
        return f"the approver is asked about {self.tool_name}, {_level(self.side_effect_level)}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.WRAPPER, Lane.APPROVER, Stroke.TELL)


class ApproverAnswered(GateEvent, frozen=True, kw_only=True, gc=False, tag="approver_answered"):
    """The approver came back."""

    request_id: str
    tool_call_id: str
    decision: ApprovalDecision
    reason: str | None = None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}

    def says(self) -> str:
        return f"the approver answers {self.decision}{_because(self.reason)}"

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.ANSWER if self.decision.allows else Stroke.REFUSE
        says = self.decision + ("" if self.reason is None else f": {self.reason}")
        return Drawn(Lane.APPROVER, Lane.WRAPPER, stroke, says)


class ApproverFailed(GateEvent, frozen=True, kw_only=True, gc=False, tag="approver_failed"):
    """The approver raised, or answered with something that is no answer; that is no consent."""

    request_id: str
    tool_call_id: str
    error: str
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}

    def says(self) -> str:
        return f"the approver failed, which is no consent: {self.error}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.APPROVER, Lane.WRAPPER, Stroke.REFUSE)


class AnswerRefused(GateEvent, frozen=True, kw_only=True, gc=False, tag="answer_refused"):
    """An answer could not be delivered: nobody waits any more (gate/W17), or its rule could not be written
    (gate/F4).
    """

    request_id: str
    allow: bool
    error: str
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.RESOLVE}

    def says(self) -> str:
        return f"the answer {_verdict(self.allow)} changes nothing: {self.error}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.WRAPPER, Lane.APPROVER, Stroke.REFUSE)


class RuleRemembered(GateEvent, frozen=True, kw_only=True, gc=False, tag="rule_remembered"):
    """A rule was written, by an answer or by the host."""

    scope: RuleScope
    tool_name: str
    pattern: str | None
    allow: bool
    reason: str | None = None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.RESOLVE}
    shows: ClassVar[tuple[str, ...]] = ("rulesLeft",)

    def says(self) -> str:
        rule = _rule(self.scope, self.tool_name, self.pattern)
        return f"{rule} is remembered: {_verdict(self.allow)}{_because(self.reason)}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.WRAPPER, Lane.RULES, Stroke.TELL)


class RuleRevoked(GateEvent, frozen=True, kw_only=True, gc=False, tag="rule_revoked"):
    """One address was revoked; `existed` says whether there was a rule at it."""

    scope: RuleScope
    tool_name: str
    pattern: str | None
    existed: bool
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}  # inside a call, as above
    shows: ClassVar[tuple[str, ...]] = ("rulesLeft",)

    def says(self) -> str:
        rule = _rule(self.scope, self.tool_name, self.pattern)
        return f"{rule} is revoked" if self.existed else f"{rule} was not there to revoke"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.WRAPPER, Lane.RULES, Stroke.TELL)


class ScopeCleared(GateEvent, frozen=True, kw_only=True, gc=False, tag="scope_cleared"):
    """All rules of one scope went; `removed` of them."""

    scope: RuleScope
    removed: int
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}  # as above
    shows: ClassVar[tuple[str, ...]] = ("rulesLeft",)

    def says(self) -> str:
        return f"{_count_of_rules(self.removed)} of scope {self.scope} cleared"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.WRAPPER, Lane.RULES, Stroke.TELL)


class CallDecided(GateEvent, frozen=True, kw_only=True, gc=False, tag="call_decided"):
    """The call is let through or not, with who settled it. `reason` is what the model reads of a no."""

    tool_name: str
    tool_call_id: str
    allowed: bool
    by: DecidedBy
    reason: str | None = None
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.DECIDED}
    shows: ClassVar[tuple[str, ...]] = ("decisions", "decidedBy")

    def says(self) -> str:
        verdict = "may run" if self.allowed else "is refused"
        return f"{self.tool_name} {verdict}, {_DECIDED[self.by]}{_because(self.reason)}"


class Forwarded(GateEvent, frozen=True, kw_only=True, gc=False, tag="forwarded"):
    """The sink was given an event; `kind` is the event's own tag."""

    kind: str
    tool_call_id: str = ""
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.RESOLVE}

    def says(self) -> str:
        return f"the sink is given {self.kind}" + (f" of {self.tool_call_id}" if self.tool_call_id else "")


class SinkFailed(GateEvent, frozen=True, kw_only=True, gc=False, tag="sink_failed"):
    """The sink raised, and is written to no more (gate/F2)."""

    error: str
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.RESOLVE}

    def says(self) -> str:
        return f"the sink broke and is written to no more: {self.error}"


class TurnEnded(GateEvent, frozen=True, kw_only=True, gc=False, tag="turn_ended"):
    """The model is done. The run is not, until the forwarder is (gate/X5)."""

    cancelled: bool = False

    def says(self) -> str:
        return "the turn was given up" if self.cancelled else "the model is done"

    def drawn(self, view: View) -> Drawn:
        return note(Lane.CALLER)


class RunEnded(GateEvent, frozen=True, kw_only=True, gc=False, tag="run_ended"):
    """The forwarder came home. `error` is the sink's, where it failed."""

    error: str | None = None
    shows: ClassVar[tuple[str, ...]] = ("runEnded",)

    def says(self) -> str:
        return "the run is over" if self.error is None else f"the run is over, and reports: {self.error}"


class StepRefused(GateEvent, frozen=True, kw_only=True, gc=False, tag="step_refused"):
    """The host refused something that was asked of it beside the calls: a rule, a resume."""

    error: str

    def says(self) -> str:
        return f"the host refuses: {self.error}"


_DECIDED: Final = {
    DecidedBy.BEFORE_GATE: "before the gate",
    DecidedBy.NO_GATE: "with no gate there is nobody to object",
    DecidedBy.GATE: "by the gate, finally",
    DecidedBy.RULE: "by a remembered rule",
    DecidedBy.APPROVER: "by the approver",
    DecidedBy.TIMEOUT: "by the gate's time limit",
    DecidedBy.ERROR: "by an error",
    DecidedBy.NOBODY: "with nobody to ask",
    DecidedBy.CANCELLED: "by the end of the turn",
}


def _level(level: SideEffectLevel | None) -> str:
    return "level unknown" if level is None else f"level {level}"


def _verdict(allow: bool) -> str:
    return "allow" if allow else "deny"


def _because(reason: str | None) -> str:
    return "" if reason is None else f": {reason}"


def _count_of_rules(count: int) -> str:
    return f"{count} rule{'' if count == 1 else 's'}"


def _rule(scope: RuleScope, tool: str, pattern: str | None) -> str:
    about = f"every call of {tool}" if pattern is None else f"calls of {tool} like {pattern}"
    return f"the {scope} rule for {about}"
