"""The `review_desk` tool: what the agent can ask of the desk, and the ten checks before it may change anything.

It declares the tier `write` for every operation, so a generic gate that always asks does so even for `inspect`.
That gate and the grant know nothing of each other: Approve is not a grant, a grant is not Approve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.approval import json_details
from labsim.errors import HostError
from labsim.js_values import stringify, text_of
from labsim.review.base.events import ActRefused
from labsim.review.base.states import Action
from labsim.review.base.words import COPY
from labsim.review.branch.note import valid_text
from labsim.review.desk import Desk
from labsim.stage.stage import Stage
from labsim.terms import Tier
from labsim.tool import Tool, ToolCall, ToolResult, text_content


class Op(StrEnum):
    """What the tool does."""

    DISCOVER = "discover"
    INSPECT = "inspect"
    QUERY = "query"
    ACT = "act"


class AgentAction(StrEnum):
    """What an act can do to the note."""

    REVISE = "revise"
    ACCEPT = "accept"
    REJECT = "reject"
    CANCEL = "cancel"


_STEPS: Final = {
    AgentAction.REVISE: Action.ACT_REVISE,
    AgentAction.ACCEPT: Action.ACT_ACCEPT,
    AgentAction.REJECT: Action.ACT_REJECT,
    AgentAction.CANCEL: Action.ACT_CANCEL,
}

PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "op": {"type": "string", "enum": [op.value for op in Op]},
        "action": {"type": "string", "enum": [action.value for action in AgentAction]},
        "expectedRevision": {"type": "integer", "minimum": 0},
        "text": {"type": "string"},
    },
    "required": ["op"],
}


class Refused(HostError):
    """The tool refused a call (review/V-33). Attribute: `check`, the number of the check that failed, from 1."""

    def __init__(self, check: int, text: str) -> None:
        self.check = check
        super().__init__(text)


class Request(Struct, frozen=True, kw_only=True):
    """A call's arguments as they came, unjudged. UNSET: absent, or null, which counts as absent (review/V-31)."""

    op: Any = UNSET
    action: Any = UNSET
    expected_revision: Any = UNSET
    text: Any = UNSET


class Check(Struct, frozen=True, kw_only=True):
    """One of the ten checks: what fails it, and the text of the error, with names in braces."""

    number: int
    fails: Callable[[Request, Desk], bool]
    text: str


def _word(value: object, words: type[StrEnum]) -> bool:
    return isinstance(value, str) and value in tuple(words)


def _whole(value: object) -> bool:
    return type(value) is int and value >= 0  # a boolean is no number here (review/V-32)


_E: Final = COPY.errors
#: The checks of an act, in their order: the first that fails is the answer.
CHECKS: Final = (
    Check(number=1, fails=lambda ask, _: not _word(ask.op, Op), text=_E.unknown_op),  # review/check-1
    # What an act needs, and what it may not have (review/V-31).
    Check(number=2, fails=lambda ask, _: ask.action is UNSET, text=_E.missing_action),  # review/check-2
    # review/check-3
    Check(number=3, fails=lambda ask, _: not _word(ask.action, AgentAction), text=_E.unknown_action),
    # review/check-4
    Check(number=4, fails=lambda ask, _: not _whole(ask.expected_revision), text=_E.missing_revision),
    # review/check-5
    Check(number=5, fails=lambda ask, _: _revises(ask) and ask.text is UNSET, text=_E.missing_text),
    # review/check-6
    Check(number=6, fails=lambda ask, _: not _revises(ask) and ask.text is not UNSET, text=_E.unexpected_text),
    # review/check-7
    Check(number=7, fails=lambda ask, _: _revises(ask) and not valid_text(ask.text), text=_E.invalid_text),
    Check(number=8, fails=lambda _, desk: desk.busy, text=_E.busy),  # review/check-8
    # Also of the second of two acts, as the first has used the grant up (review/check-9, review/V-34).
    Check(number=9, fails=lambda _, desk: not desk.authorized, text=_E.no_grant),
    # Nothing changes, and the grant still serves for the right revision (review/check-10, review/V-35).
    Check(number=10, fails=lambda ask, desk: ask.expected_revision != desk.note.revision, text=_E.mismatch),
)


def _revises(ask: Request) -> bool:
    return bool(ask.action == AgentAction.REVISE)


def review_tool(desk: Desk, stage: Stage) -> Tool:
    """The tool of one desk, for the wrapper of the generic gate."""

    def execute(call: ToolCall) -> ToolResult:
        details = answer(desk, stage, call.input)
        return ToolResult(content=text_content(stringify(details)), details=details)

    return Tool(
        name=COPY.tool.name,
        label=COPY.tool.label,
        description=COPY.tool.description,
        execute=execute,
        approval=Tier.WRITE.value,  # all that the gate knows of it; of the grant, nothing (review/V-39)
        parameters=PARAMETERS,
        format_approval_details=json_details,
    )


def answer(desk: Desk, stage: Stage, arguments: Any) -> dict[str, Any]:
    """What one call gives back. Raises: Refused; FixtureUnavailable; NotSaved. Nothing in here waits
    (review/V-36).
    """
    ask = _request(arguments)
    # An unknown op is refused as an act is: it fails the first check.
    op = Op(ask.op) if _word(ask.op, Op) else Op.ACT
    if op is Op.ACT:
        return _act(desk, stage, ask)
    # The others meet no check: neither a dialog nor the lack of a grant is in their way (review/V-30).
    details: dict[str, Any] = {"op": op.value}
    match op:
        case Op.DISCOVER:
            details |= {
                "operations": [word.value for word in Op],
                "actions": [word.value for word in AgentAction],
                "authorization": COPY.tool.authorization,
                "transport": COPY.tool.transport,
            }
        case Op.INSPECT:
            details |= {"text": desk.note.text, **_stand(desk)}
        case Op.QUERY:
            details |= {**_stand(desk), "busy": desk.busy, "mode": desk.mode.value}
    desk.read()
    return details


def _stand(desk: Desk) -> dict[str, Any]:
    note = desk.note
    return {"status": note.status.value, "revision": note.revision, "authorized": desk.authorized}


def _act(desk: Desk, stage: Stage, ask: Request) -> dict[str, Any]:
    for check in CHECKS:
        if check.fails(ask, desk):
            current = desk.note.revision if check.number == len(CHECKS) else None
            text = check.text.format(
                action=text_of(ask.action), expected=text_of(ask.expected_revision), current=current
            )
            desk.refuse_act()  # review/S12
            stage.ledger.append(ActRefused(at_ms=stage.now_ms, check=check.number, text=text))
            raise Refused(check.number, text)  # review/V-33
    action = AgentAction(ask.action)
    # review/S10, review/S11
    note = desk.act(_STEPS[action], None if ask.text is UNSET else ask.text)
    return {
        "op": "act",
        "action": action.value,
        "text": note.text,
        "status": note.status.value,
        "revision": note.revision,
        "authorized": False,
    }


def _request(arguments: Any) -> Request:
    given = arguments if isinstance(arguments, Mapping) else {}

    def of(key: str) -> Any:
        value = given.get(key, UNSET)
        return UNSET if value is None else value  # review/V-31

    return Request(op=of("op"), action=of("action"), expected_revision=of("expectedRevision"), text=of("text"))
