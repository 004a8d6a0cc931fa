"""What lies behind a gate of the first host: an ordinary tool, `write` with its devices, the Review Desk's tool.

These are what `stepper_wrapper` calls `Inside`. `write` has a gate inside itself: the device's own, which it
passes the call on to (dispatch/step-1 to dispatch/step-6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from labsim.call.nesting import Nesting
from labsim.events.call import CallStarted, HandlerAnswered
from labsim.events.event import Event
from workbook.steppers.stops import Danger, Left, Stop
from workbook.steppers.wrapper import Gate, GateFollower

_READS_ONLY: Final = (
    "discover",
    "inspect",
    "query",
)  # operations of the desk's tool that no check refuses (review/V-30)


class OrdinaryTool:
    """An ordinary tool: it does its work, or fails."""

    happened: Danger | None = None
    gate: Gate | None = None

    def take(self, event: Event, nesting: Nesting) -> None:
        """Nothing that it does rules out that it fails yet."""

    def dangers(self) -> Iterable[Danger]:
        return (Danger(Stop.TOOL_FAILS),)

    def failed(self) -> Danger:
        return Danger(Stop.TOOL_FAILS)


class DeskTool:
    """The Review Desk's own tool, which either makes its change or says which check failed."""

    gate: Gate | None = None

    def __init__(self) -> None:
        self.left = Left(Stop.NO_NOTE, Stop.ACT_CHECK, Stop.NOT_SAVED)

    @property
    def happened(self) -> Danger | None:
        return None if self.left.certain is None else Danger(self.left.certain)

    def take(self, event: Event, nesting: Nesting) -> None:
        from labsim.review.base.events import ActRefused, NoteRecorded, StepTaken
        from labsim.review.base.states import Action

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


class WriteTool:
    """`write`, which reads an address and passes the call on to the gate of a device."""

    def __init__(self) -> None:
        self.left = Left(
            *(Stop.WRITE_REFUSES, Stop.NO_ADDRESS, Stop.NOTHING_STAGED, Stop.BAD_REPORT),
            *(Stop.NO_DEVICE, Stop.ONLY_DOCS, Stop.BAD_CONTENT),
        )
        self.device: GateFollower | None = GateFollower(
            OrdinaryTool(), inner=True
        )  # None: no device is going to be called
        self.writes_file = False

    @property
    def gate(self) -> Gate | None:
        device = self.device
        return device.gate if device is not None and device.started and not device.over else None

    @property
    def happened(self) -> Danger | None:
        if self.left.certain is not None:
            return Danger(self.left.certain)
        return None if self.device is None else self.device.certain

    def take(self, event: Event, nesting: Nesting) -> None:
        if nesting is Nesting.INNER:
            if self.device is not None:
                self.left.clear()
                self.device.take(event)
        else:
            self._routed(event)

    def _routed(self, event: Event) -> None:
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
