"""The files that a class handed in: each read strictly, or set aside with the reason.

Above `my_work`, which knows the format; below `classroom`, which counts. Files come from many hands, so nothing is
expected of them: one that is damaged, foreign, too large or there twice is named and passed over, and costs nobody
else an answer. Only one file is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbook.errors import WorkbookError
from workbook.my_work import Answers, NotMyWork, parse_answers

SUFFIX: Final = ".json"
LARGEST: Final = 16 * 2**20  # bytes; a year of answers takes a few hundred thousand


class NoFiles(WorkbookError):
    """There is nothing to read. Attribute: `folder`."""

    def __init__(self, folder: Path, found: str) -> None:
        self.folder = folder
        super().__init__(
            f"{folder}: {found}. Put the files there that `workbook export` wrote (my-work.json of each learner, "
            "under any name, in any folders)."
        )


class Skipped(Struct, frozen=True, kw_only=True):
    """A file that does not count. `name`: below the folder of the class, with forward slashes."""

    name: str
    why: str


class Handed(Struct, frozen=True, kw_only=True):
    """A file that does. `name` as of `Skipped`."""

    name: str
    answers: Answers


def files_in(folder: Path) -> list[Path]:
    """Every file in the folder and below that may be an export, by name; hidden ones and folders are left out.

    Raises: NoFiles.
    """
    if not folder.is_dir():
        raise NoFiles(folder, "there is no such folder")
    found = sorted(
        path
        for path in folder.rglob(f"*{SUFFIX}")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise NoFiles(folder, f"no file in it ends in {SUFFIX}")
    return found


def read_file(path: Path, folder: Path) -> Handed | Skipped:
    """One file, read. What is wrong with it is said, never raised."""
    name = path.relative_to(folder).as_posix()
    try:
        size = path.stat().st_size
        if size > LARGEST:
            return Skipped(name=name, why=f"it has {size:,} bytes, and no export has more than {LARGEST:,}")
        return Handed(name=name, answers=parse_answers(path.read_bytes(), name))
    except OSError as error:
        return Skipped(name=name, why=f"it cannot be read ({error.strerror})")
    except NotMyWork as error:
        return Skipped(name=name, why=error.found)


def fullest(paths: Iterable[Path], folder: Path) -> tuple[list[Path], list[Skipped]]:
    """The files to count, one a learner, in the order given; and those that another of that learner's outdoes.

    Of a learner's several exports the one with most records counts, since answers are only ever added; of equal
    ones the first. A file that cannot be looked into is kept: `read_file` says what is wrong with it.
    """
    kept: dict[Path, None] = {}
    best: dict[str, tuple[int, Path]] = {}
    skipped: list[Skipped] = []
    for path in paths:
        kept[path] = None
        peeked = _peek(path)
        if peeked is None:
            continue
        count, other = len(peeked.records), best.get(peeked.learner)
        if other is None:
            best[peeked.learner] = (count, path)
            continue
        loser, winner = (path, other[1]) if count <= other[0] else (other[1], path)
        best[peeked.learner] = (max(count, other[0]), winner)
        del kept[loser]
        name = winner.relative_to(folder).as_posix()
        why = f"it is of the same learner as {name}, which has as many answers or more, and counts"
        skipped.append(Skipped(name=loser.relative_to(folder).as_posix(), why=why))
    return list(kept), skipped


class _Peeked(Struct, frozen=True):
    """What tells whose file it is and how much is in it, without reading the rest."""

    learner: str
    records: list[msgspec.Raw]


def _peek(path: Path) -> _Peeked | None:
    try:
        if path.stat().st_size > LARGEST:
            return None
        return msgspec.json.decode(path.read_bytes(), type=_Peeked)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
