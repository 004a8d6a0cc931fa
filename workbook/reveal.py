"""The reveal: what a committed prediction is shown, all of it worked out from runs of the cases.

Above `checkpoints` (which judges) and `page` (which shows); below `prediction`, which asks for a commit first.
Explains every option, right or wrong: what it predicts, why it holds or not, which belief lies behind it, and which
rows of which ledger speak against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from labsim.hostvalues import stringify
from labsim.report import FieldCheck, Report
from workbook.checkpoint_file import Belief, ChoiceCheckpoint, Option, PaperCheckpoint
from workbook.checkpoints import Judged, judge, judge_options, kinds_of, rows_of
from workbook.grid import Grid
from workbook.page import Block, Fold, Group, Heading, Items, Page, Paragraph, Table, page
from workbook.played import placed
from workbook.rows import ledger_grid

Play = Callable[[str], Report]  # plays the case of that id, always to its end

YES, NO = "yes", "no"
YOUR_ANSWER = "your answer"
MATCHES, MATCHES_NOT = "matches the run", "does not match the run"


def reveal_choice(checkpoint: ChoiceCheckpoint, chosen: str, play: Play, beliefs: Mapping[str, Belief]) -> Page:
    """What the case shows, beside what the learner's option predicted; then every option explained.

    `chosen`: the id of the committed option. Raises: labsim.errors.UnknownCase; KeyError, for an unknown belief.
    """
    report = play(checkpoint.case)
    judged = judge_options(checkpoint, report)
    mine = next(one for one in judged if one.option.id == chosen)
    counters = {one.option.id: play(one.option.counter or checkpoint.case) for one in judged if not one.matches}
    ledgers = {report.case.id: report} | {counter.case.id: counter for counter in counters.values()}
    return page(
        Heading(text=f"Checkpoint {checkpoint.id}: {'right' if mine.matches else 'not yet'}"),
        Paragraph(
            lead="Right." if mine.matches else "Not yet.",
            text=f"You committed “{mine.option.text}” The run of {report.case.id} shows "
            f"{'just what that predicts' if mine.matches else 'something else'}.",
        ),
        comparison("Predicted against observed, for your answer", mine.checks),
        *(_explained(one, one.option.id == chosen, counters.get(one.option.id), beliefs) for one in judged),
        *_retest(checkpoint.retest),
        *(Fold(title=f"Ledger of {case_id}", blocks=tuple(_ledger(ledger))) for case_id, ledger in ledgers.items()),
    )


def reveal_paper(checkpoint: PaperCheckpoint, written: str, play: Play) -> Page:
    """The learner's text, the worked answer, and the run that shows what the worked answer claims."""
    report = play(checkpoint.case)
    return page(
        Heading(text=f"Checkpoint {checkpoint.id}: compare for yourself"),
        Group(title="You wrote", blocks=(Paragraph(text=written),)),
        Group(title="A worked answer", blocks=(Paragraph(text=checkpoint.worked),)),
        comparison(
            f"What the worked answer claims, and what {report.case.id} shows",
            judge(checkpoint.claims, report),
            claim="claimed",
        ),
        *_retest(checkpoint.retest),
        Fold(title=f"Ledger of {report.case.id}", blocks=tuple(_ledger(report))),
    )


def comparison(caption: str, checks: tuple[FieldCheck, ...], claim: str = "predicted") -> Table:
    """Each claim beside what was observed, and in words whether they agree."""
    rows = [(check.field, _claim(check), _observed(check), YES if check.agrees else NO) for check in checks]
    return Table(
        grid=Grid(
            caption=caption,
            columns=("field", claim, "observed", "agrees"),
            rows=tuple(rows),
            marked=frozenset(place for place, check in enumerate(checks) if not check.agrees),
        )
    )


def _explained(one: Judged, mine: bool, counter: Report | None, beliefs: Mapping[str, Belief]) -> Group:
    blocks: list[Block] = [Paragraph(text=one.option.why)]
    if counter is not None:
        if one.option.belief is not None:
            belief = beliefs[one.option.belief]
            blocks.append(Paragraph(lead="The belief behind it:", text=f"{belief.says} {belief.because}"))
        blocks.extend(_contradiction(one.option, counter))
    marks = (MATCHES if one.matches else MATCHES_NOT,)
    return Group(title=one.option.text, marks=(YOUR_ANSWER, *marks) if mine else marks, blocks=tuple(blocks))


def _contradiction(option: Option, counter: Report) -> Iterator[Block]:
    """Each predicted field that the counter case denies, and the rows of its ledger that show it."""
    denied = [check for check in judge(option.predicts, counter) if not check.agrees]
    yield Items(items=tuple(_against(check, counter) for check in denied))
    rows = {row for check in denied for row in rows_of(check.field, counter)}
    if rows:
        against = [one for one in placed(counter) if one.number in rows]
        yield Table(grid=ledger_grid(f"Rows of {counter.case.id} that speak against it", against))


def _against(check: FieldCheck, counter: Report) -> str:
    says = f"{check.field}: this predicts {_claim(check)}; {counter.case.id} shows {_observed(check)}"
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


def _retest(checkpoint_id: str | None) -> Iterator[Block]:
    if checkpoint_id is not None:
        yield Paragraph(text=f"The checkpoint {checkpoint_id} comes back to this.")


def _claim(check: FieldCheck) -> str:
    return (
        f"a text with “{_spelled(check.expected)}”"
        if check.field.endswith("Includes")
        else _spelled(check.expected)
    )


def _observed(check: FieldCheck) -> str:
    if check.observed is UNSET or (check.observed == [] and check.field == "promptIncludes"):
        return "nothing of the kind"
    if check.field == "promptIncludes":
        return "\n".join(check.observed)
    return _spelled(check.observed)


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else str(stringify(value))
