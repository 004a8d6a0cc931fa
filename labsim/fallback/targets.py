"""Where a failed write or delete would really have acted (fallback/F-29 to fallback/F-36).

A handler is stronger than the call that failed, so it is never given the path that the tool used: a link anywhere
in that path sends the bytes elsewhere, and a list of allowed prefixes would be read against the wrong name
(fallback/F-35). What cannot be resolved is not handed out (fallback/F-36).
"""

from __future__ import annotations

import posixpath

from labsim.fallback.classify import error_code
from labsim.fallback.events import NodeKind
from labsim.fallback.file_tree import FileLayer


def absolute_path(path: str, cwd: str) -> str:
    """`path` against `cwd`, with `.` and `..` taken out of the text alone, links or not (fallback/F-29)."""
    return posixpath.normpath(posixpath.join(cwd, path))


def resolve_target(path: str, *, follow_last: bool, files: FileLayer) -> str | None:
    """The path that a system call on `path` acts on, or None if that is not certain.

    follow_last: True for a write, which goes through a link in the last place; False for a delete, which
    removes the link itself (fallback/F-33). The result lies below no link, so it is where bytes really land
    (fallback/F-35).
    """
    place = absolute_path(path, files.cwd)
    if follow_last:
        real = _real_path(place, files)
        if real is not None:
            return real  # fallback/F-29
        if not _proven_no_link(place, files):
            return None  # fallback/F-30: a dangling link, or nobody can tell
    names = [posixpath.basename(place)]
    parent = posixpath.dirname(place)
    while True:
        real = _real_path(parent, files)
        if real is not None:
            return posixpath.join(real, *names)  # fallback/F-31
        above = posixpath.dirname(parent)
        if above == parent or not _proven_no_link(parent, files):
            return None  # fallback/F-32: not even the root; fallback/F-31: a link, or nobody can tell
        names.insert(0, posixpath.basename(parent))
        parent = above


def _real_path(path: str, files: FileLayer) -> str | None:
    try:
        return files.real_path(path)
    except Exception:
        return None  # for whatever reason: the caller has to prove the rest another way


def _proven_no_link(path: str, files: FileLayer) -> bool:
    """Whether `path` is certainly not a link: it inspects as something else, or certainly is not there."""
    try:
        return files.inspect(path) is not NodeKind.SYMLINK
    except Exception as error:
        return error_code(error) == "ENOENT"  # fallback/F-34: a denied inspection proves nothing
