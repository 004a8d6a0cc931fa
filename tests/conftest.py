"""The order of the tests, and which of them share a process: what drives a browser comes last, all in one.

Tests run in two processes (`-n 2` in pyproject.toml). What is slow to set up is set up once: the tests of a module
stay together, and so do all that need one JupyterLab with its browser, or one environment with the wheel in it.
"""

from __future__ import annotations

from enum import IntEnum

import pytest


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
    return item.path.name


@pytest.hookimpl(tryfirst=True)  # before xdist looks who belongs together
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """By turn, and otherwise in the order they stand in."""
    items.sort(key=_turn)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_company(item)))
