"""Call logs: which tools were called, and what each declared. Read, checked and made small; nothing in them is run.

A log is a pandas DataFrame, one row for each call, with these columns:

- `tool` category of text, never missing: the tool's name
- `declaration` category of text, missing where the tool declared nothing: a tier (`read`, `write`, `exec`), or what
  it declared as JSON, such as `{"tier":"read","policy":"prompt"}` (approval/A-1 to approval/A-7)
- `args` string, optional: the call's arguments as a JSON object, missing where nobody noted them
- `legacyName` category of text, optional: the tool's former name (approval/A-25)
- any further columns, carried along as they are

A file or a table that is read may have `tier` in place of `declaration`; then only the three words will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
from msgspec import UNSET

from labsim.js_values import stringify
from labsim.library import fixtures_dir
from workbook.show.frame import Look, Table
from workbook.what_ifs import files
from workbook.what_ifs.columns import (
    ARGS,
    DECLARATION,
    LABELS,
    TIER,
    TOOL,
    BadCallLog,
    check_columns,
    check_labels,
    check_names,
    from_codes,
    no_tool,
)

Calls: TypeAlias = pd.DataFrame | Iterable[Mapping[str, Any]] | str | Path

SHOWN: Final = 10  # rows of a log that a notebook shows
TEACHING_LOG: Final = "call-logs/a-day-at-the-desk.jsonl.gz"
_IN_MEMORY: Final = "calls"  # what messages call a log that is no file


def call_log(path: str | Path | None = None) -> Table:
    """A call log from a file: `.csv`, `.jsonl` (each may have `.gz` after it), or `.parquet`,
    which needs the extra `parquet`.

    Without `path`: a made-up day at the Cedar Seed Library, which comes with the workbook.
    Returns: (n_calls, 2 or more), with the columns that this module describes; those of a CSV or JSON file that it
    does not describe are text. Raises: BadCallLog; OSError, if there is no such file.
    """
    if path is None:
        return shown(files.read(fixtures_dir() / TEACHING_LOG), "A day at the Cedar Seed Library")
    return shown(files.read(Path(path)), f"Call log {Path(path).name}")


def shown(log: pd.DataFrame, caption: str) -> Table:
    """A log, or anything else with a row for each call, as a table that shows only its first rows."""
    return Table.around(log, Look(caption=f"{caption}: {counted(len(log))}", header=TOOL, rows=SHOWN))


def counted(calls: int) -> str:
    """A number of calls in words."""
    return "1 call" if calls == 1 else f"{calls:,} calls"


def as_log(calls: Calls) -> pd.DataFrame:
    """Calls in any of their forms as a log with the columns that this module describes; rows and index stay.

    A log that is one already costs next to nothing: a category is looked at once, not once for each row.
    Arguments are looked at only when somebody needs them. Raises: BadCallLog; OSError.
    """
    if isinstance(calls, str | Path):
        return call_log(calls)
    if not isinstance(calls, pd.DataFrame):
        calls = _from_mappings(calls)
    names = [str(name) for name in calls.columns]
    check_columns(names, _IN_MEMORY)
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        column = calls.iloc[:, place]
        if name in LABELS:
            made = _categorical(column, name)
            check_labels(name, made.categories, _IN_MEMORY, _finder(made))
            columns[DECLARATION if name == TIER else name] = made
        else:
            columns[name] = _json_text(column) if name == ARGS else column
    codes = columns[TOOL].codes
    if len(codes) and codes.min() < 0:
        raise no_tool(_IN_MEMORY, int(np.argmax(codes < 0)) + 1)
    return pd.DataFrame(columns, index=calls.index, copy=False)


def _from_mappings(calls: Any) -> pd.DataFrame:
    """A list of mappings as a table, with every key that one of them has."""
    rows = list(calls)
    names: dict[str, None] = {} if rows else {TOOL: None, DECLARATION: None}
    key_sets: set[tuple[str, ...]] = set()
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            found = f"a call is of type {type(row).__name__}"
            raise BadCallLog(_IN_MEMORY, found, 'Write {"tool": "bash", "tier": "exec"}.', row=number)
        if (keys := tuple(map(str, row))) not in key_sets:
            key_sets.add(keys)
            check_names(keys, _IN_MEMORY, number)
            names.update(dict.fromkeys(keys))
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], dtype=object) for name in names})


def _categorical(column: pd.Series[Any], name: str) -> Any:
    """A column by its distinct texts. Text is hashed as it is; of other columns every value is looked at."""
    values: Any = column.array
    if not isinstance(values, pd.Categorical):
        if not isinstance(column.dtype, pd.StringDtype):
            values = np.empty(len(column), dtype=object)
            values[:] = [_text(value, number, name) for number, value in enumerate(column, start=1)]
        codes, labels = pd.factorize(values)
        values = from_codes(codes, labels)
    return values.remove_categories([""]) if "" in values.categories else values


def _text(value: Any, row: int, name: str) -> str | None:
    """A cell as text. What a tool declared may also be given as it is: a mapping, a member of `Tier`."""
    if isinstance(value, str):
        return str(value)
    if value is None or value is UNSET or value is pd.NA or (isinstance(value, float) and value != value):
        return None
    if name == DECLARATION and isinstance(value, Mapping | list | tuple):
        return stringify(value)
    found = f"the cell is of type {type(value).__name__}"
    remedy = "Write text, or leave the cell empty."
    if name == DECLARATION:
        remedy = "Write a tier, a decision as a mapping or as JSON, or leave the cell empty."
    raise BadCallLog(_IN_MEMORY, found, remedy, row=row, column=name)


def _json_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Arguments as text: mappings become JSON."""
    if isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype):
        return column
    texts = [
        stringify(value) if isinstance(value, Mapping) else _text(value, number, ARGS)
        for number, value in enumerate(column, start=1)
    ]
    return pd.Series(texts, index=column.index, dtype="string")


def _finder(module: Any) -> Callable[[Any], int | None]:
    """A function from a category to the first row (from 1) that has it; None if none has."""

    def first(label: Any) -> int | None:
        rows = np.asarray(module.codes) == module.categories.get_loc(label)
        return int(np.argmax(rows)) + 1 if rows.any() else None

    return first
