"""What the ledger shows of a dispatch: every step, in two lanes, with words of its own."""

from __future__ import annotations

import pytest
from dispatch_kit import dispatch, nobody, played
from msgspec import Struct
from places import TOP

from labsim.call.nesting import Nesting, nested
from labsim.describe.kinds import event_classes
from labsim.describe.ledger import describe, ledger_lines
from labsim.dispatch import events as xdev
from labsim.dispatch.events import Ending, Target
from labsim.events.call import CallReturned, CallStarted, CallThrew, PolicyResolved, PromptDecided
from labsim.events.dialogs import QuestionAsked
from labsim.events.event import is_heard
from labsim.play.performance import start
from labsim.terms import Tier

RECORDED = TOP / "fixtures" / "recorded" / "dispatch.jsonl.gz"


# The two lanes


def test_the_lanes_can_be_told_apart_by_the_ledger_alone():
    """Both gates share one call id; brackets and tool names say whose step an event is."""
    report = played(
        args={"action": "reserve"},
        mode="yolo",
        userPolicies={"seed_slot": "prompt"},
        choices=["Approve", "Approve"],
    )
    placed = nested(report.ledger)

    assert [(step.event.kind_name(), step.nesting) for step in placed if is_heard(step.event)] == [
        ("tool_call", Nesting.OUTER),
        ("tool_approval_requested", Nesting.OUTER),
        ("ui.select", Nesting.OUTER),
        ("tool_approval_resolved", Nesting.OUTER),
        ("tool_call", Nesting.INNER),
        ("tool_approval_requested", Nesting.INNER),
        ("ui.select", Nesting.INNER),
        ("tool_approval_resolved", Nesting.INNER),
        ("execute", Nesting.INNER),
        ("tool_result", Nesting.INNER),
        ("tool_result", Nesting.OUTER),
    ]
    asked = [step.nesting for step in placed if isinstance(step.event, QuestionAsked)]
    assert asked == [Nesting.OUTER, Nesting.INNER]
    for step in placed:
        assert step.tool_name == {Nesting.OUTER: "write", Nesting.INNER: "seed_slot"}[step.nesting or Nesting.OUTER]
        assert getattr(step.event, "tool_name", step.tool_name) == step.tool_name


def test_lanes_end_with_their_calls():
    """A thrown call closes its lane as a returned one does; between calls an event has none."""
    started = [CallStarted(at_ms=0, tool_name=name, tool_call_id="call-1") for name in ("write", "seed_slot")]
    threw = CallThrew(at_ms=0, tool_name="seed_slot", tool_call_id="call-1", error="no", error_name="Error")
    ended = CallReturned(at_ms=0, tool_name="write", tool_call_id="call-1", content="no", is_error=True)

    assert [step.nesting for step in nested([threw, *started, threw, ended, ended])] == [
        None,
        Nesting.OUTER,
        Nesting.INNER,
        Nesting.INNER,
        Nesting.OUTER,
        None,
    ]


def test_a_growing_ledger_has_lanes_already():
    """A call that waits for an answer is drawn as far as it got."""
    waiting = start(
        dispatch({"args": {"action": "reserve"}, "mode": "yolo", "userPolicies": {"seed_slot": "prompt"}}), nobody
    )
    waiting.reply("q-1", "Approve")

    assert nested(waiting.report().ledger)[-1].nesting is Nesting.INNER


def test_the_terminal_indents_what_is_behind_the_second_gate():
    """`labsim case` shows the lanes in plain text."""
    lines = list(ledger_lines(played(args={"action": "inspect"}, mode="yolo")))

    inner = [line for line in lines if " ms    " in line]
    assert [line.split()[3] for line in inner] == [
        "call_started",
        "policy_resolved",
        "tool_call",
        "policy_resolved",
        "inner_tier_reported",
        "prompt_decided",
        "execute",
        "tool_result",
        "call_returned",
    ]


def test_every_step_of_a_dispatch_is_in_the_ledger_in_order():
    """The remarks of both gates and of the dispatch between them, as records."""
    report = played(content='{"action":"inspect","extra":1}', mode="yolo", observe=False, observeResult=False)

    assert [event.kind_name() for event in report.ledger] == [
        "call_started",
        "gate_declared",
        "policy_resolved",
        "gate_declared",
        "policy_resolved",
        "prompt_decided",
        "address_read",
        "device_sought",
        "content_read",
        "passed_on",
        "call_started",
        "policy_resolved",
        "policy_resolved",
        "inner_tier_reported",
        "prompt_decided",
        "execute",
        "call_returned",
        "dispatch_ended",
        "call_returned",
    ]
    decided = [event for event in report.ledger if isinstance(event, PolicyResolved | PromptDecided)]
    assert {event.tool_name for event in decided} == {"write", "seed_slot"}


# Words


WORDS: list[tuple[Struct, str]] = [
    (
        xdev.GateDeclared(at_ms=0, tool_name="write", rule="dispatch/G7", tier=Tier.READ, policy_key="seed_slot"),
        "write declares tier read, key seed_slot (dispatch/G7)",
    ),
    (
        xdev.GateDeclared(at_ms=0, tool_name="write", rule="dispatch/G5", tier=Tier.EXEC),
        "write declares tier exec, no key (dispatch/G5)",
    ),
    (
        xdev.AddressRead(at_ms=0, tool_call_id="c", path=" xd://a", target=Target.FILE),
        'the path is read as: ordinary file (" xd://a")',
    ),
    (
        xdev.AddressRead(at_ms=0, tool_call_id="c", path="xd://a", target=Target.DEVICE, device="a"),
        'the path is read as: device a ("xd://a")',
    ),
    (
        xdev.DeviceSought(at_ms=0, tool_call_id="c", device="a", found=True, mounted=True, active=True),
        "a is found: mounted and active",
    ),
    (
        xdev.DeviceSought(at_ms=0, tool_call_id="c", device="A", found=False, mounted=False, active=False),
        "A is not found: neither mounted nor active",
    ),
    (
        xdev.DocsReturned(at_ms=0, tool_call_id="c", device="a"),
        "the content asks for help: the docs of a are the answer, and it is not called",
    ),
    (
        xdev.ContentRead(
            at_ms=0, tool_call_id="c", device="a", args={"n": 3}, repairs=("n: text read as a number",)
        ),
        'the content holds arguments for a: {"n":3}; mended: n: text read as a number',
    ),
    (
        xdev.ContentRead(at_ms=0, tool_call_id="c", device="a", args={}),
        "the content holds arguments for a: {}",
    ),
    (
        xdev.ContentRefused(at_ms=0, tool_call_id="c", device="a", rule="dispatch/D-31", problem="got\narray"),
        "the content is refused (dispatch/D-31), and a is not called: got\\narray",
    ),
    (
        xdev.PassedOn(at_ms=0, tool_call_id="c", device="a", tier=Tier.READ, marked=True),
        "passed on to the gate of a, marked as approved outside; tier read",
    ),
    (
        xdev.PassedOn(at_ms=0, tool_call_id="c", device="a", tier=None, marked=False),
        "passed on to the gate of a, without a mark, for want of a context; tier unknown",
    ),
    (
        xdev.InnerTierReported(at_ms=0, tool_call_id="c", device="a", tier=Tier.EXEC),
        "the gate of a reports tier exec to the dispatch",
    ),
    (
        xdev.DispatchEnded(at_ms=0, tool_call_id="c", device="a", ending=Ending.ERROR_RESULT, tier=Tier.EXEC),
        "the dispatch to a ends: error result, tier exec",
    ),
    (xdev.DispatchEnded(at_ms=0, tool_call_id="c", device="a", ending=Ending.DOCS), "the dispatch to a ends: docs"),
    (xdev.StagedSought(at_ms=0, tool_call_id="c", device="resolve", label="beds"), "resolve: beds is pending"),
    (xdev.StagedSought(at_ms=0, tool_call_id="c", device="resolve", label=None), "resolve: nothing is pending"),
    (xdev.ReportKept(at_ms=0, tool_call_id="c", kept=False), "reports are off: nothing is kept"),
    (
        xdev.ReportKept(at_ms=0, tool_call_id="c", kept=True, tool="grep", report="slow"),
        "kept a report on grep: slow",
    ),
    (
        xdev.ReportKept(at_ms=0, tool_call_id="c", kept=False, tool="grep", report="slow"),
        "could not keep a report on grep: slow",
    ),
    (
        xdev.FileWritten(at_ms=0, tool_call_id="c", path="card.txt", characters=6),
        'an ordinary file "card.txt" of 6 characters is written, in memory',
    ),
]


@pytest.mark.parametrize(("event", "words"), WORDS, ids=[event.kind_name() for event, _ in WORDS])
def test_each_event_of_a_dispatch_has_words_of_its_own(event: Struct, words: str):
    """One line, with what a reader of the ledger wants to know; texts of others stay on it."""
    assert describe(event) == words
    assert not is_heard(event)


def test_no_event_of_a_dispatch_is_without_words():
    """A new kind has to be added to the table above."""
    kinds = {kind for kind in event_classes() if kind.__module__ == xdev.__name__}

    assert {type(event) for event, _ in WORDS} == kinds
