"""Fields, orders and points: read strictly, judged by the played case, and checked before anybody meets them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from desk_kit import CHOICE, EVERY_KIND, FIELDS, ORDER, PAPER, beliefs, cases, changed, read
from hypothesis import given
from hypothesis import strategies as st

from labsim.errors import CaseError
from labsim.library import fixtures_dir
from labsim.play.performance import run
from labsim.play.report import FieldCheck, Report
from workbook.check_chapter.checkpoints import check
from workbook.checkpoint.file import content, parse_checkpoints
from workbook.checkpoint.judging import (
    beliefs_behind,
    is_right,
    judge_fields,
    judge_order,
    right_order,
    right_values,
)
from workbook.checkpoint.kinds import (
    Checkpoint,
    FieldsCheckpoint,
    OrderCheckpoint,
    PaperCheckpoint,
    beliefs_of,
    scripted_answer,
)
from workbook.desk.open import open_chapter
from workbook.learner.records import Confidence, content_hash

BROKEN = fixtures_dir() / "broken" / "checkpoints"
MESSAGES: dict[str, str] = json.loads((BROKEN / "messages.json").read_text(encoding="utf-8"))
CHAPTERS = ("boundary-desk", "dispatch-desk", "review-desk", "gate-desk")
IDS = [step["id"] for step in ORDER["steps"]]
RIGHT = ("heard", "again", "asked", "run")


def fields_checkpoint(**further: Any) -> FieldsCheckpoint:
    (made,) = read({**EVERY_KIND, "checkpoints": [{**FIELDS, **further}]}).checkpoints
    assert isinstance(made, FieldsCheckpoint)
    return made


def order_checkpoint(**further: Any) -> OrderCheckpoint:
    (made,) = read({**EVERY_KIND, "checkpoints": [{**ORDER, **further}]}).checkpoints
    assert isinstance(made, OrderCheckpoint)
    return made


def played(checkpoint: Checkpoint) -> Report:
    return run(cases()[checkpoint.case])


# ------------------------------------------------------------------------------------------------------- reading


def test_each_kind_is_read_into_a_record_of_its_own():
    """What may be left out has its default, and how sure the scripted learner is, is one of four words."""
    choice, fields, order, paper = read(EVERY_KIND).checkpoints
    sure = changed(EVERY_KIND, "checkpoints", 1, "scriptedConfidence", to="fairly sure")

    assert [one.kind for one in (choice, fields, order, paper)] == ["choice", "fields", "order", "paper"]
    assert isinstance(fields, FieldsCheckpoint)
    assert fields.fields[2].values == fields.fields[2].wrong == ()
    assert isinstance(order, OrderCheckpoint)
    assert (order.steps[0].call, order.steps[0].where) == (None, {})
    assert isinstance(paper, PaperCheckpoint)
    assert (paper.points[0].belief, paper.points[1].belief) == ("it-is-kept", None)
    assert fields.scripted_confidence is None
    assert read(sure).checkpoints[1].scripted_confidence is Confidence.FAIRLY_SURE


def test_every_broken_file_has_its_message():
    """No file without a message, and no message without a file."""
    assert {path.name for path in BROKEN.glob("*.json")} - {"messages.json"} == set(MESSAGES)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_broken_file_earns_its_message(name: str):
    """Where it is, what was found there, what would do; on one line."""
    with pytest.raises(CaseError) as caught:
        parse_checkpoints((BROKEN / name).read_bytes(), name)

    assert str(caught.value) == MESSAGES[name]
    assert caught.value.place.startswith(name)
    assert caught.value.remedy
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("checkpoint", "key"),
    [(CHOICE, "e17aadd4133a305f"), (PAPER, "5b221169ef5a289e")],
    ids=["choice", "paper"],
)
def test_what_was_answered_before_there_were_more_kinds_keeps_its_key(checkpoint: dict[str, Any], key: str):
    """An answer is found by the hash of what was asked: another hash would drop everybody's answers."""
    (made,) = read({**EVERY_KIND, "checkpoints": [changed(checkpoint, "retest", to=None)]}).checkpoints

    assert content_hash(content(made)) == key


@pytest.mark.parametrize(
    ("chapter", "checkpoint", "key"),
    [
        ("start-here", "first-prediction", "33f6cfe8199a15bd"),
        ("boundary-desk", "exact-label", "4e36bcff873dee1d"),
        ("boundary-desk", "paper-count", "a438c9951cb22b8b"),
        ("gate-desk", "no-approver", "0c6a39ae32a52d4f"),
    ],
)
def test_what_learners_have_answered_in_the_shipped_chapters_keeps_its_key(chapter: str, checkpoint: str, key: str):
    """Retests, points and confidence are no part of the question."""
    (made,) = [one for one in open_chapter(chapter).checkpoint_records if one.id == checkpoint]

    assert content_hash(content(made)) == key


def test_only_what_is_asked_is_the_content_of_fields_and_steps():
    """Explanations, beliefs and events can be mended; a question, a value or a step cannot be changed unnoticed."""
    fields, order = fields_checkpoint(), order_checkpoint()
    mended = fields_checkpoint(fields=changed(FIELDS, "fields", 0, "why", to="Because.")["fields"])
    asked = fields_checkpoint(fields=changed(FIELDS, "fields", 0, "asks", to="And the last call?")["fields"])
    value = fields_checkpoint(fields=changed(FIELDS, "fields", 0, "values", 0, "text", to="returns")["fields"])
    another_event = order_checkpoint(steps=changed(ORDER, "steps", 0, "event", to="ui.select")["steps"])
    another_text = order_checkpoint(steps=changed(ORDER, "steps", 0, "text", to="A dialog opens.")["steps"])

    assert content(mended) == content(fields)
    assert content(another_event) == content(order)
    for other, own in ((asked, fields), (value, fields), (another_text, order)):
        assert content(other) != content(own)


@given(st.permutations(ORDER["steps"]))
def test_the_order_of_a_file_is_nowhere_to_be_seen(steps: list[dict[str, Any]]):
    """Steps are listed by the alphabet, so neither a page nor the key of an answer knows how they were written."""
    shuffled = order_checkpoint(steps=steps)

    assert shuffled.listed == order_checkpoint().listed
    assert content(shuffled) == content(order_checkpoint())


# ------------------------------------------------------------------------------------------------------- judging


def test_each_field_is_judged_by_itself():
    """Beside the observed one, with the value that would have been right."""
    checkpoint = fields_checkpoint()
    outcome, prompts, runs = judge_fields(checkpoint, checkpoint.scripted, played(checkpoint))

    assert outcome.check == FieldCheck(field="outcome", expected="throw", observed="throw", agrees=True)
    assert prompts.check == FieldCheck(field="prompts", expected=1, observed=2, agrees=False)
    assert (outcome.right, prompts.right, runs.right) == ("throw", 2, 1)
    assert [one.matches for one in (outcome, prompts, runs)] == [True, False, True]


def test_fields_are_right_only_together():
    """One wrong field, and the answer is not yet right; only that field's belief is spoken for."""
    checkpoint = fields_checkpoint()
    right = {"outcome": "throw", "prompts": 2, "events.execute": 1}

    assert is_right(checkpoint, right, played(checkpoint)) is True
    assert beliefs_behind(checkpoint, right, played(checkpoint)) == ()
    for name, value, belief in (
        ("outcome", "return", ("it-is-kept",)),
        ("prompts", 1, ("it-is-kept",)),
        ("prompts", 7, ()),
        ("events.execute", 0, ()),
    ):
        answer = {**right, name: value}
        assert is_right(checkpoint, answer, played(checkpoint)) is False
        assert beliefs_behind(checkpoint, answer, played(checkpoint)) == belief


def test_a_number_is_no_yes_and_a_yes_no_number():
    """In Python 1 == True; to a learner who is asked for one of them the other is no answer."""
    values = [{"value": True, "text": "yes"}, {"value": False, "text": "no"}]
    asked = {"field": "providerSafetyApproved", "asks": "Was it acknowledged?", "why": "No.", "values": values}
    scripted = {"providerSafetyApproved": False, **{k: v for k, v in FIELDS["scripted"].items() if k != "prompts"}}
    checkpoint = fields_checkpoint(fields=[asked, FIELDS["fields"][0], FIELDS["fields"][2]], scripted=scripted)
    flag, _, number = checkpoint.fields

    assert [flag.allowed(value) for value in (True, False, 1, 0)] == [True, True, False, False]
    assert [number.allowed(value) for value in (True, False, 1, 0)] == [False, False, True, True]


def test_the_right_order_is_that_of_the_rows():
    """Nothing in the file says it; each step points at the one event that it is."""
    checkpoint = order_checkpoint()

    assert [(one.step.id, one.row) for one in right_order(checkpoint, played(checkpoint))] == [
        ("heard", 3),
        ("again", 4),
        ("asked", 7),
        ("run", 10),
    ]


@given(st.permutations(IDS))
def test_an_order_is_judged_place_by_place(answer: list[str]):
    """Right where every step stands at its row, and else wrong from the first place on at which one does not."""
    checkpoint = order_checkpoint()
    judged = judge_order(checkpoint, tuple(answer), played(checkpoint))
    wrong_places = [place for place, step_id in enumerate(answer) if step_id != RIGHT[place]]

    assert judged.matches == (wrong_places == [])
    assert is_right(checkpoint, tuple(answer), played(checkpoint)) == judged.matches
    if wrong_places:
        assert judged.first_wrong == judged.right[wrong_places[0]]
    else:
        assert judged.first_wrong is None
    swapped = answer.index("asked") < answer.index("heard")
    assert beliefs_behind(checkpoint, tuple(answer), played(checkpoint)) == (("it-is-kept",) if swapped else ())


def test_a_pair_that_is_no_mistake_is_held_against_nobody():
    """In a chapter that nobody has checked yet: the ledger decides, and not the file."""
    checkpoint = order_checkpoint(wrong=[{**ORDER["wrong"][0], "earlier": "heard", "later": "asked"}])

    assert judge_order(checkpoint, RIGHT, played(checkpoint)).mistakes == ()
    assert beliefs_behind(checkpoint, RIGHT, played(checkpoint)) == ()


def test_a_step_that_is_no_single_row_is_a_problem_with_its_place():
    """At the reveal as in the check: an order that is not certain is not told."""
    both = order_checkpoint(steps=changed(ORDER, "steps", 2, "where", to={})["steps"])

    with pytest.raises(CaseError, match=r"in-order.steps \(again\): the rows 2, 4 are this event in once"):
        right_order(both, played(both))


# ----------------------------------------------------------------------------------------------------- the check


def problems(file: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in check(read(file), cases().values(), beliefs())]


def test_checkpoints_of_every_kind_can_be_right():
    """The small chapter of these tests is."""
    assert problems(EVERY_KIND) == []


AT_FIELDS = "mini: checkpoints[1] (counted)"
AT_ORDER = "mini: checkpoints[2] (in-order)"


def fields_with(*path: str | int, to: Any) -> dict[str, Any]:
    return changed(EVERY_KIND, "checkpoints", 1, *path, to=to)


def order_with(*path: str | int, to: Any) -> dict[str, Any]:
    return changed(EVERY_KIND, "checkpoints", 2, *path, to=to)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no value matches": (
        changed(
            fields_with("fields", 0, "values", 1, "value", to="error-result"),
            *("checkpoints", 1, "scripted", "outcome"),
            to="return",
        ),
        f"{AT_FIELDS}.fields[0].values: no answer matches what twice shows. Mend the values: one has to match.",
    ),
    "a mistake that is right": (
        fields_with("fields", 1, "wrong", 0, "value", to=2),
        f"{AT_FIELDS}.fields[1].wrong[0].value: 2 is what twice shows. Name a value that is wrong.",
    ),
    "a counter that shows the mistake": (
        fields_with("fields", 1, "wrong", 0, "counter", to="once"),
        f"{AT_FIELDS}.fields[1].wrong[0].counter: once shows what this predicts. Name a case that does not.",
    ),
    "a belief that nobody knows": (
        fields_with("fields", 1, "wrong", 0, "belief", to="it-is-lost"),
        f"{AT_FIELDS}.fields[1].wrong[0].belief: 'it-is-lost' is not a known belief. See beliefs.json.",
    ),
    "a step with two rows": (
        order_with("steps", 2, "where", to={}),
        f"{AT_ORDER}.steps[2] (again): the rows 2, 4 are this event in once. "
        "Name its call, or what it says in `where`.",
    ),
    "a step with no row": (
        order_with("steps", 0, "event", to="late_reply"),
        f"{AT_ORDER}.steps[0] (asked): no row is this event in once. "
        "Name another event than late_reply, or another call or `where`.",
    ),
    "a step of another call": (
        order_with("steps", 3, "call", to="call-2"),
        f"{AT_ORDER}.steps[3] (run): no row is this event in once. "
        "Name another event than execute, or another call or `where`.",
    ),
    "two steps of one row": (
        order_with("steps", 3, to={**ORDER["steps"][0], "id": "run", "text": "It opens."}),
        f"{AT_ORDER}.steps[3] (run): row 7 is asked already. Leave one of the two out.",
    ),
    "a pair that is right": (
        order_with("wrong", 0, to={**ORDER["wrong"][0], "earlier": "heard", "later": "asked"}),
        f"{AT_ORDER}.wrong[0]: heard does come before asked in once. Name a pair that is wrong.",
    ),
    "no pair": (
        order_with("wrong", to=[]),
        f"{AT_ORDER}.wrong: no likely wrong order is named. Add a pair of steps, with its belief.",
    ),
    "a point of an unknown belief": (
        changed(EVERY_KIND, "checkpoints", 3, "points", 1, "belief", to="it-is-lost"),
        "mini: checkpoints[3] (on-paper).points[1] (no-store).belief: 'it-is-lost' is not a known belief. "
        "See beliefs.json.",
    ),
    "a retest that comes before": (
        changed(EVERY_KIND, "checkpoints", 2, "retest", to="again"),
        f"{AT_ORDER}.retest: 'again' is no later checkpoint that shares a belief with this one. "
        "Use one of: on-paper.",
    ),
    "a retest on something else": (
        changed(changed(EVERY_KIND, "checkpoints", 3, "points", to=[]), "checkpoints", 2, "retest", to="on-paper"),
        f"{AT_ORDER}.retest: 'on-paper' is no later checkpoint that shares a belief with this one. "
        "Remove it: no later one does.",
    ),
}


@pytest.mark.parametrize(("file", "message"), WRONG.values(), ids=WRONG)
def test_the_check_names_what_is_wrong(file: dict[str, Any], message: str):
    """It plays the cases; the file alone cannot say."""
    assert message in problems(file)


def test_steps_must_not_be_listed_in_the_right_order():
    """Neither by their texts, which the learner sees, nor by their ids, which a learner who writes code sees."""
    texts = {"heard": "A", "again": "B", "asked": "C", "run": "D"}
    by_text = [{**step, "text": texts[step["id"]]} for step in ORDER["steps"]]
    names = dict(zip(RIGHT, ("a", "b", "c", "d"), strict=True))
    by_id = [{**step, "id": names[step["id"]]} for step in ORDER["steps"]]
    order = {**ORDER, "scripted": list("dcba"), "wrong": [{**ORDER["wrong"][0], "earlier": "c", "later": "a"}]}

    assert (
        f"{AT_ORDER}.steps: the alphabet, in which they are listed, is the right order. Word one of them anew."
        in (problems(order_with("steps", to=by_text)))
    )
    assert f"{AT_ORDER}.steps: the alphabet of their ids is the right order. Rename one of them." in (
        problems(changed(EVERY_KIND, "checkpoints", 2, to={**order, "steps": by_id}))
    )


# ------------------------------------------------------------------------------------------------ what is shipped


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_desk_asks_for_fields_and_for_an_order(chapter: str):
    """A whole run is predicted at least twice; one of the two answers of the scripted learner shows why."""
    records = open_chapter(chapter).checkpoint_records

    assert {one.kind for one in records} == {"choice", "fields", "order", "paper"} - (
        {"paper"} if chapter == "dispatch-desk" else set()
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_belief_that_a_chapter_comes_back_to_has_a_retest(chapter: str):
    """Where a later checkpoint is about the same belief, one of the earlier ones says so."""
    desk = open_chapter(chapter)
    records = {one.id: one for one in desk.checkpoint_records}
    about = {
        belief: [one for one in records.values() if belief in beliefs_of(one)] for belief in desk.lesson.beliefs
    }

    for belief, items in about.items():
        retests = [records[one.retest] for one in items if one.retest is not None]
        if len(items) > 1:
            assert any(belief in beliefs_of(retest) for retest in retests), belief


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_shipped_field_and_order_has_one_right_answer_and_a_scripted_one_that_can_be_judged(chapter: str):
    """Found by playing the case, as always."""
    desk = open_chapter(chapter)
    for checkpoint in desk.checkpoint_records:
        report = desk.lesson.play(checkpoint.case)
        if isinstance(checkpoint, FieldsCheckpoint):
            right = {field.field: right_values(field, report)[0] for field in checkpoint.fields}
            assert is_right(checkpoint, right, report), checkpoint.id
        if isinstance(checkpoint, OrderCheckpoint):
            in_order = tuple(one.step.id for one in right_order(checkpoint, report))
            assert is_right(checkpoint, in_order, report), checkpoint.id
            assert in_order != tuple(step.id for step in checkpoint.listed), checkpoint.id
        assert is_right(checkpoint, scripted_answer(checkpoint), report) in (True, False, None)
