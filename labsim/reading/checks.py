"""Values that a case must not get wrong: what the engine cannot play, and what is almost surely a typing mistake.

`check_labels` holds for every case, recorded ones too: without those words there is nothing to play. `check_case`
is for teaching cases, where a value that the host tolerates in silence (a misspelt mode, a policy word that is
none) has to be meant, and said so in `unusual`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from msgspec import UNSET

from labsim.case.fallback import ClassifyGiven, FallbackGiven, check_classify, check_fallback
from labsim.case.gate import GateGiven
from labsim.case.given import (
    CallGiven,
    ContextGiven,
    DispatchGiven,
    FunctionLabel,
    HandlerSpec,
    LoopGiven,
    ResolveGiven,
    ReviewGiven,
    WrapperGiven,
)
from labsim.case.model import Case
from labsim.case.review import check_steps
from labsim.case.rpc import RpcGiven, check_rpc
from labsim.errors import CaseError
from labsim.extras import APPROVAL_RULES, HANDLERS, TOOLS
from labsim.terms import ApprovalMode, Policy, Tier

_MOST_CALLS = 1000
_DECISION_KEYS = ("tier", "override", "policy", "reason", "policyKey")
_DEEDS = ("revise", "mutate", "block", "throws", "throws_value", "returns", "waits", "asks")


def check_case(case: Case, place: str) -> None:
    """A teaching case. Raises: CaseError."""
    if not case.id.strip():
        raise CaseError(f"{place}.id", "the id is blank", "Give the case an id.")
    if not case.id.isprintable() or case.id != case.id.strip():
        raise CaseError(f"{place}.id", f"{case.id!r} is no id", "Use one line of text, without blanks around it.")
    check_labels(case, place)
    given = case.given
    odd = _Odd(case, place)
    if isinstance(given, CallGiven):
        _check_call(given, place, odd)
        for number, handler in enumerate(given.handlers):
            _check_handler(handler, f"{place}.given.handlers[{number}]")
    if isinstance(given, DispatchGiven):
        _check_write(given, place, odd)
    if isinstance(given, LoopGiven):
        _check_batch(given, place)
    if isinstance(given, CallGiven | ResolveGiven | ContextGiven):
        odd.check("given.mode", given.mode, tuple(ApprovalMode))
        odd.policies("given.userPolicies", given.user_policies)
    if isinstance(given, CallGiven | ResolveGiven):
        odd.declaration("given.approval", given.approval)
        if given.legacy_name is not UNSET and not isinstance(given.legacy_name, str):
            odd.refuse("given.legacyName", given.legacy_name, "Use text")
    odd.finish()


def _check_batch(given: LoopGiven, place: str) -> None:
    if not 1 <= len(given.calls) <= _MOST_CALLS:
        raise CaseError(
            f"{place}.given.calls", f"there are {len(given.calls)} calls", f"List 1 to {_MOST_CALLS} of them."
        )
    if given.args is not UNSET or given.repeat != 1:
        name = "args" if given.args is not UNSET else "repeat"
        raise CaseError(
            f"{place}.given.{name}",
            "a batch names its calls one by one",
            f'Remove "{name}", and put it in "calls".',
        )


class _Odd:
    """Collects what a case excuses in `unusual`, and refuses what it does not."""

    def __init__(self, case: Case, place: str) -> None:
        self._place = place
        self._excused = dict.fromkeys(case.unusual, False)

    def check(self, path: str, value: object, words: Iterable[str], *, trimmed: bool = False) -> None:
        allowed = tuple(words)
        plain = value.strip().lower() if trimmed and isinstance(value, str) else value
        if value is UNSET or (isinstance(plain, str) and plain in allowed):
            return
        self.refuse(path, value, f"{meant(value, allowed)}Use one of: {', '.join(allowed)}")

    def refuse(self, path: str, value: object, remedy: str) -> None:
        if path in self._excused:
            self._excused[path] = True
            return
        raise CaseError(
            f"{self._place}.{path}",
            f"{shown(value)} is not allowed here",
            f'{remedy}; or, if it is meant, add "{path}" to "unusual".',
        )

    def policies(self, path: str, value: object) -> None:
        if value is UNSET:
            return
        if not isinstance(value, dict):
            self.refuse(path, value, "Use an object of tool names and policies")
            return
        for key, policy in value.items():
            self.check(f"{path}.{key}", policy, tuple(Policy), trimmed=True)

    def declaration(self, path: str, value: object) -> None:
        if value is UNSET or (isinstance(value, dict) and "fn" in value):
            return
        if not isinstance(value, dict):
            self.check(path, value, tuple(Tier))
            return
        for key in value:
            if key not in _DECISION_KEYS:
                remedy = f"{meant(key, _DECISION_KEYS)}Use tier, override, policy, reason or policyKey"
                self.refuse(f"{path}.{key}", value[key], remedy)
        self.check(f"{path}.tier", value.get("tier", UNSET), tuple(Tier))
        self.check(f"{path}.policy", value.get("policy", UNSET), tuple(Policy), trimmed=True)
        override = value.get("override", False)
        if not isinstance(override, bool):
            self.refuse(f"{path}.override", override, "Use true or false")

    def finish(self) -> None:
        for path, used in self._excused.items():
            if not used:
                raise CaseError(
                    f"{self._place}.unusual", f"{path!r} excuses nothing: its value is usual", "Remove it."
                )


def shown(value: object) -> str:
    """A value as a message quotes it. What explains refusals is loaded with the first one."""
    from labsim.reading import refusals

    return refusals.shown(value)


def meant(word: object, words: Sequence[str]) -> str:
    """As `shown`: the word that was meant, if one looks like it."""
    from labsim.reading import refusals

    return refusals.meant(word, words)


# --------------------------------------------------------------------------------- what the engine cannot play


def check_labels(case: Case, place: str) -> None:
    """Words that the engine itself must understand, in any case. Raises: CaseError."""
    given = case.given
    if isinstance(given, CallGiven | ResolveGiven):
        _check_rule(given.approval, place)
    if isinstance(given, CallGiven):
        _check_tool(case, given, place)
        _check_executor(given.executor, place)
        _check_answers(given, place)
    if isinstance(given, DispatchGiven):
        _check_schema(given, place)
    if isinstance(given, ClassifyGiven):
        check_classify(given, place)
    if isinstance(given, FallbackGiven):
        check_fallback(given, place)
    if isinstance(given, RpcGiven):
        check_rpc(given, place)
    if isinstance(given, ReviewGiven):
        check_steps(given.steps, given.host_mode, place)
    if isinstance(given, GateGiven):
        from labsim.gate.given import check_gate

        check_gate(given, place)


def _check_rule(approval: object, place: str) -> None:
    if not isinstance(approval, dict) or "fn" not in approval:
        return
    label, labels = approval["fn"], (*get_args(FunctionLabel), *APPROVAL_RULES)
    if not isinstance(label, str) or label not in labels:
        raise CaseError(
            f"{place}.given.approval.fn",
            f"{shown(label)} is not an approval rule",
            f"{meant(label, labels)}Use one of: {', '.join(labels)}.",
        )


def _check_tool(case: Case, given: CallGiven, place: str) -> None:
    """A name with a slash is that of a chapter's own tool, which goes through the wrapper alone."""
    if "/" not in given.tool:
        return
    if given.tool not in TOOLS:
        known = f"Use one of: {', '.join(TOOLS)}." if TOOLS else "A chapter's engine.py registers tools."
        raise CaseError(f"{place}.given.tool", f"{shown(given.tool)} is no registered tool", known)
    if not isinstance(given, WrapperGiven):
        remedy = 'Use "wrapper", or a tool by name alone.'
        raise CaseError(f"{place}.given.tool", f"the scenario {case.scenario} knows no registered tools", remedy)


def _check_executor(executor: object, place: str) -> None:
    throws = isinstance(executor, dict) and list(executor) in (["throw"], ["throwValue"])
    if executor is UNSET or throws or executor in ("error-result", "with-metadata"):
        return
    raise CaseError(
        f"{place}.given.executor",
        f"{shown(executor)} is not an executor",
        'Use "error-result", "with-metadata", {"throw": TEXT} or {"throwValue": VALUE}.',
    )


def _check_answers(given: CallGiven, place: str) -> None:
    for number, choice in enumerate(given.choices):
        at = f"{place}.given.choices[{number}]"
        keys = choice.keys() if isinstance(choice, dict) else ()
        if "disconnect" in keys and given.ui != "rpc":
            raise CaseError(at, "only an RPC client can disconnect", 'Set "ui" to "rpc", or use {"throw": TEXT}.')
        if ("throw" in keys or "throwValue" in keys) and given.ui == "rpc":
            remedy = 'Use {"disconnect": TEXT}, or null to cancel.'
            raise CaseError(at, "an RPC client cannot make a dialog throw", remedy)


def _check_schema(given: DispatchGiven, place: str) -> None:
    """A device whose schema is itself wrong cannot be built."""
    if not isinstance(given.schema, dict):
        return
    from labsim.dispatch.schema import SchemaError, check_schema

    try:
        check_schema(given.schema)
    except SchemaError as error:
        where = f".{error.path}" if error.path else ""
        raise CaseError(f"{place}.given.schema{where}", error.found, error.remedy) from None


# -------------------------------------------------------------------------------------- what is hardly meant


def _check_call(given: CallGiven, place: str, odd: _Odd) -> None:
    if not 1 <= given.repeat <= _MOST_CALLS:
        raise CaseError(f"{place}.given.repeat", f"{given.repeat} is out of range", f"Use 1 to {_MOST_CALLS}.")
    for path, value in (("given.autoApprove", given.auto_approve), ("given.xdevApproved", given.xdev_approved)):
        if value is not UNSET and not isinstance(value, bool):
            odd.refuse(path, value, "Use true or false")
    for number, choice in enumerate(given.choices):
        if not (choice is None or isinstance(choice, str | bool) or _is_failure(choice)):
            odd.refuse(f"given.choices[{number}]", choice, 'Use a label, null, {"throw": TEXT} or the like')
    if given.ui is False and given.choices:
        raise CaseError(
            f"{place}.given.choices",
            "there is no UI, so nobody can choose",
            'Remove "choices", or remove "ui": false.',
        )
    if given.session_settings is not UNSET:
        odd.check("given.sessionSettings.mode", given.session_settings.mode, tuple(ApprovalMode))
        odd.policies("given.sessionSettings.userPolicies", given.session_settings.user_policies)
    budget = given.tool_call_timeout_ms
    if budget is not UNSET and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
        odd.refuse("given.toolCallTimeoutMs", budget, "Use whole milliseconds, 1 or more")
    if given.abort_at_ms is not UNSET:
        _check_ms(given.abort_at_ms, f"{place}.given.abortAtMs")


def _check_handler(handler: HandlerSpec, place: str) -> None:
    if handler.fn is not UNSET:
        _check_named(handler, place)
        return
    if not handler.same and all(getattr(handler, deed) is UNSET for deed in _DEEDS):
        raise CaseError(
            place,
            "this handler does nothing",
            "Use revise, same, mutate, block, throws, throwsValue, returns, waits or asks.",
        )
    if handler.waits is not UNSET:
        _check_ms(handler.waits, f"{place}.waits")


def _check_named(handler: HandlerSpec, place: str) -> None:
    """A registered handler does all that it does by itself."""
    if handler.fn not in HANDLERS:
        known = f"Use one of: {', '.join(HANDLERS)}." if HANDLERS else "A chapter's engine.py registers handlers."
        raise CaseError(f"{place}.fn", f"{shown(handler.fn)} is no registered handler", known)
    for deed in ("same", *_DEEDS):
        if getattr(handler, deed) not in (UNSET, False):
            raise CaseError(
                f"{place}.fn", f"a registered handler has no {deed!r} beside it", "Remove one of the two."
            )


def _check_ms(ms: int, place: str) -> None:
    if ms < 0:
        raise CaseError(place, f"{ms} is in the past", "Use simulated milliseconds, 0 or more.")


def _check_write(given: DispatchGiven, place: str, odd: _Odd) -> None:
    if (given.args is UNSET) == (given.content is UNSET):
        found = "nothing is written" if given.args is UNSET else "both args and content are given"
        raise CaseError(
            f"{place}.given", found, 'Use "args" for what is written as JSON, or "content" for text as it is.'
        )
    if any(ord(character) < 32 or ord(character) == 127 for character in given.path):
        odd.refuse("given.path", given.path, "Write a path without control characters")


def _is_failure(choice: object) -> bool:
    return isinstance(choice, dict) and list(choice) in (["throw"], ["throwValue"], ["disconnect"])
