"""What happened at the Review Desk: the records for a learner's ledger.

They are the same whoever carries the dialogs: what only an RPC client sees (frames) is recorded by the RPC
adapter, beside them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Final

from labsim.events.event import Event
from labsim.places.lanes import Drawn, Lane, Stroke, View, note
from labsim.places.steps import DeskStep, Here, Order, Steps
from labsim.review.base.states import Action, GrantEnd, Pending, Phase
from labsim.rpc.frames import NotifyType
from labsim.terms import Status


class CommandGiven(Event, frozen=True, kw_only=True, gc=False, tag="command_given"):
    """A person gave a command of the desk; `word` is the part of it that counts."""

    word: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.COMMAND}

    def says(self) -> str:
        return f"a person says /review-desk {self.word}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, Lane.TOOL, Stroke.TELL, f"/review-desk {self.word}")


class StepTaken(Event, frozen=True, kw_only=True, gc=False, tag="step_taken"):
    """The desk took one step of its table. `rule` is the rule that it stands for."""

    action: Action
    rule: str
    phase: Phase  # before
    to: Phase

    def says(self) -> str:
        stays = self.phase is self.to
        where = f"the desk stays {self.phase}" if stays else f"the desk was {self.phase} and is {self.to}"
        return f"{self.action} ({self.rule}): {where}"

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

    def says(self) -> str:
        return f"what the {self.pending} dialog brings does not count: it was {_WHY_OVER[self.why]}"


class Discarded(StrEnum):
    """Why a dialog's outcome is not recorded."""

    ABORTED = "aborted"  # by revoke, navigation or shutdown; tested before any answer (review/V-18)
    BROKE = "broke"  # it raised: the client is gone, or the dialog failed (review/V-47)
    OVERTAKEN = "overtaken"  # the note or the session changed under it (review/V-19)


class NoteRecorded(Event, frozen=True, kw_only=True, gc=False, tag="note_recorded"):
    """One change was appended to the session; the revision rose by one. A label of ours: nothing was sent."""

    session_id: str
    entry_id: str
    parent_id: str | None
    status: Status
    revision: int
    text_changed: bool
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.TABLE}
    shows: ClassVar[tuple[str, ...]] = ("entries", "status", "revision", "text")

    def says(self) -> str:
        text = "with a new text" if self.text_changed else "with the text as it was"
        return f"{self.entry_id} of {self.session_id} records {self.status} r{self.revision}, {text}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.DISK, Stroke.EFFECT, f"{self.entry_id}: {self.status} r{self.revision}")


class GrantGiven(Event, frozen=True, kw_only=True, gc=False, tag="grant_given"):
    """A person permitted the agent one change. In memory only."""

    session_id: str
    revision: int
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.TABLE}
    shows: ClassVar[tuple[str, ...]] = ("authorized",)

    def says(self) -> str:
        return f"the agent may make one change, in {self.session_id} at revision {self.revision}"


class GrantEnded(Event, frozen=True, kw_only=True, gc=False, tag="grant_ended"):
    """The grant is gone."""

    session_id: str
    revision: int
    why: GrantEnd
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.TABLE}
    shows: ClassVar[tuple[str, ...]] = ("authorized",)

    def says(self) -> str:
        return f"the grant for revision {self.revision} is gone: {self.why}"


class ActRefused(Event, frozen=True, kw_only=True, gc=False, tag="act_refused"):
    """An act failed one of the ten checks, and changed nothing; an unknown op is the first of them."""

    check: int
    text: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.TABLE}

    def says(self) -> str:
        return f"check {self.check} of 10 fails: {self.text}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.WRAPPER, Stroke.REFUSE, self.text)


class Notified(Event, frozen=True, kw_only=True, gc=False, tag="notified"):
    """A notice was shown."""

    kind: NotifyType
    message: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.SAY}
    shows: ClassVar[tuple[str, ...]] = ("notices",)

    def says(self) -> str:
        return f"{self.kind}: {self.message}"

    def drawn(self, view: View) -> Drawn:
        stroke = Stroke.REFUSE if self.kind == "error" else Stroke.TELL
        return Drawn(Lane.TOOL, Lane.PERSON, stroke, self.message)


class StatusShown(Event, frozen=True, kw_only=True, gc=False, tag="status_shown"):
    """The status line was set."""

    text: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.SAY}

    def says(self) -> str:
        return f"the status line says: {self.text}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.PERSON, Stroke.TELL, self.text)


class WidgetShown(Event, frozen=True, kw_only=True, gc=False, tag="widget_shown"):
    """The widget's lines were set."""

    lines: tuple[str, ...]
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.SAY}

    def says(self) -> str:
        return f"the widget says: {' / '.join(self.lines)}"


class MessagePosted(Event, frozen=True, kw_only=True, gc=False, tag="message_posted"):
    """A message was posted to the conversation. `text`: the whole note, for a host that unfolds it; or none."""

    summary: str
    text: str | None = None
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.SAY}

    def says(self) -> str:
        folded = "" if self.text is None else ", and unfolds to the whole note"
        return f"the conversation gets a message: {self.summary}{folded}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.TOOL, Lane.PERSON, Stroke.TELL, self.summary)


class PanelShown(Event, frozen=True, kw_only=True, gc=False, tag="panel_shown"):
    """The overlay panel took the focus."""

    question_id: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.DIALOG}

    def says(self) -> str:
        return f"the panel of {self.question_id} takes the focus"


class PanelHidden(Event, frozen=True, kw_only=True, gc=False, tag="panel_hidden"):
    """The panel is gone, its component disposed, and the focus is back where it was (review/V-60)."""

    question_id: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.BACK}

    def says(self) -> str:
        return f"the panel of {self.question_id} is gone, and the focus is back"


class PanelNeverShown(Event, frozen=True, kw_only=True, gc=False, tag="panel_never_shown"):
    """The panel was ready only after the abort: it was disposed without being shown (review/V-60)."""

    steps: ClassVar[Steps] = {Order.DESK: DeskStep.BACK}

    def says(self) -> str:
        return "a panel that is ready too late is thrown away unseen"


class SessionMoved(Event, frozen=True, kw_only=True, gc=False, tag="session_moved"):
    """A move is complete. `by` is the event that extensions hear; `leaf_id` null: before the first entry."""

    by: str
    session_id: str
    leaf_id: str | None
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.OUTSIDE}

    def says(self) -> str:
        at = "before the first entry" if self.leaf_id is None else f"at {self.leaf_id}"
        return f"{self.by}: now in {self.session_id}, {at}"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, Lane.DISK, Stroke.TELL)


class MovePrevented(Event, frozen=True, kw_only=True, gc=False, tag="move_prevented"):
    """An extension cancelled a move beforehand: nothing moved, and nothing ended (review/V-38)."""

    by: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.OUTSIDE}

    def says(self) -> str:
        return f"an extension cancels the move ({self.by}); nothing has moved"

    def drawn(self, view: View) -> Drawn:
        return Drawn(Lane.PERSON, Lane.DISK, Stroke.REFUSE)


class SessionReopened(Event, frozen=True, kw_only=True, gc=False, tag="session_reopened"):
    """A new process opened the stored session. `remarks`: what of its file could not be read."""

    session_id: str
    entries: int
    remarks: tuple[str, ...] = ()
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.OUTSIDE}

    def says(self) -> str:
        found = "1 entry" if self.entries == 1 else f"{self.entries} entries"
        remarks = "".join(f" {remark}" for remark in self.remarks)
        return f"a new process opens {self.session_id} with {found}, and without any grant.{remarks}"

    def drawn(self, view: View) -> Drawn:
        return note(Lane.DISK)


class EntryArrived(Event, frozen=True, kw_only=True, gc=False, tag="entry_arrived"):
    """An entry that is not a change by the desk: a chat message, or what somebody else wrote into the session."""

    session_id: str
    entry_id: str
    type: str
    steps: ClassVar[Steps] = {Order.DESK: DeskStep.OUTSIDE}

    def says(self) -> str:
        return f"{self.entry_id} of {self.session_id} is written by somebody else: {self.type}"

    def drawn(self, view: View) -> Drawn:
        return note(Lane.DISK)


_WHY_OVER: Final = {
    Discarded.ABORTED: "aborted",
    Discarded.BROKE: "broken off",
    Discarded.OVERTAKEN: "overtaken by a change of the note or of the session",
}
