"""The open dialogs: which reply, abort, timer or disconnect settles which of them, and how.

No await, no clock, no channel: times and frames are arguments; frames to send and settled dialogs are results.

Theory. A dialog is open until the first of four things happens to it: a reply with its id, an abort of its
signal, its own timer, or the loss of the host. The first three resolve it (with the value, or with no answer);
the last one makes it *raise*, because nobody declined anything. Whatever comes second finds no entry and is
swallowed (rpc/R-38), so a dialog cannot settle twice.

One wrinkle is recorded and kept. A select, a confirm or an input that raises leaves its timer and its abort
listener behind (rpc-0097, rpc-0100): the caller's on-timeout still fires later, and a later abort still tells
the departed host to close the dialog. Such a dialog is *orphaned*: settled, no longer answerable, not quite
gone. An editor cleans up after itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct

from labsim.rpc.decode import Command, DialogReply, HostReply, ParseFailure, sort_frame
from labsim.rpc.dialogs import CLIENT_DISCONNECTED, Dialog, Editor, no_answer, read_reply
from labsim.rpc.frames import CancelRequest, UIRequest, to_wire

# -------------------------------------------------------------------------------- the life of a dialog


class DialogState(StrEnum):
    """Where a dialog is in its life."""

    OPEN = "open"  # a reply would settle it
    ORPHANED = "orphaned"  # raised at disconnect; its timer and abort listener are still there
    CLOSED = "closed"  # nothing of it is left


class Happening(StrEnum):
    """What can happen to a dialog."""

    REPLY = "reply"
    ABORT = "abort"
    TIMER = "timer"
    DISCONNECT = "disconnect"


class Step(Struct, frozen=True, kw_only=True):
    """One row of the table."""

    to: DialogState
    settles: bool  # a reply, an abort and a timer resolve; a disconnect raises
    sends_cancel: bool = False
    fires_timeout: bool = False


Table: TypeAlias = Mapping[tuple[DialogState, Happening], Step]

_OPEN: Final = DialogState.OPEN
_ORPHANED: Final = DialogState.ORPHANED
_CLOSED: Final = DialogState.CLOSED
#: Select, confirm and input. A pair that is not here changes nothing and says nothing (rpc/R-38). Only an abort
#: sends a cancel (rpc/R-21, rpc/R-34), and a timer tells the caller alone (rpc/R-35).
LIFE: Final[Table] = {
    (_OPEN, Happening.REPLY): Step(to=_CLOSED, settles=True),
    (_OPEN, Happening.ABORT): Step(to=_CLOSED, settles=True, sends_cancel=True),
    (_OPEN, Happening.TIMER): Step(to=_CLOSED, settles=True, fires_timeout=True),
    (_OPEN, Happening.DISCONNECT): Step(to=_ORPHANED, settles=True),
    (_ORPHANED, Happening.ABORT): Step(to=_CLOSED, settles=False, sends_cancel=True),
    (_ORPHANED, Happening.TIMER): Step(to=_CLOSED, settles=False, fires_timeout=True),
}
#: An editor has no timer, and leaves nothing behind when it raises.
EDITOR_LIFE: Final[Table] = {
    (_OPEN, Happening.REPLY): Step(to=_CLOSED, settles=True),
    (_OPEN, Happening.ABORT): Step(to=_CLOSED, settles=True, sends_cancel=True),
    (_OPEN, Happening.DISCONNECT): Step(to=_CLOSED, settles=True),
}


def life_of(dialog: Dialog) -> Table:
    """The table that `dialog` lives by; a diagram can read the same one."""
    return EDITOR_LIFE if isinstance(dialog, Editor) else LIFE


# -------------------------------------------------------------------------------- what comes out


class SettledBy(StrEnum):
    """Why a dialog is settled. The caller of the dialog sees only the value; a learner sees this as well."""

    REPLY = "reply"
    CANCELLED = "cancelled"
    ABORT = "abort"
    ABORTED_BEFORE = "aborted_before"
    TIMEOUT = "timeout"
    DISCONNECT = "disconnect"


class Resolved(Struct, frozen=True, kw_only=True, tag="resolved"):
    """The dialog came back with `value`: any JSON value, or UNSET for nothing (`undefined`)."""

    dialog_id: str | None  # None: it never was on the wire (rpc/R-33)
    value: Any
    by: SettledBy


class Rejected(Struct, frozen=True, kw_only=True, tag="rejected"):
    """The dialog raises `error` at its caller. Not a cancellation, and not an answer (rpc/R-40)."""

    dialog_id: str
    error: str
    by: SettledBy = SettledBy.DISCONNECT


class TimeoutFired(Struct, frozen=True, kw_only=True, tag="timeout_fired"):
    """The caller's on-timeout callback is due, before the caller sees the settlement. Not itself a settlement."""

    dialog_id: str


Settled: TypeAlias = Resolved | Rejected
Outcome: TypeAlias = Settled | TimeoutFired


class Asked(Struct, frozen=True, kw_only=True):
    """What `ask` did. Send `frames`; if `settled` is there, that is the outcome, and `poll` will not repeat it.

    `dialog_id` None: the signal was aborted already, so there is no frame and nothing to refer to.
    """

    dialog_id: str | None
    frames: tuple[UIRequest, ...]
    settled: Settled | None = None


# -------------------------------------------------------------------------------- the broker


class _Entry(Struct):
    dialog_id: str
    dialog: Dialog
    state: DialogState
    due_ms: int | None  # None: no timer


class Broker:
    """Holds the dialogs of one connection.

    Each call tells it one fact. Frames to send are returned at once; what the fact settled is collected, in order,
    until `poll` hands it out. Ids are `req-1`, `req-2`, … in the order frames are made, cancel frames included.
    Time moves only in `tick`: a reply that is given before the tick comes before the timer.
    """

    def __init__(self) -> None:
        self._ids = 0
        self._entries: dict[str, _Entry] = {}  # open and orphaned, oldest first
        self._outcomes: list[Outcome] = []
        self._lost: str | None = None

    # -- facts

    def ask(self, dialog: Dialog, *, now_ms: int, signal_aborted: bool = False) -> Asked:
        """Open `dialog` at `now_ms`.

        A signal that is aborted already wins over everything: no frame, no id, no answer (rpc/R-33). After a
        disconnect the frame is still made (rpc/R-41), and the dialog raises at once (rpc/R-40).
        """
        if signal_aborted:
            nothing = Resolved(dialog_id=None, value=no_answer(dialog), by=SettledBy.ABORTED_BEFORE)
            return Asked(dialog_id=None, frames=(), settled=nothing)
        entry = _Entry(self.fresh_id(), dialog, DialogState.OPEN, due(dialog, now_ms))
        self._entries[entry.dialog_id] = entry
        frames = (dialog.request(entry.dialog_id),)
        settled = None if self._lost is None else self._raise(entry, self._lost).settled
        return Asked(dialog_id=entry.dialog_id, frames=frames, settled=settled)

    def receive(self, frame: object) -> bool:
        """Take one parsed frame from the host. True if it was a control frame, and so no command (rpc/R-10,
        rpc/R-11).

        `frame` is any JSON value, or a reply record. A reply whose id is not open is consumed as well, and changes
        nothing (rpc/R-38, review/V-44); one whose id is ends that dialog and no other, in whatever order replies
        come (rpc/R-37, rpc/R-44). Control frames for the host's own tools and addresses are consumed and dropped:
        a simulated host registers none.
        """
        match sort_frame(to_wire(frame) if isinstance(frame, Struct) else frame):
            case DialogReply(id=dialog_id, frame=reply):
                entry = self._entries.get(dialog_id)
                if entry is not None:
                    answer = read_reply(entry.dialog, reply)
                    by = SettledBy.CANCELLED if answer.cancelled else SettledBy.REPLY
                    moved = self._resolve(entry, Happening.REPLY, answer.value, by, timed_out=answer.timed_out)
                    self._note(moved)
                return True
            case HostReply():
                return True
            case Command() | ParseFailure():
                return False

    def abort(self, dialog_id: str) -> tuple[CancelRequest, ...]:
        """The signal that this dialog was opened with has aborted. Returns the cancel frame that is due: nothing
        else is told to the client in this way (rpc/R-21, rpc/R-34, review/V-44).

        Call it for every dialog opened with that signal, settled ones included; for most of those it is ().
        """
        entry = self._entries.get(dialog_id)
        if entry is None:
            return ()
        moved = self._resolve(entry, Happening.ABORT, no_answer(entry.dialog), SettledBy.ABORT)
        self._note(moved)
        return moved.frames

    def tick(self, now_ms: int) -> None:
        """It is `now_ms`: every timer that is due fires, earliest first, then oldest dialog first (rpc/R-35)."""
        for due_ms, entry in self._timers():
            if due_ms <= now_ms:
                nothing = no_answer(entry.dialog)
                self._note(self._resolve(entry, Happening.TIMER, nothing, SettledBy.TIMEOUT))

    def disconnect(self, message: str = CLIENT_DISCONNECTED) -> None:
        """The host is gone: every open dialog raises `message`, and so will every later one (rpc/R-40).

        A second disconnect finds nothing open and does not change the message.
        """
        if self._lost is not None:
            return
        self._lost = message
        for entry in tuple(self._entries.values()):
            self._note(self._raise(entry, message))

    # -- what a caller reads

    def poll(self) -> tuple[Outcome, ...]:
        """What has happened to dialogs since the last poll, in order. Each settlement is handed out once."""
        taken = tuple(self._outcomes)
        self._outcomes.clear()
        return taken

    def next_deadline(self) -> int | None:
        """When `tick` will next have something to do, in the caller's milliseconds; None: never."""
        return next((due_ms for due_ms, _ in self._timers()), None)

    @property
    def open_ids(self) -> tuple[str, ...]:
        """The dialogs that a reply would still settle, oldest first."""
        return tuple(e.dialog_id for e in self._entries.values() if e.state is DialogState.OPEN)

    def state_of(self, dialog_id: str) -> DialogState:
        """Where a dialog is in its life; one that never was is closed like one that is over."""
        entry = self._entries.get(dialog_id)
        return DialogState.CLOSED if entry is None else entry.state

    @property
    def lost(self) -> str | None:
        """The message that dialogs raise since the host is gone; None: it is there."""
        return self._lost

    def fresh_id(self) -> str:
        """The next id; also for a frame that nothing waits for, such as a notice (rpc/R-22)."""
        self._ids += 1
        return f"req-{self._ids}"

    # -- moving one dialog

    def _timers(self) -> list[tuple[int, _Entry]]:
        """Every timer that runs, by due time, then by age: the sort is stable and the entries are in order."""
        running = [(e.due_ms, e) for e in self._entries.values() if e.due_ms is not None]
        return sorted(running, key=lambda timer: timer[0])

    def _resolve(
        self, entry: _Entry, happening: Happening, value: Any, by: SettledBy, *, timed_out: bool = False
    ) -> _Moved:
        resolved = Resolved(dialog_id=entry.dialog_id, value=value, by=by)
        return self._move(entry, happening, resolved, timed_out=timed_out)

    def _raise(self, entry: _Entry, message: str) -> _Moved:
        return self._move(entry, Happening.DISCONNECT, Rejected(dialog_id=entry.dialog_id, error=message))

    def _move(self, entry: _Entry, happening: Happening, outcome: Settled, *, timed_out: bool = False) -> _Moved:
        """Take the table's step, if it has one. The only place where a dialog changes its state."""
        step = life_of(entry.dialog).get((entry.state, happening))
        if step is None:
            return _Moved()  # something else came first (rpc/R-38, rpc/R-39)
        entry.state = step.to
        if step.to is DialogState.CLOSED:
            del self._entries[entry.dialog_id]  # its timer and its ear for the signal with it (rpc/R-37)
        return _Moved(
            # An id of its own, and the dialog's as the target (rpc/R-20).
            frames=(CancelRequest(id=self.fresh_id(), target_id=entry.dialog_id),) if step.sends_cancel else (),
            timeout=TimeoutFired(dialog_id=entry.dialog_id) if step.fires_timeout or timed_out else None,
            settled=outcome if step.settles else None,
        )

    def _note(self, moved: _Moved) -> None:
        self._outcomes.extend(o for o in (moved.timeout, moved.settled) if o is not None)


class _Moved(Struct, frozen=True, kw_only=True):
    """What one step of one dialog brought about."""

    frames: tuple[CancelRequest, ...] = ()
    timeout: TimeoutFired | None = None
    settled: Settled | None = None


def due(dialog: Dialog, now_ms: int) -> int | None:
    """When the dialog's own timer fires (rpc/R-19); an editor has none (rpc/R-36)."""
    if isinstance(dialog, Editor) or dialog.timeout_ms is UNSET:
        return None
    return now_ms + dialog.timeout_ms
