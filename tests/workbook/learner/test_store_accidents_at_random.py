"""The accidents of the progress store once more, with every kind of record that it keeps.

`test_progress_accidents` tries them with commits and notes. Here each method that saves is struck by each accident:
its line is cut short, its disk is full, its kernel is killed, another kernel does the same at the same moment.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path

import msgspec
import pytest
from accident_kit import child, last_said_by
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.learner.records import Commit, Confidence, Pseudonym, Record, Revote, RowNamed, Tried, interpret
from workbook.learner.store import Key, Progress

#: What every child process knows: two answers that can be acted on, and one act for each kind of record.
ACTS = """
import json, sys
from pathlib import Path
from workbook.learner.records import Confidence
from workbook.errors import WorkbookError
from workbook.learner.store import Key, NotSaved, Progress
committed, seen = Key.of("c", "committed", 1), Key.of("c", "seen", 1)
progress = Progress(Path(sys.argv[1]))
acts = {
    "commit": lambda: progress.commit(Key.of("c", "new", 1), "x" * 200, confidence=Confidence.CERTAIN),
    "vote-again": lambda: progress.vote_again(committed, "y" * 200, confidence=Confidence.GUESS),
    "reveal-seen": lambda: progress.see_reveal(committed),
    "row-named": lambda: progress.name_row(seen, 4, held=True),
    "self-checked": lambda: progress.self_check(seen, ("p" * 100, "q" * 100)),
    "tried": lambda: progress.try_(Key.of("c", "task", 1), 2, 5),
    "note": lambda: progress.note(seen, "n" * 200),
    "reset": lambda: progress.reset(committed, "w" * 200),
    "pseudonym": lambda: progress.pseudonym(),
}
"""
KINDS = (
    "commit",
    "vote-again",
    "reveal-seen",
    "row-named",
    "self-checked",
    "tried",
    "note",
    "reset",
    "pseudonym",
)
COMMITTED, SEEN = Key.of("c", "committed", 1), Key.of("c", "seen", 1)


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    """With the answers that the acts need."""
    made = Progress(tmp_path / "answers")
    made.commit(COMMITTED, "one", confidence=Confidence.UNSURE)
    made.commit(SEEN, "two")
    made.see_reveal(SEEN)
    return made


def every_kind(progress: Progress) -> list[Record]:
    """One record of each kind, saved in this process."""
    return [
        progress.vote_again(COMMITTED, "öö", confidence=Confidence.GUESS),
        progress.see_reveal(COMMITTED),
        progress.name_row(COMMITTED, 4, held=False),
        progress.self_check(SEEN, ("é", "ü")),
        progress.try_(Key.of("c", "task", 1), 2, 5),
        progress.note(SEEN, "“n”"),
        progress.reset(COMMITTED, "because"),
        progress.commit(COMMITTED, "anew", confidence=Confidence.CERTAIN),
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=25)  # it waits for the disk
@given(cut=st.integers(min_value=0))
def test_wherever_a_file_of_all_kinds_is_cut_whole_lines_count_and_no_byte_is_lost(tmp_path_factory, cut: int):
    """A half-written last record of any kind: the records are a prefix, the rest is set aside by the next save."""
    progress = Progress(tmp_path_factory.mktemp("cut"))
    saved: list[Record] = [
        progress.commit(COMMITTED, "one"),
        progress.commit(SEEN, "two"),
        progress.see_reveal(SEEN),
    ]
    name = progress.pseudonym()
    saved += every_kind(progress)
    whole = progress.path.read_bytes()
    left = whole[: cut % (len(whole) + 1)]
    progress.path.write_bytes(left)

    readable = list(progress.records())
    assert readable == saved[: len(readable)]
    after = progress.try_(SEEN, 1, 1)
    assert list(progress.records()) == [*readable, after]
    assert after.seq > max((record.seq for record in readable), default=0)
    again = progress.pseudonym()
    assert (again == name) is (b'"pseudonym"' in left and name.encode() + b'"}' in left)
    assert progress.pseudonym() == again
    aside = [path.read_bytes() for path in progress.folder.glob("*.torn-*")]
    for line in left.split(b"\n"):
        assert line in progress.path.read_bytes().split(b"\n") or line in aside


FULL_DISK = """
import resource
room = int(sys.argv[2])
for kind, act in acts.items():
    size = progress.path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
    try:
        act()
    except NotSaved as error:
        print(json.dumps([kind, str(error)]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 1, 30])
def test_a_full_disk_saves_no_kind_of_record_and_says_so_each_time(progress: Progress, room: int):
    """Whatever is to be saved: told that it was not, and not a byte of the file is different."""
    before, records = progress.path.read_bytes(), progress.records()
    said, _ = child(ACTS + FULL_DISK, progress.folder, room).communicate(timeout=60)
    told = dict(json.loads(line) for line in said.splitlines())

    assert tuple(told) == KINDS
    for message in told.values():
        assert message.startswith(f"Nothing was saved to {progress.path}: File too large.")
    assert progress.path.read_bytes() == before
    assert progress.records() == records
    assert progress.problems == []
    assert len(every_kind(progress)) == 8


KILLED_IN_THE_MIDDLE = """
import os
real = os.write
def dies(file, data):
    real(file, data[:20])
    os.kill(os.getpid(), 9)
os.write = dies
acts[sys.argv[2]]()
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_killed_in_the_middle_of_a_line_of_any_kind_costs_that_line(progress: Progress, kind: str):
    """kill -9 with 20 bytes of the line on the disk: it does not count, it is set aside, and nothing is locked."""
    before = progress.records()
    writer = child(ACTS + KILLED_IN_THE_MIDDLE, progress.folder, kind)
    writer.communicate(timeout=60)

    assert writer.returncode == -signal.SIGKILL
    assert progress.records() == before
    assert "(20 bytes)" in progress.problems[0]
    after = progress.note(SEEN, "go on")
    assert progress.records() == (*before, after)
    (piece,) = progress.folder.glob("*.torn-*")
    assert piece.read_bytes() == f'{{"record":"{kind}","seq":5'.encode()[:20]


WRITER = """
n = len(progress.records())
while True:
    key, task = Key.of("c", f"k{n}", 1), Key.of("c", f"t{n}", 1)
    for act in (
        lambda: progress.commit(key, "x" * 500, confidence=Confidence.CERTAIN),
        lambda: progress.vote_again(key, "y" * 500),
        lambda: progress.see_reveal(key),
        lambda: progress.name_row(key, 4, held=True),
        lambda: progress.self_check(key, ("p",)),
        lambda: progress.try_(task, 2, 5),
        lambda: progress.reset(key, "w" * 500),
    ):
        print(act().seq, flush=True)
    n += 1
"""


@pytest.mark.slow
def test_a_kernel_killed_while_saving_all_kinds_loses_nothing_that_was_acknowledged(progress: Progress):
    """kill -9 in a tight loop, three times over one file: every record whose save returned is there, in order."""
    for saves in (1, 9, 17):
        acknowledged = last_said_by(child(ACTS + WRITER, progress.folder), lines=saves)

        seqs = [record.seq for record in progress.records()]
        assert seqs == sorted(set(seqs))
        assert acknowledged in seqs
        assert len([seq for seq in seqs if seq > acknowledged]) <= 1
        progress.note(SEEN, "and go on")
    for record in progress.records():
        assert interpret(msgspec.json.encode(record)) == record


RACER = """
me = sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for n in range(20):
    key = Key.of("c", f"k{n}", 1)
    for act in (
        lambda: progress.vote_again(key, me),
        lambda: progress.see_reveal(key),
        lambda: progress.name_row(key, n, held=me == "ada"),
        lambda: progress.try_(key, n, 20),
    ):
        try:
            act()
        except WorkbookError as error:
            print(type(error).__name__)
print(progress.pseudonym())
"""


@pytest.mark.slow
def test_two_kernels_at_once_agree_on_every_kind_of_record(tmp_path: Path):
    """One second vote and one reveal a question, each named row and each try of both, one pseudonym for the two."""
    progress = Progress(tmp_path)
    keys = [Key.of("c", f"k{n}", 1) for n in range(20)]
    for key in keys:
        progress.commit(key, "one")
    racers = {name: child(ACTS + RACER, progress.folder, name) for name in ("ada", "bo")}
    for racer in racers.values():
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers.values():
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = {name: racer.communicate(timeout=120)[0].splitlines() for name, racer in racers.items()}

    records = progress.records()
    for number, key in enumerate(keys):
        its = [record for record in records if record.key == key]
        assert sum(isinstance(record, Commit) for record in its) == 1
        assert sum(isinstance(record, Revote) for record in its) == 1
        assert kinds_of(its).count("reveal-seen") == 1
        assert sorted((r.row, r.held) for r in its if isinstance(r, RowNamed)) == [(number, False), (number, True)]
        assert [(r.held, r.of) for r in its if isinstance(r, Tried)] == [(number, 20)] * 2
    refused = [line for lines in told.values() for line in lines[:-1]]
    assert len(refused) == len(keys)
    assert set(refused) <= {"AlreadyCommitted", "RevealAlreadySeen"}
    assert {lines[-1] for lines in told.values()} == {progress.pseudonym()}
    lines = [interpret(line) for line in progress.path.read_bytes().splitlines()]
    assert sum(isinstance(line, Pseudonym) for line in lines) == 1
    seqs = [line.seq for line in lines if hasattr(line, "seq")]
    assert seqs == list(range(2, len(seqs) + 2))
    assert progress.problems == []


def kinds_of(records: list[Record]) -> list[str]:
    return [str(record.__struct_config__.tag) for record in records]


def test_every_kind_of_record_is_tried_here():
    """Whoever adds a kind adds its accident."""
    from workbook.learner.records import Header

    tags = {str(kind.__struct_config__.tag) for kind in (*Record.__args__, Pseudonym)}
    assert set(KINDS) == tags
    assert str(Header.__struct_config__.tag) not in tags
