"""A chapter's `engine.py`: run when the chapter is opened, and only then; what it registers is what cases can name.

This is the instructor's own code and runs with the permissions of whoever opens the chapter, as its notebook does.
No case can bring code along: a case is data, and names what is registered.
"""

from __future__ import annotations

import sys
import traceback
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Final

from labsim.extras import Kit
from workbook.errors import WorkbookError

REGISTER: Final = "register"
_LOADED: Final[dict[str, tuple[Path, str]]] = {}


class EngineFailed(WorkbookError):
    """A chapter's `engine.py` cannot be used. Attributes: `path`, `line` (None: none in particular), `found`."""

    def __init__(self, path: Path, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        self.found = problem
        where = "" if line is None else f": line {line}"
        super().__init__(f"{path.name}{where}: {problem}. It is run when the chapter is opened.")


def load_engine(chapter: str, path: Path | None) -> None:
    """Run a chapter's code and have it register; nothing, if it has none or this very text was run last.

    Raises: EngineFailed, whatever goes wrong in it.
    """
    if path is None:
        if _LOADED.pop(chapter, None):
            Kit(chapter)  # it had one before
        return
    text = path.read_bytes()
    key = (path.resolve(), sha256(text).hexdigest())
    if _LOADED.get(chapter) == key:
        return
    name = f"cedar_engine_{chapter.replace('-', '_')}"
    loader = SourceFileLoader(name, str(path))
    spec = spec_from_loader(name, loader)
    assert spec is not None  # of a loader that was just made
    module = module_from_spec(spec)
    sys.modules[name] = module  # as for any import: its classes are looked up by it
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)  # the loader would leave a cache behind
        register = getattr(module, REGISTER, None)
        if not callable(register):
            raise EngineFailed(path, None, f"there is no function {REGISTER}(kit)")
        register(Kit(chapter))
    except EngineFailed:
        raise
    except Exception as error:  # somebody else's code, which may raise anything
        _LOADED.pop(chapter, None)
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        raise EngineFailed(path, _line(error, path), f"{type(error).__name__}: {said}".rstrip(".")) from error
    _LOADED[chapter] = key


def _line(error: Exception, path: Path) -> int | None:
    """The last line of the file itself that the error came through."""
    if isinstance(error, SyntaxError):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None
