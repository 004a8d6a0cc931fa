"""A session's events, and those who follow them.

Two ways to follow: `listen` is called within the emission itself, and may answer a request there and then
(gate/O9); `subscribe` keeps events until its owner takes them, up to a capacity. One that lags behind it loses the
oldest and is told how many (gate/F5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from labsim.gate.events import GateEvent, SessionEvent
from labsim.stage.stage import Future, Stage

CAPACITY: Final = 256  # events that a subscription keeps


class Lagged(Struct, frozen=True):
    """So many events were lost here; what follows is what is left."""

    count: int


class Subscription:
    """Events in order, for one owner. Made by `EventStream.subscribe`."""

    def __init__(self, stage: Stage, capacity: int) -> None:
        self._stage = stage
        self._capacity = capacity
        self._kept: deque[SessionEvent] = deque()
        self._lost = 0
        self._finished = False
        self._waiter: Future[None] | None = None

    async def next(self) -> SessionEvent | Lagged | None:
        """The next event, or how many were lost, or None when it is finished and everything was taken (gate/F3)."""
        while True:
            if self._lost:  # said once, and then it goes on (gate/F5)
                lost, self._lost = self._lost, 0
                return Lagged(lost)
            if self._kept:
                return self._kept.popleft()
            if self._finished:
                return None
            self._waiter = Future(self._stage)
            await self._waiter

    def push(self, event: SessionEvent) -> None:
        if self._finished:
            return
        if len(self._kept) == self._capacity:
            self._kept.popleft()  # gone for good, a request too (gate/F5)
            self._lost += 1
        self._kept.append(event)
        self._wake()

    def finish(self) -> None:
        """Nothing more will come; what is there can still be taken."""
        self._finished = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None:
            self._waiter.set_result(None)
            self._waiter = None


class EventStream:
    """What one live session tells. Everything also goes into the stage's ledger, at the time it happens."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._listeners: list[Callable[[SessionEvent], None]] = []
        self._subscriptions: list[Subscription] = []

    def emit(self, event: SessionEvent) -> None:
        """Tell everybody who follows."""
        self._stage.ledger.append(event)
        for subscription in tuple(self._subscriptions):
            subscription.push(event)
        for listener in tuple(self._listeners):
            listener(event)

    def note(self, remark: GateEvent) -> None:
        """Write a remark into the ledger; nobody who follows the session hears it."""
        self._stage.ledger.append(remark)

    def listen(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Call `callback` within each emission; returns what ends that."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def subscribe(self, capacity: int = CAPACITY) -> Subscription:
        """Follow from here on."""
        subscription = Subscription(self._stage, capacity)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
        subscription.finish()
