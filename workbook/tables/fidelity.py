"""How far the simulator can be trusted: the recorded answers of the real program, replayed for a learner to see.

Nothing here is stored: each table replays the recordings when it is made.
"""

from __future__ import annotations

from functools import cache
from itertools import zip_longest
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from labsim.case.model import RecordedCase
from labsim.errors import closest
from labsim.js_values import stringify
from labsim.library import about_recordings, declared_differences, recorded_files
from labsim.play.performance import run
from labsim.proof.recordings import read_lines
from labsim.proof.replay import Declared, Tally, as_recorded, first_difference, parse_declared, replay
from labsim.reading.reading import recorded_case
from workbook.errors import WorkbookError
from workbook.show.frame import INTEGER, TEXT, Look, Table

SAME: Final = "the same"
_LEFT_OUT: Final = frozenset({"calls"})  # shown event by event, not as one cell


class NotRecorded(WorkbookError):
    """No recorded answer of that id came with the workbook. Attribute: `id`."""

    def __init__(self, recorded_id: str, close: list[str]) -> None:
        self.id = recorded_id
        hint = f"Did you mean {', '.join(close)}?" if close else "wb.recordings() names the files that there are."
        super().__init__(f"No recorded answer has the id {recorded_id!r}. {hint}")


class About(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the recordings are recordings of. `asked` is a date, YYYY-MM-DD; `holds` says what is in each file."""

    program: str
    version: str
    license: str
    runtime: str
    asked: str
    holds: dict[str, str]


def about() -> About:
    """The recorded program, its version, and when it was asked. Raises: labsim.library.DataMissing."""
    return msgspec.json.decode(about_recordings().read_bytes(), type=About)


def recordings() -> Table:
    """What was asked of the real program.

    Columns: `file` string; `holds` string; `answers` int64, how many.
    """
    known = about()
    return Table(
        {
            "file": [path.name for path in recorded_files()],
            "holds": [known.holds.get(path.name, "–") for path in recorded_files()],
            "answers": [sum(1 for line in read_lines(path) if line.strip()) for path in recorded_files()],
        },
        {"file": TEXT, "holds": TEXT, "answers": INTEGER},
        Look(caption=f"Recorded answers of {_program(known)}", header="file"),
    )


def fidelity() -> Table:
    """Every recorded answer against the engine, replayed now.

    Columns: `file` string; `compared`, `agree`, `declared`, `differ` int64: how many answers, how many agree in
    every field, how many differ as declared, and how many differ without leave. Its last row is the sum.
    """
    files = _tallies()
    tallies = [*files, _sum(files)]
    known = about()
    return Table(
        {
            "file": [tally.name for tally in tallies],
            "compared": [tally.cases for tally in tallies],
            "agree": [tally.match for tally in tallies],
            "declared": [tally.declared for tally in tallies],
            "differ": [len(tally.problems) for tally in tallies],
        },
        {"file": TEXT, "compared": INTEGER, "agree": INTEGER, "declared": INTEGER, "differ": INTEGER},
        Look(caption=f"The engine against {_program(known)}", header="file"),
    )


def declared() -> Table:
    """The differences that are known and kept: `id`, `path`, `reason`, `date`, all strings; usually none."""
    rows = list(_declared().values())
    caption = "Declared differences" if rows else "Declared differences: none"
    return Table(
        {
            "id": [row.id for row in rows],
            "path": [row.path for row in rows],
            "reason": [row.reason for row in rows],
            "date": [row.date for row in rows],
        },
        {"id": TEXT, "path": TEXT, "reason": TEXT, "date": TEXT},
        Look(caption=caption, header="id"),
    )


def recorded(recorded_id: str) -> Table:
    """One recorded answer beside the engine's, made now.

    Columns: `field`, `recorded`, `engine` (`the same`, or what differs), `agrees` (`yes` or `no`), all strings. The
    rows are the observed fields, and then the events of each call. Raises: NotRecorded.
    """
    row = _row(recorded_id)
    engine = as_recorded(run(recorded_case(row, recorded_id)))
    lines = list(_fields(row.observed, engine)) + list(_events(row.observed, engine))
    return Table(
        {
            "field": [field for field, _, _ in lines],
            "recorded": [_spelled(told) for _, told, _ in lines],
            "engine": [
                SAME if first_difference(told, shown) is None else _spelled(shown) for _, told, shown in lines
            ],
            "agrees": ["yes" if first_difference(told, shown) is None else "no" for _, told, shown in lines],
        },
        {"field": TEXT, "recorded": TEXT, "engine": TEXT, "agrees": TEXT},
        Look(
            caption=f"Recorded answer {recorded_id}, asked with {stringify(row.given)}",
            header="field",
            differs=("agrees", "no"),
        ),
    )


def _fields(told: dict[str, Any], recorded: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    names = [*told, *(name for name in recorded if name not in told)]
    return [(name, told.get(name, UNSET), recorded.get(name, UNSET)) for name in names if name not in _LEFT_OUT]


def _events(told: dict[str, Any], recorded: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Each event of each call, named by call and place."""
    lines: list[tuple[str, Any, Any]] = []
    calls = list(zip(told.get("calls", []), recorded.get("calls", []), strict=False))
    for number, (one, other) in enumerate(calls, start=1):
        ours, theirs = other.get("events", []), one.get("events", [])
        lines.extend(
            (f"call-{number}, event {place}", told_event, shown_event)
            for place, (told_event, shown_event) in enumerate(zip_longest(theirs, ours, fillvalue=UNSET), start=1)
        )
    return lines


def _spelled(value: Any) -> str:
    if value is UNSET:
        return "–"
    return value if isinstance(value, str) else stringify(value)


def _row(recorded_id: str) -> RecordedCase:
    rows = _rows()
    if recorded_id not in rows:
        raise NotRecorded(recorded_id, closest(recorded_id, rows, 3))
    return rows[recorded_id]


@cache
def _rows() -> dict[str, RecordedCase]:
    decoder = msgspec.json.Decoder(RecordedCase)
    lines = (line for path in recorded_files() for line in read_lines(path) if line.strip())
    return {row.id: row for row in map(decoder.decode, lines)}


def _declared() -> dict[str, Declared]:
    path = declared_differences()
    return parse_declared(path.read_bytes(), path.name)


def _tallies() -> list[Tally]:
    known = _declared()
    return [replay(read_lines(path), path.name, known) for path in recorded_files()]


def _sum(tallies: list[Tally]) -> Tally:
    return Tally(
        name="all",
        cases=sum(tally.cases for tally in tallies),
        match=sum(tally.match for tally in tallies),
        declared=sum(tally.declared for tally in tallies),
        problems=[problem for tally in tallies for problem in tally.problems],
    )


def _program(known: About) -> str:
    return f"{known.program} {known.version} ({known.license}) under {known.runtime}, asked on {known.asked}"
