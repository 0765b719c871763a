"""The curator's log: row counts, progress, reasons; readable by its owner alone, never inside an output."""

from __future__ import annotations

import datetime
import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class ConfidentialLog:
    """Appends lines, with the time, to a file of mode 0600.

    Raises OSError if the path is a link or anything else than a file: somebody else may read what is behind it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.fdopen(_opened(path), "a", encoding="utf-8", errors="backslashreplace")

    def write(self, line: str) -> None:
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        self._file.write(f"{now} {line}\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):  # every line was written when it was told, or that raised
            self._file.close()


def _opened(path: Path) -> int:
    """Doesn't wait for the reader of a pipe, as opening one would without O_NONBLOCK."""
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
