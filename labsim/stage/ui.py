"""Dialogs as the engine sees them, and the adapters that carry them to whoever replies.

Four adapters share one protocol: nobody there (`InertUI`), a list of answers (`ScriptedUI`), the stage's open
questions (`QuestionUI`), and a client over RPC (`rpc.adapter`). The engine must not know which one it has; only
`has_ui` may be asked (wrapper/W-37).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

from msgspec import UNSET, Struct

from labsim.errors import HostError, ThrownValue
from labsim.events.dialogs import QuestionAnswered, QuestionAsked, UiSelect
from labsim.js_values import text_of
from labsim.stage.stage import AbortSignal, Future, Question, Stage
from labsim.terms import DialogKind


class UI(Protocol):
    """What the engine asks of a dialog adapter.

    A dialog gives back the label or text, UNSET for no answer (dismissed, cancelled, timed out, aborted), and
    False for a confirm without one. It raises when the dialog itself broke. `signal` closes it on abort; where
    that came first, the dialog never opens and leaves no trace (rpc/R-33).
    """

    @property
    def has_ui(self) -> bool: ...

    async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any: ...

    async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any: ...

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any: ...

    async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any: ...


class InertUI:
    """Nobody is there: every dialog ends at once without an answer, and none is shown. Any other UI is one
    (wrapper/W-37).
    """

    has_ui: ClassVar[bool] = False

    async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any:
        return UNSET

    async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
        return False

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any:
        return UNSET

    async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
        return UNSET


# ------------------------------------------------------------------------------------------- scripted answers


class Says(Struct, frozen=True):
    """The dialog gives back `value`."""

    value: Any


class Fails(Struct, frozen=True):
    """The dialog breaks with an error of this message."""

    message: str


class FailsWith(Struct, frozen=True):
    """The dialog breaks with something that is no error object."""

    value: Any


class Disconnects(Struct, frozen=True):
    """The client goes away while the dialog is open (RPC only)."""

    message: str


Answer: TypeAlias = Says | Fails | FailsWith | Disconnects
#: What an empty script answers: nothing (wrapper/W-79).
NO_ANSWER = Says(UNSET)


class ScriptedUI:
    """Answers taken in order from a list; past its end every dialog ends without an answer (wrapper/W-79).

    This is the fast path of `QuestionUI` with somebody who always replies at once: the same events in the same
    order, without parking the call.
    """

    has_ui: ClassVar[bool] = True

    def __init__(self, stage: Stage, answers: Iterable[Answer]) -> None:
        self._stage = stage
        self._answers = iter(answers)

    async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any:
        if signal is not None and signal.aborted:
            return UNSET
        labels = tuple(options)
        answer = self._open(DialogKind.SELECT, title, labels)
        stage = self._stage
        stage.ledger.append(UiSelect(at_ms=stage.now_ms, options=labels, choice=spelled(answer)))
        return given(answer)

    async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
        return self._other(DialogKind.CONFIRM, f"{title}\n{message}", signal) is True

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any:
        return self._other(DialogKind.INPUT, title, signal)

    async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
        return self._other(DialogKind.EDITOR, title, signal)

    def _other(self, kind: DialogKind, title: str, signal: AbortSignal | None) -> Any:
        if signal is not None and signal.aborted:
            return UNSET
        stage = self._stage
        answer = self._open(kind, title, ())
        stage.ledger.append(
            QuestionAnswered(
                at_ms=stage.now_ms, question_id=f"q-{stage.questions_asked}", kind=kind, answer=spelled(answer)
            )
        )
        return given(answer)

    def _open(self, kind: DialogKind, title: str, options: tuple[str, ...]) -> Answer:
        stage = self._stage
        stage.ledger.append(
            QuestionAsked(
                at_ms=stage.now_ms,
                question_id=stage.next_question_id(),
                kind=kind,
                title=title,
                options=options,
            )
        )
        return next(self._answers, NO_ANSWER)


def given(answer: Answer) -> Any:
    """What the dialog gives back. Raises: what it breaks with."""
    if isinstance(answer, Says):
        return answer.value
    if isinstance(answer, FailsWith):
        raise ThrownValue(answer.value, text_of(answer.value))
    raise HostError(answer.message)


def spelled(answer: Answer) -> Any:
    """An answer as the ledger and the cases spell it; null is no answer."""
    if isinstance(answer, Says):
        return None if answer.value is UNSET else answer.value
    if isinstance(answer, Fails):
        return {"throw": answer.message}
    if isinstance(answer, FailsWith):
        return {"throwValue": answer.value}
    return {"disconnect": answer.message}


# -------------------------------------------------------------------------------------------- open questions


class QuestionUI:
    """Puts each dialog to the stage as an open question, and goes on when somebody replies."""

    has_ui: ClassVar[bool] = True

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any:
        return await self._put(DialogKind.SELECT, title, signal, options=tuple(options))

    async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
        return await self._put(DialogKind.CONFIRM, title, signal, message=message) is True

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any:
        return await self._put(DialogKind.INPUT, title, signal, placeholder=placeholder)

    async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
        return await self._put(DialogKind.EDITOR, title, signal, prefill=prefill)

    async def _put(self, kind: DialogKind, title: str, signal: AbortSignal | None, **shown: Any) -> Any:
        if signal is not None and signal.aborted:
            return UNSET
        stage = self._stage
        question = Question(id=stage.next_question_id(), kind=kind, title=title, **shown)
        waiting: Future[Any] = stage.ask(question)
        forget = signal.listen(lambda: stage.withdraw(question.id)) if signal is not None else None
        try:
            answer = await waiting
        except HostError as error:
            failure = {"throwValue": error.value} if isinstance(error, ThrownValue) else {"throw": str(error)}
            self._note(question, failure)
            raise
        finally:
            if forget is not None:
                forget()
        self._note(question, None if answer is UNSET else answer)
        return answer

    def _note(self, question: Question, came_back: Any) -> None:
        stage = self._stage
        if question.kind is DialogKind.SELECT:
            stage.ledger.append(UiSelect(at_ms=stage.now_ms, options=question.options, choice=came_back))
        else:
            stage.ledger.append(
                QuestionAnswered(at_ms=stage.now_ms, question_id=question.id, kind=question.kind, answer=came_back)
            )
