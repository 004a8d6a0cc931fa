"""How an extension's file fallbacks belong to a session: installed with it, named after it, gone with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_kit import Desk, plain

from labsim.call.handlers import EventName, Extension, HandlerContext
from labsim.errors import HostError
from labsim.fallback import (
    FallbackRegistries,
    InertFiles,
    SimulatedError,
    WriteRequest,
    current_session,
    write_file,
)
from labsim.fallback.events import HandlerConsulted
from labsim.stage.stage import Stage
from labsim.tool import ToolCall, ToolResult, text_content

ALLOWED: dict[str, Any] = {"policies": {"seed_note": "allow"}}
SHUTDOWN = EventName.SESSION_SHUTDOWN
DENIED = SimulatedError("EACCES: synthetic", "EACCES")


def fails(event: Any, context: HandlerContext) -> Any:
    raise HostError("broken")


async def dawdles(event: Any, context: HandlerContext) -> None:
    await context.sleep(9000)


class Library:
    """A desk whose tool writes a card, and is always denied; extensions may take the write over."""

    def __init__(
        self,
        session_id: str | None = "s-1",
        registries: FallbackRegistries | None = None,
        stage: Stage | None = None,
    ) -> None:
        self.registries = registries if registries is not None else FallbackRegistries()
        self.files = InertFiles(cwd="/desk")
        self.files.add_directory("/desk")
        self.asked: list[tuple[str, str | None]] = []
        self.desk = Desk(execute=self.write, session_id=session_id, registries=self.registries, stage=stage)
        self.pause_ms = 0

    async def write(self, call: ToolCall) -> ToolResult:
        def primitive() -> None:
            raise DENIED

        await self.desk.stage.sleep(self.pause_ms)
        write_file("/desk/card", "note", files=self.files, registries=self.registries, primitive=primitive)
        return ToolResult(content=text_content("written"))

    def broker(self, name: str, answer: bool = True) -> Callable[[WriteRequest, HandlerContext], bool]:
        def handle(request: WriteRequest, context: HandlerContext) -> bool:
            self.asked.append((name, request.session_id))
            return answer

        return handle

    def outcome(self) -> str:
        task = self.desk.call(**ALLOWED)
        try:
            return str(task.result().content[0].text)
        except SimulatedError as error:
            return str(error)


def test_a_fallback_is_installed_when_the_runner_initialises() -> None:
    """fallback/F-17: registering while the extension loads does nothing by itself."""
    library = Library()
    library.desk.extension("broker.ts").fallbacks.register_write(library.broker("a"))
    assert library.outcome() == "EACCES: synthetic"

    library.desk.runner.initialise()
    assert library.outcome() == "written"
    assert library.asked == [("a", "s-1")]


def test_a_first_registration_after_initialising_is_too_late_and_an_additional_one_is_not() -> None:
    """fallback/F-18."""
    library = Library()
    library.desk.extension("early.ts").fallbacks.register_write(library.broker("early", answer=False))
    library.desk.runner.initialise()
    library.desk.extension("late.ts").fallbacks.register_write(library.broker("late"))
    assert library.outcome() == "EACCES: synthetic"

    library.desk.extension("early.ts").fallbacks.register_write(library.broker("additional"))
    assert library.outcome() == "written"
    assert [name for name, _ in library.asked] == ["early", "early", "additional"]


def test_initialising_again_replaces_what_was_installed() -> None:
    """fallback/F-20: no handler is asked twice, and latecomers are in now."""
    library = Library()
    library.desk.extension("a.ts").fallbacks.register_write(library.broker("a", answer=False))
    library.desk.runner.initialise()
    library.desk.extension("b.ts").fallbacks.register_write(library.broker("b"))
    library.desk.runner.initialise()

    assert library.outcome() == "written"
    assert [name for name, _ in library.asked] == ["a", "b"]


@pytest.mark.parametrize("handlers", [[], [fails], [dawdles]], ids=["no handler", "one fails", "one dawdles"])
def test_shutdown_takes_the_fallbacks_out_whatever_its_handlers_do(handlers: list[Any]) -> None:
    """fallback/F-20, wrapper/W-63; those of another session stay."""
    library = Library()
    other = Library("s-2", library.registries)
    for each in (library, other):
        each.desk.extension("broker.ts").fallbacks.register_write(each.broker(str(each.desk.runner.session_id)))
        each.desk.runner.initialise()
    for handler in handlers:
        library.desk.on(SHUTDOWN, handler)
    library.desk.stage.play(library.desk.runner.shutdown()).result()

    assert library.outcome() == "written"
    assert (library.asked, other.asked) == ([], [("s-2", "s-1")])


def test_a_shutdown_that_nobody_waits_for_takes_them_out_too() -> None:
    """wrapper/W-63: the stage was closed in the middle of it."""
    library = Library()
    library.desk.extension("broker.ts").fallbacks.register_write(library.broker("a"))
    library.desk.runner.initialise()
    library.desk.on(SHUTDOWN, dawdles)
    library.desk.stage.spawn(library.desk.runner.shutdown())
    library.desk.stage.close()

    assert not library.registries.has_any


def test_a_request_carries_the_session_of_the_call_that_raised_it() -> None:
    """fallback/F-37, fallback/F-39, fallback/F-40: two calls take turns, and each handler is asked about both
    sessions.
    """
    one = Library("s-1")
    two = Library("s-2", one.registries, one.desk.stage)
    one.pause_ms, two.pause_ms = 10, 5
    one.desk.extension("broker.ts").fallbacks.register_write(one.broker("broker"))
    one.desk.runner.initialise()

    for library in (one, two):
        library.desk.stage.spawn(library.desk.begun(mode="yolo"))
    one.desk.stage.advance(20)

    assert one.asked == [("broker", "s-2"), ("broker", "s-1")]
    assert current_session() is None


def test_no_scope_is_entered_while_nobody_has_a_fallback() -> None:
    """fallback/F-38: a host without fallbacks does nothing extra, and nothing about sessions shows."""
    library, seen = Library(), list[str | None]()

    def look(call: ToolCall) -> ToolResult:
        seen.append(current_session())
        return ToolResult(content=text_content("looked"))

    library.desk._execute = look
    library.desk.call(**ALLOWED)
    take_out = library.registries.deletes.add(lambda request: False)
    library.desk.call(**ALLOWED)
    take_out()
    library.desk.call(**ALLOWED)

    assert seen == [None, "s-1", None]


def test_each_request_gets_a_fresh_context_and_stands_in_the_ledger() -> None:
    """fallback/F-19; the record carries the simulated time of the call around it."""
    library, contexts = Library(), list[HandlerContext]()
    library.pause_ms = 40

    def keep(request: WriteRequest, context: HandlerContext) -> bool:
        contexts.append(context)
        return True

    library.desk.extension("broker.ts").fallbacks.register_write(keep)
    library.desk.runner.initialise()
    library.outcome()
    library.outcome()

    assert len({id(context) for context in contexts}) == 2
    consulted = [event for event in library.desk.stage.ledger if isinstance(event, HandlerConsulted)]
    assert [event.at_ms for event in consulted] == [40, 80]
    assert plain(consulted[0])["extension"] == "broker.ts"


def test_a_runner_without_registries_has_nothing_to_install() -> None:
    """fallback/F-12: inert; an extension may register all the same."""
    desk = Desk()
    desk.extension("broker.ts").fallbacks.register_write(lambda request, context: True)
    desk.runner.initialise()

    desk.call(**ALLOWED).result()
    assert desk.kinds == ["tool_call", "execute", "tool_result"]


def test_an_extension_without_fallbacks_costs_nothing() -> None:
    """fallback/F-17: one entry an extension and seam, and only where it registered."""
    library = Library()
    library.desk.extension("quiet.ts")
    used: Extension = library.desk.extension("delete.ts")
    used.fallbacks.register_delete(lambda request, context: True)
    library.desk.runner.initialise()

    assert not library.registries.writes.has_any
    assert len(library.registries.deletes.snapshot()) == 1
