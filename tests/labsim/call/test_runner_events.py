"""Events beside `tool_call`: changed results, lifecycle, vetoes, the end of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_kit import Desk
from msgspec import UNSET

from labsim.call.handlers import EventName, HandlerContext, HandlerReply, PlainHandler, ToolResultInput
from labsim.errors import HostError, ThrownValue
from labsim.events.call import ExtensionError
from labsim.tool import ToolCall, ToolResult, text_content, visible_text

ALLOWED: dict[str, Any] = {"policies": {"seed_note": "allow"}}
RESULT, SHUTDOWN = EventName.TOOL_RESULT, EventName.SESSION_SHUTDOWN


def reported(desk: Desk) -> list[tuple[str, str, str]]:
    return [(e.extension_path, e.on, e.error) for e in desk.stage.ledger if isinstance(e, ExtensionError)]


def slow(ms: int, answer: Any = None) -> Callable[[Any, HandlerContext], Any]:
    async def handler(event: Any, context: HandlerContext) -> Any:
        await context.sleep(ms)
        return answer

    return handler


def fails(event: Any, context: HandlerContext) -> Any:
    raise HostError("broken")


# Results


def changed(desk: Desk, *answers: Any) -> ToolResult:
    """The result after handlers with these answers."""
    for answer in answers:
        desk.on(RESULT, lambda event, context, answer=answer: answer)
    return desk.call(**ALLOWED).result()


def a_failing_desk(error: Exception) -> Desk:
    def execute(call: ToolCall) -> ToolResult:
        raise error

    return Desk(execute=execute)


def test_each_result_handler_sees_it_as_the_one_before_left_it() -> None:
    """wrapper/W-51: a field counts if it is present; an explicit false counts."""
    desk, seen = Desk(), list[tuple[Any, Any, Any]]()

    def watch(event: ToolResultInput, context: HandlerContext) -> None:
        seen.append((event.content, event.details, event.is_error))

    for answer in (
        {"content": text_content("one")},
        {"details": [1], "isError": True},
        HandlerReply(is_error=False),
    ):
        desk.on(RESULT, watch)
        desk.on(RESULT, lambda event, context, answer=answer: answer)
    desk.on(RESULT, watch)
    result = desk.call(**ALLOWED).result()

    assert seen == [
        (text_content("inert"), UNSET, False),
        (text_content("one"), UNSET, False),
        (text_content("one"), [1], True),
        (text_content("one"), [1], False),
    ]
    assert result == ToolResult(content=text_content("one"), details=[1])


@pytest.mark.parametrize("answer", [None, {}, {"other": 1}, "text", 0, HandlerReply()])
def test_without_a_change_the_result_is_the_tools_own_object(answer: Any) -> None:
    """wrapper/W-52: unchanged, with every key it had."""
    own = ToolResult(content=text_content("own"), extra={"useless": True})
    desk = Desk(execute=lambda call: own)

    assert changed(desk, answer) is own


def test_without_a_change_the_tools_own_error_leaves() -> None:
    """wrapper/W-52: the very object."""
    error = HostError("inert failure")
    desk = a_failing_desk(error)
    desk.on(RESULT, lambda event, context: None)

    with pytest.raises(HostError) as raised:
        desk.call(**ALLOWED).result()
    assert raised.value is error


@pytest.mark.parametrize(
    ("error", "text"),
    [(HostError("no shelf"), "no shelf"), (ThrownValue([1, 2], "1,2"), "1,2"), (KeyError("card"), "'card'")],
)
def test_an_error_becomes_text_for_the_event(error: Exception, text: str) -> None:
    """wrapper/W-48, wrapper/W-49: details nothing, isError true."""
    desk = a_failing_desk(error)

    with pytest.raises(Exception, match=text):
        desk.call(**ALLOWED).result()
    assert desk.heard[-1] == {
        "event": "tool_result",
        "toolName": "seed_note",
        "toolCallId": "call-1",
        "input": {"action": "publish"},
        "content": text,
        "isError": True,
    }


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"details": {"n": 1}}, ToolResult(content=text_content("broken"), details={"n": 1}, is_error=True)),
        ({"content": text_content("mended")}, ToolResult(content=text_content("mended"), is_error=True)),
        ({"isError": False}, ToolResult(content=text_content("broken"))),
        ({"isError": None}, ToolResult(content=text_content("broken"))),
    ],
)
def test_any_change_turns_a_failure_into_a_returned_result(answer: Any, result: ToolResult) -> None:
    """wrapper/W-53, wrapper/W-54: it stays an error unless a handler says otherwise."""
    assert changed(a_failing_desk(HostError("broken")), answer) == result


@pytest.mark.parametrize(
    ("own", "answer", "result"),
    [
        (
            ToolResult(content=text_content("x"), is_error=True, extra={"useless": True}),
            {"content": text_content("y")},
            ToolResult(content=text_content("y"), is_error=True),
        ),
        (
            ToolResult(content=text_content("x"), details=[1], provider_metadata={"type": "computer"}),
            {"isError": True},
            ToolResult(
                content=text_content("x"), details=[1], is_error=True, provider_metadata={"type": "computer"}
            ),
        ),
        (
            ToolResult(content=text_content("x"), details=[1]),
            {"content": None, "details": None},
            ToolResult(content=text_content("x"), details=[1]),
        ),
        (
            ToolResult(content=text_content("x"), is_error="yes"),
            {"details": 1},
            ToolResult(content=text_content("x"), details=1),
        ),
    ],
    ids=[
        "wrapper/W-54, wrapper/W-55",
        "wrapper/W-53",
        "null falls back (wrapper-2202)",
        "wrapper/W-49: exactly true",
    ],
)
def test_a_changed_result_has_these_parts_and_no_other(own: ToolResult, answer: Any, result: ToolResult) -> None:
    """wrapper/W-53 to wrapper/W-55: content, details and provider metadata; other keys of the tool's are lost."""
    assert changed(Desk(execute=lambda call: own), answer) == result


def test_a_result_handler_that_fails_or_dawdles_is_skipped() -> None:
    """wrapper/W-56: 30 s, whatever `tool_call` handlers are given; reported, and the result is unaffected."""
    desk = Desk(tool_call_budget_ms=100)
    desk.on(RESULT, fails, "broken.ts")
    desk.on(RESULT, slow(30_000, {"isError": True}), "slow.ts")
    desk.on(RESULT, slow(29_999, {"details": "in time"}), "quick.ts")

    result = desk.call(**ALLOWED).result()

    assert result == ToolResult(content=text_content("inert"), details="in time")
    assert reported(desk) == [
        ("broken.ts", "tool_result", "broken"),
        ("slow.ts", "tool_result", "handler timed out after 30000ms"),
    ]
    assert desk.times("call_returned") == [59_999]


def test_a_result_hook_cannot_undo_an_effect() -> None:
    """wrapper/W-58: the executor was entered; calling it a failure changes nothing about that."""
    desk = Desk()
    desk.on(RESULT, lambda event, context: {"isError": True, "content": text_content("it did not happen")})

    assert desk.call(**ALLOWED).result().is_error is True
    assert len(desk.calls) == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (text_content("one block"), "one block"),
        ([*text_content("two"), *text_content("blocks")], "two\nblocks"),
        ([{"type": "text", "text": "as a case writes it"}], "as a case writes it"),
        ([{"type": "image"}, {"type": "text", "text": 5}, "no block", *text_content("last")], "last"),
        ([], ""),
        (None, ""),
        ({"type": "text", "text": "no list"}, ""),
    ],
)
def test_the_visible_text_of_a_result_is_that_of_its_text_blocks(content: Any, text: str) -> None:
    """Blocks are joined by line breaks; whatever is no text block shows nothing."""
    assert visible_text(content) == text


# Lifecycle


@pytest.mark.parametrize("name", [EventName.APPROVAL_REQUESTED, EventName.APPROVAL_RESOLVED])
@pytest.mark.parametrize(
    ("handler", "takes", "error"),
    [(fails, 0, "broken"), (slow(29_999), 29_999, None), (slow(50_000), 30_000, "handler timed out after 30000ms")],
)
def test_a_lifecycle_handler_changes_no_decision(
    name: EventName, handler: Any, takes: int, error: str | None
) -> None:
    """wrapper/W-34, wrapper/W-60: it is waited for, up to 30 s, and reported."""
    desk = Desk(answers=["Approve"])
    desk.on(name, lambda event, context: {"block": True, "approved": False, "cancel": True})
    desk.on(name, handler, "slow.ts")

    desk.call().result()

    assert [kind for kind in desk.kinds if kind != "extension_error"] == [
        "tool_call",
        "tool_approval_requested",
        "ui.select",
        "tool_approval_resolved",
        "execute",
        "tool_result",
    ]
    assert desk.times("execute") == [takes]
    assert reported(desk) == ([] if error is None else [("slow.ts", name.value, error)])


# Vetoes

BEFORE = [name for name in EventName if name.startswith("session_before_")]


def emitted(desk: Desk, name: EventName) -> Any:
    return desk.stage.play(desk.runner.emit(name, {"type": name.value})).result()


def test_four_events_can_be_vetoed() -> None:
    """wrapper/W-61."""
    assert [name.value for name in BEFORE] == [
        "session_before_switch",
        "session_before_branch",
        "session_before_tree",
        "session_before_compact",
    ]


@pytest.mark.parametrize("name", BEFORE)
def test_a_veto_ends_the_round_at_once(name: EventName) -> None:
    """wrapper/W-61: whoever comes later is not asked."""
    desk, asked = Desk(), list[str]()
    desk.on(name, slow(5, {"keep": 1}))
    desk.on(name, lambda event, context: {"cancel": True, "why": "unsaved"})
    desk.on(name, lambda event, context: asked.append("later"))

    assert emitted(desk, name) == {"cancel": True, "why": "unsaved"}
    assert asked == []


@pytest.mark.parametrize("name", BEFORE)
def test_otherwise_the_last_answer_that_is_one_is_kept(name: EventName) -> None:
    """wrapper/W-60, wrapper/W-61: a failing handler answers nothing."""
    desk = Desk()
    for handler in (
        lambda event, context: {"keep": 1},
        lambda event, context: HandlerReply(cancel=False, reason="last"),
        lambda event, context: None,
        fails,
        slow(30_000, {"cancel": True}),
        PlainHandler(lambda event: None),
    ):
        desk.on(name, handler)

    assert emitted(desk, name) == HandlerReply(cancel=False, reason="last")
    assert [error for _, _, error in reported(desk)] == ["broken", "handler timed out after 30000ms"]


def test_a_struct_can_veto_as_well_as_a_mapping() -> None:
    """wrapper/W-61."""
    desk = Desk()
    desk.on(BEFORE[0], lambda event, context: HandlerReply(cancel=True))
    desk.on(BEFORE[0], fails)

    assert emitted(desk, BEFORE[0]) == HandlerReply(cancel=True)


def test_other_events_keep_no_answer() -> None:
    """wrapper/W-60: and every handler hears them, in order, with one event."""
    desk, seen = Desk(recorded=False), list[Any]()

    def cancel(event: Any, context: HandlerContext) -> dict[str, Any]:
        seen.append(event)
        return {"cancel": True}

    for _ in range(2):
        desk.on(EventName.APPROVAL_REQUESTED, cancel)

    assert emitted(desk, EventName.APPROVAL_REQUESTED) is None
    assert len(seen) == 2
    assert seen[0] is seen[1]


# The end of a session


def test_shutdown_handlers_run_side_by_side_for_two_seconds() -> None:
    """wrapper/W-62: three slow ones take no longer than the slowest allowed; their answers are ignored."""
    desk, done = Desk(), list[str]()

    def ending(name: str, ms: int) -> Any:
        async def handler(event: Any, context: HandlerContext) -> Any:
            await context.sleep(ms)
            done.append(f"{name} at {desk.stage.now_ms}")
            return {"cancel": True}

        return handler

    for name, ms in [("a", 1999), ("b", 1500), ("c", 2000), ("d", 9000)]:
        desk.on(SHUTDOWN, ending(name, ms), f"{name}.ts")
    desk.on(SHUTDOWN, fails, "broken.ts")
    desk.stage.play(desk.runner.shutdown()).result()

    assert desk.stage.now_ms == 2000
    assert done == ["b at 1500", "a at 1999", "c at 2000"]
    assert reported(desk) == [
        ("broken.ts", "session_shutdown", "broken"),
        ("c.ts", "session_shutdown", "handler timed out after 2000ms"),
        ("d.ts", "session_shutdown", "handler timed out after 2000ms"),
    ]


def test_a_listener_hears_the_end_of_a_session_too() -> None:
    """wrapper/W-62: one that only listens is a handler like any other; one that fails is reported."""
    desk, heard = Desk(), list[Any]()
    desk.on(SHUTDOWN, PlainHandler(heard.append))
    desk.on(SHUTDOWN, PlainHandler(heard.append, "the listener failed"), "broken.ts")
    desk.stage.play(desk.runner.shutdown()).result()

    assert heard == [None, None]
    assert reported(desk) == [("broken.ts", "session_shutdown", "the listener failed")]


def test_after_shutdown_no_call_waits_for_a_preview() -> None:
    """wrapper/W-63: what the runner held for its session is let go."""
    desk = Desk()

    async def never(call_id: str, signal: Any) -> None:
        raise AssertionError("nobody waits any more")

    desk.runner.install_preview_waiter(never)
    desk.stage.play(desk.runner.shutdown()).result()

    desk.stage.play(desk.runner.wait_for_preview("call-1", None)).result()
