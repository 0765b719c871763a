"""Ctrl-C while the command `safetab` is still being loaded: exit code 130, and no traceback.

Imported first of all. A program of its own that imports safetab keeps its ways.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

_INTERRUPTED = 130


def is_the_command(arguments: list[str]) -> bool:
    """From how the interpreter was called, itself first."""
    return (
        arguments[1:3] == ["-m", "safetab"]
        or any(
            os.path.basename(one) in {"safetab", "safetab.exe"}  # noqa: PTH119 - nothing else is loaded yet
            for one in arguments[1:2]
        )
    )


def _end_quietly(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        os._exit(_INTERRUPTED)
    sys.__excepthook__(kind, error, traceback)


if is_the_command(sys.orig_argv):
    sys.excepthook = _end_quietly
