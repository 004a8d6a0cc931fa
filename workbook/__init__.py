"""Cedar Workbook, as a notebook uses it: `import workbook as wb`.

The names below are all that a notebook needs. Each is imported when it is first used, so that `import workbook` is
light wherever pandas and widgets are not wanted: the command line, an evidence run, an editor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labsim.lazy import lazily

if TYPE_CHECKING:
    from workbook.authoring_guide import workshop
    from workbook.batches import batch
    from workbook.bench import hands_on, overlay
    from workbook.call_logs import call_log
    from workbook.chapters import Chapter
    from workbook.chapters import open_chapter as open  # noqa: A004  # that is what a learner does with a chapter
    from workbook.commands import bash_rules
    from workbook.diagrams import sequence
    from workbook.explorer_panel import explorer
    from workbook.own_cases import check_case, check_cases
    from workbook.policies import policy_cells, policy_matrix
    from workbook.progress_page import my_progress
    from workbook.ready import setup
    from workbook.real_host import host, pipe
    from workbook.review_diagrams import branches, grants
    from workbook.review_phases import phases
    from workbook.review_tables import entries, mode_matrix, notes
    from workbook.rules import rule
    from workbook.settled import decisions
    from workbook.side_by_side import comparison
    from workbook.stepper_view import stepper
    from workbook.tables import expected, frames, ledger, lifecycle, outcomes, predicted
    from workbook.trust import declared, fidelity, recorded, recordings
    from workbook.walk import steps
    from workbook.what_ifs import prompts, what_if

__all__ = [
    "Chapter",
    "bash_rules",
    "batch",
    "branches",
    "call_log",
    "check_case",
    "check_cases",
    "comparison",
    "decisions",
    "declared",
    "entries",
    "expected",
    "explorer",
    "fidelity",
    "frames",
    "grants",
    "hands_on",
    "host",
    "ledger",
    "lifecycle",
    "mode_matrix",
    "my_progress",
    "notes",
    "open",
    "outcomes",
    "overlay",
    "phases",
    "pipe",
    "policy_cells",
    "policy_matrix",
    "predicted",
    "prompts",
    "recorded",
    "recordings",
    "rule",
    "sequence",
    "setup",
    "stepper",
    "steps",
    "what_if",
    "workshop",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "workbook.authoring_guide": "workshop",
        "workbook.batches": "batch",
        "workbook.call_logs": "call_log",
        "workbook.chapters": "Chapter open_chapter=open",
        "workbook.commands": "bash_rules",
        "workbook.diagrams": "sequence",
        "workbook.explorer_panel": "explorer",
        "workbook.trust": "declared fidelity recorded recordings",
        "workbook.bench": "hands_on overlay",
        "workbook.own_cases": "check_case check_cases",
        "workbook.policies": "policy_cells policy_matrix",
        "workbook.progress_page": "my_progress",
        "workbook.ready": "setup",
        "workbook.real_host": "host pipe",
        "workbook.review_diagrams": "branches grants",
        "workbook.review_phases": "phases",
        "workbook.review_tables": "entries mode_matrix notes",
        "workbook.rules": "rule",
        "workbook.settled": "decisions",
        "workbook.side_by_side": "comparison",
        "workbook.stepper_view": "stepper",
        "workbook.tables": "expected frames ledger lifecycle outcomes predicted",
        "workbook.walk": "steps",
        "workbook.what_ifs": "prompts what_if",
    },
)
