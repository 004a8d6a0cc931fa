"""The stage: what runs when, what waits for whom, and that nothing but replies and time moves it."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from stage_kit import Diary

from labsim.errors import HostError, StageError
from labsim.events.dialogs import LateReply
from labsim.stage.stage import AbortSignal, Future, Stage, first_of

# Running and time


def test_a_coroutine_runs_to_its_first_wait_before_spawn_returns() -> None:
    """The engine's own order: nothing is put off that need not wait."""
    diary = Diary()

    task = diary.stage.spawn(diary.sleeper("a", 5))
    diary.note("spawned")

    assert not task.done
    assert diary.entries == [(0, "spawned")]


def test_time_moves_by_itself_while_no_question_is_open() -> None:
    """Budgets and timeouts cost nothing: an hour passes at once."""
    diary = Diary()

    task = diary.stage.play(diary.sleeper("a", 3_600_000, 1))

    assert task.result() == "a"
    assert diary.entries == [(3_600_000, "a"), (3_600_001, "a")]


def test_time_stands_still_while_a_question_is_open() -> None:
    """Nobody is hurried: only `advance` or a reply moves a case that waits for a person."""
    diary = Diary()
    diary.stage.spawn(diary.sleeper("late", 10))

    task = diary.stage.play(diary.asker("ask"))
    assert (diary.stage.now_ms, task.done, [q.title for q in diary.stage.questions]) == (0, False, ["ask"])

    diary.stage.advance(4)
    diary.stage.reply("q-1", "Approve")
    assert diary.entries == [(4, "ask: Approve")]
    assert task.result() == "Approve"


def test_timers_fire_by_due_time_and_then_by_age() -> None:
    """There is no other source of order, hence no randomness."""
    diary = Diary()
    for due, name in [(5, "third"), (3, "first"), (5, "fourth"), (3, "second"), (9, "late")]:
        diary.stage.call_at(due, partial(diary.note, name))

    diary.stage.advance(5)

    assert diary.entries == [(3, "first"), (3, "second"), (5, "third"), (5, "fourth")]
    assert diary.stage.now_ms == 5


def test_what_is_due_on_the_way_happens_at_its_own_time() -> None:
    """`advance` is no jump: one nap after the other ends where it would have ended."""
    diary = Diary()
    diary.stage.spawn(diary.sleeper("a", 10, 10, 10))
    diary.stage.spawn(diary.sleeper("b", 15, 5))

    diary.stage.advance(25)

    assert diary.entries == [(10, "a"), (15, "b"), (20, "a"), (20, "b")]


def test_a_timer_taken_back_does_not_let_time_overshoot() -> None:
    """The next live timer lies beyond the end, so it has to wait; and the clock never turns back."""
    diary = Diary()
    diary.stage.call_at(10, lambda: diary.note("taken back")).cancel()
    diary.stage.call_at(100, lambda: diary.note("live"))

    diary.stage.advance(20)
    assert (diary.entries, diary.stage.now_ms) == ([], 20)

    diary.stage.advance(80)
    assert (diary.entries, diary.stage.now_ms) == ([(100, "live")], 100)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=8),
    st.lists(st.integers(0, 9), max_size=6),
)
def test_every_live_timer_fires_once_at_its_time(timers: list[tuple[int, bool]], jumps: list[int]) -> None:
    """Whatever was taken back, and however the time is cut up."""
    diary = Diary()
    for due, live in timers:
        timer = diary.stage.call_at(due, partial(diary.note, str(due)))
        if not live:
            timer.cancel()
    seen = [0]
    for jump in jumps:
        diary.stage.advance(jump)
        seen.append(diary.stage.now_ms)

    assert seen == [sum(jumps[:n]) for n in range(len(jumps) + 1)]
    if jumps:
        assert diary.entries == [(due, str(due)) for due, live in sorted(timers) if live and due <= sum(jumps)]


def test_time_cannot_go_back() -> None:
    """The message says what was asked for, and nothing moved."""
    stage = Stage()
    stage.advance(7)

    with pytest.raises(StageError, match=r"^Time cannot go back: advance\(-1\)\. Use a positive number of milli"):
        stage.advance(-1)
    assert stage.now_ms == 7


def test_time_does_not_go_back_to_where_an_outer_advance_would_have_ended() -> None:
    """Whoever is told of a question may move the clock; every later event is at that time or after it."""
    diary = Diary()
    diary.stage.on_question = lambda question: diary.stage.advance(100)

    async def asks_soon() -> None:
        await diary.stage.sleep(5)
        await diary.asker("ask")

    diary.stage.spawn(asks_soon())
    diary.stage.advance(10)
    diary.stage.reply("q-1", "Approve")

    assert diary.entries == [(105, "ask: Approve")]
    assert diary.stage.now_ms == 105


def test_what_was_due_in_the_past_happens_now() -> None:
    """A timer that is set late does not take the clock with it."""
    diary = Diary()
    diary.stage.advance(7)
    diary.stage.call_at(3, lambda: diary.note("late"))
    diary.stage.advance(1)

    assert diary.entries == [(7, "late")]
    assert diary.stage.now_ms == 8


def test_a_case_that_can_never_go_on_says_so() -> None:
    """No question is open and no timer is pending: waiting longer would not help."""
    stage = Stage()

    async def stuck() -> None:
        await Future[None](stage)

    with pytest.raises(StageError, match=r"^The case cannot go on: it waits, but no question is open and no timer"):
        stage.play(stuck())
    stage.close()


def test_what_a_coroutine_raises_is_its_result() -> None:
    """Whoever waits for it gets the very error, and so does whoever asks."""
    stage = Stage()
    failure = HostError("no")
    heard: list[BaseException] = []

    async def fails() -> None:
        await stage.sleep(1)
        raise failure

    async def waits_for(task: Awaitable[None]) -> None:
        try:
            await task
        except HostError as error:
            heard.append(error)

    task = stage.spawn(fails())
    stage.play(waits_for(task))

    assert heard == [failure]
    with pytest.raises(HostError) as raised:
        task.result()
    assert raised.value is failure


def test_a_future_is_settled_once() -> None:
    """Every later attempt is ignored; before the first there is no result."""
    stage = Stage()
    future: Future[str] = Future(stage)

    with pytest.raises(StageError, match="not settled yet"):
        future.result()
    future.set_result("first")
    future.set_result("second")
    future.set_error(HostError("third"))

    assert future.result() == "first"


@pytest.mark.parametrize(("settle", "winner"), [((1, 0), 1), ((0, 1), 0), ((2,), 2)])
def test_the_first_to_settle_wins(settle: tuple[int, ...], winner: int) -> None:
    """`first_of` gives the index of whichever came first."""
    stage = Stage()
    futures: list[Future[None]] = [Future(stage) for _ in range(3)]
    first = first_of(stage, futures)
    for index in settle:
        futures[index].set_result(None)
    stage.drain()

    assert first.result() == winner


def test_among_those_settled_already_the_order_given_decides() -> None:
    """So a race has one outcome, not two."""
    stage = Stage()
    futures: list[Future[None]] = [Future(stage) for _ in range(3)]
    for index in (2, 1):
        futures[index].set_result(None)

    assert first_of(stage, futures).result() == 1


def test_waiting_for_something_foreign_is_an_error_that_names_the_remedy() -> None:
    """A handler that sleeps for real would wait for ever: no event loop runs here."""
    stage = Stage()

    async def foreign() -> None:
        await asyncio.sleep(0)

    with pytest.raises(StageError, match=r"not of the stage\. Use the context's sleep and dialogs"):
        stage.play(foreign()).result()


def test_a_script_goes_on_once_all_else_has_had_its_turn() -> None:
    """`rest`: what the last step set off has taken effect, and new questions are told of only afterwards."""
    diary = Diary()
    diary.stage.on_question = lambda question: diary.note(f"told of {question.id}")

    async def script() -> None:
        diary.stage.spawn(diary.asker("a"))
        await diary.stage.rest()
        diary.note("at rest")
        diary.stage.reply("q-1", "Approve")
        await diary.stage.rest()
        diary.note("at rest again")

    diary.stage.play(script())

    assert diary.entries == [(0, "at rest"), (0, "a: Approve"), (0, "at rest again")]


def test_what_is_due_next_is_the_next_that_is_still_wanted() -> None:
    """`next_due_ms`: a shell that lets real time pass must not wait for a timer that was taken back."""
    stage = Stage()
    assert stage.next_due_ms is None
    taken_back = stage.call_at(10, lambda: None)
    stage.call_at(30, lambda: None)
    assert stage.next_due_ms == 10

    taken_back.cancel()
    assert stage.next_due_ms == 30
    stage.advance(30)
    assert stage.next_due_ms is None


def test_any_number_of_timers_may_be_taken_back() -> None:
    """Those are let go of now and then, and the order of the others does not change."""
    diary = Diary()
    for number in range(500):
        timer = diary.stage.call_at(1000 - number, partial(diary.note, str(number)))
        if number % 100 != 0:
            timer.cancel()
    diary.stage.advance(1000)

    assert diary.entries == [(600, "400"), (700, "300"), (800, "200"), (900, "100"), (1000, "0")]


def test_any_number_of_coroutines_may_come_and_go() -> None:
    """What is done is let go of; what still waits is closed with the stage, however old it is."""
    diary = Diary()
    closed: list[int] = []

    async def stay(number: int) -> None:
        try:
            await diary.stage.sleep(10_000)
        finally:
            closed.append(number)

    for number in range(300):
        diary.stage.spawn(diary.sleeper("short", 1))
        if number % 100 == 0:
            diary.stage.spawn(stay(number))
        diary.stage.advance(1)
    diary.stage.close()

    assert len(diary.entries) == 300
    assert closed == [0, 100, 200]


def test_context_variables_of_one_coroutine_stay_out_of_another() -> None:
    """fallback/F-40: two calls that take turns do not see each other's scope."""
    stage = Stage()
    scope: ContextVar[str] = ContextVar("scope", default="none")
    seen: list[tuple[str, str]] = []

    async def scoped(name: str) -> None:
        token = scope.set(name)
        for _ in range(2):
            await stage.sleep(1)
            seen.append((name, scope.get()))
        scope.reset(token)

    for name in ("a", "b"):
        stage.spawn(scoped(name))
    stage.advance(5)

    assert seen == [("a", "a"), ("b", "b")] * 2
    assert scope.get() == "none"


# Abort signals


def test_a_signal_is_aborted_once_and_tells_everybody_in_order() -> None:
    """Whoever listens afterwards, or stopped listening, hears nothing."""
    stage = Stage()
    signal = AbortSignal(stage)
    heard: list[str] = []
    signal.listen(lambda: heard.append("first"))
    forget = signal.listen(lambda: heard.append("forgotten"))
    signal.listen(lambda: heard.append("last"))
    forget()
    forget()

    signal.abort()
    signal.abort()
    signal.listen(lambda: heard.append("too late"))

    assert (signal.aborted, heard) == (True, ["first", "last"])


def test_a_signal_follows_others_and_not_the_other_way_round() -> None:
    """wrapper/W-64: a dialog is tied to its handler's signal and to the one that the handler passes."""
    stage = Stage()
    outer, passed, aborted = AbortSignal(stage), AbortSignal(stage), AbortSignal(stage, aborted=True)
    tied, left, late = AbortSignal(stage), AbortSignal(stage), AbortSignal(stage)
    tied.follow(outer)
    tied.follow(passed)
    left.follow(passed)()
    late.follow(aborted)
    passed.abort()

    assert [each.aborted for each in (outer, passed, tied, left, late)] == [False, True, True, False, True]


# The end


@pytest.mark.slow
def test_closing_runs_the_finally_blocks_of_whatever_waits() -> None:
    """Nothing is left behind: no timer, no question, no coroutine that was never awaited."""
    diary = Diary()

    async def careful(wait: Awaitable[Any]) -> None:
        try:
            await wait
            diary.note("went on")
        finally:
            diary.note("closed")

    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        diary.stage.spawn(careful(diary.stage.sleep(5)))
        diary.stage.spawn(careful(diary.asker("a")))
        diary.stage.close()
        diary.stage.advance(10)
        gc.collect()

    assert diary.entries == [(0, "closed"), (0, "closed")]
    assert diary.stage.questions == ()
    assert noticed == []


# Every order in which little can happen

DEEDS: dict[str, Callable[[Stage], object]] = {
    "reply to the first": lambda stage: stage.reply("q-1", "Approve"),
    "reply to the second": lambda stage: stage.reply("q-2", "Deny"),
    "reply twice": lambda stage: stage.reply("q-1", "too late or too early"),
    "let 3 ms pass": lambda stage: stage.advance(3),
    "withdraw the second": lambda stage: stage.withdraw("q-2"),
}


def schedule(order: tuple[str, ...], naps: tuple[int, ...]) -> tuple[list[tuple[int, str]], list[Any]]:
    diary = Diary()
    diary.stage.spawn(diary.asker("first"))
    diary.stage.spawn(diary.asker("second"))
    for name, nap in zip(("c", "d"), naps, strict=True):
        diary.stage.spawn(diary.sleeper(name, nap, nap))
    for deed in order:
        DEEDS[deed](diary.stage)
    diary.stage.advance(10)
    return diary.entries, list(diary.stage.ledger)


def test_every_small_schedule_gives_one_story() -> None:
    """All 120 orders of five deeds, with all naps of 0 to 2 ms: each question ends once, time only grows, and the
    same order gives the same story.
    """
    for order, naps in product(permutations(DEEDS), product(range(3), repeat=2)):
        entries, ledger = schedule(order, naps)
        texts = [text for _, text in entries]

        assert [at for at, _ in entries] == sorted(at for at, _ in entries)
        assert sum(text.startswith("first: ") for text in texts) == 1
        assert sum(text.startswith("second: ") for text in texts) == 1
        assert (texts.count("c"), texts.count("d")) == (2, 2)
        late = [event.question_id for event in ledger if isinstance(event, LateReply)]
        assert sorted(late) == ["q-1"] + ["q-2"] * (f"second: {UNSET}" in texts)
        assert schedule(order, naps) == (entries, ledger)
