"""Where the data that ships with the packages is: fixtures beside `labsim`, notebooks beside `workbook`.

Sits beside the engine, not under it: nothing that decides imports this. A wheel carries the data inside the package
(`_data/fixtures`); a checkout, and an editable install of it, keeps it at the top (`fixtures/`). Both are ordinary
folders, since pip unpacks every wheel, so a plain path is enough. Nothing is looked at before a function is called.
"""

from __future__ import annotations

from pathlib import Path

from labsim.errors import LabsimError


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
    return shipped("fixtures", Path(__file__).resolve().parent)


def case_files() -> list[Path]:
    """The built-in files of cases; a desk's own come before its further ones (`…-more`). Raises: DataMissing."""
    return sorted(fixtures_dir().glob("*-desk*.json"), key=lambda path: path.stem)


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


def shipped(kind: str, package: Path) -> Path:
    """The folder of that kind of data for a package folder. Raises: DataMissing.

    A folder above the package counts only beside a `pyproject.toml`: in site-packages it would be a stranger's.
    """
    packed, top = package / "_data" / kind, package.parent / kind
    if packed.is_dir():
        return packed
    if top.is_dir() and (package.parent / "pyproject.toml").is_file():
        return top
    raise DataMissing(kind, (packed, top))
