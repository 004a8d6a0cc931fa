"""What hand-ins for the first host have in common: whether begun, whether they can be called, how they failed."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, isclass, signature
from typing import Any

from labsim.errors import StageError
from workbook.submission import sandbox
from workbook.submission.json_values import spelled
from workbook.submission.submission import Noted, NotHandedIn, Trouble, raised, words_of


def has_dots(value: object) -> bool:
    """Whether the three dots of a skeleton still stand somewhere in it."""
    if value is ...:
        return True
    if isinstance(value, dict):
        return any(has_dots(each) for pair in value.items() for each in pair)
    return isinstance(value, list | tuple) and any(map(has_dots, value))


def failure(error: BaseException, when: str, asked: Callable[..., Any], to_wait: str) -> Noted:
    """What went wrong in a learner's code, in words. `when`: what it was asked; `to_wait`: what it may wait for."""
    if isinstance(error, sandbox.OutOfBounds):
        return Noted(trouble=Trouble.RAN_ON, says=f"it never came to an answer, {when}: {error}.")
    if isinstance(error, StageError) or (isinstance(error, RuntimeError) and "event loop" in words_of(error)):
        says = f"it waited for something outside the simulated host, {when}. {to_wait}"
        return Noted(trouble=Trouble.WAITED_OUTSIDE, says=says)
    return Noted(trouble=Trouble.RAISED, says=f"it raised {raised(error, asked)}, {when}.")


def function_of(handed_in: object, wanted: str, takes: int) -> Callable[..., Any]:
    """A function that takes that many arguments. Raises: NotHandedIn."""
    if not callable(handed_in) or isclass(handed_in):
        raise NotHandedIn(f"Hand in {wanted}; this is {spelled(handed_in)}.")
    try:
        parameters = signature(handed_in).parameters.values()
    except (TypeError, ValueError):  # of a builtin: calling it will tell
        return handed_in
    places = [one for one in parameters if one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    needed = sum(one.default is Parameter.empty for one in places)
    if needed > takes or (
        len(places) < takes and not any(one.kind is Parameter.VAR_POSITIONAL for one in parameters)
    ):
        name = getattr(handed_in, "__name__", "this")
        raise NotHandedIn(
            f"Hand in {wanted}; {name} takes {len(places)} argument{'s' if len(places) != 1 else ''}."
        )
    return handed_in
