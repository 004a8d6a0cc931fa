"""The what-if panel's state: a word for each control, and the piece of a case that each of them writes.

No widget, no playing, no sentence. The space is finite: `SPACE` has every word of every control, so a test can
draw states at random and a front end can be built from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

TOOL: Final = "seed_note"
MOST_CALLS: Final = 5  # more of them show nothing new, and the panel plays at every change
MOST_ANSWERS: Final = 12


class Tiers(StrEnum):
    """What the tool declares of its reach. BY_INPUT is a rule that looks at the action; NONE is no declaration."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    BY_INPUT = "by-input"


class Policies(StrEnum):
    """A policy in a declaration."""

    NONE = "none"
    ALLOW = "allow"
    PROMPT = "prompt"
    DENY = "deny"


class YesNo(StrEnum):
    """A switch."""

    NO = "no"
    YES = "yes"


class Actions(StrEnum):
    """What the call asks for; a declaration by input reads it."""

    INSPECT = "inspect"
    RESERVE = "reserve"
    PUBLISH = "publish"
    BLOCKED = "blocked"


class Modes(StrEnum):
    """The host's mode. MISSPELT is a word that is none, LEFT_OUT no setting at all."""

    ALWAYS_ASK = "always-ask"
    WRITE = "write"
    YOLO = "yolo"
    LEFT_OUT = "left-out"
    MISSPELT = "misspelt"


class UserPolicies(StrEnum):
    """What the user's settings say of this tool. MISSPELT is a word that is no policy."""

    NONE = "none"
    ALLOW = "allow"
    PROMPT = "prompt"
    DENY = "deny"
    MISSPELT = "misspelt"


class Handlers(StrEnum):
    """What a `tool_call` handler does."""

    NONE = "none"
    WATCHES = "watches"
    REVISES_DOWN = "revises-to-inspect"
    REVISES_UP = "revises-to-publish"
    REVISES_TO_BLOCKED = "revises-to-blocked"
    CHANGES = "changes-in-place"
    HANDS_BACK_EMPTY = "hands-back-empty"
    BLOCKS = "blocks"
    THROWS = "throws"
    ASKS = "asks"
    TOO_SLOW = "too-slow"


class Uis(StrEnum):
    """Who is there to be asked."""

    YES = "yes"
    NONE = "none"
    RPC = "rpc"


class Answers(StrEnum):
    """How one dialog ends."""

    APPROVE = "approve"
    DENY = "deny"
    DISMISSED = "dismissed"
    LOWER_CASE = "approve-in-lower-case"
    OTHER_TEXT = "other-text"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not-confirmed"
    BREAKS = "breaks"
    THROWS_VALUE = "throws-a-number"
    DISCONNECTS = "disconnects"


class Safety(StrEnum):
    """The provider's safety checks that come with the call."""

    NONE = "none"
    ONE = "one"
    TWO = "two"


class AutoApprove(StrEnum):
    """The switch. TEXT is the text "yes", which the host does not take for on."""

    OFF = "off"
    ON = "on"
    TEXT = "text"


class PanelState(Struct, frozen=True, kw_only=True):
    """One word for each control.

    None stands for what an opened case says where no word of the control's says it. `repeat` is a number of calls,
    `answers` are taken in order, one a dialog. Not all words can be meant together: see `explorer_problems`.
    """

    tier: Tiers | None = Tiers.EXEC
    policy: Policies = Policies.NONE
    override: YesNo = YesNo.NO
    reason: YesNo = YesNo.NO
    action: Actions | None = Actions.PUBLISH
    mode: Modes | None = Modes.ALWAYS_ASK
    user: UserPolicies | None = UserPolicies.NONE
    auto_approve: AutoApprove | None = AutoApprove.OFF
    handler: Handlers | None = Handlers.NONE
    second_handler: Handlers = Handlers.NONE
    ui: Uis = Uis.YES
    answers: tuple[Answers, ...] | None = (Answers.APPROVE,)
    safety: Safety | None = Safety.NONE
    repeat: int | None = 1


START: Final = PanelState()

#: Every control with all of its words, in the order of the panel. `answers` is that many times over.
SPACE: Final[Mapping[str, type[StrEnum] | range]] = {
    "tier": Tiers,
    "policy": Policies,
    "override": YesNo,
    "reason": YesNo,
    "action": Actions,
    "repeat": range(1, MOST_CALLS + 1),
    "safety": Safety,
    "mode": Modes,
    "user": UserPolicies,
    "auto_approve": AutoApprove,
    "handler": Handlers,
    "second_handler": Handlers,
    "ui": Uis,
    "answers": Answers,
}


# ----------------------------------------------------------------------------------------- what the words stand for

REASON: Final = "It changes the public catalogue."
MISSPELT_MODE: Final = "allways-ask"
MISSPELT_POLICY: Final = "denied"
CHECKS: Final = (
    {"id": "seed-check-1", "message": "Fictional *seed* shelf check"},
    {"id": "seed-check-2", "code": "second_look"},
)
HANDLERS: Final[Mapping[Handlers, Mapping[str, Any]]] = {
    Handlers.WATCHES: {"returns": None},
    Handlers.REVISES_DOWN: {"revise": {"action": "inspect"}},
    Handlers.REVISES_UP: {"revise": {"action": "publish"}},
    Handlers.REVISES_TO_BLOCKED: {"revise": {"action": "blocked"}},
    Handlers.CHANGES: {"mutate": {"action": "inspect"}},
    Handlers.HANDS_BACK_EMPTY: {"returns": {}},
    Handlers.BLOCKS: {"block": True, "reason": "The catalogue is being counted."},
    Handlers.THROWS: {"throws": "the shelf list is gone"},
    Handlers.ASKS: {"asks": "Is the shelf free?"},
    Handlers.TOO_SLOW: {"waits": 40_000},
}
ANSWERS: Final[Mapping[Answers, Any]] = {
    Answers.APPROVE: "Approve",
    Answers.DENY: "Deny",
    Answers.DISMISSED: None,
    Answers.LOWER_CASE: "approve",
    Answers.OTHER_TEXT: "Later",
    Answers.CONFIRMED: True,
    Answers.NOT_CONFIRMED: False,
    Answers.BREAKS: {"throw": "the dialog broke"},
    Answers.THROWS_VALUE: {"throwValue": 7},
    Answers.DISCONNECTS: {"disconnect": "client went away"},
}
_UIS: Final[Mapping[Uis, Mapping[str, Any]]] = {Uis.YES: {}, Uis.NONE: {"ui": False}, Uis.RPC: {"ui": "rpc"}}
_SAFETY: Final[Mapping[Safety, Mapping[str, Any]]] = {
    Safety.NONE: {},
    Safety.ONE: {"safetyCheck": True},
    Safety.TWO: {"safetyChecks": [dict(check) for check in CHECKS]},
}
_AUTO_APPROVE: Final[Mapping[AutoApprove, Mapping[str, Any]]] = {
    AutoApprove.OFF: {},
    AutoApprove.ON: {"autoApprove": True},
    AutoApprove.TEXT: {"autoApprove": "yes"},
}


class Names(Struct, frozen=True, kw_only=True):
    """What an opened case calls things: its tool, which the user's settings go by, and the reason it declares."""

    tool: str = TOOL
    reason: str = REASON


NAMES: Final = Names()


class Part(Struct, frozen=True, kw_only=True):
    """Controls that write a piece of a case together.

    `fields` are theirs, and the first of them is None where an opened case's own piece is kept. `keys` are the
    case's, and `write` gives them for a state.
    """

    fields: tuple[str, ...]
    keys: tuple[str, ...]
    write: Callable[[PanelState, Names], Mapping[str, Any]]

    @property
    def name(self) -> str:
        """The control that stands for the whole part."""
        return self.fields[0]


def _declaration(state: PanelState, names: Names) -> Mapping[str, Any]:
    if state.tier is Tiers.NONE or state.tier is None:
        return {}
    if state.tier is Tiers.BY_INPUT:
        return {"approval": {"fn": "seed-slot"}}
    said: dict[str, Any] = {}
    if state.policy is not Policies.NONE:
        said["policy"] = state.policy.value
    if state.override is YesNo.YES:
        said["override"] = True
    if state.reason is YesNo.YES:
        said["reason"] = names.reason
    return {"approval": {"tier": state.tier.value, **said} if said else state.tier.value}


def _input(state: PanelState, names: Names) -> Mapping[str, Any]:
    return {} if state.action is None else {"args": {"action": state.action.value}}


def _mode(state: PanelState, names: Names) -> Mapping[str, Any]:
    match state.mode:
        case None | Modes.LEFT_OUT:
            return {}
        case Modes.MISSPELT:
            return {"mode": MISSPELT_MODE}
    return {"mode": state.mode.value}


def _user(state: PanelState, names: Names) -> Mapping[str, Any]:
    match state.user:
        case None | UserPolicies.NONE:
            return {}
        case UserPolicies.MISSPELT:
            return {"userPolicies": {names.tool: MISSPELT_POLICY}}
    return {"userPolicies": {names.tool: state.user.value}}


def _handlers(state: PanelState, names: Names) -> Mapping[str, Any]:
    made = []
    if state.handler is not None and state.handler is not Handlers.NONE:
        made.append(dict(HANDLERS[state.handler]))
    if state.second_handler is not Handlers.NONE:
        made.append({**HANDLERS[state.second_handler], "ext": "annex"})
    return {"handlers": made} if made else {}


def _answers(state: PanelState, names: Names) -> Mapping[str, Any]:
    return {"choices": [ANSWERS[answer] for answer in state.answers]} if state.answers else {}


def _repeat(state: PanelState, names: Names) -> Mapping[str, Any]:
    return {} if state.repeat is None or state.repeat == 1 else {"repeat": state.repeat}


#: The parts of a case that the panel writes, in the order in which the case has them.
PARTS: Final = (
    Part(fields=("tier", "policy", "override", "reason"), keys=("approval",), write=_declaration),
    Part(fields=("action",), keys=("args",), write=_input),
    Part(fields=("mode",), keys=("mode",), write=_mode),
    Part(fields=("user",), keys=("userPolicies",), write=_user),
    Part(
        fields=("auto_approve",),
        keys=("autoApprove",),
        write=lambda state, names: {} if state.auto_approve is None else _AUTO_APPROVE[state.auto_approve],
    ),
    Part(fields=("handler", "second_handler"), keys=("handlers",), write=_handlers),
    Part(fields=("ui",), keys=("ui",), write=lambda state, names: _UIS[state.ui]),
    Part(fields=("answers",), keys=("choices",), write=_answers),
    Part(
        fields=("safety",),
        keys=("safetyCheck", "safetyChecks"),
        write=lambda state, names: {} if state.safety is None else _SAFETY[state.safety],
    ),
    Part(fields=("repeat",), keys=("repeat",), write=_repeat),
)


def given(state: PanelState, names: Names = NAMES) -> dict[str, Any]:
    """The `given` of the case that a state stands for, as JSON has it; a part that is None writes nothing."""
    return {key: value for part in PARTS for key, value in part.write(state, names).items()}


def unusual(state: PanelState, names: Names = NAMES) -> tuple[str, ...]:
    """The places of values that a teaching case has to say are meant."""
    odd = []
    if state.mode is Modes.MISSPELT:
        odd.append("given.mode")
    if state.user is UserPolicies.MISSPELT:
        odd.append(f"given.userPolicies.{names.tool}")
    if state.auto_approve is AutoApprove.TEXT:
        odd.append("given.autoApprove")
    return tuple(odd)
