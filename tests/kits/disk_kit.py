"""Disks that go wrong: scripted stand-ins for the calls of `os` on which a file's safety rests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

CALLS = ("open", "write", "lseek", "ftruncate", "fsync", "close", "lstat", "chmod", "link", "replace", "unlink")


class ScriptedDisk:
    """The real disk, with something to happen before a call. `called`: the names of the calls, in their order."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def before(self, name: str, *given: Any) -> None:
        """What happens before each call; to be told otherwise."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        assert name in CALLS, f"{name} is no call of a Disk"

        def call(*given: Any) -> Any:
            self.called.append(name)
            self.before(name, *given)
            return getattr(os, name)(*given)

        return call


class FailingDisk(ScriptedDisk):
    """The call of that number, from 0, raises what it is given. A file that fails to close is closed."""

    def __init__(self, number: int, error: BaseException) -> None:
        super().__init__()
        self._number = number
        self._error = error

    def before(self, name: str, *given: Any) -> None:
        if len(self.called) - 1 == self._number:
            if name == "close":
                os.close(given[0])
            raise self._error


class RacingDisk(ScriptedDisk):
    """Somebody else makes the file at the last moment: just before it would be linked, moved or opened there.

    `links`: whether this disk has hard links.
    """

    def __init__(self, rival: Path, data: bytes, *, links: bool = True) -> None:
        super().__init__()
        self._rival = rival
        self._data = data
        self._links = links

    def before(self, name: str, *given: Any) -> None:
        if name == "link" and not self._links:
            raise PermissionError(1, "Operation not permitted")
        if self._rival in given and name in ("link", "replace", "open") and not self._rival.exists():
            self._rival.write_bytes(self._data)


class ForgetfulDisk(ScriptedDisk):
    """A disk that keeps only what was seen onto it: bytes by an fsync of the file, names by one of the folder."""

    def __init__(self) -> None:
        super().__init__()
        self._opened: dict[int, Path] = {}
        self._bytes: dict[int, bytes] = {}  # by inode, since a file may be moved
        self._names: dict[Path, dict[str, int]] = {}

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        if not path.is_dir() and path.parent not in self._names:
            self._see_names(path.parent)  # what was there before is safe
        file = os.open(path, flags, mode)
        self._opened[file] = path
        return file

    def fsync(self, file: int) -> None:
        path = self._opened[file]
        os.fsync(file)
        if path.is_dir():
            self._see_names(path)
        else:
            self._bytes[path.stat().st_ino] = path.read_bytes()

    def after_a_power_cut(self, folder: Path) -> dict[str, bytes]:
        """The files of a folder, by name, as the next start of the computer finds them."""
        return {name: self._bytes.get(inode, b"") for name, inode in self._names[folder].items()}

    def _see_names(self, folder: Path) -> None:
        self._names[folder] = {path.name: path.stat().st_ino for path in folder.iterdir()}
