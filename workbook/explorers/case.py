"""A panel's state as a case, and a case as a panel's state: what is copied out, and what is read back.

What a case says and no control can say is kept as it is and goes out again as it came in; what the panel cannot
honour (claims about another run, another scenario) is named, or refused.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import FieldInfo, replace

from labsim.case.given import WrapperGiven
from labsim.case.model import Case, WrapperCase
from labsim.errors import CaseError
from labsim.reading.reading import parse_case
from labsim.strict_json import parse
from workbook.explorers.problems import Problem, problems
from workbook.explorers.state import (
    ANSWERS,
    MOST_ANSWERS,
    NAMES,
    PARTS,
    SPACE,
    START,
    Names,
    PanelState,
    Part,
    given,
    unusual,
)

PANEL: Final = "the panel"  # stands for a file in messages
PASTED: Final = "the pasted case"
MOST_CHARACTERS: Final = 20_000  # of a pasted case; a real one has a few hundred
_NAMED: Final = 64  # (part, names) whose words are remembered
_ABOUT_A_RUN: Final = ("title", "expected", "why", "rules", "recorded", "source_refs")


class Opened(Struct, frozen=True, kw_only=True):
    """What the panel holds of a case besides its own words.

    `kept` has the pieces of `given` that no word says, by the part they belong to; `further` the keys that no
    control is about. `excused` are the `unusual` of the case. `left_out` names what was not taken over.
    """

    id: str = "what-if"
    kept: Mapping[str, Mapping[str, Any]] = {}
    further: Mapping[str, Any] = {}
    names: Names = NAMES
    excused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    start: PanelState = START


FRESH: Final = Opened()


def written(state: PanelState, opened: Opened = FRESH) -> dict[str, Any]:
    """The case of a state, as JSON has it: every part from its controls, or as it was in the opened case."""
    as_is: dict[str, Any] = {}
    for part in PARTS:
        if getattr(state, part.name) is None:
            as_is |= opened.kept.get(part.name, {})
    says = {**given(state, opened.names), **as_is, **opened.further}
    keys = WrapperGiven.__struct_encode_fields__
    is_it = state == opened.start or opened.id.endswith(FRESH.id)  # what was changed has another name, but one only
    made: dict[str, Any] = {
        "id": opened.id if is_it else f"{opened.id}-{FRESH.id}",
        "scenario": WrapperCase.scenario,
        "given": {key: says[key] for key in sorted(says, key=keys.index)},
    }
    still = [path for path in opened.excused if path.split(".")[1].partition("[")[0] in {**as_is, **opened.further}]
    if odd := list(dict.fromkeys((*still, *unusual(state, opened.names)))):
        made["unusual"] = odd
    return made


def as_json(state: PanelState, opened: Opened = FRESH) -> str:
    """The case of a state as text, to be copied."""
    return json.dumps(written(state, opened), indent=2, ensure_ascii=False)


def as_case(state: PanelState, opened: Opened = FRESH) -> Case:
    """The case of a state. Raises: CaseError, where the state stands for none that can be played."""
    return parse_case(written(state, opened), PANEL)


def missing(state: PanelState, opened: Opened = FRESH) -> tuple[Problem, ...]:
    """What a state takes from an opened case that says nothing of the kind."""
    return tuple(
        Problem(
            controls=(part.name,),
            found="There is no opened case that this could be taken from",
            remedy=f"Use {getattr(START, part.name)}.",
            button="Set it back",
            fix={part.name: getattr(START, part.name)},
        )
        for part in PARTS
        if getattr(state, part.name) is None and part.name not in opened.kept
    )


def refused(error: CaseError, opened: Opened) -> Problem:
    """What the reader of cases says of a state: of pieces that were kept, it alone knows what goes with what."""
    where = error.place.removeprefix(f"{PANEL}.")
    key = where.removeprefix("given.").partition(".")[0].partition("[")[0]
    start = opened.start
    return Problem(
        controls=tuple(part.name for part in PARTS if key in part.keys) or ("tier",),
        found=f"{where}: {error.found}",
        remedy=error.remedy,
        button="Go back to the opened case",
        fix={name: getattr(start, name) for name in start.__struct_fields__},
    )


# --------------------------------------------------------------------------------------------------------- reading


def read(text: str) -> tuple[PanelState, Opened]:
    """A case that somebody pasted. Raises: CaseError: where, what was found, what would do."""
    if len(text) > MOST_CHARACTERS:
        found = f"the text has {len(text):,} characters"
        raise CaseError(PASTED, found, f"Paste one case, of at most {MOST_CHARACTERS:,}.")
    if not text.strip():
        raise CaseError(
            PASTED, "there is no text", 'Paste one case: {"id": …, "scenario": "wrapper", "given": {…}}.'
        )
    raw = parse(text.encode("utf-8", "surrogatepass"), PASTED)
    return read_raw(raw, PASTED)


def read_raw(raw: object, place: str) -> tuple[PanelState, Opened]:
    """A case from decoded JSON. Raises: CaseError."""
    if isinstance(raw, dict) and "cases" in raw and "given" not in raw:
        raise CaseError(place, "this is a file of cases", 'Paste one of the objects in its list "cases".')
    return open_case(parse_case(raw, place), place)


def open_case(case: Case, place: str = "") -> tuple[PanelState, Opened]:
    """The words for a case, and what no word says. Raises: CaseError, for a case of another scenario."""
    if not isinstance(case, WrapperCase):
        raise CaseError(
            f"{place or case.id}.scenario",
            f"{case.scenario!r} cases have no controls here",
            f'Open one of scenario "{WrapperCase.scenario}"; desk.play(…) plays the others.',
        )
    says = _plain(case.given)
    first = says.pop("revise", UNSET)
    if first is not UNSET:  # the same handler under its longer name
        says["handlers"] = [{"revise": first}, *says.get("handlers", [])]
    names = _names(says)
    words: dict[str, Any] = {}
    kept: dict[str, Mapping[str, Any]] = {}
    for part in PARTS:
        piece = {key: says.pop(key) for key in part.keys if key in says}
        found = _words(part, piece, names)
        if found is None:
            kept[part.name] = piece
            words[part.name] = None
            words |= {name: _neutral(name) for name in part.fields[1:]}
        else:
            words |= found
    state = PanelState(**words)
    fields = {field.name: field for field in msgspec.structs.fields(case)}
    left_out = tuple(
        fields[name].encode_name for name in _ABOUT_A_RUN if getattr(case, name) != _default(fields[name])
    )
    excused = tuple(path for path in case.unusual if path not in unusual(state, names))
    return state, Opened(
        id=case.id, kept=kept, further=says, names=names, excused=excused, left_out=left_out, start=state
    )


def _names(says: Mapping[str, Any]) -> Names:
    """What the case calls things. A reason of its own is the one that the switch for it then stands for."""
    approval = says.get("approval")
    reason = approval.get("reason") if isinstance(approval, dict) else None
    return Names(
        tool=str(says.get("tool", NAMES.tool)),
        reason=reason if isinstance(reason, str) and reason else NAMES.reason,
    )


def _plain(part: Struct) -> dict[str, Any]:
    """A piece of a case as JSON, without what it would say anyway."""
    made: dict[str, Any] = {}
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        default = _default(field)
        if value is UNSET or (type(value) is type(default) and value == default):
            continue
        made[field.encode_name] = _plain_value(value)
    return made


def _plain_value(value: Any) -> Any:
    if isinstance(value, Struct):
        return _plain(value)
    if isinstance(value, list) and value and all(isinstance(one, Struct) for one in value):
        return [_plain(one) for one in value]
    return value


def _default(field: FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _words(part: Part, piece: Mapping[str, Any], names: Names) -> dict[str, Any] | None:
    """The words of a part's controls that write just this piece; None if no words do."""
    if part.name == "answers":
        known = {_spelled(value): answer for answer, value in ANSWERS.items()}
        answers = tuple(known.get(_spelled(choice)) for choice in piece.get("choices", ()))
        return {"answers": answers} if None not in answers and len(answers) <= MOST_ANSWERS else None
    found = _inverse(part.name, names).get(_spelled(piece))
    return None if found is None else dict(found)


@lru_cache(maxsize=_NAMED)
def _inverse(name: str, names: Names) -> Mapping[str, dict[str, Any]]:
    """Every piece that a part can write, with its words: found by writing them all, so there is one rule only."""
    part = next(one for one in PARTS if one.name == name)
    made: dict[str, dict[str, Any]] = {}
    for values in itertools.product(*(_all_words(field) for field in part.fields)):
        words = dict(zip(part.fields, values, strict=True))
        state = replace(START, answers=(), **words)
        if not problems(state):
            made.setdefault(_spelled(part.write(state, names)), words)
    return made


def _all_words(field: str) -> Iterator[Any]:
    return iter(SPACE[field])


def _neutral(field: str) -> StrEnum:
    """The word of a control that adds nothing to a part which is kept."""
    word = next(iter(SPACE[field]))
    assert isinstance(word, StrEnum)
    return word


def _spelled(value: Any) -> str:
    """A value as one text, the same for equal JSON: 1 and true differ, the order of keys does not count."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
