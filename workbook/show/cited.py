"""The sentence of every rule that is cited by its id, so that no id stands alone, in a browser or on paper.

But for one thing: a sentence that would answer a question which is still open is kept back until it is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import cache
from typing import Any, Final
from weakref import WeakMethod

from labsim.library import rule_files
from labsim.rules import Rule, Rules, parse_book

#: By chapter: who says which rules its open questions turn on. A chapter that nobody holds any more has no say.
OPEN: Final[dict[str, WeakMethod[Callable[[], Set[str]]]]] = {}


@cache
def all_rules() -> Rules:
    """The books that came with the package. Raises: CaseError, DataMissing."""
    return Rules(parse_book(path.read_bytes(), path.name) for path in rule_files())


def keep_back(chapter: str, turned_on: Callable[[], Set[str]]) -> None:
    """Have the rules kept back that `turned_on`, a method of that open chapter, names whenever it is asked."""
    OPEN[chapter] = WeakMethod(turned_on)


def rules_to_say(texts: Iterable[str]) -> tuple[list[Rule], list[Rule]]:
    """The rules that `texts` cite and do not say, in the order in which they are cited: to say now, and later."""
    texts = list(texts)
    unsaid = [rule for rule in all_rules().cited(texts) if not any(rule.says in text for text in texts)]
    later: set[Any] = set().union(*(method() for known in OPEN.values() if (method := known()) is not None))
    return [rule for rule in unsaid if rule.id not in later], [rule for rule in unsaid if rule.id in later]
