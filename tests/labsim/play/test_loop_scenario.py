"""The `loop` scenario: a model's batch as a case, and as the table a learner reads."""

from __future__ import annotations

from typing import Any

import pytest

from labsim.errors import CaseError
from labsim.play.performance import run, start
from labsim.reading.reading import parse_case
from workbook.ledgers.played import NothingHappened
from workbook.tables.batch import batch

INSPECT, PUBLISH, RESERVE = {"action": "inspect"}, {"action": "publish"}, {"action": "reserve"}


def loop(calls: list[dict[str, Any]], **given: Any) -> Any:
    return parse_case(
        {"id": "batch", "scenario": "loop", "given": {"calls": calls, "mode": "yolo", **given}}, "batch"
    )


def test_a_batch_goes_on_after_each_kind_of_failure() -> None:
    """wrapper/W-69, wrapper/W-70, wrapper/W-73, wrapper/W-74: each failing call has a result of its own, and the
    rest of the batch runs.
    """
    case = loop(
        [
            {"name": "seed_slot"},
            {"name": "seed_slat", "args": INSPECT},
            {"name": "seed_slot", "args": PUBLISH},
            {"name": "seed_slot", "args": RESERVE},
            {"name": "seed_note", "args": INSPECT},
        ],
        handlers=[
            {"when": PUBLISH, "block": True, "reason": "closed"},
            {"when": RESERVE, "revise": {"action": "borrow"}},
        ],
    )

    table = batch(run(case))

    assert [tuple(row) for row in table.itertuples(index=False)] == [
        ("call-1", "seed_slot", "refused", "–", "–", "no", "–", "invalid arguments",
         'Validation failed for tool "seed_slot":'),
        ("call-2", "seed_slat", "–", "–", "–", "no", "–", "not found",
         "Tool seed_slat not found. Closest available: seed_slot, seed_note"),
        ("call-3", "seed_slot", "taken", "blocked", "–", "yes", "–", "blocked", "closed"),
        ("call-4", "seed_slot", "taken", "replaced", "refused", "no", "–", "invalid replacement",
         'Validation failed for tool "seed_slot":'),
        ("call-5", "seed_note", "taken", "unchanged", "–", "yes", '{"action":"inspect"}', "returned", "inert"),
    ]  # fmt: skip


def test_the_counters_of_a_batch_are_sums_and_the_outcome_is_the_last_calls() -> None:
    """wrapper/W-78, for calls of one message."""
    observed = run(loop([{"name": "seed_note", "args": INSPECT}, {"name": "seed_slot", "args": {}}])).observed

    assert {name: observed[name] for name in ("outcome", "effects", "prompts", "toolCalls", "successfulCalls")} == {
        "outcome": "error-result",
        "effects": 1,
        "prompts": 0,
        "toolCalls": 1,
        "successfulCalls": 1,
    }


def test_a_replacement_of_the_loop_is_the_wrappers_original_input() -> None:
    """wrapper/W-70 and wrapper/W-77: the wrapper resolves the revised input at wrapper/step-3, and needs no second
    judgement to see it.
    """
    report = run(
        loop([{"name": "seed_slot", "args": PUBLISH}], handlers=[{"revise": INSPECT}], mode="always-ask", ui=False)
    )

    assert report.observed["outcome"] == "return"
    assert report.observed["input"] == INSPECT


def test_each_turn_of_a_batch_has_its_own_rows_of_the_ledger() -> None:
    """Turns follow one another without a gap, after everything that was done in preparation."""
    report = run(
        loop([{"name": "seed_note", "args": INSPECT}, {"name": "nobody"}, {"name": "seed_slot", "args": INSPECT}])
    )

    bounds = [(call.start, call.end) for call in report.calls]
    assert bounds[0][0] > 0
    assert [end for _, end in bounds[:-1]] == [start for start, _ in bounds[1:]]
    assert bounds[-1][1] == len(report.ledger)


def test_a_batch_waits_for_its_dialogs_like_any_call() -> None:
    """The second call's question is asked when the first has had its turn."""
    asked: list[str] = []
    case = loop([{"name": "seed_slot", "args": PUBLISH}, {"name": "seed_note", "args": PUBLISH}], mode="always-ask")

    playing = start(case, lambda performance, question: asked.append(question.id))
    playing.reply("q-1", "Deny")
    playing.reply("q-2", "Approve")
    report = playing.report()

    assert asked == ["q-1", "q-2"]
    assert report.finished
    assert [str(call.outcome) for call in report.calls] == ["error-result", "return"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"calls": []}, "there are 0 calls"),
        ({"calls": [{"name": "seed_note"}], "args": {}}, "a batch names its calls one by one"),
        ({"calls": [{"name": "seed_note"}], "repeat": 2}, "a batch names its calls one by one"),
        ({"calls": [{"tool": "seed_note"}]}, "'tool'"),
    ],
)
def test_a_batch_that_cannot_be_played_says_what_is_wrong(given: dict[str, Any], said: str) -> None:
    """A case that the engine would misunderstand is refused with its place."""
    with pytest.raises(CaseError) as caught:
        parse_case({"id": "batch", "scenario": "loop", "given": given}, "batch")

    assert said in str(caught.value)
    assert str(caught.value).startswith("batch")


def test_a_case_that_went_through_no_loop_has_no_batch() -> None:
    """The table says which cases it is for."""
    case = parse_case({"id": "one", "scenario": "wrapper", "given": {"approval": "read", "args": INSPECT}}, "one")

    with pytest.raises(NothingHappened, match='scenario "loop"'):
        batch(run(case))
