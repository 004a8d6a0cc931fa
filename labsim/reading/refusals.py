"""Why a case is refused, in an author's words: where, what was found, what would do.

It reads the decoder's complaint for the path and the kind of trouble, and takes everything else from the classes
and from the JSON itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.case.model import CASE_CLASSES
from labsim.errors import CaseError, did_you_mean, found_and_path
from labsim.js_values import stringify

_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\[(\.\.\.)\]")
_SOME: Final = "..."  # some entry of a map whose keys are free: the decoder does not say which
_KEYS_LISTED: Final = 12  # more of them would bury the message; the schema lists all
_SHOWN: Final = 60  # characters of a value

_WANTED: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_REMEDIES: Final = {
    "schemaVersion": 'Add "schemaVersion": 1.',
    "cases": 'Add "cases", the list of cases.',
    "id": 'Add "id", a name that no other case has.',
    "given": 'Add "given", an object that says what is played.',
    "title": 'Add "title", what the dialog asks.',
}


def refusal(error: msgspec.ValidationError, raw: Any, kind: Any, place: str) -> CaseError:
    """The decoder's refusal of `raw` as a `kind`, made plain. `place` stands for where `raw` is."""
    trouble, path = found_and_path(error)
    steps = _steps(path)
    spot = _Spot(raw, kind)
    for step in steps:
        spot.enter(step)
    return CaseError(_joined(place, steps, raw), *_explained(trouble, spot))


def shown(value: object) -> str:
    """A value of a case as its author would know it again, cut to a line."""
    text = repr(value) if isinstance(value, str) else stringify(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def kind_of(value: object) -> str:
    """What kind of JSON a value is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    words = {list: "a list", str: "text", int: "a number", float: "a number", dict: "an object"}
    return words[type(value)]


def meant(word: object, words: Sequence[str]) -> str:
    """`Did you mean …? `, where a word looks like one of `words`; else nothing."""
    says = did_you_mean(word.strip().lower(), words, "") if isinstance(word, str) else ""
    return f"{says} " if says else ""


# ------------------------------------------------------------------------------------------------------ the place


def _steps(path: str) -> list[str | int]:
    return [int(step[2]) if step[2] else step[1] or step[3] for step in _STEP.finditer(path)]


def _joined(place: str, steps: Sequence[str | int], raw: Any) -> str:
    """`file: cases[2] (its-id).given.mode`; `place` is a file, or ends in a case already."""
    where = ""
    for number, step in enumerate(steps):
        if step != _SOME:
            where += f"[{step}]" if isinstance(step, int) else f".{step}"
        if number == 1 and steps[0] == "cases" and isinstance(step, int):
            case_id = raw["cases"][step].get("id") if isinstance(raw["cases"][step], dict) else None
            if isinstance(case_id, str) and case_id.isprintable() and case_id:
                where += f" ({case_id})"
    if not where:
        return place
    return f"{place}{where}" if place.endswith(")") else f"{place}: {where.removeprefix('.')}"


class _Spot:
    """A place in the JSON: the value there, the class it should be, and the classes on the way."""

    def __init__(self, raw: Any, kind: Any) -> None:
        self.value = raw
        self.types: Any = kind
        self.way: list[tuple[str, type[Struct]]] = []  # (the key below it that was taken, the class it is of)

    @property
    def here(self) -> type[Struct] | None:
        """The class of the object at this place, if that is settled."""
        found = [kind for kind in _flat(self.types) if isinstance(kind, type) and issubclass(kind, Struct)]
        if len(found) == 1:
            return found[0]
        tags = {kind.__struct_config__.tag: kind for kind in found}
        word = self.value.get(_tag_field(found)) if isinstance(self.value, dict) else None
        return tags.get(word) if isinstance(word, str) else None

    def enter(self, step: str | int) -> None:
        if isinstance(step, str) and step != _SOME:
            found = [kind for kind in _flat(self.types) if isinstance(kind, type) and issubclass(kind, Struct)]
            here, self.types = self.here, None
            if step == _tag_field(found):
                self.types = Literal[tuple(sorted(str(kind.__struct_config__.tag) for kind in found))]
            elif here is not None:
                self.types = next((f.type for f in msgspec.structs.fields(here) if f.encode_name == step), None)
                self.way.append((step, here))
        self.value = UNSET if step == _SOME else self.value[step]

    def words(self) -> list[str]:
        """What may stand here, where only certain words may."""
        words = [_words_of(kind) for kind in _flat(self.types) if kind is not UnsetType]
        return [word for each in words for word in each] if all(words) else []


def _tag_field(kinds: Sequence[type[Struct]]) -> str:
    """The key by which several classes are told apart; "" where there is none."""
    return str(kinds[0].__struct_config__.tag_field or "") if kinds else ""


def _flat(kind: Any) -> Iterator[Any]:
    """The alternatives of a type; of a list or a map, those of what is in it: a path goes through both at once."""
    if get_origin(kind) in (Union, UnionType, list, tuple, dict):
        for each in get_args(kind)[1 if get_origin(kind) is dict else 0 :]:
            if each is not ...:  # of a tuple of any length
                yield from _flat(each)
    else:
        yield kind


def _words_of(kind: Any) -> list[str]:
    if get_origin(kind) is Literal:
        return [each if isinstance(each, str) else stringify(each) for each in get_args(kind)]
    if kind is bool:
        return ["true", "false"]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(each.value) for each in kind]
    return []


# ----------------------------------------------------------------------------------------------------- the trouble


def _explained(trouble: str, spot: _Spot) -> tuple[str, str]:
    """What was found, and what would do."""
    if unknown := re.search(r"unknown field `(.*)`", trouble):
        return f"the key {unknown[1]!r} is not known here", _where_known(unknown[1], spot)
    if missing := re.search(r"missing required field `(.*)`", trouble):
        key = missing[1]
        if key == "scenario":
            return "the key 'scenario' is missing", f"Use one of: {', '.join(sorted(CASE_CLASSES))}."
        return f"the key {key!r} is missing", _REMEDIES.get(key, f'Add "{key}".')
    if wanted := re.search(r"Expected `(.*)`, got `(.*)`", trouble):
        words = [] if wanted[1] == "bool" else spot.words()
        if words:
            return f"{shown(spot.value)} is not allowed here", f"Use one of: {', '.join(words)}."
        remedy = f"Use {' or '.join(_WANTED.get(each, each) for each in wanted[1].split(' | '))}."
        if wanted[2] == "null":
            return "null is not allowed here", remedy
        what = "a value in it" if spot.value is UNSET else shown(spot.value)
        return f"{what} is {_WANTED.get(wanted[2], wanted[2])}", remedy
    words = spot.words()
    if words:
        remedy = f"{meant(spot.value, words)}Use {'one of: ' * (len(words) > 1)}{', '.join(words)}."
        return f"{shown(spot.value)} is not allowed here", remedy
    return f"{trouble[:1].lower()}{trouble[1:]}", "fixtures/schema/case.schema.json says what is allowed."


def _where_known(key: str, spot: _Spot) -> str:
    """A remedy for a key that is not known at a place: where it belongs, or what it may be meant to be."""
    here = spot.here
    if here is None:
        return "fixtures/schema/case.schema.json lists the keys."
    for field in msgspec.structs.fields(here):
        for kind in _flat(field.type):
            if isinstance(kind, type) and issubclass(kind, Struct) and key in _keys(kind):
                return f"It belongs into {field.encode_name!r}."
    for taken, above in reversed(spot.way):
        if key in _keys(above):
            return f"It belongs one level up, beside {taken!r}."
    known = _keys(here)
    listed = len(known) <= _KEYS_LISTED
    schema = "fixtures/schema/case.schema.json lists the keys."
    return did_you_mean(key, known, f"Known here: {', '.join(known)}." if listed else schema)


def _keys(kind: type[Struct]) -> tuple[str, ...]:
    tag = kind.__struct_config__.tag_field
    return (*((tag,) if tag else ()), *kind.__struct_encode_fields__)
