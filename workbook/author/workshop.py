"""A workshop in a notebook: a chapter in a scratch folder, to look at, break, check, mend and bake.

What it shows has no path of a machine in it. Each method is one command, or one change in an editor; nothing is
done here that cannot be done with those.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Final

from labsim.library import fixtures_dir
from workbook.author.new_chapter import SCAFFOLD_ID, new_chapter
from workbook.chapter.chapter import Chapter
from workbook.chapter.file import CHAPTER_FILE, Place, read_chapter
from workbook.chapter.notebooks import NOTEBOOK_SUFFIX
from workbook.check_chapter.check import Checked, Layer, check_folder
from workbook.desk.open import open_chapter
from workbook.errors import WorkbookError
from workbook.notebook.bake import bake
from workbook.notebook.diff import NoDiff, changes
from workbook.show.grid import Grid
from workbook.show.page import Heading, Literal, Page, Paragraph, Table, page

EXAMPLES: Final = "scaffold-extras"
_HOLDS: Final = {
    CHAPTER_FILE: "what the chapter is called, and where it comes among the others",
    "cases.json": "situations, as data: what is given, what is expected, why",
    "checkpoints.json": "questions, with answers that say what they predict",
    "beliefs.json": "what somebody may hold who answers wrongly",
    "exercises/exercises.json": "what learners write, and the situations it is tried in",
    "notebook.ipynb": "the story, with what the scripted learner saw",
    "engine.py": "kinds of cases, handlers and tools of the chapter's own",
}


class CannotChange(WorkbookError):
    """A file was left as it is. Attribute: `file`."""

    def __init__(self, file: str, problem: str) -> None:
        self.file = file
        super().__init__(f"{file}: {problem}. Nothing was changed.")


def workshop(chapter_id: str, *, inside: Path | str | None = None) -> Workshop:
    """A new chapter to work on. `inside`: the folder to make it in; None for a scratch folder, gone at the end.

    Raises: workbook.author.new_chapter.CannotMake; workbook.notebook.bake.NotBaked.
    """
    if inside is None:
        inside = tempfile.mkdtemp(prefix="cedar-workshop-")
        atexit.register(shutil.rmtree, inside, ignore_errors=True)
    return Workshop(new_chapter(chapter_id, inside=inside).folder)


class Workshop:
    """One chapter on the bench. As the value of a cell it shows what its files are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = read_chapter(Place(folder=folder)).id

    # -- looking

    def show(self, file: str, first: int = 1, last: int | None = None) -> Page:
        """Lines of a file, counted from 1, as an editor counts them. Raises: CannotChange, if there is none."""
        lines = self._text(file).splitlines()
        last = len(lines) if last is None else min(last, len(lines))
        width = len(str(last))
        shown = [f"{number:>{width}}  {lines[number - 1]}" for number in range(first, last + 1)]
        return page(Literal(label=f"{file}, lines {first} to {last}", text="\n".join(shown)))

    def check(self, *, run: bool = False) -> Page:
        """What `workbook check-chapter` says. `run`: run both editions as well, which takes some seconds."""
        return _said(check_folder(self.folder, upto=Layer.RUNS if run else Layer.NOTEBOOK))

    def diff(self) -> Page:
        """What `workbook diff` says; in words, too, where there is nothing to make a diff with."""
        try:
            found = changes(self._notebook)
        except NoDiff as error:  # for authors only; the rest of the workshop goes on without
            return page(Paragraph(text=str(error)))
        if not found:
            return page(Paragraph(text="The notebook shows what is saved in it."))
        return page(Literal(label="Saved (-) and today (+)", text=found.rstrip("\n")))

    def open(self) -> Chapter:
        """The chapter, as a notebook of it opens it."""
        return open_chapter(self.id, folder=self.folder)

    # -- changing

    def change(self, file: str, old: str, new: str) -> Page:
        """Put `new` in the place of the first `old`, as in an editor, and show the lines.

        Of a notebook the sources of the cells are meant. Raises: CannotChange.
        """
        if not old:
            raise CannotChange(file, "there is nothing to put it in the place of")
        if file.endswith(NOTEBOOK_SUFFIX):
            return self._change_cell(file, old, new)
        text = self._text(file)
        if old not in text:
            raise CannotChange(file, f"{old!r} is not in it")
        changed = text.replace(old, new, 1)
        (self.folder / file).write_text(changed, encoding="utf-8")
        line = text.count("\n", 0, text.index(old)) + 1
        return _changed(f"{file}, line {line}", _lines(text, line, old), _lines(changed, line, new))

    def take(self, name: str) -> Page:
        """Copy one of the examples that come with the package into the chapter. Raises: CannotChange."""
        source = fixtures_dir() / EXAMPLES / name
        if not source.is_file():
            known = ", ".join(sorted(path.name for path in source.parent.iterdir() if path.is_file()))
            raise CannotChange(name, f"there is no such example; there are {known}")
        if (self.folder / name).exists():
            raise CannotChange(name, "the chapter has one already")
        text = source.read_text(encoding="utf-8").replace(SCAFFOLD_ID, self.id)
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.show(name)

    def bake(self) -> Page:
        """Run the notebook and save what it shows, as `workbook bake` does. Raises:
        workbook.notebook.bake.NotBaked.
        """
        written = bake(self._notebook)
        return page(Paragraph(text=f"{self._notebook.name}: {'written anew' if written else 'as it was'}."))

    # -- inside

    @property
    def _notebook(self) -> Path:
        return read_chapter(Place(folder=self.folder)).notebook

    def _text(self, file: str) -> str:
        path = self.folder / file
        if not path.is_file():
            raise CannotChange(file, "there is no such file in the chapter")
        return path.read_text(encoding="utf-8")

    def _change_cell(self, file: str, old: str, new: str) -> Page:
        import nbformat

        notebook = nbformat.reads(self._text(file), as_version=4)  # type: ignore[no-untyped-call]
        for number, cell in enumerate(notebook.cells, start=1):
            if old in cell.source:
                before, cell.source = cell.source, cell.source.replace(old, new, 1)
                written = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
                (self.folder / file).write_text(f"{written}\n", encoding="utf-8")
                return _changed(f"{file}, cell {number}", before, cell.source)
        raise CannotChange(file, f"no cell has {old!r} in it")

    def page(self) -> Page:
        """The files of the chapter, and what each of them holds."""
        names = sorted(
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()
        )
        known = [name for name in _HOLDS if name in names]
        rows = [(name, _HOLDS[name]) for name in known]
        rows += [(name, _further(name)) for name in names if name not in known]
        grid = Grid(caption=f"The chapter {self.id}", columns=("file", "holds"), rows=tuple(rows))
        return page(Table(grid=grid))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.page()._repr_mimebundle_()

    def __repr__(self) -> str:
        return str(self.page())


def _further(name: str) -> str:
    if name.startswith("exercises/"):
        return "a submission that is known to be " + ("right" if "/good-" in name else "wrong")
    return "further cases" if name.endswith(".json") else "something of yours"


def _lines(text: str, line: int, changed: str) -> str:
    """The lines of a text that a change is in."""
    return "\n".join(text.splitlines()[line - 1 : line + changed.count("\n")])


def _changed(where: str, before: str, after: str) -> Page:
    was = "\n".join(f"- {line}" for line in before.splitlines())
    now = "\n".join(f"+ {line}" for line in after.splitlines())
    return page(Literal(label=where, text="\n".join(part for part in (was, now) if part)))


def _said(checked: Checked) -> Page:
    """The faults as a table, and the verdict in words."""
    *_, verdict = checked.lines()
    heading = Heading(text=f"Check of {checked.chapter}")
    if not checked.faults:
        return page(heading, Paragraph(text=verdict))
    rows = tuple((fault.where, f"{fault.found}.", fault.remedy) for fault in checked.faults)
    grid = Grid(caption="Faults", columns=("where", "what was found", "what would do"), rows=rows)
    return page(heading, Table(grid=grid), Paragraph(text=verdict))
