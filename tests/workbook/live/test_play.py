"""A case played live: whoever answers, the same ledger; nothing waits, and no click can do harm."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from desk_kit import HOSTILE, case
from msgspec.structs import replace

from labsim.case.model import Case
from labsim.errors import HostError
from labsim.events.dialogs import LateReply
from labsim.library import fixtures_dir
from labsim.play.performance import Performance, run, start
from labsim.stage.stage import AbortSignal
from labsim.stage.ui import QuestionUI
from labsim.terms import DialogKind
from workbook.chapter.chapter import chapter_ids
from workbook.desk.open import open_chapter
from workbook.learner.who import Learner
from workbook.live.cells import Cell, Cells
from workbook.live.play import ROWS_SHOWN, LivePlay, NothingOpen


def press(live: LivePlay, dialog: str, option: int) -> None:
    live.receive({"type": "reply", "dialog": dialog, "option": option})


def kinds(live: LivePlay) -> list[str]:
    return [event.kind_name() for event in live.report().ledger]


# ------------------------------------------------------------------------------------------- one path for everybody

SHIPPED = [
    pytest.param(one, id=f"{chapter_id}/{one.id}")
    for chapter_id in chapter_ids(fixtures_dir())
    for one in open_chapter(chapter_id).case_records
]


@pytest.mark.slow
@pytest.mark.parametrize("shipped", SHIPPED)
def test_the_scripted_learner_leaves_the_ledger_of_a_plain_run(shipped: Case):
    """Answers that come in through the dialogs, one by one, are the same case."""
    live, plain = LivePlay(shipped, Learner.SCRIPTED).report(), run(shipped)

    assert list(live.ledger) == list(plain.ledger)
    assert (live.finished, live.observed) == (plain.finished, plain.observed)


def test_clicks_leave_the_ledger_of_a_plain_run_too():
    """Approve and then Deny, by buttons."""
    live = LivePlay(case("twice"))
    press(live, "q-1", 0)
    press(live, "q-2", 1)

    assert list(live.report().ledger) == list(run(case("twice")).ledger)
    assert live.status == "Finished: throw; Tool call denied by user: seed_note; prompts 2; effects 1."


def test_a_live_play_waits_without_waiting():
    """It is made, and is at its first question; nothing blocks, and the report says how far it is."""
    live = LivePlay(case("twice"))

    assert live.status == "Waiting for an answer: q-1."
    assert not live.finished
    assert [question.id for question in live.report().questions] == ["q-1"]
    assert kinds(live)[-1] == "question_asked"


def test_a_case_without_dialogs_just_plays():
    """Nobody there: the call is refused, and there is nothing to click."""
    live = LivePlay(case("nobody"))

    assert live.finished
    assert live.state()["dialogs"] == []
    assert live.status.startswith("Finished: throw; ")


def test_a_case_that_calls_nothing_has_an_empty_ledger():
    """A case that is one decision can be shown live like any other."""
    live = LivePlay(case("sorted"))

    assert live.finished
    assert live.state()["ledger"]["rows"] == ()
    assert "Ledger of sorted" in str(live.page())


# ---------------------------------------------------------------------------------------------- clicks of all kinds


def test_a_second_click_is_late_and_changes_nothing():
    """It is noted in the ledger, as the engine notes every late reply."""
    live = LivePlay(case("once"))
    press(live, "q-1", 0)
    before = dict(live.report().observed)
    press(live, "q-1", 1)

    assert live.report().observed == before
    assert isinstance(live.report().ledger[-1], LateReply)
    assert live.state()["dialogs"][0]["ended"] == "answered: Approve"


def test_dismissing_is_an_answer_of_nothing():
    """As a case that scripts null: not approved."""
    live = LivePlay(case("once"))
    live.receive({"type": "dismiss", "dialog": "q-1"})

    assert live.report().observed["error"] == "Tool call denied by user: seed_note"
    assert live.state()["dialogs"][0]["ended"] == "dismissed, without an answer"


def test_a_confirm_is_answered_with_yes_or_no():
    """A handler's own question has two buttons; a no is what its handler makes of it."""
    yes, no = LivePlay(case("asks-first")), LivePlay(case("asks-first"))
    assert yes.state()["dialogs"][0]["options"] == ["Yes", "No"]
    press(yes, "q-1", 0)
    press(no, "q-1", 1)

    assert [question.id for question in yes.report().questions] == ["q-2"]
    assert no.finished
    assert "the answer was no" in no.report().observed["error"]


def test_a_dialog_over_rpc_is_answered_as_a_frame():
    """The same buttons; the answer reaches the broker as a client's frame, and only so."""
    live = LivePlay(case("by-pipe"))
    assert live.state()["dialogs"][0]["label"] == "Dialog q-1 (select, sent to an RPC client)"
    press(live, "q-1", 0)

    assert [kind for kind in kinds(live) if kind.startswith("frame")] == ["frame_sent", "frame_received"]
    assert live.report().observed["rpcRequests"] == 1
    assert list(live.report().ledger) == list(run(case("by-pipe")).ledger)


def test_the_label_that_comes_back_is_the_one_that_was_shown():
    """The front end sends a place, so that no text has to survive the way there and back."""
    live = LivePlay(case("once"))
    press(live, "q-1", 1)

    assert live.state()["dialogs"][0]["ended"] == "answered: Deny"


@pytest.mark.parametrize(
    "message",
    [
        *(None, "reply", {}, {"type": "reply"}, {"type": "replay", "dialog": "q-1"}),
        {"type": "reply", "dialog": "q-1", "option": "0"},
        {"type": "reply", "dialog": "q-1", "option": 0, "more": 1},
    ],
)
def test_a_message_that_makes_no_sense_changes_nothing(message: object):
    """It is said in the status; the dialog stays open."""
    live = LivePlay(case("once"))
    live.receive(message)

    assert live.status == "The button sent something that cannot be understood. Nothing was changed."
    assert live.state()["dialogs"][0]["open"]


@pytest.mark.parametrize(
    "message", [{"dialog": "q-9", "option": 0}, {"dialog": "q-1", "option": 7}, {"dialog": "q-1"}]
)
def test_a_reply_to_nothing_that_was_shown_is_ignored(message: dict[str, Any]):
    """A dialog or a button that does not exist was never pressed."""
    live = LivePlay(case("once"))
    live.receive({"type": "reply", **message})

    assert live.status == "Waiting for an answer: q-1."
    assert kinds(live)[-1] == "question_asked"


def test_clicks_on_other_threads_count_once():
    """Some kernels handle clicks beside the main thread; of many at the same time exactly one is the answer."""
    live = LivePlay(case("once"))
    together = threading.Barrier(8)

    def click(option: int) -> None:
        together.wait()
        press(live, "q-1", option)

    threads = [threading.Thread(target=click, args=(number % 2,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert live.finished
    assert kinds(live).count("ui.select") == 1
    assert kinds(live).count("late_reply") == 7


def test_nothing_is_printed_by_a_click(capsys: pytest.CaptureFixture[str]):
    """Printed in a callback, a text would belong to no cell."""
    live = LivePlay(case("twice"))
    assert live.widget.status == "Waiting for an answer: q-1."
    press(live, "q-1", 0)
    live.receive("nonsense")

    assert capsys.readouterr() == ("", "")


def test_without_buttons_a_cell_can_answer():
    """The oldest open dialog, by label or not at all; with none open that is said."""
    live = LivePlay(case("twice")).reply("Approve").dismiss()

    assert live.finished
    with pytest.raises(NothingOpen, match="twice: no dialog is open"):
        live.reply("Approve")


# ------------------------------------------------------------------------------------------------ the driver itself


def test_a_driver_may_answer_as_soon_as_it_is_asked():
    """From inside its own call, for every question of a case, whether the first or a later one."""
    played = start(case("twice"), lambda performance, question: performance.reply(question.id, "Approve"))

    assert played.report().finished
    assert played.report().observed["effects"] == 2


def test_a_driver_may_have_the_dialog_break():
    """As a dialog whose window could not be drawn: the call throws that error."""
    live = start(case("once"), lambda performance, question: None)
    live.fail("q-1", HostError("no window"))

    assert live.report().observed["error"] == "no window"


# -------------------------------------------------------------------------------- dialogs that no tool gate opens


class Asking(Performance):
    """A host that asks what it likes: the dialogs of later desks, without waiting for those."""

    def __init__(
        self, questions: Callable[[QuestionUI, AbortSignal], Coroutine[Any, None, Any]], *rest: Any
    ) -> None:
        self._questions = questions
        super().__init__(*rest)
        self.got: Any = None
        self.signal = AbortSignal(self.stage)

        async def ask() -> None:
            self.got = await self._questions(QuestionUI(self.stage), self.signal)

        self.stage.play(ask())


def asking(questions: Callable[[QuestionUI, AbortSignal], Coroutine[Any, None, Any]]) -> tuple[LivePlay, Asking]:
    made: list[Asking] = []

    def begin(played: Case, driver: Any) -> Asking:
        made.append(Asking(questions, played, driver))
        return made[0]

    return LivePlay(case("nobody"), begin=begin), made[0]


def test_an_input_and_an_editor_take_a_text():
    """The same question model: a field instead of options, with its placeholder or its prefill."""

    async def both(ui: QuestionUI, signal: AbortSignal) -> list[Any]:
        return [await ui.input("Name?", "a seed"), await ui.editor("Note", "Dear all,")]

    live, host = asking(both)
    (name,) = live.state()["dialogs"]
    assert (name["kind"], name["options"], name["placeholder"]) == (DialogKind.INPUT, [], "a seed")
    live.receive({"type": "reply", "dialog": "q-1", "text": "Spinach"})
    note = live.state()["dialogs"][1]
    assert (note["kind"], note["prefill"]) == (DialogKind.EDITOR, "Dear all,")
    live.receive({"type": "reply", "dialog": "q-2", "text": ""})

    assert host.got == ["Spinach", ""]
    assert [dialog["ended"] for dialog in live.state()["dialogs"]] == ["answered: Spinach", "answered: "]


def test_a_dialog_that_the_host_closes_says_who_closed_it():
    """On abort the question is withdrawn: its buttons are over, and nobody answered."""

    async def one(ui: QuestionUI, signal: AbortSignal) -> Any:
        return await ui.select("Go on?", ["Go", "Stop"], signal=signal)

    live, host = asking(one)
    host.signal.abort()

    (dialog,) = live.state()["dialogs"]
    assert (dialog["open"], dialog["ended"]) == (False, "closed by the host")


# ---------------------------------------------------------------------------------------------------- what is shown


def test_the_static_form_has_the_dialog_its_options_and_the_ledger():
    """What a place without controls shows, before any script runs."""
    shown = str(LivePlay(case("once")).page())

    assert shown.startswith(
        "Live play of once\n"
        "=================\n"
        "\n"
        "* Dialog q-1 (select) [waiting for an answer]\n"
        "      Allow tool: seed_note\n"
        '      Input: {"action":"publish"}\n'
        "\n"
        "  - [Approve]\n"
        "  - [Deny]\n"
        "  - [Dismiss]\n"
        "\n"
        "Waiting for an answer: q-1.\n"
        "\n"
        "Ledger of once so far\n"
    )
    assert "question_asked" in shown


def test_a_live_play_brings_its_control_and_the_static_form_with_it():
    """A front end that knows controls draws them; every other has text and HTML."""
    live = LivePlay(case("once"))
    bundle = live._repr_mimebundle_()

    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/plain", "text/html"}
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == live.widget.model_id
    assert bundle["text/plain"] == str(live.page())


def test_the_control_follows_the_play():
    """Each click tells the control everything that changed."""
    live = LivePlay(case("twice"))
    control = live.widget
    press(live, "q-1", 0)

    assert {name: getattr(control, name) for name in live.state()} == live.state()
    assert [dialog["open"] for dialog in control.dialogs] == [False, True]
    assert [row[2] for row in control.ledger["rows"]] == kinds(live)


def test_only_the_newest_rows_are_sent_and_that_is_said():
    """A thousand calls stay clickable; the report has them all."""
    twice = case("twice")
    live = LivePlay(replace(twice, given=replace(twice.given, repeat=40)))
    while not live.finished:
        live.reply("Approve")

    ledger = live.state()["ledger"]
    assert len(ledger["rows"]) == ROWS_SHOWN
    assert "; rows before 281 are left out here" in ledger["caption"]
    assert len(live.report().ledger) == 480


def test_hostile_text_reaches_nobody_as_anything_but_text():
    """A tool's input in a prompt: spelled out for controls, escaped in HTML."""
    live = LivePlay(case("hostile"))
    bundle = live._repr_mimebundle_()

    assert "<img" not in bundle["text/html"]
    for shown in (bundle["text/plain"], bundle["text/html"], str(live.state())):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert HOSTILE[:30].replace('"', '\\"') in live.state()["dialogs"][0]["text"]


@pytest.mark.slow
def test_the_scripted_learner_shows_text_and_loads_no_widgets():
    """CI and worked editions need no front end; a widget there would only be an id that changes."""
    code = (
        "import sys, workbook as wb\n"
        "desk = wb.open('start-here')\n"
        "bundle = desk.live('start-approve')._repr_mimebundle_()\n"
        "desk.predict('first-prediction')._repr_mimebundle_(); desk.reveal('first-prediction').html()\n"
        "print(sorted(bundle), [name for name in ('ipywidgets', 'anywidget', 'pandas') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"CEDAR_LEARNER": "scripted", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("['text/html', 'text/plain'] []\n", "")


# -------------------------------------------------------------------------------------------- running a cell again


def test_running_a_cell_again_gives_up_what_its_earlier_run_left_waiting():
    """The old view is gone from the page, so nobody could answer it; wherever it is still shown it says why."""
    cell = Cell(id="a", run="1")
    cells = Cells(lambda: cell)
    old, new = LivePlay(case("once")), LivePlay(case("once"))
    cells.made(old)
    cell = Cell(id="a", run="2")
    cells.made(new)

    assert old.status == "Superseded: the cell was run again, so this play was given up. Use the new one."
    assert old.state()["dialogs"][0]["ended"] == "given up"
    assert new.status == "Waiting for an answer: q-1."
    length = len(old.report().ledger)
    press(old, "q-1", 0)
    assert len(old.report().ledger) == length


def test_plays_of_other_cells_and_of_the_same_run_stay():
    """Two cells may play one case side by side, and a loop may make several in one run."""
    cell = Cell(id="a", run="1")
    cells = Cells(lambda: cell)
    first, second, third = (LivePlay(case("once")) for _ in range(3))
    cells.made(first)
    cells.made(second)
    cell = Cell(id="b", run="2")
    cells.made(third)

    assert {live.status for live in (first, second, third)} == {"Waiting for an answer: q-1."}


def test_a_finished_play_is_not_superseded():
    """There is nothing to give up, and its ending stays true."""
    cell = Cell(id="a", run="1")
    cells = Cells(lambda: cell)
    done = LivePlay(case("nobody"))
    cells.made(done)
    cell = Cell(id="a", run="2")
    cells.made(LivePlay(case("nobody")))

    assert done.status.startswith("Finished: ")


def test_where_cells_have_no_names_nothing_is_superseded():
    """Outside a notebook nobody knows which cell is run."""
    cells = Cells()
    first = LivePlay(case("once"))
    cells.made(first)
    cells.made(LivePlay(case("once")))

    assert first.status == "Waiting for an answer: q-1."
