"""Names that a module offers and imports when they are first used (PEP 562), declared once.

    if TYPE_CHECKING:
        from labsim.terms import Tier as Tier

    __getattr__, __dir__ = lazily(__name__, {"labsim.terms": "Tier"})

The imports say to a type checker what the table says to Python; a test of each such module holds the two together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazily(module: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module.

    `homes`: for each module the names that come from there, with blanks between; `open_chapter=open` is there
    called `open_chapter`, and here `open`. A name that was used once is an ordinary one.
    """
    places: dict[str, tuple[str, str]] = {}
    for home, names in homes.items():
        for name in names.split():
            there, _, here = name.partition("=")
            places[here or there] = (home, there)

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from importlib import import_module

        home, there = places[name]
        value = getattr(import_module(home), there)
        setattr(sys.modules[module], name, value)
        return value

    def names_here() -> list[str]:
        return sorted({*vars(sys.modules[module]), *places})

    return get, names_here
