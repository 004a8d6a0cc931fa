"""The order of the tests, and which of them share a process: what drives a browser comes last, all in one.

Tests run in two processes (`-n 2` in pyproject.toml), and each takes its modules in the order below. What is slow
to set up is set up once: the tests of a module stay together, and so do all that need one JupyterLab with its
browser, or one environment with the wheel in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import pytest

from labsim import extras


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
    """What a test shares a process with."""
    for shared in ("package", "browser"):
        if item.get_closest_marker(shared) is not None:
            return shared
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(tryfirst=True)  # before xdist looks who belongs together
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """By turn, and otherwise in the order they stand in."""
    items.sort(key=_turn)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_company(item)))


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
