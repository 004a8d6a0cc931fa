"""What changes: the calls of one log that two settings decide otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import pandas as pd
from msgspec import UNSET

from labsim.terms import Policy, Rule
from workbook.errors import WorkbookError
from workbook.show.frame import INTEGER, NOTHING, TEXT, Look, Table
from workbook.what_ifs.call_log import SHOWN, counted
from workbook.what_ifs.columns import TOOL
from workbook.what_ifs.decide import Decided, Kinds


class Side(Protocol):
    """One log under one setting. See `what_ifs.WhatIf`."""

    calls: pd.DataFrame
    kinds: Kinds
    decided: Decided

    @property
    def name(self) -> str: ...


class NotTheSameCalls(WorkbookError):
    """Two what-ifs are about different logs, so that no call of one is a call of the other."""

    def __init__(self, before: int, other: int) -> None:
        super().__init__(
            f"These are not the same calls (here {counted(before)}, there {counted(other)}). "
            "Ask both what-ifs about one log."
        )


def check_same(before: pd.DataFrame, other: pd.DataFrame) -> None:
    """Two logs have the same rows, as far as index and tools say. Raises: NotTheSameCalls."""
    if before is other:
        return
    if not (len(before) == len(other) and before.index.equals(other.index) and before[TOOL].equals(other[TOOL])):
        raise NotTheSameCalls(len(before), len(other))


class Changed:
    """The calls of a log with another policy after than before. `WhatIf.changed` makes it; `len` counts them.

    Shown as the table `kinds`. Raises: NotTheSameCalls.
    """

    def __init__(self, before: Side, after: Side) -> None:
        check_same(before.calls, after.calls)
        self.before, self.after = before, after
        self._places = np.flatnonzero(before.decided.policy != after.decided.policy)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def rows(self) -> Table:
        """The calls, each with its index and all columns of the log.

        Further columns: `before` and `after`, `rule before` and `rule after`, category.
        """
        frame = self.before.calls.iloc[self._places]
        for name, side in (("before", self.before), ("after", self.after)):
            frame = frame.assign(
                **{
                    name: category(side.decided.policy[self._places], Policy),
                    f"rule {name}": category(side.decided.rule[self._places], Rule),
                }
            )
        return Table.around(frame, Look(caption=self.name, header=TOOL, rows=SHOWN))

    @property
    def kinds(self) -> Table:
        """The changes counted, most frequent first.

        Columns: `tool`, `declaration` (as in the log, `–` for none), `before` and `after` (the policy, who decided,
        the rule), `first` (the index of the first such call) string; `calls` int64. Where rules for bash decided,
        also `command` string, after `declaration`; `–` for any other tool, and for a call without one.
        """
        found: dict[tuple[str, ...], list[int]] = {}
        for one, two, first, calls in self._pairs():
            kind = self.before.kinds.kinds[one]
            commands = [side.command for side in (kind, self.after.kinds.kinds[two]) if side.command is not UNSET]
            command = commands[0] if commands else None
            answers = (self.before.decided.answers[one], self.after.decided.answers[two])
            words = [f"{answer.policy} ({answer.source}, {answer.rule})" for answer in answers]
            key = (kind.tool, kind.declaration or NOTHING, command or NOTHING, *words)
            row = found.setdefault(key, [first, 0])  # kinds that differ only in a former name are one row
            row[1] += calls
        order = sorted(found.items(), key=lambda item: (-item[1][1], item[0]))
        names = ("tool", "declaration", "command", "before", "after")
        columns: dict[str, list[Any]] = {name: [key[place] for key, _ in order] for place, name in enumerate(names)}
        if all(command == NOTHING for command in columns["command"]):
            del columns["command"]
        columns["first"] = [str(self.before.calls.index[first]) for _, (first, _) in order]
        columns["calls"] = [calls for _, (_, calls) in order]
        types = dict.fromkeys(columns, TEXT) | {"calls": INTEGER}
        return Table(columns, types, Look(caption=self.name, header="tool", rows=20))

    def _pairs(self) -> Iterable[tuple[int, int, int, int]]:
        """The kinds that change, as numbered before and after, with the place of the first call and how many.

        In the order of the first calls.
        """
        many = len(self.after.kinds.kinds)
        joined = (
            self.before.kinds.codes[self._places].astype(np.int64) * many + self.after.kinds.codes[self._places]
        )
        codes, pairs = pd.factorize(joined)
        first = np.empty(len(pairs), dtype=np.int64)
        first[codes[::-1]] = self._places[::-1]  # the last one written is the first of its pair
        counts = np.bincount(codes, minlength=len(pairs))
        for pair, place, calls in zip(pairs.tolist(), first.tolist(), counts.tolist(), strict=True):
            yield *divmod(pair, many), place, calls

    @property
    def name(self) -> str:
        """How many calls change, and between which settings."""
        calls, change = counted(len(self.before.calls)), "changes" if len(self) == 1 else "change"
        return f"{len(self):,} of {calls} {change} from {self.before.name} to {self.after.name}"

    def __repr__(self) -> str:
        return repr(self.kinds)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.kinds._repr_mimebundle_()


def category(codes: Any, words: Iterable[str]) -> pd.Categorical[Any]:
    """A column of `words` by their places, int8 (n,). The numbers are taken over, not copied."""
    return pd.Categorical.from_codes(codes, pd.Index([str(word) for word in words], dtype="str"), validate=False)
