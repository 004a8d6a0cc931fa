"""What the tests of the fallback rules share: a watched tree, scripted primitives and handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labsim.fallback import (
    FallbackEvent,
    FallbackRegistries,
    InertFiles,
    NodeKind,
    delete_file,
    write_file,
)

DENIED = ("EACCES: synthetic", "EACCES")
MISSING = ("ENOENT: synthetic", "ENOENT")


class WatchedFiles(InertFiles):
    """A tree that notes each operation it is asked for."""

    def __init__(self) -> None:
        super().__init__(cwd="/desk")
        self.asked: list[tuple[str, str]] = []
        self.add_directory("/desk")
        self.add_directory("/desk/sub")
        self.add_directory("/desk/locked", mode=0o555, owner="root")
        self.add_file("/desk/card", "old")
        self.add_file("/desk/locked/card", "kept", mode=0o444, owner="root")
        self.add_link("/desk/link", "card")

    def real_path(self, path: str) -> str:
        self.asked.append(("real_path", path))
        return super().real_path(path)

    def inspect(self, path: str) -> NodeKind:
        self.asked.append(("inspect", path))
        return super().inspect(path)

    def make_directories(self, path: str) -> None:
        self.asked.append(("make_directories", path))
        super().make_directories(path)


class Primitive:
    """Raises the given errors in turn and repeats the last; None succeeds. Keeps the very objects."""

    def __init__(self, *errors: Exception | None) -> None:
        self.errors = errors
        self.attempts = 0

    def __call__(self) -> None:
        error = self.errors[min(self.attempts, len(self.errors) - 1)]
        self.attempts += 1
        if error is not None:
            raise error


class Handler:
    """Answers as told and keeps the requests; an exception among the answers is raised."""

    def __init__(self, answer: object = True) -> None:
        self.answer = answer
        self.requests: list[Any] = []

    def __call__(self, request: object) -> object:
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


Listener = Callable[[FallbackEvent], object]
Ended = tuple[Exception | None, int]


def silent(event: FallbackEvent) -> None:
    """Nobody watches."""


def write(
    path: str,
    files: InertFiles,
    registries: FallbackRegistries,
    *errors: Exception | None,
    emit: Listener = silent,
) -> Ended:
    """Write `note` with a scripted primitive; the error that left, if any, and the attempts."""
    primitive = Primitive(*errors)
    try:
        write_file(path, "note", files=files, registries=registries, primitive=primitive, emit=emit)
    except Exception as error:
        return error, primitive.attempts
    return None, primitive.attempts


def delete(
    path: str,
    files: InertFiles,
    registries: FallbackRegistries,
    *errors: Exception | None,
    emit: Listener = silent,
) -> Ended:
    """Delete with a scripted primitive; as `write`."""
    primitive = Primitive(*errors)
    try:
        delete_file(path, files=files, registries=registries, primitive=primitive, emit=emit)
    except Exception as error:
        return error, primitive.attempts
    return None, primitive.attempts
