"""Session entries kept as lines in memory: what a file would hold, where no file may be opened.

Beside `session_file`, above `entries`; for cases and tests. What is opened from it has gone through the same lines
as what is opened from a file, so nothing can survive a restart that would not survive it on disk.
"""

from __future__ import annotations

import errno
import os

from labsim.review.branch.entries import Entry, ReadLines, read_lines, to_line


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
