"""A learner's code, run within bounds: one that loops or waits for ever is stopped, and says so.

The bounds are counts, steps of Python and simulated waits, and no clock: the same code is stopped on every
machine. Two things are not: a loop inside a C function, and one that swallows every exception, `BaseException`
included; interrupting the kernel ends the first.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Generator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final

from workbook.errors import WorkbookError

if TYPE_CHECKING:
    from _typeshed import TraceFunction  # the type checker's own; there is no such module at run time

MOST_STEPS: Final = 500_000  # instructions of Python for one answer; a rule needs a few dozen
MOST_WAITS: Final = 1_000


class OutOfBounds(WorkbookError):
    """Code was stopped, since it would have gone on for ever."""


class _Stop(BaseException):
    """Raised inside the code that is stopped: an `except Exception` of its own must not swallow it."""


class _Steps:
    """Counts the instructions of Python that run within it, and stops whoever runs too many.

    Instructions and not lines: a loop that stands on one line never comes to another.
    """

    def __init__(self) -> None:
        self._left = MOST_STEPS
        self._before: TraceFunction | None = None

    def __enter__(self) -> None:
        self._before = sys.gettrace()  # a debugger's or a coverage run's; it gets its place back
        sys.settrace(self._count)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.settrace(self._before)
        if isinstance(error, _Stop):
            raise OutOfBounds(f"it was still running after {MOST_STEPS:,} steps of Python") from None

    def _count(self, frame: FrameType, event: str, argument: object) -> Callable[[FrameType, str, Any], Any] | None:
        if frame.f_code.co_filename == __file__:
            return None  # our own way out must not be stopped
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._left -= 1
        if self._left < 0:
            raise _Stop
        return self._count


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns. Raises: OutOfBounds; whatever it raises itself."""
    with _Steps():
        return function(*arguments)


class Bounded:
    """An awaitable within bounds: all its steps together, and the number of its waits.

    Awaiting it gives what the awaitable gives. Raises: OutOfBounds; whatever the awaitable raises.
    """

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self._running = _awaited(awaitable)

    def __await__(self) -> Generator[Any, Any, Any]:
        counted, running = _Steps(), self._running
        resume: Callable[[Any], Any] = running.send
        value: Any = None
        try:
            for _ in range(MOST_WAITS):
                try:
                    with counted:
                        waits_for = resume(value)
                except StopIteration as end:
                    return end.value
                try:
                    resume, value = running.send, (yield waits_for)
                except Exception as error:  # the wait failed: that is for the code that waited
                    resume, value = running.throw, error
        finally:
            with _Steps():
                running.close()
        raise OutOfBounds(f"it had waited {MOST_WAITS:,} times and still gave no answer")


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
