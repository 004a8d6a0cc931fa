"""The words of the desk, typed: every string that a person or an agent sees, from one place.

Templates hold names in braces; what is filled in may be untrusted, the templates never are.

Why a constant, and not a file that is read: a case can open no file, and `run(case)` is given nothing but the
case. `packed` is made from `fixtures/review-desk` by `pack`, and a test holds the two equal.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from labsim.review.base.packed import COPY_JSON


class _Words(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group of strings; one that is unknown or missing is refused."""


class ToolWords(_Words, frozen=True, kw_only=True):
    name: str
    label: str
    description: str
    authorization: str
    transport: str


class CommandWords(_Words, frozen=True, kw_only=True):
    name: str
    description: str


class EditorWords(_Words, frozen=True, kw_only=True):
    title: str
    hint: str


class SelectorWords(_Words, frozen=True, kw_only=True):
    title: str
    accept: str
    reject: str
    cancel: str

    @property
    def options(self) -> tuple[str, str, str]:
        return self.accept, self.reject, self.cancel


class ConfirmWords(_Words, frozen=True, kw_only=True):
    title: str
    message: str  # {revision}


class Notices(_Words, frozen=True, kw_only=True):
    unknown_command: str
    busy: str
    no_ui: str
    needs_terminal: str
    granted: str  # {revision}
    declined: str
    revoked: str
    nothing_to_revoke: str
    closed: str


class ErrorWords(_Words, frozen=True, kw_only=True):
    unknown_op: str
    missing_action: str
    unknown_action: str  # {action}
    missing_revision: str
    missing_text: str
    unexpected_text: str
    invalid_text: str
    busy: str
    no_grant: str
    mismatch: str  # {expected}, {current}
    no_fixture: str  # {name}
    not_saved: str  # {reason}


class StatusWords(_Words, frozen=True, kw_only=True):
    key: str
    plain: str  # {status}, {revision}
    granted: str  # {status}, {revision}


class WidgetWords(_Words, frozen=True, kw_only=True):
    key: str
    title: str  # {status}, {revision}
    permission: str  # {permission}
    none: str
    one_change: str  # {revision}
    note: str  # {line}


class MessageWords(_Words, frozen=True, kw_only=True):
    type: str
    summary: str  # {status}, {revision}, {permission}
    more: str


class PanelWords(_Words, frozen=True, kw_only=True):
    title: str  # {status}, {revision}
    position: str  # {first}, {last}, {total}
    hint: str


class SessionWords(_Words, frozen=True, kw_only=True):
    torn: str  # {bytes}
    skipped: str  # {line}


class Copy(_Words, frozen=True, kw_only=True):
    """All of it. `entry` names the desk's entries in a session, `note` the packaged file."""

    entry: str
    note: str
    tool: ToolWords
    command: CommandWords
    editor: EditorWords
    selector: SelectorWords
    confirm: ConfirmWords
    notices: Notices
    errors: ErrorWords
    status: StatusWords
    widget: WidgetWords
    message: MessageWords
    panel: PanelWords
    session: SessionWords


COPY: Final = msgspec.json.decode(COPY_JSON, type=Copy)
