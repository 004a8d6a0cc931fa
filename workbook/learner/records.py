"""What a learner can answer, as records, and how a file of them is read.

Knows nothing of notebooks, cases or widgets.

One record a line; the first line says whose file it is. Records carry no wall-clock time, only the number of their
line, so that the same answers give the same file.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from workbook.errors import WorkbookError
from workbook.learner import journal

FORMAT_VERSION = 1


class AnswerKind(StrEnum):
    """What a checkpoint asks for, and so which shape the answer has."""

    CHOICE = "choice"  # the id of the chosen option: str
    FIELDS = "fields"  # predicted fields by name: dict
    ORDER = "order"  # ids of the steps, first to last: tuple
    TEXT = "text"  # free text: str


class Confidence(StrEnum):
    """How sure a learner says they are. Each word stands for a probability, so that it can be scored."""

    GUESS = "guess"
    UNSURE = "unsure"
    FAIRLY_SURE = "fairly sure"
    CERTAIN = "certain"

    @property
    def probability(self) -> float:
        """The stated probability of being right, in (0, 1)."""
        return _STATED[self]


_STATED = {
    Confidence.GUESS: 0.35,  # most items have three answers
    Confidence.UNSURE: 0.6,
    Confidence.FAIRLY_SURE: 0.8,
    Confidence.CERTAIN: 0.95,
}

Answer = str | tuple[str, ...] | dict[str, str | int | bool | None]

_SHAPES: dict[AnswerKind, type] = {
    AnswerKind.CHOICE: str,
    AnswerKind.FIELDS: dict,
    AnswerKind.ORDER: tuple,
    AnswerKind.TEXT: str,
}


class Key(Struct, frozen=True):
    """Which question an answer belongs to. Other content under the same ids is another question."""

    chapter: str
    checkpoint: str
    content: str  # `content_hash` of what the learner was asked

    @classmethod
    def of(cls, chapter: str, checkpoint: str, content: object) -> Key:
        """The key for a checkpoint's content: anything that msgspec can encode."""
        return cls(chapter, checkpoint, content_hash(content))

    def __str__(self) -> str:
        return f"{self.chapter}/{self.checkpoint}"


def content_hash(content: object) -> str:
    """16 hexadecimal digits that change with the content, not with the order of its fields."""
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()[:16]


class Header(Struct, frozen=True, kw_only=True, tag_field="record", tag="cedar-progress"):
    """The first line: whose file this is."""

    version: int = FORMAT_VERSION


class Entry(Struct, frozen=True, kw_only=True, tag_field="record"):
    """What all records have."""

    seq: int  # the number of its line when it was written; grows by at least one from record to record
    key: Key


class Given(Entry, frozen=True, kw_only=True):
    """An answer and how sure the learner is. Raises: TypeError if the answer has not the shape of its kind."""

    answer: Answer
    kind: AnswerKind = AnswerKind.CHOICE
    confidence: Confidence | None = None  # None: not said

    def __post_init__(self) -> None:
        shape = _SHAPES[self.kind]
        if not isinstance(self.answer, shape):
            raise TypeError(f"an answer of kind {self.kind} is a {shape.__name__}, not {self.answer!r}")


class Commit(Given, frozen=True, kw_only=True, tag="commit"):
    """An answer, locked until a reset."""


class Revote(Given, frozen=True, kw_only=True, tag="vote-again"):
    """A second answer, after talking it over and before the reveal: beside the commit, never in its place."""


class Reset(Entry, frozen=True, kw_only=True, tag="reset"):
    """From here on the earlier answer is hidden; it stays in the file."""

    why: str = ""  # "": the learner gave no reason


class RevealSeen(Entry, frozen=True, kw_only=True, tag="reveal-seen"):
    """The learner has been shown what really happens."""


class RowNamed(Entry, frozen=True, kw_only=True, tag="row-named"):
    """Which row of the ledger the learner says differed from the prediction, and whether the ledger agrees."""

    row: int | None  # counted from 1; None: no row did
    held: bool


class SelfChecked(Entry, frozen=True, kw_only=True, tag="self-checked"):
    """Which points of the worked answer a learner found in what they had written: the ids of the points."""

    points: tuple[str, ...]


class Tried(Entry, frozen=True, kw_only=True, tag="tried"):
    """An exercise handed in: in how many of its situations it held."""

    held: int
    of: int


class Note(Entry, frozen=True, kw_only=True, tag="note"):
    """What the learner wrote down about a checkpoint."""

    text: str


class Pseudonym(Struct, frozen=True, kw_only=True, tag_field="record", tag="pseudonym"):
    """The name under which this folder's answers go out. Drawn once, by chance, and shown in no notebook."""

    seq: int
    name: str


Record = Commit | Revote | Reset | RevealSeen | RowNamed | SelfChecked | Tried | Note


class OfNewerKind(Struct, frozen=True):
    """A record of a kind that a later edition added: kept in the file, and nothing to this edition."""

    record: str
    seq: int


class Unreadable(Struct, frozen=True):
    """A line that is none of these."""

    why: str


_RECORDS = (Commit, Revote, Reset, RevealSeen, RowNamed, SelfChecked, Tried, Note)
_LINE = msgspec.json.Decoder(Header | Pseudonym | Record)
_NEWER = msgspec.json.Decoder(OfNewerKind)
_KINDS = frozenset(str(kind.__struct_config__.tag) for kind in (Header, Pseudonym, *_RECORDS))
HEADER_LINE = msgspec.json.encode(Header()) + b"\n"


class ForeignFile(WorkbookError):
    """The file is not a progress file that this edition can read; it is left as it is. Attribute: `path`."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path = path
        super().__init__(f"{path}: {problem}. The file was left as it is.")


class Contents(Struct, frozen=True, kw_only=True):
    """A file of answers, read."""

    records: tuple[Record, ...]  # of the kinds above, in the order of the file
    problems: tuple[str, ...]  # a sentence each
    pseudonym: str | None  # None: none was drawn yet
    next_seq: int
    sound: int  # length in bytes of what is kept as it is; 0: the header is still to be written
    torn: bytes  # what follows it: a piece of a line, to be set aside before the next append
    open_ended: bool  # the last line is whole but for its newline, as some editors leave it


def read(path: Path) -> Contents:
    """What the file holds; a file that does not exist holds nothing. Raises: ForeignFile."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise ForeignFile(path, f"it cannot be read ({error.strerror})") from error

    lines, torn = journal.split(data)
    # A record cut short is never valid JSON: a last line that can be read is whole, and dropping it would lose it.
    open_ended = bool(torn) and not isinstance(interpret(torn), Unreadable)
    if open_ended:
        lines, torn = [*lines, torn], b""

    readings = [interpret(line) for line in lines]
    records = [r for r in readings if isinstance(r, Entry)]
    headers = [r for r in readings if isinstance(r, Header)]
    pseudonyms = [r.name for r in readings if isinstance(r, Pseudonym)]
    if data and not (records or headers or pseudonyms or HEADER_LINE.startswith(data)):
        raise ForeignFile(path, "this is not a progress file of the workbook. Move or rename it, and save again")
    if newest := max((h.version for h in headers if h.version > FORMAT_VERSION), default=0):
        raise ForeignFile(path, f"a newer edition of the workbook wrote this (format {newest}). Upgrade this one")

    problems = [
        f"Line {number} of {path.name} cannot be read and is skipped ({reading.why}). It was left in the file."
        for number, reading in enumerate(readings, start=1)
        if isinstance(reading, Unreadable)
    ]
    if torn:
        problems.append(
            f"The last line of {path.name} is unfinished ({len(torn)} bytes): saving it was cut off, or another "
            "kernel is saving it now. It does not count. The next save will move it to a file of its own."
        )
    seqs = [r.seq for r in readings if isinstance(r, Entry | Pseudonym | OfNewerKind)]
    return Contents(
        records=tuple(records),
        pseudonym=pseudonyms[0] if pseudonyms else None,  # the first one stays, as a commit does
        problems=tuple(problems),
        next_seq=max(len(lines), 1, *seqs) + 1,
        sound=len(data) - len(torn),
        torn=torn,
        open_ended=open_ended,
    )


def interpret(line: bytes) -> Header | Pseudonym | Record | OfNewerKind | Unreadable | None:
    """What one line says; None for a blank one."""
    if not line.strip():
        return None
    try:
        read: Header | Pseudonym | Record = _LINE.decode(line)
        return read
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = str(error)
    try:
        newer = _NEWER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Unreadable(why)
    return Unreadable(why) if newer.record in _KINDS else newer


def encode(record: Record | Pseudonym) -> bytes:
    """The record's line. Raises: TypeError, if it could not be read back, which would lose the answer silently."""
    line = msgspec.json.encode(record)
    try:
        _LINE.decode(line)
    except msgspec.ValidationError as error:
        raise TypeError(f"this answer cannot be kept: {error}") from error
    return line + b"\n"
