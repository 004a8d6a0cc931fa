"""Three formats of call logs, each read in pieces: CSV, Parquet, JSON lines.

Above `call_log_checks`; below `call_log_files`, which puts the pieces together. A piece has a pyarrow array for
each column, dictionary-encoded for the columns that repeat a few texts. The first piece of a table says which
columns there are and may have no rows; lines of JSON may bring a column later. Every value is data; nothing is
evaluated, and no type is guessed.
"""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

from workbook.call_log_checks import (
    ARGS,
    DECLARATION,
    LABELS,
    BadCallLog,
    check_columns,
    check_names,
)
from workbook.long_work import Advance

Piece: TypeAlias = dict[str, Any]

_BLOCK: Final = 1 << 21  # bytes at a time
_ROWS: Final = 1 << 16  # rows at a time
_LABEL_TYPE: Final = pa.dictionary(pa.int32(), pa.string())


def nulls(name: str, rows: int) -> Any:
    """A column in which every cell is missing."""
    return pa.nulls(rows, _LABEL_TYPE if name in LABELS else pa.string())


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


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


def parquet_pieces(path: Path, advance: Advance) -> Iterator[Piece]:
    """Text columns for what a log describes; any other column as it is."""
    from pyarrow import parquet

    schema = parquet.read_schema(path)
    check_columns(schema.names, path.name)
    for name in schema.names:
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if name in (*LABELS, ARGS) and not (is_text(kind) or pa.types.is_null(kind)):
            raise BadCallLog(path.name, f"it is of type {kind}", "Write text; a decision is JSON.", column=name)
    yield {name: nulls(name, 0) for name in schema.names}
    with parquet.ParquetFile(path, read_dictionary=[name for name in schema.names if name in LABELS]) as file:
        rows, size = file.metadata.num_rows, path.stat().st_size
        for batch in file.iter_batches(_ROWS, use_threads=False):
            batch.validate(full=True)  # Arrow trusts a damaged file, down to reading beside its own memory
            yield {name: _parquet_column(name, batch.column(name)) for name in schema.names}
            advance(size * len(batch) // rows)


def _encoded(array: Any) -> Any:
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


def _parquet_column(name: str, array: Any) -> Any:
    if name in LABELS:
        return _encoded(array.cast(pa.string()) if pa.types.is_null(array.type) else array)
    if name == ARGS and not is_text(array.type):
        return array.cast(pa.string())
    return array


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
