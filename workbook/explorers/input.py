"""What somebody sets a control of the what-if panel to, as the panel's own word.

A browser sends words; code may also say what a case says: True, None, "rpc", an answer as it comes back from a
dialog.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec.structs import replace

from workbook.errors import WorkbookError
from workbook.explorers.case import Opened
from workbook.explorers.state import ANSWERS, MOST_ANSWERS, SPACE, Answers, PanelState
from workbook.explorers.words import AS_OPENED, UNANSWERED

_DIGITS: Final = 6  # of a number of calls; more of them are no number that anybody means


class NoSuchControl(WorkbookError):
    """The panel has no control of that name. Attribute: `name`."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"The panel has no control {name!r}. Use one of: {', '.join(SPACE)}.")


class NoSuchWord(WorkbookError):
    """A control has no such word. Attributes: `control`, `found`."""

    def __init__(self, control: str, value: object, words: Iterable[object]) -> None:
        self.control = control
        self.found = value
        allowed = ", ".join(map(str, words))
        super().__init__(f"{control}: {value!r} is not allowed here. Use one of: {allowed}.")


def with_words(state: PanelState, words: Mapping[str, Any], opened: Opened) -> PanelState:
    """The state with controls set by name. Raises: NoSuchControl, NoSuchWord."""
    for name in words:
        if name not in SPACE:
            raise NoSuchControl(name)
    return replace(state, **{name: _word(name, value, opened) for name, value in words.items()})


def with_control(state: PanelState, control: str, word: str, opened: Opened) -> PanelState:
    """The state with one control of the browser's set; `answers.0` is the first answer. Raises: as above."""
    name, _, place = control.partition(".")
    if name == "answers" and place:
        return replace(state, answers=_answers_with(state.answers or (), place, word))
    return with_words(state, {control: word}, opened)


def _answers_with(before: tuple[Answers, ...], place: str, word: str) -> tuple[Answers, ...]:
    """The answers with one of them changed; whatever is left out before it ends without an answer."""
    if not place.isdecimal() or len(place) > _DIGITS or int(place) >= MOST_ANSWERS:
        raise NoSuchControl(f"answers.{place}")
    at = int(place)
    if word == UNANSWERED:
        return before[:at]
    answers = [*before, *[Answers.DISMISSED] * (at + 1 - len(before))]
    answers[at] = _enum_word("answers", word)
    return tuple(answers)


def _word(name: str, value: Any, opened: Opened) -> Any:
    if isinstance(value, str) and value == AS_OPENED and name in opened.kept:
        return None
    if name == "answers":
        given = [] if value in (None, "") else value if isinstance(value, list | tuple) else [value]
        return tuple(map(_answer_word, given))
    if name == "repeat":
        return _repeat_word(value, opened)
    return _enum_word(name, value)


def _repeat_word(value: Any, opened: Opened) -> int | None:
    text = "" if isinstance(value, bool) else str(value)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS):
        raise NoSuchWord("repeat", value, SPACE["repeat"])
    return None if opened.kept.get("repeat") == {"repeat": int(text)} else int(text)


#: What a case or a person would say, for the word that stands for it.
_SPELLED: Final[Mapping[str, Mapping[Any, str]]] = {
    "ui": {True: "yes", False: "none"},
    "safety": {True: "one", False: "none", None: "none"},
    "auto_approve": {True: "on", False: "off", None: "off", "yes": "text"},
    "override": {True: "yes", False: "no", None: "no"},
    "reason": {True: "yes", False: "no", None: "no"},
    "mode": {None: "left-out"},
}


def _enum_word(name: str, value: Any) -> Any:
    words = SPACE[name]
    assert isinstance(words, type)  # all but `repeat` are enums
    if value is None or isinstance(value, bool | str):
        value = _SPELLED.get(name, {None: "none"}).get(value, value)
    try:
        return words(value)
    except ValueError:
        raise NoSuchWord(name, value, words) from None


def _answer_word(value: Any) -> Answers:
    if not isinstance(value, StrEnum):
        for answer, says in ANSWERS.items():
            if type(says) is type(value) and says == value:
                return answer
    try:
        return Answers(value)
    except ValueError:
        raise NoSuchWord("answers", value, Answers) from None
