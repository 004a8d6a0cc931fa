"""All that a chapter's `engine.py`, an exercise and a submission may import of the engine.

Whatever else `labsim` has may move or change its name; these names stay, and a test holds each of them.

For `engine.py`, whose one function is `register(kit)`:

- `Kit`              what `register` is handed: `approval_rule`, `handler`, `tool` and `scenario`, each with a name
- `Given`            derive from it to say what a case of your own kind is given; `choices` and `ui` are there
- `Host`             what your `play(given, host)` has: `await host.call({…})`, `await host.sleep(ms)`, `host.ui`
- `CallReport`       what `host.call` gives back: `outcome`, `error`, `result`, and its part of the ledger
- `Outcome`          how a call ended: `RETURN`, `ERROR_RESULT`, `THROW`, …
- `BadExtra`         raised by a kit that cannot take something

For a rule or a tool's declaration:

- `Tier`             how far a call reaches: `READ`, `WRITE`, `EXEC`
- `Policy`           what is to happen with a call: `ALLOW`, `DENY`, `PROMPT`
- `ApprovalMode`     the host-wide setting: `ALWAYS_ASK`, `WRITE`, `YOLO`
- `Decision`         what an approval rule may give back, where a tier alone says too little

For a handler of `tool_call`, a function of the event and its context:

- `ToolCallInput`    the event: `tool_name`, `tool_call_id`, `input`
- `HandlerContext`   the context: dialogs, simulated time, the signal
- `HandlerReply`     what a handler may give back; a mapping with the same keys does as well

For an exercise of the Gate Desk, a policy or an approver:

- `ApprovalRequest`  what is asked: tool, input, level, where it came from
- `ApprovalDecision` `ALLOW`, `DENY`, and the two for the session
- `ApprovalAnswer`   a decision with a reason
- `SideEffectLevel`  how far a call reaches there; `None` where nobody knows
- `is_consequential` whether a level is worth asking about
- `judged`           a level as a gate takes it: the unknown is not harmless
- `pause`            `await pause(ms)`: wait, in simulated time
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labsim.lazy import lazily

if TYPE_CHECKING:
    from labsim.approval import Decision
    from labsim.call.handlers import HandlerContext, HandlerReply, ToolCallInput
    from labsim.extras import BadExtra, Given, Kit
    from labsim.gate.approvers import pause
    from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest
    from labsim.gate.base.terms import SideEffectLevel, is_consequential, judged
    from labsim.play.own_kind import Host
    from labsim.play.report import CallReport
    from labsim.terms import ApprovalMode, Outcome, Policy, Tier

__all__ = [
    "ApprovalAnswer",
    "ApprovalDecision",
    "ApprovalMode",
    "ApprovalRequest",
    "BadExtra",
    "CallReport",
    "Decision",
    "Given",
    "HandlerContext",
    "HandlerReply",
    "Host",
    "Kit",
    "Outcome",
    "Policy",
    "SideEffectLevel",
    "Tier",
    "ToolCallInput",
    "is_consequential",
    "judged",
    "pause",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "labsim.approval": "Decision",
        "labsim.extras": "BadExtra Given Kit",
        "labsim.gate.approvers": "pause",
        "labsim.gate.base.terms": "SideEffectLevel is_consequential judged",
        "labsim.gate.base.request": "ApprovalAnswer ApprovalDecision ApprovalRequest",
        "labsim.call.handlers": "HandlerContext HandlerReply ToolCallInput",
        "labsim.play.report": "CallReport",
        "labsim.play.own_kind": "Host",
        "labsim.terms": "ApprovalMode Outcome Policy Tier",
    },
)
