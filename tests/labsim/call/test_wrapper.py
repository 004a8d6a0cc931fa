"""One call through the gate: the order of the steps, what is asked, and every way a call can be refused."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import PROMPT, PUBLISH, Desk, heard, kinds, plain, play
from msgspec import UNSET

from labsim.approval import Settings
from labsim.call.handlers import EventName
from labsim.call.wrapper import OuterCall
from labsim.errors import HostError, ThrownValue
from labsim.events.call import ModeMisspelt, PolicyResolved, SafetyAcknowledged
from labsim.stage.stage import AbortSignal
from labsim.stage.ui import Fails, FailsWith
from labsim.terms import Outcome, Policy, Rule, Tier
from labsim.tool import ToolCall

CALL = {"toolName": "seed_note", "toolCallId": "call-1"}
OPTIONS = ["Approve", "Deny"]
TOOL_CALL = {"event": "tool_call", **CALL, "input": PUBLISH}
REQUESTED = {"event": "tool_approval_requested", "sessionId": "", **CALL, "approvalMode": "always-ask"}
EXECUTE = {"event": "execute", "tool": "seed_note", "toolCallId": "call-1", "input": PUBLISH}
RESULT = {
    "event": "tool_result",
    **CALL,
    "input": PUBLISH,
    "content": "inert",
    "details": {"entry": 1},
    "isError": False,
}
CHECK = {"message": "Fictional seed shelf check"}
NO_UI = (
    'Tool "seed_note" requires approval but no interactive UI available.\n'
    "Options:\n"
    "  1. Set tools.approvalMode: yolo in /settings\n"
    "  2. Add tools.approval.seed_note: allow to config\n"
    "  3. Use an interactive UI to approve the tool call"
)


def select(choice: Any) -> dict[str, Any]:
    return {"event": "ui.select", "options": OPTIONS, "choice": choice}


def resolved(approved: bool, reason: str | None = None) -> dict[str, Any]:
    why = {} if reason is None else {"reason": reason}
    return {"event": "tool_approval_resolved", "sessionId": "", **CALL, "approved": approved, **why}


# The sequence


def test_one_approved_call_takes_these_steps() -> None:
    """wrapper/W-81: the whole list of events, and the whole prompt."""
    report = play(choices=["Approve"])

    assert heard(report.ledger) == [TOOL_CALL, REQUESTED, select("Approve"), resolved(True), EXECUTE, RESULT]
    assert report.observed == {
        "outcome": "return",
        "effects": 1,
        "prompts": 1,
        "promptTexts": [PROMPT],
        "toolCalls": 1,
        "input": PUBLISH,
        "successfulCalls": 1,
    }


def test_one_call_that_the_mode_allows_asks_nobody() -> None:
    """approval/R8, wrapper/W-36: no approval event, no dialog."""
    report = play(mode="yolo")

    assert heard(report.ledger) == [TOOL_CALL, EXECUTE, RESULT]


def test_a_second_call_asks_again() -> None:
    """wrapper/W-42, wrapper/W-78: nothing is remembered; counters accumulate, and the outcome is the last
    call's.
    """
    report = play(choices=["Approve", "Deny"], repeat=2)

    assert [call.outcome for call in report.calls] == [Outcome.RETURN, Outcome.THROW]
    assert report.observed == {
        "outcome": "throw",
        "error": "Tool call denied by user: seed_note",
        "errorName": "Error",
        "effects": 1,
        "prompts": 2,
        "promptTexts": [PROMPT, PROMPT],
        "toolCalls": 2,
        "input": PUBLISH,
        "successfulCalls": 1,
    }


# wrapper/step-1 to wrapper/step-7


def test_an_emission_of_the_loop_is_not_repeated() -> None:
    """wrapper/W-1, wrapper/W-2: the marker spares one `tool_call`; a second call with another id emits its own."""
    report = play(mode="yolo", loopEmitted=1, repeat=2)

    assert [kinds(report.ledger.events[call.start : call.end]) for call in report.calls] == [
        ["execute", "tool_result"],
        ["tool_call", "execute", "tool_result"],
    ]


def test_a_second_execute_with_the_same_id_emits_again() -> None:
    """wrapper/W-2: consuming a marker removes it."""
    desk = Desk()
    desk.runner.mark_tool_call_emitted("call-1", "seed_note")

    desk.call(mode="yolo").result()
    assert desk.kinds == ["execute", "tool_result"]
    desk.call(mode="yolo").result()
    assert desk.kinds[2:] == ["tool_call", "execute", "tool_result"]


def test_a_marker_of_another_tool_is_left_alone() -> None:
    """wrapper/W-1: a device that reuses the id of the write around it emits its own event."""
    desk = Desk()
    desk.runner.mark_tool_call_emitted("call-1", "write")
    desk.call(mode="yolo").result()

    assert desk.kinds[0] == "tool_call"
    assert desk.runner.consume_tool_call_emitted("call-1", "write")


def test_a_marker_is_used_up_by_a_call_that_is_denied() -> None:
    """wrapper/W-3."""
    desk = Desk()
    desk.runner.mark_tool_call_emitted("call-1", "seed_note")
    desk.error(policies={"seed_note": "deny"})

    desk.call(mode="yolo").result()
    assert desk.kinds == ["tool_call", "execute", "tool_result"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"approval": {"policy": "deny"}}, 'Tool "seed_note" is blocked by tool policy.'),
        (
            {"userPolicies": {"seed_note": "deny"}, "autoApprove": True},
            'Tool "seed_note" is blocked by user policy.\n'
            'To allow: remove "tools.approval.seed_note: deny" from config.',
        ),
        ({"approval": {"fn": "throws"}}, "approval rule failed"),
    ],
    ids=["the tool", "the user", "a rule that raises"],
)
def test_a_deny_on_the_original_input_is_silent(given: dict[str, Any], error: str) -> None:
    """wrapper/W-5, wrapper/W-6, wrapper/W-36, wrapper/W-57: no event at all, and no handler gets to rewrite it
    away.
    """
    report = play(**given, revise={"action": "inspect"}, choices=["Approve"])

    assert heard(report.ledger) == []
    assert (report.observed["error"], report.observed["prompts"], report.observed["effects"]) == (error, 0, 0)


def test_what_runs_is_judged_not_what_was_asked_for() -> None:
    """wrapper/step-5: a revised input is resolved again, and the prompt shows it."""
    report = play(approval={"fn": "seed-slot"}, args={"action": "inspect"}, revise=PUBLISH, choices=["Approve"])

    found = [event for event in report.ledger if isinstance(event, PolicyResolved)]
    assert [(event.on, event.resolution.tier, event.resolution.rule) for event in found] == [
        ("original", Tier.READ, Rule.R8),
        ("effective", Tier.EXEC, Rule.R9),
    ]
    assert report.observed["promptTexts"] == [PROMPT]
    assert report.observed["input"] == PUBLISH


def test_the_tier_is_reported_even_of_a_call_that_is_then_denied() -> None:
    """wrapper/step-6 precedes wrapper/step-7; what was denied on the original input reports nothing."""
    given: dict[str, Any] = {"approval": {"fn": "seed-slot"}, "reportTier": True}
    after = play(**given, args={"action": "inspect"}, revise={"action": "blocked"})
    before = play(**given, args={"action": "blocked"})

    assert heard(after.ledger)[1:] == [{"event": "tier_resolved", "tier": "exec"}]
    assert after.observed["error"] == 'Tool "seed_note" is blocked by tool policy.'
    assert heard(before.ledger) == []


def test_settings_are_read_once() -> None:
    """wrapper/step-2: a handler that opens everything in the middle of a call is too late for it."""
    policies = {"seed_note": "prompt"}
    desk = Desk(answers=["Deny", "Approve"])
    desk.on_call(lambda event, context: policies.update(seed_note="allow"))

    assert desk.error(policies=policies) == "Tool call denied by user: seed_note"
    desk.call(policies=policies).result()
    assert [event.resolution.policy for event in desk.stage.ledger if isinstance(event, PolicyResolved)] == [
        Policy.PROMPT,
        Policy.PROMPT,
        Policy.ALLOW,
        Policy.ALLOW,
    ]


@pytest.mark.parametrize(
    ("given", "asked", "effects"),
    [
        ({"context": "missing", "sessionSettings": {"mode": "yolo"}}, 0, 1),
        ({"context": "missing", "sessionSettings": {"userPolicies": {"seed_note": "deny"}}}, 0, 0),
        ({"context": "missing", "sessionSettings": {}}, 0, 1),
        ({"context": "missing"}, 1, 0),
        ({"context": "no-settings", "sessionSettings": {"mode": "yolo"}}, 1, 0),
        ({"context": "no-settings", "sessionSettings": {"userPolicies": {"seed_note": "deny"}}}, 1, 0),
        ({"context": "no-settings", "autoApprove": True}, 0, 1),
        ({"mode": UNSET}, 0, 1),
    ],
)
def test_only_a_missing_context_falls_back_on_the_sessions_settings(
    given: dict[str, Any], asked: int, effects: int
) -> None:
    """approval/A-16, approval/A-20, approval/A-22: a context without settings is not topped up, not even with a
    deny.
    """
    report = play(**given)

    assert (report.observed["prompts"], report.observed["effects"]) == (asked, effects)


def test_a_misspelt_mode_opens_everything_and_is_noted() -> None:
    """approval/A-19: the real program is silent about it, the ledger is not."""
    report = play(mode="yollo", unusual=["given.mode"])
    auto = play(mode="yollo", autoApprove=True, unusual=["given.mode"])

    assert report.observed["prompts"] == 0
    assert [event.configured for event in report.ledger if isinstance(event, ModeMisspelt)] == ["yollo"]
    assert not any(isinstance(event, ModeMisspelt) for event in auto.ledger)


# wrapper/W-30 to wrapper/W-36: lifecycle events


@pytest.mark.parametrize(
    ("lifecycle", "expected"),
    [
        ("none", []),
        ("requested", ["tool_approval_requested"]),
        ("resolved", ["tool_approval_resolved"]),
        ("both", ["tool_approval_requested", "tool_approval_resolved"]),
    ],
)
def test_both_events_are_emitted_if_anybody_listens_to_one(lifecycle: str, expected: list[str]) -> None:
    """wrapper/W-30: a name without handlers is simply unheard."""
    report = play(lifecycle=lifecycle, choices=["Approve"])

    assert [kind for kind in kinds(report.ledger) if "approval" in kind] == expected


def test_the_events_name_session_reason_and_effective_mode() -> None:
    """wrapper/W-30 to wrapper/W-36, wrapper/W-31, wrapper/W-32: the reason is the resolution's, the mode is the one
    in force.
    """
    report = play(
        approval={"tier": "read", "policy": "prompt", "reason": "because"},
        autoApprove=True,
        sessionId="s-1",
        choices=[None],
    )

    assert [event for event in heard(report.ledger) if "approval" in event["event"]] == [
        {**REQUESTED, "sessionId": "s-1", "reason": "because", "approvalMode": "yolo"},
        {**resolved(False, "denied by user"), "sessionId": "s-1"},
    ]


def test_the_runners_own_session_id_is_not_used() -> None:
    """wrapper/W-31: without a session manager in the context it is the empty text."""
    desk = Desk(answers=["Approve"], session_id="runner")
    desk.call().result()

    assert [event["sessionId"] for event in desk.heard if "sessionId" in event] == ["", ""]


def test_a_lifecycle_handler_that_throws_changes_nothing() -> None:
    """wrapper/W-34; recorded: wrapper-2189."""
    report = play(lifecycle="throwing", choices=["Approve"])
    failed = {"event": "extension_error", "extensionPath": "recorder", "error": "lifecycle handler failed"}

    assert heard(report.ledger) == [
        TOOL_CALL,
        REQUESTED,
        {**failed, "on": "tool_approval_requested"},
        select("Approve"),
        resolved(True),
        {**failed, "on": "tool_approval_resolved"},
        EXECUTE,
        RESULT,
    ]


# wrapper/W-37 to wrapper/W-46: nobody there, the answer, the checks


def test_without_a_ui_a_request_is_refused_without_a_dialog() -> None:
    """wrapper/W-33, wrapper/W-35, wrapper/W-38, wrapper/W-57: both events, why, no dialog, five lines."""
    report = play(ui=False)

    assert heard(report.ledger) == [TOOL_CALL, REQUESTED, resolved(False, "no interactive UI available")]
    assert report.observed["error"] == NO_UI


def test_without_a_ui_pending_checks_are_refused_in_their_own_words() -> None:
    """wrapper/W-39."""
    report = play(ui=False, mode="yolo", safetyCheck=True)

    assert (
        report.observed["error"]
        == 'Tool "seed_note" has pending provider safety checks but no interactive UI is available.'
    )
    assert report.observed["providerSafetyApproved"] is False


NO_YES = [
    "Deny",
    "approve",
    "Approve ",
    " Approve",
    "APPROVE",
    "",
    0,
    1,
    True,
    None,
    ["Approve"],
    {"value": "Approve"},
]


@pytest.mark.parametrize("choice", NO_YES)
def test_only_the_exact_label_is_a_yes(choice: Any) -> None:
    """wrapper/W-33, wrapper/W-40, wrapper/W-41, wrapper/W-57."""
    report = play(choices=[choice], unusual=[] if isinstance(choice, str | bool | None) else ["given.choices[0]"])

    assert heard(report.ledger) == [TOOL_CALL, REQUESTED, select(choice), resolved(False, "denied by user")]
    assert report.observed["error"] == "Tool call denied by user: seed_note"


def test_an_empty_list_of_choices_is_no_answer() -> None:
    """wrapper/W-79."""
    assert play(choices=[]).observed["error"] == "Tool call denied by user: seed_note"


@pytest.mark.parametrize(
    ("choice", "reason", "error_name"),
    [
        ({"throw": "the terminal is gone"}, "the terminal is gone", "Error"),
        ({"throw": ""}, None, "Error"),
        ({"throwValue": "text"}, "approval aborted", "(not an Error)"),
        ({"throwValue": None}, "approval aborted", "(not an Error)"),
    ],
)
def test_a_dialog_that_breaks_refuses_the_call(choice: Any, reason: str | None, error_name: str) -> None:
    """wrapper/W-33, wrapper/W-57; recorded: wrapper-0483, -0487."""
    report = play(choices=[choice])

    assert heard(report.ledger) == [TOOL_CALL, REQUESTED, select(choice), resolved(False, reason)]
    assert report.observed["errorName"] == error_name


@pytest.mark.parametrize("failure", [Fails("gone"), FailsWith({"code": 1})])
def test_the_dialogs_own_error_is_raised(failure: Fails | FailsWith) -> None:
    """wrapper/step-13: a value that is no error stays the value it was."""
    desk = Desk(answers=[failure])

    with pytest.raises(HostError) as raised:
        desk.call().result()
    if isinstance(failure, FailsWith):
        assert isinstance(raised.value, ThrownValue)
        assert raised.value.value == {"code": 1}
    else:
        assert str(raised.value) == "gone"


def test_one_dialog_covers_the_policy_and_the_checks() -> None:
    """wrapper/W-43, wrapper/W-45, wrapper/W-46: the texts are appended, and the same yes acknowledges them."""
    report = play(
        approval={"tier": "exec", "reason": "because"},
        safetyChecks=[CHECK, {"code": "second_check"}],
        choices=["Approve"],
    )

    assert report.observed["promptTexts"] == [
        "Allow tool: seed_note\n"
        "Reason: because\n"
        'Input: {"actions":[{"type":"screenshot"}]}\n'
        "Provider safety checks:\n"
        "1. Fictional seed shelf check\n"
        r"2. second\_check"
    ]
    assert report.observed["providerSafetyApproved"] is True
    assert [event.checks for event in report.ledger if isinstance(event, SafetyAcknowledged)] == [2]


@pytest.mark.parametrize("choices", [["Deny"], [None], [{"throw": "gone"}], []])
def test_anything_but_a_yes_acknowledges_nothing(choices: list[Any]) -> None:
    """wrapper/W-45; auto-approve does not either (approval/A-21)."""
    report = play(safetyCheck=True, autoApprove=True, choices=choices)

    assert (report.observed["providerSafetyApproved"], report.observed["effects"]) == (False, 0)


def test_an_approved_call_without_checks_acknowledges_nothing() -> None:
    """wrapper/step-15: the flag stays as the caller left it."""
    desk = Desk(answers=["Approve"])
    desk.call(tool_call=OuterCall(provider_metadata={"type": "computer", "pendingSafetyChecks": []})).result()

    assert desk.context is not None
    assert desk.context.provider_safety_approved is False


def test_a_computer_call_is_seen_judged_and_reported_as_its_actions() -> None:
    """wrapper/W-18, wrapper/W-50: a returned input is ignored, a change in place reaches nothing; a block still
    works.
    """
    seen = {"actions": [{"type": "screenshot"}], "pendingSafetyChecks": [CHECK]}
    given: dict[str, Any] = {"safetyChecks": [CHECK], "choices": ["Approve"], "approval": {"fn": "read-if-extra"}}
    revised = play(**given, handlers=[{"mutate": {"extra": 1}}, {"revise": {"extra": 1}}])
    blocked = play(**given, handlers=[{"block": True, "reason": "no screens"}])

    assert [e["input"] for e in heard(revised.ledger) if e["event"] in ("tool_call", "tool_result")] == [seen, seen]
    assert revised.observed["input"] == PUBLISH
    assert {e.resolution.tier for e in revised.ledger if isinstance(e, PolicyResolved)} == {Tier.EXEC}
    assert blocked.observed["error"] == "no screens"


def test_an_abort_does_not_close_the_approval_dialog() -> None:
    """wrapper/W-47: an approval after it still runs the tool, which gets the aborted signal."""
    desk = Desk(ui="open")
    signal = AbortSignal(desk.stage)
    task = desk.call(signal=signal)
    signal.abort()
    assert [question.title for question in desk.stage.questions] == [PROMPT]

    desk.stage.advance(60_000)
    desk.stage.reply("q-1", "Approve")
    task.result()

    seen: ToolCall = desk.calls[0]
    assert seen.signal is signal
    assert signal.aborted
    assert desk.times("execute") == [60_000]


# wrapper/W-47 to wrapper/W-58, as far as the gate decides it


@pytest.mark.parametrize(
    "given",
    [
        {"userPolicies": {"seed_note": "deny"}},
        {"handlers": [{"block": True}]},
        {"handlers": [{"throws": "x"}]},
        {"ui": False},
        {"choices": ["Deny"]},
        {"choices": [{"throw": "x"}]},
        {"signal": "aborted", "choices": ["Approve"]},
        {"signal": "aborted", "choices": ["Approve"], "observe": False, "preview": "match"},
    ],
)
def test_a_refused_call_has_no_result_event(given: dict[str, Any]) -> None:
    """wrapper/W-57: deny, block, no UI, refusal, a broken dialog, an abort at either place."""
    report = play(**given, resultHandlers=[{"isError": False}])

    assert (report.observed["outcome"], report.observed["effects"]) == ("throw", 0)
    assert "tool_result" not in kinds(report.ledger)


def test_result_handlers_see_the_effective_input() -> None:
    """wrapper/W-50."""
    report = play(mode="yolo", revise={"action": "inspect"})

    assert heard(report.ledger)[-1]["input"] == {"action": "inspect"}


@pytest.mark.parametrize(
    ("executor", "outcome", "error"),
    [
        ({"throw": "no shelf"}, "throw", "no shelf"),
        ({"throwValue": {"a": 1}}, "throw", "[object Object]"),
        ("error-result", "error-result", "inert failure"),
        (UNSET, "return", UNSET),
    ],
)
def test_how_the_tool_ends_is_how_the_call_ends(executor: Any, outcome: str, error: Any) -> None:
    """wrapper/W-48, wrapper/W-49, wrapper/W-52: heard as an error in three of four, unchanged by handlers that only
    listen.
    """
    report = play(mode="yolo", executor=executor)

    assert (report.observed["outcome"], report.observed.get("error", UNSET)) == (outcome, error)
    assert heard(report.ledger)[-1]["isError"] is (error is not UNSET)
    ending = {
        key: value for key, value in plain(report.ledger[-1]).items() if key not in ("toolName", "toolCallId")
    }
    assert ending == (
        {"event": "call_threw", "error": error, "errorName": "Error"}
        if outcome == "throw"
        else {
            "event": "call_returned",
            "content": "inert" if error is UNSET else error,
            "isError": error is not UNSET,
        }
    )


def test_an_executor_may_take_its_time() -> None:
    """wrapper/step-16: what it waits for is simulated time, and no budget."""

    async def execute(call: ToolCall) -> Any:
        await desk.stage.sleep(3_600_000)
        raise HostError("worn out")

    desk = Desk(execute=execute)
    desk.on(EventName.TOOL_RESULT, lambda event, context: None)

    assert desk.error(mode="yolo") == "worn out"
    assert desk.times("call_threw") == [3_600_000]


def test_a_context_is_read_and_only_its_one_flag_is_written() -> None:
    """wrapper/W-45: `providerSafetyApproved` is the one output."""
    desk = Desk(answers=["Approve"])
    desk.call(policies={"other": "deny"}, session_id="s-1").result()

    assert desk.context is not None
    assert desk.context.settings == Settings("always-ask", {"other": "deny"})
    assert (desk.context.session_id, desk.context.provider_safety_approved) == ("s-1", False)
