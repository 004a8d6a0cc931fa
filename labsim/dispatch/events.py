"""What happened on the way through a dispatch: remarks on the steps that the real program takes silently.

They explain, and are never compared with the real program. Each carries the call id, which both gates share.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

from labsim.events.event import Event
from labsim.js_values import stringify
from labsim.places.steps import CallStep, DispatchStep, Here, Order, Steps
from labsim.terms import Tier


class Target(StrEnum):
    """What the router takes a path for."""

    DEVICE = "device"
    SPECIAL = "special device"
    ROOT = "root"
    INVALID = "invalid address"
    NEAR_MISS = "near miss"
    INTERNAL = "internal address"
    FILE = "ordinary file"


class Ending(StrEnum):
    """How a dispatch ended."""

    RESULT = "result"
    ERROR_RESULT = "error result"
    DOCS = "docs"
    RAISED = "raised"


class GateDeclared(Event, frozen=True, kw_only=True, gc=False, tag="gate_declared"):
    """What `write` declared for a call, and the row that said so (dispatch/G1 to dispatch/G11). Resolution
    follows.
    """

    tool_name: str
    rule: str
    tier: Tier
    policy_key: str | None = None  # None: no key, so only the policy of `write` itself applies (dispatch/D-9)

    def says(self) -> str:
        key = f"key {self.policy_key}" if self.policy_key is not None else "no key"
        return f"{self.tool_name} declares tier {self.tier}, {key} ({self.rule})"

    def step(self, order: Order, here: Here) -> int | None:
        if order is not Order.CALL:
            return None
        # `write` says before each of the two judgements what it declares.
        return CallStep.JUDGE_ORIGINAL if here.at == CallStep.PREPARE else CallStep.JUDGE_EFFECTIVE


class AddressRead(Event, frozen=True, kw_only=True, gc=False, tag="address_read"):
    """The router read the path. `device` is its name as written, None where it names no device."""

    tool_call_id: str
    path: str
    target: Target
    device: str | None = None
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.ADDRESS}

    def says(self) -> str:
        named = f" {self.device}" if self.device is not None else ""
        return f"the path is read as: {self.target}{named} ({stringify(self.path)})"


class DeviceSought(Event, frozen=True, kw_only=True, gc=False, tag="device_sought"):
    """A name was looked up among the session's tools (dispatch/D-17)."""

    tool_call_id: str
    device: str
    found: bool
    mounted: bool
    active: bool
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.DEVICE}

    def says(self) -> str:
        ways = " and ".join(word for word, holds in (("mounted", self.mounted), ("active", self.active)) if holds)
        found = "found" if self.found else "not found"
        return f"{self.device} is {found}: {ways or 'neither mounted nor active'}"


class DocsReturned(Event, frozen=True, kw_only=True, gc=False, tag="docs_returned"):
    """The content asked for help: the docs are the answer, and the inner gate is not reached (dispatch/D-18)."""

    tool_call_id: str
    device: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.DOCS}

    def says(self) -> str:
        return f"the content asks for help: the docs of {self.device} are the answer, and it is not called"


class ContentRead(Event, frozen=True, kw_only=True, gc=False, tag="content_read"):
    """The content is arguments for the device. `repairs` says what validation mended, in order."""

    tool_call_id: str
    device: str
    args: Any
    repairs: tuple[str, ...] = ()
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.CONTENT}

    def says(self) -> str:
        mended = f"; mended: {', '.join(self.repairs)}" if self.repairs else ""
        return f"the content holds arguments for {self.device}: {stringify(self.args)}{mended}"


class ContentRefused(Event, frozen=True, kw_only=True, gc=False, tag="content_refused"):
    """The content is no arguments for the device, by this rule; nothing is executed."""

    tool_call_id: str
    device: str
    rule: str
    problem: str
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.CONTENT}

    def says(self) -> str:
        return f"the content is refused ({self.rule}), and {self.device} is not called: {self.problem}"


class PassedOn(Event, frozen=True, kw_only=True, gc=False, tag="passed_on"):
    """The call goes on to the device's own gate. `marked`: as approved by the outer gate already
    (dispatch/D-16).
    """

    tool_call_id: str
    device: str
    tier: Tier | None  # None: the device's own rule failed, so no tier is recorded
    marked: bool  # False: there is no context to carry the mark, so the inner gate asks for itself
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.PASS_ON}

    def says(self) -> str:
        marked = "marked as approved outside" if self.marked else "without a mark, for want of a context"
        return f"passed on to the gate of {self.device}, {marked}; tier {self.tier or 'unknown'}"


class InnerTierReported(Event, frozen=True, kw_only=True, gc=False, tag="inner_tier_reported"):
    """The inner gate reported the tier of what would really run; the record has this one now (dispatch/D-20)."""

    tool_call_id: str
    device: str
    tier: Tier
    steps: ClassVar[Steps] = {Order.CALL: CallStep.JUDGE_EFFECTIVE, Order.DISPATCH: DispatchStep.INSIDE}

    def says(self) -> str:
        return f"the gate of {self.device} reports tier {self.tier} to the dispatch"


class DispatchEnded(Event, frozen=True, kw_only=True, gc=False, tag="dispatch_ended"):
    """A dispatch is over, and `write` returns, or raises, what it gave."""

    tool_call_id: str
    device: str
    ending: Ending
    tier: Tier | None = None
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.HAND_BACK}

    def says(self) -> str:
        tier = f", tier {self.tier}" if self.tier is not None else ""
        return f"the dispatch to {self.device} ends: {self.ending}{tier}"


class StagedSought(Event, frozen=True, kw_only=True, gc=False, tag="staged_sought"):
    """A resolution device looked for what is staged; `label` is None where nothing is pending (dispatch/D-47 to
    dispatch/D-48).
    """

    tool_call_id: str
    device: str
    label: str | None
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.ADDRESS}

    def says(self) -> str:
        return f"{self.device}: {'nothing' if self.label is None else self.label} is pending"


class ReportKept(Event, frozen=True, kw_only=True, gc=False, tag="report_kept"):
    """`report_issue` was written to. `kept` false: reports are off, or the list failed; nobody is told
    (dispatch/D-49).
    """

    tool_call_id: str
    kept: bool
    tool: str | None = None
    report: str | None = None
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.ADDRESS}

    def says(self) -> str:
        if self.report is None:
            return "reports are off: nothing is kept"
        what = f"a report on {self.tool}: {self.report}"
        return f"kept {what}" if self.kept else f"could not keep {what}"


class FileWritten(Event, frozen=True, kw_only=True, gc=False, tag="file_written"):
    """The path named an ordinary file, and one was written, in memory: `path` as the listing shows it."""

    tool_call_id: str
    path: str
    characters: int
    steps: ClassVar[Steps] = {Order.CALL: CallStep.RUN, Order.DISPATCH: DispatchStep.ADDRESS}

    def says(self) -> str:
        return f"an ordinary file {stringify(self.path)} of {self.characters} characters is written, in memory"
