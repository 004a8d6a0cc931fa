"""Sessions on disk: one line for each entry, whole or not at all; what was cut short is left out and said so."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from review_kit import EDITED, FRESH, NOTE, Bench

from labsim.review.branch.entries import Entry, EntryType, stamp, to_line
from labsim.review.branch.sessions import Sessions
from labsim.review.branch.tree import NotSaved
from labsim.server.session_file import NoSessionId, SessionFiles

TORN = "The last line was cut short after 40 bytes and is left out. Everything before it is kept."


class OnDisk(Bench):
    """A desk whose sessions are files; a restart reads them again."""

    def __init__(self, folder: Path) -> None:
        self.files = SessionFiles(folder)
        super().__init__()
        self.reopen()

    def reopen(self, current: str = "session-1") -> tuple[str, ...]:
        """A new process. Returns: what could not be read, in words."""
        found = {name: self.files.read(name) for name in {current, *self.files.session_ids}}
        stored = {name: read.entries for name, read in found.items()}
        self.start(Sessions(self.stage, stored, current=current, save=self.files.save))
        return found[current].remarks


def entry(name: str, parent: str | None = None) -> Entry:
    return Entry(type="message", id=name, parent_id=parent, timestamp=stamp(0), message={"content": name})


def test_a_session_is_reopened_as_it_was_and_without_the_grant(tmp_path: Path):
    """review-t17, review/V-13: state from the entries, authorised false."""
    desk = OnDisk(tmp_path)
    desk.review(EDITED, "Accept locally")
    desk.review(NOTE, "Reject")
    desk.grant()
    assert desk.stand == (EDITED, "rejected", 2, True, False)

    assert desk.reopen() == ()
    assert desk.stand == (EDITED, "rejected", 2, False, False)
    desk.review("Third.", "Accept locally")
    assert [each.id for each in desk.sessions.current.entries] == ["entry-1", "entry-2", "entry-3"]


def test_nothing_about_a_grant_is_ever_written(tmp_path: Path):
    """review/V-12, review/V-13: a grant leaves no entry, and a session without an entry has no file."""
    desk = OnDisk(tmp_path)
    desk.grant()
    assert list(tmp_path.iterdir()) == []

    desk.act("accept", 0)
    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == (
        b'{"type":"custom","customType":"workbook-review-desk-state","data":{"version":1,"text":"Seed swap on '
        b'Saturday.\\n","status":"accepted","revision":1},"id":"entry-1","parentId":null,'
        b'"timestamp":"1970-01-01T00:00:00.000Z"}\n'
    )


def test_forged_lines_cannot_authorise(tmp_path: Path):
    """review/V-13, review/V-37: whatever stands in the file, no line of it is a grant."""
    (tmp_path / "session-1.jsonl").write_bytes(
        b'{"type":"custom","customType":"workbook-review-desk-grant","data":{"session":"session-1","revision":0},'
        b'"authorized":true,"id":"entry-1","parentId":null,"timestamp":""}\n'
    )
    desk = OnDisk(tmp_path)

    assert desk.stand == FRESH
    assert desk.host.desk.grant is None


@pytest.mark.parametrize("kept", range(1, 40))
def test_a_line_cut_short_anywhere_is_left_out_with_a_message(tmp_path: Path, kept: int):
    """A torn last line is recovered; what came before counts, the next entry begins a line of its own."""
    files = SessionFiles(tmp_path)
    files.save("session-1", entry("one"))
    path = files.path("session-1")
    path.write_bytes(path.read_bytes() + to_line(entry("two", "one"))[:kept])
    read = files.read("session-1")
    files.save("session-1", entry("three", "one"))
    again = files.read("session-1")

    assert [each.id for each in read.entries] == ["one"]
    assert read.remarks == (TORN.replace("40", str(kept)),)
    assert not read.complete
    assert [each.id for each in again.entries] == ["one", "three"]
    assert again.remarks == ("Line 2 is no entry and is left out.",)
    assert again.complete


def test_a_whole_line_that_lacks_only_its_end_is_kept(tmp_path: Path):
    """Everything of the entry is there, so it counts; the next one is not glued to it."""
    files = SessionFiles(tmp_path)
    files.path("session-1").write_bytes(to_line(entry("one")).rstrip(b"\n"))
    read = files.read("session-1")
    files.save("session-1", entry("two", "one"))

    assert (len(read.entries), read.remarks, read.complete) == (1, (), False)
    assert [each.id for each in files.read("session-1").entries] == ["one", "two"]


def test_the_desk_goes_on_after_a_torn_line(tmp_path: Path):
    """review/V-10: the note is that of the last whole entry."""
    desk = OnDisk(tmp_path)
    desk.review(EDITED, "Accept locally")
    desk.review("Torn.", "Accept locally")
    path = desk.files.path("session-1")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:40])

    assert desk.reopen() == (TORN,)
    assert desk.stand == (EDITED, "accepted", 1, False, False)
    desk.review("Again.", "Accept locally")
    assert desk.stand == ("Again.", "accepted", 2, False, False)


@pytest.mark.parametrize("written", [0, 1, 30])
def test_a_write_that_stops_half_way_leaves_the_file_as_it_was(
    tmp_path: Path, written: int, monkeypatch: pytest.MonkeyPatch
):
    """review/V-14: whole or not at all; a full disk takes a part of the line, and gives it back."""
    desk = OnDisk(tmp_path)
    desk.review(EDITED, "Accept locally")
    path = desk.files.path("session-1")
    before = path.read_bytes()
    write = os.write
    desk.grant()
    with monkeypatch.context() as broken:
        broken.setattr(os, "write", lambda file, data: write(file, data[:written]))
        text = desk.no_act("accept", 1)

    assert text.startswith(f"Nothing recorded: the session could not be saved (only {written} of ")
    assert path.read_bytes() == before
    assert desk.stand == (EDITED, "accepted", 1, False, False)
    desk.review(NOTE, "Reject")
    assert desk.reopen() == ()
    assert desk.stand == (EDITED, "rejected", 2, False, False)


def test_an_entry_that_does_not_reach_the_disk_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """review/V-14: saved means seen onto the disk."""

    def fails(file: int) -> None:
        raise OSError(5, "Input/output error")

    desk = OnDisk(tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fails)
        desk.review(EDITED, "Accept locally")

    assert desk.notices == [("error", "Nothing recorded: the session could not be saved (Input/output error).")]
    assert desk.files.path("session-1").read_bytes() == b""
    assert desk.stand == FRESH


def test_a_session_is_its_owners_alone(tmp_path: Path):
    """A note under review is not for every user of the machine."""
    files = SessionFiles(tmp_path / "sessions")
    files.save("session-1", entry("one"))

    assert stat.S_IMODE(files.path("session-1").stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_written_is_a_change_that_is_not_made(tmp_path: Path):
    """review/V-14: with the reason, as the system gives it."""
    folder = tmp_path / "sessions"
    desk = OnDisk(folder)
    folder.touch()  # a file where the folder should be made
    with pytest.raises(NotSaved, match=r"could not be saved \(File exists\)"):
        desk.sessions.current.append(EntryType.MESSAGE, at_ms=0)

    assert desk.sessions.current.entries == ()


def test_a_fork_is_a_file_of_its_own(tmp_path: Path):
    """review/end-4: the entries up to here, in a new session; the old one is not touched."""
    desk = OnDisk(tmp_path)
    desk.review(EDITED, "Accept locally")
    desk.move("fork")
    desk.review(NOTE, "Reject")

    assert desk.files.session_ids == ("session-1", "session-2")
    assert desk.reopen("session-2") == ()
    assert desk.stand == (EDITED, "rejected", 2, False, False)
    desk.move("resume", "session-1")
    assert desk.stand == (EDITED, "accepted", 1, False, False)


@pytest.mark.parametrize("name", ["", "..", "../outside", "a/b", "a\\b", "-a", "a.jsonl", "a\n", "a" * 101])
def test_a_session_id_that_is_no_plain_name_is_refused(tmp_path: Path, name: str):
    """The caller hands over a folder, and nothing outside of it is ever touched."""
    with pytest.raises(NoSessionId, match="is no session id"):
        SessionFiles(tmp_path).read(name)


def test_a_damaged_line_in_the_middle_is_skipped_and_named(tmp_path: Path):
    """review/V-10: what hangs on the lost entry ends there, and the desk says which line it was."""
    desk = OnDisk(tmp_path)
    for text in ("One.", "Two.", "Three."):
        desk.review(text, "Accept locally")
    path = desk.files.path("session-1")
    lines: list[Any] = path.read_bytes().splitlines(keepends=True)
    lines[1] = b"\x00\xff damaged\n"
    path.write_bytes(b"".join(lines))

    assert desk.reopen() == ("Line 2 is no entry and is left out.",)
    assert desk.stand == ("Three.", "accepted", 3, False, False)
