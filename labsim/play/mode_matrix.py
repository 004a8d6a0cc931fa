"""Every command and every operation in every mode, each played on a desk of its own: the mode matrix, observed.

Nothing here says what a mode allows: a person who says yes to everything stands by, and what comes of it is read
off the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from labsim.errors import HostError
from labsim.events.dialogs import QuestionAsked
from labsim.review.base.events import MessagePosted, NoteRecorded, Notified, StatusShown, WidgetShown
from labsim.review.base.words import COPY
from labsim.review.desk import Command
from labsim.review.host import Host, ui_for
from labsim.review.panel.panel import PanelOutcome
from labsim.review.surface import Mode
from labsim.review.tool import AgentAction, Op
from labsim.rpc.events import FrameSent
from labsim.stage.stage import Question, Stage
from labsim.terms import DialogKind


class Observed(Struct, frozen=True, kw_only=True):
    """What came of one command or operation in one mode.

    `dialogs` and `frames` are in the order they came; `error` is what a refused call raised, "" where none was.
    """

    mode: Mode
    what: str
    dialogs: tuple[DialogKind, ...]
    notices: tuple[str, ...]
    messages: tuple[str, ...]
    status: bool  # whether a status line was set
    widget: bool
    frames: tuple[str, ...]  # by method, or type; only an RPC client gets any
    recorded: int  # entries
    granted: bool  # whether the agent may make a change afterwards
    error: str


_ROWS: Final = (*Command, *Op)


def mode_matrix() -> tuple[Observed, ...]:
    """Every command and operation in every mode, in its order."""
    return tuple(observe(what, mode) for what in _ROWS for mode in Mode)


def observe(what: Command | Op, mode: Mode) -> Observed:
    """Play one command or operation, on a fresh desk, with a person who says yes to whatever is asked.

    An act comes after an attempt to get a grant for it, and that attempt is not part of what is observed.
    """
    stage = Stage()
    host = Host(stage, ui_for(mode, stage), mode)
    stage.on_question = lambda question: _say_yes(stage, question)
    if what is Op.ACT:
        stage.play(host.desk.command(Command.DELEGATE))
    start, error = len(stage.ledger), ""
    if isinstance(what, Command):
        stage.play(host.desk.command(what)).result()
    else:
        try:
            stage.play(host.call("call-1", _arguments(what))).result()
        except HostError as refused:
            error = str(refused)
    seen = stage.ledger.events[start:]
    return Observed(
        mode=mode,
        what=what.value,
        dialogs=tuple(event.kind for event in _of(QuestionAsked, seen)),
        notices=tuple(event.message for event in _of(Notified, seen)),
        messages=tuple(event.summary for event in _of(MessagePosted, seen)),
        status=bool(_of(StatusShown, seen)),
        widget=bool(_of(WidgetShown, seen)),
        frames=tuple(_method(event) for event in _of(FrameSent, seen)),
        recorded=len(_of(NoteRecorded, seen)),
        granted=host.desk.authorized,
        error=error,
    )


def _arguments(op: Op) -> dict[str, Any]:
    if op is not Op.ACT:
        return {"op": op.value}
    return {"op": op.value, "action": AgentAction.ACCEPT.value, "expectedRevision": 0}


def _say_yes(stage: Stage, question: Question) -> None:
    yes: dict[DialogKind, object] = {
        DialogKind.EDITOR: question.prefill,
        DialogKind.SELECT: COPY.selector.accept,
        DialogKind.CONFIRM: True,
        DialogKind.CUSTOM: PanelOutcome.ACCEPT.value,
    }
    stage.reply(question.id, yes[question.kind])


def _of(kind: type[Any], events: Iterable[Struct]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def _method(event: FrameSent) -> str:
    return str(event.frame.get("method", event.frame.get("type")))
