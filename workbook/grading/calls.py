"""Settings, handlers and approvers of the first host, tried: first as it is written, then as it is made.

Nothing is compared with a model answer: what has to come out is what a case expects, and what has to hold is what
an invariant says of its ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from labsim.play.report import Report
from workbook.exercise.flawed_hosts import Hand, Part
from workbook.exercise.invariants import ALWAYS, Invariant, against
from workbook.exercise.kinds import CallExercise, Form, Situation, Sweep
from workbook.submission.answerer import WatchedApprover
from workbook.submission.callables import has_dots
from workbook.submission.handler import WatchedHandler
from workbook.submission.play import Mine, play_mine
from workbook.submission.settings import SettingsRead, read_settings
from workbook.submission.submission import Noted

Bring = Callable[[], Mine]  # what somebody brings, made anew for each situation


class Broken(Struct, frozen=True, kw_only=True):
    """An invariant that a run did not keep, with the rows of its ledger that show it (from 1)."""

    invariant: Invariant
    rows: tuple[int, ...]


class TriedCall(Struct, frozen=True, kw_only=True):
    """One situation, played with what was handed in. Of a sweep, the first that failed, or else the last.

    `made`: how many situations were played for it; 1 for a written one. `sweep`: None for a written one.
    """

    situation: Situation
    report: Report
    noted: tuple[Noted, ...] = ()
    broken: tuple[Broken, ...] = ()
    sweep: Sweep | None = None
    made: int = 1
    remarks: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.situation.case.title if self.sweep is None else self.sweep.title

    @property
    def why(self) -> str:
        return self.situation.case.why if self.sweep is None else self.sweep.why

    @property
    def held(self) -> bool:
        """Whether it came out as it should, and nothing went wrong on the way."""
        if self.noted or self.broken:
            return False
        return self.report.finished if self.sweep is not None else self.report.matches is True


def bring(form: Form, handed_in: object) -> Bring:
    """How to make what was handed in, for one situation at a time. Raises: NotHandedIn."""
    match form:
        case Form.SETTINGS:
            settings = read_settings(handed_in)
            return lambda: Mine(settings=settings)
        case Form.HANDLER:
            WatchedHandler(handed_in)
            return lambda: Mine(handler=WatchedHandler(handed_in))
        case Form.ANSWERS:
            return lambda: Mine(approver=WatchedApprover(handed_in))
    raise AssertionError(f"{form} is not for calls of the first host")


def bring_piece(hand: Hand) -> Mine:
    """A given piece, as if somebody had handed it in."""
    match hand.part:
        case Part.SETTINGS:
            return Mine(settings=read_settings(hand.made))
        case Part.HANDLER:
            return Mine(handler=WatchedHandler(hand.made))
        case Part.ANSWERS:
            return Mine(approver=WatchedApprover(hand.made))
        case Part.DECLARATION:
            return Mine(declaration=hand.made)


def not_begun(exercise: CallExercise, handed_in: object) -> bool:
    """Whether the three dots of the skeleton are all that is there."""
    return handed_in is None or (exercise.form is Form.SETTINGS and has_dots(handed_in)) or handed_in is ...


def attempts(exercise: CallExercise, handed_in: object) -> Iterator[TriedCall]:
    """Each situation, played; then, if all of them held, each sweep.

    Raises: NotHandedIn; OutOfBounds, if making one of it never ends; whatever the class's own `__init__` raises.
    """
    make = bring(exercise.form, handed_in)
    all_held = True
    for situation in exercise.situations:
        one = _tried(situation, make())
        all_held = all_held and one.held
        yield one
    if all_held:
        for sweep in exercise.sweeps:
            yield swept(sweep, make)


def swept(sweep: Sweep, make: Bring) -> TriedCall:
    """The first situation of a sweep in which something goes wrong or does not hold; else the last."""
    for made, situation in enumerate(sweep.situations(), start=1):
        one = _tried(situation, make(), sweep)
        if not one.held or made == sweep.size:
            return replace(one, made=made)
    raise AssertionError(f"{sweep.id} makes no situation, and its file was checked for that")


def _tried(situation: Situation, mine: Mine, sweep: Sweep | None = None) -> TriedCall:
    report = play_mine(situation, mine)
    holds = (*sweep.holds, *ALWAYS) if sweep is not None else ALWAYS
    return TriedCall(
        situation=situation,
        report=report,
        noted=_noted(mine),
        broken=tuple(broken(holds, report)),
        sweep=sweep,
        remarks=mine.settings.remarks if isinstance(mine.settings, SettingsRead) else (),
    )


def broken(invariants: tuple[Invariant, ...], report: Report) -> Iterator[Broken]:
    """The invariants that a run did not keep."""
    for invariant in invariants:
        if rows := against(invariant, report):
            yield Broken(invariant=invariant, rows=rows)


def _noted(mine: Mine) -> tuple[Noted, ...]:
    watched: list[Any] = [part for part in (mine.handler, mine.approver) if part is not None]
    return tuple(note for part in watched for note in part.noted)
