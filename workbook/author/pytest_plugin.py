"""The pytest plug-in: `pytest --workbook DIR` tests a chapter, or a folder of chapters, item by item.

So until the option is given nothing happens here, and nothing is imported that pytest has not imported itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

OPTION = "--workbook"
_DESTINATION = "workbook_folders"
_REGISTERED_AS = "workbook-chapters"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option; it may be given several times."""
    parser.getgroup("workbook", "Cedar Workbook").addoption(
        OPTION,
        action="append",
        default=[],
        dest=_DESTINATION,
        metavar="DIR",
        type=Path,
        help="test the chapter in DIR, or the chapters: cases, checkpoints, exercises and each cell of a notebook",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let the folders be collected. Raises: pytest.UsageError, for a folder without a chapter."""
    folders: list[Path] = config.getoption(_DESTINATION)
    if folders:
        from workbook.author.pytest_items import Chapters

        config.pluginmanager.register(Chapters(config, folders), _REGISTERED_AS)
