"""Checkpoints judged: which option is right is found by playing the case.

Above `checkpoint_file`, `judging` and `labsim.play`; below `reveal`, which shows it, and `prediction`, which asks.
Nothing here is stored: a verdict is worked out from the ledger each time it is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from labsim.case import Case, find
from labsim.errors import CaseError, UnknownCase
from labsim.play import run
from labsim.report import FieldCheck, Report
from labsim.show import kind_of
from workbook.checkpoint_file import (
    Belief,
    Checkpoint,
    CheckpointFile,
    ChoiceCheckpoint,
    Option,
    PaperCheckpoint,
    Predicts,
    claimed,
)
from workbook.judging import compare_prediction, holds


class Verdict(StrEnum):
    """How a learner stands with one checkpoint; only a reveal tells the last two apart."""

    NOT_ATTEMPTED = "not attempted"
    COMMITTED = "committed"
    NOT_YET = "not yet"
    RIGHT = "right"


class Judged(Struct, frozen=True, kw_only=True):
    """One option beside what the case showed, claim by claim."""

    option: Option
    checks: tuple[FieldCheck, ...]

    @property
    def matches(self) -> bool:
        """Whether the played case shows every predicted field."""
        return holds(self.checks)


def judge(predicts: Predicts, report: Report) -> tuple[FieldCheck, ...]:
    """Each predicted field beside the observed one; events as `events.KIND`."""
    return tuple(compare_prediction(claimed(predicts), report))


def judge_options(checkpoint: ChoiceCheckpoint, report: Report) -> tuple[Judged, ...]:
    """Every option of a checkpoint, judged by a report of its case."""
    return tuple(Judged(option=option, checks=judge(option.predicts, report)) for option in checkpoint.options)


# ------------------------------------------------------------------------------------------------- row numbers

_LAST_WORD: Final = ("call_returned", "call_threw", "mutation_returned", "mutation_raised", "tool_finished")
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "outcome": _LAST_WORD,
    "errorIncludes": _LAST_WORD,
    "effects": ("execute",),
    "input": ("execute",),
    "prompts": ("question_asked",),
    "promptIncludes": ("question_asked",),
    "toolCalls": ("tool_call",),
    "successfulCalls": ("call_returned", "tool_finished"),
    "rpcRequests": ("frame_sent",),
    "providerSafetyApproved": ("safety_acknowledged",),
    "primitiveAttempts": ("primitive_attempted",),
    "tier": ("policy_resolved",),
    "policy": ("policy_resolved",),
    "source": ("policy_resolved",),
    "rule": ("policy_resolved",),
    "decisions": ("call_decided",),
    "decidedBy": ("call_decided",),
    "requests": ("permission_requested",),
    "resolutions": ("permission_resolved",),
    "asked": ("approver_asked",),
    "rulesLeft": ("rule_remembered", "rule_revoked", "scope_cleared"),
    "runEnded": ("run_ended",),
    "entries": ("note_recorded",),
    "status": ("note_recorded",),
    "revision": ("note_recorded",),
    "text": ("note_recorded",),
    "authorized": ("grant_given", "grant_ended"),
    "dialogs": ("question_asked",),
    "notices": ("notified",),
    "lateReplies": ("late_reply",),
    "frames": ("frame_sent",),
}


def kinds_of(field: str) -> tuple[str, ...]:
    """The kinds of event that a field is read from; none for one that no event shows."""
    return (field.removeprefix("events."),) if field.startswith("events.") else _KINDS.get(field, ())


def rows_of(field: str, report: Report) -> tuple[int, ...]:
    """The rows of the ledger, counted from 1, that show a field; of how it ended, the last one."""
    kinds = kinds_of(field)
    rows = tuple(number for number, event in enumerate(report.ledger, start=1) if kind_of(event) in kinds)
    return rows[-1:] if kinds is _LAST_WORD else rows


# --------------------------------------------------------------------------------------------------- the check


def check(file: CheckpointFile, cases: Iterable[Case], beliefs: Mapping[str, Belief]) -> list[CaseError]:
    """What is wrong with a chapter's checkpoints, beyond their shape; an empty list is the good answer.

    Plays every case that is named. Exactly one option must match; every other needs a belief, and a case whose
    ledger contradicts it.
    """
    known = {case.id: case for case in cases}
    found: list[CaseError] = []
    for number, checkpoint in enumerate(file.checkpoints):
        place = f"{file.chapter}: checkpoints[{number}] ({checkpoint.id})"
        found.extend(_problems(checkpoint, place, known, beliefs))
    return found


def _problems(
    checkpoint: Checkpoint, place: str, cases: Mapping[str, Case], beliefs: Mapping[str, Belief]
) -> Iterator[CaseError]:
    yield from _wording(checkpoint, place)
    try:
        report = run(find(cases.values(), checkpoint.case))
    except UnknownCase as error:
        yield CaseError(f"{place}.case", str(error).rstrip("."), "")
        return
    if isinstance(checkpoint, PaperCheckpoint):
        for claim in judge(checkpoint.claims, report):
            if not claim.agrees:
                yield CaseError(
                    f"{place}.claims.{claim.field}",
                    f"{claim.expected!r} is claimed, and {checkpoint.case} shows {claim.observed!r}",
                    "Mend the claim, and the worked answer with it.",
                )
        return
    judged = judge_options(checkpoint, report)
    right = [one.option.id for one in judged if one.matches]
    if len(right) != 1:
        found = f"{', '.join(right)} all match" if right else "no option matches"
        yield CaseError(
            f"{place}.options", f"{found} what {checkpoint.case} shows", "Mend what they predict: one has to match."
        )
    for number, one in enumerate(judged):
        here = f"{place}.options[{number}] ({one.option.id})"
        if one.matches:
            yield from _of_right_option(one.option, here)
        else:
            yield from _of_wrong_option(one.option, checkpoint, here, cases, beliefs)


def _of_right_option(option: Option, place: str) -> Iterator[CaseError]:
    for field in ("belief", "counter"):
        if getattr(option, field) is not None:
            yield CaseError(f"{place}.{field}", "this option is right, so nothing contradicts it", "Remove it.")


def _of_wrong_option(
    option: Option, checkpoint: Checkpoint, place: str, cases: Mapping[str, Case], beliefs: Mapping[str, Belief]
) -> Iterator[CaseError]:
    if option.belief is None:
        yield CaseError(place, "this option is wrong, and no belief says who would choose it", "Add a belief.")
    elif option.belief not in beliefs:
        yield CaseError(f"{place}.belief", f"{option.belief!r} is not a known belief", "See beliefs.json.")
    if option.counter is None or option.counter == checkpoint.case:
        return  # the checkpoint's own case contradicts it, or it would match
    try:
        counter = run(find(cases.values(), option.counter))
    except UnknownCase as error:
        yield CaseError(f"{place}.counter", str(error).rstrip("."), "")
        return
    if all(claim.agrees for claim in judge(option.predicts, counter)):
        yield CaseError(
            f"{place}.counter", f"{option.counter} shows what this option predicts", "Name a case that does not."
        )


_BY_POSITION: Final = re.compile(
    r"\b([Ff]irst|[Ss]econd|third|fourth|fifth|last) option\b|\b(option|answer) ([1-9]|[A-D])\b|"
    r"\b([Aa]ll|[Nn]one) of the above\b"
)


def _wording(checkpoint: Checkpoint, place: str) -> Iterator[CaseError]:
    """Texts must not point at an option by where it stands."""
    texts = {"prompt": checkpoint.prompt} | {f"hints[{n}]": hint for n, hint in enumerate(checkpoint.hints)}
    if isinstance(checkpoint, ChoiceCheckpoint):
        for number, option in enumerate(checkpoint.options):
            texts |= {f"options[{number}].text": option.text, f"options[{number}].why": option.why}
    for field, text in texts.items():
        if pointing := _BY_POSITION.search(text):
            found = f"{pointing[0]!r} points at a position, and positions move"
            yield CaseError(f"{place}.{field}", found, "Quote the option instead.")
