"""The steps of one call, walked on its real ledger: what each step is for, and which events show that it was taken.

The ledger is read as a person would: in order, never going back, and a refusal belongs to the step that could not
be completed. Which step an event belongs to it says itself, by where the walk along its call stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from labsim.call.nesting import Nesting, nested
from labsim.case.gate import GateGiven
from labsim.describe.ledger import describe_lines
from labsim.events.event import Event
from labsim.places.steps import ORDERS, CallStep, Here, HostCallStep, Order
from labsim.play.report import CallReport, Report
from workbook.ledgers.played import (
    WAITING,
    NothingHappened,
    PlacedEvent,
    Played,
    calls_of,
    caption_of,
    eventful,
    makes_calls,
    placed,
)
from workbook.ledgers.withheld import unless_withheld
from workbook.show.frame import TEXT, Look, Table

NOTHING_TO_DO: Final = "nothing to do"
PASSED_OVER: Final = "passed over"
NOT_REACHED: Final = "not reached"
NOT_YET: Final = "not reached yet"


@unless_withheld
def steps(played: Played, call: int | str = 1) -> Table:
    """The parts of one call in order, each with the events of this ledger that belong to it.

    Columns, all string: `step`, the numbers of the steps (`5-7`); `does`, what they are for; `happened`, one line
    an event, as `number kind: what it says`, or `nothing to do`, `not reached`, `not reached yet`; at the second
    host also `passed over`, for a step that an earlier one made needless.
    Raises: NotPlayed, NoSuchCall; NothingHappened, if the case makes no calls.
    """
    report = eventful(played)
    if not makes_calls(report):
        raise NothingHappened(
            report,
            f"a {report.case.scenario} case makes no call, so there are no steps to walk",
            "Try ledger(report).",
        )
    made = calls_of(report, call)[0]
    whole = placed(report, call)
    if isinstance(report.case.given, GateGiven):
        # But for the hooks, a step of which nothing is in the ledger is passed over, and not merely empty.
        empty = [PASSED_OVER] * len(ORDERS[Order.HOST_CALL])
        empty[HostCallStep.HOOKS] = NOTHING_TO_DO
        return _walked(report, made, Order.HOST_CALL, _happened(made, whole, host_steps_of(whole), empty))
    # What the agent loop does before and after is no step of the wrapper.
    events = [one for one, gate in zip(whole, nested(one.event for one in whole), strict=True) if gate.nesting]
    if not events:
        raise NothingHappened(
            report,
            f"{made.tool_call_id} never reached the wrapper, so there are no steps to walk",
            "lifecycle(report) shows what the agent loop made of it.",
        )
    empty = [NOTHING_TO_DO] * len(ORDERS[Order.CALL])
    return _walked(report, made, Order.CALL, _happened(made, events, call_steps_of(events), empty))


def _walked(report: Report, call: CallReport, order: Order, happened: Sequence[str]) -> Table:
    return Table(
        {
            "step": [numbers for numbers, _ in ORDERS[order]],
            "does": [text for _, text in ORDERS[order]],
            "happened": happened,
        },
        {"step": TEXT, "does": TEXT, "happened": TEXT},
        Look(caption=caption_of(f"The steps of {call.tool_call_id} in", report), header="step"),
    )


def call_steps_of(events: Sequence[PlacedEvent]) -> list[int]:
    """The step that each event of one call belongs to, in the same order; never a smaller one after a larger.

    Of a dispatch this is the outer call: whatever happens at the device's own gate happens while `write` runs.
    """
    here = Here()
    return [
        walked(one.event, here) if gate.nesting is not Nesting.INNER else CallStep.RUN
        for one, gate in zip(events, nested(one.event for one in events), strict=True)
    ]


def walked(event: Event, here: Here) -> int:
    """Moves `here` on by one event of a call through the wrapper; the step that it stands on then.

    An event that stands on no step of its own, such as a late reply, is a part of whatever is under way.
    """
    step = event.step(Order.CALL, here)
    if step is not None:
        here.at = max(here.at, step)
    event.passed(here)
    return here.at


def host_steps_of(events: Sequence[PlacedEvent]) -> list[int]:
    """The same of a call at the second host, where every event says by its kind where it stands.

    What stands nowhere by itself happens while somebody is waited for.
    """
    here = Here()
    steps = [one.event.step(Order.HOST_CALL, here) for one in events]
    return [HostCallStep.APPROVER if step is None else step for step in steps]


def _happened(
    call: CallReport, events: Sequence[PlacedEvent], steps: Sequence[int], empty: Sequence[str]
) -> list[str]:
    """What happened at each step; `empty` are the words for each that was left behind without an event."""
    lines: list[list[str]] = [[] for _ in empty]
    for one, step in zip(events, steps, strict=True):
        says = describe_lines(one.event).replace("\n", "\n   ")  # so that the next event is seen to begin
        lines[step].append(f"{one.number} {one.event.kind_name()}: {says}")
    last = max(steps)
    open_still = call.outcome is None
    if open_still:
        lines[last].append(WAITING)
    beyond = NOT_YET if open_still else NOT_REACHED
    return [
        "\n".join(found) or (left_behind if step < last else beyond)
        for step, (found, left_behind) in enumerate(zip(lines, empty, strict=True))
    ]
