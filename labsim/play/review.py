"""The `review` scenario: the Review Desk, and a script of what people, an agent and the world do to it.

Each step is started and left to go as far as it can; what opens a dialog stays under way beside the steps that
follow. Scripted, the steps reply as well; live, replies are left to the driver, and a step that would reply waits
until its dialog is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine
from typing import Any, Final

from msgspec import UNSET

from labsim.approval import Settings
from labsim.call.handlers import EventName, Extension
from labsim.case.given import ReviewGiven
from labsim.case.model import ReviewCase
from labsim.case.review import (
    BranchStep,
    CallStep,
    CommandStep,
    DisconnectStep,
    EntryStep,
    GoStep,
    KeysStep,
    MessageStep,
    ReplyStep,
    RestartStep,
    SettingsStep,
    Step,
    StorageStep,
    SwitchStep,
    WaitStep,
)
from labsim.errors import CaseError, HostError, LabsimError
from labsim.events.call import Execute, ToolCallEvent
from labsim.events.dialogs import LateReply, QuestionAsked
from labsim.play.report import CallReport
from labsim.review.base.events import EntryArrived, NoteRecorded, Notified, SessionReopened
from labsim.review.base.words import COPY
from labsim.review.branch.entries import EntryType, MemoryStore
from labsim.review.branch.note import PACKAGED_NOTE, FixtureUnavailable
from labsim.review.branch.sessions import Sessions
from labsim.review.branch.tree import NotSaved
from labsim.review.host import Host, ui_for
from labsim.review.surface import Mode
from labsim.rpc.adapter import RpcUI
from labsim.rpc.events import FrameSent
from labsim.stage.stage import Future, Stage, Task
from labsim.stage.ui import UI
from labsim.terms import APPROVAL_OPTIONS, Outcome

_ROOT: Final = "root"


class ReviewUnderWay:
    """One case, as far as it got. `play` takes the steps; the rest reads what they showed.

    `ui` carries the dialogs in place of the one that the case's mode has.
    """

    def __init__(self, case: ReviewCase, stage: Stage, *, live: bool = False, ui: UI | None = None) -> None:
        given = case.given
        self.case = case
        self.stage = stage
        self.finished = False
        self._mode = Mode(given.host_mode)
        self._ui = ui or ui_for(self._mode, stage)
        self._live = live
        self._fixture = _fixture(given)
        self._settings = Settings(
            given.mode.value, {name: word.value for name, word in given.user_policies.items()}
        )
        self._vetoes: set[EventName] = set()
        self._store = MemoryStore()
        self._calls: list[CallReport] = []
        self._tasks: list[Task[Any]] = []
        self._host = self._started(Sessions(stage, save=self._store.save))

    async def play(self) -> None:
        """All steps, in order. Raises: CaseError, with the step's place, for one that cannot be taken."""
        for number, step in enumerate(self.case.given.steps):
            await self.stage.rest()
            try:
                await self.take(step)
            except CaseError as error:
                raise CaseError(self._place(number), error.found, error.remedy) from None
            except (LabsimError, NotSaved) as error:
                remedy = "The step cannot be taken after those before it."
                raise CaseError(self._place(number), str(error).rstrip("."), remedy) from error
        await self.stage.rest()
        for task in self._tasks:
            if task.done:
                task.result()  # a refused call is in the report; what is raised here is the engine's own fault
        self.finished = True

    @property
    def host(self) -> Host:
        """The process that runs now; a restart makes another."""
        return self._host

    @property
    def calls(self) -> tuple[CallReport, ...]:
        return tuple(self._calls)

    def observed(self) -> dict[str, Any]:
        """The counters in the cases' words, read from the ledger and the desk; `outcome` is the last call's."""
        ledger, desk = self.stage.ledger, self._host.desk
        asked = [event for event in ledger if isinstance(event, QuestionAsked)]
        prompts = [event for event in asked if event.options == APPROVAL_OPTIONS]
        seen: dict[str, Any] = {}
        if self._calls and (last := self._calls[-1]).outcome is not None:
            seen["outcome"] = last.outcome.value
            if last.error is not None:
                seen["error"] = last.error
        try:
            note = desk.note
        except FixtureUnavailable:
            pass  # there is no note, and the report says nothing of one
        else:
            seen |= {"text": note.text, "status": note.status.value, "revision": note.revision}
            seen["authorized"] = desk.authorized
        return seen | {
            "busy": desk.busy,
            "entries": sum(isinstance(event, NoteRecorded) for event in ledger),
            "dialogs": len(asked) - len(prompts),
            "notices": [event.message for event in ledger if isinstance(event, Notified)],
            "lateReplies": sum(isinstance(event, LateReply) for event in ledger),
            "frames": dict(Counter(_method(event) for event in ledger if isinstance(event, FrameSent))),
            "prompts": len(prompts),
            "promptTexts": [event.title for event in asked],
            "toolCalls": sum(isinstance(event, ToolCallEvent) for event in ledger),
            "successfulCalls": sum(call.outcome is Outcome.RETURN for call in self._calls),
            "effects": sum(isinstance(event, Execute) for event in ledger),
        }

    # -- the host

    def _started(self, sessions: Sessions) -> Host:
        """A process with the desk in it, on stored or fresh sessions."""
        return Host(
            self.stage,
            self._ui,
            self._mode,
            sessions=sessions,
            fixture=self._fixture,
            settings=self._settings,
            extensions=[self._vetoing()],
            viewport=self.case.given.width,
        )

    def _vetoing(self) -> Extension:
        """Another extension, which cancels the moves that the case has it cancel."""
        made = Extension("another-extension")
        for name in _BEFORE:
            made.on(name, lambda event, _: {"cancel": EventName(event) in self._vetoes})
        return made

    # -- the steps

    async def take(self, step: Step) -> None:
        """One step. Raises: CaseError, LabsimError or NotSaved, for one that cannot be taken now."""
        host = self._host
        match step:
            case CommandStep(words=words):
                self._start(host.desk.command(words))
            case CallStep():
                self._start(self._call(step, len(self._calls)))
            case ReplyStep():
                await self._reply(step)
            case KeysStep(chunks=chunks):
                for chunk in chunks:
                    self._press(chunk)
            case GoStep(to=to):
                self._move(step.vetoed, host.sessions.go(_entry(to)))
            case BranchStep(at=at):
                self._move(step.vetoed, host.sessions.branch(_entry(at)))
            case SwitchStep():
                self._move(step.vetoed, self._switch(step))
            case RestartStep():
                await self._restart(torn=step.torn)
            case DisconnectStep():
                if isinstance(self._ui, RpcUI):
                    self._ui.disconnect()
            case MessageStep(text=text):
                self._add(EntryType.MESSAGE, message={"role": "user", "content": text})
            case EntryStep(data=data):
                self._add(EntryType.CUSTOM, custom_type=COPY.entry, data=data)
            case StorageStep(full=full):
                self._store.full = full
            case WaitStep(ms=ms):
                self.stage.advance(ms)
            case SettingsStep(mode=mode):
                self._settings = host.settings = Settings(mode.value, self._settings.policies)

    def _start(self, coroutine: Coroutine[Any, None, object]) -> None:
        task = self.stage.spawn(coroutine)
        self._tasks.append(task)
        if task.done:
            task.result()  # what cannot be done at all is this step's fault

    async def _call(self, step: CallStep, index: int) -> None:
        """One call, from its first event to its last; others may lie between them."""
        call_id, start = f"call-{index + 1}", len(self.stage.ledger)
        self._calls.append(CallReport(tool_call_id=call_id, start=start, end=start))
        made: dict[str, Any]
        try:
            result = await self._host.call(call_id, step.args)
        except HostError as error:
            made = {"outcome": Outcome.THROW, "error": str(error), "error_name": error.error_name}
        else:
            made = {"outcome": Outcome.RETURN, "result": result}
        self._calls[index] = CallReport(tool_call_id=call_id, start=start, end=len(self.stage.ledger), **made)

    async def _reply(self, step: ReplyStep) -> None:
        value = UNSET if step.value is None else step.value
        if step.to is not UNSET:
            target = step.to
        else:
            is_open = self.stage.questions
            if len(is_open) != 1 and not self._live:
                found = "no dialog is open" if not is_open else "more than one dialog is open"
                raise CaseError("", found, 'Reply while one is, or say which one: "to": "q-1".')
            target = is_open[0].id if is_open else ""
        waiting = self.stage.answer_to(target)
        if step.late:
            if waiting is not None:
                raise CaseError("", f"{target} is still open", 'Remove "late", or close the dialog first.')
            self.stage.reply(target, value)
        elif self._live:
            if waiting is not None:  # somebody may have closed it, and then there is nothing to wait for
                over: Future[None] = Future(self.stage)
                waiting.when_done(lambda: over.set_result(None))  # however it ends, it is not ours to answer for
                await over
        elif waiting is None:
            raise CaseError("", f"{target} is not open", 'Add "late": true, if it is over by then.')
        else:
            self.stage.reply(target, value)

    def _press(self, chunk: str | int) -> None:
        overlays = self._host.overlays
        if isinstance(chunk, int):
            overlays.resize(chunk)
        elif overlays.shown is not None:  # without a panel nobody listens (review/V-59)
            overlays.shown.press(chunk)

    def _move(self, vetoed: bool, move: Coroutine[Any, None, bool]) -> None:
        self._vetoes = set(_BEFORE) if vetoed else set()
        self._start(move)

    async def _switch(self, step: SwitchStep) -> bool:
        sessions = self._host.sessions
        if step.how == "new":
            return await sessions.new()
        if step.how == "fork":
            return await sessions.fork()
        return await sessions.resume(str(step.session))

    async def _restart(self, *, torn: bool) -> None:
        """Shut down, and open what is stored. Nothing but the stored lines gets across."""
        old = self._host.sessions
        await self._host.shutdown()
        await self.stage.rest()
        if torn and old.current.entries:
            self._store.tear(old.current.id, old.current.entries[-1])
        read = {name: self._store.read(name) for name in self._store.session_ids}
        current = old.current.id
        stored = {name: found.entries for name, found in read.items()}
        sessions = Sessions(self.stage, {current: (), **stored}, current=current, save=self._store.save)
        self.stage.ledger.append(
            SessionReopened(
                at_ms=self.stage.now_ms,
                session_id=current,
                entries=len(sessions.current.entries),
                remarks=read[current].remarks if current in read else (),
            )
        )
        self._host = self._started(sessions)

    def _add(self, kind: EntryType, **parts: Any) -> None:
        tree = self._host.sessions.current
        entry = tree.append(kind, at_ms=self.stage.now_ms, **parts)
        self.stage.ledger.append(
            EntryArrived(at_ms=self.stage.now_ms, session_id=tree.id, entry_id=entry.id, type=kind.value)
        )

    def _place(self, number: int) -> str:
        return f"{self.case.id}.given.steps[{number}]"


_BEFORE: Final = (
    EventName.SESSION_BEFORE_SWITCH,
    EventName.SESSION_BEFORE_BRANCH,
    EventName.SESSION_BEFORE_TREE,
)


def _entry(name: str) -> str | None:
    return None if name == _ROOT else name


def _method(event: FrameSent) -> str:
    """What a frame is, for counting: its method, or where it is no request its type."""
    return str(event.frame.get("method", event.frame.get("type")))


def _fixture(given: ReviewGiven) -> bytes | None:
    if given.note is UNSET:
        return PACKAGED_NOTE
    return None if given.note is None else given.note.encode()
