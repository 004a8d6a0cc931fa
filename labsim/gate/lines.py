"""What this host's events say, one line each.

Above `events`, below `labsim.show`, which makes control characters visible and is where a ledger is turned into
text.
"""

from __future__ import annotations

from msgspec import UNSET

from labsim.gate.events import (
    AnswerRefused,
    ApproverAnswered,
    ApproverAsked,
    ApproverFailed,
    CallDecided,
    CallMade,
    ChildSpawned,
    DecidedBy,
    Forwarded,
    GateAnswered,
    GateEvent,
    GateInstalled,
    HookAnswered,
    Notice,
    PermissionRequested,
    PermissionResolved,
    PolicySwitched,
    PreviewBuilt,
    RoundStarted,
    RuleRemembered,
    RuleRevoked,
    RulesRead,
    RunEnded,
    ScopeCleared,
    SessionOpened,
    SinkFailed,
    StepRefused,
    ToolFinished,
    TurnEnded,
)
from labsim.gate.levels import SideEffectLevel
from labsim.gate.rules import RuleScope
from labsim.hostvalues import stringify

_DECIDED = {
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


def line_of(event: GateEvent) -> str:
    """What one event says. Texts of tools, rules and people are quoted as they are."""
    match event:
        case SessionOpened():
            text = f"a session of {event.agent_id} is {'resumed' if event.resumed else 'open'}"
            text += "" if event.project_id is None else f", project {event.project_id!r}"
            return text + (f"; {_rules(event.cleared)} of old sessions cleared" if event.cleared else "")
        case ChildSpawned():
            return f"subagent {event.agent_id} starts, behind {event.gate or 'no gate'}"
        case GateInstalled():
            return f"from the next call on the session's gate is {event.gate}"
        case PolicySwitched():
            return f"the host's policy is {event.policy} now"
        case CallMade():
            text = f"{event.agent_id} calls {event.tool_name} with {stringify(event.input)}"
            return f"{text}, behind {event.gate or 'no gate'}"
        case HookAnswered():
            if event.reason is not None:
                return f"a hook refuses: {event.reason}"
            return f"a hook {event.answer}" + ("" if event.input is UNSET else f" it to {stringify(event.input)}")
        case PreviewBuilt():
            return f"{event.tool_name} presents {stringify(event.input)}, {_level(event.side_effect_level)}"
        case GateAnswered():
            return f"{event.gate}: {event.outcome}" + _because(event.reason)
        case RulesRead():
            if event.scope is None:
                return f"no remembered rule is about this call of {event.tool_name}"
            rule = _rule(event.scope, event.tool_name, event.pattern)
            return f"{rule} answers: {_verdict(bool(event.allow))}"
        case PermissionRequested():
            level = None if event.classification is None else event.classification.side_effect_level
            return f"{event.request_id} opens, {_level(level)}: {event.description}"
        case ApproverAsked():
            return f"the approver is asked about {event.tool_name}, {_level(event.side_effect_level)}"
        case ApproverAnswered():
            return f"the approver answers {event.decision}" + _because(event.reason)
        case ApproverFailed():
            return f"the approver failed, which is no consent: {event.error}"
        case RuleRemembered():
            rule = _rule(event.scope, event.tool_name, event.pattern)
            return f"{rule} is remembered: {_verdict(event.allow)}" + _because(event.reason)
        case RuleRevoked():
            rule = _rule(event.scope, event.tool_name, event.pattern)
            return f"{rule} is revoked" if event.existed else f"{rule} was not there to revoke"
        case ScopeCleared():
            return f"{_rules(event.removed)} of scope {event.scope} cleared"
        case PermissionResolved():
            text = f"{event.request_id} is {event.outcome}"
            return text + (f", remembered for the {event.rule_scope}" if event.rule_scope else "")
        case AnswerRefused():
            return f"the answer {_verdict(event.allow)} changes nothing: {event.error}"
        case CallDecided():
            return f"{event.tool_name} {'may run' if event.allowed else 'is refused'}, {_DECIDED[event.by]}" + (
                _because(event.reason)
            )
        case ToolFinished():
            return f"the model reads {'an error' if event.is_error else 'a result'}: {event.content}"
        case RoundStarted():
            return f"round {event.round}: the model makes {event.calls} call{'' if event.calls == 1 else 's'}"
        case Notice():
            return f"notice: {event.text}"
        case Forwarded():
            return f"the sink is given {event.kind}" + (f" of {event.tool_call_id}" if event.tool_call_id else "")
        case SinkFailed():
            return f"the sink broke and is written to no more: {event.error}"
        case StepRefused():
            return f"the host refuses: {event.error}"
        case TurnEnded():
            return "the turn was given up" if event.cancelled else "the model is done"
        case RunEnded():
            return "the run is over" if event.error is None else f"the run is over, and reports: {event.error}"
    raise AssertionError(f"no words for {type(event).__name__}")


def _level(level: SideEffectLevel | None) -> str:
    return "level unknown" if level is None else f"level {level}"


def _verdict(allow: bool) -> str:
    return "allow" if allow else "deny"


def _because(reason: str | None) -> str:
    return "" if reason is None else f": {reason}"


def _rules(count: int) -> str:
    return f"{count} rule{'' if count == 1 else 's'}"


def _rule(scope: RuleScope, tool: str, pattern: str | None) -> str:
    about = f"every call of {tool}" if pattern is None else f"calls of {tool} like {pattern}"
    return f"the {scope} rule for {about}"
