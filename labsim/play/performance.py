"""Plays a case and says what it showed: the one module that knows all the parts.

`run` plays a case with the answers it scripts; `start` plays it with somebody else's, and hands back a performance
that goes on whenever a question is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import msgspec

from labsim.case.model import (
    Case,
    ClassifyCase,
    ContextCase,
    DispatchCase,
    ExtraCase,
    FallbackCase,
    GateCase,
    LoopCase,
    ResolveCase,
    ReviewCase,
    RpcCase,
    WrapperCase,
)
from labsim.errors import HostError
from labsim.events.ledger import Ledger
from labsim.play.report import CallReport, Report
from labsim.stage.stage import Question, Stage
from labsim.stage.ui import UI, InertUI, QuestionUI, ScriptedUI


class Scenario(Protocol):
    """What a scenario gives to `play`: something to run, and what it showed so far."""

    finished: bool

    def play(self) -> Coroutine[Any, None, None]: ...

    @property
    def calls(self) -> tuple[CallReport, ...]: ...

    def observed(self) -> dict[str, Any]: ...


Driver = Callable[["Performance", Question], object]


class Performance:
    """One case being played. `reply` and `advance` move it on; `report` says where it is.

    `driver` is called with each new question and may answer it at once, or later, or never.
    """

    def __init__(self, case: Case, driver: Driver | None = None) -> None:
        self.case = case
        self.stage = Stage(Ledger())
        self._closed = False
        if driver is not None:
            self.stage.on_question = lambda question: driver(self, question)
        self._scenario = _scenario(case, self.stage, live=driver is not None)
        with self.stage.lock:
            self._task = self.stage.spawn(self._scenario.play())
            self._go_on()

    def reply(self, question_id: str, value: object) -> bool:
        """Answer an open question; False if it was no longer open. Raises: StageError for an unknown id."""
        in_time = self.stage.reply(question_id, value)
        self._go_on()
        return in_time

    def dismiss(self, question_id: str) -> bool:
        """Close an open question without an answer, as somebody who presses Escape."""
        return self.reply(question_id, msgspec.UNSET)

    def fail(self, question_id: str, error: HostError) -> bool:
        """End an open question as a dialog that broke, or a client that went away; otherwise as `reply`."""
        in_time = self.stage.fail(question_id, error)
        self._go_on()
        return in_time

    def advance(self, ms: int) -> None:
        """Let `ms` simulated milliseconds pass."""
        self.stage.advance(ms)
        self._go_on()

    def report(self) -> Report:
        """What the case showed so far."""
        scenario = self._scenario
        return Report(
            case=self.case,
            finished=scenario.finished,
            observed=scenario.observed(),
            calls=scenario.calls,
            ledger=self.stage.ledger.snapshot(),
            questions=self.stage.questions,
        )

    def close(self) -> None:
        """Give up whatever still waits. A reply that comes afterwards is late, and moves nothing."""
        self._closed = True
        self.stage.close()

    def _go_on(self) -> None:
        if self._closed:
            return
        if not self._task.done:
            self.stage.carry_on(self._task)
        if self._task.done:
            self._task.result()  # what the engine itself got wrong is raised here; a refused call is in the report


def start(case: Case, driver: Driver) -> Performance:
    """Begin to play a case whose questions `driver` answers."""
    return Performance(case, driver)


def run(case: Case) -> Report:
    """Play a case to its end with the answers it scripts. The same case gives the same report, always."""
    performance = Performance(case)
    report = performance.report()
    performance.close()
    return report


def _scenario(case: Case, stage: Stage, *, live: bool) -> Scenario:
    # Imported where used: a cold `labsim case` should pay for one scenario only.
    if isinstance(case, WrapperCase):
        from labsim.play.wrapper import CallsUnderWay, set_up

        return CallsUnderWay(case, stage, set_up(case.given, stage, _ui(case, stage, live=live)))
    if isinstance(case, DispatchCase):
        from labsim.play.dispatch import DispatchesUnderWay

        return DispatchesUnderWay(case, stage, _ui(case, stage, live=live))
    if isinstance(case, LoopCase):
        from labsim.play.loop import BatchUnderWay

        return BatchUnderWay(case, stage, _ui(case, stage, live=live))
    if isinstance(case, ReviewCase):
        from labsim.play.review import ReviewUnderWay

        return ReviewUnderWay(case, stage, live=live)
    if isinstance(case, GateCase):
        from labsim.play.gate import GateUnderWay

        return GateUnderWay(case, stage, _ui(case, stage, live=live))
    if isinstance(case, ResolveCase | ContextCase):
        from labsim.play.resolve import Resolving

        return Resolving(case, stage)
    if isinstance(case, ExtraCase):
        from labsim.play.own_kind import ExtraUnderWay

        return ExtraUnderWay(case, stage, _ui(case, stage, live=live))
    from labsim.play.fallback_and_rpc import HostScenario

    assert isinstance(case, ClassifyCase | FallbackCase | RpcCase)
    return HostScenario(case, stage)


def _ui(case: WrapperCase | DispatchCase | LoopCase | GateCase | ExtraCase, stage: Stage, *, live: bool) -> UI:
    """Nobody, a client at a pipe, or the answers of a list (wrapper/W-80)."""
    from labsim.call.scripted import answers

    given = case.given
    if given.ui is False:
        return InertUI()
    if given.ui == "rpc":
        from labsim.rpc.adapter import RpcUI

        return RpcUI(stage, None if live else answers(given.choices))
    return QuestionUI(stage) if live else ScriptedUI(stage, answers(given.choices))
