"""What an extension can call of the UI besides its dialogs: what travels to a client, and what does not.

There is no `ask_dialog`: over RPC that method does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from labsim.rpc.frames import (
    NotifyRequest,
    NotifyType,
    SetEditorTextRequest,
    SetStatusRequest,
    SetTitleRequest,
    SetWidgetRequest,
    UIRequest,
    WidgetPlacement,
)

#: Makes a component of an extension's own; over RPC it is never called.
Factory: TypeAlias = Callable[..., object]


class ThemeSet(Struct, frozen=True, kw_only=True):
    """What became of a change of theme."""

    success: bool
    error: str | UnsetType = UNSET


NO_THEMES: Final = ThemeSet(success=False, error="Theme switching not supported in RPC mode")


class ExtensionUI:
    """The UI of one connection. `tell` sends a request, given what makes it of a fresh id; nothing waits
    (rpc/R-22).

    `titles`: whether the environment wants title frames (`frames.emits_titles`).
    """

    def __init__(self, tell: Callable[[Callable[[str], UIRequest]], object], *, titles: bool) -> None:
        self._tell = tell
        self._titles = titles

    # -- what travels

    def notify(self, message: str, kind: NotifyType | UnsetType = UNSET) -> None:
        self._tell(lambda frame_id: NotifyRequest(id=frame_id, message=message, notify_type=kind))

    def set_status(self, key: str, text: str | UnsetType = UNSET) -> None:
        """Set one status text; none clears it."""
        self._tell(lambda frame_id: SetStatusRequest(id=frame_id, status_key=key, status_text=text))

    def set_widget(
        self,
        key: str,
        content: Sequence[str] | Factory | None = None,
        placement: WidgetPlacement | UnsetType = UNSET,
    ) -> None:
        """Show lines, or with None remove the widget. A factory is ignored: it cannot be sent."""
        if callable(content):
            return
        lines = UNSET if content is None else tuple(content)
        self._tell(
            lambda frame_id: SetWidgetRequest(
                id=frame_id, widget_key=key, widget_lines=lines, widget_placement=placement
            )
        )

    def set_editor_text(self, text: str) -> None:
        self._tell(lambda frame_id: SetEditorTextRequest(id=frame_id, text=text))

    def paste_to_editor(self, text: str) -> None:
        """Replaces the text, too: a client's composer has no cursor that we know of (rpc/R-23)."""
        self.set_editor_text(text)

    def set_title(self, title: str) -> None:
        if self._titles:
            self._tell(lambda frame_id: SetTitleRequest(id=frame_id, title=title))

    # -- what only a terminal can do, so it does not travel (rpc/R-24)

    def custom(self, factory: Factory) -> UnsetType:
        """Comes back with nothing at once; the factory is not called."""
        return UNSET

    def set_footer(self, factory: Factory | None) -> None:
        """Nothing comes of it."""

    def set_header(self, factory: Factory | None) -> None:
        """Nothing comes of it."""

    def set_working_message(self, message: str | None) -> None:
        """Nothing comes of it."""

    def set_editor_component(self, factory: Factory | None) -> None:
        """Nothing comes of it."""

    def add_autocomplete_provider(self, factory: Factory) -> None:
        """Nothing comes of it."""

    def set_tools_expanded(self, expanded: bool) -> None:
        """Nothing comes of it."""

    def get_tools_expanded(self) -> bool:
        return False

    def on_terminal_input(self, handler: Callable[[str], object]) -> Callable[[], None]:
        """The handler hears nothing, so there is nothing for the disposer to do."""
        return lambda: None

    def get_editor_text(self) -> str:
        """The composer is the client's, and what is in it stays there (rpc/R-56)."""
        return ""

    def get_all_themes(self) -> tuple[str, ...]:
        return ()

    def get_theme(self, name: str) -> UnsetType:
        return UNSET

    def set_theme(self, name: str) -> ThemeSet:
        return NO_THEMES

    @property
    def theme(self) -> Mapping[str, Any]:
        """Styles by name, for texts that are made here; what is sent is not styled, so there are none."""
        return {}
