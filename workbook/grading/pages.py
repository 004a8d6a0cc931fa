"""How an attempt at an exercise stands, and the page that explains it: not a verdict without the run that shows it.

Four answers are told apart: not attempted, not yet, right, and code that failed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from labsim.case.given import DispatchGiven, LoopGiven, WrapperGiven
from labsim.js_values import stringify
from labsim.play.report import FieldCheck, Report
from workbook.checkpoint.reveal import comparison
from workbook.exercise.flawed_hosts import PIECES
from workbook.exercise.kinds import CallExercise, CaseExercise, Exercise, Form, GateExercise, TraceExercise
from workbook.grading.calls import TriedCall
from workbook.grading.gate import TriedGate, gate_overview
from workbook.grading.own_cases import CheckedCase
from workbook.grading.traces import TriedTrace
from workbook.ledgers.field_rows import rows_of
from workbook.ledgers.grid import ledger_grid
from workbook.ledgers.played import placed
from workbook.show.grid import Grid
from workbook.show.page import Block, Fold, Heading, Items, Literal, Page, Paragraph, Table, page
from workbook.submission.submission import Trouble


def task(exercise: Exercise) -> Page:
    """What is to be written, its hints, and how to hand it in."""
    return page(
        Heading(text=f"Exercise {exercise.id}"),
        Paragraph(text=exercise.task),
        Items(items=exercise.rules),
        *(_piece(exercise) if isinstance(exercise, TraceExercise) else ()),
        *(
            Fold(title=f"Hint {number} of {len(exercise.hints)}", blocks=(Paragraph(text=hint),))
            for number, hint in enumerate(exercise.hints, start=1)
        ),
        Paragraph(text=f"{_tried_in(exercise)} Hand it in by its name: desk.grade({exercise.id!r}, name)"),
    )


def _tried_in(exercise: Exercise) -> str:
    match exercise:
        case GateExercise():
            return f"It is tried in {len(exercise.situations)} situations that are not shown here."
        case CallExercise():
            made = sum(sweep.size for sweep in exercise.sweeps)
            more = f", and then in {made:,} more that are made from parts" if made else ""
            return f"It is tried in {len(exercise.situations)} situations that are not shown here{more}."
        case TraceExercise():
            return "It is played twice, with this piece and with a sound one to the same end."
    return "It is read as strictly as the workbook's own cases, and played."


def _piece(exercise: TraceExercise) -> Iterator[Block]:
    yield Literal(label="The piece to break", text=PIECES[exercise.piece].flawed.text)
    given = {"scenario": exercise.scenario, "given": exercise.given}
    yield Literal(
        label="What is given with it, and not yours to change", text=json.dumps(given, indent=2, ensure_ascii=False)
    )
    opens = ", ".join(exercise.opens)
    yield Paragraph(lead="Your trace may set:", text=f"{opens}. The names are those of a case's given.")
    yield Paragraph(lead="It breaks the piece if this no longer holds:", text=exercise.broken.says)


class Grade(StrEnum):
    """How an attempt stands."""

    NOT_ATTEMPTED = "not attempted"
    FAILED = "your code failed"
    NOT_YET = "not yet"
    RIGHT = "right"


class Requirement(Struct, frozen=True, kw_only=True):
    """One thing that is asked of a case, and whether it is so."""

    says: str
    held: bool


class Graded(Struct, frozen=True, kw_only=True):
    """How an attempt stands. As the value of a cell it shows itself; `tried` is what was played of it so far.

    `says` is what kept it from being tried at all; "" if it was. `asked` are the requirements of a case exercise.
    `unsaved` says why the try could not be kept; "" if it was, or need not be.
    """

    exercise: Exercise
    grade: Grade
    tried: tuple[TriedGate | TriedCall | TriedTrace, ...] = ()
    says: str = ""
    checked: CheckedCase | None = None
    asked: tuple[Requirement, ...] = ()
    unsaved: str = ""

    @property
    def failing(self) -> Any:
        """The first situation that did not come out as it should; None if all did."""
        return next((one for one in self.tried if not one.held), None)

    @property
    def held(self) -> int:
        """How many situations, or requirements, held: for the progress file."""
        return sum(one.held for one in (*self.tried, *self.asked))

    @property
    def of(self) -> int:
        """How many there are, whether they were tried or not."""
        match self.exercise:
            case CallExercise():
                return len(self.exercise.situations) + len(self.exercise.sweeps)
            case GateExercise():
                return len(self.exercise.situations)
            case TraceExercise():
                return 1
        return len(self.asked) or 1

    def page(self) -> Page:
        """The verdict in words, and whatever explains it."""
        stands = "cannot be tried" if self._unplayable else self.grade
        heading = Heading(text=f"Exercise {self.exercise.id}: {stands}")
        unsaved = (Paragraph(lead="This try is not kept.", text=self.unsaved),) if self.unsaved else ()
        return page(heading, *self._verdict(), *unsaved)

    @property
    def _unplayable(self) -> bool:
        """Whether it is data that cannot be tried: no code of anybody's has failed."""
        return self.grade is Grade.FAILED and self.exercise.form in (Form.SETTINGS, Form.TRACE, Form.CASE)

    def _verdict(self) -> Iterator[Block]:
        match self.grade:
            case Grade.NOT_ATTEMPTED:
                yield Paragraph(lead="Not attempted.", text=_NOT_ATTEMPTED[self.exercise.form])
            case Grade.RIGHT:
                yield from self._right()
            case Grade.FAILED:
                yield from self._failed()
            case Grade.NOT_YET:
                yield from self._not_yet()

    def _right(self) -> Iterator[Block]:
        match self.exercise:
            case GateExercise():
                gate = tuple(one for one in self.tried if isinstance(one, TriedGate))
                yield Paragraph(lead="Right.", text=_all(len(gate)))
                yield Table(grid=gate_overview(gate))
            case CallExercise():
                calls = tuple(one for one in self.tried if isinstance(one, TriedCall))
                written = [one for one in calls if one.sweep is None]
                made = sum(one.made for one in calls if one.sweep is not None)
                more = f" So does what has to hold in {made:,} more, which were made from parts." if made else ""
                yield Paragraph(lead="Right.", text=_all(len(written)) + more)
                yield from _overview(calls)
                if remarks := calls[0].remarks:
                    yield Items(items=remarks)
            case TraceExercise():
                for one in self.tried:
                    assert isinstance(one, TriedTrace)
                    yield from _of_trace(one, self.exercise)
            case _:
                yield Paragraph(lead="Right.", text="It is read without fault, and a run shows all that it claims.")
                yield from self._of_case()

    def _failed(self) -> Iterator[Block]:
        failing = self.failing
        if failing is None:
            yield Paragraph(lead=_FAILED[self.exercise.form], text=self.says)
            return
        says = failing.noted[0].says if failing.noted else ""
        yield Paragraph(lead="Your code failed.", text=f"{says[:1].upper()}{says[1:]}")
        if isinstance(failing, TriedCall):
            yield from _given(failing)
        if failing.noted and failing.noted[0].trouble is Trouble.MUTATED:
            yield Paragraph(text="What is shown to a handler belongs to the call. The ledger shows where it went.")
        else:
            yield Paragraph(text="No answer is no consent: the ledger shows what the host made of it.")
        yield _ledger(failing.report, frozenset(), self.exercise.form)

    def _not_yet(self) -> Iterator[Block]:
        if isinstance(self.exercise, TraceExercise):
            one = self.failing
            assert isinstance(one, TriedTrace)
            yield from _of_trace(one, self.exercise)
            return
        if isinstance(self.exercise, CaseExercise):
            missing = [one.says for one in self.asked if not one.held]
            yield Paragraph(lead="Not yet.", text="Still missing:")
            yield Items(items=tuple(missing))
            yield from self._of_case()
            return
        failing = self.failing
        assert isinstance(failing, TriedGate | TriedCall)
        yield from self._first_that_does_not(failing)

    def _first_that_does_not(self, failing: TriedGate | TriedCall) -> Iterator[Block]:
        title = f"{failing.title[:1].lower()}{failing.title[1:]}"
        written = [one for one in self.tried if not isinstance(one, TriedCall) or one.sweep is None]
        if isinstance(failing, TriedCall) and failing.sweep is not None:
            text = (
                f"All {len(written)} written situations come out as they should. Then situations are made, "
                f"{failing.sweep.size:,} of them: {title}. Number {failing.made} is the first that goes wrong."
            )
        else:
            held = sum(one.held for one in written)
            text = f"{held} of {len(written)} situations come out as they should. The first that does not: {title}."
        yield Paragraph(lead="Not yet.", text=text)
        rows = set(_against(failing.report))
        if isinstance(failing, TriedCall):
            yield from _given(failing)
            for broken in failing.broken:
                yield Paragraph(lead="This has to hold, and does not:", text=broken.invariant.says)
                rows |= set(broken.rows)
        if failing.report.checks:
            yield comparison("What should come out, and what did", failing.report.checks, claim="should be")
        yield Paragraph(lead="Why:", text=failing.why)
        if isinstance(failing, TriedCall) and failing.remarks:
            yield Items(items=failing.remarks)
        if rows:
            yield Paragraph(text=_rows_show_it(rows))
        yield _ledger(failing.report, frozenset(rows), self.exercise.form)

    def _of_case(self) -> Iterator[Block]:
        if self.checked is not None:
            yield from self.checked.blocks()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.page()._repr_mimebundle_()

    def __str__(self) -> str:
        return str(self.page())


_DOTS: Final = (
    "The three dots are still there. Put your own {0} in their place, run that cell, and then run this one again."
)
_NOT_ATTEMPTED: Final = {
    Form.POLICY: _DOTS.format("rule"),
    Form.APPROVER: _DOTS.format("rule"),
    Form.SETTINGS: _DOTS.format("values"),
    Form.HANDLER: _DOTS.format("rule"),
    Form.ANSWERS: _DOTS.format("rule"),
    Form.TRACE: _DOTS.format("values"),
    Form.CASE: _DOTS.format("values"),
}
_FAILED: Final = dict.fromkeys(Form, "Your code failed.") | {
    Form.SETTINGS: "These settings cannot be tried.",
    Form.TRACE: "This trace cannot be played.",
    Form.CASE: "This case cannot be read.",
}


def _all(count: int) -> str:
    return f"All {count} situations come out as they should, those included that you could not see."


def _of_trace(tried_trace: TriedTrace, exercise: TraceExercise) -> Iterator[Block]:
    match (bool(tried_trace.flawed_rows), bool(tried_trace.sound_rows)):
        case (True, False):
            yield Paragraph(
                lead="Right.",
                text=f"“{exercise.broken.says}” no longer holds with the piece you were given, and still "
                "holds with a sound one.",
            )
            yield Paragraph(lead="Why:", text=exercise.why)
        case (False, _):
            yield Paragraph(
                lead="Not yet.",
                text=f"The piece stands: “{exercise.broken.says}” holds in this run. Look for a way round.",
            )
        case _:
            yield Paragraph(
                lead="Not yet.",
                text=f"“{exercise.broken.says}” no longer holds, but with a sound piece it does not hold either. "
                "So the trace shows something about this host, and nothing about this piece.",
            )
    if tried_trace.flawed_rows:
        yield Paragraph(text=_rows_show_it(set(tried_trace.flawed_rows)))
    yield _rows(tried_trace.flawed, "Ledger with the piece you were given", tried_trace.flawed_rows)
    if tried_trace.held:
        yield Fold(title="The sound piece", blocks=(Literal(text=tried_trace.sound_text),))
    if tried_trace.flawed_rows:
        yield _rows(tried_trace.sound, "Ledger of the same trace with the sound one", tried_trace.sound_rows)


def _overview(tried: tuple[TriedCall, ...]) -> Iterator[Table]:
    """Each written situation with its questions and effects; then each sweep, with what held in all of it."""
    written = [one for one in tried if one.sweep is None]
    rows = tuple((one.title, _asked(one.report), _ran(one.report)) for one in written)
    yield Table(grid=Grid(caption="What was tried", columns=("situation", "asked", "what came of it"), rows=rows))
    held = tuple(
        (sweep.title[:1].upper() + sweep.title[1:], f"{one.made:,}", "\n".join(claim.says for claim in sweep.holds))
        for one in tried
        if (sweep := one.sweep) is not None
    )
    if held:
        columns = ("made from", "situations", "what held in all of them")
        yield Table(grid=Grid(caption="What has to hold", columns=columns, rows=held, numbers=frozenset({1})))


def _asked(report: Report) -> str:
    """How often somebody was asked for an approval."""
    prompts: int = report.observed.get("prompts", 0)
    return {0: "nobody", 1: "once", 2: "twice"}.get(prompts, f"{prompts} times")


def _ran(report: Report) -> str:
    """How many of the calls ran."""
    effects, calls = report.observed.get("effects", 0), len(report.calls)
    if calls == 1:
        return "it ran" if effects else "it did not run"
    return f"{effects} of {calls} ran"


def _given(tried_call: TriedCall) -> Iterator[Block]:
    """The situation, now that something was handed in for it."""
    given: dict[str, Any] = msgspec.to_builtins(tried_call.report.case.given)
    yield Literal(
        label=f"The situation, for the scenario {tried_call.report.case.scenario}", text=_json(_short(given))
    )
    for reply in tried_call.situation.person:
        yield Paragraph(
            lead="A person who is asked:", text=f"{stringify(reply.says)}, after {reply.after_ms:,} ms."
        )


def _short(given: dict[str, Any]) -> dict[str, Any]:
    """Without what stands at its default, which the decoder fills in."""
    defaults: dict[str, Any] = {}
    for kind in (WrapperGiven, DispatchGiven, LoopGiven):
        for field in msgspec.structs.fields(kind):
            if field.default is not msgspec.NODEFAULT:
                defaults[field.encode_name] = field.default
            elif field.default_factory is not msgspec.NODEFAULT:
                defaults[field.encode_name] = field.default_factory()
    kept = {key: value for key, value in given.items() if key not in defaults or value != defaults[key]}
    return {"tool": given.get("tool"), **kept} if "tool" in given else kept


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _ledger(report: Report, rows: frozenset[int], form: Form) -> Table:
    whose = {
        Form.POLICY: "with your code as the approver",
        Form.APPROVER: "with your code as the approver",
        Form.SETTINGS: "under your settings",
        Form.HANDLER: "with your handler",
        Form.ANSWERS: "with your approver",
    }
    return _rows(report, f"Ledger of this situation, {whose[form]}", rows)


def _rows(report: Report, caption: str, rows: Iterable[int]) -> Table:
    events = placed(report)
    grid = ledger_grid(caption, events)
    marked = frozenset(place for place, one in enumerate(events) if one.number in frozenset(rows))
    return Table(grid=replace(grid, marked=marked))


def _rows_show_it(rows: set[int]) -> str:
    named = ", ".join(map(str, sorted(rows)))
    return f"Row {named} of the ledger shows it." if len(rows) == 1 else f"Rows {named} of the ledger show it."


def _against(report: Report) -> Iterator[int]:
    """The rows that show what should have come out otherwise; of a list, only those of its differing entries."""
    for check in report.checks:
        if not check.agrees:
            rows = rows_of(check.field, report)
            yield from (row for place, row in enumerate(rows) if _differs(check, place))


def _differs(check: FieldCheck, place: int) -> bool:
    wanted, found = check.expected, check.observed
    if not (isinstance(wanted, list) and isinstance(found, list)):
        return True
    return wanted[place : place + 1] != found[place : place + 1]
