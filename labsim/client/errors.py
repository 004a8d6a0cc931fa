"""What can go wrong at the client's end of a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from labsim.errors import LabsimError

SAID: Final = 2000  # characters of what a process complained about, in an error


class ClientError(LabsimError):
    """Root of what can go wrong at the client's end."""


class NotAnswered(ClientError):
    """What was waited for did not come in time. Attributes: `what`, `seconds`."""

    def __init__(self, what: str, seconds: float) -> None:
        self.what = what
        self.seconds = seconds
        super().__init__(f"No {what} within {seconds:g} s. Wait longer, or see `frames` for what came instead.")


class ServerGone(ClientError):
    """The process has ended. Attributes: `exit_code` (negative: the signal that ended it), `stderr`."""

    def __init__(self, exit_code: int | None, stderr: str) -> None:
        self.exit_code = exit_code
        self.stderr = stderr
        said = f" It said: {stderr.strip()[-SAID:]}" if stderr.strip() else ""
        super().__init__(f"The server has ended (exit code {exit_code}).{said}")


class CommandFailed(ClientError):
    """The server answered a command with an error. Attributes: `command` (its type), `error`, `response`."""

    def __init__(self, response: Mapping[str, Any]) -> None:
        self.response = response
        self.command = response.get("command")
        self.error = response.get("error")
        super().__init__(f"{self.command} failed: {self.error}")


class StreamBroken(ClientError):
    """The server wrote something that is no frame of protocol 1 (rpc/R-6, rpc/R-59). Attribute: `line`."""

    def __init__(self, line: str) -> None:
        self.line = line
        super().__init__(f"This is no frame of protocol 1: {line[:200]!r}. Close the client, and start anew.")


class CallbackFailed(ClientError):
    """The callback for dialogs raised; its error is the cause. The dialog is still open."""

    def __init__(self, dialog_id: str) -> None:
        self.dialog_id = dialog_id
        super().__init__(f"The callback for the dialog {dialog_id} failed. Answer it by hand, or close the client.")
