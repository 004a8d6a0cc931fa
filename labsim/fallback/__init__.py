"""File write and delete fallbacks: where a host can plug in an authority of its own (spec/fallback.md).

One concept a module, lowest first: `classify` (is it a denial), `events` (the ledger's records), `layer` (the
files, in memory), `targets` (where a call really acts), `registry` (who is asked), `attribution` (for which
session), `installation` (how extensions get in), `algorithms` (write and delete), `routing` (what comes here
at all); then `layouts`, `given` and `player`, which play cases. Imported by `labsim.play`; of the rest it
imports `errors`, `events`, `hostvalues` and `terms`.

A registered handler grants nothing by itself, and neither does an approval: the operating system still denies.
"""

from labsim.fallback.algorithms import delete_file, write_file
from labsim.fallback.attribution import current_session, mutation_session
from labsim.fallback.classify import ErrorKind, SimulatedError, error_code, is_permission_denied
from labsim.fallback.events import FallbackEvent, HandlerAnswer, NodeKind, Seam
from labsim.fallback.installation import ExtensionFallbacks, FallbackInstallation
from labsim.fallback.layer import FileLayer, InertFiles
from labsim.fallback.layouts import Target
from labsim.fallback.player import play_classify, play_fallback
from labsim.fallback.registry import DeleteRequest, FallbackRegistries, Registry, WriteRequest
from labsim.fallback.routing import ROUTES, Operation, explain
from labsim.fallback.targets import resolve_target

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
