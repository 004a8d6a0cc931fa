"""What happened, in order: the event records and the ledger that keeps them.

Above `terms` and `approval`, below everything that emits. A record is frozen, and what it quotes of a call's
input is a copy, so the ledger shows what was, not what became of it. Field names on the wire are those of the
recorded answers; `atMs` is simulated time.

Two kinds of event stand side by side. *Heard* events are those that a recording extension hears or that the
dialog and the executor note themselves: these are compared with the real program. *Desk* events are the
simulator's own remarks on a step that the real program takes silently (which rule decided, what a handler
returned, that a question is open); they explain, and are never compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.approval import Resolution
from labsim.errors import CANCELLED, AbortError
from labsim.hostvalues import stringify
from labsim.lanes import Drawn, Lane, Stroke, View, note
from labsim.steps import CallStep, DeskStep, Here, HostCallStep, Order, Steps
from labsim.terms import APPROVAL_OPTIONS, APPROVE, ApprovalMode, DialogKind, EventName, Policy, Tier


class Event(Struct, frozen=True, kw_only=True, gc=False, tag_field="event", rename="camel"):
    """What every record has: the simulated millisecond it happened at.

    Not tracked by the cycle collector: a record quotes copies of JSON values, which cannot point back at it, and
    a long ledger of tracked records would have the collector walk all of it again and again.
    """

    at_ms: int
    #: On which step of which list it stands, where that is always the same one.
    steps: ClassVar[Steps] = {}

    def drawn(self, view: View) -> Drawn | None:
        """How a sequence picture shows it, by what the picture knows then; None: as a remark of the desk."""
        return None

    def step(self, order: Order, here: Here) -> int | None:
        """The step of a list that it stands on, with the walk along its call at `here`; None: on none by itself."""
        return self.steps.get(order)

    def passed(self, here: Here) -> None:
        """Notes in `here` what is different for the events after it."""


# ---------------------------------------------------------------------------------------------- heard events


class ToolCallEvent(Event, frozen=True, kw_only=True, gc=False, tag="tool_call"):
    """A `tool_call` event reached the handlers; input as it was when the recorder heard it."""

    tool_name: str
    tool_call_id: str
    input: Any = UNSET
    steps: ClassVar[Steps] = {Order.CALL: CallStep.HANDLERS}

    def drawn(self, view: View) -> Drawn:
        return view.tells_handlers(stringify(self.input))

    def passed(self, here: Here) -> None:
        here.stops = CallStep.JUDGE_EFFECTIVE  # the next thing that can fail without a word of its own


class ApprovalRequested(Event, frozen=True, kw_only=True, gc=False, tag="tool_approval_requested"):
    """A decision is needed. Not proof that a dialog was shown (W-35)."""

    session_id: str
    tool_name: str
    tool_call_id: str
    reason: str | UnsetType = UNSET
    approval_mode: ApprovalMode
    steps: ClassVar[Steps] = {Order.CALL: CallStep.ANNOUNCE}

    def drawn(self, view: View) -> Drawn:
        return view.tells_handlers(f"mode {self.approval_mode}")


class ApprovalResolved(Event, frozen=True, kw_only=True, gc=False, tag="tool_approval_resolved"):
    """The decision was made; `reason` is there only when it was a no (section 7)."""

    session_id: str
    tool_name: str
    tool_call_id: str
    approved: bool
    reason: str | UnsetType = UNSET

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

    def drawn(self, view: View) -> Drawn:
        return view.tells_handlers(f"{'error' if self.is_error else 'result'}: {self.content}")


class PreviewWait(Event, frozen=True, kw_only=True, gc=False, tag="preview_wait"):
    """The call waited until its preview was on screen (W-27)."""

    tool_call_id: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.DECIDE}

    def drawn(self, view: View) -> Drawn:
        return view.decides("waits until the call is on screen")

    def passed(self, here: Here) -> None:
        here.stops = CallStep.ASK


class TierResolved(Event, frozen=True, kw_only=True, gc=False, tag="tier_resolved"):
    """The caller's tier callback was told the effective tier (W step 6). A dispatch brings its own, silent one."""

    tier: Tier
    steps: ClassVar[Steps] = {Order.CALL: CallStep.JUDGE_EFFECTIVE}

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


HeardEvent: TypeAlias = (
    ToolCallEvent
    | ApprovalRequested
    | ApprovalResolved
    | UiSelect
    | RpcSelect
    | Execute
    | ToolResultEvent
    | PreviewWait
    | TierResolved
    | ExtensionError
)

# ----------------------------------------------------------------------------------------------- desk events


class CallStarted(Event, frozen=True, kw_only=True, gc=False, tag="call_started"):
    """`execute` was called; steps 1 to 17 follow."""

    tool_name: str
    tool_call_id: str
    input: Any = UNSET
    steps: ClassVar[Steps] = {Order.CALL: CallStep.PREPARE}

    def drawn(self, view: View) -> Drawn:
        given = stringify(self.input)
        says = given if view.overlapping else f"{self.tool_name} {given}"
        return Drawn(view.caller, view.gate, Stroke.TELL, says)


class MarkerConsumed(Event, frozen=True, kw_only=True, gc=False, tag="marker_consumed"):
    """The agent loop had already emitted `tool_call` for this call, so the wrapper does not (W-1)."""

    tool_name: str
    tool_call_id: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.PREPARE}

    def drawn(self, view: View) -> Drawn:
        return view.decides("the loop has emitted tool_call already")


class ModeMisspelt(Event, frozen=True, kw_only=True, gc=False, tag="mode_misspelt"):
    """The configured mode is none, so the call is judged in yolo: a typing mistake opens everything (A-19)."""

    tool_name: str
    tool_call_id: str
    configured: Any
    steps: ClassVar[Steps] = {Order.CALL: CallStep.PREPARE}


class PolicyResolved(Event, frozen=True, kw_only=True, gc=False, tag="policy_resolved"):
    """Resolution ran, on the original input (step 3) or on the effective one (step 5), and this came out."""

    tool_name: str
    tool_call_id: str
    on: str  # "original" or "effective"
    resolution: Resolution

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

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.REFUSE if self.answer == "blocks" else Stroke.ANSWER
        says = f"{self.extension_path} {_ANSWERS_DRAWN.get(self.answer, self.answer)}"
        if self.input is not UNSET:
            says += f": {stringify(self.input)}"
        return Drawn(Lane.HANDLERS, view.gate, stroke, says)

    def passed(self, here: Here) -> None:
        here.stops = CallStep.HANDLERS if self.answer == "blocks" else CallStep.JUDGE_EFFECTIVE


class PromptDecided(Event, frozen=True, kw_only=True, gc=False, tag="prompt_decided"):
    """Step 8: whether a person must be asked, and the term of the formula that settled it (section 5)."""

    tool_name: str
    tool_call_id: str
    required: bool
    because: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.DECIDE}

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

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, view.late, Stroke.REFUSE, f"to {self.question_id}, too late")


class SafetyAcknowledged(Event, frozen=True, kw_only=True, gc=False, tag="safety_acknowledged"):
    """Approve also acknowledged the provider's safety checks (step 15)."""

    tool_name: str
    tool_call_id: str
    checks: int
    steps: ClassVar[Steps] = {Order.CALL: CallStep.SETTLE}

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

    def drawn(self, view: View) -> Drawn:
        kind = "an error result" if self.is_error else "a result"
        return Drawn(view.gate, view.caller, Stroke.ANSWER, f"{kind}: {self.content}")


class CallThrew(Event, frozen=True, kw_only=True, gc=False, tag="call_threw"):
    """`execute` raised an error to its caller."""

    tool_name: str
    tool_call_id: str
    error: str
    error_name: str

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


DeskEvent: TypeAlias = (
    CallStarted
    | MarkerConsumed
    | ModeMisspelt
    | PolicyResolved
    | HandlerAnswered
    | PromptDecided
    | QuestionAsked
    | QuestionAnswered
    | LateReply
    | SafetyAcknowledged
    | CallReturned
    | CallThrew
)


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


def as_mapping(event: Struct) -> dict[str, Any]:
    """An event as a plain mapping with its wire names, `event` first; absent parts are absent."""
    built: dict[str, Any] = msgspec.to_builtins(event)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in built.items()}


_HEARD = frozenset(get_args(HeardEvent))


def is_heard(event: Struct) -> bool:
    """Whether an event is of the kind that is compared with the real program."""
    return type(event) in _HEARD
