"""Exercises: what is right, what is not yet, and what a learner is told of code that fails."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from labsim.api import ApprovalAnswer, ApprovalDecision, ApprovalRequest, SideEffectLevel, judged, pause
from labsim.errors import CaseError
from labsim.library import fixtures_dir
from workbook.check_chapter.exercises import check_exercises
from workbook.exercise.file import Exercise, parse_exercises, schema_text
from workbook.grading.grade import Grade, grade
from workbook.submission.sandbox import MOST_STEPS, MOST_WAITS

ALLOW, DENY = ApprovalDecision.ALLOW, ApprovalDecision.DENY
ALLOW_FOR_SESSION, DENY_FOR_SESSION = ApprovalDecision.ALLOW_FOR_SESSION, ApprovalDecision.DENY_FOR_SESSION
BEYOND = "this run may change this checkout and nothing beyond it"
ONLY_COUNT, STAYS = "only count-beds runs at night", "nothing leaves this machine at night"
FILE = fixtures_dir() / "exercises" / "gate-desk.json"
EXERCISES = parse_exercises(FILE.read_bytes(), FILE.name, "gate-desk")
POLICY, NIGHT = EXERCISES["edits-not-the-network"], EXERCISES["night-shift"]
Request = ApprovalRequest


# ------------------------------------------------------------------------------------------------------ the data


def test_every_situation_can_be_met() -> None:
    """Its own answers, those of somebody who does it right, show what it expects."""
    assert check_exercises(EXERCISES.values()) == []
    assert [(name, len(one.situations)) for name, one in EXERCISES.items()] == [
        ("edits-not-the-network", 7),
        ("night-shift", 8),
    ]


def test_the_policy_is_tried_at_every_level_that_is_put_up() -> None:
    """gate/A6 and gate/A10: unknown is among them, declared as such and lost on the way; a read is not, nobody is
    asked.
    """
    tools = [tool.level for case in POLICY.situations for tool in case.given.tools]

    assert set(tools) == {"LocalState", "Process", "External", "unknown"}
    assert [case.id for case in POLICY.situations if not case.given.classifies] == ["policy-level-lost"]


def made(form: str, **parts: Any) -> bytes:
    """A file with one exercise of that form."""
    exercise = {"id": "a", "form": form, "task": "t", **parts}
    return json.dumps({"schemaVersion": 1, "chapter": "gate-desk", "exercises": [exercise]}).encode()


CALL: dict[str, Any] = {"id": "s", "title": "t", "scenario": "wrapper", "given": {}, "why": "w"}
SWEEP: dict[str, Any] = {
    "id": "sweep",
    "title": "t",
    "why": "w",
    "vary": [[{"mode": "write"}]],
    "holds": [{"kind": "consent", "says": "s"}],
}
TRACE: dict[str, Any] = {
    "piece": "guard-of-the-request",
    "scenario": "wrapper",
    "opens": ["args"],
    "broken": {"kind": "never", "says": "s"},
    "why": "w",
}
BROKEN_FILES: dict[str, tuple[bytes, str]] = {
    "no json": (b"{", "x.json: line 1"),
    "another chapter": (
        b'{"schemaVersion": 1, "chapter": "other", "exercises": []}',
        "x.json: chapter: 'other' is another chapter. Use 'gate-desk'.",
    ),
    "unknown key": (
        b'{"schemaVersion": 1, "chapter": "gate-desk", "exercises": [{"id": "a", "form": "policy", "task": "t", '
        b'"situations": [], "answer": "x"}]}',
        "x.json: exercises[0]: object contains unknown field `answer`.",
    ),
    "no situation": (
        b'{"schemaVersion": 1, "chapter": "gate-desk", "exercises": [{"id": "a", "form": "policy", "task": "t", '
        b'"situations": []}]}',
        "x.json: exercises[0] (a).situations: there are none.",
    ),
    "no gate": (
        b'{"schemaVersion": 1, "chapter": "gate-desk", "exercises": [{"id": "a", "form": "policy", "task": "t", '
        b'"situations": [{"id": "s", "scenario": "wrapper", "given": {}}]}]}',
        "x.json: exercises[0] (a).situations[0].scenario: 'wrapper' asks no approver. Use 'gate'.",
    ),
    "no why": (
        b'{"schemaVersion": 1, "chapter": "gate-desk", "exercises": [{"id": "a", "form": "policy", "task": "t", '
        b'"situations": [{"id": "s", "scenario": "gate", "given": {"tools": [], "steps": [{"call": "x"}]}}]}]}',
        "x.json: exercises[0] (a).situations[0]: a title or a why is missing.",
    ),
    "blank task": (
        b'{"schemaVersion": 1, "chapter": "gate-desk", "exercises": [{"id": "a", "form": "policy", "task": " ", '
        b'"situations": []}]}',
        "x.json: exercises[0] (a).task: the text is blank.",
    ),
    "unknown form": (
        b'{"schemaVersion": 1, "chapter": "gate-desk", "exercises": [{"id": "a", "form": "poem", "task": "t"}]}',
        "x.json: exercises[0].form: invalid value 'poem'. An exercise has id, form (one of policy, approver,",
    ),
    "no form": (
        b'{"schemaVersion": 1, "chapter": "gate-desk", "exercises": [{"id": "a", "task": "t"}]}',
        "x.json: exercises[0]: object missing required field `form`. An exercise has id, form",
    ),
    "a key of another form": (
        made("handler", situations=[], piece="guard-of-the-request"),
        "x.json: exercises[0]: object contains unknown field `piece`. "
        "An exercise of the form handler has id, task, rules, hints, situations and sweeps.",
    ),
    "settings for the second host": (
        made(
            "settings",
            situations=[{"id": "s", "scenario": "gate", "given": {"tools": [], "steps": [{"call": "x"}]}}],
        ),
        "x.json: exercises[0] (a).situations[0].scenario: 'gate' makes no calls at the first host. Use 'wrapper',",
    ),
    "a handler in a batch": (
        made("handler", situations=[CALL | {"scenario": "loop", "given": {"calls": [{"name": "seed_note"}]}}]),
        "x.json: exercises[0] (a).situations[0].scenario: 'loop' takes no handler from outside. Use 'wrapper'.",
    ),
    "an approver's situation without its case": (
        made("answers", situations=[{"id": "s", "scenario": "wrapper", "given": {}}]),
        "x.json: exercises[0].situations[0]: object contains unknown field `id`. An exercise of the form answers",
    ),
    "a person who says it earlier": (
        made("answers", situations=[{"case": CALL, "person": [{"says": "Approve", "afterMs": -1}]}]),
        "x.json: exercises[0] (a).situations[0].person[0].afterMs: -1 is in the past.",
    ),
    "a sweep that holds nobody to anything": (
        made("settings", situations=[CALL], sweeps=[SWEEP | {"holds": []}]),
        "x.json: exercises[0] (a).sweeps[0] (sweep).holds: nothing has to hold.",
    ),
    "a sweep that makes nothing": (
        made("settings", situations=[CALL], sweeps=[SWEEP | {"vary": [[]]}]),
        "x.json: exercises[0] (a).sweeps[0] (sweep).vary: this makes 0 situations. Have it make 1 to 2000.",
    ),
    "a sweep that makes too many": (
        made("settings", situations=[CALL], sweeps=[SWEEP | {"vary": [[{}] * 50, [{}] * 50]}]),
        "x.json: exercises[0] (a).sweeps[0] (sweep).vary: this makes 2500 situations. Have it make 1 to 2000.",
    ),
    "two sweeps of one name": (
        made("settings", situations=[CALL], sweeps=[SWEEP, SWEEP]),
        "x.json: exercises[0] (a).sweeps[1] (sweep).id: it is blank, or taken.",
    ),
    "a sweep without a title": (
        made("settings", situations=[CALL], sweeps=[SWEEP | {"title": " "}]),
        "x.json: exercises[0] (a).sweeps[0] (sweep): a title or a why is missing.",
    ),
    "an invariant that there is not": (
        made("settings", situations=[CALL], sweeps=[SWEEP | {"holds": [{"kind": "always", "says": "s"}]}]),
        "x.json: exercises[0].sweeps[0].holds[0].kind: invalid enum value 'always'.",
    ),
    "a piece that nobody wrote": (
        made("trace", **(TRACE | {"piece": "perfect-host"})),
        "x.json: exercises[0].piece: invalid enum value 'perfect-host'.",
    ),
    "a trace that may set nothing": (
        made("trace", **(TRACE | {"opens": []})),
        "x.json: exercises[0] (a).opens: it is empty. Name what a trace may set, such as args.",
    ),
    "a key that is given and open": (
        made("trace", **(TRACE | {"given": {"args": 1}})),
        "x.json: exercises[0] (a).opens: 'args' is in given as well. Leave it in one of the two.",
    ),
    "a key that its scenario has not": (
        made("trace", **(TRACE | {"opens": ["args", "calls"]})),
        "x.json: exercises[0] (a).opens: 'calls' is no key of a wrapper case's given.",
    ),
    "a trace without a why": (
        made("trace", **(TRACE | {"why": ""})),
        "x.json: exercises[0] (a).why: the text is blank. Say why the flawed piece fell.",
    ),
    "a case that claims nothing": (
        made("case", scenarios=["wrapper"], claims=[]),
        "x.json: exercises[0] (a): scenarios or claims is empty.",
    ),
    "a case of the second host": (
        made("case", scenarios=["gate"], claims=["effects"]),
        "x.json: exercises[0].scenarios[0]: invalid enum value 'gate'.",
    ),
    "id taken": (
        FILE.read_bytes().replace(b'"night-shift"', b'"edits-not-the-network"'),
        "x.json: exercises[1] (edits-not-the-network).id: it is blank, or taken.",
    ),
}


@pytest.mark.parametrize(("data", "said"), BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_a_broken_file_is_refused_with_its_place(data: bytes, said: str) -> None:
    """An instructor reads where it is, what was found, and what would do."""
    with pytest.raises(CaseError) as refused:
        parse_exercises(data, "x.json", "gate-desk")

    assert str(refused.value).startswith(said)


SCHEMAS = fixtures_dir() / "schema"


def test_the_schema_of_exercises_is_the_one_that_the_code_makes() -> None:
    """It is written by the code that reads the files, so an editor cannot be told anything else."""
    assert (SCHEMAS / "exercises.schema.json").read_text(encoding="utf-8") == schema_text()


@pytest.mark.parametrize("path", sorted((fixtures_dir() / "exercises").glob("*.json")), ids=lambda path: path.stem)
def test_the_built_in_exercises_are_what_the_schema_describes(path: Path) -> None:
    """Situations included, which the schema of cases describes; and a key that nobody knows is found by both."""
    cases = json.loads((SCHEMAS / "case.schema.json").read_bytes())
    registry = Registry().with_resource("case.schema.json", Resource.from_contents(cases))
    validator = Draft202012Validator(json.loads(schema_text()), registry=registry)
    exercises = json.loads(path.read_bytes())

    assert list(validator.iter_errors(exercises)) == []
    exercises["exercises"][0]["situations"][0]["given"]["colour"] = "green"
    assert list(validator.iter_errors(exercises)) != []


def test_a_situation_that_its_own_answers_do_not_meet_is_found() -> None:
    """Otherwise nobody could ever be right."""
    data = FILE.read_bytes().replace(b'"asked": 1', b'"asked": 2')
    found = check_exercises(parse_exercises(data, "x.json", "gate-desk").values())

    assert [str(error) for error in found] == [
        "night-shift: approver-refused-once-for-good.expected.asked: 2 is expected, and its own answers show 1. "
        "Mend the expectation, or the answers."
    ]


# ------------------------------------------------------------------------------------------- right, and not yet


def edits_only(request: Request) -> ApprovalAnswer | ApprovalDecision:
    if request.side_effect_level is SideEffectLevel.LOCAL_STATE:
        return ALLOW
    return ApprovalAnswer().because(BEYOND)


async def edits_only_async(request: Request) -> ApprovalAnswer | ApprovalDecision:
    return edits_only(request)


class EditsOnly:
    def approve(self, request: Request) -> ApprovalAnswer | ApprovalDecision:
        return edits_only(request)


class NightShift:
    async def approve(self, request: Request) -> ApprovalAnswer | ApprovalDecision:
        level = judged(request.side_effect_level)
        if level is SideEffectLevel.EXTERNAL:
            return ApprovalAnswer(DENY_FOR_SESSION).because(STAYS)
        if level is SideEffectLevel.LOCAL_STATE or request.input == {"command": "count-beds"}:
            return ALLOW
        return ApprovalAnswer().because(ONLY_COUNT)


async def night_shift(request: Request) -> ApprovalAnswer | ApprovalDecision:
    await pause(60_000)  # it thinks for a minute; nobody set a limit
    return await NightShift().approve(request)


class StatefulNightShift(NightShift):
    """Right once: it answers one request for each of its makings as it should, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    async def approve(self, request: Request) -> ApprovalAnswer | ApprovalDecision:
        self.asked += 1
        assert self.asked <= 2, "it was asked in another situation before"
        return await super().approve(request)


@pytest.mark.parametrize("handed_in", [edits_only, edits_only_async, EditsOnly], ids=lambda one: one.__name__)
def test_a_right_policy_is_right_in_whatever_shape(handed_in: object) -> None:
    """A function, an async function, or a class."""
    graded = grade(POLICY, handed_in)

    assert (graded.grade, graded.failing) == (Grade.RIGHT, None)
    assert str(graded).startswith("Exercise edits-not-the-network: right")


@pytest.mark.parametrize("handed_in", [NightShift, night_shift, StatefulNightShift], ids=lambda one: one.__name__)
def test_a_right_approver_is_right_in_whatever_shape(handed_in: object) -> None:
    """A class, which is made anew for each situation, or an async function; thinking takes simulated time only."""
    assert grade(NIGHT, handed_in).grade is Grade.RIGHT


def by_name(request: Request) -> ApprovalAnswer | ApprovalDecision:
    return ALLOW if request.tool_name == "edit_catalog" else ApprovalAnswer().because(BEYOND)


def by_a_word_in_the_name(request: Request) -> ApprovalAnswer | ApprovalDecision:
    allowed = "edit" in request.tool_name or "stamp" in request.tool_name
    return ALLOW if allowed else ApprovalAnswer().because(BEYOND)


def all_that_stays_here(request: Request) -> ApprovalAnswer | ApprovalDecision:
    if request.side_effect_level in (SideEffectLevel.LOCAL_STATE, SideEffectLevel.PROCESS):
        return ALLOW
    return ApprovalAnswer().because(BEYOND)


def all_but_what_leaves(request: Request) -> ApprovalAnswer | ApprovalDecision:
    if request.side_effect_level in (SideEffectLevel.EXTERNAL, SideEffectLevel.PROCESS):
        return ApprovalAnswer().because(BEYOND)
    return ALLOW


def without_a_reason(request: Request) -> ApprovalAnswer | ApprovalDecision:
    return ALLOW if request.side_effect_level is SideEffectLevel.LOCAL_STATE else DENY


BAD_POLICIES: dict[Callable[..., Any], str] = {
    by_name: "policy-connected-later",
    by_a_word_in_the_name: "policy-misleading-names",
    all_that_stays_here: "policy-a-command",
    all_but_what_leaves: "policy-nobody-knows",
    without_a_reason: "policy-edit-and-publish",
    lambda request: ALLOW: "policy-edit-and-publish",
    lambda request: ApprovalAnswer().because(BEYOND): "policy-edit-and-publish",
}


@pytest.mark.parametrize(
    ("handed_in", "fails_at"), BAD_POLICIES.items(), ids=[f.__name__.strip("<>") for f in BAD_POLICIES]
)
def test_a_wrong_policy_is_not_yet_right_and_the_first_situation_says_so(
    handed_in: Callable[..., Any], fails_at: str
) -> None:
    """Known-bad submissions, each with the situation in which it shows."""
    graded = grade(POLICY, handed_in)

    assert graded.grade is Grade.NOT_YET
    assert graded.failing is not None
    assert graded.failing.case.id == fails_at


def answering(**answers: ApprovalAnswer | ApprovalDecision) -> type:
    """The night shift, with some of its answers exchanged: `edit`, `count`, `other` or `leaves`."""

    class Exchanged(NightShift):
        async def approve(self, request: Request) -> ApprovalAnswer | ApprovalDecision:
            level = judged(request.side_effect_level)
            kind = (
                "leaves"
                if level is SideEffectLevel.EXTERNAL
                else "edit"
                if level is SideEffectLevel.LOCAL_STATE
                else "count"
                if request.input == {"command": "count-beds"}
                else "other"
            )
            return answers[kind] if kind in answers else await super().approve(request)

    return Exchanged


class InputFirst(NightShift):
    async def approve(self, request: Request) -> ApprovalAnswer | ApprovalDecision:
        return ALLOW if request.input == {"command": "count-beds"} else await super().approve(request)


class BeginsLike(NightShift):
    async def approve(self, request: Request) -> ApprovalAnswer | ApprovalDecision:
        given = request.input if isinstance(request.input, dict) else {}
        begins = str(given.get("command", "")).startswith("count-beds")
        local = request.side_effect_level is SideEffectLevel.PROCESS
        return ALLOW if local and begins else await super().approve(request)


class TrustsTheUnknown(NightShift):
    async def approve(self, request: Request) -> ApprovalAnswer | ApprovalDecision:
        return ALLOW if request.side_effect_level is None else await super().approve(request)


BAD_APPROVERS: dict[str, tuple[type, str]] = {
    "the count is allowed for the session": (
        answering(count=ALLOW_FOR_SESSION),
        "approver-another-command-after-the-count",
    ),
    "another command is refused for the session": (
        answering(other=ApprovalAnswer(DENY_FOR_SESSION).because(ONLY_COUNT)),
        "approver-the-count-after-another-command",
    ),
    "a publication is refused once only": (
        answering(leaves=ApprovalAnswer(DENY).because(STAYS)),
        "approver-refused-once-for-good",
    ),
    "a refusal has no reason": (answering(leaves=DENY_FOR_SESSION), "approver-refused-once-for-good"),
    "unknown is let pass": (TrustsTheUnknown, "approver-nobody-knows"),
    "the input comes before the level": (InputFirst, "approver-the-words-of-the-count"),
    "the command only begins like it": (BeginsLike, "approver-almost-the-count"),
    "edits are refused": (answering(edit=DENY), "approver-edit-and-count"),
}


@pytest.mark.parametrize(("handed_in", "fails_at"), BAD_APPROVERS.values(), ids=BAD_APPROVERS)
def test_a_wrong_approver_is_not_yet_right_and_the_first_situation_says_so(handed_in: type, fails_at: str) -> None:
    """Known-bad submissions, each with the situation in which it shows."""
    graded = grade(NIGHT, handed_in)

    assert graded.grade is Grade.NOT_YET
    assert graded.failing is not None
    assert graded.failing.case.id == fails_at


def test_what_is_not_yet_right_is_shown_with_the_ledger_that_shows_why() -> None:
    """Which situation, what should have come out, why, and the rows: here a rule that answered unasked."""
    graded = grade(NIGHT, answering(count=ALLOW_FOR_SESSION))

    said = str(graded)
    assert "7 of 8 situations come out as they should. The first that does not: first the count" in said
    assert 'decidedBy      ["approver","approver"]' in said
    assert "Rows 20, 22 of the ledger show it." in said
    assert "20  call_decided          run_script may run, by a remembered rule" in said
    assert '<tr class="cedar-differs">' in graded.page().html()


def test_what_is_right_is_shown_with_all_that_was_tried() -> None:
    """Only now are the situations named, with what the approver was asked about."""
    said = str(grade(POLICY, edits_only))

    assert "All 7 situations come out as they should, those included that you could not see." in said
    assert "An edit whose level was lost on the way                edit_catalog (unknown)         deny" in said


# ------------------------------------------------------------------------------------------ code that fails


class Counted:
    """Counts what it is asked, wherever it is made."""

    asked = 0


class OutsideWait:
    async def approve(self, request: Request) -> None:
        await asyncio.sleep(1)


class OutsideFuture:
    async def approve(self, request: Request) -> None:
        await _Foreign()


class _Foreign:
    def __await__(self) -> Any:
        yield self


class NeverBack:
    async def approve(self, request: Request) -> None:
        await pause(10**12)


class AsksForEver:
    async def approve(self, request: Request) -> ApprovalDecision:
        while True:
            Counted.asked += 1
            await pause(10)


class SpinsOnOneLine:
    async def approve(self, request: Request) -> ApprovalDecision:
        while True: pass  # fmt: skip  # noqa: E701  # no line event ever comes from it


class SwallowsAndSpins:
    async def approve(self, request: Request) -> ApprovalDecision:
        while True:
            try:
                Counted.asked += 1
            except Exception:
                return ALLOW


class CallsItself:
    async def approve(self, request: Request) -> Any:
        return await self.approve(request)


class Leaves:
    async def approve(self, request: Request) -> ApprovalDecision:
        raise SystemExit


class NoWords(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Speechless:
    async def approve(self, request: Request) -> ApprovalDecision:
        raise NoWords


class Wordless:
    async def approve(self, request: Request) -> Any:
        return NoWords()


class NotAsync:
    def approve(self, request: Request) -> ApprovalDecision:
        return ALLOW


class CannotBeMade:
    def __init__(self) -> None:
        raise ValueError("no beds")


class MakingNeverEnds:
    def __init__(self) -> None:
        while True:
            Counted.asked += 1


def forgets_to_return(request: Request) -> ApprovalDecision | None:
    if request.side_effect_level is SideEffectLevel.LOCAL_STATE:
        return ALLOW
    return None


def looks_into_the_input(request: Request) -> ApprovalDecision:
    return ALLOW if request.input["bed"] else DENY


AT_EDIT, AT_PUBLISH = "edit_catalog (LocalState)", "publish_list (External)"
RAN_ON = f"It never came to an answer about {AT_EDIT}: it "
OUTSIDE = f"It waited for something outside the simulated host, asked about {AT_EDIT}. Time is simulated here"
FAILING: dict[str, tuple[Exercise, object, str]] = {
    "no return": (POLICY, forgets_to_return, f"It returned nothing about {AT_PUBLISH}. Does every way"),
    "true": (POLICY, lambda request: True, f"It returned True about {AT_EDIT}, which is no decision."),
    "a text": (POLICY, lambda request: "Allow", f"It returned 'Allow' about {AT_EDIT}, which is no decision."),
    "raises": (POLICY, looks_into_the_input, "It raised KeyError: 'bed', at line "),
    "wants two": (POLICY, lambda one, two: ALLOW, "It raised TypeError: "),
    "no function": (POLICY, 5, "Hand in a function of one request; this is 5."),
    "waits outside": (NIGHT, OutsideWait, OUTSIDE),
    "waits for a stranger": (NIGHT, OutsideFuture, OUTSIDE),
    "never back": (NIGHT, NeverBack, "It never answered: a simulated day later, the run still waits for it."),
    "asks for ever": (NIGHT, AsksForEver, f"{RAN_ON}had waited {MOST_WAITS:,} times and still gave no answer."),
    "spins": (NIGHT, SpinsOnOneLine, f"{RAN_ON}was still running after {MOST_STEPS:,} steps of Python."),
    "swallows": (NIGHT, SwallowsAndSpins, f"{RAN_ON}was still running after {MOST_STEPS:,} steps of Python."),
    "calls itself": (NIGHT, CallsItself, "It raised RecursionError: "),
    "leaves": (NIGHT, Leaves, "It raised SystemExit, at line "),
    "raises what has no words": (NIGHT, Speechless, "It raised NoWords, at line "),
    "returns what has no words": (NIGHT, Wordless, f"It returned something of type NoWords about {AT_EDIT}"),
    "plain def": (NIGHT, NotAsync, "It is a plain def, and the host awaits an approver. Write async def approve."),
    "an instance": (NIGHT, NightShift(), "This is one NightShift. Hand in the class itself, NightShift without"),
    "cannot be made": (NIGHT, CannotBeMade, "Making one of it raised ValueError: no beds."),
    "making never ends": (NIGHT, MakingNeverEnds, "Making one of it never ended: it was still running after"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "handed_in", "said"), FAILING.values(), ids=FAILING)
def test_code_that_fails_is_told_what_happened_in_words(exercise: Exercise, handed_in: object, said: str) -> None:
    """No traceback, no hanging, and no confusing it with a wrong answer: the fourth kind of verdict."""
    traced = sys.gettrace()

    graded = grade(exercise, handed_in)

    assert graded.grade is Grade.FAILED
    text = " ".join(str(graded).split())
    assert f"Your code failed. {' '.join(said.split())}" in text
    assert "Traceback" not in text
    assert sys.gettrace() is traced  # a debugger's, or that of a run which measures coverage


def test_a_failure_is_no_consent_and_the_ledger_says_so() -> None:
    """gate/A2: what raised is refused by the host, in the run that the learner is shown."""
    failing = grade(NIGHT, Leaves).failing
    assert failing is not None

    kinds = [event.kind_name() for event in failing.report.ledger]
    assert "approver_failed" in kinds
    assert "execute" not in kinds
    assert failing.report.observed["runEnded"] is True


def test_an_earlier_wrong_answer_is_told_before_a_later_failure() -> None:
    """What a learner reads first is what comes first."""

    class WrongThenBroken(NightShift):
        async def approve(self, request: Request) -> ApprovalAnswer | ApprovalDecision:
            if isinstance(request.input, str):
                raise RuntimeError("a text")
            return await answering(count=ALLOW_FOR_SESSION)().approve(request)

    graded = grade(NIGHT, WrongThenBroken)

    assert graded.grade is Grade.NOT_YET
    assert graded.failing is not None
    assert graded.failing.case.id == "approver-another-command-after-the-count"


def test_what_a_learner_returns_is_shown_as_text() -> None:
    """Markup in a value stays text, and control characters are visible."""
    shown = grade(POLICY, lambda request: "<img src=x onerror=alert(1)>\x1b[31m").page()

    assert "<img" not in shown.html()
    assert "&lt;img src=x onerror=alert(1)&gt;\\x1b[31m" in shown.html()


def test_nothing_handed_in_is_not_attempted() -> None:
    """The three dots, whether they are the answer or the submission."""
    for nothing in (None, ..., lambda request: ...):
        assert grade(POLICY, nothing).grade is Grade.NOT_ATTEMPTED
