"""Another host, another yes: a gate asks whether a call is worth asking about, an approver decides.

A second design beside `labsim.wrapper`. It shares the stage, the dialogs, the ledger and the cases with the
first, and nothing else. Rules, texts and their ids: spec/gate.md. From the bottom up, each module importing only
from those before it:

- `levels`       how far a call reaches; unknown is not harmless
- `durations`    a bound, and its spelling in a refusal
- `words`        every text that the model or a person reads, by its W-id
- `errors`       what the simulated runtime raises
- `request`      what is asked, and how it is answered: requests, answers, authorizations
- `pattern`      the wildcard grammar, and the JSON text it is matched on
- `rules`        remembered rules: scopes, addresses, and which of several answers
- `store`        where durable rules live: the protocol, in memory, failing on purpose
- `sqlite_store` the same in a file that its caller names
- `events`       what the ledger shows of all this; `lines` says it in words
- `gates`        the first piece: allow, prompt or deny
- `approvers`    the second piece: whoever decides; `client` and `terminal` ask somebody
- `policy`       hosts whose posture can change while a session is open
- `tools`        tools, their previews and the hooks before them
- `stream`       a session's events, and those who follow them
- `permissions`  the open requests and the rules of one live session
- `session`      one call in its order, batches, subagents
- `runtime`      what sessions share; opening and resuming them
- `run`          one turn: rounds of calls, and the forwarder that calls the approver
- `given`        whether a case's parts fit together; `scripted` makes the host's parts of its words

The names below are those that a policy of one's own needs.
"""

from __future__ import annotations

from labsim.gate.approvers import AllowAll, Approver, DenyAll, EditsButNotTheNetwork, pause
from labsim.gate.durations import Duration
from labsim.gate.gates import ApprovalGate, Authorizer, DenyAllGate
from labsim.gate.levels import SideEffectLevel, is_consequential, judged
from labsim.gate.request import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalRequest,
    AuthorizationDecision,
    AuthorizationOutcome,
    AuthorizationRequest,
)

__all__ = [
    "AllowAll",
    "ApprovalAnswer",
    "ApprovalDecision",
    "ApprovalGate",
    "ApprovalRequest",
    "Approver",
    "AuthorizationDecision",
    "AuthorizationOutcome",
    "AuthorizationRequest",
    "Authorizer",
    "DenyAll",
    "DenyAllGate",
    "Duration",
    "EditsButNotTheNetwork",
    "SideEffectLevel",
    "is_consequential",
    "judged",
    "pause",
]
