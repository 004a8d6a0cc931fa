"""Two small chapters as a bank, and what a learner may do in them, for the tests of progress and recall."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import parse_case
from workbook.checkpoint.file import parse_beliefs, parse_checkpoints
from workbook.learner.records import (
    Answer,
    AnswerKind,
    Commit,
    Confidence,
    Key,
    Note,
    Record,
    Reset,
    RevealSeen,
    Revote,
    RowNamed,
    SelfChecked,
    Tried,
)
from workbook.progress.questions import Bank, ChapterItems, Item, items_of, recall_key

PUBLISH: dict[str, Any] = {"approval": "exec", "args": {"action": "publish"}, "mode": "always-ask"}
CASES = {
    name: parse_case({"id": name, "scenario": "wrapper", "given": {**PUBLISH, **further}}, name)
    for name, further in {
        "twice": {"choices": ["Approve", "Deny"], "repeat": 2},
        "once": {"choices": ["Approve"]},
        "denied": {"choices": ["Deny"]},
    }.items()
}
BELIEFS = parse_beliefs(
    json.dumps(
        {
            "schemaVersion": 1,
            "beliefs": [
                {"id": "kept", "says": "A yes is kept.", "because": "Other hosts keep it."},
                {"id": "silent", "says": "Nobody is asked.", "because": "Tools just run."},
                {"id": "runs-first", "says": "It runs, and is judged then.", "because": "Errors come late."},
            ],
        }
    ).encode(),
    "beliefs.json",
)


def option(name: str, belief: str | None = None, **predicts: int) -> dict[str, Any]:
    made = {"id": name, "text": f"The answer {name}.", "predicts": predicts, "why": f"Why {name}."}
    return made if belief is None else {**made, "belief": belief}


def choice(name: str, case: str, right: dict[str, Any], *wrong: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "choice",
        "case": case,
        "prompt": f"The question {name}?",
        "options": [*wrong, right],
        "scripted": wrong[0]["id"],
        **more,
    }


TWO = option("two", prompts=2)
ASKED = option("asked", prompts=1)
FIRST: list[dict[str, Any]] = [
    choice(
        "again", "twice", TWO, option("one", "kept", prompts=1), option("none", "silent", prompts=0), retest="kept"
    ),
    choice("kept", "twice", option("once", effects=1), option("both", "kept", effects=2)),
    {
        "id": "paper",
        "kind": "paper",
        "case": "twice",
        "prompt": "Say it.",
        "worked": "Each call is asked about.",
        "claims": {"prompts": 2},
        "points": [
            {"id": "each", "text": "Each call is asked about.", "belief": "kept"},
            {"id": "why", "text": "The tool says exec."},
        ],
        "scripted": "Both are asked about.",
    },
]
SECOND: list[dict[str, Any]] = [
    choice(
        "quiet", "denied", ASKED, option("silence", "silent", prompts=0), option("ran", "runs-first", effects=1)
    ),
    {
        "id": "counts",
        "kind": "fields",
        "case": "twice",
        "prompt": "Count.",
        "fields": [
            {
                "field": "prompts",
                "asks": "How many dialogs?",
                "why": "One a call.",
                "wrong": [{"value": 1, "belief": "kept", "why": "You may think so."}],
            },
            {"field": "effects", "asks": "How often does it run?", "why": "Once."},
        ],
        "scripted": {"prompts": 2, "effects": 1},
    },
    {
        "id": "order",
        "kind": "order",
        "case": "once",
        "prompt": "In which order?",
        "steps": [
            {"id": "asked", "text": "The dialog opens.", "event": "question_asked", "why": "It comes first."},
            {"id": "ran", "text": "It runs.", "event": "execute", "why": "The yes came before."},
            {"id": "back", "text": "It returns.", "event": "call_returned", "why": "Last."},
        ],
        "wrong": [{"earlier": "ran", "later": "asked", "belief": "runs-first", "why": "You may think so."}],
        "scripted": ["asked", "ran", "back"],
    },
]


class Counted:
    """Plays cases, and counts how often."""

    def __init__(self) -> None:
        self.played: list[str] = []

    def __call__(self, case_id: str) -> Report:
        self.played.append(case_id)
        return run(CASES[case_id])


def chapter(name: str, checkpoints: list[dict[str, Any]], play: Counted | None = None) -> ChapterItems:
    data = json.dumps({"schemaVersion": 1, "chapter": name, "checkpoints": checkpoints}).encode()
    file = parse_checkpoints(data, f"{name}.json")
    items = tuple(items_of(name, file.checkpoints, play or Counted()))
    return ChapterItems(id=name, title=f"Chapter {name}", items=items, exercises=("task",))


def bank(play: Counted | None = None) -> Bank:
    return Bank([chapter("first", FIRST, play), chapter("second", SECOND, play)], BELIEFS)


class Doings:
    """What a learner does, as records numbered like the lines of a file."""

    def __init__(self, known: Bank) -> None:
        self.bank = known
        self.records: list[Record] = []

    def item(self, checkpoint: str) -> Item:
        found = (self.bank.item(chapter.id, checkpoint) for chapter in self.bank.chapters)
        return next(item for item in found if item is not None)

    def _key(self, checkpoint: str, asking: str | None) -> Key:
        item = self.item(checkpoint)
        return item.key if asking is None else recall_key(asking, item)

    @property
    def seq(self) -> int:
        return len(self.records) + 2

    def commit(
        self, checkpoint: str, answer: Answer, sure: Confidence | None = None, *, asking: str | None = None
    ) -> Commit:
        kind = self.item(checkpoint).kind
        made = Commit(seq=self.seq, key=self._key(checkpoint, asking), answer=answer, kind=kind, confidence=sure)
        self.records.append(made)
        return made

    def vote_again(self, checkpoint: str, answer: Answer, sure: Confidence | None = None) -> Revote:
        kind = self.item(checkpoint).kind
        made = Revote(seq=self.seq, key=self._key(checkpoint, None), answer=answer, kind=kind, confidence=sure)
        self.records.append(made)
        return made

    def reveal(self, checkpoint: str, *, asking: str | None = None) -> RevealSeen:
        made = RevealSeen(seq=self.seq, key=self._key(checkpoint, asking))
        self.records.append(made)
        return made

    def answer(
        self, checkpoint: str, answer: Answer, sure: Confidence | None = None, *, asking: str | None = None
    ) -> Doings:
        """Commit, and see the reveal."""
        self.commit(checkpoint, answer, sure, asking=asking)
        self.reveal(checkpoint, asking=asking)
        return self

    def reset(self, checkpoint: str, why: str = "") -> Reset:
        made = Reset(seq=self.seq, key=self._key(checkpoint, None), why=why)
        self.records.append(made)
        return made

    def row(self, checkpoint: str, row: int | None, *, held: bool) -> RowNamed:
        made = RowNamed(seq=self.seq, key=self._key(checkpoint, None), row=row, held=held)
        self.records.append(made)
        return made

    def check(self, checkpoint: str, *points: str) -> SelfChecked:
        made = SelfChecked(seq=self.seq, key=self._key(checkpoint, None), points=points)
        self.records.append(made)
        return made

    def note(self, checkpoint: str, text: str) -> Note:
        made = Note(seq=self.seq, key=self._key(checkpoint, None), text=text)
        self.records.append(made)
        return made

    def tried(self, chapter_id: str, exercise: str, held: int, of: int) -> Tried:
        made = Tried(seq=self.seq, key=Key.of(chapter_id, exercise, "task"), held=held, of=of)
        self.records.append(made)
        return made

    def elsewhere(self, chapter_id: str, checkpoint: str, content: object = "asked once") -> Commit:
        """An answer to something that is not in the bank."""
        made = Commit(seq=self.seq, key=Key.of(chapter_id, checkpoint, content), answer="x", kind=AnswerKind.TEXT)
        self.records.append(made)
        return made


#: A right and a wrong answer to each checkpoint that is judged.
RIGHT: dict[str, Answer] = {
    "again": "two",
    "kept": "once",
    "quiet": "asked",
    "counts": {"prompts": 2, "effects": 1},
    "order": ("asked", "ran", "back"),
}
WRONG: dict[str, Answer] = {
    "again": "one",
    "kept": "both",
    "quiet": "silence",
    "counts": {"prompts": 1, "effects": 1},
    "order": ("ran", "asked", "back"),
}


def everything(doings: Doings) -> Iterator[str]:
    """The ids of all checkpoints, in order."""
    for chapter_items in doings.bank.chapters:
        for item in chapter_items.items:
            yield item.key.checkpoint
