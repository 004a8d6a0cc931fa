"""The checkpoints of a chapter for paper: what is asked, what is given, and what every case really showed.

No answer is stored anywhere: each is found here by playing its case, as the reveal of a notebook does. No
learner's progress is looked at, since a sheet is for whoever holds it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import find
from workbook import atomic
from workbook.chapter.catalogue import Listed
from workbook.chapter.chapter import Chapter
from workbook.checkpoint.judging import judge, judge_options, right_order, right_values
from workbook.checkpoint.kinds import (
    Checkpoint,
    ChoiceCheckpoint,
    FieldsCheckpoint,
    OrderCheckpoint,
    PaperCheckpoint,
)
from workbook.errors import WorkbookError
from workbook.learner.store import Progress
from workbook.learner.who import Learner
from workbook.paper.sheet import (
    GENERATOR,
    Answered,
    ChoiceAnswer,
    FieldsAnswer,
    OrderAnswer,
    PaperAnswer,
    Question,
    Sheet,
)
from workbook.show.page import Literal

SUFFIX: Final = "-worksheet.html"
_HEAD_BYTES: Final = 512  # of an existing file, in which our mark would stand


class NothingAsked(WorkbookError):
    """A chapter has no checkpoints, so there is nothing to print. Attribute: `chapter_id`."""

    def __init__(self, chapter_id: str) -> None:
        self.chapter_id = chapter_id
        super().__init__(f"{chapter_id} has no checkpoints, so there is no worksheet of it.")


class NotOurs(WorkbookError):
    """There is a file of that name which is no worksheet; it is left alone. Attribute: `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} is there and is no worksheet, so it is left alone. Use --to with another name.")


def sheet_of(listed: Listed) -> Sheet:
    """The sheet of a chapter, every case played.

    Raises: NothingAsked; labsim.errors.CaseError, for a file that is not right; and for a checkpoint of which not
    exactly one answer is right, since a worked answer that nobody can give is none.
    """
    from importlib.metadata import version

    chapter = Chapter(listed.files(), learner=Learner.LIVE, progress=Progress())
    if not chapter.checkpoints:
        raise NothingAsked(chapter.id)
    return Sheet(
        chapter_id=chapter.id,
        title=listed.title,
        version=version("cedar-workbook"),
        questions=tuple(_questions(chapter)),
        beliefs={belief.id: belief for belief in chapter.belief_records},
    )


def write(listed: Listed, to: Path | None = None) -> Path:
    """Write a chapter's sheet as one HTML file; over an older sheet, but over nothing else. Returns: the file.

    `to`: without it `ID-worksheet.html` in the folder that one works in. Raises: as `sheet_of`; NotOurs;
    workbook.atomic.WriteFailed.
    """
    from workbook.paper.page import html_of

    path = Path(f"{listed.id}{SUFFIX}") if to is None else to
    if path.exists() and not _is_ours(path):
        raise NotOurs(path)
    atomic.write(path, html_of(sheet_of(listed)).encode())
    return path


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(_HEAD_BYTES)


def _questions(chapter: Chapter) -> Iterator[Question]:
    reports: dict[str, Report] = {}
    for number, checkpoint in enumerate(chapter.checkpoint_records, start=1):
        case = find(chapter.case_records, checkpoint.case)
        report = reports.setdefault(case.id, run(case))
        yield Question(
            number=number,
            checkpoint=checkpoint,
            scenario=case.scenario,
            given=tuple(given_lines(_given(chapter, checkpoint.id))),
            case_id=case.id,
            answer=_answered(checkpoint, report),
        )


def _answered(checkpoint: Checkpoint, report: Report) -> Answered:
    match checkpoint:
        case ChoiceCheckpoint():
            judged = judge_options(checkpoint, report)
            _exactly_one(checkpoint, "options", sum(one.matches for one in judged))
            return ChoiceAnswer(judged)
        case FieldsCheckpoint():
            values = {field.field: right_values(field, report) for field in checkpoint.fields}
            for name, found in values.items():
                _exactly_one(checkpoint, f"fields ({name})", len(found))
            return FieldsAnswer(tuple((field, values[field.field][0]) for field in checkpoint.fields))
        case OrderCheckpoint():
            return OrderAnswer(right_order(checkpoint, report))
        case PaperCheckpoint():
            return PaperAnswer(judge(checkpoint.claims, report))


def _exactly_one(checkpoint: Checkpoint, where: str, right: int) -> None:
    from labsim.errors import CaseError

    if right != 1:
        found = "no answer is" if right == 0 else f"{right} answers are"
        remedy = "`workbook check-chapter` shows what each predicts and what the run shows."
        raise CaseError(f"{checkpoint.id}.{where}", f"{found} what the case shows", remedy)


def _given(chapter: Chapter, checkpoint_id: str) -> dict[str, Any]:
    """The case of a checkpoint as a notebook shows it: what is given, and not even its name."""
    (literal,) = (block for block in chapter.given(checkpoint_id).blocks if isinstance(block, Literal))
    given: dict[str, Any] = json.loads(literal.text)
    return given


def given_lines(given: Mapping[str, Any]) -> Iterator[str]:
    """A line for each thing that is given, and for each member of a list of several; values as JSON spells them."""
    for name, value in given.items():
        if isinstance(value, list) and (len(value) > 1 or any(isinstance(one, dict | list) for one in value)):
            yield f"{name}:"
            for one in value:
                yield f"  - {_json(one)}"
        else:
            yield f"{name}: {_json(value)}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
