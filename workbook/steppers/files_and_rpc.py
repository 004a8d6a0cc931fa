"""A file operation with its fallbacks, and one dialog over RPC, followed event by event.

Each is the whole of a case of its own: nothing is called, so there is no gate to pass (fallback/write-1 to
fallback/write-8, fallback/delete-1 to fallback/delete-7, rpc/R-33 to rpc/R-41).
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from labsim.events.event import Event
from labsim.fallback import events as file
from labsim.rpc import events as rpc
from labsim.rpc.broker import SettledBy
from labsim.terms import Seam
from workbook.steppers.stops import Danger, Left, Stop


class _Follower:
    """What both have in common: `over` is how it ended, "" while it has not."""

    subject = ""
    policy = ""

    def __init__(self, *stops: Stop) -> None:
        self.over = ""
        self.ended_by: Danger | None = None
        self.left = Left(*stops)

    def concerns(self, event: Event, *, mine: bool) -> bool:
        return True

    @property
    def certain(self) -> Danger | None:
        """What has stopped it, even where it has not ended yet."""
        return None if self.left.certain is None else Danger(self.left.certain)

    def dangers(self) -> tuple[Danger, ...]:
        """What can still stop it."""
        return () if self.over else tuple(map(Danger, self.left))


class OperationFollower(_Follower):
    """A write or a delete, from its first attempt to its return or its error."""

    def __init__(self, seam: Seam) -> None:
        deletes = seam is Seam.DELETE
        own = Stop.NO_FILE if deletes else Stop.NO_PARENT
        super().__init__(Stop.NO_DENIAL, Stop.NO_HANDLER, own, Stop.UNRESOLVABLE, Stop.NOBODY_DOES_IT)
        self.subject = "the delete" if deletes else "the write"
        self._deletes = deletes

    def take(self, event: Event) -> None:
        left = self.left
        match event:
            case file.PrimitiveAttempted():
                self._attempted(event)
            case file.ParentMade():
                left.rule_out(Stop.NO_HANDLER, Stop.NO_PARENT)
            case file.ParentRefused(denied=denied):
                left.only(Stop.UNRESOLVABLE, Stop.NOBODY_DOES_IT) if denied else left.settle(Stop.NO_PARENT)
            case file.TargetResolved():
                left.rule_out(Stop.NO_HANDLER, Stop.UNRESOLVABLE)
            case file.TargetUnresolvable():
                left.settle(Stop.UNRESOLVABLE)
            case file.TargetInspected(kind=kind, denied=denied):
                gone = kind is None and not denied
                if gone or kind is file.NodeKind.DIRECTORY:
                    left.settle(Stop.NO_FILE)
                left.rule_out(Stop.NO_FILE)
            case file.HandlerConsulted(answer=file.HandlerAnswer.ACCEPTED):
                left.clear()
            case file.MutationReturned():
                self.over = "returned"
            case file.MutationRaised():
                self.over = "raised the tool's own error"
                self.ended_by = Danger(next(iter(left), Stop.NOBODY_DOES_IT))

    def _attempted(self, event: file.PrimitiveAttempted) -> None:
        left = self.left
        if event.succeeded:
            left.clear()
        elif event.denied:
            left.rule_out(Stop.NO_DENIAL, Stop.NO_PARENT)
        elif event.attempt == 1 and event.code == "ENOENT" and not self._deletes:
            # A missing folder can hide a denial, so it is made first; the second attempt says what it was.
            left.only(Stop.NO_HANDLER, Stop.NO_PARENT, Stop.NO_DENIAL, Stop.UNRESOLVABLE, Stop.NOBODY_DOES_IT)
        else:
            left.settle(Stop.NO_DENIAL)


_SETTLED: Final = {
    SettledBy.CANCELLED: Stop.CLIENT_CANCELS,
    SettledBy.ABORT: Stop.SIGNAL_ABORTS,
    SettledBy.ABORTED_BEFORE: Stop.SIGNAL_ABORTS,
    SettledBy.TIMEOUT: Stop.TIME_RUNS_OUT,
    SettledBy.DISCONNECT: Stop.CLIENT_GOES,
}


class RpcDialogFollower(_Follower):
    """One dialog over RPC, from before its request to its end."""

    subject = "the dialog"

    def __init__(self) -> None:
        super().__init__(
            *(Stop.SIGNAL_ABORTS, Stop.TIME_RUNS_OUT, Stop.CLIENT_GOES),
            *(Stop.CLIENT_CANCELS, Stop.NO_VALUE, Stop.NO_REPLY),
        )

    def take(self, event: Event) -> None:
        left = self.left
        match event:
            case rpc.FrameSent(frame=frame) if frame.get("method") == "cancel":
                left.settle(Stop.SIGNAL_ABORTS)
            case rpc.FrameSent(frame=frame) if "timeout" not in frame:
                left.rule_out(Stop.TIME_RUNS_OUT)
            case rpc.TimeoutCallback():
                left.only(Stop.TIME_RUNS_OUT, Stop.CLIENT_CANCELS)
            case rpc.DialogSettled(by=by, value=value):
                stop = _SETTLED.get(by, Stop.NO_VALUE if value is UNSET else None)
                self.over = "ended without an answer" if stop is not None else "was answered"
                self.ended_by = None if stop is None else Danger(stop)
