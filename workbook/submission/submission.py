"""What a learner hands in, as an approver that can be asked: their function or class, watched and bounded.

Whatever goes wrong in somebody's first attempt is noted here in their terms, and passed on to the host, which
takes none of it for consent: so the ledger shows it as well.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from enum import StrEnum
from inspect import isawaitable, isclass
from types import CodeType
from typing import Any

from msgspec import Struct

from labsim.describe.ledger import one_line
from labsim.errors import StageError
from labsim.gate import ApprovalAnswer, ApprovalDecision, ApprovalRequest
from workbook.errors import WorkbookError
from workbook.exercise.kinds import Form
from workbook.submission import sandbox
from workbook.submission.json_values import spelled


class Trouble(StrEnum):
    """What can go wrong with code that was handed in."""

    NOTHING_YET = "nothing yet"  # the `...` of the skeleton is still its answer
    NO_ANSWER = "no answer"  # it returned None
    NO_DECISION = "no decision"  # it returned something else
    NOT_ASYNC = "not async"
    RAISED = "raised"
    RAN_ON = "ran on"
    WAITED_OUTSIDE = "waited outside"
    MUTATED = "mutated"  # it changed what it was only shown


class Noted(Struct, frozen=True, kw_only=True):
    """One trouble, in words for whoever wrote the code."""

    trouble: Trouble
    says: str


class NotHandedIn(WorkbookError):
    """What was handed in cannot be asked anything."""


class Submission:
    """One attempt, as an approver. A class is made anew for each situation, so nothing is carried over."""

    def __init__(self, handed_in: object, form: Form) -> None:
        """Raises: NotHandedIn, with what would do; OutOfBounds; whatever the class's own `__init__` raises."""
        self.noted: list[Noted] = []
        self._form = form
        self._ask = _question_of(handed_in, form)

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer | ApprovalDecision:
        try:
            answer = sandbox.call(self._ask, request)
            if isawaitable(answer):
                answer = await sandbox.Bounded(answer)
            elif self._form is Form.APPROVER and answer is not ...:
                self._note(
                    Trouble.NOT_ASYNC,
                    "it is a plain def, and the host awaits an approver. Write async def approve.",
                )
                raise TypeError("approve must be an `async def`")
        except sandbox.OutOfBounds as error:
            self._note(Trouble.RAN_ON, f"it never came to an answer about {_about(request)}: {error}.")
            raise
        except StageError:
            self._note_outside(request)
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, RuntimeError) and "event loop" in words_of(error):
                self._note_outside(request)
            elif not self.noted:
                self._note(Trouble.RAISED, f"it raised {raised(error, self._ask)}, asked about {_about(request)}.")
            told = passed_on(error)
            if told is error:
                raise
            raise told from error
        self._look_at(answer, request)
        return answer  # type: ignore[no-any-return]  # a learner's value; the host refuses what is no answer

    def _look_at(self, answer: object, request: ApprovalRequest) -> None:
        if answer is ...:
            self._note(Trouble.NOTHING_YET, f"its answer about {_about(request)} is still the three dots.")
        elif answer is None:
            self._note(
                Trouble.NO_ANSWER,
                f"it returned nothing about {_about(request)}. Does every way through it end in a return?",
            )
        else:
            try:
                ApprovalAnswer.of(answer)
            except Exception:  # a TypeError, or whatever the value raises when it is asked for its words
                self._note(
                    Trouble.NO_DECISION,
                    f"it returned {spelled(answer)} about {_about(request)}, which is no decision. "
                    "Return an ApprovalDecision or an ApprovalAnswer.",
                )

    def _note_outside(self, request: ApprovalRequest) -> None:
        self._note(
            Trouble.WAITED_OUTSIDE,
            f"it waited for something outside the simulated host, asked about {_about(request)}. Time is simulated "
            "here: to wait, use await pause(ms) from labsim.api.",
        )

    def _note(self, trouble: Trouble, says: str) -> None:
        self.noted.append(Noted(trouble=trouble, says=says))


def _question_of(handed_in: object, form: Form) -> Callable[[ApprovalRequest], Any]:
    """What to call with a request. Raises: as `Submission`."""
    wanted = "a function of one request" if form is Form.POLICY else "a class with async def approve(self, request)"
    if isclass(handed_in):
        handed_in = sandbox.call(handed_in)
    elif hasattr(handed_in, "approve"):
        name = type(handed_in).__name__
        raise NotHandedIn(
            f"This is one {name}. Hand in the class itself, {name} without brackets, so that each situation gets a "
            "new one."
        )
    approve = getattr(handed_in, "approve", None)
    if callable(approve):
        return approve  # type: ignore[no-any-return]  # of a learner's class
    if callable(handed_in):
        return handed_in
    raise NotHandedIn(f"Hand in {wanted}; this is {spelled(handed_in)}.")


def _about(request: ApprovalRequest) -> str:
    level = request.side_effect_level
    return f"{request.tool_name} ({'level unknown' if level is None else level})"


def raised(error: BaseException, asked: Callable[..., Any]) -> str:
    """The error, with the line of the learner's own code at which it came up."""
    words = words_of(error)
    text = one_line(f"{type(error).__name__}: {words}" if words else type(error).__name__)
    code = getattr(getattr(asked, "__func__", asked), "__code__", None)
    if isinstance(code, CodeType):
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename == code.co_filename:
                return f"{text}, at line {frame.lineno} of the cell ({frame.line})"
    return text


def words_of(error: BaseException) -> str:
    """What an error says; "" for one whose own `__str__` fails, which must not hide that it was raised."""
    try:
        return str(sandbox.call(str, error))
    except Exception:  # of the error's class, which may be the learner's
        return ""


def passed_on(error: BaseException) -> Exception:
    """The error as the host gets it: what would end the kernel, or has no words, is a failure like any other."""
    if not isinstance(error, Exception):
        return WorkbookError("it asked Python to exit")
    try:
        str(error)
    except Exception:  # of the error's own class; the host reads what an error says
        return WorkbookError(f"{type(error).__name__}, which has no words")
    return error
