"""Dialogs that go to a client over RPC: the `ui` protocol on top of the broker.

Above `broker` and `labsim.stage`; `labsim.play` hands it to the engine. The client is a stand-in: it shows each
request as a question of the stage, or answers from a script, and what it answers travels back as a frame. Nothing
is sent anywhere; the frames are in the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import UNSET

from labsim.errors import HostError
from labsim.events import QuestionAnswered, QuestionAsked, RpcSelect
from labsim.hostvalues import copy_json
from labsim.rpc.broker import Broker, Rejected, Resolved, Settled
from labsim.rpc.dialogs import CLIENT_DISCONNECTED, Confirm, Dialog, Editor, Input, Select
from labsim.rpc.frames import UIRequest, to_wire
from labsim.rpc.ledger import ClientDisconnected, DialogSettled, FrameReceived, FrameSent
from labsim.stage import AbortSignal, Question, Stage
from labsim.terms import DialogKind
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
        self._settled: dict[str, Settled] = {}  # by dialog id, until the dialog's own coroutine takes it
        self._waiting: dict[str, str] = {}  # dialog id to question id, while somebody is to answer
        self._asked: dict[str, tuple[str, DialogKind]] = {}  # question id to dialog id, for replies that come late
        if script is None:
            stage.on_late_reply = self._late_reply

    async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any:
        labels = tuple(options)
        return await self._put(Select(title=title, options=labels), title, signal, options=labels)

    async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
        # A client may send anything as `confirmed`, and the real program hands it on; only true is a yes.
        return await self._put(Confirm(title=title, message=message), title, signal, message=message) is True

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any:
        dialog = Input(title=title, placeholder=placeholder or UNSET)
        return await self._put(dialog, title, signal, placeholder=placeholder)

    async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
        return await self._put(Editor(title=title, prefill=prefill), title, signal, prefill=prefill)

    def tell(self, make: Callable[[str], UIRequest]) -> None:
        """Send a request that nobody answers: a notice, a status, a widget. `make` gets its id (R-22)."""
        self._sent((make(self._broker.fresh_id()),))

    def send(self, frame: Mapping[str, Any]) -> None:
        """Send a frame that is no request, such as a message of the conversation."""
        self._stage.ledger.append(FrameSent(at_ms=self._stage.now_ms, frame=copy_json(dict(frame))))

    def disconnect(self, message: str = CLIENT_DISCONNECTED) -> None:
        """The client goes away, and every dialog that is open with it (R-40). A second time does nothing."""
        if self._broker.lost is not None:
            return
        self._broker.disconnect(message)
        self._stage.ledger.append(ClientDisconnected(at_ms=self._stage.now_ms, message=message))
        self._collect()
        for question_id in tuple(self._waiting.values()):
            self._stage.withdraw(question_id)

    async def _put(self, dialog: Dialog, title: str, signal: AbortSignal | None, **shown: Any) -> Any:
        """Send one request, wait for what settles it, and give that. Raises: HostError, if the client is gone."""
        stage = self._stage
        asked = self._broker.ask(dialog, now_ms=stage.now_ms, signal_aborted=signal is not None and signal.aborted)
        if asked.dialog_id is None:
            return UNSET  # aborted before it was opened: never on the wire
        dialog_id = asked.dialog_id
        self._sent(asked.frames)
        if asked.settled is not None:
            self._settled[dialog_id] = asked.settled
        question = Question(id=stage.next_question_id(), kind=dialog.kind, title=title, via="rpc", **shown)
        forget = signal.listen(lambda: self._abort(dialog_id)) if signal is not None else None
        try:
            choice = await self._client_answers(question, dialog_id)
        finally:
            self._waiting.pop(dialog_id, None)
            if forget is not None:
                forget()
        settled = self._settled.pop(dialog_id)
        self._note(question, dialog_id, settled, choice)
        if isinstance(settled, Rejected):
            raise HostError(settled.error)
        return settled.value

    async def _client_answers(self, question: Question, dialog_id: str) -> Any:
        """Have the client answer; what it does reaches the broker as frames, and only so.

        Returns: its choice as a case spells it.
        """
        if self._script is not None:
            self._shown(question)
            answer = next(self._script, NO_ANSWER)
            if isinstance(answer, Disconnects):
                self.disconnect(answer.message)
            else:
                self._reply(dialog_id, question.kind, spelled(answer))
            return spelled(answer)
        if dialog_id in self._settled:
            self._shown(question)  # the request still goes out, but nobody is left to answer it
            return None
        self._waiting[dialog_id] = question.id
        self._asked[question.id] = dialog_id, question.kind
        try:
            value = await self._stage.ask(question)
        except HostError as error:
            self.disconnect(str(error))
        else:
            if dialog_id not in self._settled:
                self._reply(dialog_id, question.kind, None if value is UNSET else value)
                return None if value is UNSET else value
        # Closed from elsewhere, by an abort or with the connection: the client replies to neither.
        return {"disconnect": self._broker.lost} if isinstance(self._settled[dialog_id], Rejected) else None

    def _shown(self, question: Question) -> None:
        self._stage.ledger.append(
            QuestionAsked(
                at_ms=self._stage.now_ms,
                question_id=question.id,
                kind=question.kind,
                title=question.shown,
                options=question.options,
            )
        )

    def _note(self, question: Question, dialog_id: str, settled: Settled, choice: Any) -> None:
        stage = self._stage
        stage.ledger.append(
            DialogSettled(
                at_ms=stage.now_ms,
                dialog_id=dialog_id,
                by=settled.by,
                value=copy_json(settled.value) if isinstance(settled, Resolved) else UNSET,
                error=settled.error if isinstance(settled, Rejected) else None,
            )
        )
        if question.kind is DialogKind.SELECT:
            stage.ledger.append(RpcSelect(at_ms=stage.now_ms, options=question.options, choice=choice))
        else:
            stage.ledger.append(
                QuestionAnswered(at_ms=stage.now_ms, question_id=question.id, kind=question.kind, answer=choice)
            )

    def _late_reply(self, question_id: str, value: object) -> None:
        """A client that answers a dialog it was told to close: the frame travels all the same (R-38)."""
        if question_id in self._asked:
            dialog_id, kind = self._asked[question_id]
            self._reply(dialog_id, kind, None if value is UNSET else value)

    def _reply(self, dialog_id: str, kind: DialogKind, choice: Any) -> None:
        if self._broker.lost is not None:
            return  # a client that is gone sends nothing
        if choice is None:
            payload: dict[str, Any] = {"cancelled": True}
        else:
            payload = {"confirmed" if kind is DialogKind.CONFIRM else "value": copy_json(choice)}
        frame = {"type": "extension_ui_response", "id": dialog_id, **payload}
        consumed = self._broker.receive(frame)
        self._stage.ledger.append(FrameReceived(at_ms=self._stage.now_ms, frame=frame, consumed=consumed))
        self._collect()

    def _abort(self, dialog_id: str) -> None:
        self._sent(self._broker.abort(dialog_id))
        self._collect()
        if dialog_id in self._waiting:
            self._stage.withdraw(self._waiting[dialog_id])

    def _collect(self) -> None:
        for outcome in self._broker.poll():
            if isinstance(outcome, Resolved | Rejected) and outcome.dialog_id is not None:
                self._settled[outcome.dialog_id] = outcome

    def _sent(self, frames: Sequence[UIRequest]) -> None:
        for frame in frames:
            self._stage.ledger.append(FrameSent(at_ms=self._stage.now_ms, frame=to_wire(frame)))
