"""The parts that reveals of every kind are put together from.

All of it is worked out from runs of the cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET, Struct

from labsim.js_values import stringify
from labsim.play.report import FieldCheck, Report
from workbook.checkpoint.kinds import Belief
from workbook.ledgers.field_rows import kinds_of, rows_of
from workbook.ledgers.grid import ledger_grid
from workbook.ledgers.played import placed
from workbook.show.grid import Grid
from workbook.show.page import Block, Fold, Items, Paragraph, Table

Play = Callable[[str], Report]  # plays the case of that id, always to its end

YES, NO = "yes", "no"
YOUR_ANSWER = "your answer"
MATCHES, MATCHES_NOT = "matches the run", "does not match the run"


class Reveal(Struct, frozen=True, kw_only=True):
    """What a committed answer is shown, in the order in which it opens.

    `shown`: how the answer stands, and the ledger of its case; `explained`: every answer, and why. In between a
    learner is asked which row differed.
    """

    shown: tuple[Block, ...]
    explained: tuple[Block, ...]


def comparison(caption: str, checks: tuple[FieldCheck, ...], claim: str = "predicted") -> Table:
    """Each claim beside what was observed, and in words whether they agree."""
    rows = [(check.field, claim_said(check), observed_said(check), YES if check.agrees else NO) for check in checks]
    return Table(
        grid=Grid(
            caption=caption,
            columns=("field", claim, "observed", "agrees"),
            rows=tuple(rows),
            marked=frozenset(place for place, check in enumerate(checks) if not check.agrees),
        )
    )


def belief_said(belief: Belief) -> Paragraph:
    """The belief behind a wrong answer."""
    return Paragraph(lead="The belief behind it:", text=f"{belief.says} {belief.because}")


def contradiction(checks: Iterable[FieldCheck], counter: Report) -> Iterator[Block]:
    """Each predicted field that the counter case denies, and the rows of its ledger that show it."""
    denied = [check for check in checks if not check.agrees]
    yield Items(items=tuple(_against(check, counter) for check in denied))
    rows = {row for check in denied for row in rows_of(check.field, counter)}
    if rows:
        yield some_rows(f"Rows of {counter.case.id} that speak against it", rows, counter)


def some_rows(caption: str, rows: Iterable[int], report: Report) -> Table:
    """A few rows of a ledger, by their numbers."""
    wanted = frozenset(rows)
    return Table(grid=ledger_grid(caption, [one for one in placed(report) if one.number in wanted]))


def folded_ledger(report: Report) -> Fold:
    """The whole ledger of a case, to be opened."""
    return Fold(title=f"Ledger of {report.case.id}", blocks=tuple(_ledger(report)))


def other_ledgers(counters: Iterable[Report], report: Report) -> Iterator[Fold]:
    """The ledgers of the cases that were held against answers, but for the one that is shown already."""
    for case_id, counter in {counter.case.id: counter for counter in counters}.items():
        if case_id != report.case.id:
            yield folded_ledger(counter)


def retest_said(checkpoint_id: str | None) -> Iterator[Block]:
    """That a later checkpoint comes back to this, if one does."""
    if checkpoint_id is not None:
        yield Paragraph(text=f"The checkpoint {checkpoint_id} comes back to this.")


def known_belief(belief: str | None, beliefs: Mapping[str, Belief]) -> Iterator[Block]:
    """The belief of that id, if there is one. Raises: KeyError, for an unknown one."""
    if belief is not None:
        yield belief_said(beliefs[belief])


def claim_said(check: FieldCheck) -> str:
    """What was predicted, in words."""
    return (
        f"a text with “{_spelled(check.expected)}”"
        if check.field.endswith("Includes")
        else _spelled(check.expected)
    )


def observed_said(check: FieldCheck) -> str:
    """What was observed, in words."""
    if check.observed is UNSET or (check.observed == [] and check.field == "promptIncludes"):
        return "nothing of the kind"
    if check.field == "promptIncludes":
        return "\n".join(check.observed)
    return _spelled(check.observed)


def _against(check: FieldCheck, counter: Report) -> str:
    says = f"{check.field}: this predicts {claim_said(check)}; {counter.case.id} shows {observed_said(check)}"
    kinds = kinds_of(check.field)
    if not kinds:
        return f"{says}."
    if rows := rows_of(check.field, counter):
        return f"{says} ({'row' if len(rows) == 1 else 'rows'} {', '.join(map(str, rows))})."
    return f"{says}; its ledger has no {' or '.join(kinds)}."


def _ledger(report: Report) -> Iterator[Block]:
    if events := placed(report):
        yield Table(grid=ledger_grid(f"Every event of {report.case.id}, in order", events))
    else:
        yield Paragraph(text="This case is one decision and calls nothing, so its ledger is empty.")


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else str(stringify(value))
