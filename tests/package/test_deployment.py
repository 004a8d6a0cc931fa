"""The workbook where nobody may write beside it and nothing may leave the machine: a lecture hall, an exam.

One learner's hour is lived through once, from a wheel in an environment without a single writable file, with every
question to the network noted. The tests look at what it left.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import nbformat
import pytest
from network_kit import Asked, asked, guarded

if TYPE_CHECKING:
    from wheel_kit import Installed  # at run time pytest imports it, as a plugin

pytest_plugins = ["wheel_kit"]
pytestmark = pytest.mark.package

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1  # of Linux
START_SECONDS = 60


def without_powers() -> None:
    """In a new process: if it is root's, let permissions hold for it, too, from the next program on."""
    if os.geteuid() == 0 and ctypes.CDLL(None, use_errno=True).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this root cannot give up its right to write everywhere")


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody may write to anything in it, until the end."""
    places = [path for path in (folder, *folder.rglob("*")) if not path.is_symlink()]
    modes = [path.stat().st_mode for path in places]
    for path, mode in zip(places, modes, strict=True):
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in zip(places, modes, strict=True):
            path.chmod(mode)


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of each file."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


class Hour(NamedTuple):
    """What was seen while the learner worked, and afterwards."""

    could_write: str  # what came of an attempt to write into the installation
    desk: Path
    lab_page: str
    changed: set[str]  # files of the installation that appeared, vanished or are others
    network: list[Asked]
    kernel_address: str  # where a kernel's own sockets are; ZeroMQ opens them, so the network log has none of them


STUDY = """
import workbook as wb
desk = wb.open("boundary-desk")
desk.predict("second-call").commit("twice")
print(desk.reveal("second-call"))
"""
WHERE = "from ipykernel.connect import get_connection_info\nprint(get_connection_info(unpack=True)['ip'], end='')"


@pytest.fixture(scope="module")
def hour(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Hour:
    """Start, run a chapter, commit, see the reveal, open JupyterLab."""
    place = tmp_path_factory.mktemp("learner")
    home, log = place / "home", place / "network.log"
    home.mkdir()
    environment = {"HOME": str(home), **guarded(log)}
    (packages,) = installed.folder.glob("lib/python*/site-packages")
    code = [packages / "workbook", packages / "labsim"]
    before, before_code = snapshot(installed.folder), [contents(path) for path in code]

    def run(program: str, *arguments: str | Path, cwd: Path) -> str:
        return installed.run(program, *arguments, cwd=cwd, environment=environment, before=without_powers)

    with read_only(installed.folder):
        attempt = f"try:\n  open({str(code[0] / 'mine')!r}, 'w')\nexcept OSError as e:\n  print(e.strerror, end='')"
        could_write = run("python", "-c", attempt, cwd=home)
        run("workbook", "start", "desk", cwd=home)
        desk = home / "desk"
        run("jupyter", "execute", "--inplace", "01-boundary-desk.ipynb", cwd=desk)
        run("python", "-c", STUDY, cwd=desk)
        where = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(WHERE)])
        nbformat.write(where, home / "where.ipynb")
        run("jupyter", "execute", "--inplace", "where.ipynb", cwd=home)
        lab_page = open_lab(installed, environment, desk)

    after = snapshot(installed.folder)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    changed |= {str(path) for path, old in zip(code, before_code, strict=True) if contents(path) != old}
    (cell,) = nbformat.read(home / "where.ipynb", as_version=4).cells
    return Hour(could_write, desk, lab_page, changed, asked(log), cell.outputs[0].text)


def open_lab(installed: Installed, environment: dict[str, str], desk: Path) -> str:
    """The page of JupyterLab as `workbook lab` serves it, on a server that is stopped again."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [installed.programs / "workbook", "lab", desk, "--no-browser", "--", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token=offline"]
    with (desk.parent / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            command,
            cwd=desk.parent,
            env={**installed.environment(), **environment},
            preexec_fn=without_powers,
            stdout=log,
            stderr=log,
        )
    end = time.monotonic() + START_SECONDS
    try:
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/lab?token=offline", timeout=5) as page:
                    return str(page.read().decode())
            except (urllib.error.URLError, ConnectionError):
                assert server.poll() is None, (desk.parent / "lab.log").read_text()
                assert time.monotonic() < end, (desk.parent / "lab.log").read_text()
                time.sleep(0.1)  # nothing to wait on but the port
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)


def test_nothing_of_the_installation_could_be_written_and_nothing_was(hour: Hour) -> None:
    """Every write of the workbook goes into the learner's home; as root, too, permissions were made to hold."""
    assert hour.could_write == "Permission denied"
    assert hour.changed == set()


def test_the_chapter_ran_and_the_answer_was_kept_in_the_home(hour: Hour) -> None:
    """All of the lesson works from there: copies, a kernel, a commit, a reveal."""
    played = nbformat.read(hour.desk / "01-boundary-desk.ipynb", as_version=4)
    kept = [json.loads(line) for line in (hour.desk / "cedar-progress.jsonl").read_text().splitlines()]

    assert all(cell.execution_count for cell in played.cells if cell.cell_type == "code" and cell.source)
    assert [record["record"] for record in kept] == ["cedar-progress", "commit", "reveal-seen"]


def test_jupyterlab_opened_and_its_page_takes_nothing_from_elsewhere(hour: Hour) -> None:
    """What the page loads is on the server that sent it; tests in a browser watch a whole lesson for the same."""
    assert "<title>JupyterLab</title>" in hour.lab_page
    for tag in ('src="http', 'href="http', 'src="//', 'href="//'):
        assert tag not in hour.lab_page


def test_no_process_asked_for_anything_beyond_this_machine(hour: Hour) -> None:
    """Start, kernel, chapter and server: whatever was resolved, bound or connected to is a loopback address."""
    assert hour.kernel_address == "127.0.0.1"
    assert [one for one in hour.network if one.answer != "here"] == []
    assert {one.question for one in hour.network} >= {"socket.bind", "socket.getaddrinfo"}  # the log was written


ASK = """
import socket
for ask in (
    lambda: socket.create_connection(("192.0.2.1", 80), 1),
    lambda: socket.gethostbyname("a.example"),
    lambda: socket.socket().bind(("0.0.0.0", 0)),
    lambda: socket.socket().bind(("127.0.0.1", 0)),
):
    try:
        ask()
        print("let through")
    except OSError as error:
        print(error.strerror)
"""


def test_the_guard_refuses_and_notes_what_leaves_the_machine(installed: Installed, tmp_path: Path) -> None:
    """A guard that let everything through would prove nothing."""
    log = tmp_path / "network.log"

    said = installed.run("python", "-c", ASK, cwd=tmp_path, environment=guarded(log))

    assert said.splitlines() == ["Network is unreachable"] * 2 + ["let through"] * 2
    assert [one.answer for one in asked(log)] == ["refused", "refused", "open", "here"]
