"""The progress store: what a learner committed is never lost, never changed and never taken twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.progress import (
    AlreadyCommitted,
    AnswerKind,
    Commit,
    ForeignFile,
    Key,
    NotCommitted,
    Note,
    NotSaved,
    Progress,
    Reset,
    RevealSeen,
)

KEY = Key.of("boundary-desk", "second-call", {"prompt": "How many prompts?", "options": ["one", "two"]})
OTHER = Key.of("boundary-desk", "no-ui", {"prompt": "What happens without a UI?"})


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(tmp_path)


def child(code: str, *args: object) -> subprocess.Popen[str]:
    """A Python process of its own, with pipes for a handshake."""
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# What stands


def test_nothing_is_committed_and_nothing_is_created_before_the_first_save(progress: Progress):
    """Looking leaves no trace: "not attempted" is no record, and a folder stays as it was."""
    assert progress.committed(KEY) is None
    assert progress.records() == ()
    assert progress.problems == []
    assert list(progress.folder.iterdir()) == []


def test_a_commit_is_read_back_by_another_kernel_as_it_was_given(progress: Progress):
    """A commit survives the process: another reader of the same folder finds the whole record."""
    given_back = progress.commit(KEY, "two")

    assert given_back == Commit(seq=2, key=KEY, answer="two", kind=AnswerKind.CHOICE)
    assert Progress(progress.folder).committed(KEY) == given_back
    assert Progress(progress.folder).committed(OTHER) is None


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (AnswerKind.CHOICE, "two"),
        (AnswerKind.FIELDS, {"outcome": "throw", "prompts": 0, "effects": None, "ran": False}),
        (AnswerKind.ORDER, ("resolve", "ask", "run")),
        (AnswerKind.TEXT, "Because the first answer was not kept.\nÄ 漢 \u2028 end"),
    ],
)
def test_every_kind_of_answer_comes_back_with_its_shape(progress: Progress, kind: AnswerKind, answer):
    """Choices, fields, orders and free text share one record; none loses its types on the way through the file."""
    progress.commit(KEY, answer, kind=kind)

    assert progress.committed(KEY) == Commit(seq=2, key=KEY, answer=answer, kind=kind)
    assert len(progress.path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("kind", "answer"),
    [(AnswerKind.ORDER, "resolve"), (AnswerKind.CHOICE, ("one",)), (AnswerKind.FIELDS, {"prompts": 1.5})],
)
def test_an_answer_that_could_not_be_read_back_is_refused_before_it_is_written(progress: Progress, kind, answer):
    """A line that only looks saved is worse than an error: the shape is checked before the file is touched."""
    with pytest.raises(TypeError, match="answer"):
        progress.commit(KEY, answer, kind=kind)

    assert not progress.path.exists()


def test_a_second_commit_is_refused_and_says_what_stands_and_how_to_reset(progress: Progress):
    """A commit is locked: the same question takes no other answer, not even the same one again."""
    first = progress.commit(KEY, "two")
    before = progress.path.read_bytes()

    with pytest.raises(AlreadyCommitted) as refusal:
        Progress(progress.folder).commit(KEY, "two")

    assert refusal.value.commit == first
    assert "boundary-desk/second-call" in str(refusal.value)
    assert "'two'" in str(refusal.value)
    assert "reset('second-call')" in str(refusal.value)
    assert progress.path.read_bytes() == before


def test_a_reset_hides_the_answer_and_deletes_nothing(progress: Progress):
    """A reset is a record of its own: history keeps the first answer, the reset with its reason, and the second."""
    first = progress.commit(KEY, "one")
    before = progress.path.read_bytes()

    progress.reset(KEY, why="misread the question")
    assert progress.committed(KEY) is None
    second = progress.commit(KEY, "two")

    assert progress.committed(KEY) == second
    assert progress.records() == (first, Reset(seq=3, key=KEY, why="misread the question"), second)
    assert progress.path.read_bytes().startswith(before)


@pytest.mark.parametrize("act", [lambda p: p.reset(KEY), lambda p: p.see_reveal(KEY)], ids=["reset", "reveal"])
def test_without_a_commit_there_is_nothing_to_reset_and_nothing_to_reveal(progress: Progress, act):
    """No commit, no reveal: the store itself refuses, so a chapter's mistake cannot record one."""
    progress.commit(OTHER, "throws")

    with pytest.raises(NotCommitted, match="boundary-desk/second-call has no committed answer"):
        act(progress)


def test_edited_content_is_a_new_question_and_the_old_answer_stays(progress: Progress):
    """The key holds a hash of the content: an edit opens a new version and changes no history."""
    edited = Key.of(
        "boundary-desk", "second-call", {"prompt": "How many prompts in all?", "options": ["one", "two"]}
    )
    old = progress.commit(KEY, "one")

    assert progress.committed(edited) is None
    new = progress.commit(edited, "two")

    assert progress.committed(KEY) == old
    assert progress.records() == (old, new)


def test_the_order_of_fields_is_not_content():
    """A reformatted checkpoint file must not open every question again."""
    assert Key.of("c", "k", {"a": 1, "b": [2]}) == Key.of("c", "k", {"b": [2], "a": 1})
    assert Key.of("c", "k", {"a": 1, "b": [2]}) != Key.of("c", "k", {"a": 1, "b": [3]})


def test_a_reveal_is_recorded_once_an_answer_and_forgotten_by_a_reset(progress: Progress):
    """Running the reveal's cell again adds nothing; after a reset the reveal counts as unseen."""
    progress.commit(KEY, "one")
    assert not progress.revealed(KEY)
    seen = progress.see_reveal(KEY)
    before = progress.path.read_bytes()

    assert progress.see_reveal(KEY) == seen == RevealSeen(seq=3, key=KEY)
    assert progress.path.read_bytes() == before
    assert progress.revealed(KEY)
    progress.reset(KEY)
    assert not progress.revealed(KEY)


def test_a_note_needs_no_answer_and_changes_none(progress: Progress):
    """Notes are kept beside the answers."""
    note = progress.note(KEY, "the second prompt surprised me")

    assert note == Note(seq=2, key=KEY, text="the second prompt surprised me")
    assert progress.records() == (note,)
    assert progress.committed(KEY) is None


def test_the_same_answers_give_the_same_bytes(tmp_path: Path):
    """Deterministic: no clock, no random id, so two learners with the same answers have the same file."""
    files = []
    for name in ("ada", "bo"):
        progress = Progress(tmp_path / name)
        progress.commit(KEY, "one")
        progress.see_reveal(KEY)
        progress.reset(KEY, why="again")
        files.append(progress.path.read_bytes())

    assert files[0] == files[1]


def test_the_first_of_two_pasted_commits_is_the_one_that_stands(progress: Progress):
    """Two files pasted into one cannot unlock an answer: the earlier line wins, and both stay."""
    first = progress.commit(KEY, "one")
    second = Commit(seq=9, key=KEY, answer="two")
    with progress.path.open("ab") as file:
        file.write(msgspec.json.encode(second) + b"\n")

    assert progress.committed(KEY) == first
    assert progress.records() == (first, second)


# Where it is


def test_the_store_is_in_the_working_folder_and_stays_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A kernel starts in its notebook's folder; a later change of folder must not split the answers in two."""
    monkeypatch.delenv("CEDAR_PROGRESS_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    progress = Progress()
    monkeypatch.chdir("/")

    assert progress.path == tmp_path / "cedar-progress.jsonl"


def test_the_environment_names_another_folder_which_is_made_when_needed(tmp_path: Path, monkeypatch):
    """`CEDAR_PROGRESS_DIR` wins over the working folder."""
    monkeypatch.setenv("CEDAR_PROGRESS_DIR", str(tmp_path / "deep" / "answers"))
    progress = Progress()
    assert not progress.folder.exists()
    progress.commit(KEY, "two")

    assert (tmp_path / "deep" / "answers" / "cedar-progress.jsonl").is_file()


# Accidents


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
from workbook.progress import Key, NotSaved, Progress
progress, room = Progress(Path(sys.argv[1])), int(sys.argv[2])
size = progress.path.stat().st_size if progress.path.exists() else 0
resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, size + room))
try:
    progress.commit(Key.of("c", "k", 1), "x" * 200)
except NotSaved as error:
    print(error)
"""


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
from workbook.progress import Key, Progress
progress = Progress(Path(sys.argv[1]))
n = len(progress.records())
while True:
    progress.commit(Key.of("c", f"k{n}", n), "x" * 3000)
    print(n, flush=True)
    n += 1
"""


def test_a_kernel_killed_while_saving_loses_no_acknowledged_answer_and_blocks_nobody(progress: Progress):
    """kill -9 in a tight loop of saves: every save that returned is there, and the next kernel goes on at once."""
    for saves in (1, 7, 20):
        writer = child(WRITER, progress.folder)
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(saves)][-1]
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate(timeout=60)
        acknowledged = max([acknowledged, *map(int, rest.split())])

        assert writer.returncode == -signal.SIGKILL
        records = progress.records()
        assert [r.key.checkpoint for r in records] == [f"k{n}" for n in range(len(records))]
        assert acknowledged < len(records) <= acknowledged + 2
    assert progress.commit(KEY, "two") in progress.records()


KILLED_IN_THE_MIDDLE = """
import os, sys
from pathlib import Path
from workbook.progress import Key, Progress
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
from workbook.progress import AlreadyCommitted, Key, Progress
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
