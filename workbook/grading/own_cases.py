"""A learner's own case: read as strictly as the workbook's, played, and its claims beside what the run shows.

In a notebook its functions are `wb.check_case` and `wb.check_cases`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from labsim.case.model import Case
from labsim.errors import CaseError
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import parse_case, parse_file
from labsim.strict_json import parse
from workbook.checkpoint.reveal import comparison
from workbook.ledgers.field_rows import rows_of
from workbook.ledgers.grid import ledger_grid
from workbook.ledgers.played import placed
from workbook.show.grid import Grid
from workbook.show.page import Block, Heading, Page, Paragraph, Table, page
from workbook.submission.json_values import as_object

NAME = "your case"


class CheckedCase(Struct, frozen=True, kw_only=True):
    """A case that was checked. As the value of a cell it shows itself.

    `problem`: what keeps it from being read, with its place; None for a case that was read, and then there is a
    `report` of its run.
    """

    problem: CaseError | None = None
    report: Report | None = None

    @property
    def matches(self) -> bool:
        """Whether it was read, claims something, and its run shows all that it claims."""
        return self.report is not None and self.report.matches is True

    def blocks(self) -> Iterator[Block]:
        """What it says: the problem, or the claims beside the run."""
        if self.report is None:
            assert self.problem is not None
            rows = (
                ("where", self.problem.place),
                ("found", self.problem.found),
                ("what would do", self.problem.remedy),
            )
            yield Table(grid=Grid(caption="What keeps it from being read", columns=("what", "in words"), rows=rows))
            return
        report = self.report
        if report.checks:
            yield comparison("What the case claims, and what its run shows", report.checks, claim="claimed")
        events = placed(report)
        if not events:
            return
        rows_against = {row for check in report.checks if not check.agrees for row in rows_of(check.field, report)}
        grid = ledger_grid(f"Ledger of {report.case.id}", events)
        marked = frozenset(place for place, one in enumerate(events) if one.number in rows_against)
        yield Table(grid=msgspec.structs.replace(grid, marked=marked))

    def page(self) -> Page:
        """The verdict in words, and what explains it."""
        if self.report is None:
            words = Paragraph(lead="Not read.", text="Nothing was played.")
            return page(Heading(text="Your case: not read"), words, *self.blocks())
        checks = self.report.checks
        agree = sum(check.agrees for check in checks)
        if not checks:
            words = Paragraph(
                lead="Nothing claimed.",
                text='It was played, and it cannot be wrong, since "expected" is empty. '
                "Say beforehand what will come out.",
            )
        elif self.matches:
            words = Paragraph(lead="It holds.", text=f"Its run shows all that it claims: {agree} of {len(checks)}.")
        else:
            words = Paragraph(
                lead="It does not hold.",
                text=f"Its run shows {agree} of {len(checks)} claims. Is it the claim that is wrong, or the case?",
            )
        verdict = "holds" if self.matches else "does not hold" if checks else "claims nothing"
        return page(Heading(text=f"Case {self.report.case.id}: {verdict}"), words, *self.blocks())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.page()._repr_mimebundle_()

    def __str__(self) -> str:
        return str(self.page())


def check_case(case: object) -> CheckedCase:
    """Read a case, play it, and compare what it claims: a dictionary, its JSON as text, or the path of a JSON file.

    A path is a `pathlib.Path`; a file of several cases is for `check_cases`. Nothing is raised for what is wrong in
    a case: where, what was found and what would do are in the answer.
    """
    try:
        return _played(parse_case(_raw(case), NAME))
    except CaseError as error:
        return CheckedCase(problem=error)


def check_cases(file: object) -> list[CheckedCase]:
    """As `check_case`, for a whole file of cases; one that cannot be read gives a single answer that says why."""
    try:
        if isinstance(file, Path):
            cases = parse_file(_bytes(file), file.name).cases
        else:
            cases = parse_file(json.dumps(_raw(file)).encode(), "your cases").cases
    except CaseError as error:
        return [CheckedCase(problem=error)]
    return [_played(case) for case in cases]


def _raw(case: object) -> Any:
    """The case as decoded JSON. Raises: CaseError."""
    if isinstance(case, Path):
        return parse(_bytes(case), case.name)
    if isinstance(case, str | Mapping):
        return as_object(case, NAME)
    remedy = 'Use a dictionary, its JSON as text, or Path("…") for a file.'
    raise CaseError(NAME, f"this is of type {type(case).__name__}", remedy)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaseError(path.name, f"it cannot be read ({error.strerror})", "Mend the path.") from None


def _played(case: Case) -> CheckedCase:
    return CheckedCase(report=run(case))
