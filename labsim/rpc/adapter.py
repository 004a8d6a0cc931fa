"""Dialogs that go to a client over RPC: the `ui` protocol on top of the broker.

Above `broker` and `labsim.stage`; `labsim.play` hands it to the engine. The client is a stand-in: it shows each
request as a question of the stage, or answers from a script, and what it answers travels back as a frame. Nothing
is sent anywhere; the frames are in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from msgspec import UNSET

from labsim.errors import HostError
from labsim.events import QuestionAnswered, QuestionAsked, RpcSelect
from labsim.hostvalues import copy_json
from labsim.rpc.broker import Broker, Rejected, Resolved, Settled
from labsim.rpc.dialogs import Confirm, Dialog, Editor, Input, Select
from labsim.rpc.frames import UIRequest, to_wire
from labsim.rpc.ledger import ClientDisconnected, DialogSettled, FrameReceived, FrameSent
from labsim.stage import AbortSignal, Question, Stage
from labsim.ui import NO_ANSWER, Answer, Disconnects, spelled


class RpcUI:
    """A UI whose dialogs are requests to a client; `has_ui` is true, terminal or not (R-61, W-37).

    `script` are the client's answers, in order; None has the stage's questions answered by somebody.
    """

    has_ui: ClassVar[bool] = True

    def __init__(self, stage: Stage, script: Iterator[Answer] | None) -> None:
        self._stage = stage
        self._script = script
        self._broker = Broker()

    async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any:
        labels = tuple(options)
        dialog = Select(title=title, options=labels)
        choice, settled = await self._put(dialog, title, signal, options=labels)
        self._stage.ledger.append(RpcSelect(at_ms=self._stage.now_ms, options=labels, choice=choice))
        return _given(settled)

    async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
        return await self._other(Confirm(title=title, message=message), title, signal, message=message)

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any:
        dialog = Input(title=title, placeholder=placeholder or UNSET)
        return await self._other(dialog, title, signal, placeholder=placeholder)

    async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
        return await self._other(Editor(title=title, prefill=prefill), title, signal, prefill=prefill)

    async def _other(self, dialog: Dialog, title: str, signal: AbortSignal | None, **shown: str) -> Any:
        choice, settled = await self._put(dialog, title, signal, **shown)
        stage = self._stage
        stage.ledger.append(
            QuestionAnswered(
                at_ms=stage.now_ms, question_id=f"q-{stage.questions_asked}", kind=dialog.kind, answer=choice
            )
        )
        return _given(settled)

    async def _put(
        self, dialog: Dialog, title: str, signal: AbortSignal | None, **shown: Any
    ) -> tuple[Any, Settled]:
        """Send one request and wait for what settles it. Returns the client's choice as a case spells it."""
        stage, broker = self._stage, self._broker
        asked = broker.ask(dialog, now_ms=stage.now_ms, signal_aborted=signal is not None and signal.aborted)
        self._sent(asked.frames)
        if asked.dialog_id is None and asked.settled is not None:
            return None, asked.settled  # aborted before it was opened: never on the wire
        dialog_id = asked.dialog_id or ""
        question = Question(id=stage.next_question_id(), kind=dialog.kind, title=title, via="rpc", **shown)
        forget = signal.listen(lambda: self._abort(dialog_id, question.id)) if signal is not None else None
        try:
            choice = await self._client_answers(question, dialog_id)
        finally:
            if forget is not None:
                forget()
        settled = asked.settled or next(
            outcome for outcome in broker.poll() if isinstance(outcome, Resolved | Rejected)
        )
        stage.ledger.append(
            DialogSettled(
                at_ms=stage.now_ms,
                dialog_id=dialog_id,
                by=settled.by,
                value=copy_json(settled.value) if isinstance(settled, Resolved) else UNSET,
                error=settled.error if isinstance(settled, Rejected) else None,
            )
        )
        return choice, settled

    async def _client_answers(self, question: Question, dialog_id: str) -> Any:
        """Have the client answer; what it does reaches the broker as frames, and only so."""
        if self._script is not None:
            stage = self._stage
            stage.ledger.append(
                QuestionAsked(
                    at_ms=stage.now_ms,
                    question_id=question.id,
                    kind=question.kind,
                    title=question.shown,
                    options=question.options,
                )
            )
            answer = next(self._script, NO_ANSWER)
            if isinstance(answer, Disconnects):
                self._disconnect(answer.message)
            else:
                self._reply(dialog_id, question, spelled(answer))
            return spelled(answer)
        try:
            value = await self._stage.ask(question)
        except HostError as error:
            self._disconnect(str(error))
            return {"disconnect": str(error)}
        self._reply(dialog_id, question, None if value is UNSET else value)
        return None if value is UNSET else value

    def _reply(self, dialog_id: str, question: Question, choice: Any) -> None:
        if choice is None:
            payload: dict[str, Any] = {"cancelled": True}
        else:
            payload = {"confirmed" if question.message is not None else "value": copy_json(choice)}
        frame = {"type": "extension_ui_response", "id": dialog_id, **payload}
        consumed = self._broker.receive(frame)
        self._stage.ledger.append(FrameReceived(at_ms=self._stage.now_ms, frame=frame, consumed=consumed))

    def _disconnect(self, message: str) -> None:
        self._broker.disconnect(message)
        self._stage.ledger.append(
            ClientDisconnected(at_ms=self._stage.now_ms, message=self._broker.lost or message)
        )

    def _abort(self, dialog_id: str, question_id: str) -> None:
        self._sent(self._broker.abort(dialog_id))
        self._stage.withdraw(question_id)

    def _sent(self, frames: Sequence[UIRequest]) -> None:
        for frame in frames:
            self._stage.ledger.append(FrameSent(at_ms=self._stage.now_ms, frame=to_wire(frame)))


def _given(settled: Settled) -> Any:
    """What the dialog gives its caller. Raises: HostError, when the client went away (R-40)."""
    if isinstance(settled, Rejected):
        raise HostError(settled.error)
    return settled.value
