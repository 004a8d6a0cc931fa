"""Devices: which tools an address can reach.

Above `schema` and `wrapper`, below everything that dispatches. Mounting is presentation: it decides what the
listing shows and how a tool is named, not what may run (dispatch/D-17).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from labsim.call.wrapper import ToolWrapper
from labsim.dispatch.addresses import XD, address_of
from labsim.dispatch.schema import check_schema
from labsim.errors import ToolError
from labsim.tool import Tool

#: They carry the transport itself, or the host needs them under their own name (dispatch/D-54).
NEVER_MOUNTED: Final = frozenset({"read", "write"})
KEPT_AT_TOP: Final = frozenset({"todo", "yield", "ask", "grep", "web_search"})


class Device(Struct, frozen=True, kw_only=True):
    """One tool of the session. `wrapper` is its approval gate; None where the session wraps it at each dispatch.

    Raises: SchemaError, if the tool's schema is itself wrong.
    """

    tool: Tool
    wrapper: ToolWrapper | None = None
    built_in: bool = False

    def __post_init__(self) -> None:
        if self.tool.parameters is not None:
            check_schema(self.tool.parameters)


class DeviceState(Struct, frozen=True, kw_only=True):
    """What one session can reach. `mounted` is in the order of mounting; `active` are the top-level names.

    `decorate` puts the approval gate around a tool that has none of its own yet (dispatch/step-5).
    """

    tools: Mapping[str, Device]
    mounted: tuple[str, ...] = ()
    active: frozenset[str] = frozenset()
    decorate: Callable[[Tool], ToolWrapper]

    def resolve(self, name: str) -> Device | None:
        """The device of exactly that name, if it is mounted or active, and there (dispatch/D-4, dispatch/D-17)."""
        if name in self.mounted or name in self.active:
            return self.tools.get(name)
        return None

    def gated(self, device: Device) -> ToolWrapper:
        """The device behind its own gate. There is no way to one without: a plain call gets this too
        (dispatch/D-55).
        """
        return device.wrapper if device.wrapper is not None else self.decorate(device.tool)


def mountable(name: str, *, discoverable: bool) -> bool:
    """Whether a tool of that name is shown as a device rather than at top level (dispatch/D-54)."""
    return discoverable and name not in NEVER_MOUNTED and name not in KEPT_AT_TOP


def required_device(state: DeviceState, name: str) -> Device:
    """As `DeviceState.resolve`. Raises: ToolError, for a name that reaches nothing (dispatch/D-23)."""
    device = state.resolve(name)
    if device is None:
        raise ToolError(
            f"No such tool: {address_of(name)}. Mounted devices: {', '.join(state.mounted)}. "
            f"Active top-level tools are also dispatchable via {XD}<tool>."
        )
    return device


def required_state(state: DeviceState | None) -> DeviceState:
    """The session's devices. Raises: ToolError, if the session has none at all (dispatch/D-25)."""
    if state is None:
        raise ToolError(f"{XD} is not mounted in this session.")
    return state
