"""What a case is given: the declarations, settings, handlers, dialogs and steps of every scenario, as typed parts.

Nothing here is read or checked: these classes are the vocabulary, and the editors' JSON Schema is made from them.
"""

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.case.review import HostMode, ReplyStep, Step
from labsim.terms import ApprovalMode, Policy

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


class CasePart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A piece of a case; a key it does not know is refused."""


class HandlerSpec(CasePart, frozen=True, kw_only=True):
    """One `tool_call` handler. `waits` (active ms) and `asks` (a confirm of its own) happen before the rest.

    `when` limits it to inputs that have these fields with these values; without it, it acts on every input.
    `fn` is a handler that a chapter's own code registered (`labsim.extras`), which does everything else itself.
    """

    fn: str | UnsetType = UNSET
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
    when: dict[str, Any] | UnsetType = UNSET
    ext: str = "desk"
    tool: str | UnsetType = UNSET


class ResultHandlerSpec(CasePart, frozen=True, kw_only=True):
    """One `tool_result` handler; the parts it names are the parts it changes."""

    content: str | list[Any] | UnsetType = UNSET
    details: Any = UNSET
    is_error: Any = UNSET
    throws: str | UnsetType = UNSET
    ext: str = "desk"
    tool: str | UnsetType = UNSET


class SessionSettings(CasePart, frozen=True, kw_only=True):
    """The runner's own settings, which count when a call brings no context at all (approval/A-20)."""

    mode: Any = UNSET
    user_policies: Any = UNSET


class CallGiven(CasePart, frozen=True, kw_only=True):
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


class StagedSpec(CasePart, frozen=True, kw_only=True):
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


class BatchCall(CasePart, frozen=True, kw_only=True):
    """One call of a model's message; the first gets the id `call-1`, and so on. `args` left out stands for `{}`."""

    name: str
    args: Any = msgspec.field(default_factory=dict)


class LoopGiven(CallGiven, frozen=True, kw_only=True):
    """A batch of calls through the agent loop. Its tools are `seed_note` and `seed_slot`, with one schema."""

    calls: list[BatchCall]


class ResolveGiven(CasePart, frozen=True, kw_only=True):
    """Policy resolution alone."""

    approval: Any = UNSET
    args: Any = UNSET
    mode: Any = UNSET
    user_policies: Any = UNSET
    legacy_name: Any = UNSET
    tool: str = "seed_note"
    details: Details = "none"


class ContextGiven(CasePart, frozen=True, kw_only=True):
    """Mode and policies as read from an execute-time context."""

    context_value: Literal["undefined", "null"] | UnsetType = UNSET
    settings: bool = True
    auto_approve: Any = UNSET
    mode: Any = UNSET
    user_policies: Any = UNSET


class ReviewGiven(CasePart, frozen=True, kw_only=True):
    """The Review Desk, and what happens to it, step by step.

    `host_mode` is how the host runs, `mode` and `user_policies` are the generic gate's. `note` is the packaged one
    if it is not given; null: there is none. `width` is the terminal's, in columns.
    """

    host_mode: HostMode = "tui"
    mode: ApprovalMode = ApprovalMode.WRITE
    user_policies: dict[str, Policy] = {}
    note: str | UnsetType | None = UNSET
    width: int = 80
    steps: list[Step]

    @property
    def choices(self) -> list[Any]:
        """What the person replies in time, in order: for a driver that plays the case as it is written."""
        return [step.value for step in self.steps if isinstance(step, ReplyStep) and not step.late]
