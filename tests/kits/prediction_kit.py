"""What tests of predictions share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from desk_kit import beliefs, cases

from labsim.case.model import Case
from workbook.checkpoint.prediction import Lesson, Prediction
from workbook.learner.store import Progress
from workbook.learner.who import Learner


def everything_said(prediction: Prediction) -> str:
    """All that leaves the kernel for this checkpoint: the page in both forms, and the control's whole state."""
    bundle = prediction._repr_mimebundle_()
    state = prediction.widget.get_state()
    for part in ("_esm", "_css", "layout", "tabbable", "tooltip"):
        state.pop(part, None)
    return json.dumps([bundle, state, prediction.state()], ensure_ascii=False, default=str, sort_keys=True)


class Spied(Mapping[str, Case]):
    """Cases that note whether anybody looked at one."""

    def __init__(self) -> None:
        self._cases = cases()
        self.seen: list[str] = []

    def __getitem__(self, case_id: str) -> Case:
        self.seen.append(case_id)
        return self._cases[case_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cases)

    def __len__(self) -> int:
        return len(self._cases)


def lesson(folder: Path, known: Mapping[str, Case] | None = None) -> Lesson:
    return Lesson(
        chapter="mini",
        cases=cases() if known is None else known,
        beliefs=beliefs(),
        progress=Progress(folder),
        learner=Learner.LIVE,
    )
