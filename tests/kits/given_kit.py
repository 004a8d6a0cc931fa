"""The `given` of a case by itself, read as a whole case of its kind would be."""

from __future__ import annotations

from typing import Any

import pytest

from labsim.errors import CaseError
from labsim.reading.reading import parse_case

CASE = "a case (mine)"


def read_given(scenario: str, raw: dict[str, Any]) -> Any:
    """Typed and checked. Raises: CaseError."""
    return parse_case({"id": "mine", "scenario": scenario, "given": raw}, CASE).given


def refused(scenario: str, raw: dict[str, Any]) -> CaseError:
    """What is said of a `given` that is refused; its place begins with `given`."""
    with pytest.raises(CaseError) as caught:
        read_given(scenario, raw)
    error = caught.value
    assert error.found
    assert error.remedy
    assert str(error) == f"{error.place}: {error.found}. {error.remedy}"
    return CaseError(error.place.removeprefix(CASE).lstrip(".: "), error.found, error.remedy)
