"""The vocabulary of cases: inert JSON in, typed cases out, and a clear refusal of anything unknown.

Above `terms` and `errors`, below `play`. A case never runs anything by itself. One vocabulary serves teaching
cases, learners' own and recorded answers; the editors' JSON Schema is made from these classes (`schema`).

Two strictnesses. The *shape* is always strict: an unknown key, scenario or label is refused with its place, since
a case that says something the engine does not understand must not pass. *Values* that the host itself tolerates
(a misspelt mode, a policy word of the user's that is none) are legal in recorded answers, and refused in teaching
cases unless the case lists them in `unusual`: there they are almost always a typo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.errors import CaseError, UnknownCase
from labsim.terms import ApprovalMode, Outcome, Policy, Rule, Source, Tier

Ui: TypeAlias = bool | Literal["rpc"]
Lifecycle: TypeAlias = Literal["none", "requested", "resolved", "both", "throwing"]
Preview: TypeAlias = Literal["match", "wire", "other-name", "other-id"]
Signal: TypeAlias = Literal["live", "aborted"]
ContextKind: TypeAlias = Literal["no-settings", "missing"]
Details: TypeAlias = Literal["json", "list", "empty", "null", "none"]
FunctionLabel: TypeAlias = Literal[
    "seed-slot",
    "seed-slot-reason",
    "override-publish",
    "from-args",
    "read-if-extra",
    "returns-undefined",
    "returns-null",
    "throws",
]


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A piece of a case; a key it does not know is refused."""


class HandlerSpec(_Part, frozen=True, kw_only=True):
    """One `tool_call` handler. `waits` (active ms) and `asks` (a confirm of its own) happen before the rest."""

    revise: Any = UNSET
    same: bool = False
    mutate: dict[str, Any] | UnsetType = UNSET
    block: Any = UNSET
    reason: Any = UNSET
    throws: Any = UNSET
    throws_value: Any = UNSET
    returns: Any = UNSET
    waits: int | UnsetType = UNSET
    asks: str | UnsetType = UNSET
    ext: str = "desk"
    tool: str | UnsetType = UNSET


class ResultHandlerSpec(_Part, frozen=True, kw_only=True):
    """One `tool_result` handler; the parts it names are the parts it changes."""

    content: str | list[Any] | UnsetType = UNSET
    details: Any = UNSET
    is_error: Any = UNSET
    throws: str | UnsetType = UNSET
    ext: str = "desk"
    tool: str | UnsetType = UNSET


class SessionSettings(_Part, frozen=True, kw_only=True):
    """The runner's own settings, which count when a call brings no context at all (A-20)."""

    mode: Any = UNSET
    user_policies: Any = UNSET


class CallGiven(_Part, frozen=True, kw_only=True):
    """What a whole call is given: declaration, settings, context, handlers, and who answers."""

    approval: Any = UNSET
    args: Any = UNSET
    mode: Any = UNSET
    user_policies: Any = UNSET
    context: ContextKind | UnsetType = UNSET
    session_settings: SessionSettings | UnsetType = UNSET
    auto_approve: Any = UNSET
    xdev_approved: Any = UNSET
    acp_approved_args: Any = UNSET
    report_tier: bool = False
    session_id: str | UnsetType = UNSET
    ui: Ui = True
    choices: list[Any] = []
    repeat: int = 1
    revise: Any = UNSET
    handlers: list[HandlerSpec] = []
    tool_call_timeout_ms: Any = UNSET
    result_handlers: list[ResultHandlerSpec] = []
    lifecycle: Lifecycle = "both"
    observe: bool = True
    observe_result: bool = True
    loop_emitted: bool | int | str | UnsetType = UNSET
    executor: Any = UNSET
    safety_check: bool = False
    safety_checks: list[dict[str, Any]] | UnsetType = UNSET
    preview: Preview | UnsetType = UNSET
    signal: Signal | UnsetType = UNSET
    abort_at_ms: int | UnsetType = UNSET
    legacy_name: Any = UNSET
    tool: str = "seed_note"
    details: Details = "json"


class WrapperGiven(CallGiven, frozen=True, kw_only=True):
    """One call, or several alike, through the tool wrapper."""


class StagedSpec(_Part, frozen=True, kw_only=True):
    """A preview that waits for `xd://resolve` or `xd://reject`. `fails` is what applying it says."""

    label: str
    fails: str | UnsetType = UNSET


class DispatchGiven(CallGiven, frozen=True, kw_only=True):
    """One write, or several alike, to an `xd://` address or another path.

    `content` is raw text in place of the JSON of `args`. `schema` is the device's: the seed's own if it is not
    given, `"open"` for one without limits, or a JSON Schema. `staged`, `plan_mode` and `auto_qa` are for the
    addresses that are no tools.
    """

    path: str = "xd://seed_slot"
    content: str | UnsetType = UNSET
    schema: Literal["open"] | dict[str, Any] | UnsetType = UNSET
    mounted: bool = True
    active: bool = False
    no_xdev: bool = False
    device_only: bool = False
    decorate: bool = False
    staged: StagedSpec | UnsetType = UNSET
    plan_mode: bool = False
    auto_qa: bool = False
    tool: str = "seed_slot"


class ResolveGiven(_Part, frozen=True, kw_only=True):
    """Policy resolution alone."""

    approval: Any = UNSET
    args: Any = UNSET
    mode: Any = UNSET
    user_policies: Any = UNSET
    legacy_name: Any = UNSET
    tool: str = "seed_note"
    details: Details = "none"


class ContextGiven(_Part, frozen=True, kw_only=True):
    """Mode and policies as read from an execute-time context."""

    context_value: Literal["undefined", "null"] | UnsetType = UNSET
    settings: bool = True
    auto_approve: Any = UNSET
    mode: Any = UNSET
    user_policies: Any = UNSET


class ClassifyGiven(_Part, frozen=True, kw_only=True):
    """An error to be classified: is it a permission denial?"""

    code: Any = UNSET
    message: Any = UNSET
    kind: Any = UNSET
    value: Any = UNSET


class FallbackGiven(_Part, frozen=True, kw_only=True):
    """A denied write or delete, and who might take it over. `op` is a write unless it says otherwise."""

    code: Any = UNSET
    message: Any = UNSET
    op: Any = UNSET
    target: Any = UNSET
    error: Any = UNSET
    errors: Any = UNSET
    handlers: Any = UNSET
    content: Any = UNSET
    session_id: Any = UNSET


class RpcGiven(_Part, frozen=True, kw_only=True):
    """One dialog over RPC, and what the client does."""

    method: Any = UNSET
    title: Any = UNSET
    options: Any = UNSET
    no_options: Any = UNSET
    message: Any = UNSET
    placeholder: Any = UNSET
    prefill: Any = UNSET
    prompt_style: Any = UNSET
    timeout: Any = UNSET
    on_timeout: Any = UNSET
    signal: Any = UNSET
    abort_before: Any = UNSET
    disconnect_before: Any = UNSET
    script: list[Any] = []


class Expected(_Part, frozen=True, kw_only=True):
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


class _Case(_Part, frozen=True, kw_only=True, tag_field="scenario"):
    """What every case has. `rules` are the spec's ids that decide it; `unusual` excuses odd values by path.

    `recorded` are ids of recorded answers that show the same of the real program.
    """

    id: str
    title: str = ""
    expected: Expected = Expected()
    why: str = ""
    rules: list[str] = []
    recorded: list[str] = []
    source_refs: list[str] = []
    unusual: list[str] = []

    scenario: ClassVar[str]


class WrapperCase(_Case, frozen=True, kw_only=True, tag="wrapper"):
    given: WrapperGiven
    scenario: ClassVar[str] = "wrapper"


class DispatchCase(_Case, frozen=True, kw_only=True, tag="dispatch"):
    given: DispatchGiven
    scenario: ClassVar[str] = "dispatch"


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


Case: TypeAlias = WrapperCase | DispatchCase | ResolveCase | ContextCase | ClassifyCase | FallbackCase | RpcCase
CASE_CLASSES: Final[dict[str, type[Any]]] = {kind.scenario: kind for kind in get_args(Case)}


class SourceClaim(_Part, frozen=True, kw_only=True):
    """Something the source says that no case here runs; `not_executed` says what was left out."""

    id: str
    claim: str
    source_refs: list[str] = []
    rules: list[str] = []
    not_executed: str = ""


class CaseFile(_Part, frozen=True, kw_only=True):
    """A file of cases, with what its reader should know of it."""

    schema_version: Literal[1]
    id: str
    title: str = ""
    label: str = ""
    domain: str = ""
    execution_policy: str = ""
    host: str = ""
    proof_status: str = ""
    sources: dict[str, str] = {}
    cases: list[Case]
    source_only: list[SourceClaim] = []


class RecordedCase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of recorded answers: what was asked of the real program, and what it did."""

    id: str
    scenario: str
    given: dict[str, Any]
    observed: dict[str, Any]


# ---------------------------------------------------------------------------------------------------- reading


def parse_file(data: bytes, name: str) -> CaseFile:
    """The cases of one file. `name` stands for the file in messages.

    Raises: CaseError, with the file, the place in it, what was found there and what would do.
    """
    from labsim.strictjson import parse

    raw = parse(data, name)
    if not isinstance(raw, dict):
        raise CaseError(name, f"a case file is a JSON object, and this is {_kind(raw)}", "See fixtures/schema.")
    if "cases" not in raw and "given" in raw:
        raise CaseError(name, "this is a single case, not a file of cases", 'Put it into {"cases": [...]}.')
    file: CaseFile = _convert(raw, CaseFile, name, raw)
    seen: dict[str, int] = {}
    for number, case in enumerate(file.cases):
        if case.id in seen:
            raise CaseError(
                f"{name}: cases[{number}].id",
                f"{case.id!r} is already the id of cases[{seen[case.id]}]",
                "Give each case an id of its own.",
            )
        seen[case.id] = number
        _check_case(case, f"{name}: cases[{number}] ({case.id})")
    return file


def parse_case(raw: object, place: str) -> Case:
    """One case from decoded JSON. Raises: CaseError."""
    if not isinstance(raw, dict):
        raise CaseError(place, f"a case is a JSON object, and this is {_kind(raw)}", "See fixtures/schema.")
    case: Case = _convert(raw, Case, place, raw)
    _check_case(case, place)
    return case


def recorded_case(row: RecordedCase, place: str) -> Case:
    """The case that a recorded line asks; odd values are allowed, since the real program answered them."""
    kind = CASE_CLASSES.get(row.scenario)
    if kind is None:
        raise CaseError(f"{place}.scenario", f"{row.scenario!r} is not a scenario of this engine", _SCENARIOS)
    case: Case = _convert({"id": row.id, "scenario": row.scenario, "given": row.given}, kind, place, row.given)
    if isinstance(case, WrapperCase | DispatchCase):
        _check_labels(case.given, place)
    if isinstance(case, DispatchCase):
        _check_schema(case.given, place)
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


_SCENARIOS: Final = f"Known scenarios: {', '.join(sorted(CASE_CLASSES))}."
_AT: Final = re.compile(r"^(?P<found>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_WORDS: Final[dict[str, tuple[Any, ...]]] = {
    "scenario": tuple(sorted(CASE_CLASSES)),
    "lifecycle": get_args(Lifecycle),
    "preview": get_args(Preview),
    "signal": get_args(Signal),
    "context": get_args(ContextKind),
    "details": get_args(Details),
    "contextValue": ("undefined", "null"),
    "outcome": tuple(Outcome),
    "tier": tuple(Tier),
    "policy": tuple(Policy),
    "source": tuple(Source),
    "rule": tuple(Rule),
    "schemaVersion": (1,),
    "ui": ("true", "false", '"rpc"'),
}


def _convert(raw: Any, kind: Any, place: str, root: Mapping[str, Any]) -> Any:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        parts = _AT.match(str(error))
        found, path = (parts["found"], parts["path"]) if parts else (str(error), None)
        where = (path or "$").removeprefix("$").removeprefix(".")
        raise CaseError(_place(place, where, root), *_explained(found, where)) from None


def _place(place: str, where: str, root: Mapping[str, Any]) -> str:
    """`file: cases[2] (its-id).given.mode`, for a path as the decoder gives it."""
    if not where:
        return place
    number = re.match(r"cases\[(\d+)\]", where)
    cases = root.get("cases")
    if number and isinstance(cases, list):
        case = cases[int(number[1])]
        if isinstance(case, dict) and isinstance(case.get("id"), str):
            where = f"{number[0]} ({case['id']}){where[number.end() :]}"
    return f"{place}: {where}" if not place.endswith(")") else f"{place}.{where}"


def _explained(found: str, where: str) -> tuple[str, str]:
    """The decoder's words, made plain: what was found, and what would do."""
    unknown = re.search(r"unknown field `(.*)`", found)
    if unknown:
        from difflib import get_close_matches

        name = unknown[1]
        close = get_close_matches(name, _known_keys(), n=1)
        return (
            f"the key {name!r} is not known here",
            f"Did you mean {close[0]!r}?" if close else "fixtures/schema/case.schema.json lists the keys.",
        )
    missing = re.search(r"missing required field `(.*)`", found)
    if missing:
        return f"the key {missing[1]!r} is missing", f"Add {missing[1]!r}."
    last = re.sub(r"\[\d+\]$", "", where.rsplit(".", 1)[-1])
    invalid = re.search(r"Invalid (?:enum )?value (.*)", found, re.DOTALL)
    if invalid:
        words = _WORDS.get(last)
        return (
            f"{invalid[1]} is not allowed here",
            f"Use one of: {', '.join(map(str, words))}." if words else "",
        )
    return found[0].lower() + found[1:], ""


def _known_keys() -> set[str]:
    keys: set[str] = set()
    parts: tuple[type[Any], ...] = (CaseFile, SourceClaim, Expected, HandlerSpec, ResultHandlerSpec)
    for kind in (*parts, *CASE_CLASSES.values()):
        keys.update(kind.__struct_encode_fields__)
    for case in CASE_CLASSES.values():
        given = case.__annotations__["given"]
        keys.update(globals()[given].__struct_encode_fields__)
    return keys


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    return {"list": "a list", "str": "text", "int": "a number", "float": "a number", "dict": "an object"}[
        type(value).__name__
    ]


# ----------------------------------------------------------------------------------------------------- values


def _check_case(case: Case, place: str) -> None:
    """Values a teaching case must not get wrong by accident. Raises: CaseError."""
    if not case.id.strip():
        raise CaseError(f"{place}.id", "the id is blank", "Give the case an id.")
    given = case.given
    odd = _Odd(case, place)
    if isinstance(given, CallGiven):
        _check_labels(given, place)
        _check_call(given, place, odd)
    if isinstance(given, DispatchGiven):
        _check_schema(given, place)
        _check_write(given, place, odd)
    if isinstance(given, CallGiven | ResolveGiven | ContextGiven):
        odd.check("given.mode", given.mode, tuple(ApprovalMode))
        odd.policies("given.userPolicies", given.user_policies)
        if not isinstance(given, ContextGiven):
            odd.declaration("given.approval", given.approval)
    odd.finish()


class _Odd:
    """Collects what a case excuses in `unusual`, and refuses what it does not."""

    def __init__(self, case: Case, place: str) -> None:
        self._place = place
        self._excused = dict.fromkeys(case.unusual, False)

    def check(self, path: str, value: object, words: Iterable[str], *, trimmed: bool = False) -> None:
        allowed = tuple(words)
        plain = value.strip().lower() if trimmed and isinstance(value, str) else value
        if value is UNSET or (isinstance(plain, str) and plain in allowed):
            return
        self.refuse(path, value, f"Use one of: {', '.join(allowed)}")

    def refuse(self, path: str, value: object, remedy: str) -> None:
        if path in self._excused:
            self._excused[path] = True
            return
        raise CaseError(
            f"{self._place}.{path}",
            f"{value!r} is not allowed here",
            f'{remedy}; or, if it is meant, add "{path}" to "unusual".',
        )

    def policies(self, path: str, value: object) -> None:
        if value is UNSET:
            return
        if not isinstance(value, dict):
            self.refuse(path, value, "Use an object of tool names and policies")
            return
        for key, policy in value.items():
            self.check(f"{path}.{key}", policy, tuple(Policy), trimmed=True)

    def declaration(self, path: str, value: object) -> None:
        if value is UNSET or (isinstance(value, dict) and "fn" in value):
            return
        if isinstance(value, dict):
            for key in value:
                if key not in ("tier", "override", "policy", "reason", "policyKey"):
                    self.refuse(f"{path}.{key}", value[key], "Use tier, override, policy, reason or policyKey")
            self.check(f"{path}.tier", value.get("tier", UNSET), tuple(Tier))
            self.check(f"{path}.policy", value.get("policy", UNSET), tuple(Policy))
            override = value.get("override", False)
            if not isinstance(override, bool):
                self.refuse(f"{path}.override", override, "Use true or false")
            return
        self.check(path, value, tuple(Tier))

    def finish(self) -> None:
        for path, used in self._excused.items():
            if not used:
                raise CaseError(
                    f"{self._place}.unusual", f"{path!r} excuses nothing: its value is usual", "Remove it."
                )


def _check_labels(given: CallGiven, place: str) -> None:
    """Words that the engine itself must understand; without them there is nothing to play."""
    approval = given.approval
    if isinstance(approval, dict) and "fn" in approval:
        label = approval["fn"]
        if not isinstance(label, str) or label not in get_args(FunctionLabel):
            raise CaseError(
                f"{place}.given.approval.fn",
                f"{label!r} is not an approval rule",
                f"Use one of: {', '.join(get_args(FunctionLabel))}.",
            )
    executor = given.executor
    if not (
        executor is UNSET
        or executor in ("error-result", "with-metadata")
        or (isinstance(executor, dict) and list(executor) in (["throw"], ["throwValue"]))
    ):
        raise CaseError(
            f"{place}.given.executor",
            f"{executor!r} is not an executor",
            'Use "error-result", "with-metadata", {"throw": TEXT} or {"throwValue": VALUE}.',
        )
    for number, choice in enumerate(given.choices):
        if isinstance(choice, dict) and "disconnect" in choice and given.ui != "rpc":
            raise CaseError(
                f"{place}.given.choices[{number}]",
                "only an RPC client can disconnect",
                'Set "ui" to "rpc", or use {"throw": TEXT}.',
            )
        if isinstance(choice, dict) and ("throw" in choice or "throwValue" in choice) and given.ui == "rpc":
            raise CaseError(
                f"{place}.given.choices[{number}]",
                "an RPC client cannot make a dialog throw",
                'Use {"disconnect": TEXT}, or null to cancel.',
            )
    for number, handler in enumerate(given.handlers):
        if (
            not any(
                getattr(handler, name) is not UNSET
                for name in ("revise", "mutate", "block", "throws", "throws_value", "returns", "waits", "asks")
            )
            and not handler.same
        ):
            raise CaseError(
                f"{place}.given.handlers[{number}]",
                "this handler does nothing",
                "Use revise, same, mutate, block, throws, throwsValue, returns, waits or asks.",
            )


def _check_call(given: CallGiven, place: str, odd: _Odd) -> None:
    if not 1 <= given.repeat <= 1000:
        raise CaseError(f"{place}.given.repeat", f"{given.repeat} is out of range", "Use 1 to 1000.")
    for path, value in (("given.autoApprove", given.auto_approve), ("given.xdevApproved", given.xdev_approved)):
        if value is not UNSET and not isinstance(value, bool):
            odd.refuse(path, value, "Use true or false")
    for number, choice in enumerate(given.choices):
        usual = choice is None or isinstance(choice, str | bool) or _is_failure(choice)
        if not usual:
            odd.refuse(f"given.choices[{number}]", choice, 'Use a label, null, {"throw": TEXT} or the like')
    if given.ui is False and given.choices:
        raise CaseError(
            f"{place}.given.choices",
            "there is no UI, so nobody can choose",
            'Remove "choices", or remove "ui": false.',
        )


def _check_schema(given: DispatchGiven, place: str) -> None:
    """A device whose schema is itself wrong cannot be built, so there is nothing to play."""
    if not isinstance(given.schema, dict):
        return
    from labsim.dispatch.schema import SchemaError, check_schema

    try:
        check_schema(given.schema)
    except SchemaError as error:
        where = f".{error.path}" if error.path else ""
        raise CaseError(f"{place}.given.schema{where}", error.found, error.remedy) from None


def _check_write(given: DispatchGiven, place: str, odd: _Odd) -> None:
    if (given.args is UNSET) == (given.content is UNSET):
        found = "nothing is written" if given.args is UNSET else "both args and content are given"
        raise CaseError(
            f"{place}.given", found, 'Use "args" for what is written as JSON, or "content" for text as it is.'
        )
    if any(ord(character) < 32 or ord(character) == 127 for character in given.path):
        odd.refuse("given.path", given.path, "Write a path without control characters")


def _is_failure(choice: object) -> bool:
    return isinstance(choice, dict) and list(choice) in (["throw"], ["throwValue"], ["disconnect"])
