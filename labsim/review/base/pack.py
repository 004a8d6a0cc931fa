"""Makes `packed` from the desk's data files: `python -m labsim.review.base.pack FOLDER >
labsim/review/base/packed.py`.

FOLDER is `fixtures/review-desk`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NAMES: Final = {"COPY_JSON": "copy.json", "RELEASE_NOTE": "release-note.txt"}
_HEAD: Final = '''"""The desk's words and its release note, made from `fixtures/review-desk` by `pack`: do not edit.

A case can open no file, so what it needs of these is in here; a test holds it
equal to the files.
"""

from __future__ import annotations

from typing import Final
'''
_WIDTH: Final = 100


def source(folder: Path) -> str:
    """The module's text. Raises: OSError, UnicodeDecodeError."""
    parts = [_HEAD]
    for name, file in NAMES.items():
        lines = "\n".join(f"    {line}" for line in _literals((folder / file).read_bytes().decode()))
        parts.append(f"{name}: Final = (\n{lines}\n)\n")
    return "\n".join(parts)


def _literals(text: str) -> Iterator[str]:
    """`text` as string literals, none of them wider than a line of code."""
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), _WIDTH):
            yield _quoted(line[start : start + _WIDTH])


def _quoted(text: str) -> str:
    single = repr(text)
    if single[0] == '"' or '"' in text:
        return single
    return f'"{single[1:-1]}"'


if __name__ == "__main__":
    print(source(Path(sys.argv[1])), end="")
