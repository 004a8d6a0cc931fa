"""The what-if panel's states against the engine: ten thousand of them, drawn at random from all that can be set."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from labsim.approval import Settings as HostSettings
from labsim.approval import approval_inputs, resolve
from labsim.call.inert import InertExecutor, inert_tool
from labsim.case.model import WrapperCase
from labsim.describe.ledger import visible
from labsim.errors import CaseError
from labsim.events.call import PolicyResolved
from labsim.events.dialogs import QuestionAsked
from labsim.events.event import is_heard
from labsim.library import case_files
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import parse_case, parse_file
from labsim.stage.stage import Stage
from workbook.explorers.case import FRESH, as_json, open_case, read, written
from workbook.explorers.input import with_words
from workbook.explorers.panel import Explorer
from workbook.explorers.problems import Problem, problems
from workbook.explorers.state import MOST_CALLS, SPACE, START, PanelState
from workbook.explorers.view import Decision, View, view_of

STATES = 10_000
SEED = 20_261_130


def states(seed: int) -> Iterator[PanelState]:
    """States without end: every control on its own, a few answers, and now and then a number of calls too many."""
    chance = random.Random(seed)
    words = {name: list(all_words) for name, all_words in SPACE.items()}
    while True:
        drawn: dict[str, Any] = {name: chance.choice(of) for name, of in words.items() if name != "answers"}
        drawn["repeat"] = chance.choice((1, 1, 1, 1, 1, 2, 2, MOST_CALLS))
        if chance.random() < 0.01:
            drawn["repeat"] = chance.choice((0, -1, MOST_CALLS + 1))
        answers = tuple(chance.choices(words["answers"], k=chance.choice((0, 0, 1, 1, 2, 3, 5))))
        yield PanelState(**drawn, answers=answers)


def from_the_text(text: str) -> Report:
    """What the engine says of a case that was copied out of the panel, read as anybody would read it."""
    case = parse_case(json.loads(text), "copied")
    assert isinstance(case, WrapperCase)
    return run(case)


def decided(report: Report) -> tuple[Decision, ...]:
    """The panel's own record of a decision, made from the ledger once more."""
    return tuple(
        Decision(
            call=event.tool_call_id,
            judged=event.on,
            policy=event.resolution.policy,
            source=event.resolution.source,
            rule=event.resolution.rule,
            tier=event.resolution.tier,
        )
        for event in report.ledger
        if isinstance(event, PolicyResolved)
    )


@pytest.mark.slow
def test_the_panel_says_what_the_engine_says_of_ten_thousand_states():
    """Explorer: a state's case, read back from its JSON and played, decides, asks and ends as the panel shows."""
    legal = refused = 0
    for state in states(SEED):
        shown = view_of(state)
        if not isinstance(shown, View):
            refused += 1
            assert all(problem.found and problem.remedy and problem.button for problem in shown)
            continue
        text = as_json(state)
        report = from_the_text(text)

        assert shown.decisions == decided(report), text
        assert shown.observed == report.observed, text
        assert [dialog.text for dialog in shown.dialogs] == [
            event.title for event in report.ledger if isinstance(event, QuestionAsked)
        ], text
        assert list(shown.report.ledger) == list(report.ledger), text
        legal += 1
        if legal == STATES:
            break

    assert refused > STATES / 10  # the draw reaches what cannot be meant as well


@pytest.mark.slow
def test_the_first_decision_is_the_resolvers_own():
    """approval/R1 to approval/R9: what the panel shows of the original input is what `resolve` says when it is
    asked directly.
    """
    seen = set()
    drawn = (state for state in states(SEED + 1) if isinstance(view_of(state), View))
    for state, _ in zip(drawn, range(1000), strict=False):
        shown = view_of(state)
        assert isinstance(shown, View)
        given = parse_case(written(state), "panel").given
        tool = inert_tool("seed_note", given.approval, InertExecutor(Stage(), "seed_note"))
        mode, policies = approval_inputs(HostSettings(given.mode, given.user_policies), given.auto_approve)
        checked = given.safety_check or "safetyChecks" in written(state)["given"]
        judged = {"actions": [{"type": "screenshot"}]} if checked else given.args

        found = resolve(tool, judged, mode=mode, policies=policies)

        first = shown.decisions[0]
        assert (first.policy, first.source, first.rule, first.tier) == (
            found.policy,
            found.source,
            found.rule,
            found.tier,
        )
        seen.add(first.rule)
    assert len(seen) == 10


@pytest.mark.slow
def test_every_state_is_read_back_as_itself_and_excuses_just_what_is_odd():
    """A copied state is a teaching case, without `unusual` unless a value of it is; pasting it changes nothing."""
    drawn = (state for state in states(SEED + 2) if isinstance(view_of(state), View))
    for state, _ in zip(drawn, range(400), strict=False):
        back, opened = read(as_json(state))

        assert (back, opened.kept, opened.further, opened.left_out) == (state, {}, {}, ())
        odd = written(state).pop("unusual", [])
        assert ("given.mode" in odd) == (state.mode == "misspelt")
        assert ("given.userPolicies.seed_note" in odd) == (state.user == "misspelt")
        assert ("given.autoApprove" in odd) == (state.auto_approve == "text")
        for path in odd:
            less = {**written(state), "unusual": [other for other in odd if other != path]}
            with pytest.raises(CaseError, match="is not allowed here"):
                parse_case(less, "panel")


@pytest.mark.slow
def test_whatever_a_problem_offers_puts_it_right():
    """One press on each button in turn leads back to a case, whatever was set."""
    for state, _ in zip(states(SEED + 3), range(1000), strict=False):
        presses = 0
        while found := problems(state):
            state = put_right(state, found[0])
            presses += 1
            assert presses <= 4

        assert isinstance(view_of(state), View)


def tables(blocks: list[dict[str, Any]]) -> dict[str, list[list[str]]]:
    """The rows of each table among blocks, by its caption."""
    return {one["grid"]["caption"]: one["grid"]["rows"] for one in blocks if one["block"] == "table"}


@pytest.mark.slow
def test_what_is_told_to_the_browser_is_what_was_played():
    """Decision, counters, lifecycle, prompts and the announcement, as they leave for the front end."""
    drawn = (state for state in states(SEED + 4) if isinstance(view_of(state), View))
    for state, _ in zip(drawn, range(300), strict=False):
        panel = Explorer(state)
        told, report = panel.told(), from_the_text(panel.json)
        shown = tables(told["above"])

        resolved = [event.resolution for event in report.ledger if isinstance(event, PolicyResolved)]
        assert {(row[3], row[5]) for row in shown["Who decided in what-if"]} == {
            (one.policy.value, one.rule.value) for one in resolved
        }
        assert dict(shown["Observed in what-if"])["effects"] == str(report.observed["effects"])
        assert dict(shown["Observed in what-if"])["outcome"] == report.observed["outcome"]
        heard = [event for event in report.ledger if is_heard(event)]
        assert len(shown["Lifecycle of what-if"]) == len(heard) + len(report.calls)
        prompts = [
            one["blocks"][0]["text"]
            for one in told["below"]
            if one["block"] == "group" and "the approval" in one["title"]
        ]
        assert prompts == [visible(text) for text in report.observed["promptTexts"]]
        last = resolved[-1]
        assert f"{last.policy}, by" in told["status"]
        assert f"({last.rule})" in told["status"]
        assert f"Outcome: {report.observed['outcome']}; effects {report.observed['effects']}." in told["status"]


SHIPPED = [
    case
    for path in case_files()
    for case in parse_file(path.read_bytes(), path.name).cases
    if isinstance(case, WrapperCase)
]


@pytest.mark.parametrize("case", SHIPPED, ids=[case.id for case in SHIPPED])
def test_a_shipped_case_is_opened_and_copied_without_a_change_to_what_happens(case: WrapperCase):
    """Whatever of it has no control is kept: the copy shows event for event what the case itself shows."""
    state, opened = open_case(case)
    shown, own = view_of(state, opened), run(case)

    assert isinstance(shown, View)
    assert (list(shown.report.ledger), shown.observed) == (list(own.ledger), own.observed)
    assert from_the_text(as_json(state, opened)).case.id == case.id


def put_right(state: PanelState, problem: Problem) -> PanelState:
    return with_words(state, problem.fix, FRESH)


def test_every_word_of_every_control_is_in_some_case():
    """From the start of the panel each word alone gives a case, or a sentence on what it contradicts."""
    for name, words in SPACE.items():
        for word in words:
            state = with_words(START, {name: word}, FRESH)
            shown = view_of(state)

            assert isinstance(shown, View) or shown[0].found
