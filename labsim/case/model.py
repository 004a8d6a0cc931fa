"""The vocabulary of cases: inert JSON in, typed cases out, and a clear refusal of anything unknown.

A case never runs anything by itself. One vocabulary serves teaching cases, learners' own and recorded answers; the
editors' JSON Schema is made from it (`schema`).

Two strictnesses. The *shape* is always strict: an unknown key, scenario or label is refused with its place, since
a case that says something the engine does not understand must not pass. *Values* that the host itself tolerates
(a misspelt mode, a policy word of the user's that is none) are legal in recorded answers, and refused in teaching
cases unless the case lists them in `unusual`: there they are almost always a typo.
"""

from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.case.fallback import ClassifyGiven, FallbackGiven
from labsim.case.gate import DecidedByWord, GateGiven, ScopeWord, Verdict
from labsim.case.given import (
    CasePart,
    ContextGiven,
    DispatchGiven,
    LoopGiven,
    ResolveGiven,
    ReviewGiven,
    WrapperGiven,
)
from labsim.case.rpc import RpcGiven
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
