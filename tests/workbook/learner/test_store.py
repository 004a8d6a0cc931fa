"""The progress store: what a learner committed is never lost, never changed and never taken twice."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from workbook.learner.store import (
    AlreadyCommitted,
    AnswerKind,
    Commit,
    Confidence,
    Key,
    NotCommitted,
    Note,
    NotRevealed,
    Progress,
    Reset,
    RevealAlreadySeen,
    RevealSeen,
    Revote,
    RowNamed,
    SelfChecked,
    Standing,
    Tried,
)

KEY = Key.of("boundary-desk", "second-call", {"prompt": "How many prompts?", "options": ["one", "two"]})
OTHER = Key.of("boundary-desk", "no-ui", {"prompt": "What happens without a UI?"})


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(tmp_path)


def test_nothing_is_committed_and_nothing_is_created_before_the_first_save(progress: Progress):
    """Looking leaves no trace: "not attempted" is no record, and a folder stays as it was."""
    assert progress.committed(KEY) is None
    assert progress.records() == ()
    assert progress.problems == []
    assert list(progress.folder.iterdir()) == []


def test_a_commit_is_read_back_by_another_kernel_as_it_was_given(progress: Progress):
    """A commit survives the process: another reader of the same folder finds the whole record."""
    given_back = progress.commit(KEY, "two")

    assert given_back == Commit(seq=2, key=KEY, answer="two", kind=AnswerKind.CHOICE)
    assert Progress(progress.folder).committed(KEY) == given_back
    assert Progress(progress.folder).committed(OTHER) is None


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (AnswerKind.CHOICE, "two"),
        (AnswerKind.FIELDS, {"outcome": "throw", "prompts": 0, "effects": None, "ran": False}),
        (AnswerKind.ORDER, ("resolve", "ask", "run")),
        (AnswerKind.TEXT, "Because the first answer was not kept.\nÄ 漢 \u2028 end"),
    ],
)
def test_every_kind_of_answer_comes_back_with_its_shape(progress: Progress, kind: AnswerKind, answer):
    """Choices, fields, orders and free text share one record; none loses its types on the way through the file."""
    progress.commit(KEY, answer, kind=kind)

    assert progress.committed(KEY) == Commit(seq=2, key=KEY, answer=answer, kind=kind)
    assert len(progress.path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("kind", "answer"),
    [(AnswerKind.ORDER, "resolve"), (AnswerKind.CHOICE, ("one",)), (AnswerKind.FIELDS, {"prompts": 1.5})],
)
def test_an_answer_that_could_not_be_read_back_is_refused_before_it_is_written(progress: Progress, kind, answer):
    """A line that only looks saved is worse than an error: the shape is checked before the file is touched."""
    with pytest.raises(TypeError, match="answer"):
        progress.commit(KEY, answer, kind=kind)

    assert not progress.path.exists()


def test_a_second_commit_is_refused_and_says_what_stands_and_how_to_reset(progress: Progress):
    """A commit is locked: the same question takes no other answer, not even the same one again."""
    first = progress.commit(KEY, "two")
    before = progress.path.read_bytes()

    with pytest.raises(AlreadyCommitted) as refusal:
        Progress(progress.folder).commit(KEY, "two")

    assert refusal.value.commit == first
    assert "boundary-desk/second-call" in str(refusal.value)
    assert "'two'" in str(refusal.value)
    assert "reset('second-call')" in str(refusal.value)
    assert progress.path.read_bytes() == before


def test_a_reset_hides_the_answer_and_deletes_nothing(progress: Progress):
    """A reset is a record of its own: history keeps the first answer, the reset with its reason, and the second."""
    first = progress.commit(KEY, "one")
    before = progress.path.read_bytes()

    progress.reset(KEY, why="misread the question")
    assert progress.committed(KEY) is None
    second = progress.commit(KEY, "two")

    assert progress.committed(KEY) == second
    assert progress.records() == (first, Reset(seq=3, key=KEY, why="misread the question"), second)
    assert progress.path.read_bytes().startswith(before)


@pytest.mark.parametrize("act", [lambda p: p.reset(KEY), lambda p: p.see_reveal(KEY)], ids=["reset", "reveal"])
def test_without_a_commit_there_is_nothing_to_reset_and_nothing_to_reveal(progress: Progress, act):
    """No commit, no reveal: the store itself refuses, so a chapter's mistake cannot record one."""
    progress.commit(OTHER, "throws")

    with pytest.raises(NotCommitted, match="boundary-desk/second-call has no committed answer"):
        act(progress)


def test_edited_content_is_a_new_question_and_the_old_answer_stays(progress: Progress):
    """The key holds a hash of the content: an edit opens a new version and changes no history."""
    edited = Key.of(
        "boundary-desk", "second-call", {"prompt": "How many prompts in all?", "options": ["one", "two"]}
    )
    old = progress.commit(KEY, "one")

    assert progress.committed(edited) is None
    new = progress.commit(edited, "two")

    assert progress.committed(KEY) == old
    assert progress.records() == (old, new)


def test_the_order_of_fields_is_not_content():
    """A reformatted checkpoint file must not open every question again."""
    assert Key.of("c", "k", {"a": 1, "b": [2]}) == Key.of("c", "k", {"b": [2], "a": 1})
    assert Key.of("c", "k", {"a": 1, "b": [2]}) != Key.of("c", "k", {"a": 1, "b": [3]})


def test_a_reveal_is_recorded_once_an_answer_and_forgotten_by_a_reset(progress: Progress):
    """Running the reveal's cell again adds nothing; after a reset the reveal counts as unseen."""
    progress.commit(KEY, "one")
    assert not progress.revealed(KEY)
    seen = progress.see_reveal(KEY)
    before = progress.path.read_bytes()

    assert progress.see_reveal(KEY) == seen == RevealSeen(seq=3, key=KEY)
    assert progress.path.read_bytes() == before
    assert progress.revealed(KEY)
    progress.reset(KEY)
    assert not progress.revealed(KEY)


def test_a_note_needs_no_answer_and_changes_none(progress: Progress):
    """Notes are kept beside the answers."""
    note = progress.note(KEY, "the second prompt surprised me")

    assert note == Note(seq=2, key=KEY, text="the second prompt surprised me")
    assert progress.records() == (note,)
    assert progress.committed(KEY) is None


def test_the_same_answers_give_the_same_bytes(tmp_path: Path):
    """Deterministic: no clock, no random id, so two learners with the same answers have the same file."""
    files = []
    for name in ("ada", "bo"):
        progress = Progress(tmp_path / name)
        progress.commit(KEY, "one")
        progress.see_reveal(KEY)
        progress.reset(KEY, why="again")
        files.append(progress.path.read_bytes())

    assert files[0] == files[1]


def test_the_first_of_two_pasted_commits_is_the_one_that_stands(progress: Progress):
    """Two files pasted into one cannot unlock an answer: the earlier line wins, and both stay."""
    first = progress.commit(KEY, "one")
    second = Commit(seq=9, key=KEY, answer="two")
    with progress.path.open("ab") as file:
        file.write(msgspec.json.encode(second) + b"\n")

    assert progress.committed(KEY) == first
    assert progress.records() == (first, second)


def test_the_store_is_in_the_working_folder_and_stays_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A kernel starts in its notebook's folder; a later change of folder must not split the answers in two."""
    monkeypatch.delenv("CEDAR_PROGRESS_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    progress = Progress()
    monkeypatch.chdir("/")

    assert progress.path == tmp_path / "cedar-progress.jsonl"


def test_the_environment_names_another_folder_which_is_made_when_needed(tmp_path: Path, monkeypatch):
    """`CEDAR_PROGRESS_DIR` wins over the working folder."""
    monkeypatch.setenv("CEDAR_PROGRESS_DIR", str(tmp_path / "deep" / "answers"))
    progress = Progress()
    assert not progress.folder.exists()
    progress.commit(KEY, "two")

    assert (tmp_path / "deep" / "answers" / "cedar-progress.jsonl").is_file()


def test_how_sure_a_learner_is_is_kept_with_the_answer(progress: Progress):
    """Confidence belongs to the commit: four levels, each with a probability; a learner may leave it out."""
    given_back = progress.commit(KEY, "two", confidence=Confidence.FAIRLY_SURE)
    progress.commit(OTHER, "throws")

    assert Progress(progress.folder).committed(KEY) == given_back
    assert given_back == Commit(seq=2, key=KEY, answer="two", confidence=Confidence.FAIRLY_SURE)
    assert progress.committed(OTHER) == Commit(seq=3, key=OTHER, answer="throws", confidence=None)
    assert [level.probability for level in Confidence] == [0.35, 0.6, 0.8, 0.95]


def test_a_second_vote_stands_beside_the_commit(progress: Progress):
    """Vote, discuss, vote again: both answers are kept, and the commit is the one that stands."""
    first = progress.commit(KEY, "one", confidence=Confidence.CERTAIN)
    second = progress.vote_again(KEY, "two", confidence=Confidence.UNSURE)

    assert progress.standing(KEY) == Standing(commit=first, revote=second)
    assert second == Revote(seq=3, key=KEY, answer="two", confidence=Confidence.UNSURE)
    with pytest.raises(AlreadyCommitted) as refused:
        progress.vote_again(KEY, "one")
    assert refused.value.commit == second


def test_a_second_vote_needs_a_first_one_and_comes_before_the_reveal(progress: Progress):
    """Without a commit there is nothing to think over, and after the reveal an answer says nothing."""
    with pytest.raises(NotCommitted):
        progress.vote_again(KEY, "two")
    progress.commit(KEY, "one")
    progress.see_reveal(KEY)
    with pytest.raises(RevealAlreadySeen, match="between the commit and the reveal"):
        progress.vote_again(KEY, "two")

    assert progress.standing(KEY).revote is None


def test_naming_a_row_and_checking_oneself_come_after_the_reveal(progress: Progress):
    """Both compare with what was shown, so neither comes before. Every named row is kept; the last check counts."""
    progress.commit(KEY, "one")
    with pytest.raises(NotRevealed):
        progress.name_row(KEY, 4, held=False)
    with pytest.raises(NotRevealed):
        progress.self_check(KEY, ("gate",))
    progress.see_reveal(KEY)
    rows = (progress.name_row(KEY, 4, held=False), progress.name_row(KEY, None, held=True))
    progress.self_check(KEY, ("gate",))
    last = progress.self_check(KEY, ("gate", "dialog"))

    assert (
        progress.standing(KEY).rows
        == rows
        == (
            RowNamed(seq=4, key=KEY, row=4, held=False),
            RowNamed(seq=5, key=KEY, row=None, held=True),
        )
    )
    assert progress.standing(KEY).checked == last == SelfChecked(seq=7, key=KEY, points=("gate", "dialog"))


def test_a_reset_hides_all_that_came_with_the_answer_and_no_try_of_an_exercise(progress: Progress):
    """After a reset nothing stands; the records are all still there."""
    progress.commit(KEY, "one")
    progress.vote_again(KEY, "two")
    progress.see_reveal(KEY)
    progress.name_row(KEY, 4, held=True)
    tried = progress.try_(OTHER, 3, 5)
    progress.reset(KEY)

    assert progress.standing(KEY) == Standing()
    assert len(progress.records()) == 6
    assert tried in progress.records()
    assert tried == Tried(seq=6, key=OTHER, held=3, of=5)


def test_a_folder_has_one_pseudonym_for_good(progress: Progress):
    """It is drawn by chance, to tell nothing, and once, so that two exports are seen to be one person's."""
    drawn = progress.pseudonym()
    progress.commit(KEY, "one")

    assert re.fullmatch(r"learner-[0-9a-f]{12}", drawn)
    assert Progress(progress.folder).pseudonym() == progress.pseudonym() == drawn
    assert progress.records() == (Commit(seq=3, key=KEY, answer="one"),)
    assert progress.problems == []
