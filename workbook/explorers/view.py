"""What the what-if panel shows for one state: decision and rule, lifecycle, prompts, picture, what was observed.

Nothing is decided here: every figure and every word on a decision is read from a report. A case that was seen
lately is not played again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from labsim.describe.ledger import describe, visible
from labsim.errors import CaseError
from labsim.events.call import PolicyResolved, PromptDecided
from labsim.events.dialogs import QuestionAnswered, QuestionAsked, RpcSelect, UiSelect
from labsim.js_values import stringify
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import parse_case
from labsim.terms import DialogKind, Policy, Rule, Source, Tier
from workbook.explorers.case import FRESH, PANEL, Opened, missing, refused, written
from workbook.explorers.problems import Problem, problems
from workbook.explorers.state import PanelState
from workbook.explorers.words import RULES
from workbook.ledgers.grid import ledger_grid
from workbook.ledgers.played import placed
from workbook.pictures.scene import scene
from workbook.pictures.svg import as_svg
from workbook.show.grid import Grid
from workbook.show.page import Block, Fold, Group, Heading, Items, Literal, Paragraph, Table
from workbook.tables.report import lifecycle

ROWS_SHOWN: Final = 200  # of the ledger; an opened case may make a thousand calls
PROMPTS_SHOWN: Final = 15
CHARACTERS_SHOWN: Final = 1000  # of one text; an opened case may have an input of any length
_REMEMBERED: Final = 256  # cases played lately: somebody who explores goes back and forth
_WHO: Final[Mapping[Source, str]] = {
    Source.TOOL: "the tool",
    Source.USER: "the user's settings",
    Source.MODE: "the mode",
}


class Decision(Struct, frozen=True, kw_only=True):
    """One resolution of one call. `judged` is `original` or `effective`, the input it was made on."""

    call: str
    judged: str
    policy: Policy
    source: Source
    rule: Rule
    tier: Tier

    @property
    def words(self) -> str:
        return f"{self.policy}, by {_WHO[self.source]} ({self.rule})"


class Judged(Struct, frozen=True, kw_only=True):
    """What was decided on one call, or on several that were decided alike, which `calls` names.

    `because`: whether somebody was to be asked and why, as the engine says it; "" where it never came to that.
    """

    calls: str
    decisions: tuple[Decision, ...]
    because: str


class Asked(Struct, frozen=True, kw_only=True):
    """One dialog that opened. `gate`: it is the approval, not a handler's question. `ended`: how, in words."""

    call: str
    gate: bool
    text: str
    options: tuple[str, ...]
    ended: str


class View:
    """One played case, ready to be shown. Its tables and its picture are made when they are first asked for."""

    def __init__(self, report: Report) -> None:
        self.report = report

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """Every resolution, in the order of the ledger."""
        return tuple(
            Decision(
                call=event.tool_call_id,
                judged=event.on,
                policy=event.resolution.policy,
                source=event.resolution.source,
                rule=event.resolution.rule,
                tier=event.resolution.tier,
            )
            for event in self.report.ledger
            if isinstance(event, PolicyResolved)
        )

    @cached_property
    def dialogs(self) -> tuple[Asked, ...]:
        """Every dialog that opened, in order: the n-th takes the n-th answer."""
        events = placed(self.report)
        ends = iter([one.event for one in events if isinstance(one.event, UiSelect | RpcSelect | QuestionAnswered)])
        return tuple(
            Asked(
                call=one.call,
                gate=one.event.kind is DialogKind.SELECT,
                text=one.event.title,
                options=one.event.options,
                ended=describe(end) if (end := next(ends, None)) is not None else "not answered",
            )
            for one in events
            if isinstance(one.event, QuestionAsked)
        )

    @property
    def observed(self) -> Mapping[str, Any]:
        """The counters, in the cases' vocabulary."""
        return self.report.observed

    @cached_property
    def headline(self) -> str:
        """The decision and what came of it, in one line: what is announced."""
        seen = self.observed
        dialogs = len(self.dialogs)
        parts = [
            f"Decision: {self._decided()}.",
            f"{dialogs or 'No'} dialog{'s open' if dialogs > 1 else ' opens'}.",
            f"Outcome: {seen.get('outcome', 'none')}; effects {seen['effects']}.",
        ]
        return " ".join(parts)

    def _decided(self) -> str:
        """The decisions in force, one for all calls that are alike."""
        said = [(one.calls, _in_force(one.decisions)) for one in self.judged]
        if not said:
            return "none, the declaration failed"
        if len({words for _, words in said}) == 1:
            return said[0][1]
        return "; ".join(f"{calls} {words}" for calls, words in said)

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """What was decided on each call; calls in a row that were decided alike are one."""
        because = {
            event.tool_call_id: describe(event) for event in self.report.ledger if isinstance(event, PromptDecided)
        }
        by_call = [
            (call, tuple(run), because.get(call, ""))
            for call, run in groupby(self.decisions, key=lambda one: one.call)
        ]
        made = []
        for _, alike in groupby(
            by_call, key=lambda one: ([_without_call(decision) for decision in one[1]], one[2])
        ):
            calls = list(alike)
            name = calls[0][0] if len(calls) == 1 else f"{calls[0][0]} to {calls[-1][0]}"
            made.append(Judged(calls=name, decisions=calls[0][1], because=calls[0][2]))
        return tuple(made)

    # -- what is shown

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Everything but the picture, as text and tables."""
        return (*self._first(), *self._then())

    @cached_property
    def above(self) -> tuple[Block, ...]:
        """What stands over the picture: the decision and what was observed, then the lifecycle."""
        return tuple(self._first())

    @cached_property
    def below(self) -> tuple[Block, ...]:
        """What stands under the picture: the prompts, and the whole ledger to be opened."""
        events = placed(self.report)
        more = f", the first {ROWS_SHOWN} of {len(events)} events" if len(events) > ROWS_SHOWN else ""
        grid = ledger_grid(f"Ledger of {self.report.case.id}{more}", events[:ROWS_SHOWN])
        return (
            *self._then(),
            Fold(title="The whole ledger, which the picture shows", blocks=(Table(grid=_cut_down(grid)),)),
        )

    @cached_property
    def picture(self) -> Mapping[str, str]:
        """The sequence diagram: its name for those who do not see it, and its SVG."""
        drawn = scene(self.report)
        return {
            "name": visible(f"{drawn.caption}: a sequence diagram. The ledger below has the same events."),
            "caption": visible(drawn.caption),
            "svg": as_svg(drawn),
            "closing": drawn.closing,
        }

    def _first(self) -> Iterator[Block]:
        yield Table(grid=self._decision_grid())
        yield Items(
            items=tuple(
                f"{one.calls}: {one.because or 'it never came to a decision to ask'}." for one in self.judged
            )
        )
        yield Table(grid=self._observed_grid())
        yield Table(grid=_cut_down(lifecycle(self.report).grid))

    def _then(self) -> Iterator[Block]:
        dialogs = self.dialogs
        yield Heading(text="What is asked")
        if not dialogs:
            yield Paragraph(text="No dialog opens, so there is no prompt text.")
        for number, dialog in enumerate(dialogs[:PROMPTS_SHOWN], start=1):
            whose = "the approval" if dialog.gate else "a question of a handler's own"
            blocks: tuple[Block, ...] = (Literal(text=_cut(dialog.text)),)
            if dialog.options:
                blocks += (Items(items=tuple(f"[{option}]" for option in dialog.options)),)
            yield Group(title=f"Dialog {number} ({dialog.call}), {whose}", marks=(dialog.ended,), blocks=blocks)
        if len(dialogs) > PROMPTS_SHOWN:
            yield Paragraph(text=f"… and {len(dialogs) - PROMPTS_SHOWN} more dialogs, not shown here.")

    def _decision_grid(self) -> Grid:
        rows = tuple(
            (alike.calls, one.judged, one.tier, one.policy, _WHO[one.source], one.rule, RULES[one.rule])
            for alike in self.judged
            for one in alike.decisions
        )
        return Grid(
            caption=f"Who decided in {self.report.case.id}",
            columns=("call", "input", "tier", "policy", "who decided", "rule", "why"),
            rows=rows,
            header=1,
            group=0,
        )

    def _observed_grid(self) -> Grid:
        rows = tuple(
            (name, _cut(value if isinstance(value, str) else stringify(value)))
            for name, value in self.observed.items()
            if name != "promptTexts"
        )
        return Grid(caption=f"Observed in {self.report.case.id}", columns=("field", "observed"), rows=rows)


def view_of(state: PanelState, opened: Opened = FRESH) -> View | tuple[Problem, ...]:
    """The view of a state, or the problems of one that stands for no case."""
    if found := problems(state) or missing(state, opened):
        return found
    try:
        return _view(msgspec.json.encode(written(state, opened)))
    except CaseError as error:
        return (refused(error, opened),)


@lru_cache(maxsize=_REMEMBERED)
def _view(text: bytes) -> View:
    return View(run(parse_case(msgspec.json.decode(text), PANEL)))


def _in_force(decisions: tuple[Decision, ...]) -> str:
    """The last of a call's decisions; the first one too, where a handler changed the answer."""
    first, last = decisions[0], decisions[-1]
    if (first.policy, first.source, first.rule) == (last.policy, last.source, last.rule):
        return last.words
    return f"{last.words}; on the original input it was {first.words}"


def _without_call(decision: Decision) -> tuple[Any, ...]:
    return decision.judged, decision.policy, decision.source, decision.rule, decision.tier


def _cut_down(grid: Grid) -> Grid:
    return replace(grid, rows=tuple(tuple(map(_cut, row)) for row in grid.rows))


def _cut(text: str) -> str:
    if len(text) <= CHARACTERS_SHOWN:
        return text
    return f"{text[:CHARACTERS_SHOWN]} … and {len(text) - CHARACTERS_SHOWN:,} more characters"
