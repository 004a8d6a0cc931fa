"""The events of one call at the tool gate: what extensions are told, the host's own steps, and remarks on them."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from msgspec import UNSET, UnsetType

from labsim.approval import Resolution
from labsim.errors import CANCELLED, AbortError
from labsim.events.event import Event
from labsim.js_values import stringify
from labsim.places.lanes import Drawn, Lane, Stroke, View, note
from labsim.places.steps import CallStep, Here, HostCallStep, Order, Steps
from labsim.terms import ApprovalMode, EventName, Policy, Standing, Tier


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
