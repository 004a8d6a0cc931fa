"""The classes of cases whose kind a chapter registered, and the union that they make with the engine's own."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any, Final, cast

import msgspec

from labsim.case.model import Case, CaseFile, ExtraCase
from labsim.extras import SCENARIOS

#: The classes that were made last, and what for: making them costs more than reading a case.
_MADE: Final[dict[tuple[tuple[str, type], ...], tuple[Any, Any]]] = {}


def kinds() -> tuple[Any, Any]:
    """What a case can be by now, and a file of cases."""
    registered = tuple((name, kind.given) for name, kind in SCENARIOS.items())
    if registered not in _MADE:
        _MADE.clear()
        case: Any = reduce(or_, (_class(name, given) for name, given in registered), cast(Any, Case))
        file = msgspec.defstruct("CaseFile", [("cases", list[case])], bases=(CaseFile,), frozen=True, kw_only=True)
        _MADE[registered] = (case, file)
    return _MADE[registered]


def _class(name: str, given: type) -> Any:
    """A case of one kind, as `case` has one for each of its own."""
    return msgspec.defstruct(
        "ExtraCase",
        [("given", given)],
        bases=(ExtraCase,),
        namespace={"scenario": name},
        frozen=True,
        kw_only=True,
        tag=name,
    )
