"""Whole files, written so that a reader sees the old file or the new one, and never a piece of either.

A file is filled beside its place under a name that nobody else has, and moved there once it is on the disk. So a
full disk, a killed process or a power cut costs the new file at most, and never the old one.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from workbook.errors import WorkbookError

NEW: Final = os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)  # Windows' third one: keep newlines
_NAME_SHOWN: Final = 40  # characters of a file's name in its draft's, which must not become too long for a name
_ELSEWHERE: Final = "Name a file in a folder that you can write to."
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a link that leads to itself",
}


class Disk(Protocol):
    """The calls on which a file's safety rests, as the module `os` has them."""

    def open(self, path: Path, flags: int, mode: int = 0o777, /) -> int: ...
    def write(self, file: int, data: memoryview, /) -> int: ...
    def lseek(self, file: int, to: int, whence: int, /) -> int: ...
    def ftruncate(self, file: int, length: int, /) -> None: ...
    def fsync(self, file: int, /) -> None: ...
    def close(self, file: int, /) -> None: ...
    def lstat(self, path: Path, /) -> os.stat_result: ...
    def chmod(self, path: Path, mode: int, /) -> None: ...
    def link(self, path: Path, to: Path, /) -> None: ...
    def replace(self, path: Path, to: Path, /) -> None: ...
    def unlink(self, path: Path, /) -> None: ...


class WriteFailed(WorkbookError):
    """A file was not written, and what stood at its place is unchanged; or, if `written`, it is there unconfirmed.

    Attributes: `path`, as the caller named it; `found`; `remedy`; `written`.
    """

    def __init__(self, path: Path, problem: str, remedy: str = _ELSEWHERE, *, written: bool = False) -> None:
        self.path = path
        self.found = problem
        self.remedy = remedy
        self.written = written
        super().__init__(
            f"{path}: {f'written, but {problem}' if written else f'not written ({problem})'}. {remedy}"
        )


def write(path: Path, data: bytes, *, disk: Disk = os) -> None:
    """Make the file at `path` these bytes, on the disk and not only in memory. Raises: as `write_all`."""
    write_all({path: data}, disk=disk)


def write_all(files: Mapping[Path, bytes], *, disk: Disk = os) -> None:
    """Write several files: all of them or, as far as can be foreseen, none. Each is whole before any is moved.

    A file that is there already keeps its permissions. A link is followed and stays: what it names is written.
    Raises: WriteFailed, also for a folder, a device or anything else that is no file, which is never replaced.
    """
    drafts: list[tuple[Path, Path, Path]] = []  # as it was named, where it is, where it is filled
    try:
        for path, data in files.items():
            with _failing(path):
                target = Path(os.path.realpath(path))
                mode = _mode_of(path, target, disk)
                drafts.append((path, target, _draft_for(target)))
                _fill(drafts[-1][2], data, mode, disk)
        for path, target, draft in drafts:
            with _failing(path):
                disk.replace(draft, target)
    finally:
        for _, _, draft in drafts:
            _remove(draft, disk)
    for path, target, _ in drafts:
        _confirm(path, target.parent, disk)


def create(path: Path, data: bytes, *, disk: Disk = os) -> bool:
    """Make a new file of these bytes; False, and nothing done, if anything has that name, a dangling link too.

    Whoever else makes the file at the very same moment keeps theirs. Raises: WriteFailed.
    """
    if os.path.lexists(path):
        return False
    draft = _draft_for(path)
    try:
        with _failing(path):
            _fill(draft, data, None, disk)
            made = _name_if_free(draft, path, disk)
    finally:
        _remove(draft, disk)
    if made:
        _confirm(path, path.parent, disk)
    return made


def write_through(file: int, data: bytes, disk: Disk = os) -> None:
    """Write all of `data` at the place where an open file is, and see it onto the disk. Raises: OSError."""
    left = memoryview(data)
    while left:  # a nearly full disk takes a part, and refuses only the next write
        left = left[disk.write(file, left) :]
    disk.fsync(file)


def sync_folder(folder: Path, disk: Disk = os) -> None:
    """See a new name in a folder onto the disk. Windows has no such call and needs none. Raises: OSError."""
    if os.name == "posix":
        handle = disk.open(folder, os.O_RDONLY)
        try:
            disk.fsync(handle)
        finally:
            disk.close(handle)


def _mode_of(path: Path, target: Path, disk: Disk) -> int | None:
    """The permissions of the file that is to be replaced; None, if there is none yet."""
    try:
        there = disk.lstat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(there):
        kind = _KINDS.get(stat.S_IFMT(there), "a device")
        raise WriteFailed(path, f"it is {kind} and no file", "It is left as it is. Name a file.")
    return stat.S_IMODE(there)


def _draft_for(target: Path) -> Path:
    return target.with_name(f".{target.name[:_NAME_SHOWN]}.{secrets.token_hex(4)}.tmp")


def _fill(draft: Path, data: bytes, mode: int | None, disk: Disk) -> None:
    # With its permissions from the first moment, less what the umask takes: what is private is never readable.
    file = disk.open(draft, os.O_WRONLY | NEW, 0o666 if mode is None else mode)
    try:
        write_through(file, data, disk)
    finally:
        disk.close(file)
    if mode is not None and stat.S_IMODE(disk.lstat(draft).st_mode) != mode:
        disk.chmod(draft, mode)


def _name_if_free(draft: Path, path: Path, disk: Disk) -> bool:
    """Give the draft its name, unless something has that name: moving it there would replace that."""
    try:
        disk.link(draft, path)
    except FileExistsError:
        return False
    except OSError:  # no hard links here, as on some memory sticks: take the name first, then fill it
        try:
            disk.close(disk.open(path, os.O_WRONLY | NEW, 0o666))
        except FileExistsError:
            return False
        try:
            disk.replace(draft, path)
        except BaseException:
            _remove(path, disk)
            raise
    return True


def _remove(path: Path, disk: Disk) -> None:
    with suppress(OSError):  # it has been moved, or there is a graver error to tell of
        disk.unlink(path)


@contextmanager
def _failing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteFailed(path, error.strerror or str(error)) from error


def _confirm(path: Path, folder: Path, disk: Disk) -> None:
    try:
        sync_folder(folder, disk)
    except OSError as error:
        remedy = "Look whether it is still there after the next start of this computer."
        found = f"the disk did not confirm it ({error.strerror or error})"
        raise WriteFailed(path, found, remedy, written=True) from error
