"""An instructor's commands: make a chapter, check it, see what baking would change, list what there is."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from authoring_kit import CHAPTER, gone, text
from click.testing import CliRunner, Result

import workbook as wb
from workbook.author import new_chapter as authoring
from workbook.author.new_chapter import CannotMake, NewChapter, new_chapter, scaffold_dir
from workbook.chapter.catalogue import VARIABLE
from workbook.cli import main
from workbook.notebook.bake import NotBaked, comparable
from workbook.notebook.nbval_guard import uncompared_cells

FILES = (
    "chapter.toml",
    "beliefs.json",
    "cases.json",
    "checkpoints.json",
    "exercises/exercises.json",
    "exercises/nothing-leaves/bad-by-name.py",
    "exercises/nothing-leaves/bad-unknown-runs.py",
    "exercises/nothing-leaves/good-by-level.py",
    "notebook.ipynb",
)


def workbook(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chapter that the command made, in a folder of its own."""
    inside = tmp_path_factory.mktemp("course")
    done = workbook("new-chapter", CHAPTER, "--in", inside)

    assert done.exit_code == 0, done.output
    assert done.output == (
        f"Made {inside / CHAPTER}: {', '.join(FILES)}\nCheck it with: workbook check-chapter {inside / CHAPTER}\n"
    )
    return inside / CHAPTER


# ----------------------------------------------------------------------------------------------------- new-chapter


@pytest.mark.slow
def test_a_new_chapter_is_the_scaffold_under_its_own_id_with_outputs_of_a_run(made: Path) -> None:
    """Issue 7: outputs are baked by really running it, and the scaffold's id is nowhere left."""
    notebook = nbformat.read(made / "notebook.ipynb", as_version=4)
    said = "".join((made / name).read_text(encoding="utf-8") for name in FILES)

    assert authoring.SCAFFOLD_ID not in said
    assert uncompared_cells(notebook) == []
    assert "blocked by user policy" in json.dumps(notebook.cells)
    empty = nbformat.read(scaffold_dir() / "notebook.ipynb", as_version=4)
    assert [cell.get("outputs", []) for cell in empty.cells] == [[]] * len(empty.cells)
    assert [one.name for one in made.parent.iterdir()] == [CHAPTER]


def test_a_new_chapter_teaches_something_true(made: Path) -> None:
    """Its cases show what they say, and the answer that its checkpoints take for right is the one a run shows."""
    desk = wb.open(CHAPTER, folder=made)
    seen = [desk.play("asked")]
    assert "Not shown yet" in str(desk.play("deny-rule"))

    assert [report.matches for report in seen] == [True]
    assert (desk.checkpoints, desk.exercises) == (("deny-in-yolo", "similar-name"), ("nothing-leaves",))


@pytest.mark.parametrize("there", ["file", "folder", "link"])
def test_a_new_chapter_overwrites_nothing(tmp_path: Path, there: str) -> None:
    """Whatever has its name is somebody's, a link to nowhere included."""
    place = tmp_path / CHAPTER
    if there == "file":
        place.write_text("mine", encoding="utf-8")
    elif there == "folder":
        place.mkdir()
    else:
        place.symlink_to(tmp_path / "away")

    with pytest.raises(CannotMake, match=r"something is there already\. Choose another id"):
        new_chapter(CHAPTER, inside=tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == [CHAPTER]


@pytest.mark.parametrize("chapter_id", ["Greenhouse", "two words", "-x", "x--y", "../x", ""])
def test_an_id_has_to_be_one(tmp_path: Path, chapter_id: str) -> None:
    """It goes into the names of files and into everybody's answers."""
    with pytest.raises(CannotMake, match=r"is no id\. Use small letters, digits and single dashes"):
        new_chapter(chapter_id, inside=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_built_in_id_is_taken(tmp_path: Path) -> None:
    """Its answers would be mixed with those to the built-in chapter."""
    done = workbook("new-chapter", "gate-desk", "--in", tmp_path)

    assert done.exit_code == 1
    assert done.output == (
        f"Error: {tmp_path / 'gate-desk'}: a built-in chapter has that id. "
        "Answers are kept by id: choose another.\n"
    )


def test_a_chapter_that_cannot_be_baked_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole or not at all; no draft stays behind."""

    def fails(path: Path) -> bool:
        raise NotBaked(path, None, "", "the kernel died")

    monkeypatch.setattr(authoring, "bake", fails)

    with pytest.raises(NotBaked):
        new_chapter(CHAPTER, inside=tmp_path / "course")
    assert list((tmp_path / "course").iterdir()) == []


def test_a_chapter_can_be_made_without_running_it(tmp_path: Path) -> None:
    """Its check then says that nothing was run, and what to do."""
    assert new_chapter("quick", inside=tmp_path, bake_it=False) == NewChapter(
        folder=tmp_path / "quick", files=FILES
    )
    done = workbook("check-chapter", "--quick", tmp_path / "quick")

    assert done.exit_code == 1
    assert "it was saved without being run. Run `workbook bake`." in done.output


# --------------------------------------------------------------------------------------------------- check-chapter


def test_the_check_prints_lines_or_json_and_its_exit_code_says_whether_anything_is_wrong(
    made: Path, tmp_path: Path
) -> None:
    """Issue 7: messages say where, what and what would do."""
    whole = workbook("check-chapter", "--quick", made)
    copy = new_chapter(CHAPTER, inside=tmp_path, bake_it=False).folder
    text("cases.json", '"always-ask"', '"allways-ask"')(copy)
    broken = workbook("check-chapter", copy)
    as_json = workbook("check-chapter", copy, "--json")

    assert (whole.exit_code, whole.output) == (0, f"{CHAPTER}: no fault so far. Not looked at: runs.\n")
    assert broken.exit_code == as_json.exit_code == 1
    assert broken.output.splitlines() == [
        "cases.json: line 14: cases[0] (asked).given.mode: 'allways-ask' is not allowed here. Did you mean "
        '\'always-ask\'? Use one of: always-ask, write, yolo; or, if it is meant, add "given.mode" to "unusual".',
        f"{CHAPTER}: 1 fault. Not looked at yet: cases, wording, notebook, runs.",
    ]
    (fault,) = json.loads(as_json.stdout)["faults"]
    assert (fault["line"], fault["place"]) == (14, "cases[0] (asked).given.mode")


def test_the_check_takes_an_id_and_names_a_folder_without_a_chapter(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every command that takes a chapter."""
    monkeypatch.setenv(VARIABLE, str(made))
    monkeypatch.chdir(tmp_path)
    by_id, nothing, unknown = (
        workbook("check-chapter", "--quick", named) for named in (CHAPTER, tmp_path, "greenhouse")
    )

    assert (by_id.exit_code, by_id.output) == (0, f"{CHAPTER}: no fault so far. Not looked at: runs.\n")
    assert (nothing.exit_code, unknown.exit_code) == (1, 1)
    assert nothing.output.startswith(f"Error: {tmp_path}: there is no chapter.toml in it.")
    assert unknown.output.startswith(f"Error: No chapter has the id 'greenhouse'. Did you mean '{CHAPTER}'?")


# ----------------------------------------------------------------------------------------------- bake, diff, cases


@pytest.mark.slow
def test_a_diff_shows_what_baking_would_change_and_baking_changes_it(made: Path, tmp_path: Path) -> None:
    """The outputs of yesterday, those of today, and nothing written before somebody bakes."""
    copy = tmp_path / CHAPTER
    same = workbook("diff", made)
    for name in FILES:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((made / name).read_bytes())
    text("checkpoints.json", "Read the name in the rule, letter by letter.", "Spell the name in the rule.")(copy)
    before = (copy / "notebook.ipynb").read_bytes()

    differs = workbook("diff", copy)

    assert (same.exit_code, same.output) == (0, "notebook.ipynb: as it was\n")
    assert differs.exit_code == 1
    lines = differs.output.splitlines()
    assert lines[0] == "notebook.ipynb: saved (-) and today (+)"
    assert [line.strip() for line in lines if "name in the rule" in line] == [
        "-    Read the name in the rule, letter by letter.",
        "+    Spell the name in the rule.",
    ]
    assert "\x1b" not in differs.output
    assert (copy / "notebook.ipynb").read_bytes() == before
    assert workbook("bake", copy).output == "notebook.ipynb: written anew\n"
    assert "Spell the name in the rule." in (copy / "notebook.ipynb").read_text(encoding="utf-8")


def test_the_picture_of_a_plot_is_no_difference_and_its_table_is() -> None:
    """Its bytes vary with matplotlib's version, so an instructor's notebook would never be as it was elsewhere."""

    def saved(picture: str, table: str) -> str:
        html = f'<figure><svg class="cedar-plot-picture" width="9">{picture}</svg></figure><table>{table}</table>'
        output = nbformat.v4.new_output("execute_result", data={"text/html": html}, execution_count=1)
        cell = nbformat.v4.new_code_cell("plot", id="plot", outputs=[output], execution_count=1)
        return nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))

    one = comparable(saved("<path d='1'/>", "1"))

    assert one == comparable(saved("<path d='2'/>\n<path d='3'/>", "1"))
    assert one != comparable(saved("<path d='1'/>", "2"))


def test_the_cases_of_a_chapter_are_played_by_its_folder(made: Path) -> None:
    """As those of a file."""
    done = workbook("cases", made)

    assert (done.exit_code, done.output) == (
        0,
        "match     asked\nmatch     deny-rule\nmatch     other-tool\n3 cases, 3 match\n",
    )


# -------------------------------------------------------------------------------------------------------- chapters


def test_the_list_of_chapters_says_where_each_was_found(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order; those that cannot be read are told on the side, and in the exit code."""
    monkeypatch.setenv(VARIABLE, str(made.parent / "none"))
    done = workbook("chapters", "--chapters", made)
    as_json = workbook("chapters", "--chapters", made, "--json")

    first, *_ = done.stdout.splitlines()
    assert first.split() == ["0", "start-here", "Meet", "the", "workbook", "[built", "in]"]
    title = "See what a rule settles before anybody is asked"
    assert f" 60  {CHAPTER}    {title}  [folder: {made}]" in done.stdout.splitlines()
    assert (done.exit_code, as_json.exit_code) == (1, 1)
    assert done.stderr.startswith(f"environment: {made.parent / 'none'}: there is no such folder")
    (row,) = [row for row in json.loads(as_json.stdout)["chapters"] if row["id"] == CHAPTER]
    assert (row["order"], row["needs"], row["origin"], row["folder"]) == (
        60,
        ["boundary-desk"],
        "folder",
        str(made),
    )


def test_a_chapter_without_a_notebook_is_told_where_one_is_wanted(made: Path, tmp_path: Path) -> None:
    """By baking as by the check."""
    copy = new_chapter(CHAPTER, inside=tmp_path, bake_it=False).folder
    gone("notebook.ipynb")(copy)
    done = workbook("bake", copy)

    assert done.exit_code == 1
    assert "notebook.ipynb" in done.output
