"""The lists of steps that a ledger is walked on, and what a walk knows where it stands.

The lists are short versions of the hosts' own orders: a call through the wrapper and one at the second host, the
agent loop, a dispatch, the Review Desk, a file operation, a dialog over RPC. Each kind of event says itself on
which step of which list it stands (`labsim.events.event.Event.step`); an event can stand on several lists at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct


class Order(StrEnum):
    """A list of steps; the value names it to a reader."""

    LOOP = "the agent loop"
    CALL = "the call"
    DISPATCH = "the dispatch"
    DEVICE = "the device's own gate"
    HOST_CALL = "the call at the second host"
    DESK = "the Review Desk"
    WRITE = "the write"
    DELETE = "the delete"
    RPC = "the dialog"


#: The steps that a kind of event always stands on, each by its list.
Steps: TypeAlias = Mapping[Order, int]


class LoopStep:
    """The steps of the agent loop, in order, counted from 0.

    Plain numbers, here and below: making an enum takes ten times as long, and every cold start would pay for eight.
    """

    CHECK: Final = 0
    HOOK: Final = 1
    REVISE: Final = 2
    TURN: Final = 3
    RUN: Final = 4
    RESULT: Final = 5


class CallStep:
    """The parts of a call through the wrapper, or through the gate of a device."""

    PREPARE: Final = 0
    JUDGE_ORIGINAL: Final = 1
    HANDLERS: Final = 2
    JUDGE_EFFECTIVE: Final = 3
    DECIDE: Final = 4
    ANNOUNCE: Final = 5
    ASK: Final = 6
    SETTLE: Final = 7
    RUN: Final = 8
    HAND_BACK: Final = 9


class DispatchStep:
    """The steps of `write` on the way to a device."""

    ADDRESS: Final = 0
    DEVICE: Final = 1
    DOCS: Final = 2
    CONTENT: Final = 3
    PASS_ON: Final = 4
    INSIDE: Final = 5
    HAND_BACK: Final = 6


class HostCallStep:
    """The steps of a call at the second host."""

    MADE: Final = 0
    HOOKS: Final = 1
    PREVIEW: Final = 2
    GATE: Final = 3
    RULES: Final = 4
    REQUEST: Final = 5
    APPROVER: Final = 6
    RESOLVE: Final = 7
    DECIDED: Final = 8
    RUN: Final = 9
    RESULT: Final = 10


class DeskStep:
    """The steps of the Review Desk."""

    COMMAND: Final = 0
    DIALOG: Final = 1
    BACK: Final = 2
    TABLE: Final = 3
    SAY: Final = 4
    OUTSIDE: Final = 5


class WriteStep:
    """The steps of a write that may be denied."""

    TRY: Final = 0
    PARENT: Final = 1
    TARGET: Final = 2
    OFFER: Final = 3
    END: Final = 4


class DeleteStep:
    """The steps of a delete that may be denied."""

    TRY: Final = 0
    TARGET: Final = 1
    LOOK: Final = 2
    OFFER: Final = 3


class DialogStep:
    """The steps of a dialog over RPC."""

    SEND: Final = 0
    WAIT: Final = 1
    SETTLED: Final = 2


_CALL: Final = (
    (
        "1-2",
        "Use up the loop's note that tool_call went out already, if there is one; read mode and user policies, "
        "once for the whole call.",
    ),
    ("3", "Judge the input as it came. A deny ends the call here, before anybody hears of it."),
    (
        "4",
        "Let the tool_call handlers see the call, unless the loop did. One may block it, or return another input.",
    ),
    (
        "5-7",
        "Judge the input that would really run; report its tier to whoever dispatched the call. A deny ends it.",
    ),
    ("8-9", "Decide whether a person must be asked; if so, wait until a scheduled call is on screen."),
    ("10", "Tell the lifecycle handlers that a decision is needed."),
    ("11-13", "Put the question to a person. Nobody there, or a dialog that breaks: the call is refused."),
    ("14-15", "Tell what was decided. Anything but exactly Approve ends the call."),
    ("16", "Run the tool with the effective input: the only step with an effect."),
    (
        "17",
        "Show the result to the tool_result handlers, then return it or raise. Nothing here undoes the effect.",
    ),
)
#: Each list: a step's number as the host's order counts (`5-7`), and what the step is for.
ORDERS: Final[Mapping[Order, tuple[tuple[str, str], ...]]] = {
    Order.LOOP: (
        ("1", "Put the model's arguments to the tool's schema."),
        ("2", "Ask the tool_call handlers once for the whole call, and leave a marker that they were asked."),
        ("3", "Put what a handler returned to the schema, and write it back into the message."),
        ("4", "Wait for the call's turn: the whole batch is prepared before any of it runs."),
        ("5", "Run it through the wrapper."),
        ("6", "Give the model a result, or an error in its place."),
    ),
    Order.CALL: _CALL,
    Order.DISPATCH: (
        ("3", "Read the path: which device, or what else."),
        ("4.1", "Look the device up."),
        ("4.2", "Docs are the answer where the content asks for help."),
        ("4.3", "Read the content as arguments, and check them."),
        ("4.4-5", "Note the device's tier, and pass the call on with the outer approval as a mark."),
        ("4.6", "The device's own gate, and the device."),
        ("4.7", "Hand the device's result back to write."),
    ),
    Order.DEVICE: _CALL,
    Order.HOST_CALL: (
        ("1", "The model calls a tool. The gate of just now is the gate of this call."),
        ("2", "Hooks see the call before anybody else. They may rewrite the input, or refuse."),
        ("3", "Check the input's shape, and let the tool present the call and say how far it reaches."),
        ("4", "Ask the gate whether this is worth asking about. Its allow and its deny are final."),
        ("5", "Only for a prompt: look for a remembered rule about this call."),
        ("6", "Only where no rule answers: put a request on the session's stream."),
        ("7", "Hand the request to the approver, and wait."),
        ("8", "Remember the answer if it is one to be remembered, and tell how the request ended."),
        ("9", "The call may run, or it may not."),
        ("10", "Run the tool: the only step with an effect."),
        ("11", "The model reads the result, or why there is none. The turn goes on either way."),
    ),
    Order.DESK: (
        ("1", "A person gives a command."),
        ("2", "A dialog opens; there is at most one."),
        ("3", "It comes back, or is closed."),
        ("4", "A step of the desk's table: record, permit, or change nothing."),
        ("5", "Say so: notices, status line, widget, messages."),
        ("6", "From outside: the session moves, or somebody else writes into it."),
    ),
    Order.WRITE: (
        ("1", "Try the tool's own write."),
        ("4", "Where a folder is missing: make it, and try once more."),
        ("6", "Find out where the write really lands."),
        ("7", "Offer it to the handlers, in order."),
        ("8", "Return, or raise the tool's own error."),
    ),
    Order.DELETE: (
        ("1", "Try the tool's own unlink."),
        ("3", "Find out what the path really names."),
        ("4-6", "Look at it: only a file is one for sure."),
        ("7", "Offer it to the handlers, in order, or raise the tool's own error."),
    ),
    Order.RPC: (
        ("1", "Send the request."),
        ("2", "Wait: a reply, the signal, the timer, or the end of the client."),
        ("3", "It is settled, once."),
    ),
}


class Place(Struct, frozen=True):
    """Where an event stands: the step at `index` of a list, counted from 0."""

    order: Order
    index: int

    @property
    def numbers(self) -> str:
        """The step's number in its list, as the host's order counts: `5-7`."""
        return ORDERS[self.order][self.index][0]

    @property
    def does(self) -> str:
        """What the step is for."""
        return ORDERS[self.order][self.index][1]


class Here(Struct, kw_only=True, gc=False):
    """Where a walk along one call is, as far as the events after it depend on that; a walk never goes back.

    `asked`: the gate's own dialog has been put; `broke`: and did not end with an answer. `stops` is the step that
    a refusal without a word of its own would belong to. `runs`: nothing stands between the call and its tool any
    more. `in_call` is false for events that belong to no call.
    """

    at: int = CallStep.PREPARE
    asked: bool = False
    broke: bool = False
    stops: int = CallStep.JUDGE_ORIGINAL
    runs: bool = False
    in_call: bool = True

    @property
    def asking(self) -> int:
        """The step that a dialog belongs to: until it is decided that a person is asked, it is a handler's own."""
        return CallStep.ASK if self.at >= CallStep.DECIDE else CallStep.HANDLERS
