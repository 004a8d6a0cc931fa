"""A real JupyterLab in a real Chromium, for the tests marked `browser`.

A test module takes the fixtures by `pytest_plugins = ["browser"]`. One server, one browser and one page with
JupyterLab in it serve all tests of a process; each test opens a notebook of its own, in a folder of its own. Where
there is no Chromium the tests are skipped and say so; with CEDAR_REQUIRE_BROWSER=1, as in CI, they fail instead.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from playwright.sync_api import Browser, Error, Locator, Page, sync_playwright

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SETTINGS: dict[str, dict[str, Any]] = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {
        "windowingMode": "none"
    },  # every cell is in the page, wherever it is scrolled to
}
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
VIEWPORT = {"width": 1280, "height": 1000}
START_SECONDS = 60
POLL_MS = 100  # asked at every frame, which is Playwright's own way, a page in software is busy with being asked


class Lab(NamedTuple):
    """A running server: its root folder, address and token."""

    root: Path
    url: str
    token: str


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("CEDAR_REQUIRE_BROWSER") == "1":
            pytest.fail("no Chromium on this machine, and CEDAR_REQUIRE_BROWSER=1 says that it must be here")
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def _running(
    home: Path, command: Sequence[str | Path], root: Path, environment: Mapping[str, str]
) -> Iterator[Lab]:
    for name, value in SETTINGS.items():
        file = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "run",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "ws",
        "IPYTHONDIR": "ipython",
    }
    further = [
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"),
        *("--expose-app-in-browser", "--LabApp.extension_manager=readonly"),
    ]
    log = home / "lab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*command, *further],
            cwd=root,
            env={**environment, **{name: str(home / place) for name, place in places.items()}},
            stdout=output,
            stderr=output,
        )
    made = Lab(root, f"http://127.0.0.1:{port}", token)
    try:
        _wait_until_up(made, server, log)
        yield made
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


RunningLab = Callable[[Sequence[str | Path], Path, Mapping[str, str]], AbstractContextManager[Lab]]


@pytest.fixture(scope="session")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> RunningLab:
    """Start a JupyterLab for as long as a `with` lasts, with settings, data and kernels of its own.

    Takes the command that starts it, to which the address, the token and the like are added; the root folder that
    this command serves; and the environment.
    """
    return lambda command, root, environment: _running(tmp_path_factory.mktemp("home"), command, root, environment)


@pytest.fixture(scope="session")
def lab(chromium: Browser, running_lab: RunningLab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab for all tests; needs the browser first."""
    root = tmp_path_factory.mktemp("root")
    environment = dict(os.environ)
    for name in ("CEDAR_LEARNER", "CEDAR_PROGRESS_DIR"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.root_dir={root}"]
    with running_lab(command, root, environment) as made:
        yield made


def _wait_until_up(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            urllib.request.urlopen(f"{lab.url}/api/status?token={lab.token}", timeout=2).close()
            return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            if server.poll() is not None or time.monotonic() > end:
                pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)  # nothing to wait on but the port


class Notebook:
    """A notebook that is open in JupyterLab, with its kernel ready."""

    # On opening, JupyterLab may start a kernel and replace it at once; what is run in between is dropped, and what
    # is waited for in between may never come, hence the limit.
    _READY = """async path => {
      const late = new Promise(resolve => setTimeout(resolve, 5000, null));
      const ready = async () => {
        const app = window.jupyterapp; await app.restored; const w = app.shell.currentWidget;
        if (!w || !w.context || w.context.path !== path) return null;
        await w.context.ready; await w.sessionContext.ready; await w.revealed;
        const kernel = w.sessionContext.session && w.sessionContext.session.kernel;
        if (!kernel) return null; await kernel.info; return kernel.id; };
      return Promise.race([ready(), late]); }"""
    # By the prompts, not by the kernel's status, which can say idle while a cell waits.
    _DONE = """() => { const cells = [...document.querySelectorAll(
        '.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell')]; return cells.length && cells.every(cell => {
        const prompt = cell.querySelector('.jp-InputPrompt').textContent;
        const empty = !cell.querySelector('.cm-content').textContent.trim();
        return !prompt.includes('*') && (prompt !== '[ ]:' || empty) }) }"""

    def __init__(self, page: Page, path: str) -> None:
        self.page = page
        self.path = path
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        page.wait_for_function("() => window.jupyterapp && window.jupyterapp.shell.currentWidget", polling=POLL_MS)
        self.wait_for_kernel()

    def wait_for_kernel(self) -> None:
        """Until the same kernel is seen twice in a row."""
        seen, end = None, time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            kernel = self.page.evaluate(self._READY, self.path)
            if kernel is not None and kernel == seen:
                return
            seen = kernel
            self.page.wait_for_timeout(300)
        raise TimeoutError(self.path)

    def command(self, name: str, arguments: dict[str, Any] | None = None) -> None:
        """Start a command of JupyterLab; returns before it is done."""
        self.page.evaluate("([n, a]) => { window.jupyterapp.commands.execute(n, a) }", [name, arguments or {}])

    def run_all(self, timeout_ms: int = 60_000) -> None:
        """Run All, to its end."""
        self.command("notebook:run-all-cells")
        self.page.wait_for_function(self._DONE, timeout=timeout_ms, polling=POLL_MS)

    def run(self, index: int, timeout_ms: int = 60_000) -> None:
        """Run one code cell again, to its end."""
        before = self.prompt(index)
        self.page.evaluate("i => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i }", index)
        self.command("notebook:run-cell")
        self.page.wait_for_function(
            """([i, before]) => { const prompt = document.querySelectorAll(
                '.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell')[i].querySelector('.jp-InputPrompt').textContent;
                return prompt !== before && !prompt.includes('*') }""",
            arg=[index, before],
            timeout=timeout_ms,
            polling=POLL_MS,
        )

    def restart(self) -> None:
        """A new kernel for the same notebook; the outputs stay on the page."""
        self.page.evaluate(
            "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.restartKernel() }"
        )
        self.wait_for_kernel()

    def prompt(self, index: int) -> str:
        return self.cell(index).locator(".jp-InputPrompt").inner_text()

    def cell(self, index: int) -> Locator:
        return self.panel.locator(".jp-Notebook .jp-Cell").nth(index)

    def output(self, index: int) -> Locator:
        return self.cell(index).locator(".jp-Cell-outputArea")

    def theme(self, name: str) -> None:
        """`JupyterLab Light` or `JupyterLab Dark`."""
        self.page.evaluate(
            "async n => { await window.jupyterapp.commands.execute('apputils:change-theme', { theme: n }) }", name
        )
        self.page.wait_for_function("n => document.body.dataset.jpThemeName === n", arg=name)


@contextmanager
def _opened(chromium: Browser, lab: Lab, path: str) -> Iterator[Notebook]:
    page = chromium.new_page(viewport=VIEWPORT)
    try:
        page.goto(f"{lab.url}/lab/tree/{path}?token={lab.token}&reset")
        yield Notebook(page, path)
        page.evaluate("async () => { await window.jupyterapp.serviceManager.sessions.shutdownAll() }")
    finally:
        page.close()


VisitNotebook = Callable[[Lab, str], AbstractContextManager[Notebook]]


@pytest.fixture
def visit(chromium: Browser) -> VisitNotebook:
    """Open a notebook in some JupyterLab in a page of its own, by its path, for as long as a `with` lasts."""
    return lambda lab, path: _opened(chromium, lab, path)


class Window:
    """A page with JupyterLab that stays: one notebook after another comes into it.

    To load JupyterLab keeps a processor busy for eight seconds, to open a notebook in it for two.
    """

    # The cells that nobody saved are nobody's; what a dialog of JupyterLab waits for will not come any more.
    _CLEAR = """async () => { const app = window.jupyterapp;
        for (const widget of [...app.shell.widgets('main')]) {
            if (widget.context) widget.context.model.dirty = false;
            widget.dispose(); }
        await app.serviceManager.sessions.shutdownAll();
        return document.querySelector('.jp-Dialog') === null }"""

    def __init__(self, chromium: Browser, lab: Lab) -> None:
        self._chromium = chromium
        self._lab = lab
        self._page: Page | None = None

    @property
    def page(self) -> Page:
        """JupyterLab, restored and without a notebook if none has been opened."""
        if self._page is None:
            self._page = self._chromium.new_page(viewport=VIEWPORT)
            self._page.goto(f"{self._lab.url}/lab?token={self._lab.token}&reset")
            self._page.wait_for_function("() => window.jupyterapp && window.jupyterapp.shell", polling=POLL_MS)
            self._page.evaluate("async () => { await window.jupyterapp.restored }")
        return self._page

    def open(self, path: str) -> Notebook:
        """The notebook with that path, in front."""
        command = "async path => { await window.jupyterapp.commands.execute('docmanager:open', { path }) }"
        self.page.evaluate(command, path)
        return Notebook(self.page, path)

    def clear(self) -> None:
        """No notebook, no kernel, the usual size; a page in which that does not succeed is given up."""
        if self._page is None:
            return
        try:
            clear = self._page.evaluate(self._CLEAR)
            self._page.set_viewport_size(VIEWPORT)
        except Error:
            clear = False
        if not clear:
            self._page.close()
            self._page = None


@pytest.fixture(scope="session")
def window(chromium: Browser, lab: Lab) -> Window:
    """The page that the notebooks of all tests are opened in."""
    return Window(chromium, lab)


OpenNotebook = Callable[..., Notebook]


@pytest.fixture
def notebook(lab: Lab, window: Window, visit: VisitNotebook, tmp_path: Path) -> Iterator[OpenNotebook]:
    """Open a notebook by its code cells, or by its file; it is placed into a folder of its own.

    `alone`: in a page of its own, for a test that changes the page for good or watches all that it loads.
    """
    folder = lab.root / tmp_path.name
    folder.mkdir()
    with ExitStack() as pages:

        def open_(*cells: str, file: Path | None = None, alone: bool = False) -> Notebook:
            name = "lesson.ipynb" if file is None else file.name
            if file is None:
                made = nbformat.v4.new_notebook(
                    cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
                    metadata={"kernelspec": KERNEL},  # without it, JupyterLab asks which one to use
                )
                nbformat.write(made, folder / name)
            elif file.parent != folder:
                shutil.copyfile(file, folder / name)
            if alone:
                return pages.enter_context(visit(lab, f"{folder.name}/{name}"))
            pages.callback(window.clear)
            return window.open(f"{folder.name}/{name}")

        open_.folder = folder  # type: ignore[attr-defined]  # where the learner's answers will be
        yield open_
