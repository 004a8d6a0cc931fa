"""fallback/F-1 to fallback/F-7 of the fallback rules: which errors are a permission denial, and which only look
like one.
"""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest
from given_kit import read_given, refused
from hypothesis import given
from hypothesis import strategies as st

from labsim.errors import ThrownValue
from labsim.fallback import ErrorKind, SimulatedError, error_code, is_permission_denied, play_classify


@pytest.mark.parametrize("code", ["EPERM", "EACCES", "EROFS"])
def test_the_three_structured_codes_are_denials(code: str) -> None:
    """fallback/F-1: an error object whose string code is one of three is a denial, whatever its message."""
    assert is_permission_denied(SimulatedError("synthetic", code))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ENOENT", "ENOENT opening fictional/EACCES/card"),
        ("EIO", "EACCES"),
        ("", "EACCES: synthetic"),
        ("eacces", "EACCES: synthetic"),
        (" EACCES", "EACCES: synthetic"),
        ("toString", "EPERM opening fictional/card"),
        ("__proto__", "EACCES: synthetic"),
    ],
)
def test_any_other_string_code_outranks_the_message(code: str, message: str) -> None:
    """fallback/F-2: a structured code decides alone, the empty one included, so the message is never read."""
    assert not is_permission_denied(SimulatedError(message, code))


@pytest.mark.parametrize(
    "message",
    ["EACCES: synthetic transport refusal", "EPERM", "path/EPERM/card", "EACCES-1", "line one\nEROFS"],
)
def test_without_a_code_a_whole_word_in_the_message_is_a_denial(message: str) -> None:
    """fallback/F-3: only the message is left to go on, and a path that contains the word counts too."""
    assert is_permission_denied(SimulatedError(message))


@pytest.mark.parametrize("code", [13, None, True, ["EACCES"], {"code": "EACCES"}])
def test_a_code_that_is_no_string_is_no_code(code: Any) -> None:
    """fallback/F-3: a number, null, a flag or a list leaves the message to decide, both ways."""
    assert is_permission_denied(SimulatedError("EACCES: synthetic", code))
    assert not is_permission_denied(SimulatedError("synthetic", code))
    assert error_code(SimulatedError("EACCES", code)) is None


@pytest.mark.parametrize(
    "message",
    ["eacces lower", "xEACCES", "EACCES_x", "EACCESX", "_EACCES", "1EACCES", "permission denied", ""],
)
def test_lower_case_and_glued_words_are_no_denials(message: str) -> None:
    """fallback/F-4: the word must stand alone and in capitals; plain English says nothing."""
    assert not is_permission_denied(SimulatedError(message))


@pytest.mark.parametrize("message", ["éEACCES", "EACCESé", "ßEPERM", "EROFS٣"])
def test_only_ascii_letters_and_digits_glue_to_a_word(message: str) -> None:
    """fallback/F-7: word characters are ASCII, as in the recorded program (item 26)."""
    assert is_permission_denied(SimulatedError(message))


@pytest.mark.parametrize(
    "value", ["EACCES", 13, None, ["EACCES"], {"code": "EACCES"}, ThrownValue({"code": "EACCES"}, "EACCES")]
)
def test_a_value_that_is_no_error_object_never_counts(value: object) -> None:
    """fallback/F-5: a string or a plain map is no error, thrown or not, even with the right code and text in it."""
    assert not is_permission_denied(value)


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_the_class_of_the_error_object_changes_nothing(kind: ErrorKind) -> None:
    """fallback/F-3: a TypeError with the word in its message is as much a denial as a plain Error."""
    assert is_permission_denied(SimulatedError("EPERM", kind=kind))


def test_a_cause_is_not_looked_at() -> None:
    """Item 26: a denial underneath does not make the error above it one."""
    error = SimulatedError("outer")
    error.__cause__ = SimulatedError("EACCES: inner", "EACCES")

    assert not is_permission_denied(error)


def test_an_os_error_is_classified_by_the_name_of_its_number() -> None:
    """fallback/F-7: errno is the structured code of a real OSError, and outranks the path in its text."""
    denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/fictional/card")
    read_only = OSError(errno.EROFS, os.strerror(errno.EROFS))
    missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/fictional/EACCES/card")

    assert [(error_code(e), is_permission_denied(e)) for e in (denied, read_only, missing)] == [
        ("EACCES", True),
        ("EROFS", True),
        ("ENOENT", False),
    ]


def test_an_os_error_without_a_number_is_classified_by_its_message() -> None:
    """fallback/F-7: the class name PermissionError proves nothing by itself."""
    assert not is_permission_denied(PermissionError("text"))
    assert is_permission_denied(PermissionError("EPERM: text"))
    assert error_code(PermissionError("EPERM: text")) is None


def test_an_error_number_without_a_name_is_no_code() -> None:
    """fallback/F-7 with fallback/F-3: like any bare number, so the message decides."""
    assert not is_permission_denied(OSError(987654, "synthetic"))
    assert is_permission_denied(OSError(987654, "EACCES: synthetic"))


def test_any_exception_with_a_string_code_is_classified_by_it() -> None:
    """fallback/F-7: a transport's own exception class can carry the structured code."""

    class TransportError(Exception):
        code = "EPERM"

    class OtherError(Exception):
        code = "EIO"

    assert is_permission_denied(TransportError("refused"))
    assert not is_permission_denied(OtherError("EACCES"))


@given(code=st.text(max_size=8), message=st.text(max_size=20))
def test_no_message_can_turn_a_structured_code_into_a_denial(code: str, message: str) -> None:
    """fallback/F-2: with a string code the answer is the same for every message."""
    expected = code in ("EPERM", "EACCES", "EROFS")

    assert is_permission_denied(SimulatedError(f"EACCES {message}", code)) is expected
    assert is_permission_denied(SimulatedError(message, code)) is expected


@given(before=st.characters(), after=st.characters())
def test_one_neighbouring_character_decides_whether_the_word_stands_alone(before: str, after: str) -> None:
    """fallback/F-7: the word is glued exactly if an ASCII letter, digit or underscore touches it."""
    glue = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")

    denied = is_permission_denied(SimulatedError(f"{before}EROFS{after}"))

    assert denied is (before not in glue and after not in glue)


@pytest.mark.parametrize(
    ("given_", "denied"),
    [
        ({"code": "ENOENT", "message": "ENOENT opening fictional/EACCES/card"}, False),  # seed: code-precedence
        ({"message": "EACCES: synthetic transport refusal"}, True),  # seed: message
        ({"kind": "RangeError", "message": "EROFS"}, True),
        ({"value": {"kind": "plain", "code": "EACCES", "message": "EACCES", "name": "Error"}}, False),
        ({"value": {"message": "EACCES: an error object all the same"}}, True),
        ({"value": {"message": "outer", "cause": {"code": "EACCES", "message": "EACCES"}}}, False),
        ({"value": {"name": "EACCES", "message": "by name"}}, False),
        ({"value": ["EACCES"]}, False),
        ({"value": "EACCES"}, False),
        ({"value": None}, False),
    ],
)
def test_a_case_is_answered_in_the_recorded_form(given_: dict[str, Any], denied: bool) -> None:
    """fallback/F-6: the record is the answer and no effect; the seeds and the recorded shapes read alike."""
    assert play_classify(read_given("classify-error", given_)) == {"permissionDenied": denied, "effects": 0}


@pytest.mark.parametrize(
    ("given_", "place"),
    [
        ({"code": "EACCES", "mesage": "x"}, "given"),
        ({"message": 3}, "given.message"),
        ({"kind": "SyntaxError", "message": "x"}, "given.kind"),
        ({"value": {"message": "x", "errno": 13}}, "given.value.errno"),
        ({"value": {"message": "x", "cause": {"kind": "Oops"}}}, "given.value.cause.kind"),
        ({"value": 1, "message": "x"}, "given.message"),
    ],
)
def test_words_outside_the_vocabulary_are_refused_with_their_place(given_: dict[str, Any], place: str) -> None:
    """A case that says something unknown must not pass as if it had been understood."""
    assert refused("classify-error", given_).place == place
