"""Paths as people give them, made whole."""

from __future__ import annotations

import os
from pathlib import Path


def whole_path(path: Path) -> Path:
    """Absolute and without `.` and `..`, so that a name and a parent are what they seem."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow links
