"""Ordinary files, as `write` makes them here: in memory, and only to show that a path was no address.

At the bottom of `dispatch`. Nothing is opened; paths are text under a folder that does not exist.
"""

from __future__ import annotations

import posixpath
from typing import Final

from labsim.errors import ToolError

FOLDER: Final = "<tmp>/cwd"  # the recordings' name for the folder that the real program wrote into
_M: Final = 0xFFFFFFFF
_P1, _P2, _P3, _P4, _P5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1


class MemoryFiles:
    """The files of one session: path relative to its folder, and content, in the order first written."""

    def __init__(self) -> None:
        self.content: dict[str, str] = {}

    def write(self, path: str, content: str) -> str:
        """Keep `content` under `path`. Returns: the path as messages show it. Raises: ToolError for no path."""
        shown = _relative(path)
        self.content[shown] = content
        return shown


def _relative(path: str) -> str:
    control = next((character for character in path if ord(character) < 32 or ord(character) == 127), None)
    if control is not None:
        raise ToolError(f"The path holds the control character U+{ord(control):04X}, so no file is written.")
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise ToolError("The path holds half of a surrogate pair, so no file is written.")
    shown = posixpath.normpath(path)
    if not path or shown == ".":
        raise ToolError("The path names no file, so none is written. Name one, such as card.txt.")
    if shown.startswith(("/", "../")) or shown == "..":
        raise ToolError(f"{path} is outside the folder of this case, so no file is written there.")
    return shown


def file_tag(content: str) -> str:
    """The four hexadecimal digits that a listing shows for `content`: the low half of its xxHash32."""
    text = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return f"{xxhash32(text.encode(errors='replace')) & 0xFFFF:04X}"


def xxhash32(data: bytes) -> int:
    """The xxHash32 of `data`, seed 0."""
    size, at = len(data), 0
    if size >= 16:
        lanes = [(_P1 + _P2) & _M, _P2, 0, -_P1 & _M]
        while at <= size - 16:
            for lane in range(4):
                word = int.from_bytes(data[at : at + 4], "little")
                lanes[lane] = _rotated(lanes[lane] + word * _P2, 13) * _P1 & _M
                at += 4
        value = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
    else:
        value = _P5
    value = (value + size) & _M
    while at <= size - 4:
        value = _rotated(value + int.from_bytes(data[at : at + 4], "little") * _P3, 17) * _P4 & _M
        at += 4
    for byte in data[at:]:
        value = _rotated(value + byte * _P5, 11) * _P1 & _M
    value = (value ^ value >> 15) * _P2 & _M
    value = (value ^ value >> 13) * _P3 & _M
    return value ^ value >> 16


def _rotated(value: int, by: int) -> int:
    value &= _M
    return (value << by | value >> 32 - by) & _M
