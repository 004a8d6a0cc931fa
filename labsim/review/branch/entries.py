"""The entries of a session, and the JSON lines they are saved as.

An entry is an envelope (id, parent, time) around data that may be anybody's, and anything: what is inside is
judged where it is read (`note`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from labsim.js_values import copy_json, stringify
from labsim.review.base.words import COPY


class EntryType(StrEnum):
    """The kinds of entry that the host writes. A file may hold others; they are kept, and mean nothing here."""

    CUSTOM = "custom"
    MESSAGE = "message"


class Entry(Struct, frozen=True, kw_only=True):
    """One entry (review/V-7). `parent_id` None: it stands at the root. `timestamp`: ISO 8601, of simulated time."""

    type: str
    id: str
    parent_id: str | None
    timestamp: str
    custom_type: str | UnsetType = UNSET
    data: Any = UNSET
    message: Any = UNSET


class ReadLines(Struct, frozen=True, kw_only=True):
    """What a file of entries holds. `remarks` says, in words for a person, what of it could not be used.

    `complete` False: the last line has no line break, so whoever appends has to begin with one.
    """

    entries: tuple[Entry, ...]
    remarks: tuple[str, ...] = ()
    complete: bool = True


def stamp(at_ms: int) -> str:
    """A simulated millisecond as a timestamp: the clock begins with the case, so the date is that of time zero."""
    from datetime import UTC, datetime, timedelta

    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}Z"


def as_mapping(entry: Entry) -> dict[str, Any]:
    """The entry as the JSON object it is saved as; absent parts are absent."""
    parts = {"customType": entry.custom_type, "data": entry.data, "message": entry.message}
    return {
        "type": entry.type,
        **{key: copy_json(value) for key, value in parts.items() if value is not UNSET},
        "id": entry.id,
        "parentId": entry.parent_id,
        "timestamp": entry.timestamp,
    }


def to_line(entry: Entry) -> bytes:
    """The entry as one line, line break included. Half a surrogate pair is written as an escape."""
    return stringify(as_mapping(entry)).encode() + b"\n"


def read_lines(data: bytes) -> ReadLines:
    """The entries in `data`, in order.

    A last line that was cut short is left out and remarked on; so is any line that is no entry, and one that
    repeats an id. Nothing is guessed: an entry whose parent is lost keeps that parent's name, and its branch ends
    there.
    """
    entries: dict[str, Entry] = {}
    remarks: list[str] = []
    *ended, last = data.split(b"\n")
    for number, line in enumerate((*ended, last), start=1):
        if not line.strip():
            continue
        entry = _read(line)
        if entry is not None and entry.id not in entries:
            entries[entry.id] = entry
        elif number > len(ended):
            remarks.append(COPY.session.torn.format(bytes=len(line)))
        else:
            remarks.append(COPY.session.skipped.format(line=number))
    return ReadLines(entries=tuple(entries.values()), remarks=tuple(remarks), complete=not last)


def _read(line: bytes) -> Entry | None:
    """The entry of one line, or None if it is none."""
    import json

    try:
        found = json.loads(line.decode(), parse_constant=_no_such_number)
    except (ValueError, RecursionError):  # not UTF-8, not JSON, or nested without end
        return None
    if not isinstance(found, dict):
        return None
    kind, entry_id, parent, time = (found.get(key) for key in ("type", "id", "parentId", "timestamp"))
    if not (isinstance(kind, str) and isinstance(entry_id, str) and entry_id and isinstance(time, str)):
        return None
    if not isinstance(parent, str | None):
        return None
    custom = found.get("customType", UNSET)
    return Entry(
        type=kind,
        id=entry_id,
        parent_id=parent,
        timestamp=time,
        custom_type=custom if isinstance(custom, str) else UNSET,
        data=found.get("data", UNSET),
        message=found.get("message", UNSET),
    )


def _no_such_number(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def ids_from(entries: Iterator[Entry] | tuple[Entry, ...]) -> int:
    """The highest number that an id of ours (`entry-<n>`) has; 0 if none has one."""
    return max((_number(entry.id) for entry in entries), default=0)


def _number(entry_id: str) -> int:
    tail = entry_id.removeprefix("entry-")
    return int(tail) if tail != entry_id and tail.isascii() and tail.isdecimal() and len(tail) < 10 else 0


class MemoryStore:
    """Lines by session id. While `full` is set, nothing more can be saved."""

    def __init__(self) -> None:
        self.full = False
        self._data: dict[str, bytes] = {}

    def save(self, session_id: str, entry: Entry) -> None:
        """Keep one entry. Raises: OSError, while the store is full; then nothing of it is kept."""
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._data[session_id] = self._data.get(session_id, b"") + to_line(entry)

    def tear(self, session_id: str, entry: Entry) -> None:
        """Keep half of an entry, as a crash in the middle of writing leaves it."""
        line = to_line(entry)
        self._data[session_id] = self._data.get(session_id, b"") + line[: len(line) // 2]

    def read(self, session_id: str) -> ReadLines:
        """What a new process would find of that session."""
        return read_lines(self._data.get(session_id, b""))

    @property
    def session_ids(self) -> tuple[str, ...]:
        return tuple(self._data)
