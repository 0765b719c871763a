"""Guards of a starting command: memory limits, and Ctrl-C while it is still loading.

Under a limit on the address space NumPy and Arrow may crash or hang if they need more. So they are
set to reserve little, before they are loaded; if even that is too much, nothing is loaded. The
numbers are measured: docs/testing-faults.md#memory.

Ctrl-C gives one word, exit code 130, and no traceback. `safetab/__init__.py` imports this module
first, so it imports little itself. A program that imports safetab as a library keeps Python's own
behaviour.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import NoReturn

try:
    import resource
except ModuleNotFoundError:  # Windows has no such limits
    HAS_LIMITS = False
else:
    HAS_LIMITS = True

_LEAST = (500 << 20, 200 << 20)
_LEAST_FOR_RECORDS = (900 << 20, 300 << 20)
"""Address space and memory in bytes, for commands that read no records and for those that do."""

_READ_RECORDS = {  # commands
    "run", "validate", "accuracy", "compare", "audit", "cef", "convert", "blocks-with-units",
    "demo", "synthesize", "selftest",
}  # fmt: skip
_ARENA_MAX = -8  # M_ARENA_MAX of the C library's mallopt


def address_space_limit() -> int | None:
    """The limit on the address space in bytes, or None."""
    if not HAS_LIMITS:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def why_too_little(command: str, space: int | None, memory: int | None) -> str | None:
    """The reason why a command may be unable to start under these limits, or None if it can.

    A limit of None means that nothing is limited.
    """
    leasts = _LEAST_FOR_RECORDS if command in _READ_RECORDS else _LEAST
    resources = (
        "address space (`ulimit -v`)",
        "memory (by its control group, as that of a container)",
    )
    for limit, least, of_what in zip((space, memory), leasts, resources, strict=True):
        if limit is not None and limit < least:
            return (
                f"this process is limited to {limit >> 20} MB of {of_what},"
                f" and safetab {command} needs {least >> 20} MB or more of it. Nothing was written."
                " Raise the limit."
            )
    return None


def reserve_little() -> None:
    """Keep libraries that are loaded later from reserving far more address space than they use."""
    import ctypes  # noqa: PLC0415 - only under a limit

    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)


def control_group_limit(root: str = "/sys/fs/cgroup", own: str = "/proc/self/cgroup") -> int | None:
    """The least memory limit, in bytes, of this process's control group, or None.

    The groups above it count, too.
    """
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
    """The limits of a group and of those above it."""
    parts = [part for part in path.split("/") if part not in {"", ".."}]
    for count in range(len(parts) + 1):
        try:
            with (
                open(  # noqa: PTH123
                    "/".join((folder, *parts[:count], name)), encoding="utf-8"
                ) as file
            ):
                yield int(file.read())
        except (OSError, ValueError):  # no such group here, or "max"
            continue


def end_interrupted() -> NoReturn:
    """Say "Interrupted." and exit with code 130. Nothing was begun, so there is nothing to undo."""
    import signal  # noqa: PLC0415 - nothing else is loaded yet

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one changes nothing
    if sys.stderr is not None:  # None after 2>&-
        with suppress(OSError):
            sys.stderr.write("Interrupted.\n")
    sys.exit(130)


def is_the_command(program: str) -> bool:
    """Whether `sys.argv[0]` is that of the command, or "-m".

    It is "-m" while `python -m safetab` is found.
    """
    # pathlib is not loaded yet.
    return program == "-m" or (
        os.path.basename(program) in {"safetab", "safetab.exe"}  # noqa: PTH119
    )


def _end_quietly(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        end_interrupted()
    sys.__excepthook__(kind, error, traceback)


if is_the_command(sys.argv[0] if sys.argv else ""):
    sys.excepthook = _end_quietly
