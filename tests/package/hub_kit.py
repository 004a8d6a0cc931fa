"""A real JupyterHub with real users, for the tests of deployment: its process, and a user's way in over HTTP.

The hub runs with the configuration that is shipped, in `.jupyterhub/`, plus what only a test needs: ports, a
password, homes below a temporary folder. Users log in with the form that a person fills in, and work in
kernels of their own over the Jupyter server's API.

What that proves, and what not: everything runs under the one system account that the tests have. So the hub keeps
users apart at its door (logins, tokens, addresses) and by folder, and that is what is tested. That a kernel
cannot read another home past the hub is the work of the spawner and the system (accounts, containers), not of the
workbook, and JupyterHub itself calls the spawner used here no protection at all.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import requests
import websocket
from network_kit import guarded
from places import TOP

START_SECONDS = 90

CONFIG = """
import os
load_subconfig({shipped!r})
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub_port}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
c.ConfigurableHTTPProxy.command = [os.path.join({programs!r}, "configurable-http-proxy")]
c.ConfigurableHTTPProxy.pid_file = {folder!r} + "/proxy.pid"
c.JupyterHub.cookie_secret_file = {folder!r} + "/cookie-secret"
c.JupyterHub.db_url = "sqlite:///" + {folder!r} + "/hub.sqlite"
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = {password!r}
c.Authenticator.allowed_users = {names!r}
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.Spawner.start_timeout = {seconds}
c.Spawner.http_timeout = {seconds}
c.Spawner.args = {arguments!r}
c.Spawner.environment = {environment!r}
"""


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Hub:
    """A running JupyterHub; `homes` has a folder for each user."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.password = secrets.token_hex(8)
        self.homes = folder / "homes"
        for name in names:
            (self.homes / name).mkdir(parents=True, mode=0o700)
        port, hub_port, api_port = free_ports(3)
        self.url = f"http://127.0.0.1:{port}"
        self.programs = Path(sys.executable).parent
        state = folder / "hub"
        state.mkdir(mode=0o700)
        self.log = state / "hub.log"
        self.network_log = state / "network.log"
        self.config = state / "config.py"
        self.config.write_text(
            CONFIG.format(
                shipped=str(TOP / ".jupyterhub" / "jupyterhub_config.py"),
                folder=str(state),
                homes=str(self.homes),
                programs=str(self.programs),
                password=self.password,
                names=set(names),
                port=port,
                hub_port=hub_port,
                api_port=api_port,
                seconds=START_SECONDS,
                arguments=["--allow-root"] if os.geteuid() == 0 else [],
                environment=guarded(self.network_log),
            )
        )

    def environment(self) -> dict[str, str]:
        """This process's, without what says whose answers count, and with the environment's programs first."""
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CEDAR_", "JPY_", "JUPYTER", "PYTEST"))
        }
        return kept | guarded(self.network_log) | {"PATH": f"{self.programs}{os.pathsep}{kept.get('PATH', '')}"}

    def wait_until_up(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + START_SECONDS
        while True:
            with suppress(requests.ConnectionError):
                if requests.get(f"{self.url}/hub/login", timeout=5).ok:
                    return
            if process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"JupyterHub did not start:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.1)  # nothing to wait on but the port


@contextmanager
def running_hub(folder: Path, names: list[str]) -> Iterator[Hub]:
    """A JupyterHub that lets these users in; at the end it stops their servers, its proxy and itself."""
    hub = Hub(folder, names)
    command = [sys.executable, "-m", "jupyterhub", "-f", str(hub.config)]
    with hub.log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=hub.config.parent,
            env=hub.environment(),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        hub.wait_until_up(process)
        yield hub
    finally:
        process.send_signal(signal.SIGTERM)  # it stops the servers that it spawned, and its proxy
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


class Visitor:
    """Somebody with a browser: a session with its cookies, logged in by the hub's own form."""

    def __init__(self, hub: Hub, name: str) -> None:
        self.hub, self.name = hub, name
        self.session = requests.Session()
        self.token = ""

    def log_in(self, *, password: str | None = None) -> requests.Response:
        """Fill in the form; the hub sends on to the user's own server, or to the page where it is being started."""
        self.session.get(f"{self.hub.url}/hub/login", timeout=START_SECONDS)
        return self.session.post(
            f"{self.hub.url}/hub/login",
            data={
                "username": self.name,
                "password": self.hub.password if password is None else password,
                "_xsrf": self.session.cookies["_xsrf"],
            },
            timeout=START_SECONDS,
        )

    def open_lab(self) -> requests.Response:
        """The page on which the user's server lands, once it is up."""
        end = time.monotonic() + START_SECONDS
        while True:
            page = self.session.get(f"{self.hub.url}/hub/spawn/{self.name}", timeout=START_SECONDS)
            if f"/user/{self.name}/lab" in page.url and page.ok:
                return page
            if page.status_code >= 500 or time.monotonic() > end:
                log = self.hub.log.read_text()[-3000:]
                raise AssertionError(f"{self.name} got no JupyterLab: {page.status_code} {page.url}\n{log}")
            time.sleep(0.2)  # as the waiting page does

    def make_token(self) -> str:
        """A token of this user's own, asked for with the cookies of the login."""
        answer = self._ask_hub("POST", "tokens", json={"note": "a test"})
        return str(answer.json()["token"])

    def stop_server(self) -> None:
        """As the Stop button on the hub's page does; returns when the server is gone."""
        self._ask_hub("DELETE", "server")
        end = time.monotonic() + START_SECONDS
        while self._ask_hub("GET", "").json()["server"] is not None:
            assert time.monotonic() < end, "the server does not stop"
            time.sleep(0.1)

    def _ask_hub(self, method: str, path: str, **more: Any) -> requests.Response:
        """One call of the hub's API about this user, with the cookies of the login."""
        answer = self.session.request(
            method,
            f"{self.hub.url}/hub/api/users/{self.name}/{path}".rstrip("/"),
            headers={"X-XSRFToken": self._xsrf(), "Referer": f"{self.hub.url}/hub/home"},
            timeout=START_SECONDS,
            **more,
        )
        assert answer.ok, answer.text
        return answer

    def _xsrf(self) -> str:
        return next(
            cookie.value or ""
            for cookie in self.session.cookies
            if cookie.name == "_xsrf" and cookie.path == "/hub/"
        )


class Desk:
    """One user's Jupyter server, reached with a token."""

    def __init__(self, hub: Hub, owner: str, token: str) -> None:
        self.base = f"{hub.url}/user/{owner}"
        self.headers = {"Authorization": f"token {token}"}

    def get(self, path: str) -> requests.Response:
        return requests.get(
            f"{self.base}/api/{path}", headers=self.headers, timeout=START_SECONDS, allow_redirects=False
        )

    def post(self, path: str, body: dict[str, Any]) -> requests.Response:
        return requests.post(
            f"{self.base}/api/{path}", headers=self.headers, json=body, timeout=START_SECONDS, allow_redirects=False
        )

    def start_kernel(self, notebook: str) -> Kernel:
        """A kernel for a notebook, in the folder of that notebook, as JupyterLab starts one."""
        body = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        started = self.post("sessions", body)
        assert started.status_code == 201, started.text
        return self.open_kernel(started.json()["kernel"]["id"])

    def open_kernel(self, kernel_id: str) -> Kernel:
        """A kernel that runs there. Raises: WebSocketBadStatusException, if the server does not let one in."""
        address = f"{self.base}/api/kernels/{kernel_id}/channels".replace("http://", "ws://")
        return Kernel(kernel_id, websocket.create_connection(address, header=self.headers, timeout=START_SECONDS))


class Kernel:
    """A kernel of a server: cells go in over its websocket, what they show comes back."""

    def __init__(self, kernel_id: str, channels: websocket.WebSocket) -> None:
        self.id = kernel_id
        self._socket = channels

    def run(self, code: str) -> str:
        """Everything that a cell shows as text. Raises: AssertionError with the traceback, if it fails."""
        message_id = secrets.token_hex(8)
        header = {"msg_id": message_id, "msg_type": "execute_request", "username": "", "session": "test"}
        header |= {"version": "5.3", "date": "2026-01-01T00:00:00Z"}
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
        }
        self._socket.send(
            json.dumps(
                {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}
            )
        )
        shown: list[str] = []
        while True:
            message = json.loads(self._socket.recv())
            if message["parent_header"].get("msg_id") != message_id:
                continue
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    shown.append(content["text"])
                case "execute_result" | "display_data":
                    shown.append(content["data"].get("text/plain", ""))
                case "error":
                    raise AssertionError("\n".join(content["traceback"]))
                case "status" if content["execution_state"] == "idle":
                    return "".join(shown)

    def close(self) -> None:
        self._socket.close()
