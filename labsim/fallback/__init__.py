"""File write and delete fallbacks: where a host can plug in an authority of its own.

A registered handler grants nothing by itself, and neither does an approval: the operating system still denies.
"""

from labsim.case.fallback import Target
from labsim.fallback.classify import SimulatedError, error_code, is_permission_denied
from labsim.fallback.events import FallbackEvent, HandlerAnswer, NodeKind
from labsim.fallback.file_tree import FileLayer, InertFiles
from labsim.fallback.mutations import delete_file, write_file
from labsim.fallback.player import play_classify, play_fallback
from labsim.fallback.registration import ExtensionFallbacks, FallbackInstallation
from labsim.fallback.registry import (
    DeleteRequest,
    FallbackRegistries,
    Registry,
    WriteRequest,
    current_session,
    mutation_session,
)
from labsim.fallback.routing import ROUTES, Operation, explain
from labsim.fallback.targets import resolve_target
from labsim.terms import ErrorKind, Seam

__all__ = [
    "ROUTES",
    "DeleteRequest",
    "ErrorKind",
    "ExtensionFallbacks",
    "FallbackEvent",
    "FallbackInstallation",
    "FallbackRegistries",
    "FileLayer",
    "HandlerAnswer",
    "InertFiles",
    "NodeKind",
    "Operation",
    "Registry",
    "Seam",
    "SimulatedError",
    "Target",
    "WriteRequest",
    "current_session",
    "delete_file",
    "error_code",
    "explain",
    "is_permission_denied",
    "mutation_session",
    "play_classify",
    "play_fallback",
    "resolve_target",
    "write_file",
]
