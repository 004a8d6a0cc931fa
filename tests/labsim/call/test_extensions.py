"""Handlers of `tool_call`: order, answers, time, dialogs; and what the runner keeps of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_kit import PUBLISH, Desk
from msgspec import UNSET

from labsim.call.handlers import Extension, HandlerContext, HandlerReply, PlainHandler, ToolCallInput
from labsim.call.runner import MARKERS_KEPT, Runner
from labsim.errors import CANCELLED, AbortError, HostError, ThrownValue
from labsim.events.call import ExtensionError, HandlerAnswered
from labsim.events.dialogs import QuestionAsked
from labsim.stage.stage import AbortSignal, Stage
from labsim.stage.ui import Fails, ScriptedUI

INSPECT = {"action": "inspect"}
ALLOWED: dict[str, Any] = {"policies": {"seed_note": "allow"}}  # nobody is asked, so only the handlers matter


def executed(desk: Desk) -> list[Any]:
    """The inputs that the executor was entered with."""
    return [event["input"] for event in desk.heard if event["event"] == "execute"]


def reported(desk: Desk) -> list[tuple[str, str, str]]:
    """What the error listeners heard."""
    return [(e.extension_path, e.on, e.error) for e in desk.stage.ledger if isinstance(e, ExtensionError)]


# Order, replacement, block


def test_handlers_run_in_load_order_and_then_in_order_of_registration() -> None:
    """wrapper/W-7: one at a time; a handler added while the extension is loaded comes after its others."""
    desk, order = Desk(), list[str]()
    for path, name in [("b", "b1"), ("a", "a1"), ("b", "b2"), ("a", "a2")]:
        desk.on_call(lambda event, context, name=name: order.append(name), path)

    desk.call(**ALLOWED)

    assert order == ["b1", "b2", "a1", "a2"]


def test_every_handler_sees_the_same_event_and_no_replacement() -> None:
    """wrapper/W-8, wrapper/W-19: one object for all, with the caller's own params in it, not a copy."""
    desk, seen = Desk(), list[ToolCallInput]()
    params = dict(PUBLISH)

    def first(event: ToolCallInput, context: HandlerContext) -> dict[str, Any]:
        seen.append(event)
        return {"input": INSPECT}

    desk.on_call(first)
    desk.on_call(lambda event, context: seen.append(event))
    desk.call(params, **ALLOWED)

    assert seen[0] is seen[1]
    assert seen[0].input is params
    assert (seen[0].tool_name, seen[0].tool_call_id) == ("seed_note", "call-1")
    assert executed(desk) == [INSPECT]


@pytest.mark.parametrize(
    ("answers", "input_", "notes"),
    [
        ([{"input": INSPECT}], INSPECT, ["replaces"]),
        ([{"input": INSPECT}, {}], PUBLISH, ["replaces", "no replacement"]),
        ([{"input": INSPECT}, {"reason": "x"}], PUBLISH, ["replaces", "no replacement"]),
        ([{"input": INSPECT}, None], INSPECT, ["replaces", "nothing"]),
        ([{"input": INSPECT}, False], INSPECT, ["replaces", "nothing"]),
        ([{"input": INSPECT}, ""], INSPECT, ["replaces", "nothing"]),
        ([{"input": INSPECT}, "yes"], PUBLISH, ["replaces", "no replacement"]),
        ([{"input": INSPECT}, {"input": {"action": "reserve"}}], {"action": "reserve"}, ["replaces", "replaces"]),
        ([HandlerReply(input=INSPECT)], INSPECT, ["replaces"]),
        ([HandlerReply(input=INSPECT), HandlerReply()], PUBLISH, ["replaces", "no replacement"]),
        ([{"input": None}], None, ["replaces"]),
        ([{"block": False, "input": INSPECT}], INSPECT, ["replaces"]),
    ],
)
def test_the_last_answer_that_is_one_stands_alone(answers: list[Any], input_: Any, notes: list[str]) -> None:
    """wrapper/W-9: an object without an input erases an earlier replacement; nothing at all does not."""
    desk = Desk(recorded=False)
    for answer in answers:
        desk.on_call(lambda event, context, answer=answer: answer)

    desk.call(**ALLOWED)

    assert executed(desk) == [input_]
    assert [event.answer for event in desk.stage.ledger if isinstance(event, HandlerAnswered)] == notes


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"block": True, "reason": "not on Sundays"}, "not on Sundays"),
        ({"block": True, "input": INSPECT, "reason": "x"}, "x"),
        ({"block": True}, "Tool execution was blocked by an extension"),
        ({"block": True, "reason": ""}, "Tool execution was blocked by an extension"),
        ({"block": "yes"}, "Tool execution was blocked by an extension"),
        (HandlerReply(block=1, reason=5), "5"),
    ],
)
def test_a_block_ends_the_call_at_once(answer: Any, message: str) -> None:
    """wrapper/W-10, wrapper/W-11: later handlers are not called, and an input beside the block is ignored."""
    desk, later = Desk(), list[str]()
    desk.on_call(lambda event, context: answer)
    desk.on_call(lambda event, context: later.append("called"))

    assert desk.error(**ALLOWED) == message
    assert (later, desk.kinds) == ([], ["tool_call"])


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (HostError("no shelf"), "no shelf"),
        (ValueError("bad card"), "bad card"),
        (ThrownValue({"a": 1}, "[object Object]"), "[object Object]"),
        (ThrownValue(None, "null"), "null"),
    ],
)
@pytest.mark.parametrize("slowly", [False, True])
def test_a_handler_that_throws_blocks(error: Exception, text: str, slowly: bool) -> None:
    """wrapper/W-12: plain or async; a value that is no error is turned into text, and the listeners hear of it."""
    desk = Desk()

    def throw(event: Any, context: HandlerContext) -> Any:
        raise error

    async def throw_later(event: Any, context: HandlerContext) -> Any:
        await context.sleep(5)
        raise error

    desk.on_call(throw_later if slowly else throw, "shelf.ts")

    assert desk.error(**ALLOWED) == f"Extension shelf.ts failed: {text}"
    assert reported(desk) == [("shelf.ts", "tool_call", text)]
    assert desk.kinds == ["tool_call", "extension_error"]


def test_a_replacement_is_used_as_it_is() -> None:
    """wrapper/W-17: the very object, unvalidated, reaches the executor."""
    replacement = {"anything": ["goes"]}
    desk = Desk()
    desk.on_call(lambda event, context: {"input": replacement})

    desk.call(**ALLOWED)

    assert desk.calls[0].input is replacement


def test_a_change_in_place_reaches_approval_and_execution() -> None:
    """wrapper/W-19: nobody returned anything, and yet something else runs."""
    desk = Desk(approval=lambda args: "read" if args["action"] == "inspect" else "exec")
    desk.on_call(lambda event, context: event.input.update(action="publish"))

    assert desk.error(dict(INSPECT)) == "Tool call denied by user: seed_note"
    asked = next(event for event in desk.stage.ledger if isinstance(event, QuestionAsked))
    assert '{"action":"publish"}' in asked.title


# Time


def slow(ms: int, answer: Any = None) -> Callable[[Any, HandlerContext], Any]:
    async def handler(event: Any, context: HandlerContext) -> Any:
        await context.sleep(ms)
        return answer

    return handler


@pytest.mark.parametrize(
    ("budget", "naps", "times_out"),
    [
        (UNSET, 29_999, False),
        (UNSET, 30_000, True),
        (UNSET, 30_001, True),
        (100, 99, False),
        (100, 100, True),
        (0, 29_999, False),
        (-5, 30_000, True),
        (float("inf"), 30_000, True),
        (float("nan"), 29_999, False),
        ("100", 29_999, False),
        (True, 29_999, False),
        (None, 30_000, True),
        (100.0, 100, True),
    ],
)
def test_a_handler_has_thirty_seconds_or_what_is_configured(budget: Any, naps: int, times_out: bool) -> None:
    """wrapper/W-13, wrapper/W-14: at the limit it is too late; what is no positive number stands for the
    default.
    """
    ms = int(budget) if budget in (100, 100.0) and budget is not True else 30_000
    desk = Desk(tool_call_budget_ms=budget)
    desk.on_call(slow(naps, {"input": INSPECT}), "shelf.ts")

    if times_out:
        assert desk.error(**ALLOWED) == f"Extension shelf.ts timed out after {ms}ms"
        assert reported(desk) == [("shelf.ts", "tool_call", f"handler timed out after {ms}ms")]
        assert desk.times("call_threw") == [ms]
    else:
        desk.call(**ALLOWED).result()
        assert (executed(desk), reported(desk)) == ([INSPECT], [])
        assert desk.times("execute") == [naps]


def test_each_handler_has_a_budget_of_its_own() -> None:
    """wrapper/W-14: three handlers of 20 s each are no minute too long."""
    desk = Desk()
    for _ in range(3):
        desk.on_call(slow(20_000))

    desk.call(**ALLOWED).result()

    assert desk.times("execute") == [60_000]


@pytest.mark.parametrize("dialog", ["select", "confirm", "input", "editor"])
@pytest.mark.parametrize(("after", "times_out"), [(39, False), (40, True)])
def test_time_in_a_dialog_of_its_own_is_not_counted(dialog: str, after: int, times_out: bool) -> None:
    """wrapper/W-14: only active work counts, before and after; a person may take an hour."""
    desk = Desk(ui="open", tool_call_budget_ms=100)

    async def handler(event: Any, context: HandlerContext) -> None:
        await context.sleep(60)
        await (context.select("Which?", ["a"]) if dialog == "select" else getattr(context, dialog)("Sure?", "x"))
        await context.sleep(after)

    desk.on_call(handler, "shelf.ts")
    task = desk.call(**ALLOWED)
    desk.stage.advance(3_600_000)
    desk.stage.reply("q-1", True)
    desk.stage.carry_on(task)

    assert desk.times("execute") == ([] if times_out else [3_600_000 + 60 + after])
    assert reported(desk) == ([("shelf.ts", "tool_call", "handler timed out after 100ms")] if times_out else [])


def test_a_handler_whose_time_is_over_asks_nobody() -> None:
    """wrapper/W-13, wrapper/W-64: it goes on where it was, but its answer counts no more, and its dialogs do not
    open; the answer meant for the approval is still there.
    """
    desk, got = Desk(answers=[True, "Approve"]), list[Any]()

    async def handler(event: Any, context: HandlerContext) -> Any:
        await context.sleep(30_001)
        got.append(await context.confirm("Late", "Still there?"))
        return {"block": True}

    desk.on_call(handler)
    assert desk.error() == "Extension desk timed out after 30000ms"
    desk.stage.advance(10_000)

    assert got == [False]
    assert not any(isinstance(event, QuestionAsked) for event in desk.stage.ledger)


# Abort


@pytest.mark.parametrize("when", ["working", "asking"])
def test_an_abort_while_a_handler_is_pending_ends_the_call(when: str) -> None:
    """wrapper/W-15: its dialog closes without an answer, and its own answer is ignored."""
    desk, got = Desk(ui="open"), list[Any]()
    signal = AbortSignal(desk.stage)

    async def handler(event: Any, context: HandlerContext) -> Any:
        if when == "asking":
            got.append(await context.confirm("Sure?", "Really?"))
        else:
            desk.stage.call_at(7, signal.abort)
            await context.sleep(50)
            got.append(context.signal is not None and context.signal.aborted)
        return {"input": INSPECT}

    desk.on_call(handler)
    if when == "asking":
        task = desk.call(signal=signal, **ALLOWED)
        desk.stage.advance(7)
        assert len(desk.stage.questions) == 1
        signal.abort()
    else:
        task = desk.call(signal=signal, **ALLOWED)

    with pytest.raises(HostError, match=f"^{CANCELLED}$"):
        task.result()
    assert desk.times("call_threw") == [7]
    assert desk.stage.questions == ()
    desk.stage.advance(50)
    assert got == [when == "working"]
    assert (executed(desk), reported(desk)) == ([], [])


def test_a_signal_aborted_on_entry_calls_no_handler() -> None:
    """wrapper/W-15; not even the recorder, which is a handler too."""
    desk, called = Desk(), list[str]()
    desk.on_call(lambda event, context: called.append("x"))

    assert desk.error(signal=AbortSignal(desk.stage, aborted=True), **ALLOWED) == CANCELLED
    assert (called, desk.heard) == ([], [])


def test_an_abort_between_two_handlers_calls_no_other() -> None:
    """wrapper/W-15: the first one returned in time, and aborted the caller on the way."""
    desk, called = Desk(), list[str]()
    signal = AbortSignal(desk.stage)
    desk.on_call(lambda event, context: signal.abort())
    desk.on_call(lambda event, context: called.append("x"))

    assert desk.error(signal=signal, **ALLOWED) == CANCELLED
    assert called == []


def test_an_abort_by_the_last_handler_ends_the_call_as_well() -> None:
    """wrapper/W-15: what it answered does not count any more."""
    desk = Desk()
    signal = AbortSignal(desk.stage)

    def abort(event: Any, context: HandlerContext) -> dict[str, Any]:
        signal.abort()
        return {"input": INSPECT}

    desk.on_call(abort)

    assert desk.error(signal=signal, **ALLOWED) == CANCELLED
    assert executed(desk) == []


def test_a_listener_that_fails_blocks_as_any_handler_does() -> None:
    """wrapper/W-12: after it heard the event; later handlers do not hear it."""
    desk, heard_by = Desk(), list[str]()
    desk.on_call(PlainHandler(lambda event: heard_by.append("listener"), "the listener failed"), "shelf.ts")
    desk.on_call(lambda event, context: heard_by.append("later"))

    assert desk.error(**ALLOWED) == "Extension shelf.ts failed: the listener failed"
    assert heard_by == ["listener"]
    assert reported(desk) == [("shelf.ts", "tool_call", "the listener failed")]


def test_without_handlers_an_aborted_signal_stops_nothing() -> None:
    """wrapper/W-16: the prompt is shown and the tool runs; it gets the aborted signal (wrapper/W-47)."""
    desk = Desk(answers=["Approve"], recorded=False)
    signal = AbortSignal(desk.stage, aborted=True)

    desk.call(signal=signal).result()

    assert desk.kinds == ["ui.select", "execute"]
    assert desk.calls[0].signal is signal


# A handler's dialogs


def test_a_dialog_is_tied_to_both_signals() -> None:
    """wrapper/W-64: whichever is aborted first closes it; the other one's abort is then nobody's business."""
    desk, got = Desk(ui="open"), list[Any]()
    outer, passed = AbortSignal(desk.stage), AbortSignal(desk.stage)

    async def handler(event: Any, context: HandlerContext) -> None:
        got.append(await context.input("Name?", signal=passed))
        got.append(await context.editor("Note?", signal=passed))
        got.append(await context.select("Which?", ["a", "b"]))

    desk.on_call(handler)
    task = desk.call(signal=outer, **ALLOWED)
    passed.abort()
    assert [question.title for question in desk.stage.questions] == ["Which?"]
    assert got == [UNSET, UNSET]

    outer.abort()
    assert got == [UNSET, UNSET, UNSET]
    with pytest.raises(HostError, match=CANCELLED):
        task.result()


def test_a_handlers_dialog_that_breaks_raises_in_the_handler() -> None:
    """wrapper/W-12: what the handler does not catch blocks the call."""
    desk = Desk(answers=[Fails("the terminal is gone")])

    async def handler(event: Any, context: HandlerContext) -> None:
        await context.confirm("Sure?", "Really?")

    desk.on_call(handler)

    assert desk.error(**ALLOWED) == "Extension desk failed: the terminal is gone"


def test_without_a_ui_a_handlers_dialogs_end_at_once() -> None:
    """wrapper/W-37: nothing, and false for a confirm; the handler can tell beforehand."""
    desk, got = Desk(ui=None), list[Any]()

    async def handler(event: Any, context: HandlerContext) -> None:
        got.append(context.has_ui)
        got.append(await context.select("Which?", ["a"]))
        got.append(await context.confirm("Sure?", "Really?"))
        got.append(await context.input("Name?"))
        got.append(await context.editor("Note?"))

    desk.on_call(handler)
    desk.call(**ALLOWED).result()

    assert got == [False, UNSET, False, UNSET, UNSET]


# Markers and the preview slot


def a_runner(*extensions: Extension) -> Runner:
    stage = Stage()
    return Runner(stage, extensions, ui=ScriptedUI(stage, []))


def test_a_marker_is_for_one_call_of_one_tool_and_used_once() -> None:
    """wrapper/W-1, wrapper/W-2."""
    runner = a_runner()
    runner.mark_tool_call_emitted("call-1", "write")

    assert not runner.consume_tool_call_emitted("call-1", "seed_slot")
    assert not runner.consume_tool_call_emitted("call-2", "write")
    assert runner.consume_tool_call_emitted("call-1", "write")
    assert not runner.consume_tool_call_emitted("call-1", "write")


def test_only_the_newest_512_markers_are_kept() -> None:
    """wrapper/W-4: when they are full, the oldest goes before a new one comes."""
    runner = a_runner()
    for number in range(MARKERS_KEPT + 1):
        runner.mark_tool_call_emitted(f"call-{number}", "write")

    kept = [runner.consume_tool_call_emitted(f"call-{number}", "write") for number in range(MARKERS_KEPT + 1)]
    assert (MARKERS_KEPT, kept) == (512, [False] + [True] * 512)


def test_there_is_one_preview_slot_and_its_disposer_knows_whose_it_is() -> None:
    """wrapper/W-28: installing replaces; an outdated disposer takes nobody out; without a waiter nobody waits."""
    runner, waited = a_runner(), list[str]()

    def waiter(name: str) -> Callable[[str, AbortSignal | None], Any]:
        async def wait(call_id: str, signal: AbortSignal | None) -> None:
            waited.append(f"{name}: {call_id}")

        return wait

    take_out_first = runner.install_preview_waiter(waiter("first"))
    take_out_second = runner.install_preview_waiter(waiter("second"))
    take_out_first()
    runner.stage.play(runner.wait_for_preview("call-1", None))
    take_out_second()
    runner.stage.play(runner.wait_for_preview("call-2", None))

    assert waited == ["second: call-1"]


@pytest.mark.parametrize("abort_at", [0, 5, 10])
def test_an_abort_wins_over_the_preview(abort_at: int) -> None:
    """wrapper/W-29, wrapper/step-9: before it, during it, and in the same millisecond."""
    runner = a_runner()
    signal = AbortSignal(runner.stage, aborted=abort_at == 0)
    runner.stage.call_at(abort_at, signal.abort)

    async def shown(call_id: str, signal: AbortSignal | None) -> None:
        await runner.stage.sleep(10)

    runner.install_preview_waiter(shown)
    task = runner.stage.play(runner.wait_for_preview("call-1", signal))

    with pytest.raises(AbortError, match=r"^Aborted: The operation was aborted\.$"):
        task.result()
    assert runner.stage.now_ms == abort_at
    runner.stage.close()


def test_a_preview_that_fails_fails_the_call() -> None:
    """wrapper/W-28: the waiter's own error leaves."""
    runner = a_runner()

    async def broken(call_id: str, signal: AbortSignal | None) -> None:
        raise HostError("no screen")

    runner.install_preview_waiter(broken)
    for signal in (None, AbortSignal(runner.stage)):
        with pytest.raises(HostError, match=r"^no screen$"):
            runner.stage.play(runner.wait_for_preview("call-1", signal)).result()
