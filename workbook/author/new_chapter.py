"""Making a chapter: a folder that holds a small chapter which works, to be changed into one's own.

The scaffold lies in `fixtures/scaffold` and is a chapter like any other, under the id `my-desk`. Its notebook has
no outputs there: those of a new chapter come from running it, so that a scaffold can never show what the engine
does not do.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from msgspec import Struct

from labsim.library import fixtures_dir
from workbook.chapter.catalogue import Origin, catalogue
from workbook.chapter.file import CHAPTER_FILE, Place, is_id, read_chapter
from workbook.errors import WorkbookError
from workbook.notebook.bake import bake

SCAFFOLD: Final = "scaffold"
SCAFFOLD_ID: Final = "my-desk"


class CannotMake(WorkbookError):
    """The chapter was not made, and nothing was changed. Attribute: `folder`."""

    def __init__(self, folder: Path, problem: str, remedy: str) -> None:
        self.folder = folder
        super().__init__(f"{folder}: {problem}. {remedy}")


class NewChapter(Struct, frozen=True, kw_only=True):
    """A chapter that was made: its folder, and its files, as paths relative to it, sorted."""

    folder: Path
    files: tuple[str, ...]


def new_chapter(chapter_id: str, *, inside: Path | str = ".", bake_it: bool = True) -> NewChapter:
    """Make a chapter in the folder `inside`/`chapter_id`, whole or not at all.

    `bake_it`: run its notebook and write what it shows, which takes some seconds; without, it has no outputs, and
    `workbook check-chapter` says so.
    Raises: CannotMake, for what is no id or somebody else's, and for a folder that is there already; NotBaked.
    """
    folder = Path(inside) / chapter_id
    if not is_id(chapter_id):
        raise CannotMake(
            Path(inside),
            f"{chapter_id!r} is no id",
            "Use small letters, digits and single dashes: greenhouse-desk.",
        )
    for listed in catalogue(here=Path(inside)).chapters:
        if listed.id == chapter_id and listed.origin is Origin.BUILT_IN:
            raise CannotMake(folder, "a built-in chapter has that id", "Answers are kept by id: choose another.")
    if os.path.lexists(folder):
        raise CannotMake(folder, "something is there already", "Choose another id, or another folder with --in.")
    Path(inside).mkdir(parents=True, exist_ok=True)
    draft = Path(mkdtemp(prefix=f".{chapter_id}.", dir=inside))
    try:
        made = draft / chapter_id
        _write(made, chapter_id)
        if bake_it:
            bake(read_chapter(Place(folder=made)).notebook)
        try:
            os.rename(made, folder)
        except OSError as error:
            remedy = "Choose another folder with --in."
            raise CannotMake(folder, f"the chapter cannot be put there ({error.strerror})", remedy) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return NewChapter(folder=folder, files=tuple(_files(folder)))


def scaffold_dir() -> Path:
    """The folder of the chapter that every new one begins as. Raises: labsim.library.DataMissing."""
    return fixtures_dir() / SCAFFOLD


def _write(folder: Path, chapter_id: str) -> None:
    source = scaffold_dir()
    for name in _files(source):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (source / name).read_text(encoding="utf-8")
        target.write_text(text.replace(SCAFFOLD_ID, chapter_id), encoding="utf-8")


def _files(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    names = sorted(path.relative_to(folder).as_posix() for path in found)
    return sorted(names, key=lambda name: name != CHAPTER_FILE)
