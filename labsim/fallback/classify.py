"""Is this error a permission denial? The one question that decides whether a handler may be asked at all.

Classifying recovers nothing
and permits nothing (fallback/F-6): it reads one error and answers.

The recorded program is JavaScript, where an error object may carry any value as its `code`, and where a value
that is no error at all can be thrown. `SimulatedError` stands for the first, `labsim.errors.ThrownValue`
carries the second and never counts as a denial, whatever it contains (fallback/F-5). Python's own
exceptions are read by fallback/F-7, so a real primitive can be put in the place of a simulated one.
"""

from __future__ import annotations

import errno
import re
from typing import Final

from msgspec import UNSET

from labsim.errors import HostError, ThrownValue
from labsim.terms import ErrorKind

#: The structured codes that are a permission boundary (fallback/F-1).
DENIAL_CODES: Final = frozenset({"EPERM", "EACCES", "EROFS"})

# In capitals, and a word of its own (fallback/F-4). ASCII, because the host's word boundary is: `éEACCES` is a
# denial, `_EACCES` is not (fallback-0063, -0051).
_DENIAL_WORD: Final = re.compile(r"\b(?:EPERM|EACCES|EROFS)\b", re.ASCII)


class SimulatedError(HostError):
    """An error object of the simulated host's file layer, or of a case.

    Attributes: `message`; `code`, any JSON value, or `msgspec.UNSET` if the object has none; `kind`.
    Its cause, if any, is `__cause__`.
    """

    def __init__(self, message: str, code: object = UNSET, kind: ErrorKind = ErrorKind.ERROR) -> None:
        self.message = message
        self.code = code
        self.kind = kind
        self.error_name = kind.value
        super().__init__(message)


def error_code(error: object) -> str | None:
    """The structured code of `error`, or None if it has none.

    Only a string is a code; the empty string is one (fallback/F-2, fallback/F-3). For an `OSError` the name of its
    `errno` comes first (fallback/F-7); an `errno` without a name is a bare number and so no code.
    """
    if not _is_error_object(error):
        return None
    if isinstance(error, OSError) and isinstance(error.errno, int) and error.errno in errno.errorcode:
        return errno.errorcode[error.errno]
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else None


def error_text(error: BaseException) -> str:
    """The message of `error`, without its code or class."""
    return error.message if isinstance(error, SimulatedError) else str(error)


def is_permission_denied(error: object) -> bool:
    """Whether `error` reports a permission boundary.

    A structured code decides alone; the message is read only where there is none, since host messages quote
    whole paths and a path may contain any word.
    """
    if not isinstance(error, BaseException) or not _is_error_object(error):
        return False
    code = error_code(error)
    if code is not None:
        return code in DENIAL_CODES  # fallback/F-1; no other code is one, nor is the message read (fallback/F-2)
    return _DENIAL_WORD.search(error_text(error)) is not None  # fallback/F-3


def _is_error_object(value: object) -> bool:
    """Whether `value` is an error at all; what only looks like one denies nothing (fallback/F-5)."""
    return isinstance(value, BaseException) and not isinstance(value, ThrownValue)
