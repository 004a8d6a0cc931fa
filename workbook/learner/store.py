"""The learner's progress: one append-only file of answers beside the learner's copies, and what stands in it.

Nothing here ever changes or removes a line, a reset included, which only hides what stood before. What stands is
always worked out from the lines, in their order. So two kernels cannot disagree for longer than one read, and every
accident (a kernel killed while saving, a full disk, a careless editor) costs at most the one line that it struck.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import Timeout
from msgspec import Struct
from msgspec.structs import replace

from workbook.atomic import WriteFailed
from workbook.errors import WorkbookError
from workbook.learner import journal
from workbook.learner import records as answers
from workbook.learner.records import (
    Answer,
    AnswerKind,
    Commit,
    Confidence,
    Contents,
    ForeignFile,
    Given,
    Key,
    Note,
    Pseudonym,
    Record,
    Reset,
    RevealSeen,
    Revote,
    RowNamed,
    SelfChecked,
    Tried,
    content_hash,
)

__all__ = [
    "AlreadyCommitted",
    "Answer",
    "AnswerKind",
    "Commit",
    "Confidence",
    "ForeignFile",
    "Key",
    "NotCommitted",
    "NotRevealed",
    "NotSaved",
    "Note",
    "Progress",
    "Record",
    "Reset",
    "RevealAlreadySeen",
    "RevealSeen",
    "Revote",
    "RowNamed",
    "SelfChecked",
    "Standing",
    "Tried",
    "content_hash",
    "default_folder",
    "standing",
]

FILE_NAME = "cedar-progress.jsonl"
FOLDER_VARIABLE = "CEDAR_PROGRESS_DIR"

_R = TypeVar("_R", Commit, Revote, Reset, RevealSeen, RowNamed, SelfChecked, Tried, Note, Pseudonym)


class AlreadyCommitted(WorkbookError):
    """The checkpoint has an answer, and an answer is locked. Attribute: `commit`, the one that stands."""

    def __init__(self, commit: Given) -> None:
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


class NotRevealed(WorkbookError):
    """The reveal has not been seen, so there is nothing to compare with yet. Attribute: `key`."""

    def __init__(self, key: Key) -> None:
        self.key = key
        super().__init__(f"{key} has not been revealed yet. See the reveal first: reveal({key.checkpoint!r}).")


class RevealAlreadySeen(WorkbookError):
    """A second vote after the reveal would only repeat it. Attribute: `key`."""

    def __init__(self, key: Key) -> None:
        self.key = key
        super().__init__(
            f"{key} has been revealed, so a second vote would only repeat the reveal. "
            "A second vote comes between the commit and the reveal."
        )


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

    def standing(self, key: Key) -> Standing:
        """All that stands for the key."""
        return standing(self.records(), key)

    def committed(self, key: Key) -> Commit | None:
        """The answer that stands, or None: never given, or reset."""
        return self.standing(key).commit

    def revealed(self, key: Key) -> bool:
        """Whether the learner has seen the reveal since committing the answer that stands."""
        return self.standing(key).reveal is not None

    def commit(
        self,
        key: Key,
        answer: Answer,
        *,
        kind: AnswerKind = AnswerKind.CHOICE,
        confidence: Confidence | None = None,
    ) -> Commit:
        """Save an answer and lock it.

        Raises: AlreadyCommitted, decided while no other kernel can write; TypeError if it is not of the kind.
        """
        with self._writing() as contents:
            if earlier := standing(contents.records, key).commit:
                raise AlreadyCommitted(earlier)
            made = Commit(seq=contents.next_seq, key=key, answer=answer, kind=kind, confidence=confidence)
            return self._append(contents, made)

    def vote_again(
        self,
        key: Key,
        answer: Answer,
        *,
        kind: AnswerKind = AnswerKind.CHOICE,
        confidence: Confidence | None = None,
    ) -> Revote:
        """Save a second answer beside the commit: once, and before the reveal.

        Raises: NotCommitted; RevealAlreadySeen; AlreadyCommitted, with the commit, if there is a second answer.
        """
        with self._writing() as contents:
            stands = standing(contents.records, key)
            if stands.commit is None:
                raise NotCommitted(key)
            if stands.reveal is not None:
                raise RevealAlreadySeen(key)
            if stands.revote is not None:
                raise AlreadyCommitted(stands.revote)
            made = Revote(seq=contents.next_seq, key=key, answer=answer, kind=kind, confidence=confidence)
            return self._append(contents, made)

    def reset(self, key: Key, why: str = "") -> Reset:
        """Hide the answer that stands, so that another can be given. Raises: NotCommitted."""
        with self._writing() as contents:
            if standing(contents.records, key).commit is None:
                raise NotCommitted(key)
            return self._append(contents, Reset(seq=contents.next_seq, key=key, why=why))

    def see_reveal(self, key: Key) -> RevealSeen:
        """Record that the reveal was shown: once an answer, however often a cell is run. Raises: NotCommitted."""
        with self._writing() as contents:
            stands = standing(contents.records, key)
            if stands.commit is None:
                raise NotCommitted(key)
            return stands.reveal or self._append(contents, RevealSeen(seq=contents.next_seq, key=key))

    def name_row(self, key: Key, row: int | None, *, held: bool) -> RowNamed:
        """Save which row the learner says differed; each try is kept. Raises: NotRevealed."""
        with self._writing() as contents:
            if standing(contents.records, key).reveal is None:
                raise NotRevealed(key)
            return self._append(contents, RowNamed(seq=contents.next_seq, key=key, row=row, held=held))

    def self_check(self, key: Key, points: tuple[str, ...]) -> SelfChecked:
        """Save which points the learner found in their own text; the last time counts. Raises: NotRevealed."""
        with self._writing() as contents:
            if standing(contents.records, key).reveal is None:
                raise NotRevealed(key)
            return self._append(contents, SelfChecked(seq=contents.next_seq, key=key, points=points))

    def try_(self, key: Key, held: int, of: int) -> Tried:
        """Save how an exercise did that was handed in; each try is kept."""
        with self._writing() as contents:
            return self._append(contents, Tried(seq=contents.next_seq, key=key, held=held, of=of))

    def pseudonym(self) -> str:
        """The name under which these answers go out: `learner-` and 12 hexadecimal digits, drawn at first use."""
        if known := answers.read(self.path).pseudonym:
            return known
        with self._writing() as contents:
            if contents.pseudonym is not None:  # another kernel was quicker
                return contents.pseudonym
            name = f"learner-{secrets.token_hex(6)}"
            return self._append(contents, Pseudonym(seq=contents.next_seq, name=name)).name

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
        except WriteFailed as error:
            raise NotSaved(self.path, error.found) from error
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


class Standing(Struct, frozen=True, kw_only=True):
    """What stands for one key; all of it None, and no try, after a reset."""

    commit: Commit | None = None
    revote: Revote | None = None
    reveal: RevealSeen | None = None
    rows: tuple[RowNamed, ...] = ()
    checked: SelfChecked | None = None


def standing(records: Iterable[Record], key: Key) -> Standing:
    """What stands for the key, worked out from the records in their order. Notes and tries stand outside of it."""
    stands = Standing()
    for record in records:
        if record.key != key:
            continue
        match record:
            case Commit():  # the first one locks, even if two files were pasted together
                stands = replace(stands, commit=stands.commit or record)
            case Revote():
                stands = replace(stands, revote=stands.revote or record)
            case RevealSeen():
                stands = replace(stands, reveal=stands.reveal or record)
            case RowNamed():
                stands = replace(stands, rows=(*stands.rows, record))
            case SelfChecked():
                stands = replace(stands, checked=record)
            case Reset():
                stands = Standing()
            case Note() | Tried():
                pass
    return stands
