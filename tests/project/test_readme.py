"""README's two commands are the ones that are run in CI, and what they name exists."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from places import TOP

README = (TOP / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def command_under(heading: str) -> str:
    """The one line between the first ```sh and ``` after a heading."""
    lines = iter(README.splitlines())
    for wanted in (f"## {heading}", "```sh"):
        for line in lines:
            if line == wanted:
                break
    command = next(lines)
    assert next(lines) == "```", f"the command under {heading} is not one line"
    return command


def test_the_first_command_makes_an_environment_installs_and_opens_the_workbook():
    """One line from a fresh clone to a chapter in JupyterLab; the script in it is really installed."""
    environment, install, run = command_under("Start").split(" && ")

    assert environment == "python3 -m venv .venv"
    assert install == ".venv/bin/pip install ."
    assert run == ".venv/bin/workbook lab"
    assert PROJECT["scripts"]["workbook"] == "workbook.cli:main"


def test_the_second_command_installs_the_test_extra_and_runs_every_test():
    """The same for whoever changes something: no further argument, so nothing is left out."""
    environment, install, run = command_under("Test").split(" && ")

    assert environment == "python3 -m venv .venv"
    assert install == ".venv/bin/pip install -e '.[test]'"
    assert run == ".venv/bin/python -m pytest"
    assert "test" in PROJECT["optional-dependencies"]


class Machine:
    """A checkout with its own README, on a machine that has only the programs given here."""

    def __init__(self, folder: Path, test_command: str, *, chromium: bool) -> None:
        self.checkout, self.programs = folder / "checkout", folder / "bin"
        (self.checkout / ".ci").mkdir(parents=True)
        shutil.copy(TOP / ".ci" / "run", self.checkout / ".ci" / "run")
        (self.checkout / "README.md").write_text(f"# X\n\n## Test\n\n```sh\n{test_command}\n```\n\n## More\n")
        self.programs.mkdir()
        for name in ("bash", "env", "dirname", "timeout", "pwd"):
            found = shutil.which(name)
            assert found is not None
            (self.programs / name).symlink_to(found)
        self.add("python3", f'exec "{sys.executable}" "$@"')
        self.add("apt-get", f'echo "$@" >> "{folder}/apt.log"')
        self.apt_log = folder / "apt.log"
        if chromium:
            self.add("chromium", "exit 1")

    def add(self, name: str, body: str) -> None:
        program = self.programs / name
        program.write_text(f"#!{shutil.which('bash')}\n{body}\n")
        program.chmod(0o755)

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != "CEDAR_REQUIRE_BROWSER"}
        return subprocess.run(
            [self.checkout / ".ci" / "run", *args],
            cwd="/",
            env=environment | {"PATH": str(self.programs)},
            capture_output=True,
            text=True,
            check=False,
        )


def test_ci_runs_the_second_command_of_this_readme():
    """README is the only place that says how to test."""
    shown = subprocess.run([TOP / ".ci" / "run", "--show"], check=True, capture_output=True, text=True, cwd="/")

    assert shown.stdout == command_under("Test") + "\n"


def test_ci_runs_the_command_in_the_checkout_and_requires_the_browser(tmp_path: Path):
    """Where Chromium is, nothing is installed; and a browser test cannot skip."""
    machine = Machine(tmp_path, 'pwd && echo "browser required: $CEDAR_REQUIRE_BROWSER"', chromium=True)
    done = machine.run()

    assert done.stdout == f"{machine.checkout}\nbrowser required: 1\n"
    assert done.returncode == 0
    assert not machine.apt_log.exists()


def test_ci_installs_chromium_where_it_is_missing(tmp_path: Path):
    """A bare machine gets the browser, and a font to draw with, from Debian."""
    machine = Machine(tmp_path, "echo tested", chromium=False)
    done = machine.run()

    assert done.stdout == "tested\n"
    assert machine.apt_log.read_text().splitlines() == [
        "update",
        "install --yes --no-install-recommends chromium fonts-dejavu",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["exit 3", "false && echo tested", "echo tested | exit 3"])
def test_ci_fails_when_the_command_fails(tmp_path: Path, command: str):
    """Whatever step fails, CI is red."""
    assert Machine(tmp_path, command, chromium=True).run().returncode != 0


def test_ci_fails_when_readme_has_no_command(tmp_path: Path):
    """An edit of README that loses the command must not turn CI into a pass."""
    machine = Machine(tmp_path, "echo tested", chromium=True)
    (machine.checkout / "README.md").write_text(
        "# X\n\n## Test\n\nSee elsewhere.\n\n## More\n\n```sh\necho other\n```\n"
    )
    done = machine.run()

    assert done.returncode != 0
    assert done.stdout == ""
    assert "README.md: no sh block under '## Test'" in done.stderr
