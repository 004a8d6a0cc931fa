"""The sentence of every rule that is cited by its id, so that no id stands alone, in a browser or on paper."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from labsim.library import rule_files
from labsim.rules import Rule, Rules, parse_book


@cache
def all_rules() -> Rules:
    """The books that came with the package. Raises: CaseError, DataMissing."""
    return Rules(parse_book(path.read_bytes(), path.name) for path in rule_files())


def rules_to_say(texts: Iterable[str]) -> list[Rule]:
    """The rules that `texts` cite and do not say, in the order in which they are cited."""
    texts = list(texts)
    return [rule for rule in all_rules().cited(texts) if not any(rule.says in text for text in texts)]
