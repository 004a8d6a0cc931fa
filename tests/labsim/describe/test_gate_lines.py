"""What the ledger's lines say of the second host's events."""

from __future__ import annotations

import pytest
from msgspec import Struct

from labsim.describe.kinds import event_classes
from labsim.describe.ledger import describe
from labsim.gate import events as gate
from labsim.gate.base.request import ApprovalDecision, AuthorizationOutcome, Classification
from labsim.gate.base.terms import SideEffectLevel
from labsim.gate.events import DecidedBy, PermissionOutcome
from labsim.gate.rules.rules import RuleScope

CALL = {"at_ms": 0, "tool_name": "files", "tool_call_id": "c1"}
ASKED = {"at_ms": 0, "request_id": "perm-1", "tool_call_id": "c1"}
LOCAL = Classification(side_effect_level=SideEffectLevel.LOCAL_STATE)

SAID: list[tuple[Struct, str]] = [
    (gate.SessionOpened(at_ms=0, agent_id="a", project_id=None), "a session of a is open"),
    (
        gate.SessionOpened(at_ms=0, agent_id="a", project_id="", resumed=True, cleared=1),
        "a session of a is resumed, project ''; 1 rule of old sessions cleared",
    ),
    (gate.ChildSpawned(at_ms=0, agent_id="b", gate="DenyAllGate"), "subagent b starts, behind DenyAllGate"),
    (gate.ChildSpawned(at_ms=0, agent_id="b", gate=""), "subagent b starts, behind no gate"),
    (gate.GateInstalled(at_ms=0, gate="DenyAllGate"), "from the next call on the session's gate is DenyAllGate"),
    (gate.PolicySwitched(at_ms=0, policy="never"), "the host's policy is never now"),
    (
        gate.CallMade(**CALL, agent_id="a", input={"n": 1}, gate="ApprovalGate"),
        'a calls files with {"n":1}, behind ApprovalGate',
    ),
    (gate.CallMade(**CALL, agent_id="a", input={}), "a calls files with {}, behind no gate"),
    (gate.HookAnswered(at_ms=0, tool_call_id="c1", answer="passes"), "a hook passes"),
    (gate.HookAnswered(at_ms=0, tool_call_id="c1", answer="rewrites", input={}), "a hook rewrites it to {}"),
    (gate.HookAnswered(at_ms=0, tool_call_id="c1", answer="refuses", reason="no"), "a hook refuses: no"),
    (
        gate.PreviewBuilt(**CALL, side_effect_level=SideEffectLevel.EXTERNAL, input={}),
        "files presents {}, level External",
    ),
    (gate.PreviewBuilt(**CALL, side_effect_level=None, input={}), "files presents {}, level unknown"),
    (
        gate.GateAnswered(**CALL, gate="ApprovalGate", outcome=AuthorizationOutcome.PROMPT, reason="why"),
        "ApprovalGate: prompt: why",
    ),
    (gate.GateAnswered(**CALL, gate="X", outcome=AuthorizationOutcome.ALLOW), "X: allow"),
    (gate.RulesRead(**CALL), "no remembered rule is about this call of files"),
    (
        gate.RulesRead(**CALL, scope=RuleScope.GLOBAL, pattern=None, allow=False),
        "the global rule for every call of files answers: deny",
    ),
    (
        gate.RulesRead(**CALL, scope=RuleScope.PROCESS, pattern="*mac*", allow=True),
        "the process rule for calls of files like *mac* answers: allow",
    ),
    (
        gate.PermissionRequested(**ASKED, tool_name="files", description="why", preview="{}", classification=LOCAL),
        "perm-1 opens, level LocalState: why",
    ),
    (
        gate.PermissionRequested(**ASKED, tool_name="files", description="why", preview="{}", classification=None),
        "perm-1 opens, level unknown: why",
    ),
    (
        gate.ApproverAsked(**ASKED, tool_name="files", side_effect_level=None),
        "the approver is asked about files, level unknown",
    ),
    (
        gate.ApproverAnswered(**ASKED, decision=ApprovalDecision.DENY_FOR_SESSION, reason="no"),
        "the approver answers DenyForSession: no",
    ),
    (
        gate.ApproverFailed(**ASKED, error="KeyError: 'x'"),
        "the approver failed, which is no consent: KeyError: 'x'",
    ),
    (
        gate.RuleRemembered(
            at_ms=0, scope=RuleScope.PROCESS, tool_name="files", pattern=None, allow=False, reason="no"
        ),
        "the process rule for every call of files is remembered: deny: no",
    ),
    (
        gate.RuleRevoked(at_ms=0, scope=RuleScope.GLOBAL, tool_name="files", pattern="*a*", existed=True),
        "the global rule for calls of files like *a* is revoked",
    ),
    (
        gate.RuleRevoked(at_ms=0, scope=RuleScope.GLOBAL, tool_name="files", pattern=None, existed=False),
        "the global rule for every call of files was not there to revoke",
    ),
    (gate.ScopeCleared(at_ms=0, scope=RuleScope.PROJECT, removed=2), "2 rules of scope project cleared"),
    (
        gate.PermissionResolved(
            **ASKED, tool_name="files", outcome=PermissionOutcome.ALLOWED, rule_scope=RuleScope.PROCESS
        ),
        "perm-1 is allowed, remembered for the process",
    ),
    (gate.PermissionResolved(**ASKED, tool_name="files", outcome=PermissionOutcome.DENIED), "perm-1 is denied"),
    (
        gate.AnswerRefused(at_ms=0, request_id="perm-1", allow=True, error="too late"),
        "the answer allow changes nothing: too late",
    ),
    (
        gate.CallDecided(**CALL, allowed=False, by=DecidedBy.RULE, reason="no"),
        "files is refused, by a remembered rule: no",
    ),
    (gate.CallDecided(**CALL, allowed=True, by=DecidedBy.GATE), "files may run, by the gate, finally"),
    (gate.ToolFinished(**CALL, content="no", is_error=True), "the model reads an error: no"),
    (gate.ToolFinished(**CALL, content="a\nb", is_error=False), "the model reads a result: a\\nb"),
    (gate.RoundStarted(at_ms=0, round=1, calls=1), "round 1: the model makes 1 call"),
    (gate.RoundStarted(at_ms=0, round=2, calls=2), "round 2: the model makes 2 calls"),
    (gate.Notice(at_ms=0, text="careful"), "notice: careful"),
    (
        gate.Forwarded(at_ms=0, kind="tool_finished", tool_call_id="c1"),
        "the sink is given tool_finished of c1",
    ),
    (gate.Forwarded(at_ms=0, kind="notice"), "the sink is given notice"),
    (gate.SinkFailed(at_ms=0, error="gone"), "the sink broke and is written to no more: gone"),
    (gate.TurnEnded(at_ms=0), "the model is done"),
    (gate.TurnEnded(at_ms=0, cancelled=True), "the turn was given up"),
    (gate.RunEnded(at_ms=0), "the run is over"),
    (gate.RunEnded(at_ms=0, error="gone"), "the run is over, and reports: gone"),
    (gate.StepRefused(at_ms=0, error="no project"), "the host refuses: no project"),
]


@pytest.mark.parametrize(("event", "line"), SAID, ids=[type(event).__name__ for event, _ in SAID])
def test_an_event_says_one_line(event: Struct, line: str):
    """Every record in words, what tools and people said quoted as it is."""
    assert describe(event) == line


def test_every_event_of_this_host_has_words():
    """A ledger shows no bare fields: the table above covers each kind."""
    kinds = {kind for kind in event_classes() if issubclass(kind, gate.GateEvent)}

    assert {type(event) for event, _ in SAID} == kinds


def test_every_way_of_deciding_has_words():
    """gate/O1: who settled a call is said for each of them."""
    lines = {by: describe(gate.CallDecided(**CALL, allowed=False, by=by)) for by in DecidedBy}

    assert len(set(lines.values())) == len(DecidedBy)
