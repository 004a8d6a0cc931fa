"""A trace that shall break a given piece: read, played with the piece, and played with a sound one beside it.

A trace proves something about the piece only if it makes the flawed one do what it must not, and the sound one
does not do it in the same run.
"""

from __future__ import annotations

from msgspec import Struct

from labsim.case.model import DispatchCase, LoopCase, WrapperCase
from labsim.errors import CaseError
from labsim.play.report import Report
from labsim.reading.reading import parse_case
from workbook.errors import WorkbookError
from workbook.exercise.flawed_hosts import PIECES
from workbook.exercise.invariants import PersonSays, against
from workbook.exercise.kinds import Situation, TraceExercise
from workbook.grading.calls import bring_piece
from workbook.submission.json_values import as_object
from workbook.submission.play import play_mine
from workbook.submission.submission import Noted

NAME = "your trace"


class BadTrace(WorkbookError):
    """What was handed in is no trace for this exercise: where, what was found, and what would do."""


class TriedTrace(Struct, frozen=True, kw_only=True):
    """A trace, played twice; the rows of each ledger (from 1) show where what must hold does not."""

    flawed: Report
    sound: Report
    flawed_rows: tuple[int, ...]
    sound_rows: tuple[int, ...]
    sound_text: str
    noted: tuple[Noted, ...] = ()

    @property
    def held(self) -> bool:
        """Whether the flawed piece fell, and the sound one stood."""
        return bool(self.flawed_rows) and not self.sound_rows


def try_trace(exercise: TraceExercise, handed_in: object) -> TriedTrace:
    """Play a trace with both pieces. Raises: BadTrace."""
    situation = _situation(exercise, handed_in)
    pair = PIECES[exercise.piece]
    flawed = play_mine(situation, bring_piece(pair.flawed))
    sound = play_mine(situation, bring_piece(pair.sound))
    return TriedTrace(
        flawed=flawed,
        sound=sound,
        flawed_rows=against(exercise.broken, flawed),
        sound_rows=against(exercise.broken, sound),
        sound_text=pair.sound.text,
    )


def _situation(exercise: TraceExercise, handed_in: object) -> Situation:
    """The exercise's case with the trace in it; its choices are what a person says. Raises: BadTrace."""
    try:
        trace = as_object(handed_in, NAME)
    except CaseError as error:
        raise BadTrace(str(error)) from None
    for key in trace:
        if key in exercise.given:
            remedy = f"Leave it out. Your trace may set: {', '.join(exercise.opens)}."
            raise BadTrace(f"{NAME}: {key}: it is given, and not yours to change. {remedy}")
        if key not in exercise.opens:
            raise BadTrace(
                f"{NAME}: {key}: this is not yours to set. Your trace may set: {', '.join(exercise.opens)}."
            )
    raw = {"id": "your-trace", "scenario": exercise.scenario, "given": {**exercise.given, **trace}}
    try:
        case = parse_case(raw, NAME)
    except CaseError as error:
        raise BadTrace(str(error)) from None
    assert isinstance(case, WrapperCase | DispatchCase | LoopCase)
    person = tuple(PersonSays(says=choice) for choice in case.given.choices)
    return Situation(case=case, person=person)
