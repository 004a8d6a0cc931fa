"""What one learner's records come to: every answer with its history, every belief held or shed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from progress_kit import RIGHT, WRONG, Counted, Doings, bank

from workbook.checkpoint.kinds import Verdict
from workbook.learner.records import (
    AnswerKind,
    Commit,
    Confidence,
    Key,
    Note,
    Record,
    Reset,
    RevealSeen,
    Revote,
    RowNamed,
    SelfChecked,
    Tried,
)
from workbook.progress.history import Answered, Attempt, ExerciseTries, Folded, Forecast, StrayAnswers, fold
from workbook.progress.questions import RECALL, Stray, recall_key

BANK = bank()


@pytest.fixture
def doings() -> Doings:
    return Doings(BANK)


def folded(doings: Doings) -> Folded:
    return fold(doings.records, BANK)


def one(doings: Doings, checkpoint: str) -> Answered:
    """What became of one checkpoint."""
    found = folded(doings)
    return next(a for c in found.chapters for a in c.answered if a.key.checkpoint == checkpoint)


# -------------------------------------------------------------------------------------------------------- verdicts


def never(doings: Doings) -> None:
    doings.note("again", "later")


def committed(doings: Doings) -> None:
    doings.commit("again", "two")


def seen_right(doings: Doings) -> None:
    doings.answer("again", "two")


def seen_wrong(doings: Doings) -> None:
    doings.answer("again", "one")


def taken_back(doings: Doings) -> None:
    doings.answer("again", "one")
    doings.reset("again")


def answered_anew(doings: Doings) -> None:
    taken_back(doings)
    doings.commit("again", "two")


def answered_anew_and_seen(doings: Doings) -> None:
    answered_anew(doings)
    doings.reveal("again")


def second_vote(doings: Doings) -> None:
    doings.commit("again", "one")
    doings.vote_again("again", "two")
    doings.reveal("again")


def reveal_without_a_commit(doings: Doings) -> None:
    doings.reveal("again")


def two_commits(doings: Doings) -> None:
    doings.commit("again", "one")
    doings.answer("again", "two")


def no_such_option(doings: Doings) -> None:
    doings.answer("again", "seven")


@pytest.mark.parametrize(
    ("what", "verdict", "first", "resets"),
    [
        (never, Verdict.NOT_ATTEMPTED, None, 0),
        (committed, Verdict.COMMITTED, "two", 0),
        (seen_right, Verdict.RIGHT, "two", 0),
        (seen_wrong, Verdict.NOT_YET, "one", 0),
        (taken_back, Verdict.NOT_ATTEMPTED, "one", 1),
        (answered_anew, Verdict.COMMITTED, "one", 1),
        (answered_anew_and_seen, Verdict.RIGHT, "one", 1),
        (second_vote, Verdict.NOT_YET, "one", 0),
        (reveal_without_a_commit, Verdict.NOT_ATTEMPTED, None, 0),
        (two_commits, Verdict.NOT_YET, "one", 0),  # the first one locks, as in the store
        (no_such_option, Verdict.NOT_YET, "seven", 0),
    ],
)
def test_how_a_checkpoint_stands(
    doings: Doings, what: Callable[[Doings], None], verdict: Verdict, first: str | None, resets: int
):
    """Not attempted, committed, not yet and right are four things; only a seen reveal tells the last two apart."""
    what(doings)

    found = one(doings, "again")
    assert (found.verdict, found.first and found.first.answer, found.resets) == (verdict, first, resets)


@pytest.mark.parametrize("checkpoint", RIGHT)
def test_every_kind_is_judged_by_its_run(doings: Doings, checkpoint: str):
    """Options, fields and orders: right or not yet is found from the played case."""
    for answers, verdict in ((RIGHT, Verdict.RIGHT), (WRONG, Verdict.NOT_YET)):
        doings.records.clear()
        doings.answer(checkpoint, answers[checkpoint])
        assert one(doings, checkpoint).verdict is verdict


def test_a_paper_answer_stays_committed(doings: Doings):
    """Nobody grades free text: after the reveal it is still committed, and what the learner found in it is kept."""
    doings.answer("paper", "Both are asked about.")
    checked = doings.check("paper", "each")

    found = one(doings, "paper")
    assert found.verdict is Verdict.COMMITTED
    assert found.standing is not None
    assert found.standing.checked == checked


def test_the_history_of_a_checkpoint_is_kept_in_order(doings: Doings):
    """Commits, second votes, reveals, named rows, resets with why, and notes: each where it belongs."""
    noted = doings.note("again", "first thought")
    first = doings.commit("again", "one", Confidence.CERTAIN)
    vote = doings.vote_again("again", "none", Confidence.GUESS)
    seen = doings.reveal("again")
    rows = (doings.row("again", 3, held=False), doings.row("again", None, held=True))
    taken = doings.reset("again", "I misread it")
    last = doings.commit("again", "two")

    assert one(doings, "again") == Answered(
        key=BANK.chapters[0].items[0].key,
        item=BANK.chapters[0].items[0],
        attempts=(
            Attempt(commit=first, blind=True, revote=vote, reveal=seen, rows=rows, reset=taken),
            Attempt(commit=last, blind=False),
        ),
        notes=(noted,),
    )


# --------------------------------------------------------------------------------------------------------- beliefs


def held(doings: Doings) -> dict[str, bool]:
    return {belief.id: belief.held for belief in folded(doings).beliefs}


BELIEFS_TABLE: dict[str, tuple[list[tuple[str, ...]], dict[str, bool]]] = {
    "nothing is said of a commit": ([("commit", "again", "one")], {}),
    "a wrong answer shows its belief": ([("answer", "again", "one")], {"kept": True}),
    "a right answer alone shows none": ([("answer", "again", "two")], {}),
    "a later right answer elsewhere sheds it": (
        [("answer", "again", "one"), ("answer", "kept", "once")],
        {"kept": False},
    ),
    "not before its own reveal": ([("answer", "again", "one"), ("commit", "kept", "once")], {"kept": True}),
    "an earlier right answer does not": ([("answer", "kept", "once"), ("answer", "again", "one")], {"kept": True}),
    "nor does the order in which questions were first touched": (
        [("note", "again", "hm"), ("answer", "kept", "once"), ("answer", "again", "one")],
        {"kept": True},
    ),
    "nor one to a question without the belief": (
        [("answer", "again", "one"), ("answer", "quiet", "asked")],
        {"kept": True},
    ),
    "nor the same question after its reveal": (
        [("answer", "again", "one"), ("reset", "again"), ("answer", "again", "two")],
        {"kept": True},
    ),
    "the same question before its reveal does": (
        [("commit", "again", "one"), ("reset", "again"), ("answer", "again", "two")],
        {"kept": False},
    ),
    "the same question as a recall does": (
        [("answer", "again", "one"), ("recall", "again", "two")],
        {"kept": False},
    ),
    "a wrong recall does not": ([("answer", "again", "one"), ("recall", "again", "one")], {"kept": True}),
    "a belief can come back": (
        [("answer", "again", "one"), ("answer", "kept", "once"), ("recall", "kept", "both")],
        {"kept": True},
    ),
    "a first answer counts, reset or not": (
        [("answer", "again", "one"), ("reset", "again"), ("answer", "again", "none")],
        {"kept": True, "silent": True},
    ),
    "an answer in between does not": (
        [
            ("answer", "again", "two"),
            ("reset", "again"),
            ("commit", "again", "one"),
            ("reset", "again"),
            ("answer", "again", "two"),
        ],
        {},
    ),
    "a right answer that was taken back sheds nothing": (
        [("answer", "again", "one"), ("answer", "kept", "once"), ("reset", "kept")],
        {"kept": True},
    ),
    "what a text lacks shows a belief": ([("answer", "paper", "text"), ("check", "paper", "why")], {"kept": True}),
    "what it has does not": ([("answer", "paper", "text"), ("check", "paper", "each")], {}),
}


@pytest.mark.parametrize(("steps", "expected"), BELIEFS_TABLE.values(), ids=BELIEFS_TABLE)
def test_which_beliefs_are_held_and_shed(doings: Doings, steps: list[tuple[str, ...]], expected: dict[str, bool]):
    """Held: shown by a first or standing answer whose reveal was seen. Shed: a later, blind, right answer."""
    for act, checkpoint, *given_ in steps:
        match act:
            case "commit":
                doings.commit(checkpoint, given_[0])
            case "answer":
                doings.answer(checkpoint, given_[0])
            case "recall":
                doings.answer(checkpoint, given_[0], asking="second")
            case "reset":
                doings.reset(checkpoint)
            case "note":
                doings.note(checkpoint, *given_)
            case "check":
                doings.check(checkpoint, *given_)

    assert held(doings) == expected


def test_a_belief_says_where_it_was_shown_and_what_spoke_against_it(doings: Doings):
    """Beliefs come in the order in which they were first shown, each question once."""
    doings.answer("quiet", "silence").answer("again", "one").answer("kept", "both")
    doings.answer("counts", RIGHT["counts"])

    silent, kept = folded(doings).beliefs
    assert (silent.id, [a.key.checkpoint for a in silent.shown], silent.against) == ("silent", ["quiet"], None)
    assert (kept.id, [a.key.checkpoint for a in kept.shown]) == ("kept", ["again", "kept"])
    assert kept.against is not None
    assert kept.against.key.checkpoint == "counts"


# ------------------------------------------------------------------------------------- what else is in the records


def test_recalled_answers_stand_in_the_chapter_that_asked(doings: Doings):
    """The same question under another key is an answer of its own."""
    doings.answer("again", "one").answer("again", "two", asking="second")

    first, second = folded(doings).chapters
    assert [a.verdict for a in first.answered] == [Verdict.NOT_YET, Verdict.NOT_ATTEMPTED, Verdict.NOT_ATTEMPTED]
    assert first.recalled == ()
    assert [(a.key, a.verdict, a.recalled) for a in second.recalled] == [
        (recall_key("second", doings.item("again")), Verdict.RIGHT, True)
    ]


def test_answers_to_what_is_not_here_are_listed_apart_each_with_its_reason(doings: Doings):
    """Changed content, a checkpoint that is gone, a chapter that is not installed: nothing is dropped silently."""
    gone = doings.elsewhere("first", "removed")
    changed = doings.elsewhere("first", "again", "an older wording")
    away = doings.elsewhere("greenhouse", "again")
    recalled = doings.elsewhere("second", f"{RECALL}greenhouse/again")
    doings.answer("kept", "once")

    found = folded(doings)
    assert found.strays == (
        StrayAnswers(key=gone.key, why=Stray.NOT_ASKED, records=(gone,)),
        StrayAnswers(key=changed.key, why=Stray.CHANGED, records=(changed,)),
        StrayAnswers(key=away.key, why=Stray.NOT_INSTALLED, records=(away,)),
        StrayAnswers(key=recalled.key, why=Stray.NOT_INSTALLED, records=(recalled,)),
    )
    assert [a.key.checkpoint for a in found.answered] == ["kept"]


def test_tries_of_an_exercise_are_kept_with_its_notes(doings: Doings):
    """An exercise has no verdict: how many situations held, try by try."""
    tries = (doings.tried("first", "task", 2, 5), doings.tried("first", "task", 5, 5))

    assert folded(doings).exercises == (ExerciseTries(key=tries[0].key, tries=tries),)


def test_one_forecast_for_each_question(doings: Doings):
    """The confidence that stood when the reveal was first seen; none before it, none without one, none twice."""
    doings.answer("again", "one", Confidence.CERTAIN)
    doings.reset("again")
    doings.answer("again", "two", Confidence.CERTAIN)
    doings.commit("kept", "once", Confidence.GUESS)
    doings.reset("kept")
    doings.answer("kept", "once", Confidence.FAIRLY_SURE)
    doings.answer("quiet", "asked")
    doings.commit("counts", RIGHT["counts"], Confidence.UNSURE)
    doings.answer("paper", "text", Confidence.CERTAIN)

    assert folded(doings).forecasts == (
        Forecast(probability=0.95, right=False),
        Forecast(probability=0.8, right=True),
    )


def test_no_learner_has_a_case_played(doings: Doings):
    """A case is played once for its chapter, whoever answers; ten thousand learners cost no run."""
    play = Counted()
    known = bank(play)
    assert sorted(play.played) == ["denied", "once", "twice", "twice"]

    for answer in ("one", "two", "none"):
        doings.records.clear()
        fold(doings.answer("again", answer).records, known)
    assert len(play.played) == 4


# ------------------------------------------------------------------------------------------------- for any records

_ITEMS = [item for chapter in BANK.chapters for item in chapter.items]
_KEYS = st.one_of(
    st.sampled_from([item.key for item in _ITEMS]),
    st.sampled_from([recall_key(asking, item) for asking in ("first", "second", "third") for item in _ITEMS]),
    st.builds(
        Key, st.sampled_from(["first", "second", "gone"]), st.sampled_from(["again", "task", "recall:x"]), st.text()
    ),
)
_VALUES = st.one_of(st.none(), st.booleans(), st.integers(-2, 9), st.text(max_size=5))
_FIELDS = st.dictionaries(st.sampled_from(["prompts", "effects", "outcome"]), _VALUES)
_SHAPES = {
    AnswerKind.CHOICE: st.sampled_from(["one", "two", "none", "once", "both", "silence", "asked", ""]),
    AnswerKind.FIELDS: _FIELDS,
    AnswerKind.ORDER: st.lists(st.sampled_from(["asked", "ran", "back", "x"]), max_size=4).map(tuple),
    AnswerKind.TEXT: st.text(max_size=9),
}
_SURE = st.one_of(st.none(), st.sampled_from(Confidence))


@st.composite
def _given(draw: st.DrawFn, made: type[Commit] | type[Revote]) -> Record:
    kind = draw(st.sampled_from(AnswerKind))
    return made(
        seq=draw(st.integers(0, 99)), key=draw(_KEYS), answer=draw(_SHAPES[kind]), kind=kind, confidence=draw(_SURE)
    )


_SEQ = st.integers(0, 99)
_RECORDS = st.lists(
    st.one_of(
        _given(Commit),
        _given(Revote),
        st.builds(Reset, seq=_SEQ, key=_KEYS, why=st.text(max_size=3)),
        st.builds(RevealSeen, seq=_SEQ, key=_KEYS),
        st.builds(RowNamed, seq=_SEQ, key=_KEYS, row=st.one_of(st.none(), st.integers()), held=st.booleans()),
        st.builds(SelfChecked, seq=_SEQ, key=_KEYS, points=st.lists(st.sampled_from(["each", "x"])).map(tuple)),
        st.builds(Tried, seq=_SEQ, key=_KEYS, held=st.integers(), of=st.integers()),
        st.builds(Note, seq=_SEQ, key=_KEYS, text=st.text(max_size=3)),
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(records=_RECORDS)
def test_any_sequence_of_records_folds_and_no_answer_is_lost(records: list[Record]):
    """Whatever the order, the kinds and the keys: every commit is in a chapter, or listed apart, or locked out."""
    found = fold(records, BANK)

    answered = {a.key for c in found.chapters for a in (*c.answered, *c.recalled) if a.attempts}
    apart = {s.key for s in found.strays} | {e.key for e in found.exercises}
    assert {record.key for record in records if isinstance(record, Commit)} <= answered | apart
    assert answered.isdisjoint(apart)
    for chapter in found.chapters:
        assert len(chapter.answered) == len(BANK.chapters[0].items)
        assert all(a.verdict in Verdict for a in (*chapter.answered, *chapter.recalled))
    assert {b.id for b in found.beliefs} <= BANK.beliefs.keys()


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(records=_RECORDS, chapter=st.sampled_from(["first", "second"]))
def test_a_chapter_does_not_depend_on_what_was_answered_elsewhere(records: list[Record], chapter: str):
    """What stands in one chapter is the same with and without the records of all others."""
    own = [record for record in records if record.key.chapter == chapter]

    (whole,) = (c for c in fold(records, BANK).chapters if c.id == chapter)
    (alone,) = (c for c in fold(own, BANK).chapters if c.id == chapter)
    assert whole == alone


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(records=_RECORDS)
def test_what_a_learner_has_not_seen_the_reveal_of_tells_nothing(records: list[Record]):
    """Without a single reveal there is no belief, no forecast and no right or wrong."""
    found = fold([record for record in records if not isinstance(record, RevealSeen)], BANK)

    assert found.beliefs == ()
    assert found.forecasts == ()
    assert {a.verdict for a in found.answered} <= {Verdict.COMMITTED, Verdict.NOT_ATTEMPTED}
