"""What a worksheet has in it: its questions, and the answers found by playing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from labsim.play.report import FieldCheck
from workbook.checkpoint.judging import Judged, StepAt
from workbook.checkpoint.kinds import (
    Belief,
    Checkpoint,
    Field,
    Value,
)

GENERATOR: Final = "cedar-workbook worksheet"


class ChoiceAnswer(Struct, frozen=True):
    """Every option, judged by the run."""

    judged: tuple[Judged, ...]


class FieldsAnswer(Struct, frozen=True):
    """Each field with the value that the run shows."""

    values: tuple[tuple[Field, Value], ...]


class OrderAnswer(Struct, frozen=True):
    """The steps in the order of the ledger, each with its row."""

    steps: tuple[StepAt, ...]


class PaperAnswer(Struct, frozen=True):
    """What the worked answer claims, beside what the run shows; its words are the checkpoint's."""

    checks: tuple[FieldCheck, ...]


Answered = ChoiceAnswer | FieldsAnswer | OrderAnswer | PaperAnswer


class Question(Struct, frozen=True):
    """One checkpoint. `number` counts from 1; `given` is its case as it is given, a line for each thing in it."""

    number: int
    checkpoint: Checkpoint
    scenario: str
    given: tuple[str, ...]
    case_id: str
    answer: Answered


class Sheet(Struct, frozen=True, kw_only=True):
    """All checkpoints of one chapter, in their order, with the beliefs that their options name."""

    chapter_id: str
    title: str
    version: str
    questions: tuple[Question, ...]
    beliefs: Mapping[str, Belief]
