"""What can stop a call, a dialog, a permission or a file operation: one table, with the rules that say so.

At the bottom of the stepper, above `labsim` only. The followers (`stepper_call`, `stepper_gate`, `stepper_review`,
`stepper_host`) say which of these can still happen at a row of a ledger; nothing else has a list of them.

Two kinds are told apart, because a learner must not take one for the other. Most stops come before anything was
done. A few are *late*: the tool was entered, so the effect stays whatever the caller is told afterwards (W-58).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum, auto
from typing import Final

from msgspec import Struct


class Stop(StrEnum):
    """A way not to get to the end. The first host's come first, in the order in which a call meets them."""

    # The agent loop, before the wrapper (spec/wrapper.md section 11).
    UNKNOWN_TOOL = auto()
    BAD_ARGUMENTS = auto()
    HOOK_FAILS = auto()
    BAD_REPLACEMENT = auto()
    # The wrapper (section 2).
    RULE_FAILS = auto()
    DENY_ORIGINAL = auto()
    HANDLER_BLOCKS = auto()
    HANDLER_FAILS = auto()
    ABORT_IN_HANDLERS = auto()
    DENY_EFFECTIVE = auto()
    ABORT_IN_PREVIEW = auto()
    NO_UI = auto()
    DIALOG_BREAKS = auto()
    NOT_APPROVED = auto()
    UNANSWERED = auto()
    # `write` on its way to a device (spec/dispatch.md sections 3 to 9).
    WRITE_REFUSES = auto()
    NO_ADDRESS = auto()
    NOTHING_STAGED = auto()
    BAD_REPORT = auto()
    NO_DEVICE = auto()
    ONLY_DOCS = auto()
    BAD_CONTENT = auto()
    # The desk's own tool (spec/review.md section 5).
    NO_NOTE = auto()
    ACT_CHECK = auto()
    NOT_SAVED = auto()
    # The tool itself, and afterwards.
    TOOL_FAILS = auto()
    RESULT_REPLACED = auto()
    NO_CONTENT = auto()
    # A dialog of the desk, and the permission for one change (spec/review.md sections 3, 6 and 7).
    REVOKED = auto()
    MOVED = auto()
    SHUT_DOWN = auto()
    DIALOG_BROKE = auto()
    OVERTAKEN = auto()
    INVALID_TEXT = auto()
    DECLINED = auto()
    NEVER_CLOSED = auto()
    USED_UP = auto()
    REVIEWED = auto()
    ASKED_AGAIN = auto()
    # The second host (spec/gate.md section 2).
    UNKNOWN_NAME = auto()
    HOOK_REFUSES = auto()
    MISFIT = auto()
    PREVIEW_FAILS = auto()
    GATE_FAILS = auto()
    GATE_DENIES = auto()
    RULES_UNREADABLE = auto()
    RULE_DENIES = auto()
    NOBODY_ASKS = auto()
    APPROVER_FAILS = auto()
    APPROVER_DENIES = auto()
    NOT_RECORDED = auto()
    TIMED_OUT = auto()
    NEVER_ANSWERED = auto()
    GIVEN_UP = auto()
    RUN_FAILS = auto()
    # A file operation with its fallbacks (spec/fallback.md sections 3 and 4).
    NO_DENIAL = auto()
    NO_HANDLER = auto()
    NO_PARENT = auto()
    UNRESOLVABLE = auto()
    NO_FILE = auto()
    NOBODY_DOES_IT = auto()
    # One dialog over RPC (spec/rpc.md sections 4 and 5).
    SIGNAL_ABORTS = auto()
    TIME_RUNS_OUT = auto()
    CLIENT_GOES = auto()
    CLIENT_CANCELS = auto()
    NO_VALUE = auto()
    NO_REPLY = auto()


class Why(Struct, frozen=True):
    """One stop in words: a few, for a table; a sentence; and the ids of the rules behind it.

    `late`: what was done by then stays done.
    """

    short: str
    text: str
    rules: tuple[str, ...]
    late: bool = False


STOPS: Final[dict[Stop, Why]] = {
    Stop.UNKNOWN_TOOL: Why("no such tool", "The loop knows no tool of that name.", ("W-74",)),
    Stop.BAD_ARGUMENTS: Why(
        "arguments that do not fit",
        "The schema refuses the model's arguments. No handler is asked, and nothing counts as started.",
        ("W-73",),
    ),
    Stop.HOOK_FAILS: Why(
        "the hook fails",
        "The approval rule raises while the loop looks for a deny. That costs this call, and no other.",
        ("W-67", "W-71"),
    ),
    Stop.BAD_REPLACEMENT: Why(
        "a replacement that does not fit",
        "A handler returned another input, and the schema refuses it. The message keeps the old arguments.",
        ("W-70",),
    ),
    Stop.RULE_FAILS: Why(
        "the approval rule fails",
        "The tool's own approval rule raises. It is asked for each judgement anew, and its error leaves as it is.",
        ("A-8", "W-6"),
    ),
    Stop.DENY_ORIGINAL: Why(
        "a deny on the input as it came",
        "The tool or the user denies the input as it came. Nobody hears of it, and no handler can rewrite it away.",
        ("R1", "R2", "W-5"),
    ),
    Stop.HANDLER_BLOCKS: Why(
        "a handler blocks", "A tool_call handler blocks the call; those after it are not asked.", ("W-10", "W-11")
    ),
    Stop.HANDLER_FAILS: Why(
        "a handler fails",
        "A tool_call handler raises, or uses up its time. Either is as good as a block.",
        ("W-12", "W-13"),
    ),
    Stop.ABORT_IN_HANDLERS: Why(
        "an abort during the handlers",
        "The signal is aborted while tool_call handlers are there to be asked; their answers count for nothing.",
        ("W-15",),
    ),
    Stop.DENY_EFFECTIVE: Why(
        "a deny on the input that would run",
        "The input that would really run is judged again, and denied.",
        ("R1", "R2"),
    ),
    Stop.ABORT_IN_PREVIEW: Why(
        "an abort before it is on screen",
        "The signal is aborted while a scheduled call waits for its preview. No approval event went out yet.",
        ("W-29",),
    ),
    Stop.NO_UI: Why("nobody to ask", "A person must be asked, and there is no UI to ask with.", ("W-38", "W-39")),
    Stop.DIALOG_BREAKS: Why(
        "the dialog breaks",
        "The dialog raises, for instance because the client is gone. Its error is what the caller gets.",
        ("W-33", "R-42"),
    ),
    Stop.NOT_APPROVED: Why(
        "any answer but Approve",
        "Anything but exactly Approve is a refusal: Deny, nothing, a label in other letters.",
        ("W-40", "W-41"),
    ),
    Stop.UNANSWERED: Why(
        "an answer that never comes",
        "A dialog has no deadline and does not hear the signal: unanswered, it holds up its call for good.",
        ("W-47", "R-46"),
    ),
    Stop.WRITE_REFUSES: Why(
        "write refuses",
        "write itself raises: it has no text path and content, serves devices only, or sees an aborted signal.",
        ("W-17", "D-15", "D-29"),
    ),
    Stop.NO_ADDRESS: Why(
        "no address of a device",
        "The path is a near miss, the root, or not valid as an address; or this session has no devices.",
        ("D-24", "D-25"),
    ),
    Stop.NOTHING_STAGED: Why(
        "nothing to finish",
        "There is nothing staged to apply or no plan to propose, or applying it fails.",
        ("D-25",),
    ),
    Stop.BAD_REPORT: Why("a report without its form", "The report is empty, or has no tool in front.", ("D-49",)),
    Stop.NO_DEVICE: Why("no such device", "No device of that name is mounted or active.", ("D-17", "D-23")),
    Stop.ONLY_DOCS: Why(
        "the docs in its place",
        "The content asks for help. The docs are the answer, and the device is not called.",
        ("D-18",),
    ),
    Stop.BAD_CONTENT: Why(
        "content that does not fit",
        "The content is no JSON object, or no arguments for this device. It becomes an error result.",
        ("D-27", "D-30", "D-34"),
    ),
    Stop.NO_NOTE: Why("no note to work on", "The packaged note cannot be read.", ("V-4",)),
    Stop.ACT_CHECK: Why(
        "one of the ten checks",
        "One of the ten checks of an act fails: among them no permission, another revision, an open dialog.",
        ("V-31", "V-33", "S12"),
    ),
    Stop.NOT_SAVED: Why("it cannot be saved", "The change cannot be appended to the session.", ("V-14",)),
    Stop.TOOL_FAILS: Why(
        "the tool fails",
        "The tool was entered and fails, perhaps because it sees the aborted signal. What it did stays done.",
        ("W-47", "W-48", "W-52"),
        late=True,
    ),
    Stop.RESULT_REPLACED: Why(
        "a result handler makes an error of it",
        "A tool_result handler turns the result into an error. The effect stays.",
        ("W-53", "W-58"),
        late=True,
    ),
    Stop.NO_CONTENT: Why(
        "a result without content",
        "What came back has no list of content, so the loop makes an error of it. The effect stays.",
        ("W-75",),
        late=True,
    ),
    Stop.REVOKED: Why("a revoke", "A person revokes; whatever is open is aborted.", ("S9", "V-43")),
    Stop.MOVED: Why(
        "a move to another branch or session",
        "The session is switched, branched, or moved in its tree.",
        ("S14", "V-46"),
    ),
    Stop.SHUT_DOWN: Why("a shutdown", "The process ends; a permission is not kept.", ("S15", "V-13")),
    Stop.DIALOG_BROKE: Why(
        "the dialog breaks, or the client goes", "The dialog raises; nothing is recorded.", ("S17", "V-47")
    ),
    Stop.OVERTAKEN: Why(
        "the note changes under it",
        "Session, revision or branch changed while the dialog was open; its outcome is dropped in silence.",
        ("V-19",),
    ),
    Stop.INVALID_TEXT: Why("a text that is not valid", "A blank or too long text is not accepted.", ("S3", "V-24")),
    Stop.DECLINED: Why("a no", "The person declines or dismisses; no permission is given.", ("S8", "V-26")),
    Stop.NEVER_CLOSED: Why(
        "an answer that never comes",
        "No dialog of the desk has a timeout: it stays open until somebody acts.",
        ("V-48",),
    ),
    Stop.USED_UP: Why("the agent's one change", "A change by the agent uses it up.", ("S10", "S11", "V-34")),
    Stop.REVIEWED: Why(
        "a person's own outcome",
        "A person records an outcome, in a review or in the panel, Cancel included.",
        ("S2", "S4", "S5", "S6", "S13"),
    ),
    Stop.ASKED_AGAIN: Why(
        "being asked for again", "A new request for permission drops the old one as it opens.", ("S8",)
    ),
    Stop.UNKNOWN_NAME: Why("no such tool", "The host knows no tool of that name.", ("O3",)),
    Stop.HOOK_REFUSES: Why("a hook refuses", "A hook refuses, or breaks, before any gate is asked.", ("O3", "W12")),
    Stop.MISFIT: Why("an input that does not fit", "The input is not of the tool's shape.", ("O3",)),
    Stop.PREVIEW_FAILS: Why("no preview", "The tool cannot present the call, so nobody is asked.", ("O4",)),
    Stop.GATE_FAILS: Why("the gate fails", "The gate raises, or gives something that is no answer.", ("O13",)),
    Stop.GATE_DENIES: Why(
        "the gate denies", "The gate denies. That is final: no rule is read.", ("O6", "G3", "M1")
    ),
    Stop.RULES_UNREADABLE: Why("unreadable rules", "The remembered rules cannot be read.", ("R18",)),
    Stop.RULE_DENIES: Why("a remembered deny", "A remembered rule answers, with a deny.", ("O8", "R8", "R16")),
    Stop.NOBODY_ASKS: Why(
        "nobody to ask", "The gate wants somebody asked, and nothing here turns that into a request.", ("W11",)
    ),
    Stop.APPROVER_FAILS: Why(
        "the approver fails", "The approver raises, or answers with what is no answer. No consent.", ("A2", "D1")
    ),
    Stop.APPROVER_DENIES: Why(
        "the approver denies", "The approver answers Deny, for this call or for the session.", ("A5", "O14")
    ),
    Stop.NOT_RECORDED: Why(
        "a yes that cannot be recorded", "The answer is to be remembered and cannot be, so it is a no.", ("F4",)
    ),
    Stop.TIMED_OUT: Why("the gate's time limit", "The gate's own bound ends the wait with a denial.", ("X1", "X2")),
    Stop.NEVER_ANSWERED: Why(
        "an answer that never comes",
        "Nothing wakes an approver that never answers; calls of the same round wait as well.",
        ("X3", "X5", "O18"),
    ),
    Stop.GIVEN_UP: Why("the turn is given up", "The turn is cancelled while the call waits.", ("V4", "A23")),
    Stop.RUN_FAILS: Why(
        "the tool fails",
        "The tool was entered and fails, and the model reads why. What it did stays done.",
        ("O1",),
        late=True,
    ),
    Stop.NO_DENIAL: Why(
        "a failure that is no denial", "The failure is no permission denial, and only those are routed.", ("F-42",)
    ),
    Stop.NO_HANDLER: Why("no handler", "No handler is registered for this, so the error leaves.", ("F-8", "F-12")),
    Stop.NO_PARENT: Why(
        "no folder for it", "The missing folder cannot be made, for a reason that is no denial.", ("F-21", "F-42")
    ),
    Stop.UNRESOLVABLE: Why(
        "no telling what the path means",
        "Nobody can say where it would have landed: no handler is asked.",
        ("F-36",),
    ),
    Stop.NO_FILE: Why(
        "no file to delete", "The target is a folder, or is not there to be looked at.", ("F-28", "F-34")
    ),
    Stop.NOBODY_DOES_IT: Why(
        "no handler does it", "Every handler declines or raises; the tool's own error leaves.", ("F-14", "F-16")
    ),
    Stop.SIGNAL_ABORTS: Why(
        "an abort", "The caller's signal is aborted; the client is told to close the dialog.", ("R-33", "R-34")
    ),
    Stop.TIME_RUNS_OUT: Why("its time runs out", "The dialog's own time is over.", ("R-29", "R-35")),
    Stop.CLIENT_GOES: Why("the client goes", "The client is gone: the dialog raises.", ("R-40", "R-41")),
    Stop.CLIENT_CANCELS: Why("a cancel", "The client cancels, which gives nothing.", ("R-25", "R-31")),
    Stop.NO_VALUE: Why(
        "a reply that answers nothing", "The reply has no value of the right shape.", ("R-26", "R-28", "R-32")
    ),
    Stop.NO_REPLY: Why(
        "a reply that never comes", "Without a timeout, nothing ends an unanswered dialog.", ("R-46",)
    ),
}


class Danger(Struct, frozen=True):
    """A stop that can still happen. `inner`: at the gate of the device that `write` dispatches to, or in it."""

    stop: Stop
    inner: bool = False

    @property
    def why(self) -> Why:
        return STOPS[self.stop]

    @property
    def short(self) -> str:
        """In a few words, for a table."""
        return f"at the device: {self.why.short}" if self.inner else self.why.short

    @property
    def rules(self) -> str:
        return ", ".join(self.why.rules)


class Left:
    """What is left of a list of stops, in its order. Either some are ruled out, or one of them is certain."""

    __slots__ = ("_left", "certain")

    def __init__(self, *stops: Stop) -> None:
        self._left = dict.fromkeys(stops)
        self.certain: Stop | None = None

    def __iter__(self) -> Iterator[Stop]:
        return iter(self._left if self.certain is None else (self.certain,))

    def rule_out(self, *stops: Stop) -> None:
        """None of these can happen any more."""
        for stop in stops:
            self._left.pop(stop, None)

    def clear(self) -> None:
        """None of them can happen any more; what is certain stays."""
        self._left.clear()

    def settle(self, stop: Stop) -> None:
        """It is this one; what came first stays."""
        if self.certain is None:
            self.certain = stop

    def only(self, *stops: Stop) -> None:
        """All but these are ruled out."""
        self._left = {stop: None for stop in self._left if stop in stops}
