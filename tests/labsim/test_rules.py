"""The book of rules: what a file of rules may hold, how an id is looked up, and that ids and rules go together."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator
from places import TOP

from labsim.errors import CaseError
from labsim.library import case_files, fixtures_dir, recorded_files, rule_files
from labsim.play.report import Report
from labsim.reading.reading import parse_file
from labsim.rules import AmbiguousRule, Book, Rule, Rules, Status, UnknownRule, natural, parse_book, schema_text
from workbook import rule as wb_rule
from workbook.cli import main
from workbook.show.cited import all_rules
from workbook.show.page import Page
from workbook.tables.rules import NotOfThisRule, ShownRule

SCHEMA = fixtures_dir() / "schema" / "rules.schema.json"
BOOKS = "approval|wrapper|dispatch|fallback|review|gate|rpc"
#: An id as it is cited, with its book.
CITED = re.compile(rf"\b(?:{BOOKS})/(?:(?:[A-Z]-?|[a-z]+-)\d+[a-z]?|[a-z]+(?:-[a-z]+)+|once)\b")
#: A range of them, both ends in full: wrapper/W-66 to wrapper/W-74.
RANGE = re.compile(rf"\b((?:{BOOKS})/(?:[A-Z]-?|[a-z]+-))(\d+)[a-z]? to \1(\d+)\b")
#: The same without one, which may mean another rule.
BARE = re.compile(r"(?<![\w/.#\\-])(?:[AWRDFV]-\d+[a-z]?|[ABCDFGMOPRSVWX]\d{1,2}[ab]?)\b")
#: What only looks like one, or is an example of what somebody may type.
BARE_ON_PURPOSE = {
    "CHANGELOG.md": "how ids were before they had books",
    "labsim/bash/critical.py": "members of an enum, named after the rows of the host's table",
    "labsim/review/panel/display.py": "C1 of ISO 6429",
    "labsim/rules.py": "examples of how ids sort",
    "labsim/terms.py": "members of an enum, whose values have the book",
    "tests/labsim/dispatch/test_addresses.py": "an alphabet",
    "tests/labsim/gate/test_policy.py": "constants, explained by their ids where they are used",
    "tests/labsim/review/test_panel.py": "C1 of ISO 6429",
    "tests/workbook/classroom/test_report.py": "a cell of a spreadsheet",
    "tests/workbook/paper/test_worksheet.py": "a size of paper",
    "tests/workbook/show/test_cited.py": "constants, and names of rules in a book",
    "workbook/cli/learner.py": "a size of paper",
    "workbook/paper/page.py": "a size of paper",
}
#: What only the documents that the project was made from could explain.
FROM_ELSEWHERE = re.compile(r"\bspec/\w+|\(section \d|\b[Ss]ections? \d|(?<![-/\w])[Ss]teps? \d+\b(?! of)")


def a_rule(name: str = "wrapper/W-1", **changed: Any) -> dict[str, Any]:
    return {"id": name, "says": "It rains.", "where": "sky: rain", "status": "ours", "cases": [], **changed}


def a_book(*rules: dict[str, Any], book: str = "wrapper", **changed: Any) -> bytes:
    return json.dumps({"book": book, "title": "Weather", "rules": list(rules), **changed}).encode()


def some_rules() -> Rules:
    """Three books, two of which have an R8."""
    names = {"approval": ("A-1", "R8"), "gate": ("A1", "R8"), "wrapper": ("W-33",)}
    return Rules(
        parse_book(a_book(*(a_rule(f"{book}/{name}") for name in those), book=book), f"{book}.json")
        for book, those in names.items()
    )


def named_in(*folders: str) -> dict[str, str]:
    """Every text of these folders, by its path; what is broken on purpose is not among them."""
    left_out = {TOP / "fixtures" / name for name in ("broken", "rules", "recorded")}
    return {
        str(path.relative_to(TOP)): path.read_text(encoding="utf-8")
        for folder in folders
        for path in sorted((TOP / folder).rglob("*"))
        if path.suffix in {".py", ".json", ".ipynb"} and not left_out.intersection(path.parents)
    }


def cited(text: str) -> set[str]:
    """The ids that a text cites, the ends of its ranges included."""
    return set(CITED.findall(text))


def meant(text: str) -> set[str]:
    """The rules that a text cites, those within its ranges included; R4 in a range is R4a and R4b."""
    within = {
        f"{stem}{number}" for stem, low, high in RANGE.findall(text) for number in range(int(low), int(high) + 1)
    }
    return cited(text) | {rule.id for rule in all_rules() if rule.id.rstrip("ab") in within}


@cache
def symbols(module: str) -> dict[str, str]:
    """The source of each class, function and constant of a module of the package, by its dotted name."""
    source = TOP.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    pieces, lines = dict[str, str](), source.splitlines()

    def read(node: ast.AST, around: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = around
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{around}.{child.name}" if around else child.name
            elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name) and not around:
                name = child.target.id
            if isinstance(child, ast.stmt) and name != around:
                first = child.lineno - 1
                while lines[first - 1].lstrip().startswith(("#", "@")):  # what is said of it, just before it
                    first -= 1
                pieces[name] = "\n".join(lines[first : child.end_lineno])
            read(child, name)

    read(ast.parse(source), "")
    return pieces


def every_text() -> dict[str, str]:
    """What may cite a rule: code, data, notebooks, pages about the project, and all tests but these."""
    texts = named_in("labsim", "workbook", "fixtures", "notebooks", "tests")
    pages = ("README.md", "CHANGELOG.md", ".github/CONTRIBUTING.md")
    texts |= {page: (TOP / page).read_text(encoding="utf-8") for page in pages}
    return {path: text for path, text in texts.items() if path != "tests/labsim/test_rules.py"}


# The books that ship


@pytest.mark.parametrize("path", rule_files(), ids=lambda path: path.stem)
def test_each_book_is_well_formed_and_in_order(path: Path):
    """A file is named after its book, fits the schema, and has its rules in the order in which people count."""
    data = path.read_bytes()
    book = parse_book(data, path.name)

    Draft202012Validator(json.loads(SCHEMA.read_bytes())).validate(json.loads(data))
    names = [rule.name for rule in book.rules]
    assert (book.book, names) == (path.stem, sorted(names, key=natural))
    assert data.endswith(b"}\n")


def test_each_rule_is_one_sentence():
    """A sentence ends, says what it says without citing another rule, and does not wander."""
    for rule in all_rules():
        assert re.search(r'\."?$', rule.says), rule.id
        assert not cited(rule.says), rule.id
        assert not BARE.search(rule.says), rule.id
        assert len(rule.says) <= 300, rule.id


def test_every_case_of_a_rule_can_be_played():
    """Cases are those that `python -m labsim case ID` finds."""
    known = {case.id for path in case_files() for case in parse_file(path.read_bytes(), path.name).cases}

    assert {case for rule in all_rules() for case in rule.cases} <= known


def test_every_recorded_rule_has_its_evidence():
    """A teaching case, a part of the recorded answers, or a test that names it."""
    parts = {path.name.partition(".")[0] for path in recorded_files()}
    told = set().union(*(meant(text) for path, text in every_text().items() if path.startswith("tests/")))

    assert {rule.recorded for rule in all_rules() if isinstance(rule.recorded, str)} <= parts
    assert not [
        rule.id
        for rule in all_rules()
        if rule.status is Status.RECORDED
        and not rule.cases
        and not isinstance(rule.recorded, str)
        and rule.id not in told
    ]


def test_every_rule_that_names_code_is_named_there():
    """By its id, in the very function: a range, or the docstring of a whole module, leads nobody there."""
    assert not {
        f"{rule.id} is not named in {place}"
        for rule in all_rules()
        for place in rule.code
        if rule.id not in cited(symbols(place.partition(": ")[0]).get(place.partition(": ")[2], ""))
    }


def test_every_rule_that_the_engine_names_names_its_code():
    """Only what describes rules, or looks them up for a difference, may name one that nothing decides."""
    texts = {path: text for path, text in named_in("labsim").items() if path != "labsim/proof/replay.py"}
    named = {rule.id for rule in all_rules().cited(texts.values())}

    assert sorted(named - {rule.id for rule in all_rules() if rule.code}) == []


def test_every_id_that_is_cited_leads_to_a_rule():
    """In code, fixtures, notebooks and tests; ranges are read."""
    books = all_rules()

    assert not {
        f"{path}: {name}" for path, text in every_text().items() for name in cited(text) if name not in books
    }


def test_every_rule_is_cited_somewhere():
    """A rule that no code, fixture, notebook or test cites has no place in the book."""
    told = set().union(*map(meant, every_text().values()))

    assert not [rule.id for rule in all_rules() if rule.id not in told]


def test_no_id_is_cited_without_its_book():
    """`R-8` and `R8` were two rules, and 69 ids differed from another by their hyphen alone."""
    assert not {
        f"{path}: {bare}"
        for path, text in every_text().items()
        if path not in BARE_ON_PURPOSE
        for bare in BARE.findall(text)
    }
    assert not [path for path in BARE_ON_PURPOSE if not BARE.search(every_text()[path])]


def test_nothing_points_out_of_the_product():
    """To a section of some document, or to a step by its number alone; a page that lists steps says which."""
    assert not {
        f"{path}: {pointer}"
        for path, text in every_text().items()
        if path.endswith(".py") and not path.startswith("tests/browser/")
        for pointer in FROM_ELSEWHERE.findall(text)
    }


def test_each_step_of_the_wrapper_is_a_rule():
    """The numbered comments of `execute` and the rules wrapper/step-1 to wrapper/step-17 are the same steps."""
    source = (TOP / "labsim" / "call" / "wrapper.py").read_text(encoding="utf-8")
    numbers = {
        int(number) for line in re.findall(r"# (\d+\..*)", source) for number in re.findall(r"\b(\d+)\.", line)
    }

    assert {f"wrapper/step-{number}" for number in numbers} == {
        rule.id for rule in all_rules() if rule.name.startswith("step-") and rule.book == "wrapper"
    }


# Reading a file


def test_a_book_is_read():
    """The keys of a rule, the recorded part being optional."""
    data = a_book(a_rule(status="recorded", cases=["one"], recorded="wrapper"), a_rule("wrapper/step-2"))

    assert parse_book(data, "wrapper.json") == Book(
        book="wrapper",
        title="Weather",
        rules=(
            Rule(
                id="wrapper/W-1",
                says="It rains.",
                where="sky: rain",
                status=Status.RECORDED,
                cases=("one",),
                recorded="wrapper",
            ),
            Rule(id="wrapper/step-2", says="It rains.", where="sky: rain", status=Status.OURS),
        ),
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[", "wrapper.json: line 1"),
        (a_book(a_rule(), a_rule()), "rules[1] (wrapper/W-1).id: 'wrapper/W-1' is there twice. Keep one of them."),
        (a_book(a_rule("rpc/R-1")), "rules[0] (rpc/R-1).id: 'rpc/R-1' is no id of this book. Write it as"),
        (a_book(a_rule("wrapper/")), "'wrapper/' is no id of this book"),
        (a_book(a_rule("W-1")), "'W-1' is no id of this book"),
        (a_book(a_rule(status="known")), ".status: 'known' is not allowed here. Use one of: recorded, source-only"),
        (a_book(a_rule(sayz="x")), "rules[0]: the key 'sayz' is not known here. Did you mean 'says'?"),
        (a_book(a_rule(says=" ")), "rules[0] (wrapper/W-1).says: this is not one line of text."),
        (a_book(a_rule(where="a\nb")), "rules[0] (wrapper/W-1).where: this is not one line of text."),
        (a_book(a_rule(cases=["one", "one"])), "rules[0] (wrapper/W-1).cases: a case is there twice."),
        (a_book(a_rule(), title=3), "title: 3 is a whole number. Use text."),
    ],
)
def test_a_file_that_is_no_book_is_refused_with_place_and_remedy(data: bytes, message: str):
    """One line: where, what was found, what would do."""
    with pytest.raises(CaseError) as refused:
        parse_book(data, "wrapper.json")

    assert str(refused.value).startswith("wrapper.json: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_schema_is_kept_as_the_classes_have_it():
    """Editors read the file; it is made by `schema_text`."""
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()


# Looking an id up


def test_an_id_with_its_book_is_found_and_a_bare_one_where_only_one_book_has_it():
    """`R8` could be a row of the first host or of the second, so the book decides."""
    rules = some_rules()

    assert rules.find("gate/R8").id == "gate/R8"
    assert rules.find("W-33").id == "wrapper/W-33"
    assert (rules.find("A1").id, rules.find("A-1").id) == ("gate/A1", "approval/A-1")
    with pytest.raises(AmbiguousRule) as refused:
        rules.find("R8")
    assert refused.value.candidates == ["approval/R8", "gate/R8"]
    assert str(refused.value) == "'R8' is a rule of several books. Use one of: approval/R8, gate/R8."


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("wraper/W-33", "No rule has the id 'wraper/W-33'. Did you mean wrapper/W-33?"),
        ("Wrapper/w-33", "No rule has the id 'Wrapper/w-33'. Did you mean wrapper/W-33?"),
        ("r8", "No rule has the id 'r8'. Did you mean approval/R8 or gate/R8?"),
        ("gate/R-8", "No rule has the id 'gate/R-8'. Did you mean gate/R8?"),
        ("wrapper/W33", "No rule has the id 'wrapper/W33'. Did you mean wrapper/W-33?"),
        ("w33", "No rule has the id 'w33'. Did you mean wrapper/W-33?"),
        ("wrappr", "No rule has the id 'wrappr'. Did you mean wrapper?"),
        ("zzz", "No rule has the id 'zzz'. The books are: approval, gate, wrapper."),
    ],
)
def test_an_unknown_id_is_answered_with_what_may_be_meant(asked: str, message: str):
    """A rule that looks alike, whatever its case, or else the books."""
    with pytest.raises(UnknownRule) as refused:
        some_rules().find(asked)

    assert str(refused.value) == message


def test_ids_sort_as_people_count():
    """Numbers by their value, letters after them."""
    names = ["W-10", "step-2", "R4b", "W-9", "R4a", "R10", "A-59a", "A-60", "A-59"]

    assert sorted(names, key=natural) == ["A-59", "A-59a", "A-60", "R4a", "R4b", "R10", "W-9", "W-10", "step-2"]


# In a notebook, and at the command line


def test_a_rule_shows_its_sentence_place_status_and_cases_as_text_and_as_html():
    """`wb.rule("wrapper/W-33")` as the value of a cell."""
    shown = wb_rule("wrapper/W-33")
    assert isinstance(shown, ShownRule)
    forms = shown._repr_mimebundle_()

    assert set(forms) == {"text/plain", "text/html"}
    assert forms["text/plain"] == str(shown) == repr(shown)
    for form in (" ".join(forms["text/plain"].split()), forms["text/html"]):
        for part in (
            "wrapper/W-33",
            "denied by user",
            "ExtensionToolWrapper.execute",
            "labsim.call.wrapper: ToolWrapper._ask_a_person",
            "recorded",
            "boundary-no-ui",
        ):
            assert part in form


def test_a_rule_plays_its_cases():
    """The first, the one that is named, or all."""
    shown = wb_rule("wrapper/W-33")
    assert isinstance(shown, ShownRule)
    first, *_, last = shown.rule.cases

    assert (shown.play().case.id, shown.play(last).case.id) == (first, last)
    assert [report.case.id for report in shown.plays()] == list(shown.rule.cases)
    assert all(isinstance(report, Report) and report.matches for report in shown.plays())


def test_a_case_that_is_not_the_rules_is_refused():
    """With the cases that are, or with what holds the rule where it has none."""
    with pytest.raises(NotOfThisRule, match=r"^wrapper/W-33 has no case 'zzz'\. Cases: boundary-no-ui, "):
        ShownRule(all_rules().find("wrapper/W-33")).play("zzz")
    with pytest.raises(NotOfThisRule, match=r"approval/A-41 has no case\. Cases: none; tests hold it\."):
        ShownRule(all_rules().find("approval/A-41")).play()
    assert ShownRule(all_rules().find("approval/A-41")).plays() == []


def test_a_book_and_the_books_are_listed():
    """`wb.rule("rpc")` has each rule with its sentence, `wb.rule()` each book."""
    books, book = wb_rule(), wb_rule("rpc")

    assert isinstance(books, Page)
    assert isinstance(book, Page)
    assert all(name in str(books) for name in all_rules().books)
    assert all(rule.id in str(book) and rule.id in book.html() for rule in all_rules().books["rpc"].rules)


def workbook(*args: str) -> Result:
    return CliRunner().invoke(main, ["rule", *args])


def test_the_command_says_what_the_cell_says():
    """`workbook rule`, of a rule, a book, or nothing."""
    for asked in ("wrapper/W-33", "rpc", ""):
        assert workbook(*filter(None, [asked])).output == f"{wb_rule(asked)}\n"


def test_the_command_plays_the_cases_of_a_rule():
    """Each ledger follows, as `python -m labsim case` prints it."""
    done = workbook("wrapper/W-33", "--play")

    assert done.exit_code == 0
    assert [line for line in done.output.split("\n") if line == "match"] == ["match"] * len(
        all_rules().find("wrapper/W-33").cases
    )
    assert workbook("rpc/R-1", "--play").output == workbook("rpc/R-1").output


def test_the_command_refuses_an_unknown_id_in_one_line():
    """Exit code 1, and what may be meant."""
    done = workbook("wraper/W-33")

    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert done.output.startswith("Error: No rule has the id 'wraper/W-33'. Did you mean wrapper/W-33")
