"""Tools as this host holds them: how far a call reaches, how it presents itself, and the hooks that come before.

Nothing here has an effect of its own: a teaching tool's `run` is inert unless its maker gives it something to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from labsim.errors import HostError
from labsim.gate.base.request import AuthorizationPreview, Classification
from labsim.gate.base.terms import SideEffectLevel
from labsim.js_values import copy_json

Level: TypeAlias = SideEffectLevel | None
LevelRule: TypeAlias = Callable[[Any], Level]


class ToolUse(Struct, frozen=True, kw_only=True):
    """One call, as the model makes it. `agent` "" is the session's own; otherwise the subagent of that id."""

    call_id: str
    tool: str
    input: Any
    agent: str = ""


def _inert(given: Any) -> str:
    return "inert"


class GateTool(Struct, frozen=True, kw_only=True):
    """A tool, as its maker declares it.

    `level` is what every call reaches, or a function of the input; None is unknown. **A tool that declares none
    has level NONE and is never asked about (gate/D4).** `required` are keys that an input must have. `present`
    turns an input into what is shown and what rules are matched on (by default the input itself); what it raises
    denies the call (gate/O4). `run` gives the result's text; what it raises is the tool's failure.
    """

    name: str
    level: Level | LevelRule = SideEffectLevel.NONE
    required: tuple[str, ...] = ()
    present: Callable[[Any], Any] | None = None
    run: Callable[[Any], str] = _inert
    capabilities: tuple[str, ...] = ()
    durability: str = ""
    execution_category: str = ""
    approval_category: str = ""

    def level_of(self, given: Any) -> Level:
        """How far a call with this input reaches."""
        return self.level(given) if callable(self.level) else self.level

    def preview(self, given: Any) -> AuthorizationPreview:
        """The call as it is put to a gate. Raises: whatever the tool's own code does."""
        return AuthorizationPreview(
            classification=Classification(
                side_effect_level=self.level_of(given),
                capabilities=self.capabilities,
                durability=self.durability,
                execution_category=self.execution_category,
                approval_category=self.approval_category,
            ),
            raw_input=copy_json(given),
            structured_input=copy_json(given if self.present is None else self.present(given)),
        )

    def misfit(self, given: Any) -> str | None:
        """What is wrong with an input's shape, or None: as much of a schema as the lessons need."""
        if not self.required:
            return None
        if not isinstance(given, dict):
            return "it is not an object"
        missing = [key for key in self.required if key not in given]
        return f"the key {missing[0]!r} is missing" if missing else None


def mcp_tool(name: str) -> GateTool:
    """A tool of a connected server: it leaves the machine, whatever it says of itself (gate/D4)."""
    return GateTool(name=name, level=SideEffectLevel.EXTERNAL)


def program_tool(name: str, level: SideEffectLevel = SideEffectLevel.PROCESS) -> GateTool:
    """A program that a workspace declares. Raises: HostError, if it claims to change nothing (gate/D4)."""
    if level not in (SideEffectLevel.PROCESS, SideEffectLevel.EXTERNAL):
        raise HostError(f"{name}: a declared program is Process or External, not {level.value}")
    return GateTool(name=name, level=level)


def files_tool() -> GateTool:
    """Edits to this checkout (gate/D4)."""
    return GateTool(name="files", level=SideEffectLevel.LOCAL_STATE)


def spawn_tool() -> GateTool:
    """One tool with two modes: a command is a process, a delegation to a subagent is local (gate/D4)."""

    def level(given: Any) -> Level:
        commanded = isinstance(given, dict) and "command" in given
        return SideEffectLevel.PROCESS if commanded else SideEffectLevel.LOCAL_STATE

    return GateTool(name="spawn", level=level)


class HookAnswer(Struct, frozen=True):
    """What a pre-execution hook wants: `refuse` a reason, or `rewrite` the input, or neither."""

    rewrite: Any = UNSET
    refuse: str | UnsetType = UNSET


#: Sees each call before anything else does, and answers None to let it pass.
Hook: TypeAlias = Callable[[ToolUse], HookAnswer | None]
