"""The phases of the Review Desk as a picture, drawn from the transition table that the engine itself uses.

Nothing about a phase is typed here: names, steps, and what a step records or does to a grant are the table's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from labsim.review.base.states import TRANSITIONS, Action, GrantEffect, Phase, Step
from workbook.ledgers.played import Played
from workbook.ledgers.withheld import unless_withheld
from workbook.pictures.picture import LINE, Picture, arrow, box, label


@unless_withheld
def phases(after: Sequence[Played] = ()) -> Picture:
    """The phases of the desk and every step between them, from the table that the engine uses.

    Steps that can be taken in every phase of an open session stand by themselves below the picture. `after`: runs
    that come before it; while one of them is withheld, so is this, since it would tell the same.
    """
    edges: dict[tuple[Phase, Phase], list[str]] = {}
    for (phase, action), step in TRANSITIONS.items():
        if action not in _EVERYWHERE and phase is not Phase.CLOSED:
            edges.setdefault((phase, step.to), []).append(_says(action, step))
    text, listed = [], []
    for (phase, to), says in edges.items():
        text += [f"{phase} -> {to}" if phase is not to else f"{phase}, and still {to}", *(f"    {s}" for s in says)]
        listed += [f"{phase} to {to}: {one}" for one in says]
    common = [_common(action) for action in _EVERYWHERE]
    text += ["from every phase", *(f"    {one}" for one in common)]
    listed += [f"from every phase: {one}" for one in common]
    pieces, height = _phase_pieces(edges, common)
    return Picture(
        caption="The phases of the Review Desk, from its transition table",
        text="\n".join(text),
        pieces=tuple(pieces),
        height=height,
        listed=tuple(listed),
    )


_OPEN: Final = tuple(phase for phase in Phase if phase is not Phase.CLOSED)
_EVERYWHERE: Final = tuple(action for action in Action if all((phase, action) in TRANSITIONS for phase in _OPEN))


def _says(action: Action, step: Step) -> str:
    """A step in a few words: what it records, and what it does to the grant."""
    parts = [f"records {step.status}" if step.status else ""]
    if step.grant is not GrantEffect.KEPT:
        parts.append("gives a grant" if step.grant is GrantEffect.GIVEN else "ends a grant")
    told = ", ".join(part for part in parts if part)
    return f"{action} ({told})" if told else str(action)


def _common(action: Action) -> str:
    steps = [TRANSITIONS[phase, action] for phase in _OPEN]
    stays = all(step.to is phase for phase, step in zip(_OPEN, steps, strict=True))
    where = "the phase stays" if stays else f"to {steps[0].to}"
    closes = ", closes an open dialog" if steps[0].aborts else ""
    return f"{_says(action, steps[0])}: {where}{closes}"


def _phase_pieces(edges: dict[tuple[Phase, Phase], list[str]], common: Sequence[str]) -> tuple[list[str], float]:
    """Idle on the left, a dialog's phases on the right, the arrows with their steps between them."""
    hub, left, right = Phase.IDLE, 320.0, 720.0
    spokes = [phase for phase in _OPEN if phase is not hub]
    pieces: list[str] = []
    y = 10.0
    for number, phase in enumerate(spokes):
        out, back = edges.get((hub, phase), []), edges.get((phase, hub), [])
        height = (len(out) + len(back)) * LINE + 52
        lower = y
        for says, start, end in ((out, left, right), (back, right, left)):
            for one in says:
                lower += LINE
                pieces.append(label(one, (left + right) / 2, lower, "", "middle"))
            if says:
                lower += 8
                pieces.append(arrow(start, lower, end, lower))
                lower += 6
        pieces.append(box(right, y, 150, height - 26, str(phase)))
        if number + 1 < len(spokes) and (along := edges.get((phase, spokes[number + 1]))):
            pieces.append(arrow(right + 30, y + height - 26, right + 30, y + height))
            pieces.append(label(", ".join(along), right + 40, y + height - 9))
        y += height
    stays = edges.get((hub, hub), [])
    pieces.append(box(4, 10, left - 4, y - 36, str(hub), *stays))
    y += 4
    pieces.append(label("From every phase:", 4, y, "name"))
    for one in common:
        y += LINE
        pieces.append(label(one, 20, y))
    return pieces, y + 10
