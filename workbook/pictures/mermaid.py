"""A sequence diagram as Mermaid source, for instructors who keep diagrams in their own documents.

Mermaid has no quoting, so whatever could end a line, open a comment, close a block or start an entity is written
as the number of its character, which Mermaid turns back into text.
"""

from __future__ import annotations

import re
from typing import Final

from workbook.ledgers.played import WAITING
from workbook.pictures.scene import Message, Scene, Stroke
from workbook.show.grid import wrapped

_ARROWS: Final = {Stroke.TELL: "->>", Stroke.ANSWER: "-->>", Stroke.REFUSE: "--x", Stroke.EFFECT: "->>"}
_COLUMNS: Final = 36  # Mermaid sets each message in one line and makes the lanes as wide as that
_PLAIN: Final = re.compile(r"[^A-Za-z0-9 .,_/()→-]")
_KEYWORD: Final = re.compile(r"\b(end)\b", re.IGNORECASE)  # closes a block wherever it stands


def as_mermaid(scene: Scene) -> str:
    """The source, with a title and a description for screen readers."""
    lines = [
        "sequenceDiagram",
        f"    accTitle: {_text(scene.caption)}",
        f"    accDescr: {_text(', '.join(label for _, label in scene.lanes))} exchange the events of one ledger.",
    ]
    lines += [f"    participant {lane.value} as {_text(label)}" for lane, label in scene.lanes]
    for part in scene.parts:
        if part.title:
            lines.append(f"    Note over {_span(scene)}: {_text(part.title)}")
        lines += [f"    {_line(message)}" for message in part.messages]
    if scene.waits_for is not None:
        lines.append(f"    Note over {scene.waits_for.value}: {WAITING}")
    return "\n".join(lines) + "\n"


def _line(message: Message) -> str:
    words = f"{message.number} {message.name}"
    text = "<br/>".join(map(_text, (words, *(wrapped(message.says, _COLUMNS) if message.says else ()))))
    if message.stroke is Stroke.NOTE:
        return f"Note over {message.source.value}: {text}"
    return f"{message.source.value}{_ARROWS[message.stroke]}{message.target.value}: {text}"


def _span(scene: Scene) -> str:
    first, last = scene.lanes[0][0], scene.lanes[-1][0]
    return first.value if first is last else f"{first.value},{last.value}"


def _text(text: str) -> str:
    plain = _PLAIN.sub(lambda found: f"#{ord(found.group())};", text)
    return _KEYWORD.sub(lambda found: f"#{ord(found.group()[0])};{found.group()[1:]}", plain)
