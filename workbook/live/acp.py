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
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future as ConcurrentFuture
from typing import Any

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
from labsim.gate.policy import MODE_NAMES, ApprovalPolicy, LivePolicy, ModePicker, PolicyApprover, PolicyGate
from labsim.gate.session.run import Run, RunReport
from labsim.gate.session.runtime import Runtime
from labsim.gate.session.session import Session
from labsim.gate.tools import ToolUse
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


class AcpHost:
    """An ACP agent that plays its turns on a runtime's stage: modes, prompts, cancelling, and a client that is
    asked.

    `rounds` says what the model does with a prompt. What the model reads of each call goes to the client as its
    message. A session opened in `policy` never offers only that (gate/M7).
    """

    def __init__(
        self,
        runtime: Runtime,
        rounds: Callable[[str], Iterable[Sequence[ToolUse]]],
        *,
        policy: ApprovalPolicy = ApprovalPolicy.PROMPT,
    ) -> None:
        self._runtime = runtime
        self._rounds = rounds
        self._opened_in = policy
        self._connection: acp.Client | None = None
        self._sessions: dict[str, _Open] = {}

    def on_connect(self, conn: acp.Client) -> None:
        self._connection = conn

    async def initialize(self, protocol_version: int, **rest: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **rest: Any) -> NewSessionResponse:
        """Open a session behind a gate that reads its live policy on every call (gate/M1)."""
        session_id = f"session-{len(self._sessions) + 1}"
        opened = _Open(self._runtime.attach(session_id), LivePolicy(self._opened_in))
        self._sessions[session_id] = opened
        modes = SessionModeState(
            current_mode_id=opened.picker.current.value,
            available_modes=[SessionMode(id=mode.value, name=MODE_NAMES[mode]) for mode in opened.picker.offered],
        )
        return NewSessionResponse(session_id=session_id, modes=modes)

    async def set_session_mode(self, session_id: str, mode_id: str, **rest: Any) -> SetSessionModeResponse:
        """Take another posture, from the next call on. Raises: RequestError, where it is not offered (gate/M7)."""
        try:
            self._session(session_id).picker.choose(mode_id)
        except ModeRefused as error:
            raise RequestError.invalid_params({"details": str(error)}) from error
        return SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: Sequence[Any], **rest: Any) -> PromptResponse:
        """Play one turn. The connection reads on meanwhile, so the client's answers get through (gate/A24)."""
        opened, connection, stage = self._session(session_id), self._connected(), self._runtime.stage
        loop = asyncio.get_running_loop()
        text = "".join(block.text for block in prompt if isinstance(block, TextContentBlock))
        with stage.lock:
            opened.cancelled = AbortSignal(stage)
            client = ClientApprover(
                stage, AcpClient(stage, connection, session_id, loop), cancelled=opened.cancelled
            )
            run = Run(opened.session, PolicyApprover(opened.policy, client), signal=opened.cancelled)
            task = stage.spawn(run.play(self._rounds(text)))
            stage.drain()
        report = await _finished(task, stage, loop)
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
    """One open session of the host: its posture, and what gives its turn up."""

    def __init__(self, session: Session, policy: LivePolicy) -> None:
        self.session = session
        self.policy = policy
        self.picker = ModePicker(policy)
        self.cancelled: AbortSignal | None = None
        session.install_gate(PolicyGate(policy))


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
