"""A real ACP client in a process of its own, for the tests of the ACP approver.

Run as `python acp_client.py SCRIPT`, with the agent on its standard streams. SCRIPT is JSON: `moves`, what the
client does in order (`{"prompt": TEXT}`, `{"mode": ID}`, `{"cancel_when_asked": true}`), and `answers`, how it
answers each permission request: an option id, `cancelled`, `error`, `raw` (a result that is none), `leave` (the
process goes) or `silent`. What it saw goes to standard error, one JSON value a line: each request it is asked,
and at the end everything else.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import acp
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
)


def tell(value: object) -> None:
    print(json.dumps(value), file=sys.stderr, flush=True)


class ScriptedClient:
    def __init__(self, answers: list[str], *, cancels: bool) -> None:
        self.answers = iter(answers)
        self.cancels = cancels
        self.agent: Any = None
        self.session_id = ""
        self.heard: list[str] = []

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **rest: Any
    ) -> Any:
        tell(
            {
                "session": session_id,
                "call": tool_call.tool_call_id,
                "title": tool_call.title,
                "input": tool_call.raw_input,
                "options": {option.option_id: [option.name, option.kind] for option in options},
            }
        )
        answer = next(self.answers)
        if self.cancels:
            await self.agent.cancel(session_id=session_id)
        if answer == "leave":
            os._exit(0)
        if answer == "silent":
            await asyncio.Event().wait()
        if answer == "error":
            raise acp.RequestError.internal_error({"details": "the window is gone"})
        if answer == "raw":
            return {"outcome": "as you like it"}
        if answer == "cancelled":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=answer))

    async def session_update(self, session_id: str, update: Any, **rest: Any) -> None:
        content = getattr(update, "content", None)
        if isinstance(content, TextContentBlock):
            self.heard.append(content.text)


async def main() -> None:
    script = json.loads(sys.argv[1])
    cancels = any("cancel_when_asked" in move for move in script["moves"])
    client = ScriptedClient(script["answers"], cancels=cancels)
    reader, writer = await acp.stdio_streams()
    agent = acp.connect_to_agent(client, writer, reader)  # type: ignore[arg-type]
    await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
    opened = await agent.new_session(cwd="/desk", mcp_servers=[])
    modes = opened.modes
    told: dict[str, Any] = {
        "modes": [] if modes is None else [[mode.id, mode.name] for mode in modes.available_modes],
        "current": None if modes is None else modes.current_mode_id,
        "ended": [],
    }
    for move in script["moves"]:
        try:
            if "prompt" in move:
                done = await agent.prompt(session_id=opened.session_id, prompt=[acp.text_block(move["prompt"])])
                told["ended"].append(done.stop_reason)
            elif "mode" in move:
                await agent.set_session_mode(session_id=opened.session_id, mode_id=move["mode"])
                told["ended"].append(move["mode"])
        except acp.RequestError as error:
            told["ended"].append(error.data)
    tell({**told, "heard": client.heard})
    await agent.close()


if __name__ == "__main__":
    asyncio.run(main())
