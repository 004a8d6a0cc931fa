"""The forwarder: what the sink sees, and what becomes of an answer that fails (gate/F1 to gate/F5)."""

from __future__ import annotations

import pytest
from gate_kit import (
    ListSink,
    Scripted,
    SlowSink,
    World,
    use,
)

from labsim.gate.approvers import AllowAll
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision
from labsim.gate.base.terms import Duration
from labsim.gate.events import (
    ApproverAnswered,
    ApproverAsked,
    Forwarded,
    PermissionResolved,
    RoundStarted,
)
from labsim.gate.gates import ApprovalGate
from labsim.gate.rules.rules import RuleScope
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore, StoreOperation
from labsim.gate.session.stream import Lagged

ALLOW = ApprovalDecision.ALLOW
FOR_SESSION, NEVER = ApprovalDecision.ALLOW_FOR_SESSION, ApprovalDecision.DENY_FOR_SESSION
MINUTE = 60_000


def read_only_store() -> FailingRuleStore:
    """A store that can be read and not written."""
    return FailingRuleStore(
        MemoryRuleStore(), lambda operation: None if operation is StoreOperation.LOAD else "the store is read-only"
    )


def test_a_sink_sees_a_request_only_after_its_answer():
    """gate/F1: so an approver must not wait for the sink."""
    world = World()

    world.play(world.runtime.attach("a"), [use("files")], approver=AllowAll(), sink=ListSink())

    steps = [
        event.kind if isinstance(event, Forwarded) else type(event).__name__
        for event in world.stage.ledger
        if isinstance(event, ApproverAsked | ApproverAnswered | PermissionResolved | Forwarded)
    ]
    assert steps == [
        "model_round",
        "ApproverAsked",
        "ApproverAnswered",
        "PermissionResolved",
        "permission_requested",
        "permission_resolved",
        "tool_finished",
    ]


def test_what_is_queued_at_the_end_of_the_turn_still_reaches_the_sink():
    """gate/F3: the sink is closed when everything was taken, however slow it is."""
    world = World()
    sink = SlowSink(ms=500)

    world.play(world.runtime.attach("a"), [use("look")], [use("look", call_id="c2")], sink=sink)

    assert sink.written == ["RoundStarted", "ToolFinished", "RoundStarted", "ToolFinished"]
    assert sink.closed_after == 4
    assert world.stage.now_ms == 2_000


def test_a_sink_that_breaks_when_closed_is_reported_too():
    """gate/F2: the run says so; the call has happened."""
    world = World()

    class BreaksAtTheEnd(ListSink):
        async def close(self) -> None:
            raise OSError("cannot close")

    task = world.begin(world.runtime.attach("a"), [use("files")], sink=BreaksAtTheEnd())

    with pytest.raises(OSError, match="cannot close"):
        task.result()
    assert world.shelf == [("files", {})]


@pytest.mark.parametrize(("events", "lost"), [(4, 0), (5, 1), (9, 5)])
def test_a_subscriber_that_lags_is_told_how_much_it_lost(events: int, lost: int):
    """gate/F5: the oldest are gone, and the count comes first."""
    world = World()
    stream = world.runtime.attach("a").stream
    subscription = stream.subscribe(capacity=4)
    emitted = [RoundStarted(at_ms=0, round=number, calls=0) for number in range(events)]
    for event in emitted:
        stream.emit(event)
    stream.unsubscribe(subscription)

    async def taken() -> list[object]:
        found: list[object] = []
        while (event := await subscription.next()) is not None:
            found.append(event)
        return found

    expected: list[object] = [*emitted[lost:]] if lost == 0 else [Lagged(lost), *emitted[lost:]]
    assert world.stage.play(taken()).result() == expected


def test_a_lagging_forwarder_leaves_a_notice_and_goes_on():
    """gate/F5, gate/W20: the count is in the notice, and what is left is forwarded."""
    world = World()
    sink = SlowSink(ms=10)

    world.play(
        world.runtime.attach("a"),
        *[[use("look", call_id=f"c{number}")] for number in range(4)],
        sink=sink,
        capacity=3,
    )

    assert world.notices == ["event stream lagged; 5 event(s) dropped"]
    assert sink.written == ["Notice", "ToolFinished", "RoundStarted", "ToolFinished"]


def test_a_request_that_was_lost_is_never_answered():
    """gate/F5: nobody puts it to the approver, so only the gate's bound ends the wait."""
    world = World(gate=ApprovalGate(Duration.seconds(60)))
    session = world.runtime.attach("a")
    task = world.begin(
        session,
        [use("files")],
        [use("look", call_id="c2"), use("look", call_id="c3")],
        [use("files", call_id="c4")],
        [use("look", call_id="c5"), use("look", call_id="c6")],
        approver=Scripted(ALLOW, after_ms=30 * MINUTE),
        capacity=2,
    )

    world.stage.advance(30 * MINUTE)

    assert world.decided[3] == (False, "timeout")
    assert (world.asked, len(world.requested)) == (1, 2)
    assert task.done


@pytest.mark.parametrize(
    ("answer", "read", "notice"),
    [
        (
            ApprovalAnswer(FOR_SESSION),
            "the approval for files could not be recorded (the store is read-only), so the call was denied",
            "the answer for files could not be recorded (the store is read-only); the call was denied",
        ),
        (
            ApprovalAnswer(NEVER, "not here"),
            "not here",
            "the refusal of files could not be remembered (the store is read-only); it applied to this call only",
        ),
        (
            ApprovalAnswer(NEVER),
            "denied by session approver",
            "the refusal of files could not be remembered (the store is read-only); it applied to this call only",
        ),
    ],
)
def test_an_answer_that_cannot_be_recorded_is_a_refusal_with_a_notice(
    answer: ApprovalAnswer, read: str, notice: str
):
    """gate/F4, gate/S3: in a host that remembers durably, a failing store turns a yes into a no; the two notices
    differ.
    """
    world = World(store=read_only_store())

    said = world.play(
        world.runtime.attach("a"), [use("files")], approver=Scripted(answer), for_session=RuleScope.SESSION
    )

    assert said == (f"Tool execution denied: {read}",)
    assert world.notices == [notice]
