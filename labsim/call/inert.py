"""The inert tools of the teaching cases: what they declare, what they show, and executors that do nothing.

Nothing here has an effect; entering an executor is itself the thing counted. The labels are those of the recorded
answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET

from labsim import extras
from labsim.approval import json_details
from labsim.errors import HostError, ThrownValue
from labsim.events.call import Execute
from labsim.js_values import copy_json, own_keys, text_of
from labsim.stage.stage import Stage
from labsim.tool import Tool, ToolCall, ToolResult, text_content

#: dispatch/D-52.
SEED_TIERS: Final[dict[Any, Any]] = {
    "inspect": "read",
    "reserve": "write",
    "publish": "exec",
    "blocked": {"tier": "exec", "policy": "deny"},
}


def _action(args: object) -> Any:
    return args.get("action", UNSET) if isinstance(args, Mapping) else UNSET


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _seed_slot(args: object) -> Any:
    return SEED_TIERS.get(_word(_action(args)), "exec")


def _seed_slot_reason(args: object) -> Any:
    declared = _seed_slot(args)
    reason = f"because {text_of(_action(args))}"
    return {**declared, "reason": reason} if isinstance(declared, dict) else {"tier": declared, "reason": reason}


def _override_publish(args: object) -> Any:
    if _action(args) == "publish":
        return {"tier": "write", "override": True, "reason": "publication"}
    return "read"


def _from_args(args: object) -> Any:
    return args.get("approval") if isinstance(args, Mapping) else None


def _read_if_extra(args: object) -> Any:
    return "read" if isinstance(args, Mapping) and "extra" in args else "exec"


def _nothing(args: object) -> Any:
    return UNSET


def _null(args: object) -> Any:
    return None


def _throws(args: object) -> Any:
    raise HostError("approval rule failed")


#: Approval rules that a case can name as `{"fn": LABEL}`.
APPROVAL_RULES: Final[dict[str, Callable[[object], Any]]] = {
    "seed-slot": _seed_slot,
    "seed-slot-reason": _seed_slot_reason,
    "override-publish": _override_publish,
    "from-args": _from_args,
    "read-if-extra": _read_if_extra,
    "returns-undefined": _nothing,
    "returns-null": _null,
    "throws": _throws,
}


def _list_details(args: object) -> list[str]:
    keys = own_keys(args) if isinstance(args, Mapping) else ()
    return [f"Action: {text_of(_action(args))}", "", f"Keys: {','.join(keys)}"]


#: What a prompt shows of a call's input, by the label a case can name as `details`.
DETAIL_FORMATTERS: Final[dict[str, Callable[[object], Any] | None]] = {
    "json": json_details,
    "list": _list_details,
    "empty": lambda args: "",
    "null": lambda args: None,
    "none": None,
}


class InertExecutor:
    """An executor that records that it was entered and then does as the case says: nothing, or fail.

    `entered` counts entries; `last_input` is the input of the last one (UNSET before the first).
    """

    def __init__(self, stage: Stage, tool_name: str, behaviour: Any = None) -> None:
        self._stage = stage
        self._tool_name = tool_name
        self._behaviour = behaviour
        self.entered = 0
        self.last_input: Any = UNSET

    def __call__(self, call: ToolCall) -> ToolResult:
        self.entered += 1
        self.last_input = copy_json(call.input)
        self._stage.ledger.append(
            Execute(
                at_ms=self._stage.now_ms,
                tool=self._tool_name,
                tool_call_id=call.call_id,
                input=self.last_input,
            )
        )
        behaviour = self._behaviour
        if callable(behaviour):
            return ToolResult(content=text_content(text_of(behaviour(copy_json(self.last_input)))))
        if isinstance(behaviour, Mapping):
            if "throw" in behaviour:
                raise HostError(text_of(behaviour["throw"]))
            value = behaviour.get("throwValue")
            raise ThrownValue(value, text_of(value))
        if behaviour == "error-result":
            return ToolResult(content=text_content("inert failure"), is_error=True)
        metadata = {"type": "computer"} if behaviour == "with-metadata" else UNSET
        return ToolResult(
            content=text_content("inert"), details={"entry": self.entered}, provider_metadata=metadata
        )


def inert_tool(
    name: str, approval: Any, executor: InertExecutor, *, details: str = "json", legacy_name: Any = UNSET
) -> Tool:
    """A teaching tool. `approval` is a declaration, or `{"fn": LABEL}` for one of the approval rules."""
    if isinstance(approval, Mapping) and "fn" in approval:
        label = approval["fn"]
        approval = APPROVAL_RULES[label] if label in APPROVAL_RULES else extras.APPROVAL_RULES[label]
    elif approval is None:
        approval = _null  # a declaration of null is there, unlike one that is missing; both stand for exec
    return Tool(
        name=name,
        execute=executor,
        approval=approval,
        legacy_name=legacy_name,
        format_approval_details=DETAIL_FORMATTERS[details],
    )
