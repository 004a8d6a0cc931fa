"""What a call log may say: its columns and its cells, checked value by value, with the place of whatever is wrong.

A log is taken as it stands, so a slip of the pen is refused and never guessed at: to a host, `Read` would be as
good as `exec` (approval/A-2), and nobody who writes it means that. Each distinct value is looked at once, however
many rows have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
import pandas as pd
from msgspec import UNSET

from labsim.errors import CaseError, closest, did_you_mean, one_line
from labsim.strict_json import parse
from labsim.terms import Tier
from workbook.errors import WorkbookError

TOOL: Final = "tool"
DECLARATION: Final = "declaration"
TIER: Final = "tier"
ARGS: Final = "args"
LEGACY: Final = "legacyName"
KNOWN: Final = (TOOL, DECLARATION, TIER, ARGS, LEGACY)
LABELS: Final = (TOOL, DECLARATION, TIER, LEGACY)  # the columns that repeat a few texts over and over

_TIERS: Final = tuple(tier.value for tier in Tier)
_DECISION_KEYS: Final = ("tier", "policy", "override", "policyKey", "reason")
_LONGEST_QUOTE: Final = 40  # characters of a cell that a message repeats


class BadCallLog(WorkbookError):
    """A call log is not one, or a cell of it says nothing that could be meant.

    Attributes: `place` (the file, or `calls`), `row` (from 1, a header not counted; None: the whole), `column`
    (None: the whole row), `found`, `remedy`.
    """

    def __init__(
        self, place: str, problem: str, remedy: str, *, row: int | None = None, column: str | None = None
    ) -> None:
        self.place, self.row, self.column, self.found, self.remedy = place, row, column, problem, remedy
        parts = [] if row is None else [f"row {row:,}"]
        parts += [] if column is None else [f"column {column}"]
        where = f"{place}: {', '.join(parts)}" if parts else place
        super().__init__(one_line(f"{where}: {problem}. {remedy}"))


class NoDeclaration(ValueError):
    """A text stands for nothing that a tool could declare. Attributes: `found`, `remedy`."""

    def __init__(self, problem: str, remedy: str) -> None:
        self.found, self.remedy = problem, remedy
        super().__init__(problem, remedy)


def declared(label: str | None) -> Any:
    """What a declaration of a log hands to the engine; None stands for a tool that declared nothing.

    A tier is itself. Everything else is JSON, and means what it means to a host (approval/A-2 to approval/A-7).
    Raises: NoDeclaration.
    """
    if label is None:
        return UNSET
    if label in _TIERS:
        return label
    if not label.lstrip().startswith(("{", "[", '"')):
        remedy = f"Use {_or(_TIERS)}{_close(label, _TIERS)}, or a decision as a JSON object, or leave it empty."
        raise NoDeclaration(f"{_quoted(label)} is neither a tier nor a decision", remedy)
    try:
        value = parse(label.encode("utf-8", "surrogatepass"), "the cell")
    except CaseError as error:
        found = f"{_quoted(label)} is not JSON ({error.place}: {error.found})"
        raise NoDeclaration(found, 'A decision looks like {"tier":"read","policy":"prompt"}.') from None
    if isinstance(value, dict):
        for key in value:
            if key not in _DECISION_KEYS:
                remedy = f"Use {_or(_DECISION_KEYS)}{_close(key, _DECISION_KEYS)}."
                raise NoDeclaration(f"a decision has no {_quoted(key)}", remedy)
    return value


def check_columns(names: Sequence[str], place: str) -> None:
    """A log has `tool` and one of `tier` and `declaration`, and no name that looks like a slip of the pen.

    Raises: BadCallLog.
    """
    columns = f"The columns are {', '.join(names) or 'none'}"
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            raise BadCallLog(place, f"the column {name!r} is there {names.count(name)} times", "Keep one of them.")
    check_names(names, place)
    if TOOL not in names:
        raise BadCallLog(place, "there is no column 'tool'", f"{columns}; one of them has to name the tool.")
    if TIER in names and DECLARATION in names:
        remedy = "Keep the one that says more."
        raise BadCallLog(place, "there are a column 'tier' and a column 'declaration'", remedy)
    if TIER not in names and DECLARATION not in names:
        remedy = f"{columns}; one of these two says what the tool declared, and its cells may be empty."
        raise BadCallLog(place, "there is no column 'tier' and none called 'declaration'", remedy)


def check_names(names: Sequence[str], place: str, row: int | None = None) -> None:
    """No name looks like a slip of the pen; `row` is the first with these names, if rows differ in them.

    Raises: BadCallLog.
    """
    for name in names:
        if name not in KNOWN and (meant := _meant(name, names)):
            remedy = f"Call it {meant!r}, or something that cannot be taken for that."
            raise BadCallLog(place, f"there is a column {name!r}", remedy, row=row)


def check_labels(column: str, labels: Iterable[Any], place: str, row_of: Callable[[Any], int | None]) -> None:
    """The distinct values of a column of `LABELS`.

    `row_of` finds the first row (from 1) with a value, None if no row has it: then it does no harm.
    Raises: BadCallLog.
    """
    for label in labels:
        problem = _problem(column, label)
        if problem is not None and (row := row_of(label)) is not None:
            found, remedy = problem
            raise BadCallLog(place, found, remedy, row=row, column=column)


def check_args(texts: Sequence[str], place: str, row_of: Callable[[int], int]) -> None:
    """Arguments are JSON objects. `texts` are the distinct ones; `row_of` finds the first row (from 1) with one.

    Raises: BadCallLog.
    """
    for number, text in enumerate(texts):
        try:
            _object(text)
        except (msgspec.MsgspecError, UnicodeError) as error:
            found = f"{_quoted(text)} is no JSON object ({error})"
            remedy = 'Arguments look like {"path":"a.txt"}.'
            raise BadCallLog(place, found, remedy, row=row_of(number), column=ARGS) from None


_object: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def from_codes(codes: Any, labels: Iterable[str]) -> pd.Categorical[Any]:
    """A column by its distinct texts: `codes` (n,) signed integers, -1 where the cell is missing."""
    return pd.Categorical.from_codes(codes, pd.Index([*labels], dtype="str"))


def no_tool(place: str, row: int) -> BadCallLog:
    """The error of a call that does not name its tool."""
    return BadCallLog(place, "the cell is empty", "Every call names its tool.", row=row, column=TOOL)


def _problem(column: str, label: Any) -> tuple[str, str] | None:
    """What is wrong with a value, and what would do; None for a good one."""
    if not isinstance(label, str):
        return f"{_quoted(label)} is no text", "Write text, or leave the cell empty."
    if column == TIER and label not in _TIERS:
        remedy = f"Use {_or(_TIERS)}{_close(label, _TIERS)}, or leave the cell empty."
        return f"{_quoted(label)} is no tier", remedy
    if column == DECLARATION:
        try:
            declared(label)
        except NoDeclaration as error:
            return error.found, error.remedy
    return None


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


def _meant(name: str, names: Sequence[str]) -> str | None:
    """The column that `name` was meant to be, if it looks like one that is not there."""
    bare = {known.lower(): known for known in KNOWN if known not in names}
    written = name.strip().lower().replace("_", "").replace("-", "").replace(" ", "")
    return next((bare[close] for close in closest(written, bare, alike=0.75)), None)


def _close(word: str, words: Sequence[str]) -> str:
    says = did_you_mean(word.strip().lower(), words, "")
    return f" ({says[0].lower()}{says[1:]})" if says else ""


def _or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
