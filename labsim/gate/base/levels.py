"""How far a call reaches outside the process that makes it.

At the bottom of `labsim.gate`. A level may also be unknown, written `None`: the host could not recover it.
Unknown is not harmless. Whatever has to act on a level reads it through `judged`, so the strict side is taken in
one place.
"""

from __future__ import annotations

from enum import StrEnum


class SideEffectLevel(StrEnum):
    """What a call changes. The members have no order: PROCESS may reach as far as
    EXTERNAL.
    """

    NONE = "None"  # a read; never put to anybody (gate/G7). Not the same as Python's None, which is unknown
    LOCAL_STATE = "LocalState"
    PROCESS = "Process"
    EXTERNAL = "External"


def judged(level: SideEffectLevel | None) -> SideEffectLevel:
    """The level to judge a call by: the most it could be doing where nobody knows (gate/A6)."""
    return SideEffectLevel.EXTERNAL if level is None else level


def is_consequential(level: SideEffectLevel | None) -> bool:
    """Whether a call changes anything outside this process, or may (gate/G1, gate/A6)."""
    return judged(level) is not SideEffectLevel.NONE
