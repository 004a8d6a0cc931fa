"""The steps of one call, walked on its ledger: wrapper/step-1 to wrapper/step-17, in ten parts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from played_kit import (
    DENIED_WRITE,
    DISPATCHED,
    HANDLED,
    LOOPED,
    MARKUP,
    NO_UI,
    OVER_RPC,
    SILENT_DENY,
    TWICE,
    play,
    recorded_reports,
    wait,
)

from labsim.events.call import CallThrew, Execute
from labsim.places.steps import ORDERS, CallStep, Order
from labsim.play.report import Report
from workbook.ledgers.played import NoSuchCall, NothingHappened, placed
from workbook.tables.steps import NOTHING_TO_DO, call_steps_of, steps


def walked(report: Report, call: int = 1) -> dict[str, list[str]]:
    """Step numbers, with the kinds of the events that belong to them; or the one remark there is instead."""
    table = steps(report, call)
    return {
        step: [re.sub(r"^\d+ (\S+): .*", r"\1", line) for line in happened.split("\n") if line[0] != " "]
        for step, happened in zip(table["step"], table["happened"], strict=True)
    }


JUDGED: dict[str, list[str]] = {
    "1-2": ["call_started"],
    "3": ["policy_resolved"],
    "4": ["tool_call"],
    "5-7": ["policy_resolved"],
    "8-9": ["prompt_decided"],
}
BEYOND_ASKING = {"14-15": ["not reached"], "16": ["not reached"], "17": ["not reached"]}


def test_an_approved_call_takes_every_step():
    """wrapper/step-1 to wrapper/step-17: nothing is skipped when a person says Approve."""
    assert walked(TWICE, 1) == {
        **JUDGED,
        "10": ["tool_approval_requested"],
        "11-13": ["question_asked", "ui.select"],
        "14-15": ["tool_approval_resolved"],
        "16": ["execute"],
        "17": ["tool_result", "call_returned"],
    }


def test_a_declined_call_ends_when_the_decision_is_told():
    """wrapper/step-14: not approved raises; the tool is not reached."""
    assert walked(TWICE, 2) == {
        **JUDGED,
        "10": ["tool_approval_requested"],
        "11-13": ["question_asked", "ui.select"],
        "14-15": ["tool_approval_resolved", "call_threw"],
        "16": ["not reached"],
        "17": ["not reached"],
    }


def test_without_a_ui_the_call_ends_inside_the_asking():
    """wrapper/step-11: the false decision is told from there, and no dialog came before it (wrapper/W-35)."""
    assert walked(NO_UI) == {
        **JUDGED,
        "10": ["tool_approval_requested"],
        "11-13": ["tool_approval_resolved", "call_threw"],
        **BEYOND_ASKING,
    }


def test_a_dialog_that_breaks_ends_the_call_inside_the_asking():
    """wrapper/step-13: the refusal is told, and the dialog's own error leaves."""
    broken = play("broken", choices=[{"throw": "the terminal is gone"}])
    gone = play("gone", ui="rpc", choices=[{"disconnect": "gone"}])

    assert walked(broken)["11-13"] == ["question_asked", "ui.select", "tool_approval_resolved", "call_threw"]
    assert walked(gone)["11-13"] == [
        *("frame_sent", "question_asked", "client_disconnected", "dialog_settled", "rpc.select"),
        *("tool_approval_resolved", "call_threw"),
    ]
    assert walked(gone) == walked(gone) | BEYOND_ASKING


def test_frames_belong_to_the_asking():
    """wrapper/step-12 over RPC: the request goes out before the question counts as asked."""
    assert walked(OVER_RPC)["11-13"] == [
        *("frame_sent", "question_asked", "frame_received", "dialog_settled", "rpc.select")
    ]
    assert walked(OVER_RPC)["10"] == ["tool_approval_requested"]


def test_a_deny_on_the_original_input_ends_at_step_three():
    """wrapper/W-5: no handler, no dialog, no tool."""
    assert walked(SILENT_DENY) == {
        "1-2": ["call_started"],
        "3": ["policy_resolved", "call_threw"],
        **{numbers: ["not reached"] for numbers, _ in ORDERS[Order.CALL][2:]},
    }


def test_an_approval_rule_that_throws_ends_at_step_three():
    """wrapper/W-6: the declaration is a function, and its error leaves before any event."""
    assert walked(play("rule", approval={"fn": "throws"}))["3"] == ["call_threw"]


def test_a_handlers_own_dialog_and_its_block_belong_to_step_four():
    """wrapper/W-10, wrapper/W-64: what handlers ask is not the gate asking."""
    assert walked(HANDLED) == {
        "1-2": ["call_started"],
        "3": ["policy_resolved"],
        "4": [
            *("tool_call", "handler_answered", "question_asked", "question_answered"),
            *("handler_answered", "handler_answered", "handler_answered", "call_threw"),
        ],
        **{numbers: ["not reached"] for numbers, _ in ORDERS[Order.CALL][3:]},
    }


ENDS: dict[str, tuple[dict[str, Any], str]] = {
    "wrapper/W-12: a handler throws": ({"handlers": [{"throws": "boom"}]}, "4"),
    "wrapper/W-13: a handler takes too long": ({"handlers": [{"waits": 50}], "toolCallTimeoutMs": 10}, "4"),
    "wrapper/W-15: aborted before the handlers": ({"signal": "aborted", "handlers": [{"same": True}]}, "4"),
    "wrapper/W-29: aborted while not on screen": (
        {"signal": "aborted", "preview": "match", "observe": False},
        "8-9",
    ),
    "wrapper/W-40: not exactly the label": ({"choices": ["approve"]}, "14-15"),
    "wrapper/W-30: refused, and nobody listens": ({"choices": ["Deny"], "lifecycle": "none"}, "14-15"),
    "wrapper/W-38: no UI, and nobody listens": ({"ui": False, "lifecycle": "none"}, "11-13"),
    "wrapper/W-52: the tool fails": ({"choices": ["Approve"], "executor": {"throw": "no shelf"}}, "17"),
    "wrapper/step-7: rewritten into a deny": (
        {
            "approval": {"fn": "seed-slot"},
            "mode": "yolo",
            "handlers": [{"revise": {"action": "blocked"}}],
        },
        "5-7",
    ),
}


@pytest.mark.parametrize(("given", "step"), ENDS.values(), ids=ENDS)
def test_a_refusal_belongs_to_the_step_that_could_not_be_completed(given: dict[str, Any], step: str):
    """wrapper/step-1 to wrapper/step-17: each way to end has its step, whoever listens."""
    ended = walked(play("ended", **given))

    assert [numbers for numbers, kinds in ended.items() if "call_threw" in kinds] == [step]


def test_a_step_that_had_nothing_to_do_is_not_one_that_was_not_reached():
    """Auto-approve: nobody is asked, and the tool runs all the same (approval/A-15)."""
    ran = walked(play("auto", autoApprove=True, ui=False))

    assert ran["10"] == ran["11-13"] == ran["14-15"] == [NOTHING_TO_DO]
    assert ran["16"] == ["execute"]
    assert walked(play("marked", loopEmitted=True, choices=["Approve"])) | {"4": []} == walked(TWICE) | {
        "1-2": ["call_started", "marker_consumed"],
        "4": [],
    }


def test_a_waiting_call_says_where_it_waits():
    """Nothing beyond the open question has been decided, so nothing there is called not reached for good."""
    live = walked(wait("live").report())

    assert live["11-13"] == ["question_asked", "waiting for an answer"]
    assert live["14-15"] == live["16"] == live["17"] == ["not reached yet"]
    assert steps(wait("live")).caption == "The steps of call-1 in live; waiting for an answer"


def test_a_dispatch_is_walked_at_its_outer_gate():
    """dispatch/D-16: whatever happens at the device's own gate is a part of `write` running, its refusal
    included.
    """
    outer = walked(DISPATCHED)

    assert outer["3"] == outer["5-7"] == ["gate_declared", "policy_resolved"]
    assert outer["11-13"] == ["question_asked", "ui.select"]
    assert outer["16"][:5] == ["address_read", "device_sought", "content_read", "passed_on", "call_started"]
    assert outer["16"][-4:] == ["ui.select", "tool_approval_resolved", "call_threw", "dispatch_ended"]
    assert outer["17"] == ["tool_result", "call_returned"]


def test_what_the_agent_loop_does_is_no_step_of_the_wrapper():
    """wrapper/W-68, wrapper/W-69: the marker is used up in wrapper/step-1, the handlers were asked before; a
    blocked call takes no step.
    """
    assert walked(LOOPED) == walked(TWICE, 1) | {"1-2": ["call_started", "marker_consumed"], "4": [NOTHING_TO_DO]}
    with pytest.raises(NothingHappened, match="batch: call-2 never reached the wrapper"):
        steps(LOOPED, 2)


def test_recorded_calls_are_walked_in_order_and_lose_no_event():
    """Over recorded cases of every shape: each event has one part, none goes back, effects are wrapper/step-16."""
    for report in recorded_reports(every=23):
        for number in range(1, len(report.calls) + 1):
            events = placed(report, number)
            parts = call_steps_of(events)
            assert parts == sorted(parts)
            for one, part in zip(events, parts, strict=True):
                assert (part == CallStep.RUN) == isinstance(one.event, Execute), report.case.id
            shown = "\n".join(steps(report, number)["happened"])
            for one in events:
                assert f"{one.number} {one.event.kind_name()}: " in shown
            threw = [part for one, part in zip(events, parts, strict=True) if isinstance(one.event, CallThrew)]
            if threw:
                assert threw == [max(parts)]


def test_the_lines_of_a_prompt_cannot_be_taken_for_events():
    """A text of several lines is set in, and its controls are visible."""
    happened = steps(play("lines", args={"a": MARKUP}, ui=False))["happened"][6].split("\n")

    assert [line for line in happened if line[0] != " "] == [
        "7 tool_approval_resolved: not approved: no interactive UI available",
        '8 call_threw: throws: Tool "seed_note" requires approval but no interactive UI available.',
    ]
    assert len(happened) == 6


def test_a_case_without_calls_has_no_steps():
    """The steps are those of a tool call; a file fallback is none."""
    with pytest.raises(NothingHappened, match="denied-write: a fallback case makes no call"):
        steps(DENIED_WRITE)
    with pytest.raises(NoSuchCall, match="twice: there is no call 'call-3'"):
        steps(TWICE, "call-3")
