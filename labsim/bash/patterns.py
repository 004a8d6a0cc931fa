"""Bash rules: what the setting says, and how a pattern is laid on a command's text.

A pattern is text with stars in it, not a regular expression: a star stands for any run of characters, everything
else for itself, and the whole text has to match (approval/A-43 to approval/A-46).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from labsim.approval import normalise_policy
from labsim.js_values import BLANKS, trim
from labsim.terms import Policy

_BLANK_RUN: Final = re.compile(f"[{BLANKS}]+")


class BashRule(Struct, frozen=True, gc=False):
    """One usable item of `bash.patterns`: the pattern, normalised, and what it asks for.

    `position` counts from 0 in the setting as it was written, skipped items included, so that a reader can be
    pointed at the item.
    """

    match: str
    approval: Policy
    position: int = 0

    def matches(self, text: str) -> bool:
        """Whether the pattern matches the whole of `text`, case and all (approval/A-45). Takes linear time."""
        head, *rest = self.match.split("*")
        if not rest:
            return text == head
        *inner, tail = rest
        at, end = len(head), len(text) - len(tail)
        if at > end or not (text.startswith(head) and text.endswith(tail)):
            return False
        # Taking each piece at its first place is enough: what lies before it is a star's run, of any length.
        for piece in inner:
            found = text.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True


def parse_rules(setting: object) -> tuple[BashRule, ...]:
    """The rules of a `bash.patterns` setting, in order; what is no rule is skipped without a word
    (approval/A-43).
    """
    if not isinstance(setting, list | tuple):
        return ()
    rules: list[BashRule] = []
    for position, item in enumerate(setting):
        if not isinstance(item, Mapping):
            continue
        match = item.get("match")
        approval = normalise_policy(item.get("approval"))
        if isinstance(match, str) and normalise(match) and approval is not None:
            rules.append(BashRule(match=normalise(match), approval=approval, position=position))
    return tuple(rules)


def normalise(text: str) -> str:
    """`text` trimmed, each run of blanks (line breaks too) made one space, as the host counts blanks
    (approval/A-44).
    """
    return _BLANK_RUN.sub(" ", trim(text))
