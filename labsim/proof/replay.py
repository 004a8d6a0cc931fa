"""Recorded answers of the real program against the engine: the proof that the simulator tells the truth.

A recorded line is played like any case, what it showed is put into the recording's own shape, and the two are
compared whole: outcome, error text, every counter, prompt texts, input, tier and the full list of events of each
call.

A difference is legal only if `declared-differences.json` names it with a reason and a date; a declaration that no
longer differs is stale, and fails as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from labsim.case.model import DispatchCase, RecordedCase, WrapperCase
from labsim.describe.kinds import event_classes
from labsim.errors import ReplayError
from labsim.events.event import Event, as_mapping, is_heard
from labsim.js_values import same
from labsim.play.performance import run
from labsim.play.report import CallReport, Report
from labsim.reading.reading import recorded_case
from labsim.terms import Outcome
from labsim.tool import ToolResult, visible_text


class Difference(Struct, frozen=True, kw_only=True):
    """The first field in which a recorded answer and the engine differ. UNSET: that side has no such field."""

    path: str
    recorded: Any
    engine: Any
    rules: tuple[str, ...]


class Declared(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A difference that we know of and keep, with the reason and the date (YYYY-MM-DD) it was declared."""

    id: str
    path: str
    reason: str
    date: str


class Answered(Struct, frozen=True, kw_only=True):
    """One recorded case, replayed. `difference` is None where the engine agrees in every field."""

    id: str
    scenario: str
    difference: Difference | None = None
    declared: Declared | None = None

    @property
    def stale(self) -> bool:
        """Declared as different, and not different (any more, or there)."""
        if self.declared is None:
            return False
        return self.difference is None or self.difference.path != self.declared.path

    @property
    def ok(self) -> bool:
        return (self.difference is None) == (self.declared is None) and not self.stale


class Tally(Struct, kw_only=True):
    """How one file of recorded answers came out. `met` are the ids in it that were declared as different."""

    name: str
    cases: int = 0
    match: int = 0
    declared: int = 0
    problems: list[Answered] = []
    met: list[str] = []

    @property
    def ok(self) -> bool:
        return not self.problems and self.cases > 0

    def count(self, answered: Answered) -> None:
        self.cases += 1
        if answered.declared is not None:
            self.met.append(answered.id)
        if not answered.ok:
            self.problems.append(answered)
        elif answered.declared is not None:
            self.declared += 1
        else:
            self.match += 1


def replay(lines: Iterator[bytes] | list[bytes], name: str, declared: Mapping[str, Declared] = {}) -> Tally:
    """Play every line of a file of recorded answers.

    `lines` are JSON texts, blank ones skipped; `declared` maps case ids to declared differences.
    Raises: ReplayError for a line that is no recorded answer, CaseError for one the engine cannot play; both
    with file and line.
    """
    tally = Tally(name=name)
    for answered in answers(lines, name, declared):
        tally.count(answered)
    return tally


def answers(
    lines: Iterator[bytes] | list[bytes], name: str, declared: Mapping[str, Declared] = {}
) -> Iterator[Answered]:
    """Each recorded answer, replayed, in file order. Raises: as `replay`."""
    decoder = msgspec.json.Decoder(RecordedCase)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{name}: line {number}"
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ReplayError(f"{place}: not a recorded answer ({error}). Each line is one JSON object.") from None
        yield replay_one(row, f"{place} ({row.id})", declared.get(row.id))


def replay_one(row: RecordedCase, place: str, declared: Declared | None = None) -> Answered:
    """One recorded answer against the engine. Raises: CaseError, if the engine cannot play it."""
    report = run(recorded_case(row, place))
    difference = first_difference(row.observed, as_recorded(report))
    return Answered(id=row.id, scenario=row.scenario, difference=difference, declared=declared)


def parse_declared(data: bytes, name: str) -> dict[str, Declared]:
    """The declared differences, by case id. Raises: ReplayError."""
    try:
        rows = msgspec.json.decode(data, type=list[Declared])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReplayError(f"{name}: not a list of declared differences ({error}).") from None
    for row in rows:
        if not row.reason.strip() or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", row.date):
            raise ReplayError(f"{name}: {row.id}: a declared difference needs a reason and a date (YYYY-MM-DD).")
    found = {row.id: row for row in rows}
    if len(found) != len(rows):
        raise ReplayError(f"{name}: a case is declared twice. Keep one entry for each case.")
    return found


# ------------------------------------------------------------------------------------- the recording's shape


def as_recorded(report: Report) -> dict[str, Any]:
    """A report in the shape of the recorded answers (section "Observed" of their README)."""
    observed = dict(report.observed)
    if not isinstance(report.case, WrapperCase | DispatchCase):
        for field in ("policy", "source", "rule"):  # ours: teaching cases may claim them
            observed.pop(field, None)
        return observed
    observed["calls"] = [_call(report, call) for call in report.calls]
    if isinstance(report.case, DispatchCase):
        for call in observed["calls"]:
            _apart(call)
    return observed


def _apart(call: dict[str, Any]) -> None:
    """The dispatch record beside the result, where the recordings have it, instead of in its details."""
    details = call.get("result", {}).get("details")
    if isinstance(details, dict) and "xdev" in details:
        call["xdev"] = details["xdev"]
        rest = {key: value for key, value in details.items() if key != "xdev"}
        if rest:
            call["result"]["details"] = rest
        else:
            del call["result"]["details"]


def _call(report: Report, call: CallReport) -> dict[str, Any]:
    shown: dict[str, Any] = {"outcome": call.outcome.value if call.outcome is not None else None}
    if call.result is not None:
        shown["result"] = _result(call.result)
    if call.error is not None:
        shown["error"] = call.error
    if call.error_name is not None and call.outcome is Outcome.THROW:
        shown["errorName"] = call.error_name
    shown["events"] = [_event(event) for event in report.ledger.events[call.start : call.end] if is_heard(event)]
    return shown


def _event(event: Event) -> dict[str, Any]:
    mapping = as_mapping(event)
    del mapping["atMs"]
    return mapping


def _result(result: ToolResult) -> dict[str, Any]:
    shown: dict[str, Any] = {"content": visible_text(result.content)}
    if result.details is not UNSET:
        shown["details"] = result.details
    if result.is_error is not UNSET:
        shown["isError"] = result.is_error
    if result.provider_metadata is not UNSET:
        shown["providerMetadata"] = result.provider_metadata
    return shown


# ---------------------------------------------------------------------------------------------- comparing


def first_difference(recorded: Any, engine: Any, path: str = "", kind: str = "") -> Difference | None:
    """The first place in which two answers differ, in the recording's order, or None."""
    if isinstance(recorded, dict) and isinstance(engine, dict):
        if isinstance(recorded.get("event"), str):
            kind = recorded["event"]
        for key in [*recorded, *(key for key in engine if key not in recorded)]:
            found = first_difference(
                recorded.get(key, UNSET), engine.get(key, UNSET), f"{path}.{key}" if path else key, kind
            )
            if found is not None:
                return found
        return None
    if isinstance(recorded, list) and isinstance(engine, list):
        for index in range(max(len(recorded), len(engine))):
            found = first_difference(
                recorded[index] if index < len(recorded) else UNSET,
                engine[index] if index < len(engine) else UNSET,
                f"{path}[{index}]",
                kind,
            )
            if found is not None:
                return found
        return None
    if same(recorded, engine):
        return None
    shown = recorded if isinstance(recorded, dict) else engine
    if isinstance(shown, dict) and isinstance(shown.get("event"), str):
        kind = shown["event"]
    return Difference(path=path, recorded=recorded, engine=engine, rules=rules_for(path, kind))


#: Which rules to look at when a field differs that no event is about.
_RULES_OF_FIELD: Final[dict[str, tuple[str, ...]]] = {
    "outcome": (
        "wrapper/W-5",
        "wrapper/W-38",
        "wrapper/W-40",
        "wrapper/W-53",
        "dispatch/D-23 to dispatch/D-29",
        "fallback/F-16",
    ),
    "successfulCalls": ("wrapper/W-42", "wrapper/W-53", "wrapper/W-78"),
    "rpcRequests": ("rpc/R-16", "rpc/R-41"),
    "error": ("approval/A-30", "approval/A-32", "wrapper/W-11", "wrapper/W-38", "wrapper/W-41"),
    "errorName": ("wrapper/W-29", "wrapper/W-33", "wrapper/W-48"),
    "promptTexts": ("approval/A-35", "approval/A-36", "approval/A-37", "approval/A-38", "wrapper/W-43"),
    "prompts": ("wrapper/W-20", "wrapper/W-21", "wrapper/W-22", "wrapper/W-23"),
    "effects": ("wrapper/W-5", "wrapper/W-10", "wrapper/W-57"),
    "toolCalls": ("wrapper/W-1", "wrapper/W-2", "wrapper/W-5"),
    "input": ("wrapper/W-9", "wrapper/W-17", "wrapper/W-18"),
    "providerSafetyApproved": ("wrapper/W-45",),
    "result": ("wrapper/W-52", "wrapper/W-53", "wrapper/W-54", "wrapper/W-55"),
    "resolved": ("approval/R1 to approval/R9", "approval/A-23", "approval/A-26", "approval/A-29"),
    "tier": ("approval/A-1", "approval/A-2", "approval/A-4", "dispatch/D-20"),
    "xdev": ("dispatch/D-19", "dispatch/D-20", "dispatch/D-21", "dispatch/D-50"),
    "filesWritten": ("dispatch/D-5", "dispatch/G9"),
    "denyError": ("approval/A-30", "approval/A-31", "approval/A-32", "approval/A-33"),
    "required": ("approval/A-34",),
    "prompt": ("approval/A-35", "approval/A-36", "approval/A-37", "approval/A-38"),
    "approvalMode": ("approval/A-15", "approval/A-16", "approval/A-17", "approval/A-18"),
    "userPolicies": ("approval/A-10", "approval/A-15"),
    "permissionDenied": ("fallback/F-1", "fallback/F-2", "fallback/F-3", "fallback/F-4", "fallback/F-5"),
    "primitiveAttempts": ("fallback/F-12", "fallback/F-21"),
    "handlerCalls": ("fallback/F-9", "fallback/F-14", "fallback/F-23"),
    "frames": ("rpc/R-4", "rpc/R-17", "rpc/R-20", "rpc/R-33"),
    "settled": ("rpc/R-37", "rpc/R-38", "rpc/R-40"),
    "onTimeoutCalls": ("rpc/R-29", "rpc/R-35"),
    "consumed": ("rpc/R-10", "rpc/R-11"),
    "pendingAfter": ("rpc/R-37", "rpc/R-38"),
}


def rules_for(path: str, kind: str = "") -> tuple[str, ...]:
    """The rule ids to look at when `path` differs; `kind` is the event that it is in, if any, and comes first."""
    [*rules] = (rule for one in event_classes() if one.kind_name() == kind for rule in one.rules)
    if rules:
        return tuple(rules)
    for part in reversed(re.findall(r"[A-Za-z]+", path)):
        if part in _RULES_OF_FIELD:
            return _RULES_OF_FIELD[part]
    return ()
