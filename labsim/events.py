"""What happened, in order: the event records and the ledger that keeps them.

A record is frozen, and what it quotes of a call's input is a copy, so the ledger shows what was, not what became
of it. Field names on the wire are those of the recorded answers; `atMs` is simulated time.

Whatever the program knows about a kind of event stands with its class, once: its words, its standing, whose call it
belongs to, the observed fields that it shows, how it is drawn, and its step. `labsim.describe.kinds` lists the
classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.approval import Resolution
from labsim.errors import CANCELLED, AbortError
from labsim.js_values import stringify
from labsim.places.lanes import Drawn, Lane, Stroke, View, note
from labsim.places.steps import CallStep, DeskStep, Here, HostCallStep, Order, Steps
from labsim.terms import APPROVAL_OPTIONS, APPROVE, ApprovalMode, DialogKind, EventName, Policy, Standing, Tier


class Event(Struct, frozen=True, kw_only=True, gc=False, tag_field="event", rename="camel"):
    """What every record has: the simulated millisecond it happened at.

    Not tracked by the cycle collector: a record quotes copies of JSON values, which cannot point back at it, and
    a long ledger of tracked records would have the collector walk all of it again and again.
    """

    at_ms: int
    #: On which step of which list it stands, where that is always the same one.
    steps: ClassVar[Steps] = {}
    #: Who hears of it.
    standing: ClassVar[Standing] = Standing.REMARK
    #: The observed fields of a case that are read from events of this kind, by their names on the wire.
    shows: ClassVar[tuple[str, ...]] = ()
    #: The rules to look at where a recorded answer has another such event.
    rules: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def kind_name(cls) -> str:
        """The wire name of this kind; of a class that only others share, its own name."""
        return str(cls.__struct_config__.tag)

    def says(self) -> str:
        """What happened, in words. Texts of tools and people are quoted as they are, whatever is in them."""
        return field_by_field(as_mapping(self), "event", "atMs")

    def names_call(self) -> str:
        """The id of the call that it names itself; "" for one that names none (a dialog, a frame)."""
        call: str = getattr(self, "tool_call_id", "")
        return call

    def names_request(self) -> str:
        """The id of the request that it is about, at the host that numbers them; "" for none."""
        request: str = getattr(self, "request_id", "")
        return request

    def drawn(self, view: View) -> Drawn | None:
        """How a sequence picture shows it, by what the picture knows then; None: as a remark of the desk."""
        return None

    def step(self, order: Order, here: Here) -> int | None:
        """The step of a list that it stands on, with the walk along its call at `here`; None: on none by itself."""
        return self.steps.get(order)

    def passed(self, here: Here) -> None:
        """Notes in `here` what is different for the events after it."""


# ------------------------------------------------------------------------------------------ events and steps


class ToolCallEvent(Event, frozen=True, kw_only=True, gc=False, tag="tool_call"):
    """A `tool_call` event reached the handlers; input as it was when the recorder heard it."""

    tool_name: str
    tool_call_id: str
    input: Any = UNSET
    steps: ClassVar[Steps] = {Order.CALL: CallStep.HANDLERS}
    standing: ClassVar[Standing] = Standing.TOLD
    shows: ClassVar[tuple[str, ...]] = ("toolCalls",)
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-1", "wrapper/W-5", "wrapper/W-7", "wrapper/W-18", "wrapper/W-19")

    def says(self) -> str:
        return f"handlers see {stringify(self.input)}"

    def drawn(self, view: View) -> Drawn:
        return view.tells_handlers(stringify(self.input))

    def passed(self, here: Here) -> None:
        here.stops = CallStep.JUDGE_EFFECTIVE  # the next thing that can fail without a word of its own


class ApprovalRequested(Event, frozen=True, kw_only=True, gc=False, tag="tool_approval_requested"):
    """A decision is needed. Not proof that a dialog was shown (wrapper/W-35)."""

    session_id: str
    tool_name: str
    tool_call_id: str
    reason: str | UnsetType = UNSET
    approval_mode: ApprovalMode
    steps: ClassVar[Steps] = {Order.CALL: CallStep.ANNOUNCE}
    standing: ClassVar[Standing] = Standing.TOLD
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-30", "wrapper/W-31", "wrapper/W-32", "wrapper/W-35")

    def says(self) -> str:
        text = f"approval of {self.tool_name} is requested, mode {self.approval_mode}"
        return text if self.reason is UNSET else f"{text}, reason: {self.reason}"

    def drawn(self, view: View) -> Drawn:
        return view.tells_handlers(f"mode {self.approval_mode}")


class ApprovalResolved(Event, frozen=True, kw_only=True, gc=False, tag="tool_approval_resolved"):
    """The decision was made; `reason` is there only when it was a no (wrapper/W-33)."""

    session_id: str
    tool_name: str
    tool_call_id: str
    approved: bool
    reason: str | UnsetType = UNSET
    standing: ClassVar[Standing] = Standing.TOLD
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-30", "wrapper/W-33", "wrapper/W-36")

    def says(self) -> str:
        verdict = "approved" if self.approved else "not approved"
        return verdict if self.reason is UNSET else f"{verdict}: {self.reason}"

    def drawn(self, view: View) -> Drawn:
        verdict = "approved" if self.approved else "not approved"
        return view.tells_handlers(verdict if self.reason is UNSET else f"{verdict}: {self.reason}")

    def step(self, order: Order, here: Here) -> int | None:
        if order is not Order.CALL:
            return None
        # Where nobody could be asked, or the dialog broke, it is told from within the asking.
        return CallStep.SETTLE if here.asked and not here.broke else CallStep.ASK


class UiSelect(Event, frozen=True, kw_only=True, gc=False, tag="ui.select"):
    """A select dialog ended. `choice` is what came back: a label, null for nothing, or how it failed."""

    options: tuple[str, ...]
    choice: Any
    standing: ClassVar[Standing] = Standing.STEP
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-40", "wrapper/W-46")

    def says(self) -> str:
        return f"{_came_back(self.choice, self.options)} (offered: {', '.join(self.options)})"

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.REFUSE if isinstance(self.choice, dict) else Stroke.ANSWER
        return Drawn(Lane.PERSON, view.asks(self.options), stroke, _in_short(self.choice))

    def step(self, order: Order, here: Here) -> int | None:
        return _select_step(order, here)

    def passed(self, here: Here) -> None:
        _select_passed(self.options, self.choice, here)


class RpcSelect(Event, frozen=True, kw_only=True, gc=False, tag="rpc.select"):
    """The same, where the dialog went to a client over RPC."""

    options: tuple[str, ...]
    choice: Any
    standing: ClassVar[Standing] = Standing.STEP
    rules: ClassVar[tuple[str, ...]] = ("rpc/R-18", "rpc/R-25", "rpc/R-40")

    def says(self) -> str:
        return f"{_came_back(self.choice, self.options)} (offered: {', '.join(self.options)})"

    def drawn(self, view: View) -> Drawn:
        says = _in_short(self.choice)
        if view.overlapping:
            return Drawn(Lane.PERSON, view.asks(self.options), Stroke.ANSWER, says)
        return note(view.asker, says)  # the frames before it are what travelled

    def step(self, order: Order, here: Here) -> int | None:
        return _select_step(order, here)

    def passed(self, here: Here) -> None:
        _select_passed(self.options, self.choice, here)


class Execute(Event, frozen=True, kw_only=True, gc=False, tag="execute"):
    """The inert executor was entered: the one event that stands for an effect."""

    tool: str
    tool_call_id: str
    input: Any = UNSET
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.HOST_CALL: HostCallStep.RUN}
    standing: ClassVar[Standing] = Standing.STEP
    shows: ClassVar[tuple[str, ...]] = ("effects", "input")
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-17", "wrapper/W-18", "wrapper/W-47")

    def says(self) -> str:
        return f"the inert executor of {self.tool} is entered with {stringify(self.input)}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(view.gate, Lane.TOOL, Stroke.EFFECT, stringify(self.input))


class ToolResultEvent(Event, frozen=True, kw_only=True, gc=False, tag="tool_result"):
    """A `tool_result` event reached the handlers; `content` is the visible text."""

    tool_name: str
    tool_call_id: str
    input: Any = UNSET
    content: str
    details: Any = UNSET
    is_error: bool
    steps: ClassVar[Steps] = {Order.CALL: CallStep.HAND_BACK}
    standing: ClassVar[Standing] = Standing.TOLD
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-48", "wrapper/W-49", "wrapper/W-50", "wrapper/W-57")

    def says(self) -> str:
        return f"{'error' if self.is_error else 'result'}: {self.content}"

    def drawn(self, view: View) -> Drawn:
        return view.tells_handlers(f"{'error' if self.is_error else 'result'}: {self.content}")


class PreviewWait(Event, frozen=True, kw_only=True, gc=False, tag="preview_wait"):
    """The call waited until its preview was on screen (wrapper/W-27)."""

    tool_call_id: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.DECIDE}
    standing: ClassVar[Standing] = Standing.STEP
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-27", "wrapper/W-28", "wrapper/W-29")

    def says(self) -> str:
        return "waits until the call is on screen"

    def drawn(self, view: View) -> Drawn:
        return view.decides("waits until the call is on screen")

    def passed(self, here: Here) -> None:
        here.stops = CallStep.ASK


class TierResolved(Event, frozen=True, kw_only=True, gc=False, tag="tier_resolved"):
    """The caller's tier callback was told the effective tier (wrapper/step-6). A dispatch brings its own, silent
    one.
    """

    tier: Tier
    steps: ClassVar[Steps] = {Order.CALL: CallStep.JUDGE_EFFECTIVE}
    standing: ClassVar[Standing] = Standing.STEP
    rules: ClassVar[tuple[str, ...]] = ("wrapper/step-6", "dispatch/D-20")

    def says(self) -> str:
        return f"tier {self.tier} is reported to the dispatcher"

    def drawn(self, view: View) -> Drawn:
        if view.overlapping:
            return note(view.gate)
        return Drawn(view.gate, view.caller, Stroke.ANSWER, f"tier {self.tier}")

    def passed(self, here: Here) -> None:
        here.stops = CallStep.JUDGE_EFFECTIVE


class ExtensionError(Event, frozen=True, kw_only=True, gc=False, tag="extension_error"):
    """A handler failed or took too long; `on` is the event it was handling."""

    extension_path: str
    on: str
    error: str
    standing: ClassVar[Standing] = Standing.TOLD
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-12", "wrapper/W-13", "wrapper/W-34", "wrapper/W-60")

    def says(self) -> str:
        return f"{self.extension_path} failed on {self.on}: {self.error}"

    def drawn(self, view: View) -> Drawn:
        says = f"{self.extension_path} on {self.on}: {self.error}"
        return Drawn(Lane.HANDLERS, view.gate, Stroke.REFUSE, says)

    def step(self, order: Order, here: Here) -> int | None:
        if order is not Order.CALL:
            return None
        match self.on:
            case EventName.TOOL_CALL:
                return CallStep.HANDLERS
            case EventName.TOOL_RESULT:
                return CallStep.HAND_BACK
        return None

    def passed(self, here: Here) -> None:
        if self.on == EventName.TOOL_CALL:
            here.stops = CallStep.HANDLERS


# --------------------------------------------------------------------------------------------------- remarks


class CallStarted(Event, frozen=True, kw_only=True, gc=False, tag="call_started"):
    """`execute` was called; wrapper/step-1 to wrapper/step-17 follow."""

    tool_name: str
    tool_call_id: str
    input: Any = UNSET
    steps: ClassVar[Steps] = {Order.CALL: CallStep.PREPARE}

    def says(self) -> str:
        return f"{self.tool_name} is called with {stringify(self.input)}"

    def drawn(self, view: View) -> Drawn:
        given = stringify(self.input)
        says = given if view.overlapping else f"{self.tool_name} {given}"
        return Drawn(view.caller, view.gate, Stroke.TELL, says)


class MarkerConsumed(Event, frozen=True, kw_only=True, gc=False, tag="marker_consumed"):
    """The agent loop had already emitted `tool_call` for this call, so the wrapper does not (wrapper/W-1)."""

    tool_name: str
    tool_call_id: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.PREPARE}

    def says(self) -> str:
        return "the loop had emitted tool_call already; the marker is used up"

    def drawn(self, view: View) -> Drawn:
        return view.decides("the loop has emitted tool_call already")


class ModeMisspelt(Event, frozen=True, kw_only=True, gc=False, tag="mode_misspelt"):
    """The configured mode is none, so the call is judged in yolo: a typing mistake opens everything
    (approval/A-19).
    """

    tool_name: str
    tool_call_id: str
    configured: Any
    steps: ClassVar[Steps] = {Order.CALL: CallStep.PREPARE}

    def says(self) -> str:
        return f"{stringify(self.configured)} is no mode, so the call is judged in yolo"


class PolicyResolved(Event, frozen=True, kw_only=True, gc=False, tag="policy_resolved"):
    """Resolution ran on the original input (wrapper/step-3) or the effective one (wrapper/step-5)."""

    tool_name: str
    tool_call_id: str
    on: str  # "original" or "effective"
    resolution: Resolution
    shows: ClassVar[tuple[str, ...]] = ("tier", "policy", "source", "rule")

    def says(self) -> str:
        found = self.resolution
        text = f"{found.policy} on the {self.on} input, by {found.source} ({found.rule}), tier {found.tier}"
        if found.override:
            text += ", override"
        if found.policy_key:
            text += f", key {found.policy_key}"
        return text + (f", reason: {found.reason}" if found.reason else "")

    def drawn(self, view: View) -> Drawn:
        found = self.resolution
        return view.decides(f"{found.policy} ({found.source}, {found.rule}) on the {self.on} input")

    def step(self, order: Order, here: Here) -> int | None:
        if order is not Order.CALL:
            return None
        return CallStep.JUDGE_ORIGINAL if self.on == "original" else CallStep.JUDGE_EFFECTIVE

    def passed(self, here: Here) -> None:
        if self.on != "original":
            here.stops = CallStep.JUDGE_EFFECTIVE
        else:
            denied = self.resolution.policy is Policy.DENY
            here.stops = CallStep.JUDGE_ORIGINAL if denied else CallStep.HANDLERS


class HandlerAnswered(Event, frozen=True, kw_only=True, gc=False, tag="handler_answered"):
    """One `tool_call` handler answered: `nothing`, `replaces`, `blocks`, or `no replacement`."""

    extension_path: str
    tool_name: str
    tool_call_id: str
    answer: str
    input: Any = UNSET
    steps: ClassVar[Steps] = {Order.CALL: CallStep.HANDLERS}

    def says(self) -> str:
        text = f"{self.extension_path}: {self.answer}"
        return text if self.input is UNSET else f"{text} the input with {stringify(self.input)}"

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.REFUSE if self.answer == "blocks" else Stroke.ANSWER
        says = f"{self.extension_path} {_ANSWERS_DRAWN.get(self.answer, self.answer)}"
        if self.input is not UNSET:
            says += f": {stringify(self.input)}"
        return Drawn(Lane.HANDLERS, view.gate, stroke, says)

    def passed(self, here: Here) -> None:
        here.stops = CallStep.HANDLERS if self.answer == "blocks" else CallStep.JUDGE_EFFECTIVE


class PromptDecided(Event, frozen=True, kw_only=True, gc=False, tag="prompt_decided"):
    """wrapper/step-8: whether a person must be asked, and the term of the formula that settled it (wrapper/W-20 to
    wrapper/W-26).
    """

    tool_name: str
    tool_call_id: str
    required: bool
    because: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.DECIDE}

    def says(self) -> str:
        return f"{'a prompt is required' if self.required else 'no prompt'}: {self.because}"

    def drawn(self, view: View) -> Drawn:
        return view.decides(f"{'prompt required' if self.required else 'no prompt'}: {self.because}")

    def passed(self, here: Here) -> None:
        here.stops = CallStep.ASK
        here.runs = here.runs or not self.required


class QuestionAsked(Event, frozen=True, kw_only=True, gc=False, tag="question_asked"):
    """A dialog opened. `title` is the whole text shown; it can hold a tool's input and is never markup."""

    question_id: str
    kind: DialogKind
    title: str
    options: tuple[str, ...] = ()
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}
    shows: ClassVar[tuple[str, ...]] = ("prompts", "promptIncludes", "dialogs")

    def says(self) -> str:
        return f"{self.kind} {self.question_id} opens: {self.title}"

    def drawn(self, view: View) -> Drawn:
        if view.overlapping:
            says = f"{self.kind} {self.question_id}: {self.title}"
            return Drawn(view.asks(self.options), Lane.PERSON, Stroke.TELL, says)
        if view.over_rpc:  # the frame before it has asked; this is the client showing it
            return note(Lane.PERSON, f"shows {self.kind}: {self.title}")
        return Drawn(view.asker, Lane.PERSON, Stroke.TELL, f"{self.kind}: {self.title}")

    def step(self, order: Order, here: Here) -> int | None:
        match order:
            case Order.CALL:
                return here.asking
            case Order.DESK:
                return None if here.in_call else DeskStep.DIALOG
        return self.steps.get(order)

    def passed(self, here: Here) -> None:
        here.asked = here.at >= CallStep.DECIDE


class QuestionAnswered(Event, frozen=True, kw_only=True, gc=False, tag="question_answered"):
    """A dialog other than a select ended, with what came back (null: nothing)."""

    question_id: str
    kind: DialogKind
    answer: Any
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}

    def says(self) -> str:
        return f"{self.kind} {self.question_id} ends: {_came_back(self.answer)}"

    def drawn(self, view: View) -> Drawn:
        if not view.overlapping:
            return Drawn(Lane.PERSON, view.asker, Stroke.ANSWER, _in_short(self.answer))
        if self.answer is None:  # closed by either side
            return note(view.desk, f"{self.question_id} ends without an answer")
        answer = self.answer if isinstance(self.answer, str) else stringify(self.answer)
        return Drawn(Lane.PERSON, view.desk, Stroke.ANSWER, f"{self.question_id}: {answer}")

    def step(self, order: Order, here: Here) -> int | None:
        return _back_at_the_desk(here) if order is Order.DESK else self.steps.get(order)


class LateReply(Event, frozen=True, kw_only=True, gc=False, tag="late_reply"):
    """A reply came for a question that was no longer open; it changed nothing."""

    question_id: str
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER, Order.DESK: DeskStep.BACK}
    shows: ClassVar[tuple[str, ...]] = ("lateReplies",)

    def says(self) -> str:
        return f"a reply to {self.question_id} comes too late and changes nothing"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, view.late, Stroke.REFUSE, f"to {self.question_id}, too late")


class SafetyAcknowledged(Event, frozen=True, kw_only=True, gc=False, tag="safety_acknowledged"):
    """Approve also acknowledged the provider's safety checks (wrapper/step-15)."""

    tool_name: str
    tool_call_id: str
    checks: int
    steps: ClassVar[Steps] = {Order.CALL: CallStep.SETTLE}
    shows: ClassVar[tuple[str, ...]] = ("providerSafetyApproved",)

    def says(self) -> str:
        return f"the same answer acknowledges {self.checks} safety check{'s' if self.checks != 1 else ''}"

    def drawn(self, view: View) -> Drawn:
        checks = "the safety check" if self.checks == 1 else f"{self.checks} safety checks"
        return view.decides(f"the same yes covers {checks}")


class CallReturned(Event, frozen=True, kw_only=True, gc=False, tag="call_returned"):
    """`execute` returned a result to its caller."""

    tool_name: str
    tool_call_id: str
    content: str
    is_error: bool
    steps: ClassVar[Steps] = {Order.CALL: CallStep.HAND_BACK}
    shows: ClassVar[tuple[str, ...]] = ("outcome", "errorIncludes", "successfulCalls")

    def says(self) -> str:
        return f"returns {'an error result' if self.is_error else 'a result'}: {self.content}"

    def drawn(self, view: View) -> Drawn:
        kind = "an error result" if self.is_error else "a result"
        return Drawn(view.gate, view.caller, Stroke.ANSWER, f"{kind}: {self.content}")


class CallThrew(Event, frozen=True, kw_only=True, gc=False, tag="call_threw"):
    """`execute` raised an error to its caller."""

    tool_name: str
    tool_call_id: str
    error: str
    error_name: str
    shows: ClassVar[tuple[str, ...]] = ("outcome", "errorIncludes")

    def says(self) -> str:
        return f"throws: {self.error}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(view.gate, view.caller, Stroke.REFUSE, self.error)

    def step(self, order: Order, here: Here) -> int | None:
        if order is not Order.CALL:
            return None
        if here.at >= CallStep.RUN:
            return CallStep.HAND_BACK
        if self.error == CANCELLED:
            return CallStep.HANDLERS
        if here.at == CallStep.DECIDE and self.error_name == AbortError.error_name:
            return CallStep.DECIDE  # given up while the call was not on screen yet
        return here.stops


_ANSWERS_DRAWN: Final = {
    "nothing": "changes nothing",
    "replaces": "replaces the input",
    "blocks": "blocks the call",
    "no replacement": "returns no input",
}


def dialog_broke(choice: object) -> bool:
    """Whether what a dialog came back with is how it broke, and no answer: something thrown, or the client gone."""
    return isinstance(choice, dict) and list(choice) in (["throw"], ["throwValue"], ["disconnect"])


def _in_short(choice: object) -> str:
    """What a dialog came back with, for a picture."""
    if choice is None:
        return "no answer"
    if isinstance(choice, dict):
        return "; ".join(f"{key}: {value}" for key, value in choice.items())
    return choice if isinstance(choice, str) else stringify(choice)


def _back_at_the_desk(here: Here) -> int | None:
    """A dialog is the Review Desk's own where it belongs to no call."""
    return None if here.in_call else DeskStep.BACK


def _select_step(order: Order, here: Here) -> int | None:
    match order:
        case Order.CALL:
            return CallStep.ASK if here.asked else None  # a handler's own dialog is a part of what is under way
        case Order.DESK:
            return _back_at_the_desk(here)
        case Order.HOST_CALL:
            return HostCallStep.APPROVER
    return None


def _select_passed(options: tuple[str, ...], choice: object, here: Here) -> None:
    here.runs = here.runs or (options == APPROVAL_OPTIONS and choice == APPROVE)
    if here.asked:
        here.broke = dialog_broke(choice)
        here.stops = CallStep.ASK if here.broke else CallStep.SETTLE


class Clock:
    """Simulated milliseconds since the case began. Only the stage moves it."""

    __slots__ = ("now_ms",)

    def __init__(self) -> None:
        self.now_ms = 0


class Ledger:
    """The ordered list of everything that happened on one stage.

    `append` takes any event record of this package (the dialog, dispatch and fallback parts bring their own).
    Iterating gives the records in order; `ledger[i]` is one of them.
    """

    __slots__ = ("append", "clock", "events")

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.events: list[Event] = []
        self.append = self.events.append  # bound once: this is the engine's most frequent call

    def snapshot(self) -> Ledger:
        """The ledger as it is now; what happens later is not in it."""
        copy = Ledger(self.clock)
        copy.events.extend(self.events)
        return copy

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __getitem__(self, index: int) -> Event:
        return self.events[index]


def as_mapping(event: Event) -> dict[str, Any]:
    """An event as a plain mapping with its wire names, `event` first; absent parts are absent."""
    built: dict[str, Any] = msgspec.to_builtins(event)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in built.items()}


def is_heard(event: Event) -> bool:
    """Whether the host itself tells of an event or takes it as a step; so it is compared with the real program."""
    return event.standing is not Standing.REMARK


def plainly(value: object) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else stringify(value)


def field_by_field(record: Mapping[str, Any], *left_out: str) -> str:
    """A record in no words of its own: its fields, but for those left out."""
    return ", ".join(f"{key}: {plainly(value)}" for key, value in record.items() if key not in left_out)


def _came_back(choice: Any, offered: Sequence[str] = ()) -> str:
    """What a dialog came back with, or how it broke. What was not offered is quoted: a blank can matter
    (wrapper/W-40).
    """
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
