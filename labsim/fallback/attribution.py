"""Which session a denied mutation belongs to (fallback/F-37 to fallback/F-40).

Above `registry`, below `algorithms`; the tool wrapper enters the scope around each execution. The registries
are shared by every session of a process, so a handler may be asked about another session's mutation and needs
the name before it prompts anyone (fallback/F-39).

The name travels in a context variable (fallback/F-40). Whoever interleaves calls has to run each in a
`contextvars.Context` of its own, or the calls would see each other's scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from labsim.fallback.registry import FallbackRegistries

_session: Final[ContextVar[str | None]] = ContextVar("labsim_mutation_session", default=None)


def current_session() -> str | None:
    """The session whose tool call is running in this context; None outside any scope (fallback/F-37)."""
    return _session.get()


@contextmanager
def mutation_session(session_id: str | None, registries: FallbackRegistries) -> Iterator[None]:
    """Name `session_id` as the origin of every request raised inside the block.

    Without a session, or while no handler of either kind is registered, no scope is entered and the block
    runs in whatever scope surrounds it: a host without fallbacks does nothing extra (fallback/F-38).
    """
    if session_id is None or not registries.has_any:
        yield
        return
    token = _session.set(session_id)
    try:
        yield
    finally:
        _session.reset(token)
