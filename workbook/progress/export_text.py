"""A learner's work as Markdown that reads well as it is and says the same when it is rendered.

Nothing that a learner wrote becomes markup: free text stands in a fence that it cannot close, short words stand in
code spans, and the words of chapters are escaped. Control characters are made visible, as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from labsim.describe.ledger import one_line, visible
from workbook.learner.records import AnswerKind, Commit, Given, Note, Reset, Revote
from workbook.progress.export_record import Work, WorkedBelief
from workbook.progress.history import Answered, Attempt, ExerciseTries, Folded, StrayAnswers

TITLE: Final = "# My work in the Cedar Workbook"
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&|~$#{}]|:(?=//)|(?<=www)\.|(?<=mailto):|(?<=xmpp):", re.IGNORECASE)
_LINE_START: Final = re.compile(r"\A(?:[-+=]|(?P<number>\d+)(?=[.)]))")
_TICKS: Final = re.compile(r"`+")


def work_text(work: Work, folded: Folded, titles: dict[str, str]) -> str:
    """The whole work. `titles`: of the chapters, by id."""
    return "\n\n".join(_blocks(work, folded, titles)) + "\n"


def escaped(text: str) -> str:
    """Words in one line, so that none of them is markup."""
    line = _MARKUP.sub(lambda found: f"\\{found[0]}", " ".join(visible(text).split()))
    return _LINE_START.sub(lambda found: f"{found[0]}\\" if found["number"] else f"\\{found[0]}", line)


def code(text: str) -> str:
    """A short word as it is: a code span that ends where we end it."""
    inner = one_line(text)
    ticks = "`" * (max(map(len, _TICKS.findall(inner)), default=0) + 1)
    pad = " " if inner[:1] in ("`", " ") or inner[-1:] in ("`", " ") else ""
    return f"{ticks}{pad}{inner}{pad}{ticks}" if inner.strip() else "(blank)"


def quoted(text: str) -> str:
    """What somebody wrote, line by line, in a fence that no line of it can close."""
    inner = visible(text)
    fence = "`" * max(3, max(map(len, _TICKS.findall(inner)), default=0) + 1)
    return f"{fence}text\n{inner}\n{fence}"


def _blocks(work: Work, folded: Folded, titles: dict[str, str]) -> Iterator[str]:
    yield TITLE
    about = [f"- Learner: {code(work.learner)}"]
    about += [f"- Name: {code(work.name)}"] if work.name is not None else []
    about += [] if work.with_confidence else ["- How sure each answer was given is left out."]
    yield "\n".join(about)
    for chapter in folded.chapters:
        answered = [one for one in (*chapter.recalled, *chapter.answered) if one.attempts or one.notes]
        tried = [one for one in folded.exercises if one.key.chapter == chapter.id]
        if answered or tried:
            yield f"## {escaped(chapter.title)}"
            for one in answered:
                yield from _checkpoint(one)
            for exercise in tried:
                yield from _exercise(exercise)
    away = [one for one in folded.exercises if one.key.chapter not in titles]
    if folded.strays or away:
        yield "## Kept, and not counted"
        for stray in folded.strays:
            yield from _stray(stray)
        for exercise in away:
            yield from _exercise(exercise)
    yield from _beliefs("What I may still believe", work.beliefs_held)
    yield from _beliefs("What I no longer believe", work.beliefs_shed)


def _checkpoint(answered: Answered) -> Iterator[str]:
    came = f", which came back from {code(answered.item.key.chapter)}" if answered.recalled else ""
    yield f"### {code(answered.item.key.checkpoint)}{came}"
    yield escaped(answered.item.checkpoint.prompt)
    if offered := answered.item.offered:
        yield _listed(map(escaped, offered))
    for number, attempt in enumerate(answered.attempts, start=1):
        yield from _attempt(
            answered, attempt, "My answer" if number == 1 else f"My answer, after {_counted(number - 1, 'reset')}"
        )
    yield f"**How it stands:** {answered.verdict}."
    for note in answered.notes:
        yield from _note(note)


def _attempt(answered: Answered, attempt: Attempt, lead: str) -> Iterator[str]:
    yield from _given(answered, attempt.commit, lead)
    if attempt.revote is not None:
        yield from _given(answered, attempt.revote, "My second vote")
    remarks = []
    if attempt.reveal is not None:
        remarks.append("I have seen the reveal.")
    for row in attempt.rows:
        named = "no row" if row.row is None else f"row {row.row}"
        remarks.append(
            f"I said that {named} differed from my prediction; the ledger {'agrees' if row.held else 'does not'}."
        )
    if attempt.checked is not None:
        found = ", ".join(map(code, attempt.checked.points)) or "none"
        remarks.append(f"Of the worked answer's points I found these in mine: {found}.")
    if remarks:
        yield " ".join(remarks)
    if attempt.reset is not None:
        yield from _reset(attempt.reset)


def _reset(reset: Reset) -> Iterator[str]:
    yield f"I took this answer back{', because:' if reset.why else '.'}"
    if reset.why:
        yield quoted(reset.why)


def _note(note: Note) -> Iterator[str]:
    yield "**I noted:**"
    yield quoted(note.text)


def _sure(given: Given) -> str:
    return "" if given.confidence is None else f" ({given.confidence})"


def _given(answered: Answered, given: Given, lead: str) -> Iterator[str]:
    sure = _sure(given)
    if answered.item.kind is AnswerKind.TEXT:
        yield f"**{lead}{sure}:**"
        yield from map(quoted, answered.item.said(given.answer))
        return
    said = answered.item.said(given.answer)
    if len(said) == 1:
        yield f"**{lead}{sure}:** {escaped(said[0]) or '(blank)'}"
    else:
        yield f"**{lead}{sure}:**"
        yield _listed(map(escaped, said), numbered=answered.item.kind is AnswerKind.ORDER)


def _stray(stray_answers: StrayAnswers) -> Iterator[str]:
    """What is left of a question that is not here: the learner's words, as they stand in the file."""
    yield f"### {code(str(stray_answers.key))}"
    yield f"Not judged: {escaped(stray_answers.why)}."
    for record in stray_answers.records:
        match record:
            case Commit() | Revote():
                yield f"**{'My answer' if isinstance(record, Commit) else 'My second vote'}{_sure(record)}:**"
                yield quoted(record.answer if isinstance(record.answer, str) else repr(record.answer))
            case Reset():
                yield from _reset(record)
            case Note():
                yield from _note(record)
            case _:
                pass


def _exercise(exercise_tries: ExerciseTries) -> Iterator[str]:
    yield f"### The exercise {code(exercise_tries.key.checkpoint)}"
    yield _listed((f"{tried.held} of {tried.of} situations held" for tried in exercise_tries.tries), numbered=True)
    for note in exercise_tries.notes:
        yield from _note(note)


def _beliefs(title: str, beliefs: tuple[WorkedBelief, ...]) -> Iterator[str]:
    if beliefs:
        yield f"## {title}"
        yield _listed(map(_belief, beliefs))


def _belief(worked_belief: WorkedBelief) -> str:
    shed = "" if worked_belief.shed_by is None else f" I knew better in {code(worked_belief.shed_by)}."
    return f"{escaped(worked_belief.says)} I chose it in {', '.join(map(code, worked_belief.shown_in))}.{shed}"


def _listed(lines: Iterable[str], *, numbered: bool = False) -> str:
    return "\n".join(f"{number}. {line}" if numbered else f"- {line}" for number, line in enumerate(lines, start=1))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
