"""The commands that a client can send to `python -m labsim.rpc`, and how one is read from its frame.

A command is a frame `{type, id?, …}`; the fields of the classes below are what goes with each type, in the
spelling of the wire.

| type | what happens | data of the response |
|---|---|---|
| `command` | a person gives `/review-desk <words>` | none |
| `call` | the agent calls `review_desk`, through the generic gate | `content`, `details` |
| `gated_call` | the agent calls an inert tool, through the generic gate | `content`, `details` |
| `go`, `branch`, `switch` | a person moves inside or between sessions | `moved`, `sessionId`, `leafId` |
| `message`, `entry` | something else is written into the session | `entryId` |
| `storage`, `settings` | the disk is full, or is not; the gate is set otherwise | none |
| `select`, `confirm`, `input`, `editor` | an extension asks | `value` (absent: nothing), `timedOut` |
| `notify`, `setStatus`, `setWidget`, … | an extension shows something | none |
| `native` | an extension calls what only a terminal has | `valueType`, `value` |
| `abort` | the signal of a command that is under way is aborted | none |
| `get_state` | | where everything stands |
| `get_ledger` | | `first`, `total`, `events`, `next` (absent: that was the last) |
| `shutdown` | the session ends, and so does the process | none |

The steps of a `review` case have the same words (`labsim.case.review`), so such a case can be played from the
other end of the pipe. Commands run one after another, and each gets one response with its `id` (rpc/R-12). The
kinds in `Beside` can open a dialog, so they run beside the others, as `bash` does in the real program: their
response comes when they are over. With `"queued": true` they keep their turn instead, and what comes after them has
to wait; a reply still gets through, since it is no command (rpc/R-10). There is no `negotiate_protocol`: protocol 1
is all that is spoken here (rpc/R-9).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.errors import LabsimError
from labsim.rpc.decode import Command
from labsim.rpc.dialogs import Confirm, Dialog, Editor, Input, Option, Select
from labsim.rpc.frames import NotifyType, WidgetPlacement
from labsim.terms import ApprovalMode, Policy


class BadCommand(LabsimError):
    """A frame of a known type cannot be read as that command. Attribute: `type`."""

    def __init__(self, kind: str, problem: str, takes: tuple[str, ...]) -> None:
        self.type = kind
        fields = ", ".join(takes) or "nothing"
        super().__init__(f"{kind}: {problem}. It takes: {fields}.")


class _Known(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", tag_field="type"):
    """A command; any may have an `id`, which may be anything."""

    id: Any = UNSET


class Beside(_Known, frozen=True, kw_only=True):
    """A command that runs beside the others, unless it is `queued`."""

    queued: bool = False


# ------------------------------------------------------------------------------------- the desk, and its agent


class DeskCommand(Beside, frozen=True, kw_only=True, tag="command"):
    """A person gives `/review-desk <words>`: show, review, delegate, revoke or overlay."""

    words: str


class Call(Beside, frozen=True, kw_only=True, tag="call"):
    """The agent calls `review_desk`. Without an id of its own, a call is numbered: `call-1`, `call-2`, …"""

    args: Any = UNSET
    tool_call_id: str | UnsetType = UNSET


class GatedCall(Beside, frozen=True, kw_only=True, tag="gated_call"):
    """The agent calls a tool that does nothing.

    `approval` is what the tool declares: a tier word, a decision, or a rule of `labsim.call.inert` by its label, as
    `{"fn": "seed-slot"}`.
    """

    tool: str = "seed_note"
    approval: Any = "exec"
    args: Any = msgspec.field(default_factory=dict)
    tool_call_id: str | UnsetType = UNSET


class Go(_Known, frozen=True, kw_only=True, tag="go"):
    """Move inside the session's tree: to an entry, or to `root`. `vetoed`: an extension cancels it beforehand."""

    to: str
    vetoed: bool = False


class Branch(_Known, frozen=True, kw_only=True, tag="branch"):
    """Go on in a new session from an entry of this one, or from `root`."""

    at: str
    vetoed: bool = False


class Switch(_Known, frozen=True, kw_only=True, tag="switch"):
    """Switch to a `new` session, to a `fork` of this one, or by `resume` to `session`."""

    how: Literal["new", "resume", "fork"]
    session: str | UnsetType = UNSET
    vetoed: bool = False


class Message(_Known, frozen=True, kw_only=True, tag="message"):
    """Add a chat message to the session."""

    text: str


class Entry(_Known, frozen=True, kw_only=True, tag="entry"):
    """Have somebody else write an entry of the desk's name, with any data."""

    data: Any


class Storage(_Known, frozen=True, kw_only=True, tag="storage"):
    """Let saving fail from now on, as on a disk that is `full`, or work again."""

    full: bool


class SetSettings(_Known, frozen=True, kw_only=True, tag="settings"):
    """Set the generic gate's mode, and the user's policies where they are given."""

    mode: ApprovalMode
    policies: dict[str, Policy] | UnsetType = UNSET


# --------------------------------------------------------------------------------------------- an extension's UI


#: What the real program's timers can count to.
Milliseconds: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class LabelledOption(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An option with more to say than its label."""

    label: str
    description: str | None = None


class Ask(Beside, frozen=True, kw_only=True):
    """An extension opens a dialog. `aborted`: its signal was aborted before it did (rpc/R-33)."""

    title: str
    timeout: Milliseconds | UnsetType = UNSET
    aborted: bool = False


class AskSelect(Ask, frozen=True, kw_only=True, tag="select"):
    """Choose one of `options`: labels, or labels with descriptions."""

    options: list[str | LabelledOption]


class AskConfirm(Ask, frozen=True, kw_only=True, tag="confirm"):
    """Yes or no."""

    message: str


class AskInput(Ask, frozen=True, kw_only=True, tag="input"):
    """One line of text."""

    placeholder: str | UnsetType = UNSET


class AskEditor(Ask, frozen=True, kw_only=True, tag="editor"):
    """A longer text. Nothing comes of a timeout (rpc/R-36)."""

    prefill: str | UnsetType = UNSET
    prompt_style: bool | UnsetType = UNSET


class Notify(_Known, frozen=True, kw_only=True, tag="notify"):
    """Show a notice."""

    message: str
    notify_type: NotifyType | UnsetType = UNSET


class SetStatus(_Known, frozen=True, kw_only=True, tag="setStatus"):
    """Set a status text; none clears it."""

    status_key: str
    status_text: str | UnsetType = UNSET


class SetWidget(_Known, frozen=True, kw_only=True, tag="setWidget"):
    """Show lines of text; none removes the widget. `factory`: a component instead, which stays behind (3.4)."""

    widget_key: str
    widget_lines: list[str] | UnsetType = UNSET
    widget_placement: WidgetPlacement | UnsetType = UNSET
    factory: bool = False


class SetEditorText(_Known, frozen=True, kw_only=True, tag="setEditorText"):
    """Replace the text of the client's composer."""

    text: str


class PasteToEditor(_Known, frozen=True, kw_only=True, tag="pasteToEditor"):
    """The same, over RPC (rpc/R-23)."""

    text: str


class SetTitle(_Known, frozen=True, kw_only=True, tag="setTitle"):
    """Set the window's title; sent only where the environment has it so."""

    title: str


class NativeCall(StrEnum):
    """What an extension can call, and only a terminal can do (rpc/R-24)."""

    CUSTOM = "custom"
    SET_FOOTER = "setFooter"
    SET_HEADER = "setHeader"
    SET_WORKING_MESSAGE = "setWorkingMessage"
    SET_EDITOR_COMPONENT = "setEditorComponent"
    ADD_AUTOCOMPLETE_PROVIDER = "addAutocompleteProvider"
    SET_TOOLS_EXPANDED = "setToolsExpanded"
    GET_TOOLS_EXPANDED = "getToolsExpanded"
    ON_TERMINAL_INPUT = "onTerminalInput"
    GET_EDITOR_TEXT = "getEditorText"
    GET_ALL_THEMES = "getAllThemes"
    GET_THEME = "getTheme"
    SET_THEME = "setTheme"
    THEME = "theme"


class Native(_Known, frozen=True, kw_only=True, tag="native"):
    """Make such a call, and see what comes back."""

    call: NativeCall


# --------------------------------------------------------------------------------------------------- the process


class Abort(_Known, frozen=True, kw_only=True, tag="abort"):
    """Abort the signal of the extension's dialog, or of the gated call, whose command had the id `target`."""

    target: Any


class GetState(_Known, frozen=True, kw_only=True, tag="get_state"):
    """Say where everything stands."""


class GetLedger(_Known, frozen=True, kw_only=True, tag="get_ledger"):
    """Hand over the events, as many as go into one frame, from number `from` (the first one is 0)."""

    start: Annotated[int, msgspec.Meta(ge=0)] = msgspec.field(default=0, name="from")


class Shutdown(_Known, frozen=True, kw_only=True, tag="shutdown"):
    """End the session and the process; the response is the last frame."""


AskCommand: TypeAlias = AskSelect | AskConfirm | AskInput | AskEditor
MoveCommand: TypeAlias = Go | Branch | Switch
ShowCommand: TypeAlias = Notify | SetStatus | SetWidget | SetEditorText | PasteToEditor | SetTitle
#: What runs and comes to an end while the server goes on.
RunCommand: TypeAlias = (
    DeskCommand
    | Call
    | GatedCall
    | MoveCommand
    | Message
    | Entry
    | Storage
    | SetSettings
    | AskCommand
    | ShowCommand
    | Native
    | Abort
    | GetState
    | GetLedger
)
KnownCommand: TypeAlias = RunCommand | Shutdown


def dialog_of(ask: AskCommand) -> Dialog:
    """What such a command has the client asked."""
    match ask:
        case AskSelect(options=options):
            given = (o if isinstance(o, str) else Option(o.label, o.description) for o in options)
            return Select(title=ask.title, options=tuple(given), timeout_ms=ask.timeout)
        case AskConfirm():
            return Confirm(title=ask.title, message=ask.message, timeout_ms=ask.timeout)
        case AskInput():
            return Input(title=ask.title, placeholder=ask.placeholder, timeout_ms=ask.timeout)
        case AskEditor():
            return Editor(
                title=ask.title, prefill=ask.prefill, prompt_style=ask.prompt_style, timeout_ms=ask.timeout
            )


# ----------------------------------------------------------------------------------------------------- reading


def _word(kind: type[_Known]) -> str:
    return str(kind.__struct_config__.tag)


def _fields(kind: type[_Known]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_encode_fields__ if name != "id")


#: Every command by its type.
COMMANDS: Final[dict[str, type[KnownCommand]]] = {_word(kind): kind for kind in get_args(KnownCommand)}


def read_command(command: Command) -> KnownCommand | None:
    """The command that a frame holds; None, if there is none of its type (rpc/R-13). Raises: BadCommand
    (rpc/R-15).
    """
    kind = COMMANDS.get(command.type) if isinstance(command.type, str) else None
    if kind is None:
        return None
    try:
        return msgspec.convert(command.frame, kind)
    except msgspec.ValidationError as error:
        raise BadCommand(command.type, str(error).rstrip("."), _fields(kind)) from None
