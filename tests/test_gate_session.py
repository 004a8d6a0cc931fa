"""One call in its order, what a gate and a question do to it, and who shares what (spec/gate.md sections 2, 7,
13).
"""

from __future__ import annotations

import threading
from typing import Any

import pytest
from gate_kit import (
    ALLOWS,
    DENIES,
    PROMPTS,
    W1_FILES,
    W2_FILES,
    CountingGate,
    Scripted,
    Silent,
    World,
    always,
    rule,
    use,
)
from hypothesis import given
from hypothesis import strategies as st

from labsim.errors import AbortError, HostError
from labsim.events import Execute
from labsim.gate.approvers import AllowAll, DenyAll
from labsim.gate.durations import Duration
from labsim.gate.errors import NoPendingPermission, RuleStoreFailed, RuntimeFailure
from labsim.gate.events import (
    ApproverAsked,
    CallDecided,
    CallMade,
    GateAnswered,
    HookAnswered,
    PermissionRequested,
    PermissionResolved,
    PreviewBuilt,
    RoundStarted,
    RuleRemembered,
    RulesRead,
    SessionEvent,
    ToolFinished,
)
from labsim.gate.gates import ApprovalGate, DenyAllGate
from labsim.gate.levels import SideEffectLevel
from labsim.gate.permissions import PermissionDecision
from labsim.gate.request import (
    ApprovalAnswer,
    ApprovalDecision,
    AuthorizationDecision,
    AuthorizationRequest,
    Classification,
)
from labsim.gate.rules import RuleAddress, RuleKey, RuleScope
from labsim.gate.store import FailingRuleStore, MemoryRuleStore, StoreOperation
from labsim.gate.tools import GateTool, HookAnswer, ToolUse, files_tool, mcp_tool, program_tool, spawn_tool
from labsim.stage import AbortSignal

FIRST = "perm-c1-0000000000000001"
FOR_SESSION = ApprovalDecision.ALLOW_FOR_SESSION


def unreadable() -> FailingRuleStore:
    """A store that can be asked nothing."""
    return FailingRuleStore(MemoryRuleStore(), lambda operation: "the rules cannot be read")


# ----------------------------------------------------------------------------------------------- the order of a
# call


def test_a_call_goes_through_its_stages_in_order():
    """O1: hook, preview, gate, rules, request, approver, rule written, resolved, decided, run, result."""
    world = World(hooks=[lambda use: None])

    world.play(world.runtime.attach("a"), [use("files")], approver=Scripted(FOR_SESSION))

    stages = (
        CallMade,
        HookAnswered,
        PreviewBuilt,
        GateAnswered,
        RulesRead,
        PermissionRequested,
        ApproverAsked,
        RuleRemembered,
        PermissionResolved,
        CallDecided,
        Execute,
        ToolFinished,
    )
    assert world.kinds(*stages) == [kind.__name__ for kind in stages]


def test_the_input_that_is_approved_is_the_input_that_runs():
    """O2: hooks come before the gate, so what they rewrite is what is asked about."""
    world = World(hooks=[lambda use: HookAnswer(rewrite={"note": "b"})])
    approver = Scripted(ApprovalDecision.ALLOW)

    world.play(world.runtime.attach("a"), [use("files", {"note": "a"})], approver=approver)

    assert [asked.input for asked in approver.requests] == [{"note": "b"}]
    assert world.requested[0].preview == '{"note":"b"}'
    assert world.shelf == [("files", {"note": "b"})]


def broken_hook(use: ToolUse) -> HookAnswer:
    raise HostError("the hook broke")


@pytest.mark.parametrize(
    ("hook", "text"),
    [
        (lambda use: HookAnswer(refuse="not today"), "Blocked by pre-execution hook: not today"),
        (broken_hook, "Blocked by pre-execution hook: the hook broke"),
    ],
)
def test_a_call_that_a_hook_refuses_never_reaches_the_gate(hook: Any, text: str):
    """O3, W12: nor does one whose hook breaks."""
    gate = CountingGate(always(ALLOWS))
    world = World(gate=gate, hooks=[hook])

    assert world.play(world.runtime.attach("a"), [use("files")]) == (text,)
    assert (len(gate.requests), world.decided) == (0, [(False, "before-gate")])


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (use("nothing"), "The tool nothing is not known here"),
        (use("strict", {"note": 1}), "The input of strict does not fit: the key 'path' is missing"),
        (use("strict", [1]), "The input of strict does not fit: it is not an object"),
    ],
)
def test_an_unknown_tool_or_a_misshapen_input_never_reaches_the_gate(made: ToolUse, text: str):
    """O3: what cannot run is not put to anybody."""
    gate = CountingGate(always(ALLOWS))
    world = World(gate=gate, tools=[GateTool(name="strict", required=("path",))])

    assert world.play(world.runtime.attach("a"), [made]) == (text,)
    assert len(gate.requests) == 0


@pytest.mark.parametrize(
    ("rewrite", "read"),
    [({"path": "x"}, "inert"), ({"note": 1}, "The input of strict does not fit: the key 'path' is missing")],
)
def test_the_shape_that_counts_is_that_of_the_rewritten_input(rewrite: dict[str, Any], read: str):
    """O1, O2: a hook can mend an input, or spoil it; the shape is looked at behind the hooks."""
    spoiled = {"note": 1} if "path" in rewrite else {"path": "x"}
    world = World(
        hooks=[lambda use: HookAnswer(rewrite=rewrite)], tools=[GateTool(name="strict", required=("path",))]
    )

    assert world.play(world.runtime.attach("a"), [use("strict", spoiled)]) == (read,)


def test_a_call_whose_preview_fails_is_denied_unasked():
    """O4: what cannot be shown cannot be approved."""

    def present(given: Any) -> Any:
        raise HostError("bad")

    gate = CountingGate(always(ALLOWS))
    world = World(gate=gate, tools=[GateTool(name="odd", present=present)])

    assert world.play(world.runtime.attach("a"), [use("odd")]) == ("Tool execution denied: bad",)
    assert len(gate.requests) == 0


def test_the_gate_is_asked_once_and_a_posture_switched_meanwhile_is_for_the_next_call():
    """13.76, 13.118, O5: the call whose question is open keeps the answer it gets."""
    world = World()
    session = world.runtime.attach("a")
    first = CountingGate(always(PROMPTS))
    session.install_gate(first)
    task = world.begin(session, [use("files")], [use("files", call_id="c2")], approver=Silent(world.stage))

    session.install_gate(DenyAllGate())
    session.permissions.resolve(FIRST, PermissionDecision.allow())

    assert world.read == ["files done", f"Tool execution denied: {W2_FILES}"]
    assert (len(first.requests), len(world.requested), task.done) == (1, 1, False)


def test_clearing_the_rules_and_switching_the_gate_governs_the_next_call():
    """13.118: neither waits for the session to end."""
    world = World()
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", allow=True))
    world.play(session, [use("files")], approver=DenyAll())

    session.permissions.clear(RuleScope.GLOBAL)
    session.install_gate(DenyAllGate())

    assert world.play(session, [use("files", call_id="c2")], approver=AllowAll()) == (
        f"Tool execution denied: {W2_FILES}",
    )


def test_a_current_deny_beats_a_remembered_allow():
    """13.72, O6: no rule is read, no event raised, nobody asked."""
    world = World(gate=CountingGate(always(DENIES)), store=unreadable())

    assert world.play(world.runtime.attach("a"), [use("files")]) == ("Tool execution denied: no",)
    assert (world.requested, world.asked, world.seen(RulesRead)) == ([], 0, [])


def test_a_current_allow_beats_a_remembered_deny():
    """13.73, O7: the gate has said it, so the rule is not read."""
    world = World(gate=CountingGate(always(ALLOWS)))
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", allow=False))

    assert world.play(session, [use("files")]) == ("files done",)
    assert (world.requested, world.seen(RulesRead)) == ([], [])


@pytest.mark.parametrize("allow", [True, False])
def test_a_current_prompt_is_answered_by_the_rule(allow: bool):
    """13.74, O8: no event of a request, and the approver is not called."""
    world = World()
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", allow=allow))

    world.play(
        session, [use("files")], approver=Scripted(ApprovalDecision.DENY if allow else ApprovalDecision.ALLOW)
    )

    assert world.decided == [(allow, "rule")]
    assert (world.requested, world.resolved, world.asked) == ([], [], 0)


def test_a_request_can_be_answered_from_within_its_own_event():
    """O9: it is open before anybody hears of it."""
    world = World()
    session = world.runtime.attach("a")

    def answers(event: SessionEvent) -> None:
        if isinstance(event, PermissionRequested):
            session.permissions.resolve(event.request_id, PermissionDecision.allow())

    session.stream.listen(answers)

    task = world.stage.play(session.call(use("files")))
    assert task.result().content == "files done"


def test_listening_ends_when_it_is_told_to():
    """O9: a listener that was removed hears no more; removing it again is harmless."""
    world = World()
    session = world.runtime.attach("a")
    heard: list[SessionEvent] = []
    remove = session.stream.listen(heard.append)
    remove()
    remove()

    world.play(session, [use("look")])

    assert heard == []


def test_a_used_call_id_gets_a_request_id_of_its_own():
    """13.97, 13.98, O10: the id of the first request cannot answer the second, and does not take it back."""
    world = World()
    session = world.runtime.attach("a")
    signal = AbortSignal(world.stage)
    world.begin(session, [use("files")], approver=Scripted(ApprovalDecision.DENY, after_ms=5), signal=signal)
    signal.abort()
    world.stage.advance(5)
    world.begin(session, [use("files")], approver=Silent(world.stage))

    with pytest.raises(NoPendingPermission, match=f"no pending permission with request_id '{FIRST}'"):
        session.permissions.resolve(FIRST, PermissionDecision.allow())

    assert [event.request_id for event in world.requested] == [FIRST, "perm-c1-0000000000000002"]
    assert session.permissions.open_requests == ("perm-c1-0000000000000002",)
    assert world.executed == []


def test_a_request_carries_its_reason_its_input_and_its_classification():
    """13.67, 13.68, O11, A7: keys sorted, no spaces; the level on the event itself."""
    world = World()
    world.begin(
        world.runtime.attach("a"),
        [use("files", {"b": "é", "a": [1, {"z": 0, "y": None}]})],
        approver=Silent(world.stage),
    )

    assert world.requested == [
        PermissionRequested(
            at_ms=0,
            request_id=FIRST,
            tool_call_id="c1",
            tool_name="files",
            description=W1_FILES,
            preview='{"a":[1,{"y":null,"z":0}],"b":"é"}',
            classification=Classification(side_effect_level=SideEffectLevel.LOCAL_STATE),
        )
    ]


def test_a_prompt_without_a_reason_says_that_approval_is_required():
    """O11, W7."""
    world = World(gate=CountingGate(always(AuthorizationDecision.prompt())))
    world.begin(world.runtime.attach("a"), [use("files")], approver=Silent(world.stage))

    assert world.requested[0].description == "Approval required for files"


def test_a_request_that_is_dropped_unanswered_is_denied():
    """13.70, O12, W4: all who could have answered are gone."""
    world = World()
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))

    session.permissions.discard(FIRST)

    assert world.read == ["Tool execution denied: denied by session approver"]


class RaisingGate:
    """A gate that breaks."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def authorize(self, request: AuthorizationRequest) -> AuthorizationDecision:
        raise self.error


@pytest.mark.parametrize(
    ("error", "text"),
    [(RuntimeFailure("no route"), "no route"), (KeyError("x"), "'x'"), (ValueError(), "ValueError")],
)
def test_a_gate_that_raises_denies_and_the_turn_goes_on(error: Exception, text: str):
    """13.135, O13: with the error's text; the next round still happens."""
    world = World(gate=RaisingGate(error))

    read = world.play(world.runtime.attach("a"), [use("files")], [use("files", call_id="c2")])

    assert read == (f"Tool execution denied: {text}",) * 2
    assert len(world.seen(RoundStarted)) == 2


@pytest.mark.parametrize("said", [True, None, "allow"])
def test_a_gate_that_answers_with_something_else_lets_nothing_through(said: Any):
    """O13: `True` is no decision."""
    world = World(gate=CountingGate(always(said)))

    world.play(world.runtime.attach("a"), [use("files")])

    assert world.decided == [(False, "error")]
    assert world.executed == []


def test_a_gate_with_a_nonsensical_bound_lets_nothing_through():
    """X1: a bound that cannot be read is not none."""
    gate: Any = CountingGate(always(ALLOWS))
    gate.bound = 60
    world = World(gate=gate)

    assert world.play(world.runtime.attach("a"), [use("files")]) == (
        "Tool execution denied: a gate's timeout is a Duration or None, not 60",
    )


def test_a_reason_on_an_allow_is_dropped():
    """13.71, O15: an allowed call explains itself by happening."""
    assert PermissionDecision.allow().with_reason("x").authorization() == AuthorizationDecision.allow()


def test_a_reason_on_a_deny_is_carried():
    """13.69, W4: and where there is none, standing words are."""
    assert PermissionDecision.deny().with_reason("x").authorization() == AuthorizationDecision.deny("x")
    assert PermissionDecision.deny().authorization() == AuthorizationDecision.deny("denied by session approver")


def test_an_answer_for_the_session_is_one_to_remember():
    """A3: the process scope, both ways; a plain answer is for this call."""
    table = {decision: PermissionDecision.of(ApprovalAnswer(decision, "r")) for decision in ApprovalDecision}
    assert table == {
        ApprovalDecision.ALLOW: PermissionDecision.allow().with_reason("r"),
        ApprovalDecision.DENY: PermissionDecision.deny().with_reason("r"),
        ApprovalDecision.ALLOW_FOR_SESSION: PermissionDecision.allow_and_remember(RuleScope.PROCESS).with_reason(
            "r"
        ),
        ApprovalDecision.DENY_FOR_SESSION: PermissionDecision.deny_and_remember(RuleScope.PROCESS).with_reason("r"),
    }


def test_without_a_gate_everything_runs_unseen_despite_a_remembered_deny():
    """13.75, O17, D3: nothing can be asked, and the rule is not even read."""
    world = World(gate=None, store=unreadable())

    assert world.play(world.runtime.attach("a"), [use("files")], approver=DenyAll()) == ("files done",)
    assert (world.requested, world.resolved, world.decided) == ([], [], [(True, "no-gate")])


def test_only_one_of_the_two_nothings_leaves_a_trace():
    """D2, D3: no approver surfaces and allows; no gate allows unseen."""
    traces = []
    for gate in (ApprovalGate(), None):
        world = World(gate=gate)
        world.play(world.runtime.attach("a"), [use("files")])
        traces.append(world.kinds(PermissionRequested, PermissionResolved))

    assert traces == [["PermissionRequested", "PermissionResolved"], []]


def test_a_tool_that_declares_no_level_is_never_asked_about():
    """13.144, D4: the trap. A missing declaration is level NONE; only an unrecoverable one is unknown."""
    world = World(tools=[GateTool(name="native")])

    assert world.play(world.runtime.attach("a"), [use("native")], approver=DenyAll()) == ("inert",)
    assert world.play(world.runtime.attach("a"), [use("mystery")], approver=DenyAll())[0].startswith(
        "Tool execution denied"
    )


def test_connected_and_declared_tools_have_a_level_they_cannot_talk_down():
    """D4: a server's tool is EXTERNAL, a declared program PROCESS or EXTERNAL; `files` and `spawn` have theirs."""
    assert mcp_tool("x").level_of({}) is SideEffectLevel.EXTERNAL
    assert program_tool("x").level_of({}) is SideEffectLevel.PROCESS
    assert program_tool("x", SideEffectLevel.EXTERNAL).level_of({}) is SideEffectLevel.EXTERNAL
    assert files_tool().level_of({}) is SideEffectLevel.LOCAL_STATE
    assert spawn_tool().level_of({"command": "x"}) is SideEffectLevel.PROCESS
    assert spawn_tool().level_of({"task": "x"}) is SideEffectLevel.LOCAL_STATE
    with pytest.raises(HostError, match="a declared program is Process or External, not None"):
        program_tool("x", SideEffectLevel.NONE)


def test_a_gate_sees_the_call_as_its_tool_presents_it():
    """13.132: raw and structured input, level, agent and history."""
    gate = CountingGate(always(ALLOWS))
    tool = GateTool(
        name="odd",
        level=SideEffectLevel.PROCESS,
        present=lambda given: {"shown": given["raw"]},
        durability="Ephemeral",
    )
    world = World(gate=gate, tools=[tool])

    world.play(world.runtime.attach("a"), [use("look")], [use("odd", {"raw": 1}, "c2")])

    seen = gate.requests[1]
    assert (seen.agent_id, seen.history_len, seen.tool_call_id, seen.tool_name) == ("a", 2, "c2", "odd")
    assert (seen.preview.raw_input, seen.preview.structured_input) == ({"raw": 1}, {"shown": 1})
    assert seen.preview.classification == Classification(
        side_effect_level=SideEffectLevel.PROCESS, durability="Ephemeral"
    )


@pytest.mark.parametrize(
    ("reason", "text"),
    [("why", "Tool execution requires approval: why"), (None, "Tool execution requires approval")],
)
def test_a_prompt_that_nobody_turns_into_a_request_starts_no_tool(reason: str | None, text: str):
    """13.133, W11: a session that raises no requests."""
    world = World(gate=CountingGate(always(AuthorizationDecision.prompt(reason))))
    session = world.runtime.attach("a", raises_requests=False)

    assert world.play(session, [use("files")]) == (text,)
    assert (world.executed, world.decided) == ([], [(False, "nobody")])
    with pytest.raises(HostError, match="the session of a raises no permission requests"):
        _ = session.permissions


@pytest.mark.parametrize(
    ("reason", "text"), [("no", "Tool execution denied: no"), (None, "Tool execution denied by authorizer")]
)
def test_a_deny_reads_as_the_gate_gave_it(reason: str | None, text: str):
    """13.134, W10."""
    world = World(gate=CountingGate(always(AuthorizationDecision.deny(reason))))

    assert world.play(world.runtime.attach("a"), [use("files")]) == (text,)


def test_a_bound_blocks_the_call():
    """13.136, X2."""
    world = World(gate=ApprovalGate(Duration.seconds(1)))
    task = world.stage.play(world.runtime.attach("a").call(use("files")))

    assert task.result().content == "Tool execution denied: authorizer timed out after 1s"
    assert (world.executed, world.decided) == ([], [(False, "timeout")])


def test_a_tool_that_fails_is_an_error_that_the_model_reads():
    """O14: its failure is not a refusal, and does not end the turn either."""

    def breaks(given: Any) -> str:
        raise OSError("disk full")

    world = World(tools=[GateTool(name="fragile", run=breaks)])

    assert world.play(world.runtime.attach("a"), [use("fragile")], [use("look", call_id="c2")]) == (
        "disk full",
        "look done",
    )
    assert world.decided[0] == (True, "gate")


def test_an_input_that_is_no_json_is_refused_rather_than_matched():
    """R18, P7: what has no text can meet no rule, so it is not asked about either."""
    world = World()

    world.play(world.runtime.attach("a"), [use("files", {"n": float("nan")})])

    assert world.decided == [(False, "error")]
    assert world.requested == []


# ------------------------------------------------------------------------------------------------------- resolution


def test_a_request_is_resolved_through_the_handle_while_the_turn_runs():
    """13.137, 13.139, V1: rule, event, waiter, in this order."""
    world = World()
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))

    session.permissions.resolve(FIRST, PermissionDecision.allow_and_remember(RuleScope.SESSION))

    assert world.kinds(RuleRemembered, PermissionResolved, CallDecided) == [
        "RuleRemembered",
        "PermissionResolved",
        "CallDecided",
    ]
    assert session.permissions.rules() == (rule("files", True, RuleScope.SESSION),)
    assert world.resolved[0].rule_scope is RuleScope.SESSION


def test_an_unknown_request_cannot_be_resolved():
    """13.138, W17."""
    with pytest.raises(NoPendingPermission, match="no pending permission with request_id 'perm-x'"):
        World().runtime.attach("a").permissions.resolve("perm-x", PermissionDecision.allow())


def test_a_request_is_resolved_at_most_once():
    """V3: the second answer finds nothing, and remembers nothing."""
    world = World()
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))
    session.permissions.resolve(FIRST, PermissionDecision.deny())

    with pytest.raises(NoPendingPermission):
        session.permissions.resolve(FIRST, PermissionDecision.allow_and_remember(RuleScope.GLOBAL))

    assert (session.permissions.rules(), world.executed, len(world.resolved)) == ((), [], 1)


def test_a_project_rule_without_a_project_leaves_the_request_open():
    """13.113, V1, R5, W18: the scope is checked first, so another answer may follow."""
    world = World()
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))

    with pytest.raises(RuntimeFailure, match="project-scoped permission rules require a project_id"):
        session.permissions.resolve(FIRST, PermissionDecision.allow_and_remember(RuleScope.PROJECT))

    assert session.permissions.open_requests == (FIRST,)
    session.permissions.resolve(FIRST, PermissionDecision.allow())
    assert world.read == ["files done"]


def test_a_rule_that_cannot_be_written_leaves_the_request_open():
    """13.114, V2: the error is the caller's, and a retry may succeed."""
    failures = iter(["disk full", None])
    store = FailingRuleStore(
        MemoryRuleStore(), lambda operation: next(failures) if operation is StoreOperation.UPSERT else None
    )
    world = World(store=store)
    session = world.runtime.attach("a")
    world.begin(session, [use("files")], approver=Silent(world.stage))
    decision = PermissionDecision.allow_and_remember(RuleScope.GLOBAL)

    with pytest.raises(RuleStoreFailed, match="disk full"):
        session.permissions.resolve(FIRST, decision)
    assert (session.permissions.open_requests, world.read, world.resolved) == ((FIRST,), [], [])

    session.permissions.resolve(FIRST, decision)
    assert (world.read, session.permissions.rules()) == (["files done"], (rule("files", True),))


@given(
    allowed=st.booleans(),
    scope=st.sampled_from([None, *RuleScope]),
    reason=st.none() | st.text(max_size=8),
    cancelled=st.booleans(),
)
def test_a_late_answer_changes_nothing(allowed: bool, scope: RuleScope | None, reason: str | None, cancelled: bool):
    """V4: after a timeout or a cancelled wait, no answer writes a rule, announces anything or runs the tool."""
    world = World(gate=ApprovalGate(Duration.seconds(1)))
    session = world.runtime.attach("a", project_id="p")
    signal = AbortSignal(world.stage)
    world.begin(session, [use("files")], [use("look", call_id="c2")], approver=Silent(world.stage), signal=signal)
    if cancelled:
        signal.abort()
    else:
        world.stage.advance(1_000)
    before = list(world.stage.ledger)

    with pytest.raises(NoPendingPermission):
        session.permissions.resolve(FIRST, PermissionDecision(allowed, scope, reason))

    assert list(world.stage.ledger) == before
    assert session.permissions.rules() == ()
    assert "files" not in [name for name, _ in world.shelf]


def test_an_answer_and_the_end_of_the_wait_cannot_both_win():
    """13.115, V5: 64 races between threads; what was remembered is what was delivered."""
    outcomes = []
    for _ in range(64):
        world = World()
        session = world.runtime.attach("a")
        signal = AbortSignal(world.stage)
        task = world.begin(
            session, [use("files")], approver=Scripted(ApprovalDecision.DENY, after_ms=9), signal=signal
        )
        start = threading.Barrier(2)
        delivered: list[bool] = []

        def answer(session: Any = session, start: Any = start, delivered: Any = delivered) -> None:
            start.wait()
            try:
                session.permissions.resolve(FIRST, PermissionDecision.allow_and_remember(RuleScope.GLOBAL))
            except NoPendingPermission:
                delivered.append(False)
            else:
                delivered.append(True)

        def give_up(signal: Any = signal, start: Any = start) -> None:
            start.wait()
            signal.abort()

        threads = [threading.Thread(target=answer), threading.Thread(target=give_up)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        world.stage.advance(9)
        persisted = session.permissions.rules() != ()
        assert [persisted] == delivered == [len(world.resolved) == 1] == [bool(world.shelf)]
        assert task.done
        outcomes.append(persisted)

    assert len(outcomes) == 64


def test_an_answer_that_was_delivered_wins_over_a_cancel_in_the_same_moment():
    """V5: its rule is written and its event is out, so the call must go on."""
    world = World()
    session = world.runtime.attach("a")
    signal = AbortSignal(world.stage)

    class AnswersAndCancels:
        async def approve(self, asked: Any) -> ApprovalDecision:
            session.permissions.resolve(asked.request_id, PermissionDecision.allow_and_remember(RuleScope.PROCESS))
            signal.trip()
            return ApprovalDecision.DENY

    world.begin(session, [use("files")], approver=AnswersAndCancels(), signal=signal)

    assert world.decided == [(True, "approver")]
    assert session.permissions.rules() == (rule("files", True, RuleScope.PROCESS),)


# ----------------------------------------------------------------------------------- session gates and subagents


def test_a_session_gate_is_for_that_session_only():
    """13.127, O19: it replaces the runtime's and does not stack on it; siblings keep theirs."""
    runtimes, own = CountingGate(always(ALLOWS)), CountingGate(always(DENIES))
    world = World(gate=runtimes)
    one, other = world.runtime.attach("one"), world.runtime.attach("other")
    one.install_gate(own)

    assert world.play(one, [use("files")]) == ("Tool execution denied: no",)
    assert world.play(other, [use("files")]) == ("files done",)
    assert (len(own.requests), len(runtimes.requests)) == (1, 1)


def test_a_gate_with_a_state_governs_each_call():
    """13.128: it is asked anew for every call."""
    answers = iter([ALLOWS, DENIES, ALLOWS])
    world = World(gate=CountingGate(lambda request: next(answers)))

    assert world.play(world.runtime.attach("a"), *([use("files", call_id=f"c{n}")] for n in range(3))) == (
        "files done",
        "Tool execution denied: no",
        "files done",
    )


def test_a_subagent_inherits_the_gate_of_when_it_was_spawned():
    """13.130, O19: children spawned afterwards have it; those already there keep theirs."""
    world = World()
    session = world.runtime.attach("parent")
    early = session.spawn_child("early")
    session.install_gate(DenyAllGate())
    late = session.spawn_child("late")

    read = world.play(
        session,
        [use("files", agent="early")],
        [use("files", call_id="c2", agent="late")],
        [use("files", call_id="c3")],
        approver=AllowAll(),
    )

    refusal = f"Tool execution denied: {W2_FILES}"
    assert read == ("files done", refusal, refusal)
    assert (type(early.gate), type(late.gate)) == (ApprovalGate, DenyAllGate)


def test_a_yes_for_the_session_covers_its_subagents():
    """R24: they go through the session's own rules and stream."""
    world = World()
    session = world.runtime.attach("parent")
    session.spawn_child("child")

    world.play(
        session,
        [use("files")],
        [use("files", {"other": 1}, "c2", agent="child")],
        approver=Scripted(FOR_SESSION),
    )

    assert world.decided == [(True, "approver"), (True, "rule")]
    assert world.asked == 1
    assert [event.agent_id for event in world.seen(CallMade)] == ["parent", "child"]


def test_a_subagent_that_was_never_spawned_cannot_call():
    """R24."""
    world = World()

    with pytest.raises(HostError, match="the session of a has no subagent b"):
        world.play(world.runtime.attach("a"), [use("files", agent="b")])


def test_a_resumed_session_needs_its_gate_attached_again():
    """13.131, O19: it is not persisted."""
    world = World()
    world.runtime.attach("a").install_gate(DenyAllGate())

    assert isinstance(world.runtime.resume("a").gate, ApprovalGate)


def test_a_call_by_itself_ends_with_the_turn():
    """V4: a caller that gave up gets no result."""
    world = World()
    signal = AbortSignal(world.stage)
    task = world.stage.spawn(world.runtime.attach("a").call(use("files"), signal))

    signal.abort()

    with pytest.raises(AbortError, match="the turn was cancelled"):
        task.result()


def test_rules_are_revoked_by_exact_address():
    """R20: a revoked rule is asked about again; the same key elsewhere stays."""
    world = World()
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", True, RuleScope.PROCESS))
    session.permissions.remember(rule("files", False, RuleScope.GLOBAL))

    assert session.permissions.revoke(RuleAddress(RuleScope.PROCESS, RuleKey("files")))
    assert not session.permissions.revoke(RuleAddress(RuleScope.PROCESS, RuleKey("files")))
    assert session.permissions.rules() == (rule("files", False, RuleScope.GLOBAL),)
