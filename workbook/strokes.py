"""What a sequence diagram is made of: lanes, strokes, and one message before it has its number.

Below `arrows` and the modules that know the events of one host each. Knows no event itself.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias


class Lane(StrEnum):
    """Who takes part. The value is a name for diagram sources; the label shown depends on the case."""

    CALLER = "caller"
    WRAPPER = "wrapper"
    DEVICE = "device"  # the second gate of a dispatch
    HANDLERS = "handlers"
    GATE = "gate"  # of the second host, whose session is its `wrapper`
    RULES = "rules"
    APPROVER = "approver"
    PERSON = "person"
    TOOL = "tool"
    BROKER = "broker"
    DISK = "disk"


class Stroke(StrEnum):
    """How a message is drawn."""

    TELL = "tell"  # tells or asks something
    ANSWER = "answer"  # gives something back
    REFUSE = "refuse"  # an error, a block, a reply that comes too late
    EFFECT = "effect"  # the executor or the disk is reached
    NOTE = "note"  # one lane decides or notes something by itself


#: From which lane to which, how, and with which words.
Drawn: TypeAlias = tuple[Lane, Lane, Stroke, str]


def note(lane: Lane, says: str) -> Drawn:
    """Something that one lane decides or notes by itself."""
    return lane, lane, Stroke.NOTE, says
