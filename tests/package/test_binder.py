"""A Binder build would accept this repository: asked of repo2docker itself, the program that a Binder builds with.

repo2docker reads `.binder/` and writes a Dockerfile. No test builds that: it takes Docker and its network. What
stands in it about this repository is run here instead, line by line.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from packaging.specifiers import SpecifierSet
from places import TOP

from workbook.chapter.notebooks import notebooks_dir, notebooks_in

BINDER = TOP / ".binder"
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALL = '${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r ".binder/requirements.txt"'


@pytest.fixture(scope="module")
def dockerfile() -> str:
    """What repo2docker would have Docker do with this checkout."""
    command = ["--no-build", "--no-run", "--debug", "--user-id", "1000", "--user-name", "jovyan", str(TOP)]
    asked = subprocess.run(
        [sys.executable, "-m", "repo2docker", *command], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert asked.returncode == 0, asked.stderr
    return asked.stdout


@pytest.mark.slow
def test_repo2docker_takes_every_file_of_the_folder_for_what_it_is(dockerfile: str) -> None:
    """A misspelt or misplaced file is ignored without a word, so each one has to show in the result."""
    assert sorted(path.name for path in BINDER.iterdir()) == ["postBuild", "requirements.txt", "runtime.txt"]

    _, _, with_the_checkout = dockerfile.partition("\nCOPY --chown=1000:1000 src/ ${REPO_DIR}/\n")
    assert re.findall(r"^(?:USER|RUN) .*$", with_the_checkout, re.MULTILINE) == [
        "USER ${NB_USER}",
        f"RUN {INSTALL}",
        "USER ${NB_USER}",
        "RUN chmod +x .binder/postBuild",
        "RUN ./.binder/postBuild",
    ]
    assert "environment-2epy-2d3-2e12-2dlinux" in dockerfile  # the base of Python 3.12, from runtime.txt


def test_the_image_has_a_python_that_the_package_accepts() -> None:
    """repo2docker's own default is older than what `requires-python` allows."""
    chosen = (BINDER / "runtime.txt").read_text().strip().removeprefix("python-")

    assert chosen in SpecifierSet(PROJECT["requires-python"])
    assert f"Programming Language :: Python :: {chosen}" in PROJECT["classifiers"]


def test_the_files_are_plain_text_that_a_linux_image_can_run() -> None:
    """No carriage return, no byte order mark; the script says what runs it, and may be run."""
    for path in BINDER.iterdir():
        assert path.read_bytes().isascii()
        assert b"\r" not in path.read_bytes()
        assert path.read_bytes().endswith(b"\n")
    assert (BINDER / "postBuild").read_text().startswith("#!/usr/bin/env bash\n")
    assert os.access(BINDER / "postBuild", os.X_OK)


@pytest.mark.package
def test_the_install_line_works_from_a_checkout() -> None:
    """Where repo2docker runs the line, pip finds this project behind `.`; nothing is installed for this test."""
    arguments = INSTALL.partition(" ")[2].replace('"', "").split()
    command = [sys.executable, "-m", "pip", *arguments, "--dry-run", "--no-deps", "--ignore-installed"]

    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert f"Would install {PROJECT['name']}-{PROJECT['version']}" in done.stdout


@pytest.mark.slow
def test_the_start_lands_in_clean_copies(tmp_path: Path) -> None:
    """After the build the copies lie where the address in postBuild points, and nothing of them is worked."""
    programs = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}

    for _ in range(2):  # an image that is built on an older one starts again, and overwrites nothing
        subprocess.run([BINDER / "postBuild"], cwd=tmp_path, env=environment, check=True, capture_output=True)

    (address,) = re.findall(r"\?urlpath=lab/tree/(\S+)", (BINDER / "postBuild").read_text())
    copies = notebooks_in(tmp_path / "cedar-workbook")
    assert tmp_path / address == copies[0]
    assert [path.name for path in copies] == [path.name for path in notebooks_in(notebooks_dir())]
    cells = [cell for path in copies for cell in nbformat.read(path, as_version=4).cells]
    assert [cell for cell in cells if cell.get("outputs")] == []
