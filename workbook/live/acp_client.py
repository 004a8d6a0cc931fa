"""A client of the Agent Client Protocol that follows a script, as a program: `python -m workbook.live.acp_client
SCRIPT`, with the agent at its standard streams.

SCRIPT is a `Script` in JSON. What the client saw and did goes to standard error, a record in JSON on each line, as
it happens, so whoever started it knows how far it came even if it dies.
"""

from __future__ import annotations

import asyncio
import os
import sys
from enum import StrEnum
from typing import Any

import acp
import msgspec
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
)
from msgspec import Struct


class NoOption(StrEnum):
    """Answers that are no option: what else a client may do with a request."""

    CANCELLED = "cancelled"  # the client gives the request up
    ERROR = "error"  # it answers with an error of the protocol
    GARBAGE = "garbage"  # it answers with a result that is none
    SILENT = "silent"  # it never answers
    CANCEL_TURN = "cancel-turn"  # it gives the whole turn up, and does not answer
    LEAVE = "leave"  # the process is gone


class Script(Struct, forbid_unknown_fields=True):
    """What the client does. `moves` are pairs, in order: `["prompt", TEXT]` or `["mode", ID]`.

    `answers` are for the permission requests, in order: an option's id, or a word of `NoOption`; a request beyond
    them is given up.
    """

    answers: list[str]
    moves: list[tuple[str, str]]


class Opened(Struct, frozen=True, tag="opened"):
    """A session is open; `modes` are the postures that it offers, by id and name."""

    modes: list[tuple[str, str]]
    current: str | None


class Sent(Struct, frozen=True, tag="sent"):
    """The client made a move."""

    move: str
    text: str


class Asked(Struct, frozen=True, tag="asked"):
    """A permission request came; `options` by id with name and kind, `answer` is the script's."""

    session: str
    call: str
    title: str
    input: Any
    options: dict[str, tuple[str, str]]
    answer: str


class Read(Struct, frozen=True, tag="read"):
    """The agent sent a message."""

    text: str


class Ended(Struct, frozen=True, tag="ended"):
    """A move is over: a turn with its stop reason, a change of mode; or it was refused in these words."""

    move: str
    how: str
    refused: bool = False


Seen = Opened | Sent | Asked | Read | Ended


def tell(seen: Seen) -> None:
    sys.stderr.write(msgspec.json.encode(seen).decode() + "\n")
    sys.stderr.flush()


class ScriptedClient:
    """The client's half of the protocol."""

    def __init__(self, answers: list[str]) -> None:
        self._answers = iter(answers)
        self._agent: Any = None

    def on_connect(self, conn: Any) -> None:
        self._agent = conn

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **rest: Any
    ) -> Any:
        answer = next(self._answers, NoOption.CANCELLED)
        tell(
            Asked(
                session=session_id,
                call=tool_call.tool_call_id,
                title=tool_call.title or "",
                input=tool_call.raw_input,
                options={option.option_id: (option.name, option.kind) for option in options},
                answer=answer,
            )
        )
        match answer:
            case NoOption.LEAVE:
                os._exit(0)
            case NoOption.CANCEL_TURN:
                await self._agent.cancel(session_id=session_id)
                await asyncio.Event().wait()
            case NoOption.SILENT:
                await asyncio.Event().wait()
            case NoOption.ERROR:
                raise acp.RequestError.internal_error({"details": "the window is gone"})
            case NoOption.GARBAGE:
                return {"outcome": "as you like it"}
            case NoOption.CANCELLED:
                return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=answer))

    async def session_update(self, session_id: str, update: Any, **rest: Any) -> None:
        content = getattr(update, "content", None)
        if isinstance(content, TextContentBlock):
            tell(Read(text=content.text))


async def follow(script: Script) -> None:
    """Connect, open a session, and make the moves."""
    client: Any = ScriptedClient(script.answers)
    reader, writer = await acp.stdio_streams()
    agent: Any = acp.connect_to_agent(client, writer, reader)
    await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
    opened = await agent.new_session(cwd="/desk", mcp_servers=[])
    modes = opened.modes
    tell(
        Opened(
            modes=[] if modes is None else [(mode.id, mode.name) for mode in modes.available_modes],
            current=None if modes is None else modes.current_mode_id,
        )
    )
    for move, text in script.moves:
        tell(Sent(move, text))
        try:
            if move == "prompt":
                done = await agent.prompt(session_id=opened.session_id, prompt=[acp.text_block(text)])
                tell(Ended(move, done.stop_reason))
            else:
                await agent.set_session_mode(session_id=opened.session_id, mode_id=text)
                tell(Ended(move, text))
        except acp.RequestError as error:
            data = error.data
            tell(Ended(move, data["details"] if isinstance(data, dict) else str(error), refused=True))
    await agent.close()


if __name__ == "__main__":
    asyncio.run(follow(msgspec.json.decode(sys.argv[1], type=Script)))
