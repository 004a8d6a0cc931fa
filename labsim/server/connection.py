"""One connection's server: frames in, frames out, and which command has its turn when.

Nothing here waits, reads or writes: what came in is told by `receive`, `advance` and `disconnect`, and frames
leave through `write`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct

from labsim.errors import HostError, LabsimError
from labsim.rpc.adapter import RpcUI
from labsim.rpc.decode import Command, DialogReply, HostReply, Incoming, ParseFailure
from labsim.rpc.frames import Ready, Response
from labsim.server.actions import Actions, Running, Start
from labsim.server.commands import BadCommand, Beside, RunCommand, Shutdown, read_command
from labsim.server.rolling_ledger import RollingLedger
from labsim.stage.stage import Stage, Task

MOST_WAITING: Final = 1000  # commands that wait for their turn, and as many that wait for an answer
SHUT_DOWN: Final = "RPC server shut down before extension UI response completed"

Write: TypeAlias = Callable[[Struct | Mapping[str, Any]], object]


class Server:
    """The desk and the gate at the server's end. Call `open` first; once `finished` is true, nothing more is taken.

    `write` gets every frame for the client. `on_fault` hears of errors that are this program's own; their commands
    are answered like any that fails (rpc/R-15). `ledger` has what happened.
    """

    def __init__(self, start: Start, write: Write, on_fault: Callable[[Exception], object]) -> None:
        self.ledger = RollingLedger()
        self.finished = False
        self._write = write
        self._on_fault = on_fault
        self._stage = Stage(self.ledger)
        self._ui = RpcUI(self._stage, None, wire=write)
        self._running: list[Running] = []
        self._tasks: dict[Running, Task[None]] = {}
        self._actions = Actions(start, self._stage, self.ledger, self._ui, self._running)
        self._queue: deque[Command] = deque()
        self._in_turn: Running | None = None

    # -- what happens to it

    def open(self) -> None:
        """Say that the server is ready: always the first frame (rpc/R-5)."""
        self._write(Ready())

    def receive(self, incoming: Incoming) -> None:
        """Take one frame. A reply counts at once, a command once it has its turn (rpc/R-10, rpc/R-12)."""
        if self.finished:
            return
        match incoming:
            case DialogReply() | HostReply():
                self._ui.receive(incoming)
            case ParseFailure():
                self._write(incoming.response())
            case Command():
                if len(self._queue) < MOST_WAITING:
                    self._queue.append(incoming)
                else:
                    self._write(incoming.failed(_FULL))
        self._go_on()

    def advance(self, now_ms: int) -> None:
        """It is `now_ms` milliseconds since the start: whatever is due by now happens, each at its own time."""
        if now_ms > self._stage.now_ms:
            self._stage.advance(now_ms - self._stage.now_ms)
            self._go_on()

    @property
    def next_due_ms(self) -> int | None:
        """When `advance` will next have something to do; None: not before a frame comes."""
        return self._stage.next_due_ms

    def disconnect(self) -> None:
        """The client is gone. In this order (rpc/R-43): dialogs fail, what is queued and what runs comes to its
        end, the session ends.

        There are no tools and addresses of the client's to close: this server takes none.
        """
        if self.finished:
            return
        self._ui.disconnect()
        self._go_on()
        for task in tuple(self._tasks.values()):
            self._stage.carry_on(task)
        self._go_on()
        if not self.finished:
            self._actions.end_session()
            self._finish()

    # -- turns

    def _go_on(self) -> None:
        """Let everything happen that can, then start what is queued, one after another (rpc/R-12)."""
        self._stage.drain()
        while self._queue and self._in_turn is None and not self.finished:
            self._begin(self._queue.popleft())
            self._stage.drain()

    def _begin(self, frame: Command) -> None:
        try:
            command = read_command(frame)
        except BadCommand as error:
            self._write(frame.failed(str(error)))
            return
        if command is None:
            self._write(frame.unknown())
            return
        if isinstance(command, Shutdown):
            self._shut_down(frame)
            return
        beside = isinstance(command, Beside) and not command.queued
        if beside and len(self._running) >= MOST_WAITING:
            self._write(frame.failed(_FULL))
            return
        running = Running(frame.id, self._actions.signal_for(command))
        self._running.append(running)
        if not beside:
            self._in_turn = running
        task = self._stage.spawn(self._answer(frame, command, running))
        task.when_done(task.result)  # a response that cannot be written is nobody's outcome: it is raised here
        if not task.done:
            self._tasks[running] = task

    async def _answer(self, frame: Command, command: RunCommand, running: Running) -> None:
        """Run one command, and respond (rpc/R-12, rpc/R-15)."""
        try:
            data = await self._actions.run(command, running)
        except Exception as error:
            if not isinstance(error, HostError | LabsimError):
                self._on_fault(error)
            response = frame.failed(str(error) or type(error).__name__)
        else:
            response = Response(id=frame.id, command=frame.type, success=True, data=data)
        self._running.remove(running)
        self._tasks.pop(running, None)
        if self._in_turn is running:
            self._in_turn = None
        self._write(response)

    def _shut_down(self, frame: Command) -> None:
        """End the session (review/S15). Whatever else is under way hears that nobody will answer it any more."""
        self._actions.end_session()
        self._stage.drain()
        if self._running:
            self._ui.disconnect(SHUT_DOWN)
            self._stage.drain()
        self._write(Response(id=frame.id, command=frame.type, success=True))
        self._finish()

    def _finish(self) -> None:
        self.finished = True
        self._queue.clear()
        self._stage.close()


_FULL: Final = f"{MOST_WAITING} commands are waiting. Send it again when one of them is over."
