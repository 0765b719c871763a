"""Standard output and error as the commands use them: nobody listening doesn't change what a command does."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import TextIO

_NOBODY_READS = {errno.EPIPE, errno.EBADF}


class _Stream(io.FileIO):
    """Once it can't be written to, it leads nowhere, and remembers why."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.error: OSError | None = None

    def write(self, content: object) -> int | None:  # type: ignore[override]
        try:
            while (written := super().write(content)) is None:  # type: ignore[arg-type]
                select.select([], [self.fileno()], [])  # a full pipe that doesn't wait by itself
            return written
        except OSError as error:
            self.error = self.error or error
            _lead_nowhere(self.fileno())
            return super().write(content)  # type: ignore[arg-type]


def open_standard_streams() -> None:
    """Both are UTF-8, whatever the terminal's locale claims: names of places are.

    One that was closed leads nowhere. Otherwise the next file that is opened would have its number, and messages of
    libraries would be written into it.
    """
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None and not _is_open(descriptor):
            _lead_nowhere(descriptor)
    sys.stdout, sys.stderr = _opened(1, sys.stdout), _opened(2, sys.stderr)


def is_unread() -> bool:
    """Whether the reader of standard output has had enough."""
    error = _error_of(sys.stdout)
    return error is not None and error.errno in _NOBODY_READS


def why_unwritten() -> str | None:
    """Why something on standard output was lost that somebody may miss."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return "unknown error"
    error = _error_of(sys.stdout)
    return None if error is None or error.errno in _NOBODY_READS else error.strerror or "unknown error"


def _error_of(stream: object) -> OSError | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw.error if isinstance(raw, _Stream) else None


def _opened(descriptor: int, before: TextIO | None) -> TextIO:
    if before is not None:
        before.flush()
    raw = _Stream(descriptor)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="replace", line_buffering=descriptor == 2 or raw.isatty()
    )


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _lead_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
