"""The wheel is the whole product: installed alone, in an empty environment, in an empty folder, it teaches."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.package


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel and what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("package")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, TOP, cwd=folder)
    (wheel,) = folder.glob("cedar_workbook-*.whl")
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    run(programs / "python", "-m", "pip", "install", "-q", wheel, cwd=folder)
    return programs


def test_the_wheel_alone_starts_a_learner_and_plays_a_case(installed: Path, tmp_path: Path) -> None:
    """`workbook start` makes every chapter in an empty folder, and the engine plays its cases there."""
    run(installed / "workbook", "start", "desk", cwd=tmp_path)
    case = run(installed / "python", "-m", "labsim", "case", "boundary-approve-one-call", "--json", cwd=tmp_path)
    cases = run(installed / "workbook", "cases", cwd=tmp_path)

    made = sorted(path.name for path in (tmp_path / "desk").glob("*.ipynb"))
    assert made == sorted(path.name for path in (TOP / "notebooks").glob("*.ipynb"))
    assert json.loads(case)["verdict"] == "match"
    total = sum(len(json.loads(path.read_bytes())["cases"]) for path in (TOP / "fixtures").glob("*-desk*.json"))
    assert cases.splitlines()[-1] == f"{total} cases, {total} match"


def test_the_wheel_alone_replays_the_recorded_answers_and_writes_evidence(installed: Path, tmp_path: Path) -> None:
    """The proof that the simulator tells the truth comes with it."""
    run(installed / "python", "-m", "labsim", "replay", cwd=tmp_path)
    run(installed / "workbook", "evidence", "evidence.json", cwd=tmp_path)

    evidence = json.loads((tmp_path / "evidence.json").read_bytes())
    assert all(case["match"] for file in evidence["fixtures"] for case in file["cases"])
    assert all(file["differing"] == [] for file in evidence["recorded"])


def test_the_wheel_runs_the_first_chapter_of_a_clean_copy(installed: Path, tmp_path: Path) -> None:
    """The chapter imports and shows what it should with nothing but the wheel's own requirements."""
    run(installed / "workbook", "start", "desk", cwd=tmp_path)
    code = (
        "import workbook as wb; wb.setup(); desk = wb.open('boundary-desk'); "
        "print(wb.lifecycle(desk.play('boundary-deny-one-call')))"
    )

    shown = run(installed / "python", "-c", code, cwd=tmp_path / "desk")

    assert "Tool call denied by user: seed_note" in shown
