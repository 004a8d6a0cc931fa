"""How the recorded host sees JSON values: blanks, truth, text, compact JSON, equality, copies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from labsim.js_values import copy_json, identical, own_keys, same, stringify, text_of, trim, truthy

DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=150)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
KEYS = st.text() | st.integers(0, 12).map(str)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("blank", ["\ufeff", "\u00a0", "\u2003", "\u2028", "\t", "\v", "\u3000"])
def test_what_the_host_counts_as_blank_is_trimmed(blank: str) -> None:
    """Recorded: resolve-3046. A byte order mark is a blank to the host, and none to Python."""
    assert trim(f"{blank}allow{blank}") == "allow"


@pytest.mark.parametrize("character", ["\x1c", "\x1f", "\x85", "\u180e", "\u200b"])
def test_what_only_python_or_nobody_counts_as_blank_stays(character: str) -> None:
    """Recorded: resolve-3070, -3094, -3118, -3142."""
    assert trim(f"{character}allow") == f"{character}allow"


@pytest.mark.parametrize("value", [{}, [], "0", "false", " ", -1, 0.5, float("inf"), True])
def test_these_hold_in_a_condition(value: object) -> None:
    """wrapper/W-9: an empty object returned by a handler counts, and erases what came before."""
    assert truthy(value) is True


@pytest.mark.parametrize("value", [None, UNSET, False, 0, 0.0, -0.0, "", float("nan")])
def test_these_do_not_hold_in_a_condition(value: object) -> None:
    """wrapper/W-9, wrapper/W-11: nothing, null, zero and the empty text are no answer."""
    assert truthy(value) is False


NUMBERS = [
    (0, "0"),
    (-0.0, "0"),
    (1.0, "1"),
    (100.0, "100"),
    (100.5, "100.5"),
    (-2.5, "-2.5"),
    (0.1, "0.1"),
    (1e-6, "0.000001"),
    (1.5e-6, "0.0000015"),
    (1e-7, "1e-7"),
    (-1.5e-7, "-1.5e-7"),
    (123e-9, "1.23e-7"),
    (5e-324, "5e-324"),
    (1e20, "100000000000000000000"),
    (1.2345678901234567e20, "123456789012345670000"),
    (2**64, "18446744073709552000"),
    (1e21, "1e+21"),
    (1.5e300, "1.5e+300"),
    (2**53, "9007199254740992"),
    (2**53 + 1, "9007199254740992"),
    (10**400, "Infinity"),
    (-(10**400), "-Infinity"),
    (float("inf"), "Infinity"),
    (float("-inf"), "-Infinity"),
    (float("nan"), "NaN"),
]


@pytest.mark.parametrize(("number", "text"), NUMBERS, ids=[text for _, text in NUMBERS])
def test_a_number_reads_as_the_host_prints_it(number: float, text: str) -> None:
    """Every number is a double with its shortest digits; exponents begin at 1e21 and at 1e-7."""
    assert text_of(number) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (UNSET, "undefined"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ({"a": 1}, "[object Object]"),
        ([], ""),
        ([1, None, "x", [2, UNSET], {}], "1,,x,2,,[object Object]"),
        (ValueError("why"), "why"),
    ],
)
def test_a_value_reads_as_the_host_would_show_it(value: object, text: str) -> None:
    """wrapper/W-12, wrapper/W-48: what is thrown and is no error is shown as its text."""
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (UNSET, "undefined"),
        ({"action": "publish", "n": 1.0}, '{"action":"publish","n":1}'),
        ({"é": "→", "quote": '"\\'}, '{"é":"→","quote":"\\"\\\\"}'),
        ({"control": "\x00\b\t\n\x1f\x7f\u2028"}, '{"control":"\\u0000\\b\\t\\n\\u001f\x7f\u2028"}'),
        ({"half": "\ud800x"}, '{"half":"\\ud800x"}'),
        ([float("nan"), float("inf"), UNSET, None], "[null,null,null,null]"),
        ({"there": 1, "not": UNSET}, '{"there":1}'),
        ({"b": 0, "10": 1, "9": 2, "01": 3, "-1": 4}, '{"9":2,"10":1,"b":0,"01":3,"-1":4}'),
        ((1, 2), "[1,2]"),
        ([ValueError("why")], '["why"]'),
    ],
)
def test_compact_json_is_spelled_as_the_host_spells_it(value: object, text: str) -> None:
    """approval/A-38: a prompt quotes its input, so the spelling shows."""
    assert stringify(value) == text


def test_only_whole_numbers_come_first_among_the_keys() -> None:
    """The host lists array indexes ascending, then the other keys as they were added."""
    listed = own_keys(dict.fromkeys(["b", "4294967295", "7", "07", "٣", "0", "", "a", "12345678901"]))

    assert listed == ["0", "7", "b", "4294967295", "07", "٣", "", "a", "12345678901"]


@pytest.mark.slow
@DETERMINISTIC
@given(JSON)
def test_compact_json_reads_back_as_the_same_value(value: Any) -> None:
    """What a prompt shows is the input, whatever the layout; a negative zero is the one thing lost."""
    assert same(json.loads(stringify(value), parse_int=float), value)


@DETERMINISTIC
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_number_means_the_same_double(number: float) -> None:
    """No digit is lost and none is made up."""
    assert float(text_of(number)) == number


@pytest.mark.parametrize(
    ("a", "b"), [(1, 1.0), ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}), (UNSET, UNSET), (None, None), ([], [])]
)
def test_equal_values_are_equal_whatever_the_order_of_keys(a: object, b: object) -> None:
    """wrapper/W-23: what a client approved is compared by value."""
    assert same(a, b)
    assert same(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [(True, 1), (False, 0), (None, UNSET), ({}, []), ("1", 1), ({"a": None}, {}), ([1, 2], [2, 1]), ({}, UNSET)],
)
def test_values_of_another_kind_are_never_equal(a: object, b: object) -> None:
    """wrapper/W-23: a key holding nothing equals only nothing, and true is not 1."""
    assert not same(a, b)
    assert not same(b, a)


def test_equal_texts_are_the_same_value_and_equal_objects_are_not() -> None:
    """wrapper/W-21: an equal copy of an object forfeits the bypass; of a text there are no copies."""
    action = {"action": "publish"}

    assert identical("".join(["pub", "lish"]), "publish")
    assert identical(1000.0, 1000)
    assert identical(action, action)
    assert not identical(action, dict(action))
    assert not identical([], [])
    assert not identical(True, 1)


@pytest.mark.slow
@DETERMINISTIC
@given(JSON)
def test_a_copy_is_equal_and_out_of_reach(value: Any) -> None:
    """The ledger keeps what was: no change to the original, however deep, shows in the copy."""
    before = stringify(value)
    copy = copy_json(value)
    _spoil(value)

    assert stringify(copy) == before


def _spoil(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _spoil(item)
        value.append("spoiled")
    elif isinstance(value, dict):
        for item in value.values():
            _spoil(item)
        value["spoiled"] = True
