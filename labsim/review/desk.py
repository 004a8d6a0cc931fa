"""The Review Desk: its commands, the dialogs that they open, and what it says (review/S1 to review/V-49).

Everything that changes anything is a step of the machine; what is here is when to take which, and in which words
to say so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from labsim.call.handlers import EventName, Extension, PlainHandler
from labsim.errors import HostError
from labsim.events.event import Event
from labsim.review.base.events import (
    CommandGiven,
    DialogOver,
    Discarded,
    MessagePosted,
    Notified,
    StatusShown,
    WidgetShown,
)
from labsim.review.base.states import Action, Pending, Phase
from labsim.review.base.words import COPY
from labsim.review.branch.note import FixtureUnavailable, Note, valid_text
from labsim.review.branch.sessions import Sessions
from labsim.review.branch.tree import NotSaved
from labsim.review.machine import Grant, Machine, OpenDialog
from labsim.review.panel.display import cut, sanitise
from labsim.review.panel.overlay import Overlays
from labsim.review.panel.panel import PanelOutcome, open_panel
from labsim.review.surface import CustomMessage, LedgerSurface, Mode, Surface
from labsim.rpc.frames import NotifyType
from labsim.stage.stage import Stage
from labsim.stage.ui import UI

EXTENSION: Final = COPY.command.name
_NOTE_COLUMNS: Final = 60  # of the widget's line with the note (review/V-29)


class Command(StrEnum):
    """What a person can say after `/review-desk`."""

    SHOW = "show"
    REVIEW = "review"
    DELEGATE = "delegate"
    REVOKE = "revoke"
    OVERLAY = "overlay"


class Shown(Struct, frozen=True, kw_only=True):
    """What the status line and the widget say (review/V-29)."""

    status: str
    widget: tuple[str, str, str]


class _Answer(Struct, frozen=True):
    """A dialog came back, and what it brought counts."""

    value: Any


#: What a panel's outcome is to the table. Anything else counts as cancelling, as with a selector (review/V-17).
_PANEL_ACTIONS: Final = {
    PanelOutcome.ACCEPT.value: Action.PANEL_ACCEPT,
    PanelOutcome.REJECT.value: Action.PANEL_REJECT,
}
#: The completed moves that the desk hears of (review/V-38).
_MOVES: Final = {
    EventName.SESSION_SWITCH: Action.SWITCH,
    EventName.SESSION_BRANCH: Action.BRANCH,
    EventName.SESSION_TREE: Action.GO,
    EventName.SESSION_SHUTDOWN: Action.SHUT_DOWN,
}


class Desk:
    """One process's Review Desk.

    `ui` carries the dialogs, `surface` the rest, `overlays` the panel (tui only). `fixture` is what was read of the
    packaged note, None where there was none. A dialog opens only where both the mode and the UI have a person
    (review/V-62).
    """

    def __init__(
        self,
        *,
        stage: Stage,
        sessions: Sessions,
        ui: UI,
        mode: Mode,
        fixture: bytes | None,
        surface: Surface | None = None,
        overlays: Overlays | None = None,
    ) -> None:
        self.mode = mode
        self._stage = stage
        self._ui = ui
        self._surface = surface or LedgerSurface()
        self._overlays = overlays
        self._machine = Machine(stage, sessions, fixture)

    # -- what there is

    @property
    def note(self) -> Note:
        """The note on the current branch, read afresh (review/V-8). Raises: FixtureUnavailable."""
        return self._machine.note

    @property
    def phase(self) -> Phase:
        return self._machine.phase

    @property
    def pending(self) -> Pending:
        return self._machine.phase.pending

    @property
    def busy(self) -> bool:
        return self._machine.busy

    @property
    def grant(self) -> Grant | None:
        """The grant in memory, whether or not it still fits the note."""
        return self._machine.grant

    @property
    def authorized(self) -> bool:
        """Whether the agent may make one change now. Raises: FixtureUnavailable."""
        return self._machine.grant is not None and self._machine.authorizes(self.note)

    @property
    def has_ui(self) -> bool:
        return self.mode.has_ui and self._ui.has_ui

    def shown(self) -> Shown:
        """What the status line and the widget say now (review/V-29). Raises: FixtureUnavailable."""
        note, words = self.note, COPY.widget
        template = COPY.status.granted if self._machine.authorizes(note) else COPY.status.plain
        first = sanitise(note.text).split("\n")[0]
        return Shown(
            status=template.format(**_facts(note)),
            widget=(
                words.title.format(**_facts(note)),
                words.permission.format(permission=self._permission(note)),
                words.note.format(line=cut(first, _NOTE_COLUMNS)),
            ),
        )

    # -- what happens to it

    def extension(self) -> Extension:
        """The desk's handlers, for the runner that announces completed moves. Load it before all others."""
        made = Extension(EXTENSION)
        for name, action in _MOVES.items():
            made.on(name, PlainHandler(self._hears(action)))
        return made

    async def command(self, words: str = "") -> None:
        """Follow `/review-desk <words>`: the first word counts, in any case; none means show."""
        word = next(iter(words.split()), Command.SHOW.value).lower()
        self._tell(CommandGiven(at_ms=self._stage.now_ms, word=word))
        try:
            match word:
                case Command.SHOW:
                    self._show()
                case Command.REVIEW:
                    await self._review()
                case Command.DELEGATE:
                    await self._delegate()
                case Command.REVOKE:
                    self._revoke()
                case Command.OVERLAY:
                    await self._overlay()
                case _:
                    self._refuse(COPY.notices.unknown_command)
        except FixtureUnavailable as error:
            self._report(error)
            return  # without a note there is no state to show
        except NotSaved as error:
            self._report(error)
        self.refresh()

    def read(self) -> None:
        """Note that somebody looked (review/S1)."""
        self._machine.take(Action.READ)

    def refuse_act(self) -> None:
        """Note that an act failed a check: nothing changes, and the grant stays (review/S12)."""
        self._machine.take(Action.ACT_REFUSED)

    def act(self, action: Action, text: str | None = None) -> Note:
        """Make the granted change; its checks have passed, and nobody has waited since (review/V-36). Raises:
        NotSaved.
        """
        try:
            return self._machine.record(action, self.note, text)
        finally:
            self.refresh()  # also where it failed: the permission is gone

    def refresh(self) -> None:
        """Show status and widget as they are now (review/V-29); without a UI there is nowhere to show them."""
        if not self.has_ui:
            return
        try:
            shown = self.shown()
        except FixtureUnavailable as error:
            self._notify(str(error), NotifyType.ERROR)
            return
        self._tell(StatusShown(at_ms=self._stage.now_ms, text=shown.status))
        self._surface.set_status(COPY.status.key, shown.status)
        self._tell(WidgetShown(at_ms=self._stage.now_ms, lines=shown.widget))
        self._surface.set_widget(COPY.widget.key, shown.widget)

    def _hears(self, action: Action) -> Callable[[Any], None]:
        def completed(event: Any) -> None:
            self._machine.take(action)  # review/S14, review/S15
            if action is not Action.SHUT_DOWN:
                self.refresh()  # what is shown was true where we come from

        return completed

    # -- the commands

    def _show(self) -> None:
        """`/review-desk show`, or no word at all (review/command-show)."""
        note = self.note
        self._machine.take(Action.READ)
        summary = COPY.message.summary.format(**_facts(note), permission=self._permission(note))
        self._post(CustomMessage(summary=summary, text=note.text))

    async def _review(self) -> None:
        """`/review-desk review` (review/command-review)."""
        if not self._may_open():
            return
        machine, words = self._machine, COPY.selector
        dialog = machine.open(Action.OPEN_REVIEW)
        base = dialog.base
        try:
            edited = await self._ask(dialog, self._ui.editor(COPY.editor.title, base.text, signal=dialog.signal))
            if edited is None:
                return  # no selector opens (review/V-41, review/V-42)
            text = edited.value
            # nothing; or a reply that is no text, which is nothing as well (rpc/R-28)
            if not isinstance(text, str):
                machine.record(Action.ESCAPE, base)  # review/S5
                return
            machine.take(Action.SUBMIT_TEXT)
            choice = await self._ask(dialog, self._ui.select(words.title, words.options, signal=dialog.signal))
            if choice is None:
                return
            if choice.value == words.accept and not valid_text(text):  # review/S3, review/V-24
                machine.take(Action.ACCEPT_INVALID)
                self._notify(COPY.errors.invalid_text, NotifyType.ERROR)
            elif choice.value == words.accept:
                machine.record(Action.ACCEPT, base, text)  # edited or not (review/S2, review/V-15)
            elif choice.value == words.reject:
                machine.record(Action.REJECT, base)  # review/S4
            else:  # Cancel, nothing, or a label that was never offered (review/V-17)
                machine.record(Action.CANCEL, base)  # review/S6
        finally:
            machine.release(dialog)

    async def _delegate(self) -> None:
        """`/review-desk delegate` (review/command-delegate)."""
        if not self._may_open():
            return
        machine, words = self._machine, COPY.confirm
        had_one = machine.grant is not None
        dialog = machine.open(Action.OPEN_DELEGATE)
        revision = dialog.base.revision
        if had_one:
            self.refresh()  # the older permission is gone already; nobody should read otherwise meanwhile
        try:
            message = words.message.format(revision=revision)
            answer = await self._ask(dialog, self._ui.confirm(words.title, message, signal=dialog.signal))
            if answer is None:
                return
            if answer.value is True:
                machine.take(Action.CONFIRM, granted_on=dialog.base)  # review/S7, review/V-25
                self._notify(COPY.notices.granted.format(revision=revision), NotifyType.INFO)
            else:
                machine.take(Action.DECLINE)  # review/S8, review/V-26
                self._notify(COPY.notices.declined, NotifyType.INFO)
        finally:
            machine.release(dialog)

    def _revoke(self) -> None:
        """`/review-desk revoke` (review/command-revoke)."""
        words = COPY.notices
        said = words.nothing_to_revoke if self._machine.grant is None else words.revoked  # review/V-27
        self._machine.take(Action.REVOKE)  # review/S9
        self._notify(said, NotifyType.INFO)

    async def _overlay(self) -> None:
        """`/review-desk overlay` (review/command-overlay)."""
        overlays = self._overlays if self.mode is Mode.TUI else None
        if self.has_ui and overlays is None:  # review/V-22
            self._refuse(COPY.notices.needs_terminal)
            return
        if not self._may_open() or overlays is None:  # review/V-23
            return
        machine = self._machine
        dialog = machine.open(Action.OPEN_PANEL)
        note = dialog.base
        try:
            shown = overlays.custom(lambda viewport: open_panel(note, viewport), signal=dialog.signal)
            answer = await self._ask(dialog, shown)
            if answer is not None:
                outcome = answer.value if isinstance(answer.value, str) else ""
                machine.record(_PANEL_ACTIONS.get(outcome, Action.PANEL_CANCEL), note)  # review/S13
        finally:
            machine.release(dialog)

    # -- dialogs

    def _may_open(self) -> bool:
        """Whether a dialog may open now; if not, says why. Asked before any is opened, since the dialogs of a
        mode without a UI come back like one that somebody escaped from (review/V-20, review/V-21, review/V-62).
        """
        if not self.has_ui:
            self._machine.take(Action.REFUSE_COMMAND)
            self._post(CustomMessage(summary=COPY.notices.no_ui))
            return False
        if self.busy:
            self._refuse(COPY.notices.busy)
            return False
        return True

    async def _ask(self, dialog: OpenDialog, asked: Awaitable[Any]) -> _Answer | None:
        """Wait for a dialog, as long as it takes: none has a timeout (review/V-48).

        None: it is over, and nothing that it brought may be recorded.
        """
        machine, value = self._machine, None
        try:
            value = await asked
        except HostError:
            if not dialog.signal.aborted:
                machine.take(Action.DIALOG_BROKE)  # review/S17, review/V-47
                self._over(dialog, Discarded.BROKE)
                return None
        if dialog.signal.aborted:  # before anything else: no value is what an abort looks like, too (review/V-18)
            machine.take(Action.TOO_LATE)  # review/S16
            self._over(dialog, Discarded.ABORTED)
            return None  # review/V-41, review/V-42, review/V-43, review/V-46
        if not machine.untouched(dialog):  # review/V-19
            machine.take(Action.DISCARD)
            self._over(dialog, Discarded.OVERTAKEN)
            return None
        return _Answer(value)

    def _over(self, dialog: OpenDialog, why: Discarded) -> None:
        self._tell(DialogOver(at_ms=self._stage.now_ms, pending=dialog.pending, why=why))
        if why is not Discarded.OVERTAKEN:  # that one is silent (review/V-19)
            self._notify(COPY.notices.closed, NotifyType.INFO)  # review/V-28

    # -- saying

    def _permission(self, note: Note) -> str:
        if not self._machine.authorizes(note):
            return COPY.widget.none
        return COPY.widget.one_change.format(revision=note.revision)

    def _refuse(self, warning: str) -> None:
        self._machine.take(Action.REFUSE_COMMAND)
        self._notify(warning, NotifyType.WARNING)

    def _report(self, error: HostError) -> None:
        """Tell a person why a command failed: as a notice, or where there is no UI as a message."""
        if self.has_ui:
            self._notify(str(error), NotifyType.ERROR)
        else:
            self._post(CustomMessage(summary=str(error)))

    def _notify(self, message: str, kind: NotifyType) -> None:
        if self.has_ui:
            self._tell(Notified(at_ms=self._stage.now_ms, kind=kind, message=message))
            self._surface.notify(message, kind)

    def _post(self, message: CustomMessage) -> None:
        self._tell(MessagePosted(at_ms=self._stage.now_ms, summary=message.summary, text=message.text))
        self._surface.post(message)

    def _tell(self, event: Event) -> None:
        self._stage.ledger.append(event)


def _facts(note: Note) -> dict[str, Any]:
    return {"status": note.status.value, "revision": note.revision}
