"""The wheel in an environment of its own, for the tests marked `package`: built once, installed once.

A test module takes the fixtures by `pytest_plugins = ["wheel_kit"]`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from places import TOP
from readme_kit import block


class Installed(NamedTuple):
    """An environment with the wheel and what it asks for, and nothing else. `home`: an empty one for its user."""

    wheel: Path
    folder: Path
    home: Path

    @property
    def programs(self) -> Path:
        return self.folder / ("Scripts" if sys.platform == "win32" else "bin")

    def environment(self) -> dict[str, str]:
        """A user's who knows nothing of this machine: a home of their own, and these programs first."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CEDAR_", "IPYTHON", "JPY_", "JUPYTER", "MPL", "PYTEST", "PYTHON", "XDG_"))
        }
        path = f"{self.programs}{os.pathsep}{kept.get('PATH', '')}"
        return kept | {"HOME": str(self.home), "PATH": path, "VIRTUAL_ENV": str(self.folder)}

    def run(
        self,
        program: str,
        *arguments: str | Path,
        cwd: Path,
        environment: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> str:
        """What a program of the environment prints. `before` runs in the new process. Fails if the program does."""
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=cwd,
            env={**self.environment(), **(environment or {})},
            preexec_fn=before,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def follow(self, recipe: str, *, cwd: Path, home: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Lines for a shell, followed as a CI does: one shell, stopped by the first failure.

        pip finds the wheel beside itself. `home`: for pip, whose settings and cache are in the real one.
        """
        further = {"PIP_FIND_LINKS": str(self.wheel.parent), "HOME": str(home or self.home)}
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", recipe],
            cwd=cwd,
            env=self.environment() | further,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel of this checkout, installed with pip and nothing but its own requirements."""
    folder = tmp_path_factory.mktemp("package")
    for command in (
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, TOP],
        [sys.executable, "-m", "venv", folder / "env"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("cedar_workbook-*.whl")
    home = folder / "home"
    home.mkdir()
    made = Installed(wheel=wheel, folder=folder / "env", home=home)
    made.run("python", "-m", "pip", "install", "-q", wheel, cwd=folder, environment={"HOME": str(Path.home())})
    return made


@pytest.fixture(scope="session")
def author(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment in which what README tells authors to install has been installed.

    It sees the packages of the environment with the wheel, which stays as it is, and has the wheel's own programs.
    """
    folder = tmp_path_factory.mktemp("author") / "env"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    (seen,) = installed.folder.glob("lib/python*/site-packages")
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "installed.pth").write_text(f"{seen}\n")
    made = installed._replace(folder=folder)
    made.run("python", "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", installed.wheel, cwd=folder)
    done = made.follow(block("Write a chapter", "sh").splitlines()[0], cwd=folder, home=Path.home())
    assert done.returncode == 0, done.stdout + done.stderr
    return made
