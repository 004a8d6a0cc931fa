"""The gate's cases: what they claim is what a run shows, live and scripted, with the case's approver or one's
own.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from labsim.case.model import CaseFile, GateCase
from labsim.errors import CaseError
from labsim.events.dialogs import LateReply
from labsim.gate.approvers import AllowAll, DenyAll, EditsButNotTheNetwork, pause
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest
from labsim.gate.base.terms import SideEffectLevel, judged
from labsim.gate.events import AnswerRefused, ApproverAnswered, ApproverAsked, ApproverFailed, CallDecided
from labsim.gate.gates import DenyAllGate
from labsim.gate.rules.store import MemoryRuleStore
from labsim.library import fixtures_dir
from labsim.play.gate import play_against, play_with
from labsim.play.performance import Performance, run, start
from labsim.reading.reading import parse_case, parse_file
from labsim.stage.stage import Question
from labsim.terms import Outcome

FILE: CaseFile = parse_file((fixtures_dir() / "gate-desk.json").read_bytes(), "gate-desk.json")
CASES = {case.id: case for case in FILE.cases if isinstance(case, GateCase)}
RULE = re.compile(r"gate/(?:[WOGAFRPVXMD]\d{1,2}|once)")


def made(**given: Any) -> GateCase:
    """A case of one tool per level and whatever else is given."""
    tools = [{"name": level.value, "level": level.value} for level in SideEffectLevel]
    tools.append({"name": "unknown", "level": "unknown"})
    case = parse_case(
        {"id": "made", "scenario": "gate", "given": {"tools": tools, "steps": [{"call": "LocalState"}], **given}},
        "test",
    )
    assert isinstance(case, GateCase)
    return case


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_case_shows_what_it_claims(case: GateCase):
    """Every claim of every case, and the same ledger when it is played again."""
    report = run(case)

    assert [check for check in report.checks if not check.agrees] == []
    assert (report.finished, report.matches) == (True, True)
    assert list(run(case).ledger) == list(report.ledger)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_case_says_which_rule_decided(case: GateCase):
    """A title, a reason that names a rule of the book `gate`, and sources that the file knows."""
    assert case.title
    assert case.id.startswith("gate-")
    assert case.rules
    assert all(RULE.fullmatch(rule) for rule in case.rules)
    assert set(RULE.findall(case.why)) & set(case.rules) or "gate/once" in case.why
    assert case.source_refs
    assert set(case.source_refs) <= set(FILE.sources)
    assert set(to_builtins(case.expected)) - {"outcome"}


def test_the_desk_covers_every_way_of_deciding_but_giving_up():
    """gate/O1: a call is settled at each of its steps in some case; giving a turn up is the tests' own."""
    seen = {by for case in CASES.values() for by in run(case).observed["decidedBy"]}

    assert seen == {"before-gate", "no-gate", "gate", "rule", "approver", "timeout", "error", "nobody"}
    assert len(CASES) == len(FILE.cases) >= 25


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_cases_calls_are_found_in_its_ledger(case: GateCase):
    """Each call is bounded by its first and last event, and has the outcome that its last one says."""
    report = run(case)

    for call in report.calls:
        events = list(report.ledger)[call.start : call.end]
        assert getattr(events[0], "tool_call_id", None) == call.tool_call_id
        assert type(events[0]).__name__ == "CallMade"
        if call.outcome is not None:
            assert type(events[-1]).__name__ == "ToolFinished"
            assert (call.error is not None) == (call.outcome is Outcome.ERROR_RESULT)


WATCHED = """
import sys
from pathlib import Path
from labsim.reading.reading import parse_file
from labsim.play.performance import run

file = parse_file(Path(sys.argv[1]).read_bytes(), "gate-desk.json")
run(file.cases[0])  # whatever is imported late is imported now
touched = []


def watch(name, arguments):
    if name.split(".")[0] in ("open", "os", "socket", "subprocess", "shutil", "sqlite3", "time"):
        touched.append((name, arguments))


sys.addaudithook(watch)
reports = [run(case) for case in file.cases]
print(len(reports), touched)
"""


def test_playing_the_cases_touches_nothing_outside_the_process():
    """Decision 6: no file, socket, process or database, in any case of this desk."""
    path = fixtures_dir() / "gate-desk.json"
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(path)], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == f"{len(FILE.cases)} []\n"


def test_a_tool_presents_something_else_and_fails_as_the_case_says():
    """gate/O4, gate/O11, gate/O14: what is shown and matched is what the tool presents; its failure is what the
    model reads.
    """
    tools = [{"name": "seal", "level": "External", "presents": {"seal": "red"}, "fails": "the wax is cold"}]
    rules = [{"scope": "global", "tool": "seal", "pattern": '{"seal":"red"}', "allow": True}]
    report = run(
        made(tools=tools, rules=rules, steps=[{"call": "seal", "input": {"colour": 4}}, {"clear": "global"}])
    )

    assert (report.observed["decidedBy"], report.observed["error"]) == (["rule"], "the wax is cold")
    assert (report.observed["input"], report.observed["rulesLeft"]) == ({"colour": 4}, [])


# ------------------------------------------------------------------------------------------------------------- live


def test_a_person_answers_a_case_live_as_a_script_would():
    """Decision 1: one path for a script and a click."""
    case = CASES["gate-second-call-asks-again"]
    answers = iter(["Allow", "Deny"])

    def driver(performance: Performance, question: Question) -> None:
        performance.reply(question.id, next(answers))

    live = start(case, driver).report()

    assert live.matches
    assert list(live.ledger) == list(run(case).ledger)


def test_a_case_waits_for_its_answer_and_takes_a_late_one_for_nothing():
    """gate/X2, gate/X4: an open question keeps the clock still; once it was moved past the bound, the answer is too
    late.
    """
    case = made(
        approver="dialog", timeoutMs=60_000, steps=[{"call": "LocalState"}, {"call": "None"}], watchMs=600_000
    )
    performance = start(case, lambda performance, question: None)
    assert (performance.report().finished, performance.stage.now_ms) == (False, 0)
    assert [question.id for question in performance.report().questions] == ["q-1"]

    performance.advance(60_000)
    assert performance.report().observed["decidedBy"] == ["timeout", "gate"]
    assert not performance.report().finished

    assert performance.reply("q-1", "Allow for this session")
    report = performance.report()
    assert report.finished
    assert (report.observed["effects"], report.observed["rulesLeft"], report.observed["runEnded"]) == (1, [], True)
    assert len([event for event in report.ledger if isinstance(event, AnswerRefused)]) == 2


def test_a_dialog_that_nobody_answers_ends_after_thirty_minutes_and_the_run_with_it():
    """gate/A21, gate/A22, gate/X9: the approver bounds itself; the question is withdrawn, and a reply to it is
    late.
    """
    performance = start(made(approver="dialog"), lambda performance, question: None)
    performance.advance(30 * 60_000)
    report = performance.report()

    assert (report.finished, report.observed["runEnded"], report.questions) == (True, True, ())
    assert report.observed["error"] == (
        "Tool execution denied: LocalState needs approval and the client did not answer within 30 minutes"
    )
    assert not performance.reply("q-1", "Allow")
    assert isinstance(list(performance.report().ledger)[-1], LateReply)


# ------------------------------------------------------------------------------------------- somebody's own policy

POLICY = CASES["gate-edits-not-the-network"]


class Right:
    """A learner's approver, as the chapter asks for it."""

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer | ApprovalDecision:
        if judged(request.side_effect_level) is SideEffectLevel.LOCAL_STATE:
            return ApprovalDecision.ALLOW
        return ApprovalAnswer().because("this run may change this checkout and nothing beyond it")


class TakesUnknownForHarmless:
    """The mistake that the chapter is about: an unknown level let through."""

    async def approve(self, request: ApprovalRequest) -> ApprovalDecision:
        if request.side_effect_level in (SideEffectLevel.PROCESS, SideEffectLevel.EXTERNAL):
            return ApprovalDecision.DENY
        return ApprovalDecision.ALLOW


class NamesTools:
    """The other mistake: a list of the tools that exist today."""

    async def approve(self, request: ApprovalRequest) -> ApprovalDecision:
        return ApprovalDecision.DENY if request.tool_name == "publish_list" else ApprovalDecision.ALLOW


def test_a_right_policy_of_ones_own_is_graded_right():
    """gate/A9: against levels that it cannot see the tools of, an unknown one among them."""
    assert play_with(POLICY, approver=Right()).matches
    assert play_with(POLICY, approver=EditsButNotTheNetwork()).matches


@pytest.mark.parametrize(
    ("approver", "decisions"),
    [
        (TakesUnknownForHarmless(), ["allow", "deny", "deny", "allow", "allow"]),
        (NamesTools(), ["allow", "allow", "deny", "allow", "allow"]),
        (AllowAll(), ["allow"] * 5),
        (DenyAll(), ["deny"] * 4 + ["allow"]),
    ],
    ids=["unknown-is-harmless", "names-tools", "allows-all", "denies-all"],
)
def test_a_wrong_policy_is_graded_wrong_and_the_ledger_shows_why(approver: Any, decisions: list[str]):
    """gate/A6, gate/A9: which call, which level, which answer."""
    report = play_with(POLICY, approver=approver)

    assert report.matches is False
    assert report.observed["decisions"] == decisions
    assert next(check for check in report.checks if check.field == "decisions").observed == decisions
    asked = [event.side_effect_level for event in report.ledger if isinstance(event, ApproverAsked)]
    assert asked == [SideEffectLevel.LOCAL_STATE, SideEffectLevel.PROCESS, SideEffectLevel.EXTERNAL, None]


def test_a_policy_that_raises_is_told_apart_from_one_that_refuses():
    """gate/A2: your code raised; the call is denied either way, and only one of them has an answer in the
    ledger.
    """

    class Raises:
        async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
            return ApprovalAnswer(request.level)  # type: ignore[attr-defined]

    report = play_with(POLICY, approver=Raises())

    assert report.matches is False
    assert [type(event) for event in report.ledger if isinstance(event, ApproverAnswered)] == []
    errors = {event.error for event in report.ledger if isinstance(event, ApproverFailed)}
    assert errors == {"AttributeError: 'ApprovalRequest' object has no attribute 'level'"}


def test_a_policy_that_never_answers_is_watched_for_a_day():
    """gate/X5: the report says that the run did not end; nothing hangs for real."""

    class Sleeps:
        async def approve(self, request: ApprovalRequest) -> ApprovalDecision:
            await pause(7 * 24 * 60 * 60 * 1000)
            return ApprovalDecision.ALLOW

    report = play_with(POLICY, approver=Sleeps())

    assert (report.finished, report.observed["runEnded"], report.observed["decisions"]) == (True, False, [])


def test_a_policy_may_take_its_time():
    """gate/X9: simulated time, at no cost."""

    class Thinks(Right):
        async def approve(self, request: ApprovalRequest) -> ApprovalAnswer | ApprovalDecision:
            await pause(60_000)
            return await super().approve(request)

    report = play_with(POLICY, approver=Thinks())

    assert report.matches
    assert [event.at_ms for event in report.ledger if isinstance(event, CallDecided)][:2] == [60_000, 120_000]


def test_a_gate_of_ones_own_takes_the_sessions_place():
    """gate/O19: and stays there over a resume, as its owner attaches it again."""
    report = play_with(CASES["gate-for-session-ends-at-resume"], approver=AllowAll(), gate=DenyAllGate())

    assert report.observed["decidedBy"] == ["gate", "gate", "gate"]


def test_a_policy_of_ones_own_answers_through_the_hosts_posture():
    """gate/M3: where the case's host has one."""
    never = replace(POLICY, given=replace(POLICY.given, policy="never"))

    assert play_with(never, approver=AllowAll()).observed["decidedBy"] == ["gate"] * 5


def test_a_store_of_ones_own_keeps_what_is_remembered():
    """gate/R2, gate/R7: the next play reads what the one before has written; nothing else of it is left."""
    case = made(approver="scripted", answers=["DenyForSession"], project="p", remembersIn="project")
    store = MemoryRuleStore()

    plays = [play_against(case, store).observed for _ in range(2)]

    assert [(seen["decidedBy"], seen["decisions"]) for seen in plays] == [
        (["approver"], ["deny"]),
        (["rule"], ["deny"]),
    ]


IN_MEMORY = {name: case for name, case in CASES.items() if case.given.store == "memory"}


@pytest.mark.parametrize("case", IN_MEMORY.values(), ids=IN_MEMORY)
def test_a_case_against_an_empty_store_shows_what_it_claims(case: GateCase):
    """Its dialogs are answered as when it is run, and its own rules are written first."""
    assert play_against(case, MemoryRuleStore()).observed == run(case).observed


# --------------------------------------------------------------------------------------------------- refused cases

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "two tools of one name",
        {"tools": [{"name": "a"}, {"name": "a"}], "steps": [{"call": "a"}]},
        "test.given.tools[1].name: 'a' is already the name of tools[0]. Give each tool a name of its own.",
    ),
    ("no steps", {"steps": []}, "test.given.steps: there are 0 steps. List 1 to 1000 of them."),
    (
        "no call",
        {"steps": [{"resume": True}]},
        'test.given.steps: nothing is called. Add {"call": TOOL}.',
    ),
    (
        "a step of two kinds",
        {"steps": [{"call": "None", "resume": True}]},
        "test.given.steps[0]: a step is of one kind, and this has 2. "
        "Use one of: call, together, remember, revoke, clear, switch, install, spawn, resume.",
    ),
    (
        "a step of no kind",
        {"steps": [{"input": {}}]},
        "test.given.steps[0]: a step is of one kind, and this has 0. "
        "Use one of: call, together, remember, revoke, clear, switch, install, spawn, resume.",
    ),
    (
        "an input without a call",
        {"steps": [{"resume": True, "input": {}}, {"call": "None"}]},
        "test.given.steps[0]: only a call has an input, an agent or an id. Remove them.",
    ),
    (
        "a step that does nothing",
        {"steps": [{"resume": False}, {"call": "None"}]},
        "test.given.steps[0].resume: this step does nothing. Remove it.",
    ),
    (
        "an empty round",
        {"steps": [{"together": []}, {"call": "None"}]},
        "test.given.steps[0].together: this step does nothing. Remove it.",
    ),
    (
        "a subagent that was never spawned",
        {"steps": [{"call": "None", "agent": "b"}]},
        "test.given.steps[0]: no subagent 'b' was spawned before. Add {\"spawn\": NAME} above.",
    ),
    (
        "a subagent of another session",
        {"steps": [{"spawn": "b"}, {"resume": True}, {"call": "None", "agent": "b"}]},
        "test.given.steps[2]: no subagent 'b' was spawned before. Add {\"spawn\": NAME} above.",
    ),
    (
        "answers that nobody gives",
        {"answers": ["Allow"]},
        'test.given.answers: nobody gives these answers. Set "approver" to "scripted", or remove them.',
    ),
    (
        "choices without a dialog",
        {"choices": ["Allow"], "approver": "dialog", "ui": False},
        'test.given.choices: no dialog is opened. Set "approver" to "dialog" or "terminal" and "ui" to true, '
        'or remove "choices".',
    ),
    (
        "a switch without a policy",
        {"steps": [{"switch": "never"}, {"call": "None"}]},
        'test.given.steps[0].switch: this host has no policy to switch. Add "policy" to "given".',
    ),
    (
        "an answer that switches nothing",
        {"approver": "scripted", "answers": [{"switch": "never"}]},
        'test.given.answers[0].switch: this host has no policy to switch. Add "policy".',
    ),
    (
        "a policy gate without a policy",
        {"sessionGate": "policy"},
        'test.given.sessionGate: this host has no policy to read. Add "policy".',
    ),
    (
        "a gate taken away",
        {"steps": [{"install": "none"}, {"call": "None"}]},
        "test.given.steps[0].install: a session's gate can be replaced, and not taken away. Name a gate.",
    ),
    (
        "a hook that does nothing",
        {"hooks": [{}]},
        "test.given.hooks[0]: a hook does one of two things. Use rewrite or refuse.",
    ),
    ("a bound of nought", {"timeoutMs": 0}, "test.given.timeoutMs: 0 is too little. Use 1 or more."),
    (
        "an answer before the question",
        {"approver": "scripted", "answers": [{"afterMs": -1}]},
        "test.given.answers[0].afterMs: -1 is too little. Use 0 or more.",
    ),
    (
        "a sink that was never there",
        {"sinkBreaksAt": 0},
        "test.given.sinkBreaksAt: 0 is too little. Use 1 or more.",
    ),
    (
        "a level that is none",
        {"tools": [{"name": "a", "level": "Local"}]},
        "test: given.tools[0].level: 'Local' is not allowed here. "
        "Use one of: None, LocalState, Process, External, unknown.",
    ),
]


@pytest.mark.parametrize(("given", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_cannot_be_played_is_refused_with_its_place(given: dict[str, Any], message: str):
    """Habit 5: where, what was found, what would do."""
    with pytest.raises(CaseError) as refused:
        made(**given)

    assert str(refused.value) == message
