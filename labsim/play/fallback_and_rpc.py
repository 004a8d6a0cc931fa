"""The scenarios that stand beside the tool gate: error classification, file fallbacks, dialogs over RPC."""

from __future__ import annotations

from typing import Any

from labsim.case.model import ClassifyCase, FallbackCase, RpcCase
from labsim.play.report import CallReport
from labsim.stage.stage import Stage


class HostScenario:
    """A case that is played in one go and answers nobody's questions."""

    def __init__(self, case: ClassifyCase | FallbackCase | RpcCase, stage: Stage) -> None:
        self.case = case
        self.stage = stage
        self.finished = False
        self.calls: tuple[CallReport, ...] = ()
        self._seen: dict[str, Any] = {}

    async def play(self) -> None:
        emit = self.stage.ledger.append
        if isinstance(self.case, ClassifyCase):
            from labsim.fallback import play_classify

            self._seen = play_classify(self.case.given)
        elif isinstance(self.case, FallbackCase):
            from labsim.fallback import play_fallback

            self._seen = play_fallback(self.case.given, emit)
        else:
            from labsim.rpc.player import play_rpc

            self._seen = play_rpc(self.case.given, emit)
        self.finished = True

    def observed(self) -> dict[str, Any]:
        return self._seen
