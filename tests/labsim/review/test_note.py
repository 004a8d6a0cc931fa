"""The note and where it lives: validity, the packaged fixture, entries, the branch (review/V-1 to review/V-5,
review/V-6 to review/V-14).
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from review_kit import EDITED, FRESH, NOTE, Bench

from labsim.review.branch.entries import Entry, EntryType, as_mapping, read_lines, stamp, to_line
from labsim.review.branch.note import LONGEST, PACKAGED_NOTE, FixtureUnavailable, note_on, valid_text
from labsim.review.branch.sessions import UnknownSession
from labsim.review.branch.tree import NotSaved, SessionTree, UnknownEntry
from labsim.stage.stage import Stage
from labsim.terms import Status

VALID = {"version": 1, "text": EDITED, "status": "accepted", "revision": 1}


def tree_with(*data: Any) -> SessionTree:
    tree = SessionTree("session-1")
    for each in data:
        tree.append(EntryType.CUSTOM, at_ms=0, custom_type="workbook-review-desk-state", data=each)
    return tree


def test_a_fresh_session_has_the_packaged_note_at_revision_0():
    """review/V-1, review/V-4: fixture text as read, its final newline kept; draft; no grant."""
    bench = Bench(note=PACKAGED_NOTE)

    assert bench.stand == (PACKAGED_NOTE.decode(), "draft", 0, False, False)
    assert bench.stand[0].endswith("each month.\n")
    assert bench.host.desk.grant is None


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("x" * LONGEST, True),
        ("x" * (LONGEST + 1), False),
        ("🌱" * LONGEST, True),  # review/V-3: code points, not units of UTF-16
        ("🌱" * (LONGEST + 1), False),
        (" \n\t\u3000\ufeff", False),
        ("", False),
        ("  seed  ", True),
        (" " * LONGEST, False),
        ("a" + " " * (LONGEST - 1), True),
        (5, False),
        (None, False),
    ],
)
def test_a_draft_is_neither_blank_nor_longer_than_12000_characters(text: object, valid: bool):
    """review/V-2, review/V-3."""
    assert valid_text(text) is valid


def test_trimming_is_only_for_the_test():
    """review/V-3: the stored text is unchanged."""
    bench = Bench()
    bench.review("\n  seed  \n", "Accept locally")

    assert bench.stand[0] == "\n  seed  \n"


@pytest.mark.parametrize("note", [None, b"\xff\xfe", b"", b" \n", b"x" * 12_001], ids=lambda n: repr(n)[:12])
def test_without_a_usable_fixture_nothing_works_that_needs_the_note(note: bytes | None):
    """review/V-4: missing, undecodable, and (ours) no valid draft. The text names the file, and nothing is
    recorded.
    """
    bench = Bench(note=note)
    for word in ("show", "review", "delegate", "overlay"):
        bench.say(word)

    assert bench.notices == [("error", "Fixture unavailable: release-note.txt")] * 4
    assert bench.refused(op="inspect") == "Fixture unavailable: release-note.txt"
    assert bench.refused(op="query") == "Fixture unavailable: release-note.txt"
    assert bench.told(op="discover")["op"] == "discover"
    assert (bench.entries, bench.host.desk.busy, bench.sessions.current.entries) == (0, False, ())


def test_an_entry_makes_the_fixture_unnecessary():
    """review/V-4, review/V-8: the fixture counts only where no entry does."""
    assert note_on(tree_with(VALID), None).text == EDITED
    with pytest.raises(FixtureUnavailable):
        note_on(tree_with(), None)


def test_a_recorded_change_is_one_custom_entry_under_the_leaf():
    """review/V-6, review/V-7: name, envelope and data; it becomes the leaf."""
    bench = Bench()
    bench.stage.advance(1234)
    bench.review(EDITED, "Accept locally")
    bench.review(NOTE, "Reject")

    first, second = bench.sessions.current.entries
    assert as_mapping(first) == {
        "type": "custom",
        "customType": "workbook-review-desk-state",
        "data": {"version": 1, "text": EDITED, "status": "accepted", "revision": 1},
        "id": "entry-1",
        "parentId": None,
        "timestamp": "1970-01-01T00:00:01.234Z",
    }
    assert as_mapping(second) == {
        "type": "custom",
        "customType": "workbook-review-desk-state",
        "data": {"version": 1, "text": EDITED, "status": "rejected", "revision": 2},
        "id": "entry-2",
        "parentId": "entry-1",
        "timestamp": "1970-01-01T00:00:01.234Z",
    }
    assert bench.sessions.current.leaf_id == "entry-2"


def test_the_note_is_read_from_the_branch_on_every_operation():
    """review/V-8: what somebody else writes into the session counts at once; nothing is cached."""
    bench = Bench()
    assert bench.told(op="inspect")["revision"] == 0

    bench.sessions.current.append(
        EntryType.CUSTOM, at_ms=0, custom_type="workbook-review-desk-state", data={**VALID, "revision": 7}
    )
    assert bench.told(op="inspect") == {
        "op": "inspect",
        "text": EDITED,
        "status": "accepted",
        "revision": 7,
        "authorized": False,
    }


def test_sibling_branches_do_not_see_each_other_and_revisions_repeat():
    """review/V-9, review/V-11: before the first entry there is revision 0 again; the next one is current + 1."""
    bench = Bench()
    bench.review(EDITED, "Accept locally")
    bench.move("go", None)
    assert bench.stand == FRESH

    bench.review("Other.", "Accept locally")
    assert bench.stand == ("Other.", "accepted", 1, False, False)
    bench.move("go", "entry-1")
    assert bench.stand == (EDITED, "accepted", 1, False, False)
    assert [entry.parent_id for entry in bench.sessions.current.entries] == [None, None]


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        [VALID],
        5,
        {},
        {**VALID, "version": 2},
        {**VALID, "version": True},
        {**VALID, "version": 1.0},
        {**VALID, "version": "1"},
        {**VALID, "status": "published"},
        {**VALID, "status": None},
        {**VALID, "status": ["draft"]},
        {**VALID, "revision": 0},
        {**VALID, "revision": -1},
        {**VALID, "revision": True},
        {**VALID, "revision": 1.5},
        {**VALID, "revision": "1"},
        {**VALID, "text": " \n"},
        {**VALID, "text": "x" * 12_001},
        {**VALID, "text": 5},
        {key: value for key, value in VALID.items() if key != "text"},
    ],
    ids=lambda data: repr(data)[:60],
)
def test_a_malformed_entry_is_passed_over(data: Any):
    """review/V-10: the walk goes on to the nearest valid one."""
    tree = tree_with(VALID, data)

    found = note_on(tree, NOTE.encode())
    assert (found.text, found.status, found.revision, found.entry_id) == (EDITED, Status.ACCEPTED, 1, "entry-1")


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["version", "text", "status", "revision"]), inner, max_size=4)
            ),
            max_leaves=6,
        ),
        max_size=4,
    )
)
def test_no_data_can_break_the_walk(others: list[Any]):
    """review/V-10: whatever stands in the later entries, it is either the desk's own shape or as if it were not
    there.
    """
    tree = tree_with(VALID, *others)

    found = note_on(tree, None)
    assert found.revision >= 1
    assert found.text == EDITED or any(isinstance(o, dict) and o.get("text") == found.text for o in others)


def test_an_entry_of_another_name_or_kind_is_none_of_ours():
    """review/V-6."""
    tree = tree_with(VALID)
    tree.append(EntryType.CUSTOM, at_ms=0, custom_type="somebody-else", data={**VALID, "revision": 9})
    tree.append(EntryType.MESSAGE, at_ms=0, message={"role": "user", "content": "hello"})

    assert note_on(tree, None).revision == 1


def test_whatever_does_not_record_appends_nothing():
    """review/V-12: looking, asking, revoking, refused and failed operations."""
    bench = Bench()
    for word in ("show", "", "revoke", "publish", "SHOW twice"):
        bench.say(word)
    bench.grant()
    bench.no_act("accept", 3)
    bench.refused(op="act")
    bench.say("review")
    bench.say("delegate")
    bench.no_act()
    bench.say("revoke")
    for op in ("discover", "inspect", "query"):
        bench.told(op=op)

    assert bench.sessions.current.entries == ()


def test_a_restart_brings_back_the_note_and_never_the_grant():
    """review/V-13, review-t17: session and revision are those of the grant, and it is gone all the same."""
    bench = Bench()
    bench.review(EDITED, "Accept locally")
    bench.grant()
    assert bench.stand == (EDITED, "accepted", 1, True, False)

    bench.restart()
    assert bench.stand == (EDITED, "accepted", 1, False, False)
    assert bench.host.desk.grant is None


@pytest.mark.parametrize("how", ["act", "review", "escape", "panel"])
def test_what_cannot_be_saved_changes_nothing_but_the_grant(how: str):
    """review/V-14: state unchanged, error reported, grant dropped."""
    bench = Bench()
    bench.grant()
    bench.store.full = True
    text = "Nothing recorded: the session could not be saved (No space left on device)."
    if how == "act":
        assert bench.no_act("accept", 0) == text
    elif how == "review":
        bench.review(EDITED, "Accept locally")
    elif how == "escape":
        bench.review(None)
    else:
        bench.say("overlay")
        assert bench.host.overlays.shown is not None
        bench.host.overlays.shown.press("a")

    assert bench.stand == FRESH
    assert bench.ends == ["FAILED"]
    assert bench.sessions.current.entries == ()
    if how != "act":
        assert bench.notices[-1] == ("error", text)
    bench.store.full = False
    bench.review(EDITED, "Accept locally")
    assert bench.stand == (EDITED, "accepted", 1, False, False)
    assert [entry.id for entry in bench.sessions.current.entries] == ["entry-1"]


def test_whatever_else_goes_wrong_in_saving_drops_the_grant_too():
    """review/V-14, on the strict side: an error nobody foresaw is not a reason to keep a permission."""
    bench = Bench()
    bench.grant()

    def broken(session_id: str, entry: Entry) -> None:
        raise RuntimeError("the store is broken")

    bench.sessions.current._save = broken
    with pytest.raises(RuntimeError, match="the store is broken"):
        bench.ask(op="act", action="accept", expectedRevision=0).result()
    assert bench.stand == FRESH


# ------------------------------------------------------------------------------------------------ trees and lines


def test_a_tree_opens_at_its_newest_entry():
    """review/V-13: a position inside the tree is not stored, so a new process begins where the last entry is."""
    bench = Bench()
    bench.review(EDITED, "Accept locally")
    bench.move("go", None)
    bench.restart()

    assert bench.stand == (EDITED, "accepted", 1, False, False)


def test_a_circle_of_parents_ends_the_walk():
    """review/V-8, review/V-10: a damaged file must not hang the desk."""
    entries = [
        Entry(type="message", id="a", parent_id="b", timestamp=stamp(0)),
        Entry(type="message", id="b", parent_id="a", timestamp=stamp(0)),
    ]
    tree = SessionTree("session-1", entries)

    assert [entry.id for entry in tree.branch()] == ["b", "a"]
    assert note_on(tree, NOTE.encode()).revision == 0


def test_a_move_to_nowhere_is_refused_and_names_what_there_is():
    bench = Bench()
    bench.review(EDITED, "Accept locally")

    with pytest.raises(UnknownEntry, match=r"session-1 has no entry 'entry-9'. Its entries: entry-1\."):
        bench.move("go", "entry-9")
    with pytest.raises(UnknownSession, match=r"There is no session 'session-9'. Sessions: session-1\."):
        bench.move("resume", "session-9")
    assert bench.stand == (EDITED, "accepted", 1, False, False)


def test_new_ids_never_repeat_old_ones():
    """review/V-7: also where the entries come from a file, and some of them are not ours."""
    entries = [
        Entry(type="message", id=name, parent_id=None, timestamp=stamp(0))
        for name in ("entry-7", "x", "entry-x", "entry-")
    ]

    assert SessionTree("s", entries).append(EntryType.MESSAGE, at_ms=0).id == "entry-8"


def test_a_new_session_never_takes_the_name_of_an_old_one():
    """review/V-6 to review/V-14: also where a session between them has no entry, and so was never stored."""
    bench = Bench()
    bench.review(EDITED, "Accept locally")
    bench.move("new")
    bench.move("resume", "session-1")
    bench.move("fork")
    bench.restart()
    assert sorted(bench.sessions.trees) == ["session-1", "session-3"]

    bench.move("new")
    assert bench.sessions.current.id == "session-4"
    assert bench.stand == FRESH


def test_a_fork_or_branch_that_cannot_be_saved_is_not_made():
    """review/V-14, in the spirit: what could not be saved is not there."""
    bench = Bench()
    bench.review(EDITED, "Accept locally")
    bench.store.full = True

    with pytest.raises(NotSaved):
        bench.move("fork")
    assert bench.sessions.current.id == "session-1"
    assert list(bench.sessions.trees) == ["session-1"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.builds(
    Entry,
    type=st.text(min_size=1, max_size=8),
    id=st.text(min_size=1, max_size=8),
    parent_id=st.none() | st.text(max_size=8),
    timestamp=st.just(stamp(0)),
    custom_type=st.text(max_size=8),
    data=JSON,
    message=JSON,
)


@pytest.mark.slow
@settings(derandomize=True, max_examples=80, deadline=None)
@given(st.lists(ENTRIES, max_size=4, unique_by=lambda entry: entry.id))
def test_entries_survive_their_lines(entries: list[Entry]):
    """review/V-7: what is saved is what is read, character for character."""
    read = read_lines(b"".join(map(to_line, entries)))

    assert list(read.entries) == entries
    assert read.remarks == ()
    assert read.complete


def test_half_a_surrogate_pair_survives_too():
    """review/V-3, review/V-58: the stored text is untouched, also where it is no text that UTF-8 could hold."""
    entry = Entry(type="custom", id="a", parent_id=None, timestamp=stamp(0), data={"text": "\ud800seed"})

    assert read_lines(to_line(entry)).entries[0] == entry


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b"5",
        b"null",
        b'{"type":"custom"}',
        b'{"type":"custom","id":"","parentId":null,"timestamp":"t"}',
        b'{"type":"custom","id":"a","parentId":5,"timestamp":"t"}',
        b'{"type":"custom","id":"a","parentId":null,"timestamp":5}',
        b'{"type":5,"id":"a","parentId":null,"timestamp":"t"}',
        b'{"type":"custom","id":"a","parentId":null,"timestamp":"t","data":NaN}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=lambda line: repr(line)[:40],
)
def test_a_line_that_is_no_entry_is_left_out_with_a_remark(line: bytes):
    """review/V-10: and everything around it counts."""
    before = to_line(Entry(type="message", id="one", parent_id=None, timestamp=stamp(0)))
    after = to_line(Entry(type="message", id="two", parent_id="one", timestamp=stamp(0)))
    read = read_lines(before + line + b"\n\r\n\n" + after)

    assert [entry.id for entry in read.entries] == ["one", "two"]
    assert read.remarks == ("Line 2 is no entry and is left out.",)


def test_the_clock_of_entries_is_the_stage():
    """No wall clock: the same case gives the same lines."""
    stage = Stage()
    stage.advance(86_400_000 + 61_001)

    assert stamp(stage.now_ms) == "1970-01-02T00:01:01.001Z"
