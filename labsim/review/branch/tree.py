"""One session as a tree of entries: each names its parent, one of them is the leaf, and the branch is the way up.

The tree saves an entry before it has it: what could not be saved is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from msgspec import UNSET

from labsim.errors import HostError, LabsimError
from labsim.js_values import copy_json
from labsim.review.base.words import COPY
from labsim.review.branch.entries import Entry, EntryType, ids_from, stamp

#: Keeps one entry of the session of that id. Raises OSError where it cannot.
Save: TypeAlias = Callable[[str, Entry], None]


class NotSaved(HostError):
    """An entry could not be saved, so nothing was recorded (review/V-14)."""

    def __init__(self, reason: str) -> None:
        super().__init__(COPY.errors.not_saved.format(reason=reason))


class UnknownEntry(LabsimError):
    """A session has no entry of that id. Attributes: `entry_id`, `known`."""

    def __init__(self, session_id: str, entry_id: str, known: Iterable[str]) -> None:
        self.entry_id = entry_id
        self.known = tuple(known)
        there = ", ".join(self.known) or "none"
        super().__init__(f"{session_id} has no entry {entry_id!r}. Its entries: {there}.")


def keep_in_memory(session_id: str, entry: Entry) -> None:
    """Saves nothing: for a session that ends with the process."""


class SessionTree:
    """The entries of one session. `leaf_id` None: the position before the first entry.

    Opened from `entries`, the leaf is the newest of them, as with a session that is opened from its file: a move
    inside the tree is not an entry, and leaves no trace in it.
    """

    def __init__(self, session_id: str, entries: Iterable[Entry] = (), *, save: Save = keep_in_memory) -> None:
        self.id = session_id
        self._save = save
        self._entries: dict[str, Entry] = {}
        for entry in entries:
            self._entries.setdefault(entry.id, entry)
        self.leaf_id: str | None = next(reversed(self._entries), None)
        self._numbered = ids_from(iter(self._entries.values()))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries of all branches, in recording order (review/V-11)."""
        return tuple(self._entries.values())

    def branch(self) -> Iterator[Entry]:
        """The current branch, leaf first, and nothing of the others (review/V-9).

        It ends at the root, at a lost parent, or before it goes in a circle.
        """
        seen: set[str] = set()
        at = self.leaf_id
        while at is not None and at in self._entries and at not in seen:
            seen.add(at)
            entry = self._entries[at]
            yield entry
            at = entry.parent_id

    def holds(self, entry_id: str | None) -> bool:
        """Whether the current branch has that entry; every branch has the root (None)."""
        return entry_id is None or any(entry.id == entry_id for entry in self.branch())

    def append(
        self,
        kind: EntryType,
        *,
        at_ms: int,
        custom_type: str | None = None,
        data: Any = UNSET,
        message: Any = UNSET,
    ) -> Entry:
        """Save an entry under the leaf; it becomes the leaf. Raises: NotSaved, and then nothing has changed."""
        entry = Entry(
            type=kind.value,
            id=f"entry-{self._numbered + 1}",
            parent_id=self.leaf_id,  # review/V-7
            timestamp=stamp(at_ms),
            custom_type=UNSET if custom_type is None else custom_type,
            data=copy_json(data),
            message=copy_json(message),
        )
        try:
            self._save(self.id, entry)
        except OSError as error:
            raise NotSaved(error.strerror or str(error)) from error
        self._numbered += 1
        self._entries[entry.id] = entry
        self.leaf_id = entry.id
        return entry

    def move_to(self, entry_id: str | None) -> None:
        """Make an entry the leaf; None: the position before the first one (review/V-9). Raises: UnknownEntry."""
        if entry_id is not None and entry_id not in self._entries:
            raise UnknownEntry(self.id, entry_id, self._entries)
        self.leaf_id = entry_id
