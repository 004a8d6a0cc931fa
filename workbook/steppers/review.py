"""A dialog of the Review Desk and the permission for one change, followed event by event.

What can end a dialog without an outcome is not listed here: it is read off the desk's own table
(`labsim.review.base.states.TRANSITIONS`), so that the stepper cannot say anything else than the desk does. Calls
of the desk's tool are followed by `stepper_call`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from labsim.events.event import Event
from labsim.review.base.events import DialogOver, GrantEnded, GrantGiven, StepTaken
from labsim.review.base.states import TRANSITIONS, Action, GrantEffect, GrantEnd, Pending, Phase
from workbook.steppers.stops import Danger, Stop

#: What an action is that ends a dialog without an outcome.
FRUITLESS: Final[dict[Action, Stop]] = {
    Action.REVOKE: Stop.REVOKED,
    Action.SWITCH: Stop.MOVED,
    Action.BRANCH: Stop.MOVED,
    Action.GO: Stop.MOVED,
    Action.SHUT_DOWN: Stop.SHUT_DOWN,
    Action.DIALOG_BROKE: Stop.DIALOG_BROKE,
    Action.DISCARD: Stop.OVERTAKEN,
    Action.ACCEPT_INVALID: Stop.INVALID_TEXT,
    Action.DECLINE: Stop.DECLINED,
    Action.APPEND_FAILED: Stop.NOT_SAVED,
}
#: What ends a permission; FAILED is two things, and the step before it says which.
ENDINGS: Final[dict[GrantEnd, tuple[Stop, ...]]] = {
    GrantEnd.CONSUMED: (Stop.USED_UP,),
    GrantEnd.REVIEWED: (Stop.REVIEWED,),
    GrantEnd.REVOKED: (Stop.REVOKED,),
    GrantEnd.SWITCHED: (Stop.MOVED,),
    GrantEnd.BRANCHED: (Stop.MOVED,),
    GrantEnd.MOVED: (Stop.MOVED,),
    GrantEnd.SHUT_DOWN: (Stop.SHUT_DOWN,),
    GrantEnd.ASKED_AGAIN: (Stop.ASKED_AGAIN,),
    GrantEnd.FAILED: (Stop.NOT_SAVED, Stop.DIALOG_BROKE),
}
_SUBJECTS: Final = {
    Pending.REVIEW: "the review",
    Pending.DELEGATE: "the request for permission",
    Pending.OVERLAY: "the panel",
}
_AT_REST: Final = (Phase.IDLE, Phase.CLOSED)


@cache
def fruitless_from(phase: Phase) -> tuple[Stop, ...]:
    """What can end a dialog without an outcome, from a phase on, in the order of `FRUITLESS`."""
    reachable, found, todo = {phase}, set(), [phase]
    while todo:
        here = todo.pop()
        for (start, action), step in TRANSITIONS.items():
            if start is not here:
                continue
            if step.to in _AT_REST and not step.records and step.grant is not GrantEffect.GIVEN:
                found.add(FRUITLESS[action])
            elif step.to not in _AT_REST and step.to not in reachable:
                reachable.add(step.to)
                todo.append(step.to)
    return tuple(dict.fromkeys(stop for stop in FRUITLESS.values() if stop in found))


class DialogFollower:
    """A review, a request for permission, or a panel, from its opening to its outcome or its end without one."""

    policy = ""
    certain: Danger | None = None  # nothing is known to stop it before it has

    def __init__(self, opened: StepTaken) -> None:
        self.subject = _SUBJECTS[opened.to.pending]
        self.over = ""
        self.ended_by: Danger | None = None
        self._phase = opened.to

    def concerns(self, event: Event, *, mine: bool) -> bool:
        return True

    def take(self, event: Event) -> None:
        match event:
            case StepTaken(to=to) if to is not self._phase:
                self._phase = to
                if to in _AT_REST:
                    stop = FRUITLESS.get(event.action)
                    self.over = "had its outcome" if stop is None else "ended without an outcome"
                    self.ended_by = None if stop is None else Danger(stop)
            case DialogOver():
                self.over = "ended without an outcome"

    def dangers(self) -> tuple[Danger, ...]:
        if self.over:
            return ()
        return (*map(Danger, fruitless_from(self._phase)), Danger(Stop.NEVER_CLOSED))


class GrantFollower:
    """A permission for one change, from when it is given to when it is gone."""

    policy = ""
    certain: Danger | None = None  # nothing is known to stop it before it has

    def __init__(self, given: GrantGiven) -> None:
        self.subject = f"the permission for one change at revision {given.revision}"
        self.over = ""
        self.ended_by: Danger | None = None
        self._failed_by = Stop.NOT_SAVED

    def concerns(self, event: Event, *, mine: bool) -> bool:
        return True

    def take(self, event: Event) -> None:
        match event:
            case StepTaken(action=Action.APPEND_FAILED | Action.DIALOG_BROKE as action):
                self._failed_by = FRUITLESS[action]
            case GrantEnded(why=why):
                stops = ENDINGS[why]
                self.over = "is gone"
                self.ended_by = Danger(stops[0] if len(stops) == 1 else self._failed_by)

    def dangers(self) -> tuple[Danger, ...]:
        if self.over:
            return ()
        return tuple(dict.fromkeys(Danger(stop) for stops in ENDINGS.values() for stop in stops))
