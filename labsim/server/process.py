"""The server as a process: two pipes and the real time around `server`, which has neither.

The one loop that waits: for bytes of the client, or for the next moment at which something is due. A thread of its
own reads, because not every system can wait for a pipe and a time at once; it hands the bytes on a few at a time,
so a client that sends faster than it is served has to wait.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Mapping
from queue import Empty, Queue
from typing import Any, Final

from msgspec import Struct

from labsim.rpc.frames import MAX_FRAME_BYTES
from labsim.rpc.lines import LineReader, write_line
from labsim.server.actions import Start
from labsim.server.connection import Server
from labsim.server.rolling_ledger import RollingLedger

CHUNK: Final = 64 * 1024  # bytes of one read, and of one write at most unless a single frame is longer
CHUNKS_AHEAD: Final = 16


def own_stdout() -> int:
    """Take standard output for frames alone: whatever else is printed from now on goes to standard error (rpc/R-6).

    Returns: the descriptor to write frames to. A library that prints past Python is caught as well.
    """
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept


def serve(start: Start, source: int, sink: int) -> RollingLedger:
    """Serve the client that writes to the descriptor `source` and reads from `sink`, until one of them ends it.

    Returns: what happened.
    """
    out = _Sink(sink)
    server = Server(start, out.write, _report)
    chunks: Queue[bytes] = Queue(CHUNKS_AHEAD)
    threading.Thread(target=_read, args=(source, chunks), name="rpc-input", daemon=True).start()
    reader = LineReader(MAX_FRAME_BYTES)
    began = time.monotonic()

    def now_ms() -> int:
        return int((time.monotonic() - began) * 1000)

    server.open()
    while not server.finished:
        out.flush()
        if out.broken:
            server.disconnect()  # a client that reads no more is gone, even if its other pipe is still there
            break
        due_ms = server.next_due_ms
        try:
            chunk = chunks.get(timeout=None if due_ms is None else max(0, due_ms - now_ms()) / 1000)
        except Empty:
            server.advance(now_ms())
            continue
        server.advance(now_ms())  # what was due before these bytes came is first (rpc/R-39)
        for incoming in reader.feed(chunk) if chunk else reader.close():
            server.receive(incoming)
        if not chunk:
            server.disconnect()
    out.flush()
    return server.ledger


def _read(source: int, chunks: Queue[bytes]) -> None:
    """Hand on what comes in; b"" is the end of it."""
    while True:
        try:
            chunk = os.read(source, CHUNK)
        except OSError:
            chunk = b""  # a pipe that cannot be read has ended
        chunks.put(chunk)
        if not chunk:
            return


def _report(error: Exception) -> None:
    """An error of our own: the client gets its sentence, and standard error the rest."""
    traceback.print_exception(error)


class _Sink:
    """Where frames go, many in one write. `broken`: nobody reads them any more, and they go nowhere."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = bytearray()
        self.broken = False

    def write(self, frame: Struct | Mapping[str, Any]) -> None:
        self._waiting += write_line(frame)
        if len(self._waiting) >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write all of it. Waits for a client that reads slowly."""
        view = bytes(self._waiting)
        self._waiting.clear()
        at = 0
        while at < len(view) and not self.broken:
            try:
                at += os.write(self._descriptor, view[at : at + CHUNK])
            except OSError:
                self.broken = True
