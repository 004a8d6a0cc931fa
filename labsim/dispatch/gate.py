"""The outer gate: what `write` declares about one call, before anything of it is executed.

The tier is borrowed from the device, the policy is not (dispatch/D-7); whatever cannot be judged falls to a bare
`exec` (dispatch/G4 to dispatch/G6).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from labsim.approval import tier_of
from labsim.dispatch.addresses import (
    INTERNAL_SCHEMES,
    SpecialDevice,
    parse_address,
    scheme_of,
    unwrap_header,
)
from labsim.dispatch.content import NotJson, parse_json
from labsim.dispatch.devices import DeviceState
from labsim.js_values import trim
from labsim.terms import Tier


class Declaration(Struct, frozen=True):
    """One of the rows dispatch/G1 to dispatch/G11. `policy_key` None is a bare tier: only the policy of `write`
    applies (dispatch/D-9).
    """

    rule: str
    tier: Tier
    policy_key: str | None = None

    @property
    def wire(self) -> Any:
        """As approval resolution takes it; a bare tier has no key of a device (dispatch/D-9)."""
        return self.tier.value if self.policy_key is None else {"tier": self.tier, "policyKey": self.policy_key}


_SPECIAL: Final = {
    SpecialDevice.REPORT_ISSUE: Declaration("dispatch/G2", Tier.WRITE),
    SpecialDevice.RESOLVE: Declaration("dispatch/G3", Tier.READ),
    SpecialDevice.REJECT: Declaration("dispatch/G3", Tier.READ),
    SpecialDevice.PROPOSE: Declaration("dispatch/G3", Tier.READ),
}


def declaration(args: object, state: DeviceState | None) -> Declaration:
    """What `write` declares for these arguments; the first matching row wins, dispatch/G1 to dispatch/G11."""
    fields: Mapping[str, Any] = args if isinstance(args, Mapping) else {}
    raw = fields.get("path")
    if not isinstance(raw, str):
        return Declaration("dispatch/G1", Tier.WRITE)
    path = unwrap_header(raw)  # a wrapped address must not slip past the rows below (dispatch/D-57)
    address = parse_address(path)
    if address is None:
        return _of_other_path(path)
    if address.special is not None:
        return _SPECIAL[address.special]
    if address.device is None or state is None:
        return Declaration("dispatch/G4", Tier.EXEC)
    return _of_device(state, address.device, fields.get("content"))


def _of_device(state: DeviceState, name: str, content: object) -> Declaration:
    device = state.resolve(name)
    if device is None:
        return Declaration("dispatch/G4", Tier.EXEC)
    try:
        # The raw object, unvalidated and with `i` (dispatch/D-8): the inner gate will judge another one.
        parsed = parse_json(content) if isinstance(content, str) else None
    except NotJson:
        parsed = None
    if not isinstance(parsed, dict):  # a question for help among it (dispatch/D-10)
        return Declaration("dispatch/G5", Tier.EXEC)
    try:
        tier = tier_of(device.tool, parsed)  # nothing else of what it declares is taken (dispatch/D-7)
    # whatever a rule raises, and however: a gate that cannot judge must not wave through (dispatch/G6)
    except Exception:
        return Declaration("dispatch/G6", Tier.EXEC)
    return Declaration("dispatch/G7", tier, name)


def _of_other_path(path: str) -> Declaration:
    text = trim(path)
    if "ssh://" in text.lower():
        return Declaration("dispatch/G8", Tier.EXEC)
    scheme = scheme_of(text)
    if scheme == "xd":
        return Declaration("dispatch/G11", Tier.WRITE)
    if scheme is not None and INTERNAL_SCHEMES.get(scheme) is False:
        return Declaration("dispatch/G10", Tier.READ)
    return Declaration("dispatch/G9", Tier.WRITE)
