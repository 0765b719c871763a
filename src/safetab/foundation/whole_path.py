"""Paths as people give them, made whole."""

from __future__ import annotations

import os
from pathlib import Path


def resolved(path: Path) -> Path:
    """Where the path leads, as far as that can be told: `Path.resolve` raises on links that go in a circle."""
    return Path(os.path.realpath(path))


def whole_path(path: Path) -> Path:
    """Absolute and without `.` and `..`, so that a name and a parent are what they seem."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow links
