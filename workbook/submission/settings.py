"""The two settings that a learner hands in, as the host reads them.

What the host itself tolerates in silence is tolerated here, and remarked on: a mode that is none opens everything
(approval/A-18), and a policy that is none counts as not written (approval/A-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.errors import CaseError, did_you_mean
from labsim.terms import ApprovalMode, Policy
from workbook.submission.json_values import items_of, plain, spelled
from workbook.submission.submission import NotHandedIn

MODE_KEY: Final = "tools.approvalMode"
POLICIES_KEY: Final = "tools.approval"


class SettingsRead(Struct, frozen=True, kw_only=True):
    """The two settings as the host reads them. `remarks`: what it passes over in silence."""

    mode: Any
    policies: Any
    remarks: tuple[str, ...]


def read_settings(handed_in: object) -> SettingsRead:
    """A mapping with the two keys, either of which may be left out. Raises: NotHandedIn, with what would do."""
    if not isinstance(handed_in, Mapping):
        example = '{"tools.approvalMode": "write", "tools.approval": {"seed_note": "deny"}}'
        raise NotHandedIn(f"Settings are a dictionary, and this is {spelled(handed_in)}. For instance: {example}")
    try:
        items = items_of(handed_in, "settings")
    except CaseError as error:
        raise NotHandedIn(str(error)) from None
    for key, _ in items:
        if key not in (MODE_KEY, POLICIES_KEY):
            there = f"There are {MODE_KEY!r} and {POLICIES_KEY!r}."
            meant = did_you_mean(key, (MODE_KEY, POLICIES_KEY), there, alike=0.4)
            raise NotHandedIn(f"Approval reads no setting {spelled(key)}. {meant}")
    given = dict(items)
    mode = _plain(given.get(MODE_KEY, UNSET), MODE_KEY)
    policies = _plain(given.get(POLICIES_KEY, UNSET), POLICIES_KEY)
    return SettingsRead(
        mode=mode,
        policies=policies,
        remarks=tuple(_mode_remarks(mode)) + tuple(_policy_remarks(policies)),
    )


def _plain(value: Any, key: str) -> Any:
    """A copy that nothing the learner does later changes. Raises: NotHandedIn."""
    if value is UNSET:
        return UNSET
    try:
        return plain(value, key)
    except CaseError as error:
        raise NotHandedIn(str(error)) from None


def _mode_remarks(mode: object) -> Iterator[str]:
    if mode is UNSET:
        yield f"{MODE_KEY} is not set, and the host's default is yolo."
    elif not (isinstance(mode, str) and mode in tuple(ApprovalMode)):
        yield f"{MODE_KEY}: {spelled(mode)} is no mode. The host says nothing and takes yolo."


def _policy_remarks(policies: object) -> Iterator[str]:
    if policies is UNSET:
        return
    if not isinstance(policies, Mapping):
        yield f"{POLICIES_KEY} is no dictionary. The host takes it for an empty one."
        return
    for name, policy in policies.items():
        if not (isinstance(policy, str) and policy.strip().lower() in tuple(Policy)):
            yield f"{POLICIES_KEY}.{name}: {spelled(policy)} is no policy. The host passes it over."
