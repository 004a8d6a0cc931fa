"""fallback/F-8 to fallback/F-16: who is asked, in which order, and how an extension's handlers get into the two
lists and out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fallback_kit import DENIED, MISSING, Handler, WatchedFiles, delete, write

from labsim.errors import ThrownValue
from labsim.fallback import (
    ExtensionFallbacks,
    FallbackEvent,
    FallbackInstallation,
    FallbackRegistries,
    HandlerAnswer,
    Registry,
    Seam,
    SimulatedError,
    WriteRequest,
)
from labsim.fallback.events import HandlerConsulted
from labsim.fallback.registry import consult


@pytest.fixture
def files() -> WatchedFiles:
    return WatchedFiles()


@pytest.fixture
def registries() -> FallbackRegistries:
    return FallbackRegistries()


# Registries (fallback/F-8 to fallback/F-16)


def test_handlers_are_asked_in_order_until_one_succeeds(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-9: false, then true; the third is never asked."""
    first, second, third = Handler(False), Handler(True), Handler(True)
    for handler in (first, second, third):
        registries.writes.add(handler)

    left, _ = write("/desk/card", files, registries, SimulatedError(*DENIED))

    assert left is None
    assert [len(each.requests) for each in (first, second, third)] == [1, 1, 0]


def test_a_raising_handler_is_skipped_and_its_error_goes_nowhere(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-15: the next one is asked; if none succeeds the primitive's error leaves, not the handler's."""
    registries.writes.add(Handler(SimulatedError("broker failed", "EACCES")))
    last = Handler(False)
    registries.writes.add(last)
    error = SimulatedError(*DENIED)
    events: list[FallbackEvent] = []

    left, _ = write("/desk/card", files, registries, error, emit=events.append)

    assert left is error
    assert left.__cause__ is None
    assert len(last.requests) == 1
    consulted = [each for each in events if isinstance(each, HandlerConsulted)]
    assert [(each.answer, each.detail) for each in consulted] == [
        (HandlerAnswer.RAISED, "broker failed"),
        (HandlerAnswer.DECLINED, "false"),
    ]
    assert [each.log for each in consulted] == ["File write fallback handler threw; trying next handler", ""]


@pytest.mark.parametrize("answer", [False, None, 0, 0.0, ""])
def test_an_answer_that_does_not_hold_is_no_success(
    files: WatchedFiles, registries: FallbackRegistries, answer: object
) -> None:
    """fallback/F-14: false or nothing, and the search goes on."""
    registries.writes.add(Handler(answer))
    error = SimulatedError(*DENIED)

    assert write("/desk/card", files, registries, error) == (error, 1)


@pytest.mark.parametrize("answer", [True, "yes", 1, [], {}])
def test_any_answer_that_holds_in_the_hosts_language_is_success(
    files: WatchedFiles, registries: FallbackRegistries, answer: object
) -> None:
    """fallback/F-14 as recorded (fallback-0099, -0100), empty lists and objects included."""
    registries.writes.add(Handler(answer))

    assert write("/desk/card", files, registries, SimulatedError(*DENIED)) == (None, 1)


def test_a_disposer_removes_its_own_registration_and_only_once() -> None:
    """fallback/F-10: the first occurrence of the handler goes; the second call of a disposer changes nothing."""
    registry: Registry[object] = Registry()
    a, b = Handler(), Handler()
    dispose_first = registry.add(a)
    registry.add(b)
    dispose_second = registry.add(a)

    dispose_second()
    after_one = registry.snapshot()
    dispose_second()
    after_twice = registry.snapshot()
    dispose_first()

    assert after_one == after_twice == (b, a)
    assert registry.snapshot() == (b,)


def test_equal_handlers_are_still_two_registrations() -> None:
    """fallback/F-10: a registration is found by identity, not by equality."""

    class Equal:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    registry: Registry[Equal] = Registry()
    first, second = Equal(), Equal()
    registry.add(first)
    registry.add(second)()

    assert [each is first for each in registry.snapshot()] == [True]


def test_removals_during_a_search_neither_skip_nor_repeat_a_handler(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-11: the search goes over the handlers of the moment it began."""
    asked: list[str] = []
    disposers: list[Callable[[], None]] = []

    def shutting_down(request: WriteRequest) -> bool:
        asked.append("first")
        for dispose in disposers:
            dispose()
        registries.writes.add(lambda request: asked.append("newcomer"))
        return False

    def second(request: WriteRequest) -> bool:
        asked.append("second")
        return False

    disposers += [registries.writes.add(shutting_down), registries.writes.add(second)]
    write("/desk/card", files, registries, SimulatedError(*DENIED))

    assert asked == ["first", "second"]
    assert len(registries.writes.snapshot()) == 1


def test_an_empty_registry_is_inert(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/F-12: one attempt, no further system call, the same error; also for what would be a masked
    denial.
    """
    for op in (write, delete):
        for error in (SimulatedError(*DENIED), SimulatedError(*MISSING), ThrownValue("EACCES", "EACCES")):
            assert op("/desk/locked/a/card", files, registries, error) == (error, 1)

    assert files.asked == []


def test_the_query_functions_tell_the_two_kinds_apart(registries: FallbackRegistries) -> None:
    """fallback/F-13: each registry answers for itself, and both together for the session scope."""
    states = [(registries.writes.has_any, registries.deletes.has_any, registries.has_any)]
    dispose = registries.deletes.add(lambda request: True)
    states.append((registries.writes.has_any, registries.deletes.has_any, registries.has_any))
    dispose()
    states.append((registries.writes.has_any, registries.deletes.has_any, registries.has_any))

    assert states == [(False, False, False), (False, True, True), (False, False, False)]


def test_a_write_handler_is_never_given_a_delete(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/F-8: it would broker an empty write and truncate the file. Nor the other way round."""
    writer = Handler()
    dispose = registries.writes.add(writer)
    error = SimulatedError(*DENIED)

    assert delete("/desk/card", files, registries, error) == (error, 1)
    dispose()
    deleter = Handler()
    registries.deletes.add(deleter)
    assert write("/desk/card", files, registries, error) == (error, 1)
    assert (writer.requests, deleter.requests) == ([], [])


# Through an extension (fallback/F-17 to fallback/F-20)


def seen_by(log: list[tuple[str, object]], name: str, answer: object) -> Callable[[Any, Any], object]:
    def handler(request: object, context: object) -> object:
        log.append((name, context))
        if isinstance(answer, Exception):
            raise answer
        return answer

    return handler


def counter() -> Callable[[str], str]:
    """Contexts that tell how many were made before them."""
    numbers: Iterator[int] = iter(range(100))
    return lambda name: f"{name}#{next(numbers)}"


def test_an_extension_gets_one_entry_for_each_seam_it_used(registries: FallbackRegistries) -> None:
    """fallback/F-17: two write handlers are one entry; nothing is entered for a seam that was not used."""
    log: list[tuple[str, object]] = []
    extension: ExtensionFallbacks[str] = ExtensionFallbacks("desk")
    extension.register_write(seen_by(log, "one", False))
    extension.register_write(seen_by(log, "two", False))
    idle: ExtensionFallbacks[str] = ExtensionFallbacks("idle")
    deleter: ExtensionFallbacks[str] = ExtensionFallbacks("deleter")
    deleter.register_delete(seen_by(log, "three", False))

    before = (len(registries.writes.snapshot()), len(registries.deletes.snapshot()))
    FallbackInstallation(registries, counter()).install([extension, idle, deleter])

    assert before == (0, 0)
    assert (len(registries.writes.snapshot()), len(registries.deletes.snapshot())) == (1, 1)


def test_a_first_registration_after_installation_comes_too_late_an_additional_one_does_not(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-18: the entry exists or it does not; what is in it may grow."""
    log: list[tuple[str, object]] = []
    extension: ExtensionFallbacks[str] = ExtensionFallbacks("desk")
    extension.register_write(seen_by(log, "early", False))
    FallbackInstallation(registries, counter()).install([extension])

    extension.register_write(seen_by(log, "late", True))
    extension.register_delete(seen_by(log, "never", True))
    error = SimulatedError(*DENIED)

    assert write("/desk/card", files, registries, SimulatedError(*DENIED)) == (None, 1)
    assert delete("/desk/card", files, registries, error) == (error, 1)
    assert [name for name, _ in log] == ["early", "late"]


def test_an_extensions_handlers_share_one_fresh_context_for_each_request(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-19: in order, the raising one skipped; the next request gets a new context."""
    log: list[tuple[str, object]] = []
    events: list[FallbackEvent] = []
    extension: ExtensionFallbacks[str] = ExtensionFallbacks("desk")
    extension.register_write(seen_by(log, "raises", SimulatedError("no channel")))
    extension.register_write(seen_by(log, "helps", True))
    extension.register_write(seen_by(log, "spared", True))
    FallbackInstallation(registries, counter(), emit=events.append).install([extension])

    write("/desk/card", files, registries, SimulatedError(*DENIED))
    write("/desk/card", files, registries, SimulatedError(*DENIED))

    assert log == [("raises", "desk#0"), ("helps", "desk#0"), ("raises", "desk#1"), ("helps", "desk#1")]
    assert events[:2] == [
        HandlerConsulted(
            seam=Seam.WRITE,
            position=1,
            target="/desk/card",
            answer=HandlerAnswer.RAISED,
            detail="no channel",
            extension="desk",
        ),
        HandlerConsulted(
            seam=Seam.WRITE,
            position=2,
            target="/desk/card",
            answer=HandlerAnswer.ACCEPTED,
            detail="true",
            extension="desk",
        ),
    ]
    assert isinstance(events[0], HandlerConsulted)
    assert events[0].log == "Extension file write fallback handler threw; trying next handler"


def test_an_extension_whose_handlers_all_decline_passes_the_request_on(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-19, fallback/F-9: its entry answers false, and the next extension is asked."""
    log: list[tuple[str, object]] = []
    extensions: list[ExtensionFallbacks[str]] = [ExtensionFallbacks("one"), ExtensionFallbacks("two")]
    extensions[0].register_delete(seen_by(log, "declines", None))
    extensions[1].register_delete(seen_by(log, "helps", True))
    FallbackInstallation(registries, counter()).install(extensions)

    assert delete("/desk/card", files, registries, SimulatedError(*DENIED)) == (None, 1)
    assert log == [("declines", "one#0"), ("helps", "two#1")]


def test_installing_again_replaces_the_earlier_installation(registries: FallbackRegistries) -> None:
    """fallback/F-20: a runner never has two entries for one extension, and leaves other runners' entries alone."""
    extension: ExtensionFallbacks[str] = ExtensionFallbacks("desk")
    extension.register_write(lambda request, context: True)
    other = Handler()
    installation = FallbackInstallation(registries, counter())
    installation.install([extension])
    registries.writes.add(other)

    installation.install([extension])

    first, second = registries.writes.snapshot()
    assert first is other
    assert second is not other


@pytest.mark.parametrize("fails", [False, True])
def test_the_end_of_a_session_removes_everything_even_if_shutdown_fails(
    registries: FallbackRegistries, fails: bool
) -> None:
    """fallback/F-20: whatever the shutdown handlers do, no entry outlives its session."""
    extension: ExtensionFallbacks[str] = ExtensionFallbacks("desk")
    extension.register_write(lambda request, context: True)
    extension.register_delete(lambda request, context: True)
    installation = FallbackInstallation(registries, counter())
    installation.install([extension])

    def shut_down() -> None:
        with installation:
            if fails:
                raise SimulatedError("shutdown handler failed")

    if fails:
        with pytest.raises(SimulatedError, match="shutdown handler failed"):
            shut_down()
    else:
        shut_down()

    assert not registries.has_any


def test_removing_an_installation_twice_is_harmless(registries: FallbackRegistries) -> None:
    """fallback/F-10, fallback/F-20: a runner that ends twice takes nobody else's handlers along."""
    extension: ExtensionFallbacks[str] = ExtensionFallbacks("desk")
    extension.register_write(lambda request, context: True)
    installation = FallbackInstallation(registries, counter())
    installation.install([extension])
    other = Handler()
    registries.writes.add(other)

    installation.remove()
    installation.remove()

    assert registries.writes.snapshot() == (other,)


def test_a_handler_that_has_to_be_waited_for_has_not_written_anything():
    """fallback/F-15, fallback/F-26: a coroutine is no success. It is recorded as a failure, and the next handler is
    asked.
    """
    heard: list[object] = []
    asked: list[str] = []

    async def promises(request: object) -> bool:
        asked.append("promises")
        return True

    def writes(request: object) -> bool:
        asked.append("writes")
        return True

    done = consult(
        [promises, writes], lambda handler: handler(None), seam=Seam.WRITE, target="/card", emit=heard.append
    )

    assert done
    assert asked == ["writes"]
    assert [(event.answer, event.detail) for event in heard] == [
        (HandlerAnswer.RAISED, "the handler is an async function; a fallback handler here answers at once"),
        (HandlerAnswer.ACCEPTED, "true"),
    ]
