"""The learner's copies: clean notebooks in a folder of their own, made once and never overwritten.

A worked edition shows what the scripted learner saw; a copy shows nothing yet. One rule decides which files are
the learner's: whatever is already there.

Where something is to be written, a worked edition holds what the scripted learner wrote. Such a cell says in its
metadata what a copy has in its place: `"cedar": {"skeleton": "…"}`, the text to begin with, or
`"cedar": {"edition": "worked"}`, nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from workbook import atomic
from workbook.chapter.catalogue import REMEMBERED, Listed, Origin, catalogue, remember
from workbook.chapter.notebooks import CHECKPOINT_FOLDER, NotANotebook, notebooks_dir, notebooks_in, read_notebook
from workbook.errors import WorkbookError

if TYPE_CHECKING:
    from nbformat import NotebookNode

ASSETS = "assets"
MARKS = "cedar"  # the part of a cell's metadata that is ours
WORKED = "worked"

# What a front end or a runner leaves behind; none of it is part of a lesson.
_TRANSIENT_NOTEBOOK_METADATA = ("widgets", "signature", "toc-autonumbering")
_TRANSIENT_CELL_METADATA = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted")


class LeftBecause(StrEnum):
    """Why a file that was already there was left alone."""

    CURRENT = "current"  # the text of this edition, whatever was run in it
    DIFFERENT = "different"  # the learner's own changes, or an older edition: no way to tell, and no need


class LeftAlone(Struct, frozen=True, kw_only=True):
    """One file that was already there."""

    name: str  # relative to the folder, with forward slashes
    why: LeftBecause


class Started(Struct, frozen=True, kw_only=True):
    """What `start` did in a folder. Both lists are in the order of the chapters, pictures last."""

    folder: Path
    created: tuple[str, ...]  # names relative to the folder, with forward slashes
    left_alone: tuple[LeftAlone, ...]
    faults: tuple[str, ...] = ()  # chapters of others that could not be read, a sentence each

    def summary(self) -> str:
        """What a learner should know, in a few lines."""
        lines = [f"Workbook in {self.folder}"]
        current = [left.name for left in self.left_alone if left.why is LeftBecause.CURRENT]
        different = [left.name for left in self.left_alone if left.why is LeftBecause.DIFFERENT]
        if self.created:
            lines.append(f"  new: {', '.join(self.created)}")
        if current:
            lines.append(f"  already there, of this edition: {', '.join(current)}")
        if different:
            lines.append(f"  left alone, with your changes or of an older edition: {', '.join(different)}")
            lines.append("  To see this edition of those, start in another folder: workbook start OTHER-FOLDER")
        lines += [f"  not readable, so not here: {fault}" for fault in self.faults]
        return "\n".join(lines)


class CannotStart(WorkbookError):
    """The folder cannot take the copies. What was already there is as it was, and every copy made is whole.

    Attribute: `folder`.
    """

    def __init__(self, folder: Path, why: str, remedy: str) -> None:
        self.folder = folder
        super().__init__(f"The workbook cannot be put into {folder}: {why}. {remedy}")


def start(folder: Path, *, source: Path | None = None, chapters: Sequence[Path] = ()) -> Started:
    """Put a clean copy of every notebook, and of the pictures, into the folder, wherever no file is yet.

    `source`: the folder of the worked editions; None for those that came with the package, and those of every other
    chapter that the catalogue finds. `chapters`: further folders of chapters, which the folder will remember, so
    that notebooks in it find their data. Everything is read and cleaned before the first file is written, and each
    file appears whole or not at all.

    Raises: CannotStart; NotANotebook, if a worked edition is broken; labsim.library.DataMissing; and of the
    catalogue NoChapter and SameId.
    """
    files = _prepared(notebooks_dir() if source is None else source)
    faults: tuple[str, ...] = ()
    if source is None:
        found = catalogue(chapters, here=folder)
        faults = found.faults
        for clash in found.clashes:
            raise clash
        for listed in found.chapters:
            if listed.origin is not Origin.BUILT_IN:
                _add(files, listed, folder)

    created: list[str] = []
    left_alone: list[LeftAlone] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_start(folder, folder, error.strerror or str(error)) from error
    for name, content in files.items():
        target = folder / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            placed = atomic.create(target, content)
        except OSError as error:
            raise _cannot_start(folder, target, error.strerror or str(error)) from error
        except atomic.WriteFailed as error:
            raise _cannot_start(folder, target, error.found) from error
        if placed:
            created.append(name)
        else:
            left_alone.append(LeftAlone(name=name, why=_compare(target, content)))
    try:
        remember(folder, chapters)
    except atomic.WriteFailed as error:
        raise _cannot_start(folder, folder / REMEMBERED, error.found) from error
    except OSError as error:  # what is noted there already cannot be read
        raise _cannot_start(folder, folder / REMEMBERED, error.strerror or str(error)) from error
    return Started(folder=folder, created=tuple(created), left_alone=tuple(left_alone), faults=faults)


def _prepared(source: Path) -> dict[str, bytes]:
    """What a folder of worked editions puts into a learner's, by name."""
    files = {path.name: _written(clean(read_notebook(path))) for path in notebooks_in(source)}
    return files | {path.relative_to(source).as_posix(): path.read_bytes() for path in _assets_in(source)}


def _add(files: dict[str, bytes], listed: Listed, folder: Path) -> None:
    """The notebook and the pictures of one more chapter; two chapters cannot share a name for different things."""
    source = listed.chapter.notebook
    more = {listed.chapter.copy_name: _written(clean(read_notebook(source)))}
    more |= {path.relative_to(source.parent).as_posix(): path.read_bytes() for path in _assets_in(source.parent)}
    for name, content in more.items():
        if files.get(name, content) != content:
            raise CannotStart(
                folder,
                f"{listed.id} ({listed.whence}) has a {name}, and so has another chapter",
                "Give the file another name, such as one that begins with the chapter's id.",
            )
    files |= more


def _cannot_start(folder: Path, target: Path, why: str) -> CannotStart:
    for place in (target, *target.parents):
        if place.exists() and not place.is_dir():
            return CannotStart(folder, f"{place} is a file, not a folder", "Choose another folder.")
    return CannotStart(
        folder,
        f"{target.name} cannot be written ({why})",
        "Mend this, or choose another folder, and start again: it goes on where it stopped.",
    )


def clean(notebook: NotebookNode) -> NotebookNode:
    """The notebook as nobody has run it yet: a new one; the given one is unchanged.

    Outputs, execution counts, saved widget state and what front ends note down are gone, and so is what the
    scripted learner wrote. Text, ids, tags and attachments stay.
    """
    import nbformat

    cleaned: NotebookNode = nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]
    _drop(cleaned.metadata, _TRANSIENT_NOTEBOOK_METADATA)
    _drop(cleaned.metadata.get("language_info", {}), ("version",))  # of the Python that ran it
    cleaned.cells = [cell for cell in cleaned.cells if _marks(cell).get("edition") != WORKED]
    for cell in cleaned.cells:
        cell.source = _marks(cell).get("skeleton", cell.source)
        _drop(cell.metadata, (MARKS, *_TRANSIENT_CELL_METADATA))
        if "jupyter" in cell.metadata:
            _drop(cell.metadata.jupyter, ("outputs_hidden",))
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    return cleaned


def _marks(cell: NotebookNode) -> dict[str, str]:
    """What a cell says about its place in a copy."""
    marks: dict[str, str] = cell.metadata.get(MARKS, {})
    return marks


def _drop(metadata: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        metadata.pop(name, None)


def _written(notebook: NotebookNode) -> bytes:
    import nbformat

    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return f"{text}\n".encode()


def _assets_in(source: Path) -> list[Path]:
    inside = (source / ASSETS).rglob("*")
    return sorted(path for path in inside if path.is_file() and CHECKPOINT_FOLDER not in path.parts)


def _compare(target: Path, content: bytes) -> LeftBecause:
    """How a file that is already there stands to the one that would have been made."""
    import nbformat

    try:
        if target.read_bytes() == content:
            return LeftBecause.CURRENT
        if target.suffix != ".ipynb":
            return LeftBecause.DIFFERENT
        theirs = _text(read_notebook(target))
    except (OSError, NotANotebook):
        return LeftBecause.DIFFERENT
    ours = _text(nbformat.reads(content.decode(), as_version=4))  # type: ignore[no-untyped-call]
    return LeftBecause.CURRENT if theirs == ours else LeftBecause.DIFFERENT


def _text(notebook: NotebookNode) -> list[tuple[str, str]]:
    """What a learner could have changed: kinds and sources of the cells, but for the empty one JupyterLab adds."""
    cells = [(cell.cell_type, cell.source) for cell in notebook.cells]
    return cells[:-1] if cells and cells[-1] == ("code", "") else cells
