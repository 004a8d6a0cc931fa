"""Hosts whose posture can change while a session is open (gate/M1 to gate/M9)."""

from __future__ import annotations

import pytest
from gate_kit import Scripted, Silent, World, authorization, request, rule, said_by, use

from labsim.errors import HostError
from labsim.gate.approvers import AllowAll, DenyAll
from labsim.gate.asking import TerminalApprover
from labsim.gate.base.errors import ModeRefused
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest, AuthorizationDecision
from labsim.gate.base.terms import Duration, SideEffectLevel
from labsim.gate.gates import DenyAllGate
from labsim.gate.policy import (
    ApprovalPolicy,
    LivePolicy,
    ModePicker,
    PolicyApprover,
    PolicyGate,
    check_unattended,
    fixed_posture,
)
from labsim.gate.session.permissions import PermissionDecision
from labsim.gate.session.session import Session
from labsim.stage.ui import InertUI

ALWAYS, PROMPT, NEVER = ApprovalPolicy
ALLOW, DENY = ApprovalDecision.ALLOW, ApprovalDecision.DENY
FOR_SESSION, NO_MORE = ApprovalDecision.ALLOW_FOR_SESSION, ApprovalDecision.DENY_FOR_SESSION
W3 = "files changes state outside this process, and this session is set to refuse that"
W9 = "files was refused earlier in this session, and that answer still stands"


def host(policy: ApprovalPolicy, inner: Scripted) -> tuple[World, Session, LivePolicy, PolicyApprover]:
    """A session with a gate and an approver that read one live policy."""
    world, live = World(), LivePolicy(policy)
    session = world.runtime.attach("a")
    session.install_gate(PolicyGate(live))
    return world, session, live, PolicyApprover(live, inner)


def test_policy_tags_round_trip_and_the_default_is_to_ask():
    """gate/M7: an unknown tag is none, and is not guessed at."""
    assert [ApprovalPolicy.from_tag(policy.value) for policy in ApprovalPolicy] == list(ApprovalPolicy)
    assert [ApprovalPolicy.from_tag(tag) for tag in ("Always", "ask", "", "prompt ")] == [None] * 4
    assert ApprovalPolicy.default() is PROMPT
    assert LivePolicy().now is PROMPT


@pytest.mark.parametrize(("policy", "answer"), [(ALWAYS, ApprovalAnswer(ALLOW)), (NEVER, ApprovalAnswer(DENY, W3))])
def test_always_and_never_answer_without_asking(policy: ApprovalPolicy, answer: ApprovalAnswer):
    """gate/M3, gate/W3."""
    inner = Scripted(ALLOW)

    assert said_by(PolicyApprover(LivePolicy(policy), inner).approve(request("files"))) == answer
    assert inner.requests == []


def test_prompt_asks_the_approver_inside():
    """gate/M3: and passes on what it says, the reason of a refusal included."""
    inner = Scripted(ApprovalAnswer(DENY, "not now"))

    assert said_by(PolicyApprover(LivePolicy(PROMPT), inner).approve(request("files"))) == ApprovalAnswer(
        DENY, "not now"
    )
    assert inner.requests == [request("files")]


def test_a_for_session_answer_is_kept_in_the_host_by_tool():
    """gate/M4: asked once a tool; passed on as a plain answer, so no rule is made."""
    inner = Scripted(FOR_SESSION)
    world, session, _, approver = host(PROMPT, inner)

    world.play(
        session,
        [use("files"), use("files", {"other": 1}, "c2"), use("publish", call_id="c3")],
        approver=approver,
    )

    assert [asked.tool_name for asked in inner.requests] == ["files", "publish"]
    assert (session.permissions.rules(), world.asked) == ((), 3)
    assert [event.rule_scope for event in world.resolved] == [None, None, None]


@pytest.mark.parametrize("back", [PROMPT, NEVER])
def test_a_switch_forgets_what_was_answered(back: ApprovalPolicy):
    """gate/M5: even one to the same policy; and going back does not revive it."""
    inner = Scripted(FOR_SESSION)
    world, session, live, approver = host(PROMPT, inner)
    world.play(session, [use("files")], approver=approver)

    live.switch(back)
    live.switch(PROMPT)
    world.play(session, [use("files", call_id="c2")], approver=approver)

    assert len(inner.requests) == 2


def test_a_refusal_for_the_session_is_repeated_in_words_of_its_own():
    """gate/M4, gate/W9: the first has the approver's reason, the repeat says that it stands."""
    inner = Scripted(ApprovalAnswer(NO_MORE, "no writes"))
    world, session, _, approver = host(PROMPT, inner)

    read = world.play(session, [use("files")], [use("files", call_id="c2")], approver=approver)

    assert read == ("Tool execution denied: no writes", f"Tool execution denied: {W9}")


def test_never_refuses_at_the_gate():
    """gate/M1, gate/W3: where no remembered allow can answer over it."""
    world, session, _, approver = host(NEVER, Scripted(ALLOW))
    session.permissions.remember(rule("files", True))

    assert world.play(session, [use("files")], approver=approver) == (f"Tool execution denied: {W3}",)
    assert (world.decided, world.requested) == ([(False, "gate")], [])


@pytest.mark.parametrize("policy", [ALWAYS, PROMPT])
def test_the_other_postures_surface_every_call(policy: ApprovalPolicy):
    """gate/M1, gate/M2: `always` too, so that a remembered deny still answers first."""
    world, session, _, approver = host(policy, Scripted(ALLOW))
    session.permissions.remember(rule("publish", False))

    world.play(session, [use("files")], [use("publish", call_id="c2")], approver=approver)

    assert world.decided == [(True, "approver"), (False, "rule")]
    assert world.read[1] == "Tool execution denied: blocked by remembered session rule"


@pytest.mark.parametrize("policy", ApprovalPolicy)
def test_a_read_runs_in_every_posture(policy: ApprovalPolicy):
    """gate/M1, gate/G7."""
    world, session, _, approver = host(policy, Scripted(DENY))

    assert world.play(session, [use("look")], approver=approver) == ("look done",)
    assert world.asked == 0


def test_the_gate_follows_the_policy_both_ways():
    """gate/M1: read on every call, never cached."""
    live = LivePolicy(PROMPT)
    gate = PolicyGate(live)
    asks = AuthorizationDecision.prompt("files wants to run and can change state outside this process")

    said = [said_by(gate.authorize(authorization("files")))]
    for policy in (NEVER, ALWAYS, NEVER):
        live.switch(policy)
        said.append(said_by(gate.authorize(authorization("files"))))

    assert said == [asks, AuthorizationDecision.deny(W3), asks, AuthorizationDecision.deny(W3)]
    assert said_by(gate.authorize(authorization("files", None))) == AuthorizationDecision.deny(W3)
    assert said_by(gate.authorize(authorization("look", SideEffectLevel.NONE))) == AuthorizationDecision.allow()


def test_a_policy_gate_has_the_bound_it_was_given():
    """gate/X1."""
    assert PolicyGate(LivePolicy()).timeout() is None
    assert PolicyGate(LivePolicy(), bound=Duration.seconds(5)).timeout() == Duration.seconds(5)


def test_a_switch_during_the_question_is_for_the_next_one():
    """gate/M3, gate/O5: the open request keeps the answer it gets; the next call meets the new posture."""
    world, session, live, _ = host(PROMPT, Scripted(ALLOW))

    class Switches:
        async def approve(self, request: ApprovalRequest) -> ApprovalDecision:
            live.switch(NEVER)
            return ALLOW

    read = world.play(
        session, [use("files")], [use("files", call_id="c2")], approver=PolicyApprover(live, Switches())
    )

    assert read == ("files done", f"Tool execution denied: {W3}")
    assert world.decided == [(True, "approver"), (False, "gate")]


def test_an_answer_for_the_session_that_comes_after_a_switch_is_kept_all_the_same():
    """gate/M6: a known gap of the host, played as it is: it does not look at the policy again."""
    world, session, live, _ = host(PROMPT, Scripted(ALLOW))

    class SwitchesTwice:
        def __init__(self) -> None:
            self.asked = 0

        async def approve(self, request: ApprovalRequest) -> ApprovalDecision:
            self.asked += 1
            live.switch(NEVER)
            live.switch(PROMPT)
            return FOR_SESSION

    inner = SwitchesTwice()
    world.play(session, [use("files")], [use("files", call_id="c2")], approver=PolicyApprover(live, inner))

    assert inner.asked == 1
    assert live.remembered == {"files": ALLOW}


def test_switching_to_always_or_never_stops_the_asking():
    """gate/M1, gate/M3: the client is not asked under either; the refusal is at the gate."""
    inner = Scripted(ALLOW)
    world, session, live, approver = host(PROMPT, inner)
    for policy, call_id in ((ALWAYS, "c1"), (NEVER, "c2")):
        live.switch(policy)
        world.play(session, [use("files", call_id=call_id)], approver=approver)

    assert (inner.requests, world.decided) == ([], [(True, "approver"), (False, "gate")])


def test_a_session_opened_read_only_offers_one_mode():
    """gate/M7, gate/M8: and every other keeps all three."""
    assert ModePicker(LivePolicy(NEVER)).offered == (NEVER,)
    assert (
        ModePicker(LivePolicy(PROMPT)).offered == ModePicker(LivePolicy(ALWAYS)).offered == (ALWAYS, PROMPT, NEVER)
    )


@pytest.mark.parametrize(
    ("opened", "mode", "error"),
    [
        (PROMPT, "ask", "unknown mode"),
        (NEVER, "ask", "unknown mode"),
        (NEVER, "always", "this session was opened read-only and cannot change mode"),
        (NEVER, "prompt", "this session was opened read-only and cannot change mode"),
    ],
)
def test_a_mode_that_is_not_offered_is_refused_and_the_mode_stays(opened: ApprovalPolicy, mode: str, error: str):
    """gate/M7."""
    picker = ModePicker(LivePolicy(opened))

    with pytest.raises(ModeRefused, match=error):
        picker.choose(mode)

    assert picker.current is opened


def test_a_mode_that_is_offered_is_taken():
    """gate/M7: from prompt to read-only and back, since it was not opened so."""
    live = LivePolicy(PROMPT)
    picker = ModePicker(live)
    picker.choose("never")
    assert live.now is NEVER
    picker.choose("always")

    assert (live.now, picker.current) == (ALWAYS, ALWAYS)


def test_the_posture_of_a_whole_run_is_an_approver_and_perhaps_a_gate():
    """gate/G9: only a refusal needs the gate beside the approver."""
    assert fixed_posture(ALWAYS, InertUI()) == (AllowAll(), None)
    assert fixed_posture(NEVER, InertUI()) == (DenyAll(), DenyAllGate())
    asks, gate = fixed_posture(PROMPT, InertUI())
    assert (type(asks), gate) == (TerminalApprover, None)


def test_unattended_work_cannot_be_set_to_ask():
    """gate/A18: it is refused up front, and says what would do."""
    with pytest.raises(HostError, match="Use --approve always or never"):
        check_unattended(PROMPT, interactive=False)
    for policy, interactive in ((PROMPT, True), (ALWAYS, False), (NEVER, False)):
        check_unattended(policy, interactive=interactive)


def test_an_open_question_keeps_its_answer_while_the_posture_changes():
    """gate/O5, gate/M3: switched while somebody thinks, then answered: it runs."""
    world, session, live, approver = host(PROMPT, Scripted(ALLOW, after_ms=100))
    task = world.begin(session, [use("files")], approver=approver)
    live.switch(NEVER)
    world.stage.advance(100)

    assert task.result().results[0].content == "files done"


def test_a_request_is_answered_through_the_handle_whatever_the_posture():
    """gate/V1: the posture governs who is asked, not who may answer what is open."""
    world, session, live, _ = host(PROMPT, Scripted(ALLOW))
    world.begin(session, [use("files")], approver=Silent(world.stage))
    live.switch(NEVER)
    session.permissions.resolve("perm-c1-0000000000000001", PermissionDecision.allow())

    assert world.read == ["files done"]
