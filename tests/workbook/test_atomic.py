"""What a whole write promises: the old file or the new one, nothing else, whatever happens meanwhile."""

from __future__ import annotations

import ast
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from disk_kit import FailingDisk, ForgetfulDisk, RacingDisk, ScriptedDisk
from places import TOP

from workbook.atomic import Disk, WriteFailed, create, write, write_all


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_write_makes_a_file_or_replaces_it_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    """Whoever reads finds all of the bytes; the draft is gone."""
    write(tmp_path / "a.txt", b"first")
    write(tmp_path / "a.txt", b"second\r\n")

    assert files_in(tmp_path) == {"a.txt": b"second\r\n"}


def test_a_replaced_file_keeps_its_permissions_and_a_new_one_has_the_usual(tmp_path: Path) -> None:
    """A private file stays private, a program stays one; what the umask takes is given back."""
    usual = tmp_path / "usual"
    usual.touch()
    for name, mode in (("private", 0o600), ("program", 0o775), ("open", 0o666)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
        write(tmp_path / name, b"new")
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode
    write(tmp_path / "new", b"new")

    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode


def test_a_private_file_is_not_readable_for_a_moment(tmp_path: Path) -> None:
    """Its draft is made with its permissions, and does not get them later."""
    path = tmp_path / "private"
    path.touch()
    path.chmod(0o600)
    modes: list[int] = []

    class Watched(ScriptedDisk):
        def before(self, name: str, *given: object) -> None:
            if name == "fsync" and not stat.S_ISDIR(os.fstat(int(str(given[0]))).st_mode):
                modes.append(stat.S_IMODE(os.fstat(int(str(given[0]))).st_mode))

    write(path, b"secret", disk=Watched())

    assert modes == [0o600]


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    """What it names is written, also where nothing is yet; a link in a circle names nothing."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "kept.txt").write_bytes(b"old")
    (tmp_path / "link").symlink_to("there/kept.txt")
    (tmp_path / "dangling").symlink_to("there/new.txt")
    (tmp_path / "circle").symlink_to("circle")

    write(tmp_path / "link", b"through")
    write(tmp_path / "dangling", b"made")
    with pytest.raises(WriteFailed, match=r"circle: not written \(it is a link that leads to itself and no file\)"):
        write(tmp_path / "circle", b"")

    assert files_in(tmp_path / "there") == {"kept.txt": b"through", "new.txt": b"made"}
    assert (tmp_path / "link").is_symlink()


def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    """A folder, a pipe or a device is refused by name, and is what it was afterwards."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    kinds = {tmp_path / "folder": "a folder", tmp_path / "pipe": "a pipe", Path("/dev/full"): "a device"}
    for path, kind in kinds.items():
        before = path.lstat()
        found = rf"{path.name}: not written \(it is {kind} and no file\)\. It is left as it is"
        with pytest.raises(WriteFailed, match=found):
            write(path, b"bytes")
        assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]


def test_a_failure_names_the_place_the_cause_and_what_would_do(tmp_path: Path) -> None:
    """The place as the caller called it, a draft's name nowhere."""
    with pytest.raises(WriteFailed) as told:
        write(tmp_path / "nowhere" / "a.txt", b"")

    assert str(told.value) == (
        f"{tmp_path}/nowhere/a.txt: not written (No such file or directory). "
        "Name a file in a folder that you can write to."
    )


def test_a_long_name_that_a_folder_can_hold_can_be_written(tmp_path: Path) -> None:
    """A draft's name is no longer than its file's may be."""
    write(tmp_path / ("a" * 255), b"here")

    assert (tmp_path / ("a" * 255)).read_bytes() == b"here"


def replacing(folder: Path, disk: Disk) -> None:
    write_all({folder / "a.txt": b"new a", folder / "b.txt": b"new b"}, disk=disk)


def making(folder: Path, disk: Disk) -> None:
    create(folder / "c.txt", b"new c", disk=disk)


@pytest.mark.parametrize("work", [replacing, making])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_whichever_call_fails_each_file_is_old_or_new_and_no_draft_stays(
    tmp_path: Path, work: Callable[[Path, Disk], None], error: BaseException
) -> None:
    """Every call in turn; a failure is told unless only the tidying failed, and then nothing else is amiss."""
    old = {"a.txt": b"old a", "b.txt": b"old b"}
    new = {"a.txt": b"new a", "b.txt": b"new b"} if work is replacing else {**old, "c.txt": b"new c"}
    whole = ScriptedDisk()
    (tmp_path / "whole").mkdir()
    work(tmp_path / "whole", whole)

    for number, name in enumerate(whole.called):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        for file, data in old.items():
            (folder / file).write_bytes(data)
            (folder / file).chmod(0o666)
        disk = FailingDisk(number, error)
        told: BaseException | None = None
        try:
            work(folder, disk)
        except (WriteFailed, KeyboardInterrupt) as raised:
            told = raised
        there = files_in(folder)
        drafts = {file for file in there if file.endswith(".tmp")}
        moved = "replace" in disk.called[:number] or "link" in disk.called[:number]

        assert not drafts or name == "unlink"
        assert all(there[file] in (old.get(file), new[file]) for file in there.keys() - drafts), (number, name)
        left = {file: there[file] for file in there.keys() - drafts}
        if told is None or (isinstance(told, WriteFailed) and told.written):
            assert left == new, (number, name)
        elif not moved:
            assert left == old, (number, name)


def test_bytes_and_names_are_on_the_disk_when_a_write_returns(tmp_path: Path) -> None:
    """A power cut straight after it loses neither, of a file that was there and of one that was not."""
    write(tmp_path / "old.txt", b"old")
    disk = ForgetfulDisk()
    write(tmp_path / "old.txt", b"new", disk=disk)
    create(tmp_path / "made.txt", b"made", disk=disk)

    assert disk.after_a_power_cut(tmp_path) == {"old.txt": b"new", "made.txt": b"made"}


def test_creating_never_overwrites(tmp_path: Path) -> None:
    """Whatever has the name keeps it: a file, a folder, a link that leads nowhere."""
    (tmp_path / "file").write_bytes(b"theirs")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")

    assert [create(tmp_path / name, b"ours") for name in ("file", "folder", "link", "free")] == [
        False,
        False,
        False,
        True,
    ]
    assert (tmp_path / "file").read_bytes() == b"theirs"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "free", "link"]


@pytest.mark.parametrize("links", [True, False])
def test_creating_never_overwrites_in_a_race(tmp_path: Path, links: bool) -> None:
    """A file that somebody else makes at the last moment is theirs, with hard links and without."""
    target = tmp_path / "copy.ipynb"

    made = create(target, b"ours", disk=RacingDisk(target, b"theirs", links=links))

    assert (made, files_in(tmp_path)) == (False, {"copy.ipynb": b"theirs"})


def test_creating_works_where_there_are_no_hard_links(tmp_path: Path) -> None:
    """Some memory sticks have none."""
    made = create(tmp_path / "a.txt", b"ours", disk=RacingDisk(tmp_path / "other", b"", links=False))

    assert (made, files_in(tmp_path)) == (True, {"a.txt": b"ours"})


#: What only a write of one's own would need. `new_chapter` moves a whole folder, which no file is.
OF_A_WRITE = {"replace", "rename", "renames", "link", "fsync", "mkstemp", "NamedTemporaryFile"}
ELSEWHERE = {("new_chapter", "rename")}


def test_nothing_else_in_the_workbook_moves_files_into_their_place() -> None:
    """One of each: there is one atomic write, and everything that saves a file uses it."""
    found = {
        (path.stem, node.attr)
        for path in (TOP / "workbook").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("os", "shutil", "tempfile", "disk")
        and node.attr in OF_A_WRITE
    }

    assert {(module, name) for module, name in found if module != "atomic"} == ELSEWHERE
