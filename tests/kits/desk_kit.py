"""A small chapter of one's own, as data and as files, for the tests of checkpoints, dialogs and chapters."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec

from labsim.case.model import Case
from labsim.reading.reading import parse_case
from workbook.chapter.chapter import Chapter, chapter_files
from workbook.checkpoint.file import Belief, CheckpointFile, parse_beliefs, parse_checkpoints
from workbook.learner.store import Progress
from workbook.learner.who import Learner

HOSTILE = '<img src=x onerror="document.title=1">\x1b[31m $a$b$ \u202e &amp;'  # what a tool might send to a page

PUBLISH: dict[str, Any] = {"approval": "exec", "args": {"action": "publish"}, "mode": "always-ask"}
TWICE_GIVEN: dict[str, Any] = {**PUBLISH, "choices": ["Approve", "Deny"], "repeat": 2}
CASES: list[dict[str, Any]] = [
    {
        "id": "twice",
        "title": "A title that must not tell",
        "scenario": "wrapper",
        "given": TWICE_GIVEN,
        "expected": {"prompts": 2, "effects": 1},
        "why": "a reason that must not tell",
    },
    {"id": "both", "scenario": "wrapper", "title": "A title that must not tell", "given": TWICE_GIVEN},
    {"id": "once", "scenario": "wrapper", "given": {**PUBLISH, "choices": ["Approve"]}},
    {"id": "denied", "scenario": "wrapper", "given": {**PUBLISH, "choices": ["Deny"]}},
    {"id": "nobody", "scenario": "wrapper", "given": {**PUBLISH, "ui": False}},
    {"id": "by-pipe", "scenario": "wrapper", "given": {**PUBLISH, "ui": "rpc", "choices": ["Approve"]}},
    {
        "id": "asks-first",
        "scenario": "wrapper",
        "given": {**PUBLISH, "handlers": [{"asks": "Is it open?"}], "choices": [True, "Approve"]},
    },
    {
        "id": "hostile",
        "scenario": "wrapper",
        "given": {**PUBLISH, "args": {"action": HOSTILE}, "choices": [None]},
    },
    {"id": "sorted", "scenario": "classify-error", "given": {"code": "EACCES"}},
]
BELIEFS: dict[str, Any] = {
    "schemaVersion": 1,
    "beliefs": [{"id": "it-is-kept", "says": "A yes is kept.", "because": "Other hosts keep it."}],
}
CHOICE: dict[str, Any] = {
    "id": "again",
    "kind": "choice",
    "case": "twice",
    "prompt": "Approve, then the same call again. How many dialogs?",
    "options": [
        {
            "id": "one",
            "text": "One dialog.",
            "predicts": {"prompts": 1, "effects": 2},
            "belief": "it-is-kept",
            "why": "You may think that it is kept.",
        },
        {
            "id": "two",
            "text": "Two dialogs.",
            "predicts": {"prompts": 2, "events": {"tool_call": 2}},
            "why": "Nothing is kept.",
        },
        {
            "id": "none",
            "text": "None.",
            "predicts": {"prompts": 0},
            "belief": "it-is-kept",
            "why": "You may think that nobody asks.",
            "counter": "once",
        },
    ],
    "hints": ["Where would it be kept?", "Look for the dialogs."],
    "retest": "on-paper",
    "scripted": "one",
}
PAPER: dict[str, Any] = {
    "id": "on-paper",
    "kind": "paper",
    "case": "twice",
    "prompt": "Say it in your own words.",
    "worked": "Each call is asked about.",
    "claims": {"prompts": 2},
    "points": [
        {"id": "each", "text": "Each call is asked about.", "belief": "it-is-kept"},
        {"id": "no-store", "text": "Nothing is written down."},
    ],
    "scripted": "Both are asked about.",
}
FIELDS: dict[str, Any] = {
    "id": "counted",
    "kind": "fields",
    "case": "twice",
    "prompt": "Approve, then Deny. Predict all three.",
    "fields": [
        {
            "field": "outcome",
            "asks": "How does the last call end?",
            "values": [{"value": "return", "text": "it returns"}, {"value": "throw", "text": "it throws"}],
            "why": "The last answer was no.",
            "wrong": [
                {"value": "return", "belief": "it-is-kept", "why": "You may think that the yes still holds."}
            ],
        },
        {
            "field": "prompts",
            "asks": "How many dialogs?",
            "why": "One for each call.",
            "wrong": [
                {"value": 1, "belief": "it-is-kept", "why": "You may think that one is enough.", "counter": "both"}
            ],
        },
        {"field": "events.execute", "asks": "How often does it run?", "why": "Once, for the yes."},
    ],
    "hints": ["Count them."],
    "scripted": {"outcome": "throw", "prompts": 1, "events.execute": 1},
}
ORDER: dict[str, Any] = {
    "id": "in-order",
    "kind": "order",
    "case": "once",
    "prompt": "What comes first?",
    "steps": [
        {"id": "asked", "text": "The dialog opens.", "event": "question_asked", "why": "It asks about the input."},
        {"id": "heard", "text": "Handlers hear of it.", "event": "tool_call", "why": "They may change the input."},
        {
            "id": "again",
            "text": "The policy is resolved again.",
            "event": "policy_resolved",
            "where": {"on": "effective"},
            "why": "The input may have changed.",
        },
        {"id": "run", "text": "It runs.", "event": "execute", "call": "call-1", "why": "The yes came first."},
    ],
    "wrong": [
        {"earlier": "asked", "later": "heard", "belief": "it-is-kept", "why": "You may think that it asks at once."}
    ],
    "scripted": ["asked", "heard", "again", "run"],
}
FILE: dict[str, Any] = {"schemaVersion": 1, "chapter": "mini", "checkpoints": [CHOICE, PAPER]}
EVERY_KIND: dict[str, Any] = {**FILE, "checkpoints": [CHOICE, FIELDS, ORDER, PAPER]}


def cases() -> dict[str, Case]:
    return {raw["id"]: parse_case(raw, raw["id"]) for raw in CASES}


def case(case_id: str) -> Case:
    return cases()[case_id]


def read(file: dict[str, Any] = FILE) -> CheckpointFile:
    return parse_checkpoints(json.dumps(file).encode(), "mini.json")


def beliefs() -> dict[str, Belief]:
    return parse_beliefs(json.dumps(BELIEFS).encode(), "beliefs.json")


def changed(base: dict[str, Any], *path: str | int, to: Any = msgspec.UNSET, drop: bool = False) -> dict[str, Any]:
    """A copy of `base` with the value at `path` set, or taken out."""
    made = copy.deepcopy(base)
    here: Any = made
    for step in path[:-1]:
        here = here[step]
    if drop:
        del here[path[-1]]
    else:
        here[path[-1]] = to
    return made


def write(folder: Path, file: dict[str, Any] = FILE) -> Path:
    """The chapter as files, laid out as `fixtures/`."""
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    (folder / "mini.json").write_text(json.dumps({"schemaVersion": 1, "id": "mini", "cases": CASES}))
    (folder / "checkpoints" / "mini.json").write_text(json.dumps(file))
    (folder / "checkpoints" / "beliefs.json").write_text(json.dumps(BELIEFS))
    return folder


def desk(folder: Path, learner: Learner = Learner.LIVE, file: dict[str, Any] = FILE, **further: Any) -> Chapter:
    """The chapter, open, with its answers kept in the same folder."""
    files = chapter_files(write(folder, file), "mini")
    return Chapter(files, learner=learner, progress=Progress(folder / "answers"), **further)
