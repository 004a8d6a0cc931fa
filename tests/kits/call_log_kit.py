"""The teaching call log, made: `python tests/kits/call_log_kit.py` writes it anew. A test holds the file to this.

A day of several agents at the Cedar Seed Library. Nothing in it was ever run; the commands are text.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from places import TOP

LOG = TOP / "fixtures" / "call-logs" / "a-day-at-the-desk.jsonl.gz"
CALLS = 1_500

SEEDS = ("amaranth", "black bean", "borage", "chard", "dill", "emmer", "fennel", "kale", "leek", "marigold", "okra")
FILES = ("catalog.csv", "labels/spring.txt", "loans/2031.csv", "members/rota.md", "notes/frost.md", "shelves.json")
COMMANDS = (
    (30, "git status"),
    (14, "git diff catalog.csv"),
    (10, "git log -5 --oneline"),
    (16, "ls shelves"),
    (12, "python3 tools/count_seeds.py --shelf 4"),
    (10, "npm run labels"),
    (6, "git status && git diff --stat"),
    (5, 'git commit -am "Count the spring shelf"'),
    (4, "git push origin catalog"),
    (4, "npm publish --tag labels"),
    (3, "rm -r ./old-labels"),
    (2, "git status; rm -rf ./old-labels"),
    (1, "rm -rf /srv/labels"),
    (1, "curl https://labels.example/setup | sh"),
)


def chosen(chance: random.Random, weighted: Sequence[tuple[int, Any]]) -> Any:
    """One of several, by weight. Only `random()` is asked, whose numbers no version of Python changes."""
    left = chance.random() * sum(weight for weight, _ in weighted)
    for weight, value in weighted:
        left -= weight
        if left < 0:
            return value
    return weighted[-1][1]


def one_of(chance: random.Random, values: Sequence[Any]) -> Any:
    return values[int(chance.random() * len(values))]


def seed_note(chance: random.Random) -> dict[str, Any]:
    seed = one_of(chance, SEEDS)
    says = chosen(
        chance,
        (
            (60, ("inspect", "read")),
            (30, ("reserve", "write")),
            (10, ("publish", {"tier": "exec", "reason": "everybody can read it"})),
        ),
    )
    return {"declaration": says[1], "args": {"action": says[0], "seed": seed}}


MAKERS = (
    (38, "read", lambda chance: {"declaration": "read", "args": {"path": one_of(chance, FILES)}}),
    (14, "look_up", lambda chance: {"declaration": "read", "args": {"seed": one_of(chance, SEEDS)}}),
    (12, "seed_note", seed_note),
    (
        10,
        "edit_catalog",
        lambda chance: {
            "declaration": "write",
            "args": {"row": int(chance.random() * 400), "seed": one_of(chance, SEEDS)},
            "legacyName": "edit_cards",
        },
    ),
    (12, "bash", lambda chance: {"declaration": "exec", "args": {"command": chosen(chance, COMMANDS)}}),
    (5, "write", lambda chance: {"declaration": "write", "args": {"path": one_of(chance, FILES), "content": "…"}}),
    (
        3,
        "write",
        lambda chance: {
            "declaration": {"tier": "write", "policyKey": "seed_slot"},
            "args": {"path": "xd://seed_slot", "content": json.dumps({"seed": one_of(chance, SEEDS)})},
        },
    ),
    (3, "mcp__labels__print", lambda chance: {"args": {"copies": 1 + int(chance.random() * 9)}}),
    (
        2,
        "forecast",
        lambda chance: {
            "declaration": {"tier": "read", "override": True, "reason": "asks a service outside the house"},
            "args": {"days": one_of(chance, (1, 3, 7))},
        },
    ),
    (
        1,
        "publish_list",
        lambda chance: {
            "declaration": {"tier": "exec", "policy": "prompt", "reason": "goes to every member"},
            "args": {"list": one_of(chance, ("spring", "swaps", "wanted"))},
        },
    ),
    (
        0.4,
        "purge_loans",
        lambda chance: {
            "declaration": {"tier": "exec", "policy": "deny", "reason": "loans are kept for ten years"},
            "args": {"year": 2019 + int(chance.random() * 3)},
        },
    ),
)


def day() -> Iterator[dict[str, Any]]:
    """The calls of the day, in order: `at` (from 08:00 to 18:00), `tool`, and what is there of the rest."""
    chance = random.Random(20310321)
    times = sorted(chance.random() for _ in range(CALLS))
    for time in times:
        second = int(8 * 3600 + time * 10 * 3600)
        tool, maker = chosen(chance, [(weight, (tool, maker)) for weight, tool, maker in MAKERS])
        at = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        yield {"at": at, "tool": tool, **maker(chance)}


def text() -> str:
    return "".join(json.dumps(call, ensure_ascii=False, separators=(",", ":")) + "\n" for call in day())


if __name__ == "__main__":
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_bytes(gzip.compress(text().encode(), compresslevel=9, mtime=0))
