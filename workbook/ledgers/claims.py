"""Whether a prediction holds: the fields that somebody predicted, beside the ones that the played case showed.

The comparison is that of `labsim.play.report`. No pandas, no text for a screen. One field is added to those that a
case may claim: `events`, how often each kind of event occurs in the ledger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, get_args

import msgspec
import msgspec.structs
from msgspec import UNSET

from labsim.case.model import Expected
from labsim.errors import did_you_mean, found_and_path
from labsim.play.report import FieldCheck, compare
from workbook.errors import WorkbookError
from workbook.ledgers.played import Played, report_of

EVENTS: Final = "events"
#: Every field that can be predicted: those a case can claim, and `events`.
FIELDS: Final = (*Expected.__struct_encode_fields__, EVENTS)
# A claim about part of a text is compared with the whole text, which has a name of its own.
_WHOLE_TEXT: Final = {"errorIncludes": "error", "promptIncludes": "promptTexts"}


class BadPrediction(WorkbookError):
    """A prediction names no field of a case, or a value that the field cannot have.

    Attributes: `field`, `found`, `remedy`.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        self.field = field
        self.found = problem
        self.remedy = remedy
        super().__init__(f"predicts.{field}: {problem}. {remedy}")


def compare_prediction(predicts: Mapping[str, Any], played: Played) -> list[FieldCheck]:
    """Each predicted field beside the observed one, in the order they were predicted.

    `events` gives one check for each kind it counts, as `events.KIND`. A case that is not finished simply lacks
    what it has not shown yet, so its checks disagree; ask `report.finished` first.
    Raises: BadPrediction, NotPlayed.
    """
    report = report_of(played)
    if not isinstance(predicts, Mapping):
        raise BadPrediction("*", f"a prediction is a mapping, and this is {predicts!r}", 'Use {"prompts": 2}.')
    checks: list[FieldCheck] = []
    for field, claim in predicts.items():
        if field == EVENTS:
            checks.extend(_event_checks(claim, event_counts(report)))
        else:
            checks.extend(compare(_as_claim(field, claim), report.observed))
    return checks


def holds(checks: Iterable[FieldCheck]) -> bool:
    """Whether every check agrees."""
    return all(check.agrees for check in checks)


def observed_value(field: str, played: Played) -> Any:
    """What the case showed of that field; UNSET if it showed no such thing.

    For `errorIncludes` and `promptIncludes` the whole text, or the list of texts; for `events` a mapping of kind to
    count; for `events.KIND` one count. Raises: BadPrediction, for a field that nobody can predict; NotPlayed.
    """
    report = report_of(played)
    if field == EVENTS:
        return event_counts(report)
    if field.startswith(f"{EVENTS}."):
        kind = field.removeprefix(f"{EVENTS}.")
        counts = event_counts(report)
        _check_kind(kind, counts)
        return counts.get(kind, 0)
    _check_field(field)
    return report.observed.get(_WHOLE_TEXT.get(field, field), UNSET)


def event_counts(played: Played) -> dict[str, int]:
    """How often each kind of event occurs in the ledger, in the order of first occurrence."""
    return dict(Counter(event.kind_name() for event in report_of(played).ledger))


def event_kinds() -> frozenset[str]:
    """Every kind of event that a played case can have, by its wire name."""
    from labsim.describe.kinds import event_classes  # loads the events of every part, for whoever counts them

    return frozenset(kind.kind_name() for kind in event_classes())


def _as_claim(field: str, claim: object) -> Expected:
    """One field of a prediction, as a case would claim it; so that it is compared by the same rules."""
    _check_field(field)
    try:
        return msgspec.convert({field: claim}, Expected)
    except msgspec.ValidationError as error:
        found, _ = found_and_path(error)
        allowed = _words(field)
        remedy = f"Use one of: {', '.join(allowed)}." if allowed else "See the field in fixtures/schema."
        raise BadPrediction(field, f"{claim!r} does not fit ({found})", remedy) from None


def _words(field: str) -> tuple[str, ...]:
    """The words that a field is limited to; none where it takes a number or a text."""
    annotated = next(info.type for info in msgspec.structs.fields(Expected) if info.encode_name == field)
    return tuple(
        word for kind in get_args(annotated) if issubclass(kind, StrEnum) for word in kind.__members__.values()
    )


def _check_field(field: str) -> None:
    if field not in FIELDS:
        raise BadPrediction(str(field), "no case shows a field of that name", did_you_mean(field, FIELDS))


def _event_checks(claim: object, counts: Mapping[str, int]) -> Iterable[FieldCheck]:
    if not isinstance(claim, Mapping):
        raise BadPrediction(EVENTS, f"{claim!r} counts nothing", 'Use {"events": {"tool_call": 2}}.')
    for kind, count in claim.items():
        _check_kind(kind, counts)
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise BadPrediction(f"{EVENTS}.{kind}", f"{count!r} is no count", "Use 0, 1, 2, …")
        seen = counts.get(kind, 0)
        yield FieldCheck(field=f"{EVENTS}.{kind}", expected=count, observed=seen, agrees=count == seen)


def _check_kind(kind: str, counts: Mapping[str, int]) -> None:
    """A kind that no case ever shows would count zero for ever, so a typo would look like a prediction."""
    known = event_kinds()
    if kind in known or kind in counts:
        return
    raise BadPrediction(f"{EVENTS}.{kind}", "no event is of that kind", did_you_mean(kind, sorted(known)))
