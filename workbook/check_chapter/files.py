"""The first layer of `check_chapter`: is every file there, is it what its format asks for, and is it the author's?

A reader stops at the first fault of a file. An author wants all of them, so a list that is refused as a whole is
read again entry by entry.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from labsim.errors import CaseError
from labsim.reading.reading import parse_file
from labsim.strict_json import parse
from workbook.chapter.catalogue import Catalogue, Origin
from workbook.chapter.engine import EngineFailed, load_engine
from workbook.chapter.file import CHAPTER_FILE, line_of
from workbook.check_chapter.fault import Checking, Fault, Layer, fault_of, texts_in
from workbook.checkpoint.file import parse_beliefs, parse_checkpoints
from workbook.exercise.file import parse_exercises

Reader = Callable[[bytes, str], object]

#: Paths of somebody's machine. Teaching data may name /etc/hosts; whose home it was is nobody's business.
_HOME: Final = re.compile(
    r"(?<![\w/])(?:/home/[\w.-]+|/Users/[\w.-]+|/root|/tmp|/var/folders)/[^\s\"'`]*|[A-Z]:\\\\?Users\\"
)
_SECRETS: Final = {
    "a key of a cloud account": re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    "a token of a code host": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|glpat-[\w-]{20})\b"),
    "a key of a model service": re.compile(r"\bsk-[A-Za-z0-9_-]{20,}\b"),
    "a token of a chat service": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}\b"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
}


def check_files(checking: Checking, known: Catalogue) -> Iterator[Fault]:
    """Every fault of the files. `known`: all chapters that there are, this one included."""
    yield from _neighbours(checking, known)
    if checking.files.engine is not None:
        yield from _engine(checking, checking.files.engine)  # first: it registers what the cases name
    yield from _formats(checking)
    if not checking.chapter.notebook.is_file():
        name = checking.name(checking.chapter.notebook)
        yield _of_file(name, "there is no such file", "A chapter has a notebook; add it, or mend its name.")
    yield from private(checking)


def private(checking: Checking) -> Iterator[Fault]:
    """What belongs to a machine or a person, in any file of text. Notebooks included, with their outputs."""
    own = [checking.folder] if checking.chapter.place.data is None else []
    files = [found for folder in own for found in texts_in(folder)]
    if checking.chapter.place.data is not None:
        paths = [*checking.parts, checking.chapter.notebook]
        files = [(path, path.read_text(encoding="utf-8")) for path in paths if path.is_file()]
    here = [place for place in (str(checking.folder.absolute()), sys.prefix, str(Path.home())) if len(place) > 1]
    for path, text in files:
        for number, line in enumerate(text.splitlines(), start=1):
            found = _HOME.search(line)
            named = found[0].rstrip(",.") if found else next((place for place in here if place in line), None)
            if named is not None:
                remedy = "Say it without the machine it was on: a name, or a path inside the chapter."
                what = f"{named!r} is a path of somebody's machine"
                yield _of_file(checking.name(path), what, remedy, number)
            for what, pattern in _SECRETS.items():
                if pattern.search(line):
                    remedy = "Remove it here and in the history, and have it revoked."
                    yield _of_file(checking.name(path), f"this looks like {what}", remedy, number)


def _neighbours(checking: Checking, known: Catalogue) -> Iterator[Fault]:
    """What it says of other chapters, and whether its id is its own."""
    chapter, ids = checking.chapter, set(known.ids)
    toml = chapter.path.read_text(encoding="utf-8")
    for other in known.chapters:
        if other.id == chapter.id and other.chapter.path.resolve() != chapter.path.resolve():
            whose = "a built-in chapter" if other.origin is Origin.BUILT_IN else str(other.chapter.path)
            remedy = "Answers are kept by id: choose another."
            yield _of_file(
                CHAPTER_FILE, f"{chapter.id!r} is the id of {whose}, too", remedy, line_of(toml, "id"), "id"
            )
    for need in chapter.needs:
        if need not in ids:
            remedy = f"Use ids of chapters: {', '.join(one for one in known.ids if one != chapter.id)}."
            line = line_of(toml, "needs")
            yield _of_file(CHAPTER_FILE, f"there is no chapter {need!r}", remedy, line, "needs")
    for path in (*checking.files.cases, checking.files.checkpoints, checking.files.exercises):
        if path is not None and path.is_dir():
            yield _of_file(checking.name(path), "this is a folder", "It has to be a file.")


def _formats(checking: Checking) -> Iterator[Fault]:
    files = checking.files
    cases: dict[str, str] = {}
    for path in files.cases:
        yield from _read(checking, path, "cases", parse_file)
        yield from _twice(checking, path, "cases", cases, "case")
    if files.checkpoints is not None:
        yield from _read(checking, files.checkpoints, "checkpoints", parse_checkpoints)
        yield from _whose(checking, files.checkpoints)
    beliefs: dict[str, str] = {}
    for path in files.beliefs:
        yield from () if checking.is_foreign(path) else _read(checking, path, "beliefs", parse_beliefs)
        yield from _twice(checking, path, "beliefs", beliefs, "belief")
    if files.exercises is not None:
        chapter_id = checking.chapter.id
        yield from _read(
            checking, files.exercises, "exercises", lambda data, name: parse_exercises(data, name, chapter_id)
        )


def _read(checking: Checking, path: Path, key: str, reader: Reader) -> Iterator[Fault]:
    """Each fault that a reader finds in a file whose entries are the list `key`."""
    if path.is_dir():
        return
    data, name = path.read_bytes(), checking.name(path)
    text = data.decode(errors="replace")
    try:
        reader(data, name)
        return
    except CaseError as error:
        whole = fault_of(error, Layer.FILES, name, text)
    found = list(_each(data, name, key, reader))
    faults = [fault_of(error, Layer.FILES, name, text) for error in found]
    yield from faults if _entry(whole, key) in {_entry(fault, key) for fault in faults} else [whole, *faults]


def _entry(fault: Fault, key: str) -> str:
    """The entry of the list that a fault is in, as its place begins; "" for none."""
    head = re.match(rf"{key}\[\d+\]", fault.place)
    return head[0] if head else ""


def _each(data: bytes, name: str, key: str, reader: Reader) -> Iterator[CaseError]:
    """What is wrong with each entry by itself; nothing, if the file has no such list."""
    try:
        raw: Any = parse(data, name)
    except CaseError:
        return
    entries = raw.get(key) if isinstance(raw, dict) else None
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        alone = {k: v for k, v in entry.items() if k != "retest"} if isinstance(entry, dict) else entry
        try:
            reader(_encoded({**raw, key: [alone]}), name)
        except CaseError as error:
            if f"{key}[0]" in error.place:
                yield CaseError(error.place.replace(f"{key}[0]", f"{key}[{number}]", 1), error.found, error.remedy)


def _encoded(value: object) -> bytes:
    import json

    return json.dumps(value).encode()


def _twice(checking: Checking, path: Path, key: str, seen: dict[str, str], what: str) -> Iterator[Fault]:
    """Ids that an earlier file of the chapter has used already; twice in one file is the reader's to refuse."""
    if path.is_dir():
        return
    name, text = checking.name(path), path.read_text(encoding="utf-8", errors="replace")
    try:
        raw: Any = parse(path.read_bytes(), name)
    except CaseError:
        return
    here: dict[str, str] = {}
    for number, entry in enumerate(raw.get(key, ()) if isinstance(raw, dict) else ()):
        entry_id = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(entry_id, str):
            continue
        if entry_id in seen:
            error = CaseError(
                f"{name}: {key}[{number}].id",
                f"{seen[entry_id]} has a {what} of the id {entry_id!r}",
                f"Give each {what} an id of its own.",
            )
            yield fault_of(error, Layer.FILES, name, text)
        here[entry_id] = "the built-in data" if checking.is_foreign(path) else name
    seen |= here


def _whose(checking: Checking, path: Path) -> Iterator[Fault]:
    """Answers are kept by chapter, so a copied file must not answer for the original."""
    name = checking.name(path)
    try:
        raw: Any = parse(path.read_bytes(), name)
    except CaseError:
        return
    said = raw.get("chapter") if isinstance(raw, dict) else None
    if isinstance(said, str) and said != checking.chapter.id:
        error = CaseError(f"{name}: chapter", f"{said!r} is another chapter", f"Use {checking.chapter.id!r}.")
        yield fault_of(error, Layer.FILES, name, path.read_text(encoding="utf-8"))


def _engine(checking: Checking, path: Path) -> Iterator[Fault]:
    """Whether `engine.py` runs and registers."""
    try:
        load_engine(checking.chapter.id, path)
    except EngineFailed as error:
        remedy = "It has to run by itself, and to define register(kit)."
        yield _of_file(checking.name(path), error.found, remedy, error.line)


def _of_file(file: str, problem: str, remedy: str, line: int | None = None, place: str = "") -> Fault:
    return Fault(layer=Layer.FILES, file=file, line=line, place=place, found=problem, remedy=remedy)
