"""The small file tree on which a fallback case is played, and the places in it that a case can name.

The tree is made anew for every case:

    real/card  real/sub/     an ordinary folder with a file and a folder in it
    linkdir -> real          linkfile -> real/card
    dangling -> nowhere      loop-a -> loop-b -> loop-a
    plainfile                a file where a folder would be needed
    open/                    the user may write here
    locked/                  mode 0555, another owner: nothing can be made here
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from labsim.case.fallback import Target
from labsim.fallback.file_tree import InertFiles

#: The folder that the recorded answers show as `<tmp>`; it has no counterpart outside the tree.
BASE: Final = "/tmp"
_DESK: Final = f"{BASE}/fb"


TARGET_PATHS: Final[Mapping[Target, str]] = MappingProxyType(
    {
        Target.FILE: f"{_DESK}/real/card",
        Target.ABSENT: f"{_DESK}/real/absent",
        Target.VIA_LINKED_FOLDER: f"{_DESK}/linkdir/card",
        Target.VIA_LINKED_FOLDER_ABSENT: f"{_DESK}/linkdir/absent",
        Target.LINK_TO_FILE: f"{_DESK}/linkfile",
        Target.DANGLING: f"{_DESK}/dangling",
        # Below the loop: its parent can be neither made nor proven (fallback-0132: one attempt only).
        Target.LOOP: f"{_DESK}/loop-a/card",
        Target.FOLDER: f"{_DESK}/real/sub",
        Target.MISSING_PARENTS: f"{_DESK}/open/a/b/card",
        Target.LOCKED_PARENTS: f"{_DESK}/locked/a/card",
        Target.FILE_AS_FOLDER: f"{_DESK}/plainfile/card",
        Target.DOTS: f"{_DESK}/real/sub/../card",
    }
)


def desk_files() -> InertFiles:
    """A fresh tree as drawn above, seen by an ordinary user."""
    files = InertFiles(user="learner", cwd=_DESK)
    files.add_directory(BASE, mode=0o755, owner="root")
    for folder in ("", "/real", "/real/sub", "/open"):
        files.add_directory(f"{_DESK}{folder}")
    files.add_directory(f"{_DESK}/locked", mode=0o555, owner="root")
    files.add_file(f"{_DESK}/real/card", "card")
    files.add_file(f"{_DESK}/plainfile", "plain")
    files.add_link(f"{_DESK}/linkdir", "real")
    files.add_link(f"{_DESK}/linkfile", "real/card")
    files.add_link(f"{_DESK}/dangling", "nowhere")
    files.add_link(f"{_DESK}/loop-a", "loop-b")
    files.add_link(f"{_DESK}/loop-b", "loop-a")
    return files
