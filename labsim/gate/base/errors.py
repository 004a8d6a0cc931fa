"""What the simulated runtime raises: outcomes for its callers to record, not crashes of the engine.

All are `HostError`s. Whatever of this meets a call denies it with the error's text (gate/O13, gate/R18).
"""

from __future__ import annotations

from labsim.errors import HostError
from labsim.gate.base import words


class RuntimeFailure(HostError):
    """The root: something of the runtime could not be done. The text is what the model may read."""

    error_name = "RuntimeError"


class NoPendingPermission(RuntimeFailure):
    """Nobody waits for an answer to this request any more, or ever did (gate/W17). Attribute: `request_id`."""

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        super().__init__(words.no_pending_permission(request_id))


class ProjectIdRequired(RuntimeFailure):
    """A project rule, in a session that has no project (gate/W18)."""

    def __init__(self) -> None:
        super().__init__(words.PROJECT_ID_REQUIRED)


class NotDurable(RuntimeFailure):
    """A process rule was handed to a durable store (gate/W19)."""

    def __init__(self) -> None:
        super().__init__(words.NOT_DURABLE)


class RuleStoreFailed(RuntimeFailure):
    """Rules could not be read or written. A call that needs them is denied with this text (gate/R18)."""


class ModeRefused(RuntimeFailure):
    """A mode that is unknown, or not offered to this session (gate/M7). The mode stays as it was."""
