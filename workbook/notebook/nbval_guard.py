"""What nbval would let through: cells whose outputs are never compared.

A notebook counts as checked only if nbval passes and nothing is found here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

IGNORING_TAGS = frozenset({"nbval-skip", "nbval-ignore-output", "pytest-validate-ignore-output"})
IGNORING_COMMENTS = frozenset(tag.replace("-", "_").upper() for tag in IGNORING_TAGS)


class UncomparedCell(Struct, frozen=True, kw_only=True):
    """One cell that nbval would pass without looking at its outputs."""

    index: int  # place among all cells of the notebook, from 0
    reason: str
    first_line: str  # of the cell's source, to find it by

    def __str__(self) -> str:
        return f"cell {self.index} ({self.first_line}): {self.reason}"


def uncompared_cells(notebook: Mapping[str, Any]) -> list[UncomparedCell]:
    """The non-empty code cells that nbval would not compare, in order; an empty list is the good answer.

    `notebook` is a notebook of format 4 as nbformat reads it: each cell's source is one string.
    """
    found = []
    for index, cell in enumerate(notebook["cells"]):
        if not _has_code(cell):
            continue
        source = cell["source"].strip()
        if reason := _why_uncompared(cell, source):
            found.append(UncomparedCell(index=index, reason=reason, first_line=source.splitlines()[0]))
    return found


def compared_cells(notebook: Mapping[str, Any]) -> int:
    """How many cells nbval would really compare. None at all means that passing says nothing."""
    return sum(map(_has_code, notebook["cells"])) - len(uncompared_cells(notebook))


def _has_code(cell: Mapping[str, Any]) -> bool:
    return cell["cell_type"] == "code" and bool(cell["source"].strip())


def _why_uncompared(cell: Mapping[str, Any], source: str) -> str:
    """A reason, or "" for a cell that is compared."""
    if cell.get("execution_count") is None:
        return "it was saved without being run; run the notebook and save it with its outputs"
    for tag in cell["metadata"].get("tags", []):
        if tag in IGNORING_TAGS:
            return f"the tag {tag} keeps nbval from comparing it; remove the tag"
    for line in source.splitlines():
        # nbval reads any line that starts with a number sign, wherever it stands, even inside a string
        if line.strip().startswith("#") and (comment := line.strip().lstrip("#").strip()) in IGNORING_COMMENTS:
            return f"the comment {comment} keeps nbval from comparing it; remove the comment"
    return ""
