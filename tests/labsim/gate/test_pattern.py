"""The wildcard grammar and the text it is matched on (gate/P1 to gate/P9)."""

from __future__ import annotations

from functools import cache

import pytest
from gate_kit import rule
from hypothesis import given
from hypothesis import strategies as st

from labsim.gate.rules.rules import compact_json, matches, winner


def reference(pattern: str, text: str) -> bool:
    """The grammar, said as simply as it can be: what the first character of the pattern allows, and then the
    rest.
    """

    @cache
    def fits(p: int, t: int) -> bool:
        if p == len(pattern):
            return t == len(text)
        if pattern[p] == "*":
            return any(fits(p + 1, later) for later in range(t, len(text) + 1))
        if t == len(text):
            return False
        return (pattern[p] == "?" or pattern[p] == text[t]) and fits(p + 1, t + 1)

    return fits(0, 0)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        pytest.param("*/notes", "home/desk/notes", True, id="gate/P1-a-star-crosses-slashes"),
        pytest.param("a**b", "a/x/b", True, id="gate/P1-two-stars"),
        pytest.param("a***b", "ab", True, id="gate/P1-three-stars-are-one"),
        pytest.param("{a,b}", "{a,b}", True, id="gate/P3-braces-are-literal"),
        pytest.param("{a,b}", "a", False, id="gate/P3-and-no-choice"),
        pytest.param("[ab]", "a", False, id="gate/P3-brackets-are-literal"),
        pytest.param("[ab]", "[ab]", True, id="gate/P3-and-match-themselves"),
        pytest.param('"x":"a.b"', '"x":"aXb"', False, id="gate/P3-a-dot-is-literal"),
        pytest.param("a?c", "abc", True, id="gate/P2-one-character"),
        pytest.param("a?c", "ac", False, id="gate/P2-and-not-none"),
        pytest.param("a?c", "aéc", True, id="gate/P2-a-character-and-not-a-byte"),
        pytest.param("a?c", "a🌱c", True, id="gate/P2-beyond-the-first-plane-too"),
        pytest.param("cargo", "cargo test", False, id="gate/P4-anchored-at-the-end"),
        pytest.param("test", "cargo test", False, id="gate/P4-anchored-at-the-start"),
        pytest.param("*cargo*", "a cargo test", True, id="gate/P4-a-fragment-has-stars-around-it"),
        pytest.param("", "", True, id="gate/P5-empty-matches-empty"),
        pytest.param("", "x", False, id="gate/P5-and-nothing-else"),
        pytest.param("*", "", True, id="gate/P5-a-star-matches-nothing-too"),
        pytest.param("?", "", False, id="gate/P5-a-question-mark-does-not"),
        pytest.param("*a*b", "xaybzb", True, id="gate/P6-backtracks"),
        pytest.param("*a*b", "xaybz", False, id="gate/P6-and-gives-up"),
        pytest.param("*b?c*", "abxbyc", True, id="gate/P6-past-a-false-start"),
        pytest.param("*absent*", "something else", False, id="gate/P8-absent-text"),
        pytest.param("Files", "files", False, id="gate/P6-case-counts"),
        pytest.param("a\\*", "a*", False, id="gate/P3-there-is-no-escape"),
        pytest.param("a\\*", "a\\xyz", True, id="gate/P3-a-backslash-is-literal"),
        pytest.param("a*\nb", "ax\nb", True, id="gate/P3-a-line-break-is-literal"),
        pytest.param("a*b", "a\nb", True, id="gate/P1-and-covered-by-a-star"),
    ],
)
def test_the_grammar(pattern: str, text: str, fits: bool):
    """gate/P1 to gate/P6: two wildcards, everything else literal, the whole text, case and all."""
    assert matches(pattern, text) is fits
    assert reference(pattern, text) is fits


SMALL = st.text(alphabet="ab*?/é", max_size=12)


@given(pattern=SMALL, text=SMALL)
def test_the_matcher_agrees_with_a_naive_reference(pattern: str, text: str):
    """gate/P1 to gate/P6: a match is found whenever there is one, and never otherwise."""
    assert matches(pattern, text) is reference(pattern, text)


@given(text=st.text(max_size=40), cuts=st.lists(st.integers(0, 40), max_size=4))
def test_stars_put_into_a_text_still_match_it(text: str, cuts: list[int]):
    """gate/P1: a star matches nothing, too, wherever it stands."""
    pattern = text.replace("*", "?")
    for cut in cuts:
        pattern = f"{pattern[:cut]}*{pattern[cut:]}"

    assert matches(pattern, text)


def test_a_hostile_pattern_costs_no_more_than_its_length_times_the_text():
    """gate/P6: the full match is found without trying every combination; a run of stars is no trap."""
    pattern, text = "*a" * 200 + "b", "a" * 4_000

    assert not matches(pattern, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": {"d": [1, 2], "c": None}}, '{"a":{"c":null,"d":[1,2]},"b":1}'),
        ({"body": "echo é"}, '{"body":"echo é"}'),
        ({"command": 'say "hi"'}, '{"command":"say \\"hi\\""}'),
        ("text", '"text"'),
        (None, "null"),
        ({"ä": 1, "z": 2, "A": 3}, '{"A":3,"z":2,"ä":1}'),
    ],
)
def test_the_text_is_compact_json_with_sorted_keys(value: object, text: str):
    """gate/P7: no spaces, keys sorted at every depth, characters as they are."""
    assert compact_json(value) == text


def test_what_is_no_json_has_no_text():
    """gate/P7: a pattern is not matched on half a text."""
    with pytest.raises(ValueError, match="Out of range float values"):
        compact_json({"n": float("inf")})


def test_a_key_after_an_absolute_path_is_found():
    """gate/P1: the path's slashes are nothing special to a star."""
    text = compact_json({"cwd": "/home/cedar/desk", "target": "mac"})

    assert matches('*"target":"mac"*', text)
    assert not matches('*"target":"linux"*', text)


def test_the_last_key_is_found():
    """gate/P4: a fragment needs a star behind it even there, for the closing brace."""
    text = compact_json({"a": 1, "z": "last"})

    assert matches('*"z":"last"*', text)
    assert not matches('*"z":"last"', text)


def test_a_pattern_quotes_json():
    """gate/P9: a quote inside a text is written as JSON writes it."""
    text = compact_json({"command": 'say "hi"'})

    assert matches('*say \\"hi\\"*', text)
    assert not matches('*say "hi"*', text)


def test_a_pattern_about_text_beyond_ascii_is_written_as_it_reads():
    """gate/P7: characters are not escaped."""
    assert matches('*"body":"echo é"*', compact_json({"body": "echo é"}))


def test_without_an_input_text_only_the_bare_rule_is_left():
    """gate/P8: a pattern needs a text."""
    bare, pattern = rule("files", True), rule("files", False, pattern="*")

    assert winner([bare, pattern], "files", None) == bare
    assert winner([pattern], "files", None) is None
    assert winner([bare], "files", "{}") == bare
