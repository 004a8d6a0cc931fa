"""What the desk keeps in memory, and the one place where it changes: phase, open dialog, grant and epoch.

The note is not kept: it is read from the session's branch whenever it is needed. Every change takes a step of the
table.

Theory of late answers. A dialog is opened with a signal of its own and with a base: the epoch, the session and the
revision that it was opened on. Revoke, navigation and shutdown trip the signal, raise the epoch and clear what is
pending, all at once, so that a new dialog may open while the old coroutine has not even noticed. When that one
wakes up, it looks at its signal first: an aborted dialog comes back with no value, exactly like one that somebody
escaped from, and must not be taken for it (review/V-18). Then the base is compared with what is there now
(review/V-19). Only then does the answer mean anything.
"""

from __future__ import annotations

from msgspec import Struct

from labsim.review.base.events import GrantEnded, GrantGiven, NoteRecorded, StepTaken
from labsim.review.base.states import Action, GrantEffect, Pending, Phase, Step, transition
from labsim.review.base.words import COPY
from labsim.review.branch.entries import EntryType
from labsim.review.branch.note import FixtureUnavailable, Note, entry_data, note_on
from labsim.review.branch.sessions import Sessions
from labsim.stage.stage import AbortSignal, Stage


class Grant(Struct, frozen=True, kw_only=True):
    """One change, in this session, on this revision. Never saved, never rebuilt (review/V-13)."""

    session_id: str
    revision: int


class OpenDialog(Struct, kw_only=True, eq=False):
    """A dialog of the desk: what it was opened on, and the signal that closes it (review/V-40)."""

    pending: Pending
    signal: AbortSignal
    epoch: int
    session_id: str
    base: Note


class Machine:
    """The desk's memory. `fixture` is what was read of the packaged note, None where there was none."""

    def __init__(self, stage: Stage, sessions: Sessions, fixture: bytes | None) -> None:
        self._stage = stage
        self._sessions = sessions
        self._fixture = fixture
        self._dialog: OpenDialog | None = None
        self._epoch = 0
        self.phase = Phase.IDLE
        self.grant: Grant | None = None  # of a new process as well (review/V-13)

    @property
    def note(self) -> Note:
        """The note on the current branch, read afresh (review/V-8). Raises: FixtureUnavailable."""
        return note_on(self._sessions.current, self._fixture)

    @property
    def busy(self) -> bool:
        return self.phase.pending is not Pending.NONE

    def authorizes(self, note: Note) -> bool:
        """Whether the grant is for this note as it stands: same session, same revision. What the generic gate
        says does not count (review/V-39).
        """
        return self.grant == Grant(session_id=self._sessions.current.id, revision=note.revision)

    # -- steps

    def take(self, action: Action, *, granted_on: Note | None = None) -> Step:
        """Take a step that leaves no entry (review/V-12). Raises: NoSuchStep, and then nothing has changed.

        `granted_on` is the note that a grant is given for, where the step gives one.
        """
        step = transition(self.phase, action)
        self._enter(action, step, granted_on)
        return step

    def record(self, action: Action, before: Note, text: str | None = None) -> Note:
        """Take a step that appends an entry: `before`, with the step's status, and `text` if the step takes one.

        Nothing in here waits, so nobody else has a turn between a check and the end of the grant (review/V-36).
        Raises: NoSuchStep; whatever saving raises, and then the note is as it was and the grant is gone
        (review/V-14).
        """
        step = transition(self.phase, action)
        assert step.status is not None
        recorded = text if step.takes_text and text is not None else before.text  # review/V-16
        # Also where the text is as it was (review/V-15), and whatever other branches hold (review/V-11).
        revision = before.revision + 1
        tree = self._sessions.current
        try:
            entry = tree.append(
                EntryType.CUSTOM,
                at_ms=self._stage.now_ms,
                custom_type=COPY.entry,  # review/V-6
                data=entry_data(recorded, step.status, revision),
            )
        except Exception:
            self.take(Action.APPEND_FAILED)
            raise
        self._stage.ledger.append(
            NoteRecorded(
                at_ms=self._stage.now_ms,
                session_id=tree.id,
                entry_id=entry.id,
                parent_id=entry.parent_id,
                status=step.status,
                revision=revision,
                text_changed=recorded != before.text,
            )
        )
        self._enter(action, step, None)
        return Note(text=recorded, status=step.status, revision=revision, entry_id=entry.id)

    def _enter(self, action: Action, step: Step, granted_on: Note | None) -> None:
        now, ledger = self._stage.now_ms, self._stage.ledger
        ledger.append(StepTaken(at_ms=now, action=action, rule=step.rule, phase=self.phase, to=step.to))
        dialog = self._dialog
        self.phase = step.to
        if not self.busy:
            self._dialog = None
        if step.end is not None and self.grant is not None:
            gone, self.grant = self.grant, None
            ledger.append(GrantEnded(at_ms=now, session_id=gone.session_id, revision=gone.revision, why=step.end))
        # Only a step gives a grant, and no text takes one (review/V-37). It is for this session and this revision
        # (review/S7).
        if step.grant is GrantEffect.GIVEN and granted_on is not None:
            given = Grant(session_id=self._sessions.current.id, revision=granted_on.revision)
            self.grant = given
            ledger.append(GrantGiven(at_ms=now, session_id=given.session_id, revision=given.revision))
        if step.aborts:  # review/S9, review/S14, review/S15
            self._epoch += 1
            if dialog is not None:
                dialog.signal.trip()  # whichever dialog it is (review/V-41, review/V-43)

    # -- dialogs

    def open(self, action: Action) -> OpenDialog:
        """Take the step that opens a dialog. Raises: NoSuchStep; FixtureUnavailable. Then nothing has changed."""
        base = self.note
        step = self.take(action)
        self._dialog = OpenDialog(
            pending=step.to.pending,
            signal=AbortSignal(self._stage),  # review/V-40
            epoch=self._epoch,
            session_id=self._sessions.current.id,
            base=base,
        )
        return self._dialog

    def untouched(self, dialog: OpenDialog) -> bool:
        """Whether what the dialog was opened on is still what is there (review/S7, review/V-19)."""
        if dialog.epoch != self._epoch or dialog.session_id != self._sessions.current.id:
            return False
        try:
            revision = self.note.revision
        except FixtureUnavailable:
            return False
        return revision == dialog.base.revision and self._sessions.current.holds(dialog.base.entry_id)

    def release(self, dialog: OpenDialog) -> None:
        """On every way out the desk is free again (review/V-49). A dialog opened since is somebody else's
        (review/V-45).
        """
        if self._dialog is dialog:
            self._dialog = None
            self.phase = Phase.IDLE
