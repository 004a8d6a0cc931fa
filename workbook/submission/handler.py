"""A learner's `tool_call` handler, as the host calls it: watched and bounded.

What goes wrong is noted in the terms of whoever wrote it, and passed on to the host, for which a handler that
fails has blocked (wrapper/W-12).
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from inspect import isawaitable
from typing import Any, Final

from msgspec import UNSET

from labsim.call.handlers import HandlerContext, HandlerReply, ToolCallInput
from labsim.errors import CaseError, did_you_mean
from labsim.js_values import copy_json, same
from workbook.submission import sandbox
from workbook.submission.callables import failure, function_of
from workbook.submission.json_values import items_of, plain, spelled
from workbook.submission.submission import Noted, Trouble, passed_on

_ANSWERS: Final = ("input", "block", "reason")
_TO_WAIT: Final = "Time is simulated here: to wait, use await context.sleep(ms)."


class WatchedHandler:
    """A learner's `tool_call` handler, as the host calls it."""

    def __init__(self, handed_in: object) -> None:
        """Raises: NotHandedIn, with what would do."""
        self.noted: list[Noted] = []
        self._function = function_of(handed_in, "a function of the event and its context", 2)

    def __call__(self, event: ToolCallInput, context: HandlerContext) -> Any:
        before, kept = event.input, copy_json(event.input)
        try:
            answer = sandbox.call(self._function, event, context)
        except (Exception, SystemExit) as error:
            told = self._failed(error, event)
            if told is error:
                raise
            raise told from error
        if isawaitable(answer):
            return self._awaited(answer, event, before, kept)
        return self._looked_at(answer, event, before, kept)

    async def _awaited(self, answer: Awaitable[Any], event: ToolCallInput, before: Any, kept: Any) -> Any:
        try:
            come = await sandbox.Bounded(answer)
        except (Exception, SystemExit) as error:
            told = self._failed(error, event)
            if told is error:
                raise
            raise told from error
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
        if isinstance(answer, HandlerReply):
            answer = {key: value for key in _ANSWERS if (value := getattr(answer, key)) is not UNSET}
        if answer is None:
            return None
        if isinstance(answer, Mapping):
            return self._read(answer, about, before)
        self._note(
            Trouble.NO_DECISION,
            f"it returned {spelled(answer)} about {about}, which is no answer of a handler. Return None to let "
            'it pass, {"input": …} to revise it, or {"block": True, "reason": "…"}.',
        )
        return None

    def _read(self, answer: Mapping[Any, Any], about: str, before: Any) -> dict[str, Any]:
        """The answer, as data that nothing changes later; the very input it was given stays the same object."""
        try:
            items = dict(items_of(answer, "answer"))
            for key in items:
                if key not in _ANSWERS:
                    meant = did_you_mean(key, _ANSWERS, "There are 'input', 'block' and 'reason'.")
                    says = f"it answered {about} with a key {spelled(key)}. {meant}"
                    self._note(Trouble.NO_DECISION, says)
            at = {key: key if isinstance(key, str) else spelled(key) for key in items}
            return {key: value if value is before else plain(value, at[key]) for key, value in items.items()}
        except CaseError as error:
            self._note(Trouble.NO_DECISION, f"it returned what JSON cannot hold, asked about {about}: {error}")
            raise

    def _failed(self, error: BaseException, event: ToolCallInput) -> Exception:
        """The error for the host, with the trouble noted."""
        noted = failure(error, f"asked about {_about(event)}", self._function, _TO_WAIT)
        self.noted.append(noted)
        return passed_on(error)

    def _note(self, trouble: Trouble, says: str) -> None:
        self.noted.append(Noted(trouble=trouble, says=says))


def _about(event: ToolCallInput) -> str:
    return f"{event.tool_name} with {spelled(event.input)}"
