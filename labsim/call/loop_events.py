"""The ledger's records of the agent loop: what it did with a batch of calls before and after the wrapper.

`tool_execution_start` is the real program's event; the
others are the simulator's remarks on steps that the real program takes silently, and none of them is compared.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from labsim.events.event import Event
from labsim.js_values import stringify
from labsim.places.steps import Here, LoopStep, Order, Steps


class Checked(StrEnum):
    """Whose arguments the loop put to the schema."""

    MODEL = "model"  # as the model sent them
    REPLACEMENT = "replacement"  # as a handler returned them


class HookOutcome(StrEnum):
    """What came of the per-call hook."""

    NO_HANDLERS = "no handlers"
    DENIED = "denied"  # no handler was asked: the wrapper is going to refuse the call
    UNCHANGED = "unchanged"
    MUTATED = "mutated"  # a handler changed the input in place and returned no other
    REPLACED = "replaced"
    BLOCKED = "blocked"
    FAILED = "failed"


class LoopEnding(StrEnum):
    """How one call of a batch ended. The first three end before anything counts as started."""

    NOT_FOUND = "not found"
    INVALID = "invalid arguments"
    INVALID_REPLACEMENT = "invalid replacement"
    BLOCKED = "blocked"
    HOOK_FAILED = "hook failed"
    RAISED = "raised"
    RETURNED = "returned"

    @property
    def started(self) -> bool:
        """Whether such a call got as far as `tool_execution_start` (wrapper/W-69, wrapper/W-73)."""
        return self not in (LoopEnding.NOT_FOUND, LoopEnding.INVALID, LoopEnding.INVALID_REPLACEMENT)


class ArgumentsChecked(Event, frozen=True, kw_only=True, gc=False, tag="arguments_checked"):
    """The schema was asked. `input` is what passed, repairs included; `problem` is there only where nothing did."""

    tool_name: str
    tool_call_id: str
    of: Checked
    input: Any = UNSET
    problem: str | UnsetType = UNSET

    def says(self) -> str:
        given = "the model's arguments" if self.of is Checked.MODEL else "the replacement"
        if self.problem is not UNSET:
            return f"the schema refuses {given}: {self.problem}"
        return f"the schema takes {given} as {stringify(self.input)}"

    def step(self, order: Order, here: Here) -> int | None:
        if order is not Order.LOOP:
            return None
        return LoopStep.REVISE if self.of is Checked.REPLACEMENT else LoopStep.CHECK


class MarkerSet(Event, frozen=True, kw_only=True, gc=False, tag="marker_set"):
    """The loop is about to emit `tool_call`, and leaves word for the wrapper not to (wrapper/W-68)."""

    tool_name: str
    tool_call_id: str
    steps: ClassVar[Steps] = {Order.LOOP: LoopStep.HOOK}

    def says(self) -> str:
        return "the loop emits tool_call itself, and leaves a marker for the wrapper"


class HookEnded(Event, frozen=True, kw_only=True, gc=False, tag="hook_ended"):
    """The per-call hook is over. `reason` is there only where it refused the call."""

    tool_name: str
    tool_call_id: str
    outcome: HookOutcome
    reason: str | UnsetType = UNSET
    steps: ClassVar[Steps] = {Order.LOOP: LoopStep.HOOK}

    def says(self) -> str:
        return f"the hook is over: {self.outcome}" + ("" if self.reason is UNSET else f", {self.reason}")


class MessageRevised(Event, frozen=True, kw_only=True, gc=False, tag="message_revised"):
    """A replacement was written back into the model's message, so that history says what will run
    (wrapper/W-70).
    """

    tool_name: str
    tool_call_id: str
    args: Any
    steps: ClassVar[Steps] = {Order.LOOP: LoopStep.REVISE}

    def says(self) -> str:
        return f"the model's message now says {stringify(self.args)}"


class ToolExecutionStart(Event, frozen=True, kw_only=True, gc=False, tag="tool_execution_start"):
    """The call's turn came; not proof that anything runs, for a blocked call has one too (wrapper/W-69)."""

    tool_name: str
    tool_call_id: str
    args: Any = UNSET
    steps: ClassVar[Steps] = {Order.LOOP: LoopStep.TURN}

    def says(self) -> str:
        return f"the turn of {self.tool_name} comes, with {stringify(self.args)}"


class LoopResulted(Event, frozen=True, kw_only=True, gc=False, tag="loop_result"):
    """What the model is told of one call; `content` is the visible text."""

    tool_name: str
    tool_call_id: str
    ending: LoopEnding
    content: str
    is_error: bool
    steps: ClassVar[Steps] = {Order.LOOP: LoopStep.RESULT}

    def says(self) -> str:
        told = "an error" if self.is_error else "a result"
        return f"the model is given {told} ({self.ending}): {self.content}"
