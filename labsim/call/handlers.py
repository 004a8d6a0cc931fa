"""Handlers: what an extension registers, what a handler is given and may answer, and the time it may take.

One is a plain function or an `async def`; it takes the event and a `HandlerContext`. Only active work counts
against its budget: while a dialog of its own is open, its clock stands still (wrapper/W-14).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import UNSET, Struct

from labsim.errors import HostError
from labsim.stage.stage import AbortSignal, Future, Stage, Timer
from labsim.stage.ui import UI
from labsim.terms import EventName as EventName  # whoever registers handlers looks for it here

if TYPE_CHECKING:  # loaded where used: hardly any call has a fallback, and a cold start should not pay for them
    from labsim.fallback.registration import ExtensionFallbacks


class ToolCallInput(Struct, kw_only=True):
    """What `tool_call` handlers see: one object for all of them (wrapper/W-8), its input not a copy
    (wrapper/W-19).
    """

    tool_name: str
    tool_call_id: str
    input: Any


class ToolResultInput(Struct, kw_only=True):
    """What `tool_result` handlers see; each sees it as the one before left it (wrapper/W-51)."""

    tool_name: str
    tool_call_id: str
    input: Any
    content: Any
    details: Any
    is_error: bool


class HandlerReply(Struct, kw_only=True):
    """What a handler may return; UNSET for what it leaves alone. A mapping with these keys does as well."""

    input: Any = UNSET
    block: Any = UNSET
    reason: Any = UNSET
    content: Any = UNSET
    details: Any = UNSET
    is_error: Any = UNSET
    cancel: Any = UNSET


Handler = Callable[[Any, "HandlerContext"], Any]
#: A handler with the path of its extension, as the runner keeps them.
Registered = tuple[str, Handler]


class HasDialogs(Protocol):
    """What a handler's context needs of the runner: its dialogs and its stage."""

    ui: UI
    stage: Stage


class KeepsHandlers(Protocol):
    """What an extension needs of a runner that loaded it: to look again when a handler is added."""

    def refresh(self) -> None: ...


class Extension:
    """A named set of handlers, in registration order for each event, and of file fallbacks where it has any."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.handlers: dict[EventName, list[Handler]] = {}
        self._runners: list[KeepsHandlers] = []
        self._fallbacks: ExtensionFallbacks[HandlerContext] | None = None

    @property
    def fallbacks(self) -> ExtensionFallbacks[HandlerContext]:
        """Where the extension registers for denied writes and deletes, best while it loads (fallback/F-17,
        fallback/F-18).
        """
        if self._fallbacks is None:
            from labsim.fallback.registration import ExtensionFallbacks

            self._fallbacks = ExtensionFallbacks(self.path)
        return self._fallbacks

    def on(self, event: EventName, handler: Handler) -> None:
        """Register `handler` for `event`, after those already there; also while the extension is loaded."""
        self.handlers.setdefault(event, []).append(handler)
        for runner in self._runners:
            runner.refresh()

    def loaded_by(self, runner: KeepsHandlers) -> None:
        self._runners.append(runner)


class Budget:
    """The active time that one handler has left; `pause` and `go_on` nest.

    Its timer is older than any of the handler's own, so a handler that would be ready in the very millisecond its
    time runs out is too late.
    """

    __slots__ = ("_left_ms", "_paused", "_since_ms", "_stage", "_timer", "spent")

    def __init__(self, stage: Stage, ms: int) -> None:
        self._stage = stage
        self._left_ms = ms
        self._paused = 0
        self._since_ms = 0
        self.spent: Future[None] = Future(stage)
        self._timer: Timer | None = None

    def start(self) -> None:
        self._since_ms = self._stage.now_ms
        self._timer = self._stage.call_at(self._since_ms + self._left_ms, lambda: self.spent.set_result(None))

    def pause(self) -> None:
        self._paused += 1
        if self._paused == 1 and self._timer is not None:
            self._timer.cancel()
            self._left_ms -= self._stage.now_ms - self._since_ms

    def go_on(self) -> None:
        self._paused -= 1
        if self._paused == 0 and self._timer is not None:
            self.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class HandlerContext:
    """What a handler can do besides answer: wait on simulated time, and put dialogs of its own (wrapper/W-64).

    `signal` is the handler's own: it is aborted when the call's signal is, and when the handler is given up because
    its time ran out. A dialog closes with it, and with the signal that the handler passes, whichever comes first.
    """

    __slots__ = ("_budget", "_runner", "signal")

    def __init__(self, runner: HasDialogs, budget: Budget | None, signal: AbortSignal | None) -> None:
        self._runner = runner
        self._budget = budget
        self.signal = signal

    @property
    def has_ui(self) -> bool:
        return self._runner.ui.has_ui

    async def sleep(self, ms: int) -> None:
        """Work for `ms` simulated milliseconds; this counts against the budget."""
        await self._runner.stage.sleep(ms)

    async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any:
        return await self._dialog(lambda tied: self._runner.ui.select(title, options, signal=tied), signal)

    async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
        return await self._dialog(lambda tied: self._runner.ui.confirm(title, message, signal=tied), signal)

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any:
        return await self._dialog(lambda tied: self._runner.ui.input(title, placeholder, signal=tied), signal)

    async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
        return await self._dialog(lambda tied: self._runner.ui.editor(title, prefill, signal=tied), signal)

    async def _dialog(
        self, opened: Callable[[AbortSignal | None], Awaitable[Any]], passed: AbortSignal | None
    ) -> Any:
        tied = AbortSignal(self._runner.stage)
        ends = [tied.follow(each) for each in (self.signal, passed) if each is not None]  # wrapper/W-64
        if self._budget is not None:
            self._budget.pause()  # wrapper/W-14
        try:
            return await opened(tied)
        finally:
            for end in ends:
                end()
            if self._budget is not None:
                self._budget.go_on()


class PlainHandler:
    """A handler that only listens: it takes the event, answers nothing, and waits for nothing.

    The recorders are of this kind, and it lets the runner call them without a budget or a context. `raises` has
    it fail after it listened, as a badly written listener would.
    """

    __slots__ = ("_listen", "_raises", "hear")

    def __init__(self, listen: Callable[[Any], None], raises: str | None = None) -> None:
        self._listen = listen
        self._raises = raises
        self.hear = listen if raises is None else self._hear_and_fail  # the usual listener costs no extra call

    def _hear_and_fail(self, event: Any) -> None:
        self._listen(event)
        raise HostError(self._raises)

    def __call__(self, event: Any, context: HandlerContext) -> None:
        self.hear(event)


class HandlerTookTooLong(Exception):
    """A handler used up its budget; what it answers later is nobody's business any more."""


class HandlerAborted(Exception):
    """The call's signal was aborted while a handler was pending."""


_WIRE_NAMES: Final = {"is_error": "isError"}


def field_of(answer: object, name: str) -> Any:
    """A field of what a handler returned, or UNSET; anything without fields has none."""
    if isinstance(answer, HandlerReply):
        return getattr(answer, name, UNSET)
    if isinstance(answer, Mapping):
        return answer.get(_WIRE_NAMES.get(name, name), UNSET)
    return UNSET
