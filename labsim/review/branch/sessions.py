"""A host's sessions: which there are, which one is open, and the moves between and inside them.

Each move asks the extensions first, and a veto leaves everything as it was (review/V-38); once it is done it is
announced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from labsim.call.handlers import EventName
from labsim.call.runner import Runner
from labsim.errors import LabsimError
from labsim.review.base.events import MovePrevented, SessionMoved
from labsim.review.branch.entries import Entry
from labsim.review.branch.tree import NotSaved, Save, SessionTree, keep_in_memory
from labsim.stage.stage import Stage

FIRST_SESSION: Final = "session-1"


class UnknownSession(LabsimError):
    """The host has no session of that id. Attributes: `session_id`, `known`."""

    def __init__(self, session_id: str, known: Iterable[str]) -> None:
        self.session_id = session_id
        self.known = tuple(known)
        super().__init__(f"There is no session {session_id!r}. Sessions: {', '.join(self.known)}.")


class Sessions:
    """The sessions of one host; `current` is the open one.

    `save` keeps the entries, by session id. `runner` is the extensions' runner, set once it is there. A move
    returns whether it was made: False, if an extension cancelled it beforehand.
    """

    def __init__(
        self,
        stage: Stage,
        stored: Mapping[str, Iterable[Entry]] | None = None,
        *,
        current: str = FIRST_SESSION,
        save: Save = keep_in_memory,
    ) -> None:
        self._stage = stage
        self._save = save
        self.runner: Runner | None = None
        stored = stored or {current: ()}
        self.trees = {name: SessionTree(name, entries, save=save) for name, entries in stored.items()}
        self.current = self._known(current)

    async def new(self) -> bool:
        """Switch to a fresh session, in which the note is the untouched fixture."""
        return await self._moved(_SWITCH, lambda: self._opened(()))

    async def resume(self, session_id: str) -> bool:
        """Switch to a session that is there. Raises: UnknownSession."""
        tree = self._known(session_id)
        return await self._moved(_SWITCH, lambda: tree)

    async def fork(self) -> bool:
        """Switch to a new session that begins with the whole current branch."""
        return await self._moved(_SWITCH, lambda: self._opened(self._path(self.current.leaf_id)))

    async def branch(self, entry_id: str | None) -> bool:
        """Go on in a new session from an entry of this one; None: from before the first. Raises: UnknownEntry."""
        path = self._path(entry_id)
        return await self._moved(_BRANCH, lambda: self._opened(path))

    async def go(self, entry_id: str | None) -> bool:
        """Move inside the current session's tree; None: to before the first entry (review/V-9). Raises:
        UnknownEntry.
        """
        self._path(entry_id)  # refused before anybody is asked

        def move() -> SessionTree:
            self.current.move_to(entry_id)
            return self.current

        return await self._moved(_TREE, move)

    def _known(self, session_id: str) -> SessionTree:
        if session_id not in self.trees:
            raise UnknownSession(session_id, self.trees)
        return self.trees[session_id]

    def _path(self, entry_id: str | None) -> list[Entry]:
        """The entries from the root to `entry_id`, in a tree of their own, so that nothing moves."""
        probe = SessionTree(self.current.id, self.current.entries)
        probe.move_to(entry_id)
        return list(probe.branch())[::-1]

    def _opened(self, entries: Iterable[Entry]) -> SessionTree:
        """A new session that holds copies of `entries`, saved. Raises: NotSaved."""
        name = f"session-{max(map(_number, self.trees), default=0) + 1}"
        copies = tuple(entries)
        try:
            for entry in copies:
                self._save(name, entry)
        except OSError as error:
            raise NotSaved(error.strerror or str(error)) from error
        tree = self.trees[name] = SessionTree(name, copies, save=self._save)
        return tree

    async def _moved(self, names: tuple[EventName, EventName], make: Callable[[], SessionTree]) -> bool:
        before, after = names
        if await self._emit(before) is True:  # cancelled: nothing ends (review/V-38)
            self._stage.ledger.append(MovePrevented(at_ms=self._stage.now_ms, by=before.value))
            return False
        self.current = make()
        self._stage.ledger.append(
            SessionMoved(
                at_ms=self._stage.now_ms,
                by=after.value,
                session_id=self.current.id,
                leaf_id=self.current.leaf_id,
            )
        )
        await self._emit(after)
        return True

    async def _emit(self, name: EventName) -> bool:
        """Tell the extensions. Returns: whether one of them cancelled."""
        if self.runner is None:
            return False
        answer = await self.runner.emit(name, name.value)
        return isinstance(answer, Mapping) and answer.get("cancel") is True


def _number(session_id: str) -> int:
    """The number in an id of ours; 0 for one of another make. An id is never used twice."""
    tail = session_id.removeprefix("session-")
    return int(tail) if tail != session_id and tail.isascii() and tail.isdecimal() and len(tail) < 10 else 0


_SWITCH: Final = (EventName.SESSION_BEFORE_SWITCH, EventName.SESSION_SWITCH)
_BRANCH: Final = (EventName.SESSION_BEFORE_BRANCH, EventName.SESSION_BRANCH)
_TREE: Final = (EventName.SESSION_BEFORE_TREE, EventName.SESSION_TREE)
