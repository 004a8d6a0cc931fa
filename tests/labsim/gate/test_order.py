"""One call in its order, and what a gate does to it (gate/O1 to gate/O19)."""

from __future__ import annotations

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

from labsim.errors import HostError
from labsim.events.call import Execute
from labsim.gate.approvers import AllowAll, DenyAll
from labsim.gate.base.errors import NoPendingPermission, RuntimeFailure
from labsim.gate.base.request import (
    ApprovalAnswer,
    ApprovalDecision,
    AuthorizationDecision,
    AuthorizationRequest,
    Classification,
)
from labsim.gate.base.terms import Duration, SideEffectLevel
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
from labsim.gate.rules.rules import RuleScope
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore
from labsim.gate.session.permissions import PermissionDecision
from labsim.gate.tools import GateTool, HookAnswer, ToolUse, files_tool, mcp_tool, program_tool, spawn_tool
from labsim.stage.stage import AbortSignal

FIRST = "perm-c1-0000000000000001"
FOR_SESSION = ApprovalDecision.ALLOW_FOR_SESSION


def unreadable() -> FailingRuleStore:
    """A store that can be asked nothing."""
    return FailingRuleStore(MemoryRuleStore(), lambda operation: "the rules cannot be read")


def test_a_call_goes_through_its_stages_in_order():
    """gate/O1: hook, preview, gate, rules, request, approver, rule written, resolved, decided, run, result."""
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
    """gate/O2: hooks come before the gate, so what they rewrite is what is asked about."""
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
    """gate/O3, gate/W12: nor does one whose hook breaks."""
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
    """gate/O3: what cannot run is not put to anybody."""
    gate = CountingGate(always(ALLOWS))
    world = World(gate=gate, tools=[GateTool(name="strict", required=("path",))])

    assert world.play(world.runtime.attach("a"), [made]) == (text,)
    assert len(gate.requests) == 0


@pytest.mark.parametrize(
    ("rewrite", "read"),
    [({"path": "x"}, "inert"), ({"note": 1}, "The input of strict does not fit: the key 'path' is missing")],
)
def test_the_shape_that_counts_is_that_of_the_rewritten_input(rewrite: dict[str, Any], read: str):
    """gate/O1, gate/O2: a hook can mend an input, or spoil it; the shape is looked at behind the hooks."""
    spoiled = {"note": 1} if "path" in rewrite else {"path": "x"}
    world = World(
        hooks=[lambda use: HookAnswer(rewrite=rewrite)], tools=[GateTool(name="strict", required=("path",))]
    )

    assert world.play(world.runtime.attach("a"), [use("strict", spoiled)]) == (read,)


def test_a_call_whose_preview_fails_is_denied_unasked():
    """gate/O4: what cannot be shown cannot be approved."""

    def present(given: Any) -> Any:
        raise HostError("bad")

    gate = CountingGate(always(ALLOWS))
    world = World(gate=gate, tools=[GateTool(name="odd", present=present)])

    assert world.play(world.runtime.attach("a"), [use("odd")]) == ("Tool execution denied: bad",)
    assert len(gate.requests) == 0


def test_the_gate_is_asked_once_and_a_posture_switched_meanwhile_is_for_the_next_call():
    """gate/O5: the call whose question is open keeps the answer it gets."""
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
    """Neither waits for the session to end."""
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
    """gate/O6: no rule is read, no event raised, nobody asked."""
    world = World(gate=CountingGate(always(DENIES)), store=unreadable())

    assert world.play(world.runtime.attach("a"), [use("files")]) == ("Tool execution denied: no",)
    assert (world.requested, world.asked, world.seen(RulesRead)) == ([], 0, [])


def test_a_current_allow_beats_a_remembered_deny():
    """gate/O7: the gate has said it, so the rule is not read."""
    world = World(gate=CountingGate(always(ALLOWS)))
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", allow=False))

    assert world.play(session, [use("files")]) == ("files done",)
    assert (world.requested, world.seen(RulesRead)) == ([], [])


@pytest.mark.parametrize("allow", [True, False])
def test_a_current_prompt_is_answered_by_the_rule(allow: bool):
    """gate/O8: no event of a request, and the approver is not called."""
    world = World()
    session = world.runtime.attach("a")
    session.permissions.remember(rule("files", allow=allow))

    world.play(
        session, [use("files")], approver=Scripted(ApprovalDecision.DENY if allow else ApprovalDecision.ALLOW)
    )

    assert world.decided == [(allow, "rule")]
    assert (world.requested, world.resolved, world.asked) == ([], [], 0)


def test_a_request_can_be_answered_from_within_its_own_event():
    """gate/O9: it is open before anybody hears of it."""
    world = World()
    session = world.runtime.attach("a")

    def answers(event: SessionEvent) -> None:
        if isinstance(event, PermissionRequested):
            session.permissions.resolve(event.request_id, PermissionDecision.allow())

    session.stream.listen(answers)

    task = world.stage.play(session.call(use("files")))
    assert task.result().content == "files done"


def test_listening_ends_when_it_is_told_to():
    """gate/O9: a listener that was removed hears no more; removing it again is harmless."""
    world = World()
    session = world.runtime.attach("a")
    heard: list[SessionEvent] = []
    remove = session.stream.listen(heard.append)
    remove()
    remove()

    world.play(session, [use("look")])

    assert heard == []


def test_a_used_call_id_gets_a_request_id_of_its_own():
    """gate/O10: the id of the first request cannot answer the second, and does not take it back."""
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
    """gate/O11, gate/A7: keys sorted, no spaces; the level on the event itself."""
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
    """gate/O11, gate/W7."""
    world = World(gate=CountingGate(always(AuthorizationDecision.prompt())))
    world.begin(world.runtime.attach("a"), [use("files")], approver=Silent(world.stage))

    assert world.requested[0].description == "Approval required for files"


def test_a_request_that_is_dropped_unanswered_is_denied():
    """gate/O12, gate/W4: all who could have answered are gone."""
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
    """gate/O13: with the error's text; the next round still happens."""
    world = World(gate=RaisingGate(error))

    read = world.play(world.runtime.attach("a"), [use("files")], [use("files", call_id="c2")])

    assert read == (f"Tool execution denied: {text}",) * 2
    assert len(world.seen(RoundStarted)) == 2


@pytest.mark.parametrize("said", [True, None, "allow"])
def test_a_gate_that_answers_with_something_else_lets_nothing_through(said: Any):
    """gate/O13: `True` is no decision."""
    world = World(gate=CountingGate(always(said)))

    world.play(world.runtime.attach("a"), [use("files")])

    assert world.decided == [(False, "error")]
    assert world.executed == []


def test_a_gate_with_a_nonsensical_bound_lets_nothing_through():
    """gate/X1: a bound that cannot be read is not none."""
    gate: Any = CountingGate(always(ALLOWS))
    gate.bound = 60
    world = World(gate=gate)

    assert world.play(world.runtime.attach("a"), [use("files")]) == (
        "Tool execution denied: a gate's timeout is a Duration or None, not 60",
    )


def test_a_reason_on_an_allow_is_dropped():
    """gate/O15: an allowed call explains itself by happening."""
    assert PermissionDecision.allow().with_reason("x").authorization() == AuthorizationDecision.allow()


def test_a_reason_on_a_deny_is_carried():
    """gate/W4: and where there is none, standing words are."""
    assert PermissionDecision.deny().with_reason("x").authorization() == AuthorizationDecision.deny("x")
    assert PermissionDecision.deny().authorization() == AuthorizationDecision.deny("denied by session approver")


def test_an_answer_for_the_session_is_one_to_remember():
    """gate/A3: the process scope, both ways; a plain answer is for this call."""
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
    """gate/O17, gate/D3: nothing can be asked, and the rule is not even read."""
    world = World(gate=None, store=unreadable())

    assert world.play(world.runtime.attach("a"), [use("files")], approver=DenyAll()) == ("files done",)
    assert (world.requested, world.resolved, world.decided) == ([], [], [(True, "no-gate")])


def test_only_one_of_the_two_nothings_leaves_a_trace():
    """gate/D2, gate/D3: no approver surfaces and allows; no gate allows unseen."""
    traces = []
    for gate in (ApprovalGate(), None):
        world = World(gate=gate)
        world.play(world.runtime.attach("a"), [use("files")])
        traces.append(world.kinds(PermissionRequested, PermissionResolved))

    assert traces == [["PermissionRequested", "PermissionResolved"], []]


def test_a_tool_that_declares_no_level_is_never_asked_about():
    """gate/D4: the trap. A missing declaration is level NONE; only an unrecoverable one is unknown."""
    world = World(tools=[GateTool(name="native")])

    assert world.play(world.runtime.attach("a"), [use("native")], approver=DenyAll()) == ("inert",)
    assert world.play(world.runtime.attach("a"), [use("mystery")], approver=DenyAll())[0].startswith(
        "Tool execution denied"
    )


def test_connected_and_declared_tools_have_a_level_they_cannot_talk_down():
    """gate/D4: a server's tool is EXTERNAL, a declared program PROCESS or EXTERNAL; `files` and `spawn` have
    theirs.
    """
    assert mcp_tool("x").level_of({}) is SideEffectLevel.EXTERNAL
    assert program_tool("x").level_of({}) is SideEffectLevel.PROCESS
    assert program_tool("x", SideEffectLevel.EXTERNAL).level_of({}) is SideEffectLevel.EXTERNAL
    assert files_tool().level_of({}) is SideEffectLevel.LOCAL_STATE
    assert spawn_tool().level_of({"command": "x"}) is SideEffectLevel.PROCESS
    assert spawn_tool().level_of({"task": "x"}) is SideEffectLevel.LOCAL_STATE
    with pytest.raises(HostError, match="a declared program is Process or External, not None"):
        program_tool("x", SideEffectLevel.NONE)


def test_a_gate_sees_the_call_as_its_tool_presents_it():
    """Raw and structured input, level, agent and history."""
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
    """gate/W11: a session that raises no requests."""
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
    """gate/W10."""
    world = World(gate=CountingGate(always(AuthorizationDecision.deny(reason))))

    assert world.play(world.runtime.attach("a"), [use("files")]) == (text,)


def test_a_bound_blocks_the_call():
    """gate/X2."""
    world = World(gate=ApprovalGate(Duration.seconds(1)))
    task = world.stage.play(world.runtime.attach("a").call(use("files")))

    assert task.result().content == "Tool execution denied: authorizer timed out after 1s"
    assert (world.executed, world.decided) == ([], [(False, "timeout")])


def test_a_tool_that_fails_is_an_error_that_the_model_reads():
    """gate/O14: its failure is not a refusal, and does not end the turn either."""

    def breaks(given: Any) -> str:
        raise OSError("disk full")

    world = World(tools=[GateTool(name="fragile", run=breaks)])

    assert world.play(world.runtime.attach("a"), [use("fragile")], [use("look", call_id="c2")]) == (
        "disk full",
        "look done",
    )
    assert world.decided[0] == (True, "gate")


def test_an_input_that_is_no_json_is_refused_rather_than_matched():
    """gate/R18, gate/P7: what has no text can meet no rule, so it is not asked about either."""
    world = World()

    world.play(world.runtime.attach("a"), [use("files", {"n": float("nan")})])

    assert world.decided == [(False, "error")]
    assert world.requested == []
