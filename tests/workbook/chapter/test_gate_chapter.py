"""The Gate Desk's chapter: its exercise cells, worked and clean, the parked question, and the comparison."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import nbformat
import pytest

from labsim.case.model import Case
from labsim.library import case_files, fixtures_dir
from labsim.reading.reading import parse_file
from workbook.chapter import copies
from workbook.chapter.chapter import Chapter, NotOfTheSecondHost, UnknownExercise
from workbook.chapter.notebooks import notebooks_dir
from workbook.desk.comparison import NOT_PLAYED, CellNotPlayed, Comparison, NoSuchCell, comparison
from workbook.desk.open import open_chapter
from workbook.exercise.file import parse_exercises
from workbook.grading.grade import Grade, Graded
from workbook.learner.store import FOLDER_VARIABLE
from workbook.ledgers.withheld import Withheld
from workbook.live.rule_file import rule_file
from workbook.tables.decisions import decisions

FILE = fixtures_dir() / "exercises" / "gate-desk.json"
EXERCISES = parse_exercises(FILE.read_bytes(), FILE.name, "gate-desk")


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Chapter:
    """The chapter, with a learner who has answered nothing."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return open_chapter("gate-desk")


# -------------------------------------------------------------------------------------- the cells of the chapter


def cells(notebook: Any) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture(scope="module")
def worked() -> Any:
    return nbformat.read(notebooks_dir() / "04-gate-desk.ipynb", as_version=4)


def run_cells(sources: list[str], chapter: Chapter) -> list[Graded]:
    """The exercise cells of a notebook, run in order; what each `desk.grade` showed."""
    wanted = [source for source in sources if "labsim.api" in source or "request" in source or ".grade(" in source]
    names: dict[str, Any] = {"desk": chapter}
    shown = []
    for source in wanted:
        if source.startswith("desk.grade("):
            shown.append(eval(source, names))  # the chapter's own cell
        else:
            exec(source, names)
    return shown


def test_the_worked_edition_goes_from_a_wrong_attempt_to_a_right_one(worked: Any, desk: Chapter) -> None:
    """A list of names, a policy; an approver that remembers too much, and one that does not."""
    graded = run_cells(cells(worked), desk)

    assert [(one.exercise.id, one.grade) for one in graded] == [
        ("edits-not-the-network", Grade.NOT_YET),
        ("edits-not-the-network", Grade.RIGHT),
        ("night-shift", Grade.NOT_YET),
        ("night-shift", Grade.RIGHT),
    ]


def test_a_clean_copy_begins_with_skeletons_that_are_not_attempted(worked: Any, desk: Chapter) -> None:
    """They run without an error, are no wrong answer, and nothing of a solution is left in the file."""
    clean = copies.clean(worked)

    graded = run_cells(cells(clean), desk)
    assert [(one.exercise.id, one.grade) for one in graded] == [
        ("edits-not-the-network", Grade.NOT_YET),  # the list of names, which everybody is shown
        ("edits-not-the-network", Grade.NOT_ATTEMPTED),
        ("night-shift", Grade.NOT_ATTEMPTED),
    ]
    text = nbformat.writes(clean)
    solutions = [cell.source for cell in worked.cells if "cedar" in cell.metadata]
    assert len(solutions) == 6
    assert all(line not in text for source in solutions for line in source.splitlines() if len(line) > 45)
    assert "cedar" not in {key for cell in clean.cells for key in cell.metadata}


def test_time_can_pass_while_a_question_is_open(desk: Chapter) -> None:
    """gate/X2 to gate/X4: the call is denied at its bound, the turn goes on, and the run waits for whoever was
    asked.
    """
    parked = desk.live("gate-time-runs-out")
    assert not isinstance(parked, Withheld)

    parked.advance(90_000)
    report = parked.report()
    assert report.observed["decidedBy"] == ["timeout", "gate"]
    assert (report.finished, report.observed["runEnded"]) == (False, False)
    assert "Waiting for an answer: q-1." in str(parked.page())

    parked.reply("Allow for this session")
    report = parked.report()
    assert (report.finished, report.observed["runEnded"], report.observed["rulesLeft"]) == (True, True, [])


def test_an_approver_with_a_bound_of_its_own_comes_home_by_itself(desk: Chapter) -> None:
    """gate/X9 and gate/A22: after thirty minutes nobody has to answer any more."""
    parked = desk.live("gate-time-runs-out")
    assert not isinstance(parked, Withheld)

    assert parked.advance(30 * 60_000) is parked
    assert parked.finished
    assert "closed by the host" in str(parked.page())


def test_the_chapter_shows_the_task_and_hides_the_situations(desk: Chapter) -> None:
    """What is wanted, hints, and how many situations; not one of them is named."""
    said = str(desk.exercise("night-shift"))

    assert desk.exercises == ("edits-not-the-network", "night-shift")
    assert "It is tried in 8 situations that are not shown here." in said
    assert not [case.title for case in EXERCISES["night-shift"].situations if case.title in said]
    with pytest.raises(
        UnknownExercise, match=r"gate-desk has no exercise 'nightshift'. Did you mean 'night-shift'?"
    ):
        desk.exercise("nightshift")


# ------------------------------------------------------------------------------ rules in a file, a client elsewhere


def test_the_desk_plays_against_a_file_of_rules(desk: Chapter) -> None:
    """gate/R2, gate/R18: asked, then answered by the rule, then denied, as the chapter shows it."""
    rules = rule_file()
    plays = []
    for spoil in (False, False, True):
        if spoil:
            rules.overwrite("edit_catalog", "edit_catalag")
        plays.append(desk.play("gate-remembered-in-the-project", rules=rules))

    assert decisions(plays)[["asked", "decided", "by"]].to_numpy().tolist() == [
        ["yes", "allow", "approver"],
        ["no", "allow", "rule"],
        ["no", "deny", "error"],
    ]


@pytest.mark.slow
def test_the_desk_plays_with_a_client_in_another_process(desk: Chapter) -> None:
    """gate/A20: in a room with a loop of its own under way, as a kernel has one."""

    async def in_a_cell() -> object:
        return desk.play_over_acp("gate-asked-once", ["reject-once"])

    played = asyncio.run(in_a_cell())

    assert decisions(played)[["decided", "by", "the model reads"]].to_numpy().tolist() == [
        ["deny", "approver", "Tool execution denied: edit_catalog was refused by the client"]
    ]


def test_a_run_that_answers_a_checkpoint_is_withheld_however_it_is_played(desk: Chapter) -> None:
    """Neither a file nor a client is a way round a prediction, and no process is started for one."""
    rules = rule_file()

    assert isinstance(desk.play("gate-no-approver", rules=rules), Withheld)
    assert isinstance(desk.play_over_acp("gate-no-approver", []), Withheld)
    assert len(rules.table()) == 0


def test_a_case_of_the_first_host_has_neither_a_file_nor_a_client(desk: Chapter) -> None:
    """It is refused with its scenario, and with the one that would do."""
    says = r"^compare-approve-a-read is of scenario wrapper\. Only a case of scenario gate can be played so\.$"

    with pytest.raises(NotOfTheSecondHost, match=says):
        desk.play("compare-approve-a-read", rules=rule_file())
    with pytest.raises(NotOfTheSecondHost, match=says):
        desk.play_over_acp("compare-approve-a-read", [])


# ---------------------------------------------------------------------------------------------------- comparison


@pytest.fixture(scope="module")
def built_in() -> dict[str, Case]:
    files = [parse_file(path.read_bytes(), path.name) for path in case_files()]
    return {case.id: case for file in files for case in file.cases}


@pytest.fixture(scope="module")
def compared(built_in: dict[str, Case]) -> Comparison:
    return Comparison(built_in)


def test_the_comparison_is_the_table_of_the_specification(compared: Comparison) -> None:
    """The comparison of the two hosts, in the three words of the table: asked, runs, refused."""
    a, y, n = "asked", "runs", "refused"

    assert compared.columns == (
        "Approve",
        "review grant",
        "Allow",
        "Allow for session",
        "seeded rule",
        "gate Deny",
    )
    assert compared.table.set_index("then").to_numpy().tolist() == [
        [a, y, a, a, y, n],  # the call it is given for
        [a, n, a, y, y, n],  # the same call again
        [a, y, a, y, y, n],  # the same tool, other arguments
        [a, n, a, n, n, n],  # the same call, after a no
        [a, n, a, y, y, n],  # an input rewritten on its way
        [n, n, n, y, y, n],  # with a deny rule beside it
        [a, n, a, y, y, n],  # another agent or session
        [a, n, a, a, y, a],  # after a restart or a resume
        [n, y, n, y, y, n],  # with nobody there
        [y, y, y, y, y, y],  # a read
    ]


def test_every_cell_is_a_run_that_shows_what_its_case_claims(compared: Comparison) -> None:
    """No cell is written by hand, and each opens the ledger of its own run."""
    for row in compared.rows:
        for column in compared.columns:
            report = compared.report(row, column)
            assert report.matches, (row, column, report.case.id)
            shown = compared.ledger(row, column)
            assert not isinstance(shown, Withheld)
            assert len(shown) == len(report.ledger)


def test_a_cell_whose_case_is_missing_says_that_it_was_not_played(built_in: dict[str, Case]) -> None:
    """Nothing is guessed where nothing was run."""
    without = {name: case for name, case in built_in.items() if not name.startswith("review-")}
    compared = Comparison(without)

    assert compared.table["review grant"].tolist().count(NOT_PLAYED) == 4
    with pytest.raises(CellNotPlayed, match="a read, review grant: the case review-t01"):
        compared.ledger("a read", "review grant")


def test_a_cell_is_named_by_its_row_and_column(compared: Comparison) -> None:
    """A slip names what it looks like."""
    with pytest.raises(NoSuchCell, match=r"has no row 'the same call agin'. Did you mean 'the same call again'?"):
        compared.ledger("the same call agin", "Allow")
    with pytest.raises(NoSuchCell, match=r"has no column 'x'. There are: Approve; review grant; "):
        compared.ledger("a read", "x")


def test_the_comparison_waits_for_the_predictions(desk: Chapter) -> None:
    """Run All gives no answer away: while a checkpoint about one of its runs is open, it says which."""
    held = comparison()
    order = ["rewritten", "shown", "worth-it", "rules", "request", "approver", "executor"]

    assert "another-bed" in repr(held)
    assert "asked" not in repr(held).replace("asked about", "")
    assert isinstance(held.ledger("a read", "Allow"), Withheld)
    for name, answer in {
        "pieces-in-order": order,
        "early-and-late": {"effects": 1, "asked": 1, "outcome": "error-result"},
        "looking": "unasked",
        "deny-on-a-read": "denied",
        "after-a-no": "over",
        "another-bed": "asked",
        "helper": "runs",
        "next-morning": "holds",
        "a-global-no": "denied",
        "one-column": "the rule",
    }.items():
        desk.predict(name).commit(answer)
    assert "the same tool, other arguments  asked    runs" in repr(comparison())
