"""fallback/write-1 to fallback/write-8, fallback/delete-1 to fallback/delete-7: what a denied write or delete does,
and what leaves when nobody helps.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any

import pytest
from fallback_kit import DENIED, MISSING, Handler, WatchedFiles, delete, write
from hypothesis import given
from hypothesis import strategies as st

from labsim.errors import ThrownValue
from labsim.fallback import (
    DeleteRequest,
    FallbackRegistries,
    NodeKind,
    SimulatedError,
    WriteRequest,
    delete_file,
    write_file,
)


@pytest.fixture
def files() -> WatchedFiles:
    return WatchedFiles()


@pytest.fixture
def registries() -> FallbackRegistries:
    return FallbackRegistries()


# Writing (fallback/write-1 to fallback/write-8)


def test_a_write_that_succeeds_asks_nobody(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/write-1."""
    handler = Handler()
    registries.writes.add(handler)

    assert write("/desk/card", files, registries, None) == (None, 1)
    assert handler.requests == []


def test_a_denied_write_is_offered_with_its_real_target(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-23, fallback/F-35: the resolved absolute path, the exact content, the error itself, no session."""
    handler = Handler()
    registries.writes.add(handler)
    error = SimulatedError(*DENIED)

    assert write("link", files, registries, error) == (None, 1)
    assert handler.requests == [WriteRequest(dst="/desk/card", content="note", cause=error, session_id=None)]


@pytest.mark.parametrize("code", ["EIO", "ENOSPC", "EISDIR", "ENOTDIR"])
def test_any_other_error_is_never_routed(files: WatchedFiles, registries: FallbackRegistries, code: str) -> None:
    """fallback/write-5, fallback/F-42: the handler is not asked and nothing is probed."""
    handler = Handler()
    registries.writes.add(handler)
    error = SimulatedError("EACCES in a path", code)

    assert write("/desk/card", files, registries, error) == (error, 1)
    assert (handler.requests, files.asked) == ([], [])


def test_a_denial_hidden_behind_a_missing_parent_is_found_and_offered(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/write-4, fallback/F-24: the cause is the directory's error, and the handler must make the parent."""
    handler = Handler()
    registries.writes.add(handler)

    assert write("/desk/locked/a/card", files, registries, SimulatedError(*MISSING)) == (None, 1)
    (request,) = handler.requests
    assert (request.dst, request.cause.code) == ("/desk/locked/a/card", "EACCES")
    with pytest.raises(SimulatedError, match="ENOENT"):
        files.inspect(posixpath.dirname(request.dst))


def test_the_hidden_denial_is_attached_to_the_error_that_leaves(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/write-8 (fallback-0164): the same ENOENT object, now with the denial as its cause."""
    handler = Handler(False)
    registries.writes.add(handler)
    error = SimulatedError(*MISSING)

    assert write("/desk/locked/a/card", files, registries, error) == (error, 1)
    assert error.__cause__ is handler.requests[0].cause


def test_a_cause_that_is_there_already_stays(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/write-8 (fallback-0165): nothing is overwritten."""
    registries.writes.add(Handler(False))
    error, earlier = SimulatedError(*MISSING), SimulatedError("earlier", "EIO")
    error.__cause__ = earlier

    write("/desk/locked/a/card", files, registries, error)

    assert error.__cause__ is earlier


def test_a_repaired_parent_earns_a_second_attempt(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/write-4: the second attempt succeeds, no handler is asked."""
    handler = Handler()
    registries.writes.add(handler)

    assert write("/desk/a/b/card", files, registries, SimulatedError(*MISSING), None) == (None, 2)
    assert handler.requests == []


def test_a_directory_made_on_the_way_stays(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/F-22: even if the second attempt fails too."""
    registries.writes.add(Handler(False))

    write("/desk/a/b/card", files, registries, SimulatedError(*MISSING))

    assert files.inspect("/desk/a/b") is NodeKind.DIRECTORY


def test_a_second_attempt_that_is_denied_is_offered(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/write-5: the cause is the second error, which is also the one that leaves (fallback/F-16)."""
    handler = Handler(False)
    registries.writes.add(handler)
    first, second = SimulatedError(*MISSING), SimulatedError(*DENIED)

    assert write("/desk/a/card", files, registries, first, second) == (second, 2)
    assert handler.requests == [WriteRequest(dst="/desk/a/card", content="note", cause=second, session_id=None)]
    assert second.__cause__ is None


@pytest.mark.parametrize("code", ["ENOENT", "EIO"])
def test_a_second_attempt_that_fails_otherwise_is_final(
    files: WatchedFiles, registries: FallbackRegistries, code: str
) -> None:
    """fallback/F-21, fallback/F-16: no second probe, and the second attempt's error leaves (fallback-0156,
    -0162).
    """
    handler = Handler()
    registries.writes.add(handler)
    second = SimulatedError("second", code)

    assert write("/desk/a/card", files, registries, SimulatedError(*MISSING), second) == (second, 2)
    assert handler.requests == []
    assert [each for each in files.asked if each[0] == "make_directories"] == [("make_directories", "/desk/a")]


def test_a_parent_that_cannot_be_made_for_another_reason_ends_the_search(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/write-4: a file where the folder should be is a plain bad path (fallback-0144)."""
    handler = Handler()
    registries.writes.add(handler)
    error = SimulatedError(*MISSING)

    assert write("/desk/card/deep", files, registries, error) == (error, 1)
    assert (handler.requests, error.__cause__) == ([], None)


def test_a_write_whose_target_cannot_be_resolved_is_not_offered(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/write-6, fallback/F-36: a stronger writer is the wrong party to guess."""
    files.add_link("/desk/dangling", "nowhere")
    handler = Handler()
    registries.writes.add(handler)
    error = SimulatedError(*DENIED)

    assert write("/desk/dangling", files, registries, error) == (error, 1)
    assert handler.requests == []


def test_something_thrown_that_is_no_error_object_leaves_as_it_is(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-5, fallback/F-16: neither a denial nor a missing file, whatever its code says (fallback-0190)."""
    handler = Handler()
    registries.writes.add(handler)
    registries.deletes.add(handler)
    for code in ("EACCES", "ENOENT"):
        thrown = ThrownValue({"code": code}, code)
        assert write("/desk/a/card", files, registries, thrown) == (thrown, 1)
        assert delete("/desk/card", files, registries, thrown) == (thrown, 1)
    assert handler.requests == []


def test_the_trees_own_write_is_the_primitive_unless_another_is_given(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/write-1 to fallback/write-8: a real denial by mode and owner, brokered by a handler with an
    authority of its own (fallback/F-26).
    """
    done: dict[str, str] = {}

    def broker(request: WriteRequest) -> bool:
        done[request.dst] = request.content
        return True

    registries.writes.add(broker)
    write_file("/desk/card", "new", files=files, registries=registries)
    write_file("/desk/fresh/card", "new", files=files, registries=registries)
    write_file("/desk/locked/card", "new", files=files, registries=registries)

    assert [files.read_text(f"/desk/{each}card") for each in ("", "fresh/", "locked/")] == ["new", "new", "kept"]
    assert done == {"/desk/locked/card": "new"}


def test_a_real_os_error_from_a_primitive_is_handled_alike(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/F-7 inside the algorithm: a denial is offered, a missing parent repaired."""
    handler = Handler()
    registries.writes.add(handler)

    assert write("/desk/card", files, registries, PermissionError(13, "Permission denied")) == (None, 1)
    assert write("/desk/a/card", files, registries, FileNotFoundError(2, "No such file"), None) == (None, 2)
    assert len(handler.requests) == 1


def test_an_interrupt_is_no_failure_of_the_primitive(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """A person who stops the program is not turned into a handler's business."""

    def interrupted() -> None:
        raise KeyboardInterrupt("EACCES")

    handler = Handler()
    registries.writes.add(handler)
    with pytest.raises(KeyboardInterrupt):
        write_file("/desk/card", "note", files=files, registries=registries, primitive=interrupted)

    assert handler.requests == []


# Deleting (fallback/delete-1 to fallback/delete-7)


@pytest.mark.parametrize(
    ("path", "dst", "confirmed"),
    [("/desk/card", "/desk/card", True), ("/desk/link", "/desk/link", False)],
)
def test_a_denied_delete_is_offered_and_only_a_plain_file_is_confirmed(
    files: WatchedFiles, registries: FallbackRegistries, path: str, dst: str, confirmed: bool
) -> None:
    """fallback/delete-3 to fallback/delete-7, fallback/F-27: the link itself is the target and never a confirmed
    file.
    """
    handler = Handler()
    registries.deletes.add(handler)
    error = SimulatedError(*DENIED)

    assert delete(path, files, registries, error) == (None, 1)
    assert handler.requests == [DeleteRequest(dst=dst, cause=error, confirmed_file=confirmed, session_id=None)]


def test_a_directory_is_never_offered(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/delete-5, fallback/F-28: the tree answers EPERM to unlinking a directory, as some systems do."""
    handler = Handler()
    registries.deletes.add(handler)

    with pytest.raises(SimulatedError, match="EPERM"):
        delete_file("/desk/sub", files=files, registries=registries)

    assert handler.requests == []
    assert files.inspect("/desk/sub") is NodeKind.DIRECTORY


def test_a_denied_inspection_leaves_the_kind_unknown_and_still_asks(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/delete-4: the boundary that denies the unlink usually hides the target as well."""
    files.add_directory("/desk/hidden", mode=0o600)
    files.add_file("/desk/hidden/card")
    handler = Handler()
    registries.deletes.add(handler)
    error = SimulatedError(*DENIED)

    assert delete("/desk/hidden/card", files, registries, error) == (None, 1)
    assert handler.requests == [
        DeleteRequest(dst="/desk/hidden/card", cause=error, confirmed_file=False, session_id=None)
    ]


@pytest.mark.parametrize("path", ["/desk/absent", "/desk/card/deep"])
def test_an_inspection_that_fails_otherwise_ends_the_search(
    files: WatchedFiles, registries: FallbackRegistries, path: str
) -> None:
    """fallback/delete-4: not there, or below a file: the original error leaves (fallback-0195, -0220)."""
    handler = Handler()
    registries.deletes.add(handler)
    error = SimulatedError(*DENIED)

    assert delete(path, files, registries, error) == (error, 1)
    assert handler.requests == []


def test_a_missing_file_hides_nothing_in_a_delete(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/delete-2: ENOENT always leaves, and nothing is made or looked at."""
    handler = Handler()
    registries.deletes.add(handler)
    error = SimulatedError(*MISSING)

    assert delete("/desk/locked/a/card", files, registries, error) == (error, 1)
    assert (handler.requests, files.asked) == ([], [])


def test_a_delete_below_a_loop_is_not_offered(files: WatchedFiles, registries: FallbackRegistries) -> None:
    """fallback/delete-3: an unresolvable target (fallback-0208)."""
    files.add_link("/desk/loop", "loop")
    handler = Handler()
    registries.deletes.add(handler)
    error = SimulatedError(*DENIED)

    assert delete("/desk/loop/card", files, registries, error) == (error, 1)
    assert handler.requests == []


def test_the_trees_own_unlink_is_the_primitive_unless_another_is_given(
    files: WatchedFiles, registries: FallbackRegistries
) -> None:
    """fallback/delete-1 to fallback/delete-7: what the user may remove goes; what is denied is the handler's
    affair.
    """
    handler = Handler()
    registries.deletes.add(handler)

    delete_file("/desk/card", files=files, registries=registries)
    delete_file("/desk/locked/card", files=files, registries=registries)

    assert [request.dst for request in handler.requests] == ["/desk/locked/card"]
    assert files.inspect("/desk/locked/card") is NodeKind.FILE
    with pytest.raises(SimulatedError, match="ENOENT"):
        files.inspect("/desk/card")


# Invariants

CODES = st.sampled_from(["EACCES", "EPERM", "EROFS", "ENOENT", "EIO", None, 13])
FAILURES = st.lists(st.tuples(CODES, st.sampled_from(["synthetic", "EACCES: text"])), min_size=1, max_size=3)
ANSWERS = st.lists(st.sampled_from([True, False, None, 0, "", "yes", "raise"]), max_size=4)
PLACES = st.sampled_from(["/desk/card", "/desk/link", "/desk/a/b/card", "/desk/locked/a/card", "/desk/sub", "x"])


@pytest.mark.slow
@given(op=st.sampled_from([write, delete]), path=PLACES, failures=FAILURES, answers=ANSWERS)
def test_at_most_two_attempts_and_never_a_new_error(
    op: Callable[..., tuple[Exception | None, int]],
    path: str,
    failures: list[tuple[Any, str]],
    answers: list[Any],
) -> None:
    """fallback/F-21, fallback/F-16: two attempts of a write, one of a delete; what leaves is the last attempt's own
    object.
    """
    registries, registry_files = FallbackRegistries(), WatchedFiles()
    handlers = [Handler(SimulatedError("broker") if each == "raise" else each) for each in answers]
    for handler in handlers:
        registries.writes.add(handler)
        registries.deletes.add(handler)
    errors = [SimulatedError(message, code) for code, message in failures]

    left, attempts = op(path, registry_files, registries, *errors)

    assert attempts in ((1, 2) if op is write else (1,))
    helped = any(each.requests and each.answer in (True, "yes") for each in handlers)
    assert left is (None if helped else errors[min(attempts, len(errors)) - 1])
