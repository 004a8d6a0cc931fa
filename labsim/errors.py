"""The error tree: one root, one class for each thing a caller can act on; and the words that refusals share.

A refused call is an outcome, not one of these; see `wrapper`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from msgspec import ValidationError

_COMPLAINT: Final = re.compile(
    r"(?P<found>.*?)(?: - at (?P<key>`key` in )?`\$?(?P<path>[^`]*)`)?", re.DOTALL
)  # of the decoder, which may quote a value that looks like a place itself


def one_line(text: str) -> str:
    """`text` with line breaks and control characters made visible, so that a cell or a line stays one."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def found_and_path(error: ValidationError) -> tuple[str, str]:
    """What the decoder found, in its words, and where: `.cases[2].given.mode`; "" for the whole value.

    `[...]` in a path is some entry of a map whose keys are free: the decoder does not say which.
    """
    parts = _COMPLAINT.fullmatch(str(error))
    assert parts is not None  # every part of the pattern may be empty
    return f"{parts['found']} as a key" if parts["key"] else parts["found"], parts["path"] or ""


def closest(word: object, known: Iterable[str], most: int = 1, *, alike: float = 0.6) -> list[str]:
    """The `known` words that `word` may have been meant to be, the likeliest first, `most` of them; often none.

    `alike`: from 0, anything, to 1, the same word.
    """
    from difflib import get_close_matches  # only those who made a mistake wait for it

    return get_close_matches(word, list(known), n=most, cutoff=alike) if isinstance(word, str) else []


def did_you_mean(word: object, known: Iterable[str], otherwise: str | None = None, *, alike: float = 0.6) -> str:
    """The remedy for a word that is not known: `Did you mean 'x'?`, or else `otherwise`; None: `Use one of: …`."""
    words = list(known)
    for close in closest(word, words, alike=alike):
        return f"Did you mean '{close}'?"
    return f"Use one of: {', '.join(words)}." if otherwise is None else otherwise


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
