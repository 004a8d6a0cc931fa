"""A rule by its id, or a book of them: the value of a cell (`wb.rule`), and what `workbook rule` prints."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from labsim.errors import UnknownCase
from labsim.library import case_files
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import parse_one
from labsim.rules import Book, Rule, Rules, Status
from workbook.errors import WorkbookError
from workbook.show.cited import all_rules
from workbook.show.grid import Grid
from workbook.show.page import Heading, Items, Page, Paragraph, Table

HOW_WE_KNOW: Final = {
    Status.RECORDED: "recorded: the real program was seen to do so.",
    Status.SOURCE_ONLY: "source-only: read in the real program's source, and not seen in a run.",
    Status.OURS: "ours: a choice of this simulator.",
}


class NotOfThisRule(WorkbookError):
    """A case was asked for that the rule does not name. Attributes: `rule_id`, `case_id`."""

    def __init__(self, rule: Rule, case_id: str | None) -> None:
        self.rule_id = rule.id
        self.case_id = case_id
        found = f"{rule.id} has no case" + (f" {case_id!r}" if case_id is not None else "")
        super().__init__(f"{found}. Cases: {', '.join(rule.cases) if rule.cases else _elsewhere(rule)}")


class ShownRule:
    """One rule, to be read: its sentence, its place in the host, how it is known, and its cases."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def play(self, case_id: str | None = None) -> Report:
        """Play one of the rule's cases, the first unless it is named. Raises: NotOfThisRule."""
        if not self.rule.cases or (case_id is not None and case_id not in self.rule.cases):
            raise NotOfThisRule(self.rule, case_id)
        return _played(case_id if case_id is not None else self.rule.cases[0])

    def plays(self) -> list[Report]:
        """Every case of the rule, played; empty where it has none."""
        return [_played(case_id) for case_id in self.rule.cases]

    def page(self) -> Page:
        rule = self.rule
        known = HOW_WE_KNOW[rule.status]
        if rule.recorded is not UNSET:
            known += f" python -m labsim replay compares its answers of the part {rule.recorded}."
        shown = Page(
            (
                Heading(text=rule.id),
                Paragraph(text=rule.says),
                Paragraph(lead="In the host:", text=rule.where),
                *([Paragraph(lead="In this simulator:", text="; ".join(rule.code))] if rule.code else []),
                Paragraph(lead="How we know:", text=known),
            )
        )
        if not rule.cases:
            return Page((*shown.blocks, Paragraph(lead="Cases:", text=_elsewhere(rule))))
        play = (
            f'In a notebook: wb.ledger(wb.rule("{rule.id}").play("{rule.cases[0]}")). '
            f"At a command line: workbook rule {rule.id} --play"
        )
        return Page(
            (*shown.blocks, Paragraph(lead="Cases:", text=play), Items(items=rule.cases)),
        )

    def __str__(self) -> str:
        return str(self.page())

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.page()._repr_mimebundle_()


def rule(asked: str = "") -> ShownRule | Page:
    """The rule of that id; the rules of a book, where `asked` is a book; all books, where nothing is asked.

    An id carries its book (`wrapper/W-33`), which may be left out where only one book has the name.
    Raises: labsim.rules.UnknownRule, labsim.rules.AmbiguousRule.
    """
    rules = all_rules()
    if not asked:
        return _shelf(rules)
    if asked in rules.books:
        return _listed(rules.books[asked])
    return ShownRule(rules.find(asked))


def _shelf(rules: Rules) -> Page:
    rows = tuple((book.book, str(len(book.rules)), book.title) for book in rules.books.values())
    grid = Grid(caption="The books of rules", columns=("book", "rules", "about"), rows=rows, numbers=frozenset({1}))
    first = rows[0][0] if rows else "BOOK"
    return Page((Table(grid=grid), Paragraph(text=f'wb.rule("{first}") or workbook rule {first} lists a book.')))


def _listed(book: Book) -> Page:
    rows = tuple((rule.id, rule.says, rule.status.value) for rule in book.rules)
    return Page((Table(grid=Grid(caption=book.title, columns=("rule", "says", "known"), rows=rows)),))


def _elsewhere(rule: Rule) -> str:
    """Where a rule without a case of its own is held to."""
    if rule.recorded is not UNSET:
        return f"none of its own; the recorded answers of the part {rule.recorded} hold it."
    return "none; tests hold it."


def _played(case_id: str) -> Report:
    for path in case_files():
        data = path.read_bytes()
        if case_id.encode() in data and (case := parse_one(data, path.name, case_id)) is not None:
            return run(case)
    raise UnknownCase(case_id, [])
