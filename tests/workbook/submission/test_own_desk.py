"""The exercises of one's own desk: every submission known to be right or wrong, and what its author is told."""

from __future__ import annotations

import sys
from typing import Any

import own_desk_submissions as handed_in
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsim.js_values import copy_json
from labsim.library import fixtures_dir
from labsim.play.performance import run
from workbook.check_chapter.exercises import check_exercises
from workbook.exercise.file import parse_exercises
from workbook.exercise.flawed_hosts import PIECES, Part
from workbook.exercise.invariants import PersonSays, against
from workbook.exercise.kinds import CallExercise, CaseExercise, Form, Situation, TraceExercise
from workbook.grading.calls import bring, swept
from workbook.grading.grade import grade, task
from workbook.grading.pages import Grade, Graded
from workbook.submission.answerer import WatchedApprover
from workbook.submission.play import Mine, play_mine
from workbook.submission.settings import read_settings

FILE = fixtures_dir() / "exercises" / "your-own-desk.json"
EXERCISES = parse_exercises(FILE.read_bytes(), FILE.name, "your-own-desk")


def calls_of(name: str) -> CallExercise:
    exercise = EXERCISES[name]
    assert isinstance(exercise, CallExercise)
    return exercise


def trace_of(name: str) -> TraceExercise:
    exercise = EXERCISES[name]
    assert isinstance(exercise, TraceExercise)
    return exercise


SETTINGS, HANDLER, ANSWERS = map(calls_of, ("the-open-day", "three-packets", "the-night-desk"))


def shown_at(graded: Graded) -> str:
    """Where it goes wrong first: the id of a written situation, or of a sweep."""
    failing = graded.failing
    assert failing is not None
    found: str = failing.situation.case.id if failing.sweep is None else failing.sweep.id
    return found


def words(graded: Graded) -> str:
    return " ".join(str(graded).split())


# ------------------------------------------------------------------------------------------------------ the data


def test_every_exercise_can_be_got_right() -> None:
    """Its situations, played with their own answers, show what they expect, and its sweeps keep what they claim."""
    assert check_exercises(EXERCISES.values()) == []
    assert [(name, one.form) for name, one in EXERCISES.items()] == [
        ("the-open-day", Form.SETTINGS),
        ("three-packets", Form.HANDLER),
        ("the-night-desk", Form.ANSWERS),
        ("break-the-guard", Form.TRACE),
        ("break-the-memory", Form.TRACE),
        ("break-the-prefix", Form.TRACE),
        ("break-the-settings", Form.TRACE),
        ("your-own-case", Form.CASE),
    ]


def test_every_flawed_piece_is_to_be_broken_and_every_kind_of_part_is_among_them() -> None:
    """A policy, a handler and an approver: none of them is beyond suspicion."""
    broken = [one.piece for one in EXERCISES.values() if isinstance(one, TraceExercise)]

    assert set(broken) == set(PIECES)
    assert {PIECES[piece].flawed.part for piece in broken} == {Part.SETTINGS, Part.HANDLER, Part.ANSWERS}


@pytest.mark.parametrize("name", EXERCISES)
def test_what_is_asked_tells_nothing_of_the_situations(name: str) -> None:
    """Neither a title nor a why, and none of what is expected, is in the text that a learner begins with."""
    text = " ".join(str(task(EXERCISES[name])).split())
    exercise = EXERCISES[name]
    if isinstance(exercise, CallExercise):
        for situation in exercise.situations:
            assert situation.case.title not in text
            assert situation.case.why not in text
        for sweep in exercise.sweeps:
            assert sweep.title not in text
    if isinstance(exercise, TraceExercise):
        assert exercise.why not in text
        assert PIECES[exercise.piece].flawed.text.split("\n", maxsplit=1)[0] in text
        assert PIECES[exercise.piece].sound.text not in text


# ------------------------------------------------------------------------------------------- known to be right


@pytest.mark.slow
@pytest.mark.parametrize("name", handed_in.GOOD_SETTINGS)
def test_right_settings_are_right(name: str) -> None:
    """In whatever spelling the host tolerates, and with whatever beside them changes nothing."""
    graded = grade(SETTINGS, handed_in.GOOD_SETTINGS[name])

    assert (graded.grade, graded.failing, graded.held, graded.of) == (Grade.RIGHT, None, 12, 12)


@pytest.mark.slow
@pytest.mark.parametrize("made", handed_in.GOOD_HANDLERS, ids=lambda one: one.__name__)
def test_a_right_handler_is_right_in_whatever_shape(made: Any) -> None:
    """Plain or async, with two arguments or a default, returning a copy that it changed."""
    graded = grade(HANDLER, made)

    assert (graded.grade, graded.failing, graded.held, graded.of) == (Grade.RIGHT, None, 11, 11)


@pytest.mark.slow
@pytest.mark.parametrize("made", handed_in.GOOD_APPROVERS, ids=lambda one: one.__name__)
def test_a_right_approver_is_right_in_whatever_shape(made: Any) -> None:
    """A function, a class that is made anew for each situation, and one that closes in place of a no."""
    graded = grade(ANSWERS, made)

    assert (graded.grade, graded.failing, graded.held, graded.of) == (Grade.RIGHT, None, 15, 15)


@pytest.mark.parametrize("name", handed_in.GOOD_TRACES)
def test_a_trace_that_breaks_the_piece_and_not_a_sound_one_is_right(name: str) -> None:
    """The bad effect really happens with the flawed piece, and does not with the sound one."""
    exercise, trace = handed_in.GOOD_TRACES[name]
    graded = grade(trace_of(exercise), copy_json(trace))

    assert graded.grade is Grade.RIGHT
    (tried,) = graded.tried
    for row in tried.flawed_rows:  # type: ignore[union-attr]  # of a trace
        assert tried.flawed.ledger[row - 1].kind_name() == "execute"  # type: ignore[union-attr]
    assert tried.sound_rows == ()  # type: ignore[union-attr]
    assert "The sound piece:" in str(graded)


# -------------------------------------------------------------------------------------------- known to be wrong


@pytest.mark.parametrize("name", handed_in.BAD_SETTINGS)
def test_wrong_settings_are_not_yet_right_and_the_first_situation_says_so(name: str) -> None:
    """Each is wrong for the reason it was made for."""
    made, at = handed_in.BAD_SETTINGS[name]
    graded = grade(SETTINGS, made)

    assert (graded.grade, shown_at(graded)) == (Grade.NOT_YET, at)


@pytest.mark.parametrize(
    ("made", "at"), handed_in.BAD_HANDLERS.items(), ids=lambda one: getattr(one, "__name__", "")
)
def test_a_wrong_handler_is_not_yet_right_and_the_first_situation_says_so(made: Any, at: str) -> None:
    """Each is wrong for the reason it was made for."""
    graded = grade(HANDLER, made)

    assert (graded.grade, shown_at(graded)) == (Grade.NOT_YET, at)


@pytest.mark.parametrize("name", handed_in.BAD_APPROVERS)
def test_a_wrong_approver_is_not_yet_right_and_the_first_situation_says_so(name: str) -> None:
    """Each is wrong for the reason it was made for."""
    made, at = handed_in.BAD_APPROVERS[name]
    graded = grade(ANSWERS, made)

    assert (graded.grade, shown_at(graded)) == (Grade.NOT_YET, at)


@pytest.mark.parametrize("name", handed_in.BAD_TRACES)
def test_a_trace_that_leaves_the_piece_standing_is_not_yet_right(name: str) -> None:
    """And is shown with the run in which it stood."""
    exercise, trace, said = handed_in.BAD_TRACES[name]
    graded = grade(trace_of(exercise), trace)

    assert graded.grade is Grade.NOT_YET
    assert said in words(graded)
    assert "Ledger with the piece you were given" in words(graded)
    assert "The sound piece" not in words(graded)


def test_a_trace_that_breaks_the_sound_piece_as_well_says_nothing_about_the_flawed_one() -> None:
    """The invariant has to fail with one of the two only: an exercise of ours is turned round to show it."""
    from msgspec.structs import replace

    from workbook.exercise.invariants import Invariant, Kind

    nothing_runs = Invariant(kind=Kind.NEVER, says="Nothing runs.")
    graded = grade(
        replace(trace_of("break-the-guard"), broken=nothing_runs), {"args": handed_in.INSPECT, "handlers": []}
    )

    assert graded.grade is Grade.NOT_YET
    assert "with a sound piece it does not hold either" in words(graded)
    assert PIECES[trace_of("break-the-guard").piece].sound.text.splitlines()[0] not in words(graded)


# ------------------------------------------------------------------------------------------------- code that fails


@pytest.mark.slow
@pytest.mark.parametrize("name", handed_in.FAILING_HANDLERS)
def test_a_handler_that_fails_is_told_what_happened_in_words(name: str) -> None:
    """It raised, looped, answered with nonsense or changed what it was shown: no traceback, and no wrong answer."""
    made, said = handed_in.FAILING_HANDLERS[name]
    traced = sys.gettrace()

    graded = grade(HANDLER, made)

    assert graded.grade is Grade.FAILED
    assert f"Your code failed. {' '.join(said.split())}" in words(graded)
    assert "Traceback" not in words(graded)
    assert sys.gettrace() is traced


@pytest.mark.slow
@pytest.mark.parametrize("name", handed_in.FAILING_APPROVERS)
def test_an_approver_that_fails_is_told_what_happened_in_words(name: str) -> None:
    """As a handler; and a dialog whose approver failed is broken, which is no yes."""
    made, said = handed_in.FAILING_APPROVERS[name]

    graded = grade(ANSWERS, made)

    assert graded.grade is Grade.FAILED
    assert f"Your code failed. {' '.join(said.split())}" in words(graded)
    if graded.failing is not None and graded.failing.report.ledger:
        assert graded.failing.report.observed["effects"] == 0


NO_SETTINGS: dict[str, tuple[object, str]] = {
    "a text": ("write", "Settings are a dictionary, and this is 'write'."),
    "a misspelt setting": (
        {"tools.aprovalMode": "write"},
        "Approval reads no setting 'tools.aprovalMode'. Did you mean 'tools.approvalMode'?",
    ),
    "another setting": ({"theme": "dark"}, "Approval reads no setting 'theme'. There are"),
    "a set": (
        {
            handed_in.POLICIES: {
                "a",
            }
        },
        "tools.approval: {'a'} is nothing that JSON can hold",
    ),
    "a tool without a name": ({handed_in.POLICIES: {1: "deny"}}, "tools.approval: 1 is no key of JSON"),
}


@pytest.mark.parametrize("name", NO_SETTINGS)
def test_what_is_no_settings_is_told_so(name: str) -> None:
    """Where, what was found, and what would do."""
    made, said = NO_SETTINGS[name]
    graded = grade(SETTINGS, made)

    assert graded.grade is Grade.FAILED
    assert f"These settings cannot be tried. {said}" in words(graded)


def test_what_the_host_passes_over_is_remarked_on() -> None:
    """approval/A-11 and approval/A-18: the real host says nothing of a mode or a policy that is none; a reader
    should know.
    """
    said = words(grade(SETTINGS, handed_in.settings("wirte", mail_list="never")))

    assert "tools.approvalMode: 'wirte' is no mode. The host says nothing and takes yolo." in said
    assert "tools.approval.mail_list: 'never' is no policy. The host passes it over." in said
    right = words(grade(SETTINGS, handed_in.settings(old_plugin="no")))
    assert "Right." in right
    assert "tools.approval.old_plugin: 'no' is no policy. The host passes it over." in right


@pytest.mark.parametrize("name", handed_in.NO_TRACES)
def test_what_is_no_trace_is_told_so(name: str) -> None:
    """Where, what was found, and what would do."""
    exercise, trace, said = handed_in.NO_TRACES[name]
    graded = grade(trace_of(exercise), trace)

    assert graded.grade is Grade.FAILED
    assert str(graded).startswith(f"Exercise {exercise}: cannot be tried")
    assert f"This trace cannot be played. {said}" in words(graded)


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_handed_in_is_not_attempted(name: str) -> None:
    """The dots of a skeleton, wherever they stand, are no wrong answer."""
    dots: dict[Form, list[object]] = {
        Form.SETTINGS: [
            {"tools.approvalMode": ..., "tools.approval": ...},
            {"tools.approvalMode": "write", "x": ...},
        ],
        Form.HANDLER: [lambda event, context: ...],
        Form.ANSWERS: [lambda question: ...],
        Form.TRACE: [{"args": ...}, {"calls": [{"name": "seed_note"}, ...]}],
        Form.CASE: [{"id": "mine", "expected": {"effects": ...}}],
    }
    exercise = EXERCISES[name]

    for nothing in (None, ..., *dots[exercise.form]):
        graded = grade(exercise, nothing)
        assert graded.grade is Grade.NOT_ATTEMPTED
        assert "The three dots are still there." in words(graded)


# ----------------------------------------------------------------------------------------------------- the host


def test_a_learner_s_failure_is_seen_by_the_host_as_what_it_is() -> None:
    """wrapper/W-12 and wrapper/step-13: a handler that raised has blocked, an approver that raised has broken its
    dialog.
    """
    handler = grade(HANDLER, handed_in.breaks_on_words).failing
    approver = grade(ANSWERS, lambda question: question.text["Input"]).failing
    assert handler is not None
    assert approver is not None

    assert [event.kind_name() for event in handler.report.ledger][-2:] == ["extension_error", "call_threw"]
    assert [event.kind_name() for event in approver.report.ledger][-3:] == [
        "ui.select",
        "tool_approval_resolved",
        "call_threw",
    ]


def test_a_person_who_never_comes_back_leaves_the_question_open_and_says_so() -> None:
    """After a simulated day nobody waits any longer; the call did not run."""
    watched = WatchedApprover(handed_in.night_desk)
    case = next(one.case for one in ANSWERS.situations if one.case.id == "answers-in-time")
    situation = Situation(case=case, person=(PersonSays(says="Approve", after_ms=2 * 24 * 60 * 60 * 1000),))

    report = play_mine(situation, Mine(approver=watched))

    assert (report.finished, report.observed["effects"], len(report.questions)) == (False, 0, 1)
    assert [note.says for note in watched.noted] == [
        "it never answered: a simulated day later, a question is still open."
    ]


def test_a_question_that_closed_meanwhile_is_answered_too_late() -> None:
    """wrapper/W-15: the caller gives up while a handler's own question is open; what is said then moves nothing."""
    from labsim.case.given import HandlerSpec, WrapperGiven
    from labsim.case.model import WrapperCase

    async def slow(question: Any) -> bool:
        reply = await question.person()
        return reply.says is True

    given_ = WrapperGiven(
        approval="exec", mode="yolo", handlers=[HandlerSpec(ext="helper", asks="Open?")], abort_at_ms=1_000
    )
    situation = Situation(
        case=WrapperCase(id="late", given=given_), person=(PersonSays(says=True, after_ms=5_000),)
    )

    report = play_mine(situation, Mine(approver=WatchedApprover(slow)))

    kinds = [event.kind_name() for event in report.ledger]
    assert report.finished
    assert "execute" not in kinds


def test_a_situation_is_played_with_everything_but_what_was_handed_in() -> None:
    """The same case with settings of one's own: what it scripts for that part is gone, and nothing else."""
    situation = SETTINGS.situations[0]

    report = play_mine(situation, Mine(settings=read_settings({"tools.approvalMode": "yolo"})))

    before, after = situation.case.given, report.case.given
    assert (after.mode, after.tool, after.args) == ("yolo", before.tool, before.args)  # type: ignore[union-attr]
    assert play_mine(situation, Mine()).observed == run(situation.case).observed


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    mode=st.sampled_from(["always-ask", "write", "yolo", "Write", None]),
    policies=st.dictionaries(
        st.sampled_from(["mail_list", "post_list", "clear_bed", "shelf_list", "trade_seeds", "mcp__almanac__look"]),
        st.sampled_from(["allow", "deny", "prompt", "Deny ", "never"]),
    ),
)
def test_only_settings_that_keep_what_has_to_hold_are_right(mode: Any, policies: dict[str, str]) -> None:
    """Whatever somebody writes: right means that every sweep holds, and a wrong answer is never called right."""
    made = {handed_in.MODE: mode, handed_in.POLICIES: policies}
    graded = grade(SETTINGS, made)
    held = [swept(sweep, bring(Form.SETTINGS, made)).held for sweep in SETTINGS.sweeps]

    assert graded.grade in (Grade.RIGHT, Grade.NOT_YET)
    if graded.grade is Grade.RIGHT:
        assert all(held)
        assert mode == "write"
    if not all(held):
        assert graded.grade is Grade.NOT_YET


def test_what_a_learner_hands_in_is_left_as_it_was() -> None:
    """Settings, traces and cases are read, never written to; and they are read once."""
    made = handed_in.settings()
    before = copy_json(made)
    trace = {"args": {"action": "inspect"}, "handlers": [{"revise": {"action": "publish"}}]}
    kept = copy_json(trace)

    grade(SETTINGS, made)
    grade(trace_of("break-the-guard"), trace)

    assert made == before
    assert trace == kept


def test_what_is_not_yet_right_is_shown_with_the_situation_and_the_rows() -> None:
    """Of a sweep: which number of it fails, what had to hold, and where it does not."""
    graded = grade(SETTINGS, handed_in.BAD_SETTINGS[list(handed_in.BAD_SETTINGS)[-1]][0])

    said = words(graded)
    assert "All 10 written situations come out as they should. Then situations are made, 150 of them:" in said
    assert "is the first that goes wrong." in said
    assert "This has to hold, and does not: Whatever else runs was approved first, in its own call." in said
    assert "of the ledger shows it." in said
    assert '"tool": "mcp__almanac__write"' in said
    assert '<tr class="cedar-differs">' in graded.page().html()
    failing = graded.failing
    assert failing is not None
    (broken,) = failing.broken
    assert against(broken.invariant, failing.report) == broken.rows


def test_the_answers_that_a_situation_scripts_are_never_shown() -> None:
    """A known-good handler or answer stands in the file, so that the file can be checked; no page has it."""
    for exercise, made in ((HANDLER, handed_in.publishes), (ANSWERS, lambda question: "Deny")):
        page = grade(exercise, made).page()
        assert '"ext": "yours"' not in str(page)
        assert '"choices"' not in str(page)


# ------------------------------------------------------------------------------------------------------- own cases

MINE: dict[str, Any] = {
    "id": "mine",
    "title": "One yes",
    "scenario": "wrapper",
    "given": {"approval": "exec", "mode": "write", "choices": ["Approve"]},
    "expected": {"outcome": "return", "effects": 1, "prompts": 1},
    "why": "approval/R9 asks, and wrapper/W-40 takes the exact label.",
    "rules": ["approval/R9", "wrapper/W-40"],
}


def own(**changed: Any) -> dict[str, Any]:
    return {key: value for key, value in (MINE | changed).items() if value is not None}


def test_a_case_of_one_s_own_that_claims_enough_and_holds_is_right() -> None:
    """A dictionary or its JSON; what it is graded by is a run."""
    from json import dumps

    for case in (MINE, dumps(MINE)):
        graded = grade(EXERCISES["your-own-case"], case)
        assert (graded.grade, graded.held, graded.of) == (Grade.RIGHT, 7, 7)


BAD_CASES: dict[str, tuple[dict[str, Any], str]] = {
    "another scenario": (
        own(scenario="resolve", given={"approval": "exec", "mode": "write"}, expected={"policy": "prompt"}),
        "Its scenario is one of: wrapper, dispatch, loop.",
    ),
    "no title": (own(title=None), "It has a title, and a why."),
    "no why": (own(why=" "), "It has a title, and a why."),
    "no rules": (own(rules=None), "It names the rules that decide it."),
    "claims little": (own(expected={"outcome": "return"}), "It claims effects."),
    "claims what does not happen": (
        own(expected={"outcome": "return", "effects": 2, "prompts": 1}),
        "A run shows all that it claims.",
    ),
}


@pytest.mark.parametrize("name", BAD_CASES)
def test_a_case_of_one_s_own_that_lacks_something_is_told_what(name: str) -> None:
    """Requirement by requirement, with the run beside it."""
    case, said = BAD_CASES[name]
    graded = grade(EXERCISES["your-own-case"], case)

    assert isinstance(graded.exercise, CaseExercise)
    assert graded.grade is Grade.NOT_YET
    assert f"- {said}" in words(graded)
    assert graded.held < graded.of


def test_a_case_that_cannot_be_read_is_told_where() -> None:
    """The place, what was found there, and what would do."""
    graded = grade(EXERCISES["your-own-case"], own(given={"mode": "wirte"}))

    assert graded.grade is Grade.FAILED
    assert (
        "This case cannot be read. your case.given.mode: 'wirte' is not allowed here. Did you mean 'write'?"
        in words(graded)
    )
