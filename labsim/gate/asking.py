"""An approver that asks a client: four options, a bound of its own, and a refusal that says what went wrong.

`PermissionClient` is whoever carries the question: dialogs of this workbook (`DialogClient`), or a client in
another process (`workbook.live.acp`). The rules are here, once.

The bound is the approver's own and independent of the gate's (gate/A22): it is what keeps a client that went silent
from hanging the run (gate/X9). A cancelled turn wakes it as well; an answer that is already there wins over either
(gate/A23).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Protocol, TypeAlias

from msgspec import UNSET, Struct

from labsim.errors import HostError
from labsim.gate.base import words
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest
from labsim.gate.base.terms import Duration
from labsim.gate.base.words import ClientTrouble, TerminalTrouble
from labsim.gate.rules.rules import compact_json
from labsim.stage.stage import AbortSignal, Future, Stage, first_of
from labsim.stage.ui import UI

SHOWN: Final = 160  # characters of an input's summary
_ALLOWS: Final = ("y", "yes")
_ALWAYS: Final = ("a", "always")
_NEVER: Final = ("r", "never")


class QuestionNotPut(HostError):
    """Raised by a dialog adapter whose terminal could not show the question; any other error could not read it."""


class TerminalApprover:
    """Asks at a terminal, and denies where there is none, where it breaks, and on anything that is no clear yes."""

    def __init__(self, ui: UI) -> None:
        self._ui = ui

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        tool = request.tool_name
        if not self._ui.has_ui:  # a question that nobody would read is not even printed (gate/A13)
            return _cannot_ask(tool, TerminalTrouble.NO_TERMINAL)
        try:
            line = await self._ui.input(question_text(request))
        except QuestionNotPut:
            return _cannot_ask(tool, TerminalTrouble.NOT_PUT)
        except HostError:
            return _cannot_ask(tool, TerminalTrouble.NOT_READ)
        return answer_to(line, tool)


def question_text(request: ApprovalRequest) -> str:
    """What is printed, the prompt included; the answer is typed right behind it (gate/A14)."""
    lines = ["", f"  basis: {request.tool_name} wants to run", f"       {request.description}"]
    summary = input_summary(request.input)
    if summary is not None:
        lines.append(f"       {summary}")
    return "\n".join([*lines, "       allow? [y]es / [n]o / [a]lways / neve[r]: "])


def answer_to(line: Any, tool: str) -> ApprovalAnswer:
    """What a typed line says; nothing typed, and the end of input, is a no (gate/A15)."""
    word = line.strip().lower() if isinstance(line, str) else ""
    if word in _ALLOWS:
        return ApprovalAnswer(ApprovalDecision.ALLOW)
    if word in _ALWAYS:
        return ApprovalAnswer(ApprovalDecision.ALLOW_FOR_SESSION)
    if word in _NEVER:
        refused = words.refused_at_prompt(tool, for_session=True)
        return ApprovalAnswer(ApprovalDecision.DENY_FOR_SESSION, refused)
    return ApprovalAnswer().because(words.refused_at_prompt(tool))


def input_summary(given: Any) -> str | None:
    """An input in one short line: a command as it is, otherwise the names of the keys; None where there are none
    (gate/A17).
    """
    if not isinstance(given, dict):
        return None
    command = given.get("command")
    text = (command if isinstance(command, str) else ", ".join(given)).strip()
    if not text:
        return None
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _cannot_ask(tool: str, why: TerminalTrouble) -> ApprovalAnswer:
    return ApprovalAnswer().because(words.terminal_cannot_ask(tool, why))  # gate/A2


class Option(StrEnum):
    """The four options that are offered, by the ids that come back (gate/A19)."""

    ALLOW_ONCE = "allow-once"
    ALLOW_ALWAYS = "allow-always"
    REJECT_ONCE = "reject-once"
    REJECT_ALWAYS = "reject-always"


#: What a person reads for each, in the order offered.
OPTION_NAMES: Final[Mapping[Option, str]] = {
    Option.ALLOW_ONCE: "Allow",
    Option.ALLOW_ALWAYS: "Allow for this session",
    Option.REJECT_ONCE: "Deny",
    Option.REJECT_ALWAYS: "Deny for this session",
}
#: What each stands for (gate/A20).
_DECISIONS: Final[Mapping[Option, ApprovalDecision]] = {
    Option.ALLOW_ONCE: ApprovalDecision.ALLOW,
    Option.ALLOW_ALWAYS: ApprovalDecision.ALLOW_FOR_SESSION,
    Option.REJECT_ONCE: ApprovalDecision.DENY,
    Option.REJECT_ALWAYS: ApprovalDecision.DENY_FOR_SESSION,
}
THIRTY_MINUTES: Final = Duration.seconds(30 * 60)  # gate/A22


class Selected(Struct, frozen=True):
    """The client chose an option; the id may be one that was never offered."""

    option_id: str


class Cancelled(Struct, frozen=True):
    """The client gave the request up."""


ClientOutcome: TypeAlias = Selected | Cancelled


class ClientUnreadable(HostError):
    """What came back is no answer."""


class ClientUnreachable(HostError):
    """The round trip failed."""


class PermissionClient(Protocol):
    """Carries one question to a client and its outcome back.

    Raises: ClientUnreadable or ClientUnreachable. When `withdrawn` is aborted nobody waits for the outcome any
    more, and the question should be taken back from whoever sees it.
    """

    async def request_permission(self, request: ApprovalRequest, withdrawn: AbortSignal) -> ClientOutcome: ...


class ClientApprover:
    """Asks a client about each request, and denies where it gives no decision (gate/A19 to gate/A23).

    `cancelled` is aborted when the turn is given up.
    """

    def __init__(
        self,
        stage: Stage,
        client: PermissionClient,
        *,
        bound: Duration = THIRTY_MINUTES,
        cancelled: AbortSignal | None = None,
    ) -> None:
        self._stage = stage
        self._client = client
        self._bound = bound
        self._cancelled = cancelled

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        stage = self._stage
        withdrawn = AbortSignal(stage)
        answer = stage.spawn(self._client.request_permission(request, withdrawn))
        over: Future[ClientTrouble] = Future(stage)
        # A bound of its own, whatever the gate's is (gate/A22).
        timer = stage.call_at(stage.now_ms + self._bound.stage_ms, lambda: over.set_result(ClientTrouble.NO_ANSWER))
        forget = None
        if self._cancelled is not None:
            forget = self._cancelled.listen(lambda: over.set_result(ClientTrouble.TURN_CANCELLED))
            if self._cancelled.aborted:
                over.set_result(ClientTrouble.TURN_CANCELLED)
        try:
            await first_of(stage, (answer, over))  # so a silent client does not hang the run (gate/X9)
        finally:
            timer.cancel()
            if forget is not None:
                forget()
            if not answer.done:
                withdrawn.trip()
        if not answer.done:  # an answer that is there already counts (gate/A23)
            return self._cannot(request, over.result())
        try:
            outcome = answer.result()
        except ClientUnreadable:
            return self._cannot(request, ClientTrouble.UNREADABLE)
        except HostError:
            return self._cannot(request, ClientTrouble.UNREACHABLE)
        if isinstance(outcome, Cancelled):
            return self._cannot(request, ClientTrouble.CANCELLED)
        return _chosen(request, outcome)

    @staticmethod
    def _cannot(request: ApprovalRequest, why: ClientTrouble) -> ApprovalAnswer:
        return ApprovalAnswer().because(words.client_cannot_answer(request.tool_name, why))  # gate/A21


def _chosen(request: ApprovalRequest, outcome: object) -> ApprovalAnswer:
    """The answer that an option stands for; one that was never offered is none (gate/A21)."""
    if not isinstance(outcome, Selected) or outcome.option_id not in tuple(Option):
        return ApprovalAnswer().because(words.client_cannot_answer(request.tool_name, ClientTrouble.UNREADABLE))
    answer = ApprovalAnswer(_DECISIONS[Option(outcome.option_id)])
    if answer.decision.allows:
        return answer
    # A no says that the client refused, and for how long (gate/A20).
    return answer.because(words.refused_by_client(request.tool_name, for_session=answer.decision.for_session))


class DialogClient:
    """A client made of this workbook's dialogs: one select, with the names of the four options.

    The title is what is asked and, below it, the input as compact JSON; both are untrusted and shown as text. A
    label that was not offered is no answer; a dialog closed without one is a cancelled request.
    """

    def __init__(self, ui: UI) -> None:
        self._ui = ui

    async def request_permission(self, request: ApprovalRequest, withdrawn: AbortSignal) -> ClientOutcome:
        if not self._ui.has_ui:
            raise ClientUnreachable("there is nobody to ask")
        title = f"{request.description}\n{shown_input(request.input)}"
        label = await self._ui.select(title, tuple(OPTION_NAMES.values()), signal=withdrawn)
        if label is UNSET or label is None:
            return Cancelled()
        for option, name in OPTION_NAMES.items():
            if label == name:
                return Selected(option.value)
        raise ClientUnreadable(f"{label!r} was not offered")


def shown_input(given: Any) -> str:
    """An input for a person to read: compact JSON, or the text itself where it was no JSON (gate/A8)."""
    return given if isinstance(given, str) else compact_json(given)
