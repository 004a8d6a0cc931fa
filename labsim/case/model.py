"""The vocabulary of cases: inert JSON in, typed cases out, and a clear refusal of anything unknown.

Above `case_given`, which has what each scenario is given, and below `play`. A case never runs anything by itself.
One vocabulary serves teaching cases, learners' own and recorded answers; the editors' JSON Schema is made from it
(`schema`).

Two strictnesses. The *shape* is always strict: an unknown key, scenario or label is refused with its place, since
a case that says something the engine does not understand must not pass. *Values* that the host itself tolerates
(a misspelt mode, a policy word of the user's that is none) are legal in recorded answers, and refused in teaching
cases unless the case lists them in `unusual`: there they are almost always a typo.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.case.gate import DecidedByWord, GateGiven, ScopeWord, Verdict
from labsim.case.given import (
    CasePart,
    ClassifyGiven,
    ContextGiven,
    DispatchGiven,
    FallbackGiven,
    LoopGiven,
    ResolveGiven,
    ReviewGiven,
    RpcGiven,
    WrapperGiven,
)
from labsim.errors import CaseError, UnknownCase
from labsim.extras import SCENARIOS
from labsim.terms import Outcome, Policy, Rule, Source, Status, Tier


class Expected(CasePart, frozen=True, kw_only=True):
    """What a case claims; every field named here is compared with what the run showed."""

    outcome: Outcome | UnsetType = UNSET
    effects: int | UnsetType = UNSET
    prompts: int | UnsetType = UNSET
    tool_calls: int | UnsetType = UNSET
    successful_calls: int | UnsetType = UNSET
    rpc_requests: int | UnsetType = UNSET
    input: Any = UNSET
    tier: Tier | UnsetType = UNSET
    error_includes: str | UnsetType = UNSET
    prompt_includes: str | UnsetType = UNSET
    provider_safety_approved: bool | UnsetType = UNSET
    primitive_attempts: int | UnsetType = UNSET
    permission_denied: bool | UnsetType = UNSET
    policy: Policy | UnsetType = UNSET
    source: Source | UnsetType = UNSET
    rule: Rule | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    revision: int | UnsetType = UNSET
    text: str | UnsetType = UNSET
    authorized: bool | UnsetType = UNSET
    busy: bool | UnsetType = UNSET
    entries: int | UnsetType = UNSET
    dialogs: int | UnsetType = UNSET
    notices: list[str] | UnsetType = UNSET
    late_replies: int | UnsetType = UNSET
    frames: dict[str, int] | UnsetType = UNSET
    decisions: list[Verdict] | UnsetType = UNSET
    decided_by: list[DecidedByWord] | UnsetType = UNSET
    requests: int | UnsetType = UNSET
    resolutions: int | UnsetType = UNSET
    asked: int | UnsetType = UNSET
    rules_left: list[ScopeWord] | UnsetType = UNSET
    run_ended: bool | UnsetType = UNSET


class _Case(CasePart, frozen=True, kw_only=True, tag_field="scenario"):
    """What every case has. `rules` are the ids of the rules that decide it; `unusual` excuses odd values by path.

    `recorded` are ids of recorded answers that show the same of the real program.
    """

    id: str
    title: str = ""
    expected: Expected = Expected()
    why: str = ""
    rules: list[str] = msgspec.field(default_factory=list)
    recorded: list[str] = msgspec.field(default_factory=list)
    source_refs: list[str] = msgspec.field(default_factory=list)
    unusual: list[str] = msgspec.field(default_factory=list)

    scenario: ClassVar[str]


class WrapperCase(_Case, frozen=True, kw_only=True, tag="wrapper"):
    given: WrapperGiven
    scenario: ClassVar[str] = "wrapper"


class DispatchCase(_Case, frozen=True, kw_only=True, tag="dispatch"):
    given: DispatchGiven
    scenario: ClassVar[str] = "dispatch"


class LoopCase(_Case, frozen=True, kw_only=True, tag="loop"):
    given: LoopGiven
    scenario: ClassVar[str] = "loop"


class ResolveCase(_Case, frozen=True, kw_only=True, tag="resolve"):
    given: ResolveGiven
    scenario: ClassVar[str] = "resolve"


class ContextCase(_Case, frozen=True, kw_only=True, tag="context"):
    given: ContextGiven
    scenario: ClassVar[str] = "context"


class ClassifyCase(_Case, frozen=True, kw_only=True, tag="classify-error"):
    given: ClassifyGiven
    scenario: ClassVar[str] = "classify-error"


class FallbackCase(_Case, frozen=True, kw_only=True, tag="fallback"):
    given: FallbackGiven
    scenario: ClassVar[str] = "fallback"


class RpcCase(_Case, frozen=True, kw_only=True, tag="rpc"):
    given: RpcGiven
    scenario: ClassVar[str] = "rpc"


class ReviewCase(_Case, frozen=True, kw_only=True, tag="review"):
    given: ReviewGiven
    scenario: ClassVar[str] = "review"


class GateCase(_Case, frozen=True, kw_only=True, tag="gate"):
    given: GateGiven
    scenario: ClassVar[str] = "gate"


class ExtraCase(_Case, frozen=True, kw_only=True):
    """A case of a kind that a chapter registered (`labsim.extras`); each kind has a class of its own below this."""

    given: Any


Case: TypeAlias = (
    WrapperCase
    | DispatchCase
    | LoopCase
    | ResolveCase
    | ContextCase
    | ClassifyCase
    | FallbackCase
    | RpcCase
    | ReviewCase
    | GateCase
)
CASE_CLASSES: Final[dict[str, type[Any]]] = {kind.scenario: kind for kind in get_args(Case)}


class SourceClaim(CasePart, frozen=True, kw_only=True):
    """Something the source says that no case here runs; `not_executed` says what was left out."""

    id: str
    claim: str
    source_refs: list[str] = msgspec.field(default_factory=list)
    rules: list[str] = msgspec.field(default_factory=list)
    not_executed: str = ""


class CaseFile(CasePart, frozen=True, kw_only=True):
    """A file of cases, with what its reader should know of it."""

    schema_version: Literal[1]
    id: str
    title: str = ""
    label: str = ""
    domain: str = ""
    execution_policy: str = ""
    host: str = ""
    proof_status: str = ""
    sources: dict[str, str] = msgspec.field(default_factory=dict)
    cases: list[Case]
    source_only: list[SourceClaim] = msgspec.field(default_factory=list)


class RecordedCase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of recorded answers: what was asked of the real program, and what it did."""

    id: str
    scenario: str
    given: dict[str, Any]
    observed: dict[str, Any]


# ---------------------------------------------------------------------------------------------------- reading
# What is wrong is explained by `case_problems` and looked for by `case_values`; both know these classes, so they
# are imported where they are used.


def parse_file(data: bytes, name: str) -> CaseFile:
    """The cases of one file. `name` stands for the file in messages.

    Raises: CaseError, with the file, the place in it, what was found there and what would do.
    """
    from labsim.reading.checks import check_case
    from labsim.strict_json import parse

    raw = parse(data, name)
    _require_object(raw, name, "a case file", 'Begin it with {"schemaVersion": 1, "id": …, "cases": […]}.')
    if "cases" not in raw and "given" in raw:
        remedy = 'Put it into {"schemaVersion": 1, "id": …, "cases": […]}.'
        raise CaseError(name, "this is a single case, not a file of cases", remedy)
    file: CaseFile = _convert(raw, _kinds()[1], name)
    seen: dict[str, int] = {}
    for number, case in enumerate(file.cases):
        if case.id in seen:
            raise CaseError(
                f"{name}: cases[{number}].id",
                f"{case.id!r} is already the id of cases[{seen[case.id]}]",
                "Give each case an id of its own.",
            )
        seen[case.id] = number
        named = f" ({case.id})" if case.id.isprintable() and case.id.strip() else ""
        check_case(case, f"{name}: cases[{number}]{named}")
    return file


def parse_case(raw: object, place: str) -> Case:
    """One case from decoded JSON. Raises: CaseError."""
    from labsim.reading.checks import check_case

    _require_object(raw, place, "a case", "fixtures/schema/case.schema.json describes one.")
    case: Case = _convert_case(raw, place)
    check_case(case, place)
    return case


def parse_one(data: bytes, name: str, case_id: str) -> Case | None:
    """The case of that id in a file, or None; the file's other cases are left unread. Raises: CaseError.

    A cold `labsim case` has one case to show, and should not pay for checking all the others.
    """
    from labsim.strict_json import parse

    raw = parse(data, name)
    cases = raw.get("cases") if isinstance(raw, dict) else None
    for number, found in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(found, dict) and found.get("id") == case_id:
            return parse_case(found, f"{name}: cases[{number}] ({case_id})")
    return None


def recorded_case(row: RecordedCase, place: str) -> Case:
    """The case that a recorded line asks; odd values are allowed, since the real program answered them."""
    from labsim.reading.checks import check_labels

    case: Case = _convert({"id": row.id, "scenario": row.scenario, "given": row.given}, Case, place)
    check_labels(case, place)
    return case


def find(cases: Iterable[Case], case_id: str) -> Case:
    """The case of that id. Raises: UnknownCase, with ids that look alike."""
    known = {case.id: case for case in cases}
    if case_id in known:
        return known[case_id]
    from difflib import get_close_matches

    raise UnknownCase(case_id, get_close_matches(case_id, known, n=3))


def schema() -> dict[str, Any]:
    """The JSON Schema of a case file, for editors; made from the classes above."""
    made: dict[str, Any] = msgspec.json.schema(CaseFile)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Cedar Workbook case file"
    return made


def _kinds() -> tuple[Any, Any]:
    """What a case can be, and a file of cases: the closed union, and what chapters have added to it by now."""
    if not SCENARIOS:
        return Case, CaseFile
    from labsim.reading.own_kinds import kinds

    return kinds()


def _require_object(raw: object, place: str, what: str, remedy: str) -> None:
    if not isinstance(raw, dict):
        from labsim.reading.refusals import kind_of

        raise CaseError(place, f"{what} is a JSON object, and this is {kind_of(raw)}", remedy)


def _convert_case(raw: Any, place: str) -> Any:
    """A case by the class of its own kind, so that nobody pays for the other kinds; all explain what it refuses."""
    kind = raw.get("scenario")
    if isinstance(kind, str) and kind in CASE_CLASSES:
        try:
            return msgspec.convert(raw, CASE_CLASSES[kind])
        except msgspec.ValidationError:
            pass
    return _convert(raw, _kinds()[0], place)


def _convert(raw: Any, kind: Any, place: str) -> Any:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        from labsim.reading.refusals import refusal

        raise refusal(error, raw, kind, place) from None
