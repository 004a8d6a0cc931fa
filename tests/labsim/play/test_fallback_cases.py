"""What is routed at all (fallback/F-41, fallback/F-42), and whole cases with their ledgers in the recorded form."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from given_kit import read_given, refused

from labsim.fallback import (
    ROUTES,
    FallbackEvent,
    HandlerAnswer,
    NodeKind,
    Operation,
    Seam,
    explain,
    play_fallback,
)
from labsim.fallback.events import (
    HandlerConsulted,
    MutationRaised,
    MutationReturned,
    ParentMade,
    ParentRefused,
    PrimitiveAttempted,
    TargetInspected,
    TargetResolved,
    TargetUnresolvable,
)

# What is routed (fallback/F-41 to fallback/F-42)


def test_every_operation_is_either_routed_or_openly_outside() -> None:
    """fallback/F-41 to fallback/F-42: the table covers the whole list, four rows of it inside."""
    assert set(ROUTES) == set(Operation)
    assert {each for each in Operation if ROUTES[each].seam is not None} == {
        Operation.ORDINARY_WRITE,
        Operation.MOVE_DESTINATION,
        Operation.UNLINK,
        Operation.PATCH_DIRECTORY,
    }


@pytest.mark.parametrize(
    "operation", [Operation.ARCHIVE_MEMBER, Operation.SQLITE_ROW, Operation.ACP_BRIDGE, Operation.FORMATTER]
)
def test_the_explanation_says_what_is_outside(operation: Operation) -> None:
    """fallback/F-41: archives, SQLite, the ACP bridge and formatters surface their ordinary error."""
    assert "outside the fallbacks and surfaces its ordinary error" in explain(operation)


def test_the_explanation_of_a_routed_operation_names_its_seam_and_the_limit() -> None:
    """fallback/F-42: other errors are never routed."""
    text = explain(Operation.UNLINK)

    assert "goes through the delete fallback if it is denied permission" in text
    assert text.endswith("Any other error is never routed.")


# Playing cases


def play(given_: dict[str, Any]) -> tuple[dict[str, Any], list[FallbackEvent]]:
    events: list[FallbackEvent] = []
    return play_fallback(read_given("fallback", given_), events.append), events


ENOENT = {"code": "ENOENT", "message": "Synthetic ENOENT"}
EACCES = {"code": "EACCES", "message": "Synthetic EACCES"}


def test_the_seed_case_without_handlers_is_a_write() -> None:
    """`code` and `message` alone; the same error leaves after one attempt (fallback/F-12, fallback/F-16)."""
    message = "Synthetic denied fictional seed note"
    observed, events = play({"code": "EACCES", "message": message})

    assert observed == {
        "outcome": "throw-same-error",
        "error": message,
        "code": "EACCES",
        "effects": 0,
        "primitiveAttempts": 1,
    }
    assert events == [
        PrimitiveAttempted(seam=Seam.WRITE, attempt=1, succeeded=False, denied=True, code="EACCES"),
        MutationRaised(seam=Seam.WRITE, attempt=1, code="EACCES", message=message, cause_attached=False),
    ]


def test_a_truthy_answer_is_success_without_an_effect() -> None:
    """Item 27 (fallback-0099): the host believes it, although nothing stands behind it."""
    observed, _ = play({"op": "write", "error": EACCES, "handlers": ["yes"]})

    assert (observed["outcome"], observed["effects"]) == ("return", 0)


def test_a_masked_denial_is_told_step_by_step() -> None:
    """fallback/write-1 to fallback/write-8 in the ledger: the refusal of the parent, the target, the handler, the
    attached cause.
    """
    observed, events = play(
        {"op": "write", "target": "locked-parents", "error": ENOENT, "handlers": [{"throw": "broker failed"}]}
    )

    target = "/tmp/fb/locked/a/card"
    assert observed == {
        "outcome": "throw-same-error",
        "error": "Synthetic ENOENT",
        "code": "ENOENT",
        "attachedCause": "EACCES",
        "effects": 0,
        "primitiveAttempts": 1,
        "handlerCalls": [
            {
                "dst": "<tmp>/fb/locked/a/card",
                "content": "note",
                "causeCode": "EACCES",
                "causeIsPrimitiveError": False,
                "sessionId": None,
            }
        ],
    }
    assert events == [
        PrimitiveAttempted(seam=Seam.WRITE, attempt=1, succeeded=False, denied=False, code="ENOENT"),
        ParentRefused(path="/tmp/fb/locked/a", denied=True, code="EACCES"),
        TargetResolved(path=target, target=target),
        HandlerConsulted(
            seam=Seam.WRITE, position=1, target=target, answer=HandlerAnswer.RAISED, detail="broker failed"
        ),
        MutationRaised(seam=Seam.WRITE, attempt=1, code="ENOENT", message="Synthetic ENOENT", cause_attached=True),
    ]


def test_a_repaired_parent_is_told_step_by_step() -> None:
    """fallback/write-4: two attempts with the directory between them."""
    observed, events = play(
        {"op": "write", "target": "missing-parents", "errors": [ENOENT, None], "handlers": [True]}
    )

    assert observed == {"outcome": "return", "effects": 0, "primitiveAttempts": 2, "handlerCalls": []}
    assert events == [
        PrimitiveAttempted(seam=Seam.WRITE, attempt=1, succeeded=False, denied=False, code="ENOENT"),
        ParentMade(path="/tmp/fb/open/a/b"),
        PrimitiveAttempted(seam=Seam.WRITE, attempt=2, succeeded=True, denied=False, code=None),
        MutationReturned(seam=Seam.WRITE, by_handler=False),
    ]


def test_a_dangling_link_can_be_deleted_but_not_written() -> None:
    """Item 28 (fallback-0128, -0205): the two seams ask for different targets."""
    written, write_events = play({"op": "write", "target": "dangling", "error": EACCES, "handlers": [True]})
    deleted, delete_events = play({"op": "delete", "target": "dangling", "error": EACCES, "handlers": [True]})

    path = "/tmp/fb/dangling"
    assert (written["outcome"], written["handlerCalls"]) == ("throw-same-error", [])
    assert TargetUnresolvable(path=path) in write_events
    assert (deleted["outcome"], deleted["handlerCalls"][0]["confirmedFile"]) == ("return", False)
    assert delete_events[1:] == [
        TargetResolved(path=path, target=path),
        TargetInspected(target=path, kind=NodeKind.SYMLINK, denied=False, code=None),
        HandlerConsulted(seam=Seam.DELETE, position=1, target=path, answer=HandlerAnswer.ACCEPTED, detail="true"),
        MutationReturned(seam=Seam.DELETE, by_handler=True),
    ]


def test_the_error_of_the_second_attempt_is_named_as_such() -> None:
    """Item 27 (fallback-0162): `sameAsError` is the place of the object that left."""
    observed, _ = play(
        {
            "op": "write",
            "target": "missing-parents",
            "errors": [ENOENT, {"code": "EIO", "message": "Synthetic EIO"}],
            "handlers": [True],
        }
    )

    assert observed == {
        "outcome": "throw-same-error",
        "sameAsError": 2,
        "error": "Synthetic EIO",
        "code": "EIO",
        "effects": 0,
        "primitiveAttempts": 2,
        "handlerCalls": [],
    }


def test_a_plain_object_that_was_thrown_keeps_its_code_and_text() -> None:
    """fallback/F-5 (fallback-0190): no error object, so no denial, but the same thing leaves."""
    thrown = {"kind": "plain", "code": "EACCES", "message": "EACCES"}
    observed, _ = play({"op": "delete", "error": thrown, "handlers": [True]})

    assert observed == {
        "outcome": "throw-same-error",
        "error": "EACCES",
        "code": "EACCES",
        "effects": 0,
        "primitiveAttempts": 1,
        "handlerCalls": [],
    }


def test_a_cause_from_the_case_is_kept_whatever_it_is() -> None:
    """fallback/write-8: a cause that is no error object is a cause all the same, and has no code."""
    observed, _ = play(
        {"op": "write", "target": "locked-parents", "error": {**ENOENT, "cause": "earlier"}, "handlers": [False]}
    )

    assert observed["attachedCause"] is None
    assert observed["handlerCalls"][0]["causeCode"] == "EACCES"


def test_playing_a_case_twice_gives_the_same_record_and_nothing_is_left_behind() -> None:
    """A case is inert: its registries, tree and session end with it."""
    case = {"op": "delete", "sessionId": "seed", "error": EACCES, "handlers": [False, True]}

    first, second = play(case), play(case)

    assert first == second
    assert case == {"op": "delete", "sessionId": "seed", "error": EACCES, "handlers": [False, True]}
    without, _ = play({"op": "delete", "error": EACCES, "handlers": [True]})
    assert without["handlerCalls"][0]["sessionId"] is None


def test_an_error_of_the_listener_is_not_taken_for_the_cases() -> None:
    """A fault outside the case is raised, never recorded as an observation."""

    def broken(event: FallbackEvent) -> None:
        raise RuntimeError("listener")

    with pytest.raises(RuntimeError, match="listener"):
        play_fallback(read_given("fallback", {"op": "write", "error": EACCES}), broken)


WATCHING: list[str] = []
OPENED: list[str] = []


def note_file_access(event: str, args: tuple[object, ...]) -> None:
    if WATCHING and (event == "open" or event.startswith(("os.", "shutil.", "socket.", "subprocess."))):
        OPENED.append(event)


def test_no_file_is_touched_while_a_case_plays() -> None:
    """The layer in memory is the only one a case can reach."""
    sys.addaudithook(note_file_access)  # stays for the life of the process, and is silent outside this test
    cases = [
        read_given(
            "fallback", {"op": op, "target": target, "error": error, "handlers": [{"throw": "x"}, False, "yes"]}
        )
        for op in ("write", "delete")
        for target in ("file", "locked-parents", "missing-parents", "via-linked-folder", "dangling", "loop")
        for error in (EACCES, ENOENT)
    ]

    WATCHING.append("on")
    try:
        for case in cases:
            play_fallback(case)
    finally:
        WATCHING.clear()

    assert OPENED == []


@pytest.mark.parametrize(
    ("given_", "place"),
    [
        ({}, "given"),
        ({"op": "write"}, "given"),
        ({"op": "append", "error": EACCES}, "given.op"),
        ({"op": ["write"], "error": EACCES}, "given.op"),
        ({"op": "write", "error": EACCES, "errors": [EACCES]}, "given"),
        ({"op": "write", "errors": []}, "given.errors"),
        ({"op": "write", "errors": [EACCES, "EACCES"]}, "given.errors[1]"),
        ({"op": "write", "errors": [{"code": "EIO", "text": "x"}]}, "given.errors[0].text"),
        ({"op": "write", "error": {"kind": "error", "message": "x"}}, "given.error.kind"),
        ({"op": "write", "target": "nowhere", "error": EACCES}, "given.target"),
        ({"op": "write", "error": EACCES, "handlers": True}, "given.handlers"),
        ({"op": "write", "error": EACCES, "handlers": [True, {"throws": "x"}]}, "given.handlers[1]"),
        ({"op": "write", "error": EACCES, "handlers": [{"throw": 1}]}, "given.handlers[0].throw"),
        ({"op": "write", "error": EACCES, "sessionId": 7}, "given.sessionId"),
        ({"op": "write", "error": EACCES, "content": 7}, "given.content"),
        ({"op": "write", "error": EACCES, "path": "/etc"}, "given"),
    ],
)
def test_words_outside_the_vocabulary_are_refused_with_their_place(given_: dict[str, Any], place: str) -> None:
    """A case that says something unknown must not pass as if it had been understood."""
    assert refused("fallback", given_).place == place
