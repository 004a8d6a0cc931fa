"""A played case, as tables and pictures read it: what counts as one, which event belongs to which call, its state.

No pandas here, and nothing is decided: whatever shows a case asks this module first, so that a waiting case, an
empty ledger or a wrong call number is said in the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from labsim.case.gate import GateGiven
from labsim.case.given import CallGiven
from labsim.describe.ledger import one_line
from labsim.events.call import CallStarted
from labsim.events.event import Event
from labsim.extras import Given
from labsim.play.report import CallReport, Report
from workbook.errors import WorkbookError

WAITING = "waiting for an answer"
NO_CALL = "no call"  # in place of a call id, where a case has no calls or an event belongs to none


@runtime_checkable
class Playing(Protocol):
    """Something under way that can say where it is: a live play, or the engine's own performance."""

    def report(self) -> Report: ...


Played: TypeAlias = Report | Playing
CallChoice: TypeAlias = int | str | None


class NotPlayed(WorkbookError):
    """Something other than a played case was handed in. Attribute: `found`."""

    def __init__(self, value: object) -> None:
        self.found = value
        super().__init__(
            f"A played case is needed here, and this is {_kind(value)}. "
            'Use what desk.play("…") or desk.live("…") returned.'
        )


class NothingHappened(WorkbookError):
    """A report has no events of the kind asked for, so there is nothing to show. Attribute: `case_id`."""

    def __init__(self, report: Report, problem: str, remedy: str) -> None:
        self.case_id = report.case.id
        super().__init__(f"{report.case.id}: {problem}. {remedy}")


class NoSuchCall(WorkbookError):
    """A case has no call of that number or id. Attributes: `case_id`, `call`, `known` (the ids there are)."""

    def __init__(self, report: Report, call: int | str) -> None:
        self.case_id = report.case.id
        self.call = call
        self.known = tuple(made.tool_call_id for made in report.calls)
        if self.known:
            numbers = "1" if len(self.known) == 1 else f"1 to {len(self.known)}"
            remedy = f"Use {numbers}, or an id: {', '.join(self.known[:5])}{', …' if len(self.known) > 5 else ''}."
        elif makes_calls(report):
            remedy = "The calls of a batch are counted when it is over; leave `call` out until then."
        else:
            remedy = f"A {report.case.scenario} case makes no calls; leave `call` out."
        super().__init__(f"{report.case.id}: there is no call {call!r}. {remedy}")


def report_of(played: Played) -> Report:
    """The report of what was played so far. Raises: NotPlayed."""
    if isinstance(played, Report):
        return played
    if isinstance(played, Playing) and not isinstance(played, type):
        report = played.report()
        if isinstance(report, Report):
            return report
    raise NotPlayed(played)


def eventful(played: Played) -> Report:
    """As `report_of`, for what is read from the ledger. Raises: NotPlayed; NothingHappened, if that is empty."""
    report = report_of(played)
    if not len(report.ledger):
        raise NothingHappened(
            report,
            f"a {report.case.scenario} case calls nothing, so its ledger is empty",
            "expected(report) shows what it observed.",
        )
    return report


def caption_of(what: str, report: Report, remark: str = "") -> str:
    """`what` with the case's id, a remark, and that the case waits if it does. Never its title, which may tell."""
    parts = [f"{what} {one_line(report.case.id)}", remark, "" if report.finished else WAITING]
    return "; ".join(part for part in parts if part)


def calls_of(report: Report, call: CallChoice) -> tuple[CallReport, ...]:
    """The calls to show: all of them, or the one of that number (from 1) or id. Raises: NoSuchCall."""
    if call is None:
        return report.calls
    for number, made in enumerate(report.calls, start=1):
        if call == made.tool_call_id or (call == number and not isinstance(call, bool)):
            return (made,)
    raise NoSuchCall(report, call)


class PlacedEvent(Struct, frozen=True, gc=False):
    """An event with its number in the ledger (from 1) and the id of its call."""

    number: int
    call: str
    event: Event


def placed(report: Report, call: CallChoice = None) -> list[PlacedEvent]:
    """The events in ledger order, with their calls; only those of one call if `call` names it.

    An event belongs to the call whose stretch of the ledger it lies in, since a dialog names no call itself. Out of
    any (the loop prepares a whole batch before its first call runs) it belongs to the call that it names, or that
    runs. At the second host, where calls of one round overlap and an answer may come after its call, what an event
    names comes first. Raises: NoSuchCall.
    """
    events = list(report.ledger)
    wanted = {made.tool_call_id for made in calls_of(report, call)}
    owners = _named_calls(events) if makes_calls(report) else [NO_CALL] * len(events)
    for made in report.calls:
        owners[made.start : made.end] = [made.tool_call_id] * (made.end - made.start)
    if isinstance(report.case.given, GateGiven):
        owners = _named_by_request(events, owners)
    return [
        PlacedEvent(number, owner, event)
        for number, (owner, event) in enumerate(zip(owners, events, strict=True), start=1)
        if call is None or owner in wanted
    ]


def makes_calls(report: Report) -> bool:
    """Whether the case is one of tool calls, even if none was made yet."""
    return isinstance(report.case.given, CallGiven | GateGiven | Given)


def _named_by_request(events: Sequence[Event], owners: Sequence[str]) -> list[str]:
    """The owners, but for events that name a call, or a request that does."""
    asked: dict[str, str] = {}
    for event in events:
        if event.names_request() and event.names_call():
            asked[event.names_request()] = event.names_call()
    return [
        event.names_call() or asked.get(event.names_request(), owner)
        for event, owner in zip(events, owners, strict=True)
    ]


def _named_calls(events: Sequence[Event]) -> list[str]:
    running, owners = NO_CALL, []
    for event in events:
        if isinstance(event, CallStarted):
            running = event.tool_call_id
        owners.append(event.names_call() or running)
    return owners


def several(played: Sequence[Played]) -> list[Report]:
    """The reports of several cases. Raises: NotPlayed, for the first that is none, and for a single report."""
    if isinstance(played, Report | str) or not hasattr(played, "__iter__"):
        raise NotPlayed(played)
    return [report_of(one) for one in played]


def _kind(value: object) -> str:
    if isinstance(value, str):
        return f"text ({one_line(value[:40])!r})"
    return "nothing (None)" if value is None else f"of type {type(value).__name__}"
