"""The steps of one call at the second host, walked on its real ledger.

Below `walk`, which has the first host's steps and asks this module for a gate case; above `played`. The order is
that of spec/gate.md, O1. Here every event says by its kind which step it belongs to, so nothing has to be read
between the lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from msgspec import Struct

from labsim.events import Execute, LateReply, QuestionAsked, UiSelect
from labsim.gate import events as host
from workbook.played import PlacedEvent


class Part(IntEnum):
    """A step of the call, in order; the value counts them from 0."""

    MADE = 0
    HOOKS = 1
    PREVIEW = 2
    GATE = 3
    RULES = 4
    REQUEST = 5
    APPROVER = 6
    RESOLVE = 7
    DECIDED = 8
    RUN = 9
    RESULT = 10


#: What each step does.
PARTS: Final[dict[Part, str]] = {
    Part.MADE: "The model calls a tool. The gate of just now is the gate of this call.",
    Part.HOOKS: "Hooks see the call before anybody else. They may rewrite the input, or refuse.",
    Part.PREVIEW: "Check the input's shape, and let the tool present the call and say how far it reaches.",
    Part.GATE: "Ask the gate whether this is worth asking about. Its allow and its deny are final.",
    Part.RULES: "Only for a prompt: look for a remembered rule about this call.",
    Part.REQUEST: "Only where no rule answers: put a request on the session's stream.",
    Part.APPROVER: "Hand the request to the approver, and wait.",
    Part.RESOLVE: "Remember the answer if it is one to be remembered, and tell how the request ended.",
    Part.DECIDED: "The call may run, or it may not.",
    Part.RUN: "Run the tool: the only step with an effect.",
    Part.RESULT: "The model reads the result, or why there is none. The turn goes on either way.",
}
#: Steps that are passed over, and not merely empty, where nothing of theirs is in the ledger.
_CONDITIONAL: Final = frozenset(Part) - {Part.HOOKS}
PASSED_OVER: Final = "passed over"
NOTHING_TO_DO: Final = "nothing to do"

_OF: Final[dict[type[Struct], Part]] = {
    host.CallMade: Part.MADE,
    host.HookAnswered: Part.HOOKS,
    host.PreviewBuilt: Part.PREVIEW,
    host.GateAnswered: Part.GATE,
    host.RulesRead: Part.RULES,
    host.PermissionRequested: Part.REQUEST,
    host.ApproverAsked: Part.APPROVER,
    host.ApproverAnswered: Part.APPROVER,
    host.ApproverFailed: Part.APPROVER,
    host.PolicySwitched: Part.APPROVER,  # inside a call's stretch: while its question is open
    host.GateInstalled: Part.APPROVER,
    QuestionAsked: Part.APPROVER,
    UiSelect: Part.APPROVER,
    LateReply: Part.APPROVER,
    host.RuleRemembered: Part.RESOLVE,
    host.PermissionResolved: Part.RESOLVE,
    host.AnswerRefused: Part.RESOLVE,
    host.Notice: Part.RESOLVE,
    host.Forwarded: Part.RESOLVE,
    host.SinkFailed: Part.RESOLVE,
    host.CallDecided: Part.DECIDED,
    Execute: Part.RUN,
    host.ToolFinished: Part.RESULT,
}


def parts_of(events: Sequence[PlacedEvent]) -> list[Part]:
    """The step that each event of one call belongs to, in the same order."""
    return [_OF.get(type(one.event), Part.APPROVER) for one in events]


def empty(part: Part) -> str:
    """What is said of a step that was left behind without an event."""
    return PASSED_OVER if part in _CONDITIONAL else NOTHING_TO_DO
