"""Dialog adapters: whoever answers, and whenever, a call leaves the same ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engine_kit import ASKING, heard, kinds
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from labsim.case.model import Case
from labsim.errors import HostError, ThrownValue
from labsim.events.dialogs import QuestionAnswered, QuestionAsked, UiSelect
from labsim.js_values import text_of
from labsim.play.performance import Performance, run, start
from labsim.play.report import Report
from labsim.reading.reading import parse_case
from labsim.rpc.adapter import RpcUI
from labsim.stage.stage import AbortSignal, Question, Stage
from labsim.stage.ui import UI, Answer, Fails, FailsWith, InertUI, QuestionUI, Says, ScriptedUI
from labsim.terms import DialogKind

# Each adapter by itself

DIALOGS: dict[str, Callable[..., Any]] = {
    "select": lambda ui, **signal: ui.select("Which?", ["a", "b"], **signal),
    "confirm": lambda ui, **signal: ui.confirm("Sure?", "Really?", **signal),
    "input": lambda ui, **signal: ui.input("Name?", "a seed", **signal),
    "editor": lambda ui, **signal: ui.editor("Note?", "draft", **signal),
}
ADAPTERS: dict[str, Callable[[Stage], UI]] = {
    "inert": lambda stage: InertUI(),
    "scripted": lambda stage: ScriptedUI(stage, [Says(True)]),
    "open": QuestionUI,
    "rpc, scripted": lambda stage: RpcUI(stage, iter([Says(True)])),
    "rpc, open": lambda stage: RpcUI(stage, None),
}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("dialog", DIALOGS)
def test_a_dialog_opened_after_the_abort_leaves_no_trace(adapter: str, dialog: str) -> None:
    """rpc/R-33: nobody is asked, no answer is used up, and the ledger stays empty."""
    stage = Stage()
    ui = ADAPTERS[adapter](stage)
    task = stage.play(DIALOGS[dialog](ui, signal=AbortSignal(stage, aborted=True)))

    assert task.result() is (False if dialog == "confirm" else UNSET)
    assert (list(stage.ledger), stage.questions, stage.questions_asked) == ([], (), 0)


def test_nobody_there_answers_nothing() -> None:
    """wrapper/W-37, RPC has a UI: nothing, and false for a confirm."""
    stage = Stage()

    assert InertUI.has_ui is False
    assert [stage.play(dialog(InertUI())).result() for dialog in DIALOGS.values()] == [UNSET, False, UNSET, UNSET]
    assert list(stage.ledger) == []


@pytest.mark.parametrize("adapter", [name for name in ADAPTERS if name != "inert"])
def test_every_other_adapter_has_a_ui(adapter: str) -> None:
    """wrapper/W-37, rpc/R-61: RPC has one, too."""
    assert ADAPTERS[adapter](Stage()).has_ui is True


ANSWERS: list[tuple[str, Answer, Any, Any]] = [
    ("select", Says("a"), "a", "a"),
    ("select", Says("not offered"), "not offered", "not offered"),
    ("select", Says(UNSET), UNSET, None),
    ("confirm", Says(True), True, True),
    ("confirm", Says(False), False, False),
    ("confirm", Says("yes"), False, "yes"),
    ("confirm", Says(1), False, 1),
    ("confirm", Says(UNSET), False, None),
    ("input", Says("text"), "text", "text"),
    ("input", Says(UNSET), UNSET, None),
    ("editor", Says(""), "", ""),
    ("select", Fails("gone"), HostError, {"throw": "gone"}),
    ("confirm", Fails("gone"), HostError, {"throw": "gone"}),
    ("input", FailsWith([1]), ThrownValue, {"throwValue": [1]}),
]


@pytest.mark.parametrize(("dialog", "answer", "given_", "noted"), ANSWERS)
def test_a_script_and_a_person_leave_the_same_trace(dialog: str, answer: Answer, given_: Any, noted: Any) -> None:
    """The same answer comes back, or the same error; and the same two events stand in the ledger."""
    scripted, open_ = Stage(), Stage()
    by_script = scripted.play(DIALOGS[dialog](ScriptedUI(scripted, [answer])))
    by_person = open_.play(DIALOGS[dialog](QuestionUI(open_)))
    reply(answer, lambda value: open_.reply("q-1", value), lambda error: open_.fail("q-1", error))

    if isinstance(given_, type):
        for task in (by_script, by_person):
            with pytest.raises(given_):
                task.result()
    else:
        assert (by_script.result(), by_person.result()) == (given_, given_)
    assert list(scripted.ledger) == list(open_.ledger)
    asked, ended = scripted.ledger
    assert isinstance(asked, QuestionAsked)
    if dialog == "select":
        assert ended == UiSelect(at_ms=0, options=("a", "b"), choice=noted)
    else:
        assert ended == QuestionAnswered(at_ms=0, question_id="q-1", kind=DialogKind(dialog), answer=noted)


def test_a_script_that_runs_out_answers_nothing() -> None:
    """wrapper/W-79."""
    stage = Stage()
    ui = ScriptedUI(stage, [Says("a")])

    assert [stage.play(DIALOGS["select"](ui)).result() for _ in range(3)] == ["a", UNSET, UNSET]


def test_an_abort_closes_an_open_dialog() -> None:
    """wrapper/W-15, rpc/R-34: it ends without an answer, and a reply that comes afterwards is late."""
    stage = Stage()
    signal = AbortSignal(stage)
    task = stage.play(DIALOGS["input"](QuestionUI(stage), signal=signal))
    question = stage.questions[0]
    signal.abort()

    assert question == Question(id="q-1", kind=DialogKind.INPUT, title="Name?", placeholder="a seed")
    assert task.result() is UNSET
    assert not stage.reply("q-1", "too late")
    assert kinds(stage.ledger) == []


# The same case, whoever answers

JSON = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["Approve", "Deny", "x", ""])
ARGS = st.fixed_dictionaries({"action": st.sampled_from(["inspect", "reserve", "publish", "blocked"])})
CHOICES = st.sampled_from(["Approve", "Approve", "Deny", None, True, False, "approve"])
FAILURES = st.sampled_from([{"throw": "gone"}, {"throw": ""}, {"throwValue": 5}, {"throwValue": None}])
HANDLERS = st.one_of(
    st.fixed_dictionaries({"revise": ARGS}),
    st.just({"same": True}),
    st.fixed_dictionaries({"mutate": ARGS}),
    st.fixed_dictionaries({"block": JSON}, optional={"reason": JSON}),
    st.just({"throws": "broken"}),
    st.just({"throwsValue": [1]}),
    st.fixed_dictionaries({"returns": JSON | st.just({})}),
    st.fixed_dictionaries({"waits": st.sampled_from([0, 5, 99, 100, 150])}, optional={"revise": ARGS}),
    st.fixed_dictionaries({"asks": st.just("Really?")}, optional={"waits": st.just(60), "revise": ARGS}),
)
POLICIES = st.dictionaries(
    st.sampled_from(["seed_note", "seed_slot", "write", "other"]), st.sampled_from(["allow", "deny", "prompt"])
)
APPROVALS = st.sampled_from(
    [
        "read",
        "write",
        "exec",
        {"fn": "seed-slot"},
        {"fn": "seed-slot-reason"},
        {"fn": "override-publish"},
        {"tier": "read", "policy": "prompt", "reason": "because"},
        {"policy": "deny"},
    ]
)
MORE = {
    "mode": st.sampled_from(["always-ask", "write", "yolo"]),
    "userPolicies": POLICIES,
    "repeat": st.integers(1, 3),
    "handlers": st.lists(HANDLERS, max_size=3),
    "resultHandlers": st.lists(
        st.sampled_from([{"content": "changed"}, {"isError": True}, {"details": 1}, {"throws": "x"}]), max_size=2
    ),
    "lifecycle": st.sampled_from(["none", "requested", "resolved", "both", "throwing"]),
    "observe": st.booleans(),
    "observeResult": st.booleans(),
    "toolCallTimeoutMs": st.just(100),
    "abortAtMs": st.sampled_from([0, 50, 1000]),
    "signal": st.sampled_from(["live", "aborted"]),
    "executor": st.sampled_from(["error-result", "with-metadata", {"throw": "inert"}, {"throwValue": 1}]),
    "preview": st.sampled_from(["match", "wire", "other-id"]),
    "loopEmitted": st.sampled_from([True, 1]),
    "xdevApproved": st.just(True),
    "acpApprovedArgs": ARGS,
    "autoApprove": st.booleans(),
    "safetyCheck": st.booleans(),
    "sessionId": st.just("s-1"),
}


@st.composite
def cases(draw: st.DrawFn, *, choices: st.SearchStrategy[Any]) -> dict[str, Any]:
    scenario = draw(st.sampled_from(["wrapper", "wrapper", "dispatch"]))
    given = draw(
        st.fixed_dictionaries(
            {"approval": APPROVALS, "args": ARGS, "choices": st.lists(choices, max_size=4)}, optional=MORE
        )
    )
    return {"id": "drawn", "scenario": scenario, "given": {**ASKING, **given}}


def reply(answer: Any, say: Callable[[Any], object], fail: Callable[[HostError], object]) -> None:
    """Answer as a script would, through whatever is at hand."""
    if isinstance(answer, Fails):
        fail(HostError(answer.message))
    elif isinstance(answer, FailsWith):
        fail(ThrownValue(answer.value, text_of(answer.value)))
    else:
        say(answer.value)


def script(case: Case) -> Iterator[Answer]:
    from labsim.call.scripted import answers

    given: Any = case.given
    return answers(given.choices)


def answer(performance: Performance, question: Question, from_: Iterator[Answer]) -> None:
    reply(
        next(from_, Says(UNSET)),
        lambda value: performance.reply(question.id, value),
        lambda error: performance.fail(question.id, error),
    )


def played_at_once(case: Case) -> Report:
    from_ = script(case)
    return start(case, lambda performance, question: answer(performance, question, from_)).report()


def played_later(case: Case) -> Report:
    """One question at a time, from outside, long after the driver was told."""
    from_, told = script(case), list[str]()
    performance = start(case, lambda performance, question: told.append(question.id))
    while questions := performance.report().questions:
        assert [question.id for question in questions] == told[-1:]
        answer(performance, questions[0], from_)
    return performance.report()


DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=250)


@pytest.mark.slow
@DETERMINISTIC
@given(cases(choices=CHOICES | FAILURES))
def test_the_ledger_is_the_same_whoever_answers_and_whenever(raw: dict[str, Any]) -> None:
    """Design decision 1: a script, a driver that replies at once, and one who replies later take the same path."""
    case = parse_case(raw, "drawn")
    by_script, at_once, later = run(case), played_at_once(case), played_later(case)

    assert by_script.finished
    for other in (at_once, later):
        assert list(other.ledger) == list(by_script.ledger)
        assert (other.observed, other.calls, other.finished) == (by_script.observed, by_script.calls, True)


@pytest.mark.slow
@DETERMINISTIC
@given(cases(choices=CHOICES))
def test_a_client_over_rpc_changes_nothing_but_the_frames(raw: dict[str, Any]) -> None:
    """rpc/R-61, wrapper/W-80: the same outcome, the same prompts, the same events; only the select has another
    name.
    """
    plain = run(parse_case(raw, "drawn"))
    over_rpc = parse_case({**raw, "given": {**raw["given"], "ui": "rpc"}}, "drawn")
    by_script = run(over_rpc)

    renamed = [{**event, "event": event["event"].replace("rpc.", "ui.")} for event in heard(by_script.ledger)]
    assert renamed == heard(plain.ledger)
    assert {**by_script.observed} == {**plain.observed, "rpcRequests": plain.observed["prompts"]}
    for other in (played_at_once(over_rpc), played_later(over_rpc)):
        assert list(other.ledger) == list(by_script.ledger)
        assert other.observed == by_script.observed
