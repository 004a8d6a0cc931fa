"""Files of call logs, read piece by piece: CSV, Parquet, JSON lines.

Above `call_log_checks`; below `call_logs`, which says what a log's columns mean. A file may be much larger than
what is kept of it: names and declarations become small numbers while a piece is read, and only arguments and
columns of the reader's own stay text. Every value is data; nothing is evaluated, and no type is guessed.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

from workbook.call_log_checks import (
    ARGS,
    DECLARATION,
    LABELS,
    TIER,
    TOOL,
    BadCallLog,
    check_args,
    check_columns,
    check_labels,
    check_names,
    from_codes,
    no_tool,
)
from workbook.long_work import Advance, progress

_BLOCK: Final = 1 << 21  # bytes at a time
_LINES: Final = 1 << 16  # lines, or rows, at a time
_KINDS: Final = ".csv, .csv.gz, .parquet, .jsonl or .jsonl.gz"

_LABEL_TYPE: Final = pa.dictionary(pa.int32(), pa.string())

_Piece = dict[str, Any]  # a column's name, and a pyarrow array: dictionary-encoded for LABELS


def read(path: Path) -> pd.DataFrame:
    """The log in a file, with the columns of `call_logs`, rows in the file's order, index from 0.

    Raises: BadCallLog; OSError.
    """
    name = path.name.lower()
    kind, pieces = _READERS.get(name.removesuffix(".gz").rpartition(".")[2], ("", None))
    if pieces is None or (name.endswith(".gz") and pieces is _parquet):
        raise BadCallLog(path.name, "the name says of no format that can be read", f"Name it {_KINDS}.")
    with progress(f"Reading {path.name}", path.stat().st_size, "B") as advance, _plainly(path.name, kind):
        return _Gathered(path.name).all(pieces(path, advance))


#: What Arrow says of a row with too many or too few cells; it counts the header, too.
_RAGGED: Final = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


@contextmanager
def _plainly(place: str, kind: str) -> Iterator[None]:
    """The refusals of other packages in our words."""
    try:
        yield
    except (pa.ArrowException, msgspec.MsgspecError, EOFError, zlib.error, UnicodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's own refusal: no such file, no permission
        if ragged := _RAGGED.search(str(error)):
            row, expected, got = map(int, ragged.groups())
            found = f"{got} cells, and the header has {expected}"
            remedy = "Quote a cell that has commas in it, and double the quotes inside."
            raise BadCallLog(place, found, remedy, row=row - 1) from None
        said = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        found = f"it cannot be read as {kind} ({said})"
        raise BadCallLog(place, found, "Save it anew; text as UTF-8.") from None


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The file as it reads, and as it lies on the disk, which says how far reading has come."""
    with path.open("rb") as raw:
        if path.name.lower().endswith(".gz"):
            with gzip.open(raw) as file:
                yield file, raw  # type: ignore[misc]  # a GzipFile reads bytes, too
        else:
            yield raw, raw


class _Gathered:
    """The columns of a file, grown piece by piece."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._rows = 0
        self._names: dict[str, None] = {}  # in the order of the file
        self._labels: dict[str, _Labels] = {}
        self._others: dict[str, list[Any]] = {}

    def all(self, pieces: Iterable[_Piece]) -> pd.DataFrame:
        for piece in pieces:
            self._add(piece)
        columns: dict[str, Any] = {}
        for name in self._names:
            if name in LABELS:
                columns[DECLARATION if name == TIER else name] = self._labels[name].categorical()
            else:
                columns[name] = _series(self._others[name])
        return pd.DataFrame(columns, copy=False)

    def _add(self, piece: _Piece) -> None:
        """One piece more. A line of JSON need not have every column, so one can begin late, or pause."""
        rows = len(piece[TOOL])
        self._names.update(dict.fromkeys(piece))
        for name in self._names.keys() - piece.keys():
            piece[name] = nulls(name, rows)
        for name, array in piece.items():
            if name in LABELS:
                if name not in self._labels:
                    self._labels[name] = _Labels()
                    self._labels[name].add(nulls(name, self._rows))
                self._add_labels(name, array)
            else:
                if name == ARGS:
                    self._check_args(array)
                self._others.setdefault(name, [nulls(name, self._rows)]).append(array)
        self._rows += rows

    def _add_labels(self, name: str, array: Any) -> None:
        codes, new = self._labels[name].add(array)

        def row_of(label: object) -> int:
            return self._rows + int(np.argmax(codes == self._labels[name].known[label])) + 1

        check_labels(name, new, self._place, row_of)
        if name == TOOL and len(codes) and codes.min() < 0:
            raise no_tool(self._place, self._rows + int(np.argmax(codes < 0)) + 1)

    def _check_args(self, array: Any) -> None:
        distinct = array.dictionary_encode()

        def row_of(place: int) -> int:
            return self._rows + int(np.argmax(distinct.indices.fill_null(-1).to_numpy() == place)) + 1

        check_args(distinct.dictionary.to_pylist(), self._place, row_of)


class _Labels:
    """One column of few distinct texts: a number for each text, and for each row its text's number or -1."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}
        self._codes: list[Any] = []

    def add(self, array: Any) -> tuple[Any, list[str]]:
        """The numbers of a dictionary-encoded array, and the texts that were not there before."""
        before = len(self.known)
        own = [
            self.known.setdefault(text, len(self.known)) if text else -1 for text in array.dictionary.to_pylist()
        ]
        places = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        codes = np.array([*own, -1], dtype=_smallest(len(self.known)))[places]  # -1 takes the last: nothing
        self._codes.append(codes)
        return codes, list(self.known)[before:]

    def categorical(self) -> Any:
        codes = np.concatenate(self._codes) if self._codes else np.empty(0, dtype=np.int8)
        self._codes.clear()
        return from_codes(codes, self.known)


def _smallest(labels: int) -> type[np.signedinteger[Any]]:
    return np.int8 if labels < 2**7 else np.int16 if labels < 2**15 else np.int32


def _series(pieces: list[Any]) -> pd.Series[Any]:
    """A column as it came; text stays in Arrow's own memory."""
    kind = pieces[-1].type  # a piece of nothing but missing cells is text until another one comes
    whole = pa.chunked_array([piece if len(piece) else piece.cast(kind) for piece in pieces], kind)
    if _is_text(whole.type):
        return pd.Series(whole, dtype="string[pyarrow]")
    made: pd.Series[Any] = whole.to_pandas()
    return made


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def nulls(name: str, rows: int) -> Any:
    """A column in which every cell is missing."""
    return pa.nulls(rows, _LABEL_TYPE if name in LABELS else pa.string())


def _encoded(array: Any) -> Any:
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


# ---------------------------------------------------------------------------------------------------------- CSV


def _csv(path: Path, advance: Advance) -> Iterator[_Piece]:
    """UTF-8, a header line, commas, quotes doubled inside quotes; an empty cell is nothing."""
    from pyarrow import csv

    parsing = csv.ParseOptions(newlines_in_values=True)
    reading = csv.ReadOptions(use_threads=False, block_size=_BLOCK)  # one thread knows the number of a row
    with _opened(path) as (file, _), csv.open_csv(file, csv.ReadOptions(use_threads=False), parsing) as reader:
        names = reader.schema.names
    check_columns(names, path.name)
    types = {name: _LABEL_TYPE if name in LABELS else pa.string() for name in names}
    converting = csv.ConvertOptions(
        column_types=types, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=True
    )
    yield {name: nulls(name, 0) for name in names}  # a header alone is a log of no calls
    done = 0
    with _opened(path) as (file, raw), csv.open_csv(file, reading, parsing, converting) as reader:
        for batch in reader:
            yield dict(zip(names, batch.columns, strict=True))
            advance(raw.tell() - done)
            done = raw.tell()


# ------------------------------------------------------------------------------------------------------ Parquet


def _parquet(path: Path, advance: Advance) -> Iterator[_Piece]:
    """Text columns for what a log describes; any other column as it is."""
    from pyarrow import parquet

    schema = parquet.read_schema(path)
    check_columns(schema.names, path.name)
    for name in schema.names:
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if name in (*LABELS, ARGS) and not (_is_text(kind) or pa.types.is_null(kind)):
            raise BadCallLog(path.name, f"it is of type {kind}", "Write text; a decision is JSON.", column=name)
    yield {name: nulls(name, 0) for name in schema.names}
    with parquet.ParquetFile(path, read_dictionary=[name for name in schema.names if name in LABELS]) as file:
        rows, size = file.metadata.num_rows, path.stat().st_size
        for batch in file.iter_batches(_LINES, use_threads=False):
            batch.validate(full=True)  # Arrow trusts a damaged file, down to reading beside its own memory
            yield {name: _parquet_column(name, batch.column(name)) for name in schema.names}
            advance(size * len(batch) // rows)


def _parquet_column(name: str, array: Any) -> Any:
    if name in LABELS:
        return _encoded(array.cast(pa.string()) if pa.types.is_null(array.type) else array)
    if name == ARGS and not _is_text(array.type):
        return array.cast(pa.string())
    return array


# --------------------------------------------------------------------------------------------------- JSON lines


def _json_lines(path: Path, advance: Advance) -> Iterator[_Piece]:
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
        texts: Any = str | None
        fields = [
            (f"c{place}", texts if name in _TEXTS else msgspec.Raw, msgspec.field(default=None, name=name))
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
        return pa.array([_json_text(cell) for cell in cells], pa.string())
    if name not in _TEXTS:
        cells = [None if cell is None else bytes(cell) for cell in cells]
    known: dict[Any, int] = {}
    codes = [known.setdefault(cell, len(known)) for cell in cells]
    texts = [cell if name in _TEXTS else _json_text(cell) for cell in known]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(texts, pa.string()))


def _json_text(cell: Any) -> str | None:
    if cell is None:
        return None
    data = bytes(cell)
    if data == b"null":
        return None
    if data[:1] == b'"':
        return str(msgspec.json.decode(data)) or None  # an empty text is nothing, as in a CSV
    return data.decode()


_READERS: Final[dict[str, tuple[str, Callable[[Path, Advance], Iterator[_Piece]]]]] = {
    "csv": ("CSV", _csv),
    "parquet": ("Parquet", _parquet),
    "jsonl": ("JSON lines", _json_lines),
    "ndjson": ("JSON lines", _json_lines),
}
