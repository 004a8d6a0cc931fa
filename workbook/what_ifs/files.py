"""Files of call logs, put together from pieces, and checked while they are.

A file may be much larger than what is kept of it: names and declarations become small numbers while a
piece is read, and only arguments and columns of the reader's own stay text.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pandas as pd

from workbook.learner.progress_bar import Advance, progress
from workbook.what_ifs.columns import (
    ARGS,
    DECLARATION,
    LABELS,
    TIER,
    TOOL,
    BadCallLog,
    check_args,
    check_labels,
    from_codes,
    no_tool,
)
from workbook.what_ifs.formats import Piece, Unreadable, csv_pieces, json_pieces, nulls
from workbook.what_ifs.parquet import joined, parquet_pieces

_KINDS: Final = ".csv, .csv.gz, .parquet, .jsonl or .jsonl.gz"


_READERS: Final[dict[str, tuple[str, Callable[[Path, Advance], Iterator[Piece]]]]] = {
    "csv": ("CSV", csv_pieces),
    "parquet": ("Parquet", parquet_pieces),
    "jsonl": ("JSON lines", json_pieces),
    "ndjson": ("JSON lines", json_pieces),
}


def read(path: Path) -> pd.DataFrame:
    """The log in a file, with the columns of `call_logs`, rows in the file's order, index from 0.

    Raises: BadCallLog; OSError.
    """
    name = path.name.lower()
    kind, pieces = _READERS.get(name.removesuffix(".gz").rpartition(".")[2], ("", None))
    if pieces is None or (name.endswith(".gz") and pieces is parquet_pieces):
        raise BadCallLog(path.name, "the name says of no format that can be read", f"Name it {_KINDS}.")
    with progress(f"Reading {path.name}", path.stat().st_size, "B") as advance, _plainly(path.name, kind):
        return _Gathered(path.name).all(pieces(path, advance))


@contextmanager
def _plainly(place: str, kind: str) -> Iterator[None]:
    """The refusals of other packages in our words."""
    try:
        yield
    except (Unreadable, msgspec.MsgspecError, EOFError, zlib.error, UnicodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's own refusal: no such file, no permission
        said = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        found = f"it cannot be read as {kind} ({said})"
        raise BadCallLog(place, found, "Save it anew; text as UTF-8.") from None


class _Gathered:
    """The columns of a file, grown piece by piece."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._rows = 0
        self._names: dict[str, None] = {}  # in the order of the file
        self._labels: dict[str, _Labels] = {}
        self._others: dict[str, list[Any]] = {}

    def all(self, pieces: Iterable[Piece]) -> pd.DataFrame:
        for piece in pieces:
            self._add(piece)
        columns: dict[str, Any] = {}
        for name in self._names:
            if name in LABELS:
                columns[DECLARATION if name == TIER else name] = self._labels[name].categorical()
            else:
                columns[name] = _series(self._others[name])
        return pd.DataFrame(columns, copy=False)

    def _add(self, piece: Piece) -> None:
        """One piece more. A line of JSON need not have every column, so one can begin late, or pause."""
        rows = len(piece[TOOL][0])
        self._names.update(dict.fromkeys(piece))
        for name in self._names.keys() - piece.keys():
            piece[name] = nulls(name, rows)
        for name, array in piece.items():
            if name in LABELS:
                if name not in self._labels:
                    self._labels[name] = _Labels()
                    self._labels[name].add(*nulls(name, self._rows))
                self._add_labels(name, *array)
            else:
                if name == ARGS:
                    self._check_args(array)
                self._others.setdefault(name, [nulls(name, self._rows)]).append(array)
        self._rows += rows

    def _add_labels(self, name: str, numbers: Any, texts: list[str | None]) -> None:
        codes, new = self._labels[name].add(numbers, texts)

        def row_of(label: object) -> int:
            return self._rows + int(np.argmax(codes == self._labels[name].known[label])) + 1

        check_labels(name, new, self._place, row_of)
        if name == TOOL and len(codes) and codes.min() < 0:
            raise no_tool(self._place, self._rows + int(np.argmax(codes < 0)) + 1)

    def _check_args(self, array: Any) -> None:
        numbers, distinct = pd.factorize(array)

        def row_of(place: int) -> int:
            return self._rows + int(np.argmax(numbers == place)) + 1

        check_args(list(distinct), self._place, row_of)


class _Labels:
    """One column of few distinct texts: a number for each text, and for each row its text's number or -1."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}
        self._codes: list[Any] = []

    def add(self, numbers: Any, texts: list[str | None]) -> tuple[Any, list[str]]:
        """The numbers here of rows that a piece has numbered, and the texts that were not there before."""
        before = len(self.known)
        own = [self.known.setdefault(text, len(self.known)) if text else -1 for text in texts]
        codes = np.array([*own, -1], dtype=_smallest(len(self.known)))[numbers]  # -1 takes the last: nothing
        self._codes.append(codes)
        return codes, list(self.known)[before:]

    def categorical(self) -> Any:
        codes = np.concatenate(self._codes) if self._codes else np.empty(0, dtype=np.int8)
        self._codes.clear()
        return from_codes(codes, self.known)


def _smallest(labels: int) -> type[np.signedinteger[Any]]:
    return np.int8 if labels < 2**7 else np.int16 if labels < 2**15 else np.int32


def _series(pieces: list[Any]) -> pd.Series[Any]:
    """A column as it came; a piece of no rows says nothing of its type."""
    pieces = [piece for piece in pieces if len(piece)] or pieces[:1]
    if all(isinstance(piece, pd.api.extensions.ExtensionArray) for piece in pieces):
        return pd.concat([pd.Series(piece, copy=False) for piece in pieces], ignore_index=True)
    return joined(pieces)
