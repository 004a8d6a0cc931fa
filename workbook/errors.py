"""The error root of the learner-facing layer.

Each module defines the errors that its callers can act on, and derives them from here, so that the command line
can turn any of them into one line.
"""

from __future__ import annotations


class WorkbookError(Exception):
    """Root of every error that this package raises about files, answers and notebooks it was handed."""
