"""The order of the tests, which of them share a process, and which are quick.

Tests run in two processes (`-n 2` in pyproject.toml), and each takes its modules in the order below. What is slow
to set up is set up once: the tests of a module stay together, and so do all that need the environment with the
wheel in it. Each process that comes to a module with a browser has one JupyterLab for all of them.

Quick is whatever is not marked otherwise: `-m quick` is what somebody runs who has just changed a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import pytest

from labsim import extras

NOT_QUICK = ("browser", "package", "slow")


class Turn(IntEnum):
    """When a test has its turn."""

    EARLY = 0
    PACKAGE = 1
    BROWSER = 2


def _turn(item: pytest.Item) -> Turn:
    """Playwright's browser lives for a whole session and keeps an event loop running in the main thread.

    Whatever starts a loop of its own, as the client of another protocol does, has to have had its turn before.
    """
    if item.get_closest_marker("browser") is not None:
        return Turn.BROWSER
    return Turn.PACKAGE if item.get_closest_marker("package") is not None else Turn.EARLY


def _company(item: pytest.Item) -> str:
    """What a test shares a process with: its module, or all that look at the wheel in its environment.

    The tests of a module that drive a browser are apart from its others, whose turn is long before.
    """
    if {"installed", "author"} & set(getattr(item, "fixturenames", ())):
        return "wheel"
    module = item.nodeid.partition("::")[0]
    return f"{_turn(item).name} {module}"


@pytest.hookimpl(tryfirst=True)  # before xdist looks who belongs together, and before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """By turn, and otherwise in the order they stand in."""
    items.sort(key=_turn)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_company(item)))
        if not any(item.get_closest_marker(name) for name in NOT_QUICK):
            item.add_marker(pytest.mark.quick)


@pytest.fixture(scope="module", autouse=True)
def _own_words() -> Iterator[None]:
    """What the chapters of one module register with the engine, no other module's tests hear of.

    There is one table in a process; which modules share a process, and in which order, is nobody's business.
    """
    tables = (extras.APPROVAL_RULES, extras.HANDLERS, extras.TOOLS, extras.SCENARIOS)
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)  # each gets its own back
