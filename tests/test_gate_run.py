"""A run from outside: what happens, what the sink sees, and when it ends (spec/gate.md sections 4, 5, 8, 10)."""

from __future__ import annotations

from typing import Any

import pytest
from gate_kit import (
    CONSEQUENTIAL,
    W2_FILES,
    BrokenSink,
    CountingGate,
    Scripted,
    Silent,
    SlowSink,
    World,
    rule,
    use,
)

from labsim.gate.approvers import AllowAll, DenyAll, EditsButNotTheNetwork, pause
from labsim.gate.durations import Duration
from labsim.gate.events import (
    ApproverAnswered,
    ApproverAsked,
    ApproverFailed,
    Forwarded,
    PermissionOutcome,
    PermissionRequested,
    PermissionResolved,
    RoundStarted,
    RunEnded,
    ToolFinished,
    TurnEnded,
)
from labsim.gate.gates import ApprovalGate, DenyAllGate
from labsim.gate.levels import SideEffectLevel
from labsim.gate.request import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalRequest,
    AuthorizationDecision,
    AuthorizationRequest,
)
from labsim.gate.rules import RuleKey, RuleScope
from labsim.gate.run import ListSink, Run
from labsim.gate.store import FailingRuleStore, MemoryRuleStore, StoreOperation
from labsim.gate.stream import Lagged
from labsim.stage import AbortSignal

ALLOW, DENY = ApprovalDecision.ALLOW, ApprovalDecision.DENY
FOR_SESSION, NEVER = ApprovalDecision.ALLOW_FOR_SESSION, ApprovalDecision.DENY_FOR_SESSION
MINUTE = 60_000


def read_only_store() -> FailingRuleStore:
    """A store that can be read and not written."""
    return FailingRuleStore(
        MemoryRuleStore(), lambda operation: None if operation is StoreOperation.LOAD else "the store is read-only"
    )


# ----------------------------------------------------------------------------------- what a decision brings about


def test_an_approved_call_happens_and_the_asking_is_on_the_stream():
    """13.15, O14: the request and its end are session events, and the effect is there."""
    world = World()
    sink = ListSink()

    read = world.play(world.runtime.attach("a"), [use("files", {"note": 1})], approver=AllowAll(), sink=sink)

    assert read == ("files done",)
    assert world.shelf == [("files", {"note": 1})]
    told = [event for event in sink.events if isinstance(event, PermissionRequested | PermissionResolved)]
    assert told == [*world.requested, *world.resolved]
    assert [event.outcome for event in world.resolved] == [PermissionOutcome.ALLOWED]


def test_a_refused_call_does_not_happen():
    """13.16, O14: the model reads an error, and the run ends as any other."""
    world = World()

    task = world.begin(world.runtime.attach("a"), [use("files")], approver=DenyAll())

    assert [(result.content, result.is_error) for result in task.result().results] == [
        (f"Tool execution denied: {W2_FILES}", True)
    ]
    assert (world.shelf, [event.outcome for event in world.resolved]) == ([], [PermissionOutcome.DENIED])


def test_the_model_reads_the_reason_as_it_was_given():
    """13.17, O16, W10: the prefix, and then the approver's own words."""
    world = World()
    approver = Scripted(ApprovalAnswer().because("  no — not *here* "))

    assert world.play(world.runtime.attach("a"), [use("files")], approver=approver) == (
        "Tool execution denied:   no — not *here* ",
    )


def test_a_refusal_without_a_reason_has_standing_words():
    """13.18, A5, W4: the reason is optional."""
    world = World()

    assert world.play(world.runtime.attach("a"), [use("files")], approver=Scripted(DENY)) == (
        "Tool execution denied: denied by session approver",
    )


def test_a_read_is_not_put_to_the_strictest_approver_and_runs():
    """13.19, G7: reads are never put to anybody."""
    world = World()

    assert world.play(world.runtime.attach("a"), [use("look")], approver=DenyAll()) == ("look done",)
    assert (world.asked, world.requested) == (0, [])


def test_a_run_without_an_approver_allows_and_ends():
    """13.20, D2, G6: everything is allowed, and surfaced all the same."""
    world = World()

    assert world.play(world.runtime.attach("a"), [use("files")]) == ("files done",)
    assert world.kinds(PermissionRequested, PermissionResolved, RunEnded) == [
        "PermissionRequested",
        "PermissionResolved",
        "RunEnded",
    ]


def test_a_broken_sink_is_reported_after_the_approved_effect():
    """13.21, F2: it is written to no more, requests are answered all the same, and the run reports its error."""
    world = World()
    sink = BrokenSink(breaks_at=2)

    task = world.begin(
        world.runtime.attach("a"), [use("files")], [use("files", call_id="c2")], approver=AllowAll(), sink=sink
    )

    with pytest.raises(OSError, match="the pipe is closed"):
        task.result()
    assert len(sink.written) == 2
    assert (world.shelf, world.asked) == ([("files", {}), ("files", {})], 2)
    assert world.seen(RunEnded)[-1].error == "the pipe is closed"


def test_an_approver_sees_ids_description_input_and_level():
    """13.22, A7, A8: everything it needs to judge by, the input parsed."""
    world = World()
    approver = Scripted(ALLOW)

    world.play(world.runtime.attach("a"), [use("files", {"path": "notes/é"}, "c7")], approver=approver)

    assert approver.requests == [
        ApprovalRequest(
            request_id="perm-c7-0000000000000001",
            tool_call_id="c7",
            tool_name="files",
            description="files wants to run and can change state outside this process",
            input={"path": "notes/é"},
            side_effect_level=SideEffectLevel.LOCAL_STATE,
        )
    ]


def test_edits_are_allowed_and_the_network_denied_without_naming_a_tool():
    """13.23, A9, A10: a tool connected tomorrow is covered today."""
    world = World()

    read = world.play(
        world.runtime.attach("a"),
        [use("files"), use("shell", call_id="c2"), use("publish", call_id="c3"), use("mystery", call_id="c4")],
        approver=EditsButNotTheNetwork(),
    )

    refusal = "Tool execution denied: this run may change this checkout and nothing beyond it"
    assert read == ("files done", refusal, refusal, refusal)


@pytest.mark.parametrize("level", CONSEQUENTIAL)
def test_a_level_that_the_event_does_not_carry_arrives_as_unknown(level: SideEffectLevel):
    """13.24, A6, A7: it is not guessed from the tool; everything else of the run is the same."""
    asked = []
    for classifies in (True, False):
        world = World(classifies=classifies)
        world.runtime = World(classifies=classifies, tools=[world.tool("any", level)]).runtime
        approver = Scripted(ALLOW)
        stage = world.runtime.stage
        task = stage.play(Run(world.runtime.attach("a"), approver).play([[use("any")]]))
        asked.append((approver.requests[0].side_effect_level, task.result().results[0].content))

    assert asked == [(level, "any done"), (None, "any done")]


def test_a_session_gates_deny_outranks_a_remembered_allow():
    """13.25, G5, O6: it is final where the refusing approver alone is not; a read still runs."""
    store = MemoryRuleStore()
    world = World(store=store)
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", allow=True))

    assert world.play(session, [use("files")], approver=DenyAll()) == ("files done",)

    session.install_gate(DenyAllGate())

    assert world.play(session, [use("files", call_id="c2"), use("look", call_id="c3")], approver=DenyAll()) == (
        f"Tool execution denied: {W2_FILES}",
        "look done",
    )
    assert (world.requested, world.asked) == ([], 0)


@pytest.mark.parametrize(
    ("decision", "second"),
    [
        (FOR_SESSION, "files done"),
        (
            NEVER,
            "Tool execution denied: not here — remembered from an earlier refusal, "
            "so asking again will not change it",
        ),
    ],
)
def test_a_for_session_answer_needs_no_store(decision: ApprovalDecision, second: str):
    """13.26, 13.27, A3, F4: it is remembered in the live session, so a store that cannot be written does not
    matter.
    """
    world = World(store=read_only_store())
    approver = Scripted(ApprovalAnswer(decision, "not here"))

    read = world.play(
        world.runtime.attach("a"), [use("files")], [use("files", {"other": 1}, "c2")], approver=approver
    )

    assert read[1] == second
    assert (world.asked, world.notices) == (1, [])
    assert world.decided[1][1] == "rule"


def test_a_for_session_answer_covers_every_later_input_of_that_tool_and_of_no_other():
    """A3, A4, R22: a bare rule in the process scope; an allow stores no reason, a refusal keeps its own."""
    world = World()
    session = world.runtime.attach("a")
    approver = Scripted(ApprovalAnswer(FOR_SESSION, "fine"), ApprovalAnswer(NEVER, "never"))

    world.play(
        session,
        [use("files", {"a": 1})],
        [use("files", {"b": 2}, "c2")],
        [use("publish", call_id="c3")],
        approver=approver,
    )

    assert session.permissions.rules() == (
        rule("files", True, RuleScope.PROCESS),
        rule("publish", False, RuleScope.PROCESS, reason="never"),
    )
    assert world.decided == [(True, "approver"), (True, "rule"), (False, "approver")]


def test_requests_are_put_to_the_approver_one_at_a_time():
    """A12, O18: two calls of one batch are authorized one after the other."""
    world = World()
    approver = Scripted(ALLOW, after_ms=50)

    world.play(world.runtime.attach("a"), [use("files"), use("files", call_id="c2")], approver=approver)

    assert approver.most_in_flight == 1
    assert world.kinds(PermissionRequested, PermissionResolved) == [
        "PermissionRequested",
        "PermissionResolved",
        "PermissionRequested",
        "PermissionResolved",
    ]
    finished = world.kinds(PermissionResolved, ToolFinished)[-3:]
    assert finished == ["PermissionResolved", "ToolFinished", "ToolFinished"]


def test_an_approver_that_enters_its_own_session_waits_for_ever():
    """A11: the turn is blocked on the approver, and the session runs one turn at a time."""
    world = World()
    session = world.runtime.attach("a")

    class ReEntrant:
        async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
            await Run(session).play([[use("look", call_id="inner")]])
            return ApprovalAnswer(ALLOW)

    task = world.begin(session, [use("files")], approver=ReEntrant())
    world.stage.advance(24 * 60 * MINUTE)

    assert not task.done
    assert world.executed == []


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (True, "TypeError: an approver answers with an ApprovalAnswer or an ApprovalDecision, not with True"),
        (None, "TypeError: an approver answers with an ApprovalAnswer or an ApprovalDecision, not with None"),
    ],
)
def test_what_is_no_answer_is_no_consent(given: Any, error: str):
    """A2, D1: the ledger says what the approver did, and the model reads a refusal that says so too."""
    world = World()

    read = world.play(world.runtime.attach("a"), [use("files")], approver=Scripted(given))

    assert read == (f"Tool execution denied: files needs approval and the approver failed ({error})",)
    assert [event.error for event in world.seen(ApproverFailed)] == [error]


def test_an_approver_that_raises_has_refused():
    """A2: your code raised; that is not a yes, and the run goes on."""
    world = World()

    class Raises:
        async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
            raise KeyError("files")

    read = world.play(world.runtime.attach("a"), [use("files")], [use("look", call_id="c2")], approver=Raises())

    assert read == (
        "Tool execution denied: files needs approval and the approver failed (KeyError: 'files')",
        "look done",
    )


def test_an_approver_that_is_not_async_has_refused():
    """A2: the forgotten `async` is named."""
    world = World()

    class Plain:
        def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
            return ApprovalAnswer(ALLOW)

    assert world.play(world.runtime.attach("a"), [use("files")], approver=Plain()) == (
        "Tool execution denied: files needs approval and the approver failed "
        "(TypeError: approve must be an `async def`)",
    )


# --------------------------------------------------------------------------------------------------- the forwarder


def test_a_sink_sees_a_request_only_after_its_answer():
    """13.142, F1: so an approver must not wait for the sink."""
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
    """F3: the sink is closed when everything was taken, however slow it is."""
    world = World()
    sink = SlowSink(ms=500)

    world.play(world.runtime.attach("a"), [use("look")], [use("look", call_id="c2")], sink=sink)

    assert sink.written == ["RoundStarted", "ToolFinished", "RoundStarted", "ToolFinished"]
    assert sink.closed_after == 4
    assert world.stage.now_ms == 2_000


def test_a_sink_that_breaks_when_closed_is_reported_too():
    """F2: the run says so; the call has happened."""
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
    """13.65, F5: the oldest are gone, and the count comes first."""
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
    """13.65, F5, W20: the count is in the notice, and what is left is forwarded."""
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
    """F5: nobody puts it to the approver, so only the gate's bound ends the wait."""
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
    """13.66, F4, S3: in a host that remembers durably, a failing store turns a yes into a no; the two notices
    differ.
    """
    world = World(store=read_only_store())

    said = world.play(
        world.runtime.attach("a"), [use("files")], approver=Scripted(answer), for_session=RuleScope.SESSION
    )

    assert said == (f"Tool execution denied: {read}",)
    assert world.notices == [notice]


# ------------------------------------------------------------------------------------------------------- the bound


def test_a_late_answer_is_harmless_and_the_run_ends():
    """13.141, X2, X4, V4: the call was denied in time; the yes comes home to nobody."""
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
    """13.140, X5: the bound ends the turn's wait and not the forwarder's; the run joins the forwarder."""
    world = World(gate=ApprovalGate(bound))
    silent = Silent(world.stage)
    task = world.begin(world.runtime.attach("a"), [use("files")], [use("look", call_id="c2")], approver=silent)

    world.stage.advance(24 * 60 * MINUTE)

    assert not task.done
    assert not silent.never.done
    rounds = [event.round for event in world.seen(RoundStarted)]
    assert (rounds, len(world.seen(TurnEnded))) == (([1], 0) if bound is None else ([1, 2], 1))


def test_a_parked_forwarder_holds_up_the_sink_and_the_next_request():
    """X3, X6: nothing later reaches the sink; the turn's next request waits behind it, and is timed out in turn."""
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
    """X1: it is around the whole of the authorizing, not only the question."""

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
    """X10: only a wait can be too long."""
    world = World(gate=CountingGate(lambda request: AuthorizationDecision.allow(), bound=bound))

    assert world.play(world.runtime.attach("a"), [use("files")]) == ("files done",)


def test_a_session_gate_brings_its_own_bound():
    """13.129, X7: replaced by a gate without one, the wait is unbounded again."""
    world = World(gate=ApprovalGate(Duration.seconds(60)))
    session = world.runtime.attach("a")
    session.install_gate(ApprovalGate())

    read = world.play(session, [use("files")], approver=Scripted(ALLOW, after_ms=10 * MINUTE))

    assert (read, world.stage.now_ms) == (("files done",), 10 * MINUTE)


def test_a_timeout_and_an_answer_by_rule_resolve_nothing():
    """V6: only an answer to the request is announced as one."""
    world = World(gate=ApprovalGate(Duration.seconds(1)))
    session = world.runtime.attach("a")
    session.permissions.remember(rule("publish", allow=True))
    world.begin(session, [use("files")], [use("publish", call_id="c2")], approver=Silent(world.stage))

    world.stage.advance(2_000)

    assert world.decided == [(False, "timeout"), (True, "rule")]
    assert (len(world.requested), world.resolved) == (1, [])


def test_a_resolution_names_the_scope_it_was_remembered_in():
    """V6: the scope that was given, or none."""
    world = World()
    approver = Scripted(ALLOW, FOR_SESSION)

    world.play(world.runtime.attach("a"), [use("files")], [use("files", call_id="c2")], approver=approver)

    assert [event.rule_scope for event in world.resolved] == [None, RuleScope.PROCESS]


def test_giving_the_turn_up_ends_the_wait_and_takes_the_request_back():
    """13.120, V4: the entry is gone, and a late rule is refused."""
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
    """V4: an aborted signal ends the wait before anybody answers."""
    world = World()
    signal = AbortSignal(world.stage, aborted=True)

    task = world.begin(world.runtime.attach("a"), [use("files")], approver=AllowAll(), signal=signal)

    assert (task.result().cancelled, world.executed) == (True, [])
