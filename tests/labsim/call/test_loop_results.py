"""What the agent loop tells the model: unknown tools, coerced results, whole batches (wrapper/W-74,
wrapper/W-75).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_kit import NOTE, Desk, about, call, checked, error, hook, inert, nothing, ran, refused
from msgspec import UNSET

from labsim.call.loop import ModelCall, coerce, not_found, suggestions
from labsim.call.loop_events import (
    HookEnded,
    HookOutcome,
    LoopEnding,
    LoopResulted,
    MessageRevised,
    ToolExecutionStart,
)
from labsim.describe.ledger import describe
from labsim.errors import HostError, StageError
from labsim.events.call import Execute
from labsim.js_values import copy_json
from labsim.tool import ToolCall, ToolResult, text_content

# --------------------------------------------------------------------------------------------- unknown tools


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seed_slat", "Tool seed_slat not found. Closest available: seed_slot, seed_note"),
        ("SLOT_SEED", "Tool SLOT_SEED not found"),
        ("", "Tool  not found"),
        ("x" * 100_000, f"Tool {'x' * 100_000} not found"),
    ],
)
def test_an_unknown_tool_starts_nothing_and_is_answered_with_names_it_may_have_meant(name, text):
    """wrapper/W-74, and the batch goes on."""
    desk = Desk(observe=False)

    results = desk.run(call(name), call(id="c-2"))

    assert results == [error(LoopEnding.NOT_FOUND, text, name=name), inert(id="c-2")]
    assert desk.events == [
        checked(NOTE, id="c-2"),
        hook(HookOutcome.NO_HANDLERS, id="c-2"),
        *refused(LoopEnding.NOT_FOUND, text, tool=name),
        *ran(NOTE, marked=False, id="c-2"),
    ]


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("Read", ["read", "bash"], "Tool Read not found. Did you mean read?"),
        ("reed", ["bash", "read"], "Tool reed not found. Did you mean read?"),
        (
            "reads",
            ["ready", "bread", "read", "reader", "bash"],
            "Tool reads not found. Closest available: read, ready, bread",
        ),
        ("deploy", ["read", "bash"], "Tool deploy not found"),
        ("read", [], "Tool read not found"),
    ],
)
def test_one_suggestion_is_a_question_and_more_are_a_list_of_up_to_three(name, known, text):
    """wrapper/W-74: the texts are the host's, the ranking is ours."""
    assert not_found(name, known) == text


@given(st.text(max_size=12), st.lists(st.text(max_size=12), unique=True, max_size=8))
def test_suggestions_are_known_names_at_most_three_and_never_repeated(name, known):
    """wrapper/W-74."""
    close = suggestions(name, known)

    assert len(close) <= 3
    assert len(set(close)) == len(close)
    assert set(close) <= set(known)


# --------------------------------------------------------------------------------------------------- results


@pytest.mark.parametrize(
    ("given", "content", "is_error"),
    [
        (ToolResult(content=text_content("done")), "done", False),
        (ToolResult(content=[]), "", False),
        (ToolResult(content=text_content("broken"), is_error=True), "broken", True),
        (ToolResult(content=text_content("fine"), is_error="yes"), "fine", False),
        (ToolResult(content=None), "Tool returned an invalid result: missing content array.", True),
        (ToolResult(content="text"), "Tool returned an invalid result: missing content array.", True),
        (ToolResult(content=[], is_error=True), "Tool failed with no output.", True),
        (ToolResult(content=text_content(" \n\ufeff"), is_error=True), "Tool failed with no output.", True),
    ],
)
def test_whatever_a_tool_gives_back_becomes_a_result_the_model_can_read(given, content, is_error):
    """wrapper/W-75."""
    desk = Desk(execute=lambda call: given)

    (result,) = desk.run(call())

    assert desk.of(LoopResulted) == [
        LoopResulted(**about(), ending=LoopEnding.RETURNED, content=content, is_error=is_error)
    ]
    assert result.is_error is is_error


@pytest.mark.parametrize(
    ("raised", "text"),
    [(HostError("the shelf fell"), "the shelf fell"), (HostError(""), "Tool failed with no output.")],
)
def test_what_a_tool_raises_becomes_an_error_result(raised, text):
    """wrapper/W-75: its message, or the stock sentence for an error without words."""

    def execute(call: ToolCall) -> ToolResult:
        raise raised

    assert Desk(execute=execute).run(call()) == [error(LoopEnding.RAISED, text)]


def test_a_result_keeps_its_details_through_coercion():
    """wrapper/W-75 replaces the words of a silent error, and nothing else of it."""
    silent = ToolResult(content=[], is_error=True, details={"code": 3})

    assert coerce(silent) == ToolResult(
        content=text_content("Tool failed with no output."), is_error=True, details={"code": 3}
    )


def test_a_misuse_of_the_simulator_is_nobodys_result():
    """An error of ours is not the tool's failure: it leaves the loop."""

    def execute(call: ToolCall) -> ToolResult:
        raise StageError("Time cannot go back.")

    with pytest.raises(StageError, match="Time cannot go back"):
        Desk(execute=execute).run(call())


# ------------------------------------------------------------------------------------------- whole batches

HANDLERS: list[Callable[[Any], Any]] = [
    nothing,
    lambda event: {"block": True},
    lambda event: {"input": {"seed": "rowan"}},
    lambda event: {"input": 3},
    lambda event: event.input.clear(),
]
MESSAGES = st.lists(
    st.tuples(
        st.sampled_from(["seed_note", "seed_slot", "slot", "seed_slat"]),
        st.sampled_from([NOTE, {"seed": "larch", "count": "7"}, {}, None, "larch"]),
    ),
    max_size=5,
)


@given(MESSAGES, st.lists(st.sampled_from(HANDLERS), max_size=3), st.booleans())
def test_every_call_gets_one_result_and_no_marker_outlives_the_batch_unless_its_call_never_ran(
    message: Iterable[tuple[str, Any]], handlers: list[Callable[[Any], Any]], denied: bool
):
    """wrapper/W-66 to wrapper/W-75: results in call order; nothing runs without its start; the model's own record
    is whole.
    """
    desk = Desk(*handlers, policies={"seed_note": "deny"} if denied else UNSET)
    batch = [ModelCall(id=f"c-{n}", name=name, args=copy_json(args)) for n, (name, args) in enumerate(message)]

    results = desk.run(*batch)

    assert [result.tool_call_id for result in results] == [call.id for call in batch]
    started = [event.tool_call_id for event in desk.of(ToolExecutionStart)]
    assert started == [result.tool_call_id for result in results if result.ending.started]
    assert {event.tool_call_id for event in desk.of(Execute)} == {
        result.tool_call_id for result in results if result.ending is LoopEnding.RETURNED
    }
    never_ran = {LoopEnding.BLOCKED, LoopEnding.INVALID_REPLACEMENT}
    assert {call_id for call_id, _ in desk.runner._markers} == {
        result.tool_call_id for result in results if result.ending in never_ran
    }


def test_every_event_of_the_loop_has_words():
    """A ledger line says what happened, in one line, also with a tool's line breaks in it."""
    desk = Desk(lambda event: {"block": True, "reason": "a\nb"} if event.tool_call_id == "c-1" else None)
    desk.run(call(), call(args={}, id="c-2"))
    lines = [describe(event) for event in desk.events if type(event).__module__ == "labsim.call.loop_events"]
    replaced = Desk(lambda event: {"input": {"seed": "rowan"}})
    replaced.run(call())

    assert lines == [
        'the schema takes the model\'s arguments as {"seed":"larch","count":1}',
        "the loop emits tool_call itself, and leaves a marker for the wrapper",
        "the hook is over: blocked, a\\nb",
        "the schema refuses the model's arguments: seed_slot wants a seed",
        'the turn of seed_slot comes, with {"seed":"larch","count":1}',
        "the model is given an error (blocked): a\\nb",
        "the model is given an error (invalid arguments): seed_slot wants a seed",
    ]
    assert [describe(event) for event in replaced.of(MessageRevised, HookEnded)] == [
        "the hook is over: replaced",
        'the model\'s message now says {"seed":"rowan"}',
    ]
