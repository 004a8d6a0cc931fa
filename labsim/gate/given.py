"""Whether the parts of a `gate` case fit together, and the host's own records made of them.

A case that the engine could play only by guessing is refused here, with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET

from labsim.case.gate import GateAddressSpec, GateCallSpec, GateGiven, GateRuleSpec, GateStep
from labsim.errors import CaseError
from labsim.gate.rules.rules import RememberedRule, RuleAddress, RuleKey, RuleScope

_MOST_STEPS: Final = 1000
KINDS: Final = ("call", "together", "remember", "revoke", "clear", "switch", "install", "spawn", "resume")
_ASKS: Final = ("dialog", "terminal")


def kind_of(step: GateStep) -> str:
    """Which of `KINDS` a checked step is."""
    return next(kind for kind in KINDS if getattr(step, kind) is not UNSET)


def calls_of(step: GateStep) -> Sequence[GateCallSpec]:
    """The calls that a checked step makes at once; none for a step of another kind."""
    if step.together is not UNSET:
        return step.together
    if step.call is UNSET:
        return ()
    return (GateCallSpec(call=step.call, input=step.input, agent=step.agent, id=step.id),)


def rule_of(spec: GateRuleSpec) -> RememberedRule:
    return RememberedRule(
        key=RuleKey(spec.tool, spec.pattern), allow=spec.allow, scope=RuleScope(spec.scope), reason=spec.reason
    )


def address_of(spec: GateAddressSpec) -> RuleAddress:
    return RuleAddress(RuleScope(spec.scope), RuleKey(spec.tool, spec.pattern))


def check_gate(given: GateGiven, place: str) -> None:
    """What the engine cannot play. Raises: CaseError."""
    names = [tool.name for tool in given.tools]
    for number, name in enumerate(names):
        if name in names[:number]:
            found = f"{name!r} is already the name of tools[{names.index(name)}]"
            raise CaseError(f"{place}.given.tools[{number}].name", found, "Give each tool a name of its own.")
    if not 1 <= len(given.steps) <= _MOST_STEPS:
        raise CaseError(
            f"{place}.given.steps", f"there are {len(given.steps)} steps", f"List 1 to {_MOST_STEPS} of them."
        )
    _check_answers(given, place)
    _check_gates(given, place)
    for number, hook in enumerate(given.hooks):
        if (hook.rewrite is UNSET) == (hook.refuse is UNSET):
            raise CaseError(
                f"{place}.given.hooks[{number}]", "a hook does one of two things", "Use rewrite or refuse."
            )
    for path, ms, least in _times(given):
        if ms < least:
            raise CaseError(f"{place}.given.{path}", f"{ms} is too little", f"Use {least} or more.")
    _check_steps(given, place)


def _check_answers(given: GateGiven, place: str) -> None:
    asks = given.approver in _ASKS
    if given.answers and given.approver != "scripted":
        raise CaseError(
            f"{place}.given.answers", "nobody gives these answers", 'Set "approver" to "scripted", or remove them.'
        )
    if given.choices and not (asks and given.ui):
        raise CaseError(
            f"{place}.given.choices",
            "no dialog is opened",
            'Set "approver" to "dialog" or "terminal" and "ui" to true, or remove "choices".',
        )
    for number, answer in enumerate(given.answers):
        if not isinstance(answer, str) and answer.switch is not UNSET and given.policy is UNSET:
            raise CaseError(
                f"{place}.given.answers[{number}].switch", "this host has no policy to switch", 'Add "policy".'
            )


def _check_gates(given: GateGiven, place: str) -> None:
    gates = [("gate", given.gate), ("sessionGate", given.session_gate)]
    gates += [(f"answers[{n}].install", a.install) for n, a in enumerate(given.answers) if not isinstance(a, str)]
    gates += [(f"steps[{n}].install", step.install) for n, step in enumerate(given.steps)]
    for path, word in gates:
        if word == "policy" and given.policy is UNSET:
            raise CaseError(f"{place}.given.{path}", "this host has no policy to read", 'Add "policy".')
        if word == "none" and path != "gate":
            raise CaseError(
                f"{place}.given.{path}", "a session's gate can be replaced, and not taken away", "Name a gate."
            )


def _times(given: GateGiven) -> Iterator[tuple[str, int, int]]:
    """Each time or count of a case: its path, its value, the least it may be."""
    for path, value in (("timeoutMs", given.timeout_ms), ("watchMs", given.watch_ms)):
        if value is not UNSET:
            yield path, value, 1
    if given.sink_breaks_at is not UNSET:
        yield "sinkBreaksAt", given.sink_breaks_at, 1
    for number, answer in enumerate(given.answers):
        if not isinstance(answer, str):
            yield f"answers[{number}].afterMs", answer.after_ms, 0


def _check_steps(given: GateGiven, place: str) -> None:
    agents = {""}
    for number, step in enumerate(given.steps):
        at = f"{place}.given.steps[{number}]"
        kinds = [kind for kind in KINDS if getattr(step, kind) is not UNSET]
        if len(kinds) != 1:
            raise CaseError(
                at, f"a step is of one kind, and this has {len(kinds)}", f"Use one of: {', '.join(KINDS)}."
            )
        if kinds != ["call"] and (step.input is not UNSET or step.agent or step.id is not UNSET):
            raise CaseError(at, "only a call has an input, an agent or an id", "Remove them.")
        if step.resume is False or step.together == []:
            raise CaseError(f"{at}.{kinds[0]}", "this step does nothing", "Remove it.")
        if step.switch is not UNSET and given.policy is UNSET:
            raise CaseError(f"{at}.switch", "this host has no policy to switch", 'Add "policy" to "given".')
        if step.spawn is not UNSET:
            agents.add(step.spawn)
        for call in calls_of(step):
            if call.agent not in agents:
                raise CaseError(at, f"no subagent {call.agent!r} was spawned before", 'Add {"spawn": NAME} above.')
        if step.resume is not UNSET:
            agents = {""}
    if not any(calls_of(step) for step in given.steps):
        raise CaseError(f"{place}.given.steps", "nothing is called", 'Add {"call": TOOL}.')
