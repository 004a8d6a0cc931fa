"""What a learner hands in for the first host, watched and bounded: settings, a handler, an approver.

Above `bounded`, `submissions` (whose words for trouble are used here) and `invariants`; below `call_play`. Whatever
goes wrong is noted in the terms of whoever wrote it, and passed on to the host, which takes none of it for consent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from difflib import get_close_matches
from inspect import Parameter, isawaitable, isclass, signature
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.errors import CaseError, StageError
from labsim.handlers import HandlerContext, HandlerReply, ToolCallInput
from labsim.hostvalues import copy_json, same
from labsim.show import one_line
from labsim.stage import Stage
from labsim.terms import ApprovalMode, DialogKind, Policy
from workbook import bounded
from workbook.errors import WorkbookError
from workbook.invariants import PersonReplied, PersonSays
from workbook.plain_json import plain, spelled
from workbook.submissions import Noted, NotHandedIn, Trouble, raised

MODE_KEY: Final = "tools.approvalMode"
POLICIES_KEY: Final = "tools.approval"
_SHOWN: Final = 60  # characters of a question in a message


def has_dots(value: object) -> bool:
    """Whether the three dots of a skeleton still stand somewhere in it."""
    if value is ...:
        return True
    if isinstance(value, Mapping):
        return any(has_dots(each) for pair in value.items() for each in pair)
    return isinstance(value, list | tuple) and any(map(has_dots, value))


# -------------------------------------------------------------------------------------------------------- settings


class SettingsRead(Struct, frozen=True, kw_only=True):
    """The two settings as the host reads them. `remarks`: what it passes over in silence."""

    mode: Any
    policies: Any
    remarks: tuple[str, ...]


def read_settings(handed_in: object) -> SettingsRead:
    """A mapping with the two keys, either of which may be left out. Raises: NotHandedIn, with what would do.

    What the host itself tolerates is tolerated here, and remarked on: a mode that is none opens everything (A-18),
    and a policy that is none counts as not written (A-11).
    """
    if not isinstance(handed_in, Mapping):
        example = '{"tools.approvalMode": "write", "tools.approval": {"seed_note": "deny"}}'
        raise NotHandedIn(f"Settings are a dictionary, and this is {spelled(handed_in)}. For instance: {example}")
    for key in handed_in:
        if key not in (MODE_KEY, POLICIES_KEY):
            close = get_close_matches(str(key), (MODE_KEY, POLICIES_KEY), n=1, cutoff=0.4)
            meant = f"Did you mean {close[0]!r}?" if close else f"There are {MODE_KEY!r} and {POLICIES_KEY!r}."
            raise NotHandedIn(f"Approval reads no setting {spelled(key)}. {meant}")
    mode, policies = handed_in.get(MODE_KEY, UNSET), handed_in.get(POLICIES_KEY, UNSET)
    return SettingsRead(
        mode=_plain(mode, MODE_KEY),
        policies=_plain(policies, POLICIES_KEY),
        remarks=tuple(_mode_remarks(mode)) + tuple(_policy_remarks(policies)),
    )


def _plain(value: Any, key: str) -> Any:
    """A copy that nothing the learner does later changes. Raises: NotHandedIn."""
    if value is UNSET:
        return UNSET
    try:
        return plain(value, key)
    except CaseError as error:
        raise NotHandedIn(str(error)) from None


def _mode_remarks(mode: object) -> Generator[str]:
    if mode is UNSET:
        yield f"{MODE_KEY} is not set, and the host's default is yolo."
    elif not (isinstance(mode, str) and mode in tuple(ApprovalMode)):
        yield f"{MODE_KEY}: {spelled(mode)} is no mode. The host says nothing and takes yolo."


def _policy_remarks(policies: object) -> Generator[str]:
    if policies is UNSET:
        return
    if not isinstance(policies, Mapping):
        yield f"{POLICIES_KEY} is no dictionary. The host takes it for an empty one."
        return
    for name, policy in policies.items():
        if not (isinstance(policy, str) and policy.strip().lower() in tuple(Policy)):
            yield f"{POLICIES_KEY}.{name}: {spelled(policy)} is no policy. The host passes it over."


# --------------------------------------------------------------------------------------------------------- handler


class WatchedHandler:
    """A learner's `tool_call` handler, as the host calls it."""

    _ANSWERS: Final = ("input", "block", "reason")

    def __init__(self, handed_in: object) -> None:
        """Raises: NotHandedIn, with what would do."""
        self.noted: list[Noted] = []
        self._function = _function(handed_in, "a function of the event and its context", 2)

    def __call__(self, event: ToolCallInput, context: HandlerContext) -> Any:
        before, kept = event.input, copy_json(event.input)
        try:
            answer = bounded.call(self._function, event, context)
        except (Exception, SystemExit) as error:
            raise self._failed(error, event) from error
        if isawaitable(answer):
            return self._awaited(answer, event, before, kept)
        return self._looked_at(answer, event, before, kept)

    async def _awaited(self, answer: Awaitable[Any], event: ToolCallInput, before: Any, kept: Any) -> Any:
        try:
            come = await bounded.Bounded(answer)
        except (Exception, SystemExit) as error:
            raise self._failed(error, event) from error
        return self._looked_at(come, event, before, kept)

    def _looked_at(self, answer: Any, event: ToolCallInput, before: Any, kept: Any) -> Any:
        about = _about(event)
        if event.input is not before or not same(before, kept):
            self._note(
                Trouble.MUTATED,
                f"it changed event.input itself, asked about {about}: it was {spelled(kept)}, and is "
                f'{spelled(event.input)}. Leave the event alone, and return {{"input": a new object}}.',
            )
        if answer is ...:
            self._note(Trouble.NOTHING_YET, f"its answer to {about} is still the three dots.")
            return None
        if answer is None or isinstance(answer, HandlerReply):
            return answer
        if not isinstance(answer, Mapping):
            self._note(
                Trouble.NO_DECISION,
                f"it returned {spelled(answer)} about {about}, which is no answer of a handler. Return None to let "
                'it pass, {"input": …} to revise it, or {"block": True, "reason": "…"}.',
            )
            return answer
        for key in answer:
            if key not in self._ANSWERS:
                close = get_close_matches(str(key), self._ANSWERS, n=1)
                meant = f"Did you mean {close[0]!r}?" if close else "There are 'input', 'block' and 'reason'."
                self._note(Trouble.NO_DECISION, f"it answered {about} with a key {spelled(key)}. {meant}")
        if "input" not in answer or answer["input"] is before:
            return answer
        try:
            return {**answer, "input": plain(answer["input"], "input")}
        except CaseError as error:
            self._note(
                Trouble.NO_DECISION, f"it returned an input that JSON cannot hold, asked about {about}: {error}"
            )
            raise

    def _failed(self, error: BaseException, event: ToolCallInput) -> Exception:
        """The error for the host, with the trouble noted."""
        about = _about(event)
        if isinstance(error, bounded.OutOfBounds):
            self._note(Trouble.RAN_ON, f"it never came to an answer about {about}: {error}.")
        elif isinstance(error, StageError) or (isinstance(error, RuntimeError) and "event loop" in str(error)):
            self._note(
                Trouble.WAITED_OUTSIDE,
                f"it waited for something outside the simulated host, asked about {about}. Time is simulated here: "
                "to wait, use await context.sleep(ms).",
            )
        else:
            self._note(Trouble.RAISED, f"it raised {raised(error, self._function)}, asked about {about}.")
        return error if isinstance(error, Exception) else WorkbookError("it asked Python to exit")

    def _note(self, trouble: Trouble, says: str) -> None:
        self.noted.append(Noted(trouble=trouble, says=says))


def _about(event: ToolCallInput) -> str:
    return f"{event.tool_name} with {spelled(event.input)}"


# -------------------------------------------------------------------------------------------------------- approver


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
            PersonReplied(at_ms=self._stage.now_ms, says=copy_json(says.says), after_ms=says.after_ms)
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
            handed_in = bounded.call(handed_in)
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
        self._function = _function(handed_in, wanted, 1)

    async def answer(self, question: Asked) -> Any:
        """What comes back for a question: UNSET for none. Raises: whatever went wrong, for the host to refuse."""
        try:
            answer = bounded.call(self._function, question)
            if isawaitable(answer) and not isinstance(answer, _Coming):
                answer = await bounded.Bounded(answer)
        except (Exception, SystemExit) as error:
            raise self._failed(error, question) from error
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
        return answer

    def _failed(self, error: BaseException, question: Asked) -> Exception:
        about = _asked_about(question)
        if isinstance(error, bounded.OutOfBounds):
            self._note(Trouble.RAN_ON, f"it never came to an answer to {about}: {error}.")
        elif isinstance(error, StageError) or (isinstance(error, RuntimeError) and "event loop" in str(error)):
            self._note(
                Trouble.WAITED_OUTSIDE,
                f"it waited for something outside the simulated host, asked {about}. All that an approver can wait "
                "for is await question.person().",
            )
        else:
            self._note(Trouble.RAISED, f"it raised {raised(error, self._function)}, asked {about}.")
        return error if isinstance(error, Exception) else WorkbookError("it asked Python to exit")

    def _note(self, trouble: Trouble, says: str) -> None:
        self.noted.append(Noted(trouble=trouble, says=says))


def _asked_about(question: Asked) -> str:
    return f"“{one_line(question.text)[:_SHOWN]}”"


def _function(handed_in: object, wanted: str, takes: int) -> Callable[..., Any]:
    """A function that takes that many arguments. Raises: NotHandedIn."""
    if not callable(handed_in) or isclass(handed_in):
        raise NotHandedIn(f"Hand in {wanted}; this is {spelled(handed_in)}.")
    try:
        parameters = signature(handed_in).parameters.values()
    except (TypeError, ValueError):  # of a builtin: calling it will tell
        return handed_in
    places = [one for one in parameters if one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    needed = sum(one.default is Parameter.empty for one in places)
    if needed > takes or (
        len(places) < takes and not any(one.kind is Parameter.VAR_POSITIONAL for one in parameters)
    ):
        name = getattr(handed_in, "__name__", "this")
        raise NotHandedIn(
            f"Hand in {wanted}; {name} takes {len(places)} argument{'s' if len(places) != 1 else ''}."
        )
    return handed_in
