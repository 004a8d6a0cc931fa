"""The events of dialogs: what a person or a client was asked, what came back, and what came too late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from labsim.events.event import Event
from labsim.js_values import stringify
from labsim.places.lanes import Drawn, Lane, Stroke, View, note
from labsim.places.steps import CallStep, DeskStep, Here, HostCallStep, Order, Steps
from labsim.terms import APPROVAL_OPTIONS, APPROVE, DialogKind, Standing


class UiSelect(Event, frozen=True, kw_only=True, gc=False, tag="ui.select"):
    """A select dialog ended. `choice` is what came back: a label, null for nothing, or how it failed."""

    options: tuple[str, ...]
    choice: Any
    standing: ClassVar[Standing] = Standing.STEP
    rules: ClassVar[tuple[str, ...]] = ("wrapper/W-40", "wrapper/W-46")

    def says(self) -> str:
        return f"{_came_back(self.choice, self.options)} (offered: {', '.join(self.options)})"

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.REFUSE if isinstance(self.choice, dict) else Stroke.ANSWER
        return Drawn(Lane.PERSON, view.asks(self.options), stroke, _in_short(self.choice))

    def step(self, order: Order, here: Here) -> int | None:
        return _select_step(order, here)

    def passed(self, here: Here) -> None:
        _select_passed(self.options, self.choice, here)


class RpcSelect(Event, frozen=True, kw_only=True, gc=False, tag="rpc.select"):
    """The same, where the dialog went to a client over RPC."""

    options: tuple[str, ...]
    choice: Any
    standing: ClassVar[Standing] = Standing.STEP
    rules: ClassVar[tuple[str, ...]] = ("rpc/R-18", "rpc/R-25", "rpc/R-40")

    def says(self) -> str:
        return f"{_came_back(self.choice, self.options)} (offered: {', '.join(self.options)})"

    def drawn(self, view: View) -> Drawn:
        says = _in_short(self.choice)
        if view.overlapping:
            return Drawn(Lane.PERSON, view.asks(self.options), Stroke.ANSWER, says)
        return note(view.asker, says)  # the frames before it are what travelled

    def step(self, order: Order, here: Here) -> int | None:
        return _select_step(order, here)

    def passed(self, here: Here) -> None:
        _select_passed(self.options, self.choice, here)


class QuestionAsked(Event, frozen=True, kw_only=True, gc=False, tag="question_asked"):
    """A dialog opened. `title` is the whole text shown; it can hold a tool's input and is never markup."""

    question_id: str
    kind: DialogKind
    title: str
    options: tuple[str, ...] = ()
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}
    shows: ClassVar[tuple[str, ...]] = ("prompts", "promptIncludes", "dialogs")

    def says(self) -> str:
        return f"{self.kind} {self.question_id} opens: {self.title}"

    def drawn(self, view: View) -> Drawn:
        if view.overlapping:
            says = f"{self.kind} {self.question_id}: {self.title}"
            return Drawn(view.asks(self.options), Lane.PERSON, Stroke.TELL, says)
        if view.over_rpc:  # the frame before it has asked; this is the client showing it
            return note(Lane.PERSON, f"shows {self.kind}: {self.title}")
        return Drawn(view.asker, Lane.PERSON, Stroke.TELL, f"{self.kind}: {self.title}")

    def step(self, order: Order, here: Here) -> int | None:
        match order:
            case Order.CALL:
                return here.asking
            case Order.DESK:
                return None if here.in_call else DeskStep.DIALOG
        return self.steps.get(order)

    def passed(self, here: Here) -> None:
        here.asked = here.at >= CallStep.DECIDE


class QuestionAnswered(Event, frozen=True, kw_only=True, gc=False, tag="question_answered"):
    """A dialog other than a select ended, with what came back (null: nothing)."""

    question_id: str
    kind: DialogKind
    answer: Any
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER}

    def says(self) -> str:
        return f"{self.kind} {self.question_id} ends: {_came_back(self.answer)}"

    def drawn(self, view: View) -> Drawn:
        if not view.overlapping:
            return Drawn(Lane.PERSON, view.asker, Stroke.ANSWER, _in_short(self.answer))
        if self.answer is None:  # closed by either side
            return note(view.desk, f"{self.question_id} ends without an answer")
        answer = self.answer if isinstance(self.answer, str) else stringify(self.answer)
        return Drawn(Lane.PERSON, view.desk, Stroke.ANSWER, f"{self.question_id}: {answer}")

    def step(self, order: Order, here: Here) -> int | None:
        return _back_at_the_desk(here) if order is Order.DESK else self.steps.get(order)


class LateReply(Event, frozen=True, kw_only=True, gc=False, tag="late_reply"):
    """A reply came for a question that was no longer open; it changed nothing."""

    question_id: str
    steps: ClassVar[Steps] = {Order.HOST_CALL: HostCallStep.APPROVER, Order.DESK: DeskStep.BACK}
    shows: ClassVar[tuple[str, ...]] = ("lateReplies",)

    def says(self) -> str:
        return f"a reply to {self.question_id} comes too late and changes nothing"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, view.late, Stroke.REFUSE, f"to {self.question_id}, too late")


def dialog_broke(choice: object) -> bool:
    """Whether what a dialog came back with is how it broke, and no answer: something thrown, or the client gone."""
    return isinstance(choice, dict) and list(choice) in (["throw"], ["throwValue"], ["disconnect"])


def _in_short(choice: object) -> str:
    """What a dialog came back with, for a picture."""
    if choice is None:
        return "no answer"
    if isinstance(choice, dict):
        return "; ".join(f"{key}: {value}" for key, value in choice.items())
    return choice if isinstance(choice, str) else stringify(choice)


def _back_at_the_desk(here: Here) -> int | None:
    """A dialog is the Review Desk's own where it belongs to no call."""
    return None if here.in_call else DeskStep.BACK


def _select_step(order: Order, here: Here) -> int | None:
    match order:
        case Order.CALL:
            return CallStep.ASK if here.asked else None  # a handler's own dialog is a part of what is under way
        case Order.DESK:
            return _back_at_the_desk(here)
        case Order.HOST_CALL:
            return HostCallStep.APPROVER
    return None


def _select_passed(options: tuple[str, ...], choice: object, here: Here) -> None:
    here.runs = here.runs or (options == APPROVAL_OPTIONS and choice == APPROVE)
    if here.asked:
        here.broke = dialog_broke(choice)
        here.stops = CallStep.ASK if here.broke else CallStep.SETTLE


def _came_back(choice: Any, offered: Sequence[str] = ()) -> str:
    """What a dialog came back with, or how it broke. What was not offered is quoted: a blank can matter
    (wrapper/W-40).
    """
    match choice:
        case None:
            return "no answer"
        case {"throw": message}:
            return f"the dialog breaks with: {message}"
        case {"throwValue": value}:
            return f"the dialog throws {stringify(value)}, which is no error"
        case {"disconnect": message}:
            return f"the client goes away: {message}"
    return f"the answer is {choice if choice in offered else stringify(choice)}"
