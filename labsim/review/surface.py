"""What a host shows without asking anybody: notices, a status, a widget, messages to the conversation.

The desk records each of these in the ledger itself; a surface carries them to where a person is. In print and JSON
mode nobody is, and only messages go out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct

from labsim.review.base.words import COPY
from labsim.review.panel.display import sanitise
from labsim.rpc.frames import NotifyRequest, NotifyType, SetStatusRequest, SetWidgetRequest, UIRequest


class Mode(StrEnum):
    """How the host runs. The same desk works in each of them."""

    TUI = "tui"
    RPC = "rpc"
    PRINT = "print"
    JSON = "json"

    @property
    def has_ui(self) -> bool:
        """Whether there is anybody to ask."""
        return self in (Mode.TUI, Mode.RPC)


class CustomMessage(Struct, frozen=True, kw_only=True):
    """A message of the desk's own kind. It goes to the conversation, and appends nothing to the session
    (review/V-12).

    `text` is the note as it is stored, for whoever unfolds the message; None where there is nothing to unfold.
    """

    summary: str
    text: str | None = None

    def wire(self) -> dict[str, Any]:
        """The message as data: what a host that renders by itself receives."""
        details = {} if self.text is None else {"details": {"text": self.text}}
        return {
            "role": "custom",
            "customType": COPY.message.type,
            "content": self.summary,
            "display": True,
            **details,
        }

    def lines(self, *, unfolded: bool) -> tuple[str, ...]:
        """The message as the terminal renders it, sanitised: its summary, and the note once it is unfolded."""
        summary = tuple(sanitise(self.summary).split("\n"))
        if self.text is None:
            return summary
        rest = sanitise(self.text).split("\n") if unfolded else [COPY.message.more]
        return (*summary, *rest)


class Surface(Protocol):
    """Where things are shown. Nothing here waits, and nothing comes back (rpc/R-22)."""

    def notify(self, message: str, kind: NotifyType) -> None: ...

    def set_status(self, key: str, text: str) -> None: ...

    def set_widget(self, key: str, lines: Sequence[str]) -> None: ...

    def post(self, message: CustomMessage) -> None: ...


class LedgerSurface:
    """Carries nothing anywhere: whoever shows the ledger has it all."""

    def notify(self, message: str, kind: NotifyType) -> None:
        """Shown by whoever shows the ledger."""

    def set_status(self, key: str, text: str) -> None:
        """Shown by whoever shows the ledger."""

    def set_widget(self, key: str, lines: Sequence[str]) -> None:
        """Shown by whoever shows the ledger."""

    def post(self, message: CustomMessage) -> None:
        """Shown by whoever shows the ledger."""


class RpcSurface:
    """Sends each as a frame. `tell` sends a request, given what makes it of a fresh id; `send` any other frame."""

    def __init__(
        self, tell: Callable[[Callable[[str], UIRequest]], object], send: Callable[[dict[str, Any]], object]
    ) -> None:
        self._tell = tell
        self._send = send

    def notify(self, message: str, kind: NotifyType) -> None:
        self._tell(lambda frame_id: NotifyRequest(id=frame_id, message=message, notify_type=kind))

    def set_status(self, key: str, text: str) -> None:
        self._tell(lambda frame_id: SetStatusRequest(id=frame_id, status_key=key, status_text=text))

    def set_widget(self, key: str, lines: Sequence[str]) -> None:
        shown = tuple(lines)
        self._tell(lambda frame_id: SetWidgetRequest(id=frame_id, widget_key=key, widget_lines=shown))

    def post(self, message: CustomMessage) -> None:
        """The message goes as data; its renderer stays behind (rpc/R-56)."""
        self._send({"type": "message_end", "message": message.wire()})
