"""Every text of this host that a model or a person reads, by its id in the book of rules.

The wording is a fact of the host: it decides what the model does next, so it is written once, here, and compared
as whole strings in the tests.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from labsim.gate.base.terms import Duration

#: gate/W4: a refusal that says nothing more.
DENIED: Final = "denied by session approver"
#: gate/W6: a remembered refusal that says nothing more; the same words at every scope.
BLOCKED_BY_RULE: Final = "blocked by remembered session rule"
#: gate/W18 and gate/W19: a scope that is not to be had here.
PROJECT_ID_REQUIRED: Final = "project-scoped permission rules require a project_id"
NOT_DURABLE: Final = "process-scoped permission rules belong to a live session and cannot be persisted"
#: gate/M7: a mode that is not offered.
UNKNOWN_MODE: Final = "unknown mode"
READ_ONLY_SESSION: Final = "this session was opened read-only and cannot change mode"


def wants_to_run(tool: str) -> str:
    """gate/W1: why a call is put to somebody."""
    return f"{tool} wants to run and can change state outside this process"


def run_refuses(tool: str) -> str:
    """gate/W2: a run that refuses, in the same words at the gate and at the approver (gate/G4)."""
    return f"{tool} changes state outside this process, which this run does not allow"


def session_refuses(tool: str) -> str:
    """gate/W3: a session whose posture is `never` just now."""
    return f"{tool} changes state outside this process, and this session is set to refuse that"


def remembered_refusal(reason: str | None) -> str:
    """gate/W5 and gate/W6: a refusal that was given before."""
    if reason is None:
        return BLOCKED_BY_RULE
    return f"{reason} — remembered from an earlier refusal, so asking again will not change it"


def approval_required(tool: str) -> str:
    """gate/W7: what a request says where the gate gave no reason."""
    return f"Approval required for {tool}"


def timed_out(after: Duration) -> str:
    """gate/W8: the gate's own bound ended the wait."""
    return f"authorizer timed out after {after}"


def refused_earlier(tool: str) -> str:
    """gate/W9: a host that remembers a for-session refusal itself."""
    return f"{tool} was refused earlier in this session, and that answer still stands"


def denied_result(reason: str | None) -> str:
    """gate/W10: what the model reads of a refused call; a reason as it was given (gate/O16)."""
    return "Tool execution denied by authorizer" if reason is None else f"Tool execution denied: {reason}"


def unasked_result(reason: str | None) -> str:
    """gate/W11: what the model reads where nobody turned a prompt into a request."""
    return "Tool execution requires approval" if reason is None else f"Tool execution requires approval: {reason}"


def hook_result(reason: str) -> str:
    """gate/W12: what the model reads where a hook refused."""
    return f"Blocked by pre-execution hook: {reason}"


class TerminalTrouble(StrEnum):
    """Why nobody could be asked at a terminal."""

    NO_TERMINAL = "there is no terminal to ask at"
    NOT_READ = "the terminal could not be read"
    NOT_PUT = "the question could not be put to the terminal"


def terminal_cannot_ask(tool: str, why: TerminalTrouble) -> str:
    """gate/W13."""
    return f"{tool} needs approval and {why}, so this run cannot allow it"


def refused_at_prompt(tool: str, *, for_session: bool = False) -> str:
    """gate/W14: a no, or a never, at the terminal."""
    return f"{tool} was refused at the prompt" + (", for the rest of this session" if for_session else "")


class ClientTrouble(StrEnum):
    """Why a client gave no decision."""

    CANCELLED = "the request was cancelled"
    UNREADABLE = "the client's answer could not be read"
    UNREACHABLE = "the client could not be reached"
    NO_ANSWER = "the client did not answer within 30 minutes"
    TURN_CANCELLED = "the turn was cancelled"


def client_cannot_answer(tool: str, why: ClientTrouble) -> str:
    """gate/W15."""
    return f"{tool} needs approval and {why}"


def refused_by_client(tool: str, *, for_session: bool = False) -> str:
    """gate/W16."""
    return f"{tool} was refused by the client" + (", for the rest of this session" if for_session else "")


def no_pending_permission(request_id: str) -> str:
    """gate/W17: an answer to a request that is unknown, answered or given up."""
    return f"no pending permission with request_id '{request_id}'"


def events_dropped(count: int) -> str:
    """gate/W20."""
    return f"event stream lagged; {count} event(s) dropped"


def allow_not_recorded(tool: str, error: str) -> str:
    """gate/F4: what the model reads of an approval that could not be recorded."""
    return f"the approval for {tool} could not be recorded ({error}), so the call was denied"


def allow_not_recorded_notice(tool: str, error: str) -> str:
    """gate/F4: what the person following the run reads of it."""
    return f"the answer for {tool} could not be recorded ({error}); the call was denied"


def refusal_not_remembered_notice(tool: str, error: str) -> str:
    """gate/F4: the same, of a refusal."""
    return f"the refusal of {tool} could not be remembered ({error}); it applied to this call only"


def approver_failed(tool: str, error: str) -> str:
    """Ours: an approver that raised or answered with something else has not consented (gate/A2)."""
    return f"{tool} needs approval and the approver failed ({error})"
