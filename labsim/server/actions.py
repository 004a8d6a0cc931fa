"""What each command does: to the desk, to the gate, and to the UI of an extension."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, assert_never

from msgspec import UNSET, Struct, to_builtins

from labsim.approval import Settings
from labsim.call.handlers import EventName, Extension
from labsim.call.inert import APPROVAL_RULES, InertExecutor, inert_tool
from labsim.call.wrapper import CallContext, ToolWrapper
from labsim.errors import LabsimError
from labsim.events.event import as_mapping
from labsim.js_values import same, stringify
from labsim.review.base.events import EntryArrived, SessionReopened
from labsim.review.base.words import COPY
from labsim.review.branch.entries import Entry as SessionEntry
from labsim.review.branch.entries import EntryType
from labsim.review.branch.note import PACKAGED_NOTE, FixtureUnavailable
from labsim.review.branch.sessions import FIRST_SESSION, Sessions
from labsim.review.branch.tree import Save, keep_in_memory
from labsim.review.host import Host
from labsim.review.surface import Mode
from labsim.rpc.adapter import RpcUI
from labsim.rpc.dialogs import Confirm
from labsim.server.commands import (
    Abort,
    AskCommand,
    AskConfirm,
    AskEditor,
    AskInput,
    AskSelect,
    Branch,
    Call,
    DeskCommand,
    Entry,
    GatedCall,
    GetLedger,
    GetState,
    Go,
    Message,
    MoveCommand,
    Native,
    NativeCall,
    Notify,
    PasteToEditor,
    RunCommand,
    SetEditorText,
    SetSettings,
    SetStatus,
    SetTitle,
    SetWidget,
    ShowCommand,
    Storage,
    Switch,
    dialog_of,
)
from labsim.server.extension_ui import ExtensionUI
from labsim.server.rolling_ledger import RollingLedger
from labsim.stage.stage import AbortSignal, Stage
from labsim.terms import ApprovalMode
from labsim.tool import ToolResult

PAGE_CHARACTERS: Final = 200 * 1024  # of the events in one response: at four bytes each, they fit into a frame
_ROOT: Final = "root"
_BEFORE: Final = (
    EventName.SESSION_BEFORE_SWITCH,
    EventName.SESSION_BEFORE_BRANCH,
    EventName.SESSION_BEFORE_TREE,
)


class NothingToAbort(LabsimError):
    """No command of that id is under way that has a signal. Attribute: `target`."""

    def __init__(self, target: Any) -> None:
        self.target = target
        super().__init__(f"No dialog or gated call of the id {stringify(target)} is under way.")


class NoSession(LabsimError):
    """A switch does not say what it needs, or says more."""

    def __init__(self, how: str) -> None:
        super().__init__(f'switch: {how} and a session do not go together. Use "session" with "resume" only.')


class UnknownRule(LabsimError):
    """A tool names an approval rule that there is not. Attribute: `label`."""

    def __init__(self, label: Any) -> None:
        self.label = label
        known = ", ".join(APPROVAL_RULES)
        super().__init__(f"gated_call: there is no approval rule {stringify(label)}. Use one of: {known}.")


class Reopened(Struct, frozen=True, kw_only=True):
    """The current session was stored by another process. `remarks`: what of its file could not be read."""

    remarks: tuple[str, ...] = ()


class Start(Struct, frozen=True, kw_only=True):
    """What a process begins with, all of it read and decided by its caller.

    `stored` are the sessions that there are, by id; `current` is the open one. `save` keeps each entry. `fixture`
    is the release note as read, None where there is none. `titles`: whether title frames are wanted.
    """

    settings: Settings = Settings(ApprovalMode.WRITE.value, {})
    fixture: bytes | None = PACKAGED_NOTE
    stored: Mapping[str, Iterable[SessionEntry]] = {}
    current: str = FIRST_SESSION
    reopened: Reopened | None = None
    save: Save = keep_in_memory
    titles: bool = False


class Running(Struct, eq=False):
    """A command that is not over yet. `signal`: what `abort` aborts; None, where there is nothing of the kind."""

    id: Any
    signal: AbortSignal | None


class Actions:
    """The desk and the gate of one connection, and what commands do to them.

    `ui` carries the dialogs. `running` are the commands under way, kept by whoever starts them.
    """

    def __init__(
        self, start: Start, stage: Stage, ledger: RollingLedger, ui: RpcUI, running: Sequence[Running]
    ) -> None:
        self._stage = stage
        self._ledger = ledger
        self._ui = ui
        self._running = running
        self._extension = ExtensionUI(ui.tell, titles=start.titles)
        self._save = start.save
        self._full = False
        self._vetoed = False
        self._calls = 0
        stored = {start.current: (), **start.stored}
        self._sessions = Sessions(stage, stored, current=start.current, save=self._saved)
        self._host = Host(
            stage,
            ui,
            Mode.RPC,
            sessions=self._sessions,
            fixture=start.fixture,
            settings=start.settings,
            extensions=[self._vetoing()],
        )
        if start.reopened is not None:
            self._note_reopened(start.reopened)

    def signal_for(self, command: RunCommand) -> AbortSignal | None:
        """The signal that a command's dialog or call gets; its `abort` command finds it by the command's id."""
        match command:
            case AskSelect() | AskConfirm() | AskInput() | AskEditor():
                return AbortSignal(self._stage, aborted=command.aborted)
            case GatedCall():
                return AbortSignal(self._stage)
            case _:
                return None

    def end_session(self) -> None:
        """End the session: what the desk has open is aborted, and the grant is gone (review/S15)."""
        self._stage.play(self._host.shutdown())

    # -- the commands

    async def run(self, command: RunCommand, running: Running) -> Any:
        """Do it. Returns: the data of the response; UNSET: none. Raises: what the response is to say (rpc/R-15)."""
        match command:
            case DeskCommand(words=words):
                await self._host.desk.command(words)
            case Call(args=args):
                return _result(await self._host.call(self._call_id(command), args))
            case GatedCall():
                return _result(await self._gated_call(command, running.signal))
            case AskSelect() | AskConfirm() | AskInput() | AskEditor():
                return await self._ask(command, running.signal)
            case Go() | Branch() | Switch():
                return await self._move(command)
            case Message(text=text):
                return self._add(EntryType.MESSAGE, message={"role": "user", "content": text})
            case Entry(data=data):
                return self._add(EntryType.CUSTOM, custom_type=COPY.entry, data=data)
            case Storage(full=full):
                self._full = full
            case SetSettings():
                self._set(command)
            case Notify() | SetStatus() | SetWidget() | SetEditorText() | PasteToEditor() | SetTitle():
                self._show(command)
            case Native(call=call):
                return _shown(self._native(call))
            case Abort(target=target):
                self._abort(target)
            case GetState():
                return self._state(running)
            case GetLedger(start=start):
                return self._page(start)
            case _:
                assert_never(command)
        return UNSET

    def _call_id(self, command: Call | GatedCall) -> str:
        self._calls += 1
        return f"call-{self._calls}" if command.tool_call_id is UNSET else command.tool_call_id

    async def _gated_call(self, command: GatedCall, signal: AbortSignal | None) -> ToolResult:
        if isinstance(command.approval, Mapping) and "fn" in command.approval:
            label = command.approval["fn"]
            if not isinstance(label, str) or label not in APPROVAL_RULES:
                raise UnknownRule(label)
        tool = inert_tool(command.tool, command.approval, InertExecutor(self._stage, command.tool))
        context = CallContext(settings=self._host.settings, session_id=self._sessions.current.id)
        wrapper = ToolWrapper(tool, self._host.runner)
        return await wrapper.execute(self._call_id(command), command.args, signal=signal, context=context)

    async def _ask(self, command: AskCommand, signal: AbortSignal | None) -> dict[str, Any]:
        ran_out: list[bool] = []
        dialog = dialog_of(command)
        value = await self._ui.put(dialog, signal=signal, on_timeout=lambda: ran_out.append(True))
        if isinstance(dialog, Confirm):
            value = value is True  # whatever else was sent (rpc/R-32)
        return {**({} if value is UNSET else {"value": value}), "timedOut": bool(ran_out)}

    async def _move(self, command: MoveCommand) -> dict[str, Any]:
        sessions = self._sessions
        self._vetoed = command.vetoed
        match command:
            case Go(to=to):
                moved = await sessions.go(_entry(to))
            case Branch(at=at):
                moved = await sessions.branch(_entry(at))
            case Switch(how=how, session=session):
                if (how == "resume") != (session is not UNSET):
                    raise NoSession(how)
                if how == "new":
                    moved = await sessions.new()
                elif how == "fork":
                    moved = await sessions.fork()
                else:
                    moved = await sessions.resume(str(session))
        tree = sessions.current
        return {"moved": moved, "sessionId": tree.id, "leafId": tree.leaf_id}

    def _vetoing(self) -> Extension:
        """Another extension, which cancels the moves that are to be cancelled (review/V-38)."""
        made = Extension("another-extension")
        for name in _BEFORE:
            made.on(name, lambda event, _: {"cancel": self._vetoed})
        return made

    def _add(self, kind: EntryType, **parts: Any) -> dict[str, Any]:
        tree = self._sessions.current
        entry = tree.append(kind, at_ms=self._stage.now_ms, **parts)
        self._ledger.append(
            EntryArrived(at_ms=self._stage.now_ms, session_id=tree.id, entry_id=entry.id, type=kind.value)
        )
        return {"entryId": entry.id}

    def _note_reopened(self, reopened: Reopened) -> None:
        tree = self._sessions.current
        self._ledger.append(
            SessionReopened(
                at_ms=self._stage.now_ms,
                session_id=tree.id,
                entries=len(tree.entries),
                remarks=reopened.remarks,
            )
        )

    def _saved(self, session_id: str, entry: SessionEntry) -> None:
        if self._full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._save(session_id, entry)

    def _set(self, command: SetSettings) -> None:
        policies = self._host.settings.policies
        if command.policies is not UNSET:
            policies = {name: policy.value for name, policy in command.policies.items()}
        self._host.settings = Settings(command.mode.value, policies)

    def _abort(self, target: Any) -> None:
        for running in self._running:
            if running.signal is not None and same(running.id, target):
                running.signal.trip()
                return
        raise NothingToAbort(target)

    def _show(self, command: ShowCommand) -> None:
        """The calls of an extension's UI that nobody answers."""
        ui = self._extension
        match command:
            case Notify():
                ui.notify(command.message, command.notify_type)
            case SetStatus():
                ui.set_status(command.status_key, command.status_text)
            case SetWidget():
                lines = None if command.widget_lines is UNSET else command.widget_lines
                ui.set_widget(command.widget_key, _factory if command.factory else lines, command.widget_placement)
            case SetEditorText(text=text):
                ui.set_editor_text(text)
            case PasteToEditor(text=text):
                ui.paste_to_editor(text)
            case SetTitle(title=title):
                ui.set_title(title)
            case _:
                assert_never(command)

    def _native(self, call: NativeCall) -> object:
        """Make the call as an extension would; what it is given is of no account."""
        ui = self._extension
        calls: dict[NativeCall, Callable[[], object]] = {
            NativeCall.CUSTOM: lambda: ui.custom(_factory),
            NativeCall.SET_FOOTER: lambda: ui.set_footer(_factory),
            NativeCall.SET_HEADER: lambda: ui.set_header(_factory),
            NativeCall.SET_WORKING_MESSAGE: lambda: ui.set_working_message("Sorting seeds"),
            NativeCall.SET_EDITOR_COMPONENT: lambda: ui.set_editor_component(_factory),
            NativeCall.ADD_AUTOCOMPLETE_PROVIDER: lambda: ui.add_autocomplete_provider(_factory),
            NativeCall.SET_TOOLS_EXPANDED: lambda: ui.set_tools_expanded(True),
            NativeCall.GET_TOOLS_EXPANDED: ui.get_tools_expanded,
            NativeCall.ON_TERMINAL_INPUT: lambda: ui.on_terminal_input(lambda chunk: None),
            NativeCall.GET_EDITOR_TEXT: ui.get_editor_text,
            NativeCall.GET_ALL_THEMES: ui.get_all_themes,
            NativeCall.GET_THEME: lambda: ui.get_theme("cedar"),
            NativeCall.SET_THEME: lambda: ui.set_theme("cedar"),
            NativeCall.THEME: lambda: ui.theme,
        }
        return calls[call]()

    # -- looking

    def _state(self, asking: Running) -> dict[str, Any]:
        desk, sessions = self._host.desk, self._sessions
        seen: dict[str, Any] = {"mode": desk.mode.value, "approvalMode": self._host.settings.mode}
        try:
            note = desk.note
        except FixtureUnavailable:
            pass  # there is no note, and the state says nothing of one
        else:
            seen |= {"text": note.text, "status": note.status.value, "revision": note.revision}
            seen["authorized"] = desk.authorized
        return seen | {
            "busy": desk.busy,
            "pending": desk.pending.value,
            "sessionId": sessions.current.id,
            "sessions": list(sessions.trees),
            "leafId": sessions.current.leaf_id,
            "entries": len(sessions.current.entries),
            "openDialogs": list(self._ui.open_dialogs),
            "underWay": [_name(running.id) for running in self._running if running is not asking],
            "events": self._ledger.total,
        }

    def _page(self, start: int) -> dict[str, Any]:
        ledger = self._ledger
        first = max(start, ledger.first)
        events: list[dict[str, Any]] = []
        room = PAGE_CHARACTERS
        for event in ledger.events[first - ledger.first :]:
            mapping = as_mapping(event)
            room -= len(stringify(mapping))
            if room < 0 and events:
                break
            events.append(mapping)
        page: dict[str, Any] = {"first": first, "total": ledger.total, "events": events}
        following = first + len(events)
        return page if following >= ledger.total else {**page, "next": following}


def _entry(name: str) -> str | None:
    return None if name == _ROOT else name


def _name(command_id: Any) -> Any:
    return None if command_id is UNSET else command_id


def _factory(*_: object) -> object:
    raise AssertionError("over RPC no component is ever made")


def _result(result: ToolResult) -> dict[str, Any]:
    """A tool's result as the wire has it; what is absent is absent."""
    parts = {"content": to_builtins(result.content), "details": result.details, "isError": result.is_error}
    return {key: value for key, value in parts.items() if value is not UNSET}


def _shown(value: object) -> dict[str, Any]:
    """What a native call gave back: its kind, and where JSON can spell it the value."""
    if value is UNSET or value is None:
        return {"valueType": "undefined"}
    if callable(value):
        return {"valueType": "function"}
    kind = {bool: "boolean", str: "string"}.get(type(value), "object")
    return {"valueType": kind, "value": to_builtins(value)}
