"""A pandas DataFrame with a caption that looks the same under every version of pandas.

It is a DataFrame to everyone: sort, filter, count as usual. Whatever is made from it is a plain DataFrame, since a
caption that was true of the whole need not be true of a part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import pandas as pd
from msgspec import Struct

from labsim.describe.ledger import visible
from workbook.show.grid import Grid
from workbook.show.page import Page
from workbook.show.page import Table as TableBlock

ROWS_SHOWN: Final = 200  # a longer table is shown in part; it still holds every row
INTEGER: Final = "int64"
MAYBE_INTEGER: Final = "Int64"  # where a case need not have shown the number at all
TEXT: Final = "string"
NOTHING: Final = "–"  # how a missing value is shown


class Look(Struct, frozen=True, kw_only=True):
    """How a table is shown. A column named here that is gone by then is left out of account.

    `header` names the rows, `group` holds for several rows in a row. Rows whose `differs` column holds its word are
    set off. No more than `rows` rows are shown.
    """

    caption: str
    header: str
    group: str | None = None
    differs: tuple[str, str] | None = None
    rows: int = ROWS_SHOWN


class Table(pd.DataFrame):
    """A DataFrame with a caption. `caption` is its text; shown as HTML, and as aligned text everywhere else."""

    _metadata: ClassVar[list[str]] = ["_look"]
    _look: Look

    def __init__(self, columns: Mapping[str, Sequence[Any]], dtypes: Mapping[str, str], look: Look) -> None:
        """`columns` by name, all of one length; `dtypes` names the type of each, one of the four above."""
        typed = {name: pd.Series(list(columns[name]), dtype=dtype) for name, dtype in dtypes.items()}
        super().__init__(typed)  # type: ignore[call-arg]  # the stubs know only __new__
        self._look = look

    @classmethod
    def around(cls, frame: pd.DataFrame, look: Look) -> Table:
        """`frame` with a caption. Nothing is copied, so that a frame may be as long as memory allows."""
        made = cls.__new__(cls)
        pd.DataFrame.__init__(made, frame, copy=False)  # type: ignore[call-arg]  # as above
        made._look = look
        return made

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    @property
    def caption(self) -> str:
        """What the table is of, and how the comparison came out where it makes one."""
        return visible(self._look.caption)

    @property
    def grid(self) -> Grid:
        """The table as it is shown, for a page that has more than this one."""
        return self._grid()

    def __repr__(self) -> str:
        return str(self._page())

    def _repr_html_(self) -> str:
        return self._page().html()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self._page()._repr_mimebundle_()

    def _page(self) -> Page:
        return Page((TableBlock(grid=self._grid()),))

    def _grid(self) -> Grid:
        look = self._look
        names = [str(name) for name in self.columns]
        shown = self.iloc[: look.rows]
        columns = [[_cell(value) for value in shown.iloc[:, place].tolist()] for place in range(len(names))]
        rows = tuple(zip(*columns, strict=True))
        marked: frozenset[int] = frozenset()
        if look.differs is not None and look.differs[0] in names:
            place = names.index(look.differs[0])
            marked = frozenset(number for number, row in enumerate(rows) if row[place] == look.differs[1])
        return Grid(
            caption=look.caption,
            columns=tuple(names),
            rows=rows,
            header=names.index(look.header) if look.header in names else 0,
            group=names.index(look.group) if look.group in names else None,
            numbers=frozenset(
                place for place in range(len(names)) if pd.api.types.is_numeric_dtype(self.dtypes.iloc[place])
            ),
            marked=marked,
            left_out=len(self) - len(rows),
        )


def _cell(value: object) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return NOTHING
    return value if isinstance(value, str) else str(value)
