"""A client of `python -m labsim.rpc`: starts it, sends commands, answers its dialogs, and never leaves it behind.

A notebook plays the client with it: with a callback for dialogs, or by hand (`next_dialog`, `answer`). Every frame
of either direction is recorded.

Theory. One thread reads, and does nothing else, so the server never has to wait for somebody who is thinking: two
sides that both wait for the other to read would wait for ever. A callback therefore gets a thread of its own, and
may do there whatever it likes, even send a command and wait for its response. All that is shared is under one
condition, and whoever waits for something waits on that.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeVar

from msgspec import UNSET, ValidationError

from labsim.client.errors import CallbackFailed, CommandFailed, NotAnswered, ServerGone, StreamBroken
from labsim.client.recording import Direction, Recorded, Recording
from labsim.js_values import stringify
from labsim.rpc.frames import (
    CancelRequest,
    ConfirmRequest,
    DialogRequest,
    EditorRequest,
    InputRequest,
    SelectRequest,
    read_request,
)

TIMEOUT_S: Final = 30.0  # for `ready`, and for each response (rpc/R-59)
KEPT: Final = 10_000  # frames of the recording
COMPLAINTS: Final = 64 * 1024  # bytes of standard error, the newest

T = TypeVar("T")


class _Later:
    """What a callback returns to say that somebody will answer later."""

    def __repr__(self) -> str:
        return "LATER"


#: Returned by a callback: it does not answer; `Client.answer` will.
LATER: Final = _Later()

#: Gets a dialog, and returns the answer: a label, a text, True or False, None to close it unanswered, or LATER.
OnDialog: TypeAlias = Callable[["Client", DialogRequest], object]


class Client:
    """A server process, and this end of its connection. A context manager: at its end there is no process.

    `arguments` go to `python -m labsim.rpc`; `on_dialog` is called with each dialog, one after another, in a thread
    of its own. Without it dialogs wait for `next_dialog` and `answer`. `environment` is the process's, None: as
    here. `timeout_s` is how long to wait for anything unless told otherwise; `kept` how many frames are recorded.
    Raises: ServerGone, NotAnswered, if the process does not get ready (rpc/R-59).
    """

    def __init__(
        self,
        *arguments: str,
        on_dialog: OnDialog | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
        kept: int = KEPT,
        program: Sequence[str] = (sys.executable, "-m", "labsim.rpc"),
    ) -> None:
        self.timeout_s = timeout_s
        self._began = time.monotonic()
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._recording = Recording(kept)
        self._commands = 0
        self._awaited: set[str] = set()
        self._responses: dict[str, Mapping[str, Any]] = {}
        self._open: dict[str, DialogRequest] = {}
        self._due: dict[str, float] = {}
        self._untaken: deque[DialogRequest] = deque()
        self._ready: Mapping[str, Any] = {}
        self._ended = False
        self._broken: StreamBroken | None = None
        self._failed: CallbackFailed | None = None
        self._unfinished = b""  # of a line that is sent in pieces
        self._said = b""
        self._calls_back = on_dialog is not None
        self._for_callback: SimpleQueue[DialogRequest | None] = SimpleQueue()
        self._process = subprocess.Popen(
            [*program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if environment is None else dict(environment),
            bufsize=0,
            start_new_session=True,  # an interrupt that is meant for the notebook is not meant for the server
        )
        self._threads = [_started(self._read), _started(self._listen)]
        if on_dialog is not None:
            self._threads.append(_started(lambda: self._call_back(on_dialog)))
        try:
            self._wait("ready frame", lambda: [self.ready] if self.ready else [], None)
        except BaseException:
            self.kill()
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
            return
        self.kill()  # something went wrong here; there is no point in being polite
        with contextlib.suppress(CallbackFailed):  # the error that is under way says more
            self.close()

    # -- commands

    def send(self, command: str, /, **fields: Any) -> str:
        """Send a command and go on. Returns: its id, for `wait`. Raises: ServerGone.

        A field named with an underscore at its end goes without it, as in `from_`.
        """
        with self._changed:
            self._commands += 1
            command_id = f"req_{self._commands}"
            self._awaited.add(command_id)
        given = {key.removesuffix("_"): value for key, value in fields.items()}
        self.send_frame({"type": command, "id": command_id, **given})
        return command_id

    def wait(self, command_id: str, timeout_s: float | None = None) -> Any:
        """The data of a command's response, None where it has none.

        Each response is handed out once. Raises: CommandFailed; NotAnswered; ServerGone.
        """

        def arrived() -> list[Mapping[str, Any]]:
            return [self._responses.pop(command_id)] if command_id in self._responses else []

        response = self._wait(f"response to {command_id}", arrived, timeout_s)
        if response.get("success") is not True:
            raise CommandFailed(response)
        return response.get("data")

    def call(self, command: str, /, *, timeout_s: float | None = None, **fields: Any) -> Any:
        """`send` and `wait` in one. Raises: as these two."""
        return self.wait(self.send(command, **fields), timeout_s)

    def ledger(self, start: int = 0) -> list[dict[str, Any]]:
        """The server's events from number `start` on, as it still has them. Raises: as `call`."""
        events: list[dict[str, Any]] = []
        following: int | None = start
        while following is not None:
            page = self.call("get_ledger", from_=following)
            events.extend(page["events"])
            following = page.get("next")
        return events

    # -- dialogs

    @property
    def dialogs(self) -> tuple[DialogRequest, ...]:
        """The dialogs that wait for an answer, oldest first; not those whose time is over (rpc/R-51)."""
        with self._changed:
            now = time.monotonic()
            for dialog_id in [dialog_id for dialog_id, due in self._due.items() if due <= now]:
                self._close_dialog(dialog_id)
            return tuple(self._open.values())

    def next_dialog(self, timeout_s: float | None = None) -> DialogRequest:
        """The next dialog in the order they were asked; each is handed out once. It may be over already.

        Raises: NotAnswered; ServerGone.
        """

        def oldest() -> list[DialogRequest]:
            return [self._untaken.popleft()] if self._untaken else []

        return self._wait("dialog", oldest, timeout_s)

    def answer(self, dialog: DialogRequest, value: object) -> None:
        """Answer a dialog: a label, a text, True or False; None closes it unanswered. Raises: ServerGone.

        A dialog that is over may be answered, too: the server swallows it (rpc/R-38).
        """
        if value is None:
            self.reply(dialog.id, cancelled=True)
        elif isinstance(dialog, ConfirmRequest):
            self.reply(dialog.id, confirmed=value)
        else:
            self.reply(dialog.id, value=value)

    def reply(self, dialog_id: str, /, **payload: Any) -> None:
        """Send a reply of any shape, to any id. Raises: ServerGone."""
        with self._changed:
            self._close_dialog(dialog_id)
        self.send_frame({"type": "extension_ui_response", "id": dialog_id, **payload})

    # -- frames

    @property
    def ready(self) -> Mapping[str, Any]:
        """The server's first frame."""
        return self._ready

    @property
    def frames(self) -> tuple[Recorded, ...]:
        """Every frame so far, in the order in which this end sent or read them; the newest, if there are many."""
        with self._changed:
            return self._recording.frames

    def send_frame(self, frame: object) -> None:
        """Send any JSON value as a frame. Raises: ServerGone."""
        self.send_bytes(stringify(frame).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are; a line is recorded as one frame once it is whole (rpc/R-3). Raises:
        ServerGone.
        """
        pipe = self._process.stdin
        assert pipe is not None
        with self._writing:
            *lines, self._unfinished = (self._unfinished + data).split(b"\n")
            for line in lines:
                self._record(Direction.FROM_CLIENT, line)
            try:
                left = memoryview(data)
                while left:
                    left = left[pipe.write(left) :]  # a pipe takes what it has room for
            except (OSError, ValueError) as error:  # broken, or closed here
                raise self._gone() from error

    # -- the process

    @property
    def pid(self) -> int:
        return self._process.pid

    def stderr(self) -> str:
        """What the process has written to its standard error so far, the end of it."""
        with self._changed:
            return self._said.decode(errors="replace")

    def close_stdin(self) -> None:
        """Stop sending. The server takes it as a disconnect, and ends by itself (rpc/R-40, rpc/R-43)."""
        with self._writing:
            self._stop_sending()

    def _stop_sending(self) -> None:
        pipe = self._process.stdin
        if pipe is None or pipe.closed:
            return
        if self._unfinished:  # a last line without a line break counts (rpc/R-1)
            self._record(Direction.FROM_CLIENT, self._unfinished)
        with contextlib.suppress(OSError):  # it may be broken already
            pipe.close()

    def kill(self) -> None:
        """End the process at once, with nothing said."""
        self._process.kill()

    def wait_closed(self, timeout_s: float | None = None) -> int:
        """Wait until the process has ended and all it wrote is read. Raises: NotAnswered.

        Returns: its exit code, or if a signal ended it, minus that signal's number.
        """
        seconds = self.timeout_s if timeout_s is None else timeout_s
        try:
            exit_code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise NotAnswered("end of the server", seconds) from None
        for thread in self._threads[:2]:
            thread.join(seconds)
        return exit_code

    def close(self, timeout_s: float = 5.0) -> int:
        """Disconnect, and wait for the process to end; one that does not is killed. Returns: as `wait_closed`.

        Harmless when repeated. Raises: CallbackFailed, if the callback did and nobody has heard of it yet.
        """
        polite = self._writing.acquire(timeout=timeout_s)  # whoever is writing may be stuck
        if not polite:
            self.kill()
            self._writing.acquire()
        self._stop_sending()
        self._writing.release()
        try:
            exit_code = self.wait_closed(timeout_s)
        except NotAnswered:
            self.kill()
            exit_code = self.wait_closed()
        self._for_callback.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout_s)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        with self._changed:
            failed, self._failed = self._failed, None
        if failed is not None:
            raise failed
        return exit_code

    def _gone(self) -> ServerGone:
        """The error for a process that has ended, or has closed its input, which is as good as ended."""
        with contextlib.suppress(NotAnswered):
            self.wait_closed(1.0)
        return ServerGone(self._process.returncode, self.stderr())

    # -- the threads that read

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        rest = b""
        try:
            while chunk := pipe.read(64 * 1024):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._take(self._record(Direction.TO_CLIENT, line))
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _listen(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        while chunk := pipe.read(4096):
            with self._changed:
                self._said = (self._said + chunk)[-COMPLAINTS:]
                self._changed.notify_all()

    def _record(self, direction: Direction, line: bytes) -> Recorded:
        with self._changed:
            at_ms = int((time.monotonic() - self._began) * 1000)
            return self._recording.add(direction, line, at_ms)

    def _take(self, recorded: Recorded) -> None:
        """See what a frame from the server is; unknown ones are nothing to us (rpc/R-53)."""
        frame = recorded.frame
        with self._changed:
            match frame:
                case {"type": "ready"}:
                    self._ready = frame
                case {"type": "response", "id": str(command_id)} if command_id in self._awaited:
                    self._awaited.discard(command_id)
                    self._responses[command_id] = frame
                case {"type": "extension_ui_request"}:
                    self._take_request(recorded)
                case {"type": "rpc_chunk"}:  # nobody has negotiated protocol 2 (rpc/R-59)
                    self._broken = StreamBroken(recorded.line)
                case Mapping():
                    pass
                case _:
                    self._broken = StreamBroken(recorded.line)
            self._changed.notify_all()

    def _take_request(self, recorded: Recorded) -> None:
        try:
            request = read_request(recorded.frame)
        except ValidationError:
            self._broken = StreamBroken(recorded.line)
            return
        if isinstance(request, CancelRequest):
            self._close_dialog(request.target_id)  # and no reply to it (rpc/R-52)
        elif isinstance(request, SelectRequest | ConfirmRequest | InputRequest | EditorRequest):
            self._open[request.id] = request
            if not isinstance(request, EditorRequest) and request.timeout is not UNSET:
                self._due[request.id] = time.monotonic() + request.timeout / 1000
            if self._calls_back:
                self._for_callback.put(request)
            else:
                self._untaken.append(request)

    def _close_dialog(self, dialog_id: str) -> None:
        self._open.pop(dialog_id, None)
        self._due.pop(dialog_id, None)

    # -- the thread that calls back

    def _call_back(self, on_dialog: OnDialog) -> None:
        while (dialog := self._for_callback.get()) is not None:
            try:
                answer = on_dialog(self, dialog)
                if answer is not LATER:
                    self.answer(dialog, answer)
            except ServerGone:
                return  # there is nobody left to answer
            except Exception as error:
                failed = CallbackFailed(dialog.id)
                failed.__cause__ = error
                with self._changed:
                    self._failed = failed
                    self._changed.notify_all()

    # -- waiting

    def _wait(self, what: str, look: Callable[[], Sequence[T]], timeout_s: float | None) -> T:
        """Wait until `look`, called under the condition, finds something. Raises: as said where it is used."""
        seconds = self.timeout_s if timeout_s is None else timeout_s
        until = time.monotonic() + seconds
        with self._changed:
            while True:
                found = look()
                if found:
                    return found[0]
                if self._broken is not None:
                    raise self._broken
                if self._failed is not None:
                    failed, self._failed = self._failed, None
                    raise failed
                if self._ended:
                    break
                left = until - time.monotonic()
                if left <= 0:
                    raise NotAnswered(what, seconds)
                self._changed.wait(left)
        raise self._gone()


def _started(work: Callable[[], None]) -> threading.Thread:
    """A thread that is under way, and that no program has to wait for at its end."""
    thread = threading.Thread(target=work, name="rpc-client", daemon=True)
    thread.start()
    return thread
