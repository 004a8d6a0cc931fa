"""What reaches the two seams and what does not (fallback/F-41 to fallback/F-42), as one table with its reasons.

The operations outside are not forgotten: each surfaces its ordinary error, and `explain` says so (fallback/F-41).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from labsim.terms import Seam


class Operation(StrEnum):
    """The things a tool can do to stored data, as far as fallbacks tell them apart."""

    ORDINARY_WRITE = "ordinary-write"
    MOVE_DESTINATION = "move-destination"
    UNLINK = "unlink"
    PATCH_DIRECTORY = "patch-directory"
    ARCHIVE_MEMBER = "archive-member"
    SQLITE_ROW = "sqlite-row"
    ACP_BRIDGE = "acp-bridge"
    FORMATTER = "formatter"
    LSP_EDIT = "lsp-edit"
    DIRECTORY_REMOVAL = "directory-removal"
    BASH = "bash"


class Route(Struct, frozen=True, kw_only=True, gc=False):
    """One row: what the operation is, the seam it goes through, and why."""

    what: str
    seam: Seam | None  # None: outside; its permission error surfaces unchanged
    why: str


#: What has no seam is offered to nobody (fallback/F-41).
ROUTES: Final[Mapping[Operation, Route]] = MappingProxyType(
    {
        Operation.ORDINARY_WRITE: Route(
            what="The byte write of write, edit or apply_patch to an ordinary file",
            seam=Seam.WRITE,
            why="These bytes belong at this path: all that a request can say.",
        ),
        Operation.MOVE_DESTINATION: Route(
            what="The destination of an edit move",
            seam=Seam.WRITE,
            why="A move writes its destination like any other file.",
        ),
        Operation.UNLINK: Route(
            what="The unlink of an edit removal, of a move's source or of an apply_patch delete",
            seam=Seam.DELETE,
            why="One file or link goes away, and nothing below it.",
        ),
        Operation.PATCH_DIRECTORY: Route(
            what="A denied directory creation in apply_patch",
            seam=Seam.WRITE,
            why="It falls through to the write that follows, if a write handler exists.",
        ),
        Operation.ARCHIVE_MEMBER: Route(
            what="A write to an archive member such as a.zip:entry",
            seam=None,
            why="The bytes on disk are a whole archive, not the text that the tool was given.",
        ),
        Operation.SQLITE_ROW: Route(
            what="A change to a SQLite row",
            seam=None,
            why="A row operation inside the database engine has no bytes to hand over.",
        ),
        Operation.ACP_BRIDGE: Route(
            what="The editor bridge's own text write (ACP)",
            seam=None,
            why="The editor writes at its end of a connection.",
        ),
        Operation.FORMATTER: Route(
            what="A formatter subprocess",
            seam=None,
            why="Another process makes the system call.",
        ),
        Operation.LSP_EDIT: Route(
            what="The lsp tool's own edits",
            seam=None,
            why="They do not use the shared byte write.",
        ),
        Operation.DIRECTORY_REMOVAL: Route(
            what="The removal of a directory",
            seam=None,
            why="A tool removes one file; a stronger hand must not be asked for more.",
        ),
        Operation.BASH: Route(
            what="Everything that a bash command does",
            seam=None,
            why="The shell is a process of its own, and its writes never pass through here.",
        ),
    }
)


def explain(operation: Operation) -> str:
    """Two or three sentences for a learner: where the operation goes when it is denied, and why (fallback/F-41,
    fallback/F-42).
    """
    route = ROUTES[operation]
    if route.seam is None:
        return f"{route.what} is outside the fallbacks and surfaces its ordinary error. {route.why}"
    return (
        f"{route.what} goes through the {route.seam} fallback if it is denied permission. {route.why} "
        f"Any other error is never routed."
    )
