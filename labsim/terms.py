"""The field's words, as enums whose values are the spelling on the wire."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Tier(StrEnum):
    """How far a call reaches: read < write < exec."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"


class ApprovalMode(StrEnum):
    """The host-wide setting: the highest tier that runs without a prompt."""

    ALWAYS_ASK = "always-ask"
    WRITE = "write"
    YOLO = "yolo"


class Policy(StrEnum):
    """What is to happen with one call."""

    ALLOW = "allow"
    DENY = "deny"
    PROMPT = "prompt"


class Source(StrEnum):
    """Who decided a policy."""

    TOOL = "tool"
    USER = "user"
    MODE = "mode"


class Rule(StrEnum):
    """The row of the resolution order that decided."""

    R1 = "approval/R1"
    R2 = "approval/R2"
    R3 = "approval/R3"
    R4A = "approval/R4a"
    R4B = "approval/R4b"
    R5 = "approval/R5"
    R6 = "approval/R6"
    R7 = "approval/R7"
    R8 = "approval/R8"
    R9 = "approval/R9"


class Outcome(StrEnum):
    """How a call, or a whole case, ended."""

    RETURN = "return"
    THROW = "throw"
    ERROR_RESULT = "error-result"
    THROW_SAME_ERROR = "throw-same-error"


class Standing(StrEnum):
    """Who hears of an event."""

    TOLD = "told"  # the host tells it: to extensions, at the second host to whoever follows the session
    STEP = "step"  # the host takes this step, and no event of its own names it
    REMARK = "remark"  # the simulator's alone, on what the host does silently: it explains, and is never compared


class EventName(StrEnum):
    """The events that handlers can register for."""

    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    APPROVAL_REQUESTED = "tool_approval_requested"
    APPROVAL_RESOLVED = "tool_approval_resolved"
    SESSION_BEFORE_SWITCH = "session_before_switch"
    SESSION_BEFORE_BRANCH = "session_before_branch"
    SESSION_BEFORE_TREE = "session_before_tree"
    SESSION_BEFORE_COMPACT = "session_before_compact"
    SESSION_SWITCH = "session_switch"
    SESSION_BRANCH = "session_branch"
    SESSION_TREE = "session_tree"
    SESSION_SHUTDOWN = "session_shutdown"


class DialogKind(StrEnum):
    """What a host can put to a person: four dialogs, and a component of an extension's own (terminal only)."""

    SELECT = "select"
    CONFIRM = "confirm"
    INPUT = "input"
    EDITOR = "editor"
    CUSTOM = "custom"  # never sent to a client: over RPC it resolves to nothing (rpc/R-24)


APPROVE: Final = "Approve"
DENY: Final = "Deny"
#: The labels of the generic approval dialog, in the order shown (approval/A-39).
APPROVAL_OPTIONS: Final = (APPROVE, DENY)


class Status(StrEnum):
    """What the note is. Each of them is a local label; nothing is ever sent."""

    DRAFT = "draft"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


class Seam(StrEnum):
    """The two places where a host can plug in; a handler of one is never asked for the other (fallback/F-8)."""

    WRITE = "write"
    DELETE = "delete"


class ErrorKind(StrEnum):
    """The classes of error object that a case can name. No rule tells them apart."""

    ERROR = "Error"
    TYPE_ERROR = "TypeError"
    RANGE_ERROR = "RangeError"
