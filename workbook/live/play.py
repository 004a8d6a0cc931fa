"""A case played live: its dialogs as controls, its ledger beneath them, and nobody waiting in a cell.

A question that opens is shown; a click replies to it and the play goes on from there, whichever thread the click
is handled on. The scripted learner takes the same path, with the answers of the case. A dialog stays where it is
after its answer, so that nothing moves under the pointer and the pressed button keeps the focus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Struct

from labsim.call.scripted import answers
from labsim.case.gate import GateGiven
from labsim.case.given import CallGiven
from labsim.case.model import Case
from labsim.describe.ledger import visible
from labsim.errors import HostError, LabsimError
from labsim.events.dialogs import QuestionAsked
from labsim.extras import Given
from labsim.js_values import stringify
from labsim.play.performance import Driver, Performance
from labsim.play.report import Report
from labsim.stage.stage import Question
from labsim.stage.ui import NO_ANSWER, Answer, given
from labsim.terms import DialogKind
from workbook.errors import WorkbookError
from workbook.learner.who import Learner
from workbook.ledgers.grid import ledger_grid
from workbook.ledgers.played import WAITING, placed
from workbook.show.grid import Grid
from workbook.show.page import Block, Group, Heading, Items, Literal, Page, Paragraph, Table, page

if TYPE_CHECKING:
    from workbook.live.controls import DialogControl

ROWS_SHOWN: Final = 200  # of the newest events; a browser gets slow long before a ledger does
YES, NO = "Yes", "No"
CLOSED_BY_HOST: Final = "closed by the host"


class Reply(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="reply"):
    """A dialog's button: which option (by place, so that the exact label comes back), or the text typed."""

    dialog: str
    option: int | None = None
    text: str | None = None


class Dismiss(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="dismiss"):
    """The Dismiss button, or Escape."""

    dialog: str


Message: TypeAlias = Reply | Dismiss
Begin: TypeAlias = Callable[[Case, Driver | None], Performance]


class Dialog(Struct, kw_only=True):
    """A question that was put, and how it ended, in words; "" while it is open."""

    question: Question
    ended: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The labels of its buttons; none where a text is asked for."""
        return (YES, NO) if self.question.kind is DialogKind.CONFIRM else self.question.options

    @property
    def label(self) -> str:
        over = ", sent to an RPC client" if self.question.via == "rpc" else ""
        return f"Dialog {self.question.id} ({self.question.kind}{over})"


class NothingOpen(WorkbookError):
    """There is no open dialog to answer. Attribute: `case_id`."""

    def __init__(self, case_id: str) -> None:
        self.case_id = case_id
        super().__init__(f"{case_id}: no dialog is open, so there is nothing to answer.")


class LivePlay:
    """One case, being played. As the value of a cell it shows itself; `report()` says how far it is."""

    def __init__(self, case: Case, learner: Learner = Learner.LIVE, *, begin: Begin = Performance) -> None:
        """Plays to the first question; `begin` starts the play. Raises: labsim.errors.LabsimError."""
        self.case = case
        self.learner = learner
        self._dialogs: list[Dialog] = []
        self._superseded = False
        self._said = ""
        self._control: DialogControl | None = None
        self._script: Iterator[Answer] | None = None
        if learner is Learner.LIVE:
            self._performance = begin(case, self._opened)
        elif isinstance(case.given, CallGiven | GateGiven | Given):
            self._script = answers(case.given.choices)
            self._performance = begin(case, self._opened)
        else:
            self._performance = begin(case, None)  # its own steps reply, and only they know when
            ledger = self._performance.stage.ledger
            self._dialogs = [_of_script(event) for event in ledger if isinstance(event, QuestionAsked)]

    # -- what a learner can do

    def report(self) -> Report:
        """What the case showed so far."""
        with self._performance.stage.lock:
            return self._performance.report()

    def reply(self, value: object) -> LivePlay:
        """Answer the oldest open dialog: a label, yes or no as a bool, or a text. Raises: NothingOpen."""
        with self._performance.stage.lock:
            self._answer(self._oldest(), value)
            self._publish()
        return self

    def dismiss(self) -> LivePlay:
        """Close the oldest open dialog without an answer. Raises: NothingOpen."""
        return self.reply(UNSET)

    def advance(self, ms: int) -> LivePlay:
        """Let so many simulated milliseconds pass; whatever falls due on the way happens at its own time."""
        with self._performance.stage.lock:
            self._performance.advance(ms)
            self._publish()
        return self

    def supersede(self) -> None:
        """Give the play up if it still waits: its cell was run again, and nobody sees its dialogs any more."""
        with self._performance.stage.lock:
            if self.finished or self._superseded:
                return
            self._performance.close()
            self._superseded = True
            self._publish()

    # -- how it stands

    @property
    def finished(self) -> bool:
        """Whether the case has come to its end."""
        return self.report().finished

    @property
    def status(self) -> str:
        """How far the play is, in words."""
        if self._said:
            return self._said
        if self._superseded:
            return "Superseded: the cell was run again, so this play was given up. Use the new one."
        report = self.report()
        if not report.finished:
            return f"{WAITING[0].upper()}{WAITING[1:]}: {', '.join(one.id for one in report.questions)}."
        return f"Finished: {'; '.join(_ending(report))}."

    # -- what is shown

    def page(self) -> Page:
        """Dialogs and ledger without any control: what is read elsewhere, and what the scripted learner shows."""
        self._settle()
        return page(
            Heading(text=self._title()),
            *self._above(),
            *map(_static, self._dialogs),
            Paragraph(text=self.status),
            Table(grid=self._ledger()),
        )

    def receive(self, message: object) -> None:
        """What a button sent. A click that comes too late changes nothing; nothing is printed."""
        with self._performance.stage.lock:
            if self._superseded:
                return
            self._said = ""
            try:
                self._act(msgspec.convert(message, Message))
            except LabsimError as error:
                self._said = f"This play broke: {error}"
            except msgspec.ValidationError:
                self._said = "The button sent something that cannot be understood. Nothing was changed."
            self._publish()

    def state(self) -> dict[str, Any]:
        """Everything that the control is told, by name."""
        self._settle()
        return {
            "title": self._title(),
            "dialogs": list(map(_told, self._dialogs)),
            "status": self.status,
            "ledger": msgspec.to_builtins(self._ledger()),
        }

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        with self._performance.stage.lock:
            static = self.page()._repr_mimebundle_()
            return static if self.learner is Learner.SCRIPTED else {**self.widget.view(), **static}

    @property
    def widget(self) -> DialogControl:
        """The control of this play, an ipywidget."""
        with self._performance.stage.lock:
            if self._control is None:
                self._control = self._new_control()
            return self._control

    # -- inside

    def _new_control(self) -> DialogControl:
        from workbook.live.controls import DialogControl

        return DialogControl(self.receive, **self.state())

    def _above(self) -> tuple[Block, ...]:
        """What a page shows above the dialogs; of a scripted case nothing."""
        return ()

    def _opened(self, performance: Performance, question: Question) -> None:
        dialog = Dialog(question=question)
        self._dialogs.append(dialog)
        if self._script is not None:
            self._script_answers(performance, dialog, next(self._script, NO_ANSWER))

    def _script_answers(self, performance: Performance, dialog: Dialog, answer: Answer) -> None:
        try:
            value = given(answer)
        except HostError as error:
            dialog.ended = f"broke: {error}"
            performance.fail(dialog.question.id, error)
        else:
            dialog.ended = how_ended(value)
            performance.reply(dialog.question.id, value)

    def _oldest(self) -> Dialog:
        for dialog in self._dialogs:
            if self._is_open(dialog):
                return dialog
        raise NothingOpen(self.case.id)

    def _act(self, message: Message) -> None:
        dialog = next((one for one in self._dialogs if one.question.id == message.dialog), None)
        if dialog is None:
            return
        if isinstance(message, Dismiss):
            self._answer(dialog, UNSET)
        elif message.text is not None:
            self._answer(dialog, message.text)
        elif message.option is not None and 0 <= message.option < len(dialog.options):
            label = dialog.options[message.option]
            self._answer(dialog, label == YES if dialog.question.kind is DialogKind.CONFIRM else label)

    def _answer(self, dialog: Dialog, value: object) -> None:
        if self._is_open(dialog):  # asked before the reply, which closes it
            dialog.ended = how_ended(value)
        self._performance.reply(dialog.question.id, value)

    def _publish(self) -> None:
        if self._control is not None:
            self._control.update(self.state())

    def _settle(self) -> None:
        """Say of dialogs that nobody here answered, and that are open no longer, how they ended."""
        for dialog in self._dialogs:
            if not dialog.ended and not self._is_open(dialog):
                dialog.ended = "given up" if self._superseded else CLOSED_BY_HOST

    def _is_open(self, dialog: Dialog) -> bool:
        return any(question.id == dialog.question.id for question in self._performance.stage.questions)

    def _title(self) -> str:
        who = "scripted play" if self.learner is Learner.SCRIPTED else "live play"
        return f"{who[0].upper()}{who[1:]} of {self.case.id}"

    def _ledger(self) -> Grid:
        """The newest rows of the ledger."""
        report = self.report()
        events = placed(report)
        newest = events[-ROWS_SHOWN:]
        so_far = "" if report.finished else " so far"
        left_out = f"; rows before {newest[0].number} are left out here" if len(newest) < len(events) else ""
        return ledger_grid(f"Ledger of {self.case.id}{so_far}{left_out}", newest)


def _of_script(event: QuestionAsked) -> Dialog:
    """A dialog that the steps of a case opened and answered, as the ledger has it."""
    question = Question(id=event.question_id, kind=event.kind, title=event.title, options=event.options)
    return Dialog(question=question, ended="answered by the script of the case")


def how_ended(value: object) -> str:
    """How an answer ends a dialog, in words."""
    if value is UNSET:
        return "dismissed, without an answer"
    if isinstance(value, bool):
        return f"answered: {YES if value else NO}"
    return f"answered: {value if isinstance(value, str) else stringify(value)}"


def _ending(report: Report) -> Iterator[str]:
    """How a finished case ended, in words: outcome, error, and what was counted."""
    seen = report.observed
    if "outcome" in seen:
        yield str(seen["outcome"])
    if "error" in seen:
        yield str(seen["error"])
    if "status" in seen:
        yield f"the note is {seen['status']} r{seen['revision']}"
    for field in ("prompts", "effects"):
        if field in seen:
            yield f"{field} {seen[field]}"


def _told(dialog: Dialog) -> dict[str, Any]:
    question = dialog.question
    return {
        "id": question.id,
        "kind": str(question.kind),
        "label": dialog.label,
        "text": visible(question.shown),
        "options": list(map(visible, dialog.options)),
        "placeholder": question.placeholder or "",
        "prefill": question.prefill or "",
        "open": not dialog.ended,
        "ended": visible(dialog.ended),
    }


def _static(dialog: Dialog) -> Group:
    """A dialog on paper: its text, its options, and how it stands."""
    blocks: list[Block] = [Literal(text=dialog.question.shown)]
    if dialog.options:
        blocks.append(Items(items=tuple(f"[{option}]" for option in (*dialog.options, "Dismiss"))))
    else:
        blocks.append(Paragraph(text=f"(a text is asked for) {dialog.question.prefill or ''}".rstrip()))
    return Group(title=dialog.label, marks=(dialog.ended or WAITING,), blocks=tuple(blocks))
