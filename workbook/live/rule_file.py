"""Remembered rules in a file: an SQLite store that a learner plays against, looks into, and damages.

A file of nobody's own lies in a temporary folder and goes with the kernel. No path is shown or told to a model: a
file is called by its name.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Final

from labsim.gate.base.errors import RuleStoreFailed
from labsim.gate.rules.sqlite_store import SqliteRuleStore
from labsim.gate.rules.store import FailingRuleStore, MemoryRuleStore, RuleStore
from workbook.errors import WorkbookError
from workbook.show.frame import NOTHING, TEXT, Look, Table
from workbook.show.page import Page, Paragraph, page
from workbook.show.page import Table as TableBlock

FILE_NAME: Final = "rules.sqlite"


class NotOverwritten(WorkbookError):
    """The bytes of the file are as they were. Attribute: `name`, the file's."""

    def __init__(self, name: str, problem: str, remedy: str) -> None:
        self.name = name
        super().__init__(f"{name}: {problem}. {remedy}")


class RuleFile:
    """One file of remembered rules. As the value of a cell it shows what it holds, or why it cannot be read.

    Raises: RuleStoreFailed, for a file that holds no rules of this program.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened()

    @property
    def name(self) -> str:
        return self.path.name

    def store(self) -> RuleStore:
        """The file opened anew, as by a host that has just started. One that cannot be read fails at each use, so
        each call that needs it is denied (gate/R18).
        """
        try:
            return self._opened()
        except RuleStoreFailed as error:
            failure = str(error)
            return FailingRuleStore(MemoryRuleStore(), lambda operation: failure)

    def table(self) -> Table:
        """Every rule in the file, whoever it applies to.

        Columns, all strings: `scope`; `of`, the project or agent that the rule belongs to, `–` for a global one;
        `tool`; `pattern`, `–` for every input; `answer`, `allow` or `deny`; `reason`. In the order of gate/R19 for
        each project and agent. Raises: RuleStoreFailed.
        """
        kept = [(space, rule) for space, rules in self._opened().by_namespace().items() for rule in rules]
        columns = {
            "scope": [rule.scope.value for _, rule in kept],
            "of": [space or NOTHING for space, _ in kept],
            "tool": [rule.key.tool_name for _, rule in kept],
            "pattern": [rule.key.pattern or NOTHING for _, rule in kept],
            "answer": ["allow" if rule.allow else "deny" for _, rule in kept],
            "reason": [rule.reason or NOTHING for _, rule in kept],
        }
        count = "1 rule" if len(kept) == 1 else f"{len(kept)} rules"
        return Table(columns, dict.fromkeys(columns, TEXT), Look(caption=f"{count} in {self.name}", header="tool"))

    def overwrite(self, old: str, new: str) -> None:
        """Put other text in place of some, in the bytes of the file and without SQLite, as a bad disk would.

        Both must be of one length, so that nothing is moved. Raises: NotOverwritten.
        """
        before, after = old.encode(), new.encode()
        if len(before) != len(after):
            raise NotOverwritten(self.name, f"{old!r} and {new!r} are not of one length", "Use as many bytes.")
        data = self.path.read_bytes()
        if not before or before not in data:
            raise NotOverwritten(self.name, f"{old!r} is nowhere in the file", "Use a word of one of its rules.")
        self.path.write_bytes(data.replace(before, after))

    def page(self) -> Page:
        """What the file holds, or the words in which it fails."""
        try:
            return page(TableBlock(grid=self.table().grid))
        except RuleStoreFailed as error:
            return page(Paragraph(lead="Not readable:", text=f"{error}."))

    def __repr__(self) -> str:
        return str(self.page())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return self.page()._repr_mimebundle_()

    def _opened(self) -> SqliteRuleStore:
        return SqliteRuleStore(self.path, name=self.name)


def rule_file(path: str | Path | None = None) -> RuleFile:
    """A file to keep remembered rules in: a new one in a temporary folder, gone with the kernel; or the one at
    `path`, made where there is none, which stays.

    Raises: RuleStoreFailed, if what is at `path` holds no rules of this program.
    """
    if path is not None:
        return RuleFile(Path(path))
    folder = tempfile.mkdtemp(prefix="cedar-rules-")
    rules = RuleFile(Path(folder) / FILE_NAME)
    weakref.finalize(rules, shutil.rmtree, folder, ignore_errors=True)
    return rules
