"""Where the data that ships with the packages is: fixtures beside `labsim`, notebooks beside `workbook`.

Nothing that decides imports this. A wheel carries the data inside the package (`_data/fixtures`); a checkout, and
an editable install of it, keeps it at the top (`fixtures/`). Both are ordinary folders, since pip unpacks every
wheel, so a plain path is enough. Nothing is looked at before a function is called. A cold start reads the built-in
cases, and `pathlib` would cost it as much as the playing, so it comes with the first path.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from labsim.errors import LabsimError

if TYPE_CHECKING:
    from pathlib import Path


class DataMissing(LabsimError):
    """The installed package lacks data that it should carry. Attributes: `kind`, `looked_in`."""

    def __init__(self, kind: str, looked_in: tuple[Path, ...]) -> None:
        self.kind = kind
        self.looked_in = looked_in
        places = " and ".join(str(place) for place in looked_in)
        super().__init__(
            f"No {kind} came with this installation (looked in {places}). "
            "Install the workbook again, from its wheel or its sources."
        )


def fixtures_dir() -> Path:
    """The folder of cases and other inert data. Raises: DataMissing."""
    return shipped("fixtures", os.path.dirname(os.path.realpath(__file__)))


def case_files() -> list[Path]:
    """The built-in files of cases; a desk's own come before its further ones (`…-more`). Raises: DataMissing."""
    folder = fixtures_dir()
    return [folder / name for name in _case_names(str(folder))]


def cases_read() -> list[tuple[str, bytes]]:
    """Name and content of each of `case_files`, in that order. Raises: DataMissing; OSError."""
    folder = _folder("fixtures", os.path.dirname(os.path.realpath(__file__)))
    read = []
    for name in _case_names(folder):
        with open(os.path.join(folder, name), "rb") as file:
            read.append((name, file.read()))
    return read


def _case_names(folder: str) -> list[str]:
    names = [name.removesuffix(".json") for name in os.listdir(folder) if name.endswith(".json")]
    return [f"{name}.json" for name in sorted(names) if "-desk" in name.removeprefix(".")]


def rule_files() -> list[Path]:
    """The books of rules, in name order. Raises: DataMissing."""
    return sorted((fixtures_dir() / "rules").glob("*.json"))


def recorded_files() -> list[Path]:
    """The built-in recorded answers, in name order. Raises: DataMissing."""
    return sorted((fixtures_dir() / "recorded").glob("*.jsonl.gz"))


def about_recordings() -> Path:
    """What the recorded answers are answers of: program, version, date. Raises: DataMissing."""
    return fixtures_dir() / "recorded" / "about.json"


def declared_differences() -> Path:
    """The list of differences from the recorded answers that are known and kept. Raises: DataMissing."""
    return fixtures_dir() / "recorded" / "declared-differences.json"


def shipped(kind: str, package: str | Path) -> Path:
    """The folder of that kind of data for a package folder. Raises: DataMissing.

    A folder above the package counts only beside a `pyproject.toml`: in site-packages it would be a stranger's.
    """
    from pathlib import Path

    return Path(_folder(kind, str(package)))


def _folder(kind: str, package: str) -> str:
    above = os.path.dirname(package)
    packed, top = os.path.join(package, "_data", kind), os.path.join(above, kind)
    if os.path.isdir(packed):
        return packed
    if os.path.isdir(top) and os.path.isfile(os.path.join(above, "pyproject.toml")):
        return top
    from pathlib import Path

    raise DataMissing(kind, (Path(packed), Path(top)))
