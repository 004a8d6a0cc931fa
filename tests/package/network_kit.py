"""What processes ask of the network: a guard that notes every question and refuses what leaves the machine.

The guard is `data/loopback_only/sitecustomize.py`. Python runs it at the start of every process that has what
`guarded` returns in its environment, its own or inherited.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from places import TOP

GUARD = TOP / "tests" / "data" / "loopback_only"


class Asked(NamedTuple):
    """One question: who asked it, such as `socket.connect`, and whether it was let through."""

    process: str
    question: str
    address: str
    answer: str  # "here", "open" or "refused"


def guarded(log: Path) -> dict[str, str]:
    """What to add to an environment; the questions go to `log`."""
    return {"PYTHONPATH": str(GUARD), "CEDAR_NETWORK_LOG": str(log)}


def asked(log: Path) -> list[Asked]:
    """Every question so far."""
    return [Asked(*line.split("\t")) for line in log.read_text().splitlines()]
