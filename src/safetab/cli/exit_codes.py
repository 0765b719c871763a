"""How a command ends."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Wrong usage (2) and Ctrl-C (130) come from the command-line library."""

    DONE = 0
    INVALID_INPUT = 1
    RUN_FAILED = 3
