"""Checkpoints as data: the file format, read strictly, and its JSON Schema.

Above `labsim.case`, whose vocabulary predictions use, and `judging`; below `checkpoints`, which plays the cases.
A file holds questions, beliefs and explanations, and never says which option is right: that is found by playing the
case. `fixtures/schema/checkpoints.schema.json` is made by `schema_text`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.case import Expected
from labsim.errors import CaseError
from labsim.strictjson import parse
from labsim.terms import Outcome, Policy, Rule, Source, Tier
from workbook.judging import event_kinds

F = TypeVar("F", bound=Struct)


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A piece of a file; a key it does not know is refused."""


class Predicts(Expected, frozen=True, kw_only=True):
    """Observed fields, as a case's `expected` names them, and how often an event stands in the ledger.

    `events`: count by kind of event, as `labsim.show.kind_of` names it.
    """

    events: dict[str, int] | UnsetType = UNSET


class Option(_Part, frozen=True, kw_only=True):
    """One answer to choose. What it predicts decides whether it is right; `why` explains it either way.

    `belief` is what somebody who chooses it may hold, and `counter` the case that contradicts it (None: the
    checkpoint's own). Both belong to wrong options only.
    """

    id: str
    text: str
    predicts: Predicts
    why: str
    belief: str | None = None
    counter: str | None = None


class _Checkpoint(_Part, frozen=True, kw_only=True, tag_field="kind"):
    """What every checkpoint has. `case` is played for the reveal; `retest` names a later one on the same belief."""

    id: str
    case: str
    prompt: str
    hints: tuple[str, ...] = ()
    retest: str | None = None

    kind: ClassVar[str]


class ChoiceCheckpoint(_Checkpoint, frozen=True, kw_only=True, tag="choice"):
    """One of several options. `scripted` is the option that the scripted learner commits."""

    options: tuple[Option, ...]
    scripted: str
    kind: ClassVar[str] = "choice"

    def option(self, option_id: str) -> Option | None:
        """The option of that id, or None."""
        return next((option for option in self.options if option.id == option_id), None)


class PaperCheckpoint(_Checkpoint, frozen=True, kw_only=True, tag="paper"):
    """Free text, which the learner compares with `worked`; a run of the case shows what `worked` `claims`."""

    worked: str
    claims: Predicts
    scripted: str
    kind: ClassVar[str] = "paper"


Checkpoint: TypeAlias = ChoiceCheckpoint | PaperCheckpoint


class CheckpointFile(_Part, frozen=True, kw_only=True):
    """The checkpoints of one chapter, in the order in which they are met."""

    schema_version: Literal[1]
    chapter: str
    checkpoints: tuple[Checkpoint, ...]


class Belief(_Part, frozen=True, kw_only=True):
    """Something people hold to be true. `because` says what makes it plausible."""

    id: str
    says: str
    because: str


class BeliefFile(_Part, frozen=True, kw_only=True):
    """All beliefs that options may name."""

    schema_version: Literal[1]
    beliefs: tuple[Belief, ...]


def content(checkpoint: Checkpoint) -> dict[str, Any]:
    """What the learner was asked: a commit is kept for this content, and no other.

    Explanations, hints and predicted fields are left out, so that mending them does not drop anybody's answer.
    """
    asked: dict[str, Any] = {"kind": checkpoint.kind, "case": checkpoint.case, "prompt": checkpoint.prompt}
    if isinstance(checkpoint, ChoiceCheckpoint):
        asked["options"] = [[option.id, option.text] for option in checkpoint.options]
    return asked


def claimed(predicts: Predicts) -> dict[str, Any]:
    """The fields that a prediction names, by wire name; never empty in a file that was read."""
    fields: dict[str, Any] = msgspec.to_builtins(predicts)
    return fields


# ---------------------------------------------------------------------------------------------------- reading


def parse_checkpoints(data: bytes, name: str) -> CheckpointFile:
    """The checkpoints in `data`. `name` stands for the file in messages.

    Raises: CaseError, with the place, what was found there and what would do.
    """
    file = _read(data, name, CheckpointFile)
    _distinct((checkpoint.id for checkpoint in file.checkpoints), f"{name}: checkpoints", "checkpoint")
    for number, checkpoint in enumerate(file.checkpoints):
        place = f"{name}: checkpoints[{number}] ({checkpoint.id})"
        _said(place, id=checkpoint.id, prompt=checkpoint.prompt, case=checkpoint.case)
        for step, hint in enumerate(checkpoint.hints):
            _said(place, **{f"hints[{step}]": hint})
        if isinstance(checkpoint, ChoiceCheckpoint):
            _check_options(checkpoint, place)
        else:
            _said(place, worked=checkpoint.worked, scripted=checkpoint.scripted)
            _check_claims(checkpoint.claims, f"{place}.claims")
        others = [other.id for other in file.checkpoints if other.id != checkpoint.id]
        if checkpoint.retest is not None and checkpoint.retest not in others:
            raise CaseError(
                f"{place}.retest", f"{checkpoint.retest!r} is no other checkpoint of this file", _one_of(others)
            )
    return file


def parse_beliefs(data: bytes, name: str) -> dict[str, Belief]:
    """The beliefs in `data`, by id. Raises: CaseError."""
    file = _read(data, name, BeliefFile)
    _distinct((belief.id for belief in file.beliefs), f"{name}: beliefs", "belief")
    for number, belief in enumerate(file.beliefs):
        _said(f"{name}: beliefs[{number}] ({belief.id})", id=belief.id, says=belief.says, because=belief.because)
    return {belief.id: belief for belief in file.beliefs}


def schema() -> dict[str, Any]:
    """The JSON Schema of a file of checkpoints, for editors."""
    made: dict[str, Any] = msgspec.json.schema(CheckpointFile)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Cedar Workbook checkpoints"
    return made


def schema_text() -> str:
    """The schema as the text of its file."""
    return f"{json.dumps(schema(), indent=2, ensure_ascii=False)}\n"


def _check_options(checkpoint: ChoiceCheckpoint, place: str) -> None:
    options = checkpoint.options
    if len(options) < 2:
        raise CaseError(
            f"{place}.options", f"{len(options)} is too few to choose from", "Give at least two options."
        )
    _distinct((option.id for option in options), f"{place}.options", "option")
    _distinct((option.text for option in options), f"{place}.options", "option", field="text")
    for number, option in enumerate(options):
        here = f"{place}.options[{number}] ({option.id})"
        _said(here, id=option.id, text=option.text, why=option.why)
        _check_claims(option.predicts, f"{here}.predicts")
    if checkpoint.option(checkpoint.scripted) is None:
        raise CaseError(
            f"{place}.scripted",
            f"{checkpoint.scripted!r} is not an option",
            _one_of([option.id for option in options]),
        )


def _check_claims(claims: Predicts, place: str) -> None:
    if not claimed(claims):
        raise CaseError(place, "nothing is predicted", "Name at least one observed field, such as prompts.")
    events = {} if claims.events is UNSET else claims.events
    for kind, count in events.items():
        if kind not in event_kinds():
            close = get_close_matches(kind, event_kinds(), n=1)
            raise CaseError(
                f"{place}.events.{kind}",
                "no event is of this kind",
                f"Did you mean {close[0]!r}?" if close else "`python -m labsim case ID` shows the kinds.",
            )
        if count < 0:
            raise CaseError(f"{place}.events.{kind}", f"{count} is no count", "Use 0 or more.")


def _said(place: str, **texts: str) -> None:
    for field, text in texts.items():
        if not text.strip():
            raise CaseError(f"{place}.{field}", "the text is blank", "Say something, or take the part out.")


def _distinct(values: Iterable[str], place: str, what: str, *, field: str = "id") -> None:
    seen: dict[str, int] = {}
    for number, value in enumerate(values):
        if value in seen:
            raise CaseError(
                f"{place}[{number}].{field}",
                f"{value!r} is already the {field} of [{seen[value]}]",
                f"Give each {what} {'an' if field == 'id' else 'a'} {field} of its own.",
            )
        seen[value] = number


def _one_of(words: Iterable[object]) -> str:
    return f"Use one of: {', '.join(map(str, words))}."


_WORDS: Final[Mapping[str, tuple[object, ...]]] = {
    "kind": tuple(kind.kind for kind in get_args(Checkpoint)),
    "schemaVersion": (1,),
    "outcome": tuple(Outcome),
    "policy": tuple(Policy),
    "rule": tuple(Rule),
    "source": tuple(Source),
    "tier": tuple(Tier),
}
_STRUCTS: Final = (CheckpointFile, ChoiceCheckpoint, PaperCheckpoint, Option, Predicts, BeliefFile, Belief)


def _read(data: bytes, name: str, kind: type[F]) -> F:
    raw = parse(data, name)
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        found, _, path = str(error).partition(" - at `")
        place = _named(raw, path.removesuffix("`").removeprefix("$"))
        raise CaseError(f"{name}: {place}" if place else name, *_explained(found, place)) from None


def _named(raw: Any, path: str) -> str:
    """`checkpoints[1] (second-call).options[0] (once).why`, for a path as the decoder gives it."""
    made: str = ""
    here = raw
    for step in re.findall(r"\[\d+\]|\[\.\.\.\]|\.?[^.\[\]]+", path):
        made += step
        if step == "[...]":  # a value of a mapping, whose key the decoder does not tell
            return made.removesuffix(step).lstrip(".")
        here = here[int(step[1:-1])] if step[0] == "[" else here.get(step.lstrip("."))
        if step[0] == "[" and isinstance(here, dict) and isinstance(here.get("id"), str):
            made += f" ({here['id']})"
    return made.lstrip(".")


def _explained(found: str, place: str) -> tuple[str, str]:
    """The decoder's words, made plain: what was found, and what would do."""
    if unknown := re.search(r"unknown field `(.*)`", found):
        known = {name for struct in _STRUCTS for name in struct.__struct_encode_fields__}
        close = get_close_matches(unknown[1], known, n=1)
        remedy = (
            f"Did you mean {close[0]!r}?" if close else "fixtures/schema/checkpoints.schema.json lists the keys."
        )
        return f"the key {unknown[1]!r} is not known here", remedy
    if missing := re.search(r"missing required field `(.*)`", found):
        return f"the key {missing[1]!r} is missing", f"Add {missing[1]!r}."
    if invalid := re.search(r"Invalid (?:enum )?value (.*)", found, re.DOTALL):
        words = _WORDS.get(place.rsplit(".", 1)[-1])
        return f"{invalid[1]} is not allowed here", _one_of(words) if words else ""
    return found[0].lower() + found[1:], ""
