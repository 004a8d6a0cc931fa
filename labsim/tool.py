"""What a tool is to the host: a name, what it declares about approval, and something that runs.

The engine never asks what a tool really does; teaching tools have inert executors (`inert`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType


class TextContent(Struct, frozen=True, gc=False, tag_field="type", tag="text"):
    """One block of text in a tool's result."""

    text: str


def text_content(text: str) -> list[TextContent]:
    return [TextContent(text)]


def visible_text(content: object) -> str:
    """The text of a result's content, blocks joined by newlines; "" if there is none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    if len(content) == 1 and type(content[0]) is TextContent:
        return content[0].text
    return "\n".join(text for text in map(_text_of_block, content) if text is not None)


def _text_of_block(block: object) -> str | None:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str):
        return str(block["text"])  # as a case writes it
    return None


class ToolResult(Struct, kw_only=True):
    """What an executor hands back. Absent parts are UNSET, which is not the same as null."""

    content: Any
    details: Any = UNSET
    is_error: Any = UNSET
    provider_metadata: Any = UNSET
    extra: dict[str, Any] | UnsetType = UNSET  # further keys of the result, such as `useless` (wrapper/W-55)


class ToolCall(Struct, frozen=True, kw_only=True):
    """One call as its executor sees it."""

    call_id: str
    input: Any
    signal: Any = None  # labsim.stage.stage.AbortSignal, or None where the caller gave none
    on_update: Callable[[ToolResult], None] | None = None  # hears what there is to say before the result
    context: Any = None  # labsim.call.wrapper.CallContext


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as the host holds it.

    `approval` is a tier word, a decision mapping, a function of the arguments that returns either, or UNSET
    (the tool declares nothing). `execute` takes a `ToolCall` and returns a `ToolResult`, or an awaitable of
    one; whatever it raises is the tool's failure. `format_approval_details` takes the arguments and returns
    the lines to show in a prompt (approval/A-38).
    """

    name: str
    execute: Callable[[ToolCall], Any]
    approval: Any = UNSET
    legacy_name: Any = UNSET
    custom_wire_name: str | None = None
    format_approval_details: Callable[[Any], Any] | None = None
    label: str | None = None
    summary: str | None = None
    description: str = ""
    parameters: dict[str, Any] | None = None  # JSON Schema of the arguments; None: anything goes
