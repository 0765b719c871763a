"""The curator's own view: the progress of long work, and the confidential log.

The log has row counts, progress and reasons. Only its owner can read it; no output holds it.
"""

from __future__ import annotations

import datetime
import errno
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self


class Progress(Protocol):
    """A display of the steps of a run."""

    def step(self, name: str, parts: int) -> None:
        """End the step before, and begin one with this many parts: levels, files or records."""

    def advance(self, parts: int = 1) -> None:
        """Count this many more parts as done."""

    def note(self, text: str) -> None:
        """Show useful information. It holds nothing from a record."""

    def tell(self, text: str) -> None:
        """Show something the curator should know before the run continues.

        It holds nothing from a record.
        """


class NoProgress:
    """Shows no progress. Messages go to Python's logging, by default to standard error."""

    def step(self, name: str, parts: int) -> None:
        pass

    def advance(self, parts: int = 1) -> None:
        pass

    def note(self, text: str) -> None:
        logging.getLogger("safetab").info(text)

    def tell(self, text: str) -> None:
        logging.getLogger("safetab").warning(text)


class ConfidentialLog:
    """Appends lines with the time to a file of mode 0600.

    Raises OSError for a link or another kind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.fdopen(_opened(path), "a", encoding="utf-8", errors="backslashreplace")

    def write(self, line: str) -> None:
        """Append one line and flush it."""
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        self._file.write(f"{now} {line}\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # every line was flushed or raised when it was written
            self._file.close()


def _opened(path: Path) -> int:
    """Open the log without waiting for the reader of a pipe.

    Without O_NONBLOCK, opening a pipe would wait.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    opened = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        os.fchmod(opened, 0o600)
    except OSError:
        os.close(opened)
        raise
    return opened
