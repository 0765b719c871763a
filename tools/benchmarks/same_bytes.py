"""Outputs of one test key that must not differ."""

from __future__ import annotations

import filecmp
from pathlib import Path

KEY = "5a" * 32


def require_same_bytes(one: Path, other: Path) -> None:
    names = [
        sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
        for out in (one, other)
    ]
    _, different, failed = filecmp.cmpfiles(one, other, names[0], shallow=False)
    if names[0] != names[1] or different or failed:
        raise RuntimeError(f"runs with one key do not write the same: {different or names}")
