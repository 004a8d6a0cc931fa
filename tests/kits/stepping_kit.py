"""An oracle for the stepper's tests: why a call was stopped, read from what the case was given and what it said.

The stepper reads the ledger's events as they come. This reads the other side: the settings and scripts of the case,
the error that left, the counters of the report. The two share no code, and have to agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET
from played_kit import RECORDED

from labsim.case.model import Case, CaseFile, RecordedCase
from labsim.library import case_files, fixtures_dir
from labsim.play.report import CallReport, Report
from labsim.proof.recordings import read_lines
from labsim.reading.reading import parse_file, recorded_case
from labsim.review.base.words import COPY
from workbook.steppers.stops import Stop

FILES = [*case_files(), fixtures_dir() / "start-here.json"]


def built_in() -> list[Case]:
    """Every case that the workbook ships."""
    files: list[CaseFile] = [parse_file(path.read_bytes(), path.name) for path in FILES]
    return [case for file in files for case in file.cases]


def recorded(*names: str, every: int = 1) -> Iterator[Case]:
    """Every so-manieth question that was put to the real program."""
    for name in names:
        for number, line in enumerate(filter(None, read_lines(RECORDED / f"{name}.jsonl.gz"))):
            if number % every == 0:
                row = msgspec.json.decode(line, type=RecordedCase)
                yield recorded_case(row, row.id)


#: Texts of the first host, as the specifications have them, and what they mean. The first that is found counts.
SAID: tuple[tuple[str, Stop], ...] = (
    (r"Tool call denied by user", Stop.NOT_APPROVED),
    (r"requires approval but no interactive UI|safety checks but no interactive UI", Stop.NO_UI),
    (r"was cancelled while an extension handler was pending", Stop.ABORT_IN_HANDLERS),
    (r"^Extension .* (failed: |timed out after )", Stop.HANDLER_FAILS),
    (r"^approval rule failed", Stop.RULE_FAILS),
    (r"^No such tool: xd://", Stop.NO_DEVICE),
    (r"^xd://\S+ (expects a JSON args object|content must be a JSON object)|^Invalid args for", Stop.BAD_CONTENT),
    (r"^Invalid xd:// URL|^Unknown URI-like write|not mounted in this session", Stop.NO_ADDRESS),
    (r"^Cannot write to xd://|names something of the host's own", Stop.NO_ADDRESS),
    (r"limited to the xd:// device transport|^`write` needs a text", Stop.WRITE_REFUSES),
    (r"^No pending action to apply|^No plan is awaiting|^Apply failed", Stop.NOTHING_STAGED),
    (r"^Empty report|^Invalid report format", Stop.BAD_REPORT),
    (r"^Tool \S+ not found", Stop.UNKNOWN_TOOL),
    (r"^Nothing recorded: the session could not be saved", Stop.NOT_SAVED),
    (r"^Fixture unavailable", Stop.NO_NOTE),
)
_REFUSALS = [re.sub(r"\\\{\w+\\\}", ".*", re.escape(text)) for text in msgspec.to_builtins(COPY.errors).values()]


def stopped(report: Report, made: CallReport) -> set[Stop | None]:
    """Why a call of the first host got no further, as far as its case and its error tell; empty if they do not."""
    given: Any = report.case.given
    said = made.error
    if said is None:
        return set()
    if "is blocked by" in said and " policy." in said:
        return _denied(report)
    for pattern, stop in SAID:
        if re.search(pattern, said):
            in_the_hook = stop is Stop.RULE_FAILS and report.case.scenario == "loop" and given.observe
            # where a handler listens, the hook asks first (wrapper/W-67)
            return {Stop.HOOK_FAILS if in_the_hook else stop}
    if report.case.scenario == "review":
        return {Stop.ACT_CHECK} if any(re.fullmatch(text, said) for text in _REFUSALS) else set()
    if said in [spec.reason for spec in given.handlers] or "blocked by an extension" in said:
        return {Stop.HANDLER_BLOCKS}
    if said in [text for choice in given.choices for text in _broken(choice)]:
        return {Stop.DIALOG_BREAKS}
    if isinstance(given.executor, dict) or given.executor == "error-result":
        # Without anybody to hear the result, an error result may as well be a handler's.
        return {Stop.TOOL_FAILS} if given.observe_result else {Stop.TOOL_FAILS, None}
    return set()


def _denied(report: Report) -> set[Stop | None]:
    """Which of the two judgements it was. Only the second comes after the handlers heard of the call
    (wrapper/W-5).
    """
    given: Any = report.case.given
    if report.case.scenario == "wrapper" and given.repeat == 1 and given.observe and given.loop_emitted is UNSET:
        return {Stop.DENY_EFFECTIVE if report.observed["toolCalls"] else Stop.DENY_ORIGINAL}
    return {Stop.DENY_EFFECTIVE, Stop.DENY_ORIGINAL}


def _broken(choice: Any) -> Iterator[str]:
    if isinstance(choice, dict):
        yield from (str(choice[key]) for key in ("throw", "throwValue", "disconnect") if key in choice)


#: Who settled a call at the second host, in the words of a case's own claim, and what that is to the stepper.
SETTLED: dict[str, set[Stop]] = {
    "gate": {Stop.GATE_DENIES},
    "rule": {Stop.RULE_DENIES},
    "timeout": {Stop.TIMED_OUT},
    "nobody": {Stop.NOBODY_ASKS},
    "cancelled": {Stop.GIVEN_UP},
    "error": {Stop.GATE_FAILS, Stop.RULES_UNREADABLE},
    "before-gate": {Stop.UNKNOWN_NAME, Stop.HOOK_REFUSES, Stop.MISFIT, Stop.PREVIEW_FAILS},
    "approver": {Stop.APPROVER_DENIES, Stop.APPROVER_FAILS, Stop.NOT_RECORDED},
}
