"""The workshop that the guide for authors works in: what it shows, changes and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from authoring_kit import CHAPTER

import workbook as wb
from labsim.library import fixtures_dir
from workbook.author.new_chapter import new_chapter
from workbook.author.workshop import EXAMPLES, CannotChange, Workshop
from workbook.notebook import diff


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """A chapter on the bench, whose notebook was not run."""
    return Workshop(new_chapter(CHAPTER, inside=tmp_path, bake_it=False).folder)


def test_a_file_is_shown_with_the_numbers_of_its_lines(shop: Workshop) -> None:
    """As an editor and the check count them; beyond the end there is nothing."""
    assert str(shop.show("chapter.toml", 3, 4)) == (
        "chapter.toml, lines 3 to 4:\n"
        '    3  id = "greenhouse-desk"\n'
        '    4  title = "See what a rule settles before anybody is asked"'
    )
    assert str(shop.show("chapter.toml", 6, 99)).startswith("chapter.toml, lines 6 to 6:")


def test_a_change_shows_the_lines_that_it_changed_and_only_the_first_place_is_meant(shop: Workshop) -> None:
    """What was there, and what is there now."""
    changed = shop.change("cases.json", '"yolo"', '"yollo"')
    text = (shop.folder / "cases.json").read_text(encoding="utf-8")

    assert str(changed) == 'cases.json, line 27:\n    -         "mode": "yolo",\n    +         "mode": "yollo",'
    assert (text.count('"yollo"'), text.count('"yolo"')) == (1, 1)


def test_a_change_of_several_lines_shows_all_of_them(shop: Workshop) -> None:
    """One line can become two, and the other way round."""
    two = shop.change("chapter.toml", "order = 60", "order = 60\n# late")
    one = shop.change("chapter.toml", "order = 60\n# late", "order = 60")

    assert str(two) == "chapter.toml, line 5:\n    - order = 60\n    + order = 60\n    + # late"
    assert str(one) == "chapter.toml, line 5:\n    - order = 60\n    - # late\n    + order = 60"


def test_of_a_notebook_the_source_of_a_cell_is_changed(shop: Workshop) -> None:
    """It is still a notebook, and the other cells are as they were."""
    changed = shop.change("notebook.ipynb", "wb.lifecycle(asked)", "wb.ledger(asked)")

    assert str(changed) == "notebook.ipynb, cell 6:\n    - wb.lifecycle(asked)\n    + wb.ledger(asked)"
    assert '"wb.ledger(asked)"' in (shop.folder / "notebook.ipynb").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "said"),
    [
        ("cases.json", "nowhere", "cases.json: 'nowhere' is not in it. Nothing was changed."),
        ("cases.json", "", "cases.json: there is nothing to put it in the place of. Nothing was changed."),
        ("notebook.ipynb", "nowhere", "notebook.ipynb: no cell has 'nowhere' in it. Nothing was changed."),
        ("case.json", "x", "case.json: there is no such file in the chapter. Nothing was changed."),
    ],
)
def test_a_change_that_meets_nothing_is_refused(shop: Workshop, file: str, old: str, said: str) -> None:
    """A change that does nothing would be believed."""
    with pytest.raises(CannotChange) as caught:
        shop.change(file, old, "x")
    assert str(caught.value) == said


def test_an_example_is_taken_once_under_the_chapters_id(shop: Workshop) -> None:
    """Together they make a kind of case of the chapter's own."""
    shop.take("engine.py")
    shop.take("night.json")
    shop.change("chapter.toml", "needs =", 'cases = ["cases.json", "night.json"]\nneeds =')
    report = shop.open().play("three-at-night")

    assert report.matches
    assert "greenhouse-desk/night" in str(shop.show("night.json"))
    with pytest.raises(CannotChange, match=r"engine\.py: the chapter has one already"):
        shop.take("engine.py")
    examples = ", ".join(sorted(path.name for path in (fixtures_dir() / EXAMPLES).iterdir() if path.is_file()))
    with pytest.raises(CannotChange, match=f"there is no such example; there are {examples}"):
        shop.take("tools.py")


def test_the_check_is_shown_as_a_table_and_a_verdict(shop: Workshop) -> None:
    """Three columns: where, what was found, what would do."""
    shop.change("checkpoints.json", "letter by letter", "TODO")
    said = " ".join(str(shop.check()).split())

    assert "where what was found what would do" in said
    assert "'TODO' is left over from writing. Write what belongs there." in said
    assert said.endswith("greenhouse-desk: 1 fault. Not looked at yet: notebook, runs.")


def test_the_workshop_shows_its_files_and_no_path_of_a_machine(shop: Workshop) -> None:
    """Its outputs are the same wherever they are baked."""
    (shop.folder / "notes.md").write_text("mine", encoding="utf-8")
    bundle = shop._repr_mimebundle_()

    assert str(shop.folder) not in "".join(bundle.values())
    assert "notes.md" in bundle["text/plain"]
    assert "something of yours" in repr(shop)


def test_without_nbdime_the_diff_says_what_is_missing_and_stops_nothing(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no requirement of learners."""
    monkeypatch.setattr(diff.importlib.util, "find_spec", lambda name: None)

    assert str(shop.diff()).startswith("nbdime is not installed in this Python")


def test_the_workshop_is_a_public_name() -> None:
    """`wb.workshop`, as the guide has it."""
    assert wb.workshop.__module__ == "workbook.author.workshop"
