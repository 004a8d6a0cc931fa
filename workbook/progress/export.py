"""Writing a learner's work beside their answers: one file to read, one for a class report.

A file that is already there is written over only if it is what an earlier export of the same learner wrote,
unchanged since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbook import atomic
from workbook.errors import WorkbookError
from workbook.learner.store import Progress
from workbook.progress.export_record import NotMyWork, Work, encode_work, parse_work, without_confidence, work_of
from workbook.progress.export_text import TITLE, code, work_text
from workbook.progress.history import fold
from workbook.progress.installed import installed
from workbook.progress.questions import Bank

STEM: Final = "my-work"
_SUFFIXES: Final = (".md", ".json")
_DIGEST: Final = "Digest: "  # begins the last line of the Markdown file


class NothingToExport(WorkbookError):
    """The folder holds no answers. Attribute: `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"{folder} holds no answers yet, so there is nothing to export. Name the folder with your notebooks: "
            "workbook export DIR"
        )


class BadName(WorkbookError):
    """What was given as a name is none. Attribute: `found`."""

    def __init__(self, problem: str) -> None:
        self.found = problem
        super().__init__(
            f"{problem!r} is no name. Use one line of text, or leave it out: the export has a pseudonym."
        )


class CannotExport(WorkbookError):
    """Nothing was written. Attribute: `path`, the file that could not be."""

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}. Nothing was written. Name another place: --to FILE-STEM")


class Exported(Struct, frozen=True, kw_only=True):
    """The two files, and what is in them."""

    markdown: Path
    json: Path
    work: Work


def export(
    progress: Progress,
    *,
    name: str | None = None,
    to: Path | None = None,
    with_confidence: bool = True,
    bank: Bank | None = None,
) -> Exported:
    """Write all of a learner's work to `to` with .md and .json (None: `my-work` in the folder of the answers).

    Pseudonymous unless `name` is given. `bank`: the chapters to judge by (None: those that are installed). The same
    answers, chapters and arguments give the same bytes.
    Raises: BadName; NothingToExport; CannotExport; workbook.learner.store.ForeignFile or NotSaved (a pseudonym is
    drawn once).
    """
    if name is not None and not (name.strip() and name.isprintable()):
        raise BadName(name)
    if not progress.records():
        raise NothingToExport(progress.folder)
    learner = progress.pseudonym()
    known = installed(progress.folder) if bank is None else bank
    work, text = put_together(progress, known, learner=learner, name=name, with_confidence=with_confidence)
    stem = progress.folder / STEM if to is None else to.with_suffix("") if to.suffix in _SUFFIXES else to
    markdown, json = (stem.with_name(stem.name + suffix) for suffix in _SUFFIXES)
    _check_ours(markdown, learner, _is_text_of)
    _check_ours(json, learner, _is_data_of)
    _write({markdown: text, json: encode_work(work)})
    return Exported(markdown=markdown, json=json, work=work)


def put_together(
    progress: Progress, bank: Bank, *, learner: str, name: str | None, with_confidence: bool
) -> tuple[Work, bytes]:
    """The work and its Markdown. Raises: workbook.learner.store.ForeignFile."""
    records = progress.records() if with_confidence else without_confidence(progress.records())
    folded = fold(records, bank)
    work = work_of(folded, records, bank, learner=learner, name=name, with_confidence=with_confidence)
    text = work_text(work, folded, {chapter.id: chapter.title for chapter in bank.chapters})
    return work, _sealed(text)


def _sealed(text: str) -> bytes:
    """The text with a last line that no longer fits once somebody has changed the file."""
    body = text.encode()
    return body + f"\n{_DIGEST}{hashlib.sha256(body).hexdigest()[:16]}\n".encode()


def _is_text_of(data: bytes, learner: str) -> bool:
    body, mark, _ = data.rpartition(f"\n{_DIGEST}".encode())
    head = f"{TITLE}\n\n- Learner: {code(learner)}\n".encode()
    return bool(mark) and body.startswith(head) and _sealed(body.decode(errors="replace")) == data


def _is_data_of(data: bytes, learner: str) -> bool:
    try:
        work = parse_work(data, "")
    except NotMyWork:
        return False
    return work.learner == learner and encode_work(work) == data


def _check_ours(path: Path, learner: str, is_ours: Callable[[bytes, str], bool]) -> None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise CannotExport(path, f"there is something that cannot be read ({error.strerror})") from error
    if not is_ours(data, learner):
        raise CannotExport(path, "this file is not yours from here, or was changed since; it is left as it is")


def _write(files: dict[Path, bytes]) -> None:
    try:
        atomic.write_all(files)
    except atomic.WriteFailed as error:
        raise CannotExport(error.path, error.found) from error
