"""A worksheet as one HTML page for A4 paper, in black and white: questions first, answers on pages of their own.

Above `worksheet`, which has everything that is said; nothing here plays or judges. The page is whole by itself: no
script, nothing fetched, every text escaped where it enters. How pages break is the point of the style sheet: a
question never leaves its options, so a case that is too long to stand between them is printed after the questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from math import ceil
from typing import Final, assert_never

from labsim.hostvalues import stringify
from labsim.report import FieldCheck
from labsim.show import visible
from workbook.answers import Confidence
from workbook.checkpoint_kinds import (
    Belief,
    ChoiceCheckpoint,
    Field,
    FieldsCheckpoint,
    OrderCheckpoint,
    PaperCheckpoint,
)
from workbook.confidence import ASKS
from workbook.judged import Judged
from workbook.worksheet import (
    GENERATOR,
    ChoiceAnswer,
    FieldsAnswer,
    OrderAnswer,
    PaperAnswer,
    Question,
    Sheet,
)

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RULED_LINES: Final = 8  # for a text by hand, nine millimetres each
LINES_IN_PLACE: Final = 16  # of a case as it is given; a longer one is printed after the questions
_COLUMNS: Final = 88  # characters of the type that a case is set in, on a line of A4
QUESTIONS, CASES, ANSWERS = "Questions", "Longer cases", "Worked answers"

_STYLE: Final = """
@page { size: A4; margin: 22mm 18mm 20mm;
  @top-left { content: TITLE; font: 9pt sans-serif; }
  @top-right { content: "Questions"; font: 9pt sans-serif; }
  @bottom-left { content: "Cedar Workbook"; font: 9pt sans-serif; }
  @bottom-right { content: "Page " counter(page) " of " counter(pages); font: 9pt sans-serif; } }
@page cases { @top-right { content: "Longer cases"; font: 9pt sans-serif; } }
@page answers { @top-right { content: "Worked answers"; font: 9pt sans-serif; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 172mm; background: #fff; color: #000;
  font: 11pt/1.45 "DejaVu Sans", Verdana, Arial, sans-serif; }
h1 { font-size: 17pt; line-height: 1.25; margin: 0 0 3mm; }
h2 { font-size: 12pt; margin: 0 0 1.5mm; }
h1, h2, h3 { break-after: avoid; }
h3 { font-size: 10.5pt; margin: 2.5mm 0 1mm; }
p { margin: 0 0 2mm; }
.cases { page: cases; break-before: page; }
.answers { page: answers; break-before: page; }
.question { break-inside: avoid; }
.question, .answer, .case { padding: 4mm 0; border-top: 0.3mm solid #000; }
.who { display: flex; gap: 10mm; margin: 6mm 0; }
.who span { flex: 1; border-bottom: 0.3mm solid #000; height: 8mm; }
.given { margin: 2mm 0; padding: 2mm 3mm; border: 0.2mm solid #000; break-inside: auto;
  font: 9pt/1.4 "DejaVu Sans Mono", "Courier New", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.lines { list-style: none; margin: 2mm 0; padding: 0; }
.lines > li { display: flex; gap: 3mm; align-items: baseline; margin: 0 0 2mm; break-inside: avoid; }
.box { flex: none; display: inline-block; width: 4.5mm; height: 4.5mm; border: 0.3mm solid #000;
  vertical-align: -0.8mm; }
.box.wide { width: 9mm; height: 8mm; vertical-align: -2.5mm; }
.blank { display: inline-block; width: 28mm; height: 7mm; border-bottom: 0.3mm solid #000; }
.sure { display: flex; flex-wrap: wrap; gap: 2mm 7mm; margin: 3mm 0 0; padding: 0; border: 0; }
.sure > * { white-space: nowrap; }
.ruled > div { height: 9mm; border-bottom: 0.2mm solid #000; }
table { border-collapse: collapse; width: 100%; margin: 2mm 0; }
caption { text-align: left; font-weight: bold; padding: 0 0 1mm; }
th, td { border: 0.2mm solid #000; padding: 1.5mm 2.5mm; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
tr { break-inside: avoid; }
th[scope="row"] { width: 45%; font-weight: normal; }
.choices > span { display: block; margin: 0 0 1mm; }
.choices .box { margin-right: 1.5mm; }
.answer li, .answer p { break-inside: avoid; }
.small { font-size: 9.5pt; }
.right { font-weight: bold; }
"""


def html_of(sheet: Sheet) -> str:
    """The whole page. The same sheet gives the same text, always."""
    long = [question for question in sheet.questions if not _in_place(question)]
    title = f"{sheet.title}: worksheet"
    style = _STYLE.replace("TITLE", _css_string(visible(sheet.title)))
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta name="generator" content="{GENERATOR}">\n<title>{_text(title)}</title>\n',
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{style}</style>\n</head>\n',
        "<body>\n<main>\n",
        f'<section class="questions" aria-label="{QUESTIONS}">\n{_opening(sheet)}',
        *(f"{_question(question)}\n" for question in sheet.questions),
        "</section>\n",
    ]
    if long:
        parts.append(f'<section class="cases" aria-label="{CASES}">\n<h1>{CASES}</h1>\n')
        parts += [f"{_long_case(question)}\n" for question in long]
        parts.append("</section>\n")
    parts.append(f'<section class="answers" aria-label="{ANSWERS}">\n<h1>{ANSWERS}</h1>\n{_how_found(sheet)}')
    parts += [f"{_answer(question, sheet)}\n" for question in sheet.questions]
    parts.append("</section>\n</main>\n</body>\n</html>\n")
    return "".join(parts)


def _opening(sheet: Sheet) -> str:
    count = len(sheet.questions)
    asked = "One question" if count == 1 else f"{count} questions"
    return (
        f"<h1>{_text(sheet.title)}</h1>\n"
        f"<p>{asked}. Answer each before you look at the last pages, which have the answers. Where you are asked "
        "how sure you are, mark one of the four boxes: that is for you alone.</p>\n"
        '<div class="who"><span>Name</span><span>Date</span></div>\n'
    )


def _how_found(sheet: Sheet) -> str:
    return (
        "<p>Nobody wrote these answers down beforehand: each was found by playing its case with version "
        f"{_text(sheet.version)} of the workbook. The number is that of the question.</p>\n"
    )


# ------------------------------------------------------------------------------------------------- the questions


def _question(question: Question) -> str:
    parts = [f'<section class="question">\n<h2>{_heading(question)}</h2>\n']
    parts.append(f"<p>{_broken(question.checkpoint.prompt)}</p>\n")
    if _in_place(question):
        parts.append(_given(question))
    else:
        parts.append(f"<p>The case is long, and printed behind the questions, under {question.number}.</p>\n")
    parts.append(_blanks(question))
    if not isinstance(question.checkpoint, PaperCheckpoint):
        parts.append(_sure())
    parts.append("</section>")
    return "".join(parts)


def _heading(question: Question) -> str:
    return f"{question.number}. {_text(question.checkpoint.id)}"


def _blanks(question: Question) -> str:
    checkpoint = question.checkpoint
    match checkpoint:
        case ChoiceCheckpoint():
            options = zip(LETTERS, checkpoint.options, strict=False)
            return _boxes(f"{letter}. {option.text}" for letter, option in options)
        case FieldsCheckpoint():
            rows = "".join(
                f'<tr><th scope="row">{_text(field.asks)}</th><td>{_values(field)}</td></tr>\n'
                for field in checkpoint.fields
            )
            head = '<thead><tr><th scope="col">what</th><th scope="col">your prediction</th></tr></thead>'
            return f"<table><caption>Predict each</caption>{head}\n<tbody>\n{rows}</tbody></table>\n"
        case OrderCheckpoint():
            count = len(checkpoint.steps)
            told = f"<p>Number the steps from 1, the first, to {count}, the last.</p>\n"
            return told + _boxes((step.text for step in checkpoint.listed), wide=True)
        case PaperCheckpoint():
            return f'<div class="ruled" aria-hidden="true">{"<div></div>" * RULED_LINES}</div>\n'
        case _:
            assert_never(checkpoint)


def _boxes(texts: Iterable[str], *, wide: bool = False) -> str:
    items = "".join(f"<li>{_box(wide=wide)}<span>{_broken(text)}</span></li>\n" for text in texts)
    return f'<ul class="lines">\n{items}</ul>\n'


def _values(field: Field) -> str:
    if not field.values:
        return '<span class="blank" aria-hidden="true"></span> (a number)'
    choices = "".join(f"<span>{_box()}{_text(one.text)}</span>" for one in field.values)
    return f'<div class="choices">{choices}</div>'


def _sure() -> str:
    levels = "".join(f"<span>{_box()} {_text(str(level))}</span>" for level in Confidence)
    return f'<div class="sure"><strong>{_text(ASKS)}</strong>{levels}</div>\n'


def _box(*, wide: bool = False) -> str:
    return f'<span class="box{" wide" if wide else ""}" aria-hidden="true"></span>'


def _given(question: Question) -> str:
    lines = "\n".join(_text(line) for line in question.given)
    return f'<h3>Given (scenario {_text(question.scenario)})</h3>\n<div class="given">{lines}</div>\n'


def _long_case(question: Question) -> str:
    return f'<section class="case">\n<h2>{_heading(question)}</h2>\n{_given(question)}</section>'


def _in_place(question: Question) -> bool:
    return sum(max(1, ceil(len(line) / _COLUMNS)) for line in question.given) <= LINES_IN_PLACE


# --------------------------------------------------------------------------------------------------- the answers


def _answer(question: Question, sheet: Sheet) -> str:
    return f'<section class="answer">\n<h2>{_heading(question)}</h2>\n{"".join(_worked(question, sheet))}</section>'


def _worked(question: Question, sheet: Sheet) -> Iterator[str]:
    answer, checkpoint = question.answer, question.checkpoint
    match answer:
        case ChoiceAnswer():
            lettered = list(zip(LETTERS, answer.judged, strict=False))
            for letter, judged in (one for one in lettered if one[1].matches):
                yield f'<p class="right">{letter}. {_broken(judged.option.text)}</p>\n'
                yield f"<p>{_broken(judged.option.why)}</p>\n{_observed(question, judged.checks)}"
            others = [one for one in lettered if not one[1].matches]
            if others:
                yield f'<h3>Why not {" or ".join(letter for letter, _ in others)}</h3>\n<ul class="small">\n'
                yield from (_why_not(letter, judged, sheet) for letter, judged in others)
                yield "</ul>\n"
        case FieldsAnswer():
            rows = "".join(
                f'<tr><th scope="row">{_text(field.asks)}</th><td class="right">{_text(field.said(value))}</td>'
                f"<td>{_broken(field.why)}</td></tr>\n"
                for field, value in answer.values
            )
            heads = "".join(f'<th scope="col">{name}</th>' for name in ("what", "the run shows", "why"))
            caption = f"<caption>What {_text(question.case_id)} shows</caption>"
            yield f"<table>{caption}<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n"
        case OrderAnswer():
            yield f"<p>The ledger of {_text(question.case_id)} has them in this order.</p>\n<ol>\n"
            for one in answer.steps:
                text, why = _text(one.step.text), _broken(one.step.why)
                yield f'<li><span class="right">{text}</span> (row {one.row}) {why}</li>\n'
            yield "</ol>\n"
        case PaperAnswer():
            if isinstance(checkpoint, PaperCheckpoint):
                yield f"<p>{_broken(checkpoint.worked)}</p>\n"
                if checkpoint.points:
                    yield "<h3>Which of these did your answer have?</h3>\n"
                    yield _boxes(point.text for point in checkpoint.points)
            yield _observed(question, answer.checks)
        case _:
            assert_never(answer)


def _why_not(letter: str, judged: Judged, sheet: Sheet) -> str:
    belief: Belief | None = sheet.beliefs.get(judged.option.belief or "")
    behind = "" if belief is None else f" Behind it may be the belief: {_broken(belief.says)}"
    return f"<li><strong>{letter}.</strong> {_broken(judged.option.why)}{behind}</li>\n"


def _observed(question: Question, checks: Iterable[FieldCheck]) -> str:
    seen = "; ".join(f"{check.field}: {_value(check.observed)}" for check in checks)
    return f'<p class="small">The run of {_text(question.case_id)} shows {_text(seen)}.</p>\n'


def _value(value: object) -> str:
    return value if isinstance(value, str) else stringify(value)


# ------------------------------------------------------------------------------------------------------ escaping


def _text(text: str) -> str:
    return escape(visible(text))


def _broken(text: str) -> str:
    return _text(text).replace("\n", "<br>")


def _css_string(text: str) -> str:
    """A text as a string of a style sheet: everything but letters, digits and blanks by its number."""
    return '"' + "".join(one if one.isalnum() or one == " " else f"\\{ord(one):X} " for one in text) + '"'
