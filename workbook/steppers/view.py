"""Stepping through a ledger in a notebook: `wb.stepper(report)`.

Where there is no widget, and for the scripted learner, the same frames are one table, a row for each row of the
ledger. Nothing here is decided: a frame says what could still stop a call, and this only says it in a line or in a
list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from labsim.play.report import Report
from workbook.errors import WorkbookError
from workbook.learner.who import Learner, who
from workbook.ledgers.played import Played, caption_of, report_of
from workbook.ledgers.withheld import unless_withheld
from workbook.show.grid import Grid
from workbook.show.page import Heading, Page, Paragraph, Table, page
from workbook.steppers.frames import Frame, State, UnderWay, frames
from workbook.steppers.stops import Danger

if TYPE_CHECKING:
    from workbook.steppers.control import StepperControl

COLUMNS: Final = ("call", "n", "step", "event", "state so far", "what could still stop it")
NOTHING_UNDER_WAY: Final = "nothing is under way"
NO_STATE: Final = "–"
UNCHANGED: Final = "unchanged"
_NONE: Final = "none"


class NoSuchRow(WorkbookError):
    """A ledger has no row of that number. Attributes: `row`, `rows` (how many there are)."""

    def __init__(self, case_id: str, row: int, rows: int) -> None:
        self.row = row
        self.rows = rows
        super().__init__(f"{case_id}: there is no row {row!r} to begin with. Use 1 to {rows}.")


@unless_withheld
def stepper(played: Played, row: int = 1) -> Stepper:
    """Step through what was played: one row of its ledger after the other, forward, back, or to any row.

    Each row says which step of the order list it is, what is so after it, and what could still stop the call from
    there. `row` is the one to begin with, counted from 1 as in `wb.ledger`. A live play is shown as far as it is;
    its stepper can read the ledger again. A case with an empty ledger has a sentence in place of a table.
    Raises: NotPlayed; NoSuchRow.
    """
    return Stepper(played, row)


class Stepper:
    """A ledger to step through. As the value of a cell it shows itself; `frames` has what it shows."""

    def __init__(self, played: Played, row: int = 1) -> None:
        """Raises: NotPlayed; NoSuchRow."""
        self.report: Report = report_of(played)
        self.frames: tuple[Frame, ...] = frames(self.report)
        self._played = played
        self._row = row
        self._control: StepperControl | None = None
        if self.frames and (isinstance(row, bool) or row not in range(1, len(self.frames) + 1)):
            raise NoSuchRow(self.report.case.id, row, len(self.frames))

    @property
    def title(self) -> str:
        """What is stepped through, and that it waits if it does."""
        return caption_of("Stepping through", self.report)

    def page(self) -> Page:
        """All rows as a table, and what the stops in it are; a sentence where the ledger is empty."""
        if not self.frames:
            return page(Heading(text=self.title), Paragraph(text=_empty(self.report)))
        return page(Heading(text=self.title), Table(grid=self.table()), *self._in_full())

    def table(self) -> Grid:
        """One row for each row of the ledger. What is as it was in the row above says so."""
        rows, before = [], ("", "")
        for frame in self.frames:
            cells = (
                "\n".join(_state_lines(frame.state, self._scenario)) or NO_STATE,
                "\n".join(map(_line, frame.under_way)) or NOTHING_UNDER_WAY,
            )
            shown = [
                UNCHANGED if new == old and new not in (NO_STATE, NOTHING_UNDER_WAY) else new
                for new, old in zip(cells, before, strict=True)
            ]
            before = cells
            rows.append(
                (
                    frame.call,
                    str(frame.number),
                    "\n".join(f"{place.order}: {place.numbers}" for place in frame.places) or "–",
                    f"{frame.kind}\n{frame.says}",
                    *shown,
                )
            )
        return Grid(
            caption=f"{self.title}: {len(rows)} rows",
            columns=COLUMNS,
            rows=tuple(rows),
            header=COLUMNS.index("event"),
            group=COLUMNS.index("call"),
            numbers=frozenset({COLUMNS.index("n")}),
        )

    def state(self) -> dict[str, Any]:
        """Everything that the control is told, by name."""
        stops = self._stops()
        places = {danger: place for place, danger in enumerate(stops)}
        return {
            "title": self.title,
            "rows": [self._told(frame, places) for frame in self.frames],
            "stops": [
                {"text": one.why.text, "rules": one.rules, "late": one.why.late, "inner": one.inner}
                for one in stops
            ],
            "row": self._row - 1,
            "grows": not self.report.finished,
        }

    def receive(self, message: object) -> None:
        """What a button sent: `read` shows the ledger as it is by now; anything else changes nothing."""
        if message != {"type": "read"}:
            return
        self.report = report_of(self._played)
        self.frames = frames(self.report)
        if self._control is not None:
            self._control.update(self.state())

    @property
    def widget(self) -> StepperControl:
        """The control of this stepper, an ipywidget."""
        if self._control is None:
            from workbook.steppers.control import StepperControl

            self._control = StepperControl(self.receive, **self.state())
        return self._control

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        static = self.page()._repr_mimebundle_()
        if not self.frames or who() is Learner.SCRIPTED:
            return dict(static)
        return {**self.widget.view(), **static}

    def __repr__(self) -> str:
        return str(self.page())

    # -- inside

    @property
    def _scenario(self) -> str:
        return self.report.case.scenario

    def _stops(self) -> list[Danger]:
        """Every stop that some row names, in the order in which they are first named."""
        named = (danger for frame in self.frames for one in frame.under_way for danger in _dangers(one))
        return list(dict.fromkeys(named))

    def _in_full(self) -> Iterator[Table]:
        stops = list(dict.fromkeys(danger.why for danger in self._stops()))
        if stops:
            yield Table(
                grid=Grid(
                    caption="What can stop it, in full",
                    columns=("what", "that is", "rules"),
                    rows=tuple((why.short, why.text, ", ".join(why.rules)) for why in stops),
                )
            )

    def _told(self, frame: Frame, places: dict[Danger, int]) -> dict[str, Any]:
        from labsim.places.steps import ORDERS

        return {
            "number": frame.number,
            "kind": frame.kind,
            "says": frame.says,
            "call": frame.call,
            "steps": [
                {
                    "order": place.order.value,
                    "numbers": place.numbers,
                    "does": place.does,
                    "place": place.index + 1,
                    "of": len(ORDERS[place.order]),
                }
                for place in frame.places
            ],
            "state": [line.split(": ", 1) for line in _state_lines(frame.state, self._scenario)],
            "under_way": [
                {
                    "subject": one.subject,
                    "told": _standing(one),
                    "stops": [places[danger] for danger in one.stops],
                }
                for one in frame.under_way
            ],
        }


def _empty(report: Report) -> str:
    return (
        f"There is nothing to step through: a {report.case.scenario} case calls nothing, so its ledger is empty. "
        "wb.expected(report) shows what it observed."
        if report.finished
        else "There is nothing to step through yet: nothing has happened."
    )


# ------------------------------------------------------------------------------------------------- in a few words


def _dangers(under_way: UnderWay) -> Sequence[Danger]:
    return under_way.stops if under_way.ended_by is None else (*under_way.stops, under_way.ended_by)


def _standing(under_way: UnderWay) -> str:
    """How a thing under way stands, in a sentence; the list of what can still stop it follows."""
    subject, ended_by = _first(under_way.subject), under_way.ended_by
    if under_way.over:
        if ended_by is None:
            return f"{subject} {under_way.over}."
        return f"{subject} {under_way.over}, because of: {ended_by.short} ({ended_by.rules})."
    if under_way.stopped:
        return f"{subject} is not over, and cannot go on. What stopped it:"
    if all(danger.why.late for danger in under_way.stops):
        return f"{subject}: nothing can prevent the effect any more. It can still end in an error:"
    return f"{subject} can still be stopped by:"


def _line(under_way: UnderWay) -> str:
    """The same as a line of a table; stops at the device's own gate stand together behind their place."""
    if under_way.over:
        cause = "" if under_way.ended_by is None else f"; {under_way.ended_by.short} ({under_way.ended_by.rules})"
        return f"{under_way.subject} {under_way.over}{cause}"
    if under_way.stopped:
        return f"{under_way.subject} is stopped: {under_way.stops[0].short}"
    here = [danger.why.short for danger in under_way.stops if not danger.inner]
    there = [danger.why.short for danger in under_way.stops if danger.inner]
    parts = [", ".join(here)] + ([f"at the device: {', '.join(there)}"] if there else [])
    return f"{under_way.subject}: {'; '.join(part for part in parts if part)}"


def _first(subject: str) -> str:
    """A subject at the beginning of a sentence; an id stays as it is spelt."""
    return subject.replace("the ", "The ", 1) if subject.startswith("the ") else subject


def _state_lines(state: State, scenario: str) -> Iterator[str]:
    """What is so, one `label: text` each: what the scenario has, whether or not there is any of it yet."""
    if scenario == "fallback":
        yield f"attempts: {state.attempts}"
    elif scenario not in ("rpc", "resolve"):
        yield f"prompts: {state.prompts}"
        yield f"effects: {state.effects}"
        yield f"open questions: {', '.join(state.open) or _NONE}"
    if state.policy:
        yield f"policy in force: {state.policy}"
    if scenario == "review":
        yield f"permission: {state.grant or _NONE}"
        if state.note:
            yield f"note: {state.note}"
    if scenario == "gate":
        yield f"remembered rules: {_rules(state)}"
        if state.posture:
            yield f"posture: {state.posture}"


def _rules(state: State) -> str:
    more = state.rules_in_all - len(state.rules)
    return "; ".join([*state.rules, *([f"and {more} older"] if more else [])]) or _NONE
