"""What a bound ends, and what it does not (gate/X1 to gate/X10)."""

from __future__ import annotations

import pytest
from gate_kit import (
    CountingGate,
    ListSink,
    Scripted,
    Silent,
    World,
    rule,
    use,
)

from labsim.gate.approvers import AllowAll, pause
from labsim.gate.base.request import ApprovalDecision, AuthorizationDecision, AuthorizationRequest
from labsim.gate.base.terms import Duration
from labsim.gate.events import (
    RoundStarted,
    ToolFinished,
    TurnEnded,
)
from labsim.gate.gates import ApprovalGate
from labsim.gate.rules.rules import RuleKey, RuleScope
from labsim.stage.stage import AbortSignal

ALLOW = ApprovalDecision.ALLOW
FOR_SESSION = ApprovalDecision.ALLOW_FOR_SESSION
MINUTE = 60_000


def test_a_late_answer_is_harmless_and_the_run_ends():
    """gate/X2, gate/X4, gate/V4: the call was denied in time; the yes comes home to nobody."""
    world = World(gate=ApprovalGate(Duration.seconds(60)))
    session = world.runtime.attach("a")
    task = world.begin(
        session, [use("files")], [use("look", call_id="c2")], approver=Scripted(FOR_SESSION, after_ms=2 * MINUTE)
    )

    world.stage.advance(MINUTE)
    assert world.read == ["Tool execution denied: authorizer timed out after 60s", "look done"]
    assert not task.done

    world.stage.advance(MINUTE)
    assert task.done
    assert (world.executed, session.permissions.rules()) == (["look"], ())
    assert world.resolved == []
    assert world.refused_answers == ["no pending permission with request_id 'perm-c1-0000000000000001'"] * 2
    assert world.notices == []


@pytest.mark.parametrize("bound", [None, Duration.seconds(60)])
def test_an_approver_that_never_answers_hangs_the_run_with_or_without_a_bound(bound: Duration | None):
    """gate/X5: the bound ends the turn's wait and not the forwarder's; the run joins the forwarder."""
    world = World(gate=ApprovalGate(bound))
    silent = Silent(world.stage)
    task = world.begin(world.runtime.attach("a"), [use("files")], [use("look", call_id="c2")], approver=silent)

    world.stage.advance(24 * 60 * MINUTE)

    assert not task.done
    assert not silent.never.done
    rounds = [event.round for event in world.seen(RoundStarted)]
    assert (rounds, len(world.seen(TurnEnded))) == (([1], 0) if bound is None else ([1, 2], 1))


def test_a_parked_forwarder_holds_up_the_sink_and_the_next_request():
    """gate/X3, gate/X6: nothing later reaches the sink; the turn's next request waits behind it, and is timed out
    in turn.
    """
    world = World(gate=ApprovalGate(Duration.seconds(60)))
    sink = ListSink()
    task = world.begin(
        world.runtime.attach("a"),
        [use("files")],
        [use("files", call_id="c2")],
        approver=Silent(world.stage),
        sink=sink,
    )
    before = len(sink.events)

    world.stage.advance(10 * MINUTE)

    assert len(sink.events) == before
    assert [event.at_ms for event in world.seen(ToolFinished)] == [MINUTE, 2 * MINUTE]
    assert (world.asked, len(world.requested), task.done) == (1, 2, False)


def test_the_bound_covers_a_slow_gate_too():
    """gate/X1: it is around the whole of the authorizing, not only the question."""

    class Slow(CountingGate):
        async def authorize(self, request: AuthorizationRequest) -> AuthorizationDecision:
            await pause(90_000)
            return await super().authorize(request)

    world = World(gate=Slow(lambda request: AuthorizationDecision.allow(), bound=Duration.ms(1500)))

    assert world.play(world.runtime.attach("a"), [use("files")]) == (
        "Tool execution denied: authorizer timed out after 1500ms",
    )
    assert (world.stage.now_ms, world.decided) == (1500, [(False, "timeout")])


@pytest.mark.parametrize("bound", [Duration.ms(1), Duration(1), Duration(0)])
def test_a_gate_that_answers_at_once_is_not_denied_by_a_tiny_bound(bound: Duration):
    """gate/X10: only a wait can be too long."""
    world = World(gate=CountingGate(lambda request: AuthorizationDecision.allow(), bound=bound))

    assert world.play(world.runtime.attach("a"), [use("files")]) == ("files done",)


def test_a_session_gate_brings_its_own_bound():
    """gate/X7: replaced by a gate without one, the wait is unbounded again."""
    world = World(gate=ApprovalGate(Duration.seconds(60)))
    session = world.runtime.attach("a")
    session.install_gate(ApprovalGate())

    read = world.play(session, [use("files")], approver=Scripted(ALLOW, after_ms=10 * MINUTE))

    assert (read, world.stage.now_ms) == (("files done",), 10 * MINUTE)


def test_a_timeout_and_an_answer_by_rule_resolve_nothing():
    """gate/V6: only an answer to the request is announced as one."""
    world = World(gate=ApprovalGate(Duration.seconds(1)))
    session = world.runtime.attach("a")
    session.permissions.remember(rule("publish", allow=True))
    world.begin(session, [use("files")], [use("publish", call_id="c2")], approver=Silent(world.stage))

    world.stage.advance(2_000)

    assert world.decided == [(False, "timeout"), (True, "rule")]
    assert (len(world.requested), world.resolved) == (1, [])


def test_a_resolution_names_the_scope_it_was_remembered_in():
    """gate/V6: the scope that was given, or none."""
    world = World()
    approver = Scripted(ALLOW, FOR_SESSION)

    world.play(world.runtime.attach("a"), [use("files")], [use("files", call_id="c2")], approver=approver)

    assert [event.rule_scope for event in world.resolved] == [None, RuleScope.PROCESS]


def test_giving_the_turn_up_ends_the_wait_and_takes_the_request_back():
    """gate/V4: the entry is gone, and a late rule is refused."""
    world = World()
    session = world.runtime.attach("a")
    signal = AbortSignal(world.stage)
    task = world.begin(
        session,
        [use("files")],
        [use("look", call_id="c2")],
        approver=Scripted(FOR_SESSION, after_ms=MINUTE),
        signal=signal,
    )

    signal.abort()
    assert session.permissions.open_requests == ()
    assert world.seen(TurnEnded)[-1].cancelled

    world.stage.advance(MINUTE)
    assert (task.result().cancelled, task.result().results) == (True, ())
    assert (session.permissions.rules(), world.executed, world.resolved) == ((), [], [])
    assert RuleKey("files") not in [found.key for found in session.permissions.rules()]


def test_a_turn_that_was_given_up_before_it_began_makes_no_call():
    """gate/V4: an aborted signal ends the wait before anybody answers."""
    world = World()
    signal = AbortSignal(world.stage, aborted=True)

    task = world.begin(world.runtime.attach("a"), [use("files")], approver=AllowAll(), signal=signal)

    assert (task.result().cancelled, world.executed) == (True, [])
