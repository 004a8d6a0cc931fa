"""A checkpoint as a learner meets it: nothing given away before a commit, and a reveal that is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from desk_kit import CHOICE, FILE, HOSTILE, PAPER, beliefs, cases, changed, desk, read
from prediction_kit import Spied, everything_said, lesson

from workbook.checkpoint.kinds import Verdict
from workbook.checkpoint.prediction import AnsweredBySomebodyElse, Lesson, NoAnswer, Prediction
from workbook.checkpoint.row_question import ASKS
from workbook.learner.store import AlreadyCommitted, Commit, NotSaved, Progress, Reset, RevealSeen
from workbook.learner.who import Learner

# ---------------------------------------------------------------------------------------------- nothing given away


def test_before_a_commit_nothing_is_said_but_the_question(tmp_path: Path):
    """No explanation, belief, counter, worked answer, case id or verdict: not in a page, not in a control."""
    mini = desk(tmp_path)
    secrets = [
        *(option["why"] for option in CHOICE["options"]),
        *("twice", "A yes is kept.", "Other hosts keep it.", "matches the run", "it-is-kept", "predicts"),
        *(PAPER["worked"], CHOICE["retest"]),
    ]

    for name in mini.checkpoints:
        prediction = mini.predict(name)
        said = everything_said(prediction) + str(mini.reveal(name)) + mini.reveal(name).html()
        prediction.receive({"type": "reveal"})
        said += everything_said(prediction)
        if name == "on-paper":
            said = said.replace("on-paper", "")
        assert [secret for secret in secrets if secret in said] == []


def test_what_is_said_before_a_commit_does_not_depend_on_which_option_is_right(tmp_path: Path):
    """Swap what two options predict, and their explanations: not one byte of what was said changes."""
    swapped = FILE
    for here, there in ((0, 1), (1, 0)):
        option = {
            **CHOICE["options"][there],
            "id": CHOICE["options"][here]["id"],
            "text": CHOICE["options"][here]["text"],
        }
        swapped = changed(swapped, "checkpoints", 0, "options", here, to=option)
    said = []
    for folder, file in (("as-is", FILE), ("swapped", swapped)):
        prediction = desk(tmp_path / folder, file=file).predict("again")
        prediction.receive({"type": "commit", "answer": ""})
        said.append(everything_said(prediction).replace(prediction.widget.model_id, "MODEL"))

    assert said[0] == said[1]
    assert CHOICE["options"][0]["text"] in said[0]


def test_before_a_commit_the_case_is_not_even_played(tmp_path: Path):
    """A reveal that is never computed cannot leak."""
    known = Spied()
    prediction = Prediction(lesson(tmp_path, known), read().checkpoints[0])
    prediction.receive({"type": "reveal"})
    prediction.receive({"type": "hint"})
    prediction.reveal()
    everything_said(prediction)

    assert known.seen == []


def test_the_scripted_learner_says_so_and_shows_no_control(tmp_path: Path):
    """A worked edition is text, and its locked answer is the one of the file."""
    mini = desk(tmp_path, Learner.SCRIPTED)

    bundle = mini.predict("again")._repr_mimebundle_()

    assert set(bundle) == {"text/plain", "text/html"}
    assert "(x) One dialog. [the scripted learner's answer, locked]" in bundle["text/plain"]
    assert "Checkpoint again: not yet" in str(mini.reveal("again"))
    assert mini.predict("again")._repr_mimebundle_() == bundle


def test_the_scripted_learner_does_not_speak_for_a_person(tmp_path: Path):
    """Meeting another answer, it stops instead of showing that one as its own."""
    desk(tmp_path).predict("again").commit("two")

    with pytest.raises(AnsweredBySomebodyElse, match="CEDAR_PROGRESS_DIR"):
        desk(tmp_path, Learner.SCRIPTED).predict("again")


# --------------------------------------------------------------------------------------------------- committing


def test_a_commit_is_locked_and_survives_a_restart(tmp_path: Path):
    """A new kernel finds the answer in the store, and shows it as locked."""
    desk(tmp_path).predict("again").commit("one")

    again = desk(tmp_path).predict("again")
    with pytest.raises(AlreadyCommitted):
        again.commit("two")

    assert again.state()["locked"]
    assert again.state()["answer"] == "one"
    assert again.state()["status"] == "Committed. Your answer is locked."
    assert again.verdict is Verdict.COMMITTED
    assert "(x) One dialog. [your answer, locked]" in str(again.page())


def test_the_commit_button_commits_what_was_picked(tmp_path: Path):
    """The front end sends the option's id; the control then shows it as locked."""
    prediction = desk(tmp_path).predict("again")
    control = prediction.widget
    assert (
        control.status
        == "Not attempted. Choose an answer, say how sure you are, and commit. The reveal comes after."
    )

    prediction.receive({"type": "commit", "answer": "two", "confidence": "unsure"})

    assert (control.locked, control.answer) == (True, "two")
    assert [type(record) for record in Progress(tmp_path / "answers").records()] == [Commit]


def test_a_message_of_the_front_end_reaches_the_checkpoint(tmp_path: Path):
    """The whole way: a custom message on the widget's comm."""
    prediction = desk(tmp_path).predict("again")
    control = prediction.widget

    content = {"type": "commit", "answer": "two", "confidence": "unsure"}
    control._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})

    assert control.locked


@pytest.mark.parametrize(
    ("checkpoint", "answer", "said"),
    [
        ("again", "", "Choose an answer first. Nothing was committed."),
        ("again", "three", "'three' is no answer to this; use one of: one, two, none. Nothing was committed."),
        ("on-paper", " \n", "Write your answer first. Nothing was committed."),
    ],
)
def test_no_answer_is_not_committed(tmp_path: Path, checkpoint: str, answer: str, said: str):
    """The status says what is missing; called from code, the same is raised."""
    prediction = desk(tmp_path).predict(checkpoint)
    prediction.receive({"type": "commit", "answer": answer})

    assert prediction.state()["status"] == said
    assert prediction.committed is None
    with pytest.raises(NoAnswer) as caught:
        prediction.commit(answer)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    "message", [None, {}, {"type": "comit"}, {"type": "commit"}, {"type": "hint", "x": 1}, "hint"]
)
def test_a_message_that_makes_no_sense_changes_nothing(tmp_path: Path, message: object):
    """It is said, not raised: an exception in a callback would go nowhere."""
    prediction = desk(tmp_path).predict("again")
    prediction.receive(message)

    assert prediction.state()["status"] == (
        "The button sent something that cannot be understood. Nothing was changed."
    )
    assert prediction.committed is None


def test_a_second_window_finds_the_first_ones_commit(tmp_path: Path):
    """Two cells, or two kernels, show one checkpoint; the later commit is refused and the standing one shown."""
    here, there = desk(tmp_path).predict("again"), desk(tmp_path).predict("again")
    here.receive({"type": "commit", "answer": "one", "confidence": "unsure"})
    there.receive({"type": "commit", "answer": "two", "confidence": "unsure"})

    assert there.state()["answer"] == "one"
    assert there.state()["status"] == "Already answered, here or in another window; that answer is locked."


def test_an_answer_that_cannot_be_kept_is_not_locked(tmp_path: Path):
    """The status says what to mend, and the same button works once it is mended."""
    prediction = desk(tmp_path).predict("again")
    control = prediction.widget
    in_the_way = tmp_path / "answers"
    in_the_way.write_text("a file where the folder should be")
    prediction.receive({"type": "commit", "answer": "one", "confidence": "unsure"})

    assert (control.locked, control.answer) == (False, "")
    assert "cedar-progress.jsonl" in control.status
    in_the_way.unlink()
    prediction.receive({"type": "commit", "answer": "one", "confidence": "unsure"})
    assert (control.locked, control.answer) == (True, "one")


def test_an_edited_question_asks_again(tmp_path: Path):
    """The answer to other words is no answer to these; the old one stays in the store."""
    desk(tmp_path).predict("again").commit("one")
    reworded = changed(FILE, "checkpoints", 0, "prompt", to="How many?")

    assert desk(tmp_path, file=reworded).predict("again").committed is None


# ------------------------------------------------------------------------------------------------------- hints


def test_hints_come_one_at_a_time_and_end(tmp_path: Path):
    """Each is sent only when it is asked for; after the last there are none left."""
    prediction = desk(tmp_path).predict("again")
    seen = []
    for _ in range(3):
        prediction.receive({"type": "hint"})
        seen.append((prediction.state()["hints"], prediction.state()["hints_left"]))

    assert seen == [
        (CHOICE["hints"][:1], 1),
        (CHOICE["hints"], 0),
        (CHOICE["hints"], 0),
    ]
    assert prediction.hint() == ""


# ------------------------------------------------------------------------------------------------------ the reveal


def test_without_a_commit_the_reveal_only_asks_for_one(tmp_path: Path):
    """Run All reaches it unanswered, and is told in words that nothing was attempted."""
    assert str(desk(tmp_path).reveal("again")) == (
        "Checkpoint again: not attempted\n"
        "===============================\n"
        "\n"
        "Nothing is shown before you have committed an answer. Commit first, then run this cell again."
    )


def test_the_reveal_explains_every_option_and_what_contradicts_the_wrong_ones(tmp_path: Path):
    """Verdict, predicted against observed, every why, the belief, the counter case and its rows, the ledgers."""
    mini = desk(tmp_path)
    mini.predict("again").commit("one")

    told = str(mini.reveal("again"))

    assert "Not yet. You committed “One dialog.” The run of twice shows something else." in told
    assert "prompts  1          2         no" in told
    for option in CHOICE["options"]:
        assert option["why"] in told
    assert "* One dialog. [your answer] [does not match the run]" in told
    assert "* Two dialogs. [matches the run]" in told
    assert "The belief behind it: A yes is kept. Other hosts keep it." in told
    assert "prompts: this predicts 1; twice shows 2 (rows 7, 19)." in told
    assert "prompts: this predicts 0; once shows 1 (row 7)." in told
    assert told.count("Ledger of twice:") == told.count("Ledger of once:") == 1
    assert "The checkpoint on-paper comes back to this." in told


def test_a_right_answer_is_called_right_and_the_wrong_ones_are_explained_all_the_same(tmp_path: Path):
    """Somebody who guessed has to learn why as well."""
    mini = desk(tmp_path)
    mini.predict("again").commit("two")

    told = str(mini.reveal("again"))

    assert told.startswith("Checkpoint again: right\n")
    assert "* Two dialogs. [your answer] [matches the run]" in told
    assert "The belief behind it: A yes is kept." in told


def test_an_absent_event_is_said_to_be_absent(tmp_path: Path):
    """Where the contradiction is that nothing happened there is no row to point at."""
    file = changed(FILE, "checkpoints", 0, "case", to="nobody")
    file = changed(file, "checkpoints", 0, "options", 1, "predicts", to={"prompts": 0, "outcome": "throw"})
    file = changed(file, "checkpoints", 0, "options", 2, "predicts", to={"effects": 1})
    file = changed(file, "checkpoints", 0, "options", 2, "counter", drop=True)
    mini = desk(tmp_path, file=file)
    mini.predict("again").commit("two")

    assert "effects: this predicts 1; nobody shows 0; its ledger has no execute." in str(mini.reveal("again"))


def test_a_paper_answer_is_set_beside_the_worked_one_and_the_run(tmp_path: Path):
    """Nobody grades free text: the learner compares, and the run shows what the worked answer claims."""
    mini = desk(tmp_path)
    mini.predict("on-paper").commit("Twice,\nI think.")

    told = str(mini.reveal("on-paper"))

    assert "* You wrote\n  Twice,\n  I think." in told
    assert "* A worked answer\n  Each call is asked about." in told
    assert "prompts  2        2         yes" in told
    assert mini.predict("on-paper").verdict is Verdict.COMMITTED


def test_the_reveal_button_shows_the_reveal_in_the_same_control(tmp_path: Path):
    """The blocks are those of the page, so both say the same; in between the control asks which row differed."""
    mini = desk(tmp_path)
    prediction = mini.predict("again")
    prediction.receive({"type": "commit", "answer": "one", "confidence": "unsure"})
    control = prediction.widget
    prediction.receive({"type": "reveal"})
    assert (control.stage, control.rows, control.explained) == ("naming", 22, [])
    prediction.receive({"type": "skip"})

    (asked,) = [block for block in mini.reveal("again").data() if block.get("lead") == ASKS]
    assert [*control.reveal, asked, *control.explained] == mini.reveal("again").data()
    assert control.status == "Not yet. The explanation of every answer is below."
    assert prediction.verdict is Verdict.NOT_YET


def test_having_seen_the_reveal_is_recorded_once(tmp_path: Path):
    """However often the cell is run."""
    mini = desk(tmp_path)
    mini.predict("again").commit("one")
    for _ in range(3):
        mini.reveal("again")

    assert [type(record) for record in Progress(tmp_path / "answers").records()] == [Commit, RevealSeen]


def test_a_reveal_is_shown_even_if_it_cannot_be_recorded(tmp_path: Path):
    """The learner did commit; a full disk must not keep the explanation back."""

    class Full(Progress):
        def see_reveal(self, key: Any) -> RevealSeen:
            raise NotSaved(self.path, "no space left on device")

    made = Lesson(chapter="mini", cases=cases(), beliefs=beliefs(), progress=Full(tmp_path), learner=Learner.LIVE)
    prediction = Prediction(made, read().checkpoints[0])
    prediction.commit("two")

    told = str(prediction.reveal())
    assert "Checkpoint again: right" in told
    assert "Not recorded: Nothing was saved" in told


# -------------------------------------------------------------------------------------------------------- reset


def test_a_reset_is_deliberate_and_recorded(tmp_path: Path):
    """The commit is hidden, not removed; the reveal is locked again and another answer can be given."""
    mini = desk(tmp_path)
    mini.predict("again").commit("one")
    mini.reveal("again")
    told = str(mini.reset("again", "I read on by accident"))

    assert "Your answer no longer counts." in told
    assert mini.predict("again").verdict is Verdict.NOT_ATTEMPTED
    assert "not attempted" in str(mini.reveal("again"))
    mini.predict("again").commit("two")
    records = Progress(tmp_path / "answers").records()
    assert [type(record) for record in records] == [Commit, RevealSeen, Reset, Commit]
    assert isinstance(records[2], Reset)
    assert records[2].why == "I read on by accident"


def test_a_reset_without_a_commit_says_that_there_is_none(tmp_path: Path):
    """Nothing is written."""
    mini = desk(tmp_path)

    assert "There is no commit to reset." in str(mini.reset("again"))
    assert Progress(tmp_path / "answers").records() == ()


# ------------------------------------------------------------------------------------------------- hostile texts


def test_hostile_text_is_text_in_every_form(tmp_path: Path):
    """Markup is escaped in HTML, control characters are spelled out everywhere, controls get plain text."""
    file = changed(FILE, "checkpoints", 0, "prompt", to=HOSTILE)
    file = changed(file, "checkpoints", 0, "options", 0, "text", to=HOSTILE)
    prediction = desk(tmp_path, file=file).predict("again")
    bundle = prediction._repr_mimebundle_()

    assert "<img" not in bundle["text/html"]
    for form in (bundle["text/plain"], bundle["text/html"], prediction.state()["prompt"]):
        assert "\x1b" not in form
        assert "\\x1b[31m" in form
        assert "\u202e" not in form
