"""What comes after a commit of any kind: the row that differed, the explanations, the points of a worked answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from answer_kit import KINDS, RIGHT, WRONG, committed, open_desk, records, send
from desk_kit import EVERY_KIND, changed, desk

from workbook.checkpoint.answer_forms import NoAnswer
from workbook.checkpoint.kinds import Verdict
from workbook.checkpoint.prediction import AnsweredBySomebodyElse
from workbook.checkpoint.row_question import ASKS, NEVER_ROW, NoSuchRow
from workbook.learner.store import Commit, NotRevealed, Progress, RevealSeen, RowNamed, SelfChecked
from workbook.learner.who import Learner

# -------------------------------------------------------------------------------------------- which row differed


@pytest.mark.parametrize(
    ("name", "answer", "held", "not_held"),
    [
        ("again", "one", [7, 10, 19, "never"], [1, "none"]),
        ("again", "none", [7, 19], [10, "never", "none"]),
        ("again", "two", ["none", None], [7, "never"]),
        ("counted", WRONG["counted"], [22, 10, "never"], [7, "none"]),
        ("counted", RIGHT["counted"], ["none"], [22]),
        ("in-order", WRONG["in-order"], [4], [7, 3, "none", "never"]),
        ("in-order", RIGHT["in-order"], ["none"], [3]),
    ],
)
def test_a_row_is_checked_against_the_ledger(
    tmp_path: Path, name: str, answer: Any, held: list[Any], not_held: list[Any]
):
    """Any row of a denied field will do, and of an order the first row out of place; each try is kept."""
    mini = open_desk(tmp_path)
    mini.predict(name).commit(answer)
    mini.reveal(name)

    for row in held:
        assert "and the ledger agrees." in str(mini.which_row(name, row)), row
    for row in not_held:
        assert "and the ledger says otherwise." in str(mini.which_row(name, row)), row
    kept = [one for one in Progress(tmp_path / "answers").records() if isinstance(one, RowNamed)]
    assert [one.held for one in kept] == [True] * len(held) + [False] * len(not_held)
    assert all(one.row == NEVER_ROW for one, row in zip(kept, [*held, *not_held], strict=True) if row == "never")
    assert all(one.row is None for one, row in zip(kept, [*held, *not_held], strict=True) if row in ("none", None))


def test_where_what_was_predicted_never_came_no_row_can_be_named(tmp_path: Path):
    """There is nothing to point at, and yet something differed."""
    mini = desk(tmp_path, file=changed(EVERY_KIND, "checkpoints", 1, "case", to="nobody"))
    mini.predict("counted").commit({"outcome": "throw", "prompts": 0, "events.execute": 1})
    mini.reveal("counted")

    assert "says otherwise" in str(mini.which_row("counted", "none"))
    assert "says otherwise" in str(mini.which_row("counted", 1))
    told = str(mini.which_row("counted", "never"))
    assert "the ledger agrees. Look at events.execute: no row, for nothing of the kind happened." in told.replace(
        "\n", " "
    )


def test_the_answer_about_rows_says_where_to_look(tmp_path: Path):
    """And the reveal, looked at again, has it in the place of the question."""
    mini = open_desk(tmp_path)
    mini.predict("in-order").commit(WRONG["in-order"])
    assert f"{ASKS} Look through the ledger" in str(mini.reveal("in-order"))

    told = str(mini.which_row("in-order", 7))

    says = (
        "You named row 7, and the ledger says otherwise. The first row out of place is 4: “The policy is resolved"
    )
    assert says in told.replace("\n", " ")
    assert says in str(mini.reveal("in-order")).replace("\n", " ")


@pytest.mark.parametrize("row", [0, -1, 23, 2.0, True, "seven", ""])
def test_what_is_no_row_is_refused(tmp_path: Path, row: Any):
    """It says how many there are; nothing is kept."""
    mini = open_desk(tmp_path)
    mini.predict("again").commit("one")
    mini.reveal("again")

    with pytest.raises(NoSuchRow, match="Use a number from 1 to 22, 'none' where none differed"):
        mini.which_row("again", row)
    assert records(tmp_path) == [Commit.__name__, RevealSeen.__name__]


def test_before_the_reveal_no_row_can_be_named(tmp_path: Path):
    """Run All may come to it first, so it is said and not raised."""
    mini = open_desk(tmp_path)
    for _ in range(2):
        assert "Commit an answer and see its reveal first." in str(mini.which_row("again", 7))
        if mini.predict("again").committed is None:
            mini.predict("again").commit("one")
    assert records(tmp_path) == [Commit.__name__]


@pytest.mark.parametrize("name", KINDS)
def test_the_explanations_open_after_a_row_was_named(tmp_path: Path, name: str):
    """Until then the control is sent none of them; after a restart and a second reveal they are there at once."""
    prediction = committed(tmp_path, name, WRONG[name])
    control = prediction.widget
    assert send(prediction, "reveal") == (
        "Not yet. Look at the ledger: which row differed from your prediction? The explanations come after."
    )
    assert (control.stage, control.explained) == ("naming", [])
    assert control.rows > 0
    assert "You may think" not in json.dumps(control.reveal)
    assert send(prediction, "row", row="").startswith("'' is no row of this ledger.")
    assert control.stage == "naming"

    said = send(prediction, "row", row="none")

    assert said.startswith("Not yet. You named “None differed”, and the ledger says otherwise. ")
    assert said.endswith(" The explanation of every answer is below.")
    assert control.stage == "done"
    assert "You may think" in json.dumps(control.explained)
    later = open_desk(tmp_path).predict(name)
    send(later, "reveal")
    assert later.widget.stage == "done"


def test_a_row_need_not_be_named(tmp_path: Path):
    """Skipping opens the explanations and is not kept."""
    prediction = committed(tmp_path, "counted", RIGHT["counted"])
    send(prediction, "reveal")

    assert send(prediction, "skip") == "Right. The explanation of every answer is below."
    assert prediction.widget.explained
    assert records(tmp_path) == [Commit.__name__, RevealSeen.__name__]


def test_where_no_event_happens_no_row_is_asked_for(tmp_path: Path):
    """A case that is one decision has no ledger to look into."""
    file = changed(EVERY_KIND, "checkpoints", 0, "case", to="sorted")
    file = changed(file, "checkpoints", 0, "options", 1, "predicts", to={"permissionDenied": True})
    prediction = desk(tmp_path, file=file).predict("again").commit("two")
    send(prediction, "reveal")

    assert prediction.widget.stage == "done"
    assert ASKS not in str(prediction.reveal())
    assert "No row of a ledger can tell here." in str(prediction.which_row(1))


# -------------------------------------------------------------------------------------------------------- reveals


def test_the_reveal_of_fields_judges_each_and_explains_each_mistake(tmp_path: Path):
    """Asked, predicted, observed; the belief behind a likely value, and the rows that speak against it."""
    mini = open_desk(tmp_path)
    mini.predict("counted").commit(WRONG["counted"])

    told = str(mini.reveal("counted"))

    assert "Not yet. The run of twice shows 1 of the 3 fields as you predicted them." in told
    assert "How does the last call end?  outcome         it returns  it throws  no" in told
    assert "* How many dialogs? [your answer: 2] [matches the run]" in told
    assert "* Whoever predicts “it returns” [your answer]" in told
    assert "outcome: this predicts return; twice shows throw (row 22)." in told
    assert "prompts: this predicts 1; both shows 2 (rows 7, 19)." in told
    assert told.count("Ledger of twice:") == told.count("Ledger of both:") == 1


def test_the_reveal_of_an_order_sets_each_place_beside_its_row(tmp_path: Path):
    """Why each step stands there, and what is easily confused; the learner's own mistake is marked."""
    mini = open_desk(tmp_path)
    mini.predict("in-order").commit(("asked", "heard", "again", "run"))

    told = str(mini.reveal("in-order"))

    assert "Not yet. The ledger of once has 1 of the 4 steps where you put them." in told
    assert "1      The dialog opens." in told
    assert "row 3" in told
    assert "2. The policy is resolved again. (row 4) The input may have changed." in told
    assert "* Whoever puts “The dialog opens.” before “Handlers hear of it.” [your answer]" in told
    mini.reset("in-order")
    mini.predict("in-order").commit(RIGHT["in-order"])
    assert "before “Handlers hear of it.” [your answer]" not in str(mini.reveal("in-order"))


def test_the_scripted_learner_answers_every_kind_as_text(tmp_path: Path):
    """Deterministic, without a control; and it does not speak for a person."""
    mini = open_desk(tmp_path, Learner.SCRIPTED)
    for name in mini.checkpoints:
        bundle = mini.predict(name)._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html"}
        assert bundle == open_desk(tmp_path, Learner.SCRIPTED).predict(name)._repr_mimebundle_()
    assert "- 1. The dialog opens." in str(mini.predict("in-order").page())
    assert "not yet" in str(mini.reveal("in-order"))

    open_desk(tmp_path / "person").predict("in-order").commit(RIGHT["in-order"])
    with pytest.raises(AnsweredBySomebodyElse):
        open_desk(tmp_path / "person", Learner.SCRIPTED).predict("in-order")


# ------------------------------------------------------------------------------------------------------ self-check


def test_after_the_worked_answer_the_learner_ticks_its_points(tmp_path: Path):
    """The points come with the worked answer; what was ticked is kept and shown, and nobody calls it right."""
    prediction = open_desk(tmp_path).predict("on-paper").commit("Both, I think.")
    control = prediction.widget
    assert control.points == []
    assert send(prediction, "reveal") == (
        "The worked answer is below, beside yours. Which of its points did yours have?"
    )
    assert (control.stage, [point["id"] for point in control.points]) == ("checking", ["each", "no-store"])

    said = send(prediction, "points", points=["each"])

    assert said == "The worked answer is below, beside yours. Yours had 1 of 2 points."
    assert (control.stage, control.ticked) == ("done", ["each"])
    assert "Yours had: 1 of 2 points." in str(prediction.reveal())
    assert prediction.verdict is Verdict.COMMITTED
    (kept,) = [one for one in Progress(tmp_path / "answers").records() if isinstance(one, SelfChecked)]
    assert kept.points == ("each",)


def test_points_can_be_ticked_in_code_and_none_is_an_answer(tmp_path: Path):
    """As ids, in any order; before the reveal there is nothing to compare with."""
    mini = open_desk(tmp_path)
    mini.predict("on-paper").commit("Both, I think.")
    with pytest.raises(NotRevealed):
        mini.self_check("on-paper", ["each"])
    assert "desk.self_check('on-paper', ['each', 'no-store'])" in str(mini.reveal("on-paper")).replace("\n", " ")
    with pytest.raises(NoAnswer, match="'eech' is no point of the worked answer; use any of: each, no-store"):
        mini.self_check("on-paper", ["eech"])
    with pytest.raises(NoAnswer, match="no points to look for"):
        mini.self_check("again", ["each"])

    assert "Yours had: 2 of 2 points." in str(mini.self_check("on-paper", ["no-store", "each"]))
    assert "Yours had: 0 of 2 points." in str(mini.self_check("on-paper", []))
