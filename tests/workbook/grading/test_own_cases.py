"""A learner's own case, checked: read strictly, played, and its claims beside what the run shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbook as wb
from labsim.library import fixtures_dir
from workbook.grading.own_cases import CheckedCase, check_case, check_cases

#: Files that are wrong in one way each; beside them lies what is said of them.
BROKEN_FILES = sorted(path for path in (fixtures_dir() / "broken").glob("*.json") if path.name != "messages.json")
MINE: dict[str, Any] = {
    "id": "mine",
    "scenario": "wrapper",
    "given": {"approval": "exec", "mode": "write", "args": {"bed": 4}, "choices": ["Approve"]},
    "expected": {"outcome": "return", "effects": 1, "prompts": 1},
}


def words(checked: CheckedCase) -> str:
    return " ".join(str(checked).split())


def test_the_same_case_is_the_same_as_a_dictionary_as_json_and_as_a_file(tmp_path: Path) -> None:
    """Whichever way it is handed in, it is read by the rules of the workbook's own cases."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(MINE), encoding="utf-8")

    pages = [str(check_case(case)) for case in (MINE, json.dumps(MINE), path)]

    assert pages[0] == pages[1] == pages[2]
    assert pages[0].startswith("Case mine: holds")
    assert wb.check_case is check_case


def test_what_a_case_claims_is_beside_what_its_run_shows() -> None:
    """Each claim with the observed value, and the rows of the ledger that speak against it marked."""
    checked = check_case(MINE | {"expected": {"outcome": "return", "effects": 2, "prompts": 1}})

    assert not checked.matches
    assert "It does not hold. Its run shows 2 of 3 claims." in words(checked)
    assert "effects 2 1 no" in words(checked)
    assert '<tr class="cedar-differs">' in checked.page().html()


def test_a_case_that_claims_nothing_cannot_be_wrong_and_is_told_so() -> None:
    """It is played all the same."""
    checked = check_case(MINE | {"expected": {}})

    assert not checked.matches
    assert "Nothing claimed." in words(checked)
    assert "the inert executor of seed_note is entered" in words(checked)


NOT_READ: dict[str, tuple[object, str]] = {
    "a misspelt mode": (
        MINE | {"given": {"mode": "wirte"}},
        "where your case.given.mode found 'wirte' is not allowed here what would do Did you mean 'write'?",
    ),
    "an unknown key": (MINE | {"gvien": {}}, "where your case found the key 'gvien' is not known here"),
    "no id": ({"scenario": "wrapper", "given": {}}, "where your case"),
    "no JSON": ('{"id": ', "where your case: line 1"),
    "a key twice": ('{"id": "a", "id": "b"}', "where your case"),
    "a set": (
        MINE | {"given": {"args": {1}}},
        "where your case.given.args found {1} is nothing that JSON can hold",
    ),
    "a value that holds itself": ("itself", "it has more than 100 levels what would do Does it hold itself?"),
    "a number": (7, "where your case found this is of type int"),
    "nothing": (None, "where your case found this is of type NoneType"),
    "a file that is not there": (Path("nowhere.json"), "where nowhere.json found it cannot be read (No such file"),
}


@pytest.mark.parametrize("name", NOT_READ)
def test_what_cannot_be_read_says_where_what_was_found_and_what_would_do(name: str) -> None:
    """Nothing is raised: the answer is a table of three lines."""
    case, said = NOT_READ[name]
    if case == "itself":
        holds_itself: dict[str, Any] = {"id": "x", "scenario": "wrapper"}
        holds_itself["given"] = holds_itself
        case = holds_itself

    checked = check_case(case)

    assert (checked.matches, checked.report) == (False, None)
    assert "Not read. Nothing was played." in words(checked)
    assert said in words(checked)


@pytest.mark.parametrize("path", BROKEN_FILES, ids=lambda path: path.stem)
def test_every_broken_file_is_refused_in_words(path: Path) -> None:
    """Nothing of what can be wrong with a file raises in a notebook, or is played."""
    (checked,) = check_cases(path)

    assert checked.problem is not None
    assert checked.problem.place.startswith(path.name)


def test_a_file_of_cases_is_checked_case_by_case(tmp_path: Path) -> None:
    """In the order of the file; a chapter's own cases all hold."""
    file = {"schemaVersion": 1, "id": "mine", "cases": [MINE, MINE | {"id": "other", "expected": {"effects": 2}}]}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(file), encoding="utf-8")

    for handed_in in (file, json.dumps(file), path):
        assert [one.matches for one in check_cases(handed_in)] == [True, False]
    assert all(one.matches for one in check_cases(fixtures_dir() / "your-own-desk.json"))
    assert wb.check_cases is check_cases


def test_markup_in_a_case_stays_text() -> None:
    """A case may come from anybody."""
    shown = check_case(MINE | {"id": "<img src=x onerror=alert(1)>"}).page().html()

    assert "<img" not in shown
