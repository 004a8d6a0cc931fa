"""What README and the guide for authors tell people to type, for the tests that do as they are told."""

from __future__ import annotations

import re

import nbformat
from places import TOP


def block(heading: str, language: str) -> str:
    """The first block of that language under a heading of README."""
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    section = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", readme, re.MULTILINE | re.DOTALL)
    assert section is not None, f"README.md has no section {heading!r}"
    found = re.search(rf"^```{language}\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)
    assert found is not None, f"README.md has no block of {language} under {heading!r}"
    return found[1]


def in_readme(command: str, **values: str) -> str:
    """The command as README's table spells it, such as `workbook export [DIR]`, with values for its parts."""
    return _filled((TOP / "README.md").read_text(encoding="utf-8"), command, values)


def in_guide(command: str, **values: str) -> str:
    """The command as the last table of `write-a-chapter` spells it, with values for its parts."""
    guide = nbformat.read(TOP / "notebooks" / "write-a-chapter.ipynb", as_version=4)
    return _filled(guide.cells[-1].source, command, values)


def _filled(text: str, command: str, values: dict[str, str]) -> str:
    spelled = re.findall(rf"\| `({re.escape(command)}(?: [^`]*)?)` \|", text)
    assert len(spelled) == 1, f"{command!r} has {len(spelled)} rows: {spelled}"
    (line,) = spelled
    for part, value in values.items():
        line, count = re.subn(rf"\[{part}\]|\b{part}\b", value, line)
        assert count == 1, f"{spelled[0]!r} has no {part}"
    return str(line)
