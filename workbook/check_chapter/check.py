"""Is a chapter whole? All that can be found out about it by reading, by playing and by running, in that order.

A layer that finds something keeps the later ones from starting, since those would trip over the same thing and say
it worse; and nobody waits for a kernel to be told of a missing comma.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from labsim.errors import CaseError
from workbook.chapter.catalogue import Listed, NoChapter, built_in_beliefs, catalogue
from workbook.chapter.chapter import Chapter
from workbook.chapter.file import CHAPTER_FILE, Place, read_chapter
from workbook.check_chapter.fault import Checking, Fault, Layer, fault_of
from workbook.learner.who import Learner, progress_of

Say = Callable[[str], None]

__all__ = ["Checked", "Checking", "Fault", "Layer", "check_folder", "check_listed"]


class Checked(Struct, frozen=True, kw_only=True):
    """What came of checking one chapter. `left_out`: the layers that were not looked at, in their order."""

    chapter: str
    folder: str
    faults: tuple[Fault, ...]
    left_out: tuple[Layer, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything was looked at and nothing was found."""
        return not self.faults and not self.left_out

    def lines(self) -> Iterator[str]:
        """What an author should know: each fault on a line, and a verdict."""
        yield from map(str, self.faults)
        if self.faults:
            count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
            later = f" Not looked at yet: {', '.join(self.left_out)}." if self.left_out else ""
            yield f"{self.chapter}: {count}.{later}"
        elif self.left_out:
            yield f"{self.chapter}: no fault so far. Not looked at: {', '.join(self.left_out)}."
        else:
            yield f"{self.chapter}: all is well."

    def json(self) -> bytes:
        """The same for a program: chapter, folder, passed, faults (with `where` put together), leftOut."""
        faults = [{**msgspec.to_builtins(fault), "where": fault.where} for fault in self.faults]
        record = {
            "chapter": self.chapter,
            "folder": self.folder,
            "passed": self.passed,
            "faults": faults,
            "leftOut": [str(layer) for layer in self.left_out],
        }
        return msgspec.json.format(msgspec.json.encode(record), indent=2)


def check_folder(folder: Path | str, *, upto: Layer = Layer.RUNS, say: Say = lambda line: None) -> Checked:
    """Look at a chapter's folder, layer by layer, until one finds something.

    `upto`: the last layer to look at; the others stand in `left_out`. `say` hears which layer begins.
    Raises: NoChapter, if the folder holds none.
    """
    folder = Path(folder)
    if not (folder / CHAPTER_FILE).is_file():
        raise NoChapter(
            folder, f"there is no {CHAPTER_FILE} in it" if folder.is_dir() else "there is no such folder"
        )
    return _checked(Place(folder=folder), upto, say)


def check_listed(listed: Listed, *, upto: Layer = Layer.RUNS, say: Say = lambda line: None) -> Checked:
    """The same for a chapter of the catalogue, the built-in ones included."""
    return _checked(listed.chapter.place, upto, say)


def _checked(place: Place, upto: Layer, say: Say) -> Checked:
    folder = str(place.folder)
    order = tuple(Layer)
    try:
        chapter = read_chapter(place)
        files = chapter.files(built_in_beliefs())
    except CaseError as error:
        path = place.folder / CHAPTER_FILE
        name = error.place.partition(": ")[0] or CHAPTER_FILE
        text = path.read_text(encoding="utf-8", errors="replace")
        fault = fault_of(error, Layer.FILES, name, text)
        return Checked(chapter=place.folder.name, folder=folder, faults=(fault,), left_out=order[1:])
    checking = Checking(chapter=chapter, files=files)
    for number, layer in enumerate(order):
        if number > order.index(upto):
            return Checked(chapter=chapter.id, folder=folder, faults=(), left_out=order[number:])
        say(f"Looking at the {layer} of {chapter.id} …")
        if faults := tuple(_layer(layer, checking)):
            return Checked(chapter=chapter.id, folder=folder, faults=faults, left_out=order[number + 1 :])
    return Checked(chapter=chapter.id, folder=folder, faults=())


def _layer(layer: Layer, checking: Checking) -> Iterable[Fault]:
    # Imported where used: most faults are found before the later layers, and what those need, are wanted.
    match layer:
        case Layer.FILES:
            from workbook.check_chapter.files import check_files

            beside = (checking.folder.parent,) if checking.chapter.place.data is None else ()
            return check_files(checking, catalogue(beside))
        case Layer.CASES:
            from workbook.check_chapter.cases import check_cases

            return check_cases(checking)
        case Layer.WORDING:
            from workbook.check_chapter.wording import check_wording

            return check_wording(checking)
        case Layer.NOTEBOOK:
            from workbook.check_chapter.notebook import check_notebook

            return check_notebook(checking, _opened(checking))
        case Layer.RUNS:
            from workbook.check_chapter.runs import check_runs

            return check_runs(checking, _opened(checking))


def _opened(checking: Checking) -> Chapter:
    """The chapter as a notebook opens it, for what it knows of itself; nothing is answered in it."""
    return Chapter(checking.files, learner=Learner.SCRIPTED, progress=progress_of(Learner.SCRIPTED))
