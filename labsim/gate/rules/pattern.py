"""The wildcard grammar of remembered rules, and the JSON text that it is matched on.

Beside `request`. `*` stands for any run of characters, `/` and none at all included, and two stars mean no more
than one (gate/P1); `?` for exactly one Unicode character (gate/P2). Everything else is literal, there is no escape
(gate/P3), both ends are anchored (gate/P4) and case counts (gate/P6). So a rule about a fragment is `*fragment*`,
and the fragment quotes JSON (gate/P9).

`fnmatch` is another grammar: it knows `[]`, and folds case on some systems (gate/P7).
"""

from __future__ import annotations

import json
from typing import Any


def compact_json(value: Any) -> str:
    """`value` as rules see it: no spaces, keys sorted at every depth, non-ASCII characters as they are (gate/P7).

    Raises: ValueError or TypeError, if it is no JSON value.
    """
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False, allow_nan=False)


def matches(pattern: str, text: str) -> bool:
    """Whether the whole of `text` fits `pattern`. Finds a way to fit it whenever there is one (gate/P6).

    Only the last star has to be remembered: whatever an earlier star could still take over, the last one can too.
    That bounds the work by `len(pattern) * len(text)`, for every pattern.
    """
    at = in_pattern = 0
    star = -1  # where the last star stands in the pattern; -1: none was met
    resume = 0  # where in the text that star's run ends so far
    while at < len(text):
        if in_pattern < len(pattern) and pattern[in_pattern] == "*":
            star, resume = in_pattern, at
            in_pattern += 1
        elif in_pattern < len(pattern) and pattern[in_pattern] in ("?", text[at]):
            at += 1
            in_pattern += 1
        elif star >= 0:
            resume += 1  # let the last star take one character more, and try again behind it
            at, in_pattern = resume, star + 1
        else:
            return False
    return not pattern[in_pattern:].strip("*")
