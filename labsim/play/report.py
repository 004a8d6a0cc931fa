"""What one played case showed: counters, calls, the ledger, and the comparison with what the case claims.

Everything shown to a learner is read from here; a report never holds anything that was not run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from labsim.case.model import Case, Expected
from labsim.events.ledger import Ledger
from labsim.js_values import same
from labsim.stage.stage import Question
from labsim.terms import Outcome
from labsim.tool import ToolResult


class CallReport(Struct, frozen=True, kw_only=True):
    """One call of a case. `start` and `end` bound its events in the ledger; `outcome` is None while it waits."""

    tool_call_id: str
    start: int
    end: int
    outcome: Outcome | None = None
    error: str | None = None
    error_name: str | None = None
    result: ToolResult | None = None


class FieldCheck(Struct, frozen=True, kw_only=True):
    """One claim of a case beside what the run showed. `observed` is UNSET where the run showed no such thing."""

    field: str
    expected: Any
    observed: Any
    agrees: bool


class Report(Struct, frozen=True, kw_only=True):
    """One played case, finished or waiting for an answer.

    `observed` has the counters in the cases' vocabulary (wrapper/W-78); `questions` are the
    open ones, and `finished` is False as long as there are any that the case needs.
    """

    case: Case
    finished: bool
    observed: Mapping[str, Any]
    calls: tuple[CallReport, ...]
    ledger: Ledger
    questions: tuple[Question, ...] = ()

    @property
    def checks(self) -> tuple[FieldCheck, ...]:
        """Every field that the case claims, compared."""
        return tuple(compare(self.case.expected, self.observed))

    @property
    def matches(self) -> bool | None:
        """Whether all claims hold; None while the case waits, or where it claims nothing."""
        checks = self.checks
        if not self.finished or not checks:
            return None
        return all(check.agrees for check in checks)


def compare(expected: Expected, observed: Mapping[str, Any]) -> Iterator[FieldCheck]:
    """Each claimed field beside the observed one. The `…Includes` fields ask for a part of a text."""
    for field, claim in msgspec.to_builtins(expected).items():
        if field == "errorIncludes":
            found = observed.get("error", UNSET)
            agrees = isinstance(found, str) and claim in found
        elif field == "promptIncludes":
            found = observed.get("promptTexts", UNSET)
            agrees = isinstance(found, list) and any(claim in text for text in found)
        else:
            found = observed.get(field, UNSET)
            agrees = found is not UNSET and same(claim, found)
        yield FieldCheck(field=field, expected=claim, observed=found, agrees=agrees)
