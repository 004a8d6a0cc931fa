"""The permissions of one live session: its open requests, its process rules, and the way to the durable ones.

Everybody who holds the session holds this same object, its subagents included (gate/R24); when it goes, the
process rules go with it (gate/R1).

Theory. A request is *open* from before its event until it is answered or given up, and it is in one table as long
as it is open. Answering claims it there first; giving up removes it there at once. So an answer and the end of
the wait cannot both win: whoever finds the entry has it, and the other finds nothing (gate/V3, gate/V4, gate/V5).
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from labsim.gate.base import words
from labsim.gate.base.errors import NoPendingPermission
from labsim.gate.base.request import ApprovalAnswer, AuthorizationDecision, Classification
from labsim.gate.events import (
    PermissionOutcome,
    PermissionRequested,
    PermissionResolved,
    RuleRemembered,
    RuleRevoked,
    ScopeCleared,
)
from labsim.gate.rules.rules import RememberedRule, RuleAddress, RuleContext, RuleKey, RuleScope, listed, winner
from labsim.gate.rules.store import RuleStore
from labsim.gate.session.stream import EventStream
from labsim.stage.stage import Future, Stage


class PermissionDecision(Struct, frozen=True):
    """How an open request is resolved. `remember_as` None: for this call only."""

    allowed: bool
    remember_as: RuleScope | None = None
    reason: str | None = None

    @classmethod
    def allow(cls) -> PermissionDecision:
        return cls(True)

    @classmethod
    def deny(cls) -> PermissionDecision:
        return cls(False)

    @classmethod
    def allow_and_remember(cls, scope: RuleScope) -> PermissionDecision:
        return cls(True, scope)

    @classmethod
    def deny_and_remember(cls, scope: RuleScope) -> PermissionDecision:
        return cls(False, scope)

    def with_reason(self, reason: str | None) -> PermissionDecision:
        return replace(self, reason=reason)

    @classmethod
    def of(cls, answer: ApprovalAnswer, for_session: RuleScope = RuleScope.PROCESS) -> PermissionDecision:
        """An approver's answer; a `…ForSession` one is remembered in `for_session` (gate/A3), a plain one is not
        (gate/once).
        """
        scope = for_session if answer.decision.for_session else None
        return cls(answer.decision.allows, scope, answer.reason)

    def authorization(self) -> AuthorizationDecision:
        """What the waiting call gets: the reason of an allow is dropped (gate/O15), a deny has one always
        (gate/A5, gate/W4).
        """
        if self.allowed:
            return AuthorizationDecision.allow()
        return AuthorizationDecision.deny(words.DENIED if self.reason is None else self.reason)


class Pending:
    """One open request. `answer` settles with the decision; None stands for an answer that never comes
    (gate/O12).
    """

    __slots__ = ("answer", "request_id", "tool_call_id", "tool_name")

    def __init__(self, stage: Stage, request_id: str, tool_call_id: str, tool_name: str) -> None:
        self.request_id = request_id
        self.tool_call_id = tool_call_id
        self.tool_name = tool_name
        self.answer: Future[PermissionDecision | None] = Future(stage)


class PermissionHandle:
    """Rules and open requests of one live session. A host seeds, lists and revokes rules here."""

    def __init__(self, stage: Stage, stream: EventStream, store: RuleStore, context: RuleContext) -> None:
        self.context = context
        self._stage = stage
        self._stream = stream
        self._store = store
        self._process: dict[RuleKey, RememberedRule] = {}  # of this session alone (gate/R1)
        self._open: dict[str, Pending] = {}
        self._made = 0

    # -- rules

    def rules(self) -> tuple[RememberedRule, ...]:
        """Every rule that applies here, in the order of gate/R19. Raises: RuleStoreFailed."""
        return listed((*self._process.values(), *self._store.load(self.context)))

    def find(self, tool_name: str, text: str | None) -> RememberedRule | None:
        """The rule that answers a call, read live (gate/R7). A process rule does so without the store (gate/R9).

        Raises: RuleStoreFailed.
        """
        own = winner(self._process.values(), tool_name, text)  # the narrowest scope first (gate/R8)
        return own or winner(self._store.load(self.context), tool_name, text)

    def remember(self, rule: RememberedRule) -> None:
        """Write a rule, over one at the same address. The call it is about must be one that a gate puts up
        (gate/R23).

        Raises: ProjectIdRequired (gate/W18), RuleStoreFailed.
        """
        if rule.scope is RuleScope.PROCESS:
            self._process[rule.key] = rule  # never stored (gate/R1)
        else:
            self._store.upsert(self.context, rule)
        self._stream.note(
            RuleRemembered(
                at_ms=self._stage.now_ms,
                scope=rule.scope,
                tool_name=rule.key.tool_name,
                pattern=rule.key.pattern,
                allow=rule.allow,
                reason=rule.reason,
            )
        )

    def revoke(self, address: RuleAddress) -> bool:
        """Forget the rule at one address; whether there was one (gate/R20). Raises: ProjectIdRequired,
        RuleStoreFailed.
        """
        if address.scope is RuleScope.PROCESS:
            existed = self._process.pop(address.key, None) is not None
        else:
            existed = self._store.revoke(self.context, address)
        self._stream.note(
            RuleRevoked(
                at_ms=self._stage.now_ms,
                scope=address.scope,
                tool_name=address.key.tool_name,
                pattern=address.key.pattern,
                existed=existed,
            )
        )
        return existed

    def clear(self, scope: RuleScope) -> int:
        """Forget the rules of one scope; how many there were (gate/R20). Raises: ProjectIdRequired,
        RuleStoreFailed.
        """
        if scope is RuleScope.PROCESS:
            removed = len(self._process)
            self._process.clear()
        else:
            removed = self._store.clear(self.context, scope)
        self._stream.note(ScopeCleared(at_ms=self._stage.now_ms, scope=scope, removed=removed))
        return removed

    # -- open requests

    @property
    def open_requests(self) -> tuple[str, ...]:
        """The ids that an answer would be taken for, oldest first."""
        return tuple(self._open)

    def register(self, tool_call_id: str, tool_name: str) -> Pending:
        """Open a request under an id that was never used before (gate/O10). Before its event, so that it can be
        answered from within the event (gate/O9).
        """
        self._made += 1
        entry = Pending(self._stage, f"perm-{tool_call_id}-{self._made:016x}", tool_call_id, tool_name)
        self._open[entry.request_id] = entry
        return entry

    def announce(
        self, entry: Pending, *, description: str, preview: str, classification: Classification | None
    ) -> None:
        """Tell whoever follows the session that this request is open."""
        self._stream.emit(
            PermissionRequested(
                at_ms=self._stage.now_ms,
                request_id=entry.request_id,
                tool_call_id=entry.tool_call_id,
                tool_name=entry.tool_name,
                description=description,
                preview=preview,
                classification=classification,
            )
        )

    def forget(self, entry: Pending) -> None:
        """Nobody waits for this any more; an answer to it is too late (gate/V4). Harmless when repeated."""
        self._open.pop(entry.request_id, None)

    def discard(self, request_id: str) -> None:
        """Drop an open request without an answer: whoever waits is refused (gate/O12). Raises:
        NoPendingPermission.
        """
        with self._stage.lock:
            self._claim(request_id).answer.set_result(None)
            self._stage.drain()

    def resolve(self, request_id: str, decision: PermissionDecision) -> None:
        """Answer an open request (gate/V1). The order is the rule: scope, claim, rule, event, waiter.

        Raises: ProjectIdRequired and RuleStoreFailed, which leave the request open, so that another answer may be
        given (gate/V2); NoPendingPermission (gate/W17), if it is not open. In all three nothing is remembered.
        """
        with self._stage.lock:
            if decision.remember_as is RuleScope.PROJECT:
                self.context.namespace(RuleScope.PROJECT)
            entry = self._claim(request_id)
            if decision.remember_as is not None:
                try:
                    self.remember(_rule(entry.tool_name, decision, decision.remember_as))
                except BaseException:
                    self._open[request_id] = entry
                    raise
            self._stream.emit(
                PermissionResolved(
                    at_ms=self._stage.now_ms,
                    request_id=entry.request_id,
                    tool_call_id=entry.tool_call_id,
                    tool_name=entry.tool_name,
                    outcome=PermissionOutcome.ALLOWED if decision.allowed else PermissionOutcome.DENIED,
                    rule_scope=decision.remember_as,  # gate/V6
                )
            )
            entry.answer.set_result(decision)
            self._stage.drain()

    def _claim(self, request_id: str) -> Pending:
        entry = self._open.pop(request_id, None)  # whoever comes second finds nothing (gate/V3, gate/V4)
        if entry is None:
            raise NoPendingPermission(request_id)
        return entry


def _rule(tool_name: str, decision: PermissionDecision, scope: RuleScope) -> RememberedRule:
    """What an answer leaves behind: always a bare rule (gate/R22), with the reason of a refusal only (gate/A4)."""
    return RememberedRule(
        key=RuleKey(tool_name),  # every call of the tool (gate/A3)
        allow=decision.allowed,
        scope=scope,
        reason=None if decision.allowed else decision.reason,
    )
