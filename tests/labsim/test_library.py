"""Where the shipped data is: in a wheel inside the package, in a checkout at the top; and what a notebook is."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat import v4
from places import TOP

from labsim.library import DataMissing, fixtures_dir, shipped
from workbook.chapter.notebooks import NotANotebook, notebooks_dir, notebooks_in, read_notebook


def test_a_checkout_uses_its_own_notebooks_and_fixtures():
    """The tests run on a checkout or an editable install of it: an edit is seen without installing again."""
    assert fixtures_dir() == TOP / "fixtures"
    assert notebooks_dir() == TOP / "notebooks"


def test_data_inside_the_package_comes_before_data_beside_it(tmp_path: Path):
    """A wheel carries `_data`; it must never be mixed with a folder that happens to lie beside the package."""
    packed, top = tmp_path / "pkg/_data/notebooks", tmp_path / "notebooks"
    for folder in (packed, top):
        folder.mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()

    assert shipped("notebooks", tmp_path / "pkg") == packed
    packed.rmdir()
    assert shipped("notebooks", tmp_path / "pkg") == top


def test_a_strangers_folder_in_site_packages_is_not_ours(tmp_path: Path):
    """Beside an installed package lie other projects; without a `pyproject.toml` there, nothing is ours."""
    (tmp_path / "notebooks").mkdir()

    with pytest.raises(DataMissing, match="No notebooks came with this installation") as error:
        shipped("notebooks", tmp_path / "pkg")
    assert error.value.looked_in == (tmp_path / "pkg/_data/notebooks", tmp_path / "notebooks")


def test_chapters_come_in_the_order_of_their_names_and_only_from_the_top(tmp_path: Path):
    """The number in front of the name is the order of the chapters; backups below are none."""
    (tmp_path / ".ipynb_checkpoints").mkdir()
    for name in ("10-last.ipynb", "02-b.ipynb", "01-a.ipynb", "notes.txt", ".ipynb_checkpoints/01-a.ipynb"):
        (tmp_path / name).touch()
    (tmp_path / "03-folder.ipynb").mkdir()

    assert [path.name for path in notebooks_in(tmp_path)] == ["01-a.ipynb", "02-b.ipynb", "10-last.ipynb"]


def test_a_notebook_is_read_with_its_sources_joined(tmp_path: Path):
    """On disk a source is a list of lines; to everyone here it is one string."""
    nbformat.write(v4.new_notebook(cells=[v4.new_code_cell("a = 1\na")]), tmp_path / "a.ipynb")

    assert read_notebook(tmp_path / "a.ipynb").cells[0].source == "a = 1\na"


CELL = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": ["1"]}
GOOD = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CELL]}
BROKEN = {
    "not UTF-8": (b"\xff\xfe", "the content is not JSON"),
    "empty": (b"", "the content is not JSON"),
    "text": (b"hello", "the content is not JSON"),
    "a list": (b"[]", "the JSON has no list of cells"),
    "no cells": (b'{"nbformat": 4}', "the JSON has no list of cells"),
    "cells is a number": (json.dumps(GOOD | {"cells": 5}).encode(), "the JSON has no list of cells"),
    "format 3": (json.dumps(GOOD | {"nbformat": 3}).encode(), "the notebook format is 3"),
    "minor is text": (json.dumps(GOOD | {"nbformat_minor": "5"}).encode(), "the number nbformat_minor is missing"),
    "no metadata": (
        json.dumps({key: value for key, value in GOOD.items() if key != "metadata"}).encode(),
        "'metadata' is a required property",
    ),
    "a cell without source": (
        json.dumps(GOOD | {"cells": [{key: value for key, value in CELL.items() if key != "source"}]}).encode(),
        "'source' is a required property",
    ),
}


@pytest.mark.parametrize(("content", "found"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_notebook_is_said_in_one_line(tmp_path: Path, content: bytes, found: str):
    """Place, what was found, what would do; never the parser's own traceback."""
    (tmp_path / "a.ipynb").write_bytes(content)

    with pytest.raises(NotANotebook) as error:
        read_notebook(tmp_path / "a.ipynb")
    assert str(error.value).startswith(f"{tmp_path / 'a.ipynb'}: ")
    assert found in str(error.value)
    assert "\n" not in str(error.value)


def test_a_path_that_cannot_be_a_notebook_is_named_with_the_reason(tmp_path: Path):
    """Missing, a folder, another kind of file: each has its own sentence."""
    (tmp_path / "dir.ipynb").mkdir()

    for name, found in (
        ("missing.ipynb", "No such file or directory"),
        ("dir.ipynb", "Is a directory"),
        ("lesson.py", "the name does not end in .ipynb"),
    ):
        with pytest.raises(NotANotebook, match=found):
            read_notebook(tmp_path / name)
