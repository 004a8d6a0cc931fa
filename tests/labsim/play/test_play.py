"""Playing cases: scripted or by a person, one beside the other, and what a report says at any moment."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import ASKING, PROMPT, PUBLISH, a_case, heard, kinds, play
from msgspec import UNSET

from labsim.errors import CaseError, HostError, StageError
from labsim.events.dialogs import LateReply, QuestionAsked
from labsim.library import case_files
from labsim.play.performance import Performance, run, start
from labsim.play.report import CallReport, FieldCheck, Report
from labsim.reading.reading import parse_case, parse_file
from labsim.stage.stage import Question
from labsim.terms import DialogKind, Outcome


def waiting(**given: Any) -> Performance:
    """A case that a person answers, later."""
    return start(a_case(**given), lambda performance, question: None)


@pytest.mark.slow
def test_the_built_in_cases_show_what_they_claim() -> None:
    """Every teaching case that ships is true of the engine."""
    cases = [case for path in case_files() for case in parse_file(path.read_bytes(), path.name).cases]

    assert len(cases) >= 15
    assert len({case.id for case in cases}) == len(cases)
    assert [case.id for case in cases if run(case).matches is not True] == []


@pytest.mark.parametrize("path", case_files(), ids=lambda path: path.stem)
def test_the_same_case_gives_the_same_report_always(path: Any) -> None:
    """Decision 1: no clock, no chance. Two plays of a case are equal, event for event."""
    first, second = (parse_file(path.read_bytes(), path.name).cases for _ in range(2))
    for one, other in zip(first, second, strict=True):
        a, b = run(one), run(other)
        assert list(a.ledger) == list(b.ledger)
        assert (a.observed, a.calls, a.finished) == (b.observed, b.calls, True)


def test_a_waiting_case_says_what_it_waits_for() -> None:
    """A report can be had at any moment; it claims no outcome before there is one."""
    report = waiting(repeat=2).report()

    assert (report.finished, report.matches) == (False, None)
    assert report.questions == (
        Question(id="q-1", kind=DialogKind.SELECT, title=PROMPT, options=("Approve", "Deny")),
    )
    assert report.calls == (CallReport(tool_call_id="call-1", start=0, end=len(report.ledger)),)
    assert report.observed == {
        "effects": 0,
        "prompts": 1,
        "promptTexts": [PROMPT],
        "toolCalls": 1,
        "successfulCalls": 0,
    }


def test_each_reply_takes_the_case_to_its_next_question() -> None:
    """wrapper/W-78: a refused call does not keep the next one from being made."""
    performance = waiting(repeat=3)
    for reply in ("Deny", "Approve"):
        (question,) = performance.report().questions
        assert performance.reply(question.id, reply)
    assert performance.dismiss("q-3")

    report = performance.report()
    assert (report.finished, report.questions) == (True, ())
    assert [call.outcome for call in report.calls] == [Outcome.THROW, Outcome.RETURN, Outcome.THROW]
    assert [(call.start, call.end) for call in report.calls][1][0] == report.calls[0].end


def opened_at(performance: Performance) -> list[tuple[str, int]]:
    """The open questions, each with the simulated time at which it was put."""
    report = performance.report()
    asked = {event.question_id: event.at_ms for event in report.ledger if isinstance(event, QuestionAsked)}
    return [(question.title.splitlines()[0], asked[question.id]) for question in report.questions]


def test_whatever_moves_a_case_carries_it_to_its_next_question() -> None:
    """A handler that works after the answer needs time, and time moves by itself while nobody is asked."""
    answered = waiting(handlers=[{"asks": "Really?"}, {"waits": 5}])
    answered.reply("q-1", True)
    assert opened_at(answered) == [("Allow tool: seed_note", 5)]

    broken = waiting(handlers=[{"waits": 5}], repeat=2)
    broken.fail("q-1", HostError("gone"))
    assert opened_at(broken) == [("Allow tool: seed_note", 10)]

    aborted = waiting(handlers=[{"waits": 5}, {"asks": "Really?"}], repeat=2, abortAtMs=10)
    assert opened_at(aborted) == [("desk", 5)]
    aborted.advance(5)
    assert opened_at(aborted) == [("desk", 15)]


def test_a_script_that_cannot_be_played_is_an_error_and_no_report() -> None:
    """What the engine or a case's own script gets wrong is raised; a refused call is in the report."""
    case = a_case("review", steps=[{"do": "reply", "value": "Accept locally"}])

    with pytest.raises(CaseError, match=r"no dialog is open"):
        run(case)


def test_a_report_stays_as_it_was() -> None:
    """What comes later is in a later report; the earlier one, with its ledger, is of its moment."""
    performance = waiting()
    before = performance.report()
    size = len(before.ledger)
    performance.reply("q-1", "Approve")

    assert (len(before.ledger), before.finished) == (size, False)
    assert len(performance.report().ledger) > size


def test_a_dialog_can_break_in_a_persons_hands_too() -> None:
    """wrapper/step-13."""
    performance = waiting()

    assert performance.fail("q-1", HostError("the terminal is gone"))
    assert performance.report().observed["error"] == "the terminal is gone"
    assert not performance.fail("q-1", HostError("again"))


def test_settings_that_a_person_changes_while_asked_come_too_late() -> None:
    """wrapper/step-2: the open call was sampled; the next one reads what is there by then."""
    policies = {"other": "allow"}
    performance = waiting(userPolicies=policies, repeat=2)
    case: Any = performance.case
    case.given.user_policies["seed_note"] = "deny"
    performance.reply("q-1", "Approve")

    report = performance.report()
    assert [call.outcome for call in report.calls] == [Outcome.RETURN, Outcome.THROW]
    assert report.observed["error"].startswith('Tool "seed_note" is blocked by user policy.')


def test_an_abort_does_not_close_the_approval_dialog() -> None:
    """wrapper/W-47: the call is given up, the dialog stays, and an answer still counts."""
    performance = waiting(abortAtMs=10)
    performance.advance(60_000)
    assert [question.id for question in performance.report().questions] == ["q-1"]

    performance.reply("q-1", "Approve")
    assert performance.report().observed["outcome"] == "return"
    assert [event.at_ms for event in performance.report().ledger][-1] == 60_000  # type: ignore[attr-defined]


def test_an_abort_closes_a_handlers_own_dialog() -> None:
    """wrapper/W-15: and the call ends without asking for approval."""
    performance = waiting(abortAtMs=10, handlers=[{"asks": "Really?"}])
    performance.advance(10)
    report = performance.report()

    assert report.observed["error"] == "Tool execution was cancelled while an extension handler was pending"
    assert (report.finished, report.questions, report.observed["prompts"]) == (True, (), 0)
    assert not performance.reply("q-1", True)


def test_late_and_double_replies_change_nothing() -> None:
    """rpc/R-38: each is noted, and nothing else."""
    performance = waiting()
    performance.reply("q-1", "Deny")
    before = performance.report()

    assert not performance.reply("q-1", "Approve")
    assert not performance.dismiss("q-1")
    after = performance.report()
    assert (after.observed, after.calls) == (before.observed, before.calls)
    assert list(after.ledger) == [*before.ledger, *[LateReply(at_ms=0, question_id="q-1")] * 2]


def test_an_unknown_question_is_an_error_that_changes_nothing() -> None:
    """It names those that are open."""
    performance = waiting()

    with pytest.raises(StageError, match=r"^No question has the id 'q-7'\. Open questions: q-1\.$"):
        performance.reply("q-7", "Approve")
    assert [question.id for question in performance.report().questions] == ["q-1"]


def test_two_performances_do_not_mix() -> None:
    """Each has a stage, a clock and a ledger of its own, though both play the very same case."""
    case = a_case(repeat=2)
    one, other = (start(case, lambda performance, question: None) for _ in range(2))
    one.advance(5)
    one.reply("q-1", "Approve")
    other.reply("q-1", "Deny")
    other.advance(7)
    one.reply("q-2", "Deny")
    other.reply("q-2", "Approve")

    outcomes = [[call.outcome for call in each.report().calls] for each in (one, other)]
    assert outcomes == [[Outcome.RETURN, Outcome.THROW], [Outcome.THROW, Outcome.RETURN]]
    assert [[e.at_ms for e in each.report().ledger if isinstance(e, QuestionAsked)] for each in (one, other)] == [
        [0, 5],
        [0, 0],
    ]


def test_a_driver_sees_the_case_as_a_reader_would() -> None:
    """It is called once for each question, when the case is at rest, and may ask for a report."""
    seen: list[tuple[str, int, bool]] = []

    def driver(performance: Performance, question: Question) -> None:
        report = performance.report()
        seen.append((question.id, len(report.calls), report.finished))
        performance.advance(1000)
        performance.reply(question.id, "Approve")

    report = start(a_case(repeat=2), driver).report()

    assert seen == [("q-1", 1, False), ("q-2", 2, False)]
    assert (report.finished, report.observed["successfulCalls"]) == (True, 2)
    assert [e.at_ms for e in report.ledger if isinstance(e, QuestionAsked)] == [0, 1000]


def test_a_thousand_calls_answered_at_once_are_no_recursion() -> None:
    """The largest case there may be, by a driver."""
    report = start(
        a_case(repeat=1000), lambda performance, question: performance.reply(question.id, "Deny")
    ).report()

    assert report.observed["prompts"] == 1000


def test_a_closed_performance_takes_no_more_replies() -> None:
    """A click on what is left of a widget is late, and no error; a report can still be had."""
    performance = waiting()
    performance.close()

    assert not performance.reply("q-1", "Approve")
    performance.advance(10)
    report = performance.report()
    assert (report.finished, report.questions, report.observed["effects"]) == (False, (), 0)


def test_handlers_of_a_case_wait_on_simulated_time() -> None:
    """wrapper/W-13, wrapper/W-14: `waits` counts, `asks` does not; both before the rest."""
    report = play(
        mode="yolo",
        toolCallTimeoutMs=100,
        handlers=[{"waits": 99, "asks": "Sure?", "revise": {"a": 1}}],
        choices=[True],
    )
    late = play(mode="yolo", toolCallTimeoutMs=100, handlers=[{"waits": 100}])
    no = play(mode="yolo", handlers=[{"asks": "Sure?", "ext": "shelf.ts"}], choices=[False])

    assert (report.observed["input"], report.ledger[-1].at_ms) == ({"a": 1}, 99)  # type: ignore[attr-defined]
    assert late.observed["error"] == "Extension desk timed out after 100ms"
    assert no.observed["error"] == "shelf.ts asked, and the answer was no"


def test_a_scripted_handler_changes_only_objects_in_place() -> None:
    """wrapper/W-12: what has no parts cannot be changed, and the attempt is the handler's failure."""
    report = play(mode="yolo", args="text", handlers=[{"mutate": {"a": 1}, "ext": "shelf.ts"}])

    assert report.observed["error"] == "Extension shelf.ts failed: Cannot assign into text"


# Claims


def claimed(expected: dict[str, Any], **given: Any) -> Report:
    raw = {"id": "test", "scenario": "wrapper", "given": {**ASKING, **given}, "expected": expected}
    return run(parse_case(raw, "test"))


def test_every_claim_stands_beside_what_was_observed() -> None:
    """The `…Includes` fields ask for a part of a text; a field the run does not show agrees with nothing."""
    report = claimed(
        {
            "outcome": "throw",
            "prompts": 1,
            "effects": 1,
            "errorIncludes": "denied by user",
            "promptIncludes": "publish",
            "tier": "exec",
        },
        choices=["Deny"],
    )

    assert report.matches is False
    assert report.checks == (
        FieldCheck(field="outcome", expected="throw", observed="throw", agrees=True),
        FieldCheck(field="effects", expected=1, observed=0, agrees=False),
        FieldCheck(field="prompts", expected=1, observed=1, agrees=True),
        FieldCheck(field="tier", expected="exec", observed=UNSET, agrees=False),
        FieldCheck(
            field="errorIncludes",
            expected="denied by user",
            observed="Tool call denied by user: seed_note",
            agrees=True,
        ),
        FieldCheck(field="promptIncludes", expected="publish", observed=[PROMPT], agrees=True),
    )


@pytest.mark.parametrize(
    ("expected", "matches"),
    [
        ({}, None),
        ({"effects": 1}, True),
        ({"effects": 1, "input": {"action": "publish"}}, True),
        ({"effects": 0}, False),
    ],
)
def test_a_case_matches_only_what_it_claims(expected: dict[str, Any], matches: bool | None) -> None:
    """None where it claims nothing, which is not the same as a match."""
    assert claimed(expected, choices=["Approve"]).matches is matches


@pytest.mark.parametrize(
    ("expected", "choice", "matches"),
    [
        ({"errorIncludes": "denied by user"}, "Deny", True),
        ({"errorIncludes": "Denied by user"}, "Deny", False),
        ({"errorIncludes": "denied by user"}, "Approve", False),
        ({"promptIncludes": "Allow tool: seed_note"}, "Deny", True),
        ({"promptIncludes": "allow tool"}, "Deny", False),
    ],
)
def test_a_part_of_a_text_is_looked_for_as_it_is_written(
    expected: dict[str, Any], choice: str, matches: bool
) -> None:
    """Where there was no error, no part of one agrees."""
    assert claimed(expected, choices=[choice]).matches is matches


def test_an_observed_true_is_not_one() -> None:
    """Claims are compared as JSON values."""
    assert claimed({"input": {"n": True}}, mode="yolo", args={"n": 1}).matches is False


# The other scenarios


def test_resolution_alone_reports_rule_and_record() -> None:
    """`policy`, `source` and `rule` are ours to claim, the rest is as recorded."""
    report = run(
        a_case(
            "resolve",
            approval={"tier": "write", "reason": "because"},
            mode="always-ask",
            userPolicies={},
            details="json",
            args=PUBLISH,
        )
    )

    assert report.observed == {
        "resolved": {
            "policy": "prompt",
            "tier": "write",
            "override": False,
            "source": "mode",
            "reason": "because",
        },
        "tier": "write",
        "policy": "prompt",
        "source": "mode",
        "rule": "approval/R9",
        "required": {"required": True, "reason": "because"},
        "prompt": 'Allow tool: seed_note\nReason: because\nInput: {"action":"publish"}',
    }
    assert kinds(report.ledger) == []
    assert len(report.ledger) == 1


@pytest.mark.parametrize(
    ("given", "observed"),
    [
        (
            {"mode": "write", "userPolicies": {"a": "deny"}},
            {"approvalMode": "write", "userPolicies": {"a": "deny"}},
        ),
        ({"contextValue": "undefined", "mode": "write"}, {"approvalMode": "always-ask", "userPolicies": {}}),
        ({"contextValue": "null"}, {"approvalMode": "always-ask", "userPolicies": {}}),
        ({"settings": False, "autoApprove": True}, {"approvalMode": "yolo", "userPolicies": {}}),
        ({}, {"approvalMode": "yolo", "userPolicies": {}}),
    ],
)
def test_what_a_context_says(given: dict[str, Any], observed: dict[str, Any]) -> None:
    """approval/A-15 to approval/A-18, approval/A-22."""
    assert run(a_case("context", **given)).observed == observed


def test_a_rule_that_raises_is_an_observation() -> None:
    """approval/A-8."""
    assert run(a_case("resolve", approval={"fn": "throws"}, args={})).observed == {"throws": "approval rule failed"}


def test_the_hosts_other_scenarios_are_played_in_one_go() -> None:
    """They answer nobody's questions; their packages hold them to their own rules."""
    classified = run(a_case("classify-error", code="EACCES", message="x"))
    fallback = run(a_case("fallback", error={"code": "EACCES", "message": "x"}, handlers=[True]))
    rpc = run(
        a_case("rpc", method="confirm", title="Sure?", message="Really?", script=[{"reply": {"confirmed": True}}])
    )

    assert classified.observed == {"permissionDenied": True, "effects": 0}
    assert (fallback.observed["outcome"], fallback.observed["effects"]) == ("return", 1)
    assert rpc.observed["value"] is True
    assert all(report.finished and report.calls == () for report in (classified, fallback, rpc))
    assert heard(classified.ledger) == []
