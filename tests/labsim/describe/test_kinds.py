"""One book of events: whatever the program knows about a kind of event stands with its class, once (design 7)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar, get_args

import pytest
from msgspec import UNSET
from places import TOP
from played_kit import RESOLVED, TWICE

from labsim.case.model import Expected
from labsim.describe.kinds import event_classes
from labsim.describe.ledger import describe, ledger_lines
from labsim.events.event import Event, as_mapping, is_heard
from labsim.events.ledger import Ledger
from labsim.gate.events import GateEvent, Notice, SessionEvent
from labsim.play.report import Report
from labsim.terms import Standing
from workbook.ledgers.claims import event_counts, event_kinds, observed_value
from workbook.ledgers.field_rows import kinds_of, rows_of
from workbook.ledgers.played import NO_CALL, placed

KINDS = [kind for kind in event_classes() if kind.__module__.startswith("labsim.")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind_name())
def test_every_kind_has_words_and_a_standing_and_names_observed_fields(kind: type[Event]) -> None:
    """A kind without words would show a learner its raw fields, and a misspelt field would be shown by no row."""
    assert kind.says is not Event.says
    assert kind.standing in Standing
    assert set(kind.shows) <= set(Expected.__struct_encode_fields__)
    assert "event" not in kind.__struct_encode_fields__  # its name on the wire stands under that key


def test_no_two_kinds_have_one_name() -> None:
    """They are counted by it."""
    names = [kind.kind_name() for kind in KINDS]

    assert len(set(names)) == len(names)


def test_what_shares_fields_only_is_no_kind() -> None:
    """A base class is never in a ledger."""
    assert not {Event, GateEvent} & set(event_classes())


def test_the_second_host_tells_what_stands_on_its_stream_and_the_notices() -> None:
    """Of a session's host whoever follows the run hears this, and nothing else."""
    told = {kind for kind in KINDS if issubclass(kind, GateEvent) and kind.standing is not Standing.REMARK}

    assert told == {*get_args(SessionEvent), Notice}


def test_what_the_first_host_takes_as_a_step_is_no_event_of_its_own() -> None:
    """The real program emits five events; a dialog and the executor note themselves, and are compared as well."""
    heard = {kind.kind_name(): kind.standing for kind in KINDS if not issubclass(kind, GateEvent)}

    assert {name for name, standing in heard.items() if standing is Standing.TOLD} == {
        "tool_call",
        "tool_approval_requested",
        "tool_approval_resolved",
        "tool_result",
        "extension_error",
    }
    assert {name for name, standing in heard.items() if standing is Standing.STEP} == {
        "ui.select",
        "rpc.select",
        "execute",
        "preview_wait",
        "tier_resolved",
    }


def test_a_kind_of_ones_own_is_described_listed_and_counted() -> None:
    """To add a kind of event is to write its class: nothing else has to hear of it."""

    class DoorSlammed(Event, frozen=True, kw_only=True, gc=False, tag="door_slammed"):
        """A door was slammed."""

        tool_call_id: str
        door: str
        standing: ClassVar[Standing] = Standing.STEP
        shows: ClassVar[tuple[str, ...]] = ("lateReplies",)

        def says(self) -> str:
            return f"the {self.door} door slams"

    ledger = Ledger()
    ledger.append(DoorSlammed(at_ms=3, tool_call_id="c-9", door="front\n"))
    report = Report(case=RESOLVED.case, finished=True, observed={}, calls=(), ledger=ledger)
    of_a_call = Report(case=TWICE.case, finished=True, observed={}, calls=(), ledger=ledger)

    assert describe(ledger[0]) == r"the front\n door slams"
    assert list(ledger_lines(report)) == [r"    1      3 ms  door_slammed  the front\n door slams"]
    assert as_mapping(ledger[0]) == {"event": "door_slammed", "atMs": 3, "toolCallId": "c-9", "door": "front\n"}
    assert is_heard(ledger[0])
    assert [one.call for one in placed(of_a_call)] == ["c-9"]
    assert [one.call for one in placed(report)] == [NO_CALL]
    assert event_counts(report) == {"door_slammed": 1}
    assert "door_slammed" in event_kinds()
    assert observed_value("events.door_slammed", TWICE) == 0
    assert "door_slammed" in kinds_of("lateReplies")
    assert rows_of("lateReplies", report) == (1,)
    assert observed_value("lateReplies", report) is UNSET


def test_an_event_without_words_shows_its_fields() -> None:
    """An author's own kind need not say more than it holds."""

    class Seen(Event, frozen=True, kw_only=True, gc=False, tag="seen"):
        what: str
        often: int = 2

    assert Seen(at_ms=0, what="a lark").says() == "what: a lark, often: 2"


def _modules_asked_for(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "__module__":
            yield node.lineno


@pytest.mark.parametrize("room", ["labsim", "workbook"])
def test_nothing_is_told_apart_by_the_name_of_its_module(room: str) -> None:
    """A module that is renamed or moved changes nothing that anybody is shown."""
    asking = [
        f"{path.relative_to(TOP)}:{line}"
        for path in sorted((TOP / room).rglob("*.py"))
        for line in _modules_asked_for(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert asking == []
