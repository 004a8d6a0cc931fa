"""Whether a person must be asked about a call, and that nobody is asked before it is on screen."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import PUBLISH, Desk, kinds, play

from labsim.call.handlers import HandlerContext, ToolCallInput
from labsim.call.wrapper import OuterCall, ScheduledCall
from labsim.events.call import PromptDecided
from labsim.stage.stage import AbortSignal

# wrapper/W-20 to wrapper/W-26: is a prompt required?

ACP = {"acp_approved_args": PUBLISH}
XDEV = {"xdev_approved": True}
EXPLICIT = {"policies": {"seed_note": "prompt"}}
OVERRIDE, OWN_PROMPT = {"override": True}, {"policy": "prompt"}
SLOT = {"policies": {"slot": "perhaps"}}
OTHER = {"action": "reserve"}
PENDING = OuterCall(
    provider_metadata={"type": "computer", "actions": [], "pendingSafetyChecks": [{"message": "Sure?"}]}
)
ACTIONS: dict[str, Any] = {"acp_approved_args": {"actions": []}}
ELSEWHERE = OuterCall(provider_metadata={"type": "x", "pendingSafetyChecks": [{"message": "Sure?"}]})


def replaced(args: dict[str, Any]) -> Any:
    """A handler that returns another object with these arguments."""
    return lambda event, context: {"input": dict(args)}


def returns_the_same(event: ToolCallInput, context: HandlerContext) -> dict[str, Any]:
    return {"input": event.input}


def changes_it(event: ToolCallInput, context: HandlerContext) -> None:
    event.input["action"] = "inspect"


REQUIRED: list[tuple[str, bool, dict[str, Any], Any, Any]] = [
    # rule, required, context, declaration, handler
    ("wrapper/W-20: nothing special", True, {}, "exec", None),
    ("wrapper/W-20: checks on an allowed call", True, {"mode": "yolo", "tool_call": PENDING}, "exec", None),
    ("wrapper/W-20: another provider", False, {"mode": "yolo", "tool_call": ELSEWHERE}, "exec", None),
    ("wrapper/W-21: approved outside", False, XDEV, "exec", None),
    ("wrapper/W-21: exactly true", True, {"xdev_approved": 1}, "exec", None),
    ("wrapper/W-21: an equal copy", True, XDEV, "exec", replaced(PUBLISH)),
    ("wrapper/W-21: the same object", False, XDEV, "exec", returns_the_same),
    ("wrapper/W-21: changed in place", False, XDEV, "exec", changes_it),
    ("wrapper/W-22: the user's prompt", True, {**XDEV, **EXPLICIT}, "exec", None),
    ("wrapper/W-22: an entry with no policy", True, {**XDEV, "policies": {"seed_note": "perhaps"}}, "exec", None),
    ("wrapper/W-22: another tool's entry", False, {**XDEV, "policies": {"other": "prompt"}}, "exec", None),
    ("wrapper/W-22: override", True, XDEV, OVERRIDE, None),
    ("wrapper/W-22: even an allow", True, {**XDEV, "policies": {"seed_note": "allow"}}, OWN_PROMPT, None),
    ("wrapper/W-22: the declared key", True, {**XDEV, **SLOT}, {**OWN_PROMPT, "policyKey": "slot"}, None),
    ("wrapper/W-22: a key that the mode drops", False, {**XDEV, **SLOT}, {"policyKey": "slot"}, None),
    ("wrapper/W-23: approved by a client", False, ACP, "exec", None),
    ("wrapper/W-23: explicit prompts too", False, {**ACP, **EXPLICIT}, OVERRIDE, None),
    ("wrapper/W-23: other arguments", True, {"acp_approved_args": {"action": "inspect"}}, "exec", None),
    ("wrapper/W-23: a key that holds nothing", True, {"acp_approved_args": None}, "exec", None),
    ("wrapper/W-23: changed into what was approved", False, {"acp_approved_args": OTHER}, "exec", replaced(OTHER)),
    ("wrapper/W-23: changed into something else", True, ACP, "exec", replaced(OTHER)),
    ("wrapper/W-24: no bypass touches checks", True, {**XDEV, **ACTIONS, "tool_call": PENDING}, "exec", None),
    ("wrapper/W-25: a tool's own prompt", False, XDEV, OWN_PROMPT, None),
    ("wrapper/W-25: the same in yolo", False, {**XDEV, "mode": "yolo"}, OWN_PROMPT, None),
    ("wrapper/W-26: override + prompt", True, XDEV, {**OVERRIDE, **OWN_PROMPT}, None),
    ("wrapper/W-26: the same in yolo", False, {**XDEV, "mode": "yolo"}, {**OVERRIDE, **OWN_PROMPT}, None),
]


@pytest.mark.parametrize(
    ("required", "context", "approval", "handler"), [row[1:] for row in REQUIRED], ids=[row[0] for row in REQUIRED]
)
def test_whether_a_person_must_be_asked(
    required: bool, context: dict[str, Any], approval: Any, handler: Any
) -> None:
    """wrapper/W-20 to wrapper/W-26: checks, or a prompt that no bypass covers."""
    desk = Desk(approval=approval, answers=["Approve"])
    if handler is not None:
        desk.on_call(handler)
    desk.call(**context).result()

    decided = next(event for event in desk.stage.ledger if isinstance(event, PromptDecided))
    assert (decided.required, "ui.select" in desk.kinds) == (required, required)


def denies_publishing(args: Any) -> Any:
    return {"policy": "deny"} if args == PUBLISH else "read"


@pytest.mark.parametrize("context", [XDEV, ACP, {**XDEV, **ACP}])
@pytest.mark.parametrize("approval", [{"policy": "deny"}, denies_publishing])
def test_no_bypass_touches_a_deny(context: dict[str, Any], approval: Any) -> None:
    """wrapper/W-24: neither before handlers nor after them."""
    desk = Desk(approval=approval)
    desk.on_call(replaced(PUBLISH))

    assert desk.error({"action": "inspect"}, **context) == 'Tool "seed_note" is blocked by tool policy.'


# wrapper/W-27 to wrapper/W-29: the preview


@pytest.mark.parametrize(
    ("preview", "waits"), [("match", True), ("wire", True), ("other-name", False), ("other-id", False)]
)
def test_only_the_scheduled_call_waits_for_its_preview(preview: str, waits: bool) -> None:
    """wrapper/W-27: by its tool's name or its wire name; before anything is asked, and only if something is."""
    asked = play(preview=preview, choices=["Approve"])
    silent = play(preview=preview, mode="yolo")

    assert kinds(asked.ledger) == [
        "tool_call",
        *["preview_wait"] * waits,
        "tool_approval_requested",
        "ui.select",
        "tool_approval_resolved",
        "execute",
        "tool_result",
    ]
    assert "preview_wait" not in kinds(silent.ledger)


@pytest.mark.parametrize("index", [1, -1])
def test_a_call_that_is_not_on_the_list_waits_for_nothing(index: int) -> None:
    """wrapper/W-27: an index beyond the list is no schedule, nor is one before it."""
    desk = Desk(answers=["Approve"])

    async def never(call_id: str, signal: Any) -> None:
        raise AssertionError("it waited")

    desk.runner.install_preview_waiter(never)
    desk.call(tool_call=OuterCall(index=index, tool_calls=[ScheduledCall("call-1", "seed_note")])).result()


def test_an_abort_while_the_preview_is_awaited_leaves_no_approval_event() -> None:
    """wrapper/W-29, wrapper/W-57: the wait comes before wrapper/step-10."""
    desk = Desk(answers=["Approve"], recorded=True)
    signal = AbortSignal(desk.stage)

    async def slowly(call_id: str, signal: Any) -> None:
        await desk.stage.sleep(100)

    desk.runner.install_preview_waiter(slowly)
    desk.stage.call_at(40, signal.abort)
    scheduled = OuterCall(tool_calls=[ScheduledCall("call-1", "seed_note")])

    assert desk.error(signal=signal, tool_call=scheduled) == "Aborted: The operation was aborted."
    assert desk.kinds == ["tool_call"]
    assert desk.times("call_threw") == [40]
    desk.stage.close()
