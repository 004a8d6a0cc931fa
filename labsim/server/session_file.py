"""Session entries on disk: one file for each session, one line for each entry, nothing ever rewritten.

The only module of this package that opens a file, and only in the folder that its caller hands it; no case reaches
it. A grant never gets here, so nothing can read one back (review/V-13).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from labsim.errors import LabsimError
from labsim.review.branch.entries import Entry, ReadLines, read_lines, to_line

_SESSION_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class NoSessionId(LabsimError):
    """A text cannot be the name of a session's file. Attribute: `session_id`."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"{session_id!r} is no session id. Use letters, digits and hyphens.")


class SessionFiles:
    """The sessions in one folder, which is made when the first entry is saved."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions that have a file, in name order."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.jsonl")))

    def path(self, session_id: str) -> Path:
        """Where a session is kept. Raises: NoSessionId."""
        if _SESSION_ID.fullmatch(session_id) is None:
            raise NoSessionId(session_id)
        return self._folder / f"{session_id}.jsonl"

    def read(self, session_id: str) -> ReadLines:
        """What is stored of a session, if anything is. Damage is remarked on, and changes nothing on disk.

        Raises: NoSessionId; OSError, if there is a file that cannot be read.
        """
        try:
            data = self.path(session_id).read_bytes()
        except FileNotFoundError:
            data = b""
        return read_lines(data)

    def save(self, session_id: str, entry: Entry) -> None:
        """Append one entry, whole or not at all, and see it onto the disk.

        After a line that was cut short the entry begins on a line of its own; the torn one stays where it is.
        Raises: NoSessionId; OSError, and then the file is as it was.
        """
        path = self.path(session_id)
        self._folder.mkdir(parents=True, exist_ok=True)
        file = os.open(path, _FLAGS, 0o600)
        try:
            size = os.lseek(file, 0, os.SEEK_END)
            line = to_line(entry)
            _append(file, size, b"\n" + line if _is_torn(file, size) else line)
        finally:
            os.close(file)


def _is_torn(file: int, size: int) -> bool:
    """Whether the last line has no line break."""
    if size == 0:
        return False
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) != b"\n"


def _append(file: int, size: int, data: bytes) -> None:
    """One write; where it does not take all of `data`, what it took is cut off again."""
    try:
        written = os.write(file, data)
        if written != len(data):
            raise OSError(f"only {written} of {len(data)} bytes were written")
        os.fsync(file)
    except OSError:
        os.ftruncate(file, size)
        raise
