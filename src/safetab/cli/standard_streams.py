"""Standard output and error; a command works the same if nobody reads them."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import TextIO

_NOBODY_READS = {errno.EPIPE, errno.EBADF}


class _Stream(io.FileIO):
    """A stream that discards everything after its first error, and remembers that error."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.error: OSError | None = None

    def write(self, content: object) -> int | None:  # type: ignore[override]
        try:
            while (written := super().write(content)) is None:  # type: ignore[arg-type]
                select.select([], [self.fileno()], [])  # a full pipe that does not block
            return written
        except OSError as error:
            self.error = self.error or error
            _discard(self.fileno())
            return super().write(content)  # type: ignore[arg-type]


def open_standard_streams() -> None:
    """Open both as UTF-8, whatever the locale says: names of areas need it.

    A stream that was closed discards what is written. Otherwise the next file that is opened would
    get its number, and messages of libraries would end up in that file.
    """
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        try:
            os.fstat(descriptor)
        except OSError:
            if stream is None:
                _discard(descriptor)
    sys.stdout, sys.stderr = _opened(1, sys.stdout), _opened(2, sys.stderr)


def is_unread(output: TextIO | None = None) -> bool:
    """Whether the reader of standard output has left."""
    error = _error_of(output or sys.stdout)
    return error is not None and error.errno in _NOBODY_READS


def why_unwritten() -> str | None:
    """Why text on standard output was lost, or None; a reader who left lost nothing."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return "unknown error"
    error = _error_of(sys.stdout)
    return (
        None if error is None or error.errno in _NOBODY_READS else error.strerror or "unknown error"
    )


def _error_of(stream: object) -> OSError | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw.error if isinstance(raw, _Stream) else None


def _opened(descriptor: int, before: TextIO | None) -> TextIO:
    """The stream of a descriptor as UTF-8 text; earlier text is flushed first."""
    if before is not None:
        before.flush()
    raw = _Stream(descriptor)
    by_line = descriptor == 2 or raw.isatty()
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="replace", line_buffering=by_line
    )


def _discard(descriptor: int) -> None:
    """Connect the descriptor to the null device."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
