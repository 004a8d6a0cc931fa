"""Evidence: a file in which a run says what it played, and what that showed.

Case files never claim a run, so whoever wants to rely on one writes this file, from the versions and fixtures at
hand. Nothing in it depends on the time or the machine: two runs of the same editions write the same bytes, and so
a copy can be checked by writing it again.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from labsim.describe.ledger import verdict
from labsim.library import case_files, declared_differences, recorded_files
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.proof.recordings import read_lines
from labsim.proof.replay import Tally, parse_declared, replay
from labsim.reading.reading import parse_file
from workbook import atomic


class CaseEvidence(Struct, frozen=True, kw_only=True):
    """One played case: what it claims, what the run showed, and whether they agree."""

    id: str
    expected: dict[str, Any]
    observed: dict[str, Any]
    match: bool


class FixtureEvidence(Struct, frozen=True, kw_only=True):
    """One file of cases: its hash, and every case in it."""

    file: str
    sha256: str
    cases: list[CaseEvidence]
    not_executed: list[str]  # claims that no case here runs, by id


class RecordedEvidence(Struct, frozen=True, kw_only=True):
    """One file of recorded answers: its hash, and how many the engine agrees with."""

    file: str
    sha256: str
    cases: int
    match: int
    declared: int
    differing: list[str]


class Evidence(Struct, frozen=True, kw_only=True):
    """Everything that one run showed."""

    workbook: str  # version
    msgspec: str
    fixtures: list[FixtureEvidence]
    recorded: list[RecordedEvidence]

    @property
    def match(self) -> bool:
        return all(case.match for file in self.fixtures for case in file.cases) and all(
            not file.differing for file in self.recorded
        )


def gather() -> Evidence:
    """Play every built-in case and replay every recorded answer. Raises: LabsimError for a broken fixture."""
    declared = parse_declared(declared_differences().read_bytes(), declared_differences().name)
    return Evidence(
        workbook=version("cedar-workbook"),
        msgspec=msgspec.__version__,
        fixtures=[_fixture(path) for path in case_files()],
        recorded=[_recorded(path, replay(read_lines(path), path.name, declared)) for path in recorded_files()],
    )


def write(path: Path) -> Evidence:
    """Gather the evidence and write it to `path` as JSON, whole or not at all.

    Raises: workbook.atomic.WriteFailed, with the reason; LabsimError for a broken fixture.
    """
    evidence = gather()
    data = msgspec.json.format(msgspec.json.encode(evidence), indent=2) + b"\n"
    atomic.write(path, data)
    return evidence


def _fixture(path: Path) -> FixtureEvidence:
    data = path.read_bytes()
    file = parse_file(data, path.name)
    return FixtureEvidence(
        file=path.name,
        sha256=hashlib.sha256(data).hexdigest(),
        cases=[_case(run(case)) for case in file.cases],
        not_executed=[claim.id for claim in file.source_only],
    )


def _case(report: Report) -> CaseEvidence:
    claimed = {check.field: check.expected for check in report.checks}
    shown = {check.field: None if check.observed is UNSET else check.observed for check in report.checks}
    return CaseEvidence(id=report.case.id, expected=claimed, observed=shown, match=verdict(report) == "match")


def _recorded(path: Path, tally: Tally) -> RecordedEvidence:
    return RecordedEvidence(
        file=path.name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        cases=tally.cases,
        match=tally.match,
        declared=tally.declared,
        differing=[problem.id for problem in tally.problems],
    )
