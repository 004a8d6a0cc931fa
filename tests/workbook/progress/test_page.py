"""A learner's progress as they see it: on a page, from the command line, and what to do next."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from progress_kit import RIGHT, Doings, bank

import workbook as wb
from workbook.checkpoint.kinds import Verdict
from workbook.cli import main
from workbook.learner.records import Commit, Confidence, RevealSeen
from workbook.learner.store import AnswerKind, Key, Progress
from workbook.progress.history import fold
from workbook.progress.installed import installed
from workbook.progress.page import MyProgress, progress_in
from workbook.progress.summary import BeliefSummary, CheckpointSummary, ExerciseSummary, Summary, Where, summarise

BANK = bank()


@pytest.fixture
def doings() -> Doings:
    return Doings(BANK)


def summary(doings: Doings) -> Summary:
    return summarise(fold(doings.records, BANK), BANK)


# -------------------------------------------------------------------------------------------------------- in values


def test_a_summary_has_the_chapters_and_the_beliefs_with_their_words(doings: Doings):
    """How each checkpoint stands, what came back, what is believed, and where to reread it."""
    doings.commit("again", "one", Confidence.CERTAIN)
    doings.vote_again("again", "two")
    doings.reveal("again")
    doings.answer("again", "two", asking="second")
    doings.answer("quiet", "silence")
    doings.tried("first", "task", 4, 5)
    doings.tried("first", "task", 2, 5)
    found = summary(doings)
    first, second = found.chapters

    assert first.checkpoints[0] == CheckpointSummary(
        id="again", verdict=Verdict.NOT_YET, confidence=Confidence.CERTAIN, second_vote=True, resets=0
    )
    assert (first.count(Verdict.NOT_ATTEMPTED), first.attempted) == (2, 1)
    assert first.exercises == (ExerciseSummary(id="task", tries=2, held=4, of=5),)
    assert second.recalled == (
        CheckpointSummary(
            id="again", verdict=Verdict.RIGHT, confidence=None, second_vote=False, resets=0, recalled_from="first"
        ),
    )
    again = Where(chapter="first", checkpoint="again", reread='desk.reveal("again")')
    back = Where(chapter="first", checkpoint="again", reread='desk.reveal("again")', came_back_in="second")
    assert found.beliefs_shed == (
        BeliefSummary(
            id="kept", says="A yes is kept.", because="Other hosts keep it.", shown_in=(again,), shed_by=back
        ),
    )
    assert found.beliefs_held == (
        BeliefSummary(
            id="silent",
            says="Nobody is asked.",
            because="Tools just run.",
            shown_in=(Where(chapter="second", checkpoint="quiet", reread='desk.reveal("quiet")'),),
            shed_by=None,
        ),
    )


def nothing(doings: Doings) -> None:
    pass


def a_reveal_waits(doings: Doings) -> None:
    doings.answer("again", "two")
    doings.commit("kept", "once")


def in_the_middle(doings: Doings) -> None:
    doings.answer("again", "two")


def one_left(doings: Doings) -> None:
    doings.answer("again", "two").answer("kept", "once")


def first_done(doings: Doings) -> None:
    one_left(doings)
    doings.answer("paper", "text")


def second_only(doings: Doings) -> None:
    for checkpoint in ("quiet", "counts", "order"):
        doings.answer(checkpoint, RIGHT[checkpoint])


def a_recall_waits(doings: Doings) -> None:
    first_done(doings)
    doings.commit("again", "two", asking="second")


def done_with_a_belief(doings: Doings) -> None:
    first_done(doings)
    second_only(doings)
    doings.reset("quiet")
    doings.answer("quiet", "silence")


def done(doings: Doings) -> None:
    first_done(doings)
    second_only(doings)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        (nothing, "Begin with Chapter first (first)."),
        (a_reveal_waits, 'In Chapter first: look at the reveal that waits for you, desk.reveal("kept").'),
        (in_the_middle, "Go on in Chapter first: 2 checkpoints are not attempted, next kept."),
        (one_left, "Go on in Chapter first: one checkpoint is not attempted, next paper."),
        (first_done, "Open Chapter second (second)."),
        (second_only, "Open Chapter first (first)."),
        (a_recall_waits, "In Chapter second: the reveal of a question that came back waits for you."),
        (done_with_a_belief, 'Reread what you may still believe, beginning with desk.reveal("quiet") in second.'),
        (done, "You have answered everything. Put your work together with: workbook export"),
    ],
)
def test_the_next_step_is_one_sentence(doings: Doings, what, says: str):
    """A reveal that waits, then the rest of a chapter, then the next chapter, then what to reread."""
    what(doings)

    assert summary(doings).next_step == says


# ------------------------------------------------------------------------------------------------------- on a page


def test_the_page_says_all_of_it(doings: Doings):
    """Next step, chapters, beliefs, confidence, and what is kept but not counted."""
    doings.answer("again", "one", Confidence.CERTAIN).answer("quiet", "asked", Confidence.GUESS)
    doings.elsewhere("greenhouse", "beds")
    problem = "Line 3 cannot be read."
    shown = str(MyProgress(summarise(fold(doings.records, BANK), BANK, [problem])))

    for part in (
        "Next: Go on in Chapter first",
        "Chapters, and how your checkpoints stand",
        "Chapter first       0        1          0              2       3",
        "again       not yet        certain   -",
        "Not attempted: kept, paper.",
        "What you may still believe",
        "A yes is kept.",
        'in the notebook of its chapter, run desk.reveal("again"), with',
        "So far 1 of 2 answers were right",
        "greenhouse: beds  its chapter is not installed",
        problem,
    ):
        assert part in shown


def test_nothing_is_said_of_beliefs_or_confidence_before_the_first_answer(doings: Doings):
    """An empty page is short: the chapters, and where to begin."""
    shown = str(MyProgress(summary(doings)))

    assert "Begin with Chapter first" in shown
    assert "Confidence" not in shown
    assert "belie" not in shown


def test_what_was_not_revealed_is_not_given_away(doings: Doings):
    """A page after a right commit and one after a wrong commit differ in nothing."""
    pages = []
    for answer in ("one", "two"):
        doings.records.clear()
        doings.commit("again", answer, Confidence.CERTAIN)
        pages.append(MyProgress(summary(doings))._repr_mimebundle_())

    assert pages[0] == pages[1]


def test_with_answers_enough_there_is_a_curve_and_its_table():
    """In the notebook the picture stands below the page; the text form needs none."""
    known = installed()
    doings = Doings(known)
    items = [item for chapter in known.chapters for item in chapter.items if item.kind is AnswerKind.CHOICE]
    for item, sure in zip(items, [Confidence.GUESS, Confidence.CERTAIN] * 6, strict=False):
        assert isinstance(item.right_answer, str)
        made = Commit(seq=doings.seq, key=item.key, answer=item.right_answer, confidence=sure)
        doings.records += [made, RevealSeen(seq=doings.seq + 1, key=item.key)]
    shown = MyProgress(summarise(fold(doings.records, known), known))._repr_mimebundle_()

    assert "<svg" in shown["text/html"]
    assert "Your confidence against what came true" in shown["text/html"]
    assert "<svg" not in shown["text/plain"]
    assert "Brier score: 0.2" in shown["text/plain"]


def test_wb_my_progress_shows_this_learners_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As the value of a cell: the folder of the kernel, by name in the package."""
    monkeypatch.setenv("CEDAR_PROGRESS_DIR", str(tmp_path))
    wb.open("start-here").predict("first-prediction").commit("this-one")
    shown = wb.my_progress()

    assert isinstance(shown, MyProgress)
    assert shown.summary.next_step == (
        'In Meet the workbook: look at the reveal that waits for you, desk.reveal("first-prediction").'
    )
    assert set(shown._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_a_chapter_that_cannot_be_opened_is_said_and_keeps_no_other_out(tmp_path: Path):
    """An instructor's half-written chapter costs nobody their progress."""
    broken = tmp_path / "chapters" / "broken"
    broken.mkdir(parents=True)
    (broken / "chapter.toml").write_text('id = "broken"\ntitle = "Half done"\norder = 70\ncases = ["no.json"]\n')
    found = installed(tmp_path, [tmp_path / "chapters"])

    assert "broken" not in [chapter.id for chapter in found.chapters]
    assert "start-here" in [chapter.id for chapter in found.chapters]
    (problem,) = found.problems
    assert problem.startswith("broken: ")
    assert "no.json" in problem


# -------------------------------------------------------------------------------------------- from the command line


def workbook(*args: object, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False, env=env)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "study"
    progress = Progress(made)
    progress.commit(Key.of("greenhouse", "beds", "x"), "<b>", kind=AnswerKind.TEXT)
    return made


def test_progress_prints_what_the_page_says(folder: Path):
    """The same text as in a notebook; and nothing is written."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = workbook("progress", folder)

    assert result.exit_code == 0
    assert result.stdout == f"{progress_in(Progress(folder))}\n"
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_progress_as_json(folder: Path):
    """The summary, versioned, for a program."""
    found = json.loads(workbook("progress", folder, "--json").stdout)

    assert found["version"] == 1
    assert [chapter["id"] for chapter in found["chapters"]][:2] == ["start-here", "boundary-desk"]
    assert found["strays"] == [
        {"chapter": "greenhouse", "checkpoint": "beds", "why": "its chapter is not installed", "records": 1}
    ]


@pytest.mark.slow
def test_without_a_folder_the_usual_places_are_looked_at(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Where the environment says, else here if there are answers here, else in ./cedar-workbook."""
    assert "greenhouse" in workbook("progress", env={"CEDAR_PROGRESS_DIR": str(folder)}).stdout
    monkeypatch.delenv("CEDAR_PROGRESS_DIR", raising=False)
    monkeypatch.chdir(folder)
    assert "greenhouse" in workbook("progress").stdout
    monkeypatch.chdir(tmp_path)
    result = workbook("progress")
    assert result.exit_code == 1
    assert result.stderr == "Error: There is no folder cedar-workbook. Name the one with your notebooks.\n"
    folder.rename(tmp_path / "cedar-workbook")
    assert "greenhouse" in workbook("progress").stdout


def test_export_says_where_the_files_are_and_whose(folder: Path):
    """Two files beside the answers; a name only where one was given."""
    written = workbook("export", folder).stdout
    pseudonym = Progress(folder).pseudonym()

    assert written == (
        f"Wrote {folder / 'my-work.md'} and {folder / 'my-work.json'}, as {pseudonym}, a pseudonym.\n"
    )
    named = workbook("export", folder, "--name", "Ada", "--to", folder / "ada", "--without-confidence").stdout
    assert named == f"Wrote {folder / 'ada.md'} and {folder / 'ada.json'}, under the name Ada.\n"
    assert json.loads((folder / "ada.json").read_bytes())["with_confidence"] is False


def test_what_stands_in_the_way_of_an_export_is_one_line(folder: Path, tmp_path: Path):
    """A foreign file, or no answers: exit code 1 and a sentence, no traceback."""
    (folder / "my-work.md").write_text("# My own diary\n")
    for result, says in (
        (workbook("export", folder), "left as it is. Nothing was written. Name another place: --to FILE-STEM"),
        (workbook("export", tmp_path), "holds no answers yet"),
    ):
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1
        assert says in result.stderr


@pytest.mark.slow
def test_looking_at_progress_needs_neither_pandas_nor_matplotlib_nor_widgets(folder: Path):
    """It answers in a moment: what takes long to import is left alone."""
    code = (
        "import sys; from workbook.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "progress", str(folder)], capture_output=True, text=True, check=True
    )

    assert {"pandas", "matplotlib", "ipywidgets", "anywidget", "IPython"}.isdisjoint(ran.stderr.split())
