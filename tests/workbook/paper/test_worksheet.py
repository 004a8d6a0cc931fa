"""The worksheet of a chapter: all that is asked, blanks for every kind of answer, and what the runs showed."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import Browser
from worksheet_kit import PrintedPage, printed

from labsim.errors import CaseError
from workbook.chapter.catalogue import Listed, catalogue, named
from workbook.checkpoint.kinds import ChoiceCheckpoint, FieldsCheckpoint, OrderCheckpoint, PaperCheckpoint
from workbook.cli import main
from workbook.paper.page import ANSWERS, CASES, LETTERS, QUESTIONS, RULED_LINES, html_of
from workbook.paper.sheet import ChoiceAnswer, OrderAnswer, Question, Sheet
from workbook.paper.worksheet import NotOurs, given_lines, sheet_of, write

pytest_plugins = ["browser"]

BUILT_IN = [listed.id for listed in catalogue(environment={}).chapters if listed.files().checkpoints is not None]
A4 = (595, 842)


class Elements(HTMLParser):
    """Every element of a page, with its attributes, and the text under each class."""

    VOID = ("meta", "br", "link", "img")

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("style", "title"):
            self.texts.append(data)

    def count(self, tag: str, **attributes: str) -> int:
        return sum(name == tag and attributes.items() <= found.items() for name, found in self.found)


@pytest.fixture(scope="module")
def sheets() -> dict[str, Sheet]:
    """The sheets of all built-in chapters, each made once."""
    return {chapter: sheet_of(catalogue(environment={}).find(chapter)) for chapter in BUILT_IN}


def workbook(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., Listed]:
    """A chapter of somebody's own: the first built-in one under another id, with a checkpoint changed as wanted."""

    def make(change: Callable[[dict[str, Any]], None] = lambda checkpoint: None) -> Listed:
        files = catalogue(environment={}).find("start-here").files()
        assert files.checkpoints is not None
        asked = msgspec.json.decode(files.checkpoints.read_bytes()) | {"chapter": "own-desk"}
        change(asked["checkpoints"][0])
        folder = tmp_path / "own-desk"
        folder.mkdir()
        (folder / "cases.json").write_bytes(files.cases[0].read_bytes())
        (folder / "checkpoints.json").write_bytes(msgspec.json.encode(asked))
        (folder / "lesson.ipynb").write_text("{}", encoding="utf-8")
        (folder / "chapter.toml").write_text(
            'id = "own-desk"\ntitle = "My own desk"\norder = 90\nnotebook = "lesson.ipynb"\n'
            'cases = "cases.json"\ncheckpoints = "checkpoints.json"\n',
            encoding="utf-8",
        )
        return named(str(folder))

    return make


# ------------------------------------------------------------------------------------------------- what is said


@pytest.mark.parametrize("chapter", BUILT_IN)
def test_every_checkpoint_has_a_question_and_an_answer(chapter: str, sheets: dict[str, Sheet]):
    """In the chapter's order, by number and id, first among the questions and then among the answers."""
    sheet = sheets[chapter]
    heads = re.findall(
        r"<h2>(\d+)\. ([^<]+)</h2>",
        html_of(sheet).split('<section class="cases"')[0].split('<section class="answers"')[0],
    )
    answers = re.findall(r"<h2>(\d+)\. ([^<]+)</h2>", html_of(sheet).split('<section class="answers"')[1])
    wanted = [(str(one.number), one.checkpoint.id) for one in sheet.questions]

    assert heads == answers == wanted


@pytest.mark.parametrize("chapter", BUILT_IN)
def test_the_page_is_whole_by_itself_and_can_be_read_aloud(chapter: str, sheets: dict[str, Sheet]):
    """No script, nothing fetched; a language, a title, one main part, named sections, captions, scoped headers."""
    html = html_of(sheets[chapter])
    page = Elements(html)

    assert page.count("html", lang="en") == page.count("main") == page.count("title") == 1
    assert (
        page.count("section", **{"aria-label": QUESTIONS}) == page.count("section", **{"aria-label": ANSWERS}) == 1
    )
    assert page.count("table") == page.count("caption")
    assert {dict(found).get("scope") for tag, found in page.found if tag == "th"} <= {"col", "row"}
    assert {tag for tag, _ in page.found}.isdisjoint({"script", "link", "img", "iframe", "object", "form", "input"})
    assert not [
        name for _, found in page.found for name in found if name.startswith("on") or name in ("src", "href")
    ]
    assert not re.search(r"url\(|@import|https?:", html)


def test_each_kind_has_its_blanks(sheets: dict[str, Sheet]):
    """A box an option, a box or a line a field, a wide box a step, ruled lines for a text, and how sure."""
    for sheet in sheets.values():
        asked = html_of(sheet).split('<section class="question">')[1:]
        for question, html in zip(sheet.questions, asked, strict=True):
            part = Elements(
                html.split('<section class="cases"')[0].split('<section class="answers"')[0].split("</section>")[0]
            )
            checkpoint = question.checkpoint
            boxes, wide = part.count("span", **{"class": "box"}), part.count("span", **{"class": "box wide"})
            blanks = part.count("span", **{"class": "blank"})
            sure = 0 if isinstance(checkpoint, PaperCheckpoint) else 4
            match checkpoint:
                case ChoiceCheckpoint():
                    assert (boxes, wide, blanks) == (len(checkpoint.options) + sure, 0, 0)
                case FieldsCheckpoint():
                    numbers = [field for field in checkpoint.fields if not field.values]
                    values = sum(len(field.values) for field in checkpoint.fields)
                    assert (boxes, wide, blanks) == (values + sure, 0, len(numbers))
                case OrderCheckpoint():
                    assert (boxes, wide, blanks) == (sure, len(checkpoint.steps), 0)
                    assert [step.text for step in checkpoint.listed] == [
                        text for text in part.texts if text in {step.text for step in checkpoint.steps}
                    ]
                case PaperCheckpoint():
                    assert (boxes, wide, blanks) == (0, 0, 0)
                    assert html.count("<div></div>") == RULED_LINES


def test_the_answers_are_what_the_runs_show(sheets: dict[str, Sheet]):
    """The known answers of two questions, in the words of the page; nothing in a file says which they are."""
    boundary = {one.checkpoint.id: one for one in sheets["boundary-desk"].questions}
    page = html_of(sheets["boundary-desk"]).split('<section class="answers"')[1]

    assert rights(boundary["exact-label"]) == ["it-is-refused"]
    assert '<p class="right">B. It is refused, as if the answer had been Deny.</p>' in page
    assert "The run of boundary-label-in-lower-case shows outcome: throw; effects: 0; prompts: 1; error" in page
    order = boundary["one-call-in-order"].answer
    assert isinstance(order, OrderAnswer)
    assert [one.step.id for one in order.steps] == [
        "request",
        "handler",
        "effective",
        "dialog",
        "answer",
        "executor",
    ]


def rights(question: Question) -> list[str]:
    assert isinstance(question.answer, ChoiceAnswer)
    return [one.option.id for one in question.answer.judged if one.matches]


def test_a_case_is_given_as_a_line_a_thing():
    """Members of a list stand below each other; a short value stays on its line; texts are as JSON spells them."""
    given = {"mode": "yolo", "choices": [None], "handlers": [{"block": True}], "steps": [1, 2], "note": "a\nb ü"}

    assert list(given_lines(given)) == [
        'mode: "yolo"',
        "choices: [null]",
        "handlers:",
        '  - {"block": true}',
        "steps:",
        "  - 1",
        "  - 2",
        'note: "a\\nb ü"',
    ]


def test_the_same_chapter_gives_the_same_page(sheets: dict[str, Sheet]):
    """No date, no random id: two print runs are of one text."""
    assert html_of(sheet_of(catalogue(environment={}).find("start-here"))) == html_of(sheets["start-here"])


# ---------------------------------------------------------------------------------------------- other people's text


def test_text_of_a_chapter_is_text(own: Callable[..., Listed]):
    """Markup in a prompt, an option and a title that would leave the style sheet: shown as it is written."""
    hostile = '</style><script>alert(1)</script> "\\ $$x$$ \x1b[31m\u202e'

    def change(checkpoint: dict[str, Any]) -> None:
        checkpoint["prompt"] = f"{hostile}{checkpoint['prompt']}"
        checkpoint["options"][0]["text"] += hostile

    listed = own(change)
    html = html_of(msgspec.structs.replace(sheet_of(listed), title=hostile))

    assert "<script" not in html
    assert html.count("</style>") == 1
    assert "\x1b" not in html
    assert any(text.startswith("</style><script>alert(1)</script>") for text in Elements(html).texts)


def test_a_question_without_a_right_answer_is_refused(own: Callable[..., Listed]):
    """A worked answer that no option gives would be made up."""

    def change(checkpoint: dict[str, Any]) -> None:
        for option in checkpoint["options"]:
            option["predicts"] = {"prompts": 99}

    with pytest.raises(CaseError, match=r"options: no answer is what the case shows\. `workbook check-chapter`"):
        sheet_of(own(change))


# ------------------------------------------------------------------------------------------------------ the command


def test_the_command_writes_a_page_and_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """By id into the folder that one works in; a second time over it."""
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        result = workbook("worksheet", "start-here")
        assert (result.exit_code, result.output) == (
            0,
            "Wrote start-here-worksheet.html. Open it in a browser, and print it.\n",
        )
    assert (tmp_path / "start-here-worksheet.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.iterdir()] == ["start-here-worksheet.html"]  # and nothing of a learner's


def test_a_chapters_folder_will_do(own: Callable[..., Listed], tmp_path: Path):
    """An instructor prints a chapter before anybody installs it."""
    listed = own()
    result = workbook("worksheet", listed.chapter.path.parent, "--to", tmp_path / "sheet.html")

    assert result.exit_code == 0, result.output
    assert f"<h1>{listed.title}</h1>" in (tmp_path / "sheet.html").read_text(encoding="utf-8")


def test_a_file_that_is_no_worksheet_is_left_alone(tmp_path: Path):
    """Whatever --to names by mistake."""
    (tmp_path / "essay.html").write_text("<p>mine</p>", encoding="utf-8")
    listed = catalogue(environment={}).find("start-here")

    for path in (tmp_path / "essay.html", tmp_path):
        with pytest.raises(NotOurs, match="is there and is no worksheet, so it is left alone"):
            write(listed, path)
    assert (tmp_path / "essay.html").read_text(encoding="utf-8") == "<p>mine</p>"


def test_an_unknown_chapter_is_one_line():
    """As everywhere on the command line."""
    result = CliRunner().invoke(main, ["worksheet", "boundry-desk"])

    assert result.exit_code == 1
    assert "No chapter has the id 'boundry-desk'. Did you mean 'boundary-desk'?" in result.output
    assert "Traceback" not in result.output


# --------------------------------------------------------------------------------------------------------- on paper


def kind(page: PrintedPage) -> str:
    """What a page says at its top that it is."""
    (found,) = [name for name in (QUESTIONS, CASES, ANSWERS) if page.text[:160].count(name.replace(" ", ""))]
    return found


def pdf_of(sheet: Sheet, chromium: Browser) -> list[PrintedPage]:
    """The pages of a sheet, printed by a browser."""
    tab = chromium.new_page()
    try:
        tab.set_content(html_of(sheet))
        return printed(tab.pdf(prefer_css_page_size=True))
    finally:
        tab.close()


@pytest.mark.browser
def test_a_case_that_is_too_long_is_printed_between_questions_and_answers(
    sheets: dict[str, Sheet], chromium: Browser
):
    """Two hundred lines would part a question from its options, so they stand behind all questions."""
    sheet = sheets["start-here"]
    question = sheet.questions[0]
    lines = tuple(f"line {number}: {'x' * 40}" for number in range(200))
    long = msgspec.structs.replace(sheet, questions=(msgspec.structs.replace(question, given=lines),))
    pages = pdf_of(long, chromium)

    assert [kind(page) for page in pages] == [QUESTIONS, *[CASES] * (len(pages) - 2), ANSWERS]
    assert pages[0].has("The case is long, and printed behind the questions, under 1.") == 1
    assert all(pages[0].has(text) for text in asked_texts(question))
    assert sum(page.has("line 0:") for page in pages[1:-1]) == sum(page.has("line 199:") for page in pages) == 1


@pytest.mark.browser
@pytest.mark.parametrize("chapter", BUILT_IN)
def test_the_printed_page_keeps_questions_whole_and_answers_apart(
    chapter: str, sheets: dict[str, Sheet], chromium: Browser
):
    """A4, black and white, numbered; a question with its options on one page; answers on pages of their own."""
    sheet = sheets[chapter]
    pages = pdf_of(sheet, chromium)
    kinds = [kind(page) for page in pages]
    asked = [page for page, found in zip(pages, kinds, strict=True) if found == QUESTIONS]
    answers = [page for page, found in zip(pages, kinds, strict=True) if found == ANSWERS]

    assert {page.size for page in pages} == {A4}
    assert all(len(set(colour)) == 1 for page in pages for colour in page.colours)
    assert all(page.has(f"Page {number} of {len(pages)}") == 1 for number, page in enumerate(pages, start=1))
    assert kinds == sorted(kinds, key=(QUESTIONS, CASES, ANSWERS).index)
    for page in asked:
        here = [one for one in sheet.questions if page.has(f"{one.number}. {one.checkpoint.id}")]
        assert page.has("How sure are you?") == sum(not isinstance(one.checkpoint, PaperCheckpoint) for one in here)
        for question in here:
            assert all(page.has(text) for text in asked_texts(question)), (question.checkpoint.id, page.text)
    for one in sheet.questions:
        heading = f"{one.number}. {one.checkpoint.id}"
        assert sum(page.has(heading) for page in asked) == sum(page.has(heading) for page in answers) == 1
        assert not any(page.has(why) for page in asked for why in explained(one))


def asked_texts(question: Question) -> list[str]:
    """What of a question must stand together."""
    checkpoint = question.checkpoint
    texts = [checkpoint.prompt]
    match checkpoint:
        case ChoiceCheckpoint():
            texts += [f"{letter}. {one.text}" for letter, one in zip(LETTERS, checkpoint.options, strict=False)]
        case FieldsCheckpoint():
            texts += [
                text for one in checkpoint.fields for text in (one.asks, *(value.text for value in one.values))
            ]
        case OrderCheckpoint():
            texts += [step.text for step in checkpoint.steps]
    return texts


def explained(question: Question) -> list[str]:
    """What of a question stands with the answers only."""
    checkpoint = question.checkpoint
    match checkpoint:
        case ChoiceCheckpoint():
            return [option.why for option in checkpoint.options]
        case FieldsCheckpoint():
            return [field.why for field in checkpoint.fields]
        case OrderCheckpoint():
            return [step.why for step in checkpoint.steps]
        case PaperCheckpoint():
            return [checkpoint.worked]
