"""A learner's approver, as somebody who answers the host's dialogs: watched, bounded, and with a person to ask.

What goes wrong is noted in the terms of whoever wrote it, and passed on to the host, for which a dialog that broke
is no yes (wrapper/step-13).
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from inspect import isawaitable, isclass
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.describe.ledger import one_line
from labsim.js_values import copy_json
from labsim.stage.stage import Stage
from labsim.terms import DialogKind
from workbook.exercise.invariants import PersonReplied, PersonSays
from workbook.submission import sandbox
from workbook.submission.callables import failure, function_of
from workbook.submission.json_values import spelled
from workbook.submission.submission import Noted, NotHandedIn, Trouble, passed_on

_SHOWN: Final = 60  # characters of a question in a message
_TO_WAIT: Final = "All that an approver can wait for is await question.person()."


class Reply(Struct, frozen=True, kw_only=True):
    """What a person came back with. `says`: a label as they sent it, or None; `after_ms`: the time it took."""

    says: Any
    after_ms: int


class Asked(Struct, frozen=True, kw_only=True):
    """One open question, as an approver gets it: which kind of dialog, what it shows, and the labels it offers.

    `kind`: select, confirm, input or editor. `text` is untrusted: parts of it come from tools and from the model.
    """

    kind: str
    text: str
    options: tuple[str, ...]
    _room: Any

    def __repr__(self) -> str:
        return f"Asked(kind={str(self.kind)!r}, text={self.text!r}, options={self.options!r})"

    def person(self) -> Awaitable[Reply]:
        """Put the question to a person, and wait for what they say: `reply = await question.person()`."""
        room: WaitingRoom = self._room
        return room.ask()


class WaitingRoom:
    """The person of one situation, who can be asked as often as somebody likes, and takes their time."""

    def __init__(self, stage: Stage, replies: tuple[PersonSays, ...]) -> None:
        self._stage = stage
        self._replies = iter(replies)

    def ask(self) -> _Coming:
        return _Coming(self)

    async def reply(self) -> Reply:
        """The next thing they say; a person who has said everything is gone, and nothing comes back."""
        says = next(self._replies, PersonSays(says=None, after_ms=0))
        await self._stage.sleep(says.after_ms)
        self._stage.ledger.append(
            PersonReplied(at_ms=self._stage.now_ms, answer=copy_json(says.says), after_ms=says.after_ms)
        )
        return Reply(says=says.says, after_ms=says.after_ms)


class _Coming:
    """A reply on its way. Not a coroutine: whoever forgets to await it is told so, and not warned by Python."""

    def __init__(self, room: WaitingRoom) -> None:
        self._room = room

    def __await__(self) -> Generator[Any, Any, Reply]:
        return self._room.reply().__await__()

    def __repr__(self) -> str:
        return "question.person(), not awaited"


class WatchedApprover:
    """A learner's approver: a function of one question, or a class with `answer`, made anew for each situation."""

    def __init__(self, handed_in: object) -> None:
        """Raises: NotHandedIn, with what would do; OutOfBounds; whatever the class's own `__init__` raises."""
        self.noted: list[Noted] = []
        wanted = "a function of one question, or a class with a method answer(self, question)"
        if isclass(handed_in):
            handed_in = sandbox.call(handed_in)
            made = getattr(handed_in, "answer", None)
            if not callable(made):
                raise NotHandedIn(f"Hand in {wanted}; {type(handed_in).__name__} has no method answer.")
            handed_in = made
        elif hasattr(handed_in, "answer"):
            name = type(handed_in).__name__
            raise NotHandedIn(
                f"This is one {name}. Hand in the class itself, {name} without brackets, so that each situation "
                "gets a new one."
            )
        self._function = function_of(handed_in, wanted, 1)

    async def answer(self, question: Asked) -> Any:
        """What comes back for a question: UNSET for none. Raises: whatever went wrong, for the host to refuse."""
        try:
            answer = sandbox.call(self._function, question)
            if isawaitable(answer) and not isinstance(answer, _Coming):
                answer = await sandbox.Bounded(answer)
        except (Exception, SystemExit) as error:
            told = self._failed(error, question)
            if told is error:
                raise
            raise told from error
        return self._looked_at(answer, question)

    def never(self) -> None:
        """Note that a simulated day went by, and a question is still open."""
        if not self.noted:
            says = "it never answered: a simulated day later, a question is still open."
            self._note(Trouble.RAN_ON, says)

    def _looked_at(self, answer: Any, question: Asked) -> Any:
        about = _asked_about(question)
        if answer is ...:
            self._note(Trouble.NOTHING_YET, f"its answer to {about} is still the three dots.")
            return UNSET
        if isinstance(answer, _Coming):
            self._note(
                Trouble.NO_DECISION, f"it did not wait for the person, asked {about}. Write await before it."
            )
            return UNSET
        if answer is None:
            return UNSET
        confirms = question.kind == DialogKind.CONFIRM
        if not (isinstance(answer, str) or (confirms and isinstance(answer, bool))):
            self._note(
                Trouble.NO_DECISION,
                f"it returned {spelled(answer)} to {about}, which is no label. Return one of question.options as "
                "text, or None to close the dialog.",
            )
            return UNSET  # it closes the dialog: what is no label is no answer
        return answer

    def _failed(self, error: BaseException, question: Asked) -> Exception:
        """The error for the host, with the trouble noted."""
        noted = failure(error, f"asked {_asked_about(question)}", self._function, _TO_WAIT)
        self.noted.append(noted)
        return passed_on(error)

    def _note(self, trouble: Trouble, says: str) -> None:
        self.noted.append(Noted(trouble=trouble, says=says))


def _asked_about(question: Asked) -> str:
    return f"“{one_line(question.text)[:_SHOWN]}”"
