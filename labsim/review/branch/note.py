"""The note as a branch has it: text, status, revision; and what counts as an entry of it.

Nothing here remembers anything: who wants the note walks the branch (review/V-8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from labsim.errors import HostError
from labsim.js_values import trim
from labsim.review.base.packed import RELEASE_NOTE
from labsim.review.base.words import COPY
from labsim.review.branch.entries import Entry, EntryType
from labsim.review.branch.tree import SessionTree
from labsim.terms import Status

LONGEST: Final = 12_000  # characters, counted as code points (review/V-2, review/V-3)
VERSION: Final = 1  # of the data in an entry

#: The packaged release note, as its bytes were read.
PACKAGED_NOTE: Final = RELEASE_NOTE.encode()


class FixtureUnavailable(HostError):
    """The packaged note is missing, is not UTF-8, or is no valid draft: there is nothing to review (review/V-4)."""

    def __init__(self) -> None:
        super().__init__(COPY.errors.no_fixture.format(name=COPY.note))


class Note(Struct, frozen=True, kw_only=True):
    """The note at one moment. `entry_id` names the entry it was read from; None: the untouched fixture."""

    text: str
    status: Status
    revision: int
    entry_id: str | None


def valid_text(text: object) -> bool:
    """Whether `text` can be a draft: not blank after trimming, at most 12,000 characters (review/V-2).

    Trimming is only for the test; what is stored is the text as it is (review/V-3).
    """
    return isinstance(text, str) and len(text) <= LONGEST and trim(text) != ""


def note_on(tree: SessionTree, fixture: bytes | None) -> Note:
    """The note on the current branch: the nearest valid entry, or else the fixture (review/V-1, review/V-8).

    `fixture` is what was read of the packaged file; None: there was none.
    Raises: FixtureUnavailable, only where the fixture is what counts.
    """
    for entry in tree.branch():
        found = read_entry(entry)  # one that is malformed is passed over (review/V-10)
        if found is not None:
            return found
    return Note(text=fixture_text(fixture), status=Status.DRAFT, revision=0, entry_id=None)


def fixture_text(fixture: bytes | None) -> str:
    """The fixture's text as read, its final newline kept (review/V-4). Raises: FixtureUnavailable."""
    if fixture is None:
        raise FixtureUnavailable
    try:
        text = fixture.decode()
    except UnicodeDecodeError:
        raise FixtureUnavailable from None
    if not valid_text(text):
        # a change that keeps this text could be recorded, and never be read again (review/V-10)
        raise FixtureUnavailable
    return text


def read_entry(entry: Entry) -> Note | None:
    """The note in one entry; None if it is somebody else's, or malformed (review/V-10)."""
    if entry.type != EntryType.CUSTOM or entry.custom_type != COPY.entry or not isinstance(entry.data, Mapping):
        return None
    data: Mapping[str, Any] = entry.data
    text, status, revision = data.get("text"), data.get("status"), data.get("revision")
    # A boolean equals a number, and a number with a point equals one without: only a plain integer will do.
    if type(data.get("version")) is not int or data["version"] != VERSION:
        return None
    if type(revision) is not int or revision < 1:
        return None
    if not isinstance(status, str) or status not in _STATUSES or not valid_text(text):
        return None
    return Note(text=str(text), status=Status(status), revision=revision, entry_id=entry.id)


def entry_data(text: str, status: Status, revision: int) -> dict[str, Any]:
    """What an entry holds of the note (review/V-7)."""
    return {"version": VERSION, "text": text, "status": status.value, "revision": revision}


_STATUSES: Final = frozenset(status.value for status in Status)
