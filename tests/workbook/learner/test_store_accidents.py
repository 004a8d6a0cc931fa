"""Accidents to the progress store: torn lines, foreign files, full disks, killed kernels, two kernels at once."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from accident_kit import child, last_said_by
from disk_kit import ForgetfulDisk
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.learner import journal
from workbook.learner.store import Commit, ForeignFile, Key, NotSaved, Progress

KEY = Key.of("boundary-desk", "second-call", {"prompt": "How many prompts?", "options": ["one", "two"]})
OTHER = Key.of("boundary-desk", "no-ui", {"prompt": "What happens without a UI?"})


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(tmp_path)


def test_a_torn_last_line_is_reported_and_moved_aside_by_the_next_save(progress: Progress):
    """A piece of a line is no answer; no byte of it is lost, and the next line starts fresh."""
    kept = progress.commit(KEY, "one")
    sound = progress.path.read_bytes()
    piece = b'{"record":"commit","seq":3,"key":{"chap'
    progress.path.write_bytes(sound + piece)

    assert progress.committed(KEY) == kept
    assert progress.problems == [
        "The last line of cedar-progress.jsonl is unfinished (39 bytes): saving it was cut off, or another kernel "
        "is saving it now. It does not count. The next save will move it to a file of its own."
    ]
    assert progress.path.read_bytes() == sound + piece

    added = progress.commit(OTHER, "throws")

    assert progress.records() == (kept, added)
    assert progress.path.read_bytes() == sound + msgspec.json.encode(added) + b"\n"
    assert (progress.folder / "cedar-progress.torn-1.txt").read_bytes() == piece
    assert progress.problems == [
        "cedar-progress.torn-1.txt holds a piece of a line that was cut off while it was being saved; it does not "
        "count as an answer. Delete the file when you have looked at it."
    ]


def test_a_second_torn_line_does_not_replace_the_first(progress: Progress):
    """Each piece has a file of its own."""
    progress.commit(KEY, "one")
    for piece in (b"{first", b"\xff\x00second"):
        with progress.path.open("ab") as file:
            file.write(piece)
        progress.note(KEY, "go on")

    assert (progress.folder / "cedar-progress.torn-1.txt").read_bytes() == b"{first"
    assert (progress.folder / "cedar-progress.torn-2.txt").read_bytes() == b"\xff\x00second"


@pytest.mark.slow
@settings(deadline=None)  # it waits for the disk
@given(cut=st.integers(min_value=0))
def test_wherever_the_file_is_cut_the_whole_lines_count_and_the_rest_is_kept(tmp_path_factory, cut: int):
    """For any cut: the records are a prefix of what was saved, the next commit works, and no byte is lost."""
    progress = Progress(tmp_path_factory.mktemp("cut"))
    saved = [progress.commit(Key.of("c", str(n), n), "é" * n) for n in range(4)]
    whole = progress.path.read_bytes()
    left = whole[: cut % (len(whole) + 1)]
    progress.path.write_bytes(left)

    readable = list(progress.records())
    assert readable == saved[: len(readable)]
    assert len(readable) >= len(left.splitlines(keepends=True)) - 2
    after = progress.note(KEY, "after")

    assert list(progress.records()) == [*readable, after]
    aside = [path.read_bytes() for path in progress.folder.glob("*.torn-*")]
    for line in left.split(b"\n"):
        assert line in progress.path.read_bytes().split(b"\n") or line in aside


def test_a_whole_last_line_without_its_newline_still_counts(progress: Progress):
    """Some editors drop the last newline; that must not cost the last answer."""
    progress.commit(KEY, "one")
    last = progress.commit(OTHER, "throws")
    progress.path.write_bytes(progress.path.read_bytes().rstrip(b"\n"))

    assert progress.committed(OTHER) == last
    assert progress.problems == []
    progress.note(KEY, "go on")

    assert [record.seq for record in progress.records()] == [2, 3, 4]
    assert list(progress.folder.glob("*.torn-*")) == []


def test_a_corrupt_line_in_the_middle_is_reported_by_its_number_skipped_and_kept(progress: Progress):
    """One bad line costs one answer: the others count, and the bad bytes stay for whoever can read them."""
    progress.commit(KEY, "one")
    kept = progress.commit(OTHER, "throws")
    header, _, last = progress.path.read_bytes().splitlines()
    bad = b'{"record":"commit","seq":2,"key":\xff}'
    progress.path.write_bytes(b"\n".join([header, bad, last, b""]))

    assert progress.records() == (kept,)
    [problem] = progress.problems
    assert problem.startswith("Line 2 of cedar-progress.jsonl cannot be read and is skipped (")
    assert problem.endswith("It was left in the file.")
    after = progress.note(KEY, "go on")

    assert after.seq == 4
    assert progress.path.read_bytes().splitlines()[:3] == [header, bad, last]


def test_a_damaged_header_does_not_disown_the_answers_below_it(progress: Progress):
    """The file is ours if any line is."""
    kept = progress.commit(KEY, "one")
    progress.path.write_bytes(b"\xef\xbb\xbf" + progress.path.read_bytes())

    assert progress.records() == (kept,)
    assert len(progress.problems) == 1


def test_records_of_a_newer_kind_are_kept_and_ignored(progress: Progress):
    """A newer edition may add kinds and fields; an older one works beside it and touches neither."""
    kept = progress.commit(KEY, "one")
    newer = b'{"record":"confidence","seq":7,"key":{"chapter":"c","checkpoint":"k","content":"x"},"level":3}\n'
    wider = msgspec.json.encode(Commit(seq=8, key=OTHER, answer="throws"))[:-1] + b',"mood":"calm"}\n'
    with progress.path.open("ab") as file:
        file.write(newer + wider)

    assert progress.records() == (kept, Commit(seq=8, key=OTHER, answer="throws"))
    assert progress.problems == []
    assert progress.reset(KEY).seq == 9
    assert newer + wider in progress.path.read_bytes()


FOREIGN = {
    "text": b"Dear diary,\ntoday I approved a thing.\n",
    "one line": b"hello",
    "other JSON lines": b'{"id": 1}\n{"id": 2, "record": "commit"}\n',
    "zeros": bytes(4096),
    "newer format": b'{"record":"cedar-progress","version":2}\n',
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_not_ours_is_an_error_and_stays_untouched(progress: Progress, data: bytes):
    """A file of that name that we cannot read is somebody's: say so, and neither read nor write it."""
    progress.path.write_bytes(data)

    for act in (progress.records, lambda: progress.commit(KEY, "one"), lambda: progress.problems):
        with pytest.raises(ForeignFile, match=r"cedar-progress\.jsonl: .*left as it is") as error:
            act()
        assert error.value.path == progress.path
    assert progress.path.read_bytes() == data
    assert list(progress.folder.glob("*.torn-*")) == []


def test_a_folder_in_the_place_of_the_file_is_an_error(progress: Progress):
    """Whatever stands at the path is named and left."""
    progress.path.mkdir()

    with pytest.raises(ForeignFile, match="cannot be read"):
        progress.commit(KEY, "one")


def test_a_file_in_the_place_of_the_folder_is_told_plainly(tmp_path: Path):
    """Nothing saved must never look like saved."""
    (tmp_path / "answers").write_text("not a folder")

    with pytest.raises(NotSaved, match=r"Nothing was saved to .*: its folder is a file"):
        Progress(tmp_path / "answers").commit(KEY, "one")


def test_where_no_lock_can_be_made_reading_still_works(progress: Progress):
    """A read-only copy of someone's answers can be looked at; only saving needs the lock."""
    kept = progress.commit(KEY, "one")
    progress.path.with_suffix(".lock").unlink()
    progress.path.with_suffix(".lock").mkdir()

    assert progress.committed(KEY) == kept
    with pytest.raises(NotSaved, match="Nothing was saved"):
        progress.reset(KEY)


def test_half_a_character_is_told_plainly(progress: Progress):
    """A browser can send half of a surrogate pair; a UTF-8 file cannot hold it."""
    with pytest.raises(NotSaved, match="half a character"):
        progress.note(KEY, "\ud83d")

    assert progress.records() == ()


FULL_DISK = """
import resource, sys
from pathlib import Path
from workbook.learner.store import Key, NotSaved, Progress
progress, room = Progress(Path(sys.argv[1])), int(sys.argv[2])
size = progress.path.stat().st_size if progress.path.exists() else 0
resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, size + room))
try:
    progress.commit(Key.of("c", "k", 1), "x" * 200)
except NotSaved as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 1, 60, 200])
@pytest.mark.parametrize("already", [0, 1])
def test_a_full_disk_saves_nothing_says_so_and_harms_nothing(progress: Progress, room: int, already: int):
    """The writer runs out of room in the middle of a line: what was there stays, and the learner is told."""
    kept = [progress.commit(KEY, "one")] if already else []
    before = progress.path.read_bytes() if already else b""

    said, _ = child(FULL_DISK, progress.folder, room).communicate(timeout=60)

    assert said.startswith(f"Nothing was saved to {progress.path}: File too large.")
    assert progress.path.read_bytes() == before
    assert progress.problems == []
    assert list(progress.records()) == kept
    assert progress.commit(OTHER, "throws") in progress.records()


def test_a_torn_piece_that_finds_no_room_stays_where_it_is(progress: Progress):
    """If even setting the piece aside fails, the file is left alone and no half copy remains."""
    progress.commit(KEY, "one")
    with progress.path.open("ab") as file:
        file.write(b"{" + b"x" * 5000)
    before = progress.path.read_bytes()

    code = FULL_DISK.replace("size + room, size + room", "room, room")
    said, _ = child(code, progress.folder, 1000).communicate(timeout=60)

    assert said.startswith("Nothing was saved")
    assert progress.path.read_bytes() == before
    assert list(progress.folder.glob("*.torn-*")) == []


WRITER = """
import sys
from pathlib import Path
from workbook.learner.store import Key, Progress
progress = Progress(Path(sys.argv[1]))
n = len(progress.records())
while True:
    progress.commit(Key.of("c", f"k{n}", n), "x" * 3000)
    print(n, flush=True)
    n += 1
"""


@pytest.mark.slow
def test_a_kernel_killed_while_saving_loses_no_acknowledged_answer_and_blocks_nobody(progress: Progress):
    """kill -9 in a tight loop of saves: every save that returned is there, and the next kernel goes on at once."""
    for saves in (1, 7, 20):
        acknowledged = last_said_by(child(WRITER, progress.folder), lines=saves)
        records = progress.records()
        assert [r.key.checkpoint for r in records] == [f"k{n}" for n in range(len(records))]
        assert acknowledged < len(records) <= acknowledged + 2
    assert progress.commit(KEY, "two") in progress.records()


KILLED_IN_THE_MIDDLE = """
import os, sys
from pathlib import Path
from workbook.learner.store import Key, Progress
real = os.write
def dies(file, data):
    real(file, data[:int(sys.argv[2])])
    os.kill(os.getpid(), 9)
os.write = dies
Progress(Path(sys.argv[1])).commit(Key.of("c", "k", 1), "x" * 200)
"""


def test_a_kernel_killed_in_the_middle_of_a_line_leaves_a_piece_and_no_lock(progress: Progress):
    """The same with the moment chosen: 50 bytes of the line are on the disk when the kernel dies."""
    kept = progress.commit(KEY, "one")
    writer = child(KILLED_IN_THE_MIDDLE, progress.folder, 50)
    writer.communicate(timeout=60)

    assert writer.returncode == -signal.SIGKILL
    assert "(50 bytes)" in progress.problems[0]
    added = progress.commit(OTHER, "throws")
    assert progress.records() == (kept, added)
    assert (progress.folder / "cedar-progress.torn-1.txt").stat().st_size == 50


def test_a_kernel_killed_in_the_middle_of_the_very_first_line_leaves_a_file_that_is_ours(progress: Progress):
    """Even the first line may be cut: a piece of our own header is not somebody else's file."""
    child(KILLED_IN_THE_MIDDLE, progress.folder, 10).communicate(timeout=60)

    assert progress.path.stat().st_size == 10
    assert progress.commit(KEY, "one") in progress.records()


RACER = """
import sys
from pathlib import Path
from workbook.learner.store import AlreadyCommitted, Key, Progress
progress, me, keys = Progress(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for n in range(keys):
    try:
        progress.commit(Key.of("c", f"k{n}", n), me)
        print("won", me)
    except AlreadyCommitted as error:
        print("lost", error.commit.answer)
"""


@pytest.mark.slow
def test_two_kernels_at_once_have_exactly_one_winner_for_each_question(progress: Progress):
    """The commit is decided inside the lock: for each key one is told "saved", the other what stands."""
    keys = 60
    racers = {name: child(RACER, progress.folder, name, keys) for name in ("ada", "bo")}
    for racer in racers.values():
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers.values():
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = {name: racer.communicate(timeout=120)[0].splitlines() for name, racer in racers.items()}

    for n in range(keys):
        commit = progress.committed(Key.of("c", f"k{n}", n))
        assert commit is not None
        winner, loser = ("ada", "bo") if commit.answer == "ada" else ("bo", "ada")
        assert (told[winner][n], told[loser][n]) == (f"won {winner}", f"lost {winner}")
    assert [r.seq for r in progress.records()] == list(range(2, keys + 2))
    assert progress.problems == []


def test_an_interrupt_while_saving_saves_nothing(progress: Progress):
    """Stop pressed in the middle of a save: the learner sees an interrupt, so the file must not hold the answer."""
    code = KILLED_IN_THE_MIDDLE.replace("os.kill(os.getpid(), 9)", "raise KeyboardInterrupt")
    progress.commit(KEY, "one")
    before = progress.path.read_bytes()
    with subprocess.Popen(
        [sys.executable, "-c", code, progress.folder, "50"], stderr=subprocess.DEVNULL
    ) as process:
        process.wait(60)

    assert process.returncode != 0
    assert progress.path.read_bytes() == before


def test_a_line_that_was_appended_survives_a_power_cut(tmp_path: Path):
    """A line is final once its newline and an fsync are behind it; of a new file the folder's fsync, too."""
    path = tmp_path / "lines.jsonl"
    disk = ForgetfulDisk()

    journal.append(path, b"one\n", at=0, disk=disk)
    assert disk.after_a_power_cut(tmp_path) == {"lines.jsonl": b"one\n"}
    journal.append(path, b"two\n", at=4, disk=disk)
    assert disk.after_a_power_cut(tmp_path) == {"lines.jsonl": b"one\ntwo\n"}
