"""The book of rules: what each rule id means, where the host has the rule, how we know it, which cases show it.

A rule is data. Nothing here decides anything; code that decides names the id. Files are handed in and never opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.errors import CaseError, LabsimError, closest
from labsim.strict_json import parse

_SCHEMA_ID: Final = "https://json-schema.org/draft/2020-12/schema"
_NAME: Final = re.compile(r"[A-Za-z0-9-]+")
_NUMBERS: Final = re.compile(r"(\d+)")
_CITED: Final = re.compile(r"(?<![\w/-])([a-z]+)/([A-Za-z][A-Za-z0-9-]*)(?:\s+to\s+\1/([A-Za-z][A-Za-z0-9-]*))?")


class Status(StrEnum):
    """How a rule is known."""

    RECORDED = "recorded"  # the real program was seen to do so
    SOURCE_ONLY = "source-only"  # read in the real program's source, and not seen in a run
    OURS = "ours"  # a choice of this simulator, where the real program says nothing or something else


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule. `id` is the book, a slash and a name; `where` names a file and a symbol of the host.

    `code` are the functions, classes or constants of this simulator that decide it, as in
    `labsim.approval: resolve`, where the id stands as well; empty where nothing of the engine has to decide it.
    `cases` are ids of teaching cases that show the rule; `recorded` is the part of the recorded answers that does.
    """

    id: str
    says: str
    where: str
    code: tuple[str, ...] = ()
    status: Status
    cases: tuple[str, ...] = ()
    recorded: str | UnsetType = UNSET

    @property
    def book(self) -> str:
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """The id without its book: short, and possibly a name in another book as well."""
        return self.id.partition("/")[2]


class Book(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules of one part of the host, in the order of the file."""

    book: str
    title: str
    rules: tuple[Rule, ...]


class UnknownRule(LabsimError):
    """No rule, and no book, is called that. Attributes: `asked`, `close` (ids that look alike)."""

    def __init__(self, asked: str, close: list[str], books: Iterable[str]) -> None:
        self.asked = asked
        self.close = close
        hint = f"Did you mean {' or '.join(close)}?" if close else f"The books are: {', '.join(books)}."
        super().__init__(f"No rule has the id {asked!r}. {hint}")


class AmbiguousRule(LabsimError):
    """Several books have a rule of that name. Attributes: `asked`, `candidates`."""

    def __init__(self, asked: str, candidates: list[str]) -> None:
        self.asked = asked
        self.candidates = candidates
        super().__init__(f"{asked!r} is a rule of several books. Use one of: {', '.join(candidates)}.")


class Rules:
    """All the books that were handed in."""

    def __init__(self, books: Iterable[Book]) -> None:
        self.books = {book.book: book for book in sorted(books, key=lambda book: book.book)}
        self._by_id = {rule.id: rule for book in self.books.values() for rule in book.rules}
        self._by_name: dict[str, list[str]] = {}
        for rule in self:
            self._by_name.setdefault(rule.name, []).append(rule.id)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._by_id.values())

    def __contains__(self, rule_id: object) -> bool:
        return rule_id in self._by_id

    def find(self, asked: str) -> Rule:
        """The rule of that id; a name without its book will do where only one book has it.

        Raises: UnknownRule, AmbiguousRule.
        """
        if asked in self._by_id:
            return self._by_id[asked]
        candidates = self._by_name.get(asked, [])
        if len(candidates) > 1:
            raise AmbiguousRule(asked, candidates)
        if not candidates:
            raise UnknownRule(asked, self._close(asked), self.books)
        return self._by_id[candidates[0]]

    def cited(self, texts: Iterable[str]) -> list[Rule]:
        """The rules whose ids, book and all, stand in these texts, each once, in the order in which they come.

        Of a range, `wrapper/W-66 to wrapper/W-69`, every rule. What looks like an id and is none is passed over.
        """
        places = {rule_id: place for place, rule_id in enumerate(self._by_id)}
        every = list(self)
        found: dict[str, Rule] = {}
        for text in texts:
            for book, name, last in _CITED.findall(text):
                start = places.get(f"{book}/{name.rstrip('-')}")
                if start is None:
                    continue
                end = places.get(f"{book}/{last.rstrip('-')}", start) if last else start
                found.update((rule.id, rule) for rule in every[start : end + 1])
        return list(found.values())

    def _close(self, asked: str) -> list[str]:
        """Ids that differ by case and hyphens alone, and only where there are none, others that look alike."""
        spelt = _plain(asked)
        if same := [rule.id for rule in self if spelt in (_plain(rule.id), _plain(rule.name))]:
            return same
        if "/" not in asked:
            books = closest(asked.lower(), self.books)
            names = {name.lower(): ids for name, ids in self._by_name.items()}
            return books or [id_ for name in closest(asked.lower(), names) for id_ in names[name]]
        ids = {rule_id.lower(): rule_id for rule_id in self._by_id}
        return [ids[close] for close in closest(asked.lower(), ids, 3, alike=0.75)]


def _plain(text: str) -> str:
    return text.lower().replace("-", "")


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts ids as people count: W-9 before W-10, R4a before R4b."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _NUMBERS.split(text) if part)


def parse_book(data: bytes, name: str) -> Book:
    """One file of rules. `name` is how errors call it. Raises: CaseError, with place, what was found, a remedy."""
    raw = parse(data, name)
    try:
        book = msgspec.convert(raw, Book)
    except msgspec.ValidationError as error:
        from labsim.reading.refusals import refusal

        raise refusal(error, raw, Book, name) from None
    seen: set[str] = set()
    for number, rule in enumerate(book.rules):
        place = f"{name}: rules[{number}] ({rule.id})"
        if rule.book != book.book or not _NAME.fullmatch(rule.name):
            raise CaseError(
                f"{place}.id", f"{rule.id!r} is no id of this book", f'Write it as "{book.book}/", then the name.'
            )
        if rule.id in seen:
            raise CaseError(f"{place}.id", f"{rule.id!r} is there twice", "Keep one of them.")
        seen.add(rule.id)
        for field in ("says", "where"):
            text = getattr(rule, field)
            if not text.strip() or not text.isprintable():
                raise CaseError(
                    f"{place}.{field}", "this is not one line of text", "Write one sentence on one line."
                )
        for field, what in (("code", "a function"), ("cases", "a case")):
            names = getattr(rule, field)
            if len(set(names)) < len(names):
                raise CaseError(f"{place}.{field}", f"{what} is there twice", "Name each once.")
    return book


def schema_text() -> str:
    """The JSON Schema of a file of rules, as the text of its file; made from the classes above."""
    made: dict[str, Any] = msgspec.json.schema(Book)
    made["$schema"] = _SCHEMA_ID
    made["title"] = "Cedar Workbook book of rules"
    return f"{msgspec.json.format(msgspec.json.encode(made), indent=2).decode()}\n"
