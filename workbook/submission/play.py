"""A case of the first host, played with somebody's own settings, handler or approver in place of the case's.

The same case, hence the same calls put to another policy; what the case scripts for that part is taken out, and
nothing else is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from labsim.call.handlers import EventName, Extension
from labsim.call.scripted import answers
from labsim.call.wrapper import ToolWrapper
from labsim.case.model import DispatchCase, LoopCase, WrapperCase
from labsim.describe.ledger import one_line
from labsim.errors import HostError
from labsim.play.dispatch import DispatchesUnderWay
from labsim.play.loop import BatchUnderWay
from labsim.play.performance import Scenario
from labsim.play.report import Report
from labsim.play.wrapper import CallsUnderWay, set_up
from labsim.stage.stage import Question, Stage
from labsim.stage.ui import UI, InertUI, QuestionUI, ScriptedUI
from workbook.exercise.kinds import YOURS, CallCase, Situation
from workbook.submission.answerer import Asked, WaitingRoom, WatchedApprover
from workbook.submission.handler import WatchedHandler
from workbook.submission.settings import SettingsRead

DAY_MS: Final = 24 * 60 * 60 * 1_000


class Mine(Struct, frozen=True, kw_only=True):
    """What somebody brings; None for what the case scripts. `declaration`: a tool's own rule, of the arguments."""

    settings: SettingsRead | None = None
    handler: WatchedHandler | None = None
    approver: WatchedApprover | None = None
    declaration: Callable[[Any], Any] | None = None


def without_scripts(case: CallCase, mine: Mine) -> CallCase:
    """The case without what somebody brings themselves."""
    given: Any = case.given
    if mine.settings is not None:
        given = replace(given, mode=mine.settings.mode, user_policies=mine.settings.policies)
    if mine.handler is not None:
        given = replace(given, handlers=[one for one in given.handlers if one.ext != YOURS])
    if mine.approver is not None:
        given = replace(given, choices=[])
    return replace(case, given=given)


def play_mine(situation: Situation, mine: Mine) -> Report:
    """Play a situation with what somebody brings.

    Returns: the report, whose comparison is with what the case expects of somebody who does it right. An approver
    that never answers is watched for a simulated day; its call is then still open, and the report not finished.
    Raises: CaseError never; whatever the engine itself gets wrong.
    """
    case = without_scripts(situation.case, mine)
    stage = Stage()
    ui = _ui(case, stage, mine)
    if mine.approver is not None:
        desk = _Desk(stage, mine.approver, WaitingRoom(stage, situation.person))
        stage.on_question = desk.asked
    under_way = _under_way(case, stage, ui, mine)
    task = stage.spawn(under_way.play())
    stage.carry_on(task)
    while not task.done:
        due = stage.next_due_ms
        if due is None or due > DAY_MS:
            break
        stage.advance(due - stage.now_ms)
        stage.carry_on(task)
    if task.done:
        task.result()  # what the engine itself got wrong is raised here; a refused call is in the report
    elif mine.approver is not None:
        mine.approver.never()
    report = Report(
        case=case,
        finished=under_way.finished,
        observed=under_way.observed(),
        calls=under_way.calls,
        ledger=stage.ledger.snapshot(),
        questions=stage.questions,
    )
    stage.close()
    return report


def _ui(case: CallCase, stage: Stage, mine: Mine) -> UI:
    if case.given.ui is False:
        return InertUI()
    if case.given.ui == "rpc" and mine.approver is None:
        from labsim.rpc.adapter import RpcUI

        return RpcUI(stage, answers(case.given.choices))
    return QuestionUI(stage) if mine.approver is not None else ScriptedUI(stage, answers(case.given.choices))


def _under_way(case: CallCase, stage: Stage, ui: UI, mine: Mine) -> Scenario:
    if isinstance(case, DispatchCase):
        return DispatchesUnderWay(case, stage, ui)
    if isinstance(case, LoopCase):
        return BatchUnderWay(case, stage, ui)
    assert isinstance(case, WrapperCase)
    made = set_up(case.given, stage, ui)
    if mine.handler is not None:
        extension = Extension(YOURS)
        extension.on(EventName.TOOL_CALL, mine.handler)
        made.runner.load(extension)
    if mine.declaration is not None:
        tool = replace(made.wrapper.tool, approval=mine.declaration)
        made = replace(made, wrapper=ToolWrapper(tool, made.runner))
    return CallsUnderWay(case, stage, made)


class _Desk:
    """Hands each question to the approver, and each answer back; an approver that fails has not answered."""

    def __init__(self, stage: Stage, approver: WatchedApprover, room: WaitingRoom) -> None:
        self._stage = stage
        self._approver = approver
        self._room = room

    def asked(self, question: Question) -> None:
        self._stage.spawn(self._answered(question))

    async def _answered(self, question: Question) -> None:
        shown = Asked(kind=question.kind, text=question.shown, options=question.options, _room=self._room)
        try:
            answer = await self._approver.answer(shown)
        except Exception as error:
            # However it failed, it is noted; to the host the dialog broke, and that is no yes (wrapper/W-40).
            self._stage.fail(question.id, HostError(one_line(f"the approver failed: {error}")))
        else:
            self._stage.reply(question.id, UNSET if answer is None else answer)
