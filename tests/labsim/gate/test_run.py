"""What a decision brings about, seen from outside (gate/G1 to gate/G9, gate/A1 to gate/A12, gate/D1 to gate/D5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from gate_kit import (
    CONSEQUENTIAL,
    W2_FILES,
    BrokenSink,
    ListSink,
    Scripted,
    World,
    rule,
    use,
)

from labsim.gate.approvers import AllowAll, DenyAll, EditsButNotTheNetwork
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest
from labsim.gate.base.terms import SideEffectLevel
from labsim.gate.events import (
    ApproverFailed,
    PermissionOutcome,
    PermissionRequested,
    PermissionResolved,
    RunEnded,
    ToolFinished,
)
from labsim.gate.gates import DenyAllGate
from labsim.gate.rules.rules import RuleScope
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore, StoreOperation
from labsim.gate.session.run import Run
from labsim.gate.tools import ToolUse

ALLOW, DENY = ApprovalDecision.ALLOW, ApprovalDecision.DENY
FOR_SESSION, NEVER = ApprovalDecision.ALLOW_FOR_SESSION, ApprovalDecision.DENY_FOR_SESSION
MINUTE = 60_000


def read_only_store() -> FailingRuleStore:
    """A store that can be read and not written."""
    return FailingRuleStore(
        MemoryRuleStore(), lambda operation: None if operation is StoreOperation.LOAD else "the store is read-only"
    )


def test_an_approved_call_happens_and_the_asking_is_on_the_stream():
    """gate/O14: the request and its end are session events, and the effect is there."""
    world = World()
    sink = ListSink()

    read = world.play(world.runtime.attach("a"), [use("files", {"note": 1})], approver=AllowAll(), sink=sink)

    assert read == ("files done",)
    assert world.shelf == [("files", {"note": 1})]
    told = [event for event in sink.events if isinstance(event, PermissionRequested | PermissionResolved)]
    assert told == [*world.requested, *world.resolved]
    assert [event.outcome for event in world.resolved] == [PermissionOutcome.ALLOWED]


def test_a_refused_call_does_not_happen():
    """gate/O14: the model reads an error, and the run ends as any other."""
    world = World()

    task = world.begin(world.runtime.attach("a"), [use("files")], approver=DenyAll())

    assert [(result.content, result.is_error) for result in task.result().results] == [
        (f"Tool execution denied: {W2_FILES}", True)
    ]
    assert (world.shelf, [event.outcome for event in world.resolved]) == ([], [PermissionOutcome.DENIED])


def test_the_model_reads_the_reason_as_it_was_given():
    """gate/O16, gate/W10: the prefix, and then the approver's own words."""
    world = World()
    approver = Scripted(ApprovalAnswer().because("  no — not *here* "))

    assert world.play(world.runtime.attach("a"), [use("files")], approver=approver) == (
        "Tool execution denied:   no — not *here* ",
    )


def test_a_refusal_without_a_reason_has_standing_words():
    """gate/A5, gate/W4: the reason is optional."""
    world = World()

    assert world.play(world.runtime.attach("a"), [use("files")], approver=Scripted(DENY)) == (
        "Tool execution denied: denied by session approver",
    )


def test_a_read_is_not_put_to_the_strictest_approver_and_runs():
    """gate/G7: reads are never put to anybody."""
    world = World()

    assert world.play(world.runtime.attach("a"), [use("look")], approver=DenyAll()) == ("look done",)
    assert (world.asked, world.requested) == (0, [])


def test_a_run_without_an_approver_allows_and_ends():
    """gate/D2, gate/G6: everything is allowed, and surfaced all the same."""
    world = World()

    assert world.play(world.runtime.attach("a"), [use("files")]) == ("files done",)
    assert world.kinds(PermissionRequested, PermissionResolved, RunEnded) == [
        "PermissionRequested",
        "PermissionResolved",
        "RunEnded",
    ]


def test_a_broken_sink_is_reported_after_the_approved_effect():
    """gate/F2: it is written to no more, requests are answered all the same, and the run reports its error."""
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
    """gate/A7, gate/A8: everything it needs to judge by, the input parsed."""
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


@pytest.mark.parametrize("preview", ["{oops", "", "[" * 100_000])
def test_an_input_that_does_not_parse_arrives_as_the_text_that_it_is(preview: str):
    """gate/A8: what an older host put into a preview is not thrown away."""
    world = World()
    session = world.runtime.attach("a")
    approver = Scripted(ALLOW)

    def rounds() -> Iterator[list[ToolUse]]:
        entry = session.permissions.register("c1", "files")
        session.permissions.announce(entry, description="d", preview=preview, classification=None)
        yield [use("look", call_id="c2")]

    world.stage.play(Run(session, approver).play(rounds())).result()

    assert [asked.input for asked in approver.requests] == [preview]


def test_edits_are_allowed_and_the_network_denied_without_naming_a_tool():
    """gate/A9, gate/A10: a tool connected tomorrow is covered today."""
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
    """gate/A6, gate/A7: it is not guessed from the tool; everything else of the run is the same."""
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
    """gate/G5, gate/O6: it is final where the refusing approver alone is not; a read still runs."""
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
    """gate/A3, gate/F4: it is remembered in the live session, so a store that cannot be written does not
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
    """gate/A3, gate/A4, gate/R22: a bare rule in the process scope; an allow stores no reason, a refusal keeps its
    own.
    """
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
    """gate/A12, gate/O18: two calls of one batch are authorized one after the other."""
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
    """gate/A11: the turn is blocked on the approver, and the session runs one turn at a time."""
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
    """gate/A2, gate/D1: the ledger says what the approver did, and the model reads a refusal that says so too."""
    world = World()

    read = world.play(world.runtime.attach("a"), [use("files")], approver=Scripted(given))

    assert read == (f"Tool execution denied: files needs approval and the approver failed ({error})",)
    assert [event.error for event in world.seen(ApproverFailed)] == [error]


def test_an_approver_that_raises_has_refused():
    """gate/A2: your code raised; that is not a yes, and the run goes on."""
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
    """gate/A2: the forgotten `async` is named."""
    world = World()

    class Plain:
        def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
            return ApprovalAnswer(ALLOW)

    assert world.play(world.runtime.attach("a"), [use("files")], approver=Plain()) == (
        "Tool execution denied: files needs approval and the approver failed "
        "(TypeError: approve must be an `async def`)",
    )
