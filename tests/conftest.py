"""The order of the tests, which of them share a process, and which are quick.

Tests run in two processes (`-n 2` in pyproject.toml), and each takes its modules in the order below. What is slow
to set up is set up once: the tests of a module stay together, and so do all that need the environment with the
wheel in it. Each process that comes to a module with a browser has one JupyterLab for all of them.

Quick is whatever is not marked otherwise: `-m quick` is what somebody runs who has just changed a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.scheduler import LoadScopeScheduling

from labsim import extras
from workbook.show.cited import OPEN

NOT_QUICK = ("browser", "package", "slow")
TESTS: Final = Path(__file__).parent


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


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """By turn, and otherwise in the order they stand in."""
    items.sort(key=_turn)
    for item in items:
        if not any(item.get_closest_marker(name) for name in NOT_QUICK):
            item.add_marker(pytest.mark.quick)


class Companies(LoadScopeScheduling):
    """Hands out companies: the tests that share a process, and so what is set up for them.

    A company is a module; of one that has tests of two turns, each turn by itself; or all the modules that look at
    the wheel in its environment. xdist's own groups are none: they go by marks, which it writes into the ids of
    tests, and pytest 9.2 reads ids from elsewhere, so that every test went alone and fixtures were made anew.
    """

    def schedule(self) -> None:
        if self.collection is None:
            self._companies = dict(_companies(next(iter(self.registered_collections.values()))))
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._companies[nodeid]


def _companies(nodeids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each test with its company. The tests of one turn of a module come one after the other."""
    run, before = 0, ""
    for nodeid in nodeids:
        module = nodeid.partition("::")[0]
        run, before = run + (module != before), module
        yield nodeid, "wheel" if _looks_at_the_wheel(module) else f"{run} {module}"


@cache
def _looks_at_the_wheel(module: str) -> bool:
    return "wheel_kit" in (TESTS.parent / module).read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)  # `-p no:xdist` has no use for it
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Companies:
    return Companies(config, log)


@pytest.fixture(autouse=True)
def _no_open_questions() -> None:
    """What a chapter keeps back that an earlier test opened, it does not keep back from this one."""
    OPEN.clear()


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
