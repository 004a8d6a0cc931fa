"""Checkpoint files are read strictly and checked by playing the cases; no file says which option is right."""

from __future__ import annotations

from typing import Any

import pytest
from desk_kit import BELIEFS, CASES, CHOICE, FILE, PAPER, beliefs, cases, changed, read

from labsim.errors import CaseError
from labsim.library import fixtures_dir
from labsim.play.performance import run
from labsim.play.report import FieldCheck
from workbook.chapter.chapter import chapter_files, chapter_ids
from workbook.check_chapter.checkpoints import check
from workbook.checkpoint.file import (
    ChoiceCheckpoint,
    PaperCheckpoint,
    content,
    parse_beliefs,
    parse_checkpoints,
    schema_text,
)
from workbook.checkpoint.judging import judge, judge_options
from workbook.desk.open import open_chapter
from workbook.ledgers.claims import FIELDS, event_kinds
from workbook.ledgers.field_rows import kinds_of, rows_of

# ------------------------------------------------------------------------------------------------------- reading


def test_a_file_is_read_into_typed_checkpoints_in_its_order():
    """Kind decides the class; what is left out has its default."""
    choice, paper = read().checkpoints

    assert isinstance(choice, ChoiceCheckpoint)
    assert isinstance(paper, PaperCheckpoint)
    assert [option.id for option in choice.options] == ["one", "two", "none"]
    assert (choice.options[1].belief, choice.options[1].counter) == (None, None)
    assert (paper.hints, paper.retest) == ((), None)


AT_CHOICE = "mini.json: checkpoints[0] (again)"
AT_ONE = f"{AT_CHOICE}.options[0] (one)"
MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": (
        changed(FILE, "checkpoints", 0, "options", 0, "predicts", "promts", to=1),
        f"{AT_ONE}.predicts: the key 'promts' is not known here. Did you mean 'prompts'?",
    ),
    "missing why": (
        changed(FILE, "checkpoints", 0, "options", 0, "why", drop=True),
        f"{AT_ONE}: the key 'why' is missing. Add 'why'.",
    ),
    "blank why": (
        changed(FILE, "checkpoints", 0, "options", 0, "why", to=" "),
        f"{AT_ONE}.why: the text is blank. Say something, or take the part out.",
    ),
    "blank hint": (
        changed(FILE, "checkpoints", 0, "hints", 1, to=""),
        f"{AT_CHOICE}.hints[1]: the text is blank. Say something, or take the part out.",
    ),
    "wrong type": (
        changed(FILE, "checkpoints", 0, "options", 0, "predicts", "prompts", to="1"),
        f"{AT_ONE}.predicts.prompts: expected `int`, got `str`. Use a whole number.",
    ),
    "unknown outcome": (
        changed(FILE, "checkpoints", 0, "options", 0, "predicts", "outcome", to="thrown"),
        f"{AT_ONE}.predicts.outcome: 'thrown' is not allowed here. "
        "Use one of: return, throw, error-result, throw-same-error.",
    ),
    "nothing predicted": (
        changed(FILE, "checkpoints", 0, "options", 0, "predicts", to={}),
        f"{AT_ONE}.predicts: nothing is predicted. Name at least one observed field, such as prompts.",
    ),
    "unknown event": (
        changed(FILE, "checkpoints", 0, "options", 0, "predicts", "events", to={"tool_cal": 1}),
        f"{AT_ONE}.predicts.events.tool_cal: no event is of this kind. Did you mean 'tool_call'?",
    ),
    "negative count": (
        changed(FILE, "checkpoints", 0, "options", 0, "predicts", "events", to={"tool_call": -1}),
        f"{AT_ONE}.predicts.events.tool_call: -1 is no count. Use 0 or more.",
    ),
    "unknown kind": (
        changed(FILE, "checkpoints", 0, "kind", to="choise"),
        f"{AT_CHOICE}.kind: 'choise' is not allowed here. Use one of: choice, fields, order, paper.",
    ),
    "one option": (
        changed(FILE, "checkpoints", 0, "options", to=CHOICE["options"][:1]),
        f"{AT_CHOICE}.options: 1 is too few to choose from. Give at least two options.",
    ),
    "same option twice": (
        changed(FILE, "checkpoints", 0, "options", to=[*CHOICE["options"], CHOICE["options"][0]]),
        f"{AT_CHOICE}.options[3].id: 'one' is already the id of [0]. Give each option an id of its own.",
    ),
    "same text twice": (
        changed(FILE, "checkpoints", 0, "options", 1, "text", to="One dialog."),
        f"{AT_CHOICE}.options[1].text: 'One dialog.' is already the text of [0]. "
        "Give each option a text of its own.",
    ),
    "scripted is none of them": (
        changed(FILE, "checkpoints", 0, "scripted", to="three"),
        f"{AT_CHOICE}.scripted: 'three' is not an option. Use one of: one, two, none.",
    ),
    "retest of itself": (
        changed(FILE, "checkpoints", 0, "retest", to="again"),
        f"{AT_CHOICE}.retest: 'again' is no other checkpoint of this file. Use one of: on-paper.",
    ),
    "same checkpoint twice": (
        changed(FILE, "checkpoints", to=[PAPER, PAPER]),
        "mini.json: checkpoints[1].id: 'on-paper' is already the id of [0]. Give each checkpoint an id of its own.",
    ),
    "blank worked answer": (
        changed(FILE, "checkpoints", 1, "worked", to="\n"),
        "mini.json: checkpoints[1] (on-paper).worked: the text is blank. Say something, or take the part out.",
    ),
    "another version": (
        changed(FILE, "schemaVersion", to=2),
        "mini.json: schemaVersion: 2 is not allowed here. Use one of: 1.",
    ),
}


@pytest.mark.parametrize(("file", "message"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_refused_with_place_finding_and_remedy(file: dict[str, Any], message: str):
    """One line: where it is, what was found there, what would do."""
    with pytest.raises(CaseError) as caught:
        read(file)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "mini.json: the file is empty. A case file is a JSON object with a list of cases."),
        (b"{,}", "mini.json: line 1, column 2: not JSON"),
        (b"[]", "mini.json: expected `object`, got `array`."),
    ],
)
def test_what_is_no_json_object_is_refused(data: bytes, message: str):
    """The same reader as for cases: strict about duplicate keys, encodings and the like."""
    with pytest.raises(CaseError) as caught:
        parse_checkpoints(data, "mini.json")

    assert str(caught.value).startswith(message)


def test_beliefs_are_read_by_id_and_no_id_twice():
    """A belief is named by many options, so it has one id and one wording."""
    assert list(beliefs()) == ["it-is-kept"]

    twice = changed(BELIEFS, "beliefs", to=BELIEFS["beliefs"] * 2)
    with pytest.raises(CaseError, match="already the id"):
        parse_beliefs(str(twice).replace("'", '"').encode(), "beliefs.json")


def test_the_schema_for_editors_is_the_one_made_from_the_code():
    """To make it: python -c 'from workbook.checkpoint.file import schema_text; print(schema_text(), end="")'"""
    kept = fixtures_dir() / "schema" / "checkpoints.schema.json"

    assert kept.read_text(encoding="utf-8") == schema_text()


def test_the_content_of_a_checkpoint_is_what_the_learner_was_asked():
    """Mending an explanation, a hint or a predicted field keeps the answers; rewording an option does not."""
    before = content(read().checkpoints[0])
    mended = changed(FILE, "checkpoints", 0, "options", 0, "why", to="You may think otherwise.")
    mended = changed(mended, "checkpoints", 0, "hints", to=[])
    reworded = changed(FILE, "checkpoints", 0, "options", 0, "text", to="Just one dialog.")

    assert content(read(mended).checkpoints[0]) == before
    assert content(read(reworded).checkpoints[0]) != before


# ------------------------------------------------------------------------------------------------------- judging


def test_an_option_is_judged_field_by_field_by_the_played_case():
    """Each predicted field stands beside the observed one; events are counted in the ledger."""
    checkpoint = read().checkpoints[0]
    assert isinstance(checkpoint, ChoiceCheckpoint)
    one, two, none = judge_options(checkpoint, run(cases()["twice"]))

    assert one.checks == (
        FieldCheck(field="effects", expected=2, observed=1, agrees=False),
        FieldCheck(field="prompts", expected=1, observed=2, agrees=False),
    )
    assert two.checks == (
        FieldCheck(field="prompts", expected=2, observed=2, agrees=True),
        FieldCheck(field="events.tool_call", expected=2, observed=2, agrees=True),
    )
    assert [judged.matches for judged in (one, two, none)] == [False, True, False]


def test_a_field_points_at_the_rows_that_show_it():
    """Counted from 1, as the tables number them; of how a case ended, only its last word."""
    report = run(cases()["twice"])

    assert rows_of("prompts", report) == (7, 19)
    assert rows_of("effects", report) == (10,)
    assert rows_of("outcome", report) == (22,)
    assert rows_of("events.tool_call", report) == (3, 15)
    assert rows_of("events.late_reply", report) == ()


def test_every_counted_field_of_a_call_points_at_events_that_exist():
    """Its rows are what a reveal holds against a wrong option."""
    counted = ("effects", "prompts", "toolCalls", "successfulCalls", "rpcRequests", "primitiveAttempts")
    told = ("outcome", "errorIncludes", "promptIncludes", "input", "tier", "policy", "source", "rule")

    assert set(counted) | set(told) < set(FIELDS)
    for field in (*counted, *told, "providerSafetyApproved"):
        assert kinds_of(field), field
        assert set(kinds_of(field)) <= event_kinds(), field


# ----------------------------------------------------------------------------------------------------- the check


def problems(file: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in check(read(file), cases().values(), beliefs())]


def test_a_chapter_whose_checkpoints_are_right_has_no_problem():
    """Exactly one option matches, each other has a belief and a case that contradicts it, and the claims hold."""
    assert problems(FILE) == []


HERE = "mini: checkpoints[0] (again)"
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no option matches": (
        changed(FILE, "checkpoints", 0, "options", 1, to={**CHOICE["options"][1], "predicts": {"prompts": 3}}),
        f"{HERE}.options: no option matches what twice shows. Mend what they predict: one has to match.",
    ),
    "two options match": (
        changed(FILE, "checkpoints", 0, "options", 0, to={**CHOICE["options"][0], "predicts": {"effects": 1}}),
        f"{HERE}.options: one, two all match what twice shows. Mend what they predict: one has to match.",
    ),
    "a wrong option without a belief": (
        changed(FILE, "checkpoints", 0, "options", 0, "belief", drop=True),
        f"{HERE}.options[0] (one): this option is wrong, and no belief says who would choose it. Add a belief.",
    ),
    "an unknown belief": (
        changed(FILE, "checkpoints", 0, "options", 0, "belief", to="it-is-lost"),
        f"{HERE}.options[0] (one).belief: 'it-is-lost' is not a known belief. See beliefs.json.",
    ),
    "a right option with a belief": (
        changed(FILE, "checkpoints", 0, "options", 1, "belief", to="it-is-kept"),
        f"{HERE}.options[1] (two).belief: this option is right, so nothing contradicts it. Remove it.",
    ),
    "a counter case that agrees": (
        changed(FILE, "checkpoints", 0, "options", 2, "counter", to="nobody"),
        f"{HERE}.options[2] (none).counter: nobody shows what this option predicts. Name a case that does not.",
    ),
    "a position instead of words": (
        changed(FILE, "checkpoints", 0, "options", 2, "why", to="As the second option says."),
        f"{HERE}.options[2].why: 'second option' points at a position, and positions move. "
        "Quote the option instead.",
    ),
    "a claim that does not hold": (
        changed(FILE, "checkpoints", 1, "claims", to={"prompts": 1}),
        "mini: checkpoints[1] (on-paper).claims.prompts: 1 is claimed, and twice shows 2. "
        "Mend the claim, and the worked answer with it.",
    ),
}


@pytest.mark.parametrize(("file", "message"), WRONG.values(), ids=WRONG)
def test_the_check_names_what_is_wrong_with_a_checkpoint(file: dict[str, Any], message: str):
    """It plays the cases; the file alone cannot say."""
    assert message in problems(file)


@pytest.mark.parametrize(("path", "field"), [((0, "case"), "case"), ((0, "options", 2, "counter"), "counter")])
def test_a_case_that_is_not_there_is_a_problem_with_its_place(path: tuple[str | int, ...], field: str):
    """The ids that look alike are named."""
    (message,) = problems(changed(FILE, "checkpoints", *path, to="twic"))

    assert f".{field}: No case has the id 'twic'. Did you mean twice" in message


@pytest.mark.parametrize("chapter_id", chapter_ids(fixtures_dir()))
def test_every_shipped_chapter_passes_the_check(chapter_id: str):
    """Each checkpoint has exactly one right option, found by playing, and no belief without its contradiction."""
    files = chapter_files(fixtures_dir(), chapter_id)
    if files.checkpoints is None:
        return
    desk = open_chapter(chapter_id)
    file = parse_checkpoints(files.checkpoints.read_bytes(), files.checkpoints.name)
    (beliefs_file,) = files.beliefs

    found = check(file, desk.case_records, parse_beliefs(beliefs_file.read_bytes(), beliefs_file.name))

    assert [str(problem) for problem in found] == []


def test_judging_reads_nothing_but_the_report():
    """The same prediction is right for one case and wrong for another."""
    checkpoint = read().checkpoints[0]
    assert isinstance(checkpoint, ChoiceCheckpoint)
    predicts = checkpoint.options[1].predicts

    assert all(one.agrees for one in judge(predicts, run(cases()["twice"])))
    assert not all(one.agrees for one in judge(predicts, run(cases()["once"])))
    assert len(CASES) == len(cases())
