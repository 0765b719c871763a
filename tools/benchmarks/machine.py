"""Where and with what a benchmark was run: no names of machines, no paths."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

PACKAGES = ("duckdb", "numba", "numpy", "polars", "pyarrow", "pyspark")


def described_machine() -> list[str]:
    return [f"- {line}" for line in (_machine(), _versions())]


def _machine() -> str:
    model = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 10**9
    busy = os.getloadavg()[2]
    return (
        f"{model[1] if model else platform.machine()}, {len(os.sched_getaffinity(0))} cores,"
        f" {memory:.0f} GB; load average of the last quarter of an hour, this benchmark included:"
        f" {busy:.1f}"
    )


def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} not installed")
    return ", ".join(found)


def described_commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        changed = " with changes" if git("status", "--porcelain", "src") else ""
        return f"- commit {git('rev-parse', '--short=12', 'HEAD')}{changed}"
    except (OSError, subprocess.CalledProcessError):
        return "- commit unknown"
