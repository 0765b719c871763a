"""How a command ends."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Wrong usage (2) comes from the command-line library; SIGTERM is 143, SIGHUP 129: 128 and the signal's number."""

    DONE = 0
    INVALID_INPUT = 1
    RUN_FAILED = 3
    INTERRUPTED = 130
