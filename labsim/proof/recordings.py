"""Recorded answers on disk: JSON lines, plain or compressed."""

from __future__ import annotations

import zlib
from pathlib import Path

from labsim.errors import ReplayError


def read_lines(path: Path) -> list[bytes]:
    """The lines of one file of recorded answers. Raises: ReplayError if it is damaged, OSError if it is missing."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        import gzip

        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ReplayError(f"{path.name}: not a whole gzip file ({error}). Copy it again.") from None
    return data.split(b"\n")
