"""Every text of the second host, whole (gate/W1 to gate/W20)."""

from __future__ import annotations

import pytest

from labsim.gate.base import words
from labsim.gate.base.errors import NoPendingPermission, NotDurable, ProjectIdRequired
from labsim.gate.base.terms import Duration
from labsim.gate.base.words import ClientTrouble, TerminalTrouble
from labsim.gate.policy import MODE_NAMES, ApprovalPolicy

TEXTS = {
    "gate/W1": (words.wants_to_run("files"), "files wants to run and can change state outside this process"),
    "gate/W2": (
        words.run_refuses("files"),
        "files changes state outside this process, which this run does not allow",
    ),
    "gate/W3": (
        words.session_refuses("files"),
        "files changes state outside this process, and this session is set to refuse that",
    ),
    "gate/W4": (words.DENIED, "denied by session approver"),
    "gate/W5": (
        words.remembered_refusal("no writes"),
        "no writes — remembered from an earlier refusal, so asking again will not change it",
    ),
    "gate/W6": (words.remembered_refusal(None), "blocked by remembered session rule"),
    "gate/W7": (words.approval_required("files"), "Approval required for files"),
    "gate/W8": (words.timed_out(Duration.seconds(60)), "authorizer timed out after 60s"),
    "gate/W9": (
        words.refused_earlier("files"),
        "files was refused earlier in this session, and that answer still stands",
    ),
    "gate/W10": (words.denied_result("no"), "Tool execution denied: no"),
    "gate/W10-bare": (words.denied_result(None), "Tool execution denied by authorizer"),
    "gate/W11": (words.unasked_result("why"), "Tool execution requires approval: why"),
    "gate/W11-bare": (words.unasked_result(None), "Tool execution requires approval"),
    "gate/W12": (words.hook_result("no"), "Blocked by pre-execution hook: no"),
    "gate/W13-none": (
        words.terminal_cannot_ask("files", TerminalTrouble.NO_TERMINAL),
        "files needs approval and there is no terminal to ask at, so this run cannot allow it",
    ),
    "gate/W13-read": (
        words.terminal_cannot_ask("files", TerminalTrouble.NOT_READ),
        "files needs approval and the terminal could not be read, so this run cannot allow it",
    ),
    "gate/W13-put": (
        words.terminal_cannot_ask("files", TerminalTrouble.NOT_PUT),
        "files needs approval and the question could not be put to the terminal, so this run cannot allow it",
    ),
    "gate/W14-once": (words.refused_at_prompt("files"), "files was refused at the prompt"),
    "gate/W14-session": (
        words.refused_at_prompt("files", for_session=True),
        "files was refused at the prompt, for the rest of this session",
    ),
    "gate/W15-cancelled": (
        words.client_cannot_answer("files", ClientTrouble.CANCELLED),
        "files needs approval and the request was cancelled",
    ),
    "gate/W15-unreadable": (
        words.client_cannot_answer("files", ClientTrouble.UNREADABLE),
        "files needs approval and the client's answer could not be read",
    ),
    "gate/W15-unreachable": (
        words.client_cannot_answer("files", ClientTrouble.UNREACHABLE),
        "files needs approval and the client could not be reached",
    ),
    "gate/W15-silent": (
        words.client_cannot_answer("files", ClientTrouble.NO_ANSWER),
        "files needs approval and the client did not answer within 30 minutes",
    ),
    "gate/W15-turn": (
        words.client_cannot_answer("files", ClientTrouble.TURN_CANCELLED),
        "files needs approval and the turn was cancelled",
    ),
    "gate/W16-once": (words.refused_by_client("files"), "files was refused by the client"),
    "gate/W16-always": (
        words.refused_by_client("files", for_session=True),
        "files was refused by the client, for the rest of this session",
    ),
    "gate/W17": (str(NoPendingPermission("perm-1")), "no pending permission with request_id 'perm-1'"),
    "gate/W18": (str(ProjectIdRequired()), "project-scoped permission rules require a project_id"),
    "gate/W19": (
        str(NotDurable()),
        "process-scoped permission rules belong to a live session and cannot be persisted",
    ),
    "gate/W20": (words.events_dropped(3), "event stream lagged; 3 event(s) dropped"),
    "gate/F4-allow": (
        words.allow_not_recorded("files", "disk full"),
        "the approval for files could not be recorded (disk full), so the call was denied",
    ),
    "gate/F4-allow-notice": (
        words.allow_not_recorded_notice("files", "disk full"),
        "the answer for files could not be recorded (disk full); the call was denied",
    ),
    "gate/F4-refusal-notice": (
        words.refusal_not_remembered_notice("files", "disk full"),
        "the refusal of files could not be remembered (disk full); it applied to this call only",
    ),
    "gate/M7-unknown": (words.UNKNOWN_MODE, "unknown mode"),
    "gate/M7-read-only": (words.READ_ONLY_SESSION, "this session was opened read-only and cannot change mode"),
    "gate/M8-always": (MODE_NAMES[ApprovalPolicy.ALWAYS], "Always allow"),
    "gate/M8-prompt": (MODE_NAMES[ApprovalPolicy.PROMPT], "Ask each time"),
    "gate/M8-never": (MODE_NAMES[ApprovalPolicy.NEVER], "Read only"),
}


@pytest.mark.parametrize(("said", "text"), TEXTS.values(), ids=TEXTS)
def test_the_text_is_the_hosts_own(said: str, text: str):
    """gate/W1 to gate/W20: the wording decides what a model does next, so it is compared whole."""
    assert said == text


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (Duration.seconds(60), "60s"),
        (Duration.seconds(1), "1s"),
        (Duration.ms(1500), "1500ms"),
        (Duration.us(1_500_900), "1500ms"),
        (Duration.us(999), "999us"),
        (Duration(1_999), "1us"),
        (Duration(999), "999ns"),
        (Duration(0), "0ns"),
    ],
)
def test_a_bound_is_spelled_in_whole_seconds_or_the_largest_unit_that_is_not_nought(bound: Duration, text: str):
    """gate/W8: whole seconds as such; otherwise milliseconds, microseconds, nanoseconds, cut off."""
    assert str(bound) == text


@pytest.mark.parametrize(
    ("bound", "ms"), [(Duration.ms(7), 7), (Duration.us(1), 1), (Duration(0), 0), (Duration.us(1_001), 2)]
)
def test_a_bound_never_ends_early_on_the_stage(bound: Duration, ms: int):
    """gate/X1: the stage counts whole milliseconds, so a finer bound is rounded up."""
    assert bound.stage_ms == ms
