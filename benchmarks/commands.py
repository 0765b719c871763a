"""Commands, and what they cost. This process stays small: Linux counts a parent's memory into its child's peak."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SAFETAB = str(Path(sys.executable).with_name("safetab"))


@dataclass(frozen=True, slots=True)
class Cost:
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Ended:
    cost: Cost
    printed: str


def measured(arguments: list[str], **environment: str) -> Ended:
    """Runs a command to its good end; what it cost is what the system says of it and of its children."""
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(arguments, stdout=printed, stderr=errors, env={**os.environ, **environment})
        _, status, usage = os.wait4(process.pid, 0)
        wall_seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{arguments} ended with {process.returncode}:\n{errors.read().decode()}")
        printed.seek(0)
        cost = Cost(usage.ru_utime + usage.ru_stime, wall_seconds, usage.ru_maxrss * 1024)
        return Ended(cost, printed.read().decode())


def measured_safetab(*arguments: str | Path | int) -> Ended:
    return measured([SAFETAB, *map(str, arguments)])


def measured_program(module: str, *arguments: str | Path, **environment: str) -> Ended:
    return measured([sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)], **environment)
