"""Millions of calls, decided by the engine that decides one: each distinct kind of call once, the rest looked up.

Two calls with the same tool, declaration and former name are the same call to `resolve`, and so are two of `bash`
with the same command. So every row gets the number of its kind, `resolve` is asked once for each kind, and the
answers are handed out by number. No rule is written down here a second time, in whatever dialect of arrays.

Rows are gone through in chunks that fit into a processor's cache. Beyond the frame that is handed in, memory holds
four bytes a row for the number of the kind, and one for each column of the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd
from msgspec import UNSET, Struct

from labsim.approval import Resolution, resolve
from labsim.bash import BashRule, classify, declaration
from labsim.call.inert import InertExecutor
from labsim.stage.stage import Stage
from labsim.terms import ApprovalMode, Policy, Rule, Source, Tier
from labsim.tool import Tool
from workbook.learner.progress_bar import progress
from workbook.what_ifs.columns import ARGS, DECLARATION, LEGACY, TOOL, BadCallLog, declared

CHUNK: Final = 1 << 16  # rows at a time: their numbers fit into a processor's second cache
BASH: Final = "bash"
_TABLE: Final = 1 << 20  # a pair of columns with no more combinations than this is looked up, not hashed

Numbers: TypeAlias = npt.NDArray[Any]


class Kind(Struct, frozen=True, kw_only=True):
    """All that `resolve` asks of a call, as the log spells it.

    `command`: of a call of `bash` under rules; None if its arguments have none, UNSET for every other call.
    """

    tool: str
    declaration: str | None = None
    legacy_name: str | None = None
    command: Any = UNSET


class Kinds(Struct, frozen=True):
    """The distinct kinds of the calls of a log, and how many calls are of each.

    `codes`: int32 (n_calls,), each call's place in `kinds`.
    """

    kinds: tuple[Kind, ...]
    counts: tuple[int, ...]
    codes: Numbers


class Settings(Struct, frozen=True, kw_only=True):
    """What a user decides: the mode, policies by key, and rules for `bash`; None leaves its declarations alone."""

    mode: ApprovalMode
    policies: Mapping[str, Policy]
    bash: tuple[BashRule, ...] | None = None


class Decided(Struct, frozen=True):
    """One resolution for each kind, in the order of the kinds, and the same for each call.

    Each array is int8 (n_calls,), and counts members in the order of their enum.
    """

    answers: tuple[Resolution, ...]
    policy: Numbers
    source: Numbers
    rule: Numbers
    tier: Numbers


def kinds_of(log: pd.DataFrame, *, commands: bool) -> Kinds:
    """The kinds of a log's calls. `commands`: calls of `bash` differ by their command, too.

    Raises: BadCallLog, if arguments of `bash` are no JSON object, or there are none for any call.
    """
    read = _Commands(log) if commands else None
    columns = [_Column(log[name]) for name in (TOOL, DECLARATION, LEGACY) if name in log]
    pairs = [_Pairs(columns[0].size, columns[1].size)]
    for column in columns[2:]:
        pairs.append(_Pairs(pairs[-1].size, column.size))
    if read is not None:
        pairs.append(_Pairs(pairs[-1].size, len(log) + 2))
    codes = np.empty(len(log), dtype=np.int32)
    with progress("Sorting calls", len(log), "calls") as advance:
        for rows in chunks(len(log)):
            others = [column.codes(rows) for column in columns]
            if read is not None:
                others.append(read.codes(rows))
            now = others[0]
            for pair, other in zip(pairs, others[1:], strict=True):
                now = pair.codes(now, other)
            codes[rows] = now
            advance(len(now))
    kinds = tuple(_kinds(columns, pairs, read))
    counts = np.zeros(len(kinds), dtype=np.int64)
    for rows in chunks(len(log)):
        counts += np.bincount(codes[rows], minlength=len(kinds))
    return Kinds(kinds, tuple(counts.tolist()), codes)


def decide(kinds: Kinds, settings: Settings) -> Decided:
    """The resolution of every call. Asks the engine once for each kind, and classifies each command once."""
    answers = resolutions(kinds.kinds, settings)
    tables = [
        _places(Policy, [answer.policy for answer in answers]),
        _places(Source, [answer.source for answer in answers]),
        _places(Rule, [answer.rule for answer in answers]),
        _places(Tier, [answer.tier for answer in answers]),
    ]
    made = [np.empty(len(kinds.codes), dtype=np.int8) for _ in tables]
    for rows in chunks(len(kinds.codes)):
        for table, column in zip(tables, made, strict=True):
            # Every code is in the table; "clip" only keeps numpy from looking, and from a copy.
            np.take(table, kinds.codes[rows], out=column[rows], mode="clip")
    return Decided(answers, *made)


def resolutions(kinds: Sequence[Kind], settings: Settings) -> tuple[Resolution, ...]:
    """What the engine says of each kind."""
    stage = Stage()
    said: dict[str | None, Any] = {}
    classified: dict[Any, Any] = {}
    answers = []
    for kind in kinds:
        if kind.declaration not in said:
            said[kind.declaration] = declared(kind.declaration)
        approval = said[kind.declaration]
        if settings.bash is not None and kind.command is not UNSET:
            if kind.command not in classified:
                classified[kind.command] = declaration(classify(kind.command, settings.bash))
            approval = classified[kind.command]
        tool = Tool(
            name=kind.tool,
            execute=InertExecutor(stage, kind.tool),
            approval=approval,
            legacy_name=UNSET if kind.legacy_name is None else kind.legacy_name,
        )
        answers.append(resolve(tool, {}, mode=settings.mode, policies=settings.policies))
    return tuple(answers)


def chunks(rows: int) -> Iterator[slice]:
    """All rows, a cache's worth at a time."""
    for start in range(0, rows, CHUNK):
        yield slice(start, min(start + CHUNK, rows))


def _places(enum: Any, members: Sequence[Any]) -> Numbers:
    """The place of each member in its enum, int8."""
    places = {member: place for place, member in enumerate(enum)}
    return np.array([places[member] for member in members], dtype=np.int8)


# --------------------------------------------------------------------------------------------- numbering the kinds


class _Column:
    """A column of few texts: 0 where a cell is missing, else its category's place from 1."""

    def __init__(self, column: pd.Series[Any]) -> None:
        self._codes: Numbers = np.asarray(column.cat.codes)
        self._labels: list[str] = list(column.cat.categories)
        self.size = len(self._labels) + 1

    def codes(self, rows: slice) -> Numbers:
        return self._codes[rows].astype(np.int64) + 1

    def label(self, code: int) -> str | None:
        return self._labels[code - 1] if code else None


class _Pairs:
    """Numbers for the pairs of two columns that really occur, in the order of their first chunk.

    `first`, `second`: how many values either side can have. `size`: no number reaches it.
    """

    def __init__(self, first: int, second: int) -> None:
        self._second = second
        self.size = first * second
        self.met: list[int] = []  # by number, the pair as one number
        self._table = np.full(self.size, -1, dtype=np.int64) if self.size <= _TABLE else None
        self._numbers: dict[int, int] = {}

    def codes(self, first: Numbers, second: Numbers) -> Numbers:
        joined = first * self._second + second
        if self._table is None:
            return self._hashed(joined)
        found: Numbers = self._table[joined]
        if found.size and found.min() < 0:
            new = np.unique(joined[found < 0])
            self._table[new] = np.arange(len(self.met), len(self.met) + len(new))
            self.met.extend(new.tolist())
            found = self._table[joined]
        return found

    def _hashed(self, joined: Numbers) -> Numbers:
        codes, distinct = pd.factorize(joined)
        numbers = np.empty(len(distinct), dtype=np.int64)
        for place, pair in enumerate(distinct.tolist()):
            number = self._numbers.setdefault(pair, len(self.met))
            if number == len(self.met):
                self.met.append(pair)
            numbers[place] = number
        made: Numbers = numbers[codes]
        return made

    def parts(self, number: int) -> tuple[int, int]:
        return divmod(self.met[number], self._second)


class _Commands:
    """The commands of the calls of `bash`: 0 for every other call, 1 where there is none, else a number from 2."""

    def __init__(self, log: pd.DataFrame) -> None:
        if ARGS not in log:
            remedy = "Rules for bash look at its command: add a column 'args', or leave the rules out."
            raise BadCallLog("calls", "there is no column 'args'", remedy)
        tools = log[TOOL].cat
        here = tools.categories.get_loc(BASH) if BASH in tools.categories else -2
        self._is_bash = tools.codes.to_numpy() == here
        self._args = log[ARGS]
        self._numbers: dict[str, int] = {}

    def codes(self, rows: slice) -> Numbers:
        made = np.zeros(rows.stop - rows.start, dtype=np.int64)
        places = np.flatnonzero(self._is_bash[rows])
        codes, texts = pd.factorize(self._args.iloc[rows].iloc[places].array)
        numbers = [
            self._number(text, lambda code=code: rows.start + int(places[np.argmax(codes == code)]) + 1)
            for code, text in enumerate(texts)
        ]
        made[places] = np.array([*numbers, 1], dtype=np.int64)[codes]  # -1, a missing cell, takes the last
        return made

    def _number(self, text: Any, row: Any) -> int:
        try:
            command = _args(text).get("command")
        except (msgspec.MsgspecError, UnicodeError, TypeError) as error:
            found = f"the arguments are no JSON object ({error})"
            raise BadCallLog(
                "calls", found, 'Arguments look like {"command":"ls"}.', row=row(), column=ARGS
            ) from None
        return 1 if not isinstance(command, str) else self._numbers.setdefault(command, len(self._numbers) + 2)

    def commands(self) -> list[Any]:
        return [UNSET, None, *self._numbers]


_args: Final = msgspec.json.Decoder(dict[str, Any]).decode


def _kinds(columns: list[_Column], pairs: list[_Pairs], read: _Commands | None) -> Iterator[Kind]:
    """The kinds by their numbers, taken apart again."""
    commands = read.commands() if read is not None else []
    for number in range(len(pairs[-1].met)):
        parts: list[int] = []
        for pair in reversed(pairs):
            number, other = pair.parts(number)
            parts.insert(0, other)
        parts.insert(0, number)
        tool, said, *rest = parts
        yield Kind(
            tool=columns[0].label(tool) or "",
            declaration=columns[1].label(said),
            legacy_name=columns[2].label(rest[0]) if len(columns) > 2 else None,
            command=commands[rest[-1]] if read is not None else UNSET,
        )
