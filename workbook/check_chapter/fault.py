"""A fault of a chapter, with the place where an author has to look, and the files of the chapter that is checked.

The readers of cases, checkpoints and exercises name a fault by its path inside the file; the line is added here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct

from labsim.errors import CaseError
from workbook.chapter.file import CHAPTER_FILE, ChapterFile, ChapterFiles
from workbook.check_chapter.json_places import line_of

_LINE: Final = re.compile(r"line (\d+)(?:, column \d+)?(?:: )?")


class Layer(StrEnum):
    """What is looked at, in this order. A layer that finds something keeps the later ones from starting."""

    FILES = "files"  # is everything there, and what its format asks for?
    CASES = "cases"  # played without a notebook: expectations, checkpoints, exercises
    WORDING = "wording"
    NOTEBOOK = "notebook"  # as it is saved, without running it
    RUNS = "runs"  # both editions, in kernels of their own


class Fault(Struct, frozen=True, kw_only=True):
    """One thing that is wrong: where, what was found, and what would do.

    `file`: relative to the chapter. `line`: from 1, None where a line says nothing. `place`: the field, the case,
    or the cell; "" for the file as a whole.
    """

    layer: Layer
    file: str
    found: str
    remedy: str
    line: int | None = None
    place: str = ""

    @property
    def where(self) -> str:
        """The file, the line and the place, as one text."""
        line = "" if self.line is None else f"line {self.line}"
        return ": ".join(part for part in (self.file, line, self.place) if part)

    def __str__(self) -> str:
        end = "" if self.found.endswith("?") else "."
        return f"{self.where}: {self.found}{end} {self.remedy}".rstrip()


class Checking(Struct, frozen=True, kw_only=True):
    """The chapter that is being checked: what its `chapter.toml` says, and where its parts are."""

    chapter: ChapterFile
    files: ChapterFiles

    @property
    def folder(self) -> Path:
        return self.chapter.path.parent

    @property
    def parts(self) -> tuple[Path, ...]:
        """The files of data, but for the built-in beliefs, which are not the author's; they are all JSON."""
        files = self.files
        own = (*files.cases, files.checkpoints, *files.beliefs, files.exercises)
        return tuple(path for path in own if path is not None and not self.is_foreign(path))

    def is_foreign(self, path: Path) -> bool:
        """Whether a part comes from outside the chapter, as the built-in beliefs do."""
        root = self.chapter.place.data or self.chapter.place.folder
        return not path.absolute().is_relative_to(root.absolute())

    def name(self, path: Path) -> str:
        """A file as an author knows it: relative to the chapter."""
        roots = (self.chapter.place.data, self.chapter.place.notebooks, self.chapter.place.folder)
        for root in roots:
            if root is not None and path.absolute().is_relative_to(root.absolute()):
                return path.absolute().relative_to(root.absolute()).as_posix()
        return path.name


def fault_of(error: CaseError, layer: Layer, file: str, text: str) -> Fault:
    """What a reader refused, as a fault of `file`, whose content is `text`. The place loses the file's own name."""
    short = file.rpartition("/")[2]
    place = error.place.removeprefix(file).removeprefix(short).removeprefix(": ").strip()
    line: int | None = None
    if given := _LINE.match(place):
        line, place = int(given[1]), place[given.end() :]
    elif place:
        line = line_of(text, place)
    return Fault(
        layer=layer,
        file=file,
        line=line,
        place=place,
        found=error.found.removesuffix("."),
        remedy=error.remedy,
    )


def texts_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file of a chapter that is text, hidden ones and caches left out, in the order of the names."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if not path.is_file() or any(part.startswith(".") or part == "__pycache__" for part in inside):
            continue
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture, or the like


__all__ = ["CHAPTER_FILE", "Checking", "Fault", "Layer", "fault_of", "texts_in"]
