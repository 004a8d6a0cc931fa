"""Cedar Workbook, as a notebook uses it: `import workbook as wb`.

The names below are all that a notebook needs. Each is imported when it is first used, so that `import workbook` is
light wherever pandas and widgets are not wanted: the command line, an evidence run, an editor.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbook.chapters import Chapter
    from workbook.chapters import open_chapter as open  # noqa: A004  # that is what a learner does with a chapter
    from workbook.diagrams import sequence
    from workbook.ready import setup
    from workbook.tables import expected, ledger, lifecycle, policy_matrix, predicted

__all__ = [
    "Chapter",
    "expected",
    "ledger",
    "lifecycle",
    "open",
    "policy_matrix",
    "predicted",
    "sequence",
    "setup",
]

_HOMES = {
    "Chapter": ("workbook.chapters", "Chapter"),
    "open": ("workbook.chapters", "open_chapter"),
    "setup": ("workbook.ready", "setup"),
    "sequence": ("workbook.diagrams", "sequence"),
} | {name: ("workbook.tables", name) for name in ("expected", "ledger", "lifecycle", "policy_matrix", "predicted")}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, there = _HOMES[name]
    value = getattr(import_module(module), there)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
