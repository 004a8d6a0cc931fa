"""The files that a simulated write acts on: a tree in memory, and the few operations asked of it.

`FileLayer` is all that those two need; `InertFiles` is the only implementation the package brings, so a case
cannot reach a real file. Denials come from modes and owners inside the tree, which also holds for a learner whose
kernel runs as root.

Paths are POSIX and absolute once inside. Links are followed as a kernel does: every component above the last,
the last one only where the operation says so, and at most `MAX_LINKS` of them.
"""

from __future__ import annotations

import posixpath
from typing import Final, NoReturn, Protocol

from labsim.fallback.classify import SimulatedError
from labsim.fallback.events import NodeKind

#: One more link than this on a single walk is a loop, as on Linux.
MAX_LINKS: Final = 40

_READ, _WRITE, _SEARCH = 4, 2, 1
_TEXTS: Final = {
    "EACCES": "permission denied",
    "EEXIST": "file already exists",
    "EISDIR": "illegal operation on a directory",
    "ELOOP": "too many symbolic links encountered",
    "ENOENT": "no such file or directory",
    "ENOTDIR": "not a directory",
    "EPERM": "operation not permitted",
}


class FileLayer(Protocol):
    """What the algorithms ask of files. Every method raises an error that `classify` can read."""

    @property
    def cwd(self) -> str:
        """The absolute folder against which relative paths are read."""

    def real_path(self, path: str) -> str:
        """The path with every link followed; an error if it does not exist or cannot be walked."""

    def inspect(self, path: str) -> NodeKind:
        """What `path` names, without following a link in the last place."""

    def make_directories(self, path: str) -> None:
        """Make `path` and its missing parents; an existing directory is no error."""

    def write_text(self, path: str, text: str) -> None:
        """Replace the content of the file at `path`, making the file but not its parents."""

    def unlink(self, path: str) -> None:
        """Remove the file or the link at `path` itself."""


class _Directory:
    __slots__ = ("entries", "mode", "owner")

    def __init__(self, mode: int, owner: str) -> None:
        self.mode = mode
        self.owner = owner
        self.entries: dict[str, _Node] = {}


class _File:
    __slots__ = ("mode", "owner", "text")

    def __init__(self, text: str, mode: int, owner: str) -> None:
        self.text = text
        self.mode = mode
        self.owner = owner


class _Link:
    __slots__ = ("target",)

    def __init__(self, target: str) -> None:
        self.target = target


_Node = _Directory | _File | _Link


class InertFiles:
    """A file tree in memory, seen by one `user`.

    `add_directory`, `add_file` and `add_link` lay it out without asking for permission. All other methods act
    as `user`: the owner's three mode bits count for the owner, the last three for everyone else (there are no
    groups and no superuser). Errors are `SimulatedError` with a string code.
    """

    def __init__(self, *, user: str = "learner", cwd: str = "/") -> None:
        self.user = user
        self._cwd = cwd
        self._root = _Directory(0o755, "root")

    @property
    def cwd(self) -> str:
        return self._cwd

    # Laying out

    def add_directory(self, path: str, *, mode: int = 0o755, owner: str | None = None) -> None:
        """Put a directory at `path`; its parent must be a directory of the tree. Default owner: the user."""
        self._place(path, _Directory(mode, self.user if owner is None else owner))

    def add_file(self, path: str, text: str = "", *, mode: int = 0o644, owner: str | None = None) -> None:
        """Put a file at `path`; its parent must be a directory of the tree. Default owner: the user."""
        self._place(path, _File(text, mode, self.user if owner is None else owner))

    def add_link(self, path: str, target: str) -> None:
        """Put a symbolic link at `path`; `target` may be relative, missing, or the link itself."""
        self._place(path, _Link(target))

    def _place(self, path: str, node: _Node) -> None:
        parent: _Node = self._root
        *above, name = [part for part in path.split("/") if part] or [""]
        for part in above:
            found = parent.entries.get(part) if isinstance(parent, _Directory) else None
            if not isinstance(found, _Directory):
                raise ValueError(f"{path}: {part!r} is not a directory of this tree. Add it first.")
            parent = found
        if not name or not isinstance(parent, _Directory) or name in parent.entries:
            raise ValueError(f"{path}: there is something at this path already. Use another name.")
        parent.entries[name] = node

    # Acting as the user

    def real_path(self, path: str) -> str:
        return self._walk(path, "realpath", follow_last=True)[0]

    def inspect(self, path: str) -> NodeKind:
        match self._walk(path, "lstat", follow_last=False)[1]:
            case _Directory():
                return NodeKind.DIRECTORY
            case _Link():
                return NodeKind.SYMLINK
            case _File():
                return NodeKind.FILE

    def make_directories(self, path: str) -> None:
        prefix = ""
        for part in posixpath.join(self._cwd, path).split("/"):
            prefix = posixpath.join(prefix or "/", part)
            if not self._leads_to_directory(prefix):
                self._make_directory(prefix)

    def read_text(self, path: str) -> str:
        """The content of the file at `path`, with every link followed."""
        node = self._walk(path, "open", follow_last=True)[1]
        if not isinstance(node, _File):
            _fail("EISDIR", "open", path)
        self._need(_READ, node, "open", path)
        return node.text

    def write_text(self, path: str, text: str) -> None:
        place = path
        for _ in range(MAX_LINKS + 1):
            parent, name = self._parent(place, "open")
            node = parent.entries.get(name)
            if not isinstance(node, _Link):
                break
            # A dangling link is written through: the file appears where it points.
            place = posixpath.join(posixpath.dirname(place), node.target)
        match node:
            case _File():
                self._need(_WRITE, node, "open", path)
                node.text = text
            case None if name not in ("", ".", ".."):
                self._need(_WRITE, parent, "open", path)
                parent.entries[name] = _File(text, 0o644, self.user)
            case _Link():
                _fail("ELOOP", "open", path)
            case _:
                _fail("EISDIR", "open", path)

    def unlink(self, path: str) -> None:
        node = self._walk(path, "unlink", follow_last=False)[1]
        parent, name = self._parent(path, "unlink")
        self._need(_WRITE, parent, "unlink", path)
        if isinstance(node, _Directory):
            # The answer of the systems that make a directory look like a denial (fallback/F-28): the harder case.
            _fail("EPERM", "unlink", path)
        del parent.entries[name]

    # Walking

    def _make_directory(self, path: str) -> None:
        parent, name = self._parent(path, "mkdir")
        if name in ("", ".", "..") or name in parent.entries:
            _fail("EEXIST", "mkdir", path)
        self._need(_WRITE, parent, "mkdir", path)
        parent.entries[name] = _Directory(0o755, self.user)

    def _leads_to_directory(self, path: str) -> bool:
        try:
            return isinstance(self._walk(path, "stat", follow_last=True)[1], _Directory)
        except SimulatedError:
            return False  # a dangling link or a loop stands where the directory should be

    def _parent(self, path: str, call: str) -> tuple[_Directory, str]:
        """The directory that holds, or would hold, the last component of `path`, and that component."""
        above, name = posixpath.split(path)
        node = self._walk(above, call, follow_last=True)[1]
        if not isinstance(node, _Directory):
            _fail("ENOTDIR", call, path)
        self._need(_SEARCH, node, call, path)
        return node, name

    def _walk(self, path: str, call: str, *, follow_last: bool) -> tuple[str, _Node]:
        """The node at `path` and the path it really has. `call` names the operation in an error."""
        trail: list[tuple[str, _Node]] = [("", self._root)]
        ahead = posixpath.join(self._cwd, path).split("/")[::-1]
        links = 0
        while ahead:
            part = ahead.pop()
            if part in ("", "."):
                continue
            here = trail[-1][1]
            if not isinstance(here, _Directory):
                _fail("ENOTDIR", call, path)
            self._need(_SEARCH, here, call, path)
            if part == "..":
                trail = trail[:-1] if len(trail) > 1 else trail
                continue
            node = here.entries.get(part)
            if node is None:
                _fail("ENOENT", call, path)
            if isinstance(node, _Link) and (follow_last or any(ahead)):
                links += 1
                if links > MAX_LINKS:
                    _fail("ELOOP", call, path)
                if node.target.startswith("/"):
                    trail = trail[:1]
                ahead += node.target.split("/")[::-1]
                continue
            trail.append((part, node))
        return "/".join(name for name, _ in trail) or "/", trail[-1][1]

    def _need(self, right: int, node: _Directory | _File, call: str, path: str) -> None:
        bits = node.mode >> 6 if node.owner == self.user else node.mode
        if not bits & right:
            _fail("EACCES", call, path)


def _fail(code: str, call: str, path: str) -> NoReturn:
    raise SimulatedError(f"{code}: {_TEXTS[code]}, {call} '{path}'", code)
