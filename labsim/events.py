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
from typing import Any, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.approval import Resolution
from labsim.terms import ApprovalMode, DialogKind, Tier


class Event(Struct, frozen=True, kw_only=True, gc=False, tag_field="event", rename="camel"):
    """What every record has: the simulated millisecond it happened at.

    Not tracked by the cycle collector: a record quotes copies of JSON values, which cannot point back at it, and
    a long ledger of tracked records would have the collector walk all of it again and again.
    """

    at_ms: int


# ---------------------------------------------------------------------------------------------- heard events


class ToolCallEvent(Event, frozen=True, kw_only=True, gc=False, tag="tool_call"):
    """A `tool_call` event reached the handlers; input as it was when the recorder heard it."""

    tool_name: str
    tool_call_id: str
    input: Any = UNSET


class ApprovalRequested(Event, frozen=True, kw_only=True, gc=False, tag="tool_approval_requested"):
    """A decision is needed. Not proof that a dialog was shown (W-35)."""

    session_id: str
    tool_name: str
    tool_call_id: str
    reason: str | UnsetType = UNSET
    approval_mode: ApprovalMode


class ApprovalResolved(Event, frozen=True, kw_only=True, gc=False, tag="tool_approval_resolved"):
    """The decision was made; `reason` is there only when it was a no (section 7)."""

    session_id: str
    tool_name: str
    tool_call_id: str
    approved: bool
    reason: str | UnsetType = UNSET


class UiSelect(Event, frozen=True, kw_only=True, gc=False, tag="ui.select"):
    """A select dialog ended. `choice` is what came back: a label, null for nothing, or how it failed."""

    options: tuple[str, ...]
    choice: Any


class RpcSelect(Event, frozen=True, kw_only=True, gc=False, tag="rpc.select"):
    """The same, where the dialog went to a client over RPC."""

    options: tuple[str, ...]
    choice: Any


class Execute(Event, frozen=True, kw_only=True, gc=False, tag="execute"):
    """The inert executor was entered: the one event that stands for an effect."""

    tool: str
    tool_call_id: str
    input: Any = UNSET


class ToolResultEvent(Event, frozen=True, kw_only=True, gc=False, tag="tool_result"):
    """A `tool_result` event reached the handlers; `content` is the visible text."""

    tool_name: str
    tool_call_id: str
    input: Any = UNSET
    content: str
    details: Any = UNSET
    is_error: bool


class PreviewWait(Event, frozen=True, kw_only=True, gc=False, tag="preview_wait"):
    """The call waited until its preview was on screen (W-27)."""

    tool_call_id: str


class TierResolved(Event, frozen=True, kw_only=True, gc=False, tag="tier_resolved"):
    """The caller's tier callback was told the effective tier (W step 6). A dispatch brings its own, silent one."""

    tier: Tier


class ExtensionError(Event, frozen=True, kw_only=True, gc=False, tag="extension_error"):
    """A handler failed or took too long; `on` is the event it was handling."""

    extension_path: str
    on: str
    error: str


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


class MarkerConsumed(Event, frozen=True, kw_only=True, gc=False, tag="marker_consumed"):
    """The agent loop had already emitted `tool_call` for this call, so the wrapper does not (W-1)."""

    tool_name: str
    tool_call_id: str


class ModeMisspelt(Event, frozen=True, kw_only=True, gc=False, tag="mode_misspelt"):
    """The configured mode is none, so the call is judged in yolo: a typing mistake opens everything (A-19)."""

    tool_name: str
    tool_call_id: str
    configured: Any


class PolicyResolved(Event, frozen=True, kw_only=True, gc=False, tag="policy_resolved"):
    """Resolution ran, on the original input (step 3) or on the effective one (step 5), and this came out."""

    tool_name: str
    tool_call_id: str
    on: str  # "original" or "effective"
    resolution: Resolution


class HandlerAnswered(Event, frozen=True, kw_only=True, gc=False, tag="handler_answered"):
    """One `tool_call` handler answered: `nothing`, `replaces`, `blocks`, or `no replacement`."""

    extension_path: str
    tool_name: str
    tool_call_id: str
    answer: str
    input: Any = UNSET


class PromptDecided(Event, frozen=True, kw_only=True, gc=False, tag="prompt_decided"):
    """Step 8: whether a person must be asked, and the term of the formula that settled it (section 5)."""

    tool_name: str
    tool_call_id: str
    required: bool
    because: str


class QuestionAsked(Event, frozen=True, kw_only=True, gc=False, tag="question_asked"):
    """A dialog opened. `title` is the whole text shown; it can hold a tool's input and is never markup."""

    question_id: str
    kind: DialogKind
    title: str
    options: tuple[str, ...] = ()


class QuestionAnswered(Event, frozen=True, kw_only=True, gc=False, tag="question_answered"):
    """A dialog other than a select ended, with what came back (null: nothing)."""

    question_id: str
    kind: DialogKind
    answer: Any


class LateReply(Event, frozen=True, kw_only=True, gc=False, tag="late_reply"):
    """A reply came for a question that was no longer open; it changed nothing."""

    question_id: str


class SafetyAcknowledged(Event, frozen=True, kw_only=True, gc=False, tag="safety_acknowledged"):
    """Approve also acknowledged the provider's safety checks (step 15)."""

    tool_name: str
    tool_call_id: str
    checks: int


class CallReturned(Event, frozen=True, kw_only=True, gc=False, tag="call_returned"):
    """`execute` returned a result to its caller."""

    tool_name: str
    tool_call_id: str
    content: str
    is_error: bool


class CallThrew(Event, frozen=True, kw_only=True, gc=False, tag="call_threw"):
    """`execute` raised an error to its caller."""

    tool_name: str
    tool_call_id: str
    error: str
    error_name: str


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
        self.events: list[Struct] = []
        self.append = self.events.append  # bound once: this is the engine's most frequent call

    def snapshot(self) -> Ledger:
        """The ledger as it is now; what happens later is not in it."""
        copy = Ledger(self.clock)
        copy.events.extend(self.events)
        return copy

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Struct]:
        return iter(self.events)

    def __getitem__(self, index: int) -> Struct:
        return self.events[index]


def as_mapping(event: Struct) -> dict[str, Any]:
    """An event as a plain mapping with its wire names, `event` first; absent parts are absent."""
    built: dict[str, Any] = msgspec.to_builtins(event)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in built.items()}


_HEARD = frozenset(get_args(HeardEvent))


def is_heard(event: Struct) -> bool:
    """Whether an event is of the kind that is compared with the real program."""
    return type(event) in _HEARD
