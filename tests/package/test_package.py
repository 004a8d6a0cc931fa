"""The wheel is the whole product: installed alone, in an empty environment, in an empty folder, it teaches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from places import TOP

if TYPE_CHECKING:
    from wheel_kit import Installed  # at run time pytest imports it, as a plugin

pytest_plugins = ["wheel_kit"]
pytestmark = pytest.mark.package


def test_the_wheel_alone_starts_a_learner_and_plays_a_case(installed: Installed, tmp_path: Path) -> None:
    """`workbook start` makes every chapter in an empty folder, and the engine plays its cases there."""
    installed.run("workbook", "start", "desk", cwd=tmp_path)
    case = installed.run("python", "-m", "labsim", "case", "boundary-approve-one-call", "--json", cwd=tmp_path)
    cases = installed.run("workbook", "cases", cwd=tmp_path)

    made = sorted(path.name for path in (tmp_path / "desk").glob("*.ipynb"))
    assert made == sorted(path.name for path in (TOP / "notebooks").glob("*.ipynb"))
    assert json.loads(case)["verdict"] == "match"
    total = sum(len(json.loads(path.read_bytes())["cases"]) for path in (TOP / "fixtures").glob("*-desk*.json"))
    assert cases.splitlines()[-1] == f"{total} cases, {total} match"


def test_the_wheel_alone_replays_the_recorded_answers_and_writes_evidence(
    installed: Installed, tmp_path: Path
) -> None:
    """The proof that the simulator tells the truth comes with it."""
    installed.run("python", "-m", "labsim", "replay", cwd=tmp_path)
    installed.run("workbook", "evidence", "evidence.json", cwd=tmp_path)

    evidence = json.loads((tmp_path / "evidence.json").read_bytes())
    assert all(case["match"] for file in evidence["fixtures"] for case in file["cases"])
    assert all(file["differing"] == [] for file in evidence["recorded"])


def test_the_wheel_runs_the_first_chapter_of_a_clean_copy(installed: Installed, tmp_path: Path) -> None:
    """The chapter imports and shows what it should with nothing but the wheel's own requirements."""
    installed.run("workbook", "start", "desk", cwd=tmp_path)
    code = (
        "import workbook as wb; wb.setup(); desk = wb.open('boundary-desk'); "
        "print(wb.lifecycle(desk.play('boundary-deny-one-call')))"
    )

    shown = installed.run("python", "-c", code, cwd=tmp_path / "desk")

    assert "Tool call denied by user: seed_note" in shown
