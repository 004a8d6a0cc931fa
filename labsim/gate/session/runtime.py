"""The runtime: what sessions share, and how a session is opened and resumed.

Installed with `ApprovalGate` unless its maker says otherwise, even where everything will be approved: a runtime
without a gate allows every call unseen, and reads not even a remembered deny (gate/G6, gate/O17).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labsim.gate.events import SessionOpened
from labsim.gate.gates import ApprovalGate, Authorizer
from labsim.gate.rules.rules import RuleContext, RuleScope
from labsim.gate.rules.store import MemoryRuleStore, RuleStore
from labsim.gate.session.permissions import PermissionHandle
from labsim.gate.session.session import Session, Surroundings
from labsim.gate.session.stream import EventStream
from labsim.gate.tools import GateTool, Hook
from labsim.stage.stage import Stage

#: What a runtime is built with where nobody says otherwise; None would be no gate at all (gate/D3).
_DEFAULT_GATE = ApprovalGate()


class Runtime:
    """Opens sessions on one stage. `store` keeps their durable rules; what it is, is its caller's choice."""

    def __init__(
        self,
        stage: Stage,
        *,
        tools: Iterable[GateTool] = (),
        hooks: Sequence[Hook] = (),
        gate: Authorizer | None = _DEFAULT_GATE,  # gate/G6
        store: RuleStore | None = None,
        classifies: bool = True,
    ) -> None:
        self.stage = stage
        self.store: RuleStore = MemoryRuleStore() if store is None else store
        self._around = Surroundings(
            stage=stage, tools={tool.name: tool for tool in tools}, hooks=hooks, gate=gate, classifies=classifies
        )

    def attach(self, agent_id: str, *, project_id: str | None = None, raises_requests: bool = True) -> Session:
        """A live session of an agent, new or known: its durable rules apply, its process rules start empty
        (gate/R1).

        Without a project id there are no project rules to be had, and this host sets none by itself (gate/R5).
        """
        return self._open(agent_id, project_id, raises_requests=raises_requests)

    def resume(self, agent_id: str, *, project_id: str | None = None) -> Session:
        """Pick a conversation up again. Old versions' session rows of this agent are cleared first (gate/R3).

        Raises: RuleStoreFailed, when that fails; then nothing is resumed.
        """
        context = RuleContext(agent_id, project_id)
        cleared = self.store.clear(context, RuleScope.SESSION)
        return self._open(agent_id, project_id, resumed=True, cleared=cleared)

    def _open(
        self,
        agent_id: str,
        project_id: str | None,
        *,
        raises_requests: bool = True,
        resumed: bool = False,
        cleared: int = 0,
    ) -> Session:
        stream = EventStream(self.stage)
        permissions = None
        if raises_requests:
            permissions = PermissionHandle(self.stage, stream, self.store, RuleContext(agent_id, project_id))
        stream.note(
            SessionOpened(
                at_ms=self.stage.now_ms,
                agent_id=agent_id,
                project_id=project_id,
                resumed=resumed,
                cleared=cleared,
            )
        )
        return Session(self._around, agent_id, stream, permissions)
