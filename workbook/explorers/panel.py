"""The what-if panel in a notebook: a state to be set by controls or by code, and everything that follows from it.

The panel never changes what somebody has set. Where controls contradict each other nothing is played: the panel
says which they are, and offers to set one of them. The last state that was a case stays the panel's own until
then.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from labsim.case.model import Case
from labsim.describe.ledger import visible
from labsim.errors import CaseError
from labsim.play.report import Report
from workbook.errors import WorkbookError
from workbook.explorers.case import FRESH, Opened, as_case, as_json, open_case, read, read_raw
from workbook.explorers.fields import groups, remarks, state_grid
from workbook.explorers.input import with_control, with_words
from workbook.explorers.problems import Problem
from workbook.explorers.state import START, PanelState
from workbook.explorers.view import View, view_of
from workbook.learner.who import Learner, who
from workbook.ledgers.played import Played, report_of
from workbook.ledgers.withheld import unless_withheld
from workbook.show.page import Heading, Items, Page, Paragraph, Table, page

if TYPE_CHECKING:
    from workbook.explorers.control import ExplorerControl

TITLE: Final = "What if? One tool call, set as you like"


class SetTo(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="set"):
    """A control was set to a word. `view` and `n` come back: which change of which view was heard last."""

    control: str
    word: str
    view: str
    n: int


class Fix(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="fix"):
    """The button beside a problem, by the problem's place."""

    problem: int


class Paste(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="paste"):
    """A case to be opened, as text."""

    text: str


class Restart(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="restart"):
    """Back to where the panel started, or to the case that was opened last."""


_Message: TypeAlias = SetTo | Fix | Paste | Restart


class NotACase(WorkbookError):
    """The controls would contradict each other, so nothing was changed. Attribute: `problems`."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__(_sentences(problems))


class Explorer:
    """A what-if panel. As the value of a cell it shows itself; `set` does in code what its controls do.

    `report()` is the played state, so every table and picture of the workbook takes a panel for a played case.
    """

    def __init__(self, state: PanelState = START, opened: Opened = FRESH, learner: Learner = Learner.LIVE) -> None:
        """Plays the state. Raises: NotACase."""
        self.learner = learner
        self._lock = RLock()  # a click may come on another thread than a cell
        self._control: ExplorerControl | None = None
        self._said = self._paste_problem = ""
        self._seen: tuple[str, int] = ("", 0)
        self._pastes = 0
        self._opened = opened
        self._draft = self._state = state
        self._view = _played(state, opened)
        self._problems: tuple[Problem, ...] = ()

    # -- what a learner can do

    def set(self, **words: Any) -> Explorer:
        """Set controls by name, all at once: `set(mode="yolo", tier="exec", answers=["Approve", None])`.

        A word is the control's, or what a case says: True, None, "rpc", what comes back from a dialog. `repeat` is
        a number. Raises: NoSuchControl, NoSuchWord; NotACase, if they contradict each other. Nothing is changed
        then.
        """
        with self._lock:
            state = with_words(self._draft, words, self._opened)
            _played(state, self._opened)
            self._take(state)
            self._publish()
        return self

    def paste(self, text: str) -> Explorer:
        """Open a case that is given as JSON. Raises: labsim.errors.CaseError; nothing is changed then."""
        with self._lock:
            state, opened = read(text)
            self._opened = opened
            self._pastes += 1
            self._take(state)
            self._publish()
        return self

    # -- how it stands

    @property
    def state(self) -> PanelState:
        """The last state that was a case: what is shown, unless controls contradict each other just now."""
        return self._state

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the controls contradict each other in just now."""
        return self._problems

    @property
    def case(self) -> Case:
        """The state as a case. It claims nothing: what it shows is for somebody to predict."""
        return as_case(self._state, self._opened)

    @property
    def json(self) -> str:
        """The same as text, to be copied."""
        return as_json(self._state, self._opened)

    def report(self) -> Report:
        """The played state."""
        return self._view.report

    @property
    def status(self) -> str:
        """What is announced: the decision, or why there is none."""
        if self._problems:
            return f"No case, so nothing is played. {_sentences(self._problems)}"
        return f"{self._said} {self._view.headline}".strip()

    # -- what is shown

    def page(self) -> Page:
        """The panel without any control: its state as a table, then what follows from it."""
        with self._lock:
            noted = self._remarks()
            return page(
                Heading(text=TITLE),
                Table(grid=state_grid(self._state, self._opened)),
                *((Items(items=tuple(noted)),) if noted else ()),
                Paragraph(text=self._view.headline),
                *self._view.blocks,
            )

    def receive(self, message: object) -> None:
        """What a control sent. Nothing is printed, and what cannot be understood changes nothing."""
        with self._lock:
            self._said = self._paste_problem = ""
            try:
                self._act(msgspec.convert(message, _Message))
            except CaseError as error:
                self._paste_problem = visible(str(error))
                self._said = f"Not opened: {self._paste_problem} Still the case from before."
            except WorkbookError as error:
                self._said = str(error)
            except msgspec.ValidationError:
                self._said = "The panel sent something that cannot be understood. Nothing was changed."
            self._publish()

    def told(self) -> dict[str, Any]:
        """Everything that the control is told, by name."""
        shows = not self._problems
        wrong = [name for problem in self._problems for name in problem.controls]
        return {
            "title": TITLE,
            "groups": groups(self._draft, self._opened, self._view.dialogs if shows else None, wrong),
            "problems": [{"button": one.button, "control": one.controls[0]} for one in self._problems],
            "remarks": list(map(visible, self._remarks())) if shows else [],
            "above": page(*self._view.above).data() if shows else [],
            "picture": dict(self._view.picture) if shows else {},
            "below": page(*self._view.below).data() if shows else [],
            "case": self.json if shows else "",
            "pastes": self._pastes,
            "paste_problem": self._paste_problem,
            "seen": list(self._seen),
            "status": visible(self.status),
        }

    def __repr__(self) -> str:
        return f"<Explorer {self._opened.id}: {self._view.headline}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        with self._lock:
            static = self.page()._repr_mimebundle_()
            return static if self.learner is Learner.SCRIPTED else {**self.widget.view(), **static}

    @property
    def widget(self) -> ExplorerControl:
        """The control of this panel, an ipywidget."""
        with self._lock:
            if self._control is None:
                from workbook.explorers.control import ExplorerControl

                self._control = ExplorerControl(self.receive, **self.told())
            return self._control

    # -- inside

    def _act(self, message: _Message) -> None:
        match message:
            case SetTo(control=control, word=word, view=view, n=n):
                self._seen = (view, n)
                self._take(with_control(self._draft, control, word, self._opened))
            case Fix(problem=place) if 0 <= place < len(self._problems):
                self._take(replace(self._draft, **self._problems[place].fix))
            case Fix():
                pass  # the problem is gone already, as after a double click
            case Paste(text=text):
                self.paste(text)
                self._said = f"Opened {self._opened.id}."
            case Restart():
                self._take(self._opened.start)
                self._said = "Started again."

    def _take(self, draft: PanelState) -> None:
        """Have the controls say this, and play it if it is a case."""
        shown = view_of(draft, self._opened)
        self._draft = draft
        if isinstance(shown, View):
            self._state, self._view, self._problems = draft, shown, ()
        else:
            self._problems = shown

    def _publish(self) -> None:
        if self._control is not None:
            self._control.update(self.told())

    def _remarks(self) -> list[str]:
        return remarks(self._state, self._opened, self._view.dialogs)


def _played(state: PanelState, opened: Opened) -> View:
    """The view of a state that has to be a case. Raises: NotACase."""
    shown = view_of(state, opened)
    if not isinstance(shown, View):
        raise NotACase(shown)
    return shown


def _sentences(problems: tuple[Problem, ...]) -> str:
    return " ".join(f"{one.found}. {one.remedy}" for one in problems)


@unless_withheld
def explorer(case: Case | Mapping[str, Any] | str | Played | None = None, **words: Any) -> Explorer:
    """A panel to try one tool call at: every control, and below it the decision, the dialogs and what came of them.

    `case`: where to start. A played case (`desk.play("…")`), a case, or its JSON, as a mapping or as text; the
    panel starts with a call of its own if it is left out. `words` are set as by `Explorer.set`. What is withheld
    stays so.
    Raises: labsim.errors.CaseError, for a case that is not right or that has no controls here; NotPlayed; what
    `Explorer.set` raises.
    """
    made = Explorer(*_opened(case), learner=who())
    return made.set(**words) if words else made


def _opened(case: Case | Mapping[str, Any] | str | Played | None) -> tuple[PanelState, Opened]:
    if case is None:
        return START, FRESH
    if isinstance(case, str):
        return read(case)
    if isinstance(case, Mapping):
        return read_raw(dict(case), "the case")
    return open_case(case if isinstance(case, Case) else report_of(case).case)
