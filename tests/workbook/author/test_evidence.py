"""What `workbook evidence` promises: the run speaks for itself, the same bytes every time, whole or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from labsim.library import case_files
from workbook.atomic import WriteFailed
from workbook.author.evidence import gather, write


@pytest.mark.slow
def test_evidence_names_every_built_in_case_with_its_expectation_and_what_was_seen() -> None:
    """Each case of each fixture is in the evidence once, with every claimed field beside the observed one."""
    evidence = gather()

    claimed = {
        case["id"]: list(case["expected"])
        for path in case_files()
        for case in json.loads(path.read_bytes())["cases"]
    }
    shown = {case.id: list(case.expected) for file in evidence.fixtures for case in file.cases}
    assert {key: sorted(fields) for key, fields in shown.items()} == {
        key: sorted(fields) for key, fields in claimed.items()
    }
    assert all(case.match for file in evidence.fixtures for case in file.cases)
    assert all(sorted(case.expected) == sorted(case.observed) for file in evidence.fixtures for case in file.cases)


@pytest.mark.slow
def test_evidence_carries_the_hash_of_each_fixture_and_its_unrun_claims() -> None:
    """A reader can tell which edition was played, and which claims no case runs."""
    evidence = gather()

    boundary = next(file for file in evidence.fixtures if file.file == "boundary-desk.json")
    path = next(path for path in case_files() if path.name == "boundary-desk.json")
    assert boundary.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert boundary.not_executed == ["rpc-construction", "rpc-not-a-tui", "fallback-is-not-grant"]


@pytest.mark.slow
def test_evidence_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    """Nothing in it depends on the time or the machine."""
    write(tmp_path / "one.json")
    write(tmp_path / "two.json")

    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "two.json"]


@pytest.mark.slow
def test_evidence_that_cannot_be_written_says_why_and_leaves_what_was_there(tmp_path: Path) -> None:
    """A folder that is missing, or a name that is a folder, is one clear error."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "kept.txt").write_text("kept")

    with pytest.raises(WriteFailed, match=r"nowhere.*not written \(No such file or directory\)"):
        write(tmp_path / "nowhere" / "evidence.json")
    with pytest.raises(WriteFailed, match=r"taken: not written \(it is a folder and no file\)"):
        write(tmp_path / "taken")
    assert (tmp_path / "taken" / "kept.txt").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
