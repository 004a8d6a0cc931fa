"""A chapter as files: `chapter.toml`, read strictly, and where the other parts of the chapter are.

A chapter is a folder. Its `chapter.toml` says what the chapter is called and where it comes among the others; the
other parts have usual names, so that most chapters name none of them:

    id = "greenhouse-desk"
    title = "Ask once for the whole greenhouse"
    order = 60
    needs = ["boundary-desk"]

    # notebook = "notebook.ipynb", cases = "cases.json" (or a list; [] for a chapter without), and so on
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from labsim.errors import CaseError, did_you_mean, found_and_path

CHAPTER_FILE: Final = "chapter.toml"
EXERCISE_FILE: Final = "exercises.json"  # in the folder of exercises
_ID: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TOML_AT: Final = re.compile(
    r"^(?P<found>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$"
)
_WANTED: Final = {"str": "text", "int": "a whole number", "array": "a list", "bool": "true or false"}


class ChapterFiles(Struct, frozen=True, kw_only=True):
    """Where the parts of one chapter are. `cases` are read in order, and their ids share one space.

    `beliefs`: the files of beliefs, in order; their ids share one space, too. `engine`: the instructor's own
    Python, which is run when the chapter is opened; None for a chapter that needs none.
    """

    id: str
    cases: tuple[Path, ...]
    checkpoints: Path | None  # None: a chapter without any
    beliefs: tuple[Path, ...] = ()
    exercises: Path | None = None  # None: nothing is to be written in it
    engine: Path | None = None


class Place(Struct, frozen=True, kw_only=True):
    """Where a chapter is: the folder of its `chapter.toml`, which is where its parts are, too.

    `data`, `notebooks`: other folders that the paths in it start from. A chapter in one folder needs neither; the
    built-in ones share a folder of data and a folder of notebooks.
    """

    folder: Path
    data: Path | None = None
    notebooks: Path | None = None


class ChapterFile(Struct, frozen=True, kw_only=True):
    """What a `chapter.toml` says. `path` is the file itself; `order` sorts chapters, `needs` are ids of others.

    `parts`: the paths that the file names, by key; a key it does not name has its usual path, if there is such a
    file.
    """

    id: str
    title: str
    order: int
    needs: tuple[str, ...]
    path: Path
    place: Place
    parts: dict[str, tuple[str, ...]]

    @property
    def notebook(self) -> Path:
        """Where its notebook is, or should be."""
        (name,) = self.parts.get("notebook", ("notebook.ipynb",))
        return (self.place.notebooks or self.place.folder) / name

    @property
    def copy_name(self) -> str:
        """What a learner's copy of its notebook is called: its own name, or one made of the order and the id."""
        return self.notebook.name if "notebook" in self.parts else f"{self.order:02d}-{self.id}.ipynb"

    def files(self, beliefs: tuple[Path, ...] = ()) -> ChapterFiles:
        """Where its parts are, all of them looked at. `beliefs` come before its own.

        Raises: CaseError, for a part that the file names and that is not there, and for a chapter without cases
        that does not say so.
        """
        own = self._one("beliefs")
        exercises = self._one("exercises")
        if exercises is not None and exercises.is_dir():
            exercises /= EXERCISE_FILE
            if not exercises.is_file():
                raise CaseError(
                    f"{exercises.parent.name}/{EXERCISE_FILE}",
                    "there is no such file",
                    "Add it, or remove the folder.",
                )
        return ChapterFiles(
            id=self.id,
            cases=self._all("cases"),
            checkpoints=self._one("checkpoints"),
            beliefs=(*beliefs, *(() if own is None or own in beliefs else (own,))),
            exercises=exercises,
            engine=self._one("engine"),
        )

    def _one(self, key: str) -> Path | None:
        found = self._all(key)
        return found[0] if found else None

    def _all(self, key: str) -> tuple[Path, ...]:
        root = self.place.data or self.place.folder
        if key not in self.parts:
            usual = root / _USUAL[key]
            if usual.exists() and self.place.data is None:  # what lies in a shared folder is nobody's by its name
                return (usual,)
            if key == "cases":
                remedy = "Add it, or write cases = [] if the chapter has none."
                raise CaseError(_USUAL[key], "there is no such file", remedy)
            return ()
        for name in self.parts[key]:
            if not (root / name).exists():
                line = line_of(self.path.read_text(encoding="utf-8"), key)
                remedy = "Add it, or mend the name."
                raise CaseError(
                    f"{CHAPTER_FILE}: line {line}: {key}", f"there is no {name!r} in the chapter", remedy
                )
        return tuple(root / name for name in self.parts[key])


_USUAL: Final = {
    "notebook": "notebook.ipynb",
    "cases": "cases.json",
    "checkpoints": "checkpoints.json",
    "beliefs": "beliefs.json",
    "exercises": "exercises",
    "engine": "engine.py",
}
_REMEDIES: Final = {
    "id": 'Add id = "…", in small letters, digits and dashes.',
    "title": 'Add title = "…", which says what a learner does in the chapter.',
    "order": "Add order = …, a whole number: chapters are listed from the smallest up.",
}


class _Toml(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of the file."""

    id: str
    title: str
    order: int
    needs: list[str] = []
    notebook: str | UnsetType = UNSET
    cases: str | list[str] | UnsetType = UNSET
    checkpoints: str | UnsetType = UNSET
    beliefs: str | UnsetType = UNSET
    exercises: str | UnsetType = UNSET
    engine: str | UnsetType = UNSET


def read_chapter(place: Place) -> ChapterFile:
    """What the `chapter.toml` of a place says.

    Raises: CaseError, with the line, what was found there and what would do.
    """
    path = place.folder / CHAPTER_FILE
    text, raw = _read(path)
    try:
        file = msgspec.convert(raw, _Toml)
    except msgspec.ValidationError as error:
        raise _refusal(error, text) from None
    _check(file, text)
    named = {key: getattr(file, key) for key in _USUAL}
    return ChapterFile(
        id=file.id,
        title=file.title,
        order=file.order,
        needs=tuple(file.needs),
        path=path,
        place=place,
        parts={
            key: (value,) if isinstance(value, str) else tuple(value)
            for key, value in named.items()
            if value is not UNSET
        },
    )


def is_id(text: str) -> bool:
    """Whether a text can be a chapter's id: it goes into file names, case files and progress files."""
    return _ID.fullmatch(text) is not None


def line_of(toml: str, key: str) -> int:
    """The line of a TOML text, from 1, where a key at its top is set; 1 if it is not."""
    for number, line in enumerate(toml.splitlines(), start=1):
        if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return 1


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CaseError(CHAPTER_FILE, "the file is not UTF-8", "Save it as UTF-8.") from None
    except OSError as error:
        raise CaseError(
            f"{path}", f"it cannot be read ({error.strerror})", "A chapter's folder has one."
        ) from error
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _TOML_AT.match(str(error))
        found = at["found"] if at else str(error)
        line = int(at["line"]) if at and at["line"] else len(text.splitlines())
        remedy = 'Text stands in quotes: title = "Ask once".'
        raise CaseError(
            f"{CHAPTER_FILE}: line {line}", f"not TOML: {found[:1].lower()}{found[1:]}", remedy
        ) from None


def _refusal(error: msgspec.ValidationError, text: str) -> CaseError:
    found, path = found_and_path(error)
    key = re.match(r"\.?(\w*)", path)
    place = key[1] if key else ""
    if unknown := re.search(r"unknown field `(.*)`", found):
        known = _Toml.__struct_fields__
        remedy = did_you_mean(unknown[1], known, f"Known keys: {', '.join(known)}.")
        where = f"{CHAPTER_FILE}: line {line_of(text, unknown[1])}"
        return CaseError(where, f"the key {unknown[1]!r} is not known here", remedy)
    if missing := re.search(r"missing required field `(.*)`", found):
        return CaseError(CHAPTER_FILE, f"the key {missing[1]!r} is missing", _REMEDIES[missing[1]])
    where = f"{CHAPTER_FILE}: line {line_of(text, place)}: {place}"
    if wanted := re.search(r"Expected `(.*)`, got `(.*)`", found):
        kinds = [_WANTED.get(kind, kind) for kind in wanted[1].split(" | ")]
        return CaseError(where, f"it is {_WANTED.get(wanted[2], wanted[2])}", f"Use {' or '.join(kinds)}.")
    return CaseError(where, f"{found[:1].lower()}{found[1:]}", "See `workbook new-chapter` for an example.")


def _check(file: _Toml, text: str) -> None:
    def refuse(key: str, problem: str, remedy: str) -> CaseError:
        return CaseError(f"{CHAPTER_FILE}: line {line_of(text, key)}: {key}", problem, remedy)

    if not is_id(file.id):
        raise refuse("id", f"{file.id!r} is no id", "Use small letters, digits and single dashes: greenhouse-desk.")
    if not file.title.strip() or not file.title.isprintable():
        raise refuse("title", f"{file.title!r} is no title", "Use one line of text.")
    if not 0 <= file.order <= 999:
        raise refuse("order", f"{file.order} is out of range", "Use 0 to 999; the built-in chapters have 0 to 99.")
    if file.id in file.needs:
        raise refuse("needs", "a chapter cannot need itself", f"Remove {file.id!r}.")
    for key in _USUAL:
        value = getattr(file, key)
        names = [] if value is UNSET else [value] if isinstance(value, str) else value
        for name in names:
            path = PurePosixPath(name)
            if not name or "\\" in name or ":" in name or path.is_absolute() or ".." in path.parts:
                remedy = "Use a path inside the chapter's folder, with forward slashes."
                raise refuse(key, f"{name!r} leads out of the chapter", remedy)
