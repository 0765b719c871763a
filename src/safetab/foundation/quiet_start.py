"""Ctrl-C while the command `safetab` is still being loaded: exit code 130, a word, and no traceback.

Imported first of all. A program of its own that imports safetab keeps its ways.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import NoReturn

_INTERRUPTED = 130
_WITH_VALUE = "WXcm"
_LONG_OPTION = "--check-hash-based-pycs"  # the only long one with a value


def is_the_command(arguments: list[str]) -> bool:
    """From how the interpreter was called, itself first."""
    option, program = _program_of(arguments[1:])
    if option:
        return option == "m" and program == "safetab"
    return os.path.basename(program) in {"safetab", "safetab.exe"}  # noqa: PTH119 - nothing else is loaded yet


def _program_of(arguments: list[str]) -> tuple[str, str]:
    """What the interpreter runs: a module ("m"), a text ("c") or a file (""); its own options come before that."""
    waiting = iter(arguments)
    for one in waiting:
        if one == _LONG_OPTION:
            next(waiting, "")
        if one.startswith("--"):
            continue
        if not one.startswith("-"):
            return "", one
        with_value = next((position for position, letter in enumerate(one) if letter in _WITH_VALUE), None)
        if with_value is not None:  # as in -um safetab
            value = one[with_value + 1 :] or next(waiting, "")
            if one[with_value] in "cm":
                return one[with_value], value
    return "", ""


def end_interrupted() -> NoReturn:
    """Nothing was begun, so there is nothing to clear away."""
    if sys.stderr is not None:  # as with 2>&-
        with suppress(OSError):
            sys.stderr.write("Interrupted.\n")
            sys.stderr.flush()
    os._exit(_INTERRUPTED)


def _end_quietly(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        end_interrupted()
    sys.__excepthook__(kind, error, traceback)


if is_the_command(sys.orig_argv):
    sys.excepthook = _end_quietly
