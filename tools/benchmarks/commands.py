"""Commands, and what they cost.

This process stays small: Linux counts a parent's memory into its child's peak.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36  # from <sys/prctl.h>
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
    """Runs a command to its good end.

    What it cost is what the system says of it and of all that it started. A process whose parent
    ended before it becomes a child of this one, as Spark's Python does.
    """
    _take_orphans()
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            arguments, stdout=printed, stderr=errors, env={**os.environ, **environment}
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu_seconds = usage.ru_utime + usage.ru_stime + _cpu_seconds_of_orphans()
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(
                f"{arguments} ended with {process.returncode}:\n{errors.read().decode()}"
            )
        printed.seek(0)
        cost = Cost(cpu_seconds, wall_seconds, usage.ru_maxrss * 1024)
        return Ended(cost, printed.read().decode())


def _take_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _cpu_seconds_of_orphans() -> float:
    """Once they have ended."""
    seconds = 0.0
    with suppress(ChildProcessError):
        while True:
            _, _, usage = os.wait4(-1, 0)
            seconds += usage.ru_utime + usage.ru_stime
    return seconds


def measured_safetab(*arguments: str | Path | int) -> Ended:
    return measured([SAFETAB, *map(str, arguments)])


def measured_program(module: str, *arguments: str | Path, **environment: str) -> Ended:
    return measured(
        [sys.executable, "-m", f"tools.benchmarks.{module}", *map(str, arguments)], **environment
    )
