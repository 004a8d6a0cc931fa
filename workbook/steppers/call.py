"""One call of the first host, from the first event about it to its last: what can still stop it, and what did.

Around the wrapper there may be the agent loop, which prepares the call (wrapper/W-66 to wrapper/W-77).
"""

from __future__ import annotations

from labsim.call import loop_events as loop
from labsim.call.loop_events import HookOutcome
from labsim.call.nesting import Nesting
from labsim.events.call import CallReturned, CallStarted, CallThrew, ExtensionError, HandlerAnswered
from labsim.events.event import Event
from labsim.terms import EventName
from workbook.steppers.stops import Danger, Left, Stop
from workbook.steppers.tools import DeskTool, OrdinaryTool, WriteTool
from workbook.steppers.wrapper import HANDLERS, Gate, GateFollower, Inside


class _Loop:
    """What the agent loop does with a call before its turn (wrapper/W-66 to wrapper/W-77)."""

    def __init__(self) -> None:
        self.left = Left(Stop.UNKNOWN_TOOL, Stop.BAD_ARGUMENTS, Stop.HOOK_FAILS, *HANDLERS, Stop.BAD_REPLACEMENT)

    def take(self, event: Event, gate: Gate) -> None:
        left = self.left
        match event:
            case loop.ArgumentsChecked(of=loop.Checked.MODEL, problem=str()):
                left.settle(Stop.BAD_ARGUMENTS)
            case loop.ArgumentsChecked(of=loop.Checked.MODEL):
                left.rule_out(Stop.UNKNOWN_TOOL, Stop.BAD_ARGUMENTS)
            case loop.ArgumentsChecked(problem=str()):
                left.settle(Stop.BAD_REPLACEMENT)
            case loop.ArgumentsChecked():
                left.clear()
            case loop.MarkerSet():
                left.rule_out(Stop.HOOK_FAILS)
                gate.left.rule_out(*HANDLERS)  # the wrapper is not going to ask them again (wrapper/W-68)
            case HandlerAnswered(answer="blocks"):
                left.settle(Stop.HANDLER_BLOCKS)
            case ExtensionError(on=EventName.TOOL_CALL):
                left.settle(Stop.HANDLER_FAILS)
            case loop.HookEnded(outcome=outcome):
                self._hooked(outcome, gate)

    def _hooked(self, outcome: HookOutcome, gate: Gate) -> None:
        match outcome:
            case HookOutcome.FAILED:
                self.left.settle(Stop.HOOK_FAILS)
            case HookOutcome.BLOCKED:
                self.left.settle(Stop.ABORT_IN_HANDLERS)  # unless a handler has said before why
            case HookOutcome.REPLACED:
                self.left.only(Stop.BAD_REPLACEMENT)
            case HookOutcome.DENIED:
                self.left.clear()
                gate.left.settle(Stop.DENY_ORIGINAL)  # the wrapper is going to say so, at its turn (wrapper/W-67)
            case HookOutcome.NO_HANDLERS:
                self.left.clear()
                gate.left.rule_out(*HANDLERS)
            case _:
                self.left.clear()


class CallFollower:
    """One call of the first host, from the first event about it to its last.

    `subject` is its id. `over` is how it ended, "" while it has not.
    """

    def __init__(self, call_id: str, inside: Inside, *, looped: bool = False) -> None:
        self.subject = call_id
        self.over = ""
        self.ended_by: Danger | None = None
        self._wrapped = GateFollower(inside)
        self._loop = _Loop() if looped else None
        self._depth = 0

    @property
    def policy(self) -> str:
        return self._wrapped.policy

    def expects(self, event: Event) -> bool:
        """Whether an event that names no call is likely about this one."""
        if self._wrapped.over:
            return False
        within = self._wrapped.inside.gate
        return self._wrapped.gate.expects(event) or (within is not None and within.expects(event))

    def concerns(self, event: Event, *, mine: bool) -> bool:
        return mine

    def take(self, event: Event) -> None:
        self._depth += isinstance(event, CallStarted)
        if self._depth:
            self._wrapped.take(event, Nesting.INNER if self._depth > 1 else Nesting.OUTER)
        elif self._loop is not None:
            self._loop.take(event, self._wrapped.gate)
        self._depth -= isinstance(event, CallReturned | CallThrew)
        if self._loop is None:
            self.over, self.ended_by = self._wrapped.over, self._wrapped.ended_by
        elif isinstance(event, loop.LoopResulted):
            self._ended_in_the_loop(event)

    @property
    def certain(self) -> Danger | None:
        """What has stopped it, even where it has not ended yet."""
        in_the_loop = None if self._loop is None else self._loop.left.certain
        return self._wrapped.certain if in_the_loop is None else Danger(in_the_loop)

    def dangers(self) -> tuple[Danger, ...]:
        """What can still stop it, in the order in which the call would meet it."""
        if self.over:
            return ()
        if self.certain is not None:
            return (self.certain,)
        prepared = () if self._loop is None else tuple(map(Danger, self._loop.left))
        last = (Danger(Stop.NO_CONTENT),) if self._loop is not None else ()
        return tuple(dict.fromkeys((*prepared, *self._wrapped.dangers(), *last)))

    def _ended_in_the_loop(self, event: loop.LoopResulted) -> None:
        """The result that the model is given: the end of a call that came through the loop."""
        self.ended_by = self.certain
        self.over = "gave the model an error" if event.is_error else "gave the model a result"
        if self.ended_by is None and event.is_error and self._wrapped.over == "returned":
            self.ended_by = Danger(Stop.NO_CONTENT)
        elif event.ending is loop.LoopEnding.NOT_FOUND:
            self.ended_by = Danger(Stop.UNKNOWN_TOOL)


def ordinary(call_id: str) -> CallFollower:
    """A call of an ordinary tool."""
    return CallFollower(call_id, OrdinaryTool())


def through_the_loop(call_id: str) -> CallFollower:
    """The same, prepared by the agent loop."""
    return CallFollower(call_id, OrdinaryTool(), looped=True)


def dispatching(call_id: str) -> CallFollower:
    """A call of `write`."""
    return CallFollower(call_id, WriteTool())


def at_the_review_desk(call_id: str) -> CallFollower:
    """A call of the Review Desk's tool."""
    return CallFollower(call_id, DeskTool())
