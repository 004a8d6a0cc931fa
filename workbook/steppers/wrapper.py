"""One `execute`, followed event by event: its gate, the tool behind it, and the handlers of its result.

A follower begins with everything that its part of the call could stop it by (wrapper/step-1 to wrapper/step-17);
each event rules something out, or makes one thing certain. What the case was given is not looked at: at any row,
what is left is what the rules leave open.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol

from labsim.call.nesting import Nesting
from labsim.call.wrapper import DENIED_REASON
from labsim.errors import CANCELLED
from labsim.events.call import (
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
    ToolResultEvent,
)
from labsim.events.dialogs import QuestionAsked, RpcSelect, UiSelect, dialog_broke
from labsim.events.event import Event
from labsim.rpc.events import DialogSettled, FrameSent
from labsim.terms import APPROVAL_OPTIONS, APPROVE, DialogKind, EventName, Policy
from workbook.steppers.stops import Danger, Left, Stop

HANDLERS: Final = (Stop.HANDLER_BLOCKS, Stop.HANDLER_FAILS, Stop.ABORT_IN_HANDLERS)
_ASKING: Final = (
    Stop.ABORT_IN_PREVIEW,
    Stop.NO_UI,
    Stop.DIALOG_BREAKS,
    Stop.NOT_APPROVED,
    Stop.UNANSWERED,
)


def decision(event: PolicyResolved) -> str:
    """A judgement in a few words: the policy, who decided by which rule, and on which input."""
    found = event.resolution
    return f"{found.policy} by {found.source} ({found.rule}), on the {event.on} input"


class Gate:
    """wrapper/step-1 to wrapper/step-15 of one `execute`."""

    def __init__(self) -> None:
        self.left = Left(Stop.RULE_FAILS, Stop.DENY_ORIGINAL, *HANDLERS, Stop.DENY_EFFECTIVE, *_ASKING)
        self.policy = ""
        self.required: bool | None = None  # None: not decided yet
        self.open = False  # the gate's own dialog is, or was, on screen
        self.passed = False  # nothing here can stop the call any more
        self._frame: object = None  # the id of the dialog's request, where it went over RPC

    def take(self, event: Event) -> None:
        left = self.left
        match event:
            case MarkerConsumed():
                left.rule_out(*HANDLERS)  # the loop has asked them
            case PolicyResolved(resolution=found, on=on):
                self.policy = decision(event)
                denied = found.policy is Policy.DENY
                if on == "original":
                    left.settle(Stop.DENY_ORIGINAL) if denied else left.rule_out(Stop.DENY_ORIGINAL)
                elif denied:
                    left.settle(Stop.DENY_EFFECTIVE)
                else:
                    left.only(*_ASKING)  # pending safety checks may still ask, whatever the policy (wrapper/W-20)
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
            case FrameSent() | DialogSettled():
                self._heard(event)

    def expects(self, event: Event) -> bool:
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
            self.left.settle(Stop.DIALOG_BREAKS if dialog_broke(choice) else Stop.NOT_APPROVED)

    def _heard(self, event: FrameSent | DialogSettled) -> None:
        """The dialog over RPC: its request goes out before it counts as asked, and it is settled before it ends."""
        match event:
            case FrameSent(frame=frame) if frame.get("method") == DialogKind.SELECT:
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


class Inside(Protocol):
    """What lies behind the gate: the tool."""

    def take(self, event: Event, nesting: Nesting) -> None: ...

    def dangers(self) -> Iterable[Danger]: ...

    def failed(self) -> Danger:
        """What it was, once the tool is known to have failed."""
        ...

    @property
    def happened(self) -> Danger | None:
        """What is certain already."""
        ...

    @property
    def gate(self) -> Gate | None:
        """The gate inside, while it has the call."""
        ...


class GateFollower:
    """One `execute`: its gate, the tool behind it, and the handlers of the result."""

    def __init__(self, inside: Inside, *, inner: bool = False) -> None:
        self.gate = Gate()
        if inner:
            self.gate.left.rule_out(Stop.ABORT_IN_PREVIEW)  # what is on screen is the outer call (wrapper/W-27)
        self.inside = inside
        self.inner = inner
        self.started = False
        self.over = ""  # how it ended, in a word
        self.ended_by: Danger | None = None
        self._done = False  # the tool has done its work

    @property
    def policy(self) -> str:
        """The policy in force: of the gate inside, while that one has the call."""
        within = self.inside.gate
        return within.policy if within is not None and within.policy else self.gate.policy

    def take(self, event: Event, nesting: Nesting = Nesting.OUTER) -> None:
        self.started = True
        if nesting is Nesting.INNER:
            self.inside.take(event, nesting)
            return
        if not self.gate.passed:
            self.gate.take(event)
            if isinstance(event, CallStarted | HandlerAnswered):
                self.inside.take(event, nesting)
        elif not isinstance(event, ToolResultEvent | CallReturned | CallThrew):
            self.inside.take(event, nesting)
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
