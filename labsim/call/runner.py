"""The runner of extensions: it calls their handlers in order, and keeps what a session's host keeps."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from labsim.call.handlers import (
    Budget,
    EventName,
    Extension,
    Handler,
    HandlerAborted,
    HandlerContext,
    HandlerTookTooLong,
    PlainHandler,
    Registered,
    ToolCallInput,
    ToolResultInput,
    field_of,
)
from labsim.errors import CANCELLED, AbortError, HostError
from labsim.events.call import ExtensionError, HandlerAnswered
from labsim.events.event import Event
from labsim.js_values import copy_json, text_of, truthy
from labsim.stage.stage import AbortSignal, Future, Stage, first_of
from labsim.stage.ui import UI, InertUI

if TYPE_CHECKING:  # loaded where used: hardly any call has a fallback, and a cold start should not pay for them
    from labsim.fallback.registration import FallbackInstallation
    from labsim.fallback.registry import FallbackRegistries

TOOL_CALL_BUDGET_MS: Final = 30_000
EVENT_BUDGET_MS: Final = 30_000
SHUTDOWN_BUDGET_MS: Final = 2_000
MARKERS_KEPT: Final = 512
BLOCKED: Final = "Tool execution was blocked by an extension"
PREVIEW_ABORTED: Final = "Aborted: The operation was aborted."


#: Events whose last truthy answer is kept, and where `cancel: true` ends the round (wrapper/W-61).
_VETOABLE: Final = frozenset(name for name in EventName if name.startswith("session_before_"))


class Runner:
    """Calls the handlers of its extensions, in load order, and keeps the host's small memory of a session.

    Errors of handlers go to the ledger as `extension_error` and to nobody else. `session_id` is the runner's
    own; approval events do not use it (wrapper/W-31), requests to file fallbacks do (fallback/F-37). `registries`
    are those of the process that the session runs in; without them no extension's fallback is ever asked.
    """

    def __init__(
        self,
        stage: Stage,
        extensions: Sequence[Extension] = (),
        *,
        ui: UI | None = None,
        tool_call_budget_ms: object = UNSET,
        session_id: str | None = None,
        registries: FallbackRegistries | None = None,
    ) -> None:
        self.stage = stage
        self.extensions: list[Extension] = []
        self.ui: UI = ui if ui is not None else InertUI()
        self.tool_call_budget_ms = _budget(tool_call_budget_ms)
        self.session_id = session_id
        self.session_settings: Any = None  # approval.Settings, or None
        self._markers: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._preview: Callable[[str, AbortSignal | None], Awaitable[None]] | None = None
        self._registries = registries
        self._installation: FallbackInstallation[HandlerContext] | None = None
        # The four rounds of every call, kept ready: `(extension path, handler)` in calling order.
        self.on_tool_call: list[Registered] = []
        self.on_tool_result: list[Registered] = []
        self.on_requested: list[Registered] = []
        self.on_resolved: list[Registered] = []
        for extension in extensions:
            self.load(extension)

    # -- registrations

    def handlers(self, event: EventName) -> list[Registered]:
        """`(extension path, handler)` in calling order: load order, then registration order (wrapper/W-7)."""
        return [(ext.path, handler) for ext in self.extensions for handler in ext.handlers.get(event, ())]

    def load(self, extension: Extension) -> None:
        """Add an extension after those already loaded."""
        self.extensions.append(extension)
        extension.loaded_by(self)
        self.refresh()

    def refresh(self) -> None:
        """Look again at what the extensions registered."""
        self.on_tool_call = self.handlers(EventName.TOOL_CALL)
        self.on_tool_result = self.handlers(EventName.TOOL_RESULT)
        self.on_requested = self.handlers(EventName.APPROVAL_REQUESTED)
        self.on_resolved = self.handlers(EventName.APPROVAL_RESOLVED)

    # -- file fallbacks (fallback/F-17 to fallback/F-20, fallback/F-37, fallback/F-38)

    def initialise(self) -> None:
        """Install the fallbacks that the extensions registered so far, in place of those of an earlier time."""
        if self._registries is None:
            return
        if self._installation is None:
            from labsim.fallback.registration import FallbackInstallation

            self._installation = FallbackInstallation(
                self._registries, lambda path: HandlerContext(self, None, None), emit=self._note_fallback
            )
        self._installation.install(
            extension.fallbacks for extension in self.extensions if extension._fallbacks is not None
        )

    def mutation_scope(self) -> AbstractContextManager[Any]:
        """What an execution runs in, so that a denied write or delete of its own carries this session's id."""
        if self._registries is None:
            return _NO_SCOPE
        from labsim.fallback.registry import mutation_session

        return mutation_session(self.session_id, self._registries)

    def _note_fallback(self, event: Event) -> None:
        self.stage.ledger.append(replace(event, at_ms=self.stage.now_ms))

    # -- markers

    def mark_tool_call_emitted(self, tool_call_id: str, tool_name: str) -> None:
        """Note that the loop emitted `tool_call` for this call, by its id and its tool's name (wrapper/W-1); the
        oldest note goes when 512 are kept (wrapper/W-4).
        """
        while len(self._markers) >= MARKERS_KEPT:
            self._markers.popitem(last=False)
        self._markers[tool_call_id, tool_name] = None

    def consume_tool_call_emitted(self, tool_call_id: str, tool_name: str) -> bool:
        """Whether there was such a note, for this id and this tool (wrapper/W-1); it is gone afterwards
        (wrapper/W-2).
        """
        if not self._markers:
            return False
        key = (tool_call_id, tool_name)
        if key not in self._markers:
            return False
        del self._markers[key]
        return True

    # -- preview

    def install_preview_waiter(
        self, waiter: Callable[[str, AbortSignal | None], Awaitable[None]]
    ) -> Callable[[], None]:
        """Have scheduled calls wait for their preview. One slot: this replaces whoever was there (wrapper/W-28).

        Returns what takes it out again, which does nothing once another waiter has the slot.
        """
        self._preview = waiter

        def dispose() -> None:
            if self._preview is waiter:
                self._preview = None

        return dispose

    async def wait_for_preview(self, tool_call_id: str, signal: AbortSignal | None) -> None:
        """Wait until the call is on screen; not at all where nobody shows previews (wrapper/W-28). Raises:
        AbortError (wrapper/W-29).
        """
        if self._preview is None:
            return
        if signal is None:
            await self._preview(tool_call_id, None)
            return
        if signal.aborted:
            raise AbortError(PREVIEW_ABORTED)
        aborted: Future[None] = Future(self.stage)
        forget = signal.listen(lambda: aborted.set_result(None))
        try:
            shown = self.stage.spawn(_as_coroutine(self._preview(tool_call_id, signal)))
            await first_of(self.stage, (aborted, shown))
            if signal.aborted:  # also where both came at once
                raise AbortError(PREVIEW_ABORTED)
            shown.result()
        finally:
            forget()

    # -- events

    async def emit_tool_call(self, event: ToolCallInput, signal: AbortSignal | None) -> Any:
        """Let the `tool_call` handlers see a call. Returns the replacement input, or UNSET for none.

        All of them see the same `event`, whatever an earlier one answered (wrapper/W-8). The last truthy answer
        stands alone: what an earlier one replaced is forgotten (wrapper/W-9). A block ends the round, whatever
        input came with it (wrapper/W-10).
        Raises: HostError, if a handler blocked, failed, took too long, or the signal was aborted meanwhile.
        """
        kept: Any = UNSET
        for path, handler in self.on_tool_call:
            if signal is not None and signal.aborted:
                raise HostError(CANCELLED)
            if type(handler) is PlainHandler:
                self._hear_blocking(path, handler, event)
                continue
            answer = await self._call_blocking(path, handler, event, signal)
            if answer is None or not truthy(answer):
                self._note(path, event, "nothing")
                continue
            if truthy(field_of(answer, "block")):
                self._note(path, event, "blocks")
                reason = field_of(answer, "reason")
                raise HostError(text_of(reason) if truthy(reason) else BLOCKED)  # wrapper/W-11
            kept = answer
            replacement = field_of(answer, "input")
            self._note(path, event, "no replacement" if replacement is UNSET else "replaces", replacement)
        if signal is not None and signal.aborted and self.on_tool_call:  # wrapper/W-15
            raise HostError(CANCELLED)
        return UNSET if kept is UNSET else field_of(kept, "input")

    async def _call_blocking(
        self, path: str, handler: Handler, event: ToolCallInput, signal: AbortSignal | None
    ) -> Any:
        """One `tool_call` handler. Whatever goes wrong in it refuses the call (wrapper/W-12, wrapper/W-13,
        wrapper/W-15).
        """
        budget_ms = self.tool_call_budget_ms
        try:
            return await self._call(handler, event, budget_ms, signal)
        except HandlerTookTooLong:
            self._report(path, EventName.TOOL_CALL, f"handler timed out after {budget_ms}ms")
            raise HostError(f"Extension {path} timed out after {budget_ms}ms") from None
        except HandlerAborted:
            raise HostError(CANCELLED) from None
        except Exception as error:
            self._report(path, EventName.TOOL_CALL, str(error))
            raise HostError(f"Extension {path} failed: {error}") from error

    async def emit_tool_result(self, event: ToolResultInput) -> bool:
        """Let the `tool_result` handlers change a result in place. Returns whether any of them did.

        A handler that fails or takes too long is reported and skipped (wrapper/W-56).
        """
        changed = False
        for path, handler in self.on_tool_result:
            if type(handler) is PlainHandler:
                self._hear(path, handler, event, EventName.TOOL_RESULT)
                continue
            answer = await self._call_skipping(path, handler, event, EventName.TOOL_RESULT)
            if answer is None or not truthy(answer):
                continue
            for name in ("content", "details", "is_error"):
                value = field_of(answer, name)
                if value is not UNSET:  # there, be it false; the next handler sees it (wrapper/W-51)
                    setattr(event, name, value)
                    changed = True
        return changed

    async def emit(self, name: EventName, event: Any) -> Any:
        """Any other event: handlers in turn, failures reported and skipped.

        Returns: the last truthy answer where the event can be vetoed, else None.
        """
        return await self.emit_to(self.handlers(name), name, event)

    async def emit_to(self, round_of: Sequence[Registered], name: EventName, event: Any) -> Any:
        """`emit`, for a round that the caller already holds: one handler after another (wrapper/W-59)."""
        kept = None
        for path, handler in round_of:
            if type(handler) is PlainHandler:
                self._hear(path, handler, event, name)
                continue
            answer = await self._call_skipping(path, handler, event, name)
            if name in _VETOABLE and truthy(answer):  # wrapper/W-61
                kept = answer
                if field_of(answer, "cancel") is True:
                    break
        return kept

    async def shutdown(self) -> None:
        """End the session: all shutdown handlers side by side, two seconds each, answers ignored (wrapper/W-62).

        The session's fallbacks leave the registries whatever the handlers did, also if nobody waits for them to
        the end (wrapper/W-63, fallback/F-20).
        """
        running = [
            self.stage.spawn(
                self._call_skipping(path, handler, None, EventName.SESSION_SHUTDOWN, SHUTDOWN_BUDGET_MS)
            )
            for path, handler in self.handlers(EventName.SESSION_SHUTDOWN)
        ]
        try:
            for task in running:
                await task
        finally:
            if self._installation is not None:
                self._installation.remove()
            self._preview = None

    # -- one handler

    async def _call_skipping(
        self, path: str, handler: Handler, event: Any, name: EventName, budget_ms: int = EVENT_BUDGET_MS
    ) -> Any:
        """One handler of any other event. One that fails is reported, answers nothing (wrapper/W-60), and so
        changes no decision (wrapper/W-34) and no result (wrapper/W-56).
        """
        try:
            return await self._call(handler, event, budget_ms, None)
        except HandlerTookTooLong:
            self._report(path, name, f"handler timed out after {budget_ms}ms")
        except Exception as error:
            self._report(path, name, str(error))
        return None

    # A listener waits for nothing and answers nothing, so it needs neither budget nor context nor coroutine.

    def _hear(self, path: str, handler: PlainHandler, event: Any, name: EventName) -> None:
        try:
            handler.hear(event)
        except Exception as error:
            self._report(path, name, str(error))

    def _hear_blocking(self, path: str, handler: PlainHandler, event: Any) -> None:
        try:
            handler.hear(event)
        except Exception as error:
            self._report(path, EventName.TOOL_CALL, str(error))
            raise HostError(f"Extension {path} failed: {error}") from error

    async def _call(self, handler: Handler, event: Any, budget_ms: int, signal: AbortSignal | None) -> Any:
        budget = Budget(self.stage, budget_ms)
        own = AbortSignal(self.stage)
        forget = own.follow(signal) if signal is not None else None
        try:
            answer = handler(event, HandlerContext(self, budget, own))
            if not isinstance(answer, Awaitable):
                return answer  # no time passes without waiting, so there was nothing to measure
            budget.start()
            task = self.stage.spawn(_as_coroutine(answer))
            if not task.done:
                aborted: Future[None] = Future(self.stage)
                own.listen(lambda: aborted.set_result(None))
                await first_of(self.stage, (aborted, budget.spent, task))
            if signal is not None and signal.aborted:
                raise HandlerAborted
            if budget.spent.done:
                own.trip()  # its dialogs close, and it can open no more of them
                raise HandlerTookTooLong
            return task.result()
        finally:
            budget.stop()
            if forget is not None:
                forget()

    def _report(self, path: str, name: EventName, error: str) -> None:
        self.stage.ledger.append(
            ExtensionError(at_ms=self.stage.now_ms, extension_path=path, on=name.value, error=error)
        )

    def _note(self, path: str, event: ToolCallInput, answer: str, value: Any = UNSET) -> None:
        self.stage.ledger.append(
            HandlerAnswered(
                at_ms=self.stage.now_ms,
                extension_path=path,
                tool_name=event.tool_name,
                tool_call_id=event.tool_call_id,
                answer=answer,
                input=copy_json(value),
            )
        )


async def _as_coroutine(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _budget(ms: object) -> int:
    """The active-work budget in ms; anything that is no positive number stands for the default (wrapper/W-14)."""
    if isinstance(ms, bool) or not isinstance(ms, int | float) or not 0 < ms < float("inf"):
        return TOOL_CALL_BUDGET_MS
    return -int(-ms // 1)  # simulated time has no parts of a millisecond: 0.5 is over after 1


_NO_SCOPE: Final[AbstractContextManager[Any]] = nullcontext()
