"""Where things are: for tests in any folder, so that none of them counts its own depth."""

from __future__ import annotations

from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
