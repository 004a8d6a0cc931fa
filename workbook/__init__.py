"""Cedar Workbook, as a notebook uses it: `import workbook as wb`.

The names below are all that a notebook needs. Each is imported when it is first used, so that `import workbook` is
light wherever pandas and widgets are not wanted: the command line, an evidence run, an editor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labsim.lazy import lazily

if TYPE_CHECKING:
    from workbook.author.workshop import workshop
    from workbook.chapter.chapter import Chapter
    from workbook.desk.comparison import comparison
    from workbook.desk.open import open_chapter as open  # noqa: A004  # that is what a learner does with a chapter
    from workbook.explorers.panel import explorer
    from workbook.grading.own_cases import check_case, check_cases
    from workbook.learner.setup import setup
    from workbook.live.pipe import host, pipe
    from workbook.live.review_bench import hands_on, overlay
    from workbook.live.rule_file import rule_file
    from workbook.pictures.branches import branches, grants
    from workbook.pictures.phases import phases
    from workbook.pictures.sequence import sequence
    from workbook.progress.page import my_progress
    from workbook.steppers.view import stepper
    from workbook.tables.bash_rules import bash_rules
    from workbook.tables.batch import batch
    from workbook.tables.decisions import decisions
    from workbook.tables.fidelity import declared, fidelity, recorded, recordings
    from workbook.tables.policies import policy_cells, policy_matrix
    from workbook.tables.report import expected, frames, ledger, lifecycle, outcomes, predicted
    from workbook.tables.review import entries, mode_matrix, notes
    from workbook.tables.rules import rule
    from workbook.tables.steps import steps
    from workbook.what_ifs.call_log import call_log
    from workbook.what_ifs.what_if import prompts, what_if

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
    "rule_file",
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
        "workbook.author.workshop": "workshop",
        "workbook.tables.batch": "batch",
        "workbook.what_ifs.call_log": "call_log",
        "workbook.chapter.chapter": "Chapter",
        "workbook.desk.open": "open_chapter=open",
        "workbook.tables.bash_rules": "bash_rules",
        "workbook.pictures.sequence": "sequence",
        "workbook.explorers.panel": "explorer",
        "workbook.tables.fidelity": "declared fidelity recorded recordings",
        "workbook.live.review_bench": "hands_on overlay",
        "workbook.live.rule_file": "rule_file",
        "workbook.grading.own_cases": "check_case check_cases",
        "workbook.tables.policies": "policy_cells policy_matrix",
        "workbook.progress.page": "my_progress",
        "workbook.learner.setup": "setup",
        "workbook.live.pipe": "host pipe",
        "workbook.pictures.branches": "branches grants",
        "workbook.pictures.phases": "phases",
        "workbook.tables.review": "entries mode_matrix notes",
        "workbook.tables.rules": "rule",
        "workbook.tables.decisions": "decisions",
        "workbook.desk.comparison": "comparison",
        "workbook.steppers.view": "stepper",
        "workbook.tables.report": "expected frames ledger lifecycle outcomes predicted",
        "workbook.tables.steps": "steps",
        "workbook.what_ifs.what_if": "prompts what_if",
    },
)
