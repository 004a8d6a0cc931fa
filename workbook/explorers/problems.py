"""Which words of the what-if panel contradict each other, in sentences, and what would put them right.

A contradiction is told and never settled in silence: a panel that dropped an answer by itself would teach that it
had never counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from workbook.explorers.state import (
    MOST_ANSWERS,
    MOST_CALLS,
    Answers,
    Handlers,
    PanelState,
    Policies,
    Tiers,
    Uis,
    YesNo,
)


class Problem(Struct, frozen=True, kw_only=True):
    """Controls that contradict each other, in words: what was found, and what would do.

    `controls` are those concerned; of an answer, `answers.0` and so on. `remedy` is a sentence, `fix` the words
    that would put it right, and `button` what a button says that sets them.
    """

    controls: tuple[str, ...]
    found: str
    remedy: str
    button: str
    fix: Mapping[str, Any]


def problems(state: PanelState) -> tuple[Problem, ...]:
    """Why a state stands for no case; none for a state that does."""
    return tuple(_problems(state))


def _problems(state: PanelState) -> Iterator[Problem]:
    yield from _about_the_declaration(state)
    if state.handler is None and state.second_handler is not Handlers.NONE:
        yield Problem(
            controls=("handler", "second_handler"),
            found="The handlers are those of the opened case, all of them",
            remedy="Set the second handler to none, or choose the first one here too.",
            button="Take the second handler away",
            fix={"second_handler": Handlers.NONE},
        )
    yield from _about_the_answers(state)
    if state.repeat is not None and not 1 <= state.repeat <= MOST_CALLS:
        near = min(max(state.repeat, 1), MOST_CALLS)
        yield Problem(
            controls=("repeat",),
            found=f"{state.repeat} calls cannot be made here",
            remedy=f"Use 1 to {MOST_CALLS}.",
            button=f"Make {near} call{'s' if near > 1 else ''}",
            fix={"repeat": near},
        )


def _about_the_declaration(state: PanelState) -> Iterator[Problem]:
    set_too = {
        name: getattr(state, name)
        for name in ("policy", "override", "reason")
        if getattr(state, name) not in (Policies.NONE, YesNo.NO)
    }
    if not set_too or state.tier in (Tiers.READ, Tiers.WRITE, Tiers.EXEC):
        return
    if state.tier is Tiers.NONE:
        found = "A tool that declares nothing has no policy, override or reason either"
    elif state.tier is Tiers.BY_INPUT:
        found = "A rule that looks at the input says itself what is declared"
    else:
        found = "The declaration is that of the opened case, all of it"
    words = " and ".join(name for name in set_too)
    yield Problem(
        controls=("tier", *set_too),
        found=found,
        remedy=f"Take away {words}, or choose a tier.",
        button=f"Take away {words}",
        fix={name: Policies.NONE if name == "policy" else YesNo.NO for name in set_too},
    )


def _about_the_answers(state: PanelState) -> Iterator[Problem]:
    answers = state.answers or ()
    if state.ui is Uis.NONE and (answers or state.answers is None):
        yield Problem(
            controls=("ui", *_rows(range(len(answers)))),
            found="Nobody is there, so nobody can answer",
            remedy="Take the answers away, or have somebody there.",
            button="Take the answers away",
            fix={"answers": ()},
        )
    if len(answers) > MOST_ANSWERS:
        yield Problem(
            controls=("answers",),
            found=f"There are {len(answers)} answers",
            remedy=f"Give {MOST_ANSWERS} at most.",
            button=f"Keep the first {MOST_ANSWERS}",
            fix={"answers": answers[:MOST_ANSWERS]},
        )
    if state.ui is Uis.YES and Answers.DISCONNECTS in answers:
        yield Problem(
            controls=("ui", *_rows(place for place, one in enumerate(answers) if one is Answers.DISCONNECTS)),
            found="Only an RPC client can disconnect, and a person is there",
            remedy="Put the person behind RPC, or choose another answer.",
            button="Put the person behind RPC",
            fix={"ui": Uis.RPC},
        )
    broken = [place for place, one in enumerate(answers) if one in (Answers.BREAKS, Answers.THROWS_VALUE)]
    if state.ui is Uis.RPC and broken:
        gone = tuple(Answers.DISCONNECTS if place in broken else one for place, one in enumerate(answers))
        yield Problem(
            controls=("ui", *_rows(broken)),
            found="An RPC client cannot make a dialog break or throw; it can only go away",
            remedy="Have the client disconnect, or choose another answer.",
            button="Have the client disconnect",
            fix={"answers": gone},
        )


def _rows(places: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"answers.{place}" for place in places)
