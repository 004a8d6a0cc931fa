"""The error tree: one root, one class for each thing a caller can act on.

A refused call is an outcome, not one of these; see `wrapper`.
"""

from __future__ import annotations

from typing import Final


def one_line(text: str) -> str:
    """`text` with line breaks and control characters made visible, so that a cell or a line stays one."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


class LabsimError(Exception):
    """Root of every error that this package raises about its own input or use."""


class CaseError(LabsimError):
    """A case, or a file of cases, is not what the vocabulary allows.

    The message is one line: the place, what was found, what would do.
    Attributes: `place` (file and path inside it), `found`, `remedy`.
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        self.place = place
        self.found = problem
        self.remedy = remedy
        super().__init__(one_line(f"{place}: {problem}. {remedy}" if remedy else f"{place}: {problem}."))


class UnknownCase(LabsimError):
    """No case of that id is at hand. Attributes: `case_id`, `close` (ids that look alike)."""

    def __init__(self, case_id: str, close: list[str]) -> None:
        self.case_id = case_id
        self.close = close
        hint = f" Did you mean {', '.join(close)}?" if close else " `python -m labsim cases` lists them."
        super().__init__(f"No case has the id {case_id!r}.{hint}")


class StageError(LabsimError):
    """The stage was asked for something that its state does not allow; the state is unchanged."""


class ReplayError(LabsimError):
    """A file of recorded answers, or of declared differences, cannot be read as one."""


class HostError(Exception):
    """Raised *inside* the simulated host, as its real counterpart would: an outcome to record, not a crash.

    Attributes: `error_name`, as the host's language names the class of error.
    """

    error_name = "Error"


class AbortError(HostError):
    """The call's signal was aborted while the host waited."""

    error_name = "AbortError"


#: What a host's error says where the signal was aborted while a handler was at work.
CANCELLED: Final = "Tool execution was cancelled while an extension handler was pending"


class ThrownValue(HostError):
    """Something was thrown that is no error object. Attribute: `value`, the thing thrown."""

    error_name = "(not an Error)"

    def __init__(self, value: object, text: str) -> None:
        self.value = value
        super().__init__(text)


class ToolError(HostError):
    """A tool says itself why it cannot do what it was asked."""

    error_name = "ToolError"
