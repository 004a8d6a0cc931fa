"""Work that leaves a learner's folder: what is in it, that it reads back, and that no text in it becomes markup."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import mistune
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from progress_kit import RIGHT, Doings, bank

from labsim.describe.ledger import one_line, visible
from workbook.checkpoint.kinds import Verdict
from workbook.learner.records import AnswerKind, Commit, Confidence, Key, Revote
from workbook.learner.store import Progress
from workbook.progress.export import BadName, CannotExport, NothingToExport, export, put_together
from workbook.progress.export_record import (
    NotMyWork,
    Work,
    WorkedBelief,
    WorkedCheckpoint,
    WorkedExercise,
    WorkedStray,
    encode_work,
    parse_work,
    without_confidence,
    work_of,
)
from workbook.progress.export_text import code, escaped, quoted, work_text
from workbook.progress.history import fold
from workbook.progress.questions import Stray

BANK = bank()
LEARNER = "learner-0123456789ab"


@pytest.fixture
def doings() -> Doings:
    return Doings(BANK)


def work(doings: Doings, name: str | None = None, *, confidence: bool = True) -> Work:
    records = tuple(doings.records) if confidence else without_confidence(tuple(doings.records))
    return work_of(fold(records, BANK), records, BANK, learner=LEARNER, name=name, with_confidence=confidence)


def text(doings: Doings, name: str | None = None) -> str:
    titles = {chapter.id: chapter.title for chapter in BANK.chapters}
    return work_text(work(doings, name), fold(doings.records, BANK), titles)


def studied(doings: Doings) -> Doings:
    """Some of everything."""
    doings.commit("again", "one", Confidence.CERTAIN)
    doings.vote_again("again", "two", Confidence.GUESS)
    doings.reveal("again")
    doings.row("again", 4, held=True)
    doings.reset("again", "I misread it")
    doings.commit("again", "two")
    doings.note("again", "Ask Bo.")
    doings.commit("kept", "both", Confidence.UNSURE)
    doings.answer("paper", "Both are\nasked about.")
    doings.check("paper", "each")
    doings.answer("counts", RIGHT["counts"])
    doings.answer("again", "two", asking="second")
    doings.tried("first", "task", 2, 5)
    doings.tried("first", "task", 5, 5)
    doings.elsewhere("greenhouse", "beds")
    return doings


# ------------------------------------------------------------------------------------------------- what is in it


def test_a_checkpoint_carries_its_text_its_answers_and_how_it_stands(doings: Doings):
    """All that a class report needs of one question, and nothing of a question that was not answered."""
    found = work(studied(doings)).checkpoints

    assert [(one.asked_in, one.chapter, one.checkpoint) for one in found] == [
        ("first", "first", "again"),
        ("first", "first", "kept"),
        ("first", "first", "paper"),
        ("second", "first", "again"),
        ("second", "second", "counts"),
    ]
    assert found[0] == WorkedCheckpoint(
        chapter="first",
        checkpoint="again",
        content=doings.item("again").key.content,
        asked_in="first",
        kind=AnswerKind.CHOICE,
        prompt="The question again?",
        offered=("The answer one.", "The answer none.", "The answer two."),
        first="one",
        first_said=("The answer one.",),
        first_confidence=Confidence.CERTAIN,
        first_right=False,
        second_vote="two",
        second_confidence=Confidence.GUESS,
        second_right=True,
        standing="two",
        verdict=Verdict.COMMITTED,
        right=None,
        resets=1,
        reveal_seen=True,
        row_named=True,
        beliefs=("kept",),
    )


def test_before_a_reveal_the_work_says_nothing_of_right_and_wrong(doings: Doings):
    """The file must not give away what its owner has not seen."""
    doings.commit("again", "one")
    doings.vote_again("again", "two")
    (found,) = work(doings).checkpoints

    assert (found.first_right, found.second_right, found.right, found.beliefs) == (None, None, None, ())
    assert work(doings).beliefs_held == ()


def test_exercises_beliefs_and_strays_come_along(doings: Doings):
    """Tries in order, beliefs with their words, and what could not be judged with its reason."""
    found = work(studied(doings))
    stray = doings.records[-1].key

    assert found.exercises == (WorkedExercise(chapter="first", exercise="task", held=(2, 5), of=(5, 5)),)
    assert found.beliefs_held == ()
    assert found.beliefs_shed == (
        WorkedBelief(id="kept", says="A yes is kept.", shown_in=("first/again",), shed_by="second/counts"),
    )
    assert found.strays == (
        WorkedStray(chapter="greenhouse", checkpoint="beds", content=stray.content, why=Stray.NOT_INSTALLED),
    )


def test_confidence_can_be_left_out(doings: Doings):
    """Then it is nowhere in either file: not of a commit, not of a second vote, not in the records."""
    found = work(studied(doings), confidence=False)

    assert not found.with_confidence
    assert {one.first_confidence for one in found.checkpoints} == {None}
    assert {r.confidence for r in found.records if isinstance(r, Commit | Revote)} == {None}
    for level in Confidence:
        assert f'"{level}"' not in encode_work(found).decode()


# ------------------------------------------------------------------------------------------------------- reading


def test_work_reads_back_as_it_was_written(doings: Doings):
    """The same record, and the same bytes again; folding its records gives what the learner sees."""
    written = work(studied(doings), "Ada")
    data = encode_work(written)
    read = parse_work(data, "my-work.json")

    assert read == written
    assert encode_work(read) == data
    assert fold(read.records, BANK) == fold(doings.records, BANK)


def changed(data: bytes, **fields: object) -> bytes:
    return json.dumps({**json.loads(data), **fields}).encode()


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda data: b"", "this is not work that `workbook export` wrote"),
        (lambda data: data[: len(data) // 2], "this is not work that `workbook export` wrote"),
        (lambda data: b"\xff" + data, "this is not work that `workbook export` wrote"),
        (lambda data: b'{"cells": []}', "this is not work that `workbook export` wrote"),
        (lambda data: changed(data, format="other"), "its format is 'other'"),
        (lambda data: changed(data, version=2), "a newer edition of the workbook wrote this (version 2)"),
        (lambda data: changed(data, version="1"), "this is not work that `workbook export` wrote"),
        (lambda data: changed(data, mood="calm"), "unknown field `mood`"),
        (lambda data: changed(data, learner="Ada"), "'Ada' is no pseudonym"),
        (
            lambda data: changed(data, records=[{"record": "mood"}]),
            "Invalid value 'mood' - at `$.records[0].record`",
        ),
        (lambda data: changed(data, checkpoints=[{}]), "missing required field"),
    ],
)
def test_what_is_no_work_is_refused_with_the_place(doings: Doings, damage, found: str):
    """Strict: a damaged, foreign or newer file is named, with what is wrong and where."""
    data = damage(encode_work(work(studied(doings))))

    with pytest.raises(NotMyWork, match=re.escape(found)) as refused:
        parse_work(data, "bo.json")
    assert str(refused.value).startswith("bo.json: ")


_NAMES = st.sampled_from(["again", "kept", "paper", "quiet"])
_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.tuples(st.sampled_from(["commit", "reveal", "reset", "note", "vote"]), _NAMES, _TEXT)),
    name=st.none() | _TEXT,
)
def test_any_work_reads_back(steps: list[tuple[str, str, str]], name: str | None):
    """Whatever a learner did and wrote: read(write(work)) == work, byte for byte the second time."""
    doings = Doings(BANK)
    for act, checkpoint, words in steps:
        match act:
            case "commit":
                doings.commit(checkpoint, words)
            case "vote":
                doings.vote_again(checkpoint, words)
            case "reveal":
                doings.reveal(checkpoint)
            case "reset":
                doings.reset(checkpoint, words)
            case _:
                doings.note(checkpoint, words)
    written = work(doings, name)

    assert parse_work(encode_work(written), "x") == written
    assert text(doings, name) == text(doings, name)


# ---------------------------------------------------------------------------------------------------- as Markdown


def test_the_markdown_reads_well(doings: Doings):
    """The whole history, in words, in the order in which it happened."""
    doings.commit("again", "one", Confidence.CERTAIN)
    doings.vote_again("again", "two", Confidence.GUESS)
    doings.reveal("again")
    doings.row("again", 4, held=True)
    doings.reset("again", "I misread it")
    doings.commit("again", "two")
    doings.note("again", "Ask Bo.")

    assert (
        text(doings, "Ada")
        == """\
# My work in the Cedar Workbook

- Learner: `learner-0123456789ab`
- Name: `Ada`

## Chapter first

### `again`

The question again?

- The answer one.
- The answer none.
- The answer two.

**My answer (certain):** The answer one.

**My second vote (guess):** The answer two.

I have seen the reveal. I said that row 4 differed from my prediction; the ledger agrees.

I took this answer back, because:

```text
I misread it
```

**My answer, after 1 reset:** The answer two.

**How it stands:** committed.

**I noted:**

```text
Ask Bo.
```

## What I may still believe

- A yes is kept. I chose it in `first/again`.
"""
    )


_RENDER = mistune.create_markdown(
    escape=False, plugins=["table", "strikethrough", "url", "task_lists", "footnotes", "math"]
)
_OURS = {"h1", "h2", "h3", "p", "ul", "ol", "li", "code", "pre", "strong"}
_TAGS = re.compile(r"<\s*/?\s*([a-zA-Z!?][\w-]*)")
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</code></pre><script>x</script>",
    "```\n\n# A title\n\n<b>bold</b>\n```",
    "````\n~~~\n```text\n<i>\n",
    "[click](javascript:alert(1)) ![pic](http://example.org/x.png)",
    "https://example.org www.example.org <https://example.org> mailto:a@example.org",
    "# title\n===\n---\n> quote\n* item\n1. item\n| a | b |\n|---|---|\n| c | d |",
    "    indented\n\tcode",
    "*a* _b_ **c** ~~d~~ `e` $f$ $$g$$ [^1] [ ] &lt; &#60;script&#62; <!-- c -->",
    "`",
    "``",
    " `` ",
    "\\",
    "\\`",
    "a\\\n",
    "\x1b[31m\x00\u202e\r\n",
    "-",
    "+ x",
    "=",
    "1.",
    "1) x",
    "- [x] done",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_a_learner_wrote_becomes_markup(doings: Doings, hostile: str):
    """Free text, a reason, a note and a name: in the rendered page they are text, character for character."""
    doings.answer("paper", hostile)
    doings.note("paper", hostile)
    doings.reset("paper", hostile)
    page = str(_RENDER(text(doings, hostile)))

    assert {tag.lower() for tag in _TAGS.findall(page)} <= _OURS
    assert page.count("<h1>") == 1
    assert page.count("<h2>") == 1
    assert page.count("<pre>") == 3
    assert page.count("</ul>") == 1


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(words=_TEXT)
@example("a\n```\n# b")
@example("`` ` ``")
def test_any_text_is_shown_as_it_is(words: str):
    """In all three ways in which text is put in, exactly the text comes out, and no element of its own."""
    for made, wraps, shown in (
        (quoted(words), "pre", visible(words)),
        (f"- {code(words)}", "li", one_line(words) if one_line(words).strip() else "(blank)"),
        (f"- {escaped(words)}", "li", visible(words)),
    ):
        page = str(_RENDER(made))
        assert {tag.lower() for tag in _TAGS.findall(page)} <= {wraps, "ul", "code"}
        assert html.unescape(re.sub(r"<[^>]*>", "", page)).split() == shown.split()


@pytest.mark.parametrize("hostile", HOSTILE)
def test_the_words_of_a_chapter_are_escaped_too(hostile: str):
    """A prompt or an option comes from an instructor; it is one line of text, and keeps its characters."""
    page = str(_RENDER(f"{escaped(hostile)}\n"))

    assert {tag.lower() for tag in _TAGS.findall(page)} <= {"p"}


def test_ordinary_words_are_not_disfigured():
    """What people write most of the time reads in the file as they wrote it."""
    for said in ("Twice, once for each call.", "How many dialogs (in all)?", "It's the user's deny: no."):
        assert escaped(said) == said


# ------------------------------------------------------------------------------------------------------ the files


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    made = Progress(tmp_path / "study")
    key = Key.of("greenhouse", "beds", "asked once")
    made.commit(key, "Both <b>beds</b>.", kind=AnswerKind.TEXT, confidence=Confidence.CERTAIN)
    made.reset(key, "no")
    return made


def test_two_files_are_written_and_the_same_answers_give_the_same_bytes(progress: Progress):
    """Beside the answers, named my-work; a second export changes nothing."""
    first = export(progress, bank=BANK)
    written = first.markdown.read_bytes(), first.json.read_bytes()
    again = export(progress, bank=BANK)

    assert (again.markdown, again.json) == (progress.folder / "my-work.md", progress.folder / "my-work.json")
    assert (again.markdown.read_bytes(), again.json.read_bytes()) == written
    assert parse_work(written[1], "x") == first.work == again.work
    assert first.work.learner == progress.pseudonym()
    assert first.work.name is None
    assert sorted(path.name for path in progress.folder.iterdir()) == [
        "cedar-progress.jsonl",
        "cedar-progress.lock",
        "my-work.json",
        "my-work.md",
    ]


def test_new_answers_and_a_name_bring_the_files_up_to_date(progress: Progress):
    """Our own, unchanged files are written over."""
    export(progress, bank=BANK)
    progress.note(Key.of("greenhouse", "beds", "asked once"), "more")
    found = export(progress, bank=BANK, name="Ada", with_confidence=False)

    assert b"`Ada`" in found.markdown.read_bytes()
    assert parse_work(found.json.read_bytes(), "x").name == "Ada"
    assert len(found.work.records) == 3


@pytest.mark.parametrize("to", ["elsewhere", "elsewhere.md", "elsewhere.json", "v1.2"])
def test_another_place_can_be_named(progress: Progress, tmp_path: Path, to: str):
    """With or without an ending, and a dot in a name is a part of the name."""
    found = export(progress, bank=BANK, to=tmp_path / to)

    stem = "v1.2" if to == "v1.2" else "elsewhere"
    assert (found.markdown.name, found.json.name) == (f"{stem}.md", f"{stem}.json")
    assert found.markdown.is_file()
    assert found.json.is_file()


def not_ours(progress: Progress) -> dict[str, bytes]:
    """What may stand where an export would be written."""
    found = export(progress, bank=BANK, to=progress.folder / "mine")
    text_, data = found.markdown.read_bytes(), found.json.read_bytes()
    other = Progress(progress.folder / "other")
    other.commit(Key.of("greenhouse", "beds", "asked once"), "x")
    theirs = export(other, bank=BANK)
    return {
        "somebody's notes": b"# My work\n",
        "nothing": b"",
        "an export with a remark": text_.replace(b"Both", b"Both of the"),
        "an export with a line added": text_ + b"More.\n",
        "another learner's text": theirs.markdown.read_bytes(),
        "another learner's data": theirs.json.read_bytes(),
        "data by hand": data.replace(b'"version":1', b'"version": 1'),
        "no text": b"\xff\xfe",
    }


@pytest.mark.parametrize("suffix", [".md", ".json"])
def test_a_file_that_is_not_ours_is_never_written_over(progress: Progress, suffix: str):
    """Foreign, of another learner, or changed by hand: it stays, and neither file is written."""
    for data in not_ours(progress).values():
        there = progress.folder / f"my-work{suffix}"
        there.write_bytes(data)

        with pytest.raises(CannotExport, match=r"left as it is\. Nothing was written\. Name another place: --to"):
            export(progress, bank=BANK)
        assert there.read_bytes() == data
        other = {".md": ".json", ".json": ".md"}[suffix]
        assert not (progress.folder / f"my-work{other}").exists()


def test_a_place_that_cannot_be_written_is_told(progress: Progress, tmp_path: Path):
    """No folder there, or a folder in the place of the file: said plainly, and nothing is left behind."""
    (tmp_path / "taken.md").mkdir()

    with pytest.raises(CannotExport, match=r"No such file or directory\. Nothing was written"):
        export(progress, bank=BANK, to=tmp_path / "nowhere" / "work")
    with pytest.raises(CannotExport, match="cannot be read"):
        export(progress, bank=BANK, to=tmp_path / "taken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study", "taken.md"]


def test_a_folder_without_answers_is_left_as_it_is(tmp_path: Path):
    """Nothing to export: no pseudonym is drawn, and no file is made."""
    with pytest.raises(NothingToExport, match="holds no answers yet"):
        export(Progress(tmp_path))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "\x1b[31m", "\udcff"])
def test_what_is_no_name_is_refused(progress: Progress, name: str):
    """A name is one line of text that can be read."""
    with pytest.raises(BadName, match="is no name"):
        export(progress, bank=BANK, name=name)


def test_the_markdown_says_how_sure_only_if_it_may(progress: Progress):
    """Left out means left out of both files."""
    for with_confidence, there in ((True, True), (False, False)):
        work_, data = put_together(progress, BANK, learner=LEARNER, name=None, with_confidence=with_confidence)
        assert (b"certain" in msgspec.json.encode(work_)) is there
        assert (b"(certain)" in data) is there
        assert b"\nBoth <b>beds</b>.\n" in data
