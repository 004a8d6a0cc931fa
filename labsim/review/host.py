"""A small host with the desk loaded: sessions, extensions, the generic gate, and the tool behind it.

One host is one process: to restart is to shut this one down and to make another on the same stored sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labsim.approval import Settings
from labsim.call.handlers import Extension
from labsim.call.runner import Runner
from labsim.call.scripted import recorder
from labsim.call.wrapper import CallContext, ToolWrapper
from labsim.case.given import CallGiven
from labsim.js_values import copy_json
from labsim.review.branch.note import PACKAGED_NOTE
from labsim.review.branch.sessions import Sessions
from labsim.review.desk import Desk
from labsim.review.panel.overlay import StageOverlays
from labsim.review.surface import Mode, RpcSurface, Surface
from labsim.review.tool import review_tool
from labsim.rpc.adapter import RpcUI
from labsim.stage.stage import Stage
from labsim.stage.ui import UI, InertUI, QuestionUI
from labsim.tool import ToolResult


def ui_for(mode: Mode, stage: Stage) -> UI:
    """The adapter that a mode has. Where there is a person, dialogs are open questions of the stage."""
    match mode:
        case Mode.TUI:
            return QuestionUI(stage)
        case Mode.RPC:
            return RpcUI(stage, None)
        case Mode.PRINT | Mode.JSON:
            return InertUI()


class Host:
    """One process with the Review Desk in it.

    `ui` carries every dialog, the desk's and the gate's. `settings` are the gate's, read anew by each call.
    `extensions` are loaded after the desk. `fixture` is the packaged note as read; None: there is none.
    """

    def __init__(
        self,
        stage: Stage,
        ui: UI,
        mode: Mode,
        *,
        sessions: Sessions | None = None,
        fixture: bytes | None = PACKAGED_NOTE,
        surface: Surface | None = None,
        settings: Settings | None = None,
        extensions: Sequence[Extension] = (),
        viewport: int = 80,
    ) -> None:
        self.stage = stage
        self.ui = ui
        self.settings = settings or Settings()
        self.sessions = sessions or Sessions(stage)
        self.overlays = StageOverlays(stage, viewport)
        if surface is None and isinstance(ui, RpcUI):
            surface = RpcSurface(ui.tell, ui.send)
        self.desk = Desk(
            stage=stage,
            sessions=self.sessions,
            ui=ui,
            mode=mode,
            fixture=fixture,
            surface=surface,
            overlays=self.overlays if mode is Mode.TUI else None,
        )
        self.runner = Runner(
            stage, [recorder(stage.ledger, CallGiven()), self.desk.extension(), *extensions], ui=ui
        )
        self.sessions.runner = self.runner
        self._wrapper = ToolWrapper(review_tool(self.desk, stage), self.runner)

    async def call(self, tool_call_id: str, arguments: Any) -> ToolResult:
        """One call of `review_desk`, through the generic gate first. Raises: HostError, when it is refused."""
        context = CallContext(settings=self.settings, session_id=self.sessions.current.id)
        return await self._wrapper.execute(tool_call_id, copy_json(arguments), context=context)

    async def shutdown(self) -> None:
        """End the session: whatever is pending is aborted, and the grant is gone (review/S15)."""
        await self.runner.shutdown()
