"""Who is asked when a write or a delete is denied: two lists, and one way of going through them.

The lists belong to a process, not to a session (fallback/F-8); one `FallbackRegistries` is one simulated process,
made anew for every case, so that nothing registered in one case can answer in another.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Generic, TypeVar

from msgspec import Struct

from labsim.fallback.classify import error_text
from labsim.fallback.events import Emit, HandlerAnswer, HandlerConsulted
from labsim.js_values import stringify, truthy
from labsim.terms import Seam

H = TypeVar("H")
Disposer = Callable[[], None]


class WriteRequest(Struct, frozen=True, kw_only=True):
    """A denied write, as a handler sees it (fallback/write-7)."""

    dst: str  # absolute and resolved; final, nothing is to be derived from it again (fallback/F-35)
    content: str  # exactly what the tool meant to write (fallback/F-23)
    cause: BaseException  # what proves the boundary; not the write's own error if that hid the denial
    session_id: str | None  # None: raised outside any tool call (fallback/F-37). Not the same as ""


class DeleteRequest(Struct, frozen=True, kw_only=True):
    """A denied delete, as a handler sees it (fallback/delete-7)."""

    dst: str  # as for a write, except that the last component may be a link: the link is what goes
    cause: BaseException
    confirmed_file: bool  # False: a link, or nobody could look. Unlink plainly, never recursively (fallback/F-27)
    session_id: str | None


#: A handler answers whether the work is durably done, by an authority of its own.
WriteHandler = Callable[[WriteRequest], object]
DeleteHandler = Callable[[DeleteRequest], object]


class Registry(Generic[H]):
    """Handlers of one kind, in the order of registration (fallback/F-9)."""

    def __init__(self) -> None:
        self._handlers: list[H] = []

    def add(self, handler: H) -> Disposer:
        """Append `handler`; the returned disposer takes it out again, and does nothing when called twice.

        If the same handler object was added twice, the first occurrence is the one taken out (fallback/F-10).
        """
        self._handlers.append(handler)
        registered = True

        def dispose() -> None:
            nonlocal registered
            if not registered:
                return
            registered = False
            # By identity: two equal handlers are still two handlers.
            del self._handlers[next(i for i, each in enumerate(self._handlers) if each is handler)]

        return dispose

    def snapshot(self) -> tuple[H, ...]:
        """The handlers of this moment; later changes neither skip nor repeat one of them (fallback/F-11)."""
        return tuple(self._handlers)

    @property
    def has_any(self) -> bool:
        """Whether a handler is registered at this moment (fallback/F-13)."""
        return bool(self._handlers)


class FallbackRegistries:
    """The two registries of one simulated process. They are separate: see fallback/F-8."""

    def __init__(self) -> None:
        self.writes: Registry[WriteHandler] = Registry()
        self.deletes: Registry[DeleteHandler] = Registry()

    @property
    def has_any(self) -> bool:
        """Whether a handler of either kind is registered (fallback/F-13, fallback/F-38)."""
        return self.writes.has_any or self.deletes.has_any


def consult(
    handlers: Iterable[H],
    ask: Callable[[H], object],
    *,
    seam: Seam,
    target: str,
    emit: Emit,
    extension: str | None = None,
) -> bool:
    """Ask the handlers in turn until one succeeds; True if one did (fallback/F-9).

    One that raises is recorded and skipped, and its error goes no further (fallback/F-15). What counts as success
    is the recorded program's own test, any answer that holds in a condition (fallback-0099, -0100); fallback/F-14
    proposes to accept exactly True, but then the recorded answers would not replay. That the work is done,
    durably and by an authority of its own, is for the handler to see to; nobody looks (fallback/F-26).
    """
    for position, handler in enumerate(handlers, start=1):
        try:
            returned = _at_once(ask(handler))
        except Exception as error:
            answer, detail = HandlerAnswer.RAISED, error_text(error)
        else:
            answer = HandlerAnswer.ACCEPTED if truthy(returned) else HandlerAnswer.DECLINED
            detail = stringify(returned)
        emit(
            HandlerConsulted(
                seam=seam,
                position=position,
                target=target,
                answer=answer,
                detail=detail,
                extension=extension,
            )
        )
        if answer is HandlerAnswer.ACCEPTED:
            return True
    return False


def _at_once(returned: object) -> object:
    """A handler's answer. Raises: TypeError, for an answer that has yet to be waited for.

    The search asks one handler after another and waits for none. A coroutine is an object, and any object counts
    as success: a write would then be reported as done that nobody did.
    """
    if isinstance(returned, Awaitable):
        if isinstance(returned, Coroutine):
            returned.close()
        raise TypeError("the handler is an async function; a fallback handler here answers at once")
    return returned


# A context variable, so that calls side by side do not mix (fallback/F-40).
_session: Final[ContextVar[str | None]] = ContextVar("labsim_mutation_session", default=None)


def current_session() -> str | None:
    """The session whose tool call is running in this context; None outside any scope (fallback/F-37)."""
    return _session.get()


@contextmanager
def mutation_session(session_id: str | None, registries: FallbackRegistries) -> Iterator[None]:
    """Name `session_id` as the origin of every request raised inside the block (fallback/F-37).

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
