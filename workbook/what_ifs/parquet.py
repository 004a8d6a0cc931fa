"""Call logs as Parquet files, read in pieces as `call_log_formats` describes them.

Arrow reads them, which weighs a third of everything else that the workbook installs, so it is an extra and is
imported when a Parquet file is met.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pandas as pd

from workbook.learner.progress_bar import Advance
from workbook.what_ifs.columns import ARGS, LABELS, BadCallLog, check_columns
from workbook.what_ifs.formats import Piece, Unreadable, nulls

_ROWS: Final = 1 << 16  # rows at a time


def parquet_pieces(path: Path, advance: Advance) -> Iterator[Piece]:
    """Text columns for what a log describes; any other column as it is. Raises: BadCallLog, also without Arrow."""
    try:
        from pyarrow import parquet  # type: ignore[import-untyped]  # ships no types
    except ImportError:
        found = "it is a Parquet file, and pyarrow, which reads those, is not installed"
        remedy = "Run  pip install 'cedar-workbook[parquet]'  or save the log as .csv or .jsonl."
        raise BadCallLog(path.name, found, remedy) from None
    with _refusals():
        schema = parquet.read_schema(path)
        check_columns(schema.names, path.name)
        for name in schema.names:
            kind = schema.field(name).type
            kind = kind.value_type if _is("dictionary", kind) else kind
            if name in (*LABELS, ARGS) and not (_is_text(kind) or _is("null", kind)):
                raise BadCallLog(path.name, f"it is of type {kind}", "Write text; a decision is JSON.", column=name)
        yield {name: nulls(name, 0) for name in schema.names}
        with parquet.ParquetFile(path, read_dictionary=[name for name in schema.names if name in LABELS]) as file:
            rows, size = file.metadata.num_rows, path.stat().st_size
            for batch in file.iter_batches(_ROWS, use_threads=False):
                batch.validate(full=True)  # Arrow trusts a damaged file, down to reading beside its own memory
                yield {name: _column(name, batch.column(name)) for name in schema.names}
                advance(size * len(batch) // rows)


def joined(pieces: list[Any]) -> pd.Series[Any]:
    """One column of Arrow arrays, in the type that pandas has for it."""
    import pyarrow as pa

    with _refusals():
        made: pd.Series[Any] = pa.chunked_array(pieces).to_pandas()
        return made


@contextmanager
def _refusals() -> Iterator[None]:
    """What Arrow says against a file, as one kind of error."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise Unreadable(str(error)) from None


def _column(name: str, array: Any) -> Any:
    import pyarrow as pa

    if name in LABELS:
        array = array.cast(pa.string()) if _is("null", array.type) else array
        array = array if _is("dictionary", array.type) else array.dictionary_encode()
        numbers = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return numbers, array.dictionary.to_pylist()
    if name == ARGS and not _is_text(array.type):
        array = array.cast(pa.string())
    return pd.arrays.ArrowStringArray(pa.chunked_array([array])) if _is_text(array.type) else array


def _is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    return _is("string", kind) or _is("large_string", kind)


def _is(name: str, kind: Any) -> bool:
    """Whether an Arrow type is of that name."""
    from pyarrow import types

    return bool(getattr(types, f"is_{name}")(kind))
