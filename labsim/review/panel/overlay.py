"""Who shows the panel: opened with the focus, closed by the first outcome, hidden on abort.

On the stage an open panel is an open question of the kind `custom`: a person decides, whoever draws it. The
outcome is the answer; the scrolling is nobody's business but the panel's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, TypeAlias

from msgspec import UNSET

from labsim.errors import AbortError, HostError
from labsim.events.dialogs import QuestionAnswered
from labsim.review.base.events import PanelHidden, PanelNeverShown, PanelShown
from labsim.review.panel.panel import Panel, PanelOutcome
from labsim.stage.stage import AbortSignal, Question, Stage
from labsim.terms import DialogKind

ABORTED: Final = "The overlay was aborted."

#: Makes the panel for a terminal of so many columns; it may take its time.
PanelFactory: TypeAlias = Callable[[int], Panel | Awaitable[Panel]]


class Overlays(Protocol):
    """A terminal's place for a component of an extension's own."""

    async def custom(self, factory: PanelFactory, *, signal: AbortSignal) -> Any:
        """Show a panel and wait. Returns: the outcome. Raises: AbortError, when the signal aborts (review/V-60)."""
        ...


class ShownPanel:
    """A panel that is on screen: takes chunks of input and new widths until its first outcome (review/V-57)."""

    def __init__(self, stage: Stage, question_id: str, panel: Panel) -> None:
        self._stage = stage
        self.question_id = question_id
        self.panel = panel

    def press(self, chunk: str) -> None:
        """One chunk of input, whole. Nothing else of the desk takes any (review/V-59)."""
        if self.panel.outcome is not None:
            return  # the first counts (review/V-57)
        self.panel = self.panel.press(chunk)
        if self.panel.outcome is not None:
            self._stage.reply(self.question_id, self.panel.outcome.value)

    def resize(self, viewport: int) -> None:
        """The terminal has another width now (review/V-61)."""
        self.panel = self.panel.resize(viewport)


class StageOverlays:
    """Puts the panel to the stage. `shown` is the one on screen, or None; `viewport` is the terminal's width."""

    def __init__(self, stage: Stage, viewport: int = 80) -> None:
        self._stage = stage
        self.viewport = viewport
        self.shown: ShownPanel | None = None

    async def custom(self, factory: PanelFactory, *, signal: AbortSignal) -> Any:
        stage = self._stage
        if signal.aborted:
            raise AbortError(ABORTED)
        made = factory(self.viewport)
        panel = await made if isinstance(made, Awaitable) else made
        if signal.aborted:
            stage.ledger.append(PanelNeverShown(at_ms=stage.now_ms))  # review/V-60
            raise AbortError(ABORTED)
        question = Question(
            id=stage.next_question_id(),
            kind=DialogKind.CUSTOM,
            title=panel.title,
            options=tuple(PanelOutcome),
            prefill=panel.text,
        )
        waiting = stage.ask(question)
        stage.ledger.append(PanelShown(at_ms=stage.now_ms, question_id=question.id))
        shown = self.shown = ShownPanel(stage, question.id, panel)
        forget = signal.listen(lambda: self._hide(shown))
        try:
            outcome = await waiting
        except HostError as error:
            self._note(question.id, {"throw": str(error)})
            raise
        finally:
            forget()
            if self.shown is shown:
                self.shown = None
        if signal.aborted:
            raise AbortError(ABORTED)
        self._note(question.id, outcome)
        return outcome

    def resize(self, viewport: int) -> None:
        """The terminal has another width now, whether a panel is open or not."""
        self.viewport = viewport
        if self.shown is not None:
            self.shown.resize(viewport)

    def _hide(self, shown_panel: ShownPanel) -> None:
        """The abort: off the screen at once, before whoever waits for it hears of it (review/V-60)."""
        self.shown = None
        self._note(shown_panel.question_id, UNSET)
        self._stage.withdraw(shown_panel.question_id)

    def _note(self, question_id: str, outcome: object) -> None:
        ledger, now = self._stage.ledger, self._stage.now_ms
        answer = None if outcome is UNSET else outcome
        ledger.append(QuestionAnswered(at_ms=now, question_id=question_id, kind=DialogKind.CUSTOM, answer=answer))
        ledger.append(PanelHidden(at_ms=now, question_id=question_id))
