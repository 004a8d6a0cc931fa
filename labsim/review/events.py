"""What happened at the Review Desk: the records for a learner's ledger.

Above `labsim.events` and `states`, below everything in this package that emits. They are the same whoever carries
the dialogs: what only an RPC client sees (frames) is recorded by the RPC adapter, beside them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, TypeAlias

from labsim.events import Event
from labsim.lanes import Drawn, Lane, Stroke, View, note
from labsim.review.states import Action, GrantEnd, Pending, Phase
from labsim.rpc.frames import NotifyType
from labsim.steps import DeskStep, Here, Order, Steps
from labsim.terms import Status


class CommandGiven(Event, frozen=True, kw_only=True, gc=False, tag="command_given"):
    """A person gave a command of the desk; `word` is the part of it that counts (section 4)."""

    word: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.COMMAND}

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, Lane.TOOL, Stroke.TELL, f"/review-desk {self.word}")


class StepTaken(Event, frozen=True, kw_only=True, gc=False, tag="step_taken"):
    """The desk took one step of its table. `rule` is the row of the specification that it stands for."""

    action: Action
    rule: str
    phase: Phase  # before
    to: Phase

    def step(self, order: Order, here: Here) -> int | None:
        if order is not Order.DESK:
            return None
        opens = self.to is not self.phase and self.to not in (Phase.IDLE, Phase.CLOSED)
        return DeskStep.DIALOG if opens else DeskStep.TABLE


class DialogOver(Event, frozen=True, kw_only=True, gc=False, tag="dialog_over"):
    """A dialog of the desk came back, and what it brought does not count. `why`: see `Discarded`."""

    pending: Pending
    why: Discarded
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.BACK}


class Discarded(StrEnum):
    """Why a dialog's outcome is not recorded."""

    ABORTED = "aborted"  # by revoke, navigation or shutdown; tested before any answer (V-18)
    BROKE = "broke"  # it raised: the client is gone, or the dialog failed (V-47)
    OVERTAKEN = "overtaken"  # the note or the session changed under it (V-19)


class NoteRecorded(Event, frozen=True, kw_only=True, gc=False, tag="note_recorded"):
    """One change was appended to the session; the revision rose by one. A label of ours: nothing was sent."""

    session_id: str
    entry_id: str
    parent_id: str | None
    status: Status
    revision: int
    text_changed: bool
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.TABLE}

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.DISK, Stroke.EFFECT, f"{self.entry_id}: {self.status} r{self.revision}")


class GrantGiven(Event, frozen=True, kw_only=True, gc=False, tag="grant_given"):
    """A person permitted the agent one change. In memory only."""

    session_id: str
    revision: int
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.TABLE}


class GrantEnded(Event, frozen=True, kw_only=True, gc=False, tag="grant_ended"):
    """The grant is gone."""

    session_id: str
    revision: int
    why: GrantEnd
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.TABLE}


class ActRefused(Event, frozen=True, kw_only=True, gc=False, tag="act_refused"):
    """An act failed one of the ten checks, and changed nothing; an unknown op is the first of them."""

    check: int
    text: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.TABLE}

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.WRAPPER, Stroke.REFUSE, self.text)


class Notified(Event, frozen=True, kw_only=True, gc=False, tag="notified"):
    """A notice was shown."""

    kind: NotifyType
    message: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.SAY}

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.REFUSE if self.kind == "error" else Stroke.TELL
        return Drawn(Lane.TOOL, Lane.PERSON, stroke, self.message)


class StatusShown(Event, frozen=True, kw_only=True, gc=False, tag="status_shown"):
    """The status line was set."""

    text: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.SAY}

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.PERSON, Stroke.TELL, self.text)


class WidgetShown(Event, frozen=True, kw_only=True, gc=False, tag="widget_shown"):
    """The widget's lines were set."""

    lines: tuple[str, ...]
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.SAY}


class MessagePosted(Event, frozen=True, kw_only=True, gc=False, tag="message_posted"):
    """A message was posted to the conversation. `text`: the whole note, for a host that unfolds it; or none."""

    summary: str
    text: str | None = None
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.SAY}

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.PERSON, Stroke.TELL, self.summary)


class PanelShown(Event, frozen=True, kw_only=True, gc=False, tag="panel_shown"):
    """The overlay panel took the focus."""

    question_id: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.DIALOG}


class PanelHidden(Event, frozen=True, kw_only=True, gc=False, tag="panel_hidden"):
    """The panel is gone, its component disposed, and the focus is back where it was (V-60)."""

    question_id: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.BACK}


class PanelNeverShown(Event, frozen=True, kw_only=True, gc=False, tag="panel_never_shown"):
    """The panel was ready only after the abort: it was disposed without being shown (V-60)."""

    steps: ClassVar[Steps] = {Order.DESK: DeskStep.BACK}


class SessionMoved(Event, frozen=True, kw_only=True, gc=False, tag="session_moved"):
    """A move is complete. `by` is the event that extensions hear; `leaf_id` null: before the first entry."""

    by: str
    session_id: str
    leaf_id: str | None
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.OUTSIDE}

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, Lane.DISK, Stroke.TELL)


class MovePrevented(Event, frozen=True, kw_only=True, gc=False, tag="move_prevented"):
    """An extension cancelled a move beforehand: nothing moved, and nothing ended (V-38)."""

    by: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.OUTSIDE}

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, Lane.DISK, Stroke.REFUSE)


class SessionReopened(Event, frozen=True, kw_only=True, gc=False, tag="session_reopened"):
    """A new process opened the stored session. `remarks`: what of its file could not be read."""

    session_id: str
    entries: int
    remarks: tuple[str, ...] = ()
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.OUTSIDE}

    def drawn(self, view: View) -> Drawn:
        return note(Lane.DISK)


class EntryArrived(Event, frozen=True, kw_only=True, gc=False, tag="entry_arrived"):
    """An entry that is not a change by the desk: a chat message, or what somebody else wrote into the session."""

    session_id: str
    entry_id: str
    type: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.OUTSIDE}

    def drawn(self, view: View) -> Drawn:
        return note(Lane.DISK)


ReviewEvent: TypeAlias = (
    CommandGiven
    | StepTaken
    | DialogOver
    | NoteRecorded
    | GrantGiven
    | GrantEnded
    | ActRefused
    | Notified
    | StatusShown
    | WidgetShown
    | MessagePosted
    | PanelShown
    | PanelHidden
    | PanelNeverShown
    | SessionMoved
    | MovePrevented
    | SessionReopened
    | EntryArrived
)
