"""A class: what learners exported, counted by question, with nobody named and no file trusted."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest
from class_kit import learner_name, work_by
from click.testing import CliRunner
from progress_kit import RIGHT, WRONG, Doings, bank

from workbook import class_files
from workbook.answers import AnswerKind, Confidence
from workbook.class_files import NoFiles, Skipped
from workbook.class_page import html, tables
from workbook.class_report import CannotReport, write
from workbook.classroom import (
    AnswerCount,
    BeliefReport,
    ClassReport,
    Classroom,
    ExerciseReport,
    ItemReport,
    Votes,
)
from workbook.cli import main
from workbook.fold import fold
from workbook.items import Stray
from workbook.my_work import encode_work, work_of

BANK = bank()
CERTAIN, UNSURE, GUESS = Confidence.CERTAIN, Confidence.UNSURE, Confidence.GUESS
SECRET = "I, Ada Cedar, think that it asks each time."


def counted(*learners: Doings) -> ClassReport:
    room = Classroom(BANK)
    for learner in learners:
        room.add(learner.records)
    return room.report()


def learners(number: int) -> list[Doings]:
    return [Doings(BANK) for _ in range(number)]


def item(report: ClassReport, checkpoint: str) -> ItemReport:
    return next(one for one in report.items if one.checkpoint == checkpoint)


# ------------------------------------------------------------------------------------------------------- counting


def test_a_question_is_counted_by_answer_by_confidence_and_by_vote() -> None:
    """The whole record of one question that three learners answered, one of them twice, one after a reset."""
    ada, ben, cy = learners(3)
    ada.commit("again", "one", CERTAIN)
    ada.vote_again("again", "two", UNSURE)
    ada.reveal("again")
    ben.answer("again", "two", GUESS)
    ben.reset("again", "too quick")
    ben.commit("again", "none")
    cy.commit("again", "one")

    assert item(counted(ada, ben, cy), "again") == ItemReport(
        chapter="first",
        checkpoint="again",
        kind=AnswerKind.CHOICE,
        prompt="The question again?",
        learners=3,
        answers=(
            AnswerCount(
                answer="one", said=("The answer one.",), right=False, first=2, second=0, sure=(0, 0, 0, 1, 1)
            ),
            AnswerCount(
                answer="none", said=("The answer none.",), right=False, first=0, second=0, sure=(0, 0, 0, 0, 0)
            ),
            AnswerCount(
                answer="two", said=("The answer two.",), right=True, first=1, second=1, sure=(1, 0, 0, 0, 0)
            ),
        ),
        wrong=2,
        misplaced=pytest.approx((0.95 + 0.5) / 3),
        votes=Votes(gained=1),
        resets=1,
        resetters=1,
        revealed=2,
        asked_again=0,
        right_again=0,
    )


def test_both_commits_of_a_second_vote_are_compared() -> None:
    """Vote, discuss, vote again: each way that two votes can go is counted by itself."""
    four = learners(4)
    pairs = [("two", "two"), ("one", "two"), ("two", "none"), ("one", "none")]
    for learner, (first, second) in zip(four, pairs, strict=True):
        learner.commit("again", first)
        learner.vote_again("again", second)

    assert item(counted(*four), "again").votes == Votes(both=1, gained=1, lost=1, neither=1)


def test_the_most_telling_question_comes_first() -> None:
    """Where most confidence lies in what is wrong: sure and wrong outweighs unsure and wrong, and right is last."""
    ada, ben = learners(2)
    for learner in (ada, ben):
        learner.commit("again", RIGHT["again"], CERTAIN)
        learner.commit("kept", WRONG["kept"], GUESS)
        learner.commit("quiet", WRONG["quiet"], CERTAIN)

    report = counted(ada, ben)

    assert [(one.checkpoint, one.misplaced) for one in report.items] == [
        ("quiet", pytest.approx(0.95)),
        ("kept", pytest.approx(0.35)),
        ("again", 0.0),
    ]


def test_every_kind_of_answer_is_counted_and_said_in_words() -> None:
    """Predicted fields and orders count by the whole answer; a wrong one is not counted as another."""
    ada, ben, cy = learners(3)
    for learner, answers in ((ada, RIGHT), (ben, WRONG), (cy, WRONG)):
        learner.commit("counts", answers["counts"])
        learner.commit("order", answers["order"])

    report = counted(ada, ben, cy)

    assert [(one.answer, one.said, one.right, one.first) for one in item(report, "counts").answers] == [
        ({"prompts": 1, "effects": 1}, ("How many dialogs? 1", "How often does it run? 1"), False, 2),
        ({"prompts": 2, "effects": 1}, ("How many dialogs? 2", "How often does it run? 1"), True, 1),
    ]
    assert [(one.answer, one.right, one.first) for one in item(report, "order").answers] == [
        (("ran", "asked", "back"), False, 2),
        (("asked", "ran", "back"), True, 1),
    ]


def test_a_text_is_counted_and_kept_from_everybody() -> None:
    """Free text may name somebody: that it was written counts, what was written leaves no trace."""
    (ada,) = learners(1)
    ada.commit("paper", SECRET)
    report = counted(ada)

    assert item(report, "paper").answers == (
        AnswerCount(answer="", said=("(a text)",), right=None, first=1, second=0, sure=(0, 0, 0, 0, 1)),
    )
    assert not item(report, "paper").graded
    assert "Ada" not in html(report, []) + "".join(tables(report, []).values())


def test_beliefs_count_as_held_or_shed_once_a_learner() -> None:
    """A belief counts from its reveal; a later right answer to another question about it sheds it."""
    ada, ben, cy = learners(3)
    ada.answer("again", "one").answer("kept", RIGHT["kept"])
    ben.answer("again", "one").answer("kept", WRONG["kept"])
    cy.commit("again", "one")  # not revealed: nothing is said of a belief yet

    assert counted(ada, ben, cy).beliefs == (BeliefReport(id="kept", says="A yes is kept.", held=1, shed=1),)


def test_recalls_tries_and_answers_to_other_content_are_counted_apart() -> None:
    """A question asked again is no first prediction; an exercise counts its tries; a stray is named, not judged."""
    (ada,) = learners(1)
    ada.answer("again", "one").answer("again", "two", asking="second")
    ada.tried("first", "task", 1, 3)
    ada.tried("first", "task", 3, 3)
    ada.elsewhere("gone", "q")
    report = counted(ada)

    assert (item(report, "again").learners, item(report, "again").asked_again) == (1, 1)
    assert item(report, "again").right_again == 1
    assert report.exercises == (ExerciseReport(chapter="first", exercise="task", learners=1, solved=1, tries=2),)
    assert report.strays == ((Stray.NOT_INSTALLED, "gone/q", 1),)


def test_the_order_of_learners_makes_no_difference() -> None:
    """Counts are sums: the same class in any order gives the same page, byte for byte, and the same tables."""
    class_ = [work_by(number, BANK).records for number in range(30)]
    pages = []
    for seed in range(2):
        random.Random(seed).shuffle(class_)
        room = Classroom(BANK)
        for records in class_:
            room.add(records)
        report = room.report()
        pages.append((html(report, []), tables(report, [])))

    assert pages[0] == pages[1]


# ---------------------------------------------------------------------------------------------------------- files


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    """Three good exports, as they may come from a learning platform: a folder for each."""
    folder = tmp_path / "class"
    for number in range(3):
        place = folder / f"student {number}"
        place.mkdir(parents=True)
        (place / "my-work.json").write_bytes(encode_work(work_by(number, BANK)))
    return folder


def test_files_that_are_no_exports_are_passed_over_and_named(
    handed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corrupt, foreign, newer, changed, too large: each is listed with its reason, and the rest counts."""
    good = encode_work(work_by(7, BANK))
    (handed_in / "cut.json").write_bytes(good[: len(good) // 2])
    (handed_in / "foreign.json").write_text('{"title": "shopping"}')
    (handed_in / "newer.json").write_text(json.dumps(json.loads(good) | {"version": 9}))
    (handed_in / "named.json").write_bytes(good.replace(learner_name(7).encode(), b"<b>Ada</b>"))
    (handed_in / "large.json").write_bytes(b" " * 200_000)
    (handed_in / ".hidden.json").write_text("{}")
    (handed_in / "notes.txt").write_text("not looked at")
    monkeypatch.setattr(class_files, "LARGEST", 150_000)

    written = write(handed_in, tmp_path / "report", bank=BANK)

    assert written.report.learners == 3
    assert [one.name for one in written.skipped] == [
        *("cut.json", "foreign.json", "large.json", "named.json", "newer.json")
    ]
    reasons = {one.name: one.why for one in written.skipped}
    assert "not work that `workbook export` wrote" in reasons["cut.json"]
    assert "not work that `workbook export` wrote" in reasons["foreign.json"]
    assert reasons["large.json"] == "it has 200,000 bytes, and no export has more than 150,000"
    assert "no pseudonym" in reasons["named.json"]
    assert "newer edition" in reasons["newer.json"]
    page = (tmp_path / "report" / "index.html").read_text()
    assert "5 files passed over" in page
    assert "<b>Ada" not in page
    assert "&lt;b&gt;Ada" in page


def test_of_several_exports_of_one_learner_the_fullest_counts(handed_in: Path, tmp_path: Path) -> None:
    """Somebody hands in each week: answers are only ever added, so the one with most of them is the latest."""
    ada = Doings(BANK)
    ada.answer("again", "one")
    early = work_of(fold(ada.records, BANK), tuple(ada.records), BANK, learner=learner_name(99))
    ada.answer("quiet", "asked")
    late = work_of(fold(ada.records, BANK), tuple(ada.records), BANK, learner=learner_name(99))
    (handed_in / "a-late.json").write_bytes(encode_work(late))
    (handed_in / "b-early.json").write_bytes(encode_work(early))
    (handed_in / "c-late-again.json").write_bytes(encode_work(late))

    written = write(handed_in, tmp_path / "report", bank=BANK)

    why = "it is of the same learner as a-late.json, which has as many answers or more, and counts"
    assert written.report.learners == 4
    assert written.skipped == tuple(Skipped(name=name, why=why) for name in ("b-early.json", "c-late-again.json"))


def test_a_folder_without_exports_is_an_error_that_says_what_belongs_there(tmp_path: Path) -> None:
    """A report about nobody would say nothing."""
    with pytest.raises(NoFiles, match=r"no file in it ends in \.json.*workbook export"):
        write(tmp_path, tmp_path / "report", bank=BANK)
    with pytest.raises(NoFiles, match="no such folder"):
        write(tmp_path / "gone", tmp_path / "report", bank=BANK)


def test_a_report_is_made_anew_and_nothing_else_is_written_over(handed_in: Path, tmp_path: Path) -> None:
    """Twice the same, byte for byte; a page of somebody else's stays, and then no file is written at all."""
    to = tmp_path / "report"
    write(handed_in, to, bank=BANK)
    first = {path.name: path.read_bytes() for path in to.iterdir()}
    write(handed_in, to, bank=BANK)

    assert {path.name: path.read_bytes() for path in to.iterdir()} == first
    assert sorted(first) == sorted(
        ["index.html", "checkpoints.csv", "answers.csv", "beliefs.csv", "exercises.csv", "skipped.csv"]
    )
    foreign = tmp_path / "site"
    foreign.mkdir()
    (foreign / "index.html").write_text("<p>my home page</p>")
    with pytest.raises(CannotReport, match="no earlier class report"):
        write(handed_in, foreign, bank=BANK)
    assert [path.name for path in foreign.iterdir()] == ["index.html"]


def test_a_cell_that_a_spreadsheet_would_run_is_marked_as_text() -> None:
    """File names and texts come from learners, and a cell that begins with = is a formula to a spreadsheet."""
    evil = Skipped(name='=HYPERLINK("http://example.org")', why="+1")
    rows = list(csv.reader(io.StringIO(tables(counted(), [evil])["skipped.csv"])))

    assert rows == [["file", "why"], ['\'=HYPERLINK("http://example.org")', "'+1"]]


def test_no_pseudonym_is_in_a_report(handed_in: Path, tmp_path: Path) -> None:
    """Names are never needed, and a pseudonym is a name to whoever knows whose it is."""
    to = tmp_path / "report"
    write(handed_in, to, bank=BANK)

    for path in to.iterdir():
        assert "learner-" not in path.read_text(), path.name


def test_the_command_says_what_it_counted_and_where_the_report_is(
    handed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`workbook class DIR`: judged by the installed chapters; answers to others are told apart, not dropped."""
    (handed_in / "foreign.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(main, ["class", str(handed_in), "--to", "out"])
    report = Path("out", "index.html").read_text()

    assert ran.exit_code == 0, ran.output
    assert ran.output.splitlines()[0] == "Learners: 3. Questions: 0. Files passed over: 1."
    assert ran.output.splitlines()[-1].startswith("Wrote out/index.html and 5 tables")
    assert "its chapter is not installed" in report


def test_a_page_needs_nothing_from_elsewhere() -> None:
    """It opens without a network: no script, no link, no address but those of SVG's own vocabulary."""
    room = Classroom(BANK)
    for number in range(5):
        room.add(work_by(number, BANK).records)
    page = html(room.report(), [])

    assert "<script" not in page
    assert "src=" not in page
    assert json.dumps(page).count("http") == json.dumps(page).count("http://www.w3.org/")
