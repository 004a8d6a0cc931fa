"""Dialogs that go to a client over RPC: the `ui` protocol on top of the broker.

In a case the client is a stand-in: it shows each request as a question of the stage, or answers from a script, and
what it answers travels back as a frame. With a `wire` there is a real one: frames go out to it, and what it sends
is given to `receive`. Either way every frame is in the ledger, and the broker decides what it comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import UNSET, Struct

from labsim.errors import HostError
from labsim.events.dialogs import LateReply, QuestionAnswered, QuestionAsked, RpcSelect
from labsim.js_values import copy_json
from labsim.rpc.broker import Broker, DialogState, Rejected, Resolved, Settled, SettledBy, TimeoutFired, due
from labsim.rpc.decode import DialogReply, HostReply
from labsim.rpc.dialogs import CLIENT_DISCONNECTED, Confirm, Dialog, Editor, Input, Option, Select, no_answer
from labsim.rpc.events import ClientDisconnected, DialogSettled, FrameReceived, FrameSent, TimeoutCallback
from labsim.rpc.frames import UIRequest, to_wire
from labsim.stage.stage import AbortSignal, Question, Stage
from labsim.stage.ui import NO_ANSWER, Answer, Disconnects, spelled
from labsim.terms import DialogKind

REMEMBERED: Final = 4096  # dialogs, for replies that come late; an older one's is a reply to nobody

#: Takes one frame for the client, as it is on the wire.
Wire: TypeAlias = Callable[[Mapping[str, Any]], object]


class RpcUI:
    """A UI whose dialogs are requests to a client; `has_ui` is true, terminal or not (rpc/R-61, wrapper/W-37).

    `script` are the client's answers, in order; None has the stage's questions answered by somebody. `wire` gets
    each frame for the client, as it is on the wire, at the moment it is sent.
    """

    has_ui: ClassVar[bool] = True

    def __init__(self, stage: Stage, script: Iterator[Answer] | None, *, wire: Wire | None = None) -> None:
        self._stage = stage
        self._script = script
        self._wire = wire
        self._broker = Broker()
        self._settled: dict[str, Settled] = {}  # by dialog id, until the dialog's own coroutine takes it
        self._waiting: dict[str, str] = {}  # dialog id to question id, while somebody is to answer
        self._asked: dict[str, _Asked] = {}  # by dialog id, for replies that come late
        self._on_timeout: dict[str, Callable[[], object] | None] = {}  # by dialog id, while its timer may fire
        if script is None:
            stage.on_late_reply = self._late_reply

    async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any:
        return await self.put(Select(title=title, options=tuple(options)), signal=signal)

    async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
        # A client may send anything as `confirmed`, and the real program hands it on; only true is a yes
        # (rpc/R-32).
        return await self.put(Confirm(title=title, message=message), signal=signal) is True

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any:
        return await self.put(Input(title=title, placeholder=placeholder or UNSET), signal=signal)

    async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
        return await self.put(Editor(title=title, prefill=prefill), signal=signal)

    async def put(
        self,
        dialog: Dialog,
        *,
        signal: AbortSignal | None = None,
        on_timeout: Callable[[], object] | None = None,
    ) -> Any:
        """Send one request and wait for what settles it.

        Returns: what the client said, unchecked; UNSET, or False of a confirm, for no answer.
        `on_timeout` is called where the dialog's time ran out, here or at the client (rpc/R-29, rpc/R-35).
        Raises: HostError, if the client is gone.
        """
        stage = self._stage
        asked = self._broker.ask(dialog, now_ms=stage.now_ms, signal_aborted=signal is not None and signal.aborted)
        if asked.dialog_id is None:
            return no_answer(dialog)  # aborted before it was opened: never on the wire
        dialog_id = asked.dialog_id
        self._on_timeout[dialog_id] = on_timeout
        self._sent(asked.frames)
        if asked.settled is not None:
            self._settled[dialog_id] = asked.settled
        question = _question(dialog, stage.next_question_id())
        forget = signal.listen(lambda: self._abort(dialog_id)) if signal is not None else None
        due_ms = due(dialog, stage.now_ms)
        timer = None if due_ms is None else stage.call_at(due_ms, self._tick)
        try:
            choice = await self._client_answers(question, dialog_id)
        finally:
            self._waiting.pop(dialog_id, None)
            if self._broker.state_of(dialog_id) is DialogState.CLOSED:  # what raised leaves its timer behind
                self._on_timeout.pop(dialog_id, None)
                if timer is not None:
                    timer.cancel()
            if forget is not None:
                forget()
        settled = self._settled.pop(dialog_id)
        self._note(question, dialog_id, settled, choice)
        if isinstance(settled, Rejected):
            raise HostError(settled.error)
        return settled.value

    @property
    def open_dialogs(self) -> tuple[str, ...]:
        """The ids of the requests that a reply would still settle, oldest first."""
        return self._broker.open_ids

    def tell(self, make: Callable[[str], UIRequest]) -> None:
        """Send a request that nobody answers: a notice, a status, a widget. `make` gets its id (rpc/R-22)."""
        self._sent((make(self._broker.fresh_id()),))

    def send(self, frame: Mapping[str, Any]) -> None:
        """Send a frame that is no request, such as a message of the conversation."""
        sent = copy_json(dict(frame))
        self._stage.ledger.append(FrameSent(at_ms=self._stage.now_ms, frame=sent))
        if self._wire is not None:
            self._wire(sent)

    def receive(self, reply: DialogReply | HostReply) -> None:
        """Take what a real client sent, and let whoever waits for it go on.

        A reply to a dialog that is over, or that never was, changes nothing (rpc/R-38).
        """
        stage = self._stage
        with stage.lock:
            asked = self._asked.get(reply.id) if isinstance(reply, DialogReply) else None
            if asked is not None and reply.id not in self._waiting:
                stage.ledger.append(LateReply(at_ms=stage.now_ms, question_id=asked.question_id))
            self._take(reply.frame)
            stage.drain()

    def disconnect(self, message: str = CLIENT_DISCONNECTED) -> None:
        """The client goes away, and every dialog that is open with it (rpc/R-40). A second time does nothing."""
        if self._broker.lost is not None:
            return
        self._broker.disconnect(message)
        self._stage.ledger.append(ClientDisconnected(at_ms=self._stage.now_ms, message=message))
        self._collect()

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
            self._shown(question)  # the request still goes out (rpc/R-41), but nobody is left to answer it
            return None
        self._waiting[dialog_id] = question.id
        self._remember(dialog_id, question)
        try:
            value = await self._stage.ask(question)
        except HostError as error:
            self.disconnect(str(error))
        else:
            if dialog_id not in self._settled:
                self._reply(dialog_id, question.kind, None if value is UNSET else value)
                return None if value is UNSET else value
        # Closed from elsewhere. An abort and a lost connection are nothing that the client says (rpc/R-20,
        # rpc/R-52); a reply that came over the wire is.
        settled = self._settled[dialog_id]
        if isinstance(settled, Rejected):
            return {"disconnect": settled.error}
        return settled.value if settled.by is SettledBy.REPLY and settled.value is not UNSET else None

    def _remember(self, dialog_id: str, question: Question) -> None:
        """Keep whose dialog this was, as long as there are not too many: a connection may last for days."""
        self._asked[dialog_id] = _Asked(question.id, question.kind)
        if len(self._asked) > REMEMBERED:
            del self._asked[next(iter(self._asked))]

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
        """A client that answers a dialog it was told to close: the frame travels all the same (rpc/R-38)."""
        for dialog_id, asked in self._asked.items():
            if asked.question_id == question_id:
                self._reply(dialog_id, asked.kind, None if value is UNSET else value)
                return

    def _reply(self, dialog_id: str, kind: DialogKind, choice: Any) -> None:
        """Have the stand-in reply, in the shape that its dialog asks for."""
        if self._broker.lost is not None:
            return  # a client that is gone sends nothing
        if choice is None:
            payload: dict[str, Any] = {"cancelled": True}
        else:
            payload = {"confirmed" if kind is DialogKind.CONFIRM else "value": copy_json(choice)}
        self._take({"type": "extension_ui_response", "id": dialog_id, **payload})

    def _take(self, frame: Mapping[str, Any]) -> None:
        consumed = self._broker.receive(frame)
        received = copy_json(frame)
        self._stage.ledger.append(FrameReceived(at_ms=self._stage.now_ms, frame=received, consumed=consumed))
        self._collect()

    def _abort(self, dialog_id: str) -> None:
        self._sent(self._broker.abort(dialog_id))
        self._collect()

    def _tick(self) -> None:
        self._broker.tick(self._stage.now_ms)
        self._collect()

    def _collect(self) -> None:
        """Take what the broker has settled, and wake whoever waits for it."""
        stage = self._stage
        for outcome in self._broker.poll():
            if isinstance(outcome, TimeoutFired):
                callback = self._on_timeout.pop(outcome.dialog_id, None)
                heard = callback is not None
                stage.ledger.append(TimeoutCallback(at_ms=stage.now_ms, dialog_id=outcome.dialog_id, heard=heard))
                if callback is not None:
                    callback()
            elif outcome.dialog_id is not None:
                self._settled[outcome.dialog_id] = outcome
                if outcome.dialog_id in self._waiting:
                    stage.withdraw(self._waiting[outcome.dialog_id])

    def _sent(self, frames: Sequence[UIRequest]) -> None:
        for frame in frames:
            self.send(to_wire(frame))


class _Asked(Struct, frozen=True):
    question_id: str
    kind: DialogKind


def _question(dialog: Dialog, question_id: str) -> Question:
    """The dialog as an open question of the stage; what it does not say is "" there."""
    shown: dict[str, Any]
    match dialog:
        case Select(options=options):
            shown = {"options": tuple(o.label if isinstance(o, Option) else o for o in options)}
        case Confirm(message=message):
            shown = {"message": message}
        case Input(placeholder=placeholder):
            shown = {"placeholder": "" if placeholder is UNSET else placeholder}
        case Editor(prefill=prefill):
            shown = {"prefill": "" if prefill is UNSET else prefill}
    return Question(id=question_id, kind=dialog.kind, title=dialog.title, via="rpc", **shown)
