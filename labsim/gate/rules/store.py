"""Where durable rules live: the protocol, a store in memory, and one that fails on purpose.

A store answers at once; nothing here waits. It never holds process rules (gate/R6), and a failure to read is an
error, never an empty list: a deny that got lost would be a silent yes (gate/R18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Protocol

from labsim.gate.base.errors import RuleStoreFailed
from labsim.gate.rules.rules import (
    RememberedRule,
    RuleAddress,
    RuleContext,
    RuleKey,
    RuleScope,
    deduplicated,
    listed,
)


class RuleStore(Protocol):
    """Durable rules, seen from one context at a time. Every method raises RuleStoreFailed where it cannot do its
    work.

    `load` gives the rules of every durable scope that the context has, one for each address, as listed (gate/R19).
    `upsert` replaces at the same address (gate/R15). `revoke` says whether there was one, `clear` how many there
    were; repeating either is harmless (gate/R20). All but `load` raise ProjectIdRequired and NotDurable as
    `RuleContext.namespace` does.
    """

    def load(self, context: RuleContext) -> tuple[RememberedRule, ...]: ...

    def upsert(self, context: RuleContext, rule: RememberedRule) -> None: ...

    def revoke(self, context: RuleContext, address: RuleAddress) -> bool: ...

    def clear(self, context: RuleContext, scope: RuleScope) -> int: ...


class MemoryRuleStore:
    """Rules kept for as long as this object is. `rows` are seeds, and may hold several at one address
    (gate/R21).
    """

    def __init__(self, rows: Iterable[tuple[RuleContext, RememberedRule]] = ()) -> None:
        self._rows: list[tuple[str, RememberedRule]] = [
            (context.namespace(rule.scope), rule) for context, rule in rows
        ]

    def load(self, context: RuleContext) -> tuple[RememberedRule, ...]:
        spaces = {(scope, context.namespace(scope)) for scope in context.durable_scopes()}
        return listed(deduplicated(rule for space, rule in self._rows if (rule.scope, space) in spaces))

    def upsert(self, context: RuleContext, rule: RememberedRule) -> None:
        self.revoke(context, rule.address)  # gate/R15
        self._rows.append((context.namespace(rule.scope), rule))

    def revoke(self, context: RuleContext, address: RuleAddress) -> bool:
        return self._remove(context, address.scope, address.key) > 0

    def clear(self, context: RuleContext, scope: RuleScope) -> int:
        return self._remove(context, scope, None)

    def _remove(self, context: RuleContext, scope: RuleScope, key: RuleKey | None) -> int:
        """Drop a key of one scope, or all of it. Returns how many addresses there were, not how many rows."""
        space = context.namespace(scope)
        kept, removed = [], set()
        for row in self._rows:
            if row[0] == space and row[1].scope is scope and key in (None, row[1].key):
                removed.add(row[1].key)
            else:
                kept.append(row)
        self._rows = kept
        return len(removed)


class StoreOperation(StrEnum):
    """What a store can be asked, and hence what can fail."""

    LOAD = "load"
    UPSERT = "upsert"
    REVOKE = "revoke"
    CLEAR = "clear"


class FailingRuleStore:
    """A store in which some operations fail, for a case to show what becomes of the call.

    `fails` says of an operation whether it fails this time, and with which text (None: it works). `calls` are the
    operations asked so far.
    """

    def __init__(self, inner: RuleStore, fails: Callable[[StoreOperation], str | None]) -> None:
        self._inner = inner
        self._fails = fails
        self.calls: list[StoreOperation] = []

    def load(self, context: RuleContext) -> tuple[RememberedRule, ...]:
        self._try(StoreOperation.LOAD)
        return self._inner.load(context)

    def upsert(self, context: RuleContext, rule: RememberedRule) -> None:
        context.namespace(rule.scope)
        self._try(StoreOperation.UPSERT)
        self._inner.upsert(context, rule)

    def revoke(self, context: RuleContext, address: RuleAddress) -> bool:
        self._try(StoreOperation.REVOKE)
        return self._inner.revoke(context, address)

    def clear(self, context: RuleContext, scope: RuleScope) -> int:
        self._try(StoreOperation.CLEAR)
        return self._inner.clear(context, scope)

    def _try(self, operation: StoreOperation) -> None:
        self.calls.append(operation)
        text = self._fails(operation)
        if text is not None:
            raise RuleStoreFailed(text)
