"""Reports as plain text: a ledger a person can read in a terminal.

The notebooks have their own tables. What happened is said by the events themselves, so that both say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from labsim.call.nesting import Nesting, nested
from labsim.errors import one_line as one_line  # its home is below the errors; readers of text look for it here
from labsim.events.event import Event
from labsim.js_values import stringify
from labsim.play.report import Report


def describe(event: Event) -> str:
    """One line on what an event says. Texts of tools and people are quoted as they are, line breaks escaped."""
    return one_line(event.says())


def describe_lines(event: Event) -> str:
    """As `describe`, with line breaks kept: for a place where a prompt of several lines can be read as such."""
    return visible(event.says())


def visible(text: str) -> str:
    """`text` with every control character but the line break made visible."""
    return "\n".join(map(one_line, text.split("\n")))


def ledger_lines(report: Report) -> Iterator[str]:
    """The ledger, one event a line: number, simulated ms, kind, what it says; calls are set apart.

    What happens behind the second gate of a dispatch is indented.
    """
    kinds = [
        f"{'  ' if placed.nesting is Nesting.INNER else ''}{placed.event.kind_name()}"
        for placed in nested(report.ledger)
    ]
    width = max(map(len, kinds), default=0)
    starts = {call.start: call.tool_call_id for call in report.calls}
    for number, (event, kind) in enumerate(zip(report.ledger, kinds, strict=True)):
        if number in starts:
            yield starts[number]
        yield f"  {number + 1:>3}  {event.at_ms:>5} ms  {kind:<{width}}  {describe(event)}"


def case_lines(report: Report) -> Iterator[str]:
    """A played case as text: title, ledger, then each claim beside what was observed."""
    case = report.case
    yield f"{case.id}: {case.title}" if case.title else case.id
    yield ""
    yield from ledger_lines(report)
    yield ""
    width = max((len(check.field) for check in report.checks), default=0)
    for check in report.checks:
        observed = "nothing of the kind" if check.observed is UNSET else _value(check.observed)
        if check.agrees:
            yield f"  {check.field:<{width}}  {_value(check.expected)}"
        else:
            yield f"  {check.field:<{width}}  expected {_value(check.expected)}, observed {observed}"
    if report.checks:
        yield ""
    yield verdict(report)


def verdict(report: Report) -> str:
    """`match`, `mismatch`, `waiting`, or `no claim` where the case expects nothing."""
    if not report.finished:
        return "waiting"
    return {True: "match", False: "mismatch", None: "no claim"}[report.matches]


def _value(value: Any) -> str:
    return one_line(value if isinstance(value, str) else stringify(value))
