"""What `pytest --workbook DIR` collects: a chapter as a folder, its files, and an item for each thing in them.

Nothing is judged here: the faults of a chapter's data are those of `check_chapter`, each told by the item whose
part of the file it is about. So `cases.json::two-calls` is red for what `workbook check-chapter` says of that
case, and a notebook's cell is red where it shows something else than was saved.

What cannot be collected is an error, and so is a chapter in which there is nothing to test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from labsim.reading.reading import parse_file
from workbook.chapter.catalogue import NoChapter, built_in_beliefs, places_in
from workbook.chapter.file import CHAPTER_FILE, Place, read_chapter
from workbook.chapter.notebooks import NotANotebook, read_notebook
from workbook.check_chapter.cases import check_cases
from workbook.check_chapter.check import Layer, check_folder
from workbook.check_chapter.fault import Checking, Fault
from workbook.check_chapter.json_places import line_of
from workbook.checkpoint.file import parse_beliefs, parse_checkpoints
from workbook.exercise.file import parse_exercises
from workbook.notebook.cell_comparison import difference
from workbook.notebook.nbval_guard import uncompared_cells

if TYPE_CHECKING:
    # the notebook's format takes long to import, and a mistake is told at once
    from workbook.notebook.bake import NotBaked

FILES_ITEM: Final = "files"
_ENTRY: Final = re.compile(r"(?P<list>[a-z]+)\[(?P<number>\d+)\]")
_LONGEST_NAME: Final = 50


class NotAsSaid(Exception):
    """What an item found; shown as it is, without a traceback into the workbook."""


class Chapters:
    """The folders that were given, as a plug-in of this run of pytest."""

    def __init__(self, config: pytest.Config, folders: Iterable[Path]) -> None:
        """Without further arguments, only the folders are collected. Raises: pytest.UsageError."""
        self._folders = [folder.resolve() for folder in folders]
        self._chapters: set[Path] = set()
        for folder in self._folders:
            try:
                self._chapters |= {place.folder for place in places_in(folder)}
            except NoChapter as error:
                raise pytest.UsageError(f"--workbook {error}") from None
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = []
        named = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
        for folder in self._folders:
            if not any(path.resolve().is_relative_to(folder) for path in named):
                config.args.append(str(folder))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A chapter, or a folder of chapters; None for any other folder, which is pytest's."""
        if path in self._chapters:
            return ChapterFolder.from_parent(parent, path=path)
        if path in self._folders:
            return FolderOfChapters.from_parent(parent, path=path)
        return None

    def pytest_report_header(self) -> str:
        return f"workbook: {', '.join(sorted(folder.name for folder in self._chapters))}"


class FolderOfChapters(pytest.Directory):
    """The chapters in a folder, and nothing else of it."""

    def collect(self) -> Iterator[pytest.Collector]:
        for place in places_in(self.path):
            yield ChapterFolder.from_parent(self, path=place.folder)


class ChapterFolder(pytest.Directory):
    """One chapter: its files in the order in which they build on each other."""

    def collect(self) -> Iterator[pytest.Collector]:
        """Where the files have faults, one item tells them, and no other is collected. Raises: CollectError."""
        if check_folder(self.path, upto=Layer.FILES).faults:
            yield ChapterToml.from_parent(self, path=self.path / CHAPTER_FILE)
            return
        files = [*self._data(), NotebookFile.from_parent(self, path=self.checking.chapter.notebook)]
        yield ChapterToml.from_parent(self, path=self.path / CHAPTER_FILE)
        yield from files

    def _data(self) -> Iterator[DataFile]:
        files = self.checking.files
        for path in files.cases:
            ids = [case.id for case in parse_file(path.read_bytes(), path.name).cases]
            yield DataFile.of(self, path, "cases", ids)
        if files.checkpoints is not None:
            file = parse_checkpoints(files.checkpoints.read_bytes(), files.checkpoints.name)
            yield DataFile.of(self, files.checkpoints, "checkpoints", [one.id for one in file.checkpoints])
        for path in files.beliefs:
            if not self.checking.is_foreign(path):
                yield DataFile.of(self, path, "beliefs", list(parse_beliefs(path.read_bytes(), path.name)))
        if files.exercises is not None:
            found = parse_exercises(files.exercises.read_bytes(), files.exercises.name, self.checking.chapter.id)
            yield DataFile.of(self, files.exercises, "exercises", list(found))

    @cached_property
    def checking(self) -> Checking:
        """The chapter's files, which have no fault of their own."""
        chapter = read_chapter(Place(folder=self.path))
        return Checking(chapter=chapter, files=chapter.files(built_in_beliefs()))

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """What playing shows of the data: found once, told by the items."""
        return tuple(check_cases(self.checking))

    def told_by(self, fault: Fault) -> tuple[str, str]:
        """The file and the entry whose item tells a fault; two empty texts for what is about no single entry."""
        exercises = self.checking.files.exercises
        if exercises is not None:
            submitted = re.match(rf"{re.escape(exercises.parent.name)}/(?P<id>[^/]+)/", fault.file)
            if submitted and fault.file != self.checking.name(exercises):
                return self.checking.name(exercises), submitted["id"]
        entry = _ENTRY.match(fault.place)
        return (fault.file, entry[0]) if entry else ("", "")


def chapter_of(node: pytest.Item | pytest.Collector) -> ChapterFolder:
    """The chapter that a node belongs to."""
    found = node.getparent(ChapterFolder)
    assert found is not None  # only a ChapterFolder makes such nodes
    return found


class _Item(pytest.Item):
    """What all items have: a line to go to, and failures that are words."""

    line: int = 1

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, f"{self.path.name}: {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """An author sees what is wrong with the chapter; what is wrong with the workbook has its traceback."""
        if isinstance(excinfo.value, NotAsSaid):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


# ---------------------------------------------------------------------------------------------------- chapter.toml


class ChapterToml(pytest.File):
    """The chapter as files, before anything is played."""

    def collect(self) -> Iterator[pytest.Item]:
        yield FilesItem.from_parent(self, name=FILES_ITEM)


class FilesItem(_Item):
    """Every file is there and is what its format asks for; and whatever else is about no single entry."""

    def runtest(self) -> None:
        chapter = chapter_of(self)
        faults = check_folder(chapter.path, upto=Layer.FILES).faults
        if not faults:
            faults = tuple(fault for fault in chapter.faults if chapter.told_by(fault) == ("", ""))
        if faults:
            raise NotAsSaid("\n".join(map(str, faults)))


# --------------------------------------------------------------------------------- cases, checkpoints, exercises


class DataFile(pytest.File):
    """A file with a list of entries: an item for each, called by its id."""

    list_name: str
    ids: list[str]

    @classmethod
    def of(cls, parent: ChapterFolder, path: Path, list_name: str, ids: list[str]) -> DataFile:
        made: DataFile = cls.from_parent(parent, path=path)
        made.list_name, made.ids = list_name, ids
        return made

    def collect(self) -> Iterator[pytest.Item]:
        text = self.path.read_text(encoding="utf-8")
        for number, entry_id in enumerate(self.ids):
            item: DataItem = DataItem.from_parent(self, name=entry_id)
            item.place = f"{self.list_name}[{number}]"
            item.line = line_of(text, item.place) or 1
            yield item


class DataItem(_Item):
    """One case, checkpoint, belief or exercise: it holds what it says when it is played."""

    place: str

    def runtest(self) -> None:
        chapter = chapter_of(self)
        name = chapter.checking.name(self.path)
        mine = ((name, self.place), (name, self.name))  # an exercise's submissions are told by its id
        if faults := [str(fault) for fault in chapter.faults if chapter.told_by(fault) in mine]:
            raise NotAsSaid("\n".join(faults))


# ----------------------------------------------------------------------------------------------------- a notebook


class NotebookFile(pytest.File):
    """The worked edition: played once by the scripted learner, and then compared cell by cell."""

    def collect(self) -> Iterator[pytest.Item]:
        """Raises: CollectError, for a notebook that cannot be read or has nothing to compare."""
        try:
            cells = read_notebook(self.path).cells
        except NotANotebook as error:
            raise self.CollectError(str(error)) from None
        code = [
            (number, cell) for number, cell in enumerate(cells) if cell.cell_type == "code" and cell.source.strip()
        ]
        if not code:
            raise self.CollectError(f"{self.path.name}: no code cell, so there is nothing to compare.")
        for number, cell in code:
            first = cell.source.strip().splitlines()[0][:_LONGEST_NAME].replace("::", ":")  # pytest's own separator
            item: CellItem = CellItem.from_parent(self, name=f"cell {number + 1} ({first})")
            item.number = number
            yield item

    @cached_property
    def saved(self) -> Any:
        return read_notebook(self.path)

    @cached_property
    def today(self) -> tuple[Any, NotBaked | None]:
        """The notebook as it is played now, and what ended it early."""
        from workbook.notebook.bake import played

        return played(self.path)

    @cached_property
    def never_compared(self) -> dict[int, str]:
        """Cells that were saved in a way in which nobody can compare them, and why."""
        return {cell.index: cell.reason for cell in uncompared_cells(self.saved)}


class CellItem(_Item):
    """One code cell shows what was saved with it."""

    number: int  # among all cells, from 0

    def runtest(self) -> None:
        notebook = self.getparent(NotebookFile)
        assert notebook is not None  # only a NotebookFile makes such items
        if why := notebook.never_compared.get(self.number):
            raise NotAsSaid(f"{self.name}: {why}.")
        today, ended = notebook.today
        cell, saved = today.cells[self.number], notebook.saved.cells[self.number]
        if ended is not None and (ended.cell == self.number or cell.execution_count is None):
            raise NotAsSaid(f"{self.name}: it was not played to its end. {ended}")
        if found := difference(saved.outputs, cell.outputs):
            remedy = "Look at `workbook diff`, then run `workbook bake` if the new outputs are right."
            raise NotAsSaid(f"{self.name}: it shows something else than was saved.\n{found}\n{remedy}")
