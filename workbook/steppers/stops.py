"""What can stop a call, a dialog, a permission or a file operation: one table, with the rules that say so.

The followers (`call`, `gate`, `review`, `files_and_rpc`) say which of these can still happen at a row of a ledger;
nothing else has a list of them.

Two kinds are told apart, because a learner must not take one for the other. Most stops come before anything was
done. A few are *late*: the tool was entered, so the effect stays whatever the caller is told afterwards
(wrapper/W-58).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum, auto
from typing import Final

from msgspec import Struct


class Stop(StrEnum):
    """A way not to get to the end. The first host's come first, in the order in which a call meets them."""

    # The agent loop, before the wrapper (wrapper/W-66 to wrapper/W-77).
    UNKNOWN_TOOL = auto()
    BAD_ARGUMENTS = auto()
    HOOK_FAILS = auto()
    BAD_REPLACEMENT = auto()
    # The wrapper (wrapper/step-1 to wrapper/step-17).
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
    # `write` on its way to a device (dispatch/route-1 to dispatch/D-29).
    WRITE_REFUSES = auto()
    NO_ADDRESS = auto()
    NOTHING_STAGED = auto()
    BAD_REPORT = auto()
    NO_DEVICE = auto()
    ONLY_DOCS = auto()
    BAD_CONTENT = auto()
    # The desk's own tool (review/V-30 to review/V-37).
    NO_NOTE = auto()
    ACT_CHECK = auto()
    NOT_SAVED = auto()
    # The tool itself, and afterwards.
    TOOL_FAILS = auto()
    RESULT_REPLACED = auto()
    NO_CONTENT = auto()
    # A dialog of the desk, and the permission for one change (review/S1 to review/S17, review/end-1 to
    # review/end-9, review/V-40 to review/V-49).
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
    # The second host (gate/O1 to gate/O19).
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
    # A file operation with its fallbacks (fallback/write-1 to fallback/write-8, fallback/delete-1 to
    # fallback/delete-7).
    NO_DENIAL = auto()
    NO_HANDLER = auto()
    NO_PARENT = auto()
    UNRESOLVABLE = auto()
    NO_FILE = auto()
    NOBODY_DOES_IT = auto()
    # One dialog over RPC (rpc/R-25 to rpc/R-32, rpc/R-33 to rpc/R-41).
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
    Stop.UNKNOWN_TOOL: Why("no such tool", "The loop knows no tool of that name.", ("wrapper/W-74",)),
    Stop.BAD_ARGUMENTS: Why(
        "arguments that do not fit",
        "The schema refuses the model's arguments. No handler is asked, and nothing counts as started.",
        ("wrapper/W-73",),
    ),
    Stop.HOOK_FAILS: Why(
        "the hook fails",
        "The approval rule raises while the loop looks for a deny. That costs this call, and no other.",
        ("wrapper/W-67", "wrapper/W-71"),
    ),
    Stop.BAD_REPLACEMENT: Why(
        "a replacement that does not fit",
        "A handler returned another input, and the schema refuses it. The message keeps the old arguments.",
        ("wrapper/W-70",),
    ),
    Stop.RULE_FAILS: Why(
        "the approval rule fails",
        "The tool's own approval rule raises. It is asked for each judgement anew, and its error leaves as it is.",
        ("approval/A-8", "wrapper/W-6"),
    ),
    Stop.DENY_ORIGINAL: Why(
        "a deny on the input as it came",
        "The tool or the user denies the input as it came. Nobody hears of it, and no handler can rewrite it away.",
        ("approval/R1", "approval/R2", "wrapper/W-5"),
    ),
    Stop.HANDLER_BLOCKS: Why(
        "a handler blocks",
        "A tool_call handler blocks the call; those after it are not asked.",
        ("wrapper/W-10", "wrapper/W-11"),
    ),
    Stop.HANDLER_FAILS: Why(
        "a handler fails",
        "A tool_call handler raises, or uses up its time. Either is as good as a block.",
        ("wrapper/W-12", "wrapper/W-13"),
    ),
    Stop.ABORT_IN_HANDLERS: Why(
        "an abort during the handlers",
        "The signal is aborted while tool_call handlers are there to be asked; their answers count for nothing.",
        ("wrapper/W-15",),
    ),
    Stop.DENY_EFFECTIVE: Why(
        "a deny on the input that would run",
        "The input that would really run is judged again, and denied.",
        ("approval/R1", "approval/R2"),
    ),
    Stop.ABORT_IN_PREVIEW: Why(
        "an abort before it is on screen",
        "The signal is aborted while a scheduled call waits for its preview. No approval event went out yet.",
        ("wrapper/W-29",),
    ),
    Stop.NO_UI: Why(
        "nobody to ask", "A person must be asked, and there is no UI to ask with.", ("wrapper/W-38", "wrapper/W-39")
    ),
    Stop.DIALOG_BREAKS: Why(
        "the dialog breaks",
        "The dialog raises, for instance because the client is gone. Its error is what the caller gets.",
        ("wrapper/W-33", "rpc/R-42"),
    ),
    Stop.NOT_APPROVED: Why(
        "any answer but Approve",
        "Anything but exactly Approve is a refusal: Deny, nothing, a label in other letters.",
        ("wrapper/W-40", "wrapper/W-41"),
    ),
    Stop.UNANSWERED: Why(
        "an answer that never comes",
        "A dialog has no deadline and does not hear the signal: unanswered, it holds up its call for good.",
        ("wrapper/W-47", "rpc/R-46"),
    ),
    Stop.WRITE_REFUSES: Why(
        "write refuses",
        "write itself raises: it has no text path and content, serves devices only, or sees an aborted signal.",
        ("wrapper/W-17", "dispatch/D-15", "dispatch/D-29"),
    ),
    Stop.NO_ADDRESS: Why(
        "no address of a device",
        "The path is a near miss, the root, or not valid as an address; or this session has no devices.",
        ("dispatch/D-24", "dispatch/D-25"),
    ),
    Stop.NOTHING_STAGED: Why(
        "nothing to finish",
        "There is nothing staged to apply or no plan to propose, or applying it fails.",
        ("dispatch/D-25",),
    ),
    Stop.BAD_REPORT: Why(
        "a report without its form", "The report is empty, or has no tool in front.", ("dispatch/D-49",)
    ),
    Stop.NO_DEVICE: Why(
        "no such device", "No device of that name is mounted or active.", ("dispatch/D-17", "dispatch/D-23")
    ),
    Stop.ONLY_DOCS: Why(
        "the docs in its place",
        "The content asks for help. The docs are the answer, and the device is not called.",
        ("dispatch/D-18",),
    ),
    Stop.BAD_CONTENT: Why(
        "content that does not fit",
        "The content is no JSON object, or no arguments for this device. It becomes an error result.",
        ("dispatch/D-27", "dispatch/D-30", "dispatch/D-34"),
    ),
    Stop.NO_NOTE: Why("no note to work on", "The packaged note cannot be read.", ("review/V-4",)),
    Stop.ACT_CHECK: Why(
        "one of the ten checks",
        "One of the ten checks of an act fails: among them no permission, another revision, an open dialog.",
        ("review/V-31", "review/V-33", "review/S12"),
    ),
    Stop.NOT_SAVED: Why("it cannot be saved", "The change cannot be appended to the session.", ("review/V-14",)),
    Stop.TOOL_FAILS: Why(
        "the tool fails",
        "The tool was entered and fails, perhaps because it sees the aborted signal. What it did stays done.",
        ("wrapper/W-47", "wrapper/W-48", "wrapper/W-52"),
        late=True,
    ),
    Stop.RESULT_REPLACED: Why(
        "a result handler makes an error of it",
        "A tool_result handler turns the result into an error. The effect stays.",
        ("wrapper/W-53", "wrapper/W-58"),
        late=True,
    ),
    Stop.NO_CONTENT: Why(
        "a result without content",
        "What came back has no list of content, so the loop makes an error of it. The effect stays.",
        ("wrapper/W-75",),
        late=True,
    ),
    Stop.REVOKED: Why("a revoke", "A person revokes; whatever is open is aborted.", ("review/S9", "review/V-43")),
    Stop.MOVED: Why(
        "a move to another branch or session",
        "The session is switched, branched, or moved in its tree.",
        ("review/S14", "review/V-46"),
    ),
    Stop.SHUT_DOWN: Why("a shutdown", "The process ends; a permission is not kept.", ("review/S15", "review/V-13")),
    Stop.DIALOG_BROKE: Why(
        "the dialog breaks, or the client goes",
        "The dialog raises; nothing is recorded.",
        ("review/S17", "review/V-47"),
    ),
    Stop.OVERTAKEN: Why(
        "the note changes under it",
        "Session, revision or branch changed while the dialog was open; its outcome is dropped in silence.",
        ("review/V-19",),
    ),
    Stop.INVALID_TEXT: Why(
        "a text that is not valid", "A blank or too long text is not accepted.", ("review/S3", "review/V-24")
    ),
    Stop.DECLINED: Why(
        "a no", "The person declines or dismisses; no permission is given.", ("review/S8", "review/V-26")
    ),
    Stop.NEVER_CLOSED: Why(
        "an answer that never comes",
        "No dialog of the desk has a timeout: it stays open until somebody acts.",
        ("review/V-48",),
    ),
    Stop.USED_UP: Why(
        "the agent's one change", "A change by the agent uses it up.", ("review/S10", "review/S11", "review/V-34")
    ),
    Stop.REVIEWED: Why(
        "a person's own outcome",
        "A person records an outcome, in a review or in the panel, Cancel included.",
        ("review/S2", "review/S4", "review/S5", "review/S6", "review/S13"),
    ),
    Stop.ASKED_AGAIN: Why(
        "being asked for again", "A new request for permission drops the old one as it opens.", ("review/S8",)
    ),
    Stop.UNKNOWN_NAME: Why("no such tool", "The host knows no tool of that name.", ("gate/O3",)),
    Stop.HOOK_REFUSES: Why(
        "a hook refuses", "A hook refuses, or breaks, before any gate is asked.", ("gate/O3", "gate/W12")
    ),
    Stop.MISFIT: Why("an input that does not fit", "The input is not of the tool's shape.", ("gate/O3",)),
    Stop.PREVIEW_FAILS: Why("no preview", "The tool cannot present the call, so nobody is asked.", ("gate/O4",)),
    Stop.GATE_FAILS: Why("the gate fails", "The gate raises, or gives something that is no answer.", ("gate/O13",)),
    Stop.GATE_DENIES: Why(
        "the gate denies", "The gate denies. That is final: no rule is read.", ("gate/O6", "gate/G3", "gate/M1")
    ),
    Stop.RULES_UNREADABLE: Why("unreadable rules", "The remembered rules cannot be read.", ("gate/R18",)),
    Stop.RULE_DENIES: Why(
        "a remembered deny", "A remembered rule answers, with a deny.", ("gate/O8", "gate/R8", "gate/R16")
    ),
    Stop.NOBODY_ASKS: Why(
        "nobody to ask", "The gate wants somebody asked, and nothing here turns that into a request.", ("gate/W11",)
    ),
    Stop.APPROVER_FAILS: Why(
        "the approver fails",
        "The approver raises, or answers with what is no answer. No consent.",
        ("gate/A2", "gate/D1"),
    ),
    Stop.APPROVER_DENIES: Why(
        "the approver denies",
        "The approver answers Deny, for this call or for the session.",
        ("gate/A5", "gate/O14"),
    ),
    Stop.NOT_RECORDED: Why(
        "a yes that cannot be recorded",
        "The answer is to be remembered and cannot be, so it is a no.",
        ("gate/F4",),
    ),
    Stop.TIMED_OUT: Why(
        "the gate's time limit", "The gate's own bound ends the wait with a denial.", ("gate/X1", "gate/X2")
    ),
    Stop.NEVER_ANSWERED: Why(
        "an answer that never comes",
        "Nothing wakes an approver that never answers; calls of the same round wait as well.",
        ("gate/X3", "gate/X5", "gate/O18"),
    ),
    Stop.GIVEN_UP: Why(
        "the turn is given up", "The turn is cancelled while the call waits.", ("gate/V4", "gate/A23")
    ),
    Stop.RUN_FAILS: Why(
        "the tool fails",
        "The tool was entered and fails, and the model reads why. What it did stays done.",
        ("gate/O1",),
        late=True,
    ),
    Stop.NO_DENIAL: Why(
        "a failure that is no denial",
        "The failure is no permission denial, and only those are routed.",
        ("fallback/F-42",),
    ),
    Stop.NO_HANDLER: Why(
        "no handler", "No handler is registered for this, so the error leaves.", ("fallback/F-8", "fallback/F-12")
    ),
    Stop.NO_PARENT: Why(
        "no folder for it",
        "The missing folder cannot be made, for a reason that is no denial.",
        ("fallback/F-21", "fallback/F-42"),
    ),
    Stop.UNRESOLVABLE: Why(
        "no telling what the path means",
        "Nobody can say where it would have landed: no handler is asked.",
        ("fallback/F-36",),
    ),
    Stop.NO_FILE: Why(
        "no file to delete",
        "The target is a folder, or is not there to be looked at.",
        ("fallback/F-28", "fallback/F-34"),
    ),
    Stop.NOBODY_DOES_IT: Why(
        "no handler does it",
        "Every handler declines or raises; the tool's own error leaves.",
        ("fallback/F-14", "fallback/F-16"),
    ),
    Stop.SIGNAL_ABORTS: Why(
        "an abort",
        "The caller's signal is aborted; the client is told to close the dialog.",
        ("rpc/R-33", "rpc/R-34"),
    ),
    Stop.TIME_RUNS_OUT: Why("its time runs out", "The dialog's own time is over.", ("rpc/R-29", "rpc/R-35")),
    Stop.CLIENT_GOES: Why("the client goes", "The client is gone: the dialog raises.", ("rpc/R-40", "rpc/R-41")),
    Stop.CLIENT_CANCELS: Why("a cancel", "The client cancels, which gives nothing.", ("rpc/R-25", "rpc/R-31")),
    Stop.NO_VALUE: Why(
        "a reply that answers nothing",
        "The reply has no value of the right shape.",
        ("rpc/R-26", "rpc/R-28", "rpc/R-32"),
    ),
    Stop.NO_REPLY: Why(
        "a reply that never comes", "Without a timeout, nothing ends an unanswered dialog.", ("rpc/R-46",)
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
