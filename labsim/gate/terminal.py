"""An approver that asks a person at a terminal, over the same dialogs as everything else that asks.

Above `request` and `words`; beside `client`. The question is one line of input under a few lines of text, spelled
as the host's own binary spells it (gate/A14). What reads the line is whoever answers the stage's questions, so
nothing blocks here: while the person thinks, everything else on the stage goes on (gate/A16).
"""

from __future__ import annotations

from typing import Any, Final

from labsim.errors import HostError
from labsim.gate.base import words
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest
from labsim.gate.base.words import TerminalTrouble
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
    return ApprovalAnswer().because(words.terminal_cannot_ask(tool, why))
