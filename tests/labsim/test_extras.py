"""What a chapter adds to the engine by name, and that a name nobody registered is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

import workbook as wb
from labsim import extras
from labsim.describe.ledger import case_lines
from labsim.errors import CaseError
from labsim.extras import BadExtra, Given, Kit
from labsim.play.own_kind import ExtraFailed, Host
from labsim.play.performance import run, start
from labsim.play.report import Report
from labsim.reading.reading import parse_case, parse_file
from labsim.terms import Outcome
from workbook.chapter.engine import EngineFailed, load_engine
from workbook.learner.who import Learner
from workbook.live.play import LivePlay


@pytest.fixture
def kit() -> Iterator[Kit]:
    """A chapter's kit; what it registers is forgotten afterwards."""
    yield Kit("my-desk")
    Kit("my-desk")


def case(scenario: str = "wrapper", **given: Any) -> Any:
    return {"id": "own", "scenario": scenario, "given": given}


def played(scenario: str = "wrapper", **given: Any) -> Report:
    return run(parse_case(case(scenario, **given), "a case"))


class Queue(Given, frozen=True, kw_only=True):
    """Several inputs for one tool, a second apart."""

    inputs: list[Any]


async def play_queue(given: Queue, host: Host) -> dict[str, Any]:
    for number, value in enumerate(given.inputs):
        if number:
            await host.sleep(1_000)
        await host.call({"approval": "exec", "args": value, "mode": "always-ask"})
    return {"revision": len(given.inputs)}


# ------------------------------------------------------------------------------------------------------- registered


def test_a_registered_rule_stands_as_a_tools_declaration(kit: Kit) -> None:
    """It is asked for each call, with the call's arguments."""
    kit.approval_rule("after-dusk", lambda args: "exec" if args["hour"] > 18 else "read")
    seen = [
        played(approval={"fn": "my-desk/after-dusk"}, args={"hour": hour}, mode="always-ask", choices=["Approve"])
        for hour in (9, 20)
    ]

    assert [report.observed["prompts"] for report in seen] == [0, 1]


def test_a_registered_handler_hears_the_call_and_may_refuse_it(kit: Kit) -> None:
    """It is a handler like any other: it has the event, and a context to ask and to wait with."""

    async def asks(event: Any, context: Any) -> Any:
        await context.sleep(500)
        agreed = await context.confirm("desk", "Is it open?")
        return None if agreed else {"block": True, "reason": f"not {event.input['action']}"}

    kit.handler("asks-first", asks)
    given = {"approval": "read", "args": {"action": "count"}, "handlers": [{"fn": "my-desk/asks-first"}]}
    yes, no = (played(**given, choices=[answer]) for answer in (True, False))

    assert (yes.observed["outcome"], no.observed["outcome"]) == ("return", "throw")
    assert no.observed["error"] == "not count"
    assert yes.ledger.snapshot()[-1].at_ms == 500


def test_a_registered_tool_brings_its_declaration_its_prompt_and_its_result(kit: Kit) -> None:
    """The host knows it by its own name; a case may still declare otherwise."""
    kit.tool("label_printer", approval="write", details=lambda args: ["One label"], runs=lambda args: args["text"])
    own = {"tool": "my-desk/label_printer", "args": {"text": "Beans"}, "mode": "write"}
    asked = played(**{**own, "mode": "always-ask"}, choices=["Approve"])

    assert asked.observed["promptTexts"] == ["Allow tool: label_printer\nOne label"]
    assert "result: Beans" in "\n".join(case_lines(asked))
    assert played(**own).observed["prompts"] == 0
    assert played(**own, approval="exec", choices=["Approve"]).observed["prompts"] == 1
    denied = played(**own, userPolicies={"label_printer": "deny"})
    assert denied.observed["error"].startswith('Tool "label_printer" is blocked by user policy.')


def test_a_registered_scenario_is_played_on_the_engines_stage(kit: Kit) -> None:
    """Its calls go through the real wrapper, into one ledger, and the usual counters are read from there."""
    kit.scenario("queue", Queue, play_queue)
    report = played("my-desk/queue", inputs=[{"bed": 1}, {"bed": 2}], choices=["Approve"])

    assert [call.outcome for call in report.calls] == [Outcome.RETURN, Outcome.THROW]
    assert {key: report.observed[key] for key in ("outcome", "effects", "prompts", "toolCalls", "revision")} == {
        "outcome": "throw",
        "effects": 1,
        "prompts": 2,
        "toolCalls": 2,
        "revision": 2,
    }
    assert (report.observed["input"], report.ledger.snapshot()[-1].at_ms) == ({"bed": 1}, 1_000)
    assert (
        list(played("my-desk/queue", inputs=[{"bed": 1}], choices=["Approve"]).ledger)
        == list(report.ledger.snapshot())[: report.calls[0].end]
    )


def test_a_registered_scenario_is_drawn_like_any_other_that_makes_calls(kit: Kit) -> None:
    """By call, with the lanes of the wrapper; also for the scripted learner, who answers its dialogs one by one."""
    kit.scenario("queue", Queue, play_queue)
    raw = case("my-desk/queue", inputs=[{"bed": 1}, {"bed": 2}], choices=["Approve"])
    live = LivePlay(parse_case(raw, "a case"), Learner.SCRIPTED)
    lifecycle, sequence = str(wb.lifecycle(live)), str(wb.sequence(live))

    assert live.report().finished
    assert "call-2     1  tool_call                handlers see" in lifecycle
    assert "caller   wrapper   handlers   person   tool" in sequence
    assert str(wb.steps(live)) != ""


def test_a_person_can_answer_in_a_registered_scenario(kit: Kit) -> None:
    """It waits at the open question, and goes on from there."""
    kit.scenario("queue", Queue, play_queue)
    open_: list[str] = []
    live = start(
        parse_case(case("my-desk/queue", inputs=[{"bed": 1}]), "a case"),
        lambda performance, question: open_.append(question.id),
    )
    waiting = live.report()
    live.reply(open_[0], "Approve")

    assert (waiting.finished, waiting.observed["effects"], len(waiting.calls)) == (False, 0, 1)
    assert (live.report().finished, live.report().observed["outcome"]) == (True, "return")


def test_nobody_to_ask_and_a_client_over_a_pipe_are_given_as_in_other_cases(kit: Kit) -> None:
    """`ui` is read from the case."""
    kit.scenario("queue", Queue, play_queue)
    alone = played("my-desk/queue", inputs=[{}], ui=False)
    piped = played("my-desk/queue", inputs=[{}], ui="rpc", choices=["Approve"])

    assert (alone.observed["outcome"], alone.observed["prompts"]) == ("throw", 0)
    assert (piped.observed["outcome"], piped.observed["rpcRequests"]) == ("return", 1)


# ---------------------------------------------------------------------------------------------------------- refused


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "scenario": (
        case("my-desk/queu", inputs=[]),
        "a case: scenario: 'my-desk/queu' is not allowed here. Did you mean 'my-desk/queue'? Use one of: ",
    ),
    "key of given": (
        case("my-desk/queue", input=[]),
        "a case: given: the key 'input' is not known here. Did you mean 'inputs'?",
    ),
    "rule": (
        case(approval={"fn": "my-desk/dusk"}),
        "a case.given.approval.fn: 'my-desk/dusk' is not an approval rule",
    ),
    "handler": (
        case(handlers=[{"fn": "my-desk/other"}]),
        "a case.given.handlers[0].fn: 'my-desk/other' is no registered handler. Use one of: my-desk/quiet.",
    ),
    "handler that does more": (
        case(handlers=[{"fn": "my-desk/quiet", "block": True}]),
        "a case.given.handlers[0].fn: a registered handler has no 'block' beside it. Remove one of the two.",
    ),
    "tool": (
        case(tool="my-desk/press"),
        "a case.given.tool: 'my-desk/press' is no registered tool. Use one of: my-desk/stamp.",
    ),
    "tool of another scenario": (
        case("dispatch", tool="my-desk/stamp", args={}),
        "a case.given.tool: the scenario dispatch knows no registered tools. Use ",
    ),
}


@pytest.mark.parametrize(("raw", "said"), REFUSED.values(), ids=REFUSED)
def test_what_nobody_registered_is_refused_with_its_place(kit: Kit, raw: dict[str, Any], said: str) -> None:
    """The engine stays as strict as it is: a case that says something unknown must not pass."""
    kit.scenario("queue", Queue, play_queue)
    kit.handler("quiet", lambda event, context: None)
    kit.tool("stamp")

    with pytest.raises(CaseError) as caught:
        parse_case(raw, "a case")
    assert str(caught.value).startswith(said)


def test_without_a_registration_no_name_of_a_chapter_is_known() -> None:
    """An `engine.py` that was not run has added nothing."""
    for raw in (case("my-desk/queue"), case(tool="my-desk/stamp"), case(handlers=[{"fn": "my-desk/quiet"}])):
        with pytest.raises(CaseError):
            parse_case(raw, "a case")


def test_a_file_of_cases_may_mix_own_kinds_with_the_engines(kit: Kit) -> None:
    """They are read by one door, and a fault in one of them has its place in the file."""
    kit.scenario("queue", Queue, play_queue)
    own, plain = {**case("my-desk/queue", inputs=[{}]), "id": "queue"}, {**case(), "id": "call"}
    file = {"schemaVersion": 1, "id": "mixed", "cases": [own, plain]}

    assert [one.scenario for one in parse_file(json.dumps(file).encode(), "f.json").cases] == [
        "my-desk/queue",
        "wrapper",
    ]
    own["given"]["inputs"] = 3
    with pytest.raises(
        CaseError, match=r"f\.json: cases\[0\] \(queue\)\.given\.inputs: 3 is a whole number\. Use a"
    ):
        parse_file(json.dumps(file).encode(), "f.json")


@pytest.mark.parametrize("name", ["Queue", "", "a/b", "two words"])
def test_a_name_has_to_be_one_that_cases_can_write(kit: Kit, name: str) -> None:
    """Small letters and digits."""
    with pytest.raises(BadExtra, match="this is no name"):
        kit.tool(name)


def test_a_name_is_registered_once_and_a_chapter_that_is_opened_again_starts_afresh(kit: Kit) -> None:
    """What a chapter registers belongs to it alone."""
    kit.tool("stamp")
    with pytest.raises(BadExtra, match="it is registered twice"):
        kit.tool("stamp")
    Kit("other-desk").tool("stamp")

    again = Kit("my-desk")
    assert sorted(extras.TOOLS) == ["other-desk/stamp"]
    again.tool("stamp")
    Kit("other-desk")


def test_what_is_registered_has_to_be_of_the_right_kind(kit: Kit) -> None:
    """It is refused when it is registered, and not when a case is played."""
    with pytest.raises(BadExtra, match="3 cannot be called"):
        kit.handler("quiet", 3)  # type: ignore[arg-type]
    with pytest.raises(BadExtra, match=r"Derive a class from labsim\.api\.Given"):
        kit.scenario("queue", dict, play_queue)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------- code that goes wrong


async def shows_what_no_case_shows(given: Queue, host: Host) -> dict[str, Any]:
    return {"beds": 3}


async def calls_what_no_case_is_given(given: Queue, host: Host) -> None:
    await host.call({"aproval": "exec"})


async def brings_choices(given: Queue, host: Host) -> None:
    await host.call({"choices": ["Approve"]})


async def raises(given: Queue, host: Host) -> None:
    raise KeyError("bed")


@pytest.mark.parametrize(
    ("play", "said"),
    [
        (shows_what_no_case_shows, "no case shows a field 'beds'"),
        (calls_what_no_case_is_given, "CaseError: call: object contains unknown field `aproval`"),
        (brings_choices, "CaseError: call.choices: this belongs to the case and not to one call"),
        (raises, "KeyError: 'bed'"),
    ],
)
def test_an_own_scenario_that_goes_wrong_says_which(kit: Kit, play: Any, said: str) -> None:
    """It is no outcome of the case: the chapter has to be mended."""
    kit.scenario("queue", Queue, play)

    with pytest.raises(ExtraFailed) as caught:
        played("my-desk/queue", inputs=[])
    assert str(caught.value).startswith(f"The scenario my-desk/queue: {said}")


# -------------------------------------------------------------------------------------------------------- engine.py


def engine(folder: Path, text: str) -> Path:
    path = folder / "engine.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_chapters_code_is_run_once_for_each_text_of_it(tmp_path: Path, kit: Kit) -> None:
    """Opening a chapter again registers anew only what was changed; no cache is left beside it."""
    path = engine(tmp_path, "def register(kit):\n    kit.tool('stamp', approval='read')\n")
    load_engine("my-desk", path)
    first = extras.TOOLS["my-desk/stamp"]
    load_engine("my-desk", path)
    assert extras.TOOLS["my-desk/stamp"] is first

    load_engine("my-desk", engine(tmp_path, "def register(kit):\n    kit.tool('press')\n"))

    assert sorted(extras.TOOLS) == ["my-desk/press"]
    assert extras.TOOLS["my-desk/press"].approval is UNSET
    assert [one.name for one in tmp_path.iterdir()] == ["engine.py"]

    load_engine("my-desk", None)  # the chapter has none any more

    assert extras.TOOLS == {}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("def register(kit)\n", 1, "SyntaxError: expected ':'"),
        ("x = 1\n", None, "there is no function register(kit)"),
        ("\nraise RuntimeError('no beds')\n", 2, "RuntimeError: no beds"),
        ("def register(kit):\n    kit.tool('No')\n", 2, "BadExtra: No: this is no name."),
    ],
)
def test_code_that_fails_is_told_with_its_line(
    tmp_path: Path, kit: Kit, text: str, line: int | None, said: str
) -> None:
    """In one sentence, with the line of the instructor's own file."""
    with pytest.raises(EngineFailed) as caught:
        load_engine("my-desk", engine(tmp_path, text))

    assert caught.value.line == line
    assert caught.value.found.startswith(said)
