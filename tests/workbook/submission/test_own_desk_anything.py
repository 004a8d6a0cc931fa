"""Whatever is handed in for one's own desk, and whatever it returns: a verdict in words, and never an error."""

from __future__ import annotations

import math
from collections import UserDict
from collections.abc import Callable
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsim.library import fixtures_dir
from workbook.exercise.file import parse_exercises
from workbook.exercise.kinds import CallExercise, Form
from workbook.grading.grade import grade
from workbook.grading.own_cases import check_case, check_cases
from workbook.grading.pages import Grade

FILE = fixtures_dir() / "exercises" / "your-own-desk.json"
EXERCISES = parse_exercises(FILE.read_bytes(), FILE.name, "your-own-desk")


class Hostile:
    """Refuses whatever anybody asks of it."""

    def __repr__(self) -> str:
        raise RuntimeError("no words for it")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not comparable")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise RuntimeError("neither")


class HostileMapping(UserDict[str, Any]):
    """A mapping that cannot be walked."""

    def __iter__(self) -> Any:
        raise RuntimeError("no way through")


ODD: dict[str, Callable[[], Any]] = {
    "an object": object,
    "one that refuses everything": Hostile,
    "its class": lambda: Hostile,
    "a mapping that cannot be walked": lambda: HostileMapping({"args": 1}),
    "a mapping of another kind": lambda: MappingProxyType({"args": 1}),
    "a set": lambda: {1, 2},
    "bytes": lambda: b"bytes",
    "a complex number": lambda: 1j,
    "a decimal": lambda: Decimal("1.5"),
    "no number": lambda: math.nan,
    "a range": lambda: range(3),
    "a generator": lambda: (each for each in ()),
    "a builtin": lambda: print,
    "a module": lambda: math,
    "an enum": lambda: Grade.RIGHT,
    "half a character": lambda: "\ud800",
    "a control sequence": lambda: "\x1b[31m",
}
odd = st.sampled_from(sorted(ODD)).map(lambda name: ODD[name]())
words = st.sampled_from(
    (
        *("args", "handlers", "calls", "path", "choices", "id", "scenario", "given", "expected", "wrapper"),
        *("Approve", "input", "block", "reason", "write", "deny", "action", "publish"),
        *("tools.approvalMode", "tools.approval"),
    )
)
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | words
values = st.recursive(
    plain | odd,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
@settings(max_examples=40, deadline=None)
@given(handed_in=values)
def test_whatever_is_handed_in_is_answered_in_words(name: str, handed_in: Any) -> None:
    """An exercise takes one kind of thing, and tells whoever hands in another what would do."""
    graded = grade(EXERCISES[name], handed_in)

    assert graded.grade is not Grade.RIGHT
    assert str(graded).startswith(f"Exercise {name}: ")
    assert "<script" not in graded.page().html()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, one in EXERCISES.items() if isinstance(one, CallExercise)][1:])
@settings(max_examples=40, deadline=None)
@given(returned=values)
def test_whatever_a_learner_s_code_returns_is_answered_in_words(name: str, returned: Any) -> None:
    """A handler or an approver that returns this to everything is not right, and nothing raises out of it."""
    takes = {Form.HANDLER: lambda event, context: returned, Form.ANSWERS: lambda question: returned}
    graded = grade(EXERCISES[name], takes[EXERCISES[name].form])

    assert graded.grade is not Grade.RIGHT
    assert str(graded)
    assert graded.page().html()


@settings(max_examples=60, deadline=None)
@given(case=values)
def test_whatever_is_checked_as_a_case_is_answered_in_words(case: Any) -> None:
    """It is read or it is not; either way there is a page."""
    assert str(check_case(case))
    assert all(str(one) for one in check_cases(case))
