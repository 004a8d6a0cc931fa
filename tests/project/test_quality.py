"""The code is linted, formatted and fully typed: part of the tests, so that one command covers everything."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

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


def test_the_tests_of_a_module_share_a_process(pytestconfig: pytest.Config) -> None:
    """What a module sets up is set up once; a turn of it is apart, and whoever looks at the wheel is together."""
    plugin: Any = pytestconfig.pluginmanager.get_plugin(str(TOP / "tests" / "conftest.py"))
    quick, other, recipe = (
        "tests/project/test_names.py",
        "tests/project/test_readme.py",
        "tests/package/test_recipe.py",
    )
    whole_way = "tests/package/test_whole_way.py"
    ids = [
        f"{quick}::a",
        f"{quick}::b[x::y]",
        f"{other}::a",
        f"{recipe}::a",
        f"{whole_way}::a",
        f"{quick}::in_a_browser",
    ]

    a, b, third, first_wheel, second_wheel, later = dict(plugin._companies(ids)).values()
    assert a == b
    assert first_wheel == second_wheel
    assert len({a, third, first_wheel, later}) == 4
