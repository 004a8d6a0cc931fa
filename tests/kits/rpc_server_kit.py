"""What the tests of the server's end share: a server, everything that it wrote, and the frames to compare with."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from labsim.approval import Settings
from labsim.rpc.decode import sort_frame
from labsim.rpc.frames import to_wire
from labsim.server.actions import Start
from labsim.server.connection import Server

NOTE = b"Seed swap on Saturday.\n"
READY = {
    "type": "ready",
    "protocolVersion": 1,
    "supportedProtocolVersions": [1],
    "maxFrameBytes": 1048576,
    "maxReassembledFrameBytes": 67108864,
}


class Wire:
    """A server, and everything that it wrote. `take` gives what came since it was last asked."""

    def __init__(self, mode: str = "write", **start: Any) -> None:
        self.frames: list[dict[str, Any]] = []
        self.faults: list[Exception] = []
        self._taken = 0
        begins = Start(fixture=NOTE, settings=Settings(mode, {}), **start)
        self.server = Server(begins, lambda frame: self.frames.append(to_wire(frame)), self.faults.append)
        self.server.open()
        assert self.take() == [READY]

    def take(self) -> list[dict[str, Any]]:
        new = self.frames[self._taken :]
        self._taken = len(self.frames)
        return new

    def forget(self) -> None:
        self.frames.clear()
        self._taken = 0

    def give(self, frame: object) -> list[dict[str, Any]]:
        """Send one JSON value. Returns: what the server wrote then."""
        self.server.receive(sort_frame(frame))
        return self.take()

    def command(self, kind: str, command_id: object = "c", /, **given: Any) -> list[dict[str, Any]]:
        return self.give({"type": kind, "id": command_id, **given})

    def reply(self, dialog_id: str, **payload: Any) -> list[dict[str, Any]]:
        return self.give({"type": "extension_ui_response", "id": dialog_id, **payload})

    def state(self) -> dict[str, Any]:
        (answer,) = self.command("get_state", "state")
        data: dict[str, Any] = answer["data"]
        return data

    def of(self, *kinds: type[Struct]) -> list[Struct]:
        return [event for event in self.server.ledger if isinstance(event, kinds)]


def done(command: str, command_id: object = "c", **data: Any) -> dict[str, Any]:
    """The response to a command that went well."""
    there = {"data": data} if data else {}
    return {"type": "response", "id": command_id, "command": command, "success": True, **there}


def failed(command: str, error: str, command_id: object = "c") -> dict[str, Any]:
    return {"type": "response", "id": command_id, "command": command, "success": False, "error": error}


def request(number: int, method: str, **given: Any) -> dict[str, Any]:
    return {"type": "extension_ui_request", "id": f"req-{number}", "method": method, **given}
