"""The order of the tests: what drives a browser comes last."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests go to the end, in the order they stand in.

    Playwright's browser lives for the whole session and keeps an event loop running in the main thread from then
    on. Whatever starts a loop of its own, as the client of another protocol does, has to have had its turn.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
