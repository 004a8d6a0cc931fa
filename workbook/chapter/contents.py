"""What stands in a chapter's files, read without opening it: cases, checkpoints, exercises, beliefs, claims.

Nothing is played here and no code of the chapter is run: counting the answers of a class needs no more than this.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from labsim.case.model import Case, SourceClaim
from labsim.errors import CaseError
from labsim.reading.reading import parse_file
from workbook.chapter.file import ChapterFiles
from workbook.checkpoint.file import Belief, Checkpoint, parse_beliefs, parse_checkpoints
from workbook.exercise.file import Exercise, parse_exercises


class Contents(Struct, frozen=True, kw_only=True):
    """A chapter's files, read; each mapping by id, in the order of the files. `given`: a case as it was written."""

    cases: Mapping[str, Case]
    given: Mapping[str, Any]
    claims: tuple[SourceClaim, ...]
    checkpoints: Mapping[str, Checkpoint]
    exercises: Mapping[str, Exercise]
    beliefs: Mapping[str, Belief]


def read_contents(files: ChapterFiles) -> Contents:
    """All files of a chapter.

    Raises: labsim.errors.CaseError, with the place; also where a case names what only the chapter's `engine.py`
    registers, and that has not been run.
    """
    cases: dict[str, Case] = {}
    given: dict[str, Any] = {}
    claims: list[SourceClaim] = []
    for path in files.cases:
        _read_cases(path, cases, given, claims)
    return Contents(
        cases=cases,
        given=given,
        claims=tuple(claims),
        checkpoints=_checkpoints(files),
        exercises=_exercises(files),
        beliefs=_beliefs(files),
    )


def _read_cases(path: Path, cases: dict[str, Case], given: dict[str, Any], claims: list[SourceClaim]) -> None:
    data = path.read_bytes()
    file = parse_file(data, path.name)
    claims += file.source_only
    for case in file.cases:
        if case.id in cases:
            raise CaseError(
                f"{path.name}: {case.id}",
                "another file of this chapter has a case of that id",
                "Give each case an id of its own.",
            )
    cases |= {case.id: case for case in file.cases}
    given |= {raw["id"]: raw["given"] for raw in msgspec.json.decode(data)["cases"]}


def _checkpoints(files: ChapterFiles) -> dict[str, Checkpoint]:
    if files.checkpoints is None:
        return {}
    file = parse_checkpoints(files.checkpoints.read_bytes(), files.checkpoints.name)
    if file.chapter != files.id:
        raise CaseError(
            f"{files.checkpoints.name}: chapter", f"{file.chapter!r} is another chapter", f"Use {files.id!r}."
        )
    return {checkpoint.id: checkpoint for checkpoint in file.checkpoints}


def _exercises(files: ChapterFiles) -> dict[str, Exercise]:
    if files.exercises is None:
        return {}
    return parse_exercises(files.exercises.read_bytes(), files.exercises.name, files.id)


def _beliefs(files: ChapterFiles) -> dict[str, Belief]:
    """All that its options may name; a belief of the same id in two files would be two beliefs."""
    made: dict[str, Belief] = {}
    for path in files.beliefs:
        found = parse_beliefs(path.read_bytes(), path.name)
        for belief in found:
            if belief in made:
                raise CaseError(
                    f"{path.name}: {belief}", "there is a belief of that id already", "Give it an id of its own."
                )
        made |= found
    return made
