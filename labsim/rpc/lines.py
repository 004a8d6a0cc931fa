"""Bytes to frames and back: one JSON value a line, and no line above the limit.

Reading and writing themselves belong to whoever owns the pipe.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from labsim.js_values import stringify
from labsim.rpc.decode import Incoming, ParseFailure, sort_frame
from labsim.rpc.frames import MAX_FRAME_BYTES, FrameError, Response, to_wire

# ---------------------------------------------------------------------------------------------------- reading


class LineReader:
    """Collects bytes until a line is whole, then says what frame it holds.

    Lines end in a newline; a carriage return before it is white space to JSON; blank lines are nothing (rpc/R-1).
    Where the bytes were split does not matter, even inside a character (rpc/R-3). A line of more than `longest`
    bytes, its newline included, is not kept, however long it gets: it is answered like one that is not JSON.
    """

    def __init__(self, longest: int | None = None) -> None:
        self._longest = longest
        self._parts: list[bytes] = []  # of the line that has not ended yet; joined once, however long it gets
        self._size = 0  # of that line so far, also of what was not kept

    def feed(self, data: bytes) -> list[Incoming]:
        """The frames that `data` completes, in order."""
        *ended, rest = data.split(b"\n")
        found: list[Incoming] = []
        for part in ended:
            self._keep(part)
            found.extend(self._take())
        if rest:
            self._keep(rest)
        return found

    def close(self) -> list[Incoming]:
        """The input has ended: a last line without a newline still counts (rpc/R-1)."""
        return self._take()

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._too_long():
            self._parts.clear()
        else:
            self._parts.append(part)

    def _take(self) -> list[Incoming]:
        line, too_long = b"".join(self._parts), self._too_long()
        self._parts.clear()
        self._size = 0
        if too_long:
            return [ParseFailure(reason=f"the frame is longer than {self._longest} bytes")]
        return [read_line(line)] if line.strip() else []

    def _too_long(self) -> bool:
        return self._longest is not None and self._size >= self._longest  # the newline is one more byte


#: Objects and lists in each other. A frame that is deeper could still be parsed, and then nobody could copy it.
DEEPEST: Final = 200
_TOO_DEEP: Final = "nested too deeply"


def read_line(line: bytes) -> Incoming:
    """What frame one line holds; a line that is not JSON is a `ParseFailure`, never an error (rpc/R-2)."""
    try:
        # Bytes that are not UTF-8 become U+FFFD, as a lenient decoder makes them: the parser decides, not we.
        value = json.loads(line.decode("utf-8", errors="replace"), parse_constant=_no_such_number)
    except ValueError as error:
        return ParseFailure(reason=str(error))
    except RecursionError:
        return ParseFailure(reason=_TOO_DEEP)
    # Only a line with many brackets can be deep, and hardly any has.
    if line.count(b"[") + line.count(b"{") > DEEPEST and _is_deeper_than(DEEPEST, value):
        return ParseFailure(reason=_TOO_DEEP)
    return sort_frame(value)


def _is_deeper_than(most: int, value: object) -> bool:
    level = [value]
    for _ in range(most):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return any(isinstance(each, dict | list) for each in level)


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _no_such_number(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


# ---------------------------------------------------------------------------------------------------- writing


class _Cut(Struct, frozen=True):
    """How much of each string, list and object one attempt keeps."""

    units: int  # of a string, counted in UTF-16 as the real program counts
    items: int
    keys: int


# Tried in order, until the frame fits.
_CUTS: Final = (
    _Cut(256 * 1024, 512, 512),
    _Cut(64 * 1024, 256, 256),
    _Cut(16 * 1024, 128, 128),
    _Cut(4 * 1024, 64, 64),
    _Cut(1024, 32, 32),
    _Cut(256, 8, 16),
    _Cut(64, 1, 8),
)
_ROOM_FOR_REMARK: Final = 80  # of a cut string's units; the remark itself is shorter
_ECHO_UNITS: Final = 1024  # what an error frame repeats of an id, a command or a type


def write_line(frame: Struct | Mapping[str, Any]) -> bytes:
    """The frame as one line of at most 1 MiB, newline included (rpc/R-1, rpc/R-7).

    A frame that is too large loses the ends of its long strings and lists, which say how much is gone; a
    response is replaced by an error instead, since half an answer would be a wrong one. Protocol 1 only.
    """
    wire = to_wire(frame)
    line = _line(wire)
    if len(line) <= MAX_FRAME_BYTES:
        return line
    if wire.get("type") != "response":
        for cut in _CUTS:
            line = _line(_shrunk(wire, cut))
            if len(line) <= MAX_FRAME_BYTES:
                return line
    return _line(to_wire(_overflow(wire)))


def _line(wire: Any) -> bytes:
    return stringify(wire).encode() + b"\n"


def _overflow(wire: Mapping[str, Any]) -> Response | FrameError:
    """What is sent in place of a frame that cannot be sent."""
    kind = wire.get("type")
    if kind != "response":
        return FrameError(original_type=_cut_text(kind, _ECHO_UNITS)) if isinstance(kind, str) else FrameError()
    frame_id, command = wire.get("id"), wire.get("command")
    error = "RPC response exceeded the transport limit"
    named = _cut_text(command, _ECHO_UNITS) if isinstance(command, str) else "unknown"
    if isinstance(frame_id, str):
        return Response(id=_cut_text(frame_id, _ECHO_UNITS), command=named, success=False, error=error)
    return Response(command=named, success=False, error=error)


def _shrunk(value: Any, cut: _Cut) -> Any:
    if isinstance(value, str):
        return _cut_text(value, cut.units)
    if isinstance(value, list):
        kept = [_shrunk(item, cut) for item in value[: cut.items]]
        gone = len(value) - len(kept)
        return [*kept, f"…[{gone} items elided for RPC frame]"] if gone else kept
    if isinstance(value, dict):
        pairs = {key: _shrunk(item, cut) for key, item in list(value.items())[: cut.keys]}
        gone = len(value) - len(pairs)
        return {**pairs, "rpcFrameElidedKeys": gone} if gone else pairs
    return value


def _cut_text(text: str, units: int) -> str:
    """`text` if it has at most `units` UTF-16 units, else its head and a remark. Never half a character."""
    raw = text.encode("utf-16-le", errors="surrogatepass")
    total = len(raw) // 2
    if total <= units:
        return text
    head = raw[: 2 * max(0, units - _ROOM_FOR_REMARK)]
    if head and 0xD8 <= head[-1] <= 0xDB and 0xDC <= raw[len(head) + 1] <= 0xDF:
        head = head[:-2]  # the cut fell inside a pair; the real program would send its first half
    gone = total - len(head) // 2
    return f"{head.decode('utf-16-le', errors='surrogatepass')}\n…[{gone} chars elided for RPC frame]"
