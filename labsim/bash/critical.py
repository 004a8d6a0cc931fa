"""Critical commands: shapes of text that no allow rule can vouch for (approval/C1 to approval/C14).

A shape is looked for anywhere in the raw text, quotes and all; it is a guess about text, not an understanding of a
command, so it finds a `reboot` that is only an argument (approval/A-56).

Letters match in either case unless a shape says otherwise, and only within ASCII; blanks are the host's. Every
search takes linear time: text from a model may be long and hostile, so no expression here can try the same stretch
twice, and the three shapes that would need to (approval/C1, `dd` in approval/C7, approval/C9 and approval/C14) are
read piece by piece instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

from labsim.js_values import BLANKS


class CriticalRule(StrEnum):
    """The groups of critical shapes, by their rule."""

    C1 = "approval/C1"
    C2 = "approval/C2"
    C3 = "approval/C3"
    C4 = "approval/C4"
    C5 = "approval/C5"
    C6 = "approval/C6"
    C7 = "approval/C7"
    C8 = "approval/C8"
    C9 = "approval/C9"
    C10 = "approval/C10"
    C11 = "approval/C11"
    C12 = "approval/C12"
    C13 = "approval/C13"
    C14 = "approval/C14"


class CriticalShape(Struct, frozen=True, gc=False):
    """One shape: the group it belongs to, what it looks for in words, and the search itself."""

    rule: CriticalRule
    says: str
    found_in: Callable[[str], object]


def critical_rule(command: str) -> CriticalRule | None:
    """The first group of shapes that `command` shows, wherever in its text (approval/A-56), or None."""
    return next((shape.rule for shape in CRITICAL_SHAPES if shape.found_in(command)), None)


# ------------------------------------------------------------------------------------------------ expressions

_S: Final = f"[{BLANKS}]"
_BOUNDARY: Final = rf"(?:\A|[{BLANKS};&|(])"
_FETCH: Final = r"(?:curl|wget|fetch)\b"
_ACCOUNT_FILE: Final = r"/etc/(?:passwd|shadow|sudoers)\b"


def _search(expression: str, *, exact_case: bool = False) -> Callable[[str], object]:
    return re.compile(expression, re.ASCII if exact_case else re.ASCII | re.IGNORECASE).search


# ------------------------------------------------------------------------------------------- piece by piece

_WORD: Final = re.compile(f"[^{BLANKS}]+")
_ENDS_IN_RM: Final = re.compile(r"\brm\Z", re.ASCII | re.IGNORECASE)
_DESTRUCTIVE_OPTION: Final = re.compile(r"-[a-z]*[rf][a-z]*|--recursive|--force", re.ASCII | re.IGNORECASE)
_ROOT_UNGUARDED: Final = re.compile(r"--no-preserve-root\b", re.ASCII | re.IGNORECASE)


def _rm_of_absolute(command: str) -> bool:
    """approval/C1. After an `rm`, option words only, one of them recursive or forcing, up to a word that begins
    with `/`.
    """
    after_rm = armed = False
    for word in _words(command):
        if armed and word.startswith("/"):
            return True
        option = _is_option(word)
        armed = option and (armed or (after_rm and _DESTRUCTIVE_OPTION.fullmatch(word) is not None))
        after_rm = (option and after_rm) or _ENDS_IN_RM.search(word) is not None
    return False


def _rm_without_guard(command: str) -> bool:
    """approval/C2. After an `rm`, option words only, up to `--no-preserve-root`."""
    after_rm = False
    for word in _words(command):
        if after_rm and _ROOT_UNGUARDED.match(word):
            return True
        after_rm = (_is_option(word) and after_rm) or _ENDS_IN_RM.search(word) is not None
    return False


def _words(command: str) -> Iterator[str]:
    return (found.group() for found in _WORD.finditer(command))


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


_COPY_FROM: Final = re.compile(rf"\bdd{_S}+if=", re.ASCII | re.IGNORECASE)
_TO_DEVICE: Final = re.compile("of=/dev/", re.ASCII | re.IGNORECASE)
_LINE_END: Final = re.compile("[\n\r\u2028\u2029]|\\Z")


def _dd_to_device(command: str) -> bool:
    """approval/C7. `dd if=`, then on the same line, after at least one character, `of=/dev/`."""
    searched_to = -1
    for start in _COPY_FROM.finditer(command):
        if start.end() <= searched_to:
            continue  # an earlier `dd` on this line has looked at all of it already
        line_end = _LINE_END.search(command, start.end())
        searched_to = line_end.start() if line_end is not None else len(command)
        if _TO_DEVICE.search(command, start.end() + 1, searched_to):
            return True
    return False


_FETCHES: Final = re.compile(rf"\b{_FETCH}", re.ASCII | re.IGNORECASE)
_BEGINS_WITH_SHELL: Final = re.compile(rf"{_S}*(?:bash|sh|zsh|fish)\b", re.ASCII | re.IGNORECASE)


def _fetch_into_shell(command: str) -> bool:
    """approval/C9. A download, and the very next pipe goes into a shell."""
    fetched = False
    for stage in command.split("|"):
        if fetched and _BEGINS_WITH_SHELL.match(stage):
            return True
        fetched = _FETCHES.search(stage) is not None
    return False


_NETCAT: Final = re.compile(r"\bnc\b", re.ASCII | re.IGNORECASE)
_EXEC_OPTION: Final = re.compile(rf"{_S}-(?=[a-z]*[ec])[a-z]+{_S}", re.ASCII | re.IGNORECASE)


def _netcat_with_program(command: str) -> bool:
    """approval/C14. `nc`, then before any pipe or `;` an option word of letters with an e or a c in it, then a
    blank.
    """
    for stage in re.split("[|;]", command):
        start = _NETCAT.search(stage)
        if start is not None and _EXEC_OPTION.search(stage, start.end()):
            return True
    return False


# -------------------------------------------------------------------------------------------------- the table

_C: Final = CriticalRule
CRITICAL_SHAPES: Final = (
    # approval/C1
    CriticalShape(_C.C1, "rm with a recursive or forcing option, on a path from the root", _rm_of_absolute),
    # approval/C2
    CriticalShape(_C.C2, "rm that may take the root itself", _rm_without_guard),
    # approval/C3
    CriticalShape(_C.C3, "rm under sudo", _search(rf"\bsudo{_S}+rm\b")),
    # approval/C4
    CriticalShape(
        _C.C4, "chmod -R with an octal mode, from the root", _search(rf"\bchmod{_S}+-R{_S}+[0-7]+{_S}+/")
    ),
    CriticalShape(
        _C.C4,
        "chmod -R with a symbolic mode, from the root",
        _search(rf"\bchmod{_S}+-R{_S}+[-ugoa+=rwxXst,]+{_S}+/", exact_case=True),
    ),
    # approval/C5
    CriticalShape(_C.C5, "chown -R from the root", _search(rf"\bchown{_S}+-R{_S}+[^{BLANKS}]+{_S}+/")),
    # approval/C6
    CriticalShape(_C.C6, "the opening of a fork bomb", _search(rf":\(\){_S}*\{{{_S}*:{_S}*\|{_S}*:")),
    # approval/C7
    CriticalShape(_C.C7, "a redirect onto a disk", _search(rf">{_S}*/dev/sd[a-z]")),
    CriticalShape(_C.C7, "making a file system", _search(r"\bmkfs(?:\.|\b)")),
    CriticalShape(_C.C7, "dd onto a device", _dd_to_device),
    CriticalShape(_C.C7, "shredding a device", _search(rf"\bshred{_S}+/dev/")),
    CriticalShape(_C.C7, "setting up disk encryption", _search(r"\bcryptsetup\b")),
    # approval/C8
    CriticalShape(_C.C8, "a redirect onto an account file", _search(rf">{_S}*{_ACCOUNT_FILE}")),
    CriticalShape(_C.C8, "tee onto an account file", _search(rf"\btee{_S}+(?:-a{_S}+)?{_ACCOUNT_FILE}")),
    # approval/C9
    CriticalShape(_C.C9, "a download piped into a shell", _fetch_into_shell),
    # approval/C10
    CriticalShape(
        _C.C10,
        "a shell that reads a download as its script",
        _search(rf"{_BOUNDARY}(?:bash|sh|zsh|source|\.){_S}+<\({_S}*{_FETCH}"),
    ),
    # approval/C11
    CriticalShape(
        _C.C11,
        "eval of a download",
        _search(rf"\beval{_S}+(?:[\"'`]?\$\(|`){_S}*{_FETCH}"),
    ),
    # approval/C12
    CriticalShape(_C.C12, "killing process 1", _search(rf"\bkill{_S}+-9{_S}+1\b", exact_case=True)),
    # approval/C13
    CriticalShape(
        _C.C13,
        "shutting the machine down",
        _search(rf"{_BOUNDARY}(?:shutdown|poweroff|reboot|halt)(?:[{BLANKS};|&]|\Z)"),
    ),
    CriticalShape(_C.C13, "init to run level 0", _search(rf"{_BOUNDARY}init{_S}+0\b")),
    # approval/C14
    CriticalShape(_C.C14, "netcat that starts a program", _netcat_with_program),
)
