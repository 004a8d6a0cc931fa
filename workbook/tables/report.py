"""What a played case showed, as tables: lifecycle, ledger, comparisons, outcomes, frames.

Every function takes a report or anything that has one (a live play), reads only what happened, and says in its
caption when the case still waits. Text columns are of dtype `string`, and no cell of theirs is missing. `policies`
and `walk` have the tables that need more than a ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET

from labsim.call.loop_events import LoopResulted
from labsim.call.nesting import Nesting, nested
from labsim.describe.ledger import describe_lines, visible
from labsim.events.call import CallReturned, CallThrew
from labsim.events.event import is_heard
from labsim.js_values import stringify
from labsim.play.report import FieldCheck, Report
from workbook.ledgers.claims import compare_prediction, observed_value
from workbook.ledgers.played import (
    WAITING,
    CallChoice,
    NothingHappened,
    Played,
    caption_of,
    eventful,
    makes_calls,
    placed,
    report_of,
    several,
)
from workbook.ledgers.withheld import unless_withheld
from workbook.show.frame import INTEGER, MAYBE_INTEGER, NOTHING, TEXT, Look, Table
from workbook.tables.policies import policy_cells, policy_matrix
from workbook.tables.steps import steps

__all__ = [
    "Table",
    "expected",
    "frames",
    "ledger",
    "lifecycle",
    "outcomes",
    "policy_cells",
    "policy_matrix",
    "predicted",
    "steps",
]

YES, NO = "yes", "no"
SO_FAR, NOT_YET = "so far", "not yet"  # the same, of a case that waits
#: The two directions of an RPC frame, seen from the server that plays the case.
TO_CLIENT, FROM_CLIENT = "to client", "from client"


@unless_withheld
def lifecycle(played: Played, call: CallChoice = None) -> Table:
    """What an observer hears of each call: one row per heard event, in order, and a closing row per call.

    Columns: `call` string, the call's id; `step` int64, from 1 in each call; `event` string, its recorded name, and
    `returned`, `threw` or `waiting` for the closing row; `says` string, line breaks kept. A call that came through
    the agent loop also has what the loop made of it (`loop_result`); one of the second host closes with what the
    model reads (`tool_finished`).
    A case that makes no calls shows all of its events, under the call `no call`. `call` (a number from 1, or an id)
    leaves out the other calls. Where one call runs inside another under the same id, as in a dispatch, a column
    `lane` after `call` says whose event it is: `outer` or `inner`.
    Raises: NotPlayed, NothingHappened, NoSuchCall.
    """
    report = eventful(played)
    rows: dict[str, list[Any]] = {"call": [], "lane": [], "step": [], "event": [], "says": []}
    steps_of: dict[str, int] = {}

    def add(call_id: str, nesting: Nesting | None, event: str, says: str) -> None:
        steps_of[call_id] = step = steps_of.get(call_id, 0) + 1
        for column, value in zip(rows.values(), (call_id, str(nesting or NOTHING), step, event, says), strict=True):
            column.append(value)

    shown = placed(report, call)
    gates = nested(one.event for one in shown)
    for one, gate in zip(shown, gates, strict=True):
        if not makes_calls(report) or is_heard(one.event):
            add(one.call, gate.nesting, one.event.kind_name(), describe_lines(one.event))
        elif isinstance(one.event, CallReturned | CallThrew):
            add(one.call, gate.nesting, *_closing(one.event, inner=gate.nesting is Nesting.INNER))
        elif isinstance(one.event, LoopResulted):
            add(one.call, gate.nesting, one.event.kind_name(), describe_lines(one.event))
    if not report.finished and shown and shown[-1].number == len(report.ledger):
        add(shown[-1].call, gates[-1].nesting, "waiting", _open_questions(report))
    if Nesting.INNER not in rows["lane"]:
        del rows["lane"]  # one lane needs no name
    types = {"call": TEXT, "lane": TEXT, "step": INTEGER, "event": TEXT, "says": TEXT}
    return Table(
        rows,
        {name: types[name] for name in rows},
        Look(caption=caption_of("Lifecycle of", report), header="event", group="call"),
    )


@unless_withheld
def ledger(played: Played) -> Table:
    """Every event of a case, in order: those that are heard and the desk's own remarks.

    Columns: `call` string, the id of the call or `no call`; `n` int64, from 1 over the whole case; `at_ms` int64,
    simulated milliseconds since the case began; `event` string; `kind` string, `heard` where whoever follows the
    host hears of it, `desk` where the simulator explains a silent step; `says` string, line breaks kept.
    Raises: NotPlayed, NothingHappened.
    """
    report = eventful(played)
    found = placed(report)
    return Table(
        {
            "call": [one.call for one in found],
            "n": [one.number for one in found],
            "at_ms": [one.event.at_ms for one in found],
            "event": [one.event.kind_name() for one in found],
            "kind": ["heard" if is_heard(one.event) else "desk" for one in found],
            "says": [describe_lines(one.event) for one in found],
        },
        {"call": TEXT, "n": INTEGER, "at_ms": INTEGER, "event": TEXT, "kind": TEXT, "says": TEXT},
        Look(caption=caption_of("Ledger of", report), header="event", group="call"),
    )


@unless_withheld
def expected(played: Played) -> Table:
    """Each field that the case claims, beside what was observed.

    Columns, all string: `field`; `expected` and `observed`, values as JSON spells them, texts as they are;
    `agrees`, `yes` or `no`, and `so far` or `not yet` while the case waits, since both can still change.
    Raises: NotPlayed; NothingHappened, if the case claims nothing.
    """
    report = report_of(played)
    if not report.checks:
        raise NothingHappened(report, "the case claims nothing", "outcomes([report]) shows what it observed.")
    return _comparison("Expected and observed in", "expected", report, report.checks)


@unless_withheld
def predicted(predicts: Mapping[str, Any], played: Played) -> Table:
    """Each predicted field beside the observed one; columns as `expected`, with `predicted` in place of it.

    `predicts` has the fields that a case can claim, and `events`, a mapping of event kind to how often it occurs.
    Raises: NotPlayed; BadPrediction, for a field or a value that no case can show.
    """
    report = report_of(played)
    return _comparison("Predicted and observed in", "predicted", report, compare_prediction(predicts, report))


@unless_withheld
def outcomes(played: Sequence[Played], also: Sequence[str] = ()) -> Table:
    """Several cases side by side, in the order given.

    Columns: `case` string; `outcome` string, `waiting for an answer` while it is open, `–` for a case without one;
    `prompts`, `tool_calls`, `effects` Int64, missing where a case shows no such number; one string column for each
    observed field named in `also` (`input`, `tier`, …); `error` string, its first line,
    `–` for none. Raises: NotPlayed; BadPrediction, for a field that no case can show.
    """
    reports = several(played)
    further = {field: [_value(observed_value(field, report)) for report in reports] for field in also}
    columns: dict[str, list[Any]] = {
        "case": [visible(report.case.id) for report in reports],
        "outcome": [_outcome(report) for report in reports],
        "prompts": [report.observed.get("prompts") for report in reports],
        "tool_calls": [report.observed.get("toolCalls") for report in reports],
        "effects": [report.observed.get("effects") for report in reports],
        **further,
        "error": [_first_line(report.observed.get("error")) for report in reports],
    }
    types = dict.fromkeys(columns, TEXT) | dict.fromkeys(("prompts", "tool_calls", "effects"), MAYBE_INTEGER)
    many = "" if len(reports) == 1 else "s"
    return Table(columns, types, Look(caption=f"Outcomes of {len(reports)} case{many}", header="case"))


@unless_withheld
def frames(played: Played) -> Table:
    """The RPC frames of a case, in both directions.

    Columns: `n` int64, the number in the ledger; `at_ms` int64; `direction` string, `to client` or `from client`;
    `id` string, the dialog's, `–` without one; `answers` string, for a frame from the client whether it was taken
    as an answer, `yes` or `no`, and `–` for the others; `frame` string, compact JSON.
    Raises: NotPlayed; NothingHappened, if the case sent none.
    """
    from labsim.rpc.events import FrameReceived, FrameSent

    report = eventful(played)
    found = [one for one in placed(report) if isinstance(one.event, FrameSent | FrameReceived)]
    if not found:
        raise NothingHappened(
            report, "no RPC frame was sent in this case", 'Play one whose answers come over RPC ("ui": "rpc").'
        )
    events: list[Any] = [one.event for one in found]
    return Table(
        {
            "n": [one.number for one in found],
            "at_ms": [event.at_ms for event in events],
            "direction": [TO_CLIENT if isinstance(event, FrameSent) else FROM_CLIENT for event in events],
            "id": [_dialog_of(event.frame) for event in events],
            "answers": ["–" if isinstance(event, FrameSent) else YES if event.consumed else NO for event in events],
            "frame": [visible(stringify(event.frame)) for event in events],
        },
        {
            "n": INTEGER,
            "at_ms": INTEGER,
            "direction": TEXT,
            "id": TEXT,
            "answers": TEXT,
            "frame": TEXT,
        },
        Look(caption=caption_of("RPC frames of", report), header="n"),
    )


def _closing(event: CallReturned | CallThrew, *, inner: bool) -> tuple[str, str]:
    """How a call ended; a call inside another one names its tool, since both have the same id."""
    whose = f"{event.tool_name}: " if inner else ""
    if isinstance(event, CallThrew):
        return "threw", visible(f"{whose}{event.error}")
    return "returned", visible(f"{whose}{'an error result' if event.is_error else 'a result'}: {event.content}")


def _open_questions(report: Report) -> str:
    asked = [f"{question.kind} {question.id} is open: {question.shown}" for question in report.questions]
    return visible("\n".join(asked)) if asked else "nothing has been decided yet"


def _comparison(what: str, claimed: str, report: Report, checks: Sequence[FieldCheck]) -> Table:
    yes, no = (YES, NO) if report.finished else (SO_FAR, NOT_YET)
    return Table(
        {
            "field": [check.field for check in checks],
            claimed: [_value(check.expected) for check in checks],
            "observed": [_value(check.observed) for check in checks],
            "agrees": [yes if check.agrees else no for check in checks],
        },
        {"field": TEXT, claimed: TEXT, "observed": TEXT, "agrees": TEXT},
        Look(caption=caption_of(what, report, _verdict(report, checks)), header="field", differs=("agrees", NO)),
    )


def _verdict(report: Report, checks: Sequence[FieldCheck]) -> str:
    differ = [check.field for check in checks if not check.agrees]
    if not report.finished:
        return ""
    if not checks:
        return "nothing to compare"
    if not differ:
        return "all agree" if len(checks) > 1 else "it agrees"
    return f"{len(differ)} of {len(checks)} {'differs' if len(differ) == 1 else 'differ'}: {', '.join(differ)}"


def _value(value: Any) -> str:
    if value is UNSET:
        return "nothing of the kind"
    return visible(value if isinstance(value, str) else stringify(value))


def _outcome(report: Report) -> str:
    if not report.finished:
        return WAITING
    found = report.observed.get("outcome", report.observed.get("settled"))
    return "–" if found is None else visible(str(found))


def _first_line(text: Any) -> str:
    return visible(text.split("\n")[0]) if isinstance(text, str) and text else "–"


def _dialog_of(frame: Any) -> str:
    found = frame.get("id") if isinstance(frame, Mapping) else None
    return "–" if found is None else _value(found)
