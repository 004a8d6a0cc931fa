"""The one table of the Review Desk: what can happen in which phase, and what then becomes of note and grant.

The engine takes every step through `transition`, a state
diagram is drawn from `TRANSITIONS`, and the tests walk all of its pairs, so the three cannot drift apart.

Theory. Three things change together, and only one of them has a state that forbids anything. The *phase* says
whether a dialog of the desk is open, and which one; it decides what may happen next. The *status* of the note
never forbids anything: no status is final (review/V-5), so a step says which status it leads to, whatever it was.
The *grant* is there or not; a step keeps it, drops it, or gives it. What a step needs besides the right phase (a
valid text, a live grant, an untouched base) is its `guard`, in words: the engine checks it before it takes the
step, and takes another one, which records nothing, where it fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from labsim.errors import LabsimError
from labsim.terms import Status


class Pending(StrEnum):
    """What the desk waits for a person with; at most one at a time."""

    NONE = "none"
    REVIEW = "review"
    DELEGATE = "delegate"
    OVERLAY = "overlay"


class Phase(StrEnum):
    """Which dialog of the desk is open. The state of the machine."""

    IDLE = "idle"
    EDITING = "editing"  # review: the editor
    CHOOSING = "choosing"  # review: the selector
    CONFIRMING = "confirming"  # delegate
    PANEL = "in the panel"  # overlay
    CLOSED = "closed"  # the session has shut down

    @property
    def pending(self) -> Pending:
        return _PENDING[self]


_PENDING: Final[Mapping[Phase, Pending]] = {
    Phase.IDLE: Pending.NONE,
    Phase.EDITING: Pending.REVIEW,
    Phase.CHOOSING: Pending.REVIEW,
    Phase.CONFIRMING: Pending.DELEGATE,
    Phase.PANEL: Pending.OVERLAY,
    Phase.CLOSED: Pending.NONE,
}


class Action(StrEnum):
    """What can happen to the desk."""

    READ = "read"
    OPEN_REVIEW = "open review"
    SUBMIT_TEXT = "submit text"
    ACCEPT = "accept locally"
    ACCEPT_INVALID = "accept invalid text"
    REJECT = "reject"
    ESCAPE = "escape editor"
    CANCEL = "cancel"
    OPEN_DELEGATE = "open delegate"
    CONFIRM = "confirm"
    DECLINE = "decline"
    OPEN_PANEL = "open panel"
    PANEL_ACCEPT = "panel: accept"
    PANEL_REJECT = "panel: reject"
    PANEL_CANCEL = "panel: cancel"
    REFUSE_COMMAND = "refuse command"
    REVOKE = "revoke"
    ACT_REVISE = "act: revise"
    ACT_ACCEPT = "act: accept"
    ACT_REJECT = "act: reject"
    ACT_CANCEL = "act: cancel"
    ACT_REFUSED = "act refused"
    SWITCH = "session switch"
    BRANCH = "session branch"
    GO = "tree navigation"
    SHUT_DOWN = "shutdown"
    TOO_LATE = "too late"
    DIALOG_BROKE = "dialog broke"
    DISCARD = "discard outcome"
    APPEND_FAILED = "append failed"


class GrantEffect(StrEnum):
    """What a step does to the grant."""

    KEPT = "kept"
    DROPPED = "dropped"
    GIVEN = "given"


class GrantEnd(StrEnum):
    """Every way a grant ends: review/end-1 to review/end-9, in their order."""

    CONSUMED = "used up by an agent change"
    REVIEWED = "a person recorded an outcome"
    REVOKED = "revoked"
    SWITCHED = "session switched"
    BRANCHED = "session branched"
    MOVED = "moved in the session tree"
    SHUT_DOWN = "shut down"
    ASKED_AGAIN = "asked for again"
    FAILED = "not saved, or the client is gone"


class Step(Struct, frozen=True, kw_only=True):
    """One entry of the table.

    `status` None: nothing is recorded, and the note is as it was (or, with `rebuilt`, as the branch it now stands
    on has it). A step with a status appends one entry and raises the revision by exactly one. `takes_text`: the
    recorded text is the new one, and not the one from before. `aborts`: whatever dialog is open is closed, and
    its answer will count for nothing.
    """

    to: Phase
    rule: str
    status: Status | None = None
    takes_text: bool = False
    grant: GrantEffect = GrantEffect.KEPT
    end: GrantEnd | None = None  # how a grant that is there ends by this step
    aborts: bool = False
    rebuilt: bool = False
    guard: str = ""

    @property
    def records(self) -> bool:
        return self.status is not None


class NoSuchStep(LabsimError):
    """The table has no such pair; nothing was changed. Attributes: `phase`, `action`, `allowed`."""

    def __init__(self, phase: Phase, action: Action, allowed: tuple[Action, ...]) -> None:
        self.phase = phase
        self.action = action
        self.allowed = allowed
        super().__init__(f"{action!s} cannot happen while the desk is {phase}. Possible now: {', '.join(allowed)}.")


_EVERY: Final = tuple(Phase)
_LIVE: Final = tuple(phase for phase in Phase if phase is not Phase.CLOSED)
_DIALOGS: Final = (Phase.EDITING, Phase.CHOOSING, Phase.CONFIRMING, Phase.PANEL)
_VALID_TEXT: Final = "the text is valid"
_GRANTED: Final = "granted, and the revision matches"
_UNTOUCHED: Final = "same session, revision and epoch"


class _Row(Struct, frozen=True, kw_only=True):
    """Some entries at once: the same step from several phases. `to` None: the phase stays."""

    action: Action
    phases: tuple[Phase, ...]
    rule: str
    to: Phase | None = None
    status: Status | None = None
    takes_text: bool = False
    end: GrantEnd | None = None
    gives: bool = False
    aborts: bool = False
    rebuilt: bool = False
    guard: str = ""

    def entries(self) -> Iterator[tuple[tuple[Phase, Action], Step]]:
        grant = GrantEffect.KEPT if self.end is None else GrantEffect.DROPPED
        for phase in self.phases:
            yield (
                (phase, self.action),
                Step(
                    to=phase if self.to is None else self.to,
                    rule=self.rule,
                    status=self.status,
                    takes_text=self.takes_text,
                    grant=GrantEffect.GIVEN if self.gives else grant,
                    end=self.end,
                    aborts=self.aborts,
                    rebuilt=self.rebuilt,
                    guard=self.guard,
                ),
            )


def _records(action: Action, phase: Phase, rule: str, status: Status, end: GrantEnd, guard: str = "") -> _Row:
    return _Row(action=action, phases=(phase,), rule=rule, to=Phase.IDLE, status=status, end=end, guard=guard)


def _ends(action: Action, phases: tuple[Phase, ...], rule: str, end: GrantEnd, *, rebuilt: bool = False) -> _Row:
    return _Row(action=action, phases=phases, rule=rule, to=Phase.IDLE, end=end, aborts=True, rebuilt=rebuilt)


_A, _S, _E = Action, Status, GrantEnd
_ROWS: Final[tuple[_Row, ...]] = (
    _Row(action=_A.READ, phases=_EVERY, rule="review/S1"),
    # A review: the editor, then the selector. The text that was edited counts only for Accept (review/V-16). What
    # a person records ends the grant, and so does a cancelled review (review/end-2).
    _Row(action=_A.OPEN_REVIEW, phases=(Phase.IDLE,), rule="review/command-review", to=Phase.EDITING),
    _Row(action=_A.SUBMIT_TEXT, phases=(Phase.EDITING,), rule="review/command-review", to=Phase.CHOOSING),
    _Row(
        action=_A.ACCEPT,
        phases=(Phase.CHOOSING,),
        rule="review/S2",
        to=Phase.IDLE,
        status=_S.ACCEPTED,
        takes_text=True,
        end=_E.REVIEWED,
        guard=_VALID_TEXT,
    ),
    _Row(action=_A.ACCEPT_INVALID, phases=(Phase.CHOOSING,), rule="review/S3", to=Phase.IDLE),
    _records(_A.REJECT, Phase.CHOOSING, "review/S4", _S.REJECTED, _E.REVIEWED),
    _records(_A.ESCAPE, Phase.EDITING, "review/S5", _S.CANCELLED, _E.REVIEWED),
    _records(_A.CANCEL, Phase.CHOOSING, "review/S6", _S.CANCELLED, _E.REVIEWED),
    # A delegation: an older grant ends when the question opens, not when it is answered (review/end-8).
    _Row(
        action=_A.OPEN_DELEGATE,
        phases=(Phase.IDLE,),
        rule="review/command-delegate",
        to=Phase.CONFIRMING,
        end=_E.ASKED_AGAIN,
    ),
    _Row(
        action=_A.CONFIRM, phases=(Phase.CONFIRMING,), rule="review/S7", to=Phase.IDLE, gives=True, guard=_UNTOUCHED
    ),
    _Row(action=_A.DECLINE, phases=(Phase.CONFIRMING,), rule="review/S8", to=Phase.IDLE, end=_E.ASKED_AGAIN),
    # The panel.
    _Row(
        action=_A.OPEN_PANEL,
        phases=(Phase.IDLE,),
        rule="review/command-overlay",
        to=Phase.PANEL,
        guard="terminal mode",
    ),
    _records(_A.PANEL_ACCEPT, Phase.PANEL, "review/S13", _S.ACCEPTED, _E.REVIEWED),
    _records(_A.PANEL_REJECT, Phase.PANEL, "review/S13", _S.REJECTED, _E.REVIEWED),
    _records(_A.PANEL_CANCEL, Phase.PANEL, "review/S13", _S.CANCELLED, _E.REVIEWED),
    # A command that cannot be followed now: busy, no UI, no terminal, or no such word (review/V-20 to review/V-23).
    _Row(action=_A.REFUSE_COMMAND, phases=_EVERY, rule="review/V-20 to review/V-23"),
    # The agent: a change that is recorded uses the grant up (review/end-1), so a second act has none (review/V-34).
    _Row(
        action=_A.ACT_REVISE,
        phases=(Phase.IDLE,),
        rule="review/S10",
        status=_S.DRAFT,
        takes_text=True,
        end=_E.CONSUMED,
        guard=f"{_GRANTED}, and {_VALID_TEXT}",
    ),
    _records(_A.ACT_ACCEPT, Phase.IDLE, "review/S11", _S.ACCEPTED, _E.CONSUMED, _GRANTED),
    _records(_A.ACT_REJECT, Phase.IDLE, "review/S11", _S.REJECTED, _E.CONSUMED, _GRANTED),
    _records(_A.ACT_CANCEL, Phase.IDLE, "review/S11", _S.CANCELLED, _E.CONSUMED, _GRANTED),
    _Row(action=_A.ACT_REFUSED, phases=_EVERY, rule="review/S12"),
    # What ends everything that is pending, an open editor too (review/V-41). A move writes nothing (review/V-46).
    _ends(_A.REVOKE, _LIVE, "review/S9", _E.REVOKED),  # review/end-3
    _ends(_A.SWITCH, _LIVE, "review/S14", _E.SWITCHED, rebuilt=True),  # review/end-4
    _ends(_A.BRANCH, _LIVE, "review/S14", _E.BRANCHED, rebuilt=True),  # review/end-5
    _ends(_A.GO, _LIVE, "review/S14", _E.MOVED, rebuilt=True),  # review/end-6
    # review/end-7
    _Row(action=_A.SHUT_DOWN, phases=_EVERY, rule="review/S15", to=Phase.CLOSED, end=_E.SHUT_DOWN, aborts=True),
    # A dialog that is over without an outcome. Where the client is gone, so is the grant (review/end-9).
    _Row(action=_A.TOO_LATE, phases=_EVERY, rule="review/S16"),
    _Row(action=_A.DIALOG_BROKE, phases=_DIALOGS, rule="review/S17", to=Phase.IDLE, end=_E.FAILED),
    _Row(action=_A.DISCARD, phases=_DIALOGS, rule="review/V-19", to=Phase.IDLE),
    # Nothing is half recorded: where the entry could not be saved, the permission is gone as well (review/end-9).
    _Row(
        action=_A.APPEND_FAILED,
        phases=(Phase.IDLE, Phase.EDITING, Phase.CHOOSING, Phase.PANEL),
        rule="review/V-14",
        to=Phase.IDLE,
        end=_E.FAILED,
    ),
)

#: Every step there is, by phase and action. A pair that is not here cannot happen.
TRANSITIONS: Final[Mapping[tuple[Phase, Action], Step]] = dict(entry for row in _ROWS for entry in row.entries())


def transition(phase: Phase, action: Action) -> Step:
    """The step for `action` in `phase`, whatever the note's status is (review/V-5).

    Raises: NoSuchStep, which names what is possible there.
    """
    step = TRANSITIONS.get((phase, action))
    if step is None:
        raise NoSuchStep(phase, action, allowed_in(phase))
    return step


def allowed_in(phase: Phase) -> tuple[Action, ...]:
    """What can happen in `phase`, in the order of `Action`."""
    return tuple(action for action in Action if (phase, action) in TRANSITIONS)


class StatusEdge(Struct, frozen=True):
    """One arrow of the note's own diagram: whatever the status was, this action leads to `to`."""

    action: Action
    to: Status
    rule: str


def status_edges(
    steps: Iterable[tuple[tuple[Phase, Action], Step]] = TRANSITIONS.items(),
) -> tuple[StatusEdge, ...]:
    """The arrows between statuses, from the table: each leads from every status to one (review/V-5)."""
    return tuple(StatusEdge(action, step.status, step.rule) for (_, action), step in steps if step.status)
