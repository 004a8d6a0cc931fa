"""The steps of a `review` case: what a person, an agent and the world do, one after the other.

They are read by `labsim.case.model` and played by `labsim.play.review`. A
command or a call that opens a dialog stays open until a later step replies to it, revokes it or moves away, so the
steps are the timeline that a reader sees.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from labsim.errors import CaseError
from labsim.terms import ApprovalMode

HostMode: TypeAlias = Literal["tui", "rpc", "print", "json"]


class _Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", tag_field="do"):
    """One step; `do` says of which kind."""


class CommandStep(_Step, frozen=True, kw_only=True, tag="command"):
    """A person gives `/review-desk <words>`."""

    words: str


class ReplyStep(_Step, frozen=True, kw_only=True, tag="reply"):
    """A person answers an open dialog: a label, a text, true or false; null closes it without an answer.

    `to` names the question where more than one is open. `late`: the dialog is over already, and the reply comes all
    the same; `to` must say which one. Played live, the replies are left to the driver, all but the late ones.
    """

    value: Any
    to: str | UnsetType = UNSET
    late: bool = False


class CallStep(_Step, frozen=True, kw_only=True, tag="call"):
    """The agent calls `review_desk`; the generic gate comes first."""

    args: Any = UNSET


class KeysStep(_Step, frozen=True, kw_only=True, tag="keys"):
    """Chunks of terminal input reach the open panel, in order; a number among them is the terminal's new width."""

    chunks: list[str | int]


class GoStep(_Step, frozen=True, kw_only=True, tag="go"):
    """A person moves inside the session's tree: to an entry, or to `root`. `vetoed`: an extension cancels it."""

    to: str
    vetoed: bool = False


class BranchStep(_Step, frozen=True, kw_only=True, tag="branch"):
    """A person goes on in a new session from an entry of this one, or from `root`."""

    at: str
    vetoed: bool = False


class SwitchStep(_Step, frozen=True, kw_only=True, tag="switch"):
    """A person switches sessions: to a `new` one, to a `fork` of this one, or by `resume` to `session`."""

    how: Literal["new", "resume", "fork"]
    session: str | UnsetType = UNSET
    vetoed: bool = False


class RestartStep(_Step, frozen=True, kw_only=True, tag="restart"):
    """The host shuts down, and a new process opens the stored session. `torn`: the old one died while writing."""

    torn: bool = False


class DisconnectStep(_Step, frozen=True, kw_only=True, tag="disconnect"):
    """The client goes away (rpc only)."""


class MessageStep(_Step, frozen=True, kw_only=True, tag="message"):
    """A chat message is added to the session."""

    text: str


class EntryStep(_Step, frozen=True, kw_only=True, tag="entry"):
    """Somebody else writes an entry of the desk's name into the session, with this data."""

    data: Any


class StorageStep(_Step, frozen=True, kw_only=True, tag="storage"):
    """From now on nothing can be saved (`full`), or it can again."""

    full: bool


class WaitStep(_Step, frozen=True, kw_only=True, tag="wait"):
    """Simulated milliseconds pass, whatever is open."""

    ms: int


class SettingsStep(_Step, frozen=True, kw_only=True, tag="settings"):
    """The generic gate gets another approval mode."""

    mode: ApprovalMode


Step: TypeAlias = (
    CommandStep
    | ReplyStep
    | CallStep
    | KeysStep
    | GoStep
    | BranchStep
    | SwitchStep
    | RestartStep
    | DisconnectStep
    | MessageStep
    | EntryStep
    | StorageStep
    | WaitStep
    | SettingsStep
)


def check_steps(steps: Sequence[Step], host_mode: HostMode, place: str) -> None:
    """What no player of these steps could do. Raises: CaseError, with a place such as `given.steps[2]`."""
    for number, step in enumerate(steps):
        trouble = _trouble(step, host_mode)
        if trouble is not None:
            raise CaseError(f"{place}.given.steps[{number}]", *trouble)


def _trouble(step: Step, host_mode: HostMode) -> tuple[str, str] | None:
    match step:
        case ReplyStep(late=True) if step.to is UNSET:
            return "a late reply answers a dialog that is over", 'Say which one: "to": "q-1", for the first of all.'
        case ReplyStep() if host_mode in ("print", "json"):
            return f"nobody can reply in {host_mode} mode", 'Remove the step, or set "hostMode" to "tui".'
        case DisconnectStep() if host_mode != "rpc":
            return "only an RPC client can disconnect", 'Set "hostMode" to "rpc".'
        case SwitchStep(how=how) if (how == "resume") != (step.session is not UNSET):
            return f"{how} and a session do not go together", 'Use "session" with "how": "resume", and only then.'
        case WaitStep(ms=ms) if ms < 0:
            return f"{ms} is in the past", "Use simulated milliseconds, 0 or more."
        case KeysStep(chunks=[]):
            return "no key is pressed", 'Give "chunks" one or more texts; a number is a new width.'
    return None
