"""From a folder of exports to a folder with a report.

Reports are made anew each time, so an earlier report is written over; anything else of the same name is left
alone, and then nothing is written at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbook import atomic
from workbook.classroom.counts import ClassReport, Classroom
from workbook.classroom.csv_tables import HEADS, tables
from workbook.classroom.files import Handed, Skipped, files_in, fullest, read_file
from workbook.classroom.page import GENERATOR, html
from workbook.errors import WorkbookError
from workbook.learner.progress_bar import progress
from workbook.progress.installed import installed
from workbook.progress.questions import Bank

PAGE: Final = "index.html"


class CannotReport(WorkbookError):
    """The report cannot be written; nothing was. Attribute: `path`."""

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}. Nothing was written. Name another folder: --to FOLDER")


class Written(Struct, frozen=True, kw_only=True):
    """The report, the files that do not count, and the names of the tables beside the page."""

    report: ClassReport
    skipped: tuple[Skipped, ...]
    tables: tuple[str, ...]


def write(folder: Path, to: Path, chapters: Iterable[Path] = (), *, bank: Bank | None = None) -> Written:
    """Count the exports in `folder` and write the report into the folder `to`.

    `chapters`: further folders of chapters. `bank`: what to judge by instead of what is installed.
    Raises: NoFiles; CannotReport; workbook.chapter.catalogue.NoChapter.
    """
    paths, others = files_in(folder, leave_out=to)
    _check_ours(to)  # before the work, not after it
    known = installed(folders=chapters) if bank is None else bank
    report, skipped = counted(paths, folder, known)
    skipped = sorted([*others, *skipped], key=lambda one: one.name)
    made = tables(report, skipped)
    _write({to / PAGE: html(report, skipped)} | {to / name: text for name, text in made.items()}, to)
    return Written(report=report, skipped=tuple(skipped), tables=tuple(made))


def counted(paths: list[Path], folder: Path, bank: Bank) -> tuple[ClassReport, list[Skipped]]:
    """What the files come to, and those that do not count."""
    room = Classroom(bank)
    with progress("Looking at exports", len(paths), "files") as done:
        wanted, skipped = fullest(paths, folder, done)
    with progress("Counting answers", len(wanted), "files") as done:
        for path in wanted:
            match read_file(path, folder):
                case Handed(answers=answers):
                    room.add(answers.records)
                case Skipped() as one:
                    skipped.append(one)
            done(1)
    return room.report(), skipped


def _check_ours(to: Path) -> None:
    """What is there already must be an earlier report: the page says so, and each table begins with its head."""
    for name, mark in {PAGE: GENERATOR, **HEADS}.items():
        path = to / name
        try:
            there = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise CannotReport(path, f"there is something that cannot be read ({error})") from error
        if mark not in there[:2000]:
            raise CannotReport(path, "this file is no earlier class report, and is left as it is")


def _write(texts: dict[Path, str], to: Path) -> None:
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotReport(to, error.strerror or str(error)) from error
    try:
        atomic.write_all({path: text.encode() for path, text in texts.items()})
    except atomic.WriteFailed as error:
        raise CannotReport(error.path, error.found) from error
