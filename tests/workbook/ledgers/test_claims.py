"""Predictions are judged by the rules that a case's own claims are compared with; a typo is never a prediction."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from played_kit import CLASSIFIED, DIALOG, DISPATCHED, LOOPED, NO_UI, OVER_RPC, RESOLVED, TWICE, case, play, wait

from labsim.play.report import FieldCheck, compare
from workbook.ledgers.claims import FIELDS, BadPrediction, compare_prediction, event_kinds, holds, observed_value
from workbook.ledgers.played import NotPlayed

PLAYED = {"twice": TWICE, "no-ui": NO_UI, "over-rpc": OVER_RPC, "resolved": RESOLVED, "classified": CLASSIFIED}


def test_each_predicted_field_stands_beside_the_observed_one_in_the_order_predicted():
    """A prediction is compared field by field: counts and words must be equal, `…Includes` asks for a part."""
    predicts = {"effects": 2, "prompts": 2, "outcome": "throw", "errorIncludes": "denied by user", "tier": "exec"}

    assert compare_prediction(predicts, TWICE) == [
        FieldCheck(field="effects", expected=2, observed=1, agrees=False),
        FieldCheck(field="prompts", expected=2, observed=2, agrees=True),
        FieldCheck(field="outcome", expected="throw", observed="throw", agrees=True),
        FieldCheck(
            field="errorIncludes",
            expected="denied by user",
            observed="Tool call denied by user: seed_note",
            agrees=True,
        ),
        FieldCheck(field="tier", expected="exec", observed=UNSET, agrees=False),
    ]


def test_events_are_counted_by_kind_and_a_kind_that_did_not_occur_counts_zero():
    """`events` is the one field beyond those that a case can claim."""
    predicts = {"events": {"tool_call": 2, "execute": 2, "preview_wait": 0}}

    assert compare_prediction(predicts, TWICE) == [
        FieldCheck(field="events.tool_call", expected=2, observed=2, agrees=True),
        FieldCheck(field="events.execute", expected=2, observed=1, agrees=False),
        FieldCheck(field="events.preview_wait", expected=0, observed=0, agrees=True),
    ]


@pytest.mark.parametrize("name", PLAYED)
def test_a_prediction_is_judged_as_the_case_itself_would_be(name: str):
    """The same claim gives the same check, whether a case makes it or a learner."""
    report = PLAYED[name]
    observed = {field: value for field, value in report.observed.items() if field in FIELDS}
    claims = case("same", expected=observed).expected

    checks = compare_prediction(observed, report)

    assert sorted(checks, key=lambda check: check.field) == sorted(
        compare(claims, report.observed), key=lambda check: check.field
    )
    assert holds(checks)


@given(
    st.fixed_dictionaries({}, optional={name: st.integers(0, 3) for name in ("prompts", "effects", "toolCalls")})
)
def test_a_prediction_holds_exactly_when_every_field_of_it_was_observed(predicts: dict[str, int]):
    """No field is judged by another, and a prediction of nothing holds."""
    assert holds(compare_prediction(predicts, TWICE)) == all(
        TWICE.observed[field] == count for field, count in predicts.items()
    )


@pytest.mark.parametrize("name", PLAYED)
def test_what_was_observed_can_be_asked_for_field_by_field(name: str):
    """The value named by a field is the one that a check of it reports."""
    report = PLAYED[name]

    for field in FIELDS:
        if field not in ("events", "errorIncludes", "promptIncludes"):
            assert observed_value(field, report) == report.observed.get(field, UNSET)
    assert observed_value("errorIncludes", report) == report.observed.get("error", UNSET)
    assert observed_value("promptIncludes", report) == report.observed.get("promptTexts", UNSET)
    assert observed_value("events", report) == Counter(event.kind_name() for event in report.ledger)
    assert observed_value("events.execute", report) == sum(
        event.kind_name() == "execute" for event in report.ledger
    )


def test_a_live_play_is_judged_as_far_as_it_got():
    """Anything that has a report will do; what is not shown yet does not agree."""
    assert compare_prediction({"prompts": 1, "outcome": "return"}, wait("live")) == [
        FieldCheck(field="prompts", expected=1, observed=1, agrees=True),
        FieldCheck(field="outcome", expected="return", observed=UNSET, agrees=False),
    ]


REFUSED: dict[str, tuple[Any, str]] = {
    "a misspelt field": (
        {"promts": 1},
        "predicts.promts: no case shows a field of that name. Did you mean 'prompts'?",
    ),
    "no field at all": ({"x": 1}, "predicts.x: no case shows a field of that name. Use one of: outcome, effects,"),
    "a word of no enum": (
        {"outcome": "returns"},
        "predicts.outcome: 'returns' does not fit (Invalid enum value 'returns'). "
        "Use one of: return, throw, error-result, throw-same-error.",
    ),
    "a text for a count": ({"prompts": "2"}, "predicts.prompts: '2' does not fit (Expected `int"),
    "a misspelt kind": (
        {"events": {"tool_cal": 1}},
        "predicts.events.tool_cal: no event is of that kind. Did you mean 'tool_call'?",
    ),
    "a count below zero": ({"events": {"execute": -1}}, "predicts.events.execute: -1 is no count. Use 0, 1, 2, …"),
    "true for one": ({"events": {"execute": True}}, "predicts.events.execute: True is no count."),
    "events without kinds": ({"events": 3}, "predicts.events: 3 counts nothing."),
    "no mapping": ([1], "predicts.*: a prediction is a mapping, and this is [1]."),
}


@pytest.mark.parametrize(("predicts", "message"), REFUSED.values(), ids=REFUSED)
def test_what_no_case_can_show_is_refused_with_its_place(predicts: Any, message: str):
    """A typo would otherwise count zero, or never agree, and look like a wrong answer."""
    with pytest.raises(BadPrediction) as error:
        compare_prediction(predicts, TWICE)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("field", ["promts", "events.tool_cal", "at_ms"])
def test_a_value_of_no_known_field_cannot_be_asked_for(field: str):
    """As for predictions: nothing of that name was ever observed."""
    with pytest.raises(BadPrediction, match=r"predicts\."):
        observed_value(field, TWICE)


def test_the_known_kinds_are_those_that_cases_emit():
    """Every kind in a ledger can be counted in a prediction."""
    for report in (
        TWICE,
        OVER_RPC,
        DIALOG,
        DISPATCHED,
        LOOPED,
        play("late", "fallback", error={"code": "EACCES", "message": ""}),
    ):
        assert {event.kind_name() for event in report.ledger} <= event_kinds()


@pytest.mark.parametrize(
    ("found", "words"),
    [(None, "nothing (None)"), ("twice", "text ('twice')"), (3, "of type int"), (type(wait("w")), "of type type")],
    ids=["None", "an id", "a number", "a class"],
)
def test_what_was_not_played_is_refused_in_words(found: Any, words: str):
    """The message says what was handed in, and what to hand in."""
    with pytest.raises(NotPlayed) as error:
        compare_prediction({}, found)
    assert str(error.value) == (
        f'A played case is needed here, and this is {words}. Use what desk.play("…") or desk.live("…") returned.'
    )


def test_judging_needs_no_pandas():
    """Whoever checks a chapter, or commits an answer, should not wait for pandas to load."""
    modules = "workbook.ledgers.claims, workbook.show.grid, workbook.pictures.sequence"
    code = f"import sys, {modules}; print('pandas' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False\n"
