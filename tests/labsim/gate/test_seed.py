"""The two pieces by themselves: levels, gates, approvers, answers (gate/G1 to gate/G9, gate/A1 to gate/A12, gate/D1
to gate/D5).
"""

from __future__ import annotations

from typing import Any

import pytest
from gate_kit import CONSEQUENTIAL, Scripted, authorization, request, said_by

from labsim.errors import StageError
from labsim.gate.approvers import AllowAll, Approver, DenyAll, EditsButNotTheNetwork, pause
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest, AuthorizationDecision
from labsim.gate.base.terms import Duration, SideEffectLevel, is_consequential, judged
from labsim.gate.gates import ApprovalGate, DenyAllGate, timeout_of
from labsim.stage.stage import Stage

ALLOW, DENY = ApprovalDecision.ALLOW, ApprovalDecision.DENY


def test_only_side_effects_are_consequential():
    """gate/G1, gate/A6: every level but NONE; an unknown level is not NONE, and is judged by the most it could
    be.
    """
    assert {level: is_consequential(level) for level in (*SideEffectLevel, None)} == {
        SideEffectLevel.NONE: False,
        SideEffectLevel.LOCAL_STATE: True,
        SideEffectLevel.PROCESS: True,
        SideEffectLevel.EXTERNAL: True,
        None: True,
    }
    assert judged(None) is SideEffectLevel.EXTERNAL


def test_the_levels_have_the_words_of_the_wire():
    """gate/G1: the member names, verbatim."""
    assert [level.value for level in SideEffectLevel] == ["None", "LocalState", "Process", "External"]


def test_a_read_is_never_worth_asking_about():
    """gate/G2: prompting for reads trains people to approve without reading."""
    assert (
        said_by(ApprovalGate().authorize(authorization(level=SideEffectLevel.NONE)))
        == AuthorizationDecision.allow()
    )


@pytest.mark.parametrize("level", [*CONSEQUENTIAL, None])
def test_every_other_call_is_put_to_somebody(level: SideEffectLevel | None):
    """gate/G2, gate/A6: whatever changes something, or may, is a prompt; this gate never denies."""
    said = said_by(ApprovalGate().authorize(authorization("shell", level)))

    assert said == AuthorizationDecision.prompt("shell wants to run and can change state outside this process")


def test_the_request_says_which_tool_wants_to_run():
    """gate/W1: a prompt that names nothing is one that nobody can answer."""
    said = said_by(ApprovalGate().authorize(authorization("files", SideEffectLevel.LOCAL_STATE)))

    assert said.reason == "files wants to run and can change state outside this process"


def test_a_gate_waits_as_long_as_it_takes_unless_told_otherwise():
    """gate/G8: `with_timeout` sets the bound and nothing else."""
    assert ApprovalGate().timeout() is None
    assert ApprovalGate().with_timeout(Duration.seconds(60)).timeout() == Duration.seconds(60)
    assert said_by(ApprovalGate().with_timeout(Duration.ms(1)).authorize(authorization())) == said_by(
        ApprovalGate().authorize(authorization())
    )


def test_the_trivial_approvers_answer_as_named():
    """gate/A1: AllowAll allows and says nothing more; DenyAll denies."""
    assert said_by(AllowAll().approve(request())) == ApprovalAnswer(ALLOW)
    assert said_by(DenyAll().approve(request())).decision is DENY


def test_a_blanket_refusal_tells_the_model_why():
    """gate/W2: without words the model tries again."""
    assert said_by(DenyAll().approve(request("shell"))) == ApprovalAnswer(
        DENY, "shell changes state outside this process, which this run does not allow"
    )


@pytest.mark.parametrize("level", [*CONSEQUENTIAL, None])
def test_a_refusing_gate_refuses_rather_than_asks(level: SideEffectLevel | None):
    """gate/G3: its deny is final, where a prompt could be answered by a rule."""
    assert said_by(DenyAllGate().authorize(authorization("shell", level))) == AuthorizationDecision.deny(
        "shell changes state outside this process, which this run does not allow"
    )


def test_a_refusing_gate_refuses_in_the_approvers_words():
    """gate/G4: two layers, one prohibition, one explanation."""
    assert (
        said_by(DenyAllGate().authorize(authorization("shell"))).reason
        == said_by(DenyAll().approve(request("shell"))).reason
    )


def test_a_refusing_gate_still_lets_a_read_through():
    """gate/G3: a run that refuses is for looking."""
    assert (
        said_by(DenyAllGate().authorize(authorization(level=SideEffectLevel.NONE))) == AuthorizationDecision.allow()
    )


def test_a_refusing_gate_never_waits_and_so_has_no_bound():
    """gate/G3, gate/X8: there is no bound, and no way to set one."""
    assert DenyAllGate().timeout() is None
    assert not hasattr(DenyAllGate(), "with_timeout")


def test_an_unanswered_request_is_a_refusal():
    """gate/D1: silence is never a yes."""
    assert ApprovalDecision.default() is DENY
    assert ApprovalAnswer() == ApprovalAnswer(DENY, None)


def test_a_reason_rides_along_without_changing_the_decision():
    """`because` gives a copy; a bare decision converts."""
    answer = ApprovalAnswer.of(ApprovalDecision.DENY_FOR_SESSION)

    assert answer.because("no writes") == ApprovalAnswer(ApprovalDecision.DENY_FOR_SESSION, "no writes")
    assert answer == ApprovalAnswer(ApprovalDecision.DENY_FOR_SESSION)


@pytest.mark.parametrize("value", [True, False, None, "Allow", 1, {"decision": "Allow"}, ApprovalAnswer("Allow")])  # type: ignore[arg-type]
def test_nothing_but_an_answer_is_an_answer(value: Any):
    """gate/D1: a truth, a word and nothing at all are no consent."""
    with pytest.raises(
        TypeError, match=r"an approver answers with an ApprovalAnswer or an ApprovalDecision, not with"
    ):
        ApprovalAnswer.of(value)


@pytest.mark.parametrize("value", [True, None, "allow", AuthorizationDecision("allow")])  # type: ignore[arg-type]
def test_nothing_but_a_decision_is_a_gates_answer(value: Any):
    """gate/O13: a gate that answers with something else has let nothing through."""
    with pytest.raises(TypeError, match="a gate answers with an AuthorizationDecision, not with"):
        AuthorizationDecision.of(value)


@pytest.mark.parametrize(
    ("level", "decision"),
    [
        (SideEffectLevel.LOCAL_STATE, ALLOW),
        (SideEffectLevel.PROCESS, DENY),
        (SideEffectLevel.EXTERNAL, DENY),
        (None, DENY),
    ],
)
def test_edits_are_allowed_and_the_network_is_not(level: SideEffectLevel | None, decision: ApprovalDecision):
    """gate/A9, gate/A10, gate/A6: judged by how far a call reaches, and by the most it could be where nobody
    knows.
    """
    reason = None if decision is ALLOW else "this run may change this checkout and nothing beyond it"

    assert said_by(EditsButNotTheNetwork().approve(request("anything", level))) == ApprovalAnswer(decision, reason)


def test_a_policy_of_ones_own_takes_ten_lines_and_names_no_tool():
    """An approver is a class with one async method, and nothing to inherit."""

    class NothingLeavesTheMachine:
        async def approve(self, request: ApprovalRequest) -> ApprovalAnswer | ApprovalDecision:
            if judged(request.side_effect_level) is SideEffectLevel.EXTERNAL:
                return ApprovalAnswer().because("nothing leaves this machine")
            return ApprovalDecision.ALLOW

    policy: Approver = NothingLeavesTheMachine()

    assert said_by(policy.approve(request("shell"))) is ALLOW
    assert said_by(policy.approve(request("publish", None))).reason == "nothing leaves this machine"


def test_a_gate_without_a_timeout_sets_none_and_a_nonsensical_one_is_refused():
    """`timeout` is optional; what is no duration is an error, not a bound of nought."""

    class Plain:
        async def authorize(self, request: Any) -> AuthorizationDecision:
            return AuthorizationDecision.allow()

    class Nonsense(Plain):
        def timeout(self) -> Any:
            return 60

    assert timeout_of(Plain()) is None
    with pytest.raises(TypeError, match="a gate's timeout is a Duration or None, not 60"):
        timeout_of(Nonsense())


def test_a_pause_outside_a_run_is_refused():
    """gate/X9: simulated time passes only where somebody plays it."""
    with pytest.raises(StageError, match="nothing is being played here"):
        Stage().spawn(pause(5)).result()


def test_a_scripted_approver_keeps_what_it_was_asked():
    """Habit 8: the fakes of these tests are themselves approvers."""
    scripted = Scripted(ALLOW, DENY)

    assert [said_by(scripted.approve(request())) for _ in range(3)] == [ALLOW, DENY, DENY]
