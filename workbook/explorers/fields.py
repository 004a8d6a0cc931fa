"""How the what-if panel's state is shown: its controls with their options, remarks on it, and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from labsim.describe.ledger import visible
from labsim.js_values import stringify
from workbook.explorers.case import Opened
from workbook.explorers.state import MOST_ANSWERS, SPACE, Answers, PanelState
from workbook.explorers.view import Asked
from workbook.explorers.words import AS_OPENED, GROUPS, LABELS, UNANSWERED, read_aloud, remarks_on
from workbook.show.grid import Grid

_SHOWN: Final = 60  # characters of what an opened case says, in an option


def groups(
    draft: PanelState, opened: Opened, dialogs: Sequence[Asked] | None, wrong: Iterable[str]
) -> list[dict[str, Any]]:
    """The groups of controls as plain values, for the widget.

    `dialogs`: those that open, which decide how many answers there are to give; None where nothing was played.
    `wrong`: the controls that contradict each other.
    """
    contradicting = frozenset(wrong)
    made = []
    for legend, names in GROUPS.items():
        fields = [field for name in names for field in _fields(name, draft, opened, dialogs)]
        for field in fields:
            field["wrong"] = field["name"] in contradicting
        made.append({"legend": legend, "fields": fields})
    return made


def _fields(
    name: str, draft: PanelState, opened: Opened, dialogs: Sequence[Asked] | None
) -> Iterator[dict[str, Any]]:
    value = getattr(draft, name)
    if name == "answers":
        yield from _answer_fields(draft.answers, opened, dialogs)
    elif name == "repeat":
        number = opened.kept[name]["repeat"] if value is None else value
        yield {"name": name, "label": LABELS[name], "kind": "number", "value": str(number), "options": []}
    else:
        options = [{"word": str(word), "text": read_aloud(name, word, opened.names.reason)} for word in SPACE[name]]
        if name in opened.kept:
            options.insert(0, {"word": AS_OPENED, "text": as_opened(name, opened)})
        yield _choice(name, LABELS[name], AS_OPENED if value is None else str(value), options)


def _choice(name: str, label: str, value: str, options: list[dict[str, str]]) -> dict[str, Any]:
    return {"name": name, "label": label, "kind": "choice", "value": value, "options": options}


def _answer_fields(
    answers: tuple[Answers, ...] | None, opened: Opened, dialogs: Sequence[Asked] | None
) -> Iterator[dict[str, Any]]:
    """One control a dialog, and one for each answer whose dialog never opens."""
    if answers is None or ("answers" in opened.kept and not answers):
        options = [
            {"word": AS_OPENED, "text": as_opened("answers", opened)},
            {"word": "", "text": "none, start over"},
        ]
        yield _choice("answers", LABELS["answers"], AS_OPENED if answers is None else "", options)
    if answers is None:
        return
    came = dialogs or ()
    texts = [{"word": str(word), "text": read_aloud("answers", word)} for word in Answers]
    nothing = {"word": UNANSWERED, "text": "no answer in the list"}
    for place in range(min(max(len(answers), len(came)), MOST_ANSWERS)):
        label = f"Answer {place + 1}"
        if place < len(came):
            whose = "approval" if came[place].gate else "a handler's question"
            label = f"Answer to dialog {place + 1} ({came[place].call}, {whose})"
        elif dialogs is not None:
            label = f"Answer {place + 1}, whose dialog never opens"
        value = str(answers[place]) if place < len(answers) else UNANSWERED
        options = [nothing, *texts] if place >= len(answers) - 1 else texts  # a list has no gaps
        yield _choice(f"answers.{place}", label, value, options)


def as_opened(name: str, opened: Opened) -> str:
    """What an opened case says where no word of a control's says it."""
    piece = opened.kept[name]
    says = visible(stringify(next(iter(piece.values())))) if piece else "nothing"
    return f"as in the opened case: {says if len(says) <= _SHOWN else says[:_SHOWN] + '…'}"


# --------------------------------------------------------------------------------------------------------- remarks


def remarks(state: PanelState, opened: Opened, dialogs: Sequence[Asked]) -> list[str]:
    """What a reader of the panel may not expect: odd values, answers that fit no dialog, what was opened."""
    return [*remarks_on(state), *_on_answers(state.answers, dialogs), *_on_opened(state, opened)]


def _on_answers(answers: tuple[Answers, ...] | None, dialogs: Sequence[Asked]) -> Iterator[str]:
    if answers is None:
        return
    spare = [f"{place} ({read_aloud('answers', one)})" for place, one in enumerate(answers, 1)][len(dialogs) :]
    if spare:
        opens = f"{len(dialogs) or 'no'} dialog{'s open' if len(dialogs) > 1 else ' opens'}"
        yield f"Answer{'s' if len(spare) > 1 else ''} {', '.join(spare)}: never used, since {opens}."
    if missing := max(len(dialogs) - len(answers), 0):
        which = f"dialog {len(dialogs)} has" if missing == 1 else f"the last {missing} dialogs have"
        yield f"The list of answers ends before the dialogs do: {which} no answer, as if dismissed."


def _on_opened(state: PanelState, opened: Opened) -> Iterator[str]:
    """What an opened case brought along that no control says."""
    if opened.further:
        yield f"Kept as they are, without a control: {', '.join(opened.further)}."
    if kept := [LABELS[name] for name in opened.kept if getattr(state, name) is None]:
        yield f"Kept as in the opened case, since no option says it: {', '.join(kept)}."
    if opened.left_out:
        yield (
            f"Not taken over: {', '.join(opened.left_out)}. They are about the opened case, "
            "and need not hold once something is changed."
        )


# ------------------------------------------------------------------------------------------------------ as a table


def state_grid(state: PanelState, opened: Opened) -> Grid:
    """Every control and what it is set to."""
    rows = tuple(
        (legend, LABELS[name], _reads(name, state, opened)) for legend, names in GROUPS.items() for name in names
    )
    return Grid(
        caption="How the panel is set", columns=("group", "control", "set to"), rows=rows, header=1, group=0
    )


def _reads(name: str, state: PanelState, opened: Opened) -> str:
    value = getattr(state, name)
    if value is None:
        return as_opened(name, opened)
    if name == "answers":
        return "\n".join(f"{place}. {read_aloud(name, one)}" for place, one in enumerate(value, 1)) or "none"
    return read_aloud(name, value, opened.names.reason)
