"""The stage's questions: open until the first reply, and told of when everything else is at rest."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from msgspec import UNSET
from stage_kit import Diary, a_question

from labsim.errors import HostError, StageError
from labsim.events.dialogs import LateReply, QuestionAsked
from labsim.stage.stage import Question, Stage
from labsim.terms import DialogKind

# Questions and replies


def test_a_question_is_in_the_ledger_and_among_the_open_ones() -> None:
    """Ids count up per stage; the ledger has the whole text shown."""
    stage = Stage()
    confirm = Question(id=stage.next_question_id(), kind=DialogKind.CONFIRM, title="Sure?", message="Move it")
    stage.ask(confirm)
    select = a_question(stage)
    stage.ask(select)

    assert stage.questions == (confirm, select)
    assert list(stage.ledger) == [
        QuestionAsked(at_ms=0, question_id="q-1", kind=DialogKind.CONFIRM, title="Sure?\nMove it"),
        QuestionAsked(
            at_ms=0, question_id="q-2", kind=DialogKind.SELECT, title="Sure?", options=("Approve", "Deny")
        ),
    ]


def test_replies_come_in_any_order() -> None:
    """rpc/R-44: each question is matched by its id."""
    diary = Diary()
    for name in ("first", "second"):
        diary.stage.spawn(diary.asker(name))

    assert diary.stage.reply("q-2", "Deny")
    assert diary.stage.reply("q-1", "Approve")
    assert diary.entries == [(0, "second: Deny"), (0, "first: Approve")]


def test_whoever_waits_beside_the_asker_sees_the_same_answer() -> None:
    """`answer_to`: for a question that is open; there is nothing to wait for once it is not."""
    diary = Diary()
    diary.stage.spawn(diary.asker("a"))
    waiting = diary.stage.answer_to("q-1")
    assert waiting is not None
    diary.stage.reply("q-1", "Deny")

    assert waiting.result() == "Deny"
    assert diary.stage.answer_to("q-1") is None
    assert diary.stage.answer_to("q-2") is None


def test_a_late_reply_is_noted_and_changes_nothing() -> None:
    """rpc/R-38: the second of two replies, and one to a question that was withdrawn."""
    diary = Diary()
    diary.stage.spawn(diary.asker("a"))
    diary.stage.spawn(diary.asker("b"))
    diary.stage.advance(3)
    diary.stage.withdraw("q-2")

    assert diary.stage.reply("q-1", "Approve")
    assert not diary.stage.reply("q-1", "Deny")
    assert not diary.stage.reply("q-2", "Approve")
    assert diary.entries == [(3, f"b: {UNSET}"), (3, "a: Approve")]
    assert list(diary.stage.ledger)[2:] == [LateReply(at_ms=3, question_id=q) for q in ("q-1", "q-2")]


@pytest.mark.parametrize("question_id", ["q-2", "q-0", "q-01", "1", "q-", "q-²", "q-٣", "Q-1", "", "q-1 "])
def test_an_id_that_was_never_given_is_an_error(question_id: str) -> None:
    """It names the open questions, and nothing changes."""
    diary = Diary()
    diary.stage.spawn(diary.asker("a"))
    before = list(diary.stage.ledger)

    with pytest.raises(StageError) as raised:
        diary.stage.reply(question_id, "Approve")
    assert str(raised.value) == f"No question has the id {question_id!r}. Open questions: q-1."
    assert list(diary.stage.ledger) == before
    assert diary.stage.reply("q-1", "Deny")


def test_a_dialog_that_breaks_raises_at_whoever_asked() -> None:
    """wrapper/step-13: the same error object arrives."""
    diary = Diary()
    failure = HostError("the terminal is gone")
    task = diary.stage.spawn(diary.asker("a"))

    assert diary.stage.fail("q-1", failure)
    with pytest.raises(HostError) as raised:
        task.result()
    assert raised.value is failure


def test_a_reply_may_come_from_another_thread() -> None:
    """A widget's click does; the stage has a lock, and the coroutine goes on in the thread that replied."""
    diary = Diary()
    task = diary.stage.play(diary.asker("a"))

    clicks = threading.Thread(target=diary.stage.reply, args=("q-1", "Approve"))
    clicks.start()
    clicks.join(timeout=10)

    assert task.result() == "Approve"


# The driver


def driven(driver: Callable[[Stage, Question], object], *askers: str) -> Diary:
    diary = Diary()
    diary.stage.on_question = lambda question: driver(diary.stage, question)

    async def all_of_them() -> None:
        for name in askers:
            await diary.asker(name)
            await diary.stage.sleep(1)

    task = diary.stage.spawn(all_of_them())
    diary.stage.carry_on(task)
    return diary


def test_a_driver_may_reply_at_once() -> None:
    """A scripted reply and a click take the same path: the coroutine is parked when the driver is told."""
    diary = driven(lambda stage, question: stage.reply(question.id, question.title.upper()), "a", "b")

    assert diary.entries == [(0, "a: A"), (1, "b: B")]


def test_a_driver_may_let_time_pass_before_it_replies() -> None:
    """What is due meanwhile happens at its own time, not when the driver is done."""

    def think(stage: Stage, question: Question) -> None:
        stage.advance(10)
        stage.reply(question.id, "Approve")

    diary = Diary()
    diary.stage.on_question = lambda question: think(diary.stage, question)
    diary.stage.spawn(diary.sleeper("meanwhile", 4, 4, 4))
    diary.stage.play(diary.asker("a"))

    assert diary.entries == [(4, "meanwhile"), (8, "meanwhile"), (10, "a: Approve")]
    diary.stage.close()


def test_a_thousand_questions_answered_at_once_are_no_recursion() -> None:
    """Each waits for its turn with the driver."""
    names = [str(number) for number in range(1000)]
    diary = driven(lambda stage, question: stage.reply(question.id, "x"), *names)

    assert len(diary.entries) == 1000


def test_a_question_that_is_gone_before_its_turn_is_not_announced() -> None:
    """A driver is never told of something that it cannot answer any more."""
    told: list[str] = []

    def end_both(stage: Stage, question: Question) -> None:
        told.append(question.title)
        stage.withdraw("q-2")
        stage.reply(question.id, "Approve")

    diary = Diary()
    diary.stage.on_question = lambda question: end_both(diary.stage, question)
    for name in ("a", "b"):
        diary.stage.spawn(diary.asker(name))
    diary.stage.advance(0)

    assert told == ["a"]
    assert sorted(diary.entries) == [(0, "a: Approve"), (0, f"b: {UNSET}")]


def test_a_driver_that_fails_leaves_the_question_open() -> None:
    """Its error is its caller's; whoever replies later is in time."""
    diary = Diary()

    def fail(question: Question) -> None:
        raise RuntimeError("the widget is gone")

    diary.stage.on_question = fail
    with pytest.raises(RuntimeError, match="the widget is gone"):
        diary.stage.play(diary.asker("a"))

    assert diary.stage.reply("q-1", "Deny")
    assert diary.entries == [(0, "a: Deny")]
