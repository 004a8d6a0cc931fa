"""Plays one `classify-error` or `fallback` case and says what was observed, in the recorded vocabulary.

The primitive and the handlers are scripts from
the case, the files are a fresh tree in memory, the registries are fresh too: playing a case reads nothing, changes
nothing and always gives the same record. Observations are counted or compared from what happened; none is
copied from the case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from labsim.case.fallback import ClassifyGiven, FallbackGiven
from labsim.errors import ThrownValue
from labsim.fallback.classify import SimulatedError, error_text, is_permission_denied
from labsim.fallback.events import Emit, unheard
from labsim.fallback.given import Answers, Raises, classified, raised, registered
from labsim.fallback.layouts import BASE, TARGET_PATHS, desk_files
from labsim.fallback.mutations import delete_file, write_file
from labsim.fallback.registry import DeleteRequest, FallbackRegistries, WriteRequest, mutation_session
from labsim.terms import Outcome, Seam


def play_classify(given: ClassifyGiven) -> dict[str, Any]:
    """`{permissionDenied, effects}` for the error that `given` describes."""
    # Nothing but the classifier runs, and it has no files and no handlers at hand (fallback/F-6).
    return {"permissionDenied": is_permission_denied(classified(given)), "effects": 0}


def play_fallback(given: FallbackGiven, emit: Emit | None = None) -> dict[str, Any]:
    """What one write or delete did, key for key as recorded.

    `outcome` is `return` or `throw-same-error`: one of the case's own error objects left, by identity.
    `sameAsError` is the 1-based place of that object, given if it is not the first. `error`, `code` and
    `attachedCause` describe it; the last is the code of its cause and is given only if it has one. `effects`
    counts the handlers that answered exactly true, the only ones that stand for finished work: an answer
    that merely counts as success has no effect (fallback-0099). `handlerCalls` is given if the case mentions
    handlers.
    emit: receives each event as it happens.
    Raises: whatever `emit` raises.
    """
    errors, handlers = raised(given), registered(given)
    script = _PrimitiveScript(errors)
    broker = _Broker(errors)
    registries = FallbackRegistries()
    for handler in handlers or ():
        if given.op is Seam.WRITE:
            registries.writes.add(broker.write_handler(handler))
        else:
            registries.deletes.add(broker.delete_handler(handler))
    observed: dict[str, Any] = {"outcome": Outcome.RETURN.value}
    try:
        with mutation_session(None if given.session_id is UNSET else given.session_id, registries):
            _run(given, script, registries, unheard if emit is None else emit)
    except Exception as error:
        place = next((i for i, each in enumerate(errors, start=1) if each is error), None)
        if place is None:
            raise  # none of the case's errors, so not an observation
        observed = _departure(error, place)
    observed["effects"] = broker.effects
    observed["primitiveAttempts"] = script.attempts
    if handlers is not None:
        observed["handlerCalls"] = broker.calls
    return observed


def _run(given: FallbackGiven, primitive: Callable[[], None], registries: FallbackRegistries, emit: Emit) -> None:
    path, files = TARGET_PATHS[given.target], desk_files()
    if given.op is Seam.WRITE:
        write_file(path, given.content, files=files, registries=registries, primitive=primitive, emit=emit)
    else:
        delete_file(path, files=files, registries=registries, primitive=primitive, emit=emit)


class _PrimitiveScript:
    """A primitive that raises the case's errors in turn and repeats the last; None lets it succeed."""

    def __init__(self, errors: Sequence[Exception | None]) -> None:
        self.attempts = 0
        self._errors = errors

    def __call__(self) -> None:
        error = self._errors[min(self.attempts, len(self._errors) - 1)]
        self.attempts += 1
        if error is not None:
            raise error


class _Broker:
    """Makes the scripted handlers of a case and notes what each was asked."""

    def __init__(self, errors: Sequence[Exception | None]) -> None:
        self.calls: list[dict[str, Any]] = []
        self.effects = 0
        self._errors = errors

    def write_handler(self, script: Answers | Raises) -> Callable[[WriteRequest], object]:
        def handler(request: WriteRequest) -> object:
            return self._answer(script, request, {"content": request.content})

        return handler

    def delete_handler(self, script: Answers | Raises) -> Callable[[DeleteRequest], object]:
        def handler(request: DeleteRequest) -> object:
            return self._answer(script, request, {"confirmedFile": request.confirmed_file})

        return handler

    def _answer(
        self, script: Answers | Raises, request: WriteRequest | DeleteRequest, own: dict[str, Any]
    ) -> object:
        self.calls.append(
            {
                "dst": f"<tmp>{request.dst.removeprefix(BASE)}",
                **own,
                "causeCode": _raw_code(request.cause),
                "causeIsPrimitiveError": any(request.cause is each for each in self._errors),
                "sessionId": request.session_id,
            }
        )
        if isinstance(script, Raises):
            raise SimulatedError(script.message)
        if script.value is True:
            self.effects += 1
        return script.value


def _departure(left: Exception, place: int) -> dict[str, Any]:
    """How the error that left looks from outside; it is the case's error number `place`."""
    seen: dict[str, Any] = {"outcome": Outcome.THROW_SAME_ERROR.value}
    if place > 1:
        seen["sameAsError"] = place
    seen["error"] = error_text(left)
    seen["code"] = _raw_code(left)
    if left.__cause__ is not None:
        seen["attachedCause"] = _raw_code(left.__cause__)
    return seen


def _raw_code(error: BaseException) -> object:
    """The `code` as it stands on whatever was thrown, string or not; None if there is none."""
    if isinstance(error, ThrownValue):
        return error.value.get("code") if isinstance(error.value, Mapping) else None
    code = getattr(error, "code", None)
    return None if code is UNSET else code
