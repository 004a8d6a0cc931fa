"""An exercise as a learner is given it: what is to be written, its hints, and how to hand it in.

Above `exercise_file` and `flawed`; below `chapters`. Nothing here tells of a situation: those are hidden until
something is handed in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from workbook.exercise.flawed_hosts import PIECES
from workbook.exercise.kinds import CallExercise, Exercise, GateExercise, TraceExercise
from workbook.show.page import Block, Fold, Heading, Items, Literal, Page, Paragraph, page


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
