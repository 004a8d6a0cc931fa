"""The learner's progress: one append-only file of answers beside the learner's copies, and what stands in it.

Below `checkpoints`, which decides what may be asked and shown; above `answers` (records) and `journal` (bytes).

Nothing here ever changes or removes a line, a reset included, which only hides what stood before. What stands is
always worked out from the lines, in their order. So two kernels cannot disagree for longer than one read, and every
accident (a kernel killed while saving, a full disk, a careless editor) costs at most the one line that it struck.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import Timeout

from workbook import answers, journal
from workbook.answers import (
    Answer,
    AnswerKind,
    Commit,
    Contents,
    ForeignFile,
    Key,
    Note,
    Record,
    Reset,
    RevealSeen,
    content_hash,
)
from workbook.errors import WorkbookError

__all__ = [
    "AlreadyCommitted",
    "Answer",
    "AnswerKind",
    "Commit",
    "ForeignFile",
    "Key",
    "NotCommitted",
    "NotSaved",
    "Note",
    "Progress",
    "Record",
    "Reset",
    "RevealSeen",
    "content_hash",
    "default_folder",
]

FILE_NAME = "cedar-progress.jsonl"
FOLDER_VARIABLE = "CEDAR_PROGRESS_DIR"

_R = TypeVar("_R", Commit, Reset, RevealSeen, Note)


class AlreadyCommitted(WorkbookError):
    """The checkpoint has an answer, and an answer is locked. Attribute: `commit`, the one that stands."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        super().__init__(
            f"{commit.key} is already answered: you committed {commit.answer!r}, and a commit is locked. To answer "
            f"again, reset it first: reset({commit.key.checkpoint!r}). The reset is recorded, this answer is kept."
        )


class NotCommitted(WorkbookError):
    """The checkpoint has no answer yet, so there is nothing to reset and nothing to reveal. Attribute: `key`."""

    def __init__(self, key: Key) -> None:
        self.key = key
        super().__init__(f"{key} has no committed answer. Commit one first.")


class NotSaved(WorkbookError):
    """The record could not be written; everything saved before is still there. Attribute: `path`."""

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        super().__init__(
            f"Nothing was saved to {path}: {why}. What was saved before is still there. Mend this and save again."
        )


class Progress:
    """The answers kept in one folder. Reads the file anew each time, since another kernel may have written to it.

    Every method that reads raises ForeignFile; every method that writes raises ForeignFile or NotSaved too.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: where the answers are kept; None for `default_folder()`. Nothing is created before a save."""
        self.folder = (default_folder() if folder is None else folder).absolute()
        self.path = self.folder / FILE_NAME

    def records(self) -> tuple[Record, ...]:
        """Every readable record, in the order of the file, hidden ones and those of other content included."""
        return answers.read(self.path).records

    def committed(self, key: Key) -> Commit | None:
        """The answer that stands, or None: never given, or reset."""
        return _standing(self.records(), key)[0]

    def revealed(self, key: Key) -> bool:
        """Whether the learner has seen the reveal since committing the answer that stands."""
        return _standing(self.records(), key)[1] is not None

    def commit(self, key: Key, answer: Answer, *, kind: AnswerKind = AnswerKind.CHOICE) -> Commit:
        """Save an answer and lock it.

        Raises: AlreadyCommitted, decided while no other kernel can write; TypeError if it is not of the kind.
        """
        with self._writing() as contents:
            standing, _ = _standing(contents.records, key)
            if standing is not None:
                raise AlreadyCommitted(standing)
            return self._append(contents, Commit(seq=contents.next_seq, key=key, answer=answer, kind=kind))

    def reset(self, key: Key, why: str = "") -> Reset:
        """Hide the answer that stands, so that another can be given. Raises: NotCommitted."""
        with self._writing() as contents:
            if _standing(contents.records, key)[0] is None:
                raise NotCommitted(key)
            return self._append(contents, Reset(seq=contents.next_seq, key=key, why=why))

    def see_reveal(self, key: Key) -> RevealSeen:
        """Record that the reveal was shown: once an answer, however often a cell is run. Raises: NotCommitted."""
        with self._writing() as contents:
            standing, seen = _standing(contents.records, key)
            if standing is None:
                raise NotCommitted(key)
            return seen or self._append(contents, RevealSeen(seq=contents.next_seq, key=key))

    def note(self, key: Key, text: str) -> Note:
        """Save what the learner wrote about a checkpoint, answered or not."""
        with self._writing() as contents:
            return self._append(contents, Note(seq=contents.next_seq, key=key, text=text))

    @property
    def problems(self) -> list[str]:
        """What is wrong with the file, a sentence each; empty: all is well. Readable answers count all the same."""
        torn = sorted(path.name for path in self.folder.glob(journal.torn_name(self.path, "*")))
        return [
            *answers.read(self.path).problems,
            *(
                f"{name} holds a piece of a line that was cut off while it was being saved; it does not count "
                "as an answer. Delete the file when you have looked at it."
                for name in torn
            ),
        ]

    @contextmanager
    def _writing(self) -> Iterator[Contents]:
        """What the file holds while nobody else can write to it. What goes wrong inside comes out as NotSaved."""
        try:
            with journal.exclusive(self.path):
                yield answers.read(self.path)
        except Timeout as error:
            raise NotSaved(self.path, "another kernel is saving and does not finish; restart that one") from error
        except FileExistsError as error:
            raise NotSaved(self.path, "its folder is a file") from error
        except OSError as error:
            raise NotSaved(self.path, error.strerror or str(error)) from error
        except UnicodeEncodeError as error:
            raise NotSaved(self.path, "the text has half a character in it, which no file can hold") from error

    def _append(self, contents: Contents, record: _R) -> _R:
        block = answers.encode(record)
        if contents.torn:
            journal.set_aside(self.path, contents.torn)
        if contents.sound == 0:
            block = answers.HEADER_LINE + block
        elif contents.open_ended:
            block = b"\n" + block
        journal.append(self.path, block, at=contents.sound)
        return record


def default_folder() -> Path:
    """`CEDAR_PROGRESS_DIR` if set, else the working folder: JupyterLab starts a kernel in its notebook's folder."""
    return Path(os.environ.get(FOLDER_VARIABLE) or Path.cwd())


def _standing(records: tuple[Record, ...], key: Key) -> tuple[Commit | None, RevealSeen | None]:
    """The answer that stands for the key, and the first reveal after it."""
    commit: Commit | None = None
    seen: RevealSeen | None = None
    for record in records:
        if record.key != key:
            continue
        match record:
            case Commit():
                commit = commit or record  # the first one locks, even if two files were pasted together
            case RevealSeen():
                seen = seen or record
            case Reset():
                commit = seen = None
            case Note():
                pass
    return commit, seen
