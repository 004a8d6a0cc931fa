"""Where chapters are found, which one is meant, and what is said of those that cannot be read."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

import workbook as wb
from labsim.errors import CaseError
from workbook.chapter import copies
from workbook.chapter.catalogue import (
    REMEMBERED,
    VARIABLE,
    NoChapter,
    Origin,
    SameId,
    UnknownChapter,
    built_in,
    built_in_beliefs,
    cases_named,
    catalogue,
    environment_for,
    named,
    notebooks_named,
    remember,
    remembered,
)
from workbook.chapter.copies import CannotStart
from workbook.chapter.file import ChapterFiles, Place, read_chapter
from workbook.chapter.notebooks import notebooks_dir, notebooks_in

CASE = {"id": "asked", "scenario": "wrapper", "given": {"approval": "exec", "args": {}, "mode": "always-ask"}}
CASES = json.dumps({"schemaVersion": 1, "id": "own", "cases": [CASE]})
NOWHERE: dict[str, str] = {}  # an environment that names no chapters


def chapter(folder: Path, chapter_id: str, *, order: int = 60, more: str = "") -> Path:
    """A chapter as small as one can be."""
    folder.mkdir(parents=True)
    toml = f'id = "{chapter_id}"\ntitle = "Try {chapter_id}"\norder = {order}\n{more}'
    (folder / "chapter.toml").write_text(toml, encoding="utf-8")
    (folder / "cases.json").write_text(CASES, encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# Try {chapter_id}", id="title")])
    (folder / "notebook.ipynb").write_text(f"{nbformat.writes(notebook)}\n", encoding="utf-8")
    return folder


def found(*folders: Path, here: Path, **environment: str) -> list[tuple[str, Origin]]:
    """The chapters that are not built in, with how they were found."""
    listed = catalogue(folders, environment=environment, here=here).chapters
    return [(one.id, one.origin) for one in listed if one.origin is not Origin.BUILT_IN]


# ----------------------------------------------------------------------------------------------- the built-in ones


def test_every_worked_edition_is_a_built_in_chapter_and_is_called_what_its_first_line_says() -> None:
    """Issue 7: the built-in chapters go through the same interface; a title stands in two places and is one."""
    listed = {one.chapter.notebook: one for one in catalogue(environment=NOWHERE, here=notebooks_dir()).chapters}

    assert sorted(listed) == notebooks_in(notebooks_dir())
    for path, one in listed.items():
        first = nbformat.read(path, as_version=4).cells[0].source
        assert first.splitlines()[0] == f"# {one.title}"
        assert one.chapter.copy_name == path.name


def test_the_built_in_chapters_come_in_the_order_of_their_names_and_need_only_earlier_ones() -> None:
    """A learner who goes from one to the next has always met what a chapter builds on."""
    listed = [one for one in catalogue(environment=NOWHERE).chapters if one.origin is Origin.BUILT_IN]
    names = [one.chapter.notebook.name for one in listed]

    assert [name for name in names if name[0].isdigit()] == sorted(name for name in names if name[0].isdigit())
    for number, one in enumerate(listed):
        assert set(one.needs) <= {earlier.id for earlier in listed[:number]}
    assert len({one.order for one in listed}) == len(listed)


@pytest.mark.parametrize("place", built_in(), ids=lambda place: place.folder.name)
def test_every_part_that_a_built_in_chapter_names_is_there(place: Place) -> None:
    """And the folder of its `chapter.toml` has its id."""
    read = read_chapter(place)

    assert read.id == place.folder.name
    assert isinstance(read.files(), ChapterFiles)


# ---------------------------------------------------------------------------------------------------- other places


def test_a_chapter_is_found_in_each_of_the_places_where_it_can_be(tmp_path: Path) -> None:
    """A folder that is named, the one that one works in, one that is remembered, and those of the environment."""
    a, b, c, d, e = (chapter(tmp_path / place / name, name) for place, name in zip("vwxyz", "abcde", strict=True))
    here = chapter(tmp_path / "here", "here")
    remember(here, [c])

    listed = found(a.parent, here=here, **{VARIABLE: os.pathsep.join([str(d), "", str(e.parent)])})

    assert listed == [
        ("a", Origin.FOLDER),
        ("c", Origin.LEARNER),
        ("d", Origin.ENVIRONMENT),
        ("e", Origin.ENVIRONMENT),
        ("here", Origin.FOLDER),
    ]
    assert b.is_dir()  # and nobody looked there


def package(folder: Path, name: str, value: str, files: dict[str, str]) -> None:
    """An installed distribution with an entry point, as pip would leave it."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[workbook.chapters]\n{name} = {value}\n", encoding="utf-8")


def test_installed_packages_bring_chapters_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder without any code, as a function that returns folders, and as one that returns a single text."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(site)
    chapter(site / "plain_course" / "a", "a")
    chapter(tmp_path / "elsewhere" / "b", "b")
    chapter(tmp_path / "single", "c")
    package(site, "plain", "plain_course", {})
    several = f"from pathlib import Path\ndef chapters():\n    return [Path({str(tmp_path / 'elsewhere')!r})]\n"
    package(site, "several", "several_course:chapters", {"several_course.py": several})
    package(site, "single", "single_course:WHERE", {"single_course.py": f"WHERE = {str(tmp_path / 'single')!r}\n"})

    assert found(here=tmp_path) == [("a", Origin.PACKAGE), ("b", Origin.PACKAGE), ("c", Origin.PACKAGE)]


def test_a_package_that_fails_hides_no_chapter_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's mistake must not keep a learner from the built-in chapters."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    package(site, "broken", "broken_course:chapters", {"broken_course.py": "raise RuntimeError('no beds')\n"})
    package(site, "gone", "nowhere_course", {})

    listed = catalogue(environment={VARIABLE: str(tmp_path / "none")}, here=tmp_path)

    assert "boundary-desk" in listed.ids
    assert sorted(listed.faults) == [
        f"environment: {tmp_path / 'none'}: there is no such folder. `workbook new-chapter ID` makes a chapter to "
        "begin with.",
        "package: broken_course:chapters: RuntimeError: no beds",
        "package: nowhere_course: ModuleNotFoundError: No module named 'nowhere_course'",
    ]


def test_a_chapter_that_cannot_be_read_is_a_fault_and_whoever_asks_for_it_is_told(tmp_path: Path) -> None:
    """The others of its folder are there."""
    chapter(tmp_path / "all" / "a", "a")
    chapter(tmp_path / "all" / "b", "b", more="colour = 3\n")
    listed = catalogue([tmp_path / "all"], environment=NOWHERE, here=tmp_path)

    assert "a" in listed.ids
    (fault,) = listed.faults
    assert fault == (
        f"{tmp_path / 'all' / 'b'}: chapter.toml: line 4: the key 'colour' is not known here. Known keys: id, "
        "title, order, needs, notebook, cases, checkpoints, beliefs, exercises, engine."
    )
    with pytest.raises(UnknownChapter, match=re.escape(f"Not readable: {fault}")):
        listed.find("b")


def test_a_folder_that_is_named_has_to_hold_a_chapter(tmp_path: Path) -> None:
    """Whoever names one is told at once; the remedy is a command."""
    with pytest.raises(NoChapter, match=r"there is no chapter\.toml in it, nor one level below"):
        catalogue([tmp_path], environment=NOWHERE)
    with pytest.raises(NoChapter, match="there is no such folder"):
        catalogue([tmp_path / "none"], environment=NOWHERE)


# --------------------------------------------------------------------------------------------------------- clashes


def test_two_chapters_of_one_id_are_an_error_that_names_both_places(tmp_path: Path) -> None:
    """Answers are kept by id. Other chapters can still be opened."""
    one, other = chapter(tmp_path / "one", "twin"), chapter(tmp_path / "other", "twin")
    listed = catalogue([one, other], environment=NOWHERE)

    with pytest.raises(SameId) as caught:
        listed.find("twin")
    assert str(caught.value) == (
        f"2 chapters have the id 'twin': {one / 'chapter.toml'} and {other / 'chapter.toml'}. Answers are kept by "
        "id, so give each chapter one of its own."
    )
    assert [clash.chapter_id for clash in listed.clashes] == ["twin"]
    assert listed.find("boundary-desk").origin is Origin.BUILT_IN


def test_a_chapter_with_a_built_in_id_is_refused_wherever_it_is_opened(tmp_path: Path) -> None:
    """By the catalogue, and from a folder that is named in a notebook."""
    own = chapter(tmp_path / "own", "gate-desk")

    with pytest.raises(SameId, match="2 chapters have the id 'gate-desk'"):
        wb.open("gate-desk", folder=own)
    with pytest.raises(SameId):
        catalogue([own], environment=NOWHERE).find("gate-desk")


def test_a_chapter_that_is_found_in_two_ways_is_listed_once(tmp_path: Path) -> None:
    """A link to a folder is that folder."""
    own = chapter(tmp_path / "own", "own")
    (tmp_path / "link").symlink_to(own)

    assert found(own, tmp_path / "link", here=own, **{VARIABLE: str(own)}) == [("own", Origin.FOLDER)]


# ----------------------------------------------------------------------------------------------------- opening one


def test_a_notebook_opens_a_chapter_of_a_folder_of_its_own(tmp_path: Path) -> None:
    """Named in the call, as a chapter or a folder of chapters; the built-in beliefs are there to be named."""
    chapter(tmp_path / "a", "a")

    assert wb.open("a", folder=tmp_path / "a").cases == ("asked",)
    own = wb.open("a", folder=tmp_path)
    assert own.cases == ("asked",)
    assert "approval-persists" in {belief.id for belief in own.belief_records}
    with pytest.raises(UnknownChapter, match=r"There are: a\."):
        wb.open("boundary-desk", folder=tmp_path)


def test_a_chapters_parts_can_have_other_names_and_several_files_of_cases(tmp_path: Path) -> None:
    """Usual names need not be said; what is said has to be there."""
    own = chapter(tmp_path / "own", "own", more='cases = ["cases.json", "more.json"]\nnotebook = "lesson.ipynb"\n')
    read = read_chapter(Place(folder=own))
    (own / "more.json").write_text(CASES.replace("asked", "again"), encoding="utf-8")

    assert read.files(built_in_beliefs()) == ChapterFiles(
        id="own", cases=(own / "cases.json", own / "more.json"), checkpoints=None, beliefs=built_in_beliefs()
    )
    assert (read.notebook, read.copy_name) == (own / "lesson.ipynb", "lesson.ipynb")
    (own / "more.json").unlink()
    with pytest.raises(CaseError, match=r"chapter\.toml: line 4: cases: there is no 'more\.json' in the chapter"):
        read.files()


def test_a_chapter_without_cases_says_so(tmp_path: Path) -> None:
    """An appendix has none; a chapter that forgot them is told."""
    (chapter(tmp_path / "own", "own") / "cases.json").unlink()
    with pytest.raises(CaseError, match=r"cases\.json: there is no such file\. Add it, or write cases = \[\]"):
        wb.open("own", folder=tmp_path)
    chapter(tmp_path / "all" / "none", "none", more="cases = []\n")

    assert wb.open("none", folder=tmp_path / "all").cases == ()


# ---------------------------------------------------------------------------------------------- a learner's folder


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A folder of chapters, one of which has a picture."""
    chapter(tmp_path / "course" / "a", "a")
    chapter(tmp_path / "course" / "b", "b", order=61)
    (tmp_path / "course" / "b" / "assets").mkdir()
    (tmp_path / "course" / "b" / "assets" / "bed.svg").write_text("<svg/>", encoding="utf-8")
    return tmp_path / "course"


@pytest.mark.slow
def test_start_copies_the_notebooks_of_other_peoples_chapters_and_remembers_where_they_are(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook in the learner's folder opens its chapter by id alone, and a second start keeps what was noted."""
    folder = tmp_path / "mine"
    started = copies.start(folder, chapters=[course])
    monkeypatch.chdir(folder)

    assert started.created[-3:] == ("60-a.ipynb", "61-b.ipynb", "assets/bed.svg")
    assert started.faults == ()
    assert remembered(folder) == (course,)
    assert wb.open("b").cases == ("asked",)
    again = copies.start(folder)
    assert again.created == ()
    assert {left.name for left in again.left_alone} >= {"60-a.ipynb", "61-b.ipynb"}
    assert remembered(folder) == (course,)


def test_start_tells_what_it_could_not_read_and_makes_the_rest(course: Path, tmp_path: Path) -> None:
    """A course that is half written is no reason to begin without the other half."""
    (course / "a" / "chapter.toml").write_text("id = a", encoding="utf-8")
    started = copies.start(tmp_path / "mine", chapters=[course])

    assert "61-b.ipynb" in started.created
    assert "60-a.ipynb" not in started.created
    assert f"  not readable, so not here: {course / 'a'}: chapter.toml: line 1: not TOML" in started.summary()


def test_start_refuses_two_things_of_one_name_before_anything_is_written(course: Path, tmp_path: Path) -> None:
    """A chapter's file must not stand in for another's."""
    (course / "a" / "assets").mkdir()
    (course / "a" / "assets" / "bed.svg").write_text("<svg>another</svg>", encoding="utf-8")

    with pytest.raises(CannotStart, match=r"b \(.*\) has a assets/bed\.svg, and so has another chapter"):
        copies.start(tmp_path / "mine", chapters=[course])
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("content", ["", "[]", '{"folders": "course"}', '{"folder": []}'])
def test_a_note_that_somebody_broke_is_told_and_hides_no_chapter(tmp_path: Path, content: str) -> None:
    """It is a learner's file: they may edit it."""
    (tmp_path / REMEMBERED).write_text(content, encoding="utf-8")
    listed = catalogue(environment=NOWHERE, here=tmp_path)

    assert "boundary-desk" in listed.ids
    (fault,) = listed.faults
    assert fault.startswith(f"{REMEMBERED}: it is no note of `workbook start`")


# --------------------------------------------------------------------------------------------- what somebody means


def test_a_chapter_is_meant_by_its_folder_or_its_id(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every command that takes one; a path of a notebook or a file stays what it is."""
    monkeypatch.setenv(VARIABLE, str(course))
    monkeypatch.chdir(tmp_path)
    a, b = course / "a", course / "b"

    assert named(str(a)).chapter.path == named("a").chapter.path == a / "chapter.toml"
    assert notebooks_named(["x/y.ipynb", "a", str(b)]) == [
        Path("x/y.ipynb"),
        a / "notebook.ipynb",
        b / "notebook.ipynb",
    ]
    assert notebooks_named([str(course)]) == [a / "notebook.ipynb", b / "notebook.ipynb"]
    assert cases_named(["f.json", "a", str(b)]) == ["f.json", str(a / "cases.json"), str(b / "cases.json")]
    with pytest.raises(NoChapter, match=r"there is no chapter\.toml in it"):
        named(str(tmp_path))
    with pytest.raises(UnknownChapter):
        named("c")


def test_a_notebook_of_a_chapter_finds_it_wherever_it_is_run(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chapter's folder comes first, and what the environment names stays; other notebooks need nothing."""
    monkeypatch.setenv(VARIABLE, "further")
    at = environment_for(course / "a" / "notebook.ipynb")

    assert at == {VARIABLE: os.pathsep.join([str(course / "a"), "further"])}
    assert environment_for(tmp_path / "lesson.ipynb") == {}


def test_beliefs_of_one_id_in_two_files_are_refused(tmp_path: Path) -> None:
    """A chapter's own belief cannot change what a built-in one says."""
    own = chapter(tmp_path / "own", "own")
    belief: dict[str, Any] = {"id": "yes-is-yes", "says": "No.", "because": "No."}
    (own / "beliefs.json").write_text(json.dumps({"schemaVersion": 1, "beliefs": [belief]}), encoding="utf-8")

    with pytest.raises(CaseError, match=r"beliefs\.json: yes-is-yes: there is a belief of that id already"):
        wb.open("own", folder=own)
