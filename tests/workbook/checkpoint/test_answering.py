"""Every kind of checkpoint as a learner meets it: nothing given away, committed, locked, voted on again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from answer_kit import KINDS, RIGHT, WRONG, committed, open_desk, records, send
from desk_kit import EVERY_KIND, FIELDS, ORDER, changed, desk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prediction_kit import Spied, everything_said, lesson

from workbook.checkpoint.answer_forms import NoAnswer
from workbook.checkpoint.kinds import Verdict
from workbook.checkpoint.prediction import Prediction
from workbook.learner.store import (
    AlreadyCommitted,
    Commit,
    Confidence,
    NotCommitted,
    Reset,
    RevealAlreadySeen,
    RevealSeen,
    Revote,
)
from workbook.learner.who import Learner

# ---------------------------------------------------------------------------------------------- nothing given away


def test_before_a_commit_nothing_of_any_kind_is_said_but_the_question(tmp_path: Path):
    """No why, no belief, no counter case, no event that a step is, no scripted answer, no point of a worked one."""
    mini = open_desk(tmp_path)
    secrets = [
        *(part["why"] for part in (*FIELDS["fields"], *ORDER["steps"], *ORDER["wrong"])),
        *(mistake["why"] for field in FIELDS["fields"] for mistake in field.get("wrong", ())),
        *("it-is-kept", "A yes is kept.", "twice", "both", "question_asked", "policy_resolved", "effective"),
        *("tool_call", "call-1", "Nothing is written down.", "no-store", "Each call is asked about."),
    ]

    for name in mini.checkpoints:
        prediction = mini.predict(name)
        for message in ("again", "reveal", "skip"):
            send(prediction, message)
        send(prediction, "row", row=3)
        send(prediction, "points", points=["each"])
        said = everything_said(prediction) + str(mini.reveal(name)) + str(mini.which_row(name, 3))
        assert [secret for secret in secrets if secret in said] == [], name
        assert prediction.state()["reveal"] == prediction.state()["explained"] == []


@pytest.mark.parametrize("name", [*KINDS, "on-paper"])
def test_before_a_commit_no_case_is_played(tmp_path: Path, name: str):
    """Also not to find an order in which steps can be listed."""
    known = Spied()
    (checkpoint,) = [one for one in open_desk(tmp_path)._checkpoints.values() if one.id == name]
    prediction = Prediction(lesson(tmp_path, known), checkpoint)
    everything_said(prediction)
    prediction.reveal()
    prediction.which_row(3)
    for message in ("again", "hint", "reveal", "skip"):
        send(prediction, message)

    assert known.seen == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12, deadline=None)
@given(steps=st.permutations(ORDER["steps"]), events=st.permutations([step["event"] for step in ORDER["steps"]]))
def test_what_is_said_of_steps_does_not_depend_on_what_they_are(
    tmp_path: Path, steps: list[dict[str, Any]], events: list[str]
):
    """Whatever order a file has them in, and whichever events they are: not one byte of what is sent changes."""
    told = {step["id"]: {**step, "event": event} for step, event in zip(ORDER["steps"], events, strict=True)}
    shuffled = changed(EVERY_KIND, "checkpoints", 2, "steps", to=[told[step["id"]] for step in steps])
    said = []
    for folder, file in (("as-is", EVERY_KIND), ("shuffled", shuffled)):
        prediction = desk(tmp_path / folder, file=file).predict("in-order")
        said.append(everything_said(prediction).replace(prediction.widget.model_id, "MODEL"))

    assert said[0] == said[1]
    assert ORDER["steps"][0]["text"] in said[0]


def test_what_is_said_of_fields_does_not_depend_on_what_the_case_shows(tmp_path: Path):
    """Play another case, in which other values are right: what is asked is the same."""
    said = []
    for case in ("twice", "once"):
        file = changed(EVERY_KIND, "checkpoints", 1, "case", to=case)
        prediction = desk(tmp_path / case, file=file).predict("counted")
        said.append(everything_said(prediction).replace(prediction.widget.model_id, "MODEL"))

    assert said[0] == said[1]


# -------------------------------------------------------------------------------------------------- committing


@pytest.mark.parametrize("name", KINDS)
def test_an_answer_of_each_kind_is_locked_survives_a_restart_and_can_be_reset(tmp_path: Path, name: str):
    """A new kernel reads the same answer from the store, in the same shape; a reset hides it and is recorded."""
    committed(tmp_path, name, RIGHT[name])

    again = open_desk(tmp_path).predict(name)
    assert again.committed is not None
    assert (again.committed.answer, again.committed.confidence) == (RIGHT[name], Confidence.UNSURE)
    assert again.state()["locked"]
    assert again.state()["answer"] == RIGHT[name]
    assert again.verdict is Verdict.COMMITTED
    with pytest.raises(AlreadyCommitted):
        again.commit(WRONG[name])
    again.reset("by mistake")
    assert again.verdict is Verdict.NOT_ATTEMPTED
    again.commit(WRONG[name])
    assert records(tmp_path) == [Commit.__name__, Reset.__name__, Commit.__name__]


@pytest.mark.parametrize("name", KINDS)
def test_not_attempted_not_yet_and_right_are_three_things(tmp_path: Path, name: str):
    """In the table of how a learner stands, in the heading of the reveal, and for every kind."""
    for folder, answer, verdict in (("right", RIGHT, "right"), ("wrong", WRONG, "not yet")):
        mini = open_desk(tmp_path / folder)
        assert f"{name}  " in str(mini.standing())
        assert str(mini.reveal(name)).startswith(f"Checkpoint {name}: not attempted\n")
        mini.predict(name).commit(answer[name])
        assert mini.predict(name).verdict is Verdict.COMMITTED
        assert str(mini.reveal(name)).startswith(f"Checkpoint {name}: {verdict}\n")
        assert mini.predict(name).verdict == verdict


def test_in_code_a_list_is_an_order_and_a_mapping_a_set_of_fields(tmp_path: Path):
    """The page says how, for places without buttons, and what it says works."""
    mini = open_desk(tmp_path)
    fields, order = str(mini.predict("counted").page()), str(mini.predict("in-order").page())
    for line in (
        "How does the last call end? it returns ('return'); it throws ('throw')",
        "prompts: How many dialogs? a whole number, 0 or more",
        "How sure are you? guess, unsure, fairly sure, certain",
    ):
        assert line in fields
    assert "desk.predict('counted').commit({'outcome': 'return' or 'throw'," in fields.replace("\n", " ")
    assert "- heard: Handlers hear of it.\n- run: It runs.\n- asked: The dialog opens." in order
    assert "commit(['heard', 'run', 'asked', 'again'], confidence=" in order.replace("\n", " ")

    mini.predict("in-order").commit(["asked", "heard", "again", "run"], confidence="certain")
    mini.predict("counted").commit({"outcome": "return", "prompts": 1, "events.execute": 0})
    locked = str(mini.predict("in-order").page())
    assert "Your answer, locked:\n\n- 1. The dialog opens.\n- 2. Handlers hear of it." in locked
    assert "How sure are you? certain" in locked
    told = str(mini.predict("counted").page())
    assert "- How does the last call end? it returns [your answer, locked]" in told
    assert "How sure" not in told


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("counted", {}, "Answer “How does the last call end?” first."),
        ("counted", {"outcome": "throw", "prompts": ""}, "Answer “How many dialogs?” first."),
        (
            "counted",
            {"outcome": "throw", "prompts": "two", "events.execute": 1},
            "'two' is no answer to “How many dialogs?”; use a whole number, 0 or more.",
        ),
        (
            "counted",
            {"outcome": "stops", "prompts": 1, "events.execute": 1},
            "'stops' is no answer to “How does the last call end?”; use one of: 'return', 'throw'.",
        ),
        ("counted", {"effects": 1}, "'effects' is not asked; the fields are: outcome, prompts, events.execute."),
        ("counted", "throw", "'throw' answers nothing; give a value for each field."),
        ("in-order", [], "Put the steps in order first."),
        (
            "in-order",
            ["heard", "run"],
            "Each step has its place, once; put these in order: heard, run, asked, again.",
        ),
        (
            "in-order",
            ["heard", "run", "asked", "asked"],
            "Each step has its place, once; put these in order: heard, run, asked, again.",
        ),
    ],
)
def test_what_is_no_answer_is_not_committed(tmp_path: Path, name: str, answer: Any, said: str):
    """By button it is said, in code it is raised, in the same words."""
    prediction = open_desk(tmp_path).predict(name)
    assert send(prediction, "commit", answer=answer, confidence="guess") == f"{said} Nothing was committed."
    with pytest.raises(NoAnswer) as caught:
        prediction.commit(answer)

    assert str(caught.value) == f"{said} Nothing was committed."
    assert records(tmp_path) == []


@pytest.mark.parametrize("value", [True, -1, 1.0, None, "1"])
def test_only_a_whole_number_counts(tmp_path: Path, value: object):
    """Where any number is an answer, nothing that merely looks like one is."""
    with pytest.raises(NoAnswer):
        open_desk(tmp_path).predict("counted").commit({"outcome": "throw", "prompts": value, "events.execute": 1})


# --------------------------------------------------------------------------------------------------- confidence


@pytest.mark.parametrize("name", KINDS)
def test_the_button_asks_how_sure_and_code_may_leave_it_out(tmp_path: Path, name: str):
    """Nothing is committed before it was said; the levels are offered with the question."""
    prediction = open_desk(tmp_path).predict(name)
    assert prediction.state()["levels"] == ["guess", "unsure", "fairly sure", "certain"]

    said = send(prediction, "commit", answer=RIGHT[name])
    assert said == "Say how sure you are first. Nothing was committed."
    assert send(prediction, "commit", answer=RIGHT[name], confidence="sure").startswith("'sure' is not how sure")
    assert records(tmp_path) == []
    assert send(prediction, "commit", answer=RIGHT[name], confidence="guess") == "Committed. Your answer is locked."
    assert prediction.state()["confidence"] == "guess"
    assert committed(tmp_path / "code", name, RIGHT[name], confidence=None).state()["confidence"] == ""


def test_nobody_is_asked_how_sure_they_are_of_a_text(tmp_path: Path):
    """It is compared and not judged, so there is nothing to be right about."""
    prediction = open_desk(tmp_path).predict("on-paper")
    assert prediction.state()["levels"] == []

    with pytest.raises(NoAnswer, match="Nobody judges a text"):
        prediction.commit("Twice.", confidence="guess")
    assert send(prediction, "commit", answer="Twice.") == "Committed. Your answer is locked."


def test_the_score_is_told_after_the_reveal_and_only_to_a_person(tmp_path: Path):
    """A page of the scripted learner, which everybody reads, has none."""
    score = "That is a Brier score of 0.9025:"
    prediction = committed(tmp_path, "again", "one", "certain")
    assert score not in str(prediction.page()) + json.dumps(prediction.state())

    assert score in str(prediction.reveal())
    send(prediction, "reveal")
    assert score in json.dumps(prediction.state(), ensure_ascii=False)
    assert "Brier" not in str(committed(tmp_path / "unsaid", "again", "one", None).reveal())
    sure = changed(EVERY_KIND, "checkpoints", 0, "scriptedConfidence", to="certain")
    scripted = desk(tmp_path / "scripted", Learner.SCRIPTED, file=sure)
    assert "How sure are you? certain" in str(scripted.predict("again").page())
    assert "Brier" not in str(scripted.reveal("again"))


# --------------------------------------------------------------------------------------------------- vote again


@pytest.mark.parametrize("name", KINDS)
def test_a_second_vote_is_kept_beside_the_first_which_is_what_counts(tmp_path: Path, name: str):
    """Both are shown side by side at the reveal, each with its confidence; the verdict is the first one's."""
    mini = open_desk(tmp_path)
    mini.predict(name).commit(WRONG[name], "guess")
    mini.vote_again(name, RIGHT[name], confidence="fairly sure")
    assert "Voted again:" in str(mini.predict(name).page())

    told = str(mini.reveal(name))

    assert told.startswith(f"Checkpoint {name}: not yet\n")
    table = told[told.index("Both of your votes") : told.index("How sure you were:")]
    first, second = table.index("first, which counts"), table.index("after talking it over")
    assert first < second
    assert re.search(r"guess +no$", table[first:second], re.MULTILINE)
    assert re.search(r"fairly sure +yes$", table[second:], re.MULTILINE)
    assert mini.predict(name).verdict is Verdict.NOT_YET
    assert records(tmp_path) == [Commit.__name__, Revote.__name__, RevealSeen.__name__]


def test_a_second_vote_comes_between_commit_and_reveal_and_once(tmp_path: Path):
    """Before there is nothing to vote on again, afterwards it says nothing, and a text is not voted on."""
    mini = open_desk(tmp_path)
    with pytest.raises(NotCommitted):
        mini.vote_again("again", "two")
    mini.predict("again").commit("one")
    with pytest.raises(NoAnswer):
        mini.vote_again("again", "three")
    mini.vote_again("again", "two")
    with pytest.raises(AlreadyCommitted):
        mini.vote_again("again", "none")
    mini.predict("counted").commit(WRONG["counted"])
    mini.reveal("counted")
    with pytest.raises(RevealAlreadySeen):
        mini.vote_again("counted", RIGHT["counted"])
    mini.predict("on-paper").commit("Twice.")
    with pytest.raises(NoAnswer, match="no second vote"):
        mini.vote_again("on-paper", "Once.")


@pytest.mark.parametrize("name", KINDS)
def test_the_button_opens_a_second_vote_and_the_next_commit_is_it(tmp_path: Path, name: str):
    """The first answer stays in sight; the button is gone once there are two votes, or the reveal was seen."""
    prediction = committed(tmp_path, name, WRONG[name])
    control = prediction.widget
    assert (control.stage, control.can_vote) == ("committed", True)
    assert send(prediction, "again") == (
        "Your first answer stays, and counts. Answer again, and say how sure you are now."
    )
    assert (control.stage, control.locked) == ("voting", True)

    said = send(prediction, "commit", answer=RIGHT[name], confidence="certain")

    assert said == "Committed. Your answer is locked. So is your second vote."
    assert (control.stage, control.can_vote, control.voted) == ("committed", False, True)
    assert json.loads(json.dumps([control.answer, control.second])) == json.loads(
        json.dumps([WRONG[name], RIGHT[name]])
    )
    send(prediction, "again")
    assert control.stage == "committed"


def test_a_reveal_ends_a_second_vote_that_was_only_opened(tmp_path: Path):
    """Nothing is kept of it."""
    prediction = committed(tmp_path, "again", "one")
    send(prediction, "again")
    send(prediction, "reveal")

    assert prediction.widget.stage == "naming"
    assert not prediction.widget.can_vote
    assert send(prediction, "commit", answer="two", confidence="guess").startswith("Already answered")
    assert records(tmp_path) == [Commit.__name__, RevealSeen.__name__]
