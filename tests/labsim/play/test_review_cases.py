"""review-t01 to review-t20 and the cases beyond them, on every adapter: one story whoever carries the dialogs
(cases review-t01 to review-t20).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET, convert, to_builtins
from places import TOP
from review_kit import plain

from labsim.call.scripted import answers
from labsim.case.model import Case, ReviewCase
from labsim.case.review import DisconnectStep, ReplyStep
from labsim.describe.ledger import case_lines, verdict
from labsim.errors import CaseError, HostError
from labsim.play.performance import run, start
from labsim.play.review import ReviewUnderWay
from labsim.reading.reading import parse_case, parse_file
from labsim.rpc.adapter import RpcUI
from labsim.stage.stage import Question, Stage
from labsim.stage.ui import UI, QuestionUI, ScriptedUI
from labsim.terms import DialogKind

FILE = TOP / "fixtures" / "review-desk.json"
CASES = [case for case in parse_file(FILE.read_bytes(), FILE.name).cases if isinstance(case, ReviewCase)]
BY_ID = {case.id: case for case in CASES}
WITH_UI = [case for case in CASES if case.given.host_mode in ("tui", "rpc")]
#: Only a client that is there can go away.
ON_BOTH = [case for case in WITH_UI if not any(isinstance(step, DisconnectStep) for step in case.given.steps)]
#: Something happens while a dialog is open, so whoever answers at once tells another story.
MEANWHILE = {
    "review-t08-late-yes-grants-nothing",
    "review-t08-late-yes-in-the-terminal",
    "review-t09-revoked-in-the-editor",
    "review-t09-revoked-in-the-selector",
    "review-t13-act-while-a-review-is-open",
    "review-t13-the-refusal",
    "review-t16-revoke-hides-the-panel",
    "review-t18-two-acts-at-once",
    "review-revoked-at-the-gate",
    "review-vetoed-navigation-ends-nothing",
    "review-navigation-with-a-dialog-open",
    "review-busy-commands-are-refused",
    "review-a-new-dialog-after-revoke",
    "review-no-dialog-times-out",
}
AT_ONCE = [case for case in ON_BOTH if case.id not in MEANWHILE]
FRAMES = ("frame_sent", "frame_received", "dialog_settled", "client_disconnected")


def story(stage: Stage) -> list[dict[str, Any]]:
    """The ledger without frames; a select is a select, whoever carried it."""
    told = plain(stage.ledger, *FRAMES)
    return [{**event, "event": event["event"].replace("rpc.select", "ui.select")} for event in told]


def played(
    case: ReviewCase, ui: Callable[[Stage], UI], *, live: bool = False
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The story and the counters of a case on an adapter; live, its replies are given by a driver."""
    stage = Stage()
    scenario = ReviewUnderWay(case, stage, live=live, ui=ui(stage))
    if live:
        stage.on_question = person(case, stage)
    task = stage.spawn(scenario.play())
    stage.carry_on(task)
    task.result()
    told, seen = story(stage), scenario.observed()
    stage.close()
    del seen["frames"]
    return told, seen


def person(case: ReviewCase, stage: Stage) -> Callable[[Question], None]:
    """Somebody who gives the case's replies, each as soon as its dialog is there; panels have keys of their own."""
    replies = deque(step for step in case.given.steps if isinstance(step, ReplyStep) and not step.late)

    def asked(question: Question) -> None:
        while replies and question.kind is not DialogKind.CUSTOM:
            step = replies[0]
            is_open = [each.id for each in stage.questions]
            if (step.to is UNSET and len(is_open) != 1) or (step.to is not UNSET and step.to not in is_open):
                return
            replies.popleft()
            target = is_open[0] if step.to is UNSET else step.to
            stage.reply(target, UNSET if step.value is None else step.value)

    return asked


def by_rpc(stage: Stage) -> UI:
    return RpcUI(stage, None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_shows_what_it_claims(case: ReviewCase):
    """review-t01 to review-t20, and each case's own rules."""
    report = run(case)

    assert verdict(report) == "match", "\n".join(case_lines(report))


@pytest.mark.parametrize("case", ON_BOTH, ids=lambda case: case.id)
def test_scripted_asked_and_sent_dialogs_tell_the_same_story(case: ReviewCase):
    """review-t01 to review-t20: questions on the stage, scripted or answered by a driver, and frames to a client;
    cases review-t01 to review-t20.
    """
    scripted = played(case, QuestionUI)

    assert played(case, QuestionUI, live=True) == scripted
    assert played(case, by_rpc) == scripted
    assert played(case, by_rpc, live=True) == scripted


@pytest.mark.parametrize("case", AT_ONCE, ids=lambda case: case.id)
def test_answers_from_a_list_tell_the_same_story(case: ReviewCase):
    """review-t01 to review-t20, where nothing happens while a dialog is open: the adapter that never parks
    anybody.
    """
    listed = played(case, lambda stage: ScriptedUI(stage, answers(case.given.choices)), live=True)

    assert listed == played(case, QuestionUI)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_same_case_gives_the_same_ledger(case: ReviewCase):
    """No clock, no chance: every event is the same, frames and ids too."""
    first, second = run(case), run(case)

    assert plain(first.ledger) == plain(second.ledger)
    assert first.observed == second.observed


def test_every_scenario_of_the_specification_has_a_case():
    """cases review-t01 to review-t20."""
    numbers = {int(found[1]) for case in CASES if (found := re.match(r"review-t(\d\d)-", case.id))}

    assert numbers == set(range(1, 21))


def test_a_late_reply_over_rpc_is_one_frame_that_is_swallowed():
    """review-t08, review/V-44, rpc/R-38: one cancel frame, and the reply to its target is read, consumed, and
    changes nothing.
    """
    report = run(BY_ID["review-t08-late-yes-grants-nothing"])
    frames = [event for event in plain(report.ledger) if event["event"] in ("frame_sent", "frame_received")]
    cancels = [frame["frame"] for frame in frames if frame["frame"].get("method") == "cancel"]

    assert cancels == [{"type": "extension_ui_request", "id": "req-2", "method": "cancel", "targetId": "req-1"}]
    assert frames[-1] == {
        "event": "frame_received",
        "frame": {"type": "extension_ui_response", "id": "req-1", "confirmed": True},
        "consumed": True,
    }


def test_no_case_enters_an_executor():
    """Accept is a local label: nothing is run, sent or published, whatever the case."""
    assert {run(case).observed["effects"] for case in CASES} == {0}


# ----------------------------------------------------------------------------------------------------- live plays


def a_case(*steps: dict[str, Any], **given: Any) -> Case:
    return parse_case(
        {"id": "test", "scenario": "review", "given": {"note": "Seeds.\n", **given, "steps": list(steps)}}, "test"
    )


REVIEW = {"do": "command", "words": "review"}
DELEGATE = {"do": "command", "words": "delegate"}
REVOKE = {"do": "command", "words": "revoke"}
YES = {"do": "reply", "value": True}


def test_live_the_person_decides_and_the_script_goes_on_from_there():
    """A reply of the script is only a place to wait; what is answered there is somebody's own."""
    asked: list[str] = []
    case = a_case(DELEGATE, YES, {"do": "call", "args": {"op": "query"}})
    performance = start(case, lambda performance, question: asked.append(question.id))
    assert asked == ["q-1"]
    assert not performance.report().finished

    performance.reply("q-1", False)
    report = performance.report()
    assert report.finished
    assert report.observed["authorized"] is False
    assert report.calls[0].result is not None


def test_live_a_dialog_that_is_not_there_is_not_waited_for():
    """Escaped from the editor: the selector of the script never opens, and the rest goes on."""
    case = a_case(REVIEW, {"do": "reply", "value": "x"}, {"do": "reply", "value": "Accept locally"}, REVOKE)
    performance = start(case, lambda performance, question: performance.dismiss(question.id) and None)

    report = performance.report()
    assert report.finished
    assert (report.observed["status"], report.observed["notices"]) == ("cancelled", ["No permission to remove."])


def test_live_a_dialog_that_breaks_does_not_break_the_script():
    """review/V-47: the error is the desk's to deal with."""
    case = a_case(DELEGATE, YES, REVOKE)
    performance = start(
        case, lambda performance, question: performance.fail(question.id, HostError("gone")) and None
    )

    assert performance.report().finished
    assert performance.report().observed["authorized"] is False


# ------------------------------------------------------------------------------------------------ what is refused

REFUSED = [
    (
        {"do": "say", "words": "review"},
        "given.steps[0].do: 'say' is not allowed here. Use one of: branch, call, command, disconnect, entry, go, "
        "keys, message, reply, restart, settings, storage, switch, wait.",
    ),
    ({"do": "command"}, "given.steps[0]: the key 'words' is missing. Add \"words\"."),
    ({"words": "review"}, "given.steps[0]"),
    ({"do": "command", "word": "review", "words": "x"}, "given.steps[0]: the key 'word' is not known here."),
    ({"do": "switch", "how": "resume"}, "given.steps[0]: resume and a session do not go together."),
    (
        {"do": "switch", "how": "new", "session": "session-1"},
        "given.steps[0]: new and a session do not go together.",
    ),
    ({"do": "wait", "ms": -1}, "given.steps[0]: -1 is in the past."),
    ({"do": "keys", "chunks": []}, "given.steps[0]: no key is pressed."),
    ({"do": "disconnect"}, "given.steps[0]: only an RPC client can disconnect."),
    (
        {"do": "reply", "value": True, "late": True},
        "given.steps[0]: a late reply answers a dialog that is over.",
    ),
    ({"do": "settings", "mode": "yollo"}, "given.steps[0].mode: 'yollo' is not allowed here."),
]


@pytest.mark.parametrize(("step", "text"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_step_that_nobody_could_take_is_refused_with_its_place(step: dict[str, Any], text: str):
    with pytest.raises(CaseError) as error:
        a_case(step)
    assert text in str(error.value)


def test_in_print_mode_a_step_cannot_reply():
    with pytest.raises(CaseError, match=r"given.steps\[1\]: nobody can reply in print mode"):
        a_case(DELEGATE, YES, hostMode="print")


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([YES], "test.given.steps[0]: no dialog is open."),
        ([REVIEW, {**YES, "to": "q-2"}], "test.given.steps[1]: q-2 is not open."),
        ([DELEGATE, {**YES, "to": "q-1", "late": True}], "test.given.steps[1]: q-1 is still open."),
        ([{**YES, "to": "q-7", "late": True}], "test.given.steps[0]: No question has the id 'q-7'."),
        ([{"do": "go", "to": "entry-9"}], "test.given.steps[0]: session-1 has no entry 'entry-9'."),
        ([{"do": "branch", "at": "entry-9"}], "test.given.steps[0]: session-1 has no entry 'entry-9'."),
        (
            [{"do": "switch", "how": "resume", "session": "session-9"}],
            "test.given.steps[0]: There is no session 'session-9'.",
        ),
        (
            [{"do": "storage", "full": True}, {"do": "message", "text": "hi"}],
            "test.given.steps[1]: Nothing recorded: the session could not be saved",
        ),
    ],
)
def test_a_step_that_cannot_be_taken_after_those_before_it_names_itself(steps: list[dict[str, Any]], text: str):
    with pytest.raises(CaseError) as error:
        run(a_case(*steps))
    assert text in str(error.value)


def test_two_open_dialogs_need_a_reply_that_says_which():
    call = {"do": "call", "args": {"op": "inspect"}}

    with pytest.raises(CaseError, match="more than one dialog is open"):
        run(a_case(call, call, {"do": "reply", "value": "Approve"}, mode="always-ask"))


def test_a_case_survives_being_written_and_read():
    """The vocabulary says everything: a case of each kind of step, out and in again."""
    for case in CASES:
        assert convert(to_builtins(case), ReviewCase) == case
