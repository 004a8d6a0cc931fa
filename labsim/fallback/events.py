"""What happened while a write or a delete was tried: the records for a learner's ledger.

Records carry plain values only, never a live error object, so a ledger can be kept, compared and written out. Their
order is the order of the numbered steps in `algorithms`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import ClassVar

from labsim.events.event import Event
from labsim.places.lanes import Drawn, Lane, Stroke, View
from labsim.places.steps import CallStep, DeleteStep, Here, Order, Steps, WriteStep
from labsim.terms import Seam


class NodeKind(StrEnum):
    """What a path names, itself, without following it."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"


class HandlerAnswer(StrEnum):
    """How one handler ended: only the first ends the search."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    RAISED = "raised"


class FallbackRecord(Event, frozen=True, kw_only=True, gc=False):
    """What the records of this package have in common."""

    # A fallback takes no simulated time, so its records share one millisecond: that of the call around it,
    # which a caller with a clock stamps on. A case of its own begins and ends at 0.
    at_ms: int = 0


class PrimitiveAttempted(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="primitive_attempted"):
    """The tool's own system call was tried once."""

    seam: Seam
    attempt: int  # 1 or 2 (fallback/F-21)
    succeeded: bool
    denied: bool  # the failure is a permission denial; False on success
    code: str | None  # the failure's structured code; None on success or if it has none
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN}
    shows: ClassVar[tuple[str, ...]] = ("primitiveAttempts",)

    def says(self) -> str:
        tried = f"{self.seam} attempt {self.attempt}"
        return f"{tried} succeeds" if self.succeeded else f"{tried} fails{_failure(self.denied, self.code)}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.DISK, Stroke.EFFECT if self.succeeded else Stroke.REFUSE)

    def step(self, order: Order, here: Here) -> int | None:
        match order, self.seam:
            case Order.WRITE, Seam.WRITE:
                return WriteStep.TRY if self.attempt == 1 else WriteStep.PARENT
            case Order.DELETE, Seam.DELETE:
                return DeleteStep.TRY
        return self.steps.get(order)


class ParentMade(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="parent_made"):
    """The missing parent directory exists now and stays (fallback/F-22); the primitive gets its second attempt."""

    path: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.WRITE: WriteStep.PARENT}

    def says(self) -> str:
        return f"the missing folder {self.path} is made, and stays"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.DISK, Stroke.EFFECT)


class ParentRefused(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="parent_refused"):
    """The parent directory could not be made; if that was a denial, it is the cause handlers are told."""

    path: str
    denied: bool
    code: str | None
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.WRITE: WriteStep.PARENT}

    def says(self) -> str:
        return f"the missing folder {self.path} cannot be made{_failure(self.denied, self.code)}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.DISK, Stroke.REFUSE)


class TargetResolved(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="target_resolved"):
    """Where the system call would really have acted: the only path a handler is given (fallback/F-35)."""

    path: str  # as the tool named it
    target: str
    steps: ClassVar[Steps] = {
        Order.CALL: CallStep.RUN,
        Order.WRITE: WriteStep.TARGET,
        Order.DELETE: DeleteStep.TARGET,
    }

    def says(self) -> str:
        return f"{self.path} really means {self.target}"


class TargetUnresolvable(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="target_unresolvable"):
    """Nobody can say where the call would have acted, so no handler is asked (fallback/F-36)."""

    path: str
    steps: ClassVar[Steps] = {
        Order.CALL: CallStep.RUN,
        Order.WRITE: WriteStep.TARGET,
        Order.DELETE: DeleteStep.TARGET,
    }

    def says(self) -> str:
        return f"nobody can say what {self.path} really means, so no handler is asked"


class TargetInspected(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="target_inspected"):
    """A delete looked at its target before asking anyone; only a file is a confirmed file."""

    target: str
    kind: NodeKind | None  # None: the inspection failed, see `code`
    denied: bool  # a denied inspection leaves the kind unknown and still asks
    code: str | None
    steps: ClassVar[Steps] = {
        Order.CALL: CallStep.RUN,
        Order.WRITE: WriteStep.TARGET,
        Order.DELETE: DeleteStep.LOOK,
    }

    def says(self) -> str:
        if self.kind is None:
            return f"{self.target} cannot be looked at{_failure(self.denied, self.code)}"
        return f"{self.target} is a {self.kind}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.DISK, Stroke.TELL)


class HandlerConsulted(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="handler_consulted"):
    """One handler was asked and ended in one of three ways."""

    seam: Seam
    position: int  # 1-based, in the order of registration
    target: str
    answer: HandlerAnswer
    detail: str  # the answer as JSON, or the message of what the handler raised
    extension: str | None = None  # set inside an extension's entry; None for an entry of the registry
    steps: ClassVar[Steps] = {
        Order.CALL: CallStep.RUN,
        Order.WRITE: WriteStep.OFFER,
        Order.DELETE: DeleteStep.OFFER,
    }

    def says(self) -> str:
        owner = "" if self.extension is None else f" of {self.extension}"
        return f"{self.seam} handler {self.position}{owner} {self.answer}: {self.detail}"

    @property
    def log(self) -> str:
        """The host's warning about a handler that raised (fallback/F-15); empty for the other answers."""
        if self.answer is not HandlerAnswer.RAISED:
            return ""
        owner = "File" if self.extension is None else "Extension file"
        return f"{owner} {self.seam} fallback handler threw; trying next handler"

    def drawn(self, view: View) -> Drawn:
        raised = self.answer is HandlerAnswer.RAISED
        return Drawn(Lane.HANDLERS, Lane.TOOL, Stroke.REFUSE if raised else Stroke.ANSWER)


class MutationReturned(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="mutation_returned"):
    """The tool goes on as if it had done the work itself, whoever did (fallback/F-25)."""

    seam: Seam
    by_handler: bool  # False: the primitive succeeded
    steps: ClassVar[Steps] = {
        Order.CALL: CallStep.RUN,
        Order.WRITE: WriteStep.END,
        Order.DELETE: DeleteStep.OFFER,
    }
    shows: ClassVar[tuple[str, ...]] = ("outcome", "errorIncludes")

    def says(self) -> str:
        done = "a handler says it is done" if self.by_handler else "the tool's own call did it"
        return f"the {self.seam} returns: {done}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.CALLER, Stroke.ANSWER)


class MutationRaised(FallbackRecord, frozen=True, kw_only=True, gc=False, tag="mutation_raised"):
    """The primitive's own error left, the very object of the latest attempt (fallback/F-16)."""

    seam: Seam
    attempt: int  # whose error it is
    code: str | None
    message: str
    cause_attached: bool  # a hidden denial was attached to it on the way out
    steps: ClassVar[Steps] = {
        Order.CALL: CallStep.RUN,
        Order.WRITE: WriteStep.END,
        Order.DELETE: DeleteStep.OFFER,
    }
    shows: ClassVar[tuple[str, ...]] = ("outcome", "errorIncludes")

    def says(self) -> str:
        text = f"the {self.seam} raises the error of attempt {self.attempt}: {self.message}"
        return f"{text}, with the hidden denial attached" if self.cause_attached else text

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.CALLER, Stroke.REFUSE)


FallbackEvent = (
    PrimitiveAttempted
    | ParentMade
    | ParentRefused
    | TargetResolved
    | TargetUnresolvable
    | TargetInspected
    | HandlerConsulted
    | MutationReturned
    | MutationRaised
)
Emit = Callable[[FallbackEvent], object]


def unheard(event: FallbackEvent) -> None:
    """The listener for a run that nobody watches."""


def _failure(denied: bool, code: str | None) -> str:
    """What kind of failure it was, for the end of a sentence."""
    parts = [part for part in (code, "a permission denial" if denied else "no permission denial") if part]
    return f" ({', '.join(parts)})"
