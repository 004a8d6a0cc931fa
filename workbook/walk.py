"""The steps of one call, walked on its real ledger: what each step is for, and which events show that it was taken.

Above `played` and `captioned`, beside `tables`. The steps are those of spec/wrapper.md section 2, in ten parts. The
ledger does not say which step an event belongs to, so this module reads it as a person would: in order, never going
back, and a refusal belongs to the step that could not be completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from msgspec import Struct

from labsim.case_gate import GateGiven
from labsim.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallReturned,
    CallStarted,
    CallThrew,
    Execute,
    ExtensionError,
    HandlerAnswered,
    MarkerConsumed,
    PolicyResolved,
    PreviewWait,
    PromptDecided,
    QuestionAsked,
    RpcSelect,
    SafetyAcknowledged,
    TierResolved,
    ToolCallEvent,
    ToolResultEvent,
    UiSelect,
)
from labsim.extensions import CANCELLED
from labsim.handlers import EventName
from labsim.lanes import Lane, in_lanes
from labsim.report import CallReport, Report
from labsim.show import describe_lines, kind_of
from labsim.terms import Policy
from workbook.captioned import TEXT, Look, Table
from workbook.played import (
    WAITING,
    NothingHappened,
    PlacedEvent,
    Played,
    calls_of,
    captioned,
    eventful,
    makes_calls,
    placed,
)
from workbook.withheld import unless_withheld


class Part(IntEnum):
    """A part of the call, in order; the value counts the parts."""

    PREPARE = 0
    JUDGE_ORIGINAL = 1
    HANDLERS = 2
    JUDGE_EFFECTIVE = 3
    DECIDE = 4
    ANNOUNCE = 5
    ASK = 6
    SETTLE = 7
    RUN = 8
    HAND_BACK = 9


#: The numbered steps that each part stands for, and what they do.
PARTS: Final[dict[Part, tuple[str, str]]] = {
    Part.PREPARE: (
        "1-2",
        "Use up the loop's note that tool_call went out already, if there is one; read mode and user policies, "
        "once for the whole call.",
    ),
    Part.JUDGE_ORIGINAL: (
        "3",
        "Judge the input as it came. A deny ends the call here, before anybody hears of it.",
    ),
    Part.HANDLERS: (
        "4",
        "Let the tool_call handlers see the call, unless the loop did. One may block it, or return another input.",
    ),
    Part.JUDGE_EFFECTIVE: (
        "5-7",
        "Judge the input that would really run; report its tier to whoever dispatched the call. A deny ends it.",
    ),
    Part.DECIDE: (
        "8-9",
        "Decide whether a person must be asked; if so, wait until a scheduled call is on screen.",
    ),
    Part.ANNOUNCE: ("10", "Tell the lifecycle handlers that a decision is needed."),
    Part.ASK: (
        "11-13",
        "Put the question to a person. Nobody there, or a dialog that breaks: the call is refused.",
    ),
    Part.SETTLE: ("14-15", "Tell what was decided. Anything but exactly Approve ends the call."),
    Part.RUN: ("16", "Run the tool with the effective input: the only step with an effect."),
    Part.HAND_BACK: (
        "17",
        "Show the result to the tool_result handlers, then return it or raise. Nothing here undoes the effect.",
    ),
}
_FAILURES: Final = (["throw"], ["throwValue"], ["disconnect"])  # a choice of this shape is how a dialog broke
NOTHING_TO_DO: Final = "nothing to do"
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
        return _steps_at_the_gate(report, made, whole)
    # What the agent loop does before and after is no step of the wrapper.
    events = [one for one, lane in zip(whole, in_lanes(one.event for one in whole), strict=True) if lane.lane]
    if not events:
        raise NothingHappened(
            report,
            f"{made.tool_call_id} never reached the wrapper, so there are no steps to walk",
            "lifecycle(report) shows what the agent loop made of it.",
        )
    names = list(PARTS.values())
    return _walked(report, made, names, _happened(made, events, parts_of(events), len(names)))


def _steps_at_the_gate(report: Report, made: CallReport, events: Sequence[PlacedEvent]) -> Table:
    """The same of the second host, whose steps are other ones."""
    from workbook import gate_walk

    names = [(str(part + 1), text) for part, text in gate_walk.PARTS.items()]
    empty = [gate_walk.empty(part) for part in gate_walk.Part]
    return _walked(report, made, names, _happened(made, events, gate_walk.parts_of(events), len(names), empty))


def _walked(report: Report, made: CallReport, names: Sequence[tuple[str, str]], happened: Sequence[str]) -> Table:
    return Table(
        {
            "step": [numbers for numbers, _ in names],
            "does": [text for _, text in names],
            "happened": happened,
        },
        {"step": TEXT, "does": TEXT, "happened": TEXT},
        Look(caption=captioned(f"The steps of {made.tool_call_id} in", report), header="step"),
    )


def parts_of(events: Sequence[PlacedEvent]) -> list[Part]:
    """The part that each event of one call belongs to, in the same order; never a smaller one after a larger.

    Of a dispatch this is the outer call: whatever happens at the device's own gate happens while `write` runs.
    """
    walk = _Walk()
    return [
        walk.take(one.event) if nested.lane is not Lane.INNER else Part.RUN
        for one, nested in zip(events, in_lanes(one.event for one in events), strict=True)
    ]


class _Walk:
    """Where one call is; `take` moves it on by one event."""

    def __init__(self) -> None:
        self.at = Part.PREPARE
        self._asked = False  # a dialog of the gate's own has been put
        self._broke = False  # and did not end with an answer
        self._stops = Part.JUDGE_ORIGINAL  # the part that a refusal would belong to now

    def take(self, event: Struct) -> Part:
        self.at = max(self.at, self._part(event))
        return self.at

    def _part(self, event: Struct) -> Part:
        match event:
            case CallStarted() | MarkerConsumed():
                return Part.PREPARE
            case PolicyResolved(on="original", resolution=found):
                self._stops = Part.JUDGE_ORIGINAL if found.policy is Policy.DENY else Part.HANDLERS
                return Part.JUDGE_ORIGINAL
            case ToolCallEvent():
                # From here the next thing that can fail without a word of its own is the second judgement.
                self._stops = Part.JUDGE_EFFECTIVE
                return Part.HANDLERS
            case HandlerAnswered(answer=answer):
                self._stops = Part.HANDLERS if answer == "blocks" else Part.JUDGE_EFFECTIVE
                return Part.HANDLERS
            case PolicyResolved() | TierResolved():
                self._stops = Part.JUDGE_EFFECTIVE
                return Part.JUDGE_EFFECTIVE
            case PromptDecided() | PreviewWait():
                self._stops = Part.ASK
                return Part.DECIDE
            case ApprovalRequested():
                return Part.ANNOUNCE
            case QuestionAsked():
                # Before the decision (step 8) it can only be a handler that asks, as a part of step 4.
                self._asked = self.at >= Part.DECIDE
                return Part.ASK if self._asked else Part.HANDLERS
            case UiSelect(choice=choice) | RpcSelect(choice=choice) if self._asked:
                self._broke = isinstance(choice, dict) and list(choice) in _FAILURES
                self._stops = Part.ASK if self._broke else Part.SETTLE
                return Part.ASK
            case ApprovalResolved():
                # Told from within steps 11 and 13 where nobody could be asked, or the dialog broke.
                return Part.SETTLE if self._asked and not self._broke else Part.ASK
            case SafetyAcknowledged():
                return Part.SETTLE
            case Execute():
                return Part.RUN
            case ToolResultEvent() | CallReturned():
                return Part.HAND_BACK
            case ExtensionError(on=on):
                return self._listener_failed(on)
            case CallThrew():
                return self._threw(event)
        match type(event).__module__:
            case "labsim.rpc.ledger":
                return Part.ASK if self.at >= Part.DECIDE else Part.HANDLERS
            case "labsim.dispatch.events" if kind_of(event) == "gate_declared":
                # `write` says before each of the two judgements what it declares.
                return Part.JUDGE_ORIGINAL if self.at is Part.PREPARE else Part.JUDGE_EFFECTIVE
            case "labsim.dispatch.events" | "labsim.fallback.events":
                return Part.RUN
        return self.at  # a late reply: a part of whatever is under way

    def _listener_failed(self, on: str) -> Part:
        if on == EventName.TOOL_CALL:
            self._stops = Part.HANDLERS
            return Part.HANDLERS
        return Part.HAND_BACK if on == EventName.TOOL_RESULT else self.at

    def _threw(self, event: CallThrew) -> Part:
        if self.at >= Part.RUN:
            return Part.HAND_BACK
        if event.error == CANCELLED:
            return Part.HANDLERS
        if self.at is Part.DECIDE and event.error_name == "AbortError":
            return Part.DECIDE  # given up while the call was not on screen yet
        return self._stops


def _happened(
    made: CallReport, events: Sequence[PlacedEvent], parts: Sequence[int], count: int, empty: Sequence[str] = ()
) -> list[str]:
    """What happened in each of `count` parts; `empty` are the words for those left behind without an event."""
    lines: list[list[str]] = [[] for _ in range(count)]
    for one, part in zip(events, parts, strict=True):
        says = describe_lines(one.event).replace("\n", "\n   ")  # so that the next event is seen to begin
        lines[part].append(f"{one.number} {kind_of(one.event)}: {says}")
    last = max(parts)
    open_still = made.outcome is None
    if open_still:
        lines[last].append(WAITING)
    beyond = NOT_YET if open_still else NOT_REACHED
    left_behind = empty or [NOTHING_TO_DO] * count
    return ["\n".join(found) or (left_behind[part] if part < last else beyond) for part, found in enumerate(lines)]
