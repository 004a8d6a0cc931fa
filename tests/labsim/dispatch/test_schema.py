"""Schemas of devices: what they refuse, what is mended first, and schemas that are wrong (dispatch/D-37,
dispatch/D-38, dispatch/D-41).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from dispatch_kit import SLOT_SCHEMA, played, slot_tool

from labsim.dispatch.arguments import InvalidArguments, Repair, repaired, validated
from labsim.dispatch.devices import Device
from labsim.dispatch.events import ContentRead
from labsim.dispatch.schema import TYPES, Issue, SchemaError, check_schema, issues
from labsim.errors import CaseError
from labsim.reading.reading import parse_case

SLOT = slot_tool()
ACT = {"action": "inspect"}
A_TYPE = f"Use one of: {', '.join(TYPES)}."


def of(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": schema}


# A value


def test_every_fault_has_a_line_of_its_own():
    """dispatch/D-37: in the schema's order, with the place in the arguments."""
    schema = of(rows={"type": "array", "items": of(depth={"type": "integer", "minimum": 1})}, lot={"const": 7})
    value = {"rows": [{"depth": 0}, {"depth": "x"}], "lot": 8}

    assert list(issues(schema, value)) == [
        Issue("rows[0].depth", "must be at least 1"),
        Issue("rows[1].depth", "expected integer, received string"),
        Issue("lot", "must be 7"),
    ]


@pytest.mark.parametrize(
    ("value", "types", "holds"),
    [
        (True, "boolean", True),
        (True, "integer", False),
        (True, "number", False),
        (1, "boolean", False),
        (3.0, "integer", True),
        (3.5, "integer", False),
        (3.5, "number", True),
        (None, "null", True),
        (None, "object", False),
        ([], "array", True),
        ([], "object", False),
        ("x", ["integer", "string"], True),
        ({}, [], True),
    ],
)
def test_types_are_those_of_json(value: Any, types: Any, holds: bool):
    """dispatch/D-41: a boolean is no number, although Python thinks so; no type named allows all."""
    schema = {"type": types} if types else {}

    assert (list(issues(schema, value)) == []) is holds


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5, "fits none of the alternatives"),
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, 5, "must fit exactly one of the alternatives"),
        ({"allOf": [{"type": "string"}, {"maxLength": 2}]}, "abc", "must have a length of at most 2"),
        ({"type": "array", "minItems": 1}, [], "must have a number of items of at least 1"),
        (of() | {"additionalProperties": {"type": "string"}}, {"a": 5}, "expected string, received number"),
        (of() | {"additionalProperties": False}, {"a": 5}, "is not a property of this schema"),
    ],
)
def test_the_rest_of_the_subset_is_checked(schema: dict[str, Any], value: Any, problem: str):
    """dispatch/D-37: the keywords beside type and enum."""
    check_schema(schema)

    assert [issue.problem for issue in issues(schema, value)] == [problem]


# Repairs


@pytest.mark.parametrize(
    ("given_args", "values", "repair"),
    [
        ({**ACT, "count": "3"}, {**ACT, "count": 3}, Repair("count", "text read as a number")),
        ({**ACT, "note": 5}, {**ACT, "note": "5"}, Repair("note", "turned into text")),
        ({**ACT, "note": True}, {**ACT, "note": "true"}, Repair("note", "turned into text")),
        (
            {**ACT, "note": ["a", 1]},
            {**ACT, "note": '["a",1]'},
            Repair("note", "turned into JSON text"),
        ),
        (
            {**ACT, "count": None},
            ACT,
            Repair("count", "dropped, since null stands for nothing"),
        ),
        (
            {**ACT, "extra": 1},
            ACT,
            Repair("extra", "dropped, since the schema forbids it"),
        ),
        (
            {**ACT, "__proto__": {"a": 1}},
            ACT,
            Repair("__proto__", "dropped, since the schema forbids it"),
        ),
    ],
)
def test_what_was_recorded_as_mended_is_mended(given_args: dict[str, Any], values: dict[str, Any], repair: Repair):
    """dispatch/D-38 (README, item 17): before any fault is looked for, and into a new object."""
    before = json.dumps(given_args)
    made, repairs = repaired(SLOT_SCHEMA, given_args)

    assert (made, repairs) == (values, (repair,))
    assert json.dumps(given_args) == before
    assert validated(SLOT, given_args).values == values


@pytest.mark.parametrize(
    "value",
    [{"count": "3.5"}, {"count": "three"}, {"count": ""}, {"count": True}, {"count": "1e999"}, {"action": None}],
)
def test_what_cannot_be_mended_is_left_for_validation_to_refuse(value: dict[str, Any]):
    """dispatch/D-38 and dispatch/D-41: no guess is made, and a required null stays null."""
    made, repairs = repaired(SLOT_SCHEMA, value)

    assert made is value
    assert repairs == ()
    with pytest.raises(InvalidArguments):
        validated(SLOT, value)


def test_an_open_schema_keeps_what_it_does_not_know():
    """dispatch/D-38 (dispatch-0510): unknown keys are dropped only where the schema forbids extras."""
    schema = of(action={"type": "string"})

    assert repaired(schema, {"action": "inspect", "extra": None}) == ({"action": "inspect", "extra": None}, ())


def test_repairs_reach_into_lists_and_objects():
    """dispatch/D-38: with the place in the arguments."""
    schema = of(rows={"type": "array", "items": {"type": "integer"}}, slot=of(note={"type": "string"}))

    assert repaired(schema, {"rows": [1, "2"], "slot": {"note": 3}}) == (
        {"rows": [1, 2], "slot": {"note": "3"}},
        (Repair("rows[1]", "text read as a number"), Repair("slot.note", "turned into text")),
    )


def test_the_ledger_says_what_was_mended():
    """The real program mends silently; the desk does not."""
    report = played(content='{"action":"inspect","count":"3","extra":1}', mode="yolo")

    assert [event for event in report.ledger if isinstance(event, ContentRead)] == [
        ContentRead(
            at_ms=0,
            tool_call_id="call-1",
            device="seed_slot",
            args={"action": "inspect", "count": 3},
            repairs=("count: text read as a number", "extra: dropped, since the schema forbids it"),
        )
    ]


# A schema that is itself wrong


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ([], "the schema: [] is not a schema. Use a JSON object."),
        ({"type": "integr"}, f'type: "integr" is not allowed here. {A_TYPE}'),
        ({"type": []}, f"type: [] is not allowed here. {A_TYPE}"),
        (of(count=5), "properties.count: 5 is not a schema. Use a JSON object."),
        (of(count={"type": ["null", 1]}), f"properties.count.type: 1 is not allowed here. {A_TYPE}"),
        ({"properties": []}, "properties: [] is not allowed here. Use an object of schemas."),
        ({"required": "action"}, 'required: "action" is not allowed here. Use a list of property names.'),
        ({"enum": []}, "enum: [] is not allowed here. Use a list of values, not an empty one."),
        ({"items": [{}]}, "items: [{}] is not a schema. Use a JSON object."),
        ({"anyOf": {}}, "anyOf: {} is not allowed here. Use a list of schemas, not an empty one."),
        ({"allOf": [{"minimum": True}]}, "allOf[0].minimum: true is not allowed here. Use a number."),
        ({"additionalProperties": 1}, "additionalProperties: 1 is not a schema. Use a JSON object."),
    ],
)  # fmt: skip
def test_a_wrong_schema_is_refused_with_the_place_in_it(schema: Any, message: str):
    """A schema is checked before anything is checked by it: a device with a wrong one cannot even be made."""
    with pytest.raises(SchemaError) as caught:
        Device(tool=slot_tool(parameters=schema))

    assert str(caught.value) == message


def test_an_unknown_keyword_is_refused_with_those_that_are_known():
    """JSON Schema would ignore it; here a schema that says more than is checked would teach something false."""
    with pytest.raises(
        SchemaError, match=r"^properties\.note\.pattern: the keyword 'pattern' is not known here\. Known: "
    ):
        check_schema(of(note={"pattern": "^a"}))


def test_a_schema_may_say_more_for_its_readers():
    """Annotations check nothing and are allowed anywhere."""
    check_schema({"$schema": "x", "title": "Slot", **of(note={"description": "free text", "default": ""})})


def test_a_bottomless_schema_is_refused():
    """No recursion into it either."""
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"items": schema}

    with pytest.raises(SchemaError, match="the schema is nested too deeply"):
        check_schema(schema)


def test_a_case_with_a_wrong_schema_is_refused_with_its_place():
    """A CaseError, before anything is played."""
    given_schema = of(count={"type": "integr"})
    raw = {"id": "x", "scenario": "dispatch", "given": {"args": {}, "schema": given_schema}}

    with pytest.raises(CaseError) as caught:
        parse_case(raw, "mine.json")

    assert str(caught.value) == (
        'mine.json.given.schema.properties.count.type: "integr" is not allowed here. '
        f"Use one of: {', '.join(TYPES)}."
    )
