"""Provider safety checks: which are pending, and how texts from outside are defused for a prompt."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsim.call.safety import check_text, pending_checks, safety_text


@pytest.mark.parametrize(
    ("metadata", "count"),
    [
        ({}, 0),
        ({"pendingSafetyChecks": []}, 0),
        ({"pendingSafetyChecks": None}, 0),
        ({"pendingSafetyChecks": "one"}, 0),
        ({"pendingSafetyChecks": {"id": "a"}}, 0),
        ({"pendingSafetyChecks": [{"id": "a"}, {"id": "b"}]}, 2),
    ],
)
def test_only_a_list_of_checks_is_pending(metadata: dict[str, Any], count: int) -> None:
    """wrapper/W-20: an empty list asks nothing (recorded: wrapper-1905)."""
    assert len(pending_checks(metadata)) == count


def test_each_check_has_a_numbered_line() -> None:
    """wrapper/W-43."""
    checks = [{"message": "first", "code": "c"}, {"code": "second"}, {"id": "third"}, {}]

    assert safety_text(checks) == "Provider safety checks:\n1. first\n2. second\n3. third\n4. "


@pytest.mark.parametrize(
    ("check", "text"),
    [
        ({"message": "Fictional *seed* shelf check"}, r"Fictional \*seed\* shelf check"),
        ({"message": "", "code": "fallback"}, "fallback"),
        ({"message": None, "code": "", "id": "last"}, "last"),
        ({"message": " ", "code": "not read"}, ""),
        ({"message": 0, "code": 5}, "5"),
        ({"message": [], "code": "not read"}, ""),
        ({"message": "a\r\n\t b\n\nc"}, "a  b c"),
        ({"message": "\x1b[31mred\x1b[0m"}, "red"),
        ({"message": "\x1b]8;;http://x\x07link\x1b]8;;\x07"}, "link"),
        ({"message": "\x9b1mbold"}, "bold"),
        ({"message": "bell\x07 null\x00 delete\x7f next\x85"}, "bell null delete next"),
        ({"message": "\u00a0\ufefftrimmed\u2003"}, "trimmed"),
        ({"message": r"\`*_{}[]()<>#+-.!|"}, r"\\\`\*\_\{\}\[\]\(\)\<\>\#\+\-\.\!\|"),
        ({"message": "🌱 é → 'a' \"b\" & / : ; , ? = ~ ^ $ % @"}, "🌱 é → 'a' \"b\" & / : ; , ? = ~ ^ $ % @"),
        ({"message": "x" * 500}, "x" * 500),
        ({"message": "x" * 501}, "x" * 500 + r"\[…1ch elided…\]"),
        ({"message": "*" * 501}, r"\*" * 500 + r"\[…1ch elided…\]"),
    ],
)
def test_a_text_from_outside_is_one_line_with_nothing_left_to_interpret(check: dict[str, Any], text: str) -> None:
    """wrapper/W-44: controls out, breaks to a blank, trimmed, cut to 500, then escaped. Blank is not empty."""
    assert check_text(check) == text


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("\x1b[;]m\x07\r\n\t\\`*_"), max_size=80))
def test_whatever_the_text_no_mark_and_no_control_survives(message: str) -> None:
    """wrapper/W-44: every mark is escaped once, and nothing breaks the line."""
    text = check_text({"message": message})

    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", text)
    assert re.fullmatch(r"(?:\\[\\`*_{}\[\]()<>#+\-.!|]|[^\\`*_{}\[\]()<>#+\-.!|])*", text)
    assert text == text.strip("\ufeff\u00a0 ")
