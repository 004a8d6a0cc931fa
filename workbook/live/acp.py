"""The second host behind a real client: the Agent Client Protocol, over the package of that name.

The rules of asking a client are in `labsim.gate.asking`; here is only the round trip: a request out, an outcome
back.

Two worlds meet. The protocol lives on an asyncio loop and in real time; the host is played on a stage, in
simulated time. A round trip is started on the loop and settles a future of the stage, under the stage's lock,
whenever it comes back; so real time passes between two moments of the stage and never inside one. Bounds are the
stage's: what is thirty minutes for the approver ends when somebody advances the clock by as much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future as ConcurrentFuture
from contextlib import suppress
from typing import Any, Protocol

import acp
from acp.exceptions import RequestError
from acp.schema import (
    DeniedOutcome,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    RequestPermissionResponse,
    SessionMode,
    SessionModeState,
    SetSessionModeResponse,
    TextContentBlock,
    ToolCallUpdate,
)
from pydantic import ValidationError

from labsim.gate.approvers import Approver
from labsim.gate.asking import (
    OPTION_NAMES,
    Cancelled,
    ClientApprover,
    ClientOutcome,
    ClientUnreachable,
    ClientUnreadable,
    Option,
    Selected,
)
from labsim.gate.base.errors import ModeRefused
from labsim.gate.base.request import ApprovalRequest
from labsim.gate.policy import MODE_NAMES, ModePicker
from labsim.gate.session.run import RunReport
from labsim.stage.stage import AbortSignal, Future, Stage, Task

#: What each option is to a client, which may draw it so (gate/A19).
_KINDS: dict[Option, Any] = {
    Option.ALLOW_ONCE: "allow_once",
    Option.ALLOW_ALWAYS: "allow_always",
    Option.REJECT_ONCE: "reject_once",
    Option.REJECT_ALWAYS: "reject_always",
}


class AcpClient:
    """A `PermissionClient` at the other end of an ACP connection, for one session.

    `loop` is the loop that the connection lives on; whoever plays the stage may be on it or in another thread.
    """

    def __init__(
        self, stage: Stage, connection: acp.Client, session_id: str, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._stage = stage
        self._connection = connection
        self._session_id = session_id
        self._loop = loop

    async def request_permission(self, request: ApprovalRequest, withdrawn: AbortSignal) -> ClientOutcome:
        """Ask, and wait on the stage for what comes back. Raises: ClientUnreadable, ClientUnreachable
        (gate/A21).
        """
        outcome: Future[ClientOutcome] = Future(self._stage)

        def settle(done: ConcurrentFuture[ClientOutcome]) -> None:
            if done.cancelled():
                return  # withdrawn: nobody waits for it
            error = done.exception()
            with self._stage.lock:
                if error is None:
                    outcome.set_result(done.result())
                else:
                    outcome.set_error(error)
                self._stage.drain()

        trip = asyncio.run_coroutine_threadsafe(self._round_trip(request), self._loop)
        trip.add_done_callback(settle)

        def forget_it() -> None:
            trip.cancel()

        forget = withdrawn.listen(forget_it)
        try:
            return await outcome
        finally:
            forget()

    async def _round_trip(self, request: ApprovalRequest) -> ClientOutcome:
        try:
            response: Any = await self._connection.request_permission(
                session_id=self._session_id,
                tool_call=ToolCallUpdate(
                    tool_call_id=request.tool_call_id, title=request.description, raw_input=request.input
                ),
                options=[
                    PermissionOption(option_id=option.value, name=name, kind=_KINDS[option])
                    for option, name in OPTION_NAMES.items()
                ],
            )
        except ValidationError as error:
            raise ClientUnreadable(str(error)) from error
        except (RequestError, OSError) as error:
            raise ClientUnreachable(str(error)) from error
        if not isinstance(response, RequestPermissionResponse):
            raise ClientUnreadable(f"{response!r} is no permission response")
        if isinstance(response.outcome, DeniedOutcome):
            return Cancelled()
        return Selected(response.outcome.option_id)


class Conversation(Protocol):
    """What stands behind one session of the host: the postures that a client may choose, and its turns."""

    @property
    def modes(self) -> ModePicker | None:
        """None: there is nothing to choose."""
        ...

    async def turn(self, prompt: str, approver: Approver, cancelled: AbortSignal) -> RunReport:
        """Play one turn on the host's stage; `approver` asks the client, `cancelled` gives the turn up."""
        ...


class AcpHost:
    """An ACP agent that plays its turns on a stage: modes, prompts, cancelling, and a client that is asked.

    `opens` says what stands behind a session, by the id that it gets. What the model reads of each call goes to the
    client as its message. A session opened read-only offers only that (gate/M7).
    """

    def __init__(self, stage: Stage, opens: Callable[[str], Conversation]) -> None:
        self._stage = stage
        self._opens = opens
        self._connection: acp.Client | None = None
        self._sessions: dict[str, _Open] = {}

    def on_connect(self, conn: acp.Client) -> None:
        self._connection = conn

    async def initialize(self, protocol_version: int, **rest: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **rest: Any) -> NewSessionResponse:
        """Open a session, and offer its modes if it has any (gate/M8)."""
        session_id = f"session-{len(self._sessions) + 1}"
        opened = self._sessions[session_id] = _Open(self._opens(session_id))
        modes = None
        if (picker := opened.conversation.modes) is not None:
            modes = SessionModeState(
                current_mode_id=picker.current.value,
                available_modes=[SessionMode(id=mode.value, name=MODE_NAMES[mode]) for mode in picker.offered],
            )
        return NewSessionResponse(session_id=session_id, modes=modes)

    async def set_session_mode(self, session_id: str, mode_id: str, **rest: Any) -> SetSessionModeResponse:
        """Take another posture, from the next call on. Raises: RequestError, where it is not offered (gate/M7)."""
        picker = self._session(session_id).conversation.modes
        if picker is None:
            raise RequestError.invalid_params({"details": "this session has no modes"})
        try:
            picker.choose(mode_id)
        except ModeRefused as error:
            raise RequestError.invalid_params({"details": str(error)}) from error
        return SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: Sequence[Any], **rest: Any) -> PromptResponse:
        """Play one turn. The connection reads on meanwhile, so the client's answers get through (gate/A24)."""
        opened, connection, stage = self._session(session_id), self._connected(), self._stage
        loop = asyncio.get_running_loop()
        text = "".join(block.text for block in prompt if isinstance(block, TextContentBlock))
        with stage.lock:
            opened.cancelled = AbortSignal(stage)
            client = ClientApprover(
                stage, AcpClient(stage, connection, session_id, loop), cancelled=opened.cancelled
            )
            task = stage.spawn(opened.conversation.turn(text, client, opened.cancelled))
            stage.drain()
        report = await _finished(task, stage, loop)
        with suppress(ConnectionError):  # a client that is gone reads nothing any more
            for result in report.results:
                await connection.session_update(
                    session_id=session_id, update=acp.update_agent_message(acp.text_block(result.content))
                )
        return PromptResponse(stop_reason="cancelled" if report.cancelled else "end_turn")

    async def cancel(self, session_id: str, **rest: Any) -> None:
        """Give the turn up: the question is withdrawn, and the run ends (gate/A23)."""
        cancelled = self._session(session_id).cancelled
        if cancelled is not None:
            cancelled.abort()

    def _session(self, session_id: str) -> _Open:
        opened = self._sessions.get(session_id)
        if opened is None:
            raise RequestError.invalid_params({"details": f"no session has the id {session_id!r}"})
        return opened

    def _connected(self) -> acp.Client:
        if self._connection is None:
            raise RequestError.internal_error({"details": "the host is not connected to a client"})
        return self._connection


class _Open:
    """One open session of the host, and what gives its turn up."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.cancelled: AbortSignal | None = None


async def _finished(task: Task[RunReport], stage: Stage, loop: asyncio.AbstractEventLoop) -> RunReport:
    """Wait on the loop for a task of the stage, whichever thread moves it."""
    over = asyncio.Event()

    def tell() -> None:
        loop.call_soon_threadsafe(over.set)

    with stage.lock:
        task.when_done(tell)
        stage.drain()
    await over.wait()
    return task.result()
