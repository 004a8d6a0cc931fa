"""The write and the delete of a native tool, with the two seams in them (fallback/write-1 to fallback/write-8,
fallback/delete-1 to fallback/delete-7).

The numbered comments are the steps of those rules. Nothing here grants anything: with an empty registry both
functions are the primitive and nothing else (fallback/F-12).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import NoReturn

from labsim.fallback.classify import error_code, error_text, is_permission_denied
from labsim.fallback.events import (
    Emit,
    MutationRaised,
    MutationReturned,
    NodeKind,
    ParentMade,
    ParentRefused,
    PrimitiveAttempted,
    TargetInspected,
    TargetResolved,
    TargetUnresolvable,
    unheard,
)
from labsim.fallback.file_tree import FileLayer
from labsim.fallback.registry import DeleteRequest, FallbackRegistries, WriteRequest, consult, current_session
from labsim.fallback.targets import resolve_target
from labsim.terms import Seam

#: The tool's own system call, with its arguments bound. What it raises is what the tool would see.
Primitive = Callable[[], object]


def write_file(
    path: str,
    content: str,
    *,
    files: FileLayer,
    registries: FallbackRegistries,
    primitive: Primitive | None = None,
    emit: Emit = unheard,
) -> None:
    """Write `content` to `path`, offering the write to the registered handlers if it is denied.

    primitive: replaces the plain write of `files`; called once, or twice if a missing parent directory was
    made in between (fallback/F-21). Returns once the bytes are written or a handler says so; the caller goes on
    with the path it asked for (fallback/F-25).
    Raises: the error object of the latest attempt, itself (fallback/F-16).
    """
    run = primitive or (lambda: files.write_text(path, content))
    attempt = 1
    error = _attempt(run, Seam.WRITE, attempt, emit)  # fallback/write-1
    cause: BaseException | None = None
    if error is not None and registries.writes.has_any:  # fallback/write-2, fallback/F-12
        if error_code(error) == "ENOENT":  # fallback/write-4; never a denial itself
            refusal = _make_parent(path, files, emit)
            if refusal is None:
                attempt = 2
                error = _attempt(run, Seam.WRITE, attempt, emit)
            elif is_permission_denied(refusal):
                cause = refusal
        if cause is None and is_permission_denied(error):  # fallback/write-3, fallback/write-5, fallback/F-42
            cause = error
    if error is None:
        emit(MutationReturned(seam=Seam.WRITE, by_handler=False))
        return
    if cause is not None and _offer_write(path, content, cause, files, registries, emit):
        emit(MutationReturned(seam=Seam.WRITE, by_handler=True))
        return
    # fallback/write-8: the caller is told ENOENT for a path already known to be denied, so the denial goes along.
    hidden = cause is not None and cause is not error and error.__cause__ is None
    if hidden:
        error.__cause__ = cause
    _raise(error, Seam.WRITE, attempt, emit, cause_attached=hidden)


def delete_file(
    path: str,
    *,
    files: FileLayer,
    registries: FallbackRegistries,
    primitive: Primitive | None = None,
    emit: Emit = unheard,
) -> None:
    """Unlink `path`, offering the unlink to the registered handlers if it is denied.

    primitive: replaces the plain unlink of `files`; called once. Nothing is made on the way here, so a
    missing file hides no denial and its ENOENT always leaves.
    Raises: the primitive's error object, itself (fallback/F-16).
    """
    error = _attempt(primitive or (lambda: files.unlink(path)), Seam.DELETE, 1, emit)  # fallback/delete-1
    if error is None:
        emit(MutationReturned(seam=Seam.DELETE, by_handler=False))
        return
    if (
        registries.deletes.has_any  # fallback/delete-2, fallback/F-12
        and is_permission_denied(error)  # fallback/F-42
        and _offer_delete(path, error, files, registries, emit)
    ):
        emit(MutationReturned(seam=Seam.DELETE, by_handler=True))
        return
    _raise(error, Seam.DELETE, 1, emit, cause_attached=False)


def _attempt(primitive: Primitive, seam: Seam, attempt: int, emit: Emit) -> Exception | None:
    """Run the primitive once and hand its error back instead of raising it: raising would end the search."""
    failure: Exception | None = None
    try:
        primitive()
    except Exception as error:
        failure = error
    emit(
        PrimitiveAttempted(
            seam=seam,
            attempt=attempt,
            succeeded=failure is None,
            denied=is_permission_denied(failure),
            code=error_code(failure),
        )
    )
    return failure


def _make_parent(path: str, files: FileLayer, emit: Emit) -> Exception | None:
    """fallback/write-4: the missing parent, made for good (fallback/F-22); the error if it cannot be."""
    parent = posixpath.dirname(path)
    try:
        files.make_directories(parent)
    except Exception as error:
        emit(ParentRefused(path=parent, denied=is_permission_denied(error), code=error_code(error)))
        return error
    emit(ParentMade(path=parent))
    return None


def _offer_write(
    path: str,
    content: str,
    cause: BaseException,
    files: FileLayer,
    registries: FallbackRegistries,
    emit: Emit,
) -> bool:
    """Whether a handler did the work."""
    target = _resolve(path, follow_last=True, files=files, emit=emit)  # fallback/write-6
    if target is None:
        return False  # fallback/F-36
    # fallback/write-7: the destination is absolute, the content what the tool meant to write (fallback/F-23).
    request = WriteRequest(dst=target, content=content, cause=cause, session_id=current_session())
    return consult(
        registries.writes.snapshot(),
        lambda handler: handler(request),
        seam=Seam.WRITE,
        target=target,
        emit=emit,
    )


def _offer_delete(
    path: str, cause: BaseException, files: FileLayer, registries: FallbackRegistries, emit: Emit
) -> bool:
    """Whether a handler did the work."""
    target = _resolve(path, follow_last=False, files=files, emit=emit)  # fallback/delete-3
    if target is None:
        return False  # fallback/F-36
    kind: NodeKind | None = None
    failure: Exception | None = None
    try:
        kind = files.inspect(target)  # fallback/delete-4
    except Exception as error:
        failure = error
    denied = is_permission_denied(failure)
    emit(TargetInspected(target=target, kind=kind, denied=denied, code=error_code(failure)))
    if failure is not None and not denied:
        return False
    if kind is NodeKind.DIRECTORY:  # fallback/delete-5: its EPERM need not be a boundary (fallback/F-28)
        return False
    request = DeleteRequest(
        dst=target,
        cause=cause,
        confirmed_file=kind is NodeKind.FILE,  # fallback/delete-6
        session_id=current_session(),
    )
    return consult(  # fallback/delete-7
        registries.deletes.snapshot(),
        lambda handler: handler(request),
        seam=Seam.DELETE,
        target=target,
        emit=emit,
    )


def _resolve(path: str, *, follow_last: bool, files: FileLayer, emit: Emit) -> str | None:
    target = resolve_target(path, follow_last=follow_last, files=files)
    emit(TargetUnresolvable(path=path) if target is None else TargetResolved(path=path, target=target))
    return target


def _raise(error: Exception, seam: Seam, attempt: int, emit: Emit, *, cause_attached: bool) -> NoReturn:
    emit(
        MutationRaised(
            seam=seam,
            attempt=attempt,
            code=error_code(error),
            message=error_text(error),
            cause_attached=cause_attached,
        )
    )
    raise error
