"""The stage: plays coroutines to their next question, on a clock of its own.

Engine code is `async def` and reads like the numbered steps it teaches, but no event loop runs it. The stage
drives a coroutine until it can go no further, which is when a question is open or a timer is pending; `reply` and
`advance` are what moves it on. So a scripted answer, a click, a frame from a client and a jump in time all take
the same path, and none of them waits for real.

Theory. A `Future` is a value that is not there yet; awaiting one parks the coroutine on it. A `Task` is a
coroutine the stage has started, and is itself a future of its result. Settling a future puts whoever is parked
on it into a queue, first in first out; whoever settles from outside (`reply`, `advance`, `abort`) drains that queue
before returning. Only when it is empty is the driver told of new questions, so that one who replies at once meets
the same parked coroutines as one who replies next week. Timers are a heap of (due time, order of creation). There
is no other source of order, hence no randomness: the same replies at the same times give the same ledger.
"""

from __future__ import annotations

import heapq
import re
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable
from contextvars import copy_context
from typing import Any, Final, Generic, TypeVar

from msgspec import UNSET, Struct

from labsim.errors import StageError
from labsim.events.dialogs import LateReply, QuestionAsked
from labsim.events.ledger import Clock, Ledger
from labsim.terms import DialogKind

T = TypeVar("T")


class Future(Generic[T]):
    """A value that is not there yet. Settled once; every later attempt is ignored."""

    __slots__ = ("_error", "_stage", "_value", "_waiters", "done")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._value: Any = UNSET
        self._error: BaseException | None = None
        self._waiters: list[Callable[[], None]] = []
        self.done = False

    def set_result(self, value: T) -> None:
        self._settle(value, None)

    def set_error(self, error: BaseException) -> None:
        self._settle(UNSET, error)

    def result(self) -> T:
        """The value. Raises: the error it was settled with, or StageError while it is not settled."""
        if not self.done:
            raise StageError("This future is not settled yet, so it has no result.")
        if self._error is not None:
            raise self._error
        value: T = self._value
        return value

    def when_done(self, callback: Callable[[], None]) -> None:
        """Call `callback` from the stage's queue once this is settled; at once into the queue if it is."""
        if self.done:
            self._stage._ready.append(callback)
        else:
            self._waiters.append(callback)

    def __await__(self) -> Generator[Future[Any], None, T]:
        if not self.done:
            yield self
        return self.result()

    def _settle(self, value: Any, error: BaseException | None) -> None:
        if self.done:
            return
        self.done = True
        self._value, self._error = value, error
        self._stage._ready.extend(self._waiters)
        self._waiters.clear()


class Task(Future[T]):
    """A coroutine under way; as a future, its result.

    It runs in a copy of the context variables it was started with, so what it sets there (for which session a
    file is changed, fallback/F-40) stays out of every other coroutine.
    """

    __slots__ = ("_context", "_coroutine")

    def __init__(self, stage: Stage, coroutine: Coroutine[Future[Any], None, T]) -> None:
        super().__init__(stage)
        self._coroutine = coroutine
        self._context = copy_context()

    def _step(self) -> None:
        resume: Callable[[Any], Any] = self._coroutine.send
        value: Any = None
        while True:
            try:
                waits_for = self._context.run(resume, value)
            except StopIteration as end:
                self.set_result(end.value)
                return
            except BaseException as error:
                self.set_error(error)
                return
            if isinstance(waits_for, Future):
                waits_for.when_done(self._step)
                return
            resume = self._coroutine.throw
            value = StageError(
                "A coroutine waited for something that is not of the stage. Use the context's sleep and dialogs."
            )

    def close(self) -> None:
        """Give up a coroutine that will never go on; its `finally` blocks run."""
        if not self.done:
            self._context.run(self._coroutine.close)


class Timer:
    """Something due at a simulated time; `cancel` takes it back."""

    __slots__ = ("callback", "due_ms", "live")

    def __init__(self, due_ms: int, callback: Callable[[], None]) -> None:
        self.due_ms = due_ms
        self.callback = callback
        self.live = True

    def cancel(self) -> None:
        self.live = False


class AbortSignal:
    """Tells whoever holds it that the caller has given up. Aborted once, for good."""

    __slots__ = ("_listeners", "_stage", "aborted")

    def __init__(self, stage: Stage, *, aborted: bool = False) -> None:
        self._stage = stage
        self._listeners: list[Callable[[], None]] = []
        self.aborted = aborted

    def abort(self) -> None:
        """Abort now, and let everything that waits on it go on."""
        with self._stage.lock:
            self.trip()
            self._stage.drain()

    def trip(self) -> None:
        """Abort, and leave it to whoever runs the stage to go on: for coroutines that the stage plays."""
        if self.aborted:
            return
        self.aborted = True
        for listener in tuple(self._listeners):
            listener()

    def follow(self, other: AbortSignal) -> Callable[[], None]:
        """Abort when `other` does, at once if it has; returns what ends that (harmless when repeated)."""
        if other.aborted:
            self.trip()
        return other.listen(self.trip)

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` on abort; returns what removes it again (harmless when repeated)."""
        self._listeners.append(callback)

        def remove() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return remove


class Question(Struct, frozen=True, kw_only=True):
    """A dialog that waits for a reply. All texts are untrusted and are shown as text.

    `id` counts up per stage: `q-1`, `q-2`, … `via` is how it reaches a person: `ui` or `rpc`.
    """

    id: str
    kind: DialogKind
    title: str
    options: tuple[str, ...] = ()
    message: str | None = None
    placeholder: str | None = None
    prefill: str | None = None
    via: str = "ui"

    @property
    def shown(self) -> str:
        """The text a person reads: the title, and below it the message where there is one."""
        return self.title if self.message is None else f"{self.title}\n{self.message}"


class _Open(Struct):
    question: Question
    answer: Any  # Future


class Stage:
    """One case's world: a clock, a ledger, the open questions and whatever is under way.

    `on_question` is called with each new question that is still open once nothing else is ready; it may reply,
    advance or do neither. `on_late_reply` is told of each reply that changed nothing. Replies may come from another
    thread: `reply`, `advance` and `abort` take `lock`.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self.ledger = Ledger() if ledger is None else ledger
        self.clock: Clock = self.ledger.clock
        self.lock = threading.RLock()
        self.on_question: Callable[[Question], object] | None = None
        self.on_late_reply: Callable[[str, object], None] | None = None
        self._ready: deque[Callable[[], None]] = deque()
        self._resting: deque[Future[None]] = deque()
        self._timers: list[tuple[int, int, Timer]] = []
        self._timers_made = 0
        self._asked = 0
        self._open: dict[str, _Open] = {}
        self._unannounced: deque[Question] = deque()
        self._tasks: list[Task[Any]] = []
        self._next_sweep = _SWEEP
        self._next_timer_sweep = _SWEEP
        self._draining = False
        self._announcing = False

    # -- running

    @property
    def now_ms(self) -> int:
        return self.clock.now_ms

    def spawn(self, coroutine: Coroutine[Any, None, T]) -> Task[T]:
        """Start a coroutine and run it to its first wait. Its first part runs before this returns."""
        task: Task[T] = Task(self, coroutine)
        task._step()
        if not task.done:
            self._keep(task)
        return task

    def _keep(self, task: Task[Any]) -> None:
        # What is over is let go of now and then: a stage that serves a client for days starts any number of tasks.
        if len(self._tasks) >= self._next_sweep:
            self._tasks = [each for each in self._tasks if not each.done]
            self._next_sweep = 2 * len(self._tasks) + _SWEEP
        self._tasks.append(task)

    def play(self, coroutine: Coroutine[Any, None, T]) -> Task[T]:
        """Start a coroutine and carry on until it ends or a question is open.

        With no question open, time moves to the next timer by itself, so budgets and timeouts cost nothing.
        Raises: StageError, if nothing that could happen would ever move it.
        """
        with self.lock:
            task = self.spawn(coroutine)
            self.carry_on(task)
        return task

    def carry_on(self, task: Task[Any]) -> None:
        """Go on with `task` as far as it can get without a reply from outside."""
        with self.lock:
            self.drain()
            while not task.done and not self._open:
                if not self._to_next_timer():
                    raise StageError(
                        "The case cannot go on: it waits, but no question is open and no timer is pending."
                    )
                self.drain()

    def drain(self) -> None:
        """Run everything that is ready, then tell of new questions; does nothing when called from within itself."""
        if self._draining:
            return
        self._draining = True
        try:
            while self._ready or self._resting:
                if self._ready:
                    self._ready.popleft()()
                else:
                    self._resting.popleft().set_result(None)
        finally:
            self._draining = False
        if self._unannounced and not self._announcing:
            self._announce()

    def _announce(self) -> None:
        # A reply from inside `on_question` moves the stage, and may open the next question: that one waits here
        # for its turn, so a thousand questions answered at once are a loop and no recursion.
        self._announcing = True
        try:
            while self._unannounced:
                question = self._unannounced.popleft()
                if self.on_question is not None and question.id in self._open:
                    self.on_question(question)
        finally:
            self._announcing = False

    def rest(self) -> Future[None]:
        """A future that settles once all that is ready has had its turn, before new questions are told of.

        For a script that plays several coroutines side by side: its next step comes once the last has taken effect.
        """
        future: Future[None] = Future(self)
        self._resting.append(future)
        return future

    def close(self) -> None:
        """Give up whatever is still under way (a handler past its budget, an unanswered call)."""
        with self.lock:
            for task in self._tasks:
                task.close()
            self._tasks.clear()
            self._timers.clear()
            self._ready.clear()
            self._resting.clear()
            self._open.clear()
            self._unannounced.clear()

    # -- time

    def call_at(self, due_ms: int, callback: Callable[[], None]) -> Timer:
        """Have `callback` called when the clock reaches `due_ms` (simulated ms)."""
        timer: Timer = Timer(due_ms, callback)
        self._timers_made += 1
        if len(self._timers) >= self._next_timer_sweep:  # for the same reason; which one is next does not change
            self._timers = [entry for entry in self._timers if entry[2].live]
            heapq.heapify(self._timers)
            self._next_timer_sweep = 2 * len(self._timers) + _SWEEP
        heapq.heappush(self._timers, (due_ms, self._timers_made, timer))
        return timer

    def sleep(self, ms: int) -> Future[None]:
        """A future that settles `ms` simulated milliseconds from now."""
        future: Future[None] = Future(self)
        self.call_at(self.now_ms + ms, lambda: future.set_result(None))
        return future

    def advance(self, ms: int) -> None:
        """Move the clock on by `ms`, letting everything due on the way happen at its own time."""
        if ms < 0:
            raise StageError(f"Time cannot go back: advance({ms}). Use a positive number of milliseconds.")
        with self.lock:
            end = self.now_ms + ms
            self.drain()
            while self._to_next_timer(end):
                self.drain()
            self.clock.now_ms = max(self.clock.now_ms, end)  # whoever was told of a question may have moved it

    @property
    def next_due_ms(self) -> int | None:
        """When something is next due (simulated ms), for a shell that lets real time pass; None: never."""
        while self._timers and not self._timers[0][2].live:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def _to_next_timer(self, end_ms: int | None = None) -> bool:
        """Move the clock to the next timer and let it happen. False if there is none, or none by `end_ms`."""
        while self._timers:
            due, _, timer = self._timers[0]
            if timer.live and end_ms is not None and due > end_ms:
                return False
            heapq.heappop(self._timers)
            if timer.live:
                timer.live = False
                self.clock.now_ms = max(self.clock.now_ms, due)
                timer.callback()
                return True
        return False

    # -- questions

    @property
    def questions(self) -> tuple[Question, ...]:
        """The open questions, oldest first."""
        return tuple(entry.question for entry in self._open.values())

    @property
    def questions_asked(self) -> int:
        """How many questions were ever asked; the newest is `q-<this>`."""
        return self._asked

    def next_question_id(self) -> str:
        """The id that the next question gets."""
        self._asked += 1
        return f"q-{self._asked}"

    def answer_to(self, question_id: str) -> Future[Any] | None:
        """The future of an open question's answer, for whoever waits beside its asker; None if it is not open."""
        entry = self._open.get(question_id)
        return None if entry is None else entry.answer

    def ask(self, question: Question) -> Future[Any]:
        """Open a question and return the future of its answer. UNSET as an answer means: none was given."""
        self.ledger.append(
            QuestionAsked(
                at_ms=self.now_ms,
                question_id=question.id,
                kind=question.kind,
                title=question.shown,
                options=question.options,
            )
        )
        answer: Future[Any] = Future(self)
        self._open[question.id] = _Open(question, answer)
        if self.on_question is not None:
            self._unannounced.append(question)
        return answer

    def reply(self, question_id: str, value: object) -> bool:
        """Answer an open question. False if it was no longer open: the reply is noted and changes nothing.

        Raises: StageError, if no question of that id was ever asked.
        """
        in_time = self._answer(question_id, lambda answer: answer.set_result(value))
        if not in_time and self.on_late_reply is not None:
            self.on_late_reply(question_id, value)
        return in_time

    def fail(self, question_id: str, error: BaseException) -> bool:
        """End an open question with an error, as a dialog that broke; otherwise as `reply`."""
        return self._answer(question_id, lambda answer: answer.set_error(error))

    def withdraw(self, question_id: str) -> None:
        """Close a question from the host's side (abort, timeout); its answer is none."""
        entry = self._open.pop(question_id, None)
        if entry is not None:
            entry.answer.set_result(UNSET)

    def _answer(self, question_id: str, settle: Callable[[Any], None]) -> bool:
        with self.lock:
            entry = self._open.pop(question_id, None)
            if entry is None:
                number = re.fullmatch(_QUESTION_ID, question_id)
                if number is None or int(number[1]) > self._asked:
                    known = ", ".join(self._open) or "none"
                    raise StageError(f"No question has the id {question_id!r}. Open questions: {known}.")
                self.ledger.append(LateReply(at_ms=self.now_ms, question_id=question_id))
                return False
            settle(entry.answer)
            self.drain()
            return True


_SWEEP: Final = 64
_QUESTION_ID = r"q-([1-9][0-9]{0,9})"


def first_of(stage: Stage, futures: Iterable[Future[Any]]) -> Future[int]:
    """A future of the index of whichever of `futures` settles first; order given breaks ties."""
    winner: Future[int] = Future(stage)

    def settled(index: int) -> Callable[[], None]:
        return lambda: winner.set_result(index)

    for index, future in enumerate(futures):
        if future.done:
            winner.set_result(index)
            break
        future.when_done(settled(index))
    return winner
