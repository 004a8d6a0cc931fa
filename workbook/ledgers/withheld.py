"""What stands in for a run that would answer a checkpoint before the learner has.

Running all must not give an answer away (design decision 3), and must not end in an error either: so a run of such
a case is withheld, and every table or picture of it says which checkpoint comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from workbook.show.page import Page, Paragraph, page

P = ParamSpec("P")
R = TypeVar("R")


class Withheld:
    """A run that is not shown yet. Attribute: `checkpoints`, the ids that have to be committed first."""

    def __init__(self, checkpoints: Iterable[str]) -> None:
        self.checkpoints = tuple(dict.fromkeys(checkpoints))

    def page(self) -> Page:
        """What to do first; nothing of the case, not even its name."""
        *others, last = self.checkpoints
        names = f"{', '.join(others)} and {last}" if others else last
        many = "checkpoints" if len(self.checkpoints) > 1 else "checkpoint"
        return page(
            Paragraph(
                lead="Not shown yet.",
                text=f"This run answers the {many} {names}. Commit your answer there, then run this cell again.",
            )
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.page()._repr_mimebundle_(include, exclude)

    def __repr__(self) -> str:
        return str(self.page())


def unless_withheld(shows: Callable[P, R]) -> Callable[P, R]:
    """A function that shows what was played, given something withheld, hands that on instead of showing it.

    It is typed as the function is: whoever looks at the result in a notebook sees either.
    """

    @wraps(shows)
    def show(*args: P.args, **kwargs: P.kwargs) -> R:
        held = [one for value in (*args, *kwargs.values()) for one in _held(value)]
        if held:
            return cast(R, Withheld(name for one in held for name in one.checkpoints))
        return shows(*args, **kwargs)

    return show


def _held(value: object) -> list[Withheld]:
    if isinstance(value, Withheld):
        return [value]
    if isinstance(value, list | tuple):
        return [one for one in value if isinstance(one, Withheld)]
    return []
