"""How every refusal finds its place and its remedy: once, in `labsim.errors`."""

from __future__ import annotations

import msgspec
import pytest
from places import TOP

from labsim.errors import closest, did_you_mean, found_and_path


class Given(msgspec.Struct, forbid_unknown_fields=True):
    mode: dict[str, list[int]]


@pytest.mark.parametrize(
    ("raw", "found", "path"),
    [
        (5, "Expected `object`, got `int`", ""),
        ({"mod": {}}, "Object contains unknown field `mod`", ""),
        ({"mode": {"a": [1, "b"]}}, "Expected `int`, got `str`", ".mode[...][1]"),
        ({"mode": {1: []}}, "Expected `str`, got `int` as a key", ".mode"),
    ],
)
def test_a_complaint_of_the_decoder_comes_apart_into_what_was_found_and_where(raw: object, found: str, path: str):
    """The decoder's `$` is gone; "" is the whole value; a key is called one."""
    with pytest.raises(msgspec.ValidationError) as told:
        msgspec.convert(raw, Given)

    assert found_and_path(told.value) == (found, path)


def test_a_value_that_looks_like_a_place_is_no_place():
    """A complaint may quote what a file says; only its end is the place."""
    quoting = msgspec.ValidationError("Invalid value 'x - at `$.not.here`' - at `$.mode`")

    assert found_and_path(quoting) == ("Invalid value 'x - at `$.not.here`'", ".mode")


def test_a_word_that_is_nearly_right_is_asked_back_and_any_other_is_told_what_would_do():
    """One wording: `Did you mean 'x'?`, or `Use one of: …`, or what the caller says instead."""
    known = ("always-ask", "write", "yolo")

    assert did_you_mean("yollo", known) == "Did you mean 'yolo'?"
    assert did_you_mean("purple", known) == "Use one of: always-ask, write, yolo."
    assert did_you_mean("purple", known, "There are three.") == "There are three."
    assert did_you_mean(5, known, "") == ""
    assert closest("rite", ["write", "writes", "right"], 3) == ["write", "writes", "right"]
    assert closest("rite", ["write", "writes", "right"], 3, alike=0.8) == ["write", "writes"]


def test_no_other_module_takes_a_complaint_apart_or_looks_for_a_word_that_was_meant():
    """One of each: a second splitter would sooner or later name another place for the same fault."""
    own = TOP / "labsim" / "errors.py"
    sources = [path for room in ("labsim", "workbook") for path in (TOP / room).rglob("*.py")]

    assert own in sources
    assert [
        f"{path.relative_to(TOP)}: {mark}"
        for path in sources
        for mark in ("get_close_matches", " - at ")
        if path != own and mark in path.read_text(encoding="utf-8")
    ] == []
