"""One call of the first host, followed event by event: what can still stop it, and what did.

Above `stepper_stops`, below `stepping`; beside `stepper_gate`, `stepper_review` and `stepper_host`. Knows a call by
its events only, never by what the case was given: so at any row it says what the rules leave open, and not what
this case is going to do. A follower begins with everything that its part of the call could stop it by
(spec/wrapper.md section 2); each event rules something out, or makes one of them certain.

Around one gate lie up to two more things: the agent loop, which prepares the call (`_Loop`), and what the tool
itself does behind the gate (`_Tool`, `_Write`, `_DeskTool`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from msgspec import Struct

from labsim.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallReturned,
    CallStarted,
    CallThrew,
    ExtensionError,
    HandlerAnswered,
    MarkerConsumed,
    PolicyResolved,
    PromptDecided,
    QuestionAsked,
    RpcSelect,
    ToolResultEvent,
    UiSelect,
)
from labsim.extensions import CANCELLED
from labsim.handlers import EventName
from labsim.lanes import Lane
from labsim.loop_events import LoopEnding, LoopResulted
from labsim.terms import APPROVAL_OPTIONS, APPROVE, Policy
from labsim.wrapper import DENIED_REASON
from workbook.stepper_stops import Danger, Left, Stop

_HANDLERS: Final = (Stop.HANDLER_BLOCKS, Stop.HANDLER_FAILS, Stop.ABORT_IN_HANDLERS)
_ASKING: Final = (
    Stop.ABORT_IN_PREVIEW,
    Stop.NO_UI,
    Stop.DIALOG_BREAKS,
    Stop.NOT_APPROVED,
    Stop.UNANSWERED,
)
_FAILURES: Final = (["throw"], ["throwValue"], ["disconnect"])  # a choice of this shape is how a dialog broke
_READS_ONLY: Final = ("discover", "inspect", "query")  # operations of the desk's tool that no check refuses (V-30)


def decision(event: PolicyResolved) -> str:
    """A judgement in a few words: the policy, who decided by which rule, and on which input."""
    found = event.resolution
    return f"{found.policy} by {found.source} ({found.rule}), on the {event.on} input"


class _Gate:
    """Steps 1 to 15 of one `execute`."""

    def __init__(self) -> None:
        self.left = Left(Stop.RULE_FAILS, Stop.DENY_ORIGINAL, *_HANDLERS, Stop.DENY_EFFECTIVE, *_ASKING)
        self.policy = ""
        self.required: bool | None = None  # None: not decided yet
        self.open = False  # the gate's own dialog is, or was, on screen
        self.passed = False  # nothing here can stop the call any more
        self._frame: object = None  # the id of the dialog's request, where it went over RPC

    def take(self, event: Struct) -> None:
        left = self.left
        match event:
            case MarkerConsumed():
                left.rule_out(*_HANDLERS)  # the loop has asked them
            case PolicyResolved(resolution=found, on=on):
                self.policy = decision(event)
                denied = found.policy is Policy.DENY
                if on == "original":
                    left.settle(Stop.DENY_ORIGINAL) if denied else left.rule_out(Stop.DENY_ORIGINAL)
                elif denied:
                    left.settle(Stop.DENY_EFFECTIVE)
                else:
                    left.only(*_ASKING)  # pending safety checks may still ask, whatever the policy (W-20)
            case HandlerAnswered(answer="blocks"):
                left.settle(Stop.HANDLER_BLOCKS)
            case ExtensionError(on=EventName.TOOL_CALL):
                left.settle(Stop.HANDLER_FAILS)
            case PromptDecided(required=required):
                self.required = required
                if not required:
                    self._pass()
            case ApprovalRequested():
                left.rule_out(Stop.ABORT_IN_PREVIEW)
            case ApprovalResolved(approved=True):
                self._pass()
            case ApprovalResolved(reason=reason):
                if not self.open:
                    left.settle(Stop.NO_UI)
                left.settle(Stop.NOT_APPROVED if reason == DENIED_REASON else Stop.DIALOG_BREAKS)
            case QuestionAsked(options=options) if self._is_asking(options):
                self._opened()
            case UiSelect(options=options, choice=choice) | RpcSelect(options=options, choice=choice):
                if self.open and self._is_asking(options):
                    self._answered(choice)
            case CallThrew():
                left.settle(self._failed(event))
            case _ if type(event).__module__ == "labsim.rpc.ledger":
                self._heard(event)

    def expects(self, event: Struct) -> bool:
        """Whether this may well be the gate that an event is about which names no call."""
        if isinstance(event, QuestionAsked):
            return not self.open and self._is_asking(event.options)
        if isinstance(event, UiSelect | RpcSelect):
            return self.open and self._is_asking(event.options)
        return False

    def _is_asking(self, options: tuple[str, ...]) -> bool:
        return self.required is True and not self.passed and options == APPROVAL_OPTIONS

    def _opened(self) -> None:
        self.open = True
        self.left.rule_out(Stop.ABORT_IN_PREVIEW, Stop.NO_UI)

    def _pass(self) -> None:
        self.passed = True
        self.left.clear()

    def _answered(self, choice: Any) -> None:
        if isinstance(choice, str) and choice == APPROVE:
            self._pass()
        else:
            broke = isinstance(choice, Mapping) and list(choice) in _FAILURES
            self.left.settle(Stop.DIALOG_BREAKS if broke else Stop.NOT_APPROVED)

    def _heard(self, event: Struct) -> None:
        """The dialog over RPC: its request goes out before it counts as asked, and it is settled before it ends."""
        from labsim.rpc.ledger import DialogSettled, FrameSent

        match event:
            case FrameSent(frame=frame) if frame.get("method") == "select":
                if not self.open and self._is_asking(tuple(frame.get("options", ()))):
                    self._frame = frame.get("id")
                    self._opened()
            case DialogSettled(dialog_id=dialog, error=error, value=value) if self.open and not self.passed:
                if dialog == self._frame:
                    self._answered({"throw": error} if error is not None else value)

    def _failed(self, event: CallThrew) -> Stop:
        """What an error was that left without a word before it."""
        if event.error == CANCELLED:
            return Stop.ABORT_IN_HANDLERS
        if self.required is None:
            return Stop.RULE_FAILS
        if event.error_name == "AbortError":
            return Stop.ABORT_IN_PREVIEW
        return Stop.NOT_APPROVED if self.open else Stop.NO_UI


class _Inside(Protocol):
    """What lies behind the gate: the tool."""

    def take(self, event: Struct, lane: Lane) -> None: ...

    def dangers(self) -> Iterable[Danger]: ...

    def failed(self) -> Danger:
        """What it was, once the tool is known to have failed."""
        ...

    @property
    def happened(self) -> Danger | None:
        """What is certain already."""
        ...

    @property
    def gate(self) -> _Gate | None:
        """The gate inside, while it has the call."""
        ...


class _Tool:
    """An ordinary tool: it does its work, or fails."""

    happened: Danger | None = None
    gate: _Gate | None = None

    def take(self, event: Struct, lane: Lane) -> None:
        """Nothing that it does rules out that it fails yet."""

    def dangers(self) -> Iterable[Danger]:
        return (Danger(Stop.TOOL_FAILS),)

    def failed(self) -> Danger:
        return Danger(Stop.TOOL_FAILS)


class _DeskTool:
    """The Review Desk's own tool, which either makes its change or says which check failed."""

    gate: _Gate | None = None

    def __init__(self) -> None:
        self.left = Left(Stop.NO_NOTE, Stop.ACT_CHECK, Stop.NOT_SAVED)

    @property
    def happened(self) -> Danger | None:
        return None if self.left.certain is None else Danger(self.left.certain)

    def take(self, event: Struct, lane: Lane) -> None:
        from labsim.review.events import ActRefused, NoteRecorded, StepTaken
        from labsim.review.states import Action

        match event:
            case CallStarted(input=given) | HandlerAnswered(answer="replaces", input=given):
                self._asked_for(given)
            case ActRefused():
                self.left.settle(Stop.ACT_CHECK)
            case NoteRecorded() | StepTaken(action=Action.READ):
                self.left.clear()
            case StepTaken(action=Action.APPEND_FAILED):
                self.left.settle(Stop.NOT_SAVED)

    def _asked_for(self, given: Any) -> None:
        op = given.get("op") if isinstance(given, Mapping) else None
        reads = isinstance(op, str) and op in _READS_ONLY
        self.left = Left(Stop.NO_NOTE) if reads else Left(Stop.NO_NOTE, Stop.ACT_CHECK, Stop.NOT_SAVED)

    def dangers(self) -> Iterable[Danger]:
        return map(Danger, self.left)

    def failed(self) -> Danger:
        self.left.settle(Stop.NO_NOTE)
        return self.happened or Danger(Stop.TOOL_FAILS)


class _Write:
    """`write`, which reads an address and passes the call on to the gate of a device."""

    def __init__(self) -> None:
        self.left = Left(
            *(Stop.WRITE_REFUSES, Stop.NO_ADDRESS, Stop.NOTHING_STAGED, Stop.BAD_REPORT),
            *(Stop.NO_DEVICE, Stop.ONLY_DOCS, Stop.BAD_CONTENT),
        )
        self.device: GateFollower | None = GateFollower(
            _Tool(), inner=True
        )  # None: no device is going to be called
        self.writes_file = False

    @property
    def gate(self) -> _Gate | None:
        device = self.device
        return device.gate if device is not None and device.started and not device.over else None

    @property
    def happened(self) -> Danger | None:
        if self.left.certain is not None:
            return Danger(self.left.certain)
        return None if self.device is None else self.device.certain

    def take(self, event: Struct, lane: Lane) -> None:
        if lane is Lane.INNER:
            if self.device is not None:
                self.left.clear()
                self.device.take(event)
        elif type(event).__module__ == "labsim.dispatch.events":
            self._routed(event)

    def _routed(self, event: Struct) -> None:
        from labsim.dispatch import events as route

        left = self.left
        match event:
            case route.AddressRead(target=route.Target.DEVICE):
                left.only(Stop.NO_ADDRESS, Stop.NO_DEVICE, Stop.ONLY_DOCS, Stop.BAD_CONTENT)
            case route.AddressRead(target=route.Target.SPECIAL, device=device):
                left.only(Stop.BAD_REPORT if device == "report_issue" else Stop.NOTHING_STAGED)
                self.device = None
            case route.AddressRead(target=route.Target.FILE):
                left.clear()
                self.device, self.writes_file = None, True
            case route.AddressRead():
                left.settle(Stop.NO_ADDRESS)
            case route.DeviceSought(found=found):
                left.rule_out(Stop.NO_ADDRESS, Stop.NO_DEVICE) if found else left.settle(Stop.NO_DEVICE)
            case route.DocsReturned():
                left.settle(Stop.ONLY_DOCS)
            case route.ContentRefused():
                left.settle(Stop.BAD_CONTENT)
            case route.ContentRead():
                left.clear()
            case route.StagedSought(device="reject") | route.ReportKept():
                left.clear()

    def dangers(self) -> Iterable[Danger]:
        if self.happened is not None:
            return (self.happened,)
        made = [*map(Danger, self.left)]
        if self.writes_file:
            made.append(Danger(Stop.TOOL_FAILS))
        return made if self.device is None else [*made, *self.device.dangers()]

    def failed(self) -> Danger:
        if self.happened is None:
            self.left.settle(next(iter(self.left), Stop.TOOL_FAILS))  # it stopped at the first that was left
        return self.happened or Danger(Stop.TOOL_FAILS)


class GateFollower:
    """One `execute`: its gate, the tool behind it, and the handlers of the result."""

    def __init__(self, inside: _Inside, *, inner: bool = False) -> None:
        self.gate = _Gate()
        if inner:
            self.gate.left.rule_out(Stop.ABORT_IN_PREVIEW)  # what is on screen is the outer call (W-27)
        self.inside = inside
        self.inner = inner
        self.started = False
        self.over = ""  # how it ended, in a word
        self.ended_by: Danger | None = None
        self._replaceable = True  # a result handler may still make an error of a result
        self._done = False  # the tool has done its work

    @property
    def policy(self) -> str:
        """The policy in force: of the gate inside, while that one has the call."""
        within = self.inside.gate
        return within.policy if within is not None and within.policy else self.gate.policy

    def take(self, event: Struct, lane: Lane = Lane.OUTER) -> None:
        self.started = True
        if lane is Lane.INNER:
            self.inside.take(event, lane)
            return
        if not self.gate.passed:
            self.gate.take(event)
            if isinstance(event, CallStarted | HandlerAnswered):
                self.inside.take(event, lane)
        elif not isinstance(event, ToolResultEvent | CallReturned | CallThrew):
            self.inside.take(event, lane)
        match event:
            case ToolResultEvent(is_error=True):
                self._failed()
            case ToolResultEvent():
                self._done = True
            case CallReturned(is_error=is_error):
                # An error that nobody heard of as a result may be the tool's or a handler's: no telling which.
                replaced = is_error and self._done and self.certain is None
                self.ended_by = self._mine(Stop.RESULT_REPLACED) if replaced else self.certain
                self.over = "returned an error result" if is_error else "returned"
            case CallThrew():
                self._failed()
                self.over = "threw"

    @property
    def certain(self) -> Danger | None:
        """What has stopped it, even where it has not ended yet."""
        if self.ended_by is not None:
            return self.ended_by
        stopped = self.gate.left.certain
        return self._mine(stopped) if stopped is not None else self.inside.happened

    def dangers(self) -> tuple[Danger, ...]:
        """What can still stop it, in the order in which the call would meet it."""
        if self.over:
            return ()
        if self.certain is not None:
            return (self.certain,)
        tool = [] if self._done else [self._mine(one.stop) if self.inner else one for one in self.inside.dangers()]
        return (*map(self._mine, self.gate.left), *tool, self._mine(Stop.RESULT_REPLACED))

    def _mine(self, stop: Stop) -> Danger:
        return Danger(stop, self.inner)

    def _failed(self) -> None:
        if self.certain is None:
            found = self.inside.failed()
            self.ended_by = self._mine(found.stop) if self.inner else found
        else:
            self.ended_by = self.certain


class _Loop:
    """What the agent loop does with a call before its turn (section 11)."""

    def __init__(self) -> None:
        self.left = Left(Stop.UNKNOWN_TOOL, Stop.BAD_ARGUMENTS, Stop.HOOK_FAILS, *_HANDLERS, Stop.BAD_REPLACEMENT)

    def take(self, event: Struct, gate: _Gate) -> None:
        from labsim import loop_events as loop

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
                gate.left.rule_out(*_HANDLERS)  # the wrapper is not going to ask them again (W-68)
            case HandlerAnswered(answer="blocks"):
                left.settle(Stop.HANDLER_BLOCKS)
            case ExtensionError(on=EventName.TOOL_CALL):
                left.settle(Stop.HANDLER_FAILS)
            case loop.HookEnded(outcome=outcome):
                self._hooked(outcome, gate)

    def _hooked(self, outcome: Any, gate: _Gate) -> None:
        from labsim.loop_events import HookOutcome

        match outcome:
            case HookOutcome.FAILED:
                self.left.settle(Stop.HOOK_FAILS)
            case HookOutcome.BLOCKED:
                self.left.settle(Stop.ABORT_IN_HANDLERS)  # unless a handler has said before why
            case HookOutcome.REPLACED:
                self.left.only(Stop.BAD_REPLACEMENT)
            case HookOutcome.DENIED:
                self.left.clear()
                gate.left.settle(Stop.DENY_ORIGINAL)  # the wrapper is going to say so, at its turn (W-67)
            case HookOutcome.NO_HANDLERS:
                self.left.clear()
                gate.left.rule_out(*_HANDLERS)
            case _:
                self.left.clear()


class CallFollower:
    """One call of the first host, from the first event about it to its last.

    `subject` is its id. `over` is how it ended, "" while it has not.
    """

    def __init__(self, call_id: str, inside: _Inside, *, looped: bool = False) -> None:
        self.subject = call_id
        self.over = ""
        self.ended_by: Danger | None = None
        self._wrapped = GateFollower(inside)
        self._loop = _Loop() if looped else None
        self._depth = 0

    @property
    def policy(self) -> str:
        return self._wrapped.policy

    def expects(self, event: Struct) -> bool:
        """Whether an event that names no call is likely about this one."""
        if self._wrapped.over:
            return False
        within = self._wrapped.inside.gate
        return self._wrapped.gate.expects(event) or (within is not None and within.expects(event))

    def concerns(self, event: Struct, *, mine: bool) -> bool:
        return mine

    def take(self, event: Struct) -> None:
        self._depth += isinstance(event, CallStarted)
        if self._depth:
            self._wrapped.take(event, Lane.INNER if self._depth > 1 else Lane.OUTER)
        elif self._loop is not None:
            self._loop.take(event, self._wrapped.gate)
        self._depth -= isinstance(event, CallReturned | CallThrew)
        if self._loop is None:
            self.over, self.ended_by = self._wrapped.over, self._wrapped.ended_by
        elif isinstance(event, LoopResulted):
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
        loop = () if self._loop is None else tuple(map(Danger, self._loop.left))
        last = (Danger(Stop.NO_CONTENT),) if self._loop is not None else ()
        return tuple(dict.fromkeys((*loop, *self._wrapped.dangers(), *last)))

    def _ended_in_the_loop(self, event: LoopResulted) -> None:
        """The result that the model is given: the end of a call that came through the loop."""
        self.ended_by = self.certain
        self.over = "gave the model an error" if event.is_error else "gave the model a result"
        if self.ended_by is None and event.is_error and self._wrapped.over == "returned":
            self.ended_by = Danger(Stop.NO_CONTENT)
        elif event.ending is LoopEnding.NOT_FOUND:
            self.ended_by = Danger(Stop.UNKNOWN_TOOL)


def ordinary(call_id: str) -> CallFollower:
    """A call of an ordinary tool."""
    return CallFollower(call_id, _Tool())


def through_the_loop(call_id: str) -> CallFollower:
    """The same, prepared by the agent loop."""
    return CallFollower(call_id, _Tool(), looped=True)


def dispatching(call_id: str) -> CallFollower:
    """A call of `write`."""
    return CallFollower(call_id, _Write())


def at_the_review_desk(call_id: str) -> CallFollower:
    """A call of the Review Desk's tool."""
    return CallFollower(call_id, _DeskTool())
