"""Which rows of a ledger show an observed field.

Above `labsim.report` and `labsim.show`; below everything that points a learner at rows. The table says which
events a field is read from: nobody can point at a row for a field that no event shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from labsim.report import Report
from labsim.show import kind_of

_LAST_WORD: Final = ("call_returned", "call_threw", "mutation_returned", "mutation_raised", "tool_finished")
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "outcome": _LAST_WORD,
    "errorIncludes": _LAST_WORD,
    "effects": ("execute",),
    "input": ("execute",),
    "prompts": ("question_asked",),
    "promptIncludes": ("question_asked",),
    "toolCalls": ("tool_call",),
    "successfulCalls": ("call_returned", "tool_finished"),
    "rpcRequests": ("frame_sent",),
    "providerSafetyApproved": ("safety_acknowledged",),
    "primitiveAttempts": ("primitive_attempted",),
    "tier": ("policy_resolved",),
    "policy": ("policy_resolved",),
    "source": ("policy_resolved",),
    "rule": ("policy_resolved",),
    "decisions": ("call_decided",),
    "decidedBy": ("call_decided",),
    "requests": ("permission_requested",),
    "resolutions": ("permission_resolved",),
    "asked": ("approver_asked",),
    "rulesLeft": ("rule_remembered", "rule_revoked", "scope_cleared"),
    "runEnded": ("run_ended",),
    "entries": ("note_recorded",),
    "status": ("note_recorded",),
    "revision": ("note_recorded",),
    "text": ("note_recorded",),
    "authorized": ("grant_given", "grant_ended"),
    "dialogs": ("question_asked",),
    "notices": ("notified",),
    "lateReplies": ("late_reply",),
    "frames": ("frame_sent",),
}


def kinds_of(field: str) -> tuple[str, ...]:
    """The kinds of event that a field is read from; none for one that no event shows."""
    return (field.removeprefix("events."),) if field.startswith("events.") else _KINDS.get(field, ())


def rows_of(field: str, report: Report) -> tuple[int, ...]:
    """The rows of the ledger, counted from 1, that show a field; of how it ended, the last one."""
    kinds = kinds_of(field)
    rows = tuple(number for number, event in enumerate(report.ledger, start=1) if kind_of(event) in kinds)
    return rows[-1:] if kinds is _LAST_WORD else rows
