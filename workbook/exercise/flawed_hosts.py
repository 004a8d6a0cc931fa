# mypy: allow-untyped-defs, allow-untyped-calls
# (the pieces are shown to learners, who write no types)
"""Pieces of a host that look right and are not, each beside one that is: for learners to break.

They are shown to learners as they stand here, so each is short, and its flaw is one that real hosts had: it looks
at what was asked for and not at what would run, it remembers a yes, it compares beginnings, it counts on a rule
that another one replaces.
"""

from __future__ import annotations

import json
from enum import StrEnum
from inspect import getsource
from textwrap import dedent
from typing import Any, Final

from msgspec import Struct


class Part(StrEnum):
    """Which part of the first host a piece is."""

    SETTINGS = "settings"
    HANDLER = "handler"
    ANSWERS = "answers"
    DECLARATION = "declaration"  # the tool's own rule, a function of the arguments


class Piece(StrEnum):
    """The pieces that can be broken."""

    GUARD = "guard-of-the-request"
    MEMORY = "approver-that-remembers"
    PREFIX = "approver-by-prefix"
    KEYED = "settings-by-key"


class Hand(Struct, frozen=True):
    """One piece, where it belongs. `made` is what a learner would hand in: a mapping, a function or a class."""

    part: Part
    made: Any

    @property
    def text(self) -> str:
        """The piece as its author wrote it."""
        if self.part is Part.SETTINGS:
            return json.dumps(self.made, indent=2)
        return dedent(getsource(self.made)).rstrip()


class Pair(Struct, frozen=True, kw_only=True):
    """A flawed piece, and a sound one to the same end."""

    flawed: Hand
    sound: Hand


# ------------------------------------------------------------------------------------------ nothing is published


def guard(event, context):
    """Nothing is published today."""
    if isinstance(event.input, dict) and event.input.get("action") == "publish":
        return {"block": True, "reason": "nothing is published today"}
    return None


def declared(args):
    """Nothing is published today: the tool says so itself, of whatever would run."""
    if isinstance(args, dict) and args.get("action") == "publish":
        return {"tier": "exec", "policy": "deny", "reason": "nothing is published today"}
    return "write"


# ------------------------------------------------------------------------------------- a person decides each call


class Remembers:
    """Asks a person about each tool, once."""

    def __init__(self):
        self.allowed = set()

    async def answer(self, question):
        tool = question.text.splitlines()[0]
        if tool in self.allowed:
            return "Approve"
        reply = await question.person()
        if reply.says == "Approve":
            self.allowed.add(tool)
        return "Approve" if reply.says == "Approve" else "Deny"


class Asks:
    """Asks a person about each call."""

    async def answer(self, question):
        reply = await question.person()
        return "Approve" if reply.says == "Approve" else "Deny"


# --------------------------------------------------------------------------------------- one call needs no person


def by_prefix(question):
    """One packet may be put aside without a person."""
    if question.text.startswith('Allow tool: seed_note\nInput: {"action":"reserve"'):
        return "Approve"
    return "Deny"


def by_whole_text(question):
    """One packet may be put aside without a person."""
    if question.text == 'Allow tool: seed_note\nInput: {"action":"reserve"}':
        return "Approve"
    return "Deny"


# --------------------------------------------------------------------------- nothing is written through a device

KEYED: Final = {"tools.approvalMode": "write", "tools.approval": {"write": "deny", "seed_slot": "allow"}}
CLOSED: Final = {"tools.approvalMode": "write", "tools.approval": {"write": "deny", "seed_slot": "deny"}}

PIECES: Final[dict[Piece, Pair]] = {
    Piece.GUARD: Pair(flawed=Hand(Part.HANDLER, guard), sound=Hand(Part.DECLARATION, declared)),
    Piece.MEMORY: Pair(flawed=Hand(Part.ANSWERS, Remembers), sound=Hand(Part.ANSWERS, Asks)),
    Piece.PREFIX: Pair(flawed=Hand(Part.ANSWERS, by_prefix), sound=Hand(Part.ANSWERS, by_whole_text)),
    Piece.KEYED: Pair(flawed=Hand(Part.SETTINGS, KEYED), sound=Hand(Part.SETTINGS, CLOSED)),
}
