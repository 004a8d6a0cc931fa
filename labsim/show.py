"""Reports as plain text: a ledger a person can read in a terminal.

Above `events` and `report`, below the command line. The notebooks have their own tables; the words for what
happened are here, so that both say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from labsim.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallReturned,
    CallStarted,
    CallThrew,
    Execute,
    ExtensionError,
    HandlerAnswered,
    LateReply,
    MarkerConsumed,
    PolicyResolved,
    PreviewWait,
    PromptDecided,
    QuestionAnswered,
    QuestionAsked,
    RpcSelect,
    SafetyAcknowledged,
    TierResolved,
    ToolCallEvent,
    ToolResultEvent,
    UiSelect,
    as_mapping,
)
from labsim.hostvalues import stringify
from labsim.report import Report


def kind_of(event: Struct) -> str:
    """The wire name of an event's kind."""
    return str(event.__struct_config__.tag)


def call_of(event: Struct) -> str:
    """The call id an event names itself; "" for one that names none (a dialog, a frame)."""
    value = getattr(event, "tool_call_id", "")
    return value if isinstance(value, str) else ""


def describe(event: Struct) -> str:
    """One line on what an event says. Texts of tools and people are quoted as they are, line breaks escaped."""
    return one_line(_describe(event))


def one_line(text: str) -> str:
    """`text` with line breaks and control characters made visible, so that a cell or a line stays one."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _describe(event: Struct) -> str:
    match event:
        case CallStarted():
            return f"{event.tool_name} is called with {stringify(event.input)}"
        case MarkerConsumed():
            return "the loop had emitted tool_call already; the marker is used up"
        case PolicyResolved(resolution=found):
            text = f"{found.policy} on the {event.on} input, by {found.source} ({found.rule}), tier {found.tier}"
            if found.override:
                text += ", override"
            if found.policy_key:
                text += f", key {found.policy_key}"
            return text + (f", reason: {found.reason}" if found.reason else "")
        case ToolCallEvent():
            return f"handlers see {stringify(event.input)}"
        case HandlerAnswered():
            text = f"{event.extension_path}: {event.answer}"
            return text if event.input is UNSET else f"{text} the input with {stringify(event.input)}"
        case ExtensionError():
            return f"{event.extension_path} failed on {event.on}: {event.error}"
        case TierResolved():
            return f"tier {event.tier} is reported to the dispatcher"
        case PromptDecided():
            return f"{'a prompt is required' if event.required else 'no prompt'}: {event.because}"
        case PreviewWait():
            return "waits until the call is on screen"
        case ApprovalRequested():
            text = f"approval of {event.tool_name} is requested, mode {event.approval_mode}"
            return text if event.reason is UNSET else f"{text}, reason: {event.reason}"
        case QuestionAsked():
            return f"{event.kind} {event.question_id} opens: {event.title}"
        case UiSelect() | RpcSelect():
            return f"answered with {_choice(event.choice)} of {', '.join(event.options)}"
        case QuestionAnswered():
            return f"{event.kind} {event.question_id} ends with {_choice(event.answer)}"
        case LateReply():
            return f"a reply to {event.question_id} comes too late and changes nothing"
        case ApprovalResolved():
            verdict = "approved" if event.approved else "not approved"
            return verdict if event.reason is UNSET else f"{verdict}: {event.reason}"
        case SafetyAcknowledged():
            return f"the same answer acknowledges {event.checks} safety check{'s' if event.checks != 1 else ''}"
        case Execute():
            return f"the inert executor of {event.tool} is entered with {stringify(event.input)}"
        case ToolResultEvent():
            return f"{'error' if event.is_error else 'result'}: {event.content}"
        case CallReturned():
            return f"returns {'an error result' if event.is_error else 'a result'}: {event.content}"
        case CallThrew():
            return f"throws: {event.error}"
    rest = {key: value for key, value in as_mapping(event).items() if key not in ("event", "atMs")}
    return ", ".join(
        f"{key}: {value if isinstance(value, str) else stringify(value)}" for key, value in rest.items()
    )


def _choice(choice: Any) -> str:
    if choice is None:
        return "nothing"
    return choice if isinstance(choice, str) else stringify(choice)


def ledger_lines(report: Report) -> Iterator[str]:
    """The ledger, one event a line: number, simulated ms, kind, what it says; calls are set apart."""
    width = max((len(kind_of(event)) for event in report.ledger), default=0)
    starts = {call.start: call.tool_call_id for call in report.calls}
    for number, event in enumerate(report.ledger):
        if number in starts:
            yield starts[number]
        yield f"  {number + 1:>3}  {getattr(event, 'at_ms', 0):>5} ms  {kind_of(event):<{width}}  {describe(event)}"


def case_lines(report: Report) -> Iterator[str]:
    """A played case as text: title, ledger, then each claim beside what was observed."""
    case = report.case
    yield f"{case.id}: {case.title}" if case.title else case.id
    yield ""
    yield from ledger_lines(report)
    yield ""
    width = max((len(check.field) for check in report.checks), default=0)
    for check in report.checks:
        observed = "nothing of the kind" if check.observed is UNSET else _value(check.observed)
        if check.agrees:
            yield f"  {check.field:<{width}}  {_value(check.expected)}"
        else:
            yield f"  {check.field:<{width}}  expected {_value(check.expected)}, observed {observed}"
    if report.checks:
        yield ""
    yield verdict(report)


def verdict(report: Report) -> str:
    """`match`, `mismatch`, `waiting`, or `no claim` where the case expects nothing."""
    if not report.finished:
        return "waiting"
    return {True: "match", False: "mismatch", None: "no claim"}[report.matches]


def _value(value: Any) -> str:
    return one_line(value if isinstance(value, str) else stringify(value))
