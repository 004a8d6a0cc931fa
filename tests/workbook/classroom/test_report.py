"""A class: what learners exported, counted by question, with nobody named and no file trusted."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from class_kit import learner_name, work_by
from click.testing import CliRunner
from progress_kit import RIGHT, WRONG, Doings, bank

from workbook.classroom import files
from workbook.classroom import report as class_report
from workbook.classroom.counts import (
    AnswerCount,
    BeliefReport,
    ClassReport,
    Classroom,
    ExerciseReport,
    ItemReport,
    Votes,
)
from workbook.classroom.csv_tables import HEADS, tables
from workbook.classroom.files import NoFiles, Skipped, files_in
from workbook.classroom.page import html
from workbook.classroom.report import CannotReport, write
from workbook.cli import main
from workbook.learner.records import AnswerKind, Confidence
from workbook.progress.export_record import encode_work, work_of
from workbook.progress.history import fold
from workbook.progress.questions import Bank, Stray

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


def test_an_exercise_is_solved_in_all_of_its_situations_and_by_one_try() -> None:
    """Some situations are not enough, nor are all of them over several tries."""
    ada, ben, cy = learners(3)
    ada.tried("first", "task", 1, 3)
    ada.tried("first", "task", 2, 3)
    ben.tried("first", "task", 0, 3)
    cy.tried("first", "task", 3, 3)

    assert counted(ada, ben).exercises == (
        ExerciseReport(chapter="first", exercise="task", learners=2, solved=0, tries=3),
    )
    assert counted(ada, ben, cy).exercises == (
        ExerciseReport(chapter="first", exercise="task", learners=3, solved=1, tries=4),
    )


def test_the_order_of_learners_makes_no_difference() -> None:
    """Counts are sums: the same class in any order makes the same report, and so the same page."""
    class_ = [work_by(number, BANK).records for number in range(30)]
    reports = []
    for seed in range(2):
        random.Random(seed).shuffle(class_)
        room = Classroom(BANK)
        for records in class_:
            room.add(records)
        reports.append(room.report())

    assert reports[0] == reports[1]


def test_the_order_of_fields_in_a_file_makes_no_difference() -> None:
    """Two files that say the same in another order are one answer, in the words and the order of the question."""
    both = learners(2)
    for learner, fields in zip(both, (("effects", "prompts"), ("prompts", "effects")), strict=True):
        learner.commit("counts", dict.fromkeys(fields, 1))

    reports = [counted(*order) for order in (both, both[::-1])]

    (answer,) = item(reports[0], "counts").answers
    assert (answer.said, answer.first) == (("How many dialogs? 1", "How often does it run? 1"), 2)
    assert msgspec.json.encode(reports[0]) == msgspec.json.encode(reports[1])


def test_what_a_question_does_not_offer_is_counted_and_not_repeated() -> None:
    """A file can hold any text in the place of an answer: it is wrong, as one thing, and goes nowhere."""
    ada, ben, cy = learners(3)
    ada.commit("again", SECRET, CERTAIN)
    ben.commit("again", "one")
    ben.vote_again("again", SECRET.upper())
    cy.commit("counts", {"prompts": SECRET, "effects": 1})
    report = counted(ada, ben, cy)

    *offered, other = item(report, "again").answers
    assert [one.answer for one in offered] == ["one", "none", "two"]
    assert other == AnswerCount(
        answer="",
        said=("(nothing that the question offers)",),
        right=False,
        first=1,
        second=1,
        sure=(0, 0, 0, 1, 0),
    )
    assert [one.answer for one in item(report, "counts").answers] == [""]
    assert "ada" not in msgspec.json.encode(report).decode().lower()


def test_a_chapter_that_cannot_be_read_is_named() -> None:
    """Its answers cannot be judged, and whoever counts would look for the reason elsewhere."""
    room = Classroom(Bank([], {}, ["mine: checkpoints.json: no option matches."]))
    (ada,) = learners(1)
    ada.commit("again", "one")
    room.add(ada.records)
    report = room.report()

    assert report.problems == ("mine: checkpoints.json: no option matches.",)
    assert "<li>mine: checkpoints.json: no option matches.</li>" in html(report, [])
    assert "--chapters FOLDER" in html(report, [])
    assert tables(report, [])["not-judged.csv"].splitlines()[1:] == [f"first/again,{Stray.NOT_INSTALLED},1"]


# ---------------------------------------------------------------------------------------------------------- files


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    """Three good exports, as they may come from a learning platform: a folder for each."""
    return put(tmp_path / "class")


def put(folder: Path) -> Path:
    for number in range(3):
        place = folder / f"student {number}"
        place.mkdir(parents=True)
        (place / "my-work.json").write_bytes(encode_work(work_by(number, BANK)))
    return folder


def read(folder: Path) -> tuple[ClassReport, list[Skipped]]:
    """What the files in a folder come to; no page is made of it."""
    return class_report.counted(files_in(folder)[0], folder, BANK)


class Made(NamedTuple):
    """A folder of exports, and the report of it."""

    handed_in: Path
    report: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The report of the three, made once: its plots take a while."""
    folder = tmp_path_factory.mktemp("class")
    put(folder / "class")
    (folder / "class" / "cut.json").write_text("{")
    write(folder / "class", folder / "report", bank=BANK)
    return Made(folder / "class", folder / "report")


@pytest.mark.slow
def test_files_that_are_no_exports_are_passed_over_and_named(
    handed_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corrupt, foreign, newer, changed, too large, without an end: each has its reason, and the rest counts."""
    good = encode_work(work_by(7, BANK))
    (handed_in / "cut.json").write_bytes(good[: len(good) // 2])
    (handed_in / "foreign.json").write_text('{"title": "shopping"}')
    (handed_in / "newer.json").write_text(json.dumps(json.loads(good) | {"version": 9}))
    (handed_in / "named.json").write_bytes(good.replace(learner_name(7).encode(), b"<b>Ada</b>"))
    (handed_in / "endless.json").write_text('{"learner": "x", "records": [' + "[" * 100_000)
    (handed_in / "large.json").write_bytes(b" " * 200_000)
    (handed_in / ".hidden.json").write_text("{}")
    monkeypatch.setattr(files, "LARGEST", 150_000)

    report, skipped = read(handed_in)

    assert report.learners == 3
    reasons = {one.name: one.why for one in skipped}
    no_export = "this is not work that `workbook export` wrote"
    assert sorted(reasons) == [
        *("cut.json", "endless.json", "foreign.json", "large.json", "named.json", "newer.json")
    ]
    for name in ("cut.json", "endless.json", "foreign.json"):
        assert reasons[name].startswith(no_export)
    assert reasons["large.json"] == "it has 200,000 bytes, and no export has more than 150,000"
    assert "no pseudonym" in reasons["named.json"]
    assert "newer edition" in reasons["newer.json"]
    page = html(report, skipped)
    assert "6 files passed over" in page
    assert "<b>Ada" not in page
    assert "&lt;b&gt;Ada" in page


def test_what_is_no_json_is_named_too_unless_it_belongs_to_an_export(handed_in: Path) -> None:
    """Who handed in the wrong half would be missed; who handed in both, or their whole folder, is there."""
    first = handed_in / "student 0"  # the whole folder
    (first / "assets").mkdir()
    for name in ("my-work.md", "cedar-progress.jsonl", "01-boundary-desk.ipynb", "assets/desk.png"):
        (first / name).write_text("of a learner's own folder")
    (handed_in / "ben.JSON").write_text("{}")
    (handed_in / "cy.json").write_text("{}")
    for name in ("cy.md", "dee.md", "all.zip", ".DS_Store"):
        (handed_in / name).write_text("handed in under a name")
    (handed_in / "report").mkdir()
    (handed_in / "report" / "index.html").write_text("<p>of last week</p>")

    found, others = files_in(handed_in, leave_out=handed_in / "report")

    assert [path.name for path in found] == ["ben.JSON", "cy.json", *["my-work.json"] * 3]
    why = "its name does not end in .json"
    assert others == [Skipped(name="all.zip", why=why), Skipped(name="dee.md", why=why)]


def test_of_several_exports_of_one_learner_the_fullest_counts(handed_in: Path) -> None:
    """Somebody hands in each week: answers are only ever added, so the one with most of them is the latest."""
    ada = Doings(BANK)
    ada.answer("again", "one")
    (handed_in / "b-early.json").write_bytes(exported(ada))
    ada.answer("quiet", "asked")
    for name in ("a-late.json", "c-late-again.json"):
        (handed_in / name).write_bytes(exported(ada))

    report, skipped = read(handed_in)

    why = "it is of the same learner as a-late.json, which has as many answers or more, and counts"
    assert report.learners == 4
    assert {(one.name, one.why) for one in skipped} == {("b-early.json", why), ("c-late-again.json", why)}


def test_a_damaged_export_does_not_push_out_a_good_one_of_the_same_learner(handed_in: Path) -> None:
    """The fuller file may be one that nobody can read; then the learner still counts, by the other."""
    ada = Doings(BANK)
    ada.answer("again", "one")
    good = exported(ada)
    (handed_in / "early.json").write_bytes(good)
    (handed_in / "late.json").write_bytes(good.replace(b'"records":[', b'"records":[' + b'{"no": "record"},' * 9))

    report, skipped = read(handed_in)

    assert report.learners == 4
    assert [one.name for one in skipped] == ["late.json"]
    assert skipped[0].why.startswith("it was changed or damaged after it was written")


def exported(doings: Doings) -> bytes:
    """The export of one more learner, as it would be now."""
    records = tuple(doings.records)
    return encode_work(work_of(fold(records, BANK), records, BANK, learner=learner_name(99)))


def test_a_folder_without_exports_is_an_error_that_says_what_belongs_there(tmp_path: Path) -> None:
    """A report about nobody would say nothing."""
    with pytest.raises(NoFiles, match=r"no file in it ends in \.json.*workbook export"):
        write(tmp_path, tmp_path / "report", bank=BANK)
    with pytest.raises(NoFiles, match="no such folder"):
        write(tmp_path / "gone", tmp_path / "report", bank=BANK)


@pytest.mark.slow
def test_a_report_is_made_anew_the_same_byte_for_byte(made: Made) -> None:
    """And nothing else is left in its folder."""
    first = {path.name: path.read_bytes() for path in made.report.iterdir()}
    write(made.handed_in, made.report, bank=BANK)

    assert {path.name: path.read_bytes() for path in made.report.iterdir()} == first
    assert sorted(first) == sorted(["index.html", *HEADS])


@pytest.mark.parametrize("name", ["index.html", "answers.csv"])
def test_what_is_no_report_is_not_written_over(
    handed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Somebody's own page or table stays, no other file is written, and it is said before anything is counted."""
    foreign = tmp_path / "site"
    foreign.mkdir()
    (foreign / name).write_text("my own")
    monkeypatch.setattr(class_report, "counted", None)

    with pytest.raises(CannotReport, match="no earlier class report"):
        write(handed_in, foreign, bank=BANK)
    assert [(path.name, path.read_text()) for path in foreign.iterdir()] == [(name, "my own")]


def test_what_cannot_be_written_leaves_no_half_of_a_report(handed_in: Path, tmp_path: Path) -> None:
    """One name is taken by a folder, and none of the other files is there afterwards."""
    to = tmp_path / "report"
    (to / "skipped.csv").mkdir(parents=True)

    with pytest.raises(CannotReport, match="Nothing was written"):
        write(handed_in, to, bank=BANK)
    assert [path.name for path in to.iterdir()] == ["skipped.csv"]


def test_a_long_list_of_files_is_cut_on_the_page_and_whole_in_the_table() -> None:
    """Ten thousand wrong files make no page of ten thousand rows."""
    skipped = [Skipped(name=f"{number}.json", why="why") for number in range(250)]
    report = counted()

    assert html(report, skipped).count(".json</th>") == 100
    assert "and 150 more rows" in html(report, skipped)
    assert len(tables(report, skipped)["skipped.csv"].splitlines()) == 251


def test_a_cell_that_a_spreadsheet_would_run_is_marked_as_text() -> None:
    """File names and texts come from learners, and a cell that begins with = is a formula to a spreadsheet."""
    evil = Skipped(name='=HYPERLINK("http://example.org")', why="+1")
    rows = list(csv.reader(io.StringIO(tables(counted(), [evil])["skipped.csv"])))

    assert rows == [["file", "why"], ['\'=HYPERLINK("http://example.org")', "'+1"]]


@pytest.mark.parametrize("mark", ["=", "+", "-", "@"])
def test_each_character_that_begins_a_formula_is_marked(mark: str) -> None:
    """A minus alone is enough: `-2+3+cmd|' /C calc'!A0` runs a program where a spreadsheet is asked to."""
    rows = list(
        csv.reader(io.StringIO(tables(counted(), [Skipped(name=f"{mark}1", why=f"a{mark}1")])["skipped.csv"]))
    )

    assert rows[1:] == [[f"'{mark}1", f"a{mark}1"]]


def test_no_pseudonym_is_in_a_report(made: Made) -> None:
    """Names are never needed, and a pseudonym is a name to whoever knows whose it is."""
    for path in made.report.iterdir():
        assert "learner-" not in path.read_text(), path.name


def test_the_command_says_what_it_counted_and_where_the_report_is(
    handed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`workbook class DIR`: judged by the installed chapters; answers to others are told apart, not dropped."""
    (handed_in / "\x1b[2Jforeign.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(main, ["class", str(handed_in), "--to", "out"])
    report = Path("out", "index.html").read_text()
    first, foreign, strays, last = ran.output.splitlines()

    assert ran.exit_code == 0, ran.output
    assert first == "Learners: 3. Questions: 0. Files passed over: 1."
    assert foreign.startswith("  \\x1b[2Jforeign.json: this is not work that")
    assert strays.startswith("Answers that could not be judged: ")
    assert strays.endswith("name their folder: --chapters FOLDER")
    assert last == f"Wrote {Path('out', 'index.html')} and 6 tables beside it."
    assert "its chapter is not installed" in report


def test_a_page_needs_nothing_from_elsewhere(made: Made) -> None:
    """It opens without a network: no script, no link, no address but those of SVG's own vocabulary."""
    page = (made.report / "index.html").read_text()

    assert "<script" not in page
    assert "src=" not in page
    assert page.count("http") == page.count("http://www.w3.org/")


def test_a_page_speaks_to_whoever_teaches(made: Made) -> None:
    """Words that are shared with the learner's own page are not addressed to the learner here."""
    page = (made.report / "index.html").read_text()

    assert "How sure the class was, and how often it was right" in page
    assert "How sure you were" not in page
