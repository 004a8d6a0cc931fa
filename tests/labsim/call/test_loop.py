"""The agent loop before the wrapper: a batch is validated, shown to the hook, validated again (wrapper/W-66 to
wrapper/W-77).
"""

from __future__ import annotations

from typing import Any

import pytest
from loop_kit import MENDED, NOTE, Desk, about, asked, call, checked, error, hook, inert, nothing, ran, refused

from labsim.approval import Resolution, Settings
from labsim.call.loop import ModelCall
from labsim.call.loop_events import (
    ArgumentsChecked,
    Checked,
    HookEnded,
    HookOutcome,
    LoopEnding,
    LoopResulted,
    MarkerSet,
    MessageRevised,
    ToolExecutionStart,
)
from labsim.call.wrapper import CallContext, ToolWrapper
from labsim.errors import HostError
from labsim.events.call import (
    CallStarted,
    CallThrew,
    Execute,
    MarkerConsumed,
    PolicyResolved,
    PreviewWait,
    PromptDecided,
    ToolCallEvent,
)
from labsim.terms import Policy, Rule, Source, Tier

# ------------------------------------------------------------------------------------------------- the hook


def test_the_whole_batch_meets_the_hook_in_call_order_before_any_of_it_starts():
    """wrapper/W-66: after validation, before scheduling and before `tool_execution_start`."""
    desk = Desk(nothing)

    results = desk.run(call("seed_note", id="c-1"), call("seed_slot", id="c-2"))

    first, second = {"id": "c-1", "tool": "seed_note"}, {"id": "c-2", "tool": "seed_slot"}
    assert desk.events == [
        checked(NOTE, **first),
        *asked(NOTE, **first),
        hook(HookOutcome.UNCHANGED, **first),
        checked(NOTE, **second),
        *asked(NOTE, **second),
        hook(HookOutcome.UNCHANGED, **second),
        *ran(NOTE, marked=True, **first),
        *ran(NOTE, marked=True, **second),
    ]
    assert results == [inert(id="c-1", name="seed_note"), inert(id="c-2")]


def test_without_handlers_the_hook_does_nothing_and_leaves_no_marker():
    """wrapper/W-67: so the wrapper has no marker to use up."""
    desk = Desk(observe=False)

    assert desk.run(call()) == [inert()]
    assert desk.events == [checked(NOTE), hook(HookOutcome.NO_HANDLERS), *ran(NOTE, marked=False)]


def test_a_denied_call_is_neither_emitted_nor_marked_and_the_wrapper_denies_it_later():
    """wrapper/W-67: deny is asked for as if in yolo, with `tools.approval`; no handler gets to see the call."""
    desk = Desk(nothing, policies={"seed_slot": "deny"})
    text = (
        'Tool "seed_slot" is blocked by user policy.\n'
        'To allow: remove "tools.approval.seed_slot: deny" from config.'
    )
    denial = Resolution(
        policy=Policy.DENY, tier=Tier.READ, source=Source.USER, rule=Rule.R2, policy_key="seed_slot"
    )

    assert desk.run(call()) == [error(LoopEnding.RAISED, text)]
    assert desk.events == [
        checked(NOTE),
        hook(HookOutcome.DENIED),
        ToolExecutionStart(**about(), args=NOTE),
        CallStarted(**about(), input=NOTE),
        PolicyResolved(**about(), on="original", resolution=denial),
        CallThrew(**about(), error=text, error_name="Error"),
        LoopResulted(**about(), ending=LoopEnding.RAISED, content=text, is_error=True),
    ]


@pytest.mark.parametrize("approval", ["exec", {"tier": "exec", "override": True}, {"policy": "prompt"}])
def test_only_a_deny_keeps_the_hook_from_emitting_whatever_the_mode(approval):
    """wrapper/W-67: what would prompt in always-ask is emitted first and asked about later."""
    desk = Desk(lambda event: {"block": True, "reason": "not today"}, approval=approval)
    desk.runner.session_settings = Settings(mode="always-ask")

    assert desk.run(call()) == [error(LoopEnding.BLOCKED, "not today")]


def test_the_marker_is_there_before_the_handlers_are():
    """wrapper/W-68: it is set, then `tool_call` is emitted; the name is the tool's, also of a call by its wire
    name.
    """
    seen: list[bool] = []
    desk = Desk(lambda event: seen.append(("c-1", "seed_slot") in desk.runner._markers))

    results = desk.run(call("slot"))

    assert seen == [True]
    assert [result.tool_name for result in results] == ["slot"]
    assert [event.tool_name for event in desk.of(MarkerSet, ToolCallEvent, MarkerConsumed)] == ["seed_slot"] * 3
    assert desk.of(ToolExecutionStart) == [ToolExecutionStart(**about(tool="slot"), args=NOTE)]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"block": True, "reason": "the shelf is closed"}, "the shelf is closed"),
        ({"block": True}, "Tool execution was blocked by an extension"),
        ({"block": "yes", "reason": ""}, "Tool execution was blocked by an extension"),
    ],
)
def test_a_block_becomes_an_error_result_and_the_batch_goes_on(answer, text):
    """wrapper/W-69: the blocked call has its `tool_execution_start` all the same, and runs nothing."""
    desk = Desk(lambda event: answer if event.tool_call_id == "c-1" else None)

    results = desk.run(call(id="c-1"), call(id="c-2"))

    assert results == [error(LoopEnding.BLOCKED, text), inert(id="c-2")]
    assert desk.events == [
        checked(NOTE),
        *asked(NOTE, "blocks"),
        hook(HookOutcome.BLOCKED, text),
        checked(NOTE, id="c-2"),
        *asked(NOTE, id="c-2"),
        hook(HookOutcome.UNCHANGED, id="c-2"),
        *refused(LoopEnding.BLOCKED, text, args=NOTE),
        *ran(NOTE, marked=True, id="c-2"),
    ]


def test_a_valid_replacement_is_written_into_the_message_and_is_what_runs():
    """wrapper/W-70: history, events and execution agree, and the wrapper takes it for the original input."""
    desk = Desk(lambda event: {"input": {"seed": "rowan", "count": "2"}})
    message = call()

    results = desk.run(message)

    rowan = {"seed": "rowan", "count": 2}
    assert message == ModelCall(id="c-1", name="seed_slot", args=rowan)
    assert results == [inert()]
    assert desk.events == [
        checked(NOTE),
        *asked(NOTE, "replaces", {"seed": "rowan", "count": "2"}),
        hook(HookOutcome.REPLACED),
        checked(rowan, Checked.REPLACEMENT),
        MessageRevised(**about(), args=rowan),
        *ran(rowan, marked=True),
    ]


@pytest.mark.parametrize("replacement", [{"seed": 3}, None, "larch", []])
def test_an_invalid_replacement_ends_the_call_and_the_message_keeps_the_old_arguments(replacement):
    """wrapper/W-70: a validation-error result, no execution, nothing started; null counts as a replacement."""
    desk = Desk(lambda event: {"input": replacement})
    message = call()

    results = desk.run(message)

    text = "seed_slot wants a seed"
    assert message == call()
    assert results == [error(LoopEnding.INVALID_REPLACEMENT, text)]
    assert desk.events == [
        checked(NOTE),
        *asked(NOTE, "replaces", replacement),
        hook(HookOutcome.REPLACED),
        ArgumentsChecked(**about(), of=Checked.REPLACEMENT, problem=text),
        *refused(LoopEnding.INVALID_REPLACEMENT, text),
    ]


def test_a_hook_that_raises_is_an_error_result_of_its_own_call_only():
    """wrapper/W-71: here the approval rule fails while the hook asks for a deny."""

    def rule(args: Any) -> str:
        if args["seed"] == "larch":
            raise HostError("approval rule failed")
        return "read"

    desk = Desk(nothing, approval=rule)
    rowan = {"seed": "rowan"}

    results = desk.run(call(id="c-1"), call(args=rowan, id="c-2"))

    assert results == [error(LoopEnding.HOOK_FAILED, "approval rule failed"), inert(id="c-2")]
    assert desk.events == [
        checked(NOTE),
        hook(HookOutcome.FAILED, "approval rule failed"),
        checked(rowan, id="c-2"),
        *asked(rowan, id="c-2"),
        hook(HookOutcome.UNCHANGED, id="c-2"),
        *refused(LoopEnding.HOOK_FAILED, "approval rule failed", args=NOTE),
        *ran(rowan, marked=True, id="c-2"),
    ]


def test_a_handler_that_raises_blocks_its_own_call_only():
    """wrapper/W-71 with wrapper/W-12: inside the round, a failure is a block."""

    def fails(event: Any) -> None:
        if event.tool_call_id == "c-1":
            raise HostError("no such shelf")

    desk = Desk(fails)

    results = desk.run(call(id="c-1"), call(id="c-2"))

    assert results == [error(LoopEnding.BLOCKED, "Extension desk failed: no such shelf"), inert(id="c-2")]


def test_a_change_in_place_survives_into_execution_without_a_second_look():
    """wrapper/W-72: even one that the schema would refuse."""
    desk = Desk(lambda event: event.input.update(seed=3))
    message = call()

    results = desk.run(message)

    changed = {"seed": 3, "count": 1}
    assert results == [inert()]
    assert desk.events == [checked(NOTE), *asked(NOTE), hook(HookOutcome.MUTATED), *ran(changed, marked=True)]


def test_a_returned_object_wins_over_a_change_in_place():
    """wrapper/W-72."""

    def both(event: Any) -> Any:
        event.input["seed"] = "birch"
        return {"input": dict(MENDED)}

    desk = Desk(both)

    desk.run(call())

    assert desk.of(HookEnded) == [hook(HookOutcome.REPLACED)]
    assert [event.input for event in desk.of(Execute)] == [MENDED]


def test_arguments_that_the_schema_refuses_meet_no_hook_and_start_nothing():
    """wrapper/W-73: the message of the validator is the result, and the batch goes on."""
    desk = Desk(nothing)

    results = desk.run(call(args={"count": 1}), call(id="c-2"))

    text = "seed_slot wants a seed"
    assert results == [error(LoopEnding.INVALID, text), inert(id="c-2")]
    assert desk.events == [
        ArgumentsChecked(**about(), of=Checked.MODEL, problem=text),
        checked(NOTE, id="c-2"),
        *asked(NOTE, id="c-2"),
        hook(HookOutcome.UNCHANGED, id="c-2"),
        *refused(LoopEnding.INVALID, text),
        *ran(NOTE, marked=True, id="c-2"),
    ]


def test_repaired_arguments_are_what_handlers_and_executor_see_and_the_message_keeps_the_models():
    """wrapper/W-66: the hook comes after validation; only a replacement is written back (wrapper/W-70)."""
    desk = Desk(nothing)
    message = call(args={"seed": "larch", "count": "7"})

    desk.run(message)

    assert [event.input for event in desk.of(ToolCallEvent, Execute)] == [MENDED, MENDED]
    assert message.args == {"seed": "larch", "count": "7"}


# ---------------------------------------------------------------------------- what the loop is, and is not


def test_a_direct_execute_takes_a_replacement_as_it_is():
    """wrapper/W-76: the second look at a replacement is the loop's; the wrapper runs it raw (wrapper/W-17)."""
    raw = {"seed": 3}
    desk = Desk(lambda event: {"input": raw})

    desk.stage.play(ToolWrapper(desk.slot, desk.runner).execute("c-1", dict(NOTE)))
    looped = Desk(lambda event: {"input": raw})
    looped.run(call())

    assert [event.input for event in desk.of(Execute)] == [raw]
    assert looped.of(Execute) == []


def test_a_loop_replacement_leaves_the_wrappers_bypass_alone():
    """wrapper/W-77: the params are the revised ones already, so the wrapper sees the same object before and
    after.
    """
    revised = {"input": {"seed": "rowan"}}
    context = CallContext(settings=Settings(mode="always-ask"), xdev_approved=True)
    desk = Desk(lambda event: revised, approval="exec")

    results = desk.run(call(), context=context)

    assert results == [inert()]
    assert desk.of(PromptDecided) == [
        PromptDecided(**about(), required=False, because="the outer gate approved this call already")
    ]
    direct = Desk(lambda event: revised, approval="exec")
    direct.stage.play(ToolWrapper(direct.slot, direct.runner).execute("c-1", dict(NOTE), context=context))
    assert direct.of(PromptDecided) == [
        PromptDecided(**about(), required=True, because="the outer approval was for another input object")
    ]


def test_each_call_knows_its_own_place_in_the_batch():
    """wrapper/W-27: the wrapper waits for the preview of the scheduled call, by its id and its name or wire
    name.
    """
    desk = Desk(approval="exec", observe=False)
    desk.runner.session_settings = Settings(mode="always-ask")

    async def shown(call_id: str, signal: Any) -> None:
        desk.ledger.append(PreviewWait(at_ms=0, tool_call_id=call_id))

    desk.runner.install_preview_waiter(shown)
    desk.run(call("seed_note", id="c-1"), call("slot", id="c-2"), call(id="c-3"))

    assert desk.of(PreviewWait) == [PreviewWait(at_ms=0, tool_call_id=later) for later in ("c-2", "c-3")]
