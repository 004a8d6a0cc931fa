"""An id never stands alone: whatever cites a rule says it as well, in a notebook, in a control and on paper."""

from __future__ import annotations

import gc
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from places import TOP

from labsim.rules import Rules, parse_book
from workbook.chapter.catalogue import catalogue
from workbook.paper.page import html_of
from workbook.paper.worksheet import sheet_of
from workbook.show.cited import all_rules, keep_back
from workbook.show.frame import TEXT, Look
from workbook.show.frame import Table as Frame
from workbook.show.grid import Grid
from workbook.show.page import Fold, Heading, Items, Page, Paragraph, Table, page

NOTEBOOKS = sorted((TOP / "notebooks").rglob("*.ipynb"))
BUILT_IN = [listed.id for listed in catalogue(environment={}).chapters if listed.files().checkpoints is not None]
R9 = all_rules().find("approval/R9")
W33 = all_rules().find("wrapper/W-33")


def unsaid(text: str) -> list[str]:
    """The rules that a text cites without their sentence; how its lines are broken is left out of account."""
    whole = " ".join(text.split())
    ids = {rule.id: rule.says for rule in all_rules()}
    cited = re.findall(r"(?<![\w/-])[a-z]+/[A-Za-z](?:-?[a-z0-9]+)*", whole)
    for stem, low, high in re.findall(r"(?<![\w/-])([a-z]+/[A-Z]-?)(\d+) to \1(\d+)", whole):
        cited += [f"{stem}{number}" for number in range(int(low), int(high) + 1)]
    return [name for name in dict.fromkeys(cited) if name in ids and ids[name] not in whole]


def kept_back(text: str) -> int:
    """How many sentences a text says it keeps back for questions that are open."""
    found = re.search(r"(It|One of them|(\d+) of them) (?:is|are) said once you have", " ".join(text.split()))
    return 0 if found is None else int(found[2] or 1)


def outputs(path: Path) -> list[dict[str, str]]:
    """The data of every output of a notebook, by type."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        {kind: "".join(text) for kind, text in output.get("data", {}).items() if kind.startswith("text/")}
        for cell in cells
        for output in cell.get("outputs", ())
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_output_of_a_notebook_says_the_rules_that_it_cites(path: Path):
    """Read as text and as HTML, but for those of open questions, which it counts."""
    shown = [data for data in outputs(path) if "text/plain" in data]
    assert shown

    for data in shown:
        for text in (data["text/plain"], unescape(re.sub(r"<[^>]+>", " ", data.get("text/html", "")))):
            assert len(unsaid(text)) == kept_back(text)


@pytest.mark.parametrize("chapter", BUILT_IN)
def test_a_worksheet_says_the_rules_that_its_answers_cite(chapter: str):
    """Nobody can look a rule up on paper."""
    [listed] = [listed for listed in catalogue(environment={}).chapters if listed.id == chapter]
    html = html_of(sheet_of(listed))

    assert not unsaid(unescape(re.sub(r"<[^>]+>", " ", html)))


def test_the_sentences_come_last_to_be_opened_in_the_order_of_the_ids():
    """Each once, however often it is cited; a reader's way to the cases is named."""
    shown = page(
        Heading(text="By wrapper/W-33"),
        Table(grid=Grid(caption="c", columns=("rule",), rows=(("approval/R9",), ("(wrapper/W-33)",)))),
    )

    assert shown.shown().blocks[2:] == (
        Fold(
            title="The 2 rules named here, in a sentence each",
            blocks=(
                Items(items=(f"wrapper/W-33: {W33.says}", f"approval/R9: {R9.says}")),
                Paragraph(text='wb.rule("wrapper/W-33") says how we know it, and shows its cases.'),
            ),
        ),
    )
    assert [block["block"] for block in shown.data()] == ["heading", "table", "fold"]
    assert "@media print" in shown.html(), "paper cannot be opened"


@pytest.mark.parametrize(
    "text",
    ["nothing is cited", "wrapper/nowhere", "a file of/approval/R9", "approval-R9", f"approval/R9 says: {R9.says}"],
)
def test_what_cites_no_rule_or_says_it_gets_no_sentence(text: str):
    """A path of a tool is no id, and a rule that is said already is not said twice."""
    assert page(Paragraph(text=text)).shown().blocks == (Paragraph(text=text),)


class Asking:
    """An open chapter, some of whose questions turn on these rules."""

    def __init__(self, *rules: str) -> None:
        self.rules = {*rules}

    def rules_of_open_questions(self) -> set[str]:
        return self.rules


@pytest.mark.parametrize(
    ("turned_on", "closing"),
    [
        (["approval/R9"], "One of them is said once you have answered the question that turns on it."),
        (["approval/R9", "gate/R8"], "2 of them are said once you have answered the questions that turn on them."),
    ],
)
def test_what_would_answer_an_open_question_is_said_after_it(turned_on: list[str], closing: str):
    """Nobody reads the answer under a table; how many sentences are missing is no secret."""
    chapter = Asking(*turned_on)
    keep_back("mini", chapter.rules_of_open_questions)
    cites = page(Paragraph(text="wrapper/W-33, approval/R9 and gate/R8"))

    [fold] = cites.shown().blocks[1:]
    assert isinstance(fold, Fold)
    assert fold.title == "The 3 rules named here, in a sentence each"
    assert fold.blocks[-1] == Paragraph(text=closing)
    assert not any(all_rules().find(name).says in str(cites) for name in turned_on)
    chapter.rules.clear()  # they are answered
    assert not unsaid(str(cites))


def test_a_table_of_nothing_else_says_that_too():
    """One rule, kept back."""
    chapter = Asking("approval/R9")
    keep_back("mini", chapter.rules_of_open_questions)

    [fold] = page(Paragraph(text="approval/R9")).shown().blocks[1:]
    assert fold == Fold(
        title="The rule named here, in a sentence",
        blocks=(Paragraph(text="It is said once you have answered the question that turns on it."),),
    )


def test_a_chapter_that_is_gone_keeps_nothing_back():
    """Only the one that was opened last under an id has a say, and only while somebody holds it."""
    keep_back("mini", Asking("approval/R9").rules_of_open_questions)
    gc.collect()

    assert not unsaid(str(page(Paragraph(text="approval/R9"))))


def test_a_page_can_be_shown_without():
    """Where its reader gets the sentences with what comes next."""
    assert Page((Paragraph(text="approval/R9"),), says_rules=False).shown().blocks == (
        Paragraph(text="approval/R9"),
    )


def test_a_table_of_any_data_says_the_rules_of_its_cells():
    """A DataFrame with a caption is shown as a page of one table."""
    table = Frame({"rule": ["approval/R9"]}, {"rule": TEXT}, Look(caption="c", header="rule"))

    assert not unsaid(repr(table))
    assert R9.says in unescape(table._repr_html_())


def test_a_range_cites_every_rule_in_it():
    """Both ends are written in full, so the first alone would not do."""
    book: dict[str, Any] = {"book": "gate", "title": "t", "rules": []}
    for name in ("A1", "A2", "A3", "O1"):
        book["rules"].append({"id": f"gate/{name}", "says": "s", "where": "w", "status": "ours"})
    rules = Rules([parse_book(json.dumps(book).encode(), "gate.json")])

    assert [rule.name for rule in rules.cited(["gate/O1 and gate/A1 to gate/A3"])] == ["O1", "A1", "A2", "A3"]
    assert [rule.name for rule in rules.cited(["gate/A2 to go"])] == ["A2"]
    assert [rule.name for rule in rules.cited(["gate/A2 to gate/nowhere, gate/A1-"])] == ["A2", "A1"]
