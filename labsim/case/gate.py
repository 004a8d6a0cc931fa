"""The vocabulary of `gate` cases: a second host's tools, rules and postures, and what happens step by step.

The words are those of the second host; whether they fit together is checked by `labsim.gate.given`.
"""

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

LevelWord: TypeAlias = Literal["None", "LocalState", "Process", "External", "unknown"]
ScopeWord: TypeAlias = Literal["process", "session", "project", "global"]
PolicyWord: TypeAlias = Literal["always", "prompt", "never"]
DecisionWord: TypeAlias = Literal["Allow", "Deny", "AllowForSession", "DenyForSession"]
GateWord: TypeAlias = Literal["approval", "deny-all", "allow", "policy", "none"]
ApproverWord: TypeAlias = Literal[
    "allow-all", "deny-all", "edits-not-network", "scripted", "dialog", "terminal", "none"
]
StoreWord: TypeAlias = Literal["memory", "unreadable", "read-only"]
#: Who or what settled a call (gate/O1).
DecidedByWord: TypeAlias = Literal[
    "before-gate", "no-gate", "gate", "rule", "approver", "timeout", "error", "nobody", "cancelled"
]
Verdict: TypeAlias = Literal["allow", "deny"]


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A piece of a case, as in `case`; a key it does not know is refused."""


class GateToolSpec(_Part, frozen=True, kw_only=True):
    """A tool. One that declares no level has level None and is never asked about (gate/D4); `unknown` is another
    thing.

    `required` are keys that an input must have. `presents` is what the tool shows instead of the input, and
    `preview_fails` what it says where it cannot show it (gate/O4). `fails` is what running it says.
    """

    name: str
    level: LevelWord = "None"
    required: list[str] = []
    presents: Any = UNSET
    preview_fails: str | UnsetType = UNSET
    fails: str | UnsetType = UNSET


class GateAddressSpec(_Part, frozen=True, kw_only=True):
    """Where a rule stands. Without a pattern it is about every call of the tool."""

    scope: ScopeWord
    tool: str
    pattern: str | None = None


class GateRuleSpec(GateAddressSpec, frozen=True, kw_only=True):
    """A rule that a host remembers ahead."""

    allow: bool
    reason: str | None = None


class GateAnswerSpec(_Part, frozen=True, kw_only=True):
    """One answer of a scripted approver, after so many simulated ms. `decision` left out: it answers Deny.

    While its question is open, and after the wait, the host may `switch` its policy or `install` a gate. `raises`
    is an approver that breaks, and `silent` one that never answers.
    """

    decision: DecisionWord = "Deny"
    reason: str | None = None
    after_ms: int = 0
    switch: PolicyWord | UnsetType = UNSET
    install: GateWord | UnsetType = UNSET
    raises: str | UnsetType = UNSET
    silent: bool = False


class GateHookSpec(_Part, frozen=True, kw_only=True):
    """A pre-execution hook: it rewrites every input, or refuses every call, of `tool` or of all tools."""

    rewrite: Any = UNSET
    refuse: str | UnsetType = UNSET
    tool: str | UnsetType = UNSET


class GateCallSpec(_Part, frozen=True, kw_only=True):
    """One call. `agent` is a subagent that was spawned; `id` left out, the calls are `call-1`, `call-2` and so
    on.
    """

    call: str
    input: Any = UNSET
    agent: str = ""
    id: str | UnsetType = UNSET


class GateStep(_Part, frozen=True, kw_only=True):
    """One step, of exactly one kind. Calls that follow one another are rounds of one run; anything else ends the
    run.

    `call` is one round of one call, `together` one round of several. Between runs a host may `remember`, `revoke`
    and `clear` rules, `switch` its policy, `install` a session gate (not `none`), `spawn` a subagent, and
    `resume` the conversation: a fresh session, with the gates and the policy that the case began with.
    """

    call: str | UnsetType = UNSET
    input: Any = UNSET
    agent: str = ""
    id: str | UnsetType = UNSET
    together: list[GateCallSpec] | UnsetType = UNSET
    remember: GateRuleSpec | UnsetType = UNSET
    revoke: GateAddressSpec | UnsetType = UNSET
    clear: ScopeWord | UnsetType = UNSET
    switch: PolicyWord | UnsetType = UNSET
    install: GateWord | UnsetType = UNSET
    spawn: str | UnsetType = UNSET
    resume: bool | UnsetType = UNSET


class GateGiven(_Part, frozen=True, kw_only=True):
    """A host, its session and what happens in it.

    `gate` is the runtime's, `session_gate` the session's own, `timeout_ms` the bound of whichever of the two is
    an approval or policy gate. `policy` makes the host one with a live policy: its approver answers through it,
    and its session gate is `policy` unless the case says otherwise. `approver` left out is none, which is
    allow-all (gate/D2). `watch_ms` is how long somebody watches a run that may never end (gate/X5).
    """

    tools: list[GateToolSpec]
    steps: list[GateStep]
    gate: GateWord = "approval"
    session_gate: GateWord | UnsetType = UNSET
    timeout_ms: int | UnsetType = UNSET
    policy: PolicyWord | UnsetType = UNSET
    approver: ApproverWord = "none"
    answers: list[DecisionWord | GateAnswerSpec] = []
    ui: bool = True
    choices: list[Any] = []
    rules: list[GateRuleSpec] = []
    project: str | None = None
    store: StoreWord = "memory"
    hooks: list[GateHookSpec] = []
    classifies: bool = True
    raises_requests: bool = True
    remembers_in: ScopeWord = "process"
    sink_breaks_at: int | UnsetType = UNSET
    watch_ms: int | UnsetType = UNSET
