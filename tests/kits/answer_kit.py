"""Answers of every kind to the small chapter of `desk_kit`, and what a button sends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from desk_kit import EVERY_KIND, desk

from workbook.chapter.chapter import Chapter
from workbook.checkpoint.prediction import Prediction
from workbook.learner.store import Progress
from workbook.learner.who import Learner

RIGHT: dict[str, Any] = {
    "again": "two",
    "counted": {"outcome": "throw", "prompts": 2, "events.execute": 1},
    "in-order": ("heard", "again", "asked", "run"),
}
WRONG: dict[str, Any] = {
    "again": "one",
    "counted": {"outcome": "return", "prompts": 2, "events.execute": 2},
    "in-order": ("heard", "asked", "again", "run"),
}
KINDS = tuple(RIGHT)


def open_desk(folder: Path, learner: Learner = Learner.LIVE) -> Chapter:
    return desk(folder, learner, file=EVERY_KIND)


def committed(folder: Path, name: str, answer: Any, confidence: str | None = "unsure") -> Prediction:
    return open_desk(folder).predict(name).commit(answer, confidence)


def send(prediction: Prediction, kind: str, **content: Any) -> str:
    """A button's message, as it arrives from a browser; returns the status."""
    prediction.receive(json.loads(json.dumps({"type": kind, **content})))
    return prediction.widget.status


def records(folder: Path) -> list[str]:
    return [type(record).__name__ for record in Progress(folder / "answers").records()]
