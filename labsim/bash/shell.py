"""How command text reads as shell: quoting, active control characters, segments, literal chains.

This is the host's small reader, not a shell's grammar: it knows quotes, backslashes and operators, and nothing is
ever expanded or run (approval/A-50).

Theory. One pass, `read`, settles how each character is quoted; the three questions below look at the same reading,
so they cannot disagree on where a quote ends. Outside quotes a backslash takes the next character as it is; in
double quotes it does so only before one of `"`, a backslash, `$` and a backtick; in single quotes it is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, StrEnum
from typing import Final

from msgspec import Struct

from labsim.js_values import trim

#: They take a command, or a whole program, as their arguments.
_INTERPRETERS: Final = "sh bash dash ash ksh zsh csh tcsh fish busybox env sudo nocorrect noglob"

#: Reserved words: what follows them is grammar, not arguments.
_GRAMMAR: Final = "! [[ case coproc do done elif else esac fi for function if in select then time until while"

#: Builtins that change what a later command of the chain means: its folder, names, options, variables.
_BUILTINS: Final = (
    ". [ alias bg break builtin cd chdir command continue declare dirs disown enable eval exec exit export fc fg "
    "getopts hash history jobs let local logout mapfile popd printf pushd read readarray readonly return set shift "
    "shopt source suspend test times trap typeset ulimit umask unalias unset wait"
)

#: The same, where the shell behind the tool is zsh.
_ZSH_BUILTINS: Final = (
    "- autoload bindkey bye disable emulate functions limit print rehash sched setopt unfunction unhash unlimit "
    "unsetopt vared zle zmodload zparseopts zstyle"
)

NOT_LITERAL_COMMANDS: Final = frozenset(f"{_INTERPRETERS} {_GRAMMAR} {_BUILTINS} {_ZSH_BUILTINS}".split(" "))


CONTROL_CHARACTERS: Final = frozenset("\n\r;&|<>`$()")
_SEGMENT_ENDS: Final = frozenset("\n;&|()")
_ESCAPED_IN_DOUBLE: Final = frozenset('"\\$`')
_EXPANDS_IN_DOUBLE: Final = frozenset("$`")
_WORD_GAPS: Final = frozenset(" \t")
_NOT_LITERAL: Final = CONTROL_CHARACTERS | frozenset("*?[]{}~\\")  # a bare backslash is one at the very end

# An option that hands its text to another interpreter (approval/A-54): one dash and anything without a dash up to a
# c or an e, or one of two long names. `[^-]*` cannot run past the next dash, so the search is linear.
_OPTION: Final = r"(?:-[^-]*[ce]|--(?:command|eval))(?=[= \t]|\Z)"
_REINTERPRETING: Final = re.compile(rf"(?:\A|(?<=[ \t])){_OPTION}")
_REINTERPRETING_ARGUMENT: Final = re.compile(rf"\A{_OPTION}")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=", re.ASCII)
_UNPRINTED: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Quoting(Enum):
    """How one character of a command stands there."""

    BARE = "bare"
    ESCAPED = "escaped"
    SINGLE = "single quotes"
    DOUBLE = "double quotes"
    OPENED = "a quote opens"  # carries no character: it begins a word even if nothing follows
    UNCLOSED = "a quote is still open"  # carries no character: the end of the text, inside a quote


_Reading = tuple[Quoting, str, int]


def read(command: str) -> Iterator[_Reading]:
    """Each character that is left once quotes and escapes are taken off, with how it stood and its index."""
    at, end, quote = 0, len(command), ""
    while at < end:
        character = command[at]
        following = command[at + 1 : at + 2]
        if quote == "'":
            if character == "'":
                quote = ""
            else:
                yield Quoting.SINGLE, character, at
        elif quote == '"':
            if character == '"':
                quote = ""
            elif character == "\\" and following in _ESCAPED_IN_DOUBLE:
                at += 1
                yield Quoting.ESCAPED, following, at
            else:
                yield Quoting.DOUBLE, character, at
        elif character in ("'", '"'):
            quote = character
            yield Quoting.OPENED, "", at
        elif character == "\\" and following:
            at += 1
            yield Quoting.ESCAPED, following, at
        else:
            yield Quoting.BARE, character, at
        at += 1
    if quote:
        yield Quoting.UNCLOSED, "", end


# ------------------------------------------------------------------------------------------- active control


class ControlRule(StrEnum):
    """Why a control character counts as active."""

    UNQUOTED = "approval/A-51"
    EXPANDS = "approval/A-52"
    REINTERPRETED = "approval/A-54"


class ActiveControl(Struct, frozen=True, gc=False):
    """The character that keeps every allow rule from applying, its index, and why it is active."""

    character: str
    at: int
    rule: ControlRule
    option: str | None = None  # approval/A-54 only: the option that could bring a quoted character back to life


def active_control(command: str) -> ActiveControl | None:
    """The first thing in `command` that a narrow allow could be smuggled past, or None (approval/A-51 to
    approval/A-54).
    """
    suspect: tuple[str, int] | None = None
    for quoting, character, at in read(command):
        if character not in CONTROL_CHARACTERS:
            continue
        if quoting is Quoting.BARE:
            return ActiveControl(character, at, ControlRule.UNQUOTED)  # approval/A-51
        if quoting is Quoting.DOUBLE and character in _EXPANDS_IN_DOUBLE:
            return ActiveControl(character, at, ControlRule.EXPANDS)  # approval/A-52
        if suspect is None:
            suspect = (character, at)  # literal here, as long as nobody reads it a second time (approval/A-53)
    if suspect is None:
        return None
    option = _REINTERPRETING.search(command)  # approval/A-54
    return None if option is None else ActiveControl(*suspect, ControlRule.REINTERPRETED, option=option.group())


# ------------------------------------------------------------------------------------------------- segments


def segments(command: str) -> tuple[str, ...]:
    """The simple commands of a line, each as its words joined by one space, quotes taken off (approval/A-55)."""
    found: list[list[str]] = [[]]
    word: list[str] = []

    def end_word() -> None:
        if word:
            found[-1].append("".join(word))
            word.clear()

    for quoting, character, _ in read(command):
        if quoting is Quoting.BARE and character in _WORD_GAPS:
            end_word()
        elif quoting is Quoting.BARE and character in _SEGMENT_ENDS:
            end_word()
            found.append([])
        elif character:
            word.append(character)
    end_word()
    return tuple(" ".join(words) for words in found if words)


# ------------------------------------------------------------------------------------------- literal chains


class ChainLink(Struct, frozen=True, gc=False):
    """One command of a literal chain: its text as written, and its words with the quotes taken off."""

    text: str
    words: tuple[str, ...]


def literal_chain(command: str) -> tuple[ChainLink, ...] | None:
    """A flat chain of two or more literal commands joined by `&&`, or None for anything else (approval/A-58).

    None is the ordinary answer: whatever a shell would have to interpret is left to the rules for whole lines.
    """
    if _UNPRINTED.search(command):
        return None
    links: list[ChainLink] = []
    words: list[str] = []
    word: list[str] | None = None
    start = 0
    reading = read(command)
    for quoting, character, at in reading:
        if quoting is Quoting.UNCLOSED or (quoting is Quoting.DOUBLE and character in _EXPANDS_IN_DOUBLE):
            return None
        if quoting is Quoting.BARE:
            chained = character == "&" and command.startswith("&&", at)
            if character in _WORD_GAPS or chained:
                if word is not None:
                    words.append("".join(word))
                    word = None
                if chained:
                    next(reading)  # the second `&`
                    if not _is_literal(words):
                        return None
                    links.append(ChainLink(trim(command[start:at]), tuple(words)))
                    words, start = [], at + 2
                continue
            if character in _NOT_LITERAL or (character == "#" and word is None):
                return None
        if word is None:
            word = []
        word.append(character)
    if word is not None:
        words.append("".join(word))
    if not links or not _is_literal(words):
        return None
    return (*links, ChainLink(trim(command[start:]), tuple(words)))


def _is_literal(words: list[str]) -> bool:
    """Whether the words are one command that means only what it says."""
    if not words or not words[0]:
        return False
    name = re.split(r"[/\\]", words[0])[-1]
    return not (
        name in NOT_LITERAL_COMMANDS
        or any(_ASSIGNMENT.match(word) for word in words)
        or any(_REINTERPRETING_ARGUMENT.match(word) for word in words[1:])
    )
