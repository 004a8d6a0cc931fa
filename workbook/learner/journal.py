"""A file that only grows, line by line, and survives whatever happens while it grows.

A line is final once its newline and an fsync are behind it. A writer that dies in between leaves a piece of a line
at the end. Readers see it as the tail, and the next writer moves it into a file of its own before it goes on. So no
byte is lost, and no later line is glued to a broken one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from filelock import FileLock

from workbook import atomic
from workbook.atomic import Disk

LOCK_SECONDS = 10.0  # a save takes milliseconds: whoever holds the lock for this long is stopped, not busy


def split(data: bytes) -> tuple[list[bytes], bytes]:
    """The lines, without their newlines, and the tail: what follows the last newline, b"" in a sound file."""
    *lines, tail = data.split(b"\n")
    return lines, tail


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the right to write to the file; its folder is made if need be.

    Raises: filelock.Timeout (an OSError) after `LOCK_SECONDS`; OSError, if the lock file cannot be made. The lock
    ends with the process that held it, so nothing is ever left locked.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock"), timeout=LOCK_SECONDS):
        yield


def append(path: Path, block: bytes, *, at: int, disk: Disk = os) -> None:
    """Make the file its first `at` bytes and then `block`, on the disk and not only in memory.

    If that fails or is interrupted, the file ends at byte `at`. Raises: OSError. Call it inside `exclusive`, with
    everything after byte `at` set aside.
    """
    file = disk.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    try:
        disk.ftruncate(file, at)
        disk.lseek(file, at, os.SEEK_SET)
        try:
            atomic.write_through(file, block, disk)
        except (
            BaseException
        ):  # an interrupt too: the caller will hear that nothing was saved, and that must be true
            disk.ftruncate(file, at)
            raise
    finally:
        disk.close(file)
    if at == 0:
        atomic.sync_folder(path.parent, disk)


def set_aside(path: Path, piece: bytes) -> Path:
    """Save the bytes in a new file beside `path`, `<stem>.torn-N.txt`, and return where.

    Raises: workbook.atomic.WriteFailed.
    """
    names = (path.with_name(torn_name(path, str(number))) for number in count(1))
    return next(aside for aside in names if atomic.create(aside, piece))


def torn_name(path: Path, number: str) -> str:
    """The name for a piece set aside; `number` "*" gives the pattern of them all."""
    return f"{path.stem}.torn-{number}.txt"
