"""The frames of a connection as they travelled, for tables and tests."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct


class Direction(StrEnum):
    """Which way a frame went."""

    TO_CLIENT = "to client"
    FROM_CLIENT = "from client"


class Recorded(Struct, frozen=True, kw_only=True):
    """One frame as it travelled. `n` counts from 1, over both directions; `at_ms` is real time since the start.

    `frame` is the parsed JSON; UNSET where the line held none. `line` is the line itself, without its end.
    """

    n: int
    at_ms: int
    direction: Direction
    frame: Any
    line: str

    @property
    def id(self) -> Any:
        """The frame's id: a dialog's, or a command's; None where it has none."""
        return self.frame.get("id") if isinstance(self.frame, Mapping) else None


class Recording:
    """The newest `kept` frames, in the order in which this end sent or read them."""

    def __init__(self, kept: int) -> None:
        self._frames: deque[Recorded] = deque(maxlen=kept)
        self._total = 0

    def add(self, direction: Direction, line: bytes, at_ms: int) -> Recorded:
        """Record one line, whatever it holds."""
        text = line.decode(errors="replace")
        try:
            frame = json.loads(text)
        except (ValueError, RecursionError):
            frame = UNSET
        self._total += 1
        recorded = Recorded(n=self._total, at_ms=at_ms, direction=direction, frame=frame, line=text)
        self._frames.append(recorded)
        return recorded

    @property
    def frames(self) -> tuple[Recorded, ...]:
        return tuple(self._frames)
