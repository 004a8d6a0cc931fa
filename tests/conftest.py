"""The order of the tests, and which of them share a process: what drives a browser comes last, and in one.

The tests run in two processes (`-n 2` in pyproject.toml). What is slow to set up, one JupyterLab with its browser or
one environment with the wheel, is set up once: all tests that need it go to the same process.
"""

from __future__ import annotations

import pytest

#: By marker, from the first to the last; the first one that a test has decides.
SHARED = ("browser", "package")


def _shared(item: pytest.Item) -> str | None:
    return next((name for name in SHARED if item.get_closest_marker(name)), None)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share something go to the end, browser tests last, in the order they stand in.

    Playwright's browser lives for the whole session and keeps an event loop running in the main thread from then
    on. Whatever starts a loop of its own, as the client of another protocol does, has to have had its turn.
    """
    order = {None: 0, "package": 1, "browser": 2}
    items.sort(key=lambda item: order[_shared(item)])
    for item in items:
        if (name := _shared(item)) is not None:
            item.add_marker(pytest.mark.xdist_group(name))
