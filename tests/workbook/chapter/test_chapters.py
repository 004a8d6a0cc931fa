"""Opening a chapter: what it offers, keeps to itself and refuses, and how light `import workbook` is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from desk_kit import CASES, FILE, changed, desk, write

import workbook as wb
from labsim.errors import CaseError, UnknownCase
from labsim.library import fixtures_dir
from labsim.play.performance import run
from labsim.play.report import Report
from workbook.chapter.chapter import Chapter, UnknownChapter, UnknownCheckpoint, chapter_files, chapter_ids
from workbook.desk.open import open_chapter
from workbook.learner.setup import lines
from workbook.learner.store import FOLDER_VARIABLE, Progress
from workbook.learner.who import Learner, UnknownLearner, progress_of, who
from workbook.ledgers.withheld import Withheld


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# ---------------------------------------------------------------------------------------------------------- opening


def test_a_built_in_chapter_opens_by_its_id():
    """Its cases are those of its files, the further ones included, and its checkpoints in their order."""
    boundary = wb.open("boundary-desk")

    assert isinstance(boundary, Chapter)
    assert {"boundary-no-ui", "boundary-deny-then-approve"} <= set(boundary.cases)
    assert boundary.checkpoints[0] == "exact-label"


def test_a_folder_laid_out_like_the_fixtures_is_a_chapter(tmp_path: Path):
    """So that a chapter of one's own needs no change to the package."""
    mini = open_chapter("mini", folder=write(tmp_path))

    assert mini.cases == tuple(raw["id"] for raw in CASES)
    assert mini.checkpoints == ("again", "on-paper")


def test_a_chapter_needs_neither_checkpoints_nor_beliefs(tmp_path: Path):
    """Cases alone can be shown and played."""
    (tmp_path / "plain.json").write_text(json.dumps({"schemaVersion": 1, "id": "plain", "cases": CASES[:1]}))
    plain = open_chapter("plain", folder=tmp_path)

    assert (plain.cases, plain.checkpoints) == (("twice",), ())
    assert plain.play("twice").finished


def test_an_unknown_chapter_names_those_that_look_alike(tmp_path: Path):
    """Or all there are."""
    with pytest.raises(
        UnknownChapter, match=re.escape("No chapter has the id 'boundary'. Did you mean 'boundary-desk'?")
    ):
        wb.open("boundary")
    with pytest.raises(UnknownChapter, match=re.escape("There are: none.")):
        open_chapter("anything", folder=tmp_path)
    assert "boundary-desk" in chapter_ids(fixtures_dir())


def test_checkpoints_of_another_chapter_are_refused(tmp_path: Path):
    """Answers are kept by chapter, so a copied file must not answer for the original."""
    write(tmp_path, changed(FILE, "chapter", to="maxi"))

    with pytest.raises(CaseError, match=re.escape("mini.json: chapter: 'maxi' is another chapter. Use 'mini'.")):
        open_chapter("mini", folder=tmp_path)


def test_one_id_names_one_case_in_all_files_of_a_chapter(tmp_path: Path):
    """A second one would be played by nobody."""
    write(tmp_path)
    further = {"schemaVersion": 1, "id": "mini-more", "cases": CASES[:1]}
    (tmp_path / "mini-more.json").write_text(json.dumps(further))

    with pytest.raises(
        CaseError, match=re.escape("mini-more.json: twice: another file of this chapter has a case of that id")
    ):
        open_chapter("mini", folder=tmp_path)
    assert [path.name for path in chapter_files(tmp_path, "mini").cases] == ["mini.json", "mini-more.json"]


# ------------------------------------------------------------------------------------------------- what it offers


def test_a_case_is_shown_as_given_without_what_it_expects(tmp_path: Path):
    """The given part exactly as the file has it; no title, no expectation and no reason, for any of them tells."""
    shown = str(desk(tmp_path).case("twice"))

    assert shown.startswith("Case twice\n")
    given = shown.split("Given, for the scenario wrapper:\n")[1]
    assert json.loads(given) == CASES[0]["given"]
    assert "must not tell" not in shown
    assert "expected" not in shown


def test_the_case_of_a_checkpoint_is_shown_without_its_name(tmp_path: Path):
    """Before a commit, the id of a case can give the answer away as well."""
    mini = desk(tmp_path)
    shown = str(mini.given(mini.checkpoints[0]))

    assert shown.startswith(f"The case of {mini.checkpoints[0]}\n")
    assert json.loads(shown.split("Given, for the scenario wrapper:\n")[1]) in [case["given"] for case in CASES]
    assert "must not tell" not in shown
    assert not any(case["id"] in shown.split("\n", 1)[1] for case in CASES)


def test_a_played_case_is_a_report_that_shows_its_ledger(tmp_path: Path):
    """As the value of a cell it shows what happened, not what the case expects or why."""
    mini = desk(tmp_path)
    played = mini.play("both")
    shown = played._repr_mimebundle_()

    assert isinstance(played, Report)
    assert list(played.ledger) == list(run(played.case).ledger)
    assert set(shown) == {"text/plain", "text/html"}
    assert "Ledger of both" in shown["text/plain"]
    assert "must not tell" not in shown["text/plain"] + shown["text/html"]
    assert "prompts          2" in shown["text/plain"]


def test_a_case_that_calls_nothing_shows_what_was_observed(tmp_path: Path):
    """There is no ledger to show."""
    shown = str(desk(tmp_path).play("sorted").page())

    assert "Ledger" not in shown
    assert "permissionDenied  true" in shown


def test_unknown_ids_are_refused_with_those_that_look_alike(tmp_path: Path):
    """For cases and for checkpoints, whatever is done with them."""
    mini = desk(tmp_path)

    for act in (mini.case, mini.play, mini.live):
        with pytest.raises(UnknownCase, match="Did you mean twice"):
            act("twic")
    for act in (mini.predict, mini.reveal, mini.reset):
        with pytest.raises(
            UnknownCheckpoint, match=re.escape("mini has no checkpoint 'agian'. Did you mean 'again'?")
        ):
            act("agian")


def test_standing_says_in_words_how_it_stands_with_each_checkpoint(tmp_path: Path):
    """Not attempted, committed, not yet, right: four different things."""
    mini = desk(tmp_path)
    rows = [str(mini.standing())]
    mini.predict("again").commit("one")
    rows.append(str(mini.standing()))
    mini.reveal("again")
    rows.append(str(mini.standing()))
    mini.reset("again")
    mini.predict("again").commit("two")
    mini.reveal("again")
    rows.append(str(mini.standing()))

    words = ("not attempted", "committed", "not yet", "right")
    assert [f"again       {word}" in shown for word, shown in zip(words, rows, strict=True)] == [True] * 4
    assert all("on-paper    not attempted" in shown for shown in rows)


def test_the_repr_of_a_chapter_gives_nothing_away(tmp_path: Path):
    """It counts."""
    assert repr(desk(tmp_path)) == "<Chapter mini: 9 cases, 2 checkpoints>"


# --------------------------------------------------------------------------------------------------- who answers


def test_a_person_answers_unless_the_environment_says_otherwise(monkeypatch: pytest.MonkeyPatch):
    """A misspelt learner is refused, since it would silently be a person who never comes."""
    monkeypatch.delenv("CEDAR_LEARNER", raising=False)
    assert who() is Learner.LIVE
    monkeypatch.setenv("CEDAR_LEARNER", "scripted")
    assert who() is Learner.SCRIPTED
    monkeypatch.setenv("CEDAR_LEARNER", "script")
    with pytest.raises(UnknownLearner, match=re.escape("'script' is no learner. Use scripted, or leave it out")):
        who()


def test_the_scripted_learner_never_writes_among_a_persons_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Its answers go where they are told to go, or nowhere that lasts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    passing = progress_of(Learner.SCRIPTED)
    assert passing.folder != tmp_path
    assert progress_of(Learner.LIVE).folder == tmp_path

    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "told"))
    assert progress_of(Learner.SCRIPTED).folder == tmp_path / "told"


# --------------------------------------------------------------------------------------------------- the first cell


def test_the_first_cell_says_ready_and_where_answers_are_kept(tmp_path: Path):
    """To a person also the versions here; to the scripted learner nothing that differs between machines."""
    live = list(lines(Learner.LIVE, Progress(tmp_path)))
    scripted = list(lines(Learner.SCRIPTED, Progress(tmp_path)))

    assert live[0] == f"Cedar Workbook {version('cedar-workbook')}: ready."
    assert scripted[0] == "Cedar Workbook: ready."
    assert "cedar-progress.jsonl" in live[1]
    assert live[2].startswith(f"Python {sys.version.split()[0]}, jupyterlab ")
    assert len(scripted) == 2
    assert not any(str(tmp_path) in line for line in (*live, *scripted))
    assert list(tmp_path.iterdir()) == []


def test_the_first_cell_tells_of_answers_that_cannot_be_read(tmp_path: Path):
    """Before anything is lost, and without stopping the notebook."""
    (tmp_path / "cedar-progress.jsonl").write_bytes(b'{"record":"cedar-progress","version":1}\nnonsense\n')
    damaged = list(lines(Learner.LIVE, Progress(tmp_path)))
    (tmp_path / "cedar-progress.jsonl").write_bytes(b"a shopping list\n")
    foreign = list(lines(Learner.LIVE, Progress(tmp_path)))

    assert damaged[-1].startswith("Note: Line 2 of cedar-progress.jsonl cannot be read")
    assert "not a progress file" in foreign[-1]


# ------------------------------------------------------------------------------------------------------ import cost


def test_importing_the_workbook_loads_nothing_heavy():
    """Each name is imported when it is first used; what hands them out is the one module loaded by then."""
    heavy = "('pandas', 'numpy', 'ipywidgets', 'anywidget', 'msgspec', 'IPython')"
    assert python(f"import sys, workbook; print([name for name in {heavy} if name in sys.modules])") == "[]"
    engine = "[name for name in sys.modules if name.startswith('labsim.')]"
    assert python(f"import sys, workbook; print({engine})") == "['labsim.lazy']"


@pytest.mark.slow
def test_playing_needs_neither_pandas_nor_widgets():
    """Those come with the first table and the first dialog that is shown."""
    code = (
        "import sys, workbook as wb\n"
        "desk = wb.open('boundary-desk'); desk.play('boundary-no-ui'); desk.live('boundary-no-ui')\n"
        "print([name for name in ('pandas', 'ipywidgets', 'anywidget') if name in sys.modules])"
    )
    assert python(code) == "[]"


def test_every_public_name_is_there_and_listed():
    """What a notebook can use, it can also find by completion."""
    for name in wb.__all__:
        assert callable(getattr(wb, name)), name
    assert set(wb.__all__) <= set(dir(wb))
    with pytest.raises(AttributeError, match="module 'workbook' has no attribute 'opne'"):
        _ = wb.opne


def test_no_module_has_the_name_of_something_public():
    """Importing it would put the module in the place of the function."""
    modules = {path.stem for path in Path(wb.__file__).parent.iterdir()}

    assert modules & set(wb.__all__) == set()


# ------------------------------------------------------------------------------------------------- withheld runs


def test_a_run_that_would_answer_a_checkpoint_is_withheld_until_its_commit(tmp_path: Path):
    """No commit, no reveal, Run All included: not by playing, not live, and not by any table or picture of it."""
    mini = desk(tmp_path)
    held = mini.play("twice")
    shown = [held, mini.live("twice"), wb.lifecycle(held), wb.ledger(held), wb.sequence(held), wb.steps(held)]
    shown += [wb.outcomes([mini.play("once"), held]), wb.expected(held), wb.predicted({"prompts": 2}, held)]

    texts = {repr(one) for one in shown}
    assert len(texts) == 1
    (text,) = texts
    assert "Not shown yet." in text
    assert "the checkpoint again" in text
    assert "twice" not in text
    assert all(set(one._repr_mimebundle_()) == {"text/plain", "text/html"} for one in shown)

    mini.predict("again").commit("one")
    assert isinstance(mini.play("twice"), Report)
    assert "Lifecycle of twice" in repr(wb.lifecycle(mini.play("twice")))


def test_a_reset_withholds_the_run_again_and_a_paper_checkpoint_withholds_nothing(tmp_path: Path):
    """What counts is the commit that stands; the paper checkpoint recapitulates what was shown."""
    mini = desk(tmp_path)
    mini.predict("again").commit("one")
    assert isinstance(mini.play("twice"), Report)

    mini.reset("again")

    assert isinstance(mini.play("twice"), Withheld)
    assert isinstance(mini.play("both"), Report)


@pytest.mark.slow
def test_a_recorded_answer_is_withheld_with_the_case_that_shows_the_same() -> None:
    """The recording answers the checkpoint just as the run would."""
    desk_of_dispatch = open_chapter("dispatch-desk")

    held = desk_of_dispatch.recorded("dispatch-0790")

    assert isinstance(held, Withheld)
    assert held.checkpoints == ("in-place",)
    assert "Recorded answer dispatch-0526" in repr(desk_of_dispatch.recorded("dispatch-0526"))
