"""The files that a class handed in: each read strictly, or set aside with the reason.

Files come from many hands, so nothing is expected of them: one that is damaged, foreign, too large or there twice
is named and passed over, and costs nobody else an answer. Only one file is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbook.errors import WorkbookError
from workbook.learner.progress_bar import Advance
from workbook.progress.export_record import Answers, NotMyWork, parse_answers

SUFFIX: Final = ".json"
BESIDE: Final = ".md"  # the other half of an export, for people
USUAL: Final = "my-work.json"  # what an export is called, unless somebody gave it another name
LARGEST: Final = 16 * 2**20  # bytes; a year of answers takes a few hundred thousand


class NoFiles(WorkbookError):
    """There is nothing to read. Attribute: `folder`."""

    def __init__(self, folder: Path, problem: str) -> None:
        self.folder = folder
        super().__init__(
            f"{folder}: {problem}. Put the files there that `workbook export` wrote (my-work.json of each learner, "
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


def files_in(folder: Path, leave_out: Path | None = None) -> tuple[list[Path], list[Skipped]]:
    """Every file in the folder and below that may be an export, by name, and those that cannot be one.

    Left out are hidden files, the folder `leave_out`, and whatever belongs to an export: the text of the same name,
    and all that lies in a learner's own folder, which is one that has an export under its usual name.
    Raises: NoFiles.
    """
    if not folder.is_dir():
        raise NoFiles(folder, "there is no such folder")
    every = [path for path in sorted(folder.rglob("*")) if not _hidden(path, folder) and path.is_file()]
    if leave_out is not None and leave_out.resolve().is_relative_to(folder.resolve()):
        left_out = folder / leave_out.resolve().relative_to(folder.resolve())
        every = [path for path in every if left_out not in path.parents]
    found = [path for path in every if path.suffix.lower() == SUFFIX]
    if not found:
        raise NoFiles(folder, f"no file in it ends in {SUFFIX}")
    exports = frozenset(found)
    owned = {path.parent for path in found if path.name == USUAL} - {folder}
    others = [
        Skipped(name=path.relative_to(folder).as_posix(), why=f"its name does not end in {SUFFIX}")
        for path in every
        if path not in exports
        and not (path.suffix.lower() == BESIDE and path.with_suffix(SUFFIX) in exports)
        and owned.isdisjoint(path.parents)
    ]
    return found, others


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


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


def fullest(paths: Iterable[Path], folder: Path, done: Advance) -> tuple[list[Path], list[Skipped]]:
    """The files to count, one a learner, in the order given; and those that another of that learner's outdoes.

    Of a learner's several exports the one with most records counts, since answers are only ever added; of equal
    ones the first. One that cannot be read outdoes none. It is kept, and `read_file` says what is wrong with it.
    `done` is told of each file.
    """
    kept: dict[Path, None] = {}
    by_learner: dict[str, list[tuple[int, Path]]] = {}
    for path in paths:
        kept[path] = None
        if (peeked := _peek(path)) is not None:
            by_learner.setdefault(peeked.learner, []).append((len(peeked.records), path))
        done(1)
    skipped: list[Skipped] = []
    for several in by_learner.values():
        if len(several) == 1:
            continue
        winner: Path | None = None
        for _, path in sorted(several, key=lambda one: -one[0]):
            if winner is None:
                winner = path if isinstance(read_file(path, folder), Handed) else None
                continue
            del kept[path]
            name = winner.relative_to(folder).as_posix()
            why = f"it is of the same learner as {name}, which has as many answers or more, and counts"
            skipped.append(Skipped(name=path.relative_to(folder).as_posix(), why=why))
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
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
