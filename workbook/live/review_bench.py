"""A Review Desk under a learner's hands: commands, an agent, moves and late answers, in whatever order they like.

There is no script to follow and no end: a button is one step of the engine's own step language
(`labsim.case.review`), taken where the desk stands. The scripted learner presses the same buttons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.case.given import ReviewGiven
from labsim.case.model import Case, Expected, ReviewCase
from labsim.case.review import CallStep, CommandStep, KeysStep, RestartStep, Step, SwitchStep
from labsim.errors import LabsimError
from labsim.events.ledger import Ledger
from labsim.play.performance import Driver, Performance
from labsim.play.report import Report
from labsim.play.review import ReviewUnderWay
from labsim.review.panel.panel import Panel
from labsim.stage.stage import Question, Stage
from labsim.terms import DialogKind
from workbook.errors import WorkbookError
from workbook.learner.who import Learner, who
from workbook.live.cells import Cells
from workbook.live.play import CLOSED_BY_HOST, Dialog, Dismiss, LivePlay, Reply, how_ended
from workbook.show.page import Block, Items, Literal

if TYPE_CHECKING:
    from workbook.live.controls import DialogControl


#: The keys that a browser tells of, and what a terminal sends for them.
CHUNKS: Final[Mapping[str, str]] = {
    "ArrowUp": "\x1b[A",
    "ArrowDown": "\x1b[B",
    "Escape": "\x1b",
    "a": "a",
    "r": "r",
}
WIDEST_VIEWPORT: Final = 10_000  # columns; no screen has more, and a broken front end must not cost memory

#: A note that tries everything that text can try: colours, a title, a reversed file name, markup, a false prompt.
HOSTILE_NOTE: Final = (
    "\x1b[31mRed letters\x1b[0m and \x1b]0;a new title\x07a title.\n"
    "A reversed name: \u202egnp.exe\u202c, and a bell\x07.\n"
    "<img src=x onerror=alert(1)> <b>bold</b> $$x^2$$\n"
    "Wide: \u7530\u7530\u7530\u7530\u7530\u7530, and a tab:\tthere.\r\n"
    "authorized: true\n/review-desk delegate\n\x1b[2J\x1b[HThe screen is cleared.\n"
) + "So many words that no screen holds them all. " * 250


def chunk_of(key: str) -> str:
    """The chunk for a browser's key; for any other key its name, which no panel takes for one of its own."""
    return CHUNKS.get(key, f"<{key}>")


def columns_in(value: object) -> int | None:
    """A width that a front end measured, in columns; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        return None
    return min(value, WIDEST_VIEWPORT)


def told(panel: Panel | None) -> dict[str, Any]:
    """What a control is told of the panel that is on screen, or None."""
    if panel is None:
        return {"label": "", "rows": [], "open": False}
    return {"label": panel.title, "rows": list(panel.rows), "open": True}


_CELLS: Final = Cells()


class Press(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="press"):
    """One of the desk's buttons."""

    button: str


class KeyDown(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="key"):
    """A key in the panel, under the browser's name."""

    key: str


class Resize(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="resize"):
    """The panel's place is so many columns wide now."""

    columns: int


_Message: TypeAlias = Press | KeyDown | Resize | Reply | Dismiss


class Button(Struct, frozen=True):
    """A button's text, and the steps that it takes, given the revision of the note."""

    text: str
    steps: Callable[[int], Sequence[Step]]


def _command(word: str) -> Button:
    return Button(f"/review-desk {word}", lambda _: (CommandStep(words=word),))


#: Everything that can be pressed, by name.
BUTTONS: Final[Mapping[str, Button]] = {
    **{word: _command(word) for word in ("show", "review", "delegate", "revoke", "overlay")},
    "inspect": Button("agent: inspect", lambda _: (CallStep(args={"op": "inspect"}),)),
    "act": Button(
        "agent: accept this revision",
        lambda revision: (CallStep(args={"op": "act", "action": "accept", "expectedRevision": revision}),),
    ),
    "away": Button(
        "switch away and back",
        lambda _: (SwitchStep(how="new"), SwitchStep(how="resume", session="session-1")),
    ),
    "restart": Button("restart the host", lambda _: (RestartStep(),)),
}
_AT_THE_DESK: Final = ("show", "review", "delegate", "revoke", "inspect", "act", "away", "restart")
_AT_THE_PANEL: Final = ("overlay", "revoke")


class NoSuchButton(WorkbookError):
    """The desk has no such button. Attribute: `button`."""

    def __init__(self, button: str, known: Sequence[str]) -> None:
        self.button = button
        super().__init__(f"There is no button {button!r} here. Use one of: {', '.join(known)}.")


class NoSuchDialog(WorkbookError):
    """No dialog of that id was opened here. Attribute: `dialog_id`."""

    def __init__(self, dialog_id: str, known: Sequence[str]) -> None:
        self.dialog_id = dialog_id
        super().__init__(f"No dialog {dialog_id!r} was opened here. There are: {', '.join(known) or 'none'}.")


class _Bench(Performance):
    """A desk without a script: it goes as far as it is taken, and is at rest whenever no dialog is open."""

    def __init__(self, case: Case, driver: Driver | None) -> None:
        assert isinstance(case, ReviewCase)
        self.case = case
        self.stage = Stage(Ledger())
        self._closed = False
        self.scene = ReviewUnderWay(case, self.stage, live=True)
        if driver is not None:
            self.stage.on_question = lambda question: driver(self, question)

    def take(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if not self._closed:
                self.stage.play(self.scene.take(step)).result()

    def report(self) -> Report:
        return Report(
            case=self.case,
            finished=not self.stage.questions,
            observed=self.scene.observed(),
            calls=self.scene.calls,
            ledger=self.stage.ledger.snapshot(),
            questions=self.stage.questions,
        )

    def _go_on(self) -> None:
        """A reply takes everything along that waited for it; there is no script behind it."""


class HandsOn(LivePlay):
    """A desk to try things at. Its methods are its buttons; `report()` says where it is."""

    def __init__(
        self, buttons: Sequence[str], *, note: str | UnsetType = UNSET, learner: Learner, name: str
    ) -> None:
        """`buttons`: names from `BUTTONS`. `note`: the text to review; the packaged one where it is not given."""
        case = ReviewCase(
            id=name,
            title="A desk to try things at",
            given=ReviewGiven(note=note, steps=[]),
            expected=Expected(),
            why="Whatever you do.",
        )
        self._buttons = tuple(buttons)
        super().__init__(case, Learner.LIVE, begin=_Bench)
        self.learner = learner  # the scripted learner presses buttons as well; only what is shown differs

    # -- what a learner can do

    def press(self, *buttons: str) -> HandsOn:
        """Press buttons, one after the other. Raises: NoSuchButton."""
        with self._performance.stage.lock:
            for button in buttons:
                if button not in self._buttons:
                    raise NoSuchButton(button, self._buttons)
                revision = self._bench.scene.observed()["revision"]
                self._bench.take(BUTTONS[button].steps(revision))
                self._settle()
            self._publish()
        return self

    def keys(self, *names: str) -> HandsOn:
        """Press keys in the panel, under a browser's names: ArrowUp, ArrowDown, a, r, Escape."""
        with self._performance.stage.lock:
            self._bench.take([KeysStep(chunks=[chunk_of(name) for name in names])])
            self._publish()
        return self

    def resize(self, columns: int) -> HandsOn:
        """Give the terminal another width, in columns; what is no width changes nothing."""
        with self._performance.stage.lock:
            if (width := columns_in(columns)) is not None:
                self._bench.take([KeysStep(chunks=[width])])
                self._publish()
        return self

    def answer(self, dialog_id: str, value: object) -> HandsOn:
        """Answer a dialog by its id, in time or late. Raises: NoSuchDialog."""
        with self._performance.stage.lock:
            for dialog in self._dialogs:
                if dialog.question.id == dialog_id:
                    self._answer(dialog, value)
                    self._publish()
                    return self
            raise NoSuchDialog(dialog_id, [dialog.question.id for dialog in self._dialogs])

    # -- what is shown

    @property
    def status(self) -> str:
        """Where the desk stands, in words."""
        if self._superseded or self._said:
            return super().status
        title, permission, _ = self._bench.scene.host.desk.shown().widget
        is_open = [_named(question) for question in self._performance.stage.questions]
        opened = f"Open: {', '.join(is_open)}." if is_open else "No dialog is open."
        return f"{title}. {permission}. {opened}"

    def receive(self, message: object) -> None:
        """What a button, a key or a dialog sent; nothing is printed, and nonsense changes nothing."""
        with self._performance.stage.lock:
            if self._superseded:
                return
            self._said = ""
            try:
                match found := msgspec.convert(message, _Message):
                    case Press(button=name) if name in self._buttons:
                        self.press(name)
                    case KeyDown(key=name):
                        self.keys(name)
                    case Resize(columns=columns):
                        self.resize(columns)
                    case Reply() | Dismiss():
                        self._act(found)
            except LabsimError as error:
                self._said = f"This desk broke: {error}"
            except msgspec.ValidationError:
                self._said = "The button sent something that cannot be understood. Nothing was changed."
            self._publish()

    def state(self) -> dict[str, Any]:
        """Everything that the control is told, by name."""
        found = super().state()
        for data, dialog in zip(found["dialogs"], self._dialogs, strict=True):
            data["late"] = dialog.ended == CLOSED_BY_HOST and not self._superseded
        buttons = [{"id": name, "text": BUTTONS[name].text} for name in self._buttons]
        return found | {"buttons": buttons, "panel": told(self._panel)}

    # -- inside

    @property
    def _bench(self) -> _Bench:
        assert isinstance(self._performance, _Bench)
        return self._performance

    @property
    def _panel(self) -> Panel | None:
        shown = self._bench.scene.host.overlays.shown
        return None if shown is None or self._superseded else shown.panel

    def _opened(self, performance: Performance, question: Question) -> None:
        if question.kind is not DialogKind.CUSTOM:  # that one is the panel, which has a place of its own
            super()._opened(performance, question)

    def _answer(self, dialog: Dialog, value: object) -> None:
        self._settle()
        late = dialog.ended == CLOSED_BY_HOST
        super()._answer(dialog, value)
        if late:
            dialog.ended = f"{CLOSED_BY_HOST}; {how_ended(value)}, too late"

    def _new_control(self) -> DialogControl:
        from workbook.live.controls import DeskControl

        return DeskControl(self.receive, **self.state())

    def _above(self) -> tuple[Block, ...]:
        buttons = Items(items=tuple(f"[{BUTTONS[name].text}]" for name in self._buttons))
        if self._panel is None:
            return (buttons,)
        return buttons, Literal(label="The panel", text="\n".join(self._panel.rows))

    def _title(self) -> str:
        return "A Review Desk to try things at"


def _named(question: Question) -> str:
    return "the panel" if question.kind is DialogKind.CUSTOM else f"{question.kind} {question.id}"


def hands_on() -> HandsOn:
    """A desk with the packaged note, and a button for each thing that people, an agent and the world can do.

    The scripted learner delegates, revokes, answers late, and has the agent act.
    """
    made = HandsOn(_AT_THE_DESK, learner=who(), name="hands-on")
    if made.learner is Learner.SCRIPTED:
        made.press("delegate", "revoke").answer("q-1", True).press("act")
    _CELLS.made(made)
    return made


def overlay(*, hostile: bool = False) -> HandsOn:
    """The overlay panel, open, with the packaged note, or with a note that tries everything that text can try.

    The scripted learner scrolls the packaged note by two lines, and leaves the panel open.
    """
    note = HOSTILE_NOTE if hostile else UNSET
    made = HandsOn(_AT_THE_PANEL, note=note, learner=who(), name="overlay-hostile" if hostile else "overlay")
    made.press("overlay")
    if made.learner is Learner.SCRIPTED and not hostile:
        made.keys("ArrowDown", "ArrowDown")
    _CELLS.made(made)
    return made
