"""Which questions come back at the beginning of a chapter, and how they are asked there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from progress_kit import BELIEFS, CASES, FIRST, RIGHT, SECOND, WRONG, Counted, Doings, bank, chapter

from workbook.checkpoint.kinds import Verdict
from workbook.checkpoint.prediction import Lesson
from workbook.learner.records import Commit, Confidence, RevealSeen
from workbook.learner.store import Key, Progress
from workbook.learner.who import Learner
from workbook.progress.history import fold
from workbook.progress.installed import installed
from workbook.progress.questions import RECALL, Bank, recall_key
from workbook.progress.recall import PER_CHAPTER, NothingToRecall, Recalls, recalled, scripted_records

THIRD = chapter("third", [])
BANK = Bank([*bank().chapters, THIRD], BELIEFS)


@pytest.fixture
def doings() -> Doings:
    return Doings(BANK)


def back(doings: Doings, asking: str = "third") -> list[str]:
    return [item.key.checkpoint for item in recalled(doings.records, BANK, asking)]


def all_right(doings: Doings, sure: Confidence | None = Confidence.CERTAIN, *but: str) -> None:
    for checkpoint, answer in RIGHT.items():
        if checkpoint not in but:
            doings.answer(checkpoint, answer, sure)


# --------------------------------------------------------------------------------------------------- which of them


def test_a_belief_held_comes_back_first_by_the_retest_of_where_it_was_shown(doings: Doings):
    """`again` showed that a yes is kept; `kept` comes back to the same belief, and was not answered rightly."""
    doings.answer("again", "one")
    all_right(doings, Confidence.GUESS, "again", "kept", "counts")

    assert back(doings)[0] == "kept"


def test_where_the_retest_was_answered_rightly_the_question_itself_comes_back(doings: Doings):
    """The belief was shown after the retest had been answered, so the retest has nothing more to ask."""
    doings.answer("kept", "once").answer("again", "one")

    assert back(doings)[0] == "again"


def test_what_is_not_yet_right_comes_before_what_was_right(doings: Doings):
    """A wrong answer without a belief behind it is still a wrong answer."""
    all_right(doings, Confidence.GUESS, "order")
    doings.answer("order", ("asked", "back", "ran"), Confidence.CERTAIN)

    assert back(doings)[0] == "order"


def test_what_was_answered_rightly_when_it_came_back_is_no_longer_not_yet(doings: Doings):
    """A recall mends: after it, the least certain of the right answers come first."""
    all_right(doings, Confidence.GUESS, "order")
    doings.answer("order", ("asked", "back", "ran"), Confidence.CERTAIN)
    doings.answer("order", RIGHT["order"], asking="second")

    assert "order" not in back(doings)


def test_of_right_answers_the_least_certain_come_back(doings: Doings):
    """Who never said how sure they were comes last."""
    doings.answer("again", "two", Confidence.CERTAIN).answer("kept", "once").answer(
        "quiet", "asked", Confidence.UNSURE
    )
    doings.answer("counts", RIGHT["counts"], Confidence.GUESS).answer(
        "order", RIGHT["order"], Confidence.FAIRLY_SURE
    )

    assert back(doings) == ["counts", "quiet"]


def test_one_comes_from_long_ago_and_one_from_the_latest_chapter(doings: Doings):
    """Of several beliefs held: the first that was shown, and one of the last chapter."""
    for checkpoint in ("again", "kept", "quiet", "order"):
        doings.answer(checkpoint, WRONG[checkpoint])

    assert back(doings) == ["kept", "quiet"]


def test_what_came_back_before_waits_until_there_is_nothing_else(doings: Doings):
    """Each chapter brings back something else, whether or not the first recall was right."""
    for checkpoint in ("again", "quiet"):
        doings.answer(checkpoint, WRONG[checkpoint])
    doings.answer("order", WRONG["order"])
    doings.answer("kept", "both", asking="second")

    assert "kept" not in back(doings)


def test_neither_a_text_nor_what_waits_for_its_reveal_comes_back(doings: Doings):
    """A text cannot be judged, and a reveal here would give away the answer that its own chapter waits with."""
    doings.answer("paper", "text")
    doings.check("paper", "why")
    doings.commit("again", "one")
    doings.commit("kept", "both")
    found = back(doings)

    assert {"paper", "again", "kept"}.isdisjoint(found)
    assert len(found) == PER_CHAPTER


def test_only_earlier_chapters_come_back(doings: Doings):
    """A wrong answer of the chapter itself, or of a later one, is none of its beginning's business."""
    doings.answer("quiet", "silence").answer("again", "one")

    assert set(back(doings, "second")) <= {"again", "kept"}


@pytest.mark.parametrize("asking", ["second", "third"])
def test_without_earlier_answers_comes_what_the_scripted_learner_gets(doings: Doings, asking: str):
    """Somebody who begins in the middle is asked what most people get wrong."""
    scripted = [item.key.checkpoint for item in recalled(scripted_records(BANK, asking), BANK, asking)]

    assert back(doings, asking) == scripted
    assert len(scripted) == PER_CHAPTER


def test_the_scripted_learner_answers_every_recall_rightly():
    """Its worked edition shows beliefs that are shed, and its recalls move on from chapter to chapter."""
    records = scripted_records(BANK, "third")
    found = fold(records, BANK)

    assert {one.verdict for one in found.answered if one.recalled} == {Verdict.RIGHT}
    assert [one.key.checkpoint for one in found.answered if one.recalled] == [
        f"{RECALL}first/kept",
        f"{RECALL}first/again",
    ]


def test_the_first_chapter_has_nothing_to_ask_again(doings: Doings):
    """Nothing comes before it."""
    assert back(doings, "first") == []


def test_once_one_is_answered_both_stay(doings: Doings):
    """Whatever is answered afterwards, in this chapter or in an earlier one, the two keep their places."""
    doings.answer("again", "one").answer("quiet", "silence")
    before = back(doings)
    item = recalled(doings.records, BANK, "third")[1]
    doings.records.append(Commit(seq=doings.seq, key=recall_key("third", item), answer="x"))
    all_right(doings, Confidence.GUESS, "again", "quiet")

    assert back(doings) == before


def test_an_answer_from_a_window_left_open_has_a_place_too(doings: Doings):
    """The choice had changed when it was answered: it takes the place of one that was not answered."""
    doings.answer("again", "one").answer("quiet", "silence")
    chosen = back(doings)
    doings.commit("order", RIGHT["order"], asking="third")

    assert back(doings) == ["order", chosen[1]]


_STEPS = st.lists(
    st.tuples(st.sampled_from([*RIGHT]), st.booleans(), st.booleans(), st.sampled_from([None, "second", "third"])),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(steps=_STEPS, more=_STEPS)
def test_for_any_answers_two_come_back_and_stay_when_answered(steps, more):
    """Two different earlier questions, always the same for the same records; and no later answer moves them."""
    doings = Doings(BANK)

    def act(todo) -> None:
        for checkpoint, right, reveal, asking in todo:
            doings.commit(checkpoint, (RIGHT if right else WRONG)[checkpoint], asking=asking)
            if reveal:
                doings.reveal(checkpoint, asking=asking)

    act([step for step in steps if step[3] != "third"])
    chosen = recalled(doings.records, BANK, "third")
    assert len(set(chosen)) == PER_CHAPTER
    assert recalled(list(doings.records), BANK, "third") == chosen
    for item in chosen:
        key = recall_key("third", item)
        doings.records += [Commit(seq=doings.seq, key=key, answer="x"), RevealSeen(seq=doings.seq + 1, key=key)]
    act(more)
    assert recalled(doings.records, BANK, "third") == chosen


# ----------------------------------------------------------------------------------------------- how they are asked


def lesson(name: str, folder: Path, learner: Learner = Learner.LIVE) -> Lesson:
    return Lesson(chapter=name, cases=CASES, beliefs=BELIEFS, progress=Progress(folder), learner=learner)


def recalls(folder: Path, learner: Learner = Learner.LIVE) -> Recalls:
    return Recalls(lesson("third", folder, learner), BANK, lambda name: lesson(name, folder / "nowhere"))


def wrong_in(folder: Path) -> Progress:
    """A learner who believes, as `again` showed, that a yes is kept."""
    progress, item = Progress(folder), BANK.item("first", "again")
    assert item is not None
    progress.commit(item.key, "one")
    progress.see_reveal(item.key)
    return progress


def test_a_recalled_question_has_a_key_of_its_own(tmp_path: Path):
    """Its answer is kept under the chapter that asks; the one in its own chapter is neither needed nor touched."""
    progress = wrong_in(tmp_path)
    first = recalls(tmp_path).ask(1)
    first.commit("both", "guess")
    item = BANK.item("first", "kept")

    assert item is not None
    assert first.key == Key("third", "recall:first/kept", item.key.content) == recall_key("third", item)
    assert progress.committed(first.key) == Commit(seq=4, key=first.key, answer="both", confidence=Confidence.GUESS)
    assert progress.committed(item.key) is None
    assert recalls(tmp_path).ask(1).committed == first.committed


def test_nothing_of_a_recalled_question_is_given_away_before_its_commit(tmp_path: Path):
    """It is a prediction like any other: no reveal without a commit, and the page says how to go on here."""
    wrong_in(tmp_path)
    asked = recalls(tmp_path).ask(1)

    assert "Nothing is shown before you have committed" in str(asked.reveal())
    assert "desk.recall(1).commit(" in str(asked.page())
    assert "desk.predict" not in str(asked.page())
    assert str(asked.page()).startswith("Recall 1: kept, from first: not attempted\n")
    assert "Why both." not in json.dumps(asked.state())
    assert asked.state()["title"] == "Recall 1: kept, from first"
    asked.commit("both")
    assert "desk.recall_reveal(1)" in str(asked.page())
    shown = str(asked.reveal())
    assert "A yes is kept." in shown
    assert "desk.recall(1).which_row(1)" in shown
    assert asked.verdict is Verdict.NOT_YET


def test_a_recall_answered_rightly_sheds_the_belief(tmp_path: Path):
    """The whole way, through the store: wrong in its chapter, right as a recall."""
    progress = wrong_in(tmp_path)
    assert [belief.held for belief in fold(progress.records(), BANK).beliefs] == [True]
    asked = recalls(tmp_path).ask(1)
    asked.commit("once")
    asked.reveal()

    assert [belief.held for belief in fold(progress.records(), BANK).beliefs] == [False]


def test_the_scripted_learner_is_asked_the_same_whatever_its_folder_holds(tmp_path: Path):
    """A worked edition does not depend on which chapters were played before it."""
    expected = [item.key.checkpoint for item in recalled(scripted_records(BANK, "third"), BANK, "third")]
    scripted = recalls(tmp_path, Learner.SCRIPTED)

    for number, checkpoint in enumerate(expected, start=1):
        asked = scripted.ask(number)
        assert asked.checkpoint.id == checkpoint
        assert asked.committed is not None
        asked.reveal()
        assert asked.verdict is Verdict.RIGHT
        assert "text/html" in asked._repr_mimebundle_()
        assert len(asked._repr_mimebundle_()) == 2


@pytest.mark.parametrize("number", [0, 3, -1])
def test_there_are_two_recalls_and_no_more(tmp_path: Path, number: int):
    """Another number is named, with what would do."""
    with pytest.raises(NothingToRecall, match=rf"third has no recall {number}\. Use one of: 1, 2\."):
        recalls(tmp_path).ask(number)


def test_a_chapter_without_earlier_ones_says_so(tmp_path: Path):
    """Nothing comes back in the first chapter."""
    asking = Recalls(lesson("first", tmp_path), BANK, lambda name: lesson(name, tmp_path))

    with pytest.raises(NothingToRecall, match="no chapter with checkpoints comes before it"):
        asking.ask(1)


# ------------------------------------------------------------------------------------------ in the chapters we ship


@pytest.fixture(scope="module")
def shipped() -> Bank:
    return installed()


def test_all_chapters_can_be_looked_at(shipped: Bank):
    """Every built-in chapter is in the bank, in order, with nothing that keeps one out."""
    assert [one.id for one in shipped.chapters] == [
        "start-here",
        "boundary-desk",
        "dispatch-desk",
        "review-desk",
        "gate-desk",
        "your-own-desk",
    ]
    assert shipped.problems == ()
    assert {
        belief for one in shipped.chapters for item in one.items for belief in item.beliefs
    } <= shipped.beliefs.keys()


@pytest.mark.parametrize("asking", ["dispatch-desk", "review-desk", "gate-desk", "your-own-desk"])
def test_every_later_chapter_has_two_questions_for_somebody_new(shipped: Bank, asking: str):
    """Two, from earlier chapters, about beliefs that the scripted learner holds, and none that came back before."""
    records = scripted_records(shipped, asking)
    found = recalled([], shipped, asking)
    earlier = {one.id for one in shipped.before(asking)}
    asked_before = {record.key.checkpoint for record in records if record.key.checkpoint.startswith(RECALL)}

    assert len(found) == PER_CHAPTER
    assert {item.key.chapter for item in found} <= earlier
    assert not {recall_key("x", item).checkpoint for item in found} & asked_before
    held = {belief.id for belief in fold(records, shipped).beliefs if belief.held}
    assert all(held & item.beliefs for item in found)


def test_the_first_chapter_after_the_start_has_two_questions_as_well(shipped: Bank):
    """There are only two before it, and both come back: what was wrong first."""
    found = recalled([], shipped, "boundary-desk")

    assert [item.key.chapter for item in found] == ["start-here"] * PER_CHAPTER


def test_the_same_answers_bring_the_same_questions_back_in_another_process_order(shipped: Bank):
    """No set, hash or clock has a say: a bank made anew chooses the same."""
    other = installed()
    for asking in ("dispatch-desk", "gate-desk"):
        chosen = [item.key for item in recalled([], shipped, asking)]
        assert chosen == [item.key for item in recalled([], other, asking)]


def test_a_case_is_played_once_for_all_recalls():
    """Choosing plays nothing: what is needed was judged when the bank was made."""
    play = Counted()
    known = Bank([chapter("first", FIRST, play), chapter("second", SECOND, play), THIRD], BELIEFS)
    played = len(play.played)

    recalled([], known, "third")
    assert len(play.played) == played
