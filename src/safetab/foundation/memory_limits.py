"""Limits on memory that were set for this process: a command keeps to them, or says at once that they are too small.

Under a limit on the address space NumPy, Arrow and DuckDB may crash, or wait for ever, where they would need more. So
they are told to reserve little, before they are loaded, and where even that is too much nothing is loaded. The numbers
are measured: docs/testing-faults.md#memory. Imported before any library is, so it imports little itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

try:
    import resource
except ModuleNotFoundError:  # Windows has no such limits
    HAS_LIMITS = False
else:
    HAS_LIMITS = True

LEAST_ADDRESS_SPACE, LEAST_MEMORY = 500 << 20, 200 << 20
"""In bytes, of a command that reads no records."""

LEAST_FOR_RECORDS, LEAST_MEMORY_FOR_RECORDS = 900 << 20, 300 << 20
_OF_RECORDS = {"run", "validate", "accuracy", "audit", "convert", "blocks-with-units", "demo", "synthesize", "selftest"}
_ARENA_MAX = -8  # M_ARENA_MAX of the C library's mallopt
_CGROUPS = "/sys/fs/cgroup"


def address_space_limit() -> int | None:
    """In bytes; None if there is none."""
    if not HAS_LIMITS:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def why_too_little(command: str, space: int | None, memory: int | None) -> str | None:
    """A sentence, if a command can't be sure to begin under these limits; None stands for no limit."""
    is_of_records = command in _OF_RECORDS
    least_space = LEAST_FOR_RECORDS if is_of_records else LEAST_ADDRESS_SPACE
    least_memory = LEAST_MEMORY_FOR_RECORDS if is_of_records else LEAST_MEMORY
    if space is not None and space < least_space:
        return _too_little(command, space, "address space (`ulimit -v`)", least_space)
    if memory is not None and memory < least_memory:
        return _too_little(command, memory, "memory (by its control group, as that of a container)", least_memory)
    return None


def _too_little(command: str, limit: int, of_what: str, least: int) -> str:
    return (
        f"this process is limited to {limit >> 20} MB of {of_what}, and safetab {command} needs {least >> 20} MB or"
        " more of it. Nothing was written. Raise the limit."
    )


def reserve_little() -> None:
    """Libraries that are loaded from now on take about as much address space as they use.

    Otherwise Arrow's allocator reserves 1 GB, and the C library 64 MB a thread. (OpenBLAS has one thread anyway.)
    """
    import ctypes  # noqa: PLC0415 - only under a limit

    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)


def control_group_limit(root: str = _CGROUPS, own: str = "/proc/self/cgroup") -> int | None:
    """The least memory, in bytes, that a control group of this process or one above it may use, if there is a limit."""
    try:
        with open(own, encoding="utf-8") as file:  # noqa: PTH123 - nothing else is loaded yet
            groups = [line.rstrip("\n").split(":", 2) for line in file]
    except (OSError, ValueError):
        return None
    limits: list[int] = []
    for _, controllers, path in (group for group in groups if len(group) == 3):
        if not controllers:
            limits += _limits_above(root, path, "memory.max")
        elif "memory" in controllers.split(","):
            limits += _limits_above(f"{root}/memory", path, "memory.limit_in_bytes")
    return min(limits, default=None)


def _limits_above(folder: str, path: str, name: str) -> Iterator[int]:
    """Of the group and of those above it, which hold for it too."""
    parts = [part for part in path.split("/") if part not in {"", ".."}]
    for count in range(len(parts) + 1):
        try:
            with open("/".join((folder, *parts[:count], name)), encoding="utf-8") as file:  # noqa: PTH123
                yield int(file.read())
        except (OSError, ValueError):  # no such group here, or "max"
            continue
