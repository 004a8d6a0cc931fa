"""The content of a dispatch: help, parsing, the intent, every refusal (dispatch/D-18, dispatch/D-30 to
dispatch/D-37, dispatch/D-39, dispatch/D-40, dispatch/D-56).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from dispatch_kit import INSPECT, SLOT_DOCS, SLOT_SCHEMA, Desk, error_text, played, slot_tool
from hypothesis import example, given
from hypothesis import strategies as st

from labsim.dispatch.arguments import ContentRefused, read_arguments, validated
from labsim.dispatch.content import DEEPEST, LONGEST, NotJson, asks_for_help, parse_json, without_anchors
from labsim.dispatch.json_complaint import complaint
from labsim.dispatch.schema import TYPES, declares, issues
from labsim.events.call import CallStarted, Execute
from labsim.tool import Tool

SLOT = slot_tool()
A_TYPE = f"Use one of: {', '.join(TYPES)}."
BOTTOMLESS = '{"action":' * 10_000 + "1" + "}" * 10_000
HEADER = 'Invalid args for xd://seed_slot: Validation failed for tool "seed_slot":\n'


def refused(content: str, tool: Tool = SLOT) -> tuple[str, str]:
    """The rule and the message by which content is refused."""
    with pytest.raises(ContentRefused) as caught:
        read_arguments(tool, content)
    return caught.value.rule, str(caught.value)


def of(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": schema}


# Help


@pytest.mark.parametrize("content", ["", " ", "\n\t", "?", " ? ", "help", "HELP", " Help\n", "\ufeff", "\u00a0?"])
def test_help_is_nothing_a_question_mark_or_the_word(content: str):
    """dispatch/D-18: in any case, blanks around it; the answer is the docs, and the device is not reached."""
    desk = Desk([slot_tool()])
    result = desk.result("xd://seed_slot", content)

    assert asks_for_help(content)
    assert (result.content[0].text, result.details) == (SLOT_DOCS, {"xdev": {"tool": "seed_slot", "mode": "help"}})
    assert [event.tool_name for event in desk.seen(CallStarted)] == ["write"]


@pytest.mark.parametrize("content", ["??", "help me", "?help", "h elp", "\u0085", "{}"])
def test_what_only_resembles_help_is_content(content: str):
    """dispatch/D-18: and blanks are the host's, so U+0085 is none."""
    assert not asks_for_help(content)


# Parsing


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("??", "JSON Parse error: Unrecognized token '?'"),
        ("help me", 'JSON Parse error: Unexpected identifier "help"'),
        ('{"action":"inspect",}', "JSON Parse error: Property name must be a string literal"),
        ("{'action':'inspect'}", "JSON Parse error: Single quotes (') are not allowed in JSON"),
        ("{not-json", "JSON Parse error: Expected '}'"),
        ("{", "JSON Parse error: Expected '}'"),
        ('{"action":"inspect"} trailing', "JSON Parse error: Unable to parse JSON string"),
        ('\ufeff{"action":"inspect"}', "JSON Parse error: Unrecognized token '\ufeff'"),
        ("NaN", 'JSON Parse error: Unexpected identifier "NaN"'),
        ("undefined", 'JSON Parse error: Unexpected identifier "undefined"'),
    ],
)
def test_text_that_is_no_json_is_refused_in_the_parsers_words(content: str, sentence: str):
    """dispatch/D-30, dispatch/D-35 and dispatch/D-40: the parenthesis is the recorded engine's own sentence
    (dispatch-0349 to -0503).
    """
    assert refused(content) == (
        "dispatch/D-30",
        f"xd://seed_slot expects a JSON args object as content ({sentence}). Write `?` for docs.",
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "Unexpected EOF"),
        ("[1,", "Unexpected EOF"),
        ("[1 2]", "Expected ']'"),
        ("[,]", "Unexpected token ','"),
        ("[] []", "Unable to parse JSON string"),
        ('{"a" 1}', "Expected ':' before value in object property definition"),
        ('{"a":}', "Unexpected token '}'"),
        ('{"a":{},"b":[{}]]', "Expected '}'"),
        ('{"a":nul}', 'Unexpected identifier "nul"'),
        ("-", "Invalid number"),
        ('"a\\u12"', '"\\u12"" is not a valid unicode escape'),
        ('"a\\', "Unterminated string"),
        ("\ud800", "Unrecognized token '\\ud800'"),
    ],
)
def test_other_faults_get_a_sentence_about_their_first_misfit(content: str, sentence: str):
    """dispatch/D-35: these were not recorded; the sentence is of the same engine's kind, and nobody should rely on
    it.
    """
    assert complaint(content) == f"JSON Parse error: {sentence}"


@pytest.mark.parametrize(
    ("content", "rule", "kind"),
    [
        ("[]", "dispatch/D-31", "array"),
        ('[{"action":"inspect"}]', "dispatch/D-31", "array"),
        ("null", "dispatch/D-32", "object"),
        ("0", "dispatch/D-33", "number"),
        ("12", "dispatch/D-33", "number"),
        ('"inspect"', "dispatch/D-33", "string"),
        ("true", "dispatch/D-33", "boolean"),
    ],
)
def test_json_that_is_no_object_is_named_by_its_kind(content: str, rule: str, kind: str):
    """dispatch/D-31 to dispatch/D-33: null is an object to the host, and is said to be one."""
    assert refused(content) == (rule, f"xd://seed_slot content must be a JSON object, got {kind}.")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"action":NaN}', 'JSON Parse error: Unexpected identifier "NaN"'),
        ('{"action":-Infinity}', "JSON Parse error: Invalid number"),
        ('{"count":1e999}', "the number 1e999 is too large"),
        ('{"count":' + "9" * 5000 + "}", "the number 99999999999999999999… is too large"),
        (
            '{"a":' * (DEEPEST + 1) + "1" + "}" * (DEEPEST + 1),
            f"the content is nested more than {DEEPEST} levels deep",
        ),
        (BOTTOMLESS, f"the content is nested more than {DEEPEST} levels deep"),
        ("[" * 100_000, f"the content is nested more than {DEEPEST} levels deep"),
        (
            '{"note":"' + "x" * LONGEST + '"}',
            "the content has 1,000,011 characters, and at most 1,000,000 are read",
        ),
        ('{"note":"\\ud800"}', "the text holds half of a surrogate pair, U+D800"),
        ('{"\\udc00":"n"}', "the text holds half of a surrogate pair, U+DC00"),
        ('{"note":"\ud83d"}', "the text holds half of a surrogate pair, U+D83D"),
        ('{"note":"a\nb"}', "JSON Parse error: Unterminated string"),
        ('{"note":"a\\x"}', "JSON Parse error: Invalid escape character x"),
    ],
)
def test_hostile_content_is_refused_before_anything_is_built_from_it(content: str, sentence: str):
    """dispatch/D-30 and dispatch/D-39: NaN, numbers beyond the host's, bottomless nesting, sheer size, half a
    character, controls.
    """
    tool = slot_tool(parameters=None)
    result = Desk([tool]).result("xd://seed_slot", content)

    assert error_text(result) == (
        f"xd://seed_slot expects a JSON args object as content ({sentence}). Write `?` for docs."
    )
    assert result.details == {"xdev": {"tool": "seed_slot", "mode": "execute"}}
    assert tool.execute.calls == []


def test_the_deepest_content_that_is_read_is_still_played():
    """A limit that holds: one level less than too many is copied, judged and shown without trouble."""
    content = '{"a":' * DEEPEST + "1" + "}" * DEEPEST
    report = played(content=content, schema="open", approval="read", mode="yolo")

    assert report.observed["error"].startswith(HEADER + "  - action: is required\n")


def test_of_two_equal_keys_the_last_wins():
    """dispatch/D-39 (dispatch-0484): unlike in a case file, where they are refused."""
    assert read_arguments(SLOT, '{"action":"inspect","action":"publish"}').values == {"action": "publish"}


def test_surrogate_pairs_written_as_escapes_are_whole_characters():
    """Only half a pair is refused."""
    assert read_arguments(SLOT, '{"action":"inspect","note":"\\ud83c\\udf31"}').values["note"] == "🌱"


@pytest.mark.parametrize(
    ("content", "cleaned"),
    [
        ('1:{"action":"inspect"}', '{"action":"inspect"}'),
        ('[cards.json#A1B2]\n1:{\n2:"action":"inspect"\n3:}', '{\n"action":"inspect"\n}'),
        ("  12-14:a\n\n+ 7:b", "a\n\nb"),
        (INSPECT, INSPECT),
        ('{\n  "action": "inspect"\n}', '{\n  "action": "inspect"\n}'),
        ("1:a\nb", "1:a\nb"),
        ("[cards.json#A1B2]\nplain", "[cards.json#A1B2]\nplain"),
        ("", ""),
    ],
)
def test_copied_line_anchors_are_cleaned_off(content: str, cleaned: str):
    """dispatch/D-56: only if every written line has one; ordinary JSON is unaffected."""
    assert without_anchors(content) == cleaned


def test_anchors_are_cleaned_after_the_gate_and_before_the_dispatch():
    """dispatch/D-56 and dispatch/G5: the gate reads the raw text and finds no JSON; the dispatch reads the cleaned
    one.
    """
    tool = slot_tool()
    report = Desk([tool], policies={"seed_slot": "deny"}).result("xd://seed_slot", f"1:{INSPECT}")

    assert report.is_error is True
    assert error_text(report).startswith('Tool "seed_slot" is blocked by user policy.')


# Validation


@pytest.mark.parametrize(
    ("content", "problem", "received"),
    [
        ("{}", "action: is required", "{}"),
        ('{"i":"an intent"}', "action: is required", "{}"),
        ('{"note":"only"}', "action: is required", '{\n  "note": "only"\n}'),
        ('{"action":"INSPECT"}', "action: must be one of the allowed enum values", '{\n  "action": "INSPECT"\n}'),
        ('{"action":null}', "action: expected string, received null", '{\n  "action": null\n}'),
        (
            '{"action":"inspect","count":3.5}',
            "count: expected integer, received number",
            '{\n  "action": "inspect",\n  "count": 3.5\n}',
        ),
        (
            '{"action":5}',
            "action: must be one of the allowed enum values",
            '{\n  "original": {\n    "action": 5\n  },\n  "normalized": {\n    "action": "5"\n  }\n}',
        ),
        (
            '{"args":{"action":"inspect"}}',
            "action: is required",
            '{\n  "original": {\n    "args": {\n      "action": "inspect"\n    }\n  },\n  "normalized": {}\n}',
        ),
    ],
)
def test_a_schema_mismatch_says_what_was_wrong_shows_the_arguments_and_appends_the_docs(
    content: str, problem: str, received: str
):
    """dispatch/D-34 and dispatch/D-37, as recorded; where something was mended, both versions are shown
    (dispatch-0439).
    """
    assert refused(content) == (
        "dispatch/D-34",
        f"{HEADER}  - {problem}\n\nReceived arguments:\n{received}\n\n{SLOT_DOCS}",
    )


# The intent


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        (of(action={"type": "string"}), False),
        (of(i={"type": "string"}), True),
        (of() | {"required": ["i"]}, True),
        (of() | {"allOf": [{"properties": {"i": {}}}]}, True),
        (of() | {"anyOf": [{"required": ["i"]}, {}]}, True),
        (of(slot=of(i={})), False),
    ],
)
def test_an_intent_is_stripped_unless_the_schema_declares_it(schema: dict[str, Any], kept: bool):
    """dispatch/D-36: also through required lists and composed schemas, but only at the top level."""
    read = read_arguments(slot_tool(parameters=schema), '{"action":"inspect","i":"why"}')

    assert declares(schema, "i") is kept
    assert ("i" in read.values) is kept


# For any content


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
ACTION = st.sampled_from(["inspect", 5, None]) | JSON
SLOTTED = st.fixed_dictionaries({}, optional={"action": ACTION, **dict.fromkeys(["count", "note", "i", "x"], JSON)})
PIECES = st.lists(
    st.sampled_from([*'{}[],:"', "1", "-", "e9", "null", "NaN", "a", "\\", "u12", " ", "'", "\ufeff"])
)
ANY_CONTENT = (
    st.text(st.characters(), max_size=80) | PIECES.map("".join) | JSON.map(json.dumps) | SLOTTED.map(json.dumps)
)


def attempt(what: Callable[[], Any], refusal: type[Exception]) -> Any:
    """What a call gives, or its refusal; any other error is a failure of the test."""
    try:
        return what()
    except refusal as error:
        return error


@given(ANY_CONTENT)
@example("[" * 5000 + "]" * 5000)
@example('"' + "\\" * 5001)
def test_parsing_fails_only_in_the_one_way_it_says(content: str):
    """Any text gives a JSON value or NotJson with a sentence; what is given is what Python's parser gives, too."""
    value = attempt(lambda: parse_json(content), NotJson)

    if isinstance(value, NotJson):
        assert str(value)
    else:
        plain = json.loads(content, parse_int=lambda digits: int(digits) if len(digits) < 16 else float(digits))
        assert json.dumps(value) == json.dumps(plain)


@pytest.mark.slow
@given(ANY_CONTENT)
def test_a_complaint_is_made_of_any_text(content: str):
    """dispatch/D-35: a sentence of the parser's for every text, and no failure of its own."""
    assert complaint(content).startswith("JSON Parse error: ")


@pytest.mark.slow
@given(ANY_CONTENT)
def test_arguments_are_valid_or_refused(content: str):
    """dispatch/D-30 to dispatch/D-38: what is accepted fits the schema whole, and accepting it again changes
    nothing.
    """
    read = attempt(lambda: read_arguments(SLOT, content), ContentRefused)

    if isinstance(read, ContentRefused):
        assert read.rule in {"dispatch/D-30", "dispatch/D-31", "dispatch/D-32", "dispatch/D-33", "dispatch/D-34"}
    else:
        assert list(issues(SLOT_SCHEMA, read.values)) == []
        assert set(read.values) <= set(SLOT_SCHEMA["properties"])
        assert validated(SLOT, read.values).repairs == ()


@pytest.mark.slow
@given(ANY_CONTENT, st.sampled_from(["yolo", "write", "always-ask"]), st.booleans())
def test_nothing_is_executed_on_content_that_is_refused(content: str, mode: str, ui: bool):
    """dispatch/D-27: whatever the mode and whoever answers, refused content ends in a clear error and no effect."""
    answers = {"choices": ["Approve", "Approve"]} if ui else {"ui": False}
    report = played(content=content, mode=mode, **answers)
    read = attempt(lambda: read_arguments(SLOT, without_anchors(content)), ContentRefused)

    entered = sum(isinstance(event, Execute) for event in report.ledger)
    assert entered == report.observed["effects"] <= 1
    if isinstance(read, ContentRefused):
        assert entered == 0
        match report.observed["outcome"]:
            case "error-result":
                assert report.observed["error"] == str(read)
            case "return":
                assert asks_for_help(without_anchors(content))
            case _:
                assert "requires approval" in report.observed["error"]
