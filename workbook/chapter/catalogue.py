"""Every chapter there is: the built-in ones, and those that instructors add without a change of this package.

Chapters are looked for, in this order:

* among the built-in ones (`built_in`);
* in folders that a command or a notebook names;
* in the folder that one works in, if that is a chapter;
* in the folders that the learner's folder remembers (`cedar-chapters.json`, written by `workbook start`);
* in the folders of the environment variable `CEDAR_CHAPTERS`;
* in installed packages, by the entry point group `workbook.chapters`.

A folder is a chapter, if it has a `chapter.toml`, or a folder of chapters. What an entry point names is a package,
or a function that returns such folders (or `Place`s); `built_in` is a function of that kind. A chapter that cannot
be read is a fault of its own and hides no other; two chapters of one id are one too many, since answers are kept by
id.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec
from msgspec import Struct

from labsim.errors import CaseError, did_you_mean
from labsim.library import fixtures_dir
from workbook import atomic
from workbook.chapter.engine import load_engine
from workbook.chapter.file import CHAPTER_FILE, ChapterFile, ChapterFiles, Place, is_id, read_chapter
from workbook.chapter.notebooks import NOTEBOOK_SUFFIX, notebooks_dir
from workbook.errors import WorkbookError

VARIABLE: Final = "CEDAR_CHAPTERS"
GROUP: Final = "workbook.chapters"
REMEMBERED: Final = "cedar-chapters.json"
_BELIEFS: Final = ("checkpoints", "beliefs.json")


class Origin(StrEnum):
    """How a chapter was found."""

    BUILT_IN = "built in"
    FOLDER = "folder"
    LEARNER = "learner's folder"
    ENVIRONMENT = "environment"
    PACKAGE = "package"


class Listed(Struct, frozen=True, kw_only=True):
    """A chapter of the catalogue. `whence` says where it was found: a folder, or the name of a package."""

    chapter: ChapterFile
    origin: Origin
    whence: str

    @property
    def id(self) -> str:
        return self.chapter.id

    @property
    def title(self) -> str:
        return self.chapter.title

    @property
    def order(self) -> int:
        return self.chapter.order

    @property
    def needs(self) -> tuple[str, ...]:
        """The ids of the chapters that come before it."""
        return self.chapter.needs

    def files(self) -> ChapterFiles:
        """Where its parts are; the built-in beliefs come before its own. Raises: labsim.errors.CaseError."""
        return self.chapter.files(built_in_beliefs())


class UnknownChapter(WorkbookError):
    """No chapter has that id. Attributes: `chapter_id`, `known`, `faults` (chapters that could not be read)."""

    def __init__(self, chapter_id: str, known: tuple[str, ...], faults: tuple[str, ...] = ()) -> None:
        self.chapter_id = chapter_id
        self.known = known
        self.faults = faults
        hint = did_you_mean(chapter_id, known, f"There are: {', '.join(known) or 'none'}.")
        unread = "".join(f" Not readable: {fault}" for fault in faults)
        super().__init__(f"No chapter has the id {chapter_id!r}. {hint}{unread}")


class SameId(WorkbookError):
    """Two chapters have one id, and answers are kept by id. Attributes: `chapter_id`, `places`."""

    def __init__(self, chapter_id: str, places: tuple[Path, ...]) -> None:
        self.chapter_id = chapter_id
        self.places = places
        super().__init__(
            f"{len(places)} chapters have the id {chapter_id!r}: {' and '.join(map(str, places))}. "
            "Answers are kept by id, so give each chapter one of its own."
        )


class NoChapter(WorkbookError):
    """A folder that should hold a chapter, or several, holds none. Attribute: `folder`."""

    def __init__(
        self, folder: Path, problem: str = f"there is no {CHAPTER_FILE} in it, nor one level below"
    ) -> None:
        self.folder = folder
        super().__init__(f"{folder}: {problem}. `workbook new-chapter ID` makes a chapter to begin with.")


class Catalogue(Struct, frozen=True, kw_only=True):
    """Every chapter that was found, by `order`, then by id. `faults`: what could not be read, a sentence each."""

    chapters: tuple[Listed, ...]
    faults: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(listed.id for listed in self.chapters))

    @property
    def clashes(self) -> tuple[SameId, ...]:
        """An error for each id that several chapters have; none is the good answer."""
        places = {name: tuple(one.chapter.path for one in self.chapters if one.id == name) for name in self.ids}
        return tuple(SameId(name, paths) for name, paths in places.items() if len(paths) > 1)

    def find(self, chapter_id: str) -> Listed:
        """The chapter of that id. Raises: UnknownChapter; SameId."""
        for clash in self.clashes:
            if clash.chapter_id == chapter_id:
                raise clash
        for listed in self.chapters:
            if listed.id == chapter_id:
                return listed
        raise UnknownChapter(chapter_id, self.ids, self.faults)


def catalogue(
    folders: Iterable[Path] = (), *, environment: Mapping[str, str] | None = None, here: Path | None = None
) -> Catalogue:
    """Every chapter there is, for whoever works in the folder `here` (None: the current one).

    `folders`: further ones, each a chapter or a folder of chapters. A chapter that is found in two ways is listed
    once. Raises: NoChapter, for one of `folders`; what else is wrong with a chapter is in `faults`.
    """
    environment = os.environ if environment is None else environment
    made = _Made()
    made.add(Origin.BUILT_IN, "cedar-workbook", built_in())
    for folder in folders:
        made.add(Origin.FOLDER, str(folder), places_in(folder))
    here = Path.cwd() if here is None else here
    if (here / CHAPTER_FILE).is_file():
        made.add(Origin.FOLDER, str(here), (Place(folder=here),))
    try:
        noted = remembered(here)
    except CaseError as error:
        made.faults.append(str(error))
        noted = ()
    for folder in noted:
        made.look(Origin.LEARNER, str(folder), partial(places_in, folder))
    for name in environment.get(VARIABLE, "").split(os.pathsep):
        if name.strip():
            made.look(Origin.ENVIRONMENT, name, partial(places_in, Path(name).expanduser()))
    for point in entry_points(group=GROUP):
        made.look(Origin.PACKAGE, point.value, partial(_places_of, point))
    return Catalogue(chapters=tuple(sorted(made.listed, key=_place)), faults=tuple(made.faults))


def chapters_in(folder: Path) -> Catalogue:
    """The chapters of one folder alone; none, and no fault, for a folder without a `chapter.toml`."""
    made = _Made()
    try:
        made.add(Origin.FOLDER, str(folder), places_in(folder))
    except NoChapter:
        return Catalogue(chapters=())
    return Catalogue(chapters=tuple(sorted(made.listed, key=_place)), faults=tuple(made.faults))


def built_in() -> tuple[Place, ...]:
    """The chapters that come with the package; their parts lie in the shared folders of data and notebooks."""
    data, notebooks = fixtures_dir(), notebooks_dir()
    found = sorted((data / "chapters").glob(f"*/{CHAPTER_FILE}"))
    return tuple(Place(folder=path.parent, data=data, notebooks=notebooks) for path in found)


def built_in_beliefs() -> tuple[Path, ...]:
    """The beliefs that every chapter's options may name."""
    return (fixtures_dir().joinpath(*_BELIEFS),)


def places_in(folder: Path) -> tuple[Place, ...]:
    """The chapter that a folder is, or the chapters in it. Raises: NoChapter."""
    if not folder.is_dir():
        raise NoChapter(folder, "there is no such folder")
    if (folder / CHAPTER_FILE).is_file():
        return (Place(folder=folder),)
    found = sorted(path.parent for path in folder.glob(f"*/{CHAPTER_FILE}"))
    if not found:
        raise NoChapter(folder)
    return tuple(Place(folder=path) for path in found)


def named(name: str) -> Listed:
    """The chapter that a folder or an id stands for. Raises: NoChapter; CaseError; UnknownChapter; SameId."""
    folder = Path(name)
    if not (folder / CHAPTER_FILE).is_file():
        if folder.is_dir() and not is_id(name):
            raise NoChapter(folder, f"there is no {CHAPTER_FILE} in it")
        return catalogue().find(name)
    return Listed(chapter=read_chapter(Place(folder=folder)), origin=Origin.FOLDER, whence=name)


def notebooks_named(names: Iterable[str]) -> list[Path]:
    """The notebooks that somebody means by files, folders of chapters and ids. Raises: as `named`."""
    made: list[Path] = []
    for name in names:
        path = Path(name)
        if path.suffix == NOTEBOOK_SUFFIX or path.is_file():
            made.append(path)
        elif path.is_dir() and not (path / CHAPTER_FILE).is_file() and not is_id(name):
            made += [read_chapter(place).notebook for place in places_in(path)]
        else:
            made.append(named(name).chapter.notebook)
    return made


def cases_named(names: Iterable[str]) -> list[str]:
    """The files of cases that somebody means by files, folders of chapters and ids.

    A chapter that is meant is as good as opened: its `engine.py` is run. Raises: as `named`; EngineFailed.
    """
    made: list[str] = []
    for name in names:
        path = Path(name)
        chapter = (path / CHAPTER_FILE).is_file() or (is_id(name) and not path.exists())
        if not chapter:
            made.append(name)
            continue
        files = named(name).files()
        load_engine(files.id, files.engine)  # its cases may name what it registers
        made += map(str, files.cases)
    return made


def environment_for(notebook: Path) -> dict[str, str]:
    """What a kernel's environment needs, so that the notebook finds the chapter it belongs to, wherever it is run.

    Nothing for a notebook beside which there is no `chapter.toml`.
    """
    folder = notebook.absolute().parent
    if not (folder / CHAPTER_FILE).is_file():
        return {}
    further = os.environ.get(VARIABLE, "")
    return {VARIABLE: os.pathsep.join([str(folder), *([further] if further else [])])}


def remembered(here: Path) -> tuple[Path, ...]:
    """The folders of chapters that a learner's folder was started with; none if there is no such note.

    Raises: CaseError, if the note is not right.
    """
    path = here / REMEMBERED
    if not path.is_file():
        return ()
    try:
        note = msgspec.json.decode(path.read_bytes(), type=_Note)
    except msgspec.DecodeError as error:
        remedy = "Remove the file, and run `workbook start` with --chapters again."
        raise CaseError(REMEMBERED, f"it is no note of `workbook start` ({error})", remedy) from None
    return tuple(map(Path, note.folders))


def remember(here: Path, folders: Iterable[Path]) -> None:
    """Note down, beside a learner's copies, where their chapters' data are; what was noted before stays.

    Raises: OSError or CaseError, if that cannot be read; workbook.atomic.WriteFailed.
    """
    noted = dict.fromkeys([*map(str, remembered(here)), *(str(folder.absolute()) for folder in folders)])
    if noted and tuple(map(Path, noted)) != remembered(here):
        data = msgspec.json.format(msgspec.json.encode(_Note(folders=list(noted))), indent=2)
        atomic.write(here / REMEMBERED, data + b"\n")


def _place(listed: Listed) -> tuple[int, str]:
    return listed.order, listed.id


class _Note(Struct, forbid_unknown_fields=True):
    folders: list[str]


class _Made:
    """A catalogue in the making."""

    def __init__(self) -> None:
        self.listed: list[Listed] = []
        self.faults: list[str] = []
        self._seen: set[Path] = set()

    def look(self, origin: Origin, whence: str, places: Callable[[], Iterable[Place]]) -> None:
        """Add what `places` finds; an instructor's or a packager's mistake is a fault and stops nothing."""
        try:
            found = tuple(places())
        except Exception as error:  # somebody else's code, which may raise anything
            said = str(error) if isinstance(error, WorkbookError) else f"{whence}: {type(error).__name__}: {error}"
            self.faults.append(f"{origin}: {said}")
            return
        self.add(origin, whence, found)

    def add(self, origin: Origin, whence: str, places: Iterable[Place]) -> None:
        for place in places:
            path = (place.folder / CHAPTER_FILE).resolve()
            if path in self._seen:
                continue
            self._seen.add(path)
            try:
                self.listed.append(Listed(chapter=read_chapter(place), origin=origin, whence=whence))
            except CaseError as error:
                self.faults.append(f"{place.folder}: {error}")


def _places_of(point: EntryPoint) -> Iterator[Place]:
    """What an entry point names. Raises: whatever it raises; TypeError; NoChapter."""
    named = _named(point)
    if isinstance(named, ModuleType):
        found: Any = [Path(folder) for folder in named.__path__]
    else:
        found = named() if callable(named) else named
    for one in (found,) if isinstance(found, str | os.PathLike | Place) else found:
        if isinstance(one, Place):
            yield one
        else:
            yield from places_in(Path(one))


def _named(point: EntryPoint) -> Any:
    """The object of an entry point. A package is looked up and not imported: it may be nothing but a folder."""
    if point.attr:
        return point.load()
    spec = find_spec(point.module)
    if spec is None or spec.submodule_search_locations is None:
        return import_module(point.module)
    made = ModuleType(point.module)
    made.__path__ = list(spec.submodule_search_locations)
    return made
