"""The code is linted, formatted and fully typed: part of the tests, so that one command covers everything."""

from __future__ import annotations

import subprocess
import sys

import pytest
from places import TOP

TOOLS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy", "--strict"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", TOOLS.values(), ids=TOOLS)
def test_the_code_satisfies(command: list[str]):
    """Each tool runs with the settings of `pyproject.toml`, which give a reason for every exception."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=TOP, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
