"""Reports as plain text: a ledger a person can read in a terminal.

Above `events` and `report`, below the command line. The notebooks have their own tables; the words for what
happened are here, so that both say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct

from labsim.errors import one_line as one_line  # its home is below the errors; readers of text look for it here
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
    ModeMisspelt,
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
from labsim.nesting import Nesting, nested
from labsim.report import Report
from labsim.terms import DialogKind


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


def describe_lines(event: Struct) -> str:
    """As `describe`, with line breaks kept: for a place where a prompt of several lines can be read as such."""
    return visible(_describe(event))


def visible(text: str) -> str:
    """`text` with every control character but the line break made visible."""
    return "\n".join(map(one_line, text.split("\n")))


def _describe(event: Struct) -> str:
    match event:
        case CallStarted():
            return f"{event.tool_name} is called with {stringify(event.input)}"
        case MarkerConsumed():
            return "the loop had emitted tool_call already; the marker is used up"
        case ModeMisspelt():
            return f"{stringify(event.configured)} is no mode, so the call is judged in yolo"
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
            return f"{_choice(event.choice, event.options)} (offered: {', '.join(event.options)})"
        case QuestionAnswered():
            return f"{event.kind} {event.question_id} ends: {_choice(event.answer)}"
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
    return _of_a_package(event) or _fields(as_mapping(event), "event", "atMs")


def _choice(choice: Any, offered: Sequence[str] = ()) -> str:
    """What a dialog came back with, or how it broke. What was not offered is quoted: a blank can matter (W-40)."""
    match choice:
        case None:
            return "no answer"
        case {"throw": message}:
            return f"the dialog breaks with: {message}"
        case {"throwValue": value}:
            return f"the dialog throws {stringify(value)}, which is no error"
        case {"disconnect": message}:
            return f"the client goes away: {message}"
    return f"the answer is {choice if choice in offered else stringify(choice)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else stringify(value)


def _fields(record: Mapping[str, Any], *left_out: str) -> str:
    return ", ".join(f"{key}: {_text(value)}" for key, value in record.items() if key not in left_out)


def _of_a_package(event: Struct) -> str:
    """The words for an event that a package of ours brings along; "" for one of anybody else's.

    Imported where used: whoever has such an event has loaded its module already, and nobody else should pay.
    """
    match type(event).__module__:
        case "labsim.rpc.ledger":
            return _of_rpc(event)
        case "labsim.fallback.events":
            return _of_fallback(event)
        case "labsim.loop_events":
            return _of_loop(event)
        case "labsim.dispatch.events":
            return _of_dispatch(event)
        case "labsim.gate.events":
            return _of_gate(event)
        case "labsim.review.events":
            return _of_review(event)
    return ""


def _of_rpc(event: Struct) -> str:
    from labsim.rpc import ledger as rpc

    match event:
        case rpc.FrameSent(frame=frame):
            if frame.get("method") == "cancel":
                return f"the client is told to close {_text(frame.get('targetId'))}"
            rest = _fields(frame, "type", "id", "method")
            method = frame.get("method", frame.get("type"))
            asked = "asked" if method in tuple(DialogKind) else "told"
            return f"the client is {asked}: {_text(method)} {_text(frame.get('id', ''))}, {rest}"
        case rpc.FrameReceived(frame=frame, consumed=consumed):
            if not consumed:
                return f"a frame that answers no dialog: {stringify(frame)}"
            reply = {key: value for key, value in frame.items() if key not in ("type", "id")}
            return f"the client replies to {_text(frame.get('id'))}: {stringify(reply) if reply else 'nothing'}"
        case rpc.SignalAborted():
            return "the caller gives up"
        case rpc.ClientDisconnected():
            return f"the client is gone: {event.message}"
        case rpc.TimeoutCallback():
            told = "its caller is told" if event.heard else "its caller asked for no notice"
            return f"the time of {event.dialog_id} is over; {told}"
        case rpc.DialogSettled():
            dialog = event.dialog_id or "a dialog that was never sent"
            by = event.by.value.replace("_", " ")
            if event.error is not None:
                return f"{dialog} is over ({by}) and raises: {event.error}"
            if event.value is UNSET:
                return f"{dialog} is over ({by}) and gives nothing"
            return f"{dialog} is over ({by}) and gives {stringify(event.value)}"
    return ""


def _of_fallback(event: Struct) -> str:
    from labsim.fallback import events as host

    match event:
        case host.PrimitiveAttempted():
            tried = f"{event.seam} attempt {event.attempt}"
            return f"{tried} succeeds" if event.succeeded else f"{tried} fails{_failure(event.denied, event.code)}"
        case host.ParentMade():
            return f"the missing folder {event.path} is made, and stays"
        case host.ParentRefused():
            return f"the missing folder {event.path} cannot be made{_failure(event.denied, event.code)}"
        case host.TargetResolved():
            return f"{event.path} really means {event.target}"
        case host.TargetUnresolvable():
            return f"nobody can say what {event.path} really means, so no handler is asked"
        case host.TargetInspected():
            if event.kind is None:
                return f"{event.target} cannot be looked at{_failure(event.denied, event.code)}"
            return f"{event.target} is a {event.kind}"
        case host.HandlerConsulted():
            owner = "" if event.extension is None else f" of {event.extension}"
            return f"{event.seam} handler {event.position}{owner} {event.answer}: {event.detail}"
        case host.MutationReturned():
            done = "a handler says it is done" if event.by_handler else "the tool's own call did it"
            return f"the {event.seam} returns: {done}"
        case host.MutationRaised():
            text = f"the {event.seam} raises the error of attempt {event.attempt}: {event.message}"
            return f"{text}, with the hidden denial attached" if event.cause_attached else text
    return ""


def _of_dispatch(event: Struct) -> str:
    from labsim.dispatch import events as xdev

    match event:
        case xdev.GateDeclared():
            key = f"key {event.policy_key}" if event.policy_key is not None else "no key"
            return f"{event.tool_name} declares tier {event.tier}, {key} ({event.rule})"
        case xdev.AddressRead():
            named = f" {event.device}" if event.device is not None else ""
            return f"the path is read as: {event.target}{named} ({stringify(event.path)})"
        case xdev.DeviceSought():
            ways = " and ".join(
                word for word, holds in (("mounted", event.mounted), ("active", event.active)) if holds
            )
            found = "found" if event.found else "not found"
            return f"{event.device} is {found}: {ways or 'neither mounted nor active'}"
        case xdev.DocsReturned():
            return f"the content asks for help: the docs of {event.device} are the answer, and it is not called"
        case xdev.ContentRead():
            mended = f"; mended: {', '.join(event.repairs)}" if event.repairs else ""
            return f"the content holds arguments for {event.device}: {stringify(event.args)}{mended}"
        case xdev.ContentRefused():
            return f"the content is refused ({event.rule}), and {event.device} is not called: {event.problem}"
        case xdev.PassedOn():
            marked = "marked as approved outside" if event.marked else "without a mark, for want of a context"
            return f"passed on to the gate of {event.device}, {marked}; tier {event.tier or 'unknown'}"
        case xdev.InnerTierReported():
            return f"the gate of {event.device} reports tier {event.tier} to the dispatch"
        case xdev.DispatchEnded():
            tier = f", tier {event.tier}" if event.tier is not None else ""
            return f"the dispatch to {event.device} ends: {event.ending}{tier}"
        case xdev.StagedSought():
            return f"{event.device}: {'nothing' if event.label is None else event.label} is pending"
        case xdev.ReportKept():
            if event.report is None:
                return "reports are off: nothing is kept"
            what = f"a report on {event.tool}: {event.report}"
            return f"kept {what}" if event.kept else f"could not keep {what}"
        case xdev.FileWritten():
            return (
                f"an ordinary file {stringify(event.path)} of {event.characters} characters is written, in memory"
            )
    return ""


def _of_gate(event: Struct) -> str:
    from labsim.gate.events import GateEvent
    from labsim.gate.lines import line_of

    return line_of(event) if isinstance(event, GateEvent) else ""


def _of_loop(event: Struct) -> str:
    from labsim import loop_events as loop

    match event:
        case loop.ArgumentsChecked(of=source, problem=problem):
            given = "the model's arguments" if source is loop.Checked.MODEL else "the replacement"
            if problem is not UNSET:
                return f"the schema refuses {given}: {problem}"
            return f"the schema takes {given} as {stringify(event.input)}"
        case loop.MarkerSet():
            return "the loop emits tool_call itself, and leaves a marker for the wrapper"
        case loop.HookEnded(outcome=outcome, reason=reason):
            return f"the hook is over: {outcome}" + ("" if reason is UNSET else f", {reason}")
        case loop.MessageRevised():
            return f"the model's message now says {stringify(event.args)}"
        case loop.ToolExecutionStart():
            return f"the turn of {event.tool_name} comes, with {stringify(event.args)}"
        case loop.LoopResulted():
            told = "an error" if event.is_error else "a result"
            return f"the model is given {told} ({event.ending}): {event.content}"
    return ""


def _of_review(event: Struct) -> str:
    from labsim.review import events as desk

    match event:
        case desk.CommandGiven():
            return f"a person says /review-desk {event.word}"
        case desk.StepTaken(phase=phase, to=to):
            where = f"the desk stays {phase}" if phase is to else f"the desk was {phase} and is {to}"
            return f"{event.action} ({event.rule}): {where}"
        case desk.DialogOver():
            return f"what the {event.pending} dialog brings does not count: it was {_WHY_OVER[event.why.value]}"
        case desk.NoteRecorded():
            text = "with a new text" if event.text_changed else "with the text as it was"
            return f"{event.entry_id} of {event.session_id} records {event.status} r{event.revision}, {text}"
        case desk.GrantGiven():
            return f"the agent may make one change, in {event.session_id} at revision {event.revision}"
        case desk.GrantEnded():
            return f"the grant for revision {event.revision} is gone: {event.why}"
        case desk.ActRefused():
            return f"check {event.check} of 10 fails: {event.text}"
        case desk.Notified():
            return f"{event.kind}: {event.message}"
        case desk.StatusShown():
            return f"the status line says: {event.text}"
        case desk.WidgetShown():
            return f"the widget says: {' / '.join(event.lines)}"
        case desk.MessagePosted():
            folded = "" if event.text is None else ", and unfolds to the whole note"
            return f"the conversation gets a message: {event.summary}{folded}"
        case desk.PanelShown():
            return f"the panel of {event.question_id} takes the focus"
        case desk.PanelHidden():
            return f"the panel of {event.question_id} is gone, and the focus is back"
        case desk.PanelNeverShown():
            return "a panel that is ready too late is thrown away unseen"
        case desk.SessionMoved():
            at = "before the first entry" if event.leaf_id is None else f"at {event.leaf_id}"
            return f"{event.by}: now in {event.session_id}, {at}"
        case desk.MovePrevented():
            return f"an extension cancels the move ({event.by}); nothing has moved"
        case desk.SessionReopened():
            found = "1 entry" if event.entries == 1 else f"{event.entries} entries"
            remarks = "".join(f" {remark}" for remark in event.remarks)
            return f"a new process opens {event.session_id} with {found}, and without any grant.{remarks}"
        case desk.EntryArrived():
            return f"{event.entry_id} of {event.session_id} is written by somebody else: {event.type}"
    return ""


_WHY_OVER = {
    "aborted": "aborted",
    "broke": "broken off",
    "overtaken": "overtaken by a change of the note or of the session",
}


def _failure(denied: bool, code: str | None) -> str:
    """What kind of failure it was, for the end of a sentence."""
    parts = [part for part in (code, "a permission denial" if denied else "no permission denial") if part]
    return f" ({', '.join(parts)})"


def ledger_lines(report: Report) -> Iterator[str]:
    """The ledger, one event a line: number, simulated ms, kind, what it says; calls are set apart.

    What happens behind the second gate of a dispatch is indented.
    """
    kinds = [
        f"{'  ' if placed.nesting is Nesting.INNER else ''}{kind_of(placed.event)}"
        for placed in nested(report.ledger)
    ]
    width = max(map(len, kinds), default=0)
    starts = {call.start: call.tool_call_id for call in report.calls}
    for number, (event, kind) in enumerate(zip(report.ledger, kinds, strict=True)):
        if number in starts:
            yield starts[number]
        yield f"  {number + 1:>3}  {getattr(event, 'at_ms', 0):>5} ms  {kind:<{width}}  {describe(event)}"


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
