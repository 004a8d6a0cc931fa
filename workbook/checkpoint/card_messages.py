"""What the control of a checkpoint can send, as records: whatever else arrives is not understood.

Below `prediction`, which answers them; the front end in `static/checkpoint.js` makes them.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class _Message(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class CommitAnswer(_Message, frozen=True, forbid_unknown_fields=True, tag="commit"):
    """The Commit button. `answer`: an option's id or a text, steps in order, or values by field.

    `confidence`: "" while none is chosen.
    """

    answer: str | tuple[str, ...] | dict[str, bool | int | str | None]
    confidence: str = ""


class VoteAgain(_Message, frozen=True, forbid_unknown_fields=True, tag="again"):
    """The button for a second vote: it opens one, and the next commit is it."""


class ShowHint(_Message, frozen=True, forbid_unknown_fields=True, tag="hint"):
    """The hint button."""


class ShowReveal(_Message, frozen=True, forbid_unknown_fields=True, tag="reveal"):
    """The reveal button."""


class NameRow(_Message, frozen=True, forbid_unknown_fields=True, tag="row"):
    """One of the buttons below the reveal. `row`: a number, "none" or "never"; "" if the field is empty."""

    row: int | str


class SkipRow(_Message, frozen=True, forbid_unknown_fields=True, tag="skip"):
    """On to the explanations, without naming a row or comparing point by point."""


class TickPoints(_Message, frozen=True, forbid_unknown_fields=True, tag="points"):
    """The points of the worked answer that the learner's own text had."""

    points: tuple[str, ...]


Message: TypeAlias = CommitAnswer | VoteAgain | ShowHint | ShowReveal | NameRow | SkipRow | TickPoints
