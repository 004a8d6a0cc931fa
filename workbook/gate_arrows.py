"""The second host's events as messages between lanes: agent, session, gate, rules, approver, person, tools.

Below `arrows`, which asks this module about each event of `labsim.gate`; above `strokes`. The session is the lane
that speaks for the host. A request stays a note of its own: it is the forwarder that carries it to the approver,
and where the forwarder is parked that arrow never comes.
"""

from __future__ import annotations

from msgspec import UNSET, Struct

from labsim.case_gate import GateGiven
from labsim.gate import events as host
from labsim.gate.request import AuthorizationOutcome
from labsim.hostvalues import stringify
from labsim.show import describe
from workbook.strokes import Drawn, Lane, Stroke, note

_ASKS_SOMEBODY = ("dialog", "terminal")


def lanes(given: GateGiven) -> tuple[tuple[Lane, str], ...]:
    """The lanes of a case. Hooks and a person are drawn where the case has them, all others always."""
    hooks = ((Lane.HANDLERS, "hooks"),) if given.hooks else ()
    person = ((Lane.PERSON, "person" if given.ui else "nobody"),) if given.approver in _ASKS_SOMEBODY else ()
    return (
        (Lane.CALLER, "agent"),
        *hooks,
        (Lane.WRAPPER, "session"),
        (Lane.GATE, "gate"),
        (Lane.RULES, "rules"),
        (Lane.APPROVER, "approver"),
        *person,
        (Lane.TOOL, "tools"),
    )


def drawn(event: Struct) -> Drawn | None:
    """The message that an event of this host is; None for one that is only a remark of the session."""
    session, gate, rules, approver = Lane.WRAPPER, Lane.GATE, Lane.RULES, Lane.APPROVER
    match event:
        case host.CallMade():
            return Lane.CALLER, session, Stroke.TELL, f"{event.tool_name} {stringify(event.input)}"
        case host.HookAnswered():
            stroke = Stroke.REFUSE if event.reason is not None else Stroke.ANSWER
            given = "" if event.input is UNSET else f" it to {stringify(event.input)}"
            return Lane.HANDLERS, session, stroke, event.reason or f"{event.answer}{given}"
        case host.GateAnswered(outcome=outcome):
            stroke = Stroke.REFUSE if outcome is AuthorizationOutcome.DENY else Stroke.ANSWER
            return gate, session, stroke, f"{event.gate}: {outcome}"
        case host.RulesRead():
            return rules, session, Stroke.REFUSE if event.allow is False else Stroke.ANSWER, describe(event)
        case host.ApproverAsked():
            return session, approver, Stroke.TELL, describe(event)
        case host.ApproverAnswered(decision=decision):
            stroke = Stroke.ANSWER if decision.allows else Stroke.REFUSE
            return approver, session, stroke, decision + ("" if event.reason is None else f": {event.reason}")
        case host.ApproverFailed():
            return approver, session, Stroke.REFUSE, describe(event)
        case host.AnswerRefused():
            return session, approver, Stroke.REFUSE, describe(event)
        case host.RuleRemembered() | host.RuleRevoked() | host.ScopeCleared():
            return session, rules, Stroke.TELL, describe(event)
        case host.GateInstalled() | host.PolicySwitched():
            return note(gate, describe(event))
        case host.RoundStarted() | host.TurnEnded() | host.ChildSpawned():
            return note(Lane.CALLER, describe(event))
        case host.ToolFinished():
            return session, Lane.CALLER, Stroke.REFUSE if event.is_error else Stroke.ANSWER, event.content
    return None
