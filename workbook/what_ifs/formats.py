"""Call logs as CSV and as JSON lines, each read in pieces. `call_log_parquet` reads the third format.

A piece has one column for each name. A column that repeats a few texts (`LABELS`) is a pair: a number for each
row, and the texts that the numbers stand for; -1 and None are a missing cell. Any other column is an array of
pandas' strings, or, from a Parquet file, an Arrow array of another type. The first piece of a table says which
columns there are and may have no rows; lines of JSON may bring a column later. Every value is data; nothing is
evaluated, and no type is guessed.
"""

from __future__ import annotations

import codecs
import csv
import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

import msgspec
import numpy as np
import pandas as pd

from workbook.learner.progress_bar import Advance
from workbook.what_ifs.columns import DECLARATION, LABELS, BadCallLog, check_columns, check_names

Piece: TypeAlias = dict[str, Any]

_BLOCK: Final = 1 << 21  # bytes at a time
_ROWS: Final = 1 << 16  # rows at a time
_LONGEST_CELL: Final = 2**31 - 1  # characters; arguments may be a whole file, and the csv module stops at 128 Ki


class Unreadable(Exception):
    """A file is not of the format that its name says; the text says why, in another package's words."""


def nulls(name: str, rows: int) -> Any:
    """A column in which every cell is missing."""
    return labels([None] * rows) if name in LABELS else texts([None] * rows)


def labels(cells: Iterable[Any]) -> tuple[Any, list[Any]]:
    """A column that repeats a few texts: numbers (n,) int32, and the texts they stand for."""
    known: dict[Any, int] = {}
    numbers = [known.setdefault(cell, len(known)) for cell in cells]
    return np.array(numbers, dtype=np.int32), list(known)


def texts(cells: Sequence[str | None]) -> Any:
    """A column of texts, in the memory that pandas has for them."""
    return pd.array(cells, dtype="string")


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The file as it reads, and as it lies on the disk, which says how far reading has come."""
    with path.open("rb") as raw:
        if path.name.lower().endswith(".gz"):
            with gzip.open(raw) as file:
                yield file, raw  # type: ignore[misc]  # a GzipFile reads bytes, too
        else:
            yield raw, raw


# ---------------------------------------------------------------------------------------------------------- CSV


def csv_pieces(path: Path, advance: Advance) -> Iterator[Piece]:
    """UTF-8, a header line, commas, quotes doubled inside quotes. Empty cells are nothing, empty lines no rows."""
    with _opened(path) as (file, raw), TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        # Strict: a quote that is never closed is refused, and does not swallow the rest of the file.
        lines = filter(None, csv.reader(text, strict=True))
        header = next(_some(lines, 1), None)
        if header is None:
            raise Unreadable("the file is empty")
        check_columns(header, path.name)
        yield {name: nulls(name, 0) for name in header}  # a header alone is a log of no calls
        done = before = 0
        while rows := list(_some(lines, _ROWS)):
            for number, row in enumerate(rows, start=before + 1):
                if len(row) != len(header):
                    found = f"{len(row):,} cells, and the header has {len(header):,}"
                    remedy = "Quote a cell that has commas in it, and double the quotes inside."
                    raise BadCallLog(path.name, found, remedy, row=number)
            before += len(rows)
            yield {
                name: (labels if name in LABELS else texts)([cell or None for cell in cells])
                for name, cells in zip(header, zip(*rows, strict=True), strict=True)
            }
            advance(raw.tell() - done)
            done = raw.tell()


def _some(lines: Iterator[list[str]], count: int) -> Iterator[list[str]]:
    """The next so many lines at most. Raises: Unreadable."""
    limit = csv.field_size_limit(_LONGEST_CELL)  # the whole process has one limit, so it is given back
    try:
        read = list(islice(lines, count))
    except csv.Error as error:
        raise Unreadable(str(error)) from None
    finally:
        csv.field_size_limit(limit)
    return iter(read)


# --------------------------------------------------------------------------------------------------- JSON lines


def json_pieces(path: Path, advance: Advance) -> Iterator[Piece]:
    """One JSON object on each line. A declaration and arguments may be objects, or texts that hold them.

    A block of lines is decoded at once, into records with the names met so far. A block that does not fit is looked
    at line by line: it has a name more, or something is wrong with it.
    """
    known = _KnownNames(path.name)
    done = 0
    with _opened(path) as (file, raw):
        while block := file.read(_BLOCK) + file.readline():
            calls = known.decode(block)
            if calls:
                yield {
                    name: _json_column(name, list(map(attrgetter(f"c{place}"), calls)))
                    for place, name in enumerate(known.names)
                }
            advance(raw.tell() - done)
            done = raw.tell()
    if not known.rows:
        raise BadCallLog(path.name, "the file is empty", "Write one JSON object on each line.")


class _KnownNames:
    """The names that the lines of one file have, and how to decode lines with no others. `rows`: lines so far."""

    def __init__(self, place: str) -> None:
        self.names: dict[str, None] = {}
        self.rows = 0
        self._place = place
        self._decode = self._decoder()

    def decode(self, block: bytes) -> list[Any]:
        """The records of a block. Raises: BadCallLog."""
        if not self.rows:
            block = block.removeprefix(codecs.BOM_UTF8)
        try:
            block.decode()  # what a record keeps as it is, msgspec does not look into
            calls = self._decode(block)
        except (msgspec.MsgspecError, UnicodeError):
            self._look_at_lines(block)
            calls = self._decode(block)
        self.rows += len(calls)
        return calls

    def _decoder(self) -> Callable[[bytes], list[Any]]:
        """Records with fields `c0`, `c1`, … in the order of the names, which need not be names to Python."""
        text: Any = str | None
        fields = [
            (f"c{place}", text if name in _TEXTS else msgspec.Raw, msgspec.field(default=None, name=name))
            for place, name in enumerate(self.names)
        ]
        record = msgspec.defstruct("Call", fields, forbid_unknown_fields=True, gc=False)
        return msgspec.json.Decoder(record).decode_lines

    def _look_at_lines(self, block: bytes) -> None:
        """Learns the names of a block that did not fit. Raises: BadCallLog, for the first line that is at fault."""
        key_sets: set[tuple[str, ...]] = set()
        for row, line in enumerate(filter(bytes.strip, block.split(b"\n")), start=self.rows + 1):
            try:
                line.decode()
                call = _decode_any(line)
            except (msgspec.MsgspecError, UnicodeError) as error:
                remedy = 'Each line is one object: {"tool":"bash","tier":"exec"}.'
                raise BadCallLog(self._place, f"the line is no JSON object ({error})", remedy, row=row) from None
            if (keys := tuple(call)) not in key_sets:
                key_sets.add(keys)
                check_names(keys, self._place, row)
            for name in _TEXTS & call.keys():
                if bytes(call[name])[:1] not in (b'"', b"n"):
                    found, remedy = (
                        f"{bytes(call[name]).decode()} is no text",
                        "Write text, or leave the cell empty.",
                    )
                    raise BadCallLog(self._place, found, remedy, row=row, column=name)
            self.names.update(dict.fromkeys(keys))
        check_columns([*self.names], self._place)
        self._decode = self._decoder()


_TEXTS: Final = frozenset(LABELS) - {DECLARATION}  # what JSON has to write as text
_decode_any: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def _json_column(name: str, cells: list[Any]) -> Any:
    """One column of some calls: of a text the text, of another value its JSON."""
    if name not in LABELS:
        return texts([_json_text(cell) for cell in cells])
    if name in _TEXTS:
        return labels(cells)
    numbers, known = labels(None if cell is None else bytes(cell) for cell in cells)
    return numbers, [_json_text(cell) for cell in known]


def _json_text(cell: Any) -> str | None:
    if cell is None:
        return None
    data = bytes(cell)
    if data == b"null":
        return None
    if data[:1] == b'"':
        return str(msgspec.json.decode(data)) or None  # an empty text is nothing, as in a CSV
    return data.decode()
